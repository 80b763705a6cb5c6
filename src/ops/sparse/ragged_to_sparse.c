/* RaggedTensorToSparse: the values of a ragged tensor with their indices. */
#include "base/alloc.h"
#include "op/node_def.h"
#include "op/op_registry.h"
#include "ops/sparse/numbered_text.h"
#include "ops/sparse/sparse_tensor.h"

static bool check_splits(const Tensor *splits, Status *status) {
  int64_t count = tensor_num_elements(splits);
  if (count == 0) return status_invalid(status, "ragged splits may not be empty.");
  if (tensor_int_at(splits, 0) != 0) return status_invalid(status, "First value of ragged splits must be 0.");
  for (int64_t i = 1; i < count; i++) {
    if (tensor_int_at(splits, i) < tensor_int_at(splits, i - 1))
      return status_invalid(status,
                            "Ragged splits should be non decreasing, but we got %lld followed by %lld",
                            (long long)tensor_int_at(splits, i - 1), (long long)tensor_int_at(splits, i));
  }
  return true;
}

static bool check_end(const Tensor *splits, int64_t below, Status *status) {
  return tensor_int_at(splits, tensor_num_elements(splits) - 1) == below ||
         status_invalid(
             status, "Final value of ragged splits must match the length the corresponding ragged values.");
}

/* Checks each level against the next one, and computes the sizes of the dense tensor. */
static bool measure(KernelContext *context, int levels, int64_t *sizes, Status *status) {
  const Tensor *values = context->inputs[levels];
  for (int level = 0; level < levels; level++) TRY(check_splits(context->inputs[level], status));
  if (values->shape.rank < 1) return check_end(context->inputs[levels - 1], -1, status);
  if (levels + values->shape.rank > SHAPE_MAX_RANK)
    return status_invalid(status, "A shape has more than %d dimensions", SHAPE_MAX_RANK);
  for (int level = 0; level < levels; level++) {
    const Tensor *splits = context->inputs[level];
    bool last = level + 1 == levels;
    int64_t below = last ? shape_dim(&values->shape, 0) : tensor_num_elements(context->inputs[level + 1]) - 1;
    TRY(check_end(splits, below, status));
    sizes[level + 1] = 0;
    for (int64_t i = 1; i < tensor_num_elements(splits); i++) {
      int64_t length = tensor_int_at(splits, i) - tensor_int_at(splits, i - 1);
      if (length > sizes[level + 1]) sizes[level + 1] = length;
    }
  }
  sizes[0] = tensor_num_elements(context->inputs[0]) - 1;
  for (int d = 1; d < values->shape.rank; d++) sizes[levels + d] = shape_dim(&values->shape, d);
  return true;
}

/* The index of value `i` in the ragged axes: at each level the row that holds it, from the innermost one. */
static void ragged_index(KernelContext *context, int levels, int64_t i, int64_t *rows, int64_t *index) {
  for (int level = levels - 1; level >= 0; level--) {
    const Tensor *splits = context->inputs[level];
    while (tensor_int_at(splits, rows[level] + 1) <= i) rows[level]++;
    index[level + 1] = i - tensor_int_at(splits, rows[level]);
    i = rows[level];
  }
  index[0] = i;
}

static void write_indices(KernelContext *context, int levels, int64_t *rows, Tensor *indices) {
  const Tensor *values = context->inputs[levels];
  int rank = (int)shape_dim(&indices->shape, 1);
  int64_t count = shape_dim(&indices->shape, 0), outer = shape_dim(&values->shape, 0);
  int64_t inner = outer > 0 ? count / outer : 0;
  for (int64_t at = 0; at < count; at++) {
    int64_t *index = tensor_i64(indices) + at * rank, rest = at % inner;
    ragged_index(context, levels, at / inner, rows, index);
    for (int d = rank - 1; d > levels; d--) {
      int64_t size = shape_dim(&values->shape, d - levels);
      index[d] = rest % size;
      rest /= size;
    }
  }
}

static bool to_sparse(KernelContext *context, Status *status) {
  int levels = context->num_inputs - 1;
  const Tensor *values = context->inputs[levels];
  int64_t sizes[SHAPE_MAX_RANK + 1], count = tensor_num_elements(values);
  Tensor *indices;
  Shape flat = {0};
  TRY(measure(context, levels, sizes, status));
  int rank = levels + values->shape.rank;
  TRY(kernel_allocate_output_dims(context, 0, 2, (int64_t[]){count, rank}, &indices, status));
  int64_t *rows = mem_calloc(levels, sizeof *rows);
  if (!rows) return status_oom(status, "the rows of a ragged tensor");
  write_indices(context, levels, rows, indices);
  mem_free(rows);
  return shape_set(&flat, 1, &count, status) && kernel_set_output(context, 1, values, &flat, status) &&
         sparse_give_sizes(context, 2, sizes, rank, status);
}

static bool to_sparse_shape(InferenceContext *c, Status *status) {
  int levels = c->num_inputs - 1;
  ShapeHandle values;
  DimHandle rank = NULL, count = NULL;
  TRY(shape_with_rank_at_least(c, shape_input(c, levels), 1, &values, status));
  for (int i = 0; i < levels; i++) {
    ShapeHandle splits;
    TRY(shape_with_rank(c, shape_input(c, i), 1, &splits, status));
  }
  if (shape_rank_known(values)) TRY(dim_ok(dim_make(c, levels + shape_rank(values)), &rank, status));
  TRY(dim_ok(shape_num_elements_of(c, values), &count, status));
  return sparse_set_shapes(c, 0, count, rank, status);
}

/* The values are the same numbers in another shape. */
static bool to_sparse_gradient(const GradientRequest *request, StrBuf *text, Status *status) {
  int64_t levels;
  TRY(node_attr_int(request->node, "RAGGED_RANK", &levels, status));
  strbuf_append(text, "RaggedTensorToSparseGradient[T:type, Tsplits:type](");
  append_numbered(levels, "s#:Tsplits, ", text);
  strbuf_append(text, "values:T, dindices:int64, dy:T, dsizes:int64) -> (");
  append_numbered(levels, "d#:Tsplits, ", text);
  strbuf_append(text,
                "dvalues:T) {\n"
                "  shape = Shape[T=$T, out_type=int32](values)\n"
                "  dvalues = Reshape[T=$T, Tshape=int32](dy, shape:output:0)\n");
  append_numbered(levels, "  d# = ZerosLike[T=$Tsplits](s#)\n", text);
  strbuf_append(text, "  return ");
  append_numbered(levels, "d# = d#:y:0, ", text);
  strbuf_append(text, "dvalues = dvalues:output:0\n}\n");
  return strbuf_ok(text, status);
}

const OpRegistration kOpRaggedTensorToSparse = {
    .name = "RaggedTensorToSparse",
    .inputs = {"rt_nested_splits: RAGGED_RANK * Tsplits", "rt_dense_values: T"},
    .outputs = {"sparse_indices: int64", "sparse_values: T", "sparse_dense_shape: int64"},
    .attrs = {"RAGGED_RANK: int >= 1", "T: type", "Tsplits: {int32, int64} = DT_INT64"},
    .shape = to_sparse_shape,
    .gradient_fn = to_sparse_gradient,
    .kernels = {{DT_INVALID, to_sparse}},
};
