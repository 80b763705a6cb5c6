#include "base/file_draft.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

static const char kMark[] = ".tempstate";

/* A name that no other draft of this or another process has. */
static bool draft_path(const char *path, char to[FILE_PATH_MAX + 1], Status *status) {
  static atomic_uint counter;
  char writer[FILE_WRITER_CAPACITY];
  file_store_of(path)->writer(writer);
  int length =
      snprintf(to, FILE_PATH_MAX + 1, "%s%s%s-%u", path, kMark, writer, atomic_fetch_add(&counter, 1));
  if (length <= FILE_PATH_MAX) return true;
  to[0] = '\0';
  return status_invalid(status, "File name of %d bytes is too long", length);
}

typedef struct Leftovers {
  const char *path; /* the file to which the drafts belong */
  size_t directory; /* length of its folder, with the '/' */
} Leftovers;

/* Removes a draft whose writer has ended. If that fails, the draft does no harm. */
static bool remove_leftover(void *arg, const char *name, Status *status) {
  const Leftovers *leftovers = arg;
  char writer[FILE_WRITER_CAPACITY], path[FILE_PATH_MAX + 1];
  const char *base = leftovers->path + leftovers->directory;
  size_t length = strlen(base), mark = strlen(kMark);
  Status ignored;
  (void)status;
  if (strncmp(name, base, length) != 0 || strncmp(name + length, kMark, mark) != 0) return true;
  const char *begin = name + length + mark, *end = strrchr(begin, '-');
  if (!end || (size_t)(end - begin) >= sizeof writer || leftovers->directory + strlen(name) > FILE_PATH_MAX)
    return true;
  snprintf(writer, sizeof writer, "%.*s", (int)(end - begin), begin);
  if (file_store_of(leftovers->path)->writer_lives(writer)) return true;
  snprintf(path, sizeof path, "%.*s%s", (int)leftovers->directory, leftovers->path, name);
  (void)!file_store_of(path)->remove(path, &ignored);
  return true;
}

static void remove_leftovers(const char *path) {
  const char *slash = strrchr(path, '/');
  Leftovers leftovers = {path, !slash ? 0 : (size_t)(slash - path) + 1};
  char directory[FILE_PATH_MAX + 1];
  Status ignored;
  /* Removes the final '/' of a folder's name, except of the root "/". */
  size_t length = leftovers.directory > 1 ? leftovers.directory - 1 : leftovers.directory;
  memcpy(directory, path, length);
  directory[length] = '\0';
  (void)!file_store_of(path)->list(directory, remove_leftover, &leftovers, &ignored);
}

bool file_draft_begin(const char *path, FileDraft *draft, Status *status) {
  draft->publishing = false;
  TRY(draft_path(path, draft->path, status));
  remove_leftovers(path);
  /* On failure the file may exist. */
  return file_store_of(draft->path)->write(draft->path, false, NULL, 0, status);
}

bool file_draft_append(FileDraft *draft, const void *bytes, int64_t size, Status *status) {
  return file_store_of(draft->path)->write(draft->path, true, bytes, size, status);
}

bool file_draft_publish(FileDraft *draft, const char *path, Status *status) {
  TRY(file_store_of(draft->path)->sync(draft->path, status));
  draft->publishing = true;
  TRY(file_store_of(draft->path)->rename(draft->path, path, status));
  draft->path[0] = '\0';
  return file_sync_parent(path, status);
}

void file_draft_drop(FileDraft *draft) {
  Status ignored;
  if (draft->path[0] != '\0') (void)!file_store_of(draft->path)->remove(draft->path, &ignored);
  draft->path[0] = '\0';
}

bool file_replace(const char *path, const void *bytes, int64_t size, Status *status) {
  FileDraft draft;
  bool ok = file_draft_begin(path, &draft, status) && file_draft_append(&draft, bytes, size, status) &&
            file_draft_publish(&draft, path, status);
  file_draft_drop(&draft);
  return ok;
}
