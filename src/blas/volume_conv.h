/* Convolutions of volumes: those of blas/conv.h with one more axis, the planes.
 *
 *   Conv3d conv = {.plane = {...}, .planes = {.in = 8, .out = 6, .filter = 3, .stride = 1, .dilation = 1}};
 *   int64_t size = conv3d_f32.workspace(CONV_FORWARD, &conv);
 *   conv3d_f32.run(CONV_FORWARD, &conv, x, w, y, parallel, workspace);
 *
 * x is [batch, planes, rows, columns, in_channels], w [planes, rows, columns, in_channels, out_channels], y
 * [batch, planes, rows, columns, out_channels], dense.
 *
 * How it works: the input planes that one output plane uses are stacked as channels of one image. The
 * convolution of that image is two-dimensional, and blas/conv.h computes it, or blas/winograd.h where that
 * suits. A copied element takes part in
 * rows * columns * out_channels products, so the copy costs little. Stacks are made for a few planes at a
 * time. The gradient of the input adds stacks up instead. Results do not depend on the number of threads.
 */
#ifndef TFCORE_BLAS_VOLUME_CONV_H_
#define TFCORE_BLAS_VOLUME_CONV_H_

#include "blas/conv.h"

typedef struct Conv3d {
  Conv plane; /* rows, columns and channels; batch is the number of volumes, groups is 1 */
  WindowAxis planes;
} Conv3d;

/* Convolutions of one element type. */
typedef struct Conv3dType {
  /* The size of `workspace` for `run` in bytes (64-byte aligned); may be 0. -1 when it exceeds int64. Beyond
   * the workspace of a product and a filter that is transformed for it, it is at most the size of two filters
   * and of one stack, or a megabyte. */
  int64_t (*workspace)(ConvProduct product, const Conv3d *conv);
  /* a and b as in ConvProduct, all of the same type. The whole result is written. No size may be 0. */
  void (*run)(ConvProduct product, const Conv3d *conv, const void *a, const void *b, void *result,
              const Parallel *parallel, void *workspace);
} Conv3dType;

extern const Conv3dType conv3d_f32, conv3d_f64;

#endif
