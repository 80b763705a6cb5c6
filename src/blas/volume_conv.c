#include "blas/volume_conv.h"

#include <string.h>

#include "blas/transpose.h"
#include "blas/winograd.h"
#include "simd/templates.h"

/* The size of the stacks that are made at a time, unless a single one is larger. */
enum { STACKED_BYTES = 1 << 20 };

/* What a convolution of volumes keeps in its workspace, in bytes that are multiples of 64. */
typedef struct StackedConv {
  Conv conv;          /* of `images` stacks; its batch is the number of output planes in all volumes */
  int64_t images;     /* the number of stacks that are made at a time */
  int64_t stacks;     /* the size of these stacks; 0 if planes are not stacked */
  int64_t filter;     /* the size of one filter in the order of the stacks; 0 if planes are not stacked */
  int64_t image_size; /* elements of one stack */
  bool by_tiles;      /* the products are those of blas/winograd.h */
} StackedConv;

static int64_t lines(int64_t bytes) { return (bytes + 63) / 64 * 64; }

/* Whether every output plane uses the input plane of the same position, and only this one. */
static bool is_flat(const WindowAxis *planes) {
  return planes->filter == 1 && planes->stride == 1 && planes->pad == 0 && planes->in == planes->out;
}

/* Sets all but `by_tiles`. False when sizes exceed int64. */
static bool stack_planes(const Conv3d *conv, int64_t element, StackedConv *stacked) {
  *stacked = (StackedConv){.conv = conv->plane};
  stacked->images = stacked->conv.batch = conv->plane.batch * conv->planes.out;
  if (is_flat(&conv->planes)) return true;
  const WindowAxis *axis = conv->plane.axis;
  int64_t pixels = axis[0].in * axis[1].in, taps = axis[0].filter * axis[1].filter, bytes;
  if (__builtin_mul_overflow(conv->plane.in_channels, conv->planes.filter, &stacked->conv.in_channels))
    return false;
  if (__builtin_mul_overflow(pixels, stacked->conv.in_channels, &stacked->image_size)) return false;
  if (__builtin_mul_overflow(stacked->image_size, element, &bytes) || bytes > INT64_MAX / 4) return false;
  int64_t fit = bytes < STACKED_BYTES ? STACKED_BYTES / bytes : 1;
  if (fit < stacked->images) stacked->images = fit;
  stacked->stacks = lines(stacked->images * bytes);
  stacked->filter = lines(taps * stacked->conv.in_channels * conv->plane.out_channels * element);
  return true;
}

/* The convolution of `images` planes or stacks. */
static Conv conv_of(const StackedConv *stacked, int64_t images) {
  Conv conv = stacked->conv;
  conv.batch = images;
  return conv;
}

static bool prepare(ConvProduct product, const Conv3d *conv, int64_t element, const ConvType *type,
                    StackedConv *stacked) {
  if (!stack_planes(conv, element, stacked)) return false;
  Conv some = conv_of(stacked, stacked->images);
  stacked->by_tiles = type == &conv_f32 && winograd_suits(product, &some, false);
  return true;
}

/* The size of the filter as tiles need it; 0 where none is needed. */
static int64_t tiles_filter(ConvProduct product, const StackedConv *stacked) {
  return stacked->by_tiles && product != CONV_FILTER ? lines(winograd_filter_size(&stacked->conv)) : 0;
}

static int64_t product_workspace(ConvProduct product, const StackedConv *stacked, int64_t images,
                                 const ConvType *type) {
  Conv some = conv_of(stacked, images);
  if (images == 0) return 0;
  int64_t size = type->workspace(product, &some, false), tiles = 0;
  if (stacked->by_tiles)
    tiles = product == CONV_FILTER ? winograd_gradient_workspace(&some)
                                   : winograd_workspace(product, &some, false);
  return size > tiles ? size : tiles;
}

static int64_t stacked_workspace(ConvProduct product, const Conv3d *conv, int64_t element,
                                 const ConvType *type) {
  StackedConv stacked;
  if (!prepare(product, conv, element, type, &stacked)) return -1;
  int64_t all = product_workspace(product, &stacked, stacked.images, type),
          last = product_workspace(product, &stacked, stacked.conv.batch % stacked.images, type);
  return stacked.stacks + stacked.filter * (product == CONV_FILTER ? 2 : 1) +
         tiles_filter(product, &stacked) + (all > last ? all : last);
}

/* --- the product of some planes or stacks --- */

typedef struct PlaneProduct {
  ConvProduct product;
  const ConvType *type;
  const StackedConv *stacked;
  const float *tiles; /* the filter as tiles need it */
  const Parallel *parallel;
  void *workspace;
} PlaneProduct;

/* Takes the beginning of the workspace for the filter of tiles. */
static PlaneProduct begin_product(ConvProduct product, const ConvType *type, const StackedConv *stacked,
                                  const void *filter, const Parallel *parallel, void *workspace) {
  PlaneProduct p = {product, type, stacked, workspace, parallel, workspace};
  int64_t size = tiles_filter(product, stacked);
  if (size > 0) winograd_filter(product, &stacked->conv, filter, workspace, parallel);
  p.workspace = (char *)workspace + size;
  return p;
}

static void multiply_planes(const PlaneProduct *p, int64_t images, const void *a, const void *b,
                            void *result) {
  Conv some = conv_of(p->stacked, images);
  bool done = false;
  if (p->stacked->by_tiles)
    done = p->product == CONV_FILTER
               ? winograd_gradient(&some, a, b, result, p->parallel, p->workspace)
               : winograd_run(p->product, &some, a, p->tiles, false, result, p->parallel, p->workspace);
  if (!done) p->type->run(p->product, &some, a, b, NULL, result, p->parallel, p->workspace);
}

/* The input plane of tap `tap` of an output plane, counted over all volumes; -1 if it is outside. */
static int64_t plane_of(const Conv3d *conv, int64_t out_plane, int64_t tap) {
  const WindowAxis *p = &conv->planes;
  int64_t at = out_plane % p->out * p->stride - p->pad + tap * p->dilation;
  return at < 0 || at >= p->in ? -1 : out_plane / p->out * p->in + at;
}

/* Exchanges the two outer axes: a filter has its planes outside of its pixels, in the order of the stacks it
 * is the other way round. */
static void exchange(int element, int64_t outer, int64_t inner, int64_t channels, const void *from, void *to,
                     const Parallel *parallel) {
  int64_t dims[3] = {outer, inner, channels};
  int32_t perm[3] = {1, 0, 2};
  (void)transpose(element, 3, dims, perm, from, to, parallel); /* three axes are always allowed */
}

#define TEMPLATE "blas/volume_conv_stack.inc"
#define TYPES TYPES_FLOAT
#include "simd/each_type.inc"
