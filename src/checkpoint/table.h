/* Tables: files of sorted keys with values, in LevelDB's format (blocks of entries whose keys leave out what
 * they share with the key before, an index of the blocks, a footer), as TensorFlow writes them for
 * checkpoints. */
#ifndef TFCORE_CHECKPOINT_TABLE_H_
#define TFCORE_CHECKPOINT_TABLE_H_

#include "base/arena.h"
#include "base/str.h"

/* --- writing: into memory; tables hold names and shapes --- */

typedef struct TableWriter TableWriter;

/* NULL when out of memory. */
TableWriter *table_writer_new(void);
void table_writer_free(TableWriter *writer); /* NULL is fine */
/* Keys must come in ascending order of their bytes; what was added is remembered even when memory runs out:
 * table_writer_finish tells. */
void table_writer_add(TableWriter *writer, Str key, Str value);
/* The whole file; borrowed from the writer. */
MUST_CHECK bool table_writer_finish(TableWriter *writer, Str *file, Status *status);

/* --- reading --- */

typedef struct TableEntry {
  Str key, value;
} TableEntry;

/* All entries in order; they live in `arena`. `name` is for messages. Checksums, lengths and order are
 * checked: DATA_LOSS. Blocks may be compressed with Snappy. */
MUST_CHECK bool table_read(const char *name, Str file, Arena *arena, TableEntry **entries, int64_t *count,
                           Status *status);
/* The entry of a key among sorted ones, or NULL. */
const TableEntry *table_find(const TableEntry *entries, int64_t count, Str key);
/* <0, 0, >0 by bytes. */
int key_compare(Str a, Str b);

/* Snappy's block format (snappy.c): how long the text will be, and the text itself, which has exactly that
 * length. */
MUST_CHECK bool snappy_length(Str compressed, uint64_t *length);
MUST_CHECK bool snappy_decompress(Str compressed, char *to, uint64_t length);

#endif
