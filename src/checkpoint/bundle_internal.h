/* What the files of bundles share. */
#ifndef TFCORE_CHECKPOINT_BUNDLE_INTERNAL_H_
#define TFCORE_CHECKPOINT_BUNDLE_INTERNAL_H_

#include "checkpoint/bundle.h"
#include "checkpoint/table.h"

enum { BUNDLE_VERSION = 1, BUNDLE_MIN_PRODUCER = 0, BUNDLE_MIN_CONSUMER = 0 };

struct BundleReader {
  Arena *arena;
  char *index_bytes; /* entries point into them */
  char prefix[FILE_PATH_MAX + 1];
  const BundleHeader *header;
  TableEntry *entries; /* the header's among them */
  int64_t num_entries;
};

/* "<prefix>.index" and "<prefix>.data-00000-of-00001". */
MUST_CHECK bool bundle_index_path(Str prefix, char path[FILE_PATH_MAX + 1], Status *status);
MUST_CHECK bool bundle_data_path(Str prefix, int32_t shard, int32_t num_shards, char path[FILE_PATH_MAX + 1], Status *status);
/* Parses the entry of a table. */
MUST_CHECK bool bundle_parse_entry(const TableEntry *entry, Arena *arena, BundleEntry **parsed, Status *status);

/* The keys and messages of an index, which are sorted here, behind the header as a file. */
typedef struct IndexEntry {
  Str key;
  const BundleEntry *entry;
} IndexEntry;
MUST_CHECK bool bundle_write_index(const char *path, const BundleHeader *header, IndexEntry *entries, int64_t count, Status *status);

#endif
