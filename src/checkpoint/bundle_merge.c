#include <string.h>

#include "base/alloc.h"
#include "base/string_map.h"
#include "checkpoint/bundle_internal.h"

typedef struct Merge {
  Arena *arena;
  const BundleHeader *first;
  StringMap entries; /* BundleEntry by key */
  StringMap shards;  /* from the path of a data file to Shard */
  Str destination;
} Merge;

typedef struct Shard {
  const char *path;
  int32_t number;      /* in the merged checkpoint */
  bool of_destination; /* the file belongs to the checkpoint that is replaced */
} Shard;

/* The number of a data file in the merged checkpoint. */
static bool number_shard(Merge *merge, const BundleReader *reader, int32_t shard, int32_t *number,
                         Status *status) {
  char path[FILE_PATH_MAX + 1];
  TRY(bundle_data_path(str_of(reader->prefix), shard, reader->header->num_shards, path, status));
  Shard *known = string_map_find(&merge->shards, path);
  if (!known) {
    known = arena_calloc(merge->arena, 1, sizeof *known);
    char *copy = arena_strdup(merge->arena, path);
    if (!known || !copy) return status_oom(status, "the shards of a checkpoint");
    *known =
        (Shard){copy, (int32_t)merge->shards.count, str_equal(str_of(reader->prefix), merge->destination)};
    TRY(string_map_set(&merge->shards, copy, known, status));
  }
  *number = known->number;
  return true;
}

/* Slices of one tensor may come from several checkpoints. */
static bool merge_slices(Merge *merge, Str key, BundleEntry *into, const BundleEntry *entry, Status *status) {
  if (into->dtype != entry->dtype || !into->shape || !entry->shape ||
      !proto_equal(into->shape, entry->shape)) {
    return status_invalid(status, "Slices of tensor %.*s have different types or belong to different shapes",
                          (int)key.length, key.data);
  }
  for (size_t i = 0; i < entry->n_slices; i++) {
    TensorSliceProto *copy = proto_copy(entry->slices[i], merge->arena);
    if (!copy) return status_oom(status, "a slice");
    TRY(proto_append(merge->arena, (void ***)&into->slices, &into->n_slices, copy, status));
  }
  return true;
}

static bool merge_entry(Merge *merge, const BundleReader *reader, const TableEntry *found, Status *status) {
  BundleEntry *entry;
  TRY(bundle_parse_entry(found, merge->arena, &entry, status));
  BundleEntry *known = string_map_find_bytes(&merge->entries, found->key.data, found->key.length);
  if (known) {
    if (known->n_slices > 0 && entry->n_slices > 0)
      return merge_slices(merge, found->key, known, entry, status);
    return status_invalid(status, "Duplicate tensor keyed by %.*s encountered, when merging prefix: %s",
                          (int)found->key.length, found->key.data, reader->prefix);
  }
  if (entry->n_slices == 0) {
    if (entry->shard_id < 0 || entry->shard_id >= reader->header->num_shards) {
      return status_set(status, CODE_DATA_LOSS, "Entry for key %.*s is damaged", (int)found->key.length,
                        found->key.data);
    }
    TRY(number_shard(merge, reader, entry->shard_id, &entry->shard_id, status));
  } else {
    entry->shard_id = 0; /* the slices have the bytes */
  }
  char *key = arena_strndup(merge->arena, found->key.data, found->key.length);
  if (!key) return status_oom(status, "the entries of a checkpoint");
  return string_map_set_bytes(&merge->entries, key, found->key.length, entry, status);
}

static bool merge_prefix(Merge *merge, Str prefix, bool allow_missing, Status *status) {
  BundleReader *reader;
  bool ok = false;
  if (!bundle_exists(prefix)) {
    return allow_missing || status_invalid(status,
                                           "allow_missing_files was set to false and %.*s did not "
                                           "exist.NOT_FOUND: %.*s not found",
                                           (int)prefix.length, prefix.data, (int)prefix.length, prefix.data);
  }
  TRY(bundle_reader_open(prefix, &reader, status));
  if (!merge->first) {
    merge->first = proto_copy(reader->header, merge->arena);
    if (!merge->first) {
      status_oom(status, "the header of a checkpoint");
      goto done;
    }
  }
  for (int64_t i = 0; i < reader->num_entries; i++) {
    if (reader->entries[i].key.length > 0) TRY_DONE(merge_entry(merge, reader, &reader->entries[i], status));
  }
  ok = true;
done:
  bundle_reader_free(reader);
  return ok;
}

/* The files of the parts stay until the merged checkpoint exists, which gets them under other names. */
static bool place_shard(void *arg, int32_t number, const char *path, Status *status) {
  const Merge *merge = arg;
  for (int64_t i = 0; i < merge->shards.num_entries; i++) {
    const Shard *shard = merge->shards.entries[i].value;
    if (!merge->shards.entries[i].key || shard->number != number) continue;
    return file_duplicate(shard->path, path, status) && file_store_of(path)->sync(path, status);
  }
  /* A checkpoint without tensors has an empty file. */
  return file_store_of(path)->write(path, false, NULL, 0, status);
}

static bool publish(Merge *merge, Status *status) {
  int64_t count = 0;
  BundleHeader *header = proto_copy(merge->first, merge->arena);
  IndexEntry *entries = arena_calloc(merge->arena, merge->entries.count + 1, sizeof *entries);
  if (!header || !entries) return status_oom(status, "the index of a checkpoint");
  for (int64_t i = 0; i < merge->entries.num_entries; i++) {
    const StringMapEntry *entry = &merge->entries.entries[i];
    if (entry->key) entries[count++] = (IndexEntry){{entry->key, entry->key_length}, entry->value};
  }
  header->num_shards = merge->shards.count > 0 ? (int32_t)merge->shards.count : 1;
  return bundle_publish(merge->destination, header, entries, count, place_shard, merge, status);
}

/* An index is removed before the files that it names. */
static void remove_parts(const Merge *merge, const Str *prefixes, int64_t count) {
  char path[FILE_PATH_MAX + 1];
  Status ignored;
  for (int64_t i = 0; i < count; i++) {
    if (str_equal(prefixes[i], merge->destination) || !bundle_index_path(prefixes[i], path, &ignored))
      continue;
    (void)!file_store_of(path)->remove(path, &ignored);
  }
  for (int64_t i = 0; i < merge->shards.num_entries; i++) {
    const Shard *shard = merge->shards.entries[i].value;
    if (merge->shards.entries[i].key && !shard->of_destination)
      (void)!file_store_of(shard->path)->remove(shard->path, &ignored);
  }
}

static bool merge_locked(Merge *merge, const Str *prefixes, int64_t count, bool allow_missing,
                         Status *status) {
  for (int64_t i = 0; i < count; i++) TRY(merge_prefix(merge, prefixes[i], allow_missing, status));
  if (!merge->first)
    return status_invalid(status, "At least one prefix checkpoint file must exist, but none existed.");
  TRY(publish(merge, status));
  remove_parts(merge, prefixes, count);
  return true;
}

/* The destination may be one of the parts, so it is locked before its index is read. */
static bool merge_all(Merge *merge, const Str *prefixes, int64_t count, bool allow_missing, Status *status) {
  char path[FILE_PATH_MAX + 1];
  TRY(file_path(merge->destination, path, status));
  TRY(file_make_parent(path, status));
  int lock = bundle_lock(merge->destination);
  bool ok = merge_locked(merge, prefixes, count, allow_missing, status);
  bundle_unlock(lock);
  return ok;
}

bool bundle_merge(const Str *prefixes, int64_t count, bool allow_missing, Str destination, Status *status) {
  Merge merge = {.arena = arena_new(), .destination = destination};
  bool ok = merge.arena ? merge_all(&merge, prefixes, count, allow_missing, status)
                        : status_oom(status, "a checkpoint");
  string_map_free(&merge.entries);
  string_map_free(&merge.shards);
  arena_free(merge.arena);
  return ok;
}
