/* Replaces a checkpoint. An index determines the names of its data files by their number ("-of-00002"), so
 * both must change atomically. Therefore the new data files first get the names for a number that the old
 * index does not have; then the new index replaces the old one, which is the decisive step; then the old data
 * files are removed. If a different number was used for this, the files get the names for their real number
 * as second names, and another index is written, before the first names are removed. */

#include "base/sync.h"
#include "checkpoint/bundle_internal.h"

/* The writers of one process publish one after the other, under a mutex; the lock of the folder separates
 * processes but not threads. */
static Mutex publishing = MUTEX_INIT;

int bundle_lock(Str prefix) {
  char path[FILE_PATH_MAX + 1];
  Status ignored;
  mutex_lock(&publishing);
  return file_path(prefix, path, &ignored) ? file_lock_parent(path) : -1;
}

void bundle_unlock(int lock) {
  file_unlock(lock);
  mutex_unlock(&publishing);
}

/* The number of data files of the existing checkpoint; 0 if there is none that can be read. */
static bool find_num_shards(Str prefix, int32_t *num_shards, Status *status) {
  BundleReader *reader;
  Status found;
  *num_shards = 0;
  if (!bundle_exists(prefix)) return true;
  if (bundle_reader_open(prefix, &reader, &found)) {
    *num_shards = reader->header->num_shards;
    bundle_reader_free(reader);
  } else if (found.code == CODE_RESOURCE_EXHAUSTED || found.code == CODE_UNKNOWN ||
             found.code == CODE_PERMISSION_DENIED) {
    *status = found; /* the checkpoint may be valid */
    return false;
  }
  return true;
}

/* Removes the first `count` files; stops at the first missing one. */
static void remove_shards(Str prefix, int32_t num_shards, int32_t count) {
  char path[FILE_PATH_MAX + 1];
  Status ignored;
  for (int32_t i = 0; i < count; i++) {
    if (!bundle_data_path(prefix, i, num_shards, path, &ignored) ||
        !file_store_of(path)->remove(path, &ignored))
      return;
  }
}

/* `num_shards` is the number in the names. */
static bool put_in_place(Str prefix, int32_t num_shards, int32_t count, PlaceShard place, void *arg,
                         Status *status) {
  char path[FILE_PATH_MAX + 1];
  int32_t placed = 0;
  for (; placed < count; placed++) {
    if (!bundle_data_path(prefix, placed, num_shards, path, status) || !place(arg, placed, path, status))
      break;
  }
  /* The names are not needed after an index has them. */
  if (placed == count && file_sync_parent(path, status)) return true;
  remove_shards(prefix, num_shards, placed);
  return false;
}

static bool put_index(Str prefix, int32_t num_shards, int32_t count, BundleHeader *header,
                      IndexEntry *entries, int64_t num_entries, Status *status) {
  char path[FILE_PATH_MAX + 1];
  int32_t there;
  bool replaced = false;
  Status ignored;
  header->num_shards = num_shards;
  if (bundle_index_path(prefix, path, status) &&
      bundle_write_index(path, header, entries, num_entries, &replaced, status))
    return true;
  /* The files of the existing index stay. */
  if (!replaced || (find_num_shards(prefix, &there, &ignored) && there != num_shards))
    remove_shards(prefix, num_shards, count);
  return false;
}

typedef struct Renaming {
  Str prefix;
  int32_t num_shards; /* the number in the first names */
} Renaming;

static bool link_shard(void *arg, int32_t shard, const char *path, Status *status) {
  const Renaming *renaming = arg;
  char from[FILE_PATH_MAX + 1];
  Status ignored;
  TRY(bundle_data_path(renaming->prefix, shard, renaming->num_shards, from, status));
  (void)!file_store_of(path)->remove(path, &ignored);
  return file_store_of(from)->link(from, path, status);
}

static bool publish(Str prefix, BundleHeader *header, IndexEntry *entries, int64_t count, PlaceShard place,
                    void *arg, Status *status) {
  int32_t num_shards = header->num_shards, old;
  TRY(find_num_shards(prefix, &old, status));
  int32_t made = num_shards == old ? num_shards + 1 : num_shards;
  TRY(put_in_place(prefix, made, num_shards, place, arg, status));
  TRY(put_index(prefix, made, num_shards, header, entries, count, status));
  remove_shards(prefix, old, old);
  if (made == num_shards) return true;
  /* The checkpoint is complete; in stores without links it keeps the first names. */
  Renaming renaming = {prefix, made};
  Status ignored;
  if (put_in_place(prefix, num_shards, num_shards, link_shard, &renaming, &ignored) &&
      put_index(prefix, num_shards, num_shards, header, entries, count, &ignored)) {
    remove_shards(prefix, made, num_shards);
  }
  return true;
}

bool bundle_publish(Str prefix, BundleHeader *header, IndexEntry *entries, int64_t count, PlaceShard place,
                    void *arg, Status *status) {
  int32_t num_shards = header->num_shards;
  bool ok = publish(prefix, header, entries, count, place, arg, status);
  header->num_shards = num_shards;
  return ok;
}
