/* Checkpoints that are written while file operations fail, or when the process ends in the middle: at any
 * moment, readers find the old checkpoint or the new one. */
#include "base/alloc.h"
#include "base/file_draft.h"
#include "checkpoint/bundle.h"
#include "checkpoint/slice_file.h"
#include "faulty_files.h"
#include "shortage.h"

enum { SIZE = 100 };

/* Tensor "a" (and "b") of SIZE floats, all `value`, which is the only difference between two checkpoints. */
static bool write_bundle(const char *prefix, const char *const *names, int count, float value,
                         Status *status) {
  BundleWriter *writer;
  Tensor tensor = {0};
  bool ok = false;
  TRY(bundle_writer_new(str_of(prefix), &writer, status));
  TRY_DONE(tensor_allocate_dims(&tensor, DT_FLOAT, 1, (int64_t[]){SIZE}, NULL, status));
  for (int i = 0; i < SIZE; i++) tensor_f32(&tensor)[i] = value;
  for (int i = 0; i < count; i++) TRY_DONE(bundle_writer_add(writer, str_of(names[i]), &tensor, status));
  ok = bundle_writer_finish(writer, status);
done:
  tensor_clear(&tensor);
  bundle_writer_free(writer);
  return ok;
}

/* The value of a tensor; -1 when there is no checkpoint, -2 with a failed check when it is damaged. */
static float value_in(const char *prefix, const char *name) {
  BundleReader *reader;
  Status status;
  Tensor tensor = {0};
  float value = -2;
  status_init(&status);
  if (!bundle_exists(str_of(prefix))) return -1;
  if (!CHECK_OK(bundle_reader_open(str_of(prefix), &reader, &status), status)) return value;
  if (!bundle_reader_contains(reader, str_of(name))) value = -1;
  else if (CHECK_OK(bundle_reader_read(reader, str_of(name), NULL, &tensor, &status), status))
    value = tensor_f32(&tensor)[0];
  tensor_clear(&tensor);
  bundle_reader_free(reader);
  return value;
}

/* --- one scenario, with every operation failing once --- */

typedef struct Scenario {
  bool (*prepare)(Status *status);
  bool (*run)(Status *status);
  void (*look)(void);          /* checks for the old or the new */
  void (*look_new)(void);      /* after success */
  const char *files;           /* the expected files afterwards */
  const char *files_if_single; /* the same without second names */
} Scenario;

static bool append_name(void *arg, const char *name, Status *status) {
  (void)status;
  strbuf_append(arg, name);
  strbuf_append_char(arg, ' ');
  return true;
}

static void check_files(const char *want) {
  StrBuf names = {0};
  Status status;
  status_init(&status);
  CHECK_OK(file_memory_list(append_name, &names, &status), status);
  CHECK_STR_EQ(strbuf_text(&names), want);
  strbuf_free(&names);
}

static void check_no_drafts(void) {
  StrBuf names = {0};
  Status status;
  status_init(&status);
  CHECK_OK(file_memory_list(append_name, &names, &status), status);
  CHECK(!strstr(strbuf_text(&names), "tempstate"));
  strbuf_free(&names);
}

/* With the fault at operation `at`. Returns how many operations there were. */
static int run_scenario(const Scenario *scenario, FaultKind kind, int at, bool single_names) {
  Status status;
  status_init(&status);
  file_memory_clear();
  file_store_use(&kMemoryFiles);
  bool prepared = CHECK_OK(scenario->prepare(&status), status);
  faults = (Faults){.real = &kMemoryFiles,
                    .kind = kind,
                    .at = at,
                    .single_names = single_names,
                    .look = scenario->look};
  file_store_use(&kFaultyFiles);
  bool ok = prepared && scenario->run(&status);
  int count = faults.count;
  file_store_use(&kMemoryFiles);
  scenario->look();
  if (kind == FAULT_NONE || ok) {
    if (kind == FAULT_NONE) CHECK_OK(ok, status);
    CHECK(kind != FAULT_NONE || (!faults.names_dirty && faults.dirty[0] == '\0'));
    scenario->look_new();
  } else {
    CHECK_INT_EQ(status.code, CODE_RESOURCE_EXHAUSTED);
  }
  if (kind == FAULT_FULL) check_no_drafts();
  /* The next process repeats everything, and nothing is left of the previous one. */
  faults = (Faults){.real = &kMemoryFiles, .single_names = single_names};
  file_store_use(&kFaultyFiles);
  if (kind == FAULT_CRASH || !ok) CHECK_OK(scenario->run(&status), status);
  file_store_use(&kMemoryFiles);
  scenario->look_new();
  if (kind == FAULT_NONE) check_files(single_names ? scenario->files_if_single : scenario->files);
  if (kind == FAULT_CRASH) check_no_drafts();
  return count;
}

static void run_with_faults(const Scenario *scenario) {
  const FileStore *before = file_store();
  for (int single = 0; single < 2; single++) {
    CHECK_CONTEXT("no fault, single %d", single);
    int count = run_scenario(scenario, FAULT_NONE, 0, single);
    CHECK(count >= 5);
    for (FaultKind kind = FAULT_NONE + 1; kind < NUM_FAULTS; kind++) {
      for (int at = 0; at < count; at++) {
        CHECK_CONTEXT("fault %d at %d, single %d", (int)kind, at, single);
        run_scenario(scenario, kind, at, single);
      }
    }
  }
  CHECK_CONTEXT("%s", "");
  file_memory_clear();
  file_store_use(before);
}

/* --- saving --- */

static const char *const kNames[] = {"a", "b"};

static bool nothing(Status *status) {
  (void)status;
  return true;
}

static bool save_old(Status *status) { return write_bundle("dir/m", kNames, 2, 1, status); }
static bool save_new(Status *status) { return write_bundle("dir/m", kNames, 2, 2, status); }

static void is_none_or_new(void) {
  float a = value_in("dir/m", "a");
  if (CHECK(a == -1 || a == 2)) CHECK(value_in("dir/m", "b") == a);
}

static void is_old_or_new(void) {
  float a = value_in("dir/m", "a");
  if (CHECK(a == 1 || a == 2)) CHECK(value_in("dir/m", "b") == a);
}

static void is_new(void) {
  CHECK(value_in("dir/m", "a") == 2);
  CHECK(value_in("dir/m", "b") == 2);
}

#define ONE_FILE "dir/m.data-00000-of-00001 dir/m.index "
#define TWO_FILES "dir/m.data-00000-of-00002 dir/m.data-00001-of-00002 dir/m.index "

TEST(a_first_checkpoint_is_there_whole_or_not_at_all) {
  run_with_faults(&(Scenario){nothing, save_new, is_none_or_new, is_new, ONE_FILE, ONE_FILE});
}

TEST(a_checkpoint_that_replaces_another_leaves_the_old_or_the_new) {
  run_with_faults(&(Scenario){save_old, save_new, is_old_or_new, is_new, ONE_FILE,
                              "dir/m.data-00000-of-00002 dir/m.index "});
}

static bool save_old_twice(Status *status) {
  faults = (Faults){.real = &kMemoryFiles, .single_names = true};
  file_store_use(&kFaultyFiles);
  bool ok = save_old(status) && save_old(status);
  file_store_use(&kMemoryFiles);
  return ok;
}

TEST(a_checkpoint_under_the_other_names_is_replaced) {
  run_with_faults(&(Scenario){save_old_twice, save_new, is_old_or_new, is_new, ONE_FILE, ONE_FILE});
}

/* --- merging --- */

static bool write_parts(float value, Status *status) {
  return write_bundle("part/0", kNames, 1, value, status) &&
         write_bundle("part/1", kNames + 1, 1, value, status);
}

static bool merge_parts(Status *status) {
  Str prefixes[] = {str_of("part/0"), str_of("part/1")};
  /* After an interruption some of the parts may be gone, because the merged checkpoint exists: it is saved
   * again. */
  return bundle_merge(prefixes, 2, false, str_of("dir/m"), status) ||
         (value_in("dir/m", "a") == 2 && save_new(status));
}

static bool parts(Status *status) { return write_parts(2, status); }

static bool parts_and_old(Status *status) {
  if (!write_parts(1, status) || !merge_parts(status)) return false;
  return write_parts(2, status);
}

static void parts_are_there(void) {
  CHECK(value_in("part/0", "a") == 2);
  CHECK(value_in("part/1", "b") == 2);
}

static void is_parts_or_new(void) {
  if (value_in("dir/m", "a") == -1) parts_are_there();
  else is_new();
}

static void is_old_with_parts_or_new(void) {
  is_old_or_new();
  if (value_in("dir/m", "a") == 1) parts_are_there();
}

TEST(parts_of_a_checkpoint_are_there_until_it_is_merged) {
  run_with_faults(&(Scenario){parts, merge_parts, is_parts_or_new, is_new, TWO_FILES, TWO_FILES});
}

TEST(a_merged_checkpoint_replaces_another) {
  run_with_faults(&(Scenario){parts_and_old, merge_parts, is_old_with_parts_or_new, is_new, TWO_FILES,
                              "dir/m.data-00000-of-00003 dir/m.data-00001-of-00003 dir/m.index "});
}

/* --- version 1, and other files --- */

static bool write_slices(float value, Status *status) {
  SliceFileWriter *writer = slice_file_writer_new();
  Tensor tensor = {0};
  TensorSlice slice;
  bool ok = false;
  slice_full(1, &slice);
  TRY_DONE(tensor_allocate_dims(&tensor, DT_FLOAT, 1, (int64_t[]){SIZE}, NULL, status));
  for (int i = 0; i < SIZE; i++) tensor_f32(&tensor)[i] = value;
  TRY_DONE(slice_file_writer_add(writer, str_of("a"), &tensor.shape, &slice, &tensor, status));
  ok = slice_file_writer_finish(writer, str_of("v1"), status);
done:
  tensor_clear(&tensor);
  slice_file_writer_free(writer);
  return ok;
}

static bool save_old_slices(Status *status) { return write_slices(1, status); }
static bool save_new_slices(Status *status) { return write_slices(2, status); }

static float value_of_slices(void) {
  Status status;
  Tensor tensor = {0};
  float value = -2;
  status_init(&status);
  if (CHECK_OK(slice_file_restore(str_of("v1"), str_of("a"), str_of(""), DT_FLOAT, &tensor, &status), status))
    value = tensor_f32(&tensor)[SIZE - 1];
  tensor_clear(&tensor);
  return value;
}

static void slices_are_old_or_new(void) {
  float value = value_of_slices();
  CHECK(value == 1 || value == 2);
}

static void slices_are_new(void) { CHECK(value_of_slices() == 2); }

TEST(a_checkpoint_of_version_1_leaves_the_old_or_the_new) {
  run_with_faults(
      &(Scenario){save_old_slices, save_new_slices, slices_are_old_or_new, slices_are_new, "v1 ", "v1 "});
}

/* --- memory --- */

TEST(checkpoints_without_memory_leave_the_old_or_the_new) {
  const FileStore *before = file_store();
  Status status;
  file_store_use(&kMemoryFiles);
  file_memory_clear();
  for (int merged = 0; merged < 2; merged++) {
    Shortage shortage = {.what = merged ? "merging" : "saving", .most = 2000};
    do {
      status_init(&status);
      if (!CHECK_OK(merged ? parts_and_old(&status) : save_old(&status), status)) break;
      shortage_begin(&shortage);
      bool ok = merged ? bundle_merge((Str[]){str_of("part/0"), str_of("part/1")}, 2, false, str_of("dir/m"),
                                      &status)
                       : save_new(&status);
      shortage_end(&shortage, ok, status.code);
      if (ok) is_new();
      else if (merged) is_old_with_parts_or_new();
      else is_old_or_new();
      check_no_drafts();
      file_memory_clear();
    } while (shortage_next(&shortage));
  }
  CHECK_CONTEXT("%s", "");
  file_memory_clear();
  file_store_use(before);
}
