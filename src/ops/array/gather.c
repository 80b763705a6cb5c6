/* Gather, GatherV2 and ResourceGather: slices along an axis, selected by a tensor of indices; with batch
 * dimensions, each batch of indices selects from its own part. */
#include "op/node_def.h"
#include "op/op_registry.h"
#include "ops/support/array_box.h"
#include "ops/support/index_text.h"
#include "ops/support/variable_access.h"

/* The sizes of params [batches, outer, axis, inner] and of indices [batches, taken]. */
typedef struct GatherSizes {
  int64_t batches, outer, axis, inner, taken;
} GatherSizes;

static int64_t product(const Shape *shape, int begin, int end) {
  int64_t product = 1;
  for (int d = begin; d < end; d++) product *= shape_dim(shape, d);
  return product;
}

static bool check_indices(const Tensor *indices, int64_t limit, Status *status) {
  for (int64_t i = 0, count = tensor_num_elements(indices); i < count; i++) {
    int64_t index = indices->dtype == DT_INT32 ? tensor_i32(indices)[i] : tensor_int_at(indices, i);
    if (index < 0 || index >= limit) return array_refuse_index(indices, i, limit, status);
  }
  return true;
}

/* For every row of the output, the number of the row of params, [batches * outer * axis, inner], to copy. */
static void find_rows(const GatherSizes *sizes, const Tensor *indices, int64_t *rows) {
  for (int64_t b = 0; b < sizes->batches; b++) {
    for (int64_t o = 0; o < sizes->outer; o++) {
      int64_t base = (b * sizes->outer + o) * sizes->axis, at = b * sizes->taken;
      if (indices->dtype == DT_INT32) {
        for (int64_t i = 0; i < sizes->taken; i++) *rows++ = base + tensor_i32(indices)[at + i];
      } else {
        for (int64_t i = 0; i < sizes->taken; i++) *rows++ = base + tensor_int_at(indices, at + i);
      }
    }
  }
}

/* `axis` and `batch_dims` are valid, and the batches agree. */
static bool gather(KernelContext *context, const Tensor *params, const Tensor *indices, int axis,
                   int batch_dims, Status *status) {
  const Shape *p = &params->shape, *x = &indices->shape;
  int64_t dims[SHAPE_MAX_RANK], *rows;
  int rank = 0;
  if (p->rank - 1 + x->rank - batch_dims > SHAPE_MAX_RANK)
    return status_invalid(status, "Too many dimensions in tensor");
  for (int d = 0; d < axis; d++) dims[rank++] = shape_dim(p, d);
  for (int d = batch_dims; d < x->rank; d++) dims[rank++] = shape_dim(x, d);
  for (int d = axis + 1; d < p->rank; d++) dims[rank++] = shape_dim(p, d);
  TRY(check_indices(indices, shape_dim(p, axis), status));
  Tensor *out;
  TRY(kernel_allocate_output_dims(context, 0, rank, dims, &out, status));
  if (tensor_num_elements(out) == 0) return true;
  GatherSizes sizes = {product(p, 0, batch_dims), product(p, batch_dims, axis), shape_dim(p, axis),
                       product(p, axis + 1, p->rank), product(x, batch_dims, x->rank)};
  int64_t count = sizes.batches * sizes.outer * sizes.taken;
  Buffer *buffer = array_row_numbers(context, count, &rows, status);
  if (!buffer) return false;
  find_rows(&sizes, indices, rows);
  bool ok = array_gather_rows(params, rows, count, sizes.inner, out, context->parallel, status);
  buffer_unref(buffer);
  return ok;
}

static bool check_batches(const Shape *params, const Shape *indices, int axis, int64_t batch_dims,
                          int *batches, Status *status) {
  if (batch_dims < -indices->rank || batch_dims > indices->rank) {
    return status_invalid(status, "Expected batch_dims in the range [%d, %d], but got %lld", -indices->rank,
                          indices->rank, (long long)batch_dims);
  }
  *batches = (int)(batch_dims < 0 ? batch_dims + indices->rank : batch_dims);
  if (*batches >= params->rank) {
    return status_invalid(status, "batch_dims (%d) must be less than rank(params) (%d).", *batches,
                          params->rank);
  }
  if (axis < *batches) {
    return status_invalid(status, "batch_dims (%d) must be less than or equal to axis (%d).", *batches, axis);
  }
  for (int d = 0; d < *batches; d++) {
    if (shape_dim(params, d) == shape_dim(indices, d)) continue;
    return status_invalid(status, "params.shape[%d]: %lld should be equal to indices.shape[%d]: %lld", d,
                          (long long)shape_dim(params, d), d, (long long)shape_dim(indices, d));
  }
  return true;
}

typedef struct GatherState {
  int64_t batch_dims;
} GatherState;

static bool gather_construct(const KernelConstruction *construction, void *memory, Status *status) {
  return node_attr_int(construction->node, "batch_dims", &((GatherState *)memory)->batch_dims, status);
}

static bool gather_kernel(KernelContext *context, Status *status) {
  if (context->inputs[0]->shape.rank < 1)
    return status_invalid(status, "params must be at least 1 dimensional");
  return gather(context, context->inputs[0], context->inputs[1], 0, 0, status);
}

static bool gather_v2_kernel(KernelContext *context, Status *status) {
  const Tensor *params = context->inputs[0], *indices = context->inputs[1], *axes = context->inputs[2];
  int rank = params->shape.rank, batches = 0;
  if (rank < 1) return status_invalid(status, "params must be at least 1 dimensional");
  if (!tensor_is_scalar(axes)) return status_invalid(status, "axis must be scalar");
  int64_t given = tensor_int_at(axes, 0), axis = given < 0 ? given + rank : given;
  if (axis < 0 || axis >= rank) {
    return status_invalid(status, "Expected axis in the range [%d, %d), but got %lld", -rank, rank,
                          (long long)given);
  }
  TRY(check_batches(&params->shape, &indices->shape, (int)axis,
                    ((const GatherState *)context->state)->batch_dims, &batches, status));
  return gather(context, params, indices, (int)axis, batches, status);
}

static bool resource_gather_kernel(KernelContext *context, Status *status) {
  Variable *variable;
  const Tensor *indices = context->inputs[1];
  int64_t batch_dims = ((const GatherState *)context->state)->batch_dims;
  int batches = 0;
  TRY(initialized_variable(context, 0, context->output_types[0], &variable, status));
  const Shape *shape = &variable->value.shape;
  if (shape->rank < 1) return status_invalid(status, "params must be at least 1 dimensional");
  TRY(check_batches(shape, &indices->shape, SHAPE_MAX_RANK, batch_dims, &batches, status));
  return gather(context, &variable->value, indices, batches, batches, status);
}

/* --- shapes --- */

static bool gather_shape(InferenceContext *c, Status *status) {
  ShapeHandle params, rest, output;
  TRY(shape_with_rank_at_least(c, shape_input(c, 0), 1, &params, status));
  TRY(shape_subshape(c, params, 1, INT64_MAX, 1, &rest, status));
  TRY(shape_concatenate(c, shape_input(c, 1), rest, &output, status));
  shape_set_output(c, 0, output);
  return true;
}

static bool concat_gathered(InferenceContext *c, ShapeHandle params, ShapeHandle indices, int64_t axis,
                            int64_t batch_dims, Status *status) {
  ShapeHandle outer, middle, inner, output;
  TRY(shape_subshape(c, params, 0, axis, 1, &outer, status));
  TRY(shape_subshape(c, indices, batch_dims, INT64_MAX, 1, &middle, status));
  TRY(shape_subshape(c, params, axis + 1, INT64_MAX, 1, &inner, status));
  TRY(shape_concatenate(c, outer, middle, &output, status));
  TRY(shape_concatenate(c, output, inner, &output, status));
  shape_set_output(c, 0, output);
  return true;
}

/* 64-bit numbers of a node or a tensor; values that are too large stay invalid. */
static bool rank_above(InferenceContext *c, int64_t dim, ShapeHandle *params, Status *status) {
  uint64_t least = dim < 0 ? -(uint64_t)dim : (uint64_t)dim + 1;
  int64_t most = (int64_t)INT32_MAX + 1;
  return shape_with_rank_at_least(c, *params, least < (uint64_t)most ? (int64_t)least : most, params, status);
}

static bool gather_v2_shape(InferenceContext *c, Status *status) {
  ShapeHandle params, indices = shape_input(c, 1), checked, output;
  int64_t batch_dims;
  TRY(shape_with_rank_at_least(c, shape_input(c, 0), 1, &params, status));
  TRY(shape_with_rank(c, shape_input(c, 2), 0, &checked, status));
  TRY(node_attr_int(c->node, "batch_dims", &batch_dims, status));
  if (shape_rank_known(indices)) {
    int rank = shape_rank(indices);
    if (batch_dims < -rank || batch_dims > rank) {
      return status_invalid(status, "Expected batch_dims in the range [%d, %d], but got %lld", -rank, rank,
                            (long long)batch_dims);
    }
    if (batch_dims < 0) batch_dims += rank;
  }
  if (batch_dims >= 0) TRY(rank_above(c, batch_dims, &params, status));
  const Tensor *axes = shape_input_tensor(c, 2);
  if (axes) {
    int64_t axis = tensor_int_at(axes, 0);
    TRY(rank_above(c, axis, &params, status));
    if (shape_rank_known(params) && axis < 0) axis += shape_rank(params);
    if (batch_dims >= 0 && axis >= 0 && axis < batch_dims) {
      return status_invalid(status, "batch_dims (%lld) must be less than or equal to axis (%lld).",
                            (long long)batch_dims, (long long)axis);
    }
    if (axis >= 0 && batch_dims >= 0 && shape_rank_known(params) && shape_rank_known(indices)) {
      return concat_gathered(c, params, indices, axis, batch_dims, status);
    }
  }
  if (!shape_rank_known(params) || !shape_rank_known(indices)) return shape_unknown_outputs(c, status);
  TRY(shape_ok(shape_unknown_of_rank(c, (int64_t)shape_rank(params) - 1 + shape_rank(indices) - batch_dims),
               &output, status));
  shape_set_output(c, 0, output);
  return true;
}

static bool resource_gather_shape(InferenceContext *c, Status *status) {
  ShapeHandle params, indices = shape_input(c, 1);
  int64_t batch_dims;
  TRY(node_attr_int(c->node, "batch_dims", &batch_dims, status));
  if (batch_dims < 0) return status_invalid(status, "batch_dims is negative (%lld)", (long long)batch_dims);
  TRY(variable_shape_of_dtype(c, &params, status));
  TRY(rank_above(c, batch_dims, &params, status));
  TRY(shape_with_rank_at_least(c, indices, batch_dims, &indices, status));
  if (!shape_rank_known(params) || !shape_rank_known(indices)) return shape_unknown_outputs(c, status);
  return concat_gathered(c, params, indices, batch_dims, batch_dims, status);
}

/* --- gradients --- */

/* With params as [batches, outer, axis, inner] and indices as [batches, taken]: dy is transposed to [batches,
 * taken, outer, inner], summed per batch and index, and transposed back. Without a node `ax`, a vector of one
 * element, the axis is the first after the batches. Sizes have the indices' type, which is marked
 * (ops/support/index_text.h). */
static void write_scatter(StrBuf *text, const char *dtype, int64_t batch_dims, bool has_axis) {
  strbuf_printf(text,
                "  shape = Shape[T=%s, out_type=@](%s)\n"
                "  ishape = Shape[T=@, out_type=@](#)\n"
                "  zeros = Const[dtype=@, value=[0]]()\n"
                "  ones = Const[dtype=@, value=[1]]()\n"
                "  rest = Const[dtype=@, value=[-1]]()\n"
                "  given = Const[dtype=@, value=[%lld]]()\n",
                dtype, has_axis ? "params" : "value:value:0", (long long)batch_dims);
  strbuf_printf(text,
                "  irank = Size[T=@, out_type=@](ishape:output:0)\n"
                "  batch = Add[T=@](given:output:0, %s:output:0)\n",
                batch_dims < 0 ? "irank" : "zeros");
  if (!has_axis) strbuf_append(text, "  ax = Identity[T=@](batch:z:0)\n");
  strbuf_append(text,
                "  outer_rank = Sub[T=@](ax:output:0, batch:z:0)\n"
                "  behind = Add[T=@](ax:output:0, ones:output:0)\n"
                "  batch_dims = Slice[T=@, Index=@](shape:output:0, zeros:output:0, batch:z:0)\n"
                "  outer_dims = Slice[T=@, Index=@](shape:output:0, batch:z:0, outer_rank:z:0)\n"
                "  axis_dim = Slice[T=@, Index=@](shape:output:0, ax:output:0, ones:output:0)\n"
                "  inner_dims = Slice[T=@, Index=@](shape:output:0, behind:z:0, rest:output:0)\n"
                "  taken_dims = Slice[T=@, Index=@](ishape:output:0, batch:z:0, rest:output:0)\n"
                "  first = Const[dtype=int32, value=0]()\n"
                "  b = Prod[T=@, Tidx=int32](batch_dims:output:0, first:output:0)\n"
                "  o = Prod[T=@, Tidx=int32](outer_dims:output:0, first:output:0)\n"
                "  a = Prod[T=@, Tidx=int32](axis_dim:output:0, first:output:0)\n"
                "  i = Prod[T=@, Tidx=int32](inner_dims:output:0, first:output:0)\n"
                "  r = Prod[T=@, Tidx=int32](taken_dims:output:0, first:output:0)\n"
                "  start = Const[dtype=@, value=0]()\n"
                "  one = Const[dtype=@, value=1]()\n"
                "  swap = Const[dtype=int32, value=[0, 2, 1, 3]]()\n"
                "  br = Pack[N=2, T=@](b:output:0, r:output:0)\n"
                "  b1 = Pack[N=2, T=@](b:output:0, one:output:0)\n"
                "  numbers = Range[Tidx=@](start:output:0, b:output:0, one:output:0)\n"
                "  column = Reshape[T=@, Tshape=@](numbers:output:0, b1:output:0)\n"
                "  number = BroadcastTo[T=@, Tidx=@](column:output:0, br:output:0)\n"
                "  flat = Reshape[T=@, Tshape=@](#, br:output:0)\n"
                "  before = Mul[T=@](number:output:0, a:output:0)\n"
                "  places = Add[T=@](before:z:0, flat:output:0)\n"
                "  all = Mul[T=@](b:output:0, a:output:0)\n"
                "  apart = Pack[N=4, T=@](b:output:0, o:output:0, r:output:0, i:output:0)\n"
                "  sizes = Pack[N=4, T=@](b:output:0, a:output:0, o:output:0, i:output:0)\n");
  strbuf_printf(text,
                "  dy4 = Reshape[T=%s, Tshape=@](dy, apart:output:0)\n"
                "  rows = Transpose[T=%s, Tperm=int32](dy4:output:0, swap:output:0)\n"
                "  sums = UnsortedSegmentSum[T=%s, Tindices=@, Tnumsegments=@](rows:y:0, places:z:0, "
                "all:z:0)\n"
                "  sum = Reshape[T=%s, Tshape=@](sums:output:0, sizes:output:0)\n"
                "  back = Transpose[T=%s, Tperm=int32](sum:output:0, swap:output:0)\n"
                "  d = Reshape[T=%s, Tshape=@](back:y:0, shape:output:0)\n"
                "  none = ZerosLike[T=$Tindices](indices)\n",
                dtype, dtype, dtype, dtype, dtype, dtype);
}

static bool finish_text(const GradientRequest *request, StrBuf *marked, StrBuf *text, Status *status) {
  bool ok = strbuf_ok(marked, status) && index_text(request, "indices", strbuf_text(marked), text, status);
  strbuf_free(marked);
  return ok;
}

static bool gather_v2_gradient(const GradientRequest *request, StrBuf *text, Status *status) {
  int64_t batch_dims;
  TRY(node_attr_int(request->node, "batch_dims", &batch_dims, status));
  StrBuf marked = {0};
  strbuf_append(&marked,
                "GatherV2Gradient[Tparams:type, Tindices:type, Taxis:{int32, int64}]"
                "(params:Tparams, indices:Tindices, axis:Taxis, dy:Tparams)"
                " -> (dparams:Tparams, dindices:Tindices, daxis:Taxis) {\n"
                "  no_axis = ZerosLike[T=$Taxis](axis)\n"
                "  cast_axis = Cast[SrcT=$Taxis, DstT=@](axis)\n"
                "  vector = Const[dtype=int32, value=[1]]()\n"
                "  axis1 = Reshape[T=@, Tshape=int32](cast_axis:y:0, vector:output:0)\n"
                "  rank = Rank[T=$Tparams](params)\n"
                "  cast_rank = Cast[SrcT=int32, DstT=@](rank:output:0)\n"
                "  from_end = Add[T=@](axis1:output:0, cast_rank:y:0)\n"
                "  zero_axis = ZerosLike[T=@](axis1:output:0)\n"
                "  negative = Less[T=@](axis1:output:0, zero_axis:y:0)\n"
                "  ax = Select[T=@](negative:z:0, from_end:z:0, axis1:output:0)\n");
  write_scatter(&marked, "$Tparams", batch_dims, true);
  strbuf_append(&marked, "  return dparams = d:output:0, dindices = none:y:0, daxis = no_axis:y:0\n}\n");
  return finish_text(request, &marked, text, status);
}

static bool resource_gather_gradient(const GradientRequest *request, StrBuf *text, Status *status) {
  int64_t batch_dims;
  TRY(node_attr_int(request->node, "batch_dims", &batch_dims, status));
  StrBuf marked = {0};
  strbuf_append(&marked,
                "ResourceGatherGradient[dtype:type, Tindices:{int32, int64}](resource:resource, "
                "indices:Tindices, dy:dtype)"
                " -> (dresource:dtype, dindices:Tindices) {\n"
                "  value = ReadVariableOp[dtype=$dtype](resource)\n");
  write_scatter(&marked, "$dtype", batch_dims, false);
  strbuf_append(&marked, "  return dresource = d:output:0, dindices = none:y:0\n}\n");
  return finish_text(request, &marked, text, status);
}

const OpRegistration kOpGather = {
    .name = "Gather",
    .inputs = {"params: Tparams", "indices: Tindices"},
    .outputs = {"output: Tparams"},
    .attrs = {"validate_indices: bool = true", "Tparams: type", "Tindices: {int32, int64}"},
    .shape = gather_shape,
    .gradient =
        "GatherGradient[Tparams:type, Tindices:{int32, int64}](params:Tparams, indices:Tindices, dy:Tparams)"
        " -> (dparams:Tparams, dindices:Tindices) {\n"
        "  none = ZerosLike[T=$Tindices](indices)\n"
        "  shape = Shape[T=$Tparams, out_type=$Tindices](params)\n"
        "  begin = Const[dtype=int32, value=[0]]()\n"
        "  one = Const[dtype=int32, value=[1]]()\n"
        "  rows = StridedSlice[T=$Tindices, Index=int32, shrink_axis_mask=1](shape:output:0, begin:output:0, "
        "one:output:0, one:output:0)\n"
        "  d = UnsortedSegmentSum[T=$Tparams, Tindices=$Tindices, Tnumsegments=$Tindices](dy, indices, "
        "rows:output:0)\n"
        "  return dparams = d:output:0, dindices = none:y:0\n"
        "}\n",
    .kernels = {{DT_INVALID, gather_kernel}},
};

const OpRegistration kOpGatherV2 = {
    .name = "GatherV2",
    .inputs = {"params: Tparams", "indices: Tindices", "axis: Taxis"},
    .outputs = {"output: Tparams"},
    .attrs = {"batch_dims: int = 0", "Tparams: type", "Tindices: {int16, int32, int64}",
              "Taxis: {int32, int64}"},
    .shape = gather_v2_shape,
    .gradient_fn = gather_v2_gradient,
    .state_size = sizeof(GatherState),
    .construct = gather_construct,
    .kernels = {{DT_INVALID, gather_v2_kernel}},
};

const OpRegistration kOpResourceGather = {
    .name = "ResourceGather",
    .inputs = {"resource: resource", "indices: Tindices"},
    .outputs = {"output: dtype"},
    .attrs = {"batch_dims: int = 0", "validate_indices: bool = true", "dtype: type",
              "Tindices: {int32, int64}"},
    .is_stateful = true,
    .shape = resource_gather_shape,
    .gradient_fn = resource_gather_gradient,
    .state_size = sizeof(GatherState),
    .construct = gather_construct,
    .kernels = {{DT_INVALID, resource_gather_kernel}},
};
