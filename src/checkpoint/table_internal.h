/* Declarations shared by the writer and the reader of tables. */
#ifndef TFCORE_CHECKPOINT_TABLE_INTERNAL_H_
#define TFCORE_CHECKPOINT_TABLE_INTERNAL_H_

#include <stdint.h>

typedef struct BlockHandle {
  uint64_t offset, size; /* without the trailer */
} BlockHandle;

/* After each block: its compression (one byte) and a masked checksum of the block and that byte. */
enum { BLOCK_TRAILER_BYTES = 5, BLOCK_PLAIN = 0, BLOCK_SNAPPY = 1 };
/* Two handles of at most 20 bytes, padded, and the magic number. */
enum { FOOTER_BYTES = 48 };
static const uint64_t TABLE_MAGIC = 0xdb4775248b80fb57u;

#endif
