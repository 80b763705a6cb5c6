/* Checkpoints: TensorFlow's (tests/oracle/checkpoints.py) and ours, byte for byte. */
#include <stdlib.h>

#include "base/alloc.h"
#include "ops/io/checkpoint_fixture.h"

enum { LAYERS = 30 };

/* The tensors that checkpoints.py saves under `all`. */
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
     "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx "
     "three y",
     false},
    {"no_strings", "string[0]", false},
};
enum { NUM_SAVED = sizeof kSaved / sizeof kSaved[0] };

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
  if (mine && theirs && CHECK_INT_EQ(mine_size, theirs_size)) CHECK_MEM_EQ(mine, theirs, (size_t)theirs_size);
  mem_free(mine);
  mem_free(theirs);
  CHECK_CONTEXT("%s", "");
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

/* Read by checkpoints.py. */
TEST(checkpoints_are_left_where_the_environment_says) {
  const char *folder = getenv("TFCORE_CHECKPOINT_DIR");
  char path[512];
  Status status;
  Named named = {.count = 0};
  status_init(&status);
  if (!folder) return;
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
  op_fails("MergeV2Checkpoints[allow_missing_files=true]", "string[2] none nobody; string[] m",
           CODE_INVALID_ARGUMENT, "At least one prefix checkpoint file must exist, but none existed.");
  op_fails("MergeV2Checkpoints", "string[0]; string[] m", CODE_INVALID_ARGUMENT,
           "At least one prefix checkpoint file must exist, but none existed.");
  op_fails("MergeV2Checkpoints", "string[] x; string[] m", CODE_INVALID_ARGUMENT,
           "Input checkpoint_prefixes should be an 1-D tensor, got [] instead.");
  op_fails("MergeV2Checkpoints", "string[1] x; string[1] m", CODE_INVALID_ARGUMENT,
           "Input destination_prefix should be a scalar tensor, got [1] instead.");
  op_fails("MergeV2Checkpoints", "string[2] merged merged; string[] m", CODE_INVALID_ARGUMENT,
           "Duplicate tensor keyed by");
  op_gives("MergeV2Checkpoints[allow_missing_files=true]", "string[2] none merged; string[] again", "");
  check_same_file("again.data-00000-of-00002", ORACLE "merged.data-00000-of-00002");
  end_memory();
}

/* --- names --- */

TEST(shards_are_named) {
  op_gives("ShardedFilename", "string[] b; int32[] 3; int32[] 12", "string[] b-00003-of-00012");
  op_gives("ShardedFilename", "string[] b; int32[] -3; int32[] 1200000", "string[] b--0003-of-1200000");
  op_gives("ShardedFilespec", "string[] b; int32[] 12", "string[] b-?\?\?\?\?-of-00012");
  op_fails("ShardedFilename", "string[1] b; int32[] 3; int32[] 12", CODE_INVALID_ARGUMENT,
           "basename must be a scalar, got shape [1]");
  op_fails("ShardedFilename", "string[] b; int32[1] 3; int32[] 12", CODE_INVALID_ARGUMENT,
           "shard must be a scalar, got shape [1]");
  op_fails("ShardedFilespec", "string[] b; int32[2] 3", CODE_INVALID_ARGUMENT,
           "num_shards must be a scalar, got shape [2]");
}
