/* Hashes of strings that TensorFlow's ops are defined by. */
#ifndef TFCORE_OPS_SUPPORT_STRING_HASH_H_
#define TFCORE_OPS_SUPPORT_STRING_HASH_H_

#include "base/str.h"

/* FarmHash's Fingerprint64: the same on every machine and in every version. */
uint64_t fingerprint64(Str text);
/* SipHash-like keyed hash of TensorFlow (highwayhash's SipHash). */
uint64_t sip_hash(const uint64_t key[2], Str text);

#endif
