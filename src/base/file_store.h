/* The file system of ops (checkpoints). The process chooses where files are: on the disk (native builds), in
 * memory (WebAssembly, because a browser has nothing else), or in a store provided by the embedding program.
 * Paths that begin with "ram://" are always in memory, as in TensorFlow.
 *
 * A path is a text with '/' between its parts, of at most FILE_PATH_MAX bytes. Errors are those of
 * TensorFlow's file systems, such as NOT_FOUND "dir/file; No such file or directory".
 */
#ifndef TFCORE_BASE_FILE_STORE_H_
#define TFCORE_BASE_FILE_STORE_H_

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "base/str.h"

enum { FILE_PATH_MAX = 4096, FILE_WRITER_CAPACITY = 64 };

/* Receives a file's name (without its folder), or in file_match a path. False with `status` set ends the
 * iteration. */
typedef bool (*FileVisitor)(void *arg, const char *name, Status *status);

/* A file store. All functions may be called concurrently from any thread. */
typedef struct FileStore {
  bool (*size)(const char *path, int64_t *size, Status *status);
  /* Reads exactly `size` bytes; OUT_OF_RANGE when the file ends earlier. */
  bool (*read)(const char *path, int64_t offset, void *bytes, int64_t size, Status *status);
  /* Creates or replaces the file, or appends to it. After an error the file may contain a part of the bytes,
   * so files with readers are written as drafts (base/file_draft.h). */
  bool (*write)(const char *path, bool append, const void *bytes, int64_t size, Status *status);
  /* Syncs the bytes of a file, or the names in a folder, so that they survive a failure of the machine. */
  bool (*sync)(const char *path, Status *status);
  /* Replaces the file `to`. */
  bool (*rename)(const char *from, const char *to, Status *status);
  /* Gives the file an additional name, `to`, which must not exist. Not every store supports it. */
  bool (*link)(const char *from, const char *to, Status *status);
  bool (*remove)(const char *path, Status *status);
  /* Creates one level; an existing folder is not an error. */
  bool (*make_directory)(const char *path, Status *status);
  /* Removes an empty folder. */
  bool (*remove_directory)(const char *path, Status *status);
  /* Lists the files of a folder in no particular order; "" is the base of relative paths. A missing folder
   * has no files. */
  bool (*list)(const char *directory, FileVisitor visit, void *arg, Status *status);
  /* The unique name of this process among all writers: letters, digits and '-'. */
  void (*writer)(char name[FILE_WRITER_CAPACITY]);
  /* Whether the process of that name may still run: false only when it has certainly ended. */
  bool (*writer_lives)(const char *name);
  /* Waits for the lock of a folder, which excludes other processes, and takes it. Returns -1 if the folder
   * cannot be locked; NULL in stores without locks. unlock, or the end of the process, releases it. */
  int (*lock)(const char *directory);
  void (*unlock)(int lock);
} FileStore;

/* Files of the C library. */
extern const FileStore kDiskFiles;
/* Files in memory: folders exist implicitly. One set per process. */
extern const FileStore kMemoryFiles;
/* Frees all files in memory. */
void file_memory_clear(void);
/* Creates or replaces a file in memory of `size` zero bytes, which the caller fills: they are at the result
 * until the file is written, replaced or removed. NULL and RESOURCE_EXHAUSTED when out of memory. */
MUST_CHECK char *file_memory_create(const char *path, int64_t size, Status *status);
/* Where `length` bytes of a file in memory begin, `offset` bytes behind its start, to be filled at once. NULL
 * and INVALID_ARGUMENT when there is no such file, or it ends before. */
MUST_CHECK char *file_memory_place(const char *path, int64_t offset, int64_t length, Status *status);
/* All paths in memory, sorted. */
MUST_CHECK bool file_memory_list(FileVisitor visit, void *arg, Status *status);

/* The current store: kDiskFiles by default, in WebAssembly kMemoryFiles. Change it while no step runs. */
void file_store_use(const FileStore *store);
const FileStore *file_store(void);
#define FILE_MEMORY_SCHEME "ram://"
/* The store that has the file, or the folder, of that path. */
const FileStore *file_store_of(const char *path);

/* Copies a path into `to` after checking it: INVALID_ARGUMENT when it is empty, too long or contains a
 * NUL. */
MUST_CHECK bool file_path(Str path, char to[FILE_PATH_MAX + 1], Status *status);
/* Reads the whole file into new memory (mem_free), followed by a NUL. RESOURCE_EXHAUSTED when it has more
 * than `limit` bytes. */
MUST_CHECK bool file_read_all(const char *path, int64_t limit, char **bytes, int64_t *size, Status *status);
/* Creates the folder of `path`, one level; does nothing for a path without '/'. */
MUST_CHECK bool file_make_parent(const char *path, Status *status);
/* Takes the lock of the folder of `path`, which excludes other processes; -1 if that is not possible. */
int file_lock_parent(const char *path);
/* Releases the lock; -1 is fine. */
void file_unlock(int lock);
/* Syncs the folder of `path`. */
MUST_CHECK bool file_sync_parent(const char *path, Status *status);
/* Gives the file the additional name `to`, replacing what exists; copies the file in stores without links. */
MUST_CHECK bool file_duplicate(const char *from, const char *to, Status *status);
/* The paths that match, sorted. '*' (any text without '/'), '?' (one byte) and '[a-z]', '[^a]' are patterns
 * only in the last part of the path; '\' quotes the next character. */
MUST_CHECK bool file_match(const char *pattern, FileVisitor visit, void *arg, Status *status);

/* NOT_FOUND and the like, with TensorFlow's text for an errno. */
bool file_error(const char *path, int error_number, Status *status);

#endif
