/* Copies of variable and often small length: calling memcpy takes longer than copying a few bytes. */
#ifndef TFCORE_BASE_COPY_H_
#define TFCORE_BASE_COPY_H_

#include <stdint.h>
#include <string.h>

/* From this length on, memcpy is faster. */
enum { COPY_SHORT = 256 };

/* Two copies of a constant size, which overlap unless the length is twice that. */
#define COPY_ENDS(size) \
  (memcpy(to, from, size), memcpy((char *)to + bytes - (size), (const char *)from + bytes - (size), size))

/* Like memcpy: `to` and `from` must not overlap. */
static inline void copy_bytes(void *to, const void *from, int64_t bytes) {
  if (bytes >= COPY_SHORT) {
    memcpy(to, from, (size_t)bytes);
  } else if (bytes == 4) {
    memcpy(to, from, 4);
  } else if (bytes >= 16) {
    for (int64_t i = 0; i + 16 < bytes; i += 16) memcpy((char *)to + i, (const char *)from + i, 16);
    memcpy((char *)to + bytes - 16, (const char *)from + bytes - 16, 16);
  } else if (bytes >= 8) {
    COPY_ENDS(8);
  } else if (bytes >= 4) {
    COPY_ENDS(4);
  } else if (bytes >= 2) {
    COPY_ENDS(2);
  } else if (bytes == 1) {
    *(char *)to = *(const char *)from;
  }
}

#undef COPY_ENDS

/* How much work a copy is, for base/parallel.h. */
static inline double copy_work(int64_t bytes) { return 1 + (double)bytes / 16; }

/* `rows` copies of `bytes`: row i is at from + i * from_step, and goes to to + i * to_step. Steps are in
 * bytes, and may be negative, or 0. What is written must not overlap what is read. */
void copy_rows(void *to, int64_t to_step, const void *from, int64_t from_step, int64_t bytes, int64_t rows);

#endif
