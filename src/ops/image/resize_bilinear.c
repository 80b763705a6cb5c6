/* ResizeBilinear: interpolates every element of the result between four of the image. ResizeBilinearGrad
 * distributes each element to these four. */
#include <string.h>

#include "op/node_def.h"
#include "op/op_registry.h"
#include "ops/support/element_types.h"
#include "ops/support/half_precision.h"
#include "ops/image/resize_image.h"
#include "ops/support/window_attrs.h"
#include "simd/simd.h"

#define TEMPLATE "ops/image/resize_row.inc"
#define TYPES (TYPES_FLOAT | TYPES_INT | TYPES_SMALL)
#include "simd/each_type.inc"

/* Images of three channels: a vector holds a pixel and one more element, which the next pixel overwrites.
 * Only the last pixel of a row of the image must not be read so, and only the last pixel of the result must
 * not be written so. */
static void stretch_colours(const float *restrict from, int64_t count, const ResizeBetween *axis,
                            float *restrict to) {
  int64_t i = 0, last = axis[count - 1].upper;
  for (; i < count - 1 && axis[i].upper < last; i++) {
    f32x4 a = f32x4_load(from + axis[i].lower), b = f32x4_load(from + axis[i].upper);
    f32x4_store(to + 3 * i, a + (b - a) * f32x4_splat(axis[i].lerp));
  }
  stretch_f32(3, from, count - i, axis + i, to + 3 * i);
}

static void stretch_row_floats(int64_t channels, const void *row, int64_t count, const ResizeBetween *axis,
                               float *to) {
  if (channels == 3) stretch_colours(row, count, axis, to);
  else stretch_row_f32(channels, row, count, axis, to);
}

typedef void StretchRow(int64_t channels, const void *row, int64_t count, const ResizeBetween *axis,
                        float *to);
typedef void ToFloat(const void *from, int64_t count, float *to);
typedef struct RowLoops {
  StretchRow *stretch;
  ToFloat *convert;
} RowLoops;

static RowLoops row_loops(DataType type) {
  switch (type) {
    case DT_DOUBLE: return (RowLoops){stretch_row_f64, to_float_f64};
    case DT_INT32: return (RowLoops){stretch_row_i32, to_float_i32};
    case DT_INT64: return (RowLoops){stretch_row_i64, to_float_i64};
    case DT_UINT8: return (RowLoops){stretch_row_u8, to_float_u8};
    case DT_INT8: return (RowLoops){stretch_row_i8, to_float_i8};
    case DT_INT16: return (RowLoops){stretch_row_i16, to_float_i16};
    case DT_UINT16: return (RowLoops){stretch_row_u16, to_float_u16};
    default: return (RowLoops){stretch_row_floats, to_float_f32}; /* 16-bit floats are widened to float */
  }
}

/* The interpolation of each axis; one allocation. */
static Buffer *place(KernelContext *context, int64_t rows, int64_t columns, ResizeBetween **y,
                     ResizeBetween **x, Status *status) {
  Buffer *buffer = kernel_scratch(context, (rows + columns) * (int64_t)sizeof(ResizeBetween), status);
  if (!buffer) return NULL;
  *y = buffer->data;
  *x = *y + rows;
  return buffer;
}

/* Bytes of `count` numbers of `size` bytes, in rows of `length`. */
static Buffer *make_rows(KernelContext *context, int64_t count, int64_t length, int64_t size,
                         Status *status) {
  int64_t bytes;
  if (!__builtin_mul_overflow(count, length, &bytes) && !__builtin_mul_overflow(bytes, size, &bytes)) {
    return kernel_scratch(context, bytes, status);
  }
  status_oom(status, "rows of an image");
  return NULL;
}

/* --- ResizeBilinear --- */

/* Rows of the result that are computed together: they lie between a few rows of the image, each of which is
 * stretched once. */
enum { ROWS_AT_ONCE = 16 };

typedef struct Resize {
  const ResizeBetween *y, *x; /* x counts elements */
  StretchRow *stretch;
  int64_t from_rows, rows, columns, channels, blocks,
      row_bytes; /* row_bytes of the image; blocks of an image */
  const char *from;
  float *to, *stretched; /* stretched: two rows for each block */
} Resize;

static void resize_blocks(void *arg, int64_t begin, int64_t end) {
  const Resize *r = arg;
  int64_t length = r->columns * r->channels;
  for (int64_t item = begin; item < end; item++) {
    int64_t image = item / r->blocks, first = item % r->blocks * ROWS_AT_ONCE;
    const char *from = r->from + image * r->from_rows * r->row_bytes;
    float *top = r->stretched + 2 * item * length, *bottom = top + length;
    int64_t top_is = -1, bottom_is = -1;
    for (int64_t row = first; row < r->rows && row < first + ROWS_AT_ONCE; row++) {
      const ResizeBetween *y = &r->y[row];
      if (bottom_is == y->lower) {
        float *swapped = top;
        top = bottom, bottom = swapped;
        bottom_is = top_is, top_is = y->lower;
      }
      if (top_is != y->lower) r->stretch(r->channels, from + y->lower * r->row_bytes, r->columns, r->x, top);
      top_is = y->lower;
      if (y->upper != y->lower && bottom_is != y->upper) {
        r->stretch(r->channels, from + y->upper * r->row_bytes, r->columns, r->x, bottom);
        bottom_is = y->upper;
      }
      const float *restrict a = top, *restrict b = y->upper == y->lower ? top : bottom;
      float *restrict to = r->to + (image * r->rows + row) * length, lerp = y->lerp;
      for (int64_t i = 0; i < length; i++) to[i] = a[i] + (b[i] - a[i]) * lerp;
    }
  }
}

typedef struct Conversion {
  ToFloat *convert;
  const char *from;
  int64_t size;
  float *to;
} Conversion;

static void convert_range(void *arg, int64_t begin, int64_t end) {
  const Conversion *c = arg;
  c->convert(c->from + begin * c->size, end - begin, c->to + begin);
}

static bool resize(KernelContext *context, const Image *image, DataType type,
                   const int64_t sizes[RESIZE_AXES], Tensor *out, Status *status) {
  const int64_t *dims = shape_dims(&context->inputs[0]->shape);
  int64_t rows = sizes[RESIZE_ROWS], columns = sizes[RESIZE_COLUMNS], size = (int64_t)dtype_size(type);
  int64_t blocks = (rows + ROWS_AT_ONCE - 1) / ROWS_AT_ONCE, length = columns * dims[3];
  RowLoops loops = row_loops(type);
  if (rows == dims[1] && columns == dims[2]) {
    Conversion all = {loops.convert, image->data, size, tensor_f32(out)};
    parallel_work(context->parallel, tensor_num_elements(out), 1, convert_range, &all);
    return true;
  }
  ResizeBetween *y, *x;
  Buffer *places = place(context, rows, columns, &y, &x, status), *stretched = NULL;
  if (!places) return false;
  resize_between(context->state, dims[1], rows, y);
  resize_between(context->state, dims[2], columns, x);
  for (int64_t i = 0; i < columns; i++)
    x[i].lower *= dims[3], x[i].upper *= dims[3]; /* convert pixels to elements */
  stretched = make_rows(context, 2 * dims[0] * blocks, length, sizeof(float), status);
  if (stretched) {
    Resize run = {y,
                  x,
                  loops.stretch,
                  dims[1],
                  rows,
                  columns,
                  dims[3],
                  blocks,
                  dims[2] * dims[3] * size,
                  image->data,
                  tensor_f32(out),
                  stretched->data};
    parallel_work(context->parallel, dims[0] * blocks, 4.0 * ROWS_AT_ONCE * (double)length, resize_blocks,
                  &run);
  }
  bool ok = stretched != NULL;
  buffer_unref(stretched);
  buffer_unref(places);
  return ok;
}

static bool resize_bilinear(KernelContext *context, Status *status) {
  const Tensor *input = context->inputs[0];
  int64_t sizes[RESIZE_AXES];
  Image image = {0};
  Tensor *out;
  TRY(resize_begin(context, sizes, &out, status));
  if (tensor_num_elements(out) == 0) return true;
  TRY(image_read(context, input, NULL, false, &image, status));
  bool ok =
      resize(context, &image, half_precision(input->dtype) ? DT_FLOAT : input->dtype, sizes, out, status);
  image_drop(&image);
  return ok;
}

/* --- ResizeBilinearGrad --- */

typedef struct Spread {
  const ResizeBetween *y, *x; /* rows and columns of the incoming gradient */
  const int64_t *first;       /* by row of the result: the first row that contributes to it */
  int64_t rows, columns, to_rows, to_columns, channels;
  const float *grads;
  void *sums, *to; /* sums: the result's rows with as many columns as the incoming gradient */
} Spread;

#define TEMPLATE "ops/image/resize_spread.inc"
#define TYPES TYPES_FLOAT
#include "simd/each_type.inc"

static bool spread(KernelContext *context, const int64_t *from, const int64_t *to, Image *result, bool wide,
                   Status *status) {
  int64_t lines = to[0] * to[1], element = wide ? sizeof(double) : sizeof(float);
  ResizeBetween *y, *x;
  Buffer *firsts = NULL, *sums = NULL, *places = place(context, from[1], from[2], &y, &x, status);
  bool ok = false;
  TRY_DONE(places);
  TRY_DONE((firsts = kernel_scratch(context, to[1] * (int64_t)sizeof(int64_t), status)));
  TRY_DONE((sums = make_rows(context, lines, from[2] * from[3], element, status)));
  resize_between(context->state, to[1], from[1], y);
  resize_between(context->state, to[2], from[2], x);
  int64_t *first = firsts->data, next = 0;
  for (int64_t row = 0; row < to[1]; row++) {
    while (next < from[1] && y[next].upper < row) next++;
    first[row] = next;
  }
  Spread run = {y,          x,           first,
                from[1],    from[2],     to[1],
                to[2],      to[3],       context->inputs[0]->data,
                sums->data, result->data};
  double work = ((double)from[1] / (double)to[1] + 2) * (double)(from[2] * from[3]);
  parallel_work(context->parallel, lines, 2 * work, wide ? spread_rows_f64 : spread_rows_f32, &run);
  ok = true;
done:
  buffer_unref(places);
  buffer_unref(firsts);
  buffer_unref(sums);
  return ok;
}

static bool resize_bilinear_grad(KernelContext *context, Status *status) {
  Tensor *out;
  Image result = {0};
  TRY(resize_begin_grad(context, &out, status));
  if (tensor_num_elements(out) == 0) return true;
  const int64_t *from = shape_dims(&context->inputs[0]->shape), *to = shape_dims(&out->shape);
  bool ok = image_begin(context, out, false, &result, status) &&
            spread(context, from, to, &result, out->dtype == DT_DOUBLE, status) &&
            image_finish(context, &result, NULL, false, out, status);
  image_drop(&result);
  return ok;
}

/* --- registrations --- */

/* Integers have no gradient. */
static bool bilinear_gradient(const GradientRequest *request, StrBuf *text, Status *status) {
  DataType type;
  TRY(node_attr_type(request->node, "T", &type, status));
  strbuf_printf(text,
                "ResizeBilinearGradient[T:type, align_corners:bool, half_pixel_centers:bool](images:T, "
                "size:int32, dy:float)"
                " -> (dimages:T, dsize:int32) {\n"
                "  dsize = ZerosLike[T=int32](size)\n"
                "  dimages = %s\n"
                "  return dimages = dimages:%s:0, dsize = dsize:y:0\n"
                "}\n",
                dtype_is_floating(type) ? "ResizeBilinearGrad[T=$T, align_corners=$align_corners, "
                                          "half_pixel_centers=$half_pixel_centers](dy, images)"
                                        : "ZerosLike[T=$T](images)",
                dtype_is_floating(type) ? "output" : "y");
  return strbuf_ok(text, status);
}

const OpRegistration kOpResizeBilinear = {
    .name = "ResizeBilinear",
    .inputs = {"images: T", "size: int32"},
    .outputs = {"resized_images: float"},
    .attrs = {"T: {int8, uint8, int16, uint16, int32, int64, bfloat16, half, float, double, bfloat16}",
              "align_corners: bool = false", "half_pixel_centers: bool = false"},
    .shape = shape_resize,
    .gradient_fn = bilinear_gradient,
    .state_size = sizeof(ResizeAttrs),
    .construct = resize_construct,
    .kernels = {FLOAT_AND_HALF_KERNELS(resize_bilinear), INT_KERNELS(resize_bilinear),
                SMALL_KERNELS(resize_bilinear)},
};

/* Linear in grads; only the image's shape matters. */
const OpRegistration kOpResizeBilinearGrad = {
    .name = "ResizeBilinearGrad",
    .inputs = {"grads: float", "original_image: T"},
    .outputs = {"output: T"},
    .attrs = {"T: {float, bfloat16, half, double}", "align_corners: bool = false",
              "half_pixel_centers: bool = false"},
    .shape = shape_resize_grad,
    .gradient =
        "ResizeBilinearGradGradient[T:type, align_corners:bool, half_pixel_centers:bool](grads:float, "
        "image:T, d:T) -> (dgrads:float, dimage:T) {\n"
        "  dimage = ZerosLike[T=$T](image)\n"
        "  shape = Shape[T=float, out_type=int32](grads)\n"
        "  one = Const[dtype=int32, value=[1]]()\n"
        "  two = Const[dtype=int32, value=[2]]()\n"
        "  size = Slice[T=int32, Index=int32](shape:output:0, one:output:0, two:output:0)\n"
        "  dgrads = ResizeBilinear[T=$T, align_corners=$align_corners, "
        "half_pixel_centers=$half_pixel_centers](d, size:output:0)\n"
        "  return dgrads = dgrads:resized_images:0, dimage = dimage:y:0\n"
        "}\n",
    .state_size = sizeof(ResizeAttrs),
    .construct = resize_construct,
    .kernels = {FLOAT_AND_HALF_KERNELS(resize_bilinear_grad)},
};
