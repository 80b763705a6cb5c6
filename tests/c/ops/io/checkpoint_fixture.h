/* Shared by the tests of checkpoints: lists of named tensors, and the ops that write and read them. */
#ifndef TFCORE_TESTS_CHECKPOINT_FIXTURE_H_
#define TFCORE_TESTS_CHECKPOINT_FIXTURE_H_

#include <stdio.h>
#include <string.h>

#include "base/file_store.h"
#include "harness.h"
#include "op_runner.h"

/* Written by TensorFlow (tests/oracle/checkpoints.py). */
#define ORACLE "tests/data/oracle/checkpoints/"

enum { MAX_SAVED = 64 };

/* A list of named tensors to write or to read. */
typedef struct Named {
  char names[MAX_SAVED][32];
  const char *slices[MAX_SAVED]; /* may be NULL */
  Tensor tensors[MAX_SAVED];
  int count;
} Named;

static inline bool add(Named *named, const char *name, const char *slice, const char *tensor) {
  Status status;
  int made = 0;
  status_init(&status);
  if (!CHECK_OK(tensors_parse(tensor, &named->tensors[named->count], 1, &made, &status), status))
    return false;
  snprintf(named->names[named->count], sizeof named->names[0], "%s", name);
  named->slices[named->count++] = slice;
  return true;
}

static inline void clear(Named *named) {
  for (int i = 0; i < named->count; i++) tensor_clear(&named->tensors[i]);
  named->count = 0;
}

static inline bool put_text(Tensor *tensor, int64_t i, const char *text) {
  Status status;
  status_init(&status);
  return CHECK(tensor) &&
         CHECK_OK(tstring_set(&tensor_strings(tensor)[i], text, strlen(text), &status), status);
}

static inline bool put_scalar(OpRun *run, const char *text) {
  return put_text(op_run_input(run, DT_STRING, 0, NULL), 0, text);
}

static inline bool put_names(OpRun *run, const Named *named, bool slices) {
  int64_t count = named->count;
  Tensor *tensor = op_run_input(run, DT_STRING, 1, &count);
  bool ok = tensor != NULL;
  for (int i = 0; ok && i < named->count; i++) {
    ok = put_text(tensor, i, !slices ? named->names[i] : !named->slices[i] ? "" : named->slices[i]);
  }
  return ok;
}

/* "SaveV2[dtypes=[float, int32]]". */
static inline void spell(char *to, size_t size, const char *op, const char *attr, const Named *named) {
  size_t at = (size_t)snprintf(to, size, "%s[%s=[", op, attr);
  for (int i = 0; i < named->count; i++) {
    at +=
        (size_t)snprintf(to + at, size - at, "%s%s", i > 0 ? ", " : "", dtype_name(named->tensors[i].dtype));
  }
  snprintf(to + at, size - at, "]]");
}

static inline bool run_save(const char *path, Named *named, bool v1, Status *status) {
  char op[1024];
  OpRun run;
  bool slices = !v1;
  for (int i = 0; i < named->count; i++) slices |= named->slices[i] != NULL;
  spell(op, sizeof op, v1 ? (slices ? "SaveSlices" : "Save") : "SaveV2", v1 ? "T" : "dtypes", named);
  bool ok = op_run_begin(&run, op, status) && put_scalar(&run, path) && put_names(&run, named, false) &&
            (!slices || put_names(&run, named, true));
  for (int i = 0; ok && i < named->count; i++)
    ok = tensor_assign(&run.inputs[run.num_inputs++], &named->tensors[i], status);
  ok = ok && op_run_compute(&run, status);
  op_run_end(&run);
  return ok;
}

/* Reads with RestoreV2 and compares with the tensors. */
static inline bool run_restore(const char *prefix, Named *named, Status *status) {
  char op[1024];
  OpRun run;
  spell(op, sizeof op, "RestoreV2", "dtypes", named);
  bool ok = op_run_begin(&run, op, status) && put_scalar(&run, prefix) && put_names(&run, named, false) &&
            put_names(&run, named, true) && op_run_compute(&run, status);
  for (int i = 0; ok && i < named->count; i++) {
    CHECK_CONTEXT("%s", named->names[i]);
    CHECK(tensor_is_about(&run.outputs[i], &named->tensors[i], 0));
  }
  CHECK_CONTEXT("%s", "");
  op_run_end(&run);
  return ok;
}

/* Uses files in memory during a test. */
static const FileStore *usual_files;
static inline void begin_memory(void) {
  usual_files = file_store();
  file_store_use(&kMemoryFiles);
}
static inline void end_memory(void) {
  file_memory_clear();
  file_store_use(usual_files);
}

#endif
