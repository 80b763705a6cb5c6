/* Convolutions of floats with fewer multiplications: a quarter of them by filters of 3 x 3 and 4 x 4, about a
 * third by those of 2 x 2 and 5 x 5, and a half (3 or 4 taps) or 0.6 (2 or 5 taps) by those of one row or
 * column, as sequences have them. Winograd's algorithms F(4 x 4, 3 x 3), F(3 x 3, 4 x 4), F(5 x 5, 2 x 2),
 * F(2 x 2, 5 x 5), the same of lines, and of pieces of longer filters and of those with strides.
 *
 *   if (winograd_suits(CONV_FORWARD, &conv, false)) {
 *     int64_t size = winograd_filter_size(&conv);
 *     winograd_filter(CONV_FORWARD, &conv, w, filter, parallel);   // size bytes
 *     done = winograd_run(CONV_FORWARD, &conv, x, filter, false, y, parallel, workspace);
 *   }
 *   if (!done) conv_f32.run(...);
 *
 * How it works: a tile of (7 - n) x (7 - n) results of a filter of n x n depends on 6 x 6 pixels. A linear
 * transform of the tile's pixels and one of the filter turn the convolution into products at 36 points, which
 * are summed over the channels; a third transform turns the sums into the results. At each point the products
 * of many tiles are a product of matrices, [tiles, channels] by [channels, outputs], which gemm_f32 computes
 * for a block of tiles that stays in the cache. Tiles of filters of one row or column are lines of results,
 * which depend on 6 pixels. The gradient by the filter exchanges the filter and the results: a tile of dy is
 * transformed as a filter is, and the products of all tiles are summed before the third transform. The
 * results of a dilated convolution at every dilation-th place are those of a convolution of every dilation-th
 * pixel, and have tiles of their own. A longer filter is cut into pieces of three or four taps in each
 * direction, and one with strides has pieces of every stride-th tap, which see every stride-th pixel: all
 * pieces have tiles of the same places, and are like more channels of one convolution. The gradients are for
 * filters of one piece.
 *
 * Rounding errors: with the points 0, +-1/sqrt(2), +-sqrt(2) and infinity, the largest error measured for
 * numbers of similar size is 4e-6 of the sum of magnitudes |x * w| over the window; most are below 1e-6, as
 * for a direct sum. The results of a tile share their errors: one that is far smaller than its neighbours has
 * the absolute error of these.
 */
#ifndef TFCORE_BLAS_WINOGRAD_H_
#define TFCORE_BLAS_WINOGRAD_H_

#include "blas/conv.h"

/* Whether the filter allows the algorithm, at any size of the image: pieces of 2 to 5 taps in both
 * directions, as many in each, or in one of them, at most 64 taps, no strides of dilated windows, one group,
 * channels in whole vectors, and a transformed filter of at most 16 MiB. */
bool winograd_allows(const Conv *conv);
/* Whether the algorithm is allowed and faster, and each window, or for CONV_FILTER each element of the
 * filter, sees a pixel. `constant`: the filter has been transformed before. */
bool winograd_suits(ConvProduct product, const Conv *conv, bool constant);

/* The size of a transformed filter in bytes. */
int64_t winograd_filter_size(const Conv *conv);
/* Transforms filter `w`. The result is for the same product and channels, at any size of the image. */
void winograd_filter(ConvProduct product, const Conv *conv, const float *w, float *filter,
                     const Parallel *parallel);
/* The same for CONV_FORWARD, packed as gemm_f32 needs it. */
void winograd_packed_filter(const Conv *conv, const float *w, float *packed, const Parallel *parallel);

/* The size of `workspace` for `run` in bytes (64-byte aligned). */
int64_t winograd_workspace(ConvProduct product, const Conv *conv, bool packed);
/* Computes `result` of a (x or dy) and the transformed filter, packed if `packed`; with the bias and the
 * activation of CONV_FORWARD. Returns false if a result
 * is not finite: infinities and NaN would spread to the whole tile, so the caller computes it again. */
bool winograd_run(ConvProduct product, const Conv *conv, const float *a, const float *filter, bool packed,
                  float *result, const Parallel *parallel, void *workspace);

/* The same for the gradient by the filter: dw of (x, dy). */
int64_t winograd_gradient_workspace(const Conv *conv);
bool winograd_gradient(const Conv *conv, const float *x, const float *dy, float *dw, const Parallel *parallel,
                       void *workspace);

#endif
