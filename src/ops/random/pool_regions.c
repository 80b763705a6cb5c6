#include "ops/random/pool_regions.h"

#include <math.h>

static void draw_shuffled(int64_t size, int64_t count, PhiloxStream *stream, int64_t *sequence) {
  int64_t *lengths = sequence + 1;
  for (int64_t i = 0; i < count; i++) lengths[i] = size / count + (i < size % count);
  for (int64_t i = 0; i < count - 1; i++) {
    int64_t other = i + philox_stream_next(stream) % (uint32_t)(count - i), length = lengths[i];
    lengths[i] = lengths[other];
    lengths[other] = length;
  }
  for (int64_t i = 1; i <= count; i++) sequence[i] += sequence[i - 1];
}

/* Region i begins at alpha * (i + u); the bound on u keeps the first and the last region from being too long
 * or too short. */
static void draw_placed(int64_t size, int64_t count, PhiloxStream *stream, int64_t *sequence) {
  double alpha = (double)size / (double)count, whole = (double)(size / count);
  double first = (whole + 2) / alpha - 1, last = ((double)(size + 1) - whole) / alpha - (double)(count - 1);
  uint32_t high = philox_stream_next(stream), low = philox_stream_next(stream);
  double u = philox_uniform_f64(high, low) * (last < first ? last : first);
  for (int64_t i = 1; i < count; i++) sequence[i] = (int64_t)ceil(alpha * ((double)i + u)) - 1;
  sequence[count] = size;
}

void pool_regions_draw(int64_t size, int64_t count, bool pseudo_random, Philox *generator,
                       int64_t *sequence) {
  PhiloxStream stream = {.generator = *generator};
  philox_skip(generator, pseudo_random ? 1 : (uint64_t)(count + 3) / 4);
  sequence[0] = 0;
  if (pseudo_random) draw_placed(size, count, &stream, sequence);
  else draw_shuffled(size, count, &stream, sequence);
}
