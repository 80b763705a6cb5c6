/* Files in memory and on the disk, and patterns. */
#include "base/file_store.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file_draft.h"
#include "base/files_fixture.h"

static bool append_name(void *arg, const char *name, Status *status) {
  (void)status;
  strbuf_append(arg, name);
  strbuf_append_char(arg, ' ');
  return true;
}

static void check_matches(const char *pattern, const char *want) {
  Status status;
  StrBuf names = {0};
  status_init(&status);
  CHECK_CONTEXT("%s", pattern);
  CHECK_OK(file_match(pattern, append_name, &names, &status), status);
  CHECK_STR_EQ(strbuf_text(&names), want);
  strbuf_free(&names);
}

/* The behaviour of every store; files are named below `folder`, which is "" or ends with '/'. */
static void exercise(const char *folder) {
  char a[200], b[200], inner[200], pattern[220], message[260];
  char bytes[8];
  char *all;
  int64_t size = 0;
  Status status;
  status_init(&status);
  snprintf(a, sizeof a, "%sa", folder);
  snprintf(b, sizeof b, "%sb", folder);
  snprintf(inner, sizeof inner, "%ssub/c", folder);
  write_text(a, false, "hello");
  write_text(a, true, " you");
  check_text(a, "hello you");
  CHECK_OK(file_store()->size(a, &size, &status), status);
  CHECK_INT_EQ(size, 9);
  CHECK_OK(file_store()->read(a, 6, bytes, 3, &status), status);
  CHECK_MEM_EQ(bytes, "you", 3);
  CHECK_ERROR(file_store()->read(a, 7, bytes, 3, &status), status, CODE_OUT_OF_RANGE,
              "Read less bytes than requested");
  CHECK_ERROR(file_read_all(a, 8, &all, &size, &status), status, CODE_RESOURCE_EXHAUSTED,
              "more than the 8 that can be read");
  status_init(&status);
  write_text(a, false, "new");
  check_text(a, "new");
  CHECK_OK(file_make_parent(inner, &status), status);
  CHECK_OK(file_make_parent(inner, &status), status);
  write_text(inner, false, "deep");
  check_text(inner, "deep");
  write_text(b, false, "old");
  CHECK_OK(file_store()->rename(a, b, &status), status);
  check_text(b, "new");
  snprintf(message, sizeof message, "%s; No such file or directory", a);
  CHECK_ERROR(file_store()->size(a, &size, &status), status, CODE_NOT_FOUND, message);
  CHECK_ERROR(file_store()->rename(a, b, &status), status, CODE_NOT_FOUND, message);
  CHECK_ERROR(file_store()->remove(a, &status), status, CODE_NOT_FOUND, message);
  CHECK_ERROR(file_store()->read(a, 0, bytes, 0, &status), status, CODE_NOT_FOUND, message);
  status_init(&status);
  snprintf(pattern, sizeof pattern, "%ssub/?", folder);
  snprintf(message, sizeof message, "%s ", inner);
  check_matches(pattern, message);
  snprintf(pattern, sizeof pattern, "%snowhere/*", folder);
  check_matches(pattern, "");
  CHECK_OK(file_store()->remove(b, &status), status);
  CHECK_OK(file_store()->remove(inner, &status), status);
}

TEST(files_in_memory) {
  const FileStore *before = file_store();
  StrBuf names = {0};
  Status status;
  status_init(&status);
  file_store_use(&kMemoryFiles);
  exercise("");
  exercise("/some/where/");
  CHECK_OK(file_memory_list(append_name, &names, &status), status);
  CHECK_STR_EQ(strbuf_text(&names), "");
  write_text("x/z", false, "");
  write_text("x/y/w", false, "");
  write_text("x", false, "");
  CHECK_OK(file_memory_list(append_name, &names, &status), status);
  CHECK_STR_EQ(strbuf_text(&names), "x x/y/w x/z ");
  check_matches("x/*", "x/z ");
  check_matches("*", "x ");
  strbuf_free(&names);
  file_memory_clear();
  file_store_use(before);
}

TEST(files_on_the_disk) {
  const FileStore *before = file_store();
  char folder[] = "/tmp/tfcore-files-XXXXXX", slash[64], sub[64];
  Status status;
  status_init(&status);
  file_store_use(&kDiskFiles);
  if (CHECK(mkdtemp(folder))) {
    snprintf(slash, sizeof slash, "%s/", folder);
    snprintf(sub, sizeof sub, "%s/sub", folder);
    exercise(slash);
    char file[80], below[90];
    snprintf(file, sizeof file, "%sfile", slash);
    snprintf(below, sizeof below, "%s/below", file);
    write_text(file, false, "x");
    CHECK_ERROR(file_store()->write(below, false, "", 0, &status), status, CODE_FAILED_PRECONDITION,
                "Not a directory");
    CHECK_ERROR(file_store()->make_directory(file, &status), status, CODE_ALREADY_EXISTS, "File exists");
    CHECK_ERROR(file_store()->write(sub, false, "", 0, &status), status, CODE_FAILED_PRECONDITION,
                "Is a directory");
    CHECK_ERROR(file_store()->rename(file, sub, &status), status, CODE_FAILED_PRECONDITION, "Is a directory");
    CHECK_ERROR(file_store()->remove_directory(folder, &status), status, CODE_FAILED_PRECONDITION,
                "Directory not empty");
    status_init(&status);
    CHECK_OK(file_store()->remove(file, &status), status);
    CHECK_OK(file_store()->remove_directory(sub, &status), status);
    CHECK_OK(file_store()->remove_directory(folder, &status), status);
    CHECK_ERROR(file_store()->write(sub, false, "", 0, &status), status, CODE_NOT_FOUND,
                "No such file or directory");
  }
  file_store_use(before);
}

TEST(patterns_match_as_those_of_shells) {
  const FileStore *before = file_store();
  file_store_use(&kMemoryFiles);
  write_text("m-00000-of-00002", false, "");
  write_text("m-00001-of-00002", false, "");
  write_text("m-x", false, "");
  write_text("m*", false, "");
  check_matches("m-0000?-of-00002", "m-00000-of-00002 m-00001-of-00002 ");
  check_matches("m-*2", "m-00000-of-00002 m-00001-of-00002 ");
  check_matches("*-*-*", "m-00000-of-00002 m-00001-of-00002 ");
  check_matches("m-0000[1-9]-of-*", "m-00001-of-00002 ");
  check_matches("m-[^0]", "m-x ");
  check_matches("m-[x]", "m-x ");
  check_matches("m-[x", "");
  check_matches("m-[!x]", "");
  check_matches("m-[w-]", "");
  check_matches("m-[a-w-]", "");
  check_matches("m-[a-z]", "m-x ");
  check_matches("m-[]x]", "m-x ");
  check_matches("m-x**", "m-x ");
  check_matches("m\\", "");
  check_matches("m\\*", "m* ");
  check_matches("m", "");
  check_matches("", "");
  file_memory_clear();
  file_store_use(before);
}

TEST(paths_are_checked) {
  char path[FILE_PATH_MAX + 1];
  static char long_path[FILE_PATH_MAX + 2];
  Status status;
  status_init(&status);
  memset(long_path, 'a', sizeof long_path);
  CHECK_OK(file_path((Str){long_path, FILE_PATH_MAX}, path, &status), status);
  CHECK_INT_EQ(strlen(path), FILE_PATH_MAX);
  CHECK_ERROR(file_path((Str){long_path, FILE_PATH_MAX + 1}, path, &status), status, CODE_INVALID_ARGUMENT,
              "too long");
  CHECK_ERROR(file_path((Str){"", 0}, path, &status), status, CODE_INVALID_ARGUMENT, "must not be empty");
  CHECK_ERROR(file_path((Str){"a\0b", 3}, path, &status), status, CODE_INVALID_ARGUMENT, "NUL");
}

/* The codes of TensorFlow 2.21's TF_SetStatusFromIOError. */
TEST(errors_of_the_system_have_tensorflows_codes) {
  static const struct {
    int error;
    Code code;
  } kErrors[] = {
      {ENOENT, CODE_NOT_FOUND},
      {ENODEV, CODE_NOT_FOUND},
      {ENXIO, CODE_NOT_FOUND},
      {EACCES, CODE_PERMISSION_DENIED},
      {EPERM, CODE_PERMISSION_DENIED},
      {EROFS, CODE_PERMISSION_DENIED},
      {EEXIST, CODE_ALREADY_EXISTS},
      {ENOSPC, CODE_RESOURCE_EXHAUSTED},
      {EMFILE, CODE_RESOURCE_EXHAUSTED},
      {ENFILE, CODE_RESOURCE_EXHAUSTED},
      {ENOMEM, CODE_RESOURCE_EXHAUSTED},
      {EDQUOT, CODE_RESOURCE_EXHAUSTED},
      {EMLINK, CODE_RESOURCE_EXHAUSTED},
      {EISDIR, CODE_FAILED_PRECONDITION},
      {ENOTDIR, CODE_FAILED_PRECONDITION},
      {ENOTEMPTY, CODE_FAILED_PRECONDITION},
      {EBADF, CODE_FAILED_PRECONDITION},
      {EBUSY, CODE_FAILED_PRECONDITION},
      {ETXTBSY, CODE_FAILED_PRECONDITION},
      {EINVAL, CODE_INVALID_ARGUMENT},
      {ENAMETOOLONG, CODE_INVALID_ARGUMENT},
      {ESPIPE, CODE_INVALID_ARGUMENT},
      {EFBIG, CODE_OUT_OF_RANGE},
      {EOVERFLOW, CODE_OUT_OF_RANGE},
      {EXDEV, CODE_UNIMPLEMENTED},
      {ENOSYS, CODE_UNIMPLEMENTED},
      {ENOTSUP, CODE_UNIMPLEMENTED},
      {EINTR, CODE_UNAVAILABLE},
      {EAGAIN, CODE_UNAVAILABLE},
      {EIO, CODE_UNKNOWN},
      {ELOOP, CODE_UNKNOWN},
  };
  for (size_t i = 0; i < sizeof kErrors / sizeof *kErrors; i++) {
    Status status;
    char message[200];
    status_init(&status);
    snprintf(message, sizeof message, "some/file; %s", strerror(kErrors[i].error));
    CHECK_ERROR(file_error("some/file", kErrors[i].error, &status), status, kErrors[i].code, message);
  }
}

TEST(parents_that_need_not_be_made) {
  Status status;
  status_init(&status);
  CHECK_OK(file_make_parent("f", &status), status);
  CHECK_OK(file_make_parent("/f", &status), status);
  static char path[FILE_PATH_MAX + 4];
  memset(path, 'a', sizeof path - 1);
  path[FILE_PATH_MAX + 1] = '/';
  CHECK_ERROR(file_make_parent(path, &status), status, CODE_INVALID_ARGUMENT, "File name is too long");
}

/* Paths of TensorFlow's file system in memory, whichever store is in use. */
TEST(ram_paths_are_in_memory) {
  const FileStore *before = file_store();
  const FileStore *stores[] = {&kDiskFiles, &kMemoryFiles};
  for (int i = 0; i < 2; i++) {
    Status status;
    char text[6] = "";
    status_init(&status);
    file_store_use(stores[i]);
    CHECK(file_store_of("ram://a") == &kMemoryFiles && file_store_of("ram:/a") == stores[i]);
    CHECK_OK(file_make_parent("ram://a", &status) && file_make_parent("ram://m/a", &status), status);
    CHECK_OK(file_replace("ram://m/a", "first", 5, &status), status);
    CHECK_OK(file_replace("ram://m/a", "other", 5, &status), status);
    char *bytes = file_memory_create("ram://m/b", 5, &status);
    if (CHECK_OK(bytes, status)) {
      CHECK(bytes[0] == 0 && bytes[4] == 0);
      memcpy(bytes, "third", 5);
    }
    CHECK_OK(file_memory_create("ram://m/none", 0, &status), status);
    char *end = file_memory_place("ram://m/b", 3, 2, &status);
    if (CHECK_OK(end, status)) CHECK(memcmp(end, "rd", 2) == 0);
    CHECK_OK(file_memory_place("ram://m/none", 0, 0, &status), status);
    const int64_t wrong[][2] = {{3, 3}, {6, 0}, {-1, 1}, {0, -1}, {INT64_MAX, INT64_MAX}};
    for (int w = 0; w < 5; w++) {
      CHECK_ERROR(file_memory_place("ram://m/b", wrong[w][0], wrong[w][1], &status), status,
                  CODE_INVALID_ARGUMENT, "ram://m/b has no");
      status_init(&status);
    }
    CHECK_ERROR(file_memory_place("ram://m/c", 0, 0, &status), status, CODE_INVALID_ARGUMENT,
                "ram://m/c has no");
    status_init(&status);
    CHECK_OK(file_duplicate("ram://m/b", "ram://c", &status), status);
    CHECK_OK(file_store_of("ram://c")->read("ram://c", 0, text, 5, &status), status);
    CHECK_STR_EQ(text, "third");
    const char *made[] = {"ram://c", "ram://m/a", "ram://m/b", "ram://m/none"};
    for (int f = 0; f < 4; f++) CHECK_OK(file_store_of(made[f])->remove(made[f], &status), status);
  }
  file_store_use(before);
}
