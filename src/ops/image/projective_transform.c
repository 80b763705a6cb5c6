/* ImageProjectiveTransform: each pixel of the result is taken from a place of the image that a projective map
 * gives. */
#include <math.h>
#include <string.h>

#include "op/node_def.h"
#include "op/op_registry.h"
#include "ops/image/image_floats.h"
#include "ops/image/resize_image.h"
#include "ops/support/element_types.h"

typedef enum FillMode { FILL_CONSTANT, FILL_REFLECT, FILL_WRAP, FILL_NEAREST } FillMode;

typedef struct TransformState {
  bool bilinear;
  FillMode fill;
} TransformState;

static bool construct(const KernelConstruction *construction, void *memory, Status *status) {
  TransformState *state = memory;
  Str text;
  TRY(node_attr_string(construction->node, "interpolation", &text, status));
  state->bilinear = str_equal_text(text, "BILINEAR");
  TRY(node_attr_string(construction->node, "fill_mode", &text, status));
  state->fill = str_equal_text(text, "REFLECT")   ? FILL_REFLECT
                : str_equal_text(text, "WRAP")    ? FILL_WRAP
                : str_equal_text(text, "NEAREST") ? FILL_NEAREST
                                                  : FILL_CONSTANT;
  return true;
}

static float clamped(float at, float last) { return at < 0 ? 0 : at > last ? last : at; }

/* Mirrors at the edges: d c b a | a b c d | d c b a. */
static float reflected(float at, int64_t size) {
  float last = (float)(size - 1), period = 2 * (float)size;
  if (size <= 1) return 0;
  if (at < 0) {
    if (at < period) at += period * truncf(-at / period);
    at = at < -(float)size ? at + period : -at - 1;
  } else if (at > last) {
    at -= period * truncf(at / period);
    if (at >= (float)size) at = period - at - 1;
  }
  return clamped(at, last);
}

/* Repeats: a b c d | a b c d | a b c d. Places between the last element and the next first one belong to the
 * last. */
static float wrapped(float at, int64_t size) {
  float last = (float)(size - 1);
  if (size <= 1) return 0;
  if (at < 0) at += (float)size * (truncf(-at / last) + 1);
  else if (at > last) at -= (float)size * truncf(at / last);
  return clamped(at, last);
}

static float inside(FillMode fill, float at, int64_t size) {
  switch (fill) {
    case FILL_REFLECT: return reflected(at, size);
    case FILL_WRAP: return wrapped(at, size);
    case FILL_NEAREST: return clamped(at, (float)(size - 1));
    default: return at;
  }
}

typedef struct Transform {
  const TransformState *state;
  int64_t in[4], out[4];
  const double *images;
  const float *maps;
  int64_t map_step; /* 8, or 0 if all images have the same map */
  float outside;
  double *to;
} Transform;

/* A channel at a pixel, or the fill value. */
static double read(const Transform *t, int64_t image, float row, float column, int64_t channel) {
  if (!(row >= 0 && row < (float)t->in[1] && column >= 0 && column < (float)t->in[2])) return t->outside;
  int64_t at = ((image * t->in[1] + (int64_t)row) * t->in[2] + (int64_t)column) * t->in[3] + channel;
  return t->images[at];
}

static double sample(const Transform *t, int64_t image, float y, float x, int64_t channel) {
  if (!t->state->bilinear) return read(t, image, roundf(y), roundf(x), channel);
  float top = floorf(y), left = floorf(x), down = top + 1, right = left + 1;
  double above =
      (right - x) * read(t, image, top, left, channel) + (x - left) * read(t, image, top, right, channel);
  double below =
      (right - x) * read(t, image, down, left, channel) + (x - left) * read(t, image, down, right, channel);
  return (down - y) * above + (y - top) * below;
}

/* Range indices count rows of all results. */
static void transform_rows(void *arg, int64_t begin, int64_t end) {
  const Transform *t = arg;
  for (int64_t line = begin; line < end; line++) {
    int64_t image = line / t->out[1];
    const float *m = t->maps + image * t->map_step;
    float row = (float)(line % t->out[1]);
    double *to = t->to + line * t->out[2] * t->out[3];
    for (int64_t i = 0; i < t->out[2]; i++, to += t->out[3]) {
      float column = (float)i, projection = m[6] * column + m[7] * row + 1;
      float x = inside(t->state->fill, (m[0] * column + m[1] * row + m[2]) / projection, t->in[2]);
      float y = inside(t->state->fill, (m[3] * column + m[4] * row + m[5]) / projection, t->in[1]);
      for (int64_t k = 0; k < t->out[3]; k++)
        to[k] = projection == 0 ? t->outside : sample(t, image, y, x, k);
    }
  }
}

static bool read_inputs(const KernelContext *context, Transform *t, Status *status) {
  const Tensor *images = context->inputs[0], *maps = context->inputs[1], *size = context->inputs[2];
  char text[SHAPE_TEXT_CAPACITY];
  if (images->shape.rank != 4) return status_invalid(status, "Input images must have rank 4");
  memcpy(t->in, shape_dims(&images->shape), sizeof t->in);
  int64_t count = maps->shape.rank == 2 ? shape_dim(&maps->shape, 0) : -1;
  if ((count != 1 && count != t->in[0]) || shape_dim(&maps->shape, 1) != 8)
    return status_invalid(status, "Input transform should be num_images x 8 or 1 x 8");
  t->maps = tensor_f32(maps);
  t->map_step = count == 1 ? 0 : 8;
  if (size->shape.rank != 1)
    return status_invalid(status, "output shape must be 1-dimensional%s", shape_text(&size->shape, text));
  if (tensor_num_elements(size) != 2)
    return status_invalid(status, "output shape must have two elements%s", shape_text(&size->shape, text));
  TRY(resize_read_size(size, "output dimensions must be positive", t->out + 1, status));
  t->out[0] = t->in[0], t->out[3] = t->in[3];
  if (context->num_inputs < 4) return true;
  const Tensor *outside = context->inputs[3];
  if (outside->shape.rank != 0)
    return status_invalid(status, "fill_value must be a scalar%s", shape_text(&outside->shape, text));
  t->outside = tensor_f32(outside)[0];
  return true;
}

static bool transform(KernelContext *context, Status *status) {
  Transform t = {.state = context->state};
  Image images = {0}, sums = {0};
  Tensor *out;
  int64_t bytes;
  bool ok = false;
  TRY(read_inputs(context, &t, status));
  TRY(kernel_allocate_output_dims(context, 0, 4, t.out, &out, status));
  if (tensor_num_elements(out) == 0) return true;
  if (__builtin_mul_overflow(tensor_num_elements(out), (int64_t)sizeof(double), &bytes))
    return status_oom(status, "an image");
  TRY_DONE(image_doubles(context, context->inputs[0], &images, status));
  TRY_DONE((sums.buffer = kernel_scratch(context, bytes, status)));
  t.images = images.data, t.to = sums.buffer->data;
  parallel_work(context->parallel, t.out[0] * t.out[1], (double)t.out[2] * (20 + 10 * (double)t.out[3]),
                transform_rows, &t);
  image_store(t.to, out);
  ok = true;
done:
  image_drop(&images);
  image_drop(&sums);
  return ok;
}

static bool shape_transform(InferenceContext *c, Status *status) {
  ShapeHandle image, size, output;
  DimHandle checked;
  TRY(shape_with_rank(c, shape_input(c, 0), 4, &image, status));
  TRY(shape_with_rank(c, shape_input(c, 2), 1, &size, status));
  TRY(dim_with_value(c, shape_dim_of(c, size, 0), RESIZE_AXES, &checked, status));
  const Tensor *sizes = shape_input_tensor(c, 2);
  DimHandle dims[4] = {shape_dim_of(c, image, 0), NULL, NULL, shape_dim_of(c, image, 3)};
  for (int k = 0; k < RESIZE_AXES; k++) {
    int64_t value = !sizes ? UNKNOWN_DIM : tensor_int_at(sizes, k);
    TRY(dim_ok(value < 0 ? dim_unknown(c) : dim_make(c, value), &dims[1 + k], status));
  }
  TRY(shape_ok(shape_of_dims(c, dims, 4), &output, status));
  shape_set_output(c, 0, output);
  return true;
}

/* --- registrations --- */

#define TYPES_OF_IMAGES "dtype: {uint8, int32, int64, half, bfloat16, float, double}"
#define KERNELS \
  FLOAT_AND_HALF_KERNELS(transform), INT_KERNELS(transform), { DT_UINT8, transform }

/* clang-format off */
/* name = a * b - c * d */
#define MINOR(name, a, b, c, d)                                   \
  "  p" name " = Mul[T=float](m:output:" a ", m:output:" b ")\n"  \
  "  q" name " = Mul[T=float](m:output:" c ", m:output:" d ")\n"  \
  "  r" name " = Sub[T=float](p" name ":z:0, q" name ":z:0)\n"
/* name = a - b * c, or b * c - a */
#define MINOR_1(name, a, b, c)                                    \
  "  p" name " = Mul[T=float](m:output:" b ", m:output:" c ")\n"  \
  "  r" name " = Sub[T=float](m:output:" a ", p" name ":z:0)\n"
#define NEGATIVE_1(name, a, b, c)                                 \
  "  p" name " = Mul[T=float](m:output:" b ", m:output:" c ")\n"  \
  "  r" name " = Sub[T=float](p" name ":z:0, m:output:" a ")\n"
/* The inverse map, whose last element is 1 too. */
#define INVERSE                                                                                       \
  "  m = Unpack[T=float, num=8, axis=1](transforms)\n"                                                \
  MINOR_1("0", "4", "5", "7") NEGATIVE_1("1", "1", "2", "7") MINOR("2", "1", "5", "2", "4")           \
  NEGATIVE_1("3", "3", "5", "6") MINOR_1("4", "0", "2", "6") MINOR("5", "2", "3", "0", "5")           \
  MINOR("6", "3", "7", "4", "6") MINOR("7", "1", "6", "0", "7") MINOR("8", "0", "4", "1", "3")        \
  "  adjugate = Pack[T=float, N=8, axis=1](r0:z:0, r1:z:0, r2:z:0, r3:z:0, r4:z:0, r5:z:0, r6:z:0, "  \
  "r7:z:0)\n"                                                                                         \
  "  column = Const[dtype=int32, value=1]()\n"                                                        \
  "  last = ExpandDims[T=float, Tdim=int32](r8:z:0, column:output:0)\n"                               \
  "  inverse = RealDiv[T=float](adjugate:output:0, last:output:0)\n"                                  \
  "  shape = Shape[T=$dtype, out_type=int32](images)\n"                                               \
  "  begin = Const[dtype=int32, value=[1]]()\n"                                                       \
  "  count = Const[dtype=int32, value=[2]]()\n"                                                       \
  "  size = Slice[T=int32, Index=int32](shape:output:0, begin:output:0, count:output:0)\n"            \
  "  none = ZerosLike[T=float](transforms)\n"                                                         \
  "  dshape = ZerosLike[T=int32](output_shape)\n"

/* The inverse map applied to the incoming gradient, as in TensorFlow. */
static const char kGradientV2[] =
    "ImageProjectiveTransformV2Gradient[dtype:type, interpolation:string, fill_mode:string]"
    "(images:dtype, transforms:float, output_shape:int32, dy:dtype)"
    " -> (dimages:dtype, dtransforms:float, dshape:int32) {\n"
    INVERSE
    "  dimages = ImageProjectiveTransformV2[dtype=$dtype, interpolation=$interpolation, "
    "fill_mode=$fill_mode](dy, inverse:z:0, size:output:0)\n"
    "  return dimages = dimages:transformed_images:0, dtransforms = none:y:0, dshape = dshape:y:0\n"
    "}\n";
static const char kGradientV3[] =
    "ImageProjectiveTransformV3Gradient[dtype:type, interpolation:string, fill_mode:string]"
    "(images:dtype, transforms:float, output_shape:int32, fill_value:float, dy:dtype)"
    " -> (dimages:dtype, dtransforms:float, dshape:int32, dvalue:float) {\n"
    INVERSE
    "  dvalue = ZerosLike[T=float](fill_value)\n"
    "  zero = Const[dtype=float, value=0]()\n"
    "  dimages = ImageProjectiveTransformV3[dtype=$dtype, interpolation=$interpolation, "
    "fill_mode=$fill_mode](dy, inverse:z:0, size:output:0, zero:output:0)\n"
    "  return dimages = dimages:transformed_images:0, dtransforms = none:y:0, dshape = dshape:y:0, "
    "dvalue = dvalue:y:0\n"
    "}\n";
/* clang-format on */

const OpRegistration kOpImageProjectiveTransformV2 = {
    .name = "ImageProjectiveTransformV2",
    .inputs = {"images: dtype", "transforms: float", "output_shape: int32"},
    .outputs = {"transformed_images: dtype"},
    .attrs = {TYPES_OF_IMAGES, "interpolation: string", "fill_mode: string = 'CONSTANT'"},
    .shape = shape_transform,
    .gradient = kGradientV2,
    .state_size = sizeof(TransformState),
    .construct = construct,
    .kernels = {KERNELS},
};

const OpRegistration kOpImageProjectiveTransformV3 = {
    .name = "ImageProjectiveTransformV3",
    .inputs = {"images: dtype", "transforms: float", "output_shape: int32", "fill_value: float"},
    .outputs = {"transformed_images: dtype"},
    .attrs = {TYPES_OF_IMAGES, "interpolation: string", "fill_mode: string = 'CONSTANT'"},
    .shape = shape_transform,
    .gradient = kGradientV3,
    .state_size = sizeof(TransformState),
    .construct = construct,
    .kernels = {KERNELS},
};
