/* CropAndResize: cuts boxes out of images and resizes them to one size. Its gradients with regard to the
 * images and to the boxes. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "op/node_def.h"
#include "op/op_registry.h"
#include "ops/image/image_floats.h"
#include "ops/support/element_types.h"

typedef struct CropState {
  bool nearest;
  float outside; /* the value of places outside of the image */
} CropState;

static bool construct(const KernelConstruction *construction, void *memory, Status *status) {
  CropState *state = memory;
  Str method;
  TRY(node_attr_string(construction->node, "method", &method, status));
  state->nearest = str_equal_text(method, "nearest");
  return !node_def_attr(construction->node, "extrapolation_value") ||
         node_attr_float(construction->node, "extrapolation_value", &state->outside, status);
}

/* --- places --- */

typedef struct Crop {
  bool nearest;
  float outside;
  int64_t image[4], crop[2], boxes; /* image: batch, rows, columns, channels */
  const float *box;                 /* y1, x1, y2, x2 of each box */
  const int32_t *index;             /* the image of each box */
  const float *images, *grads;
  float *crops, *dboxes;
  double *dimages;
} Crop;

/* Place `i` of `count` between the ends of a box, in an axis of `size` elements. */
static float place_in(float begin, float end, int64_t i, int64_t count, int64_t size) {
  float last = (float)(size - 1);
  if (count == 1) return 0.5f * (begin + end) * last;
  return begin * last + (float)i * ((end - begin) * last / (float)(count - 1));
}

/* The two elements around a place, or twice the nearest one. False outside of the image. */
typedef struct Between {
  int64_t lower, upper;
  float lerp;
} Between;

static bool between(const Crop *c, float place, int64_t size, Between *found) {
  if (!(place >= 0 && place <= (float)(size - 1))) return false;
  if (c->nearest) {
    int64_t at = (int64_t)roundf(place);
    *found = (Between){at, at, 0};
  } else {
    int64_t lower = (int64_t)floorf(place);
    *found = (Between){lower, (int64_t)ceilf(place), place - (float)lower};
  }
  return true;
}

/* Row and column of a box' place; false outside. */
static bool locate(const Crop *c, int64_t b, int64_t row, int64_t column, Between *y, Between *x) {
  const float *box = c->box + 4 * b;
  return between(c, place_in(box[0], box[2], row, c->crop[0], c->image[1]), c->image[1], y) &&
         between(c, place_in(box[1], box[3], column, c->crop[1], c->image[2]), c->image[2], x);
}

/* The offsets of the four elements: top left, top right, bottom left, bottom right. */
static void corners(const Crop *c, int64_t b, const Between *y, const Between *x, int64_t at[4]) {
  int64_t rows[2] = {y->lower, y->upper}, columns[2] = {x->lower, x->upper};
  for (int k = 0; k < 4; k++) {
    int64_t row = c->index[b] * c->image[1] + rows[k / 2];
    at[k] = (row * c->image[2] + columns[k % 2]) * c->image[3];
  }
}

/* --- loops: range indices count the rows of all crops, or boxes, or groups of channels --- */

static void crop_rows(void *arg, int64_t begin, int64_t end) {
  const Crop *c = arg;
  int64_t channels = c->image[3], at[4];
  for (int64_t line = begin; line < end; line++) {
    float *to = c->crops + line * c->crop[1] * channels;
    for (int64_t column = 0; column < c->crop[1]; column++, to += channels) {
      Between y, x;
      if (!locate(c, line / c->crop[0], line % c->crop[0], column, &y, &x)) {
        for (int64_t k = 0; k < channels; k++) to[k] = c->outside;
        continue;
      }
      corners(c, line / c->crop[0], &y, &x, at);
      const float *p = c->images;
      for (int64_t k = 0; k < channels; k++) {
        float top = p[at[0] + k] + (p[at[1] + k] - p[at[0] + k]) * x.lerp;
        float bottom = p[at[2] + k] + (p[at[3] + k] - p[at[2] + k]) * x.lerp;
        to[k] = top + (bottom - top) * y.lerp;
      }
    }
  }
}

/* Channels [begin, end) of all images: boxes overlap, channels do not. */
static void spread_channels(void *arg, int64_t begin, int64_t end) {
  const Crop *c = arg;
  int64_t channels = c->image[3], at[4];
  for (int64_t i = 0; i < c->boxes * c->crop[0] * c->crop[1]; i++) {
    Between y, x;
    int64_t b = i / c->crop[1] / c->crop[0];
    if (!locate(c, b, i / c->crop[1] % c->crop[0], i % c->crop[1], &y, &x)) continue;
    corners(c, b, &y, &x, at);
    for (int64_t k = begin; k < end; k++) {
      double grad = c->grads[i * channels + k], top = (1 - (double)y.lerp) * grad, bottom = y.lerp * grad;
      c->dimages[at[0] + k] += (1 - (double)x.lerp) * top;
      c->dimages[at[1] + k] += x.lerp * top;
      c->dimages[at[2] + k] += (1 - (double)x.lerp) * bottom;
      c->dimages[at[3] + k] += x.lerp * bottom;
    }
  }
}

/* Adds what a place's derivative means for the ends of the box. */
static void add_ends(double slope, int64_t i, int64_t count, int64_t size, double *begin, double *end) {
  double last = (double)(size - 1), part = count > 1 ? (double)i / (double)(count - 1) : 0.5;
  *begin += slope * last * (1 - part);
  *end += slope * last * part;
}

static void box_gradients(void *arg, int64_t begin, int64_t end) {
  const Crop *c = arg;
  int64_t channels = c->image[3], at[4];
  for (int64_t b = begin; b < end; b++) {
    double d[4] = {0};
    for (int64_t i = 0; i < c->crop[0] * c->crop[1]; i++) {
      int64_t row = i / c->crop[1], column = i % c->crop[1];
      Between y, x;
      if (!locate(c, b, row, column, &y, &x)) continue;
      corners(c, b, &y, &x, at);
      double dy = 0, dx = 0;
      for (int64_t k = 0; k < channels; k++) {
        const float *p = c->images + k;
        double a = p[at[0]], right = p[at[1]], below = p[at[2]], across = p[at[3]];
        double grad = c->grads[(b * c->crop[0] * c->crop[1] + i) * channels + k];
        dy += grad * ((1 - (double)x.lerp) * (below - a) + x.lerp * (across - right));
        dx += grad * ((1 - (double)y.lerp) * (right - a) + y.lerp * (across - below));
      }
      add_ends(dy, row, c->crop[0], c->image[1], &d[0], &d[2]);
      add_ends(dx, column, c->crop[1], c->image[2], &d[1], &d[3]);
    }
    for (int k = 0; k < 4; k++) c->dboxes[4 * b + k] = (float)d[k];
  }
}

/* --- checks --- */

static bool check_boxes(const Tensor *boxes, const Tensor *index, Crop *crop, Status *status) {
  char text[SHAPE_TEXT_CAPACITY];
  if (tensor_num_elements(boxes) == 0 && tensor_num_elements(index) == 0) return true;
  if (boxes->shape.rank != 2)
    return status_invalid(status, "boxes must be 2-D, got: %s", shape_text(&boxes->shape, text));
  if (shape_dim(&boxes->shape, 1) != 4) return status_invalid(status, "boxes must have 4 columns");
  for (int64_t i = 0; i < tensor_num_elements(boxes); i++) {
    if (isfinite(tensor_f32(boxes)[i])) continue;
    return status_invalid(status, "Boxes contains at least one element that is not finite");
  }
  crop->boxes = shape_dim(&boxes->shape, 0);
  if (index->shape.rank != 1) {
    return status_invalid(status, "box_indices must be rank 1 but is shape %s",
                          shape_text(&index->shape, text));
  }
  if (tensor_num_elements(index) != crop->boxes)
    return status_invalid(status, "box_index has incompatible shape");
  crop->box = tensor_f32(boxes);
  crop->index = tensor_i32(index);
  return true;
}

static bool check_index(const Crop *crop, Status *status) {
  for (int64_t i = 0; i < crop->boxes; i++) {
    if (crop->index[i] >= 0 && crop->index[i] < crop->image[0]) continue;
    return status_set(status, CODE_OUT_OF_RANGE, "box_index has values outside [0, batch_size)");
  }
  return true;
}

/* The sizes of a tensor of rank 4 without empty rows and columns. */
static bool read_image(const Tensor *image, const char *rank_message, const char *empty_message,
                       int64_t dims[4], Status *status) {
  char text[SHAPE_TEXT_CAPACITY];
  if (image->shape.rank != 4)
    return status_invalid(status, "%s%s", rank_message, shape_text(&image->shape, text));
  memcpy(dims, shape_dims(&image->shape), 4 * sizeof *dims);
  return (dims[1] > 0 && dims[2] > 0) || status_invalid(status, "%s", empty_message);
}

/* --- kernels --- */

static Crop begin(const KernelContext *context) {
  const CropState *state = context->state;
  return (Crop){.nearest = state->nearest, .outside = state->outside};
}

static bool crop_and_resize(KernelContext *context, Status *status) {
  const Tensor *image = context->inputs[0], *size = context->inputs[3];
  char text[SHAPE_TEXT_CAPACITY];
  Crop crop = begin(context);
  Image floats = {0};
  Tensor *out;
  TRY(read_image(image, "input image must be 4-D", "image dimensions must be positive", crop.image, status));
  TRY(check_boxes(context->inputs[1], context->inputs[2], &crop, status));
  if (size->shape.rank != 1)
    return status_invalid(status, "crop_size must be 1-D%s", shape_text(&size->shape, text));
  if (tensor_num_elements(size) != 2)
    return status_invalid(status, "crop_size must have two elements%s", shape_text(&size->shape, text));
  for (int k = 0; k < 2; k++) crop.crop[k] = tensor_i32(size)[k];
  if (crop.crop[0] <= 0 || crop.crop[1] <= 0)
    return status_invalid(status, "crop dimensions must be positive");
  TRY(check_index(&crop, status));
  int64_t dims[] = {crop.boxes, crop.crop[0], crop.crop[1], crop.image[3]};
  TRY(kernel_allocate_output_dims(context, 0, 4, dims, &out, status));
  if (tensor_num_elements(out) == 0) return true;
  TRY(image_floats(context, image, &floats, status));
  crop.images = floats.data;
  crop.crops = tensor_f32(out);
  parallel_work(context->parallel, crop.boxes * crop.crop[0],
                (double)crop.crop[1] * (10 + 6 * (double)crop.image[3]), crop_rows, &crop);
  image_drop(&floats);
  return true;
}

/* The crops' incoming gradients. */
static bool read_grads(const Tensor *grads, Crop *crop, int64_t *channels, Status *status) {
  int64_t dims[4];
  TRY(read_image(grads, "grads image must be 4-D", "grads dimensions must be positive", dims, status));
  memcpy(crop->crop, dims + 1, sizeof crop->crop);
  crop->grads = tensor_f32(grads);
  *channels = dims[3];
  return true;
}

static bool crop_and_resize_grad_image(KernelContext *context, Status *status) {
  const Tensor *grads = context->inputs[0], *size = context->inputs[3];
  char text[SHAPE_TEXT_CAPACITY];
  Crop crop = begin(context);
  int64_t channels, bytes;
  Tensor *out;
  TRY(read_grads(grads, &crop, &channels, status));
  TRY(check_boxes(context->inputs[1], context->inputs[2], &crop, status));
  if (shape_dim(&grads->shape, 0) != crop.boxes)
    return status_invalid(status, "boxes and grads have incompatible shape");
  if (size->shape.rank != 1)
    return status_invalid(status, "image_size must be 1-D%s", shape_text(&size->shape, text));
  if (tensor_num_elements(size) != 4)
    return status_invalid(status, "image_size must have 4 elements%s", shape_text(&size->shape, text));
  for (int k = 0; k < 4; k++) crop.image[k] = tensor_i32(size)[k];
  if (crop.image[1] <= 0 || crop.image[2] <= 0)
    return status_invalid(status, "image dimensions must be positive");
  if (channels != crop.image[3]) return status_invalid(status, "image_size and grads are incompatible");
  TRY(check_index(&crop, status));
  TRY(kernel_allocate_output_dims(context, 0, 4, crop.image, &out, status));
  if (tensor_num_elements(out) == 0) return true;
  if (__builtin_mul_overflow(tensor_num_elements(out), (int64_t)sizeof(double), &bytes))
    return status_oom(status, "the gradient of an image");
  Buffer *sums = kernel_scratch(context, bytes, status);
  if (!sums) return false;
  memset(sums->data, 0, (size_t)bytes);
  crop.dimages = sums->data;
  parallel_work(context->parallel, channels, 10 * (double)crop.boxes * (double)(crop.crop[0] * crop.crop[1]),
                spread_channels, &crop);
  image_store(crop.dimages, out);
  buffer_unref(sums);
  return true;
}

static bool crop_and_resize_grad_boxes(KernelContext *context, Status *status) {
  const Tensor *grads = context->inputs[0], *image = context->inputs[1];
  Crop crop = begin(context);
  int64_t channels;
  Image floats = {0};
  Tensor *out;
  TRY(read_grads(grads, &crop, &channels, status));
  TRY(read_image(image, "input image must be 4-D", "image dimensions must be positive", crop.image, status));
  if (crop.image[3] != channels) return status_invalid(status, "image, grads depth differ");
  TRY(check_boxes(context->inputs[2], context->inputs[3], &crop, status));
  if (shape_dim(&grads->shape, 0) != crop.boxes)
    return status_invalid(status, "boxes and grads have incompatible shape");
  TRY(check_index(&crop, status));
  TRY(kernel_allocate_output_dims(context, 0, 2, (int64_t[]){crop.boxes, 4}, &out, status));
  if (tensor_num_elements(out) == 0) return true;
  TRY(image_floats(context, image, &floats, status));
  crop.images = floats.data;
  crop.dboxes = tensor_f32(out);
  parallel_work(context->parallel, crop.boxes,
                (double)(crop.crop[0] * crop.crop[1]) * (10 + 8 * (double)channels), box_gradients, &crop);
  image_drop(&floats);
  return true;
}

/* --- shapes --- */

/* The vector of indices has an entry for each row of the boxes. */
static bool match_boxes(InferenceContext *c, int boxes, int index, DimHandle *count, Status *status) {
  ShapeHandle matrix, vector;
  DimHandle columns;
  TRY(shape_with_rank(c, shape_input(c, boxes), 2, &matrix, status));
  TRY(dim_with_value(c, shape_dim_of(c, matrix, 1), 4, &columns, status));
  TRY(shape_with_rank(c, shape_input(c, index), 1, &vector, status));
  return dim_merge(c, shape_dim_of(c, matrix, 0), shape_dim_of(c, vector, 0), count, status);
}

static bool shape_crop(InferenceContext *c, Status *status) {
  ShapeHandle image, size, output;
  DimHandle checked, dims[4];
  TRY(shape_with_rank(c, shape_input(c, 0), 4, &image, status));
  TRY(match_boxes(c, 1, 2, &dims[0], status));
  TRY(shape_with_rank(c, shape_input(c, 3), 1, &size, status));
  TRY(dim_with_value(c, shape_dim_of(c, size, 0), 2, &checked, status));
  const Tensor *sizes = shape_input_tensor(c, 3);
  for (int k = 0; k < 2; k++) {
    int64_t value = !sizes ? UNKNOWN_DIM : tensor_int_at(sizes, k);
    TRY(dim_ok(value < 0 ? dim_unknown(c) : dim_make(c, value), &dims[1 + k], status));
  }
  dims[3] = shape_dim_of(c, image, 3);
  TRY(shape_ok(shape_of_dims(c, dims, 4), &output, status));
  shape_set_output(c, 0, output);
  return true;
}

static bool shape_grad_image(InferenceContext *c, Status *status) {
  ShapeHandle size;
  TRY(shape_from_input_tensor(c, 3, &size, status));
  return shape_unchanged_with_rank(c, size, 4, status);
}

static bool shape_grad_boxes(InferenceContext *c, Status *status) {
  (void)status;
  shape_set_output(c, 0, shape_input(c, 2));
  return true;
}

/* --- registrations --- */

#define TYPES_OF_IMAGES "T: {uint8, uint16, int8, int16, int32, int64, half, float, double}"
#define KERNELS(f) FLOAT_KERNELS(f), {DT_HALF, f}, INT_KERNELS(f), SMALL_KERNELS(f)

/* Integer images have no gradient. Boxes have that of linear interpolation, as in TensorFlow. */
static bool crop_gradient(const GradientRequest *request, StrBuf *text, Status *status) {
  DataType type;
  TRY(node_attr_type(request->node, "T", &type, status));
  bool flows = dtype_is_floating(type);
  strbuf_printf(text,
                "CropAndResizeGradient[T:type, method:string]"
                "(image:T, boxes:float, box_ind:int32, crop_size:int32, dy:float)"
                " -> (dimage:T, dboxes:float, dind:int32, dsize:int32) {\n"
                "  dind = ZerosLike[T=int32](box_ind)\n"
                "  dsize = ZerosLike[T=int32](crop_size)\n"
                "%s"
                "  dboxes = CropAndResizeGradBoxes[T=$T, method=\"bilinear\"](dy, image, boxes, box_ind)\n"
                "  return dimage = dimage:%s:0, dboxes = dboxes:output:0, dind = dind:y:0, dsize = "
                "dsize:y:0\n"
                "}\n",
                flows ? "  shape = Shape[T=$T, out_type=int32](image)\n"
                        "  dimage = CropAndResizeGradImage[T=$T, method=$method]"
                        "(dy, boxes, box_ind, shape:output:0)\n"
                      : "  dimage = ZerosLike[T=$T](image)\n",
                flows ? "output" : "y");
  return strbuf_ok(text, status);
}

const OpRegistration kOpCropAndResize = {
    .name = "CropAndResize",
    .inputs = {"image: T", "boxes: float", "box_ind: int32", "crop_size: int32"},
    .outputs = {"crops: float"},
    .attrs = {TYPES_OF_IMAGES, "method: {'bilinear', 'nearest'} = 'bilinear'",
              "extrapolation_value: float = 0"},
    .shape = shape_crop,
    .gradient_fn = crop_gradient,
    .state_size = sizeof(CropState),
    .construct = construct,
    .kernels = {KERNELS(crop_and_resize)},
};

const OpRegistration kOpCropAndResizeGradImage = {
    .name = "CropAndResizeGradImage",
    .inputs = {"grads: float", "boxes: float", "box_ind: int32", "image_size: int32"},
    .outputs = {"output: T"},
    .attrs = {"T: {float, half, double}", "method: {'bilinear', 'nearest'} = 'bilinear'"},
    .shape = shape_grad_image,
    .gradient = NO_GRADIENT,
    .state_size = sizeof(CropState),
    .construct = construct,
    .kernels = {FLOAT_KERNELS(crop_and_resize_grad_image), {DT_HALF, crop_and_resize_grad_image}},
};

const OpRegistration kOpCropAndResizeGradBoxes = {
    .name = "CropAndResizeGradBoxes",
    .inputs = {"grads: float", "image: T", "boxes: float", "box_ind: int32"},
    .outputs = {"output: float"},
    .attrs = {TYPES_OF_IMAGES, "method: {'bilinear'} = 'bilinear'"},
    .shape = shape_grad_boxes,
    .gradient = NO_GRADIENT,
    .state_size = sizeof(CropState),
    .construct = construct,
    .kernels = {KERNELS(crop_and_resize_grad_boxes)},
};
