/* CRC-32C (Castagnoli), which guards every block and tensor of a checkpoint. */
#ifndef TFCORE_CHECKPOINT_CRC32C_H_
#define TFCORE_CHECKPOINT_CRC32C_H_

#include <stdint.h>

/* The checksum of what `crc` (0: nothing) is the checksum of, followed by these bytes. */
uint32_t crc32c_extend(uint32_t crc, const void *bytes, int64_t size);
/* How checksums are stored: rotated by 15 bits and moved, so that a checksum over data that holds checksums
 * is no degenerate case. */
uint32_t crc32c_mask(uint32_t crc);
uint32_t crc32c_unmask(uint32_t masked);

#endif
