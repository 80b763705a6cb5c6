#include "ops/image/resize_image.h"

#include <math.h>

#include "op/node_def.h"

bool resize_read_attrs(const NodeDef *node, bool exclusive, ResizeAttrs *attrs, Status *status) {
  TRY(node_attr_bool(node, "align_corners", &attrs->align_corners, status));
  TRY(node_attr_bool(node, "half_pixel_centers", &attrs->half_pixel_centers, status));
  return !exclusive || !attrs->half_pixel_centers || !attrs->align_corners ||
         status_invalid(status, "If half_pixel_centers is True, align_corners must be False.");
}

bool resize_construct(const KernelConstruction *construction, void *memory, Status *status) {
  return resize_read_attrs(construction->node, true, memory, status);
}

bool resize_read_size(const Tensor *size, const char *not_positive, int64_t sizes[RESIZE_AXES],
                      Status *status) {
  char text[SHAPE_TEXT_CAPACITY];
  if (size->shape.rank != 1)
    return status_invalid(status, "shape_t must be 1-dimensional%s", shape_text(&size->shape, text));
  if (tensor_num_elements(size) != RESIZE_AXES) {
    return status_invalid(status, "shape_t must have two elements%s", shape_text(&size->shape, text));
  }
  for (int k = 0; k < RESIZE_AXES; k++) {
    sizes[k] = tensor_i32(size)[k];
    if (sizes[k] <= 0) return status_invalid(status, "%s", not_positive);
  }
  return true;
}

bool resize_begin(KernelContext *context, int64_t sizes[RESIZE_AXES], Tensor **out, Status *status) {
  const Tensor *image = context->inputs[0];
  char text[SHAPE_TEXT_CAPACITY];
  if (image->shape.rank != 4)
    return status_invalid(status, "input must be 4-dimensional%s", shape_text(&image->shape, text));
  TRY(resize_read_size(context->inputs[1], "output dimensions must be positive", sizes, status));
  const int64_t *dims = shape_dims(&image->shape);
  if (dims[1] > INT32_MAX || dims[2] > INT32_MAX)
    return status_invalid(status, "input sizes must be between 0 and max int32");
  if (dims[3] == 0) return status_invalid(status, "image must have at least one channel");
  if (dims[1] == 0 || dims[2] == 0) return status_invalid(status, "input image must be of non-zero size");
  int64_t resized[] = {dims[0], sizes[RESIZE_ROWS], sizes[RESIZE_COLUMNS], dims[3]};
  return kernel_allocate_output_dims(context, 0, 4, resized, out, status);
}

bool resize_begin_grad(KernelContext *context, Tensor **out, Status *status) {
  const Tensor *grads = context->inputs[0], *original = context->inputs[1];
  char a[SHAPE_TEXT_CAPACITY], b[SHAPE_TEXT_CAPACITY];
  if (grads->shape.rank != 4)
    return status_invalid(status, "input_grad must be 4-dimensional%s", shape_text(&grads->shape, a));
  if (original->shape.rank != 4)
    return status_invalid(status, "original_image must be 4-dimensional%s", shape_text(&original->shape, a));
  const int64_t *from = shape_dims(&grads->shape), *to = shape_dims(&original->shape);
  if (to[1] > INT32_MAX || to[2] > INT32_MAX)
    return status_invalid(status, "original sizes must be between 0 and max int32");
  if (to[1] == 0 || to[2] == 0) return status_invalid(status, "original dimensions must be positive");
  if (from[1] == 0 || from[2] == 0) return status_invalid(status, "resized dimensions must be positive");
  if (from[0] != to[0] || from[3] != to[3]) {
    return status_invalid(status,
                          "input_grad and original_image must have the same batch size and channels: %s vs. "
                          "%s",
                          shape_text(&grads->shape, a), shape_text(&original->shape, b));
  }
  return kernel_allocate_output(context, 0, &original->shape, out, status);
}

float resize_step(const ResizeAttrs *attrs, int64_t original, int64_t resized) {
  return attrs->align_corners && resized > 1 ? (float)(original - 1) / (float)(resized - 1)
                                             : (float)original / (float)resized;
}

void resize_between(const ResizeAttrs *attrs, int64_t original, int64_t resized, ResizeBetween *axis) {
  float step = resize_step(attrs, original, resized);
  for (int64_t i = 0; i < resized; i++) {
    float place = attrs->half_pixel_centers ? ((float)i + 0.5f) * step - 0.5f : (float)i * step,
          below = floorf(place);
    int64_t lower = (int64_t)below, upper = (int64_t)ceilf(place);
    /* Rounding may place the last position outside. */
    lower = lower < 0 ? 0 : lower > original - 1 ? original - 1 : lower;
    upper = upper < lower ? lower : upper > original - 1 ? original - 1 : upper;
    axis[i] = (ResizeBetween){lower, upper, place - below};
  }
}

void resize_nearest(const ResizeAttrs *attrs, int64_t original, int64_t resized, int64_t *axis) {
  float step = resize_step(attrs, original, resized);
  for (int64_t i = 0; i < resized; i++) {
    float place = (attrs->half_pixel_centers ? (float)i + 0.5f : (float)i) * step;
    int64_t nearest = (int64_t)(attrs->align_corners ? roundf(place) : floorf(place));
    axis[i] = nearest < original - 1 ? nearest : original - 1;
  }
}

bool shape_resize(InferenceContext *c, Status *status) {
  ShapeHandle image, size, output;
  DimHandle checked;
  TRY(shape_with_rank(c, shape_input(c, 0), 4, &image, status));
  TRY(shape_with_rank(c, shape_input(c, 1), 1, &size, status));
  TRY(dim_with_value(c, shape_dim_of(c, size, 0), RESIZE_AXES, &checked, status));
  const Tensor *sizes = shape_input_tensor(c, 1);
  DimHandle dims[4] = {shape_dim_of(c, image, 0), NULL, NULL, shape_dim_of(c, image, 3)};
  for (int k = 0; k < RESIZE_AXES; k++) {
    /* The kernel reports an invalid size. */
    int64_t value = !sizes ? UNKNOWN_DIM : tensor_int_at(sizes, k);
    TRY(dim_ok(value < 0 ? dim_unknown(c) : dim_make(c, value), &dims[1 + k], status));
  }
  TRY(shape_ok(shape_of_dims(c, dims, 4), &output, status));
  shape_set_output(c, 0, output);
  return true;
}

bool shape_resize_grad(InferenceContext *c, Status *status) {
  (void)status;
  shape_set_output(c, 0, shape_input(c, 1));
  return true;
}
