/* Checkpoints: those that TensorFlow wrote (tests/oracle/checkpoints.py) and ours, byte for byte. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file_store.h"
#include "checkpoint/bundle.h"
#include "harness.h"
#include "op_runner.h"

#define ORACLE TFCORE_SOURCE_DIR "/tests/data/oracle/checkpoints/"

enum { MAX_SAVED = 64, LAYERS = 30 };

/* What checkpoints.py saves under `all`. */
static const struct {
  const char *name, *tensor;
  bool not_in_v1;
} kSaved[] = {
  {"float32", "float[2,3] 1 2 3 4 5 6", false},
  {"float64", "double[2,3] 1 2 3 4 5 6", false},
  {"float16", "half[2,3] 1 2 3 4 5 6", false},
  {"bfloat16", "bfloat16[2,3] 1 2 3 4 5 6", true},
  {"int8", "int8[2,3] 1 2 3 4 5 6", false},
  {"int16", "int16[2,3] 1 2 3 4 5 6", false},
  {"int32", "int32[2,3] 1 2 3 4 5 6", false},
  {"int64", "int64[2,3] 1 2 3 4 5 6", false},
  {"uint8", "uint8[2,3] 1 2 3 4 5 6", false},
  {"uint16", "uint16[2,3] 1 2 3 4 5 6", false},
  {"uint32", "uint32[2,3] 1 2 3 4 5 6", true},
  {"uint64", "uint64[2,3] 1 2 3 4 5 6", true},
  {"bool", "bool[3] true false true", false},
  {"complex64", "complex64[2] 1+2i 3-1i", false},
  {"complex128", "complex128[2] 1+2i 3-1i", false},
  {"scalar", "int32[] 7", false},
  {"empty", "float[0,3]", false},
  {"strings",
   "string[2,2] one "
   "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
   "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx three y",
   false},
  {"no_strings", "string[0]", false},
};
enum { NUM_SAVED = sizeof kSaved / sizeof kSaved[0] };

/* A list of named tensors, or what to read. */
typedef struct Named {
  char names[MAX_SAVED][32];
  const char *slices[MAX_SAVED]; /* NULL: none */
  Tensor tensors[MAX_SAVED];
  int count;
} Named;

static bool add(Named *named, const char *name, const char *slice, const char *tensor) {
  Status status;
  int made = 0;
  status_init(&status);
  if (!CHECK_OK(tensors_parse(tensor, &named->tensors[named->count], 1, &made, &status), status)) return false;
  snprintf(named->names[named->count], sizeof named->names[0], "%s", name);
  named->slices[named->count++] = slice;
  return true;
}

static void clear(Named *named) {
  for (int i = 0; i < named->count; i++) tensor_clear(&named->tensors[i]);
  named->count = 0;
}

static void add_all(Named *named, bool v1) {
  for (int i = 0; i < NUM_SAVED; i++) {
    if (!v1 || !kSaved[i].not_in_v1) add(named, kSaved[i].name, NULL, kSaved[i].tensor);
  }
  for (int i = 0; i < LAYERS; i++) {
    char name[32], tensor[32];
    snprintf(name, sizeof name, "layer/%d/weights", i);
    snprintf(tensor, sizeof tensor, "float[1] %d", i);
    add(named, name, NULL, tensor);
  }
}

static bool put_text(Tensor *tensor, int64_t i, const char *text) {
  Status status;
  status_init(&status);
  return CHECK(tensor != NULL) && CHECK_OK(tstring_set(&tensor_strings(tensor)[i], text, strlen(text), &status), status);
}

static bool put_scalar(OpRun *run, const char *text) { return put_text(op_run_input(run, DT_STRING, 0, NULL), 0, text); }

static bool put_names(OpRun *run, const Named *named, bool slices) {
  int64_t count = named->count;
  Tensor *tensor = op_run_input(run, DT_STRING, 1, &count);
  bool ok = tensor != NULL;
  for (int i = 0; ok && i < named->count; i++) {
    ok = put_text(tensor, i, !slices ? named->names[i] : named->slices[i] == NULL ? "" : named->slices[i]);
  }
  return ok;
}

/* "SaveV2[dtypes=[float, int32]]". */
static void spell(char *to, size_t size, const char *op, const char *attr, const Named *named) {
  size_t at = (size_t)snprintf(to, size, "%s[%s=[", op, attr);
  for (int i = 0; i < named->count; i++) {
    at += (size_t)snprintf(to + at, size - at, "%s%s", i > 0 ? ", " : "", dtype_name(named->tensors[i].dtype));
  }
  snprintf(to + at, size - at, "]]");
}

static bool run_save(const char *path, Named *named, bool v1, Status *status) {
  char op[1024];
  OpRun run;
  bool slices = !v1;
  for (int i = 0; i < named->count; i++) slices |= named->slices[i] != NULL;
  spell(op, sizeof op, v1 ? (slices ? "SaveSlices" : "Save") : "SaveV2", v1 ? "T" : "dtypes", named);
  bool ok = op_run_begin(&run, op, status) && put_scalar(&run, path) && put_names(&run, named, false) &&
            (!slices || put_names(&run, named, true));
  for (int i = 0; ok && i < named->count; i++) ok = tensor_assign(&run.inputs[run.num_inputs++], &named->tensors[i], status);
  ok = ok && op_run_compute(&run, status);
  op_run_end(&run);
  return ok;
}

/* Reads with RestoreV2 and holds the answers against the tensors. */
static bool run_restore(const char *prefix, Named *named, Status *status) {
  char op[1024];
  OpRun run;
  spell(op, sizeof op, "RestoreV2", "dtypes", named);
  bool ok = op_run_begin(&run, op, status) && put_scalar(&run, prefix) && put_names(&run, named, false) && put_names(&run, named, true) &&
            op_run_compute(&run, status);
  for (int i = 0; ok && i < named->count; i++) {
    CHECK_CONTEXT("%s", named->names[i]);
    CHECK(tensor_is_about(&run.outputs[i], &named->tensors[i], 0));
  }
  CHECK_CONTEXT("%s", "");
  op_run_end(&run);
  return ok;
}

static void check_same_file(const char *path, const char *oracle) {
  Status status;
  char *mine = NULL, *theirs = NULL;
  int64_t mine_size = 0, theirs_size = 0;
  status_init(&status);
  CHECK_CONTEXT("%s", oracle);
  file_store_use(&kMemoryFiles);
  CHECK_OK(file_read_all(path, INT32_MAX, &mine, &mine_size, &status), status);
  file_store_use(&kDiskFiles);
  CHECK_OK(file_read_all(oracle, INT32_MAX, &theirs, &theirs_size, &status), status);
  if (mine != NULL && theirs != NULL && CHECK_INT_EQ(mine_size, theirs_size)) CHECK_MEM_EQ(mine, theirs, (size_t)theirs_size);
  mem_free(mine);
  mem_free(theirs);
  CHECK_CONTEXT("%s", "");
}

/* Files in memory for the time of a test. */
static const FileStore *usual;
static void begin_memory(void) {
  usual = file_store();
  file_store_use(&kMemoryFiles);
}
static void end_memory(void) {
  file_memory_clear();
  file_store_use(usual);
}

TEST(checkpoints_of_tensorflow_are_read) {
  Status status;
  Named named = {.count = 0};
  status_init(&status);
  begin_memory();
  file_store_use(&kDiskFiles);
  add_all(&named, false);
  CHECK_OK(run_restore(ORACLE "all", &named, &status), status);
  clear(&named);
  add_all(&named, true);
  CHECK_OK(run_restore(ORACLE "v1", &named, &status), status);
  clear(&named);
  end_memory();
}

TEST(slices_of_tensorflow_are_read) {
  Status status;
  Named named = {.count = 0};
  status_init(&status);
  begin_memory();
  file_store_use(&kDiskFiles);
  add(&named, "rows", NULL, "float[4,3] 0 1 2 3 4 5 6 7 8 9 10 11");
  add(&named, "rows", "4 3 0,2:1,2", "float[2,2] 1 2 4 5");
  add(&named, "rows", "4 3 2,1:-", "float[1,3] 6 7 8");
  add(&named, "words", NULL, "string[4] a b c d");
  add(&named, "words", "4 1,2", "string[2] b c");
  add(&named, "far", "100000 70001,1", "float[1] 2");
  CHECK_OK(run_restore(ORACLE "sliced", &named, &status), status);
  clear(&named);
  add(&named, "rows", NULL, "float[4,3] 0 1 2 3 4 5 6 7 8 9 10 11");
  add(&named, "rows", "4 3 1,3:0,2", "float[3,2] 3 4 6 7 9 10");
  add(&named, "a", NULL, "int32[] 1");
  add(&named, "b", NULL, "int32[] 2");
  CHECK_OK(run_restore(ORACLE "merged", &named, &status), status);
  clear(&named);
  /* Version 1, two shards. */
  add(&named, "rows", NULL, "float[4,3] 0 1 2 3 4 5 6 7 8 9 10 11");
  add(&named, "rows", "4 3 0,2:1,2", "float[2,2] 1 2 4 5");
  add(&named, "zeros", NULL, "float[4,4] 0");
  CHECK_OK(run_restore(ORACLE "old-0000?-of-00002", &named, &status), status);
  clear(&named);
  end_memory();
}

TEST(what_is_saved_is_what_tensorflow_saves) {
  Status status;
  Named named = {.count = 0};
  status_init(&status);
  begin_memory();
  add_all(&named, false);
  CHECK_OK(run_save("all", &named, false, &status), status);
  CHECK_OK(run_restore("all", &named, &status), status);
  check_same_file("all.index", ORACLE "all.index");
  check_same_file("all.data-00000-of-00001", ORACLE "all.data-00000-of-00001");
  file_store_use(&kMemoryFiles);
  clear(&named);
  add_all(&named, true);
  CHECK_OK(run_save("v1", &named, true, &status), status);
  CHECK_OK(run_restore("v1", &named, &status), status);
  check_same_file("v1", ORACLE "v1");
  clear(&named);
  file_store_use(&kMemoryFiles);
  add(&named, "rows", "4 3 0,1:-", "float[1,3] 0 1 2");
  add(&named, "rows", "4 3 1,3:-", "float[3,3] 3 4 5 6 7 8 9 10 11");
  add(&named, "words", "4 2,2", "string[2] c d");
  add(&named, "words", "4 0,2", "string[2] a b");
  add(&named, "far", "100000 70000,2", "float[2] 1 2");
  CHECK_OK(run_save("sliced", &named, false, &status), status);
  CHECK_OK(run_restore("sliced", &named, &status), status);
  check_same_file("sliced.index", ORACLE "sliced.index");
  check_same_file("sliced.data-00000-of-00001", ORACLE "sliced.data-00000-of-00001");
  clear(&named);
  end_memory();
}

/* For checkpoints.py to read. */
TEST(checkpoints_are_left_where_the_environment_says) {
  const char *folder = getenv("TFCORE_CHECKPOINT_DIR");
  char path[512];
  Status status;
  Named named = {.count = 0};
  status_init(&status);
  if (folder == NULL) return;
  add_all(&named, false);
  snprintf(path, sizeof path, "%s/all", folder);
  CHECK_OK(run_save(path, &named, false, &status), status);
  clear(&named);
  add_all(&named, true);
  snprintf(path, sizeof path, "%s/v1", folder);
  CHECK_OK(run_save(path, &named, true, &status), status);
  clear(&named);
}

static void save_two_parts(void) {
  Status status;
  Named named = {.count = 0};
  status_init(&status);
  add(&named, "rows", "4 3 0,4:0,1", "float[4,1] 0 3 6 9");
  add(&named, "a", NULL, "int32[] 1");
  CHECK_OK(run_save("one", &named, false, &status), status);
  clear(&named);
  add(&named, "rows", "4 3 0,4:1,2", "float[4,2] 1 2 4 5 7 8 10 11");
  add(&named, "b", NULL, "int32[] 2");
  CHECK_OK(run_save("two", &named, false, &status), status);
  clear(&named);
}

static bool is_file(const char *path) {
  int64_t size;
  Status status;
  status_init(&status);
  return file_store()->size(path, &size, &status);
}

TEST(merged_checkpoints_are_those_of_tensorflow) {
  Status status;
  status_init(&status);
  begin_memory();
  save_two_parts();
  op_gives("MergeV2Checkpoints", "string[2] one two; string[] merged", "");
  CHECK(!is_file("one.index") && !is_file("two.index") && !is_file("one.data-00000-of-00001"));
  check_same_file("merged.index", ORACLE "merged.index");
  check_same_file("merged.data-00000-of-00002", ORACLE "merged.data-00000-of-00002");
  check_same_file("merged.data-00001-of-00002", ORACLE "merged.data-00001-of-00002");
  file_store_use(&kMemoryFiles);
  op_fails("MergeV2Checkpoints", "string[1] none; string[] m", CODE_INVALID_ARGUMENT,
           "allow_missing_files was set to false and none did not exist.");
  op_fails("MergeV2Checkpoints", "string[0]; string[] m", CODE_INVALID_ARGUMENT,
           "At least one prefix checkpoint file must exist, but none existed.");
  op_fails("MergeV2Checkpoints", "string[] x; string[] m", CODE_INVALID_ARGUMENT,
           "Input checkpoint_prefixes should be an 1-D tensor, got [] instead.");
  op_fails("MergeV2Checkpoints", "string[1] x; string[1] m", CODE_INVALID_ARGUMENT,
           "Input destination_prefix should be a scalar tensor, got [1] instead.");
  op_fails("MergeV2Checkpoints", "string[2] merged merged; string[] m", CODE_INVALID_ARGUMENT, "Duplicate tensor keyed by");
  end_memory();
}

/* --- errors --- */

static void fails_to_restore(const char *prefix, const char *name, const char *slice, const char *tensor, Code code, const char *message) {
  Status status;
  Named named = {.count = 0};
  status_init(&status);
  add(&named, name, slice, tensor);
  CHECK_ERROR(run_restore(prefix, &named, &status), status, code, message);
  clear(&named);
}

static void fails_to_save(const char *name, const char *slice, const char *tensor, Code code, const char *message) {
  Status status;
  Named named = {.count = 0};
  status_init(&status);
  add(&named, name, slice, tensor);
  CHECK_ERROR(run_save("failed", &named, false, &status), status, code, message);
  clear(&named);
}

static bool count_file(void *arg, const char *name, Status *status) {
  (void)name;
  (void)status;
  ++*(int *)arg;
  return true;
}

TEST(wrong_requests_get_the_words_of_tensorflow) {
  Status status;
  Named named = {.count = 0};
  int files = 0;
  status_init(&status);
  begin_memory();
  add(&named, "w", NULL, "float[2,2] 1 2 3 4");
  add(&named, "half", "4 0,2", "float[2] 1 2");
  CHECK_OK(run_save("good", &named, false, &status), status);
  clear(&named);
  fails_to_restore("good", "q", NULL, "float[] 0", CODE_NOT_FOUND, "Key q not found in checkpoint");
  fails_to_restore("good", "", NULL, "float[] 0", CODE_NOT_FOUND, "not found in checkpoint");
  fails_to_restore("good", "w", NULL, "int32[] 0", CODE_INVALID_ARGUMENT,
                   "tensor_name = w; expected dtype int32 does not equal original dtype float");
  fails_to_restore("good", "w", "2 3 0,1:-", "float[] 0", CODE_INVALID_ARGUMENT,
                   "tensor_name = w; shape in shape_and_slice spec [2,3] does not match the shape stored in checkpoint: [2,2]");
  fails_to_restore("good", "half", NULL, "float[] 0", CODE_INVALID_ARGUMENT,
                   "Does not have sufficient slices for partitioned tensor half to restore in slice_spec: -");
  fails_to_restore("good", "half", "4 1,2", "float[] 0", CODE_INVALID_ARGUMENT, "to restore in slice_spec: 1,2");
  fails_to_restore("none", "w", NULL, "float[] 0", CODE_NOT_FOUND,
                   "Unsuccessful TensorSliceReader constructor: Failed to find any matching files for none");
  static const struct {
    const char *slice, *message;
    Code code;
  } bad[] = {
    {"2", "Need least two elements in shape_and_slice specification: 2", CODE_INVALID_ARGUMENT},
    {"2 2 ", "Mismatching ranks: shape = [2,2], slice = ", CODE_INTERNAL},
    {"a 2 -:-", "Non numerical dimension in shape_and_slice: a 2 -:-", CODE_INVALID_ARGUMENT},
    {"2 2  -:-", "Non numerical dimension in shape_and_slice: 2 2  -:-", CODE_INVALID_ARGUMENT},
    {"99999999999999999999 2 -:-", "Non numerical dimension in shape_and_slice: ", CODE_INVALID_ARGUMENT},
    {"-1 2 -:-", "Dimension -1 must be >= 0", CODE_INVALID_ARGUMENT},
    {"2 2 0,1", "Mismatching ranks: shape = [2,2], slice = 0,1", CODE_INTERNAL},
    {"2 2 0:-", "Expected a pair of numbers or '-' but got '0': string = 0:-", CODE_INVALID_ARGUMENT},
    {"2 2 x,1:-", "Expected a pair of numbers or '-' but got 'x,1': string = x,1:-", CODE_INVALID_ARGUMENT},
    {"2 2 0,3:-", "Extent in dimension 0 out of bounds: shape = [2,2], slice = 0,3:-", CODE_INTERNAL},
    {"2 2 9223372036854775807,9223372036854775807:-", "Extent in dimension 0 out of bounds", CODE_INTERNAL},
    {"2 2 -1,1:-", "Expected non-negative start and positive length but got start = -1, length = 1: string = -1,1:-", CODE_INVALID_ARGUMENT},
    {"2 2 0,0:-", "Expected non-negative start and positive length but got start = 0, length = 0: string = 0,0:-", CODE_INVALID_ARGUMENT},
  };
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    fails_to_restore("good", "w", bad[i].slice, "float[] 0", bad[i].code, bad[i].message);
    fails_to_save("w", bad[i].slice, "float[2,2] 0", bad[i].code, bad[i].message);
  }
  fails_to_save("x", "4 0,2", "float[3] 1", CODE_INVALID_ARGUMENT,
                "Slice in shape_and_slice specification does not match the shape of the tensor to  save: 4 0,2, tensor: [3]");
  fails_to_save("", NULL, "float[] 1", CODE_INVALID_ARGUMENT, "must not be empty");
  add(&named, "x", NULL, "float[] 1");
  add(&named, "x", NULL, "float[] 1");
  CHECK_ERROR(run_save("twice", &named, false, &status), status, CODE_INVALID_ARGUMENT, "Adding duplicate key: x");
  clear(&named);
  op_fails("SaveV2[dtypes=[float]]", "string[2] a b; string[1] x; string[1] x; float[] 1", CODE_INVALID_ARGUMENT,
           "Input prefix should have a single element, got 2 instead.");
  op_fails("SaveV2[dtypes=[float]]", "string[] a; string[1,1] x; string[1] x; float[] 1", CODE_INVALID_ARGUMENT,
           "Input tensor_names and shape_and_slices should be an 1-D tensors, got [1,1] and [1] instead.");
  op_fails("SaveV2[dtypes=[float]]", "string[] a; string[1] x; string[2] x; float[] 1", CODE_INVALID_ARGUMENT,
           "tensor_names and shape_and_slices have different number of elements: 1 vs. 2");
  op_fails("SaveV2[dtypes=[float]]", "string[] a; string[2] x; string[2] x; float[] 1", CODE_INVALID_ARGUMENT,
           "Got 2 tensor names but 1 tensors.");
  op_fails("RestoreV2[dtypes=[float]]", "string[] a; string[2] x; string[2] x", CODE_INVALID_ARGUMENT,
           "Got 2 tensor names, but 1 expected dtypes.");
  /* What failed left nothing behind. */
  CHECK_OK(file_memory_list(count_file, &files, &status), status);
  CHECK_INT_EQ(files, 2);
  end_memory();
}

TEST(version_1_gets_the_words_of_tensorflow) {
  begin_memory();
  op_gives("Save[T=[float, int32]]", "string[] v1; string[2] w b; float[2,2] 1 2 3 4; int32[] 7", "");
  op_gives("Restore[dt=float]", "string[] v1; string[] w", "float[2,2] 1 2 3 4");
  op_fails("Save[T=[float]]", "string[] v1; string[2] w b; float[] 1", CODE_INVALID_ARGUMENT,
           "Expected totally 4 inputs as input #1 (which is a string tensor of saved names) contains 2 names, but received 3 inputs");
  op_fails("Save[T=[float, int32]]", "string[] v2; string[2] w w; float[2] 1; int32[] 7", CODE_INTERNAL,
           "Mismatching shapes: existing tensor = [2], trying to add name w, shape = []");
  op_fails("Save[T=[float]]", "string[2] a b; string[1] w; float[] 1", CODE_INVALID_ARGUMENT,
           "Input 0 (filename) must be a string scalar; got a tensor of 2elements");
  op_fails("Save[T=[uint32]]", "string[] a; string[1] w; uint32[] 1", CODE_UNIMPLEMENTED, "Saving data type uint32 not yet supported");
  op_fails("Restore[dt=float]", "string[] none; string[] w", CODE_NOT_FOUND,
           "Unsuccessful TensorSliceReader constructor: Failed to find any matching files for none");
  op_fails("Restore[dt=float]", "string[] v1; string[] q", CODE_NOT_FOUND, "Tensor name \"q\" not found in checkpoint files v1");
  op_fails("Restore[dt=int32]", "string[] v1; string[] w", CODE_INVALID_ARGUMENT,
           "Expected to restore a tensor of type int32, got a tensor of type float instead: tensor_name = w");
  op_fails("Restore[dt=float]", "string[2] v1; string[] w", CODE_INVALID_ARGUMENT,
           "Input 0 (file_pattern) must be a string scalar; got a tensor of 2 elements");
  end_memory();
}

/* --- damaged files --- */

static char *copy_file(const char *oracle, const char *path, int64_t *size) {
  Status status;
  char *bytes = NULL;
  status_init(&status);
  file_store_use(&kDiskFiles);
  CHECK_OK(file_read_all(oracle, INT32_MAX, &bytes, size, &status), status);
  file_store_use(&kMemoryFiles);
  if (bytes != NULL) CHECK_OK(file_store()->write(path, false, bytes, *size, &status), status);
  return bytes;
}

/* Every bit flipped or every length cut: reading gives the right answer or an error, nothing else. */
static void damage(const char *oracle, const char *path, const char *prefix, Named *named, int step) {
  int64_t size = 0;
  char *bytes = copy_file(oracle, path, &size);
  int refused = 0;
  Status status;
  for (int64_t i = 0; bytes != NULL && i < size; i += step) {
    status_init(&status);
    bytes[i] ^= (char)(1 << (i % 8));
    if (!CHECK_OK(file_store()->write(path, false, bytes, size, &status), status)) break;
    bytes[i] ^= (char)(1 << (i % 8));
    if (!run_restore(prefix, named, &status)) refused++;
  }
  CHECK(refused > 0);
  for (int64_t i = 0; bytes != NULL && i < size; i += step) {
    status_init(&status);
    if (!CHECK_OK(file_store()->write(path, false, bytes, i, &status), status)) break;
    CHECK(!run_restore(prefix, named, &status));
  }
  status_init(&status);
  if (bytes != NULL) CHECK_OK(file_store()->write(path, false, bytes, size, &status), status);
  mem_free(bytes);
}

TEST(damaged_checkpoints_are_refused) {
  Named named = {.count = 0};
  int64_t size;
  begin_memory();
  add(&named, "rows", NULL, "float[4,3] 0 1 2 3 4 5 6 7 8 9 10 11");
  add(&named, "words", NULL, "string[4] a b c d");
  add(&named, "far", "100000 70000,2", "float[2] 1 2");
  mem_free(copy_file(ORACLE "sliced.index", "s.index", &size));
  mem_free(copy_file(ORACLE "sliced.data-00000-of-00001", "s.data-00000-of-00001", &size));
  damage(ORACLE "sliced.index", "s.index", "s", &named, 1);
  damage(ORACLE "sliced.data-00000-of-00001", "s.data-00000-of-00001", "s", &named, 1);
  clear(&named);
  add(&named, "rows", "4 3 1,3:0,3", "float[3,3] 3 4 5 6 7 8 9 10 11");
  add(&named, "zeros", NULL, "float[4,4] 0");
  damage(ORACLE "old-00001-of-00002", "old", "old", &named, 1);
  clear(&named);
  end_memory();
}

TEST(damage_is_told_as_tensorflow_does) {
  Status status;
  Named named = {.count = 0};
  int64_t size;
  char *bytes = NULL;
  status_init(&status);
  begin_memory();
  add(&named, "w", NULL, "float[4] 1 2 3 4");
  add(&named, "s", NULL, "string[2] one three");
  CHECK_OK(run_save("d", &named, false, &status), status);
  clear(&named);
  if (CHECK_OK(file_read_all("d.data-00000-of-00001", 1000, &bytes, &size, &status), status)) {
    const char *path = "d.data-00000-of-00001";
    bytes[2] ^= 1;
    bytes[16] ^= 1; /* the first length of the strings behind the floats */
    CHECK_OK(file_store()->write(path, false, bytes, size, &status), status);
    fails_to_restore("d", "w", NULL, "float[] 0", CODE_DATA_LOSS, "TensorBundle at d shard 0 (16 bytes): Checksum does not match: stored ");
    fails_to_restore("d", "s", NULL, "string[] x", CODE_DATA_LOSS, "The length checksum does not match: expected ");
    CHECK_OK(file_store()->write(path, false, bytes, 10, &status), status);
    fails_to_restore("d", "w", NULL, "float[] 0", CODE_OUT_OF_RANGE, "Read less bytes than requested");
    CHECK_OK(file_store()->remove(path, &status), status);
    fails_to_restore("d", "w", NULL, "float[] 0", CODE_NOT_FOUND, "d.data-00000-of-00001; No such file or directory");
    mem_free(bytes);
  }
  CHECK_OK(file_store()->write("d.index", false, "short", 5, &status), status);
  fails_to_restore("d", "w", NULL, "float[] 0", CODE_DATA_LOSS, "file is too short to be an sstable");
  end_memory();
}

/* --- names --- */

TEST(shards_are_named) {
  op_gives("ShardedFilename", "string[] b; int32[] 3; int32[] 12", "string[] b-00003-of-00012");
  op_gives("ShardedFilename", "string[] b; int32[] -3; int32[] 1200000", "string[] b--0003-of-1200000");
  op_gives("ShardedFilespec", "string[] b; int32[] 12", "string[] b-?\?\?\?\?-of-00012");
  op_fails("ShardedFilename", "string[1] b; int32[] 3; int32[] 12", CODE_INVALID_ARGUMENT, "basename must be a scalar, got shape [1]");
  op_fails("ShardedFilename", "string[] b; int32[1] 3; int32[] 12", CODE_INVALID_ARGUMENT, "shard must be a scalar, got shape [1]");
  op_fails("ShardedFilespec", "string[] b; int32[2] 3", CODE_INVALID_ARGUMENT, "num_shards must be a scalar, got shape [2]");
}
