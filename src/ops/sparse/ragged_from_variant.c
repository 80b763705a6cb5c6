/* RaggedTensorFromVariant: ragged tensors in the elements of a DT_VARIANT tensor become the rows of one. */
#include "op/node_def.h"
#include "op/op_registry.h"
#include "ops/sparse/numbered_text.h"
#include "ops/sparse/ragged_variant.h"
#include "ops/sparse/ragged_splits.h"
#include "ops/support/array_box.h"

typedef struct FromVariantState {
  int64_t input_rank, output_rank;
} FromVariantState;

static bool from_variant_construct(const KernelConstruction *construction, void *memory, Status *status) {
  FromVariantState *state = memory;
  return node_attr_int(construction->node, "input_ragged_rank", &state->input_rank, status) &&
         node_attr_int(construction->node, "output_ragged_rank", &state->output_rank, status);
}

static bool refuse_print(const char *words, int64_t i, const char *between, const Tensor *tensor,
                         Status *status) {
  StrBuf text = {0};
  tensor_print(tensor, 3, &text);
  if (strbuf_ok(&text, status))
    status_invalid(status, "%s %lld %s %s", words, (long long)i, between, strbuf_text(&text));
  strbuf_free(&text);
  return false;
}

static bool check_element(KernelContext *context, int64_t i, int64_t levels, Status *status) {
  const Tensor *encoded = context->inputs[0];
  DataType type = context->output_types[context->num_outputs - 1];
  const RaggedVariant *ragged = ragged_variant_at(encoded, i);
  if (!ragged) {
    const VariantObject *object = ((VariantObject *const *)encoded->data)[i];
    return status_invalid(status,
                          "Input Variant element at index %lld doesn't hold a RaggedTensorVariant: %s",
                          (long long)i, object ? object->methods->type_name : "Variant<type: <empty>>");
  }
  if (ragged->levels != levels)
    return status_invalid(status,
                          "Encoded input RaggedTensorVariant has ragged_rank=%d.  Expected ragged_rank=%lld.",
                          ragged->levels, (long long)levels);
  if (ragged_variant_values(ragged)->dtype != type)
    return status_invalid(status, "Expected values Tensor dtype: %s, found: %s", dtype_name((int)type),
                          dtype_name((int)ragged_variant_values(ragged)->dtype));
  if (encoded->shape.rank > 0 && ragged_variant_values(ragged)->shape.rank < 1)
    return refuse_print("Ragged values must have rank >= 1; encoded scalar element at index", i,
                        "has values Tensor:", ragged_variant_values(ragged), status);
  for (int k = 0; k < levels; k++) {
    if (ragged->tensors[k].dtype != context->output_types[0])
      return status_invalid(status, "Expected row_splits Tensor dtype: %s, found: %s",
                            dtype_name((int)context->output_types[0]),
                            dtype_name((int)ragged->tensors[k].dtype));
  }
  return true;
}

static bool check_ranks(KernelContext *context, int64_t *levels, Status *status) {
  const FromVariantState *state = context->state;
  int rank = context->inputs[0]->shape.rank;
  long long output = state->output_rank, input = state->input_rank;
  if (input < 0) {
    input = output - rank;
    if (input < 0)
      return status_invalid(status,
                            "Inferred input_ragged_rank (output_ragged_rank - encoded_variant.dims()) must "
                            "be >= "
                            "0, found output_ragged_rank: %lld, encoded_variant.dims(): %d, inferred "
                            "input_ragged_rank: %lld",
                            output, rank, input);
  }
  *levels = input;
  return output == rank + input ||
         status_invalid(status,
                        "output_ragged_rank must be equal to input_ragged_rank + encoded_ragged.dims(); "
                        "output_ragged_rank: %lld, input_ragged_rank: %lld, encoded_variant.dims(): %d.",
                        output, input, rank);
}

/* The splits of the variant's own dimensions; those of the last one hold the elements. */
static bool give_outer_splits(KernelContext *context, int64_t levels, Status *status) {
  const Tensor *encoded = context->inputs[0];
  int rank = encoded->shape.rank;
  int64_t rows = 1;
  Tensor *splits;
  for (int d = 0; d + 1 < rank; d++) {
    int64_t length = shape_dim(&encoded->shape, d + 1);
    rows *= shape_dim(&encoded->shape, d);
    TRY(kernel_allocate_output_dims(context, d, 1, (int64_t[]){rows + 1}, &splits, status));
    for (int64_t i = 0; i <= rows; i++) set_split(splits, i, i * length);
  }
  int64_t count = tensor_num_elements(encoded), total = 0;
  TRY(kernel_allocate_output_dims(context, rank - 1, 1, (int64_t[]){count + 1}, &splits, status));
  set_split(splits, 0, 0);
  for (int64_t i = 0; i < count; i++) {
    const RaggedVariant *ragged = ragged_variant_at(encoded, i);
    total += levels > 0 ? tensor_num_elements(&ragged->tensors[0]) - 1
                        : shape_dim(&ragged_variant_values(ragged)->shape, 0);
    set_split(splits, i + 1, total);
  }
  return true;
}

static bool give_inner_splits(KernelContext *context, int level, Status *status) {
  const Tensor *encoded = context->inputs[0];
  int64_t count = tensor_num_elements(encoded), total = 0, at = 1, last = 0;
  Tensor *splits;
  for (int64_t i = 0; i < count; i++)
    total += tensor_num_elements(&ragged_variant_at(encoded, i)->tensors[level]) - 1;
  TRY(kernel_allocate_output_dims(context, encoded->shape.rank + level, 1, (int64_t[]){total + 1}, &splits,
                                  status));
  set_split(splits, 0, 0);
  for (int64_t i = 0; i < count; i++) {
    const Tensor *from = &ragged_variant_at(encoded, i)->tensors[level];
    for (int64_t k = 1; k < tensor_num_elements(from); k++)
      set_split(splits, at++, last + tensor_int_at(from, k));
    last = tensor_int_at(splits, at - 1);
  }
  return true;
}

static bool same_inner(const Shape *a, const Shape *b) {
  if (a->rank != b->rank) return false;
  for (int d = 1; d < a->rank; d++) {
    if (shape_dim(a, d) != shape_dim(b, d)) return false;
  }
  return true;
}

/* All values, one element after the other, as output `output`. Without elements it is an empty vector. */
static bool give_values(KernelContext *context, int output, Status *status) {
  const Tensor *encoded = context->inputs[0];
  int64_t count = tensor_num_elements(encoded), dims[SHAPE_MAX_RANK] = {0}, at = 0;
  const Shape *first = count > 0 ? &ragged_variant_values(ragged_variant_at(encoded, 0))->shape : NULL;
  char a[SHAPE_TEXT_CAPACITY], b[SHAPE_TEXT_CAPACITY];
  for (int64_t i = 0; i < count; i++) {
    const Shape *own = &ragged_variant_values(ragged_variant_at(encoded, i))->shape;
    if (!same_inner(first, own))
      return status_invalid(status,
                            "All flat_values must have compatible shapes.  Shape at index 0: %s.  Shape at "
                            "index "
                            "%lld: %s.",
                            shape_text(first, a), (long long)i, shape_text(own, b));
    dims[0] += shape_dim(own, 0);
  }
  for (int d = 1; first && d < first->rank; d++) dims[d] = shape_dim(first, d);
  Tensor *out;
  TRY(kernel_allocate_output_dims(context, output, first ? first->rank : 1, dims, &out, status));
  for (int64_t i = 0; i < count; i++) {
    const Tensor *values = ragged_variant_values(ragged_variant_at(encoded, i));
    ArrayBox box = {.to_offset = at};
    array_box_add(&box, tensor_num_elements(values), 1, 1);
    TRY(array_box_copy(&box, values, out, NULL, status));
    at += tensor_num_elements(values);
  }
  return true;
}

static bool from_variant(KernelContext *context, Status *status) {
  const Tensor *encoded = context->inputs[0];
  int64_t levels = 0;
  TRY(check_ranks(context, &levels, status));
  for (int64_t i = 0; i < tensor_num_elements(encoded); i++) TRY(check_element(context, i, levels, status));
  if (encoded->shape.rank == 0) {
    for (int i = 0; i <= levels; i++)
      TRY(kernel_set_output(context, i, &ragged_variant_at(encoded, 0)->tensors[i], NULL, status));
    return true;
  }
  TRY(give_outer_splits(context, levels, status));
  for (int level = 0; level < levels; level++) TRY(give_inner_splits(context, level, status));
  return give_values(context, context->num_outputs - 1, status);
}

static bool from_variant_shape(InferenceContext *c, Status *status) {
  ShapeHandle encoded = shape_input(c, 0), out;
  FromVariantState state;
  TRY(node_attr_int(c->node, "input_ragged_rank", &state.input_rank, status));
  TRY(node_attr_int(c->node, "output_ragged_rank", &state.output_rank, status));
  if (state.input_rank >= 0)
    TRY(shape_with_rank(c, encoded, state.output_rank - state.input_rank, &encoded, status));
  for (int64_t i = 0; i < state.output_rank; i++) {
    TRY(shape_ok(shape_unknown_of_rank(c, 1), &out, status));
    shape_set_output(c, (int)i, out);
  }
  TRY(shape_ok(shape_unknown(c), &out, status));
  shape_set_output(c, (int)state.output_rank, out);
  return true;
}

/* dy has the splits of the result, and is cut in the same way. */
static bool from_variant_gradient(const GradientRequest *request, StrBuf *text, Status *status) {
  int64_t input, output;
  TRY(node_attr_int(request->node, "input_ragged_rank", &input, status));
  TRY(node_attr_int(request->node, "output_ragged_rank", &output, status));
  bool batched = input >= 0 ? input != output : output > 0;
  strbuf_append(text, "RaggedTensorFromVariantGradient[Tvalues:type, Tsplits:type](encoded:variant, ");
  append_numbered(output, "g#:Tsplits, ", text);
  strbuf_printf(text,
                "dy:Tvalues) -> (dencoded:variant) {\n"
                "  ragged = RaggedTensorFromVariant[Tvalues=$Tvalues, Tsplits=$Tsplits, "
                "input_ragged_rank=%lld, "
                "output_ragged_rank=%lld](encoded)\n"
                "  dencoded = RaggedTensorToVariant[Tvalues=$Tvalues, Tsplits=$Tsplits, RAGGED_RANK=%lld, "
                "batched_input=%s](",
                (long long)input, (long long)output, (long long)output, batched ? "true" : "false");
  append_numbered(output, "ragged:output_nested_splits:#, ", text);
  strbuf_append(text, "dy)\n  return dencoded = dencoded:encoded_ragged:0\n}\n");
  return strbuf_ok(text, status);
}

const OpRegistration kOpRaggedTensorFromVariant = {
    .name = "RaggedTensorFromVariant",
    .inputs = {"encoded_ragged: variant"},
    .outputs = {"output_nested_splits: output_ragged_rank * Tsplits", "output_dense_values: Tvalues"},
    .attrs = {"input_ragged_rank: int >= -1", "output_ragged_rank: int >= 0", "Tvalues: type",
              "Tsplits: {int32, int64} = DT_INT64"},
    .shape = from_variant_shape,
    .gradient_fn = from_variant_gradient,
    .state_size = sizeof(FromVariantState),
    .construct = from_variant_construct,
    .kernels = {{DT_INVALID, from_variant}},
};
