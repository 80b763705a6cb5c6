/* Checkpoints that cannot be written or read as requested, and damaged ones. */
#include "base/alloc.h"
#include "ops/io/checkpoint_fixture.h"

static void fails_to_restore(const char *prefix, const char *name, const char *slice, const char *tensor,
                             Code code, const char *message) {
  Status status;
  Named named = {.count = 0};
  status_init(&status);
  add(&named, name, slice, tensor);
  CHECK_ERROR(run_restore(prefix, &named, &status), status, code, message);
  clear(&named);
}

static void fails_to_save(const char *name, const char *slice, const char *tensor, Code code,
                          const char *message) {
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
                   "tensor_name = w; shape in shape_and_slice spec [2,3] does not match the shape stored in "
                   "checkpoint: [2,2]");
  fails_to_restore("good", "half", NULL, "float[] 0", CODE_INVALID_ARGUMENT,
                   "Does not have sufficient slices for partitioned tensor half to restore in slice_spec: -");
  fails_to_restore("good", "half", "4 1,2", "float[] 0", CODE_INVALID_ARGUMENT,
                   "to restore in slice_spec: 1,2");
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
      {"2 2 -1,1:-",
       "Expected non-negative start and positive length but got start = -1, length = 1: string = -1,1:-",
       CODE_INVALID_ARGUMENT},
      {"2 2 0,0:-",
       "Expected non-negative start and positive length but got start = 0, length = 0: string = 0,0:-",
       CODE_INVALID_ARGUMENT},
  };
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    fails_to_restore("good", "w", bad[i].slice, "float[] 0", bad[i].code, bad[i].message);
    fails_to_save("w", bad[i].slice, "float[2,2] 0", bad[i].code, bad[i].message);
  }
  fails_to_save("x", "4 0,2", "float[3] 1", CODE_INVALID_ARGUMENT,
                "Slice in shape_and_slice specification does not match the shape of the tensor to  save: 4 "
                "0,2, tensor: [3]");
  fails_to_save("", NULL, "float[] 1", CODE_INVALID_ARGUMENT, "must not be empty");
  add(&named, "x", NULL, "float[] 1");
  add(&named, "x", NULL, "float[] 1");
  CHECK_ERROR(run_save("twice", &named, false, &status), status, CODE_INVALID_ARGUMENT,
              "Adding duplicate key: x");
  clear(&named);
  op_fails("SaveV2[dtypes=[float]]", "string[2] a b; string[1] x; string[1] x; float[] 1",
           CODE_INVALID_ARGUMENT, "Input prefix should have a single element, got 2 instead.");
  op_fails("SaveV2[dtypes=[float]]", "string[] a; string[1,1] x; string[1] x; float[] 1",
           CODE_INVALID_ARGUMENT,
           "Input tensor_names and shape_and_slices should be an 1-D tensors, got [1,1] and [1] instead.");
  op_fails("SaveV2[dtypes=[float]]", "string[] a; string[1] x; string[2] x; float[] 1", CODE_INVALID_ARGUMENT,
           "tensor_names and shape_and_slices have different number of elements: 1 vs. 2");
  op_fails("SaveV2[dtypes=[float]]", "string[] a; string[2] x; string[2] x; float[] 1", CODE_INVALID_ARGUMENT,
           "Got 2 tensor names but 1 tensors.");
  op_fails("RestoreV2[dtypes=[float]]", "string[] a; string[2] x; string[2] x", CODE_INVALID_ARGUMENT,
           "Got 2 tensor names, but 1 expected dtypes.");
  /* The failure left no files. */
  CHECK_OK(file_memory_list(count_file, &files, &status), status);
  CHECK_INT_EQ(files, 2);
  end_memory();
}

TEST(version_1_gets_the_words_of_tensorflow) {
  begin_memory();
  op_gives("Save[T=[float, int32]]", "string[] v1; string[2] w b; float[2,2] 1 2 3 4; int32[] 7", "");
  op_gives("Restore[dt=float]", "string[] v1; string[] w", "float[2,2] 1 2 3 4");
  op_fails("Save[T=[float]]", "string[] v1; string[2] w b; float[] 1", CODE_INVALID_ARGUMENT,
           "Expected totally 4 inputs as input #1 (which is a string tensor of saved names) contains 2 "
           "names, but received 3 inputs");
  op_fails("Save[T=[float, int32]]", "string[] v2; string[2] w w; float[2] 1; int32[] 7", CODE_INTERNAL,
           "Mismatching shapes: existing tensor = [2], trying to add name w, shape = []");
  op_fails("Save[T=[float]]", "string[2] a b; string[1] w; float[] 1", CODE_INVALID_ARGUMENT,
           "Input 0 (filename) must be a string scalar; got a tensor of 2elements");
  op_fails("Save[T=[uint32]]", "string[] a; string[1] w; uint32[] 1", CODE_UNIMPLEMENTED,
           "Saving data type uint32 not yet supported");
  op_fails("Restore[dt=float]", "string[] none; string[] w", CODE_NOT_FOUND,
           "Unsuccessful TensorSliceReader constructor: Failed to find any matching files for none");
  op_fails("Restore[dt=float]", "string[] v1; string[] q", CODE_NOT_FOUND,
           "Tensor name \"q\" not found in checkpoint files v1");
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
  if (bytes) CHECK_OK(file_store()->write(path, false, bytes, *size, &status), status);
  return bytes;
}

/* Every bit flipped or every length truncated: reading gives the correct result or an error. */
static void damage(const char *oracle, const char *path, const char *prefix, Named *named, int step) {
  int64_t size = 0;
  char *bytes = copy_file(oracle, path, &size);
  int refused = 0;
  Status status;
  for (int64_t i = 0; bytes && i < size; i += step) {
    status_init(&status);
    bytes[i] ^= (char)(1 << (i % 8));
    if (!CHECK_OK(file_store()->write(path, false, bytes, size, &status), status)) break;
    bytes[i] ^= (char)(1 << (i % 8));
    if (!run_restore(prefix, named, &status)) refused++;
  }
  CHECK(refused > 0);
  for (int64_t i = 0; bytes && i < size; i += step) {
    status_init(&status);
    if (!CHECK_OK(file_store()->write(path, false, bytes, i, &status), status)) break;
    CHECK(!run_restore(prefix, named, &status));
  }
  status_init(&status);
  if (bytes) CHECK_OK(file_store()->write(path, false, bytes, size, &status), status);
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
    bytes[16] ^= 1; /* the first length of the strings after the floats */
    CHECK_OK(file_store()->write(path, false, bytes, size, &status), status);
    fails_to_restore("d", "w", NULL, "float[] 0", CODE_DATA_LOSS,
                     "TensorBundle at d shard 0 (16 bytes): Checksum does not match: stored ");
    fails_to_restore("d", "s", NULL, "string[] x", CODE_DATA_LOSS,
                     "The length checksum does not match: expected ");
    CHECK_OK(file_store()->write(path, false, bytes, 10, &status), status);
    fails_to_restore("d", "w", NULL, "float[] 0", CODE_OUT_OF_RANGE, "Read less bytes than requested");
    CHECK_OK(file_store()->remove(path, &status), status);
    fails_to_restore("d", "w", NULL, "float[] 0", CODE_NOT_FOUND,
                     "d.data-00000-of-00001; No such file or directory");
    mem_free(bytes);
  }
  CHECK_OK(file_store()->write("d.index", false, "short", 5, &status), status);
  fails_to_restore("d", "w", NULL, "float[] 0", CODE_DATA_LOSS, "file is too short to be an sstable");
  end_memory();
}
