/* GatherNd: slices selected by indices into several axes. */
#include "op/op_registry.h"
#include "ops/support/array_box.h"
#include "op/node_def.h"
#include "ops/support/index_text.h"
#include "ops/array/nd_index.h"

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
  index.ignore_bad = ((const NdIndexState *)context->state)->ignore_bad;
  int out_rank = last;
  if (last + rank - index.depth > SHAPE_MAX_RANK)
    return status_invalid(status, "Too many dimensions in tensor");
  for (int d = 0; d < last; d++) dims[d] = shape_dim(&indices->shape, d);
  for (int d = index.depth; d < rank; d++) dims[out_rank++] = shape_dim(&params->shape, d);
  Tensor *out;
  TRY(kernel_allocate_output_dims(context, 0, out_rank, dims, &out, status));
  if (index.count == 0) return true;
  if (tensor_num_elements(params) == 0) {
    return status_invalid(status, "Requested more than 0 entries, but params is empty.  Params shape: %s",
                          shape_text(&params->shape, text));
  }
  Buffer *buffer = array_row_numbers(context, index.count, &rows, status);
  if (!buffer) return false;
  int64_t bad = nd_index_rows(&index, indices, &params->shape, rows);
  bool ok = bad < 0
                ? array_gather_rows(params, rows, index.count, index.length, out, context->parallel, status)
                : nd_index_outside(&index, indices, &params->shape, bad, "param shape", "", status);
  buffer_unref(buffer);
  return ok;
}

static bool gather_nd_shape(InferenceContext *c, Status *status) {
  ShapeHandle params = shape_input(c, 0), indices, outer, inner, output;
  TRY(shape_with_rank_at_least(c, shape_input(c, 1), 1, &indices, status));
  DimHandle depth;
  TRY(dim_ok(shape_dim_of(c, indices, -1), &depth, status));
  if (!shape_rank_known(params) || !dim_known(depth)) return shape_unknown_outputs(c, status);
  if (dim_value(depth) > shape_rank(params)) {
    return status_invalid(status,
                          "indices.shape[-1] must be <= params.rank, but saw indices shape and params shape "
                          "of rank %d",
                          shape_rank(params));
  }
  TRY(shape_subshape(c, indices, 0, -1, 1, &outer, status));
  TRY(shape_subshape(c, params, dim_value(depth), INT64_MAX, 1, &inner, status));
  TRY(shape_concatenate(c, outer, inner, &output, status));
  shape_set_output(c, 0, output);
  return true;
}

/* The gradient numbers the slices, because ScatterNd accepts neither a vector as a single index nor slices
 * without elements. Ignored indices have no number. */
static const char kSumOfSlices[] =
    "  index_shape = Shape[T=@, out_type=@](#)\n"
    "  none_before = Const[dtype=@, value=[0]]()\n"
    "  end = Const[dtype=int32, value=[0]]()\n"
    "  last = Const[dtype=int32, value=[-1]]()\n"
    "  step = Const[dtype=int32, value=[1]]()\n"
    "  depth = StridedSlice[T=@, Index=int32, end_mask=1]"
    "(index_shape:output:0, last:output:0, end:output:0, step:output:0)\n"
    "  outer = Slice[T=@, Index=@](shape:output:0, none_before:output:0, depth:output:0)\n"
    "  first = Const[dtype=int32, value=0]()\n"
    "  strides = Cumprod[T=@, Tidx=int32, exclusive=true, reverse=true](outer:output:0, first:output:0)\n"
    "  weighted = Mul[T=@](#, strides:out:0)\n"
    "  numbers = Sum[T=@, Tidx=int32](weighted:z:0, last:output:0)\n"
    "  count = Prod[T=@, Tidx=int32](outer:output:0, first:output:0)\n"
    "  slices = UnsortedSegmentSum[T=$Tparams, Tindices=@, Tnumsegments=@](dy, numbers:output:0, "
    "count:output:0)\n"
    "  d = Reshape[T=$Tparams, Tshape=@](slices:output:0, shape:output:0)\n";
static const char kScatteredSlices[] =
    "  d = ScatterNd[T=$Tparams, Tindices=@, bad_indices_policy=$bad_indices_policy](#, dy, "
    "shape:output:0)\n";

static bool gather_nd_gradient(const GradientRequest *request, StrBuf *text, Status *status) {
  Str policy;
  StrBuf marked = {0};
  TRY(node_attr_string(request->node, "bad_indices_policy", &policy, status));
  strbuf_printf(&marked,
                "GatherNdGradient[Tparams:type, Tindices:type, bad_indices_policy:string]"
                "(params:Tparams, indices:Tindices, dy:Tparams) -> (dparams:Tparams, dindices:Tindices) {\n"
                "  none = ZerosLike[T=$Tindices](indices)\n"
                "  shape = Shape[T=$Tparams, out_type=@](params)\n"
                "%s"
                "  return dparams = d:output:0, dindices = none:y:0\n"
                "}\n",
                str_equal_text(policy, "IGNORE") ? kScatteredSlices : kSumOfSlices);
  bool ok = strbuf_ok(&marked, status) && index_text(request, "indices", strbuf_text(&marked), text, status);
  strbuf_free(&marked);
  return ok;
}

const OpRegistration kOpGatherNd = {
    .name = "GatherNd",
    .inputs = {"params: Tparams", "indices: Tindices"},
    .outputs = {"output: Tparams"},
    .attrs = {"Tparams: type", "Tindices: {int16, int32, int64}", "bad_indices_policy: string = ''"},
    .shape = gather_nd_shape,
    .gradient_fn = gather_nd_gradient,
    .state_size = sizeof(NdIndexState),
    .construct = nd_index_construct,
    .kernels = {{DT_INVALID, gather_nd_kernel}},
};
