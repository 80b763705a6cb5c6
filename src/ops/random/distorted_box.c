/* SampleDistortedBoundingBox, SampleDistortedBoundingBoxV2, StatelessSampleDistortedBoundingBox: a random
 * part of an image, of random size and aspect ratio, that covers enough of one of the given boxes. The whole
 * image if no attempt succeeds. */
#include <inttypes.h>
#include <math.h>

#include "base/work_stop.h"
#include "op/node_def.h"
#include "op/op_registry.h"
#include "ops/random/random_fill.h"
#include "ops/support/element_types.h"

typedef struct BoxAttrs {
  RandomState random; /* of the stateful ops */
  float covered;      /* min_object_covered of the first version, which is an input of the others */
  float ratios[2], areas[2];
  int64_t attempts;
  bool uses_image; /* if there are no boxes */
} BoxAttrs;

/* --- attrs --- */

static bool read_range(const NodeDef *node, const char *name, const char *noun, float range[2],
                       Status *status) {
  const AttrListValue *list;
  TRY(node_attr_list(node, name, ATTR_FLOAT, &list, status));
  if (!list || list->n_f != 2) return status_invalid(status, "%s field must specify 2 dimensions", noun);
  range[0] = list->f[0], range[1] = list->f[1];
  return (range[0] > 0 && range[1] > 0) || status_invalid(status, "%s must be non-negative: [%g, %g]", noun,
                                                          (double)range[0], (double)range[1]);
}

static bool check_covered(float covered, Status *status) {
  return covered >= 0 ||
         status_invalid(status, "Min object covered must be non-negative: %g", (double)covered);
}

static bool construct(const KernelConstruction *construction, void *memory, Status *status) {
  BoxAttrs *a = memory;
  const NodeDef *node = construction->node;
  if (node_def_attr(node, "min_object_covered")) {
    TRY(node_attr_float(node, "min_object_covered", &a->covered, status));
    TRY(check_covered(a->covered, status));
  }
  TRY(node_attr_bool(node, "use_image_if_no_bounding_boxes", &a->uses_image, status));
  TRY(read_range(node, "aspect_ratio_range", "Aspect ratio range", a->ratios, status));
  TRY(read_range(node, "area_range", "Area range", a->areas, status));
  if (!(a->areas[0] <= 1 && a->areas[1] <= 1)) {
    return status_invalid(status, "Area range must be less then or equal to 1.0: [%g, %g]",
                          (double)a->areas[0], (double)a->areas[1]);
  }
  TRY(node_attr_int(node, "max_attempts", &a->attempts, status));
  if (a->attempts < INT32_MIN || a->attempts > INT32_MAX) {
    return status_invalid(status, "Attr max_attempts has value %" PRId64 " out of range for an int32",
                          a->attempts);
  }
  return a->attempts > 0 ||
         status_invalid(status, "Max attempts must be non-negative: %" PRId64, a->attempts);
}

static bool construct_stateful(const KernelConstruction *construction, void *memory, Status *status) {
  return construct(construction, memory, status) && random_state_construct(construction, memory, status);
}

/* --- rectangles --- */

/* Rows [top, bottom) and columns [left, right). */
typedef struct Rectangle {
  int64_t top, left, bottom, right;
} Rectangle;

static float area_of(const Rectangle *r) { return (float)((r->right - r->left) * (r->bottom - r->top)); }

static float common_area(const Rectangle *a, const Rectangle *b) {
  Rectangle r = {.top = a->top > b->top ? a->top : b->top,
                 .left = a->left > b->left ? a->left : b->left,
                 .bottom = a->bottom < b->bottom ? a->bottom : b->bottom,
                 .right = a->right < b->right ? a->right : b->right};
  return r.left > r.right || r.top > r.bottom ? 0 : area_of(&r);
}

/* What a part of an image is drawn for. */
typedef struct Sampling {
  const BoxAttrs *attrs;
  int64_t height, width;
  const float *boxes;
  int64_t count;
  float covered;
  PhiloxStream random;
} Sampling;

static Rectangle box_at(const Sampling *s, int64_t i) {
  const float *box = s->boxes + 4 * i;
  float height = (float)s->height, width = (float)s->width;
  return (Rectangle){.top = (int64_t)(box[0] * height),
                     .left = (int64_t)(box[1] * width),
                     .bottom = (int64_t)(box[2] * height),
                     .right = (int64_t)(box[3] * width)};
}

static bool covers_enough(const Sampling *s, const Rectangle *part) {
  if (area_of(part) < 1) return false;
  for (int64_t i = 0; i < (s->count > 0 ? s->count : 1); i++) {
    Rectangle box = {.bottom = s->height, .right = s->width};
    if (s->count > 0) box = box_at(s, i);
    float area = area_of(&box);
    if (!(area < 1) && common_area(part, &box) / area >= s->covered) return true;
  }
  return false;
}

/* --- drawing, step by step as TensorFlow, with its rounding --- */

static int64_t rounded(float x) { return x < 0x1p40f ? (int64_t)rintf(x) : (int64_t)1 << 40; }

static int64_t draw_below(Sampling *s, int64_t limit) {
  return philox_stream_next(&s->random) % (uint32_t)limit;
}

/* The largest height whose width fits into the image. */
static int64_t greatest_height(const Sampling *s, float most, float ratio) {
  int64_t height = rounded(sqrtf(most / ratio));
  if (rounded((float)height * ratio) > s->width) {
    double limit = ((double)s->width + 0.5 - (double)0.0000001f) / (double)ratio;
    height = limit < 0x1p40 ? (int64_t)limit : (int64_t)1 << 40;
    if (rounded((float)height * ratio) > s->width) height--;
  }
  return height < s->height ? height : s->height;
}

static bool draw_part(Sampling *s, float ratio, Rectangle *part) {
  const float *areas = s->attrs->areas;
  if (s->width <= 0 || s->height <= 0 || areas[0] > areas[1] || !(ratio > 0)) return false;
  float least = areas[0] * (float)s->width * (float)s->height;
  float most = areas[1] * (float)s->width * (float)s->height;
  int64_t height = rounded(sqrtf(least / ratio)), highest = greatest_height(s, most, ratio);
  if (height >= highest) height = highest;
  else height += draw_below(s, highest - height + 1);
  int64_t width = rounded((float)height * ratio);
  /* Rounding may have made it a little too small or too large. */
  if ((float)(width * height) < least) width = rounded((float)++height * ratio);
  if ((float)(width * height) > most) width = rounded((float)--height * ratio);
  float area = (float)(width * height);
  if (area < least || area > most || width > s->width || height > s->height || width <= 0 || height <= 0)
    return false;
  part->top = height < s->height ? draw_below(s, s->height - height) : 0;
  part->left = width < s->width ? draw_below(s, s->width - width) : 0;
  part->bottom = part->top + height;
  part->right = part->left + width;
  return true;
}

static Rectangle sample(Sampling *s) {
  const float *ratios = s->attrs->ratios;
  for (int64_t i = 0; i < s->attrs->attempts && !work_is_stopped_in_round(i); i++) {
    Rectangle part;
    float ratio = philox_uniform_f32(philox_stream_next(&s->random)) * (ratios[1] - ratios[0]) + ratios[0];
    if (draw_part(s, ratio, &part) && covers_enough(s, &part)) return part;
  }
  return (Rectangle){.bottom = s->height, .right = s->width};
}

/* --- kernels --- */

static int64_t int_at(const Tensor *tensor, int i) {
  switch (tensor->dtype) {
    case DT_UINT8: return ((const uint8_t *)tensor->data)[i];
    case DT_INT8: return ((const int8_t *)tensor->data)[i];
    case DT_INT16: return ((const int16_t *)tensor->data)[i];
    default: return tensor_int_at(tensor, i);
  }
}

static bool put_ints(KernelContext *context, int output, int64_t first, int64_t second, int64_t third,
                     Status *status) {
  const int64_t values[3] = {first, second, third}, count = 3;
  Tensor *out;
  TRY(kernel_allocate_output_dims(context, output, 1, &count, &out, status));
  for (int i = 0; i < 3; i++) {
    switch (out->dtype) {
      case DT_UINT8: ((uint8_t *)out->data)[i] = (uint8_t)values[i]; break;
      case DT_INT8: ((int8_t *)out->data)[i] = (int8_t)values[i]; break;
      case DT_INT16: ((int16_t *)out->data)[i] = (int16_t)values[i]; break;
      case DT_INT32: tensor_i32(out)[i] = (int32_t)values[i]; break;
      default: tensor_i64(out)[i] = values[i]; break;
    }
  }
  return true;
}

static bool read_image_size(const Tensor *size, Sampling *s, Status *status) {
  char text[SHAPE_TEXT_CAPACITY];
  if (size->shape.rank != 1)
    return status_invalid(status, "image_size must be 1-dimensional%s", shape_text(&size->shape, text));
  if (tensor_num_elements(size) != 3)
    return status_invalid(status, "image_size must contain 3 elements%s", shape_text(&size->shape, text));
  s->height = int_at(size, 0);
  s->width = int_at(size, 1);
  if (s->height < 0 || s->height >= INT32_MAX)
    return status_invalid(status, "image height cannot be >= int32 max");
  return (s->width >= 0 && s->width < INT32_MAX) ||
         status_invalid(status, "image width cannot be >= int32 max");
}

static bool read_boxes(const Tensor *boxes, Sampling *s, Status *status) {
  const Shape *shape = &boxes->shape;
  char text[SHAPE_TEXT_CAPACITY];
  if (shape->rank != 3) {
    return status_invalid(status, "input boxes must be 3-dimensional [batch, num_boxes, coords]: %s",
                          shape_text(shape, text));
  }
  if (shape_dim(shape, 2) != 4) {
    return status_invalid(status, "bounding boxes must have shape [4] or [*, 4], got %s",
                          shape_text(shape, text));
  }
  s->boxes = tensor_f32(boxes);
  s->count = tensor_num_elements(boxes) / 4;
  return true;
}

static bool check_boxes(const Sampling *s, Status *status) {
  for (int64_t i = 0; i < 4 * s->count; i++) {
    if (s->boxes[i] >= 0 && s->boxes[i] <= 1) continue;
    return status_invalid(status, "All bounding box coordinates must be in [0.0, 1.0]: %g",
                          (double)s->boxes[i]);
  }
  return s->count > 0 || s->attrs->uses_image ||
         status_invalid(status,
                        "No bounding boxes provided as input. One must enable "
                        "use_image_if_no_bounding_boxes if you wish to not provide any bounding boxes.");
}

static bool distorted_box(KernelContext *context, const Philox *start, Status *status) {
  const BoxAttrs *attrs = context->state;
  Sampling s = {.attrs = attrs, .covered = attrs->covered, .random = {.generator = *start}};
  char text[SHAPE_TEXT_CAPACITY];
  Tensor *box;
  TRY(read_image_size(context->inputs[0], &s, status));
  TRY(read_boxes(context->inputs[1], &s, status));
  if (context->num_inputs > 2) {
    const Tensor *covered = context->inputs[2];
    if (covered->shape.rank != 0) {
      return status_invalid(status, "min_object_covered must be 0-D, got shape %s",
                            shape_text(&covered->shape, text));
    }
    s.covered = tensor_f32(covered)[0];
    TRY(check_covered(s.covered, status));
  }
  TRY(check_boxes(&s, status));
  Rectangle part = sample(&s);
  TRY(put_ints(context, 0, part.top, part.left, 0, status));
  TRY(put_ints(context, 1, part.bottom - part.top, part.right - part.left, -1, status));
  TRY(kernel_allocate_output_dims(context, 2, 3, (int64_t[]){1, 1, 4}, &box, status));
  float height = (float)s.height, width = (float)s.width;
  tensor_f32(box)[0] = (float)part.top / height;
  tensor_f32(box)[1] = (float)part.left / width;
  tensor_f32(box)[2] = (float)part.bottom / height;
  tensor_f32(box)[3] = (float)part.right / width;
  return true;
}

static bool stateful_box(KernelContext *context, Status *status) {
  BoxAttrs *attrs = context->state;
  Philox start = random_state_reserve(&attrs->random, (uint64_t)attrs->attempts);
  return distorted_box(context, &start, status);
}

static bool stateless_box(KernelContext *context, Status *status) {
  Philox start;
  return random_stateless(context->inputs[3], &start, status) && distorted_box(context, &start, status);
}

/* --- shapes and ops --- */

static bool shape_box(InferenceContext *c, Status *status) {
  ShapeHandle size, boxes, scalar, output;
  DimHandle checked, one, four;
  TRY(shape_with_rank(c, shape_input(c, 0), 1, &size, status));
  TRY(shape_with_rank(c, shape_input(c, 1), 3, &boxes, status));
  if (c->num_inputs > 2) TRY(shape_with_rank(c, shape_input(c, 2), 0, &scalar, status));
  if (c->num_inputs > 3) TRY(random_shape_seed(c, 3, status));
  TRY(dim_with_value(c, shape_dim_of(c, size, 0), 3, &checked, status));
  TRY(dim_with_value(c, shape_dim_of(c, boxes, 2), 4, &checked, status));
  TRY(shape_ok(shape_vector(c, dim_make(c, 3)), &output, status));
  shape_set_output(c, 0, output);
  shape_set_output(c, 1, output);
  TRY(dim_ok(dim_make(c, 1), &one, status));
  TRY(dim_ok(dim_make(c, 4), &four, status));
  TRY(shape_ok(shape_of_dims(c, (DimHandle[]){one, one, four}, 3), &output, status));
  shape_set_output(c, 2, output);
  return true;
}

#define OUTPUTS \
  { "begin: T", "size: T", "bboxes: float" }
#define SIZE_TYPES "T: {uint8, int8, int16, int32, int64}"
#define COMMON                                                                               \
  "aspect_ratio_range: list(float) = [0.75, 1.33]", "area_range: list(float) = [0.05, 1.0]", \
      "max_attempts: int = 100", "use_image_if_no_bounding_boxes: bool = false"
#define BOX_KERNELS(f) {DT_UINT8, f}, {DT_INT8, f}, {DT_INT16, f}, INT_KERNELS(f)

const OpRegistration kOpSampleDistortedBoundingBox = {
    .name = "SampleDistortedBoundingBox",
    .inputs = {"image_size: T", "bounding_boxes: float"},
    .outputs = OUTPUTS,
    .attrs = {SIZE_TYPES, "seed: int = 0", "seed2: int = 0", "min_object_covered: float = 0.1", COMMON},
    .is_stateful = true,
    .shape = shape_box,
    .gradient = NO_GRADIENT,
    .state_size = sizeof(BoxAttrs),
    .construct = construct_stateful,
    .kernels = {BOX_KERNELS(stateful_box)},
};

const OpRegistration kOpSampleDistortedBoundingBoxV2 = {
    .name = "SampleDistortedBoundingBoxV2",
    .inputs = {"image_size: T", "bounding_boxes: float", "min_object_covered: float"},
    .outputs = OUTPUTS,
    .attrs = {SIZE_TYPES, "seed: int = 0", "seed2: int = 0", COMMON},
    .is_stateful = true,
    .shape = shape_box,
    .gradient = NO_GRADIENT,
    .state_size = sizeof(BoxAttrs),
    .construct = construct_stateful,
    .kernels = {BOX_KERNELS(stateful_box)},
};

const OpRegistration kOpStatelessSampleDistortedBoundingBox = {
    .name = "StatelessSampleDistortedBoundingBox",
    .inputs = {"image_size: T", "bounding_boxes: float", "min_object_covered: float", "seed: Tseed"},
    .outputs = OUTPUTS,
    .attrs = {SIZE_TYPES, "Tseed: {int32, int64}", COMMON},
    .shape = shape_box,
    .gradient = NO_GRADIENT,
    .state_size = sizeof(BoxAttrs),
    .construct = construct,
    .kernels = {BOX_KERNELS(stateless_box)},
};
