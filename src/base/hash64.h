/* TensorFlow's Hash64, which its formats and protocols contain: the buckets of StringToHashBucket, and the
 * frames of loops in the keys of values that are sent (device/rendezvous_key.h). */
#ifndef TFCORE_BASE_HASH64_H_
#define TFCORE_BASE_HASH64_H_

#include "base/str.h"

/* A Merkle-Damgard hash of 64 bits (MurmurHash64A's mixing), with TensorFlow's seed. */
uint64_t hash64(Str text);
/* The hash of a pair of hashes. */
uint64_t hash64_combine(uint64_t a, uint64_t b);

#endif
