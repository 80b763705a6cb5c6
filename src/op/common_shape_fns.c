/* Shape functions shared by many ops. */
#include <string.h>

#include "op/node_def.h"
#include "op/shape_inference.h"
#include "op/shape_internal.h"

/* Sets output `i`; a NULL handle is reported as out of memory. */
static bool set_output(InferenceContext *c, int i, ShapeHandle made, Status *status) {
  ShapeHandle shape;
  TRY(shape_ok(made, &shape, status));
  shape_set_output(c, i, shape);
  return true;
}

/* --- the simple ones --- */

bool shape_unchanged(InferenceContext *c, Status *status) {
  (void)status;
  shape_set_output(c, 0, shape_input(c, 0));
  if (c->input_handles && c->input_handles[0] && c->output_handles) {
    c->output_handles[0] = c->input_handles[0];
  }
  return true;
}

bool shape_unchanged_with_rank(InferenceContext *c, ShapeHandle s, int32_t rank, Status *status) {
  ShapeHandle checked;
  TRY(shape_with_rank(c, s, rank, &checked, status));
  shape_set_output(c, 0, checked);
  return true;
}

bool shape_merged_inputs(InferenceContext *c, Status *status) {
  ShapeHandle merged;
  TRY(shape_merge(c, shape_input(c, 0), shape_input(c, 1), &merged, status));
  shape_set_output(c, 0, merged);
  return true;
}

bool shape_scalar_output(InferenceContext *c, Status *status) {
  for (int i = 0; i < c->num_outputs; i++) TRY(set_output(c, i, shape_scalar(c), status));
  return true;
}

bool shape_no_outputs(InferenceContext *c, Status *status) {
  (void)c;
  (void)status;
  return true;
}

bool shape_unknown_outputs(InferenceContext *c, Status *status) {
  for (int i = 0; i < c->num_outputs; i++) TRY(set_output(c, i, shape_unknown(c), status));
  return true;
}

bool shape_explicit(InferenceContext *c, Status *status) {
  const TensorShapeProto *proto;
  TRY(node_attr_shape(c->node, "shape", &proto, status));
  ShapeHandle shape;
  TRY(shape_from_shape_proto(c, proto, &shape, status));
  for (int i = 0; i < c->num_outputs; i++) shape_set_output(c, i, shape);
  return true;
}

bool shape_random(InferenceContext *c, Status *status) {
  ShapeHandle shape;
  TRY(shape_from_input_tensor(c, 0, &shape, status));
  shape_set_output(c, 0, shape);
  return true;
}

/* --- matrices --- */

bool shape_matmul(InferenceContext *c, Status *status) {
  ShapeHandle a, b;
  TRY(shape_with_rank(c, shape_input(c, 0), 2, &a, status));
  TRY(shape_with_rank(c, shape_input(c, 1), 2, &b, status));
  bool transpose_a, transpose_b;
  TRY(node_attr_bool(c->node, "transpose_a", &transpose_a, status));
  TRY(node_attr_bool(c->node, "transpose_b", &transpose_b, status));
  DimHandle rows = a->dims[transpose_a ? 1 : 0], columns = b->dims[transpose_b ? 0 : 1], inner;
  TRY(dim_merge(c, a->dims[transpose_a ? 0 : 1], b->dims[transpose_b ? 1 : 0], &inner, status));
  return set_output(c, 0, shape_matrix(c, rows, columns), status);
}

typedef bool (*BatchFn)(InferenceContext *c, ShapeHandle a, ShapeHandle b, ShapeHandle *out, Status *status);

static bool batch_matmul(InferenceContext *c, BatchFn join, Status *status) {
  ShapeHandle a, b, a_batch, b_batch, batch, matrix, output;
  bool adj_x, adj_y;
  DimHandle inner;
  TRY(shape_with_rank_at_least(c, shape_input(c, 0), 2, &a, status));
  TRY(shape_with_rank_at_least(c, shape_input(c, 1), 2, &b, status));
  TRY(node_attr_bool(c->node, "adj_x", &adj_x, status));
  TRY(node_attr_bool(c->node, "adj_y", &adj_y, status));
  DimHandle rows = shape_dim_of(c, a, adj_x ? -1 : -2), columns = shape_dim_of(c, b, adj_y ? -2 : -1);
  TRY(dim_merge(c, shape_dim_of(c, a, adj_x ? -2 : -1), shape_dim_of(c, b, adj_y ? -1 : -2), &inner, status));
  TRY(shape_subshape(c, a, 0, -2, 1, &a_batch, status));
  TRY(shape_subshape(c, b, 0, -2, 1, &b_batch, status));
  TRY(join(c, a_batch, b_batch, &batch, status));
  TRY(shape_ok(shape_matrix(c, rows, columns), &matrix, status));
  TRY(shape_concatenate(c, batch, matrix, &output, status));
  shape_set_output(c, 0, output);
  return true;
}

bool shape_batch_matmul(InferenceContext *c, Status *status) { return batch_matmul(c, shape_merge, status); }

bool shape_batch_matmul_v2(InferenceContext *c, Status *status) {
  return batch_matmul(c, shape_broadcast, status);
}

/* --- biases --- */

/* Whether attr "data_format", which older ops lack, asks for channels first. */
static bool channels_first(const InferenceContext *c) {
  const AttrValue *value = node_def_attr(c->node, "data_format");
  return value && value->value_case == (int)ATTR_STRING && value->s.len == 4 &&
         memcmp(value->s.data, "NCHW", 4) == 0;
}

bool shape_bias_add(InferenceContext *c, Status *status) {
  bool first = channels_first(c);
  ShapeHandle input, bias;
  TRY(shape_with_rank_at_least(c, shape_input(c, 0), first ? 3 : 2, &input, status));
  TRY(shape_with_rank(c, shape_input(c, 1), 1, &bias, status));
  if (!shape_rank_known(input)) return set_output(c, 0, shape_unknown(c), status);
  int32_t channel = first ? 1 : shape_rank(input) - 1;
  DimHandle merged;
  if (first) {
    TRY(dim_merge(c, input->dims[channel], bias->dims[0], &merged, status));
  } else {
    TRY(dim_merge(c, bias->dims[0], input->dims[channel], &merged, status));
  }
  ShapeHandle output;
  TRY(shape_replace_dim(c, input, channel, merged, &output, status));
  shape_set_output(c, 0, output);
  return true;
}

bool shape_bias_add_grad(InferenceContext *c, Status *status) {
  bool first = channels_first(c);
  ShapeHandle input;
  TRY(shape_with_rank_at_least(c, shape_input(c, 0), first ? 3 : 2, &input, status));
  return set_output(c, 0, shape_vector(c, shape_dim_of(c, input, first ? 1 : -1)), status);
}

/* --- broadcasting --- */

/* A dimension of a broadcast to which both shapes contribute. If one size is unknown and the other is above
 * 1, the result is the other; if the other is 1, the result is the unknown size itself. */
static bool broadcast_dim(InferenceContext *c, DimHandle x, DimHandle y, DimHandle *out, Status *status) {
  if (dim_known(x) && dim_known(y)) {
    if (x->value == 1) return dim_ok(y, out, status);
    if (y->value == 1) return dim_ok(x, out, status);
    return dim_merge(c, x, y, out, status);
  }
  if (x == y || x->value > 1 || y->value == 1) return dim_ok(x, out, status);
  if (y->value > 1 || x->value == 1) return dim_ok(y, out, status);
  return dim_ok(dim_unknown(c), out, status);
}

bool shape_broadcast(InferenceContext *c, ShapeHandle a, ShapeHandle b, ShapeHandle *out, Status *status) {
  *out = NULL;
  if (!a || !b) return shape_oom(status);
  if (!shape_rank_known(a) || !shape_rank_known(b)) return shape_ok(shape_unknown(c), out, status);
  int32_t rank = a->rank > b->rank ? a->rank : b->rank;
  int32_t skip_a = rank - a->rank,
          skip_b = rank - b->rank; /* leading dimensions that the shorter shape lacks */
  DimHandle *dims = shape_new_dims(c, rank);
  if (!dims) return shape_oom(status);
  for (int32_t i = 0; i < rank; i++) {
    if (i < skip_a) {
      dims[i] = b->dims[i];
    } else if (i < skip_b) {
      dims[i] = a->dims[i];
    } else {
      TRY(broadcast_dim(c, a->dims[i - skip_a], b->dims[i - skip_b], &dims[i], status));
    }
  }
  return shape_ok(shape_around(c, dims, rank), out, status);
}

bool shape_broadcast_binary(InferenceContext *c, Status *status) {
  ShapeHandle output;
  TRY(shape_broadcast(c, shape_input(c, 0), shape_input(c, 1), &output, status));
  shape_set_output(c, 0, output);
  return true;
}

/* --- reductions --- */

/* Graphs before version 21 may have axes of any rank. */
enum { FIRST_VERSION_WITH_AXES_AS_VECTOR = 21 };

bool shape_reduction(InferenceContext *c, Status *status) {
  ShapeHandle input = shape_input(c, 0), axes_shape;
  if (c->graph_def_version >= FIRST_VERSION_WITH_AXES_AS_VECTOR) {
    TRY(shape_with_rank_at_most(c, shape_input(c, 1), 1, &axes_shape, status));
  }
  bool keep_dims;
  TRY(node_attr_bool(c->node, "keep_dims", &keep_dims, status));
  const Tensor *axes = shape_input_tensor(c, 1);
  if (!axes || !shape_rank_known(input)) {
    return set_output(c, 0, keep_dims ? shape_unknown_of_rank(c, input->rank) : shape_unknown(c), status);
  }
  if (axes->dtype != DT_INT32 && axes->dtype != DT_INT64) {
    return status_invalid(status, "reduction_indices can only be int32 or int64");
  }
  bool *reduced = arena_calloc(c->arena, (int64_t)input->rank + 1, sizeof *reduced);
  DimHandle *dims = shape_new_dims(c, input->rank);
  if (!reduced || !dims) return shape_oom(status);
  int64_t num_axes = tensor_num_elements(axes);
  for (int64_t k = 0; k < num_axes; k++) {
    int64_t axis = tensor_int_at(axes, k), index = shape_dim_index(input, axis);
    if (index < 0) {
      return status_invalid(status, "Invalid reduction dimension %lld for input with %d dimensions.",
                            (long long)axis, (int)input->rank);
    }
    reduced[index] = true;
  }
  int32_t count = 0;
  for (int32_t i = 0; i < input->rank; i++) {
    if (!reduced[i]) {
      dims[count++] = input->dims[i];
    } else if (keep_dims) {
      TRY(dim_ok(dim_make(c, 1), &dims[count++], status));
    }
  }
  return set_output(c, 0, shape_around(c, dims, count), status);
}

/* --- concatenation --- */

/* For an unknown axis: only the output's rank can be known, from an input's. */
static bool concat_along_unknown(InferenceContext *c, int count, Status *status) {
  int32_t rank = UNKNOWN_RANK;
  for (int i = 0; i < count; i++) {
    ShapeHandle checked;
    if (rank == UNKNOWN_RANK) rank = shape_rank(shape_input(c, i));
    if (rank != UNKNOWN_RANK) TRY(shape_with_rank(c, shape_input(c, i), rank, &checked, status));
  }
  if (rank == 0) return status_invalid(status, "Can't concatenate scalars (use tf.stack instead)");
  return set_output(c, 0, shape_unknown_of_rank(c, rank), status);
}

/* Concatenates the dimensions before the axis, along it, and after it. */
static bool cut_at(InferenceContext *c, ShapeHandle input, int64_t axis, ShapeHandle *before,
                   DimHandle *along, ShapeHandle *after, Status *status) {
  TRY(shape_subshape(c, input, 0, axis, 1, before, status));
  TRY(dim_ok(shape_dim_of(c, input, axis), along, status));
  if (axis == -1) return shape_ok(shape_scalar(c), after, status);
  return shape_subshape(c, input, axis + 1, INT64_MAX, 1, after, status);
}

bool shape_concat_v2(InferenceContext *c, Status *status) {
  int count = c->num_inputs - 1;
  if (count < 1) return status_invalid(status, "Nothing to concatenate: there is no value beside the axis");
  ShapeHandle axis_shape;
  TRY(shape_with_rank(c, shape_input(c, count), 0, &axis_shape, status));
  const Tensor *axis_value = shape_input_tensor(c, count);
  if (!axis_value) return concat_along_unknown(c, count, status);
  if (axis_value->dtype != DT_INT32 && axis_value->dtype != DT_INT64) {
    return status_invalid(status, "axis must be int32 or int64");
  }
  if (tensor_num_elements(axis_value) < 1) return status_invalid(status, "axis must be a scalar");
  int64_t axis = tensor_int_at(axis_value, 0);
  int64_t min_rank =
      axis < 0 ? (axis == INT64_MIN ? INT64_MAX : -axis) : (axis == INT64_MAX ? axis : axis + 1);

  ShapeHandle before = NULL, after = NULL;
  DimHandle along = NULL;
  for (int i = count - 1; i >= 0; i--) { /* from the last, so that identities of sizes come from the first
                                          * input */
    ShapeHandle input, input_before, input_after;
    DimHandle input_along;
    TRY(shape_with_rank_at_least(c, shape_input(c, i), min_rank, &input, status));
    TRY(cut_at(c, input, axis, &input_before, &input_along, &input_after, status));
    if (i == count - 1) {
      before = input_before;
      along = input_along;
      after = input_after;
    } else {
      TRY(shape_merge(c, input_before, before, &before, status));
      TRY(dim_add(c, along, input_along, &along, status));
      TRY(shape_merge(c, input_after, after, &after, status));
    }
  }
  ShapeHandle joined;
  TRY(shape_concatenate(c, before, shape_vector(c, along), &joined, status));
  TRY(shape_concatenate(c, joined, after, &joined, status));
  shape_set_output(c, 0, joined);
  return true;
}

/* The first input is ConcatV2's last. */
bool shape_concat(InferenceContext *c, Status *status) {
  int begin, end;
  TRY(shape_input_range(c, "values", &begin, &end, status));
  ShapeHandle *inputs = arena_alloc(c->arena, end * (int64_t)sizeof *inputs);
  const Tensor **tensors = arena_calloc(c->arena, end, sizeof *tensors);
  bool *requested = arena_calloc(c->arena, end, sizeof *requested);
  if (!inputs || !tensors || !requested) return status_oom(status, "shape inference");
  for (int i = 0; i < end; i++) {
    inputs[i] = c->inputs[(i + 1) % end];
    if (c->input_tensors) tensors[i] = c->input_tensors[(i + 1) % end];
  }
  InferenceContext rotated = *c;
  rotated.num_inputs = end;
  rotated.inputs = inputs;
  rotated.input_tensors = tensors;
  rotated.requested_tensor = requested;
  bool ok = shape_concat_v2(&rotated, status);
  if (c->requested_tensor && requested[end - 1]) c->requested_tensor[0] = true;
  return ok;
}

bool shape_listed(InferenceContext *c, Status *status) {
  const AttrListValue *shapes;
  TRY(node_attr_list(c->node, "output_shapes", ATTR_SHAPE, &shapes, status));
  if ((int)shapes->n_shape != c->num_outputs) {
    return status_invalid(status, "`output_shapes` must be the same length as `output_types` (%d vs. %d)",
                          (int)shapes->n_shape, c->num_outputs);
  }
  for (int i = 0; i < c->num_outputs; i++) {
    ShapeHandle shape;
    TRY(shape_from_shape_proto(c, shapes->shape[i], &shape, status));
    shape_set_output(c, i, shape);
  }
  return true;
}
