/* RaggedTensorToVariant and RaggedTensorToVariantGradient: a ragged tensor, or each of its rows, becomes an
 * element of a DT_VARIANT tensor. TensorFlow's map functions use this. */
#include "op/node_def.h"
#include "op/op_registry.h"
#include "ops/sparse/numbered_text.h"
#include "ops/sparse/ragged_variant.h"
#include "ops/sparse/ragged_splits.h"
#include "ops/support/array_box.h"

typedef struct ToVariantState {
  bool batched;
} ToVariantState;

static bool to_variant_construct(const KernelConstruction *construction, void *memory, Status *status) {
  return node_attr_bool(construction->node, "batched_input", &((ToVariantState *)memory)->batched, status);
}

static bool check_ragged(KernelContext *context, int levels, Status *status) {
  const Tensor *values = context->inputs[levels];
  if (levels > 0 && values->shape.rank < 1)
    return status_invalid(status, "Requires flat_values to have rank>=1 when ragged_rank is >0, but is 0.");
  for (int level = 0; level < levels; level++) {
    int64_t below = level + 1 < levels ? tensor_num_elements(context->inputs[level + 1]) - 1
                                       : shape_dim(&values->shape, 0);
    TRY(check_row_splits(context->inputs[level], below, status));
  }
  return true;
}

/* Copies rows [begin, end) of `from`, each of the size of one index of its first axis. */
static bool copy_rows(KernelContext *context, const Tensor *from, int64_t begin, int64_t end, Tensor *to,
                      Status *status) {
  int64_t dims[SHAPE_MAX_RANK], length = 1;
  ArrayBox box = {0};
  dims[0] = end - begin;
  for (int d = 1; d < from->shape.rank; d++) length *= dims[d] = shape_dim(&from->shape, d);
  TRY(tensor_allocate_dims(to, from->dtype, from->shape.rank, dims, context->pool, status));
  box.from_offset = begin * length;
  array_box_add(&box, dims[0] * length, 1, 1);
  return array_box_copy(&box, from, to, NULL, status);
}

/* Splits [begin, end] of `from`, counted from 0. */
static bool copy_splits(KernelContext *context, const Tensor *from, int64_t begin, int64_t end, Tensor *to,
                        Status *status) {
  TRY(tensor_allocate_dims(to, from->dtype, 1, (int64_t[]){end - begin + 1}, context->pool, status));
  for (int64_t i = begin; i <= end; i++)
    set_split(to, i - begin, tensor_int_at(from, i) - tensor_int_at(from, begin));
  return true;
}

/* Row `row` as a ragged tensor with one level less; without splits it is an element of the values. */
static bool make_row(KernelContext *context, int levels, int64_t row, RaggedVariant *made, Status *status) {
  const Tensor *values = context->inputs[levels];
  int64_t begin = row, end = row + 1;
  Shape inner = {0};
  for (int level = 0; level < levels; level++) {
    if (level > 0)
      TRY(copy_splits(context, context->inputs[level], begin, end, &made->tensors[level - 1], status));
    begin = tensor_int_at(context->inputs[level], begin);
    end = tensor_int_at(context->inputs[level], end);
  }
  Tensor *to = &made->tensors[made->levels], rows = {0};
  if (levels > 0) return copy_rows(context, values, begin, end, to, status);
  bool ok = copy_rows(context, values, begin, end, &rows, status) &&
            shape_set(&inner, values->shape.rank - 1, shape_dims(&values->shape) + 1, status) &&
            tensor_reshape(to, &rows, &inner, status);
  tensor_clear(&rows);
  shape_clear(&inner);
  return ok;
}

static bool give_rows(KernelContext *context, int levels, Status *status) {
  const Tensor *values = context->inputs[levels];
  if (levels == 0 && values->shape.rank < 1) return status_invalid(status, "Can't unbatch rank-0 tensor.");
  int64_t rows = levels > 0 ? tensor_num_elements(context->inputs[0]) - 1 : shape_dim(&values->shape, 0);
  Tensor *out;
  TRY(kernel_allocate_output_dims(context, 0, 1, &rows, &out, status));
  for (int64_t i = 0; i < rows; i++) {
    RaggedVariant *made = ragged_variant_new(levels > 0 ? levels - 1 : 0, status);
    if (!made) return false;
    ((VariantObject **)out->data)[i] = &made->variant; /* the tensor owns it from now on */
    TRY(make_row(context, levels, i, made, status));
    TRY(variant_check_depth(ragged_variant_values(made), &made->depth, status));
  }
  return true;
}

static bool to_variant(KernelContext *context, Status *status) {
  int levels = context->num_inputs - 1;
  TRY(check_ragged(context, levels, status));
  if (((const ToVariantState *)context->state)->batched) return give_rows(context, levels, status);
  RaggedVariant *made = ragged_variant_new(levels, status);
  Tensor *out;
  bool ok = made != NULL;
  for (int i = 0; ok && i <= levels; i++) ok = tensor_assign(&made->tensors[i], context->inputs[i], status);
  ok = ok && variant_check_depth(ragged_variant_values(made), &made->depth, status) &&
       kernel_allocate_output_dims(context, 0, 0, NULL, &out, status);
  return ragged_variant_finish(made, ok, ok ? (VariantObject **)out->data : NULL);
}

static bool to_variant_shape(InferenceContext *c, Status *status) {
  int levels = c->num_inputs - 1;
  bool batched;
  ShapeHandle splits, out;
  DimHandle rows;
  TRY(node_attr_bool(c->node, "batched_input", &batched, status));
  for (int i = 0; i < levels; i++) TRY(shape_with_rank(c, shape_input(c, i), 1, &splits, status));
  if (levels > 0) TRY(shape_with_rank_at_least(c, shape_input(c, levels), 1, &splits, status));
  if (!batched) return shape_scalar_output(c, status);
  DimHandle count = shape_dim_of(c, shape_input(c, 0), 0);
  TRY(dim_ok(count, &count, status));
  bool known = dim_known(count) && dim_value(count) > 0;
  TRY(dim_ok(levels == 0 ? count
             : known     ? dim_make(c, dim_value(count) - 1)
                         : dim_unknown(c),
             &rows, status));
  TRY(shape_ok(shape_vector(c, rows), &out, status));
  shape_set_output(c, 0, out);
  return true;
}

static bool to_variant_gradient(const GradientRequest *request, StrBuf *text, Status *status) {
  int64_t levels;
  TRY(node_attr_int(request->node, "RAGGED_RANK", &levels, status));
  strbuf_append(text, "RaggedTensorToVariantGradient[Tvalues:type, Tsplits:type](");
  append_numbered(levels, "s#:Tsplits, ", text);
  strbuf_append(text, "values:Tvalues, dy:variant) -> (");
  append_numbered(levels, "d#:Tsplits, ", text);
  strbuf_append(text, "dvalues:Tvalues) {\n  shape = Shape[T=$Tvalues, out_type=int32](values)\n");
  strbuf_append(text, levels > 0 ? "  splits = Identity[T=$Tsplits](s0)\n"
                                 : "  splits = Const[dtype=$Tsplits, value=0]()\n");
  strbuf_append(text,
                "  dvalues = RaggedTensorToVariantGradient[Tvalues=$Tvalues, Tsplits=$Tsplits]"
                "(dy, splits:output:0, shape:output:0)\n");
  append_numbered(levels, "  d# = ZerosLike[T=$Tsplits](s#)\n", text);
  strbuf_append(text, "  return ");
  append_numbered(levels, "d# = d#:y:0, ", text);
  strbuf_append(text, "dvalues = dvalues:dense_values_grad:0\n}\n");
  return strbuf_ok(text, status);
}

const OpRegistration kOpRaggedTensorToVariant = {
    .name = "RaggedTensorToVariant",
    .inputs = {"rt_nested_splits: RAGGED_RANK * Tsplits", "rt_dense_values: Tvalues"},
    .outputs = {"encoded_ragged: variant"},
    .attrs = {"RAGGED_RANK: int >= 0", "Tvalues: type", "Tsplits: {int32, int64} = DT_INT64",
              "batched_input: bool"},
    .shape = to_variant_shape,
    .gradient_fn = to_variant_gradient,
    .state_size = sizeof(ToVariantState),
    .construct = to_variant_construct,
    .kernels = {{DT_INVALID, to_variant}},
};

/* --- RaggedTensorToVariantGradient --- */

/* Of row `i`, which is a single value where the splits do not tell. False when they exceed 64 bits. */
static bool values_of_row(const Tensor *splits, int64_t i, int64_t length, int64_t *count) {
  int64_t row = 1;
  if (splits->shape.rank > 0 && i + 1 < tensor_num_elements(splits) &&
      __builtin_sub_overflow(tensor_int_at(splits, i + 1), tensor_int_at(splits, i), &row))
    return false;
  return !__builtin_mul_overflow(row, length, count);
}

/* The number of values in a row of the first dimension; INT64_MAX when it is larger. */
static int64_t row_length(const int64_t *dims, int rank) {
  int64_t length = 1;
  bool fits = true;
  for (int d = 1; d < rank; d++) {
    if (dims[d] == 0) return 0;
    fits = fits && !__builtin_mul_overflow(length, dims[d], &length);
  }
  return fits ? length : INT64_MAX;
}

/* Writes the gradient of each row. A row without one, because nothing depends on it, has zeros. */
static bool join_rows(const Tensor *encoded, const Tensor *splits, int64_t length, Tensor *out,
                      Status *status) {
  int64_t at = 0, total = tensor_num_elements(out);
  array_clear(out);
  for (int64_t i = 0; i < tensor_num_elements(encoded); i++) {
    const RaggedVariant *ragged = ragged_variant_at(encoded, i);
    int64_t count = ragged ? tensor_num_elements(ragged_variant_values(ragged)) : 0;
    bool fits = ragged || values_of_row(splits, i, length, &count);
    if (ragged && ragged_variant_values(ragged)->dtype != out->dtype)
      return status_invalid(status, "Expected values Tensor dtype: %s, found: %s",
                            dtype_name((int)out->dtype),
                            dtype_name((int)ragged_variant_values(ragged)->dtype));
    if (!fits || count < 0 || count > total - at)
      return status_invalid(status, "The gradients have too many values");
    ArrayBox box = {.to_offset = at};
    array_box_add(&box, count, 1, 1);
    if (ragged) TRY(array_box_copy(&box, ragged_variant_values(ragged), out, NULL, status));
    at += count;
  }
  return at == total || status_invalid(status, "The gradients have %lld values instead of %lld",
                                       (long long)at, (long long)total);
}

static bool variant_gradient(KernelContext *context, Status *status) {
  const Tensor *encoded = context->inputs[0], *splits = context->inputs[1], *sizes = context->inputs[2];
  int64_t dims[SHAPE_MAX_RANK];
  Tensor *out;
  if (splits->shape.rank > 0 && tensor_num_elements(splits) < 1)
    return status_invalid(status,
                          "Invalid ragged splits: ragged splits must have at least one splits, but is empty");
  if (!tensor_is_vector(sizes)) return status_invalid(status, "dense_values_shape must be a vector");
  TRY(array_read_ints(sizes, dims, status));
  int rank = (int)tensor_num_elements(sizes);
  for (int d = 0; d < rank; d++) {
    if (dims[d] < 0) return status_invalid(status, "Dimension %lld must be >= 0", (long long)dims[d]);
  }
  TRY(kernel_allocate_output_dims(context, 0, rank, dims, &out, status));
  return join_rows(encoded, splits, row_length(dims, rank), out, status);
}

static bool variant_gradient_shape(InferenceContext *c, Status *status) {
  ShapeHandle out;
  TRY(shape_from_input_tensor(c, 2, &out, status));
  shape_set_output(c, 0, out);
  return true;
}

const OpRegistration kOpRaggedTensorToVariantGradient = {
    .name = "RaggedTensorToVariantGradient",
    .inputs = {"encoded_ragged_grad: variant", "row_splits: Tsplits", "dense_values_shape: int32"},
    .outputs = {"dense_values_grad: Tvalues"},
    .attrs = {"Tvalues: type", "Tsplits: {int32, int64} = DT_INT64"},
    .shape = variant_gradient_shape,
    .gradient = NO_GRADIENT,
    .kernels = {{DT_INVALID, variant_gradient}},
};
