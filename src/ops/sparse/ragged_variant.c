/* RaggedTensorToVariant, RaggedTensorFromVariant and RaggedTensorToVariantGradient: a ragged tensor, or each
 * of its rows, as an element of a DT_VARIANT tensor. TensorFlow's map functions use them. */
#include <string.h>

#include "base/alloc.h"
#include "op/node_def.h"
#include "op/op_registry.h"
#include "ops/support/array_box.h"
#include "ops/support/variant.h"
#include "ops/sparse/numbered_text.h"
#include "ops/sparse/row_splits.h"

/* A ragged tensor as an object. Immutable once it is in a tensor. */
typedef struct RaggedVariant {
  VariantObject variant;
  int depth;        /* above that of the values */
  int levels;       /* the number of splits */
  Tensor tensors[]; /* splits, then values */
} RaggedVariant;

static const VariantMethods kRaggedMethods;

static void destroy_ragged(TensorObject *object) {
  RaggedVariant *ragged = (RaggedVariant *)object;
  for (int i = 0; i <= ragged->levels; i++) tensor_clear(&ragged->tensors[i]);
  mem_free(ragged);
}

/* With empty tensors and one reference; NULL with status when out of memory. */
static RaggedVariant *new_ragged(int levels, Status *status) {
  RaggedVariant *ragged = mem_calloc(1, (int64_t)sizeof *ragged + (levels + 1) * (int64_t)sizeof(Tensor));
  if (!ragged) {
    status_oom(status, "a ragged tensor");
    return NULL;
  }
  ragged->variant.methods = &kRaggedMethods;
  ragged->variant.object.destroy = destroy_ragged;
  atomic_init(&ragged->variant.object.references, 1);
  ragged->levels = levels;
  return ragged;
}

static const Tensor *values_of(const RaggedVariant *ragged) { return &ragged->tensors[ragged->levels]; }

/* --- zeros and sums: the splits stay --- */

static RaggedVariant *with_splits_of(const RaggedVariant *from, Status *status) {
  RaggedVariant *made = new_ragged(from->levels, status);
  bool ok = made != NULL;
  for (int i = 0; ok && i < from->levels; i++)
    ok = tensor_assign(&made->tensors[i], &from->tensors[i], status);
  if (ok) {
    made->depth = from->depth;
    return made;
  }
  if (made) tensor_object_unref(&made->variant.object);
  return NULL;
}

static bool finish(RaggedVariant *made, bool ok, VariantObject **result) {
  if (ok) *result = &made->variant;
  else if (made) tensor_object_unref(&made->variant.object);
  return ok;
}

static bool zeros_like_ragged(KernelContext *context, const VariantObject *x, int depth,
                              VariantObject **zeros, Status *status) {
  const RaggedVariant *from = (const RaggedVariant *)x;
  RaggedVariant *made = with_splits_of(from, status);
  bool ok = made && tensor_zeros_like(context, values_of(from), depth, &made->tensors[made->levels], status);
  return finish(made, ok, zeros);
}

static bool equal_splits(const RaggedVariant *a, const RaggedVariant *b) {
  for (int i = 0; i < a->levels; i++) {
    const Tensor *x = &a->tensors[i], *y = &b->tensors[i];
    if (x->dtype != y->dtype || tensor_num_elements(x) != tensor_num_elements(y) ||
        memcmp(x->data, y->data, (size_t)tensor_bytes(x)) != 0)
      return false;
  }
  return true;
}

static bool add_ragged(KernelContext *context, const VariantObject *a, const VariantObject *b, int depth,
                       VariantObject **sum, Status *status) {
  const RaggedVariant *left = (const RaggedVariant *)a, *right = (const RaggedVariant *)b;
  if (left->levels != right->levels)
    return status_invalid(status, "Can't add RaggedTensorVariants of different ragged rank. %d vs %d",
                          left->levels, right->levels);
  if (!equal_splits(left, right))
    return status_invalid(status, "Can't add RaggedTensorVariants with different row_splits.");
  RaggedVariant *made = with_splits_of(left, status);
  bool ok = made && tensor_sum(context, values_of(left), values_of(right), depth,
                               &made->tensors[made->levels], status);
  return finish(made, ok, sum);
}

static int depth_of_ragged(const VariantObject *x) { return ((const RaggedVariant *)x)->depth; }

static const VariantMethods kRaggedMethods = {"RaggedTensorVariant", zeros_like_ragged, add_ragged,
                                              depth_of_ragged};

/* --- RaggedTensorToVariant --- */

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
    RaggedVariant *made = new_ragged(levels > 0 ? levels - 1 : 0, status);
    if (!made) return false;
    ((VariantObject **)out->data)[i] = &made->variant; /* the tensor owns it from now on */
    TRY(make_row(context, levels, i, made, status));
    TRY(variant_check_depth(values_of(made), &made->depth, status));
  }
  return true;
}

static bool to_variant(KernelContext *context, Status *status) {
  int levels = context->num_inputs - 1;
  TRY(check_ragged(context, levels, status));
  if (((const ToVariantState *)context->state)->batched) return give_rows(context, levels, status);
  RaggedVariant *made = new_ragged(levels, status);
  Tensor *out;
  bool ok = made != NULL;
  for (int i = 0; ok && i <= levels; i++) ok = tensor_assign(&made->tensors[i], context->inputs[i], status);
  ok = ok && variant_check_depth(values_of(made), &made->depth, status) &&
       kernel_allocate_output_dims(context, 0, 0, NULL, &out, status);
  return finish(made, ok, ok ? (VariantObject **)out->data : NULL);
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

/* --- RaggedTensorFromVariant --- */

typedef struct FromVariantState {
  int64_t input_rank, output_rank;
} FromVariantState;

static bool from_variant_construct(const KernelConstruction *construction, void *memory, Status *status) {
  FromVariantState *state = memory;
  return node_attr_int(construction->node, "input_ragged_rank", &state->input_rank, status) &&
         node_attr_int(construction->node, "output_ragged_rank", &state->output_rank, status);
}

static const RaggedVariant *ragged_at(const Tensor *encoded, int64_t i) {
  const VariantObject *object = ((VariantObject *const *)encoded->data)[i];
  return object && object->methods == &kRaggedMethods ? (const RaggedVariant *)object : NULL;
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
  const RaggedVariant *ragged = ragged_at(encoded, i);
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
  if (values_of(ragged)->dtype != type)
    return status_invalid(status, "Expected values Tensor dtype: %s, found: %s", dtype_name((int)type),
                          dtype_name((int)values_of(ragged)->dtype));
  if (encoded->shape.rank > 0 && values_of(ragged)->shape.rank < 1)
    return refuse_print("Ragged values must have rank >= 1; encoded scalar element at index", i,
                        "has values Tensor:", values_of(ragged), status);
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
    const RaggedVariant *ragged = ragged_at(encoded, i);
    total +=
        levels > 0 ? tensor_num_elements(&ragged->tensors[0]) - 1 : shape_dim(&values_of(ragged)->shape, 0);
    set_split(splits, i + 1, total);
  }
  return true;
}

static bool give_inner_splits(KernelContext *context, int level, Status *status) {
  const Tensor *encoded = context->inputs[0];
  int64_t count = tensor_num_elements(encoded), total = 0, at = 1, last = 0;
  Tensor *splits;
  for (int64_t i = 0; i < count; i++)
    total += tensor_num_elements(&ragged_at(encoded, i)->tensors[level]) - 1;
  TRY(kernel_allocate_output_dims(context, encoded->shape.rank + level, 1, (int64_t[]){total + 1}, &splits,
                                  status));
  set_split(splits, 0, 0);
  for (int64_t i = 0; i < count; i++) {
    const Tensor *from = &ragged_at(encoded, i)->tensors[level];
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
  const Shape *first = count > 0 ? &values_of(ragged_at(encoded, 0))->shape : NULL;
  char a[SHAPE_TEXT_CAPACITY], b[SHAPE_TEXT_CAPACITY];
  for (int64_t i = 0; i < count; i++) {
    const Shape *own = &values_of(ragged_at(encoded, i))->shape;
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
    const Tensor *values = values_of(ragged_at(encoded, i));
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
      TRY(kernel_set_output(context, i, &ragged_at(encoded, 0)->tensors[i], NULL, status));
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

/* --- RaggedTensorToVariantGradient --- */

/* Writes the gradient of each row. A row without one, because nothing depends on it, has zeros. */
static bool join_rows(const Tensor *encoded, const Tensor *splits, int64_t length, Tensor *out,
                      Status *status) {
  int64_t at = 0, total = tensor_num_elements(out);
  array_clear(out);
  for (int64_t i = 0; i < tensor_num_elements(encoded); i++) {
    const RaggedVariant *ragged = ragged_at(encoded, i);
    int64_t row = 1;
    if (splits->shape.rank > 0 && i + 1 < tensor_num_elements(splits))
      row = tensor_int_at(splits, i + 1) - tensor_int_at(splits, i);
    int64_t count = ragged ? tensor_num_elements(values_of(ragged)) : row * length;
    if (ragged && values_of(ragged)->dtype != out->dtype)
      return status_invalid(status, "Expected values Tensor dtype: %s, found: %s",
                            dtype_name((int)out->dtype), dtype_name((int)values_of(ragged)->dtype));
    if (count < 0 || count > total - at) return status_invalid(status, "The gradients have too many values");
    ArrayBox box = {.to_offset = at};
    array_box_add(&box, count, 1, 1);
    if (ragged) TRY(array_box_copy(&box, values_of(ragged), out, NULL, status));
    at += count;
  }
  return at == total || status_invalid(status, "The gradients have %lld values instead of %lld",
                                       (long long)at, (long long)total);
}

static bool variant_gradient(KernelContext *context, Status *status) {
  const Tensor *encoded = context->inputs[0], *splits = context->inputs[1], *sizes = context->inputs[2];
  int64_t dims[SHAPE_MAX_RANK], length = 1;
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
  for (int d = 1; d < rank; d++) length *= dims[d];
  return join_rows(encoded, splits, length, out, status);
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
