#include "base/file_store.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

#ifdef __EMSCRIPTEN__
static const FileStore *store_in_use = &kMemoryFiles;
#else
static const FileStore *store_in_use = &kDiskFiles;
#endif

void file_store_use(const FileStore *store) { store_in_use = store; }

const FileStore *file_store(void) { return store_in_use; }

static bool in_memory(const char *path) {
  return strncmp(path, FILE_MEMORY_SCHEME, strlen(FILE_MEMORY_SCHEME)) == 0;
}

const FileStore *file_store_of(const char *path) { return in_memory(path) ? &kMemoryFiles : store_in_use; }

bool file_path(Str path, char to[FILE_PATH_MAX + 1], Status *status) {
  if (path.length == 0) return status_invalid(status, "A file name must not be empty");
  if (path.length > FILE_PATH_MAX)
    return status_invalid(status, "File name of %zu bytes is too long", path.length);
  if (memchr(path.data, '\0', path.length))
    return status_invalid(status, "A file name must not hold a NUL byte");
  memcpy(to, path.data, path.length);
  to[path.length] = '\0';
  return true;
}

bool file_read_all(const char *path, int64_t limit, char **bytes, int64_t *size, Status *status) {
  TRY(file_store_of(path)->size(path, size, status));
  if (*size > limit) {
    return status_set(status, CODE_RESOURCE_EXHAUSTED,
                      "%s has %lld bytes, more than the %lld that can be read", path, (long long)*size,
                      (long long)limit);
  }
  char *made = mem_alloc(*size + 1);
  if (!made) return status_oom(status, "a file");
  if (!file_store_of(path)->read(path, 0, made, *size, status)) {
    mem_free(made);
    return false;
  }
  made[*size] = '\0';
  *bytes = made;
  return true;
}

/* The length of the path's folder; 0 if there is none. The folders "/" and "ram://" end with '/'. */
static size_t directory_length(const char *path) {
  const char *slash = strrchr(path, '/');
  if (!slash) return 0;
  size_t length = (size_t)(slash - path);
  bool is_root = length == 0 || (length + 1 == strlen(FILE_MEMORY_SCHEME) && in_memory(path));
  return is_root ? length + 1 : length;
}

/* Copies the folder's name; "" if there is none. */
static bool copy_directory(const char *path, char to[FILE_PATH_MAX + 1], Status *status) {
  size_t length = directory_length(path);
  if (length > FILE_PATH_MAX) return status_invalid(status, "File name is too long");
  memcpy(to, path, length);
  to[length] = '\0';
  return true;
}

bool file_make_parent(const char *path, Status *status) {
  char directory[FILE_PATH_MAX + 1];
  TRY(copy_directory(path, directory, status));
  return directory[0] == '\0' || strcmp(directory, "/") == 0 ||
         file_store_of(directory)->make_directory(directory, status);
}

int file_lock_parent(const char *path) {
  char directory[FILE_PATH_MAX + 1];
  Status ignored;
  return file_store_of(path)->lock && copy_directory(path, directory, &ignored)
             ? file_store_of(path)->lock(directory)
             : -1;
}

void file_unlock(int lock) {
  if (lock >= 0) file_store()->unlock(lock);
}

bool file_sync_parent(const char *path, Status *status) {
  char directory[FILE_PATH_MAX + 1];
  TRY(copy_directory(path, directory, status));
  return file_store_of(directory)->sync(directory, status);
}

static bool copy_file(const char *from, const char *to, Status *status) {
  enum { PIECE = 1 << 20 };
  int64_t size, done = 0;
  TRY(file_store_of(from)->size(from, &size, status));
  char *piece = mem_alloc(size < PIECE ? size : PIECE);
  if (!piece) return status_oom(status, "a copy of a file");
  bool ok = file_store_of(to)->write(to, false, NULL, 0, status);
  while (ok && done < size) {
    int64_t length = size - done < PIECE ? size - done : PIECE;
    ok = file_store_of(from)->read(from, done, piece, length, status) &&
         file_store_of(to)->write(to, true, piece, length, status);
    done += length;
  }
  mem_free(piece);
  return ok;
}

static bool remove_if_there(const char *path, Status *status) {
  Status removed;
  if (file_store_of(path)->remove(path, &removed) || removed.code == CODE_NOT_FOUND) return true;
  *status = removed;
  return false;
}

bool file_duplicate(const char *from, const char *to, Status *status) {
  Status ignored;
  TRY(remove_if_there(to, status));
  if (file_store_of(from) == file_store_of(to) && file_store_of(from)->link(from, to, &ignored)) return true;
  /* The name may exist in spite of the error: writing to it would change the file itself. */
  TRY(remove_if_there(to, status));
  if (copy_file(from, to, status)) return true;
  (void)!file_store_of(to)->remove(to, &ignored);
  return false;
}

/* --- patterns --- */

/* Whether `c` is in the set that begins after '['; `*pattern` moves past its ']'. A set without ']' matches
 * nothing. */
static bool set_has(const char **pattern, char c) {
  const char *p = *pattern;
  bool negated = *p == '^' || *p == '!', found = false;
  if (negated) p++;
  for (bool first = true; *p != '\0' && (first || *p != ']'); first = false) {
    unsigned char low = (unsigned char)*p++, high = low;
    if (p[0] == '-' && p[1] != ']' && p[1] != '\0') {
      high = (unsigned char)p[1];
      p += 2;
    }
    if ((unsigned char)c >= low && (unsigned char)c <= high) found = true;
  }
  if (*p != ']') return false;
  *pattern = p + 1;
  return found != negated;
}

/* Matches a single character; false when it does not match. */
static bool match_one(const char **pattern, char c) {
  const char *p = *pattern;
  if (*p == '?') {
    p++;
  } else if (*p == '[') {
    p++;
    if (!set_has(&p, c)) return false;
  } else {
    if (*p == '\\' && p[1] != '\0') p++;
    if (*p++ != c) return false;
  }
  *pattern = p;
  return true;
}

/* Backtracking to the last '*' is enough, so the time is bounded by the product of the lengths. */
static bool matches(const char *pattern, const char *name) {
  const char *star = NULL, *retry = NULL;
  while (*name != '\0') {
    if (*pattern == '*') {
      star = ++pattern;
      retry = name;
    } else if (*pattern != '\0' && match_one(&pattern, *name)) {
      name++;
    } else if (star) {
      pattern = star;
      name = ++retry;
    } else {
      return false;
    }
  }
  while (*pattern == '*') pattern++;
  return *pattern == '\0';
}

typedef struct Matching {
  const char *pattern; /* the last part of the path */
  char **names;
  int64_t count, capacity;
} Matching;

static bool keep_match(void *arg, const char *name, Status *status) {
  Matching *matching = arg;
  if (!matches(matching->pattern, name)) return true;
  if (!mem_grow((void **)&matching->names, &matching->capacity, matching->count + 1,
                sizeof *matching->names)) {
    return status_oom(status, "names of files");
  }
  char *copy = mem_strdup(name, strlen(name));
  if (!copy) return status_oom(status, "names of files");
  matching->names[matching->count++] = copy;
  return true;
}

static int compare_names(const void *a, const void *b) {
  return strcmp(*(char *const *)a, *(char *const *)b);
}

bool file_match(const char *pattern, FileVisitor visit, void *arg, Status *status) {
  char directory[FILE_PATH_MAX + 1];
  TRY(copy_directory(pattern, directory, status));
  const char *slash = strrchr(pattern, '/');
  Matching matching = {.pattern = !slash ? pattern : slash + 1};
  size_t before = strlen(pattern) - strlen(matching.pattern);
  StrBuf path = {0};
  bool ok = false;
  TRY_DONE(file_store_of(directory)->list(directory, keep_match, &matching, status));
  if (matching.count > 0)
    qsort(matching.names, (size_t)matching.count, sizeof *matching.names, compare_names);
  for (int64_t i = 0; i < matching.count; i++) {
    strbuf_clear(&path);
    strbuf_append_bytes(&path, pattern, before);
    strbuf_append(&path, matching.names[i]);
    TRY_DONE(strbuf_ok(&path, status));
    TRY_DONE(visit(arg, strbuf_text(&path), status));
  }
  ok = true;
done:
  for (int64_t i = 0; i < matching.count; i++) mem_free(matching.names[i]);
  mem_free(matching.names);
  strbuf_free(&path);
  return ok;
}

bool file_error(const char *path, int error_number, Status *status) {
  Code code = CODE_UNKNOWN;
  switch (error_number) {
    case ENOENT:
    case ENODEV:
    case ENXIO: code = CODE_NOT_FOUND; break;
    case EACCES:
    case EPERM:
    case EROFS: code = CODE_PERMISSION_DENIED; break;
    case EEXIST: code = CODE_ALREADY_EXISTS; break;
    case ENOSPC:
    case EMFILE:
    case ENFILE:
    case ENOMEM:
    case EDQUOT:
    case EMLINK: code = CODE_RESOURCE_EXHAUSTED; break;
    case EISDIR:
    case ENOTDIR:
    case ENOTEMPTY:
    case EBADF:
    case EBUSY:
    case ETXTBSY: code = CODE_FAILED_PRECONDITION; break;
    case EINVAL:
    case ENAMETOOLONG:
    case ESPIPE: code = CODE_INVALID_ARGUMENT; break;
    case EFBIG:
    case EOVERFLOW: code = CODE_OUT_OF_RANGE; break;
    case EXDEV:
    case ENOSYS:
    case ENOTSUP: code = CODE_UNIMPLEMENTED; break;
    case EINTR:
    case EAGAIN: code = CODE_UNAVAILABLE; break;
    default: break;
  }
  return status_set(status, code, "%s; %s", path, strerror(error_number));
}
