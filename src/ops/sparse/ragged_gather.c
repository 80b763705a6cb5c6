/* RaggedGather: rows of a ragged tensor, chosen by indices of any shape. */
#include "base/alloc.h"
#include "op/node_def.h"
#include "op/op_registry.h"
#include "ops/support/array_box.h"
#include "ops/sparse/numbered_text.h"
#include "ops/sparse/ragged_splits.h"

/* Input `levels` are the values, the one after it are the indices. */
typedef struct Gathering {
  int levels, added; /* splits of the params; dimensions of the indices, less one */
  const Tensor *values, *indices;
} Gathering;

static bool check_splits(const Tensor *splits, int64_t below, Status *status) {
  int64_t count = tensor_num_elements(splits);
  if (!tensor_is_vector(splits)) return status_invalid(status, "Ragged splits must have rank 1");
  if (count == 0) return status_invalid(status, "Ragged splits may not be empty");
  if (tensor_int_at(splits, 0) < 0) return status_invalid(status, "Ragged splits must be non-negative");
  if (tensor_int_at(splits, count - 1) > below)
    return status_invalid(status, "Ragged splits must not point past values");
  for (int64_t i = 1; i < count; i++) {
    if (tensor_int_at(splits, i - 1) > tensor_int_at(splits, i))
      return status_invalid(status, "Ragged splits must be sorted");
  }
  return true;
}

static bool check_gather(KernelContext *context, const Gathering *g, Status *status) {
  const Tensor *first = context->inputs[0];
  int64_t rows = first->shape.rank > 0 ? shape_dim(&first->shape, 0) - 1 : -1;
  for (int64_t i = 0; i < tensor_num_elements(g->indices); i++) {
    int64_t index = tensor_int_at(g->indices, i);
    if (index < 0 || index >= rows) return array_refuse_index(g->indices, i, rows, status);
  }
  if (g->values->shape.rank < 1) return status_invalid(status, "params.rank must be nonzero");
  if (g->levels + g->added != context->num_outputs - 1)
    return status_invalid(status, "OUTPUT_RAGGED_RANK must be %d for indices of rank %d, not %d",
                          g->levels + g->added, g->indices->shape.rank, context->num_outputs - 1);
  for (int level = 0; level < g->levels; level++) {
    int64_t below = level + 1 < g->levels ? tensor_num_elements(context->inputs[level + 1]) - 1
                                          : shape_dim(&g->values->shape, 0);
    TRY(check_splits(context->inputs[level], below, status));
  }
  return true;
}

/* The splits of the indices' own dimensions: their rows are equally long. */
static bool give_outer_splits(KernelContext *context, const Gathering *g, Status *status) {
  int64_t rows = 1;
  for (int d = 0; d < g->added; d++) {
    Tensor *splits;
    int64_t length = shape_dim(&g->indices->shape, d + 1);
    rows *= shape_dim(&g->indices->shape, d);
    TRY(kernel_allocate_output_dims(context, d, 1, (int64_t[]){rows + 1}, &splits, status));
    for (int64_t i = 0; i <= rows; i++) set_split(splits, i, i * length);
  }
  return true;
}

/* The range of items of `level` that row `row` of the params has: [*begin, *end). */
static void find_range(KernelContext *context, int level, int64_t row, int64_t *begin, int64_t *end) {
  *begin = row;
  *end = row + 1;
  for (int k = 0; k < level; k++) {
    *begin = tensor_int_at(context->inputs[k], *begin);
    *end = tensor_int_at(context->inputs[k], *end);
  }
}

static int64_t count_items(KernelContext *context, const Gathering *g, int level) {
  int64_t total = 0;
  for (int64_t i = 0; i < tensor_num_elements(g->indices); i++) {
    int64_t begin, end;
    find_range(context, level, tensor_int_at(g->indices, i), &begin, &end);
    total += end - begin;
  }
  return total;
}

/* With scalar indices the outermost splits are not an output. */
static bool give_inner_splits(KernelContext *context, const Gathering *g, int level, Status *status) {
  const Tensor *from = context->inputs[level];
  int64_t at = 0, total = 0;
  Tensor *splits;
  if (level + g->added < 0) return true;
  TRY(kernel_allocate_output_dims(context, level + g->added, 1,
                                  (int64_t[]){count_items(context, g, level) + 1}, &splits, status));
  set_split(splits, at++, 0);
  for (int64_t i = 0; i < tensor_num_elements(g->indices); i++) {
    int64_t begin, end;
    find_range(context, level, tensor_int_at(g->indices, i), &begin, &end);
    for (int64_t k = begin; k < end; k++) {
      total += tensor_int_at(from, k + 1) - tensor_int_at(from, k);
      set_split(splits, at++, total);
    }
  }
  return true;
}

static bool give_values(KernelContext *context, const Gathering *g, Status *status) {
  int64_t dims[SHAPE_MAX_RANK], length = 1, at = 0, *rows;
  int rank = g->values->shape.rank;
  Tensor *out;
  dims[0] = count_items(context, g, g->levels);
  for (int d = 1; d < rank; d++) length *= dims[d] = shape_dim(&g->values->shape, d);
  TRY(kernel_allocate_output_dims(context, context->num_outputs - 1, rank, dims, &out, status));
  Buffer *scratch = array_row_numbers(context, dims[0], &rows, status);
  if (!scratch) return false;
  for (int64_t i = 0; i < tensor_num_elements(g->indices); i++) {
    int64_t begin, end;
    find_range(context, g->levels, tensor_int_at(g->indices, i), &begin, &end);
    while (begin < end) rows[at++] = begin++;
  }
  bool ok = array_gather_rows(g->values, rows, dims[0], length, out, context->parallel, status);
  buffer_unref(scratch);
  return ok;
}

static bool ragged_gather(KernelContext *context, Status *status) {
  int levels = context->num_inputs - 2;
  Gathering g = {.levels = levels, .values = context->inputs[levels], .indices = context->inputs[levels + 1]};
  g.added = g.indices->shape.rank - 1;
  TRY(check_gather(context, &g, status));
  TRY(give_outer_splits(context, &g, status));
  for (int level = 0; level < levels; level++) TRY(give_inner_splits(context, &g, level, status));
  return give_values(context, &g, status);
}

static bool gather_shape(InferenceContext *c, Status *status) {
  int levels = c->num_inputs - 2;
  ShapeHandle indices = shape_input(c, levels + 1), values, out, inner;
  TRY(shape_with_rank_at_least(c, shape_input(c, levels), 1, &values, status));
  if (shape_rank_known(indices) && shape_rank(indices) - 1 + levels != c->num_outputs - 1)
    return status_invalid(status, "Shape must be rank %d but is rank %d", c->num_outputs - levels,
                          shape_rank(indices));
  for (int i = 0; i < levels; i++) {
    ShapeHandle splits;
    TRY(shape_with_rank(c, shape_input(c, i), 1, &splits, status));
  }
  for (int i = 0; i + 1 < c->num_outputs; i++) {
    TRY(shape_ok(shape_unknown_of_rank(c, 1), &out, status));
    shape_set_output(c, i, out);
  }
  TRY(shape_ok(shape_unknown_of_rank(c, 1), &out, status));
  TRY(shape_subshape(c, values, 1, INT64_MAX, 1, &inner, status));
  TRY(shape_concatenate(c, out, inner, &out, status));
  shape_set_output(c, c->num_outputs - 1, out);
  return true;
}

/* Each index stands for the rows of the values from `combined` on, which are the splits of the outermost
 * dimension in terms of the values. */
static bool gather_gradient(const GradientRequest *request, StrBuf *text, Status *status) {
  int64_t levels, outputs;
  TRY(node_attr_int(request->node, "PARAMS_RAGGED_RANK", &levels, status));
  TRY(node_attr_int(request->node, "OUTPUT_RAGGED_RANK", &outputs, status));
  strbuf_append(text, "RaggedGatherGradient[Tvalues:type, Tindices:type, Tsplits:type](");
  append_numbered(levels, "s#:Tsplits, ", text);
  strbuf_append(text, "values:Tvalues, indices:Tindices, ");
  append_numbered(outputs, "g#:Tsplits, ", text);
  strbuf_append(text, "dy:Tvalues) -> (");
  append_numbered(levels, "d#:Tsplits, ", text);
  strbuf_append(text, "dvalues:Tvalues, di:Tindices) {\n  combined0 = Identity[T=$Tsplits](s0)\n");
  for (int64_t i = 1; i < levels; i++)
    strbuf_printf(text,
                  "  combined%lld = Gather[Tparams=$Tsplits, Tindices=$Tsplits](s%lld, "
                  "combined%lld:output:0)\n",
                  (long long)i, (long long)i, (long long)i - 1);
  strbuf_printf(text,
                "  minus = Const[dtype=int32, value=[-1]]()\n"
                "  flat = Reshape[T=$Tindices, Tshape=int32](indices, minus:output:0)\n"
                "  one = Const[dtype=$Tindices, value=1]()\n"
                "  next = Add[T=$Tindices](flat:output:0, one:output:0)\n"
                "  starts = Gather[Tparams=$Tsplits, Tindices=$Tindices](combined%lld:output:0, "
                "flat:output:0)\n"
                "  limits = Gather[Tparams=$Tsplits, Tindices=$Tindices](combined%lld:output:0, next:z:0)\n"
                "  step = Const[dtype=$Tsplits, value=1]()\n"
                "  rows = RaggedRange[T=$Tsplits, Tsplits=$Tsplits](starts:output:0, limits:output:0, "
                "step:output:0)\n",
                (long long)levels - 1, (long long)levels - 1);
  strbuf_append(text,
                "  shape = Shape[T=$Tvalues, out_type=int32](values)\n"
                "  first = Const[dtype=int32, value=[0]]()\n"
                "  single = Const[dtype=int32, value=[1]]()\n"
                "  count = StridedSlice[T=int32, Index=int32, shrink_axis_mask=1]"
                "(shape:output:0, first:output:0, single:output:0, single:output:0)\n"
                "  dvalues = UnsortedSegmentSum[T=$Tvalues, Tindices=$Tsplits, Tnumsegments=int32]"
                "(dy, rows:rt_dense_values:0, count:output:0)\n"
                "  di = ZerosLike[T=$Tindices](indices)\n");
  append_numbered(levels, "  d# = ZerosLike[T=$Tsplits](s#)\n", text);
  strbuf_append(text, "  return ");
  append_numbered(levels, "d# = d#:y:0, ", text);
  strbuf_append(text, "dvalues = dvalues:output:0, di = di:y:0\n}\n");
  return strbuf_ok(text, status);
}

const OpRegistration kOpRaggedGather = {
    .name = "RaggedGather",
    .inputs = {"params_nested_splits: PARAMS_RAGGED_RANK * Tsplits", "params_dense_values: Tvalues",
               "indices: Tindices"},
    .outputs = {"output_nested_splits: OUTPUT_RAGGED_RANK * Tsplits", "output_dense_values: Tvalues"},
    .attrs = {"Tvalues: type", "Tindices: {int32, int64}", "Tsplits: {int32, int64} = DT_INT64",
              "PARAMS_RAGGED_RANK: int >= 1", "OUTPUT_RAGGED_RANK: int >= 0"},
    .shape = gather_shape,
    .gradient_fn = gather_gradient,
    .kernels = {{DT_INVALID, ragged_gather}},
};
