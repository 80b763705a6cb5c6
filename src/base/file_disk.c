/* Files of the C library. */
#define _FILE_OFFSET_BITS 64
#define _POSIX_C_SOURCE 200809L
#include "base/file_disk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file_store.h"

static int open_file(const char *path, int flags) { return open(path, flags | O_CLOEXEC, 0666); }

const DiskCalls kDiskCalls = {open_file, write, fsync, close, rename, link, unlink};
static const DiskCalls *calls = &kDiskCalls;

void disk_calls_use(const DiskCalls *others) { calls = !others ? &kDiskCalls : others; }

static bool disk_size(const char *path, int64_t *size, Status *status) {
  struct stat info;
  if (stat(path, &info) != 0) return file_error(path, errno, status);
  if (S_ISDIR(info.st_mode)) return file_error(path, EISDIR, status);
  *size = (int64_t)info.st_size;
  return true;
}

static bool disk_read(const char *path, int64_t offset, void *bytes, int64_t size, Status *status) {
  FILE *file = fopen(path, "rb");
  if (!file) return file_error(path, errno, status);
  bool ok = fseeko(file, (off_t)offset, SEEK_SET) == 0;
  if (!ok) {
    file_error(path, errno, status);
  } else if (size > 0 && fread(bytes, 1, (size_t)size, file) != (size_t)size) {
    ok = ferror(file) ? file_error(path, errno, status)
                      : status_set(status, CODE_OUT_OF_RANGE, "%s; Read less bytes than requested", path);
  }
  fclose(file);
  return ok;
}

/* Returns 0 or an errno. */
static int write_bytes(int file, const char *bytes, int64_t size) {
  while (size > 0) {
    ssize_t written = calls->write(file, bytes, size < (1 << 30) ? (size_t)size : (size_t)1 << 30);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return written < 0 ? errno : EIO;
    bytes += written;
    size -= written;
  }
  return 0;
}

static bool disk_write(const char *path, bool append, const void *bytes, int64_t size, Status *status) {
  int file = calls->open(path, O_WRONLY | O_CREAT | (append ? O_APPEND : O_TRUNC));
  if (file < 0) return file_error(path, errno, status);
  int error_number = write_bytes(file, bytes, size);
  /* Some file systems report a full disk only at close(). */
  if (calls->close(file) != 0 && error_number == 0) error_number = errno;
  return error_number == 0 || file_error(path, error_number, status);
}

/* If a folder cannot be opened or synced, its file system is responsible. */
static bool may_ignore(const char *path, int error_number) {
  struct stat info;
  return (error_number == EINVAL || error_number == EACCES || error_number == ENOTSUP ||
          error_number == EBADF) &&
         stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

static bool disk_sync(const char *path, Status *status) {
  const char *name = path[0] == '\0' ? "." : path;
  int file = calls->open(name, O_RDONLY);
  int error_number = file < 0 || calls->fsync(file) != 0 ? errno : 0;
  if (file >= 0 && calls->close(file) != 0 && error_number == 0) error_number = errno;
  return error_number == 0 || may_ignore(name, error_number) || file_error(path, error_number, status);
}

static bool disk_rename(const char *from, const char *to, Status *status) {
  return calls->rename(from, to) == 0 || file_error(from, errno, status);
}

static bool disk_link(const char *from, const char *to, Status *status) {
  return calls->link(from, to) == 0 || file_error(from, errno, status);
}

static bool disk_remove(const char *path, Status *status) {
  return calls->unlink(path) == 0 || file_error(path, errno, status);
}

static bool disk_make_directory(const char *path, Status *status) {
  struct stat info;
  if (mkdir(path, 0777) == 0) return true;
  int error_number = errno;
  return (error_number == EEXIST && stat(path, &info) == 0 && S_ISDIR(info.st_mode)) ||
         file_error(path, error_number, status);
}

static bool disk_remove_directory(const char *path, Status *status) {
  return rmdir(path) == 0 || file_error(path, errno, status);
}

static bool disk_list(const char *directory, FileVisitor visit, void *arg, Status *status) {
  DIR *folder = opendir(directory[0] == '\0' ? "." : directory);
  if (!folder) return errno == ENOENT || errno == ENOTDIR || file_error(directory, errno, status);
  bool ok = true;
  for (struct dirent *entry; ok && (entry = readdir(folder));) {
    if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
      ok = visit(arg, entry->d_name, status);
  }
  closedir(folder);
  return ok;
}

/* --- the writing process --- */

#ifdef __EMSCRIPTEN__
/* There is only one process. */
static void disk_writer(char name[FILE_WRITER_CAPACITY]) { snprintf(name, FILE_WRITER_CAPACITY, "0"); }

static bool disk_writer_lives(const char *name) {
  (void)name;
  return true;
}
#else
/* The machine's name as a number (FNV-1a); the JavaScript of wasm/wasm_files.c computes the same. */
static uint32_t machine(void) {
  char name[256] = "";
  uint32_t hash = 2166136261u;
  if (gethostname(name, sizeof name - 1) != 0) name[0] = '\0';
  for (const char *c = name; *c != '\0'; c++) hash = (hash ^ (unsigned char)*c) * 16777619u;
  return hash;
}

/* The start time of a process, in units of the system; 0 if unknown. */
static uint64_t start_of(long process) {
  char path[64], line[1024];
  unsigned long long start = 0;
  snprintf(path, sizeof path, "/proc/%ld/stat", process);
  FILE *file = fopen(path, "rb");
  if (!file) return 0;
  line[fread(line, 1, sizeof line - 1, file)] = '\0';
  fclose(file);
  /* It is the 22nd field; the second one ends with the last ')'. */
  const char *at = strrchr(line, ')');
  for (int field = 2; at && field < 22; field++) at = strchr(at + 1, ' ');
  return at && sscanf(at, "%llu", &start) == 1 ? start : 0;
}

static void disk_writer(char name[FILE_WRITER_CAPACITY]) {
  long process = (long)getpid();
  snprintf(name, FILE_WRITER_CAPACITY, "%08" PRIx32 "-%ld-%" PRIu64, machine(), process, start_of(process));
}

static bool disk_writer_lives(const char *name) {
  uint32_t where;
  long process;
  uint64_t start, known;
  if (sscanf(name, "%8" SCNx32 "-%ld-%" SCNu64, &where, &process, &start) != 3 || process <= 0 ||
      where != machine())
    return true;
  if (kill((pid_t)process, 0) != 0 && errno == ESRCH) return false;
  known = start_of(process);
  return start == 0 || known == 0 || known == start; /* otherwise another process has reused the number */
}
#endif

/* Locks the folder itself: a lock file would have to be removed while other processes may be waiting
 * for it. */
static int disk_lock(const char *directory) {
  int folder = open(directory[0] == '\0' ? "." : directory, O_RDONLY | O_CLOEXEC);
  if (folder < 0) return -1;
  int failed;
  do failed = flock(folder, LOCK_EX);
  while (failed != 0 && errno == EINTR);
  if (failed == 0) return folder;
  close(folder);
  return -1;
}

static void disk_unlock(int lock) { close(lock); }

const FileStore kDiskFiles = {
    .size = disk_size,
    .read = disk_read,
    .write = disk_write,
    .sync = disk_sync,
    .rename = disk_rename,
    .link = disk_link,
    .remove = disk_remove,
    .make_directory = disk_make_directory,
    .remove_directory = disk_remove_directory,
    .list = disk_list,
    .writer = disk_writer,
    .writer_lives = disk_writer_lives,
    .lock = disk_lock,
    .unlock = disk_unlock,
};
