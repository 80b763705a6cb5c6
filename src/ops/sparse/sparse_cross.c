/* SparseCross, SparseCrossV2 and SparseCrossHashed: crosses of the features in rows of sparse and dense
 * matrices. */
#include <string.h>

#include "base/alloc.h"
#include "op/node_def.h"
#include "op/op_registry.h"
#include "ops/sparse/crosses.h"
#include "ops/sparse/sparse_tensor.h"

/* The inputs: N indices, N values, N sizes, and the dense matrices. */
typedef struct CrossState {
  int sparse, dense; /* the numbers of columns */
  int64_t num_buckets, key;
  DataType internal;
} CrossState;

static bool count_columns(const NodeDef *node, CrossState *state, Status *status) {
  int64_t count;
  const AttrListValue *sparse, *dense;
  TRY(node_attr_int(node, "N", &count, status));
  TRY(node_attr_list(node, "sparse_types", ATTR_TYPE, &sparse, status));
  TRY(node_attr_list(node, "dense_types", ATTR_TYPE, &dense, status));
  int64_t types = sparse ? (int64_t)sparse->n_type : 0;
  state->sparse = (int)count;
  state->dense = dense ? (int)dense->n_type : 0;
  return types == count ||
         status_invalid(status, "Expected %lld input values, got %lld", (long long)count, (long long)types);
}

static bool columns_construct(const KernelConstruction *construction, void *memory, Status *status) {
  return count_columns(construction->node, memory, status);
}

static bool cross_construct(const KernelConstruction *construction, void *memory, Status *status) {
  CrossState *state = memory;
  const NodeDef *node = construction->node;
  return count_columns(node, state, status) &&
         node_attr_int(node, "num_buckets", &state->num_buckets, status) &&
         node_attr_int(node, "hash_key", &state->key, status) &&
         node_attr_type(node, "internal_type", &state->internal, status);
}

/* --- checks --- */

static bool check_indices(const Tensor *indices, int i, Status *status) {
  char text[SHAPE_TEXT_CAPACITY];
  if (indices->shape.rank != 2)
    return status_invalid(status, "Input indices should be a matrix but received shape %s at position %d",
                          shape_text(&indices->shape, text), i);
  return shape_dim(&indices->shape, 1) == 2 ||
         status_invalid(status, "Expected D2 of index to be 2 got %lld at position %d",
                        (long long)shape_dim(&indices->shape, 1), i);
}

static bool check_internal(const CrossState *state, const Tensor *values, const char *name, Status *status) {
  return state->internal != DT_STRING || values->dtype != DT_INT64 ||
         status_invalid(status, "%s should be of internal type %d but received %d", name, (int)DT_STRING,
                        (int)DT_INT64);
}

static bool check_values(const Tensor *values, int64_t count, int i, Status *status) {
  char text[SHAPE_TEXT_CAPACITY];
  if (values->shape.rank != 1)
    return status_invalid(status, "Input values should be a vector but received shape %s at position %d",
                          shape_text(&values->shape, text), i);
  return tensor_num_elements(values) == count ||
         status_invalid(status, "Expected size of values to be %lld got %lld at position %d",
                        (long long)count, (long long)tensor_num_elements(values), i);
}

static bool check_sizes(const Tensor *sizes, int i, Status *status) {
  char text[SHAPE_TEXT_CAPACITY];
  if (sizes->shape.rank != 1)
    return status_invalid(status, "Input shapes should be a vector but received shape %s at position %d",
                          shape_text(&sizes->shape, text), i);
  return tensor_num_elements(sizes) == 2 ||
         status_invalid(status, "shape should imply a 2D tensor, but got %s at position %d",
                        shape_text(&sizes->shape, text), i);
}

static bool check_columns(KernelContext *context, Status *status) {
  const CrossState *state = context->state;
  const Tensor *const *inputs = context->inputs;
  int n = state->sparse;
  char text[SHAPE_TEXT_CAPACITY];
  for (int i = 0; i < n; i++) TRY(check_indices(inputs[i], i, status));
  for (int i = 0; i < n; i++) {
    TRY(check_internal(state, inputs[n + i], "Input values", status));
    TRY(check_values(inputs[n + i], shape_dim(&inputs[i]->shape, 0), i, status));
  }
  for (int i = 0; i < n; i++) TRY(check_sizes(inputs[2 * n + i], i, status));
  for (int i = 0; i < state->dense; i++) {
    const Tensor *dense = inputs[3 * n + i];
    TRY(check_internal(state, dense, "Dense inputs", status));
    if (dense->shape.rank != 2)
      return status_invalid(status, "Dense inputs should be a matrix but received shape %s at position %d",
                            shape_text(&dense->shape, text), i);
  }
  return true;
}

/* The number of rows, which all columns must have. */
static bool check_rows(KernelContext *context, int64_t *rows, Status *status) {
  const CrossState *state = context->state;
  const Tensor *const *sizes = context->inputs + 2 * state->sparse, *const *dense = sizes + state->sparse;
  *rows = 0;
  if (state->sparse > 0) *rows = tensor_i64(sizes[0])[0];
  else if (state->dense > 0) *rows = shape_dim(&dense[0]->shape, 0);
  for (int i = 0; i < state->sparse; i++) {
    if (tensor_i64(sizes[i])[0] != *rows)
      return status_invalid(status, "Expected batch size %lld got %lld at position %d", (long long)*rows,
                            (long long)tensor_i64(sizes[i])[0], i);
  }
  for (int i = 0; i < state->dense; i++) {
    if (shape_dim(&dense[i]->shape, 0) != *rows)
      return status_invalid(status, "Expected batch size %lld got %lld at dense tensor %d", (long long)*rows,
                            (long long)shape_dim(&dense[i]->shape, 0), i);
  }
  return *rows >= 0 || status_invalid(status, "Dimension %lld must be >= 0", (long long)*rows);
}

/* --- kernels --- */

/* Writes [row, number of the cross in it]. */
static void write_indices(void *arg, int64_t row, int64_t begin, int64_t count) {
  int64_t *indices = (int64_t *)arg + 2 * begin;
  for (int64_t i = 0; i < count; i++) {
    indices[2 * i] = row;
    indices[2 * i + 1] = i;
  }
}

static bool give_crosses(KernelContext *context, Crossing *crossing, Status *status) {
  int64_t total = 0, longest = 0;
  Tensor *indices, *values;
  TRY(crosses_count(crossing, &total, &longest, status));
  TRY(kernel_allocate_output_dims(context, 0, 2, (int64_t[]){total, 2}, &indices, status));
  TRY(kernel_allocate_output_dims(context, 1, 1, &total, &values, status));
  TRY(crosses_write(crossing, values, write_indices, indices->data, status));
  return sparse_give_sizes(context, 2, (const int64_t[]){crossing->rows, longest}, 2, status);
}

static bool run_crossing(KernelContext *context, Crossing *crossing, Status *status) {
  const CrossState *state = context->state;
  const Tensor *const *inputs = context->inputs;
  int n = state->sparse;
  TRY(check_columns(context, status));
  TRY(check_rows(context, &crossing->rows, status));
  crossing->count = n + state->dense;
  crossing->columns = mem_calloc(crossing->count, sizeof *crossing->columns);
  if (!crossing->columns) return status_oom(status, "the columns of a cross");
  for (int i = 0; i < n; i++) {
    crossing->columns[i].indices = inputs[i];
    crossing->columns[i].values = inputs[n + i];
  }
  for (int i = 0; i < state->dense; i++) {
    crossing->columns[n + i].values = inputs[3 * n + i];
    crossing->columns[n + i].width = shape_dim(&inputs[3 * n + i]->shape, 1);
  }
  bool ok = give_crosses(context, crossing, status);
  mem_free(crossing->columns);
  return ok;
}

static bool cross(KernelContext *context, Status *status) {
  const CrossState *state = context->state;
  bool text = context->output_types[1] == DT_STRING;
  Crossing crossing = {.mode = text ? CROSS_TEXT : CROSS_HASH,
                       .separator = str_of("_X_"),
                       .key = (uint64_t)state->key,
                       .num_buckets = state->num_buckets};
  return run_crossing(context, &crossing, status);
}

static bool cross_v2(KernelContext *context, Status *status) {
  const Tensor *separator = context->inputs[context->num_inputs - 1];
  TRY(check_columns(context, status));
  if (!tensor_is_scalar(separator)) {
    StrBuf text = {0};
    tensor_print(separator, 3, &text);
    if (strbuf_ok(&text, status))
      status_invalid(status, "Input separator should be a scalar. Received: %s", strbuf_text(&text));
    strbuf_free(&text);
    return false;
  }
  Crossing crossing = {.mode = CROSS_TEXT, .separator = tstring_view(tensor_strings(separator))};
  return run_crossing(context, &crossing, status);
}

static bool cross_hashed(KernelContext *context, Status *status) {
  const Tensor *const *last = context->inputs + context->num_inputs - 3, *salt = last[2];
  if (tensor_num_elements(last[0]) < 1 || tensor_num_elements(last[1]) < 1)
    return status_invalid(status, "num_buckets and strong_hash must have a value");
  if (tensor_num_elements(salt) != 2)
    return status_invalid(status, "Input \"salt\" must have length 2 but has length %lld",
                          (long long)tensor_num_elements(salt));
  Crossing crossing = {.mode = tensor_bool(last[1])[0] ? CROSS_STRONG_HASH : CROSS_PLAIN_HASH,
                       .num_buckets = tensor_i64(last[0])[0]};
  memcpy(crossing.salt, tensor_i64(salt), sizeof crossing.salt);
  return run_crossing(context, &crossing, status);
}

static bool cross_shape(InferenceContext *c, Status *status) {
  DimHandle two;
  return dim_ok(dim_make(c, 2), &two, status) && sparse_set_shapes(c, 0, NULL, two, status);
}

#define COLUMNS "indices: N * int64", "values: sparse_types", "shapes: N * int64", "dense_inputs: dense_types"
#define COLUMN_TYPES "sparse_types: list({int64, string}) >= 0", "dense_types: list({int64, string}) >= 0"
#define CROSSES(type) \
  .outputs = {"output_indices: int64", "output_values: " type, "output_shape: int64"}, .shape = cross_shape
#define CROSS_STATE(function) .state_size = sizeof(CrossState), .construct = function

const OpRegistration kOpSparseCross = {
    .name = "SparseCross",
    .inputs = {COLUMNS},
    CROSSES("out_type"),
    .attrs = {"N: int >= 0", "hashed_output: bool", "num_buckets: int >= 0", "hash_key: int", COLUMN_TYPES,
              "out_type: {int64, string}", "internal_type: {int64, string}"},
    .gradient = NO_GRADIENT,
    CROSS_STATE(cross_construct),
    .kernels = {{DT_INT64, cross}, {DT_STRING, cross}},
};

const OpRegistration kOpSparseCrossV2 = {
    .name = "SparseCrossV2",
    .inputs = {COLUMNS, "sep: string"},
    CROSSES("string"),
    .attrs = {"N: int >= 0", COLUMN_TYPES},
    .gradient = NO_GRADIENT,
    CROSS_STATE(columns_construct),
    .kernels = {{DT_INVALID, cross_v2}},
};

const OpRegistration kOpSparseCrossHashed = {
    .name = "SparseCrossHashed",
    .inputs = {COLUMNS, "num_buckets: int64", "strong_hash: bool", "salt: int64"},
    CROSSES("int64"),
    .attrs = {"N: int >= 0", COLUMN_TYPES},
    .gradient = NO_GRADIENT,
    CROSS_STATE(columns_construct),
    .kernels = {{DT_INVALID, cross_hashed}},
};
