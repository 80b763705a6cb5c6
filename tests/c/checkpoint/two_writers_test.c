/* Processes that replace one checkpoint concurrently: afterwards one of their checkpoints is complete, and no
 * files of others exist. */
#if !defined(__wasm__)
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file_disk.h"
#include "base/str.h"
#include "checkpoint/bundle.h"
#include "harness.h"

enum { ROUNDS = 50, SAVES = 10, WRITERS = 2 };

static char folder[] = "/tmp/tfcore-writers-XXXXXX";

static const char *path_of(const char *name, char path[96]) {
  snprintf(path, 96, "%s/%s", folder, name);
  return path;
}

/* A tensor of `size` floats, all `value`, for each letter of `names`. */
static bool save(const char *prefix, const char *names, float value, int64_t size, Status *status) {
  BundleWriter *writer;
  Tensor tensor = {0};
  bool ok = false;
  TRY(bundle_writer_new(str_of(prefix), &writer, status));
  TRY_DONE(tensor_allocate_dims(&tensor, DT_FLOAT, 1, &size, NULL, status));
  for (int64_t i = 0; i < size; i++) tensor_f32(&tensor)[i] = value;
  for (; *names != '\0'; names++) TRY_DONE(bundle_writer_add(writer, (Str){names, 1}, &tensor, status));
  ok = bundle_writer_finish(writer, status);
done:
  tensor_clear(&tensor);
  bundle_writer_free(writer);
  return ok;
}

/* The same in two data files, by merging two parts of the writer's own. */
static bool save_merged(int writer, float value, int64_t size, Status *status) {
  char first[96], second[96], whole[96];
  path_of(writer == 0 ? "part-0-0" : "part-1-0", first);
  path_of(writer == 0 ? "part-0-1" : "part-1-1", second);
  TRY(save(first, "a", value, size, status));
  TRY(save(second, "b", value, size, status));
  const Str parts[] = {str_of(first), str_of(second)};
  return bundle_merge(parts, 2, false, str_of(path_of("m", whole)), status);
}

/* The work of a writer in its own process; its exit code is 0 if everything succeeded. */
static int write_often(int writer, int round) {
  Status status;
  char path[96];
  status_init(&status);
  for (int i = 0; i < SAVES; i++) {
    float value = (float)(writer + WRITERS * (i + SAVES * round));
    bool merged = (writer + i + round) % 3 == 0;
    int64_t size = 10 + (writer * 7 + i * 3) % 20;
    bool ok = merged ? save_merged(writer, value, size, &status)
                     : save(path_of("m", path), "ab", value, size, &status);
    if (!ok) {
      fprintf(stderr, "writer %d: %s\n", writer, status.message);
      return 1;
    }
  }
  return 0;
}

static void run_writers(int round) {
  pid_t children[WRITERS];
  for (int i = 0; i < WRITERS; i++) {
    children[i] = fork();
    if (children[i] == 0) _exit(write_often(i, round));
  }
  for (int i = 0; i < WRITERS; i++) {
    int result = -1;
    CHECK(waitpid(children[i], &result, 0) == children[i]);
    CHECK_INT_EQ(result, 0);
  }
}

static float read_value(BundleReader *reader, const char *name) {
  Tensor tensor = {0};
  Status status;
  float value = -1;
  status_init(&status);
  if (CHECK_OK(bundle_reader_read(reader, str_of(name), NULL, &tensor, &status), status)) {
    value = tensor_f32(&tensor)[0];
    for (int64_t i = 0; i < tensor_num_elements(&tensor); i++) CHECK(tensor_f32(&tensor)[i] == value);
  }
  tensor_clear(&tensor);
  return value;
}

/* Both tensors are those of one of the last saves. */
static bool check_whole(int round) {
  BundleReader *reader;
  Status status;
  char path[96];
  status_init(&status);
  if (!CHECK_OK(bundle_reader_open(str_of(path_of("m", path)), &reader, &status), status)) return false;
  float a = read_value(reader, "a"), b = read_value(reader, "b");
  bundle_reader_free(reader);
  int last = WRITERS * (SAVES - 1 + SAVES * round);
  return CHECK(a == b && a >= (float)last);
}

static bool append_name(void *arg, const char *name, Status *status) {
  (void)status;
  strbuf_append(arg, strrchr(name, '/') + 1);
  strbuf_append_char(arg, ' ');
  return true;
}

/* Only the files of one checkpoint. */
static bool check_files(void) {
  StrBuf names = {0};
  Status status;
  char path[96];
  status_init(&status);
  CHECK_OK(file_match(path_of("*", path), append_name, &names, &status), status);
  const char *found = strbuf_text(&names);
  bool ok = strcmp(found, "m.data-00000-of-00001 m.index ") == 0 ||
            strcmp(found, "m.data-00000-of-00002 m.data-00001-of-00002 m.index ") == 0 ||
            harness_fail(__FILE__, __LINE__, "the files are %s", found);
  strbuf_free(&names);
  return ok;
}

/* The machine does not fail here, and without syncing the disk the writers meet more often. */
static int sync_nothing(int file) {
  (void)file;
  return 0;
}

static bool remove_file(void *arg, const char *name, Status *status) {
  (void)arg;
  return file_store()->remove(name, status);
}

TEST(of_processes_that_replace_one_checkpoint_at_the_same_time_one_wins) {
  const FileStore *before = file_store();
  Status status;
  char path[96];
  status_init(&status);
  DiskCalls quick = kDiskCalls;
  quick.fsync = sync_nothing;
  disk_calls_use(&quick);
  file_store_use(&kDiskFiles);
  REQUIRE(mkdtemp(folder));
  for (int round = 0; round < ROUNDS; round++) {
    CHECK_CONTEXT("round %d", round);
    run_writers(round);
    if (!check_whole(round) || !check_files()) break;
  }
  CHECK_CONTEXT("%s", "");
  CHECK_OK(file_match(path_of("*", path), remove_file, NULL, &status), status);
  CHECK_OK(file_store()->remove_directory(folder, &status), status);
  disk_calls_use(NULL);
  file_store_use(before);
}
#endif
