/* Declarations shared by the files of bundles. */
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
  TableEntry *entries; /* includes the header's entry */
  int64_t num_entries;
};

/* "<prefix>.index" and "<prefix>.data-00000-of-00001". */
MUST_CHECK bool bundle_index_path(Str prefix, char path[FILE_PATH_MAX + 1], Status *status);
MUST_CHECK bool bundle_data_path(Str prefix, int32_t shard, int32_t num_shards, char path[FILE_PATH_MAX + 1],
                                 Status *status);
/* Parses the entry of a table. */
MUST_CHECK bool bundle_parse_entry(const TableEntry *entry, Arena *arena, BundleEntry **parsed,
                                   Status *status);

/* Adds the keys and messages of an index to a table. */
typedef struct IndexEntry {
  Str key;
  const BundleEntry *entry;
} IndexEntry;

/* Moves data file number `shard` of a checkpoint to `path`; an existing file there belongs to no
 * checkpoint. */
typedef bool (*PlaceShard)(void *arg, int32_t shard, const char *path, Status *status);

/* Waits until no thread or process replaces a checkpoint in the folder of `prefix`, and excludes all others
 * until bundle_unlock. Processes are not excluded in stores without locks (base/file_store.h). */
int bundle_lock(Str prefix);
void bundle_unlock(int lock);
/* Between bundle_lock and bundle_unlock: replaces the checkpoint `prefix` by one of header->num_shards data
 * files; `place` moves each of them to its path. Readers see the old checkpoint or the new one, whatever
 * fails in between. The header is borrowed during the call; entries are sorted. */
MUST_CHECK bool bundle_publish(Str prefix, BundleHeader *header, IndexEntry *entries, int64_t count,
                               PlaceShard place, void *arg, Status *status);
/* Replaces an index file by the header and the entries, which are sorted here. *replaced: the file may be the
 * new one, even after an error. */
MUST_CHECK bool bundle_write_index(const char *path, const BundleHeader *header, IndexEntry *entries,
                                   int64_t count, bool *replaced, Status *status);

#endif
