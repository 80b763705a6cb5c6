/* Numbers that each channel of a tensor has, such as the ends of its range, for kernels that go through the
 * elements in pieces: of long channels a piece is in one, and those of short ones have numbers for each
 * element, so that the loops over both become vectors.
 *
 *   ALWAYS_INLINE void scale(PieceNumbers p, bool spread, int64_t count, const float *x, float *y) {
 *     LOOP_INDEPENDENT
 *     for (int64_t i = 0; i < count; i++) y[i] = x[i] * piece_number(&p, spread, 0, i);
 *   }
 *   for (int64_t at = 0, n; at < size; at += n) {
 *     n = channel_numbers_next(&numbers, size - at);
 *     if (numbers.spread) scale(numbers.piece, true, n, x + at, y + at);
 *     else scale(numbers.piece, false, n, x + at, y + at);
 *   }
 */
#ifndef TFCORE_OPS_QUANT_CHANNEL_NUMBERS_H_
#define TFCORE_OPS_QUANT_CHANNEL_NUMBERS_H_

#include "op/kernel.h"
#include "ops/support/element_types.h"
#include "ops/support/quant_types.h"

enum { CHANNEL_NUMBERS_MAX = 6 };

typedef struct PieceNumbers {
  float one[CHANNEL_NUMBERS_MAX];
  const float *each[CHANNEL_NUMBERS_MAX];
} PieceNumbers;

/* Number `k` of element `i` of the piece. */
ALWAYS_INLINE float piece_number(const PieceNumbers *piece, bool spread, int k, int64_t i) {
  return spread ? piece->each[k][i] : piece->one[k];
}

typedef struct ChannelNumbers {
  int width;               /* numbers of a channel */
  int64_t channels, inner; /* `inner` neighbouring elements are of the same channel */
  float *of_channels;      /* those of channel c begin at c * width; to be set before the first piece */
  bool spread;             /* whether pieces have numbers for each element */
  PieceNumbers piece;
  int64_t at;   /* elements before the next piece */
  float *table; /* if spread: `length` of each number, for the elements of all channels, or several times */
  int64_t length;
  Buffer *buffer;
} ChannelNumbers;

/* Allocates what channel_numbers_end frees, also if this fails. */
MUST_CHECK bool channel_numbers_begin(KernelContext *context, ChannelNumbers *numbers, int width,
                                      int64_t channels, int64_t inner, Status *status);
/* Makes the next piece, of at most QUANT_PIECE and `left` elements. Returns its size. */
int64_t channel_numbers_next(ChannelNumbers *numbers, int64_t left);
void channel_numbers_end(ChannelNumbers *numbers);

#endif
