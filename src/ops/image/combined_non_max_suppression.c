/* CombinedNonMaxSuppression: selects boxes for each class of each image, and then the best of all classes. */
#include <stdlib.h>
#include <string.h>

#include "op/node_def.h"
#include "op/op_registry.h"
#include "ops/image/box_queue.h"

typedef struct CombinedState {
  bool pad_per_class, clip_boxes;
} CombinedState;

static bool combined_construct(const KernelConstruction *construction, void *memory, Status *status) {
  CombinedState *state = memory;
  return node_attr_bool(construction->node, "pad_per_class", &state->pad_per_class, status) &&
         node_attr_bool(construction->node, "clip_boxes", &state->clip_boxes, status);
}

typedef struct Detection {
  float score;
  int32_t box, category;
  int32_t place; /* in the order of classes, then of scores */
} Detection;

typedef struct Combined {
  const float *boxes, *scores; /* [images, count, box_classes, 4] and [images, count, classes] */
  int64_t images, count, box_classes, classes;
  int64_t per_class, rows; /* the most to select of a class, and rows of the result per image */
  float iou_threshold, score_threshold;
  bool clip;
  BoxCandidate *candidates; /* [images, count] */
  Detection *detections;    /* [images, classes * per_class] */
  float *to_boxes, *to_scores, *to_classes;
  int32_t *to_valid;
} Combined;

/* The box of a class, or of all classes. */
static const float *box_of(const Combined *job, int64_t image, int64_t box, int64_t category) {
  int64_t of_class = job->box_classes > 1 ? category : 0;
  return job->boxes + ((image * job->count + box) * job->box_classes + of_class) * 4;
}

static bool overlaps_any(const Combined *job, int64_t image, const BoxCandidate *candidate, int64_t category,
                         const Detection *selected, int64_t count) {
  const float *box = box_of(job, image, candidate->box, category);
  for (int64_t j = count - 1; j >= 0; j--) {
    if (box_overlap(box, box_of(job, image, selected[j].box, category)) > job->iou_threshold) return true;
  }
  return false;
}

/* Returns the number of boxes that were selected for a class. */
static int64_t select_of_class(const Combined *job, int64_t image, int64_t category, Detection *selected,
                               int64_t place) {
  BoxQueue queue = {.heap = job->candidates + image * job->count};
  const float *scores = job->scores + image * job->count * job->classes + category;
  int64_t count = 0;
  for (int64_t i = 0; i < job->count; i++) {
    float score = scores[i * job->classes];
    if (score > job->score_threshold) box_queue_add(&queue, (BoxCandidate){score, (int32_t)i, 0});
  }
  while (count < job->per_class && queue.count > 0) {
    BoxCandidate next = box_queue_take(&queue);
    if (overlaps_any(job, image, &next, category, selected, count)) continue;
    selected[count] = (Detection){next.score, next.box, (int32_t)category, (int32_t)(place + count)};
    count++;
  }
  return count;
}

/* Higher scores first. TensorFlow decides ties by an unstable sort, which keeps the order of few detections.
 */
static int compare_detections(const void *first, const void *second) {
  const Detection *a = first, *b = second;
  if (a->score != b->score) return a->score > b->score ? -1 : 1;
  return (a->place > b->place) - (a->place < b->place);
}

static float clipped(float x) {
  x = x > 1 ? 1 : x;
  return x < 0 ? 0 : x;
}

static void detect(void *arg, int64_t begin, int64_t end) {
  const Combined *job = arg;
  for (int64_t image = begin; image < end; image++) {
    Detection *found = job->detections + image * job->classes * job->per_class;
    int64_t count = 0;
    for (int64_t category = 0; category < job->classes; category++)
      count += select_of_class(job, image, category, found + count, count);
    if (count > 0) qsort(found, (size_t)count, sizeof *found, compare_detections);
    if (count > job->rows) count = job->rows;
    job->to_valid[image] = (int32_t)count;
    for (int64_t i = 0; i < count; i++) {
      int64_t row = image * job->rows + i;
      const float *box = box_of(job, image, found[i].box, found[i].category);
      for (int k = 0; k < 4; k++) job->to_boxes[4 * row + k] = job->clip ? clipped(box[k]) : box[k];
      job->to_scores[row] = found[i].score;
      job->to_classes[row] = (float)found[i].category;
    }
  }
}

/* --- inputs and outputs --- */

static bool check_images(const Tensor *boxes, const Tensor *scores, Status *status) {
  char text[SHAPE_TEXT_CAPACITY];
  if (boxes->shape.rank != 4)
    return status_invalid(status, "boxes must be 4-D%s", shape_text(&boxes->shape, text));
  if (scores->shape.rank != 3)
    return status_invalid(status, "scores must be 3-D%s", shape_text(&scores->shape, text));
  const int64_t *box = shape_dims(&boxes->shape), *score = shape_dims(&scores->shape);
  if (box[2] != 1 && box[2] != score[2])
    return status_invalid(status, "third dimension of boxes must be either 1 or num classes");
  if (box[3] != 4) return status_invalid(status, "boxes must have 4 columns");
  return score[1] == box[1] || status_invalid(status, "scores has incompatible shape");
}

static bool check_batches(const Shape *boxes, const Shape *scores, Status *status) {
  return boxes->rank == 0 || scores->rank == 0 || shape_dim(boxes, 0) == shape_dim(scores, 0) ||
         status_invalid(status, "boxes and scores must have same batch size");
}

static bool check_scalar(const Tensor *tensor, const char *name, Status *status) {
  char text[SHAPE_TEXT_CAPACITY];
  return tensor->shape.rank == 0 ||
         status_invalid(status, "%s must be 0-D, got shape %s", name, shape_text(&tensor->shape, text));
}

static bool read_limits(KernelContext *context, Combined *job, Status *status) {
  const Tensor *const *inputs = context->inputs;
  const CombinedState *state = context->state;
  TRY(check_scalar(inputs[2], "max_size_per_class", status));
  int64_t per_class = tensor_i32(inputs[2])[0];
  if (per_class <= 0) return status_invalid(status, "max_size_per_class must be positive");
  TRY(check_scalar(inputs[3], "max_total_size", status));
  job->rows = tensor_i32(inputs[3])[0];
  if (job->rows <= 0) return status_invalid(status, "max_total_size must be > 0");
  TRY(check_scalar(inputs[4], "iou_threshold", status));
  TRY(check_scalar(inputs[5], "score_threshold", status));
  job->iou_threshold = tensor_f32(inputs[4])[0];
  job->score_threshold = tensor_f32(inputs[5])[0];
  if (!(job->iou_threshold >= 0 && job->iou_threshold <= 1))
    return status_invalid(status, "iou_threshold must be in [0, 1]");
  job->clip = state->clip_boxes;
  job->per_class = per_class;
  return true;
}

/* Bounds per_class and rows by what the images can give. */
static bool bound_limits(const KernelContext *context, Combined *job, Status *status) {
  const CombinedState *state = context->state;
  int64_t per_class = job->per_class;
  job->per_class = per_class < job->count ? per_class : job->count;
  if (job->per_class > 0 && job->classes > INT32_MAX / job->per_class)
    return status_invalid(status, "size_per_class * num_classes causes overflow");
  if (state->pad_per_class && job->classes <= job->rows / per_class) job->rows = per_class * job->classes;
  return true;
}

static bool make_outputs(KernelContext *context, Combined *job, Status *status) {
  int64_t dims[] = {job->images, job->rows, 4};
  Tensor *out;
  for (int i = 0; i < 4; i++) {
    TRY(kernel_allocate_output_dims(context, i, i == 0 ? 3 : i == 3 ? 1 : 2, dims, &out, status));
    if (tensor_num_elements(out) > 0) memset(out->data, 0, (size_t)tensor_bytes(out));
  }
  job->to_boxes = tensor_f32(&context->outputs[0]);
  job->to_scores = tensor_f32(&context->outputs[1]);
  job->to_classes = tensor_f32(&context->outputs[2]);
  job->to_valid = tensor_i32(&context->outputs[3]);
  return true;
}

static bool combined_non_max_suppression(KernelContext *context, Status *status) {
  const Tensor *boxes = context->inputs[0], *scores = context->inputs[1];
  Combined job = {.boxes = tensor_f32(boxes), .scores = tensor_f32(scores)};
  TRY(check_batches(&boxes->shape, &scores->shape, status));
  TRY(read_limits(context, &job, status));
  TRY(check_images(boxes, scores, status));
  const int64_t *dims = shape_dims(&boxes->shape);
  job.images = dims[0];
  job.count = dims[1];
  job.box_classes = dims[2];
  job.classes = shape_dim(&scores->shape, 2);
  TRY(bound_limits(context, &job, status));
  TRY(make_outputs(context, &job, status));
  if (tensor_num_elements(scores) == 0) return true;
  int64_t candidates = job.images * job.count, of_image = job.classes * job.per_class;
  Buffer *buffer = kernel_scratch(context,
                                  candidates * (int64_t)sizeof(BoxCandidate) +
                                      job.images * of_image * (int64_t)sizeof(Detection),
                                  status);
  if (!buffer) return false;
  job.candidates = buffer->data;
  job.detections = (Detection *)(job.candidates + candidates);
  double work = (double)job.count * (double)job.classes + 10.0 * (double)of_image * (double)job.per_class;
  parallel_work(context->parallel, job.images, work, detect, &job);
  buffer_unref(buffer);
  return true;
}

/* --- shapes --- */

static bool combined_rows(InferenceContext *c, DimHandle classes, DimHandle *rows, Status *status) {
  DimHandle per_class, all;
  bool pad_per_class;
  TRY(dim_for_scalar_input(c, 3, rows, status));
  if (dim_known(*rows) && dim_value(*rows) <= 0)
    return status_invalid(status, "max_total_size should be > 0 ");
  TRY(dim_for_scalar_input(c, 2, &per_class, status));
  TRY(node_attr_bool(c->node, "pad_per_class", &pad_per_class, status));
  if (!pad_per_class) return true;
  if (dim_known(per_class) && dim_value(per_class) <= 0) {
    return status_invalid(status, "max_output_size_per_class must be > 0 if pad_per_class is set to true ");
  }
  if (!dim_known(per_class) || !dim_known(classes) || !dim_known(*rows))
    return dim_ok(dim_unknown(c), rows, status);
  TRY(dim_multiply(c, per_class, classes, &all, status));
  return dim_min(c, *rows, all, rows, status);
}

static bool combined_shape(InferenceContext *c, Status *status) {
  static const int kRanks[] = {4, 3, 0, 0, 0, 0};
  ShapeHandle inputs[6], out[4];
  DimHandle merged, rows, four;
  for (int i = 0; i < 6; i++) TRY(shape_with_rank(c, shape_input(c, i), kRanks[i], &inputs[i], status));
  DimHandle images = shape_dim_of(c, inputs[0], 0), box_classes = shape_dim_of(c, inputs[0], 2),
            classes = shape_dim_of(c, inputs[1], 2);
  TRY(dim_merge(c, images, shape_dim_of(c, inputs[1], 0), &merged, status));
  TRY(dim_merge(c, shape_dim_of(c, inputs[0], 1), shape_dim_of(c, inputs[1], 1), &merged, status));
  TRY(dim_with_value(c, shape_dim_of(c, inputs[0], 3), 4, &merged, status));
  if (dim_known(box_classes) && dim_known(classes) && dim_value(box_classes) != 1 &&
      dim_value(box_classes) != dim_value(classes)) {
    return status_invalid(
        status, "third dimension of boxes must be either 1 or equal to the third dimension of scores");
  }
  TRY(combined_rows(c, classes, &rows, status));
  TRY(dim_ok(dim_make(c, 4), &four, status));
  TRY(shape_ok(shape_of_dims(c, (DimHandle[]){images, rows, four}, 3), &out[0], status));
  TRY(shape_ok(shape_matrix(c, images, rows), &out[1], status));
  TRY(shape_ok(shape_vector(c, images), &out[3], status));
  out[2] = out[1];
  for (int i = 0; i < 4; i++) shape_set_output(c, i, out[i]);
  return true;
}

const OpRegistration kOpCombinedNonMaxSuppression = {
    .name = "CombinedNonMaxSuppression",
    .inputs = {"boxes: float", "scores: float", "max_output_size_per_class: int32", "max_total_size: int32",
               "iou_threshold: float", "score_threshold: float"},
    .outputs = {"nmsed_boxes: float", "nmsed_scores: float", "nmsed_classes: float",
                "valid_detections: int32"},
    .attrs = {"pad_per_class: bool = false", "clip_boxes: bool = true"},
    .shape = combined_shape,
    .state_size = sizeof(CombinedState),
    .construct = combined_construct,
    .kernels = {{DT_INVALID, combined_non_max_suppression}},
};
