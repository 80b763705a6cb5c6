/* OneHot: for every index a row with the on-value at that position and the off-value elsewhere. */
#include <string.h>

#include "base/copy.h"
#include "op/node_def.h"
#include "op/op_registry.h"
#include "ops/support/array_box.h"

typedef struct OneHotState {
  int64_t axis;
} OneHotState;

static bool one_hot_construct(const KernelConstruction *construction, void *memory, Status *status) {
  return node_attr_int(construction->node, "axis", &((OneHotState *)memory)->axis, status);
}

static bool check_scalar(const Tensor *tensor, const char *name, Status *status) {
  char text[SHAPE_TEXT_CAPACITY];
  if (tensor_is_scalar(tensor)) return true;
  return status_invalid(status, "%s must be a scalar, but got: %s", name, shape_text(&tensor->shape, text));
}

typedef struct OneHotJob {
  const Tensor *indices;
  char *out;
  const char *on;
  int64_t size, depth, inner; /* bytes of an element; the output is [.., depth, inner] */
} OneHotJob;

static void switch_on(void *arg, int64_t begin, int64_t end) {
  const OneHotJob *job = arg;
  const int32_t *narrow = job->indices->dtype == DT_INT32 ? job->indices->data : NULL;
  for (int64_t i = begin; i < end; i++) {
    int64_t index = narrow ? narrow[i] : tensor_int_at(job->indices, i);
    if (index < 0 || index >= job->depth) continue;
    int64_t outer = i, inner = 0;
    if (job->inner != 1) outer = i / job->inner, inner = i % job->inner;
    copy_bytes(job->out + ((outer * job->depth + index) * job->inner + inner) * job->size, job->on,
               job->size);
  }
}

static bool one_hot_kernel(KernelContext *context, Status *status) {
  const Tensor *indices = context->inputs[0], *depths = context->inputs[1], *on = context->inputs[2],
               *off = context->inputs[3];
  int64_t axis = ((const OneHotState *)context->state)->axis, dims[SHAPE_MAX_RANK + 1];
  int rank = indices->shape.rank;
  if (axis < -1 || axis > rank) {
    return status_invalid(status, "Expected axis to be -1 or between [0, %d).  But received: %lld", rank + 1,
                          (long long)axis);
  }
  TRY(check_scalar(depths, "depth", status));
  TRY(check_scalar(on, "on_value", status));
  TRY(check_scalar(off, "off_value", status));
  int64_t depth = tensor_i32(depths)[0], inner = 1;
  if (depth < 0) return status_invalid(status, "depth must be non-negative, got: %lld", (long long)depth);
  if (rank + 1 > SHAPE_MAX_RANK) return status_invalid(status, "Too many dimensions in tensor");
  if (axis < 0) axis = rank;
  for (int d = 0; d <= rank; d++) {
    dims[d] = d == axis ? depth : shape_dim(&indices->shape, d < axis ? d : d - 1);
  }
  Tensor *out;
  TRY(kernel_allocate_output_dims(context, 0, rank + 1, dims, &out, status));
  if (tensor_num_elements(out) == 0) return true;
  for (int d = (int)axis + 1; d <= rank; d++) inner *= dims[d];
  double zero[2] = {0}; /* as large as the largest element; all bits are 0 */
  if (dtype_is_pod(off->dtype) && memcmp(off->data, zero, dtype_size(off->dtype)) == 0) {
    array_clear(out);
  } else {
    ArrayBox all = {0};
    array_box_add(&all, tensor_num_elements(out), 0, 1);
    TRY(array_box_copy(&all, off, out, context->parallel, status));
  }
  int64_t count = tensor_num_elements(indices);
  if (dtype_is_pod(out->dtype)) {
    OneHotJob job = {indices, out->data, on->data, (int64_t)dtype_size(out->dtype), depth, inner};
    parallel_work(context->parallel, count, 4, switch_on, &job);
    return true;
  }
  for (int64_t i = 0; i < count; i++) {
    int64_t index = tensor_int_at(indices, i);
    if (index < 0 || index >= depth) continue;
    int64_t at = (i / inner * depth + index) * inner + i % inner;
    TRY(array_scatter_rows(on, &at, 1, 1, out, status));
  }
  return true;
}

static bool one_hot_shape(InferenceContext *c, Status *status) {
  ShapeHandle indices = shape_input(c, 0), front, middle, behind, output;
  int64_t axis;
  DimHandle depth;
  TRY(node_attr_int(c->node, "axis", &axis, status));
  if (axis < -1) return status_invalid(status, "axis must be >= -1");
  TRY(dim_for_scalar_input(c, 1, &depth, status));
  if (!shape_rank_known(indices)) return shape_unknown_outputs(c, status);
  if (axis < 0) axis = shape_rank(indices);
  TRY(shape_with_rank_at_least(c, indices, axis, &indices, status));
  TRY(shape_subshape(c, indices, 0, axis, 1, &front, status));
  TRY(shape_ok(shape_vector(c, depth), &middle, status));
  TRY(shape_subshape(c, indices, axis, INT64_MAX, 1, &behind, status));
  TRY(shape_concatenate(c, front, middle, &output, status));
  TRY(shape_concatenate(c, output, behind, &output, status));
  shape_set_output(c, 0, output);
  return true;
}

/* As in TensorFlow, the on- and off-values are treated as constants. */
const OpRegistration kOpOneHot = {
    .name = "OneHot",
    .inputs = {"indices: TI", "depth: int32", "on_value: T", "off_value: T"},
    .outputs = {"output: T"},
    .attrs = {"axis: int = -1", "T: type", "TI: {uint8, int8, int32, int64} = DT_INT64"},
    .shape = one_hot_shape,
    .gradient = NO_GRADIENT,
    .state_size = sizeof(OneHotState),
    .construct = one_hot_construct,
    .kernels = {{DT_INVALID, one_hot_kernel}},
};
