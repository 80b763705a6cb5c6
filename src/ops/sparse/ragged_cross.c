/* RaggedCross: crosses of the features in rows of ragged, sparse and dense matrices. */
#include "base/alloc.h"
#include "op/node_def.h"
#include "op/op_registry.h"
#include "ops/sparse/crosses.h"
#include "ops/sparse/ragged_splits.h"

/* The inputs: ragged values and splits, sparse indices, values and sizes, and dense matrices. `order` has a
 * letter R, S or D for each column. */
typedef struct RaggedCrossState {
  int ragged, sparse, dense;
  Str order;
  int64_t num_buckets, key;
} RaggedCrossState;

static bool list_length(const NodeDef *node, const char *name, int *length, Status *status) {
  const AttrListValue *list;
  TRY(node_attr_list(node, name, ATTR_TYPE, &list, status));
  *length = list ? (int)list->n_type : 0;
  return true;
}

static bool cross_construct(const KernelConstruction *construction, void *memory, Status *status) {
  RaggedCrossState *state = memory;
  const NodeDef *node = construction->node;
  int splits, values;
  int64_t sparse;
  TRY(node_attr_int(node, "num_buckets", &state->num_buckets, status));
  TRY(node_attr_int(node, "hash_key", &state->key, status));
  TRY(node_attr_int(node, "Nsparse", &sparse, status));
  TRY(list_length(node, "ragged_values_types", &state->ragged, status));
  TRY(list_length(node, "ragged_splits_types", &splits, status));
  TRY(list_length(node, "sparse_values_types", &values, status));
  TRY(list_length(node, "dense_types", &state->dense, status));
  TRY(node_attr_string(node, "input_order", &state->order, status));
  state->sparse = (int)sparse;
  if (state->ragged != splits)
    return status_invalid(status, "ragged values and splits must have the same length");
  if (sparse != values) return status_invalid(status, "sparse indices and values must have the same length");
  return (size_t)(state->ragged + state->sparse + state->dense) == state->order.length ||
         status_invalid(status, "Invalid length for input_order");
}

/* --- checks --- */

static bool refuse_rank(Status *status) {
  return status_invalid(status, "tf.ragged.cross only supports inputs with rank=2.");
}

static bool check_ranks(KernelContext *context, Status *status) {
  const RaggedCrossState *state = context->state;
  const Tensor *const *ragged = context->inputs, *const *sparse = ragged + 2 * state->ragged,
                      *const *dense = sparse + 3 * state->sparse;
  for (int i = 0; i < state->ragged; i++) {
    const Tensor *values = ragged[i], *splits = ragged[state->ragged + i];
    if (values->shape.rank != 1 || splits->shape.rank != 1) return refuse_rank(status);
    TRY(check_row_splits(splits, tensor_num_elements(values), status));
  }
  for (int i = 0; i < state->sparse; i++) {
    const Tensor *indices = sparse[i], *values = sparse[state->sparse + i],
                 *sizes = sparse[2 * state->sparse + i];
    if (indices->shape.rank != 2 || values->shape.rank != 1 || sizes->shape.rank != 1)
      return status_invalid(status, "Invalid SparseTensor %d", i);
    if (tensor_num_elements(sizes) != 2) return refuse_rank(status);
    if (shape_dim(&indices->shape, 1) != 2 || shape_dim(&indices->shape, 0) < tensor_num_elements(values))
      return status_invalid(status, "Invalid SparseTensor %d", i);
  }
  for (int i = 0; i < state->dense; i++) {
    if (dense[i]->shape.rank != 2) return refuse_rank(status);
  }
  return true;
}

/* The number of rows of column `i`, in the order of the inputs. */
static int64_t rows_of(KernelContext *context, int i) {
  const RaggedCrossState *state = context->state;
  const Tensor *const *ragged = context->inputs, *const *sparse = ragged + 2 * state->ragged;
  if (i < state->ragged) return tensor_num_elements(ragged[state->ragged + i]) - 1;
  i -= state->ragged;
  if (i < state->sparse) return tensor_i64(sparse[2 * state->sparse + i])[0];
  return shape_dim(&sparse[3 * state->sparse + i - state->sparse]->shape, 0);
}

static bool check_rows(KernelContext *context, int64_t *rows, Status *status) {
  const RaggedCrossState *state = context->state;
  int count = state->ragged + state->sparse + state->dense;
  *rows = count > 0 ? rows_of(context, 0) : 0;
  for (int i = 1; i < count; i++) {
    if (rows_of(context, i) != *rows)
      return status_invalid(status, "inputs must all have the same batch dimension size.");
  }
  return *rows >= 0 || status_invalid(status, "Dimension %lld must be >= 0", (long long)*rows);
}

/* --- columns in the order of the letters --- */

static bool refuse_order(const RaggedCrossState *state, const char *kind, int next, int count,
                         const char *items, Status *status) {
  return status_invalid(status,
                        "input_order \"%.*s\" specifies reading a %s at index %d from a list of %d %s.",
                        (int)state->order.length, state->order.data, kind, next, count, items);
}

static bool fill_columns(KernelContext *context, CrossColumn *columns, Status *status) {
  const RaggedCrossState *state = context->state;
  const Tensor *const *ragged = context->inputs, *const *sparse = ragged + 2 * state->ragged,
                      *const *dense = sparse + 3 * state->sparse;
  int r = 0, s = 0, d = 0;
  for (size_t i = 0; i < state->order.length; i++) {
    CrossColumn *column = &columns[i];
    char letter = state->order.data[i];
    if (letter == 'R') {
      if (r >= state->ragged)
        return refuse_order(state, "ragged tensor value", r, state->ragged, "values", status);
      column->splits = ragged[state->ragged + r];
      column->values = ragged[r++];
    } else if (letter == 'S') {
      if (s >= state->sparse)
        return refuse_order(state, "sparse tensor value", s, state->sparse, "values", status);
      column->values = sparse[state->sparse + s];
      column->indices = sparse[s++];
      column->loose = true;
    } else if (letter == 'D') {
      if (d >= state->dense) return refuse_order(state, "dense tensor", d, state->dense, "tensors", status);
      column->values = dense[d++];
      column->width = shape_dim(&column->values->shape, 1);
    } else {
      return status_invalid(status, "Unexpected input_order value.");
    }
  }
  return true;
}

static void write_split(void *arg, int64_t row, int64_t begin, int64_t count) {
  set_split(arg, row + 1, begin + count);
}

static bool give_crosses(KernelContext *context, Crossing *crossing, Status *status) {
  int64_t total = 0, longest = 0;
  Tensor *values, *splits;
  TRY(fill_columns(context, crossing->columns, status));
  TRY(crosses_count(crossing, &total, &longest, status));
  if (context->output_types[1] == DT_INT32 && total > INT32_MAX)
    return status_invalid(status, "The crosses are too many for int32 splits");
  TRY(kernel_allocate_output_dims(context, 0, 1, &total, &values, status));
  TRY(kernel_allocate_output_dims(context, 1, 1, (int64_t[]){crossing->rows + 1}, &splits, status));
  set_split(splits, 0, 0);
  return crosses_write(crossing, values, write_split, splits, status);
}

static bool ragged_cross(KernelContext *context, Status *status) {
  const RaggedCrossState *state = context->state;
  Crossing crossing = {.mode = context->output_types[0] == DT_STRING ? CROSS_TEXT : CROSS_HASH,
                       .separator = str_of("_X_"),
                       .key = (uint64_t)state->key,
                       .num_buckets = state->num_buckets,
                       .count = (int)state->order.length};
  TRY(check_ranks(context, status));
  TRY(check_rows(context, &crossing.rows, status));
  crossing.columns = mem_calloc(crossing.count, sizeof *crossing.columns);
  if (!crossing.columns) return status_oom(status, "the columns of a cross");
  bool ok = give_crosses(context, &crossing, status);
  mem_free(crossing.columns);
  return ok;
}

static bool ragged_cross_shape(InferenceContext *c, Status *status) {
  ShapeHandle vector;
  for (int i = 0; i < 2; i++) {
    TRY(shape_ok(shape_unknown_of_rank(c, 1), &vector, status));
    shape_set_output(c, i, vector);
  }
  return true;
}

const OpRegistration kOpRaggedCross = {
    .name = "RaggedCross",
    .inputs = {"ragged_values: ragged_values_types", "ragged_row_splits: ragged_splits_types",
               "sparse_indices: Nsparse * int64", "sparse_values: sparse_values_types",
               "sparse_shape: Nsparse * int64", "dense_inputs: dense_types"},
    .outputs = {"output_values: out_values_type", "output_row_splits: out_row_splits_type"},
    .attrs = {"Nsparse: int >= 0", "input_order: string", "hashed_output: bool", "num_buckets: int >= 0",
              "hash_key: int", "ragged_values_types: list({int64, string}) >= 0",
              "ragged_splits_types: list({int32, int64}) >= 0",
              "sparse_values_types: list({int64, string}) >= 0", "dense_types: list({int64, string}) >= 0",
              "out_values_type: {int64, string}", "out_row_splits_type: {int32, int64}"},
    .shape = ragged_cross_shape,
    .gradient = NO_GRADIENT,
    .state_size = sizeof(RaggedCrossState),
    .construct = cross_construct,
    .kernels = {{DT_INT64, ragged_cross}, {DT_STRING, ragged_cross}},
};
