/* CRC-32C (Castagnoli), the checksum of every block and tensor of a checkpoint. */
#ifndef TFCORE_CHECKPOINT_CRC32C_H_
#define TFCORE_CHECKPOINT_CRC32C_H_

#include <stdint.h>

/* Extends the checksum `crc` (0 for no bytes) by these bytes. */
uint32_t crc32c_extend(uint32_t crc, const void *bytes, int64_t size);
/* The stored form of checksums: rotated by 15 bits plus a constant, because a checksum over data that
 * contains its own checksum would be weak. */
uint32_t crc32c_mask(uint32_t crc);
uint32_t crc32c_unmask(uint32_t masked);

#endif
