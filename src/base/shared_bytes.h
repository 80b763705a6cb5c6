/* Shared bytes: memory with references that is known by its address. Long contents of messages are such
 * bytes, so that tensors and copies of a message share them (tensor_from_proto, proto_copy), although a
 * message only has pointers. Whoever shares bytes must not change them. Thread-safe.
 *
 *   void *bytes = shared_bytes_new(size);                     // one reference
 *   if (shared_bytes_ref(bytes)) ...                          // a second one; false for any other memory
 *   shared_bytes_unref(bytes);
 */
#ifndef TFCORE_BASE_SHARED_BYTES_H_
#define TFCORE_BASE_SHARED_BYTES_H_

#include <stdbool.h>
#include <stdint.h>

/* Shorter bytes are better copied. */
enum { SHARED_BYTES_LEAST = 4096 };

/* Uninitialised bytes aligned to 64, with one reference. NULL when out of memory. */
void *shared_bytes_new(int64_t size);
/* Adds a reference if shared bytes begin at `data`, which may be any pointer. */
bool shared_bytes_ref(const void *data);
void shared_bytes_unref(void *data);

#endif
