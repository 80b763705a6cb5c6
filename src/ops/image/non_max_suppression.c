/* NonMaxSuppression and its versions: selects boxes by descending score, and drops those that overlap a
 * selected box too much. With soft_nms_sigma, overlaps reduce scores instead. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "op/node_def.h"
#include "op/op_registry.h"
#include "ops/image/box_queue.h"

typedef struct NmsState {
  float iou_threshold; /* of NonMaxSuppression */
  bool pad_to_max_output_size;
} NmsState;

static bool nms_construct(const KernelConstruction *construction, void *memory, Status *status) {
  return node_attr_float(construction->node, "iou_threshold", &((NmsState *)memory)->iou_threshold, status);
}
static bool nms_pad_construct(const KernelConstruction *construction, void *memory, Status *status) {
  return node_attr_bool(construction->node, "pad_to_max_output_size",
                        &((NmsState *)memory)->pad_to_max_output_size, status);
}

typedef struct Suppression {
  const float *boxes;    /* [count, 4]; NULL: there are overlaps */
  const float *overlaps; /* [count, count] */
  const float *scores;
  int64_t count, most;                /* boxes, and the most to select */
  float threshold, least_score, soft; /* soft: the scale of squared overlaps; 0: overlaps drop boxes */
  bool half;                          /* thresholds, overlaps and scores are half */
  BoxQueue queue;
  int32_t *selected;
  float *selected_scores;
  int32_t selected_count;
} Suppression;

static float as_half(float x) { return half_to_float(float_to_half(x)); }
/* `x` as the op's type has it. */
static float typed(const Suppression *s, float x) { return s->half ? as_half(x) : x; }

/* --- the algorithm --- */

static float weight(const Suppression *s, float overlap) {
  if (s->soft == 0) return overlap <= s->threshold ? 1 : 0;
  return typed(s, expf(typed(s, typed(s, s->soft * overlap) * overlap)));
}

/* Compares the candidate with the boxes that were selected since the last time, the newest first, and lowers
 * its score. False when it is dropped. */
static bool compare(const Suppression *s, BoxCandidate *candidate) {
  for (int32_t j = s->selected_count - 1; j >= candidate->compared; j--) {
    int64_t a = candidate->box, b = s->selected[j];
    float overlap =
        typed(s, s->boxes ? box_overlap(s->boxes + 4 * a, s->boxes + 4 * b) : s->overlaps[a * s->count + b]);
    if (s->soft == 0 && overlap > s->threshold) return false;
    candidate->score = typed(s, candidate->score * weight(s, overlap));
    if (candidate->score <= s->least_score) return false;
  }
  candidate->compared = s->selected_count;
  return true;
}

static void select_boxes(Suppression *s) {
  for (int64_t i = 0; i < s->count; i++) {
    if (s->scores[i] > s->least_score) box_queue_add(&s->queue, (BoxCandidate){s->scores[i], (int32_t)i, 0});
  }
  while (s->selected_count < s->most && s->queue.count > 0) {
    BoxCandidate next = box_queue_take(&s->queue);
    float score = next.score;
    if (!compare(s, &next)) continue;
    if (next.score == score) {
      s->selected[s->selected_count] = next.box;
      s->selected_scores[s->selected_count++] = score;
    } else if (next.score > s->least_score) {
      box_queue_add(&s->queue, next);
    }
  }
}

/* --- inputs and outputs --- */

static bool check_scalar(const KernelContext *context, int input, const char *name, bool with_rank,
                         Status *status) {
  const Shape *shape = &context->inputs[input]->shape;
  char text[SHAPE_TEXT_CAPACITY];
  if (shape->rank == 0) return true;
  if (!with_rank)
    return status_invalid(status, "%s must be 0-D, got shape %s", name, shape_text(shape, text));
  return status_invalid(status, "%s must be 0-D, got shape %s (Shape must be rank 0 but is rank %d)", name,
                        shape_text(shape, text), (int)shape->rank);
}

static bool read_scalar(const KernelContext *context, int input, const char *name, const Suppression *s,
                        float *value, Status *status) {
  TRY(check_scalar(context, input, name, false, status));
  *value = typed(s, (float)tensor_double_at(context->inputs[input], 0));
  return true;
}

/* NonMaxSuppression has three inputs, and each version after it at most one more. The data of V3 says that
 * two messages mention the rank. */
static bool read_thresholds(KernelContext *context, Suppression *s, Status *status) {
  bool with_rank = context->data;
  float sigma = 0;
  TRY(check_scalar(context, 2, "max_output_size", with_rank, status));
  s->threshold = ((const NmsState *)context->state)->iou_threshold;
  if (context->num_inputs > 3) {
    TRY(check_scalar(context, 3, "iou_threshold", with_rank, status));
    TRY(read_scalar(context, 3, "iou_threshold", s, &s->threshold, status));
  }
  if (!(s->threshold >= 0 && s->threshold <= 1))
    return status_invalid(status, "iou_threshold must be in [0, 1]");
  s->least_score = s->half ? -65504 : -FLT_MAX;
  if (context->num_inputs > 4) TRY(read_scalar(context, 4, "score_threshold", s, &s->least_score, status));
  if (context->num_inputs > 5) {
    TRY(read_scalar(context, 5, "soft_nms_sigma", s, &sigma, status));
    if (!(sigma >= 0)) return status_invalid(status, "soft_nms_sigma_val must be >= 0");
  }
  s->soft = sigma > 0 ? typed(s, -0.5f / sigma) : 0;
  return true;
}

static bool check_boxes(const Tensor *boxes, Status *status) {
  char text[SHAPE_TEXT_CAPACITY];
  int rank = boxes->shape.rank;
  if (rank != 2) {
    return status_invalid(status, "boxes must be 2-D%s (Shape must be rank 2 but is rank %d)",
                          shape_text(&boxes->shape, text), rank);
  }
  int64_t columns = shape_dim(&boxes->shape, 1);
  return columns == 4 || status_invalid(status, "boxes must have 4 columns (Dimension must be 4 but is %lld)",
                                        (long long)columns);
}

static bool check_overlaps(const Tensor *overlaps, Status *status) {
  const Shape *shape = &overlaps->shape;
  char text[SHAPE_TEXT_CAPACITY];
  if (shape->rank != 2) return status_invalid(status, "overlaps must be 2-D%s", shape_text(shape, text));
  return shape_dim(shape, 0) == shape_dim(shape, 1) ||
         status_invalid(status, "overlaps must be square%s", shape_text(shape, text));
}

static bool check_scores(const Tensor *scores, int64_t count, Status *status) {
  char text[SHAPE_TEXT_CAPACITY];
  int rank = scores->shape.rank;
  if (rank != 1) {
    return status_invalid(status, "scores must be 1-D%s (Shape must be rank 1 but is rank %d)",
                          shape_text(&scores->shape, text), rank);
  }
  int64_t found = tensor_num_elements(scores);
  return found == count ||
         status_invalid(status,
                        "scores has incompatible shape (Dimensions must be equal, but are %lld and %lld)",
                        (long long)count, (long long)found);
}

/* The elements as floats; those of half tensors are converted to `to`. */
static const float *floats_of(const Tensor *tensor, float *to) {
  if (tensor->dtype != DT_HALF) return tensor->data;
  const uint16_t *from = tensor->data;
  for (int64_t i = 0; i < tensor_num_elements(tensor); i++) to[i] = half_to_float(from[i]);
  return to;
}

/* The outputs are the indices; of V5 the scores; and from V4 on the number of selected boxes. */
static bool write_selected(KernelContext *context, const Suppression *s, int64_t rows, Status *status) {
  Tensor *indices, *scores, *valid;
  int64_t selected = s->selected_count;
  TRY(kernel_allocate_output_dims(context, 0, 1, &rows, &indices, status));
  if (rows > 0) memset(indices->data, 0, (size_t)rows * sizeof(int32_t));
  for (int64_t i = 0; i < selected; i++) tensor_i32(indices)[i] = s->selected[i];
  if (context->num_outputs > 2) {
    TRY(kernel_allocate_output_dims(context, 1, 1, &rows, &scores, status));
    for (int64_t i = 0; i < rows; i++) {
      float score = i < selected ? s->selected_scores[i] : 0;
      if (s->half) ((uint16_t *)scores->data)[i] = float_to_half(score);
      else tensor_f32(scores)[i] = score;
    }
  }
  if (context->num_outputs > 1) {
    TRY(kernel_allocate_output_dims(context, context->num_outputs - 1, 0, NULL, &valid, status));
    tensor_i32(valid)[0] = s->selected_count;
  }
  return true;
}

/* The part that all kernels share, after their checks. */
static bool suppress(KernelContext *context, Suppression *s, Status *status) {
  const Tensor *scores = context->inputs[1];
  const NmsState *state = context->state;
  int64_t size = tensor_i32(context->inputs[2])[0];
  if (size < 0) return status_invalid(status, "output size must be non-negative");
  s->count = tensor_num_elements(scores);
  s->most = size < s->count ? size : s->count;
  int64_t bytes = s->count * (int64_t)(sizeof(BoxCandidate) + 5 * sizeof(float)) +
                  s->most * (int64_t)(sizeof(int32_t) + sizeof(float));
  Buffer *buffer = kernel_scratch(context, bytes, status);
  if (!buffer) return false;
  s->queue = (BoxQueue){.heap = buffer->data, .by_index = true};
  float *converted = (float *)(s->queue.heap + s->count);
  s->selected_scores = converted + 5 * s->count;
  s->selected = (int32_t *)(s->selected_scores + s->most);
  s->scores = floats_of(scores, converted + 4 * s->count);
  if (!s->overlaps) s->boxes = floats_of(context->inputs[0], converted);
  select_boxes(s);
  bool padded = state->pad_to_max_output_size;
  bool ok = write_selected(context, s, padded ? size : s->selected_count, status);
  buffer_unref(buffer);
  return ok;
}

static bool non_max_suppression(KernelContext *context, Status *status) {
  const Tensor *boxes = context->inputs[0], *scores = context->inputs[1];
  Suppression s = {.half = scores->dtype == DT_HALF};
  TRY(read_thresholds(context, &s, status));
  TRY(check_boxes(boxes, status));
  TRY(check_scores(scores, shape_dim(&boxes->shape, 0), status));
  return suppress(context, &s, status);
}

static bool non_max_suppression_with_overlaps(KernelContext *context, Status *status) {
  const Tensor *overlaps = context->inputs[0];
  Suppression s = {.overlaps = tensor_f32(overlaps)};
  TRY(check_scalar(context, 2, "max_output_size", false, status));
  TRY(read_scalar(context, 3, "overlap_threshold", &s, &s.threshold, status));
  TRY(read_scalar(context, 4, "score_threshold", &s, &s.least_score, status));
  TRY(check_overlaps(overlaps, status));
  TRY(check_scores(context->inputs[1], shape_dim(&overlaps->shape, 0), status));
  return suppress(context, &s, status);
}

/* --- shapes --- */

/* Checks the ranks of all inputs and the number of boxes; output 0 is a vector. */
static bool selected_shape(InferenceContext *c, ShapeHandle *boxes, Status *status) {
  ShapeHandle scores, scalar, selected;
  DimHandle count;
  TRY(shape_with_rank(c, shape_input(c, 0), 2, boxes, status));
  TRY(shape_with_rank(c, shape_input(c, 1), 1, &scores, status));
  for (int i = 2; i < c->num_inputs; i++) TRY(shape_with_rank(c, shape_input(c, i), 0, &scalar, status));
  TRY(dim_merge(c, shape_dim_of(c, *boxes, 0), shape_dim_of(c, scores, 0), &count, status));
  TRY(shape_ok(shape_unknown_of_rank(c, 1), &selected, status));
  shape_set_output(c, 0, selected);
  return true;
}

static bool nms_shape(InferenceContext *c, Status *status) {
  ShapeHandle boxes;
  DimHandle columns;
  return selected_shape(c, &boxes, status) &&
         dim_with_value(c, shape_dim_of(c, boxes, 1), 4, &columns, status);
}

static bool nms_overlaps_shape(InferenceContext *c, Status *status) {
  ShapeHandle overlaps;
  DimHandle count;
  TRY(selected_shape(c, &overlaps, status));
  return dim_merge(c, shape_dim_of(c, overlaps, 0), shape_dim_of(c, overlaps, 1), &count, status);
}

/* Of V4 and V5: the last output is a scalar, and the others have max_output_size elements if padded. */
static bool nms_pad_shape(InferenceContext *c, Status *status) {
  bool padded;
  DimHandle size;
  ShapeHandle selected, scalar;
  TRY(nms_shape(c, status));
  TRY(node_attr_bool(c->node, "pad_to_max_output_size", &padded, status));
  TRY(dim_ok(dim_unknown(c), &size, status));
  if (padded) TRY(dim_for_scalar_input(c, 2, &size, status));
  for (int i = 0; i < c->num_outputs - 1; i++) {
    TRY(shape_ok(shape_vector(c, size), &selected, status));
    shape_set_output(c, i, selected);
  }
  TRY(shape_ok(shape_scalar(c), &scalar, status));
  shape_set_output(c, c->num_outputs - 1, scalar);
  return true;
}

/* --- registrations --- */

#define BOX_INPUTS "boxes: T", "scores: T", "max_output_size: int32"
#define THRESHOLD_TYPES "T: {half, float} = DT_FLOAT", "T_threshold: {half, float} = DT_FLOAT"
#define NMS_KERNELS(...)                                                                        \
  {                                                                                             \
    {DT_FLOAT, non_max_suppression, __VA_ARGS__}, { DT_HALF, non_max_suppression, __VA_ARGS__ } \
  }

const OpRegistration kOpNonMaxSuppression = {
    .name = "NonMaxSuppression",
    .inputs = {"boxes: float", "scores: float", "max_output_size: int32"},
    .outputs = {"selected_indices: int32"},
    .attrs = {"iou_threshold: float = 0.5"},
    .shape = nms_shape,
    .gradient = NO_GRADIENT,
    .state_size = sizeof(NmsState),
    .construct = nms_construct,
    .kernels = {{DT_INVALID, non_max_suppression}},
};

const OpRegistration kOpNonMaxSuppressionV2 = {
    .name = "NonMaxSuppressionV2",
    .inputs = {BOX_INPUTS, "iou_threshold: T_threshold"},
    .outputs = {"selected_indices: int32"},
    .attrs = {THRESHOLD_TYPES},
    .shape = nms_shape,
    .gradient = NO_GRADIENT,
    .state_size = sizeof(NmsState),
    .kernels = NMS_KERNELS(NULL),
};

const OpRegistration kOpNonMaxSuppressionV3 = {
    .name = "NonMaxSuppressionV3",
    .inputs = {BOX_INPUTS, "iou_threshold: T_threshold", "score_threshold: T_threshold"},
    .outputs = {"selected_indices: int32"},
    .attrs = {THRESHOLD_TYPES},
    .shape = nms_shape,
    .state_size = sizeof(NmsState),
    .kernels = NMS_KERNELS("messages mention the rank"),
};

const OpRegistration kOpNonMaxSuppressionV4 = {
    .name = "NonMaxSuppressionV4",
    .inputs = {BOX_INPUTS, "iou_threshold: T_threshold", "score_threshold: T_threshold"},
    .outputs = {"selected_indices: int32", "valid_outputs: int32"},
    .attrs = {THRESHOLD_TYPES, "pad_to_max_output_size: bool = false"},
    .shape = nms_pad_shape,
    .state_size = sizeof(NmsState),
    .construct = nms_pad_construct,
    .kernels = NMS_KERNELS(NULL),
};

const OpRegistration kOpNonMaxSuppressionV5 = {
    .name = "NonMaxSuppressionV5",
    .inputs = {BOX_INPUTS, "iou_threshold: T", "score_threshold: T", "soft_nms_sigma: T"},
    .outputs = {"selected_indices: int32", "selected_scores: T", "valid_outputs: int32"},
    .attrs = {"T: {half, float} = DT_FLOAT", "pad_to_max_output_size: bool = false"},
    .shape = nms_pad_shape,
    .state_size = sizeof(NmsState),
    .construct = nms_pad_construct,
    .kernels = NMS_KERNELS(NULL),
};

const OpRegistration kOpNonMaxSuppressionWithOverlaps = {
    .name = "NonMaxSuppressionWithOverlaps",
    .inputs = {"overlaps: float", "scores: float", "max_output_size: int32", "overlap_threshold: float",
               "score_threshold: float"},
    .outputs = {"selected_indices: int32"},
    .shape = nms_overlaps_shape,
    .gradient = NO_GRADIENT,
    .state_size = sizeof(NmsState),
    .kernels = {{DT_INVALID, non_max_suppression_with_overlaps}},
};
