/* GatherNd: the slices that indices of several axes name. */
#include "op/op_registry.h"
#include "ops/array_box.h"
#include "ops/nd_index.h"

static bool gather_nd_kernel(KernelContext *context, Status *status) {
  const Tensor *params = context->inputs[0], *indices = context->inputs[1];
  int64_t dims[SHAPE_MAX_RANK], *rows;
  NdIndex index;
  char text[SHAPE_TEXT_CAPACITY];
  int last = indices->shape.rank - 1, rank = params->shape.rank;
  if (rank < 1) return status_invalid(status, "params must be at least a vector");
  if (last < 0) return status_invalid(status, "indices must be at least a vector");
  if (shape_dim(&indices->shape, last) > rank) {
    return status_invalid(status, "index innermost dimension length must be <= params rank; saw: %lld vs. %d",
                          (long long)shape_dim(&indices->shape, last), rank);
  }
  nd_index(indices, &params->shape, &index);
  int out_rank = last;
  if (last + rank - index.depth > SHAPE_MAX_RANK)
    return status_invalid(status, "Too many dimensions in tensor");
  for (int d = 0; d < last; d++) dims[d] = shape_dim(&indices->shape, d);
  for (int d = index.depth; d < rank; d++) dims[out_rank++] = shape_dim(&params->shape, d);
  Tensor *out;
  TRY(kernel_allocate_output_dims(context, 0, out_rank, dims, &out, status));
  if (tensor_num_elements(out) == 0) return true;
  if (tensor_num_elements(params) == 0) {
    return status_invalid(status, "Requested more than 0 entries, but params is empty.  Params shape: %s",
                          shape_text(&params->shape, text));
  }
  Buffer *buffer = array_row_numbers(context, index.count, &rows, status);
  if (buffer == NULL) return false;
  int64_t bad = nd_index_rows(&index, indices, &params->shape, rows);
  bool ok = bad < 0 ? array_gather_rows(params, rows, index.count, index.length, out, context->parallel, status)
                    : nd_index_outside(&index, indices, &params->shape, bad, "param shape", "", status);
  buffer_unref(buffer);
  return ok;
}

static bool gather_nd_shape(InferenceContext *c, Status *status) {
  ShapeHandle params = shape_input(c, 0), indices, outer, inner, output;
  TRY(shape_with_rank_at_least(c, shape_input(c, 1), 1, &indices, status));
  DimHandle depth = shape_dim_of(c, indices, -1);
  if (!shape_rank_known(params) || !dim_known(depth)) return shape_unknown_outputs(c, status);
  if (dim_value(depth) > shape_rank(params)) {
    return status_invalid(
        status, "indices.shape[-1] must be <= params.rank, but saw indices shape and params shape of rank %d",
        shape_rank(params));
  }
  TRY(shape_subshape(c, indices, 0, -1, 1, &outer, status));
  TRY(shape_subshape(c, params, dim_value(depth), INT64_MAX, 1, &inner, status));
  TRY(shape_concatenate(c, outer, inner, &output, status));
  shape_set_output(c, 0, output);
  return true;
}

REGISTER_OP(GatherNd,
  .inputs = {"params: Tparams", "indices: Tindices"},
  .outputs = {"output: Tparams"},
  .attrs = {"Tparams: type", "Tindices: {int32, int64}"},
  .shape = gather_nd_shape,
  .gradient =
    "GatherNdGradient[Tparams:type, Tindices:{int32, int64}](params:Tparams, indices:Tindices, dy:Tparams)"
    " -> (dparams:Tparams, dindices:Tindices) {\n"
    "  none = ZerosLike[T=$Tindices](indices)\n"
    "  shape = Shape[T=$Tparams, out_type=$Tindices](params)\n"
    "  d = ScatterNd[T=$Tparams, Tindices=$Tindices](indices, dy, shape:output:0)\n"
    "  return dparams = d:output:0, dindices = none:y:0\n"
    "}\n",
  .kernels = {{DT_INVALID, gather_nd_kernel}})
