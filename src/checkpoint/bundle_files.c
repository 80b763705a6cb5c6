/* The names of a bundle's files, and its index file. */
#include <stdio.h>
#include <stdlib.h>

#include "base/file_draft.h"
#include "checkpoint/bundle_internal.h"

static bool path_with(Str prefix, const char *suffix, char path[FILE_PATH_MAX + 1], Status *status) {
  char whole[FILE_PATH_MAX + 1];
  TRY(file_path(prefix, whole, status));
  int length = snprintf(path, FILE_PATH_MAX + 1, "%s%s", whole, suffix);
  return length <= FILE_PATH_MAX || status_invalid(status, "File name of %d bytes is too long", length);
}

bool bundle_index_path(Str prefix, char path[FILE_PATH_MAX + 1], Status *status) {
  return path_with(prefix, ".index", path, status);
}

bool bundle_data_path(Str prefix, int32_t shard, int32_t num_shards, char path[FILE_PATH_MAX + 1],
                      Status *status) {
  char suffix[48];
  snprintf(suffix, sizeof suffix, ".data-%05d-of-%05d", shard, num_shards);
  return path_with(prefix, suffix, path, status);
}

bool bundle_exists(Str prefix) {
  char path[FILE_PATH_MAX + 1];
  int64_t size;
  Status status;
  status_init(&status);
  return bundle_index_path(prefix, path, &status) && file_store_of(path)->size(path, &size, &status);
}

bool bundle_parse_entry(const TableEntry *entry, Arena *arena, BundleEntry **parsed, Status *status) {
  void *message;
  if (!proto_parse(kBundleEntry, entry->value.data, entry->value.length, arena, &message, status)) {
    return status_reword(status, CODE_DATA_LOSS, "Entry for key %.*s not parseable.", (int)entry->key.length,
                         entry->key.data);
  }
  *parsed = message;
  return true;
}

static int compare_entries(const void *a, const void *b) {
  return key_compare(((const IndexEntry *)a)->key, ((const IndexEntry *)b)->key);
}

/* Empties `buffer`, serialises into it, and adds the record. */
static bool add_message(TableWriter *table, Str key, const void *message, StrBuf *buffer, Status *status) {
  strbuf_clear(buffer);
  TRY(proto_serialize(message, buffer, status));
  TRY(strbuf_ok(buffer, status));
  table_writer_add(table, key, (Str){strbuf_text(buffer), (size_t)buffer->length});
  return true;
}

bool bundle_write_index(const char *path, const BundleHeader *header, IndexEntry *entries, int64_t count,
                        bool *replaced, Status *status) {
  TableWriter *table = table_writer_new();
  StrBuf buffer = {0};
  Str file;
  FileDraft draft;
  bool ok = false;
  draft.path[0] = '\0';
  draft.publishing = *replaced = false;
  if (!table) return status_oom(status, "the index of a checkpoint");
  if (count > 1) qsort(entries, (size_t)count, sizeof *entries, compare_entries);
  TRY_DONE(add_message(table, (Str){"", 0}, header, &buffer, status));
  for (int64_t i = 0; i < count; i++)
    TRY_DONE(add_message(table, entries[i].key, entries[i].entry, &buffer, status));
  TRY_DONE(table_writer_finish(table, &file, status));
  ok = file_draft_begin(path, &draft, status) &&
       file_draft_append(&draft, file.data, (int64_t)file.length, status) &&
       file_draft_publish(&draft, path, status);
done:
  *replaced = draft.publishing;
  file_draft_drop(&draft);
  strbuf_free(&buffer);
  table_writer_free(table);
  return ok;
}
