/* Pooling regions of fractional sizes: an axis is divided into regions whose lengths differ by at most one.
 *
 *   lengths 2 1 2 -> the sequence 0 2 3 5
 */
#ifndef TFCORE_OPS_RANDOM_POOL_REGIONS_H_
#define TFCORE_OPS_RANDOM_POOL_REGIONS_H_

#include "op/kernel.h"
#include "ops/support/philox.h"

/* Writes the first positions of `count` regions of an axis of `size` elements, 0 < count <= size, and at last
 * `size`. The generator moves on. With `pseudo_random` one random number places all regions (Graham,
 * "Fractional Max-Pooling", 2014), otherwise lengths are shuffled. */
void pool_regions_draw(int64_t size, int64_t count, bool pseudo_random, Philox *generator, int64_t *sequence);

#endif
