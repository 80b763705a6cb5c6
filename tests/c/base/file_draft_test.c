/* Files that are replaced while operations fail, and drafts that writers leave behind. */
#include "base/file_draft.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file_disk.h"
#include "base/files_fixture.h"

/* --- failing calls --- */

static int failing_at, failing_error, num_calls, most_written;

static bool call_fails(void) {
  if (num_calls++ != failing_at) return false;
  errno = failing_error;
  return true;
}

static int maybe_open(const char *path, int flags) {
  return call_fails() ? -1 : kDiskCalls.open(path, flags);
}
static ssize_t maybe_write(int file, const void *bytes, size_t size) {
  return call_fails()
             ? -1
             : kDiskCalls.write(file, bytes, size < (size_t)most_written ? size : (size_t)most_written);
}
static int maybe_fsync(int file) { return call_fails() ? -1 : kDiskCalls.fsync(file); }
/* A file is closed also when this reports an error. */
static int maybe_close(int file) {
  bool fails = call_fails();
  int result = kDiskCalls.close(file);
  if (fails) errno = failing_error;
  return fails ? -1 : result;
}
static int maybe_rename(const char *from, const char *to) {
  return call_fails() ? -1 : kDiskCalls.rename(from, to);
}
static int maybe_link(const char *from, const char *to) {
  return call_fails() ? -1 : kDiskCalls.link(from, to);
}
static int maybe_unlink(const char *path) { return call_fails() ? -1 : kDiskCalls.unlink(path); }

static const DiskCalls kFailingCalls = {maybe_open,   maybe_write, maybe_fsync, maybe_close,
                                        maybe_rename, maybe_link,  maybe_unlink};

static bool count_file(void *arg, const char *name, Status *status) {
  (void)name;
  (void)status;
  ++*(int *)arg;
  return true;
}

/* Replaces `path`, with the call number `at` failing. Returns the number of calls. */
static int replace_with_failure(const char *folder, const char *path, int at, int error) {
  Status status;
  char *text = NULL;
  int64_t size;
  int files = 0;
  status_init(&status);
  write_text(path, false, "the old text");
  failing_at = at;
  failing_error = error;
  num_calls = 0;
  most_written = 3; /* writes are short */
  disk_calls_use(&kFailingCalls);
  bool ok = file_replace(path, "the new text", 12, &status);
  disk_calls_use(NULL);
  if (CHECK_OK(file_read_all(path, 100, &text, &size, &status), status)) {
    bool is_new = strcmp(text, "the new text") == 0;
    CHECK(is_new || strcmp(text, "the old text") == 0);
    CHECK(!ok || is_new);
  }
  mem_free(text);
  CHECK_OK(file_store()->list(folder, count_file, &files, &status), status);
  CHECK_INT_EQ(files, 1);
  return num_calls;
}

TEST(a_file_is_replaced_whole_or_not_at_all) {
  static const int errors[] = {ENOSPC, EIO, EXDEV, EACCES, EDQUOT};
  const FileStore *before = file_store();
  char folder[] = "/tmp/tfcore-files-XXXXXX", path[64];
  Status status;
  status_init(&status);
  file_store_use(&kDiskFiles);
  if (CHECK(mkdtemp(folder))) {
    snprintf(path, sizeof path, "%s/file", folder);
    int count = replace_with_failure(folder, path, -1, 0);
    CHECK_INT_EQ(count, 2 + 6 + 3 + 1 + 3); /* begun, written, synced, renamed, the folder synced */
    for (int e = 0; e < 5; e++) {
      for (int at = 0; at < count; at++) {
        CHECK_CONTEXT("%s at %d", strerror(errors[e]), at);
        replace_with_failure(folder, path, at, errors[e]);
      }
    }
    CHECK_CONTEXT("%s", "");
    CHECK_OK(file_store()->remove(path, &status), status);
    CHECK_OK(file_store()->remove_directory(folder, &status), status);
  }
  file_store_use(before);
}

TEST(a_full_disk_is_told_with_its_name) {
  const FileStore *before = file_store();
  Status status;
  status_init(&status);
  file_store_use(&kDiskFiles);
  if (access("/dev/full", W_OK) == 0) {
    CHECK_ERROR(file_store()->write("/dev/full", true, "x", 1, &status), status, CODE_RESOURCE_EXHAUSTED,
                "/dev/full; No space left on device");
  }
  file_store_use(before);
}

#ifndef __EMSCRIPTEN__
/* A new draft removes the draft of an ended process. Drafts of living processes and of other machines, and
 * files that are not drafts of ours, stay. */
TEST(drafts_of_dead_writers_are_removed) {
  const FileStore *before = file_store();
  char folder[] = "/tmp/tfcore-files-XXXXXX", path[64], dead[192], living[192], foreign[192], other[192],
       reused[192];
  char writer[FILE_WRITER_CAPACITY];
  int64_t size;
  Status status;
  status_init(&status);
  file_store_use(&kDiskFiles);
  pid_t child = fork();
  if (child == 0) _exit(0);
  waitpid(child, NULL, 0);
  if (CHECK(mkdtemp(folder))) {
    file_store()->writer(writer);
    CHECK(file_store()->writer_lives(writer));
    snprintf(path, sizeof path, "%s/file", folder);
    snprintf(dead, sizeof dead, "%s.tempstate%.8s-%d-77-0", path, writer, (int)child);
    snprintf(reused, sizeof reused, "%s.tempstate%.8s-%d-77-0", path, writer, (int)getpid());
    snprintf(living, sizeof living, "%s.tempstate%s-99", path, writer);
    snprintf(foreign, sizeof foreign, "%s.tempstate%08x-%d-77-0", path, ~(unsigned)strtoul(writer, NULL, 16),
             (int)child);
    snprintf(other, sizeof other, "%s.tempstate1234567", path);
    const char *all[] = {dead, reused, living, foreign, other};
    for (int i = 0; i < 5; i++) write_text(all[i], false, "draft");
    CHECK_OK(file_replace(path, "text", 4, &status), status);
    check_text(path, "text");
    CHECK_ERROR(file_store()->size(dead, &size, &status), status, CODE_NOT_FOUND, "");
#ifdef __linux__
    CHECK_ERROR(file_store()->size(reused, &size, &status), status, CODE_NOT_FOUND, "");
#endif
    for (int i = 2; i < 5; i++) CHECK_OK(file_store()->size(all[i], &size, &status), status);
    for (int i = 0; i < 5; i++) (void)!file_store()->remove(all[i], &status);
    (void)!file_store()->remove(path, &status);
    CHECK_OK(file_store()->remove_directory(folder, &status), status);
  }
  file_store_use(before);
}
#endif

/* Appending, replacing and linking in memory: a failure changes nothing. */
TEST(files_in_memory_are_as_they_were_when_memory_runs_out) {
  const FileStore *before = file_store();
  Status status;
  status_init(&status);
  file_store_use(&kMemoryFiles);
  for (int what = 0; what < 5; what++) {
    bool ok = false;
    int failures = 0;
    for (int n = 0; !ok && n < 20; n++) {
      file_memory_clear();
      write_text("a", false, "the old text");
      int64_t live = mem_live_bytes();
      CHECK_CONTEXT("case %d after %d", what, n);
      mem_fail_after(n);
      ok = what == 0 ? file_store()->write("a", false, "a text that is longer than the old one", 38, &status)
           : what == 1 ? file_store()->write("a", true, "a text that is longer than the old one", 38, &status)
           : what == 2 ? file_store()->write("b", false, "x", 1, &status)
           : what == 3 ? file_store()->link("a", "b", &status)
                       : file_replace("a", "new", 3, &status);
      mem_fail_after(-1);
      if (ok) break;
      failures++;
      CHECK_INT_EQ(status.code, CODE_RESOURCE_EXHAUSTED);
      CHECK_INT_EQ(mem_live_bytes(), live);
      check_text("a", "the old text");
    }
    CHECK(ok && failures > 0);
  }
  CHECK_CONTEXT("%s", "");
  file_memory_clear();
  file_store_use(before);
}

TEST(a_file_has_several_names) {
  const FileStore *before = file_store();
  char folder[] = "/tmp/tfcore-files-XXXXXX", a[64] = "a", b[64] = "b";
  Status status;
  status_init(&status);
#ifdef __EMSCRIPTEN__
  const int places = 1; /* no second names for its files on the disk */
#else
  const int places = 2;
#endif
  for (int on_disk = 0; on_disk < places; on_disk++) {
    file_store_use(on_disk ? &kDiskFiles : &kMemoryFiles);
    if (on_disk && CHECK(mkdtemp(folder))) {
      snprintf(a, sizeof a, "%s/a", folder);
      snprintf(b, sizeof b, "%s/b", folder);
    }
    write_text(a, false, "text");
    write_text(b, false, "other");
    CHECK_ERROR(file_store()->link(a, b, &status), status, CODE_ALREADY_EXISTS, "");
    CHECK_OK(file_duplicate(a, b, &status), status);
    write_text(b, true, "s");
    check_text(a, "texts");
    CHECK_OK(file_store()->remove(a, &status), status);
    check_text(b, "texts");
    CHECK_ERROR(file_duplicate(a, b, &status), status, CODE_NOT_FOUND, "");
    (void)!file_store()->remove(b, &status);
    if (on_disk) CHECK_OK(file_store()->remove_directory(folder, &status), status);
  }
  file_memory_clear();
  file_store_use(before);
}
