/* Files as ops see them (checkpoints). Where they are is a choice of the process: on the disk (native
 * builds), in memory (WebAssembly: a browser has nothing else), or in a place that the embedding program
 * offers.
 *
 * A path is a text with '/' between its parts, of at most FILE_PATH_MAX bytes. Errors are those of
 * TensorFlow's file systems: NOT_FOUND "dir/file; No such file or directory".
 */
#ifndef TFCORE_BASE_FILE_STORE_H_
#define TFCORE_BASE_FILE_STORE_H_

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "base/str.h"

enum { FILE_PATH_MAX = 4096, FILE_WRITER_CAPACITY = 64 };

/* Told of a file's name (without its folder), or in file_match of a path. False with `status` set ends the
 * walk. */
typedef bool (*FileVisitor)(void *arg, const char *name, Status *status);

/* A place where files are. All functions may be called from any thread, at the same time. */
typedef struct FileStore {
  bool (*size)(const char *path, int64_t *size, Status *status);
  /* Exactly `size` bytes; OUT_OF_RANGE when the file ends before. */
  bool (*read)(const char *path, int64_t offset, void *bytes, int64_t size, Status *status);
  /* Makes the file anew, or appends to it. After an error the file may hold a part of the bytes: what others
   * read is written as a draft (base/file_draft.h). */
  bool (*write)(const char *path, bool append, const void *bytes, int64_t size, Status *status);
  /* Puts the bytes of a file, or the names in a folder, where a failure of the machine does not reach
   * them. */
  bool (*sync)(const char *path, Status *status);
  /* Replaces what was at `to`. */
  bool (*rename)(const char *from, const char *to, Status *status);
  /* Gives the file another name, `to`, which must not be there. Not every place can do so. */
  bool (*link)(const char *from, const char *to, Status *status);
  bool (*remove)(const char *path, Status *status);
  /* One level; a folder that is there already is no error. */
  bool (*make_directory)(const char *path, Status *status);
  /* Only an empty one. */
  bool (*remove_directory)(const char *path, Status *status);
  /* The files of one folder, "" being where relative paths begin; in no order. A folder that is not there has
   * none. */
  bool (*list)(const char *directory, FileVisitor visit, void *arg, Status *status);
  /* The name of this process among all that write here: letters, digits and '-'. */
  void (*writer)(char name[FILE_WRITER_CAPACITY]);
  /* Whether the process of that name may still run: false only when it surely ended. */
  bool (*writer_lives)(const char *name);
  /* Waits until no other process holds the lock of a folder, and takes it; -1 where there are no such locks,
   * NULL in places that never have them. It ends with unlock, or with the process. */
  int (*lock)(const char *directory);
  void (*unlock)(int lock);
} FileStore;

/* Files of the C library. */
extern const FileStore kDiskFiles;
/* Files in memory: folders are there by themselves. One set a process. */
extern const FileStore kMemoryFiles;
/* Frees all files in memory. */
void file_memory_clear(void);
/* All paths in memory, sorted. */
MUST_CHECK bool file_memory_list(FileVisitor visit, void *arg, Status *status);

/* The place in use: at first kDiskFiles, in WebAssembly kMemoryFiles. Change it while no step runs. */
void file_store_use(const FileStore *store);
const FileStore *file_store(void);

/* Copies a path into `to` after checking it: INVALID_ARGUMENT when it is empty, too long or holds a NUL. */
MUST_CHECK bool file_path(Str path, char to[FILE_PATH_MAX + 1], Status *status);
/* The whole file into new memory (mem_free), with a NUL behind it. RESOURCE_EXHAUSTED when it has more than
 * `limit` bytes. */
MUST_CHECK bool file_read_all(const char *path, int64_t limit, char **bytes, int64_t *size, Status *status);
/* Makes the folder that `path` lies in, one level; nothing for a path without '/'. */
MUST_CHECK bool file_make_parent(const char *path, Status *status);
/* Takes the lock of the folder that `path` lies in, which keeps other processes away from it; -1 where that
 * cannot be had. */
int file_lock_parent(const char *path);
/* Gives it back; nothing for -1. */
void file_unlock(int lock);
/* Syncs the folder that `path` lies in. */
MUST_CHECK bool file_sync_parent(const char *path, Status *status);
/* Gives the file another name, `to`, replacing what is there; copies it where files have one name only. */
MUST_CHECK bool file_duplicate(const char *from, const char *to, Status *status);
/* The paths that match, sorted. '*' (any text without '/'), '?' (one byte) and '[a-z]', '[^a]' are patterns
 * in the last part of the path only, '\' takes the meaning of the next character away. */
MUST_CHECK bool file_match(const char *pattern, FileVisitor visit, void *arg, Status *status);

/* NOT_FOUND and the like with TensorFlow's text for an errno of the C library. */
bool file_error(const char *path, int error_number, Status *status);

#endif
