/* Files of the C library. */
#define _FILE_OFFSET_BITS 64
#define _POSIX_C_SOURCE 200809L
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file_store.h"

static bool disk_size(const char *path, int64_t *size, Status *status) {
  struct stat info;
  if (stat(path, &info) != 0) return file_error(path, errno, status);
  if (S_ISDIR(info.st_mode)) return file_error(path, EISDIR, status);
  *size = (int64_t)info.st_size;
  return true;
}

static bool disk_read(const char *path, int64_t offset, void *bytes, int64_t size, Status *status) {
  FILE *file = fopen(path, "rb");
  if (file == NULL) return file_error(path, errno, status);
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

static bool disk_write(const char *path, bool append, const void *bytes, int64_t size, Status *status) {
  FILE *file = fopen(path, append ? "ab" : "wb");
  if (file == NULL) return file_error(path, errno, status);
  bool ok = size == 0 || fwrite(bytes, 1, (size_t)size, file) == (size_t)size;
  int error_number = ok ? 0 : errno;
  /* What is buffered may fail to be written only now. */
  if (fclose(file) != 0 && ok) {
    error_number = errno;
    ok = false;
  }
  return ok || file_error(path, error_number, status);
}

static bool disk_rename(const char *from, const char *to, Status *status) {
  return rename(from, to) == 0 || file_error(from, errno, status);
}

static bool disk_remove(const char *path, Status *status) { return unlink(path) == 0 || file_error(path, errno, status); }

static bool disk_make_directory(const char *path, Status *status) {
  struct stat info;
  if (mkdir(path, 0777) == 0) return true;
  int error_number = errno;
  return (error_number == EEXIST && stat(path, &info) == 0 && S_ISDIR(info.st_mode)) || file_error(path, error_number, status);
}

static bool disk_remove_directory(const char *path, Status *status) {
  return rmdir(path) == 0 || file_error(path, errno, status);
}

static bool disk_list(const char *directory, FileVisitor visit, void *arg, Status *status) {
  DIR *folder = opendir(directory[0] == '\0' ? "." : directory);
  if (folder == NULL) return errno == ENOENT || errno == ENOTDIR || file_error(directory, errno, status);
  bool ok = true;
  for (struct dirent *entry; ok && (entry = readdir(folder)) != NULL;) {
    if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) ok = visit(arg, entry->d_name, status);
  }
  closedir(folder);
  return ok;
}

const FileStore kDiskFiles = {
  .size = disk_size,
  .read = disk_read,
  .write = disk_write,
  .rename = disk_rename,
  .remove = disk_remove,
  .make_directory = disk_make_directory,
  .remove_directory = disk_remove_directory,
  .list = disk_list,
};
