/* Tables: files of sorted keys with values, in LevelDB's format as TensorFlow writes it for checkpoints:
 * blocks of entries whose keys omit the prefix shared with the previous key, an index of the blocks, and a
 * footer. */
#ifndef TFCORE_CHECKPOINT_TABLE_H_
#define TFCORE_CHECKPOINT_TABLE_H_

#include "base/arena.h"
#include "base/str.h"

/* --- writing to memory: tables hold names and shapes, so they are small --- */

typedef struct TableWriter TableWriter;

/* NULL when out of memory. */
TableWriter *table_writer_new(void);
void table_writer_free(TableWriter *writer); /* NULL is fine */
/* Keys must come in ascending byte order. Running out of memory is remembered, and table_writer_finish
 * reports it. */
void table_writer_add(TableWriter *writer, Str key, Str value);
/* The whole file; borrowed from the writer. */
MUST_CHECK bool table_writer_finish(TableWriter *writer, Str *file, Status *status);

/* --- reading --- */

typedef struct TableEntry {
  Str key, value;
} TableEntry;

/* All entries in order, allocated in `arena`. `name` is for messages. Checksums, lengths and order are
 * checked: DATA_LOSS. Blocks may be compressed with Snappy. */
MUST_CHECK bool table_read(const char *name, Str file, Arena *arena, TableEntry **entries, int64_t *count,
                           Status *status);
/* Finds the entry of a key in sorted entries; NULL if missing. */
const TableEntry *table_find(const TableEntry *entries, int64_t count, Str key);
/* Compares bytes: <0, 0, >0. */
int key_compare(Str a, Str b);

/* Snappy's block format (snappy.c): the length of the decoded text, and decoding a text of exactly that
 * length. */
MUST_CHECK bool snappy_length(Str compressed, uint64_t *length);
MUST_CHECK bool snappy_decompress(Str compressed, char *to, uint64_t length);

#endif
