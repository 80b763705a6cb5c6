/* Files and clocks of env.h, by the system's calls. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "c_api/c_api_internal.h"
#include "tensorflow/c/env.h"

/* Reports the error of a system call that returned `result`. */
static void report(int result, const char *path, TF_Status *status) {
  start_status(status);
  if (result != 0) TF_SetStatusFromIOError(status, errno, path);
}

void TF_CreateDir(const char *dirname, TF_Status *status) { report(mkdir(dirname, 0755), dirname, status); }

void TF_DeleteDir(const char *dirname, TF_Status *status) { report(rmdir(dirname), dirname, status); }

void TF_DeleteFile(const char *filename, TF_Status *status) { report(unlink(filename), filename, status); }

void TF_FileStat(const char *filename, TF_FileStatistics *stats, TF_Status *status) {
  struct stat found;
  int result = stat(filename, &found);
  report(result, filename, status);
  if (result != 0) return;
  stats->length = found.st_size;
  stats->mtime_nsec = found.st_mtim.tv_sec * INT64_C(1000000000) + found.st_mtim.tv_nsec;
  stats->is_directory = S_ISDIR(found.st_mode);
}

/* ---- whole folders ---- */

static bool is_child(const char *name) { return strcmp(name, ".") != 0 && strcmp(name, "..") != 0; }

/* `path` is a buffer of PATH_CAPACITY bytes, which is used for the paths of what is in the folder. */
enum { PATH_CAPACITY = 4096 };

static void delete_tree(char path[PATH_CAPACITY], int64_t *files, int64_t *folders) {
  size_t length = strlen(path);
  DIR *folder = opendir(path);
  for (struct dirent *entry; folder && (entry = readdir(folder));) {
    struct stat found;
    int added = snprintf(path + length, PATH_CAPACITY - length, "/%s", entry->d_name);
    bool fits = added > 0 && (size_t)added < PATH_CAPACITY - length;
    if (!is_child(entry->d_name)) continue;
    if (fits && lstat(path, &found) == 0 && S_ISDIR(found.st_mode)) delete_tree(path, files, folders);
    else if (!fits || unlink(path) != 0) ++*files;
  }
  if (folder) closedir(folder);
  path[length] = '\0';
  if (rmdir(path) != 0) ++*folders;
}

void TF_DeleteRecursively(const char *dirname, int64_t *undeleted_file_count, int64_t *undeleted_dir_count,
                          TF_Status *status) {
  struct stat found;
  char path[PATH_CAPACITY];
  start_status(status);
  *undeleted_file_count = *undeleted_dir_count = 0;
  if (stat(dirname, &found) != 0 || strlen(dirname) >= sizeof path) {
    *undeleted_dir_count = 1;
    status_set(&status->status, CODE_NOT_FOUND, "%s not found", dirname);
    return;
  }
  memcpy(path, dirname, strlen(dirname) + 1);
  delete_tree(path, undeleted_file_count, undeleted_dir_count);
}

/* ---- writing ---- */

struct TF_WritableFileHandle {
  FILE *file;
  char *path;
};

void TF_NewWritableFile(const char *filename, TF_WritableFileHandle **handle, TF_Status *status) {
  start_status(status);
  TF_WritableFileHandle *made = mem_calloc(1, sizeof *made);
  if (made) made->path = mem_strdup(filename, strlen(filename));
  if (made && made->path) {
    made->file = fopen(filename, "wb");
    if (made->file) {
      *handle = made;
      return;
    }
    TF_SetStatusFromIOError(status, errno, filename);
    mem_free(made->path);
  } else {
    status_oom(&status->status, "a file");
  }
  mem_free(made);
}

void TF_CloseWritableFile(TF_WritableFileHandle *handle, TF_Status *status) {
  report(fclose(handle->file), handle->path, status);
  mem_free(handle->path);
  mem_free(handle);
}

void TF_FlushWritableFile(TF_WritableFileHandle *handle, TF_Status *status) {
  report(fflush(handle->file), handle->path, status);
}

void TF_SyncWritableFile(TF_WritableFileHandle *handle, TF_Status *status) {
  int result = fflush(handle->file);
  report(result == 0 ? fsync(fileno(handle->file)) : result, handle->path, status);
}

void TF_AppendWritableFile(TF_WritableFileHandle *handle, const char *data, size_t length,
                           TF_Status *status) {
  report(fwrite(data, 1, length, handle->file) == length ? 0 : -1, handle->path, status);
}

/* ---- lists of names ---- */

struct TF_StringStream {
  char **texts;
  int64_t capacity;
  int count, next;
};

bool TF_StringStreamNext(TF_StringStream *list, const char **result) {
  bool is_there = list && list->next < list->count;
  *result = is_there ? list->texts[list->next++] : NULL;
  return is_there;
}

void TF_StringStreamDone(TF_StringStream *list) {
  if (!list) return;
  for (int i = 0; i < list->count; i++) mem_free(list->texts[i]);
  mem_free(list->texts);
  mem_free(list);
}

static bool add_text(TF_StringStream *list, const char *text) {
  if (!mem_grow((void **)&list->texts, &list->capacity, list->count + 1, sizeof *list->texts)) return false;
  list->texts[list->count] = mem_strdup(text, strlen(text));
  return list->texts[list->count] && ++list->count;
}

TF_StringStream *TF_GetChildren(const char *filename, TF_Status *status) {
  start_status(status);
  DIR *folder = opendir(filename);
  if (!folder) {
    TF_SetStatusFromIOError(status, errno, filename);
    return NULL;
  }
  TF_StringStream *list = mem_calloc(1, sizeof *list);
  bool ok = list;
  for (struct dirent *entry; ok && (entry = readdir(folder));)
    ok = !is_child(entry->d_name) || add_text(list, entry->d_name);
  closedir(folder);
  if (ok) return list;
  TF_StringStreamDone(list);
  status_oom(&status->status, "a folder");
  return NULL;
}

TF_StringStream *TF_GetLocalTempDirectories(void) {
  static const char *const variables[] = {"TEST_TMPDIR", "TMPDIR", "TMP"};
  TF_StringStream *list = mem_calloc(1, sizeof *list);
  bool ok = list;
  for (int i = 0; i <= 3 && ok; i++) {
    const char *path = i < 3 ? getenv(variables[i]) : "/tmp";
    struct stat found;
    if (path && path[0] && stat(path, &found) == 0 && S_ISDIR(found.st_mode)) ok = add_text(list, path);
  }
  if (ok) return list;
  TF_StringStreamDone(list);
  return NULL;
}

char *TF_GetTempFileName(const char *extension) {
  TF_StringStream *folders = TF_GetLocalTempDirectories();
  const char *folder;
  char *name = NULL;
  if (folders && TF_StringStreamNext(folders, &folder)) {
    size_t length = strlen(folder) + strlen(extension) + 64;
    name = malloc(length); /* the caller frees it with free() */
    for (unsigned i = 0; name && (i == 0 || access(name, F_OK) == 0); i++)
      snprintf(name, length, "%s/tmp_file_tensorflow_%d_%llx_%u.%s", folder, (int)getpid(),
               (unsigned long long)TF_NowMicros(), i, extension);
  }
  TF_StringStreamDone(folders);
  return name;
}

/* ---- clocks ---- */

uint64_t TF_NowNanos(void) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

uint64_t TF_NowMicros(void) { return TF_NowNanos() / 1000; }

uint64_t TF_NowSeconds(void) { return TF_NowNanos() / UINT64_C(1000000000); }
