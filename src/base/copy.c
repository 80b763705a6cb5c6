#include "base/copy.h"

/* Of a loop for each kind of length, none decides again for every row. */
#define COPY_EACH \
  for (; rows > 0; rows--, x += from_step, y += to_step) copy_bytes(y, x, bytes)

void copy_rows(void *to, int64_t to_step, const void *from, int64_t from_step, int64_t bytes, int64_t rows) {
  char *y = to;
  const char *x = from;
  if (to_step == bytes && from_step == bytes) copy_bytes(y, x, rows * bytes);
  else if (bytes >= COPY_SHORT) COPY_EACH;
  else if (bytes >= 16) COPY_EACH;
  else if (bytes >= 8) COPY_EACH;
  else if (bytes == 4) COPY_EACH;
  else COPY_EACH;
}
