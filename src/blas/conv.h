/* Convolutions on raw pointers: y = epilogue(activation(conv(x, w) [+ bias])) and the two gradients of
 * conv(x, w).
 *
 *   Conv conv = {.batch = 1, .axis = {{.in = 8, .out = 6, .filter = 3, .stride = 1, .dilation = 1}, {...}},
 *                .in_channels = 3, .out_channels = 16, .groups = 1};
 *   int64_t size = conv_f32.workspace(CONV_FORWARD, &conv, false);
 *   conv_f32.run(CONV_FORWARD, &conv, x, w, NULL, y, parallel, workspace);
 *
 * x is [batch, rows, columns, in_channels], w [rows, columns, in_channels / groups, out_channels], y [batch,
 * rows, columns, out_channels], dense. Output channel o of group g = o / (out_channels / groups) uses only
 * that group's input channels.
 *
 * How it works: all three are matrix products. If the windows already form a matrix (1 x 1, or as large as
 * the image), it is multiplied directly. Otherwise the rows of the left matrix, one window each, are gathered
 * while the product packs its panels (GemmArgs.pack_a), so the matrix of windows is never stored. If windows
 * extend over the edges of images with few channels, the images are first copied into zero padding, a few at
 * a time. Windows of few channels, or with few outputs, are multiplied where they are (blas/conv_view.inc).
 * The gradient of the input is, for each of the stride * stride phases of a pixel, a convolution of dy with
 * the filter elements that contribute to it (blas/conv_filter.inc): no zeros are multiplied, and nothing is
 * scattered. Only for images with very few channels the products are scattered (blas/conv_scatter.inc).
 * Results do not depend on the number of threads. blas/winograd.h is faster for most filters of floats with
 * more than one tap.
 */
#ifndef TFCORE_BLAS_CONV_H_
#define TFCORE_BLAS_CONV_H_

#include "base/parallel.h"
#include "base/work_stop.h"
#include "blas/gemm.h"
#include "blas/window.h"

typedef struct Conv {
  int64_t batch;
  WindowAxis axis[WINDOW_AXES];
  int64_t in_channels, out_channels, groups; /* both are multiples of groups */
  /* Only CONV_FORWARD of float and double heeds these. */
  const void *bias; /* out_channels elements, added at each pixel; or NULL */
  GemmActivation activation;
  const GemmEpilogue *epilogue; /* a row is a pixel; or NULL */
} Conv;

typedef enum ConvProduct {
  CONV_FORWARD, /* y of (x, w) */
  CONV_INPUT,   /* dx of (dy, w) */
  CONV_FILTER,  /* dw of (x, dy) */
} ConvProduct;

/* The number of products summed for one output. */
static inline int64_t conv_depth(const Conv *conv) {
  return conv->axis[0].filter * conv->axis[1].filter * (conv->in_channels / conv->groups);
}

/* Convolutions of one element type. */
typedef struct ConvType {
  /* The size of `workspace` for `run` in bytes (64-byte aligned); may be 0. Beyond the workspace of a
   * product, it is at most the size of the packed filter and the input together, or a megabyte. `packed`:
   * whether a packed filter will be given. */
  int64_t (*workspace)(ConvProduct product, const Conv *conv, bool packed);
  /* a and b as in ConvProduct, all of the same type; `packed` is what pack_filter left of b, or NULL. The
   * whole result is written. All sizes may be 0 except filter, channels and groups. */
  void (*run)(ConvProduct product, const Conv *conv, const void *a, const void *b, const void *packed,
              void *result, const Parallel *parallel, void *workspace);
  /* Packs a filter that many products share, such as constant weights. The size is in bytes, 64-byte aligned;
   * 0 where the filter is read as it is: `packed` of `run` must be NULL then. The packed filter depends on
   * the filter, the strides, the dilations and the groups, not on the images. */
  int64_t (*filter_size)(ConvProduct product, const Conv *conv);
  void (*pack_filter)(ConvProduct product, const Conv *conv, const void *filter, const Parallel *parallel,
                      void *packed);
} ConvType;

extern const ConvType conv_f32, conv_f64;
/* Only CONV_FORWARD and CONV_INPUT; overflow wraps around. No workspace and no packed filters: `packed` must
 * be NULL, and the functions for it are NULL. */
extern const ConvType conv_i32;

/* Depthwise: out_channels = in_channels, w is [rows, columns, channels]; `groups` is ignored. For
 * CONV_FILTER, in_channels may also be 1. No workspace. */
void depthwise_f32(ConvProduct product, const Conv *conv, const float *a, const float *b, float *result,
                   const Parallel *parallel);
void depthwise_f64(ConvProduct product, const Conv *conv, const double *a, const double *b, double *result,
                   const Parallel *parallel);

/* CONV_FILTER of a convolution of one group with few outputs: each output is summed as if the convolution
 * were depthwise, which wastes no lanes. No workspace. */
void narrow_filter_gradient_f32(const Conv *conv, const float *x, const float *dy, float *dw,
                                const Parallel *parallel);
void narrow_filter_gradient_f64(const Conv *conv, const double *x, const double *dy, double *dw,
                                const Parallel *parallel);

/* CONV_FILTER of a convolution of one group for images with few channels, where the sums over the windows of
 * a line stay in registers. */
typedef struct ShortRows {
  /* Whether it is faster than the product of ConvType. */
  bool (*suit)(const Conv *conv);
  /* In bytes, 64-byte aligned; its contents are undefined before and after. */
  int64_t (*workspace)(const Conv *conv);
  void (*gradient)(const Conv *conv, const void *x, const void *dy, void *dw, const Parallel *parallel,
                   void *workspace);
} ShortRows;

extern const ShortRows short_rows_f32, short_rows_f64;

#endif
