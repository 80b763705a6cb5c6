/* Files in memory: a sorted array behind one lock. */
#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file_store.h"
#include "base/sync.h"

typedef struct Content {
  int64_t num_names;
  char *bytes;
  int64_t size, capacity;
} Content;

typedef struct MemoryFile {
  char *path;
  Content *content; /* shared by all names of a file */
} MemoryFile;

static Mutex lock = MUTEX_INIT;
static MemoryFile *files;
static int64_t file_count, file_capacity;

/* The first file whose path does not sort before `path`. */
static int64_t position(const char *path) {
  int64_t low = 0, high = file_count;
  while (low < high) {
    int64_t middle = low + (high - low) / 2;
    if (strcmp(files[middle].path, path) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

static MemoryFile *find(const char *path) {
  int64_t at = position(path);
  return at < file_count && strcmp(files[at].path, path) == 0 ? &files[at] : NULL;
}

static void release(Content *content) {
  if (--content->num_names > 0) return;
  mem_free(content->bytes);
  mem_free(content);
}

static void drop(MemoryFile *file) {
  int64_t at = file - files;
  mem_free(file->path);
  release(file->content);
  memmove(file, file + 1, (size_t)(file_count - at - 1) * sizeof *file);
  if (--file_count == 0) {
    mem_free(files);
    files = NULL;
    file_capacity = 0;
  }
}

/* Adds a name for the content. False when out of memory. */
static bool insert(const char *path, Content *content) {
  char *copy = mem_strdup(path, strlen(path));
  if (!copy || !mem_grow((void **)&files, &file_capacity, file_count + 1, sizeof *files)) {
    mem_free(copy);
    return false;
  }
  int64_t at = position(path);
  memmove(files + at + 1, files + at, (size_t)(file_count - at) * sizeof *files);
  files[at] = (MemoryFile){copy, content};
  content->num_names++;
  file_count++;
  return true;
}

static bool memory_size(const char *path, int64_t *size, Status *status) {
  mutex_lock(&lock);
  MemoryFile *file = find(path);
  if (file) *size = file->content->size;
  mutex_unlock(&lock);
  return file || file_error(path, ENOENT, status);
}

static bool memory_read(const char *path, int64_t offset, void *bytes, int64_t size, Status *status) {
  mutex_lock(&lock);
  MemoryFile *file = find(path);
  bool inside = file && offset >= 0 && size >= 0 && offset <= file->content->size &&
                size <= file->content->size - offset;
  if (inside && size > 0) memcpy(bytes, file->content->bytes + offset, (size_t)size);
  mutex_unlock(&lock);
  if (!file) return file_error(path, ENOENT, status);
  return inside || status_set(status, CODE_OUT_OF_RANGE, "%s; Read less bytes than requested", path);
}

/* When memory runs out, the file is unchanged. */
static bool write_locked(const char *path, bool append, const void *bytes, int64_t size, Status *status) {
  MemoryFile *file = find(path);
  Content *content = file ? file->content : mem_calloc(1, sizeof *content);
  if (!content) return status_oom(status, "a file in memory");
  Content made = append ? *content : (Content){.num_names = content->num_names};
  bool fits =
      size <= INT64_MAX - made.size && mem_grow((void **)&made.bytes, &made.capacity, made.size + size, 1);
  if (fits) {
    if (!append) mem_free(content->bytes);
    if (size > 0) memcpy(made.bytes + made.size, bytes, (size_t)size);
    made.size += size;
    *content = made;
  }
  if (!file && (!fits || !insert(path, content))) {
    mem_free(content->bytes);
    mem_free(content);
    fits = false;
  }
  return fits || status_oom(status, "a file in memory");
}

static bool memory_write(const char *path, bool append, const void *bytes, int64_t size, Status *status) {
  mutex_lock(&lock);
  bool ok = write_locked(path, append, bytes, size, status);
  mutex_unlock(&lock);
  return ok;
}

char *file_memory_create(const char *path, int64_t size, Status *status) {
  char *bytes = NULL;
  mutex_lock(&lock);
  if (write_locked(path, false, NULL, 0, status)) {
    Content *content = find(path)->content;
    if (mem_grow((void **)&content->bytes, &content->capacity, size > 0 ? size : 1, 1)) {
      bytes = content->bytes;
      memset(bytes, 0, (size_t)size);
      content->size = size;
    } else {
      status_oom(status, "a file in memory");
    }
  }
  mutex_unlock(&lock);
  return bytes;
}

char *file_memory_place(const char *path, int64_t offset, int64_t length, Status *status) {
  char *place = NULL;
  mutex_lock(&lock);
  const MemoryFile *file = find(path);
  if (file && offset >= 0 && length >= 0 && offset <= file->content->size &&
      length <= file->content->size - offset)
    place = file->content->bytes + offset;
  mutex_unlock(&lock);
  if (!place)
    status_invalid(status, "%s has no %lld bytes behind %lld", path, (long long)length, (long long)offset);
  return place;
}

static bool link_locked(const char *from, const char *to, Status *status) {
  MemoryFile *source = find(from);
  if (!source) return file_error(from, ENOENT, status);
  if (find(to)) return file_error(to, EEXIST, status);
  return insert(to, source->content) || status_oom(status, "a file in memory");
}

static bool memory_link(const char *from, const char *to, Status *status) {
  mutex_lock(&lock);
  bool ok = link_locked(from, to, status);
  mutex_unlock(&lock);
  return ok;
}

static bool rename_locked(const char *from, const char *to, Status *status) {
  if (!find(from) || !find(to)) TRY(link_locked(from, to, status));
  if (strcmp(from, to) == 0) return true;
  MemoryFile *source = find(from), *target = find(to);
  source->content->num_names++;
  release(target->content);
  target->content = source->content;
  drop(source);
  return true;
}

static bool memory_rename(const char *from, const char *to, Status *status) {
  mutex_lock(&lock);
  bool ok = rename_locked(from, to, status);
  mutex_unlock(&lock);
  return ok;
}

static bool memory_remove(const char *path, Status *status) {
  mutex_lock(&lock);
  MemoryFile *file = find(path);
  if (file) drop(file);
  mutex_unlock(&lock);
  return file || file_error(path, ENOENT, status);
}

static bool memory_directory(const char *path, Status *status) {
  (void)path;
  (void)status;
  return true;
}

/* Iterates over copies of the names, so that the visitor may use files. The first `prefix_length` bytes of
 * each are left out; names with a '/' after them are visited only if `deep`. */
static bool visit_under(const char *prefix, size_t prefix_length, bool deep, FileVisitor visit, void *arg,
                        Status *status) {
  StrBuf names = {0};
  bool ok = false;
  mutex_lock(&lock);
  for (int64_t i = 0; i < file_count; i++) {
    const char *path = files[i].path;
    if (strncmp(path, prefix, prefix_length) != 0) continue;
    if (deep || !strchr(path + prefix_length, '/'))
      strbuf_append_bytes(&names, path + prefix_length, strlen(path + prefix_length) + 1);
  }
  mutex_unlock(&lock);
  TRY_DONE(strbuf_ok(&names, status));
  for (int64_t at = 0; at < names.length; at += (int64_t)strlen(names.data + at) + 1)
    TRY_DONE(visit(arg, names.data + at, status));
  ok = true;
done:
  strbuf_free(&names);
  return ok;
}

static bool memory_list(const char *directory, FileVisitor visit, void *arg, Status *status) {
  char prefix[FILE_PATH_MAX + 2];
  size_t length = strlen(directory);
  if (length > FILE_PATH_MAX) return status_invalid(status, "File name is too long");
  memcpy(prefix, directory, length);
  if (length > 0 && prefix[length - 1] != '/') prefix[length++] = '/';
  prefix[length] = '\0';
  return visit_under(prefix, length, false, visit, arg, status);
}

bool file_memory_list(FileVisitor visit, void *arg, Status *status) {
  return visit_under("", 0, true, visit, arg, status);
}

void file_memory_clear(void) {
  mutex_lock(&lock);
  while (file_count > 0) drop(&files[file_count - 1]);
  mutex_unlock(&lock);
}

static bool memory_sync(const char *path, Status *status) {
  (void)path;
  (void)status;
  return true;
}

/* Files in memory do not outlive their process. */
static void memory_writer(char name[FILE_WRITER_CAPACITY]) { memcpy(name, "0", 2); }

static bool memory_writer_lives(const char *name) {
  (void)name;
  return true;
}

const FileStore kMemoryFiles = {
    .size = memory_size,
    .read = memory_read,
    .write = memory_write,
    .sync = memory_sync,
    .rename = memory_rename,
    .link = memory_link,
    .remove = memory_remove,
    .make_directory = memory_directory,
    .remove_directory = memory_directory,
    .list = memory_list,
    .writer = memory_writer,
    .writer_lives = memory_writer_lives,
};
