/* QuantizedResizeBilinear: ResizeBilinear of quantised numbers. The range stays. They are
 * computed in integers; as in TensorFlow, those of qint32 have the precision of float. */
#include "ops/image/resize_image.h"
#include "ops/support/element_types.h"

typedef struct QuantResize {
  const Tensor *from;
  Tensor *to;
  const ResizeBetween *rows, *columns;
} QuantResize;

/* `one` is the unit of distances. */
static int64_t between_numbers(const int64_t corners[4], float y, float x, int64_t one) {
  int64_t down = (int64_t)(y * (float)one), right = (int64_t)(x * (float)one);
  int64_t top = corners[0] * one + (corners[1] - corners[0]) * right;
  int64_t bottom = corners[2] * one + (corners[3] - corners[2]) * right;
  return (top + (bottom - top) / one * down + one / 2) / one;
}

static float between_floats(const float corners[4], float y, float x) {
  float top = corners[0] + (corners[1] - corners[0]) * x;
  float bottom = corners[2] + (corners[3] - corners[2]) * x;
  return top + (bottom - top) * y;
}

/* Element `i` of the result, between the four elements at `corners`. */
static void put_between(const QuantResize *r, int64_t i, const int64_t corners[4], float y, float x) {
  int64_t numbers[4];
  float floats[4];
  switch (r->from->dtype) {
    case DT_QUINT8:
      for (int k = 0; k < 4; k++) numbers[k] = ((const uint8_t *)r->from->data)[corners[k]];
      ((uint8_t *)r->to->data)[i] = (uint8_t)between_numbers(numbers, y, x, 1 << 7);
      break;
    case DT_QINT32:
      for (int k = 0; k < 4; k++) numbers[k] = (int64_t)(float)tensor_i32(r->from)[corners[k]];
      tensor_i32(r->to)[i] = (int32_t)between_numbers(numbers, y, x, 1 << 30);
      break;
    default:
      for (int k = 0; k < 4; k++) floats[k] = tensor_f32(r->from)[corners[k]];
      tensor_f32(r->to)[i] = between_floats(floats, y, x);
      break;
  }
}

/* For rows of the result. */
static void resize_rows(void *arg, int64_t begin, int64_t end) {
  const QuantResize *r = arg;
  const int64_t *in = shape_dims(&r->from->shape), *out = shape_dims(&r->to->shape);
  for (int64_t line = begin; line < end; line++) {
    const ResizeBetween *y = &r->rows[line % out[1]];
    int64_t image = line / out[1] * in[1], i = line * out[2] * out[3];
    int64_t upper = (image + y->lower) * in[2], lower = (image + y->upper) * in[2];
    for (int64_t column = 0; column < out[2]; column++) {
      const ResizeBetween *x = &r->columns[column];
      int64_t left = x->lower, right = x->upper;
      for (int64_t c = 0; c < out[3]; c++, i++) {
        int64_t corners[4] = {(upper + left) * in[3] + c, (upper + right) * in[3] + c,
                              (lower + left) * in[3] + c, (lower + right) * in[3] + c};
        put_between(r, i, corners, y->lerp, x->lerp);
      }
    }
  }
}

static bool resize(KernelContext *context, const int64_t sizes[RESIZE_AXES], Tensor *out, Status *status) {
  const int64_t *in = shape_dims(&context->inputs[0]->shape);
  int64_t axes = sizes[RESIZE_ROWS] + sizes[RESIZE_COLUMNS];
  Buffer *buffer = kernel_scratch(context, axes * (int64_t)sizeof(ResizeBetween), status);
  if (!buffer) return false;
  ResizeBetween *rows = buffer->data, *columns = rows + sizes[RESIZE_ROWS];
  resize_between(context->state, in[1], sizes[RESIZE_ROWS], rows);
  resize_between(context->state, in[2], sizes[RESIZE_COLUMNS], columns);
  QuantResize job = {.from = context->inputs[0], .to = out, .rows = rows, .columns = columns};
  parallel_work(context->parallel, in[0] * sizes[RESIZE_ROWS],
                8 * (double)sizes[RESIZE_COLUMNS] * (double)in[3], resize_rows, &job);
  buffer_unref(buffer);
  return true;
}

static bool quantized_resize(KernelContext *context, Status *status) {
  static const char *const names[] = {"min", "max"};
  int64_t sizes[RESIZE_AXES];
  Tensor *out;
  for (int i = 0; i < 2; i++) {
    const Tensor *range = context->inputs[2 + i];
    if (range->shape.rank != 0) return status_invalid(status, "%s must be a scalar", names[i]);
    TRY(kernel_set_output(context, 1 + i, range, NULL, status));
  }
  TRY(resize_begin(context, sizes, &out, status));
  if (shape_equal(&out->shape, &context->inputs[0]->shape))
    return kernel_set_output(context, 0, context->inputs[0], NULL, status);
  return tensor_num_elements(out) == 0 || resize(context, sizes, out, status);
}

static bool shape_quantized_resize(InferenceContext *c, Status *status) {
  ShapeHandle scalar;
  TRY(shape_resize(c, status));
  for (int i = 1; i < 3; i++) {
    TRY(shape_with_rank(c, shape_input(c, 1 + i), 0, &scalar, status));
    TRY(shape_ok(shape_scalar(c), &scalar, status));
    shape_set_output(c, i, scalar);
  }
  return true;
}

static bool construct(const KernelConstruction *construction, void *memory, Status *status) {
  return resize_read_attrs(construction->node, false, memory, status);
}

const OpRegistration kOpQuantizedResizeBilinear = {
    .name = "QuantizedResizeBilinear",
    .inputs = {"images: T", "size: int32", "min: float", "max: float"},
    .outputs = {"resized_images: T", "out_min: float", "out_max: float"},
    .attrs = {"T: {quint8, qint32, float}", "align_corners: bool = false",
              "half_pixel_centers: bool = false"},
    .shape = shape_quantized_resize,
    .gradient = NO_GRADIENT,
    .state_size = sizeof(ResizeAttrs),
    .construct = construct,
    .kernels = {{DT_QUINT8, quantized_resize}, {DT_QINT32, quantized_resize}, {DT_FLOAT, quantized_resize}},
};
