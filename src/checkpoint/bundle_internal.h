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
MUST_CHECK bool bundle_data_path(Str prefix, int32_t shard, int32_t num_shards, char path[FILE_PATH_MAX + 1],
                                 Status *status);
/* Parses the entry of a table. */
MUST_CHECK bool bundle_parse_entry(const TableEntry *entry, Arena *arena, BundleEntry **parsed,
                                   Status *status);

/* The keys and messages of an index. */
typedef struct IndexEntry {
  Str key;
  const BundleEntry *entry;
} IndexEntry;

/* Puts data file number `shard` of a checkpoint at `path`; what is there belongs to no checkpoint. */
typedef bool (*PlaceShard)(void *arg, int32_t shard, const char *path, Status *status);

/* Waits until nobody else replaces a checkpoint in the folder of `prefix`, be it a thread or another process,
 * and keeps all others away until bundle_unlock. Processes that the place of the files cannot keep apart
 * (base/file_store.h) are not. */
int bundle_lock(Str prefix);
void bundle_unlock(int lock);
/* Between bundle_lock and bundle_unlock: replaces the checkpoint `prefix` by one of header->num_shards data
 * files, each of them put in place by `place`. Readers see the old checkpoint or the new one, whatever fails
 * in between. The header is used for the time of the call; entries are sorted. */
MUST_CHECK bool bundle_publish(Str prefix, BundleHeader *header, IndexEntry *entries, int64_t count,
                               PlaceShard place, void *arg, Status *status);
/* Replaces an index file: the header, and the entries behind it, which are sorted here. *replaced: it may be
 * the new one, also after an error. */
MUST_CHECK bool bundle_write_index(const char *path, const BundleHeader *header, IndexEntry *entries,
                                   int64_t count, bool *replaced, Status *status);

#endif
