/* Writing and reading checkpoints of both versions short of memory: strings, slices, several shards. */
#include <string.h>

#include "base/alloc.h"
#include "checkpoint/bundle.h"
#include "checkpoint/slice_file.h"
#include "harness.h"
#include "shortage.h"

/* Written by TensorFlow (tests/oracle/checkpoints.py). */
#define ORACLE "tests/data/oracle/checkpoints/"

/* --- writing --- */

static const char kLong[] =
    "a text that takes a block of its own, a text that takes a block of its own, "
    "a text that takes a block of its own";

typedef struct Values {
  Tensor numbers, texts, half; /* float[4,3]; string[2]; rows 2 and 3 of numbers */
} Values;

static bool make_values(Values *values) {
  Status status;
  status_init(&status);
  *values = (Values){.numbers = {0}};
  bool ok =
      CHECK_OK(tensor_allocate_dims(&values->numbers, DT_FLOAT, 2, (int64_t[]){4, 3}, NULL, &status),
               status) &&
      CHECK_OK(tensor_allocate_dims(&values->half, DT_FLOAT, 2, (int64_t[]){2, 3}, NULL, &status), status) &&
      CHECK_OK(tensor_allocate_dims(&values->texts, DT_STRING, 1, (int64_t[]){2}, NULL, &status), status) &&
      CHECK_OK(tstring_set(&tensor_strings(&values->texts)[0], kLong, strlen(kLong), &status), status);
  for (int i = 0; ok && i < 12; i++) tensor_f32(&values->numbers)[i] = (float)i;
  for (int i = 0; ok && i < 6; i++) tensor_f32(&values->half)[i] = (float)(6 + i);
  return ok;
}

static void drop_values(Values *values) {
  tensor_clear(&values->numbers);
  tensor_clear(&values->texts);
  tensor_clear(&values->half);
}

static const TensorSlice kSecondHalf = {.rank = 2, .starts = {2, 0}, .lengths = {2, SLICE_FULL}};

static bool write_bundle(const Values *values, Status *status) {
  BundleWriter *writer;
  bool ok = false;
  TRY(bundle_writer_new(str_of("dir/new"), &writer, status));
  TRY_DONE(bundle_writer_add(writer, str_of("numbers"), &values->numbers, status));
  TRY_DONE(bundle_writer_add(writer, str_of("texts"), &values->texts, status));
  TRY_DONE(bundle_writer_add_slice(writer, str_of("part"), &values->numbers.shape, &kSecondHalf,
                                   &values->half, status));
  ok = bundle_writer_finish(writer, status);
done:
  bundle_writer_free(writer);
  return ok;
}

static bool write_slices(const Values *values, Status *status) {
  SliceFileWriter *writer = slice_file_writer_new();
  TensorSlice rows, all;
  bool ok = false;
  if (!writer) return status_oom(status, "a writer");
  slice_full(2, &rows);
  slice_full(1, &all);
  TRY_DONE(slice_file_writer_add(writer, str_of("numbers"), &values->numbers.shape, &rows, &values->numbers,
                                 status));
  TRY_DONE(
      slice_file_writer_add(writer, str_of("texts"), &values->texts.shape, &all, &values->texts, status));
  TRY_DONE(slice_file_writer_add(writer, str_of("part"), &values->numbers.shape, &kSecondHalf, &values->half,
                                 status));
  ok = slice_file_writer_finish(writer, str_of("old"), status);
done:
  slice_file_writer_free(writer);
  return ok;
}

static bool find_bundle_part(const Values *values, Status *status) {
  BundleReader *reader;
  Tensor tensor = {0};
  bool ok = bundle_reader_open(str_of("dir/new"), &reader, status);
  if (!ok) return false;
  ok = bundle_reader_read_slice(reader, str_of("part"), &kSecondHalf, NULL, &tensor, status);
  if (ok) CHECK_MEM_EQ(tensor_f32(&tensor), tensor_f32(&values->half), 6 * sizeof(float));
  tensor_clear(&tensor);
  ok = ok && bundle_reader_read(reader, str_of("texts"), NULL, &tensor, status);
  if (ok) CHECK(tstring_equal(tensor_strings(&tensor), tensor_strings(&values->texts)));
  tensor_clear(&tensor);
  bundle_reader_free(reader);
  return ok;
}

static bool find_old_part(const Values *values, Status *status) {
  Tensor tensor = {0};
  bool ok = slice_file_restore(str_of("old"), str_of("part"), str_of("4 3 2,2:-"), DT_FLOAT, &tensor, status);
  if (ok) CHECK_MEM_EQ(tensor_f32(&tensor), tensor_f32(&values->half), 6 * sizeof(float));
  tensor_clear(&tensor);
  ok = ok && slice_file_restore(str_of("old"), str_of("texts"), str_of(""), DT_STRING, &tensor, status);
  if (ok) CHECK(tstring_equal(tensor_strings(&tensor), tensor_strings(&values->texts)));
  tensor_clear(&tensor);
  return ok;
}

static bool count_file(void *arg, const char *name, Status *status) {
  (void)name;
  (void)status;
  ++*(int *)arg;
  return true;
}

static void starve_writing(const char *what, bool (*write)(const Values *values, Status *status),
                           bool (*find)(const Values *values, Status *status), int num_files) {
  Shortage shortage = {.what = what, .most = 2000};
  Values values;
  const FileStore *usual = file_store();
  file_store_use(&kMemoryFiles);
  bool ready = make_values(&values);
  do {
    Status status;
    int files = 0;
    status_init(&status);
    shortage_begin(&shortage);
    bool ok = ready && write(&values, &status);
    shortage_end(&shortage, ok, status.code);
    CHECK_OK(file_memory_list(count_file, &files, &status), status);
    CHECK_INT_EQ(files, ok ? num_files : 0);
    if (ok) CHECK_OK(find(&values, &status), status);
    file_memory_clear();
  } while (shortage_next(&shortage));
  drop_values(&values);
  file_store_use(usual);
}

TEST(checkpoints_are_written_short_of_memory_or_not_at_all) {
  starve_writing("a bundle", write_bundle, find_bundle_part, 2);
  starve_writing("a file of version 1", write_slices, find_old_part, 1);
}

/* --- reading what TensorFlow wrote --- */

typedef struct Reading {
  const char *prefix, *name, *slice;
  DataType dtype;
} Reading;

static const Reading kReadings[] = {
    {ORACLE "all", "float32", "", DT_FLOAT},
    {ORACLE "all", "strings", "", DT_STRING},
    {ORACLE "all", "empty", "", DT_FLOAT},
    {ORACLE "sliced", "rows", "", DT_FLOAT},
    {ORACLE "sliced", "rows", "4 3 0,2:1,2", DT_FLOAT},
    {ORACLE "sliced", "words", "4 1,2", DT_STRING},
    {ORACLE "sliced", "far", "100000 70001,1", DT_FLOAT},
    {ORACLE "merged", "rows", "4 3 1,3:0,2", DT_FLOAT},
    {ORACLE "v1", "float32", "", DT_FLOAT},
    {ORACLE "v1", "strings", "", DT_STRING},
    {ORACLE "old-0000?-of-00002", "rows", "", DT_FLOAT},
    {ORACLE "old-0000?-of-00002", "rows", "4 3 0,2:1,2", DT_FLOAT},
};

static bool read_bundle(const Reading *reading, Tensor *tensor, Status *status) {
  BundleReader *reader;
  Shape shape = {0}, part = {0};
  TensorSlice slice;
  DataType dtype;
  TRY(bundle_reader_open(str_of(reading->prefix), &reader, status));
  bool ok = bundle_reader_look_up(reader, str_of(reading->name), &dtype, &shape, status) &&
            CHECK_INT_EQ(dtype, reading->dtype);
  if (ok && reading->slice[0] == 0)
    ok = bundle_reader_read(reader, str_of(reading->name), NULL, tensor, status);
  else
    ok = ok && slice_parse(str_of(reading->slice), &shape, &slice, &part, status) &&
         bundle_reader_read_slice(reader, str_of(reading->name), &slice, NULL, tensor, status);
  bundle_reader_free(reader);
  return ok;
}

static bool same_values(const Tensor *a, const Tensor *b) {
  int64_t count = tensor_num_elements(a);
  if (a->dtype != b->dtype || count != tensor_num_elements(b)) return false;
  for (int64_t i = 0; i < count; i++) {
    if (a->dtype == DT_STRING ? !tstring_equal(&tensor_strings(a)[i], &tensor_strings(b)[i])
                              : tensor_f32(a)[i] != tensor_f32(b)[i])
      return false;
  }
  return true;
}

TEST(checkpoints_are_read_short_of_memory_or_not_at_all) {
  const FileStore *usual = file_store();
  file_store_use(&kDiskFiles); /* WebAssembly uses files in memory by default */
  for (size_t i = 0; i < sizeof kReadings / sizeof kReadings[0]; i++) {
    const Reading *reading = &kReadings[i];
    Shortage shortage = {.what = strrchr(reading->prefix, '/')};
    Tensor answer = {0};
    do {
      Tensor tensor = {0};
      Status status;
      status_init(&status);
      shortage_begin(&shortage);
      bool ok = bundle_exists(str_of(reading->prefix))
                    ? read_bundle(reading, &tensor, &status)
                    : slice_file_restore(str_of(reading->prefix), str_of(reading->name),
                                         str_of(reading->slice), reading->dtype, &tensor, &status);
      shortage_end(&shortage, ok, status.code);
      if (!ok) CHECK(tensor_is_empty(&tensor));
      else if (tensor_is_empty(&answer)) CHECK_OK(tensor_copy(&answer, &tensor, NULL, &status), status);
      else CHECK(same_values(&tensor, &answer));
      tensor_clear(&tensor);
    } while (shortage_next(&shortage));
    CHECK(!tensor_is_empty(&answer));
    tensor_clear(&answer);
  }
  file_store_use(usual);
}
