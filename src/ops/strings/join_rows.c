/* ReduceJoin, UnsortedSegmentJoin: strings joined along axes or by segment. */
#include <string.h>

#include "base/alloc.h"
#include "op/node_def.h"
#include "op/op_registry.h"
#include "ops/strings/string_elements.h"
#include "ops/support/array_box.h"

typedef struct JoinRowsState {
  Str separator;
  bool keep_dims;
} JoinRowsState;

static bool segment_construct(const KernelConstruction *construction, void *memory, Status *status) {
  return node_attr_string(construction->node, "separator", &((JoinRowsState *)memory)->separator, status);
}

static bool reduce_construct(const KernelConstruction *construction, void *memory, Status *status) {
  return segment_construct(construction, memory, status) &&
         node_attr_bool(construction->node, "keep_dims", &((JoinRowsState *)memory)->keep_dims, status);
}

static void append(StrBuf *text, bool first, Str separator, Str part) {
  if (!first) strbuf_append_bytes(text, separator.data, separator.length);
  strbuf_append_bytes(text, part.data, part.length);
}

/* --- ReduceJoin --- */

/* The axes in the order in which they are joined, and of the output. */
typedef struct ReducePlan {
  bool reduced[SHAPE_MAX_RANK];
  int axes[SHAPE_MAX_RANK], num_axes;
  int64_t strides[SHAPE_MAX_RANK], dims[SHAPE_MAX_RANK];
  int rank; /* of the output */
} ReducePlan;

static bool read_axes(const Tensor *in, const Tensor *axes, ReducePlan *plan, Status *status) {
  int rank = in->shape.rank;
  for (int64_t i = 0; i < tensor_num_elements(axes); i++) {
    int axis = tensor_i32(axes)[i];
    if (axis < -rank || axis >= rank)
      return status_set(status, CODE_OUT_OF_RANGE,
                        "Invalid reduction dimension %d for input with %d dimension(s)", axis, rank);
    int given = axis;
    if (axis < 0) axis += rank;
    if (plan->reduced[axis]) return status_invalid(status, "Duplicate reduction dimension %d", given);
    plan->reduced[axis] = true;
    plan->axes[plan->num_axes++] = axis;
  }
  return true;
}

static void plan_output(const Tensor *in, bool keep_dims, ReducePlan *plan) {
  array_strides(&in->shape, plan->strides);
  for (int axis = 0; axis < in->shape.rank; axis++) {
    if (!plan->reduced[axis]) plan->dims[plan->rank++] = shape_dim(&in->shape, axis);
    else if (keep_dims) plan->dims[plan->rank++] = 1;
  }
}

/* The position in the input of the first element that is joined into output element `i`. */
static int64_t first_of_output(const ReducePlan *plan, const Shape *in, int64_t i) {
  int64_t at = 0;
  for (int axis = in->rank - 1; axis >= 0; axis--) {
    if (plan->reduced[axis]) continue;
    at += i % shape_dim(in, axis) * plan->strides[axis];
    i /= shape_dim(in, axis);
  }
  return at;
}

/* The distance from there of the k-th that is joined; the first axis runs fastest. */
static int64_t distance(const ReducePlan *plan, const Shape *in, int64_t k) {
  int64_t at = 0;
  for (int i = 0; i < plan->num_axes; i++) {
    at += k % shape_dim(in, plan->axes[i]) * plan->strides[plan->axes[i]];
    k /= shape_dim(in, plan->axes[i]);
  }
  return at;
}

static bool join_output(const Tensor *in, const ReducePlan *plan, Str separator, Tensor *out,
                        Status *status) {
  StrBuf text = {0};
  int64_t parts = 1;
  bool ok = true;
  for (int i = 0; i < plan->num_axes; i++) parts *= shape_dim(&in->shape, plan->axes[i]);
  for (int64_t i = 0; ok && i < tensor_num_elements(out); i++) {
    int64_t first = first_of_output(plan, &in->shape, i);
    strbuf_clear(&text);
    for (int64_t k = 0; k < parts; k++)
      append(&text, k == 0, separator, string_at(in, first + distance(plan, &in->shape, k)));
    ok = string_put(out, i, &text, status);
  }
  strbuf_free(&text);
  return ok;
}

static bool reduce_join(KernelContext *context, Status *status) {
  const JoinRowsState *state = context->state;
  const Tensor *in = context->inputs[0];
  ReducePlan plan;
  Tensor *out;
  memset(&plan, 0, sizeof plan);
  TRY(read_axes(in, context->inputs[1], &plan, status));
  plan_output(in, state->keep_dims, &plan);
  TRY(kernel_allocate_output_dims(context, 0, plan.rank, plan.dims, &out, status));
  return join_output(in, &plan, state->separator, out, status);
}

const OpRegistration kOpReduceJoin = {
    .name = "ReduceJoin",
    .inputs = {"inputs: string", "reduction_indices: int32"},
    .outputs = {"output: string"},
    .attrs = {"keep_dims: bool = false", "separator: string = ''"},
    .shape = shape_reduction,
    .gradient = NO_GRADIENT,
    .state_size = sizeof(JoinRowsState),
    .construct = reduce_construct,
    .kernels = {{DT_INVALID, reduce_join}},
};

/* --- UnsortedSegmentJoin --- */

static bool check_segments(KernelContext *context, int64_t *segments, Status *status) {
  const Tensor *in = context->inputs[0], *ids = context->inputs[1], *number = context->inputs[2];
  if (!tensor_is_scalar(number)) return status_invalid(status, "Number of segments must be a scalar");
  *segments = tensor_int_at(number, 0);
  if (*segments < 0)
    return status_invalid(status, "Number of segments must be non-negative but got %lld",
                          (long long)*segments);
  if (ids->shape.rank > in->shape.rank)
    return status_invalid(status, "The rank of segment_ids must not exceed that of inputs");
  for (int i = 0; i < ids->shape.rank; i++) {
    if (shape_dim(&ids->shape, i) != shape_dim(&in->shape, i))
      return status_invalid(status, "Segment dimension is %lld while input dimension is %d in rank %d",
                            (long long)shape_dim(&ids->shape, i), in->shape.rank,
                            i); /* TensorFlow names the rank, too */
  }
  return true;
}

static bool allocate_segments(KernelContext *context, int64_t segments, Tensor **out, Status *status) {
  const Shape *in = &context->inputs[0]->shape;
  int64_t dims[SHAPE_MAX_RANK + 1] = {segments};
  int rank = 1;
  for (int i = context->inputs[1]->shape.rank; i < in->rank; i++) dims[rank++] = shape_dim(in, i);
  return kernel_allocate_output_dims(context, 0, rank, dims, out, status);
}

/* The rows of each segment, as lists: `first` of a segment and `next` of a row are rows + 1. */
static bool list_rows(const Tensor *ids, int64_t segments, int64_t *first, int64_t *next, Status *status) {
  for (int64_t row = tensor_num_elements(ids) - 1; row >= 0; row--) {
    int64_t id = tensor_int_at(ids, row);
    if (id < 0 || id >= segments)
      return status_invalid(status,
                            "segment_ids are not allowed to exceed num_segments or to have negative values.");
    next[row] = first[id];
    first[id] = row + 1;
  }
  return true;
}

static bool join_segments(KernelContext *context, const int64_t *first, const int64_t *next, Tensor *out,
                          Status *status) {
  const Tensor *in = context->inputs[0];
  int64_t rows = tensor_num_elements(context->inputs[1]), length = rows ? tensor_num_elements(in) / rows : 0;
  StrBuf text = {0};
  bool ok = true;
  for (int64_t i = 0; ok && length > 0 && i < tensor_num_elements(out); i++) {
    strbuf_clear(&text);
    for (int64_t row = first[i / length]; row > 0; row = next[row - 1])
      append(&text, row == first[i / length], ((const JoinRowsState *)context->state)->separator,
             string_at(in, (row - 1) * length + i % length));
    ok = string_put(out, i, &text, status);
  }
  strbuf_free(&text);
  return ok;
}

static bool unsorted_segment_join(KernelContext *context, Status *status) {
  int64_t segments = 0, rows = tensor_num_elements(context->inputs[1]);
  Tensor *out;
  TRY(check_segments(context, &segments, status));
  TRY(allocate_segments(context, segments, &out, status));
  int64_t *first = mem_calloc(segments, sizeof *first), *next = mem_calloc(rows, sizeof *next);
  bool ok = (first && next) || status_oom(status, "the rows of segments");
  ok = ok && list_rows(context->inputs[1], segments, first, next, status) &&
       join_segments(context, first, next, out, status);
  mem_free(first);
  mem_free(next);
  return ok;
}

static bool segment_join_shape(InferenceContext *c, Status *status) {
  ShapeHandle ids = shape_input(c, 1), out, rows;
  DimHandle segments;
  TRY(shape_with_rank(c, shape_input(c, 2), 0, &out, status));
  TRY(shape_ok(shape_unknown(c), &out, status));
  if (shape_rank_known(ids)) {
    ShapeHandle data;
    TRY(shape_merge_prefix(c, shape_input(c, 0), ids, &data, &ids, status));
    TRY(dim_for_scalar_input(c, 2, &segments, status));
    TRY(shape_subshape(c, data, shape_rank(ids), INT64_MAX, 1, &rows, status));
    TRY(shape_ok(shape_vector(c, segments), &out, status));
    TRY(shape_concatenate(c, out, rows, &out, status));
  }
  shape_set_output(c, 0, out);
  return true;
}

const OpRegistration kOpUnsortedSegmentJoin = {
    .name = "UnsortedSegmentJoin",
    .inputs = {"inputs: string", "segment_ids: Tindices", "num_segments: Tnumsegments"},
    .outputs = {"output: string"},
    .attrs = {"separator: string = ''", "Tindices: {int32, int64}",
              "Tnumsegments: {int32, int64} = DT_INT32"},
    .shape = segment_join_shape,
    .gradient = NO_GRADIENT,
    .state_size = sizeof(JoinRowsState),
    .construct = segment_construct,
    .kernels = {{DT_INT32, unsorted_segment_join}, {DT_INT64, unsorted_segment_join}},
};
