/* SetSize, DenseToDenseSetOperation, DenseToSparseSetOperation and SparseToSparseSetOperation: the last axis
 * holds sets, as dense rows or as the entries of a sparse row. */
#include <string.h>

#include "base/alloc.h"
#include "op/node_def.h"
#include "op/op_registry.h"
#include "ops/support/array_box.h"
#include "ops/support/element_types.h"
#include "ops/sparse/element_order.h"
#include "ops/sparse/element_rows.h"
#include "ops/sparse/position_sort.h"
#include "ops/sparse/sparse_tensor.h"

typedef enum SetOperation { A_MINUS_B, B_MINUS_A, INTERSECTION, UNION } SetOperation;

typedef struct SetState {
  SetOperation operation;
  bool validate;
} SetState;

static bool size_construct(const KernelConstruction *construction, void *memory, Status *status) {
  return node_attr_bool(construction->node, "validate_indices", &((SetState *)memory)->validate, status);
}

static bool is_name(Str text, const char *name) {
  bool equal = text.length == strlen(name);
  for (size_t i = 0; equal && i < text.length; i++) {
    char c = text.data[i];
    equal = (c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c) == name[i];
  }
  return equal;
}

static bool operation_construct(const KernelConstruction *construction, void *memory, Status *status) {
  static const char *const kNames[] = {"a-b", "b-a", "intersection", "union"};
  SetState *state = memory;
  Str name;
  TRY(size_construct(construction, memory, status));
  TRY(node_attr_string(construction->node, "set_operation", &name, status));
  for (int i = 0; i < 4; i++) {
    state->operation = (SetOperation)i;
    if (is_name(name, kNames[i])) return true;
  }
  return status_invalid(status, "Invalid set_operation %.*s.", (int)name.length, name.data);
}

/* --- one of the two inputs --- */

/* A dense tensor, or a sparse one with a cursor at its next row of entries. */
typedef struct SetInput {
  const Tensor *values;
  bool is_sparse;
  SparseTensor entries;
  int64_t cursor, end; /* the current row of entries */
  const int64_t *sizes;
  int rank;
} SetInput;

static bool open_sparse(const Tensor *const *inputs, bool validate, SetInput *input, Status *status) {
  if (inputs[2]->shape.rank != 1) return status_invalid(status, "Shape must be a 1D tensor.");
  TRY(sparse_check_sizes(inputs[2], status));
  if (tensor_num_elements(inputs[2]) < 2)
    return status_invalid(status, "Invalid rank %lld.", (long long)tensor_num_elements(inputs[2]));
  TRY(sparse_create(inputs, &input->entries, status));
  if (validate) TRY(sparse_check_indices(&input->entries, status));
  input->is_sparse = true;
  input->values = input->entries.values;
  input->sizes = tensor_i64(inputs[2]);
  input->rank = input->entries.rank;
  return true;
}

static bool refuse_rank(const Shape *shape, Status *status) {
  char text[SHAPE_TEXT_CAPACITY];
  return status_invalid(status, "Shape %s has rank %d < 2", shape_text(shape, text), shape->rank);
}

static bool open_dense(const Tensor *values, SetInput *input, Status *status) {
  if (values->shape.rank < 2) return refuse_rank(&values->shape, status);
  input->values = values;
  input->sizes = shape_dims(&values->shape);
  input->rank = values->shape.rank;
  return true;
}

/* The numbers of a row of entries without the last axis; false at the end. */
static const int64_t *next_row(SetInput *input) {
  if (input->cursor >= input->entries.count) return NULL;
  input->end = sparse_run_end(&input->entries, NULL, input->cursor, NULL, input->rank - 1);
  return sparse_index(&input->entries, input->cursor);
}

/* Checks what the validation has not. */
static bool check_row(const SetInput *input, Status *status) {
  for (int d = 0; d < input->rank; d++) {
    if (input->sizes[d] <= 0)
      return status_set(status, CODE_INTERNAL, "Invalid dim_size[%d] = %lld.", d, (long long)input->sizes[d]);
    for (int64_t i = input->cursor; i < input->end; i++) {
      int64_t index = sparse_index(&input->entries, i)[d];
      if (index < 0 || index >= input->sizes[d])
        return status_set(status, CODE_INTERNAL, "indices[%lld, %d] expected < %lld, got %lld.",
                          (long long)(i - input->cursor), d, (long long)input->sizes[d], (long long)index);
    }
  }
  return true;
}

/* The distinct elements of a row, in order: `members` are their positions. */
typedef struct Set {
  const Tensor *values;
  int64_t *members, *scratch, count;
} Set;

static int compare_members(const void *context, int64_t a, int64_t b) {
  return compare_elements(context, a, context, b);
}

static void make_set(Set *set, int64_t begin, int64_t end) {
  int64_t count = end - begin;
  for (int64_t i = 0; i < count; i++) set->members[i] = begin + i;
  sort_positions(set->members, count, set->scratch, compare_members, set->values);
  set->count = 0;
  for (int64_t i = 0; i < count; i++) {
    if (i == 0 || compare_members(set->values, set->members[set->count - 1], set->members[i]) != 0)
      set->members[set->count++] = set->members[i];
  }
}

/* --- SetSize --- */

static bool count_sets(KernelContext *context, SetInput *input, Set *set, Status *status) {
  Tensor *out;
  int rank = input->rank - 1;
  TRY(kernel_allocate_output_dims(context, 0, rank, input->sizes, &out, status));
  array_clear(out);
  for (const int64_t *index; (index = next_row(input)); input->cursor = input->end) {
    TRY(check_row(input, status));
    int64_t at = 0;
    for (int d = 0; d < rank; d++) at = at * input->sizes[d] + index[d];
    make_set(set, input->cursor, input->end);
    tensor_i32(out)[at] = (int32_t)set->count;
  }
  return true;
}

static bool set_size(KernelContext *context, Status *status) {
  SetInput input = {0};
  TRY(open_sparse(context->inputs, ((const SetState *)context->state)->validate, &input, status));
  int64_t count = input.entries.count, *memory = mem_calloc(count, 2 * sizeof *memory);
  if (!memory) return status_oom(status, "a set");
  Set set = {.values = input.values, .members = memory, .scratch = memory + count};
  bool ok = count_sets(context, &input, &set, status);
  mem_free(memory);
  return ok;
}

#define SET_TYPES "T: {int8, int16, int32, int64, uint8, uint16, string}"
#define SET_KERNELS(f) \
  INT_KERNELS(f), SMALL_KERNELS(f), { DT_STRING, f }

const OpRegistration kOpSetSize = {
    .name = "SetSize",
    .inputs = {"set_indices: int64", "set_values: T", "set_shape: int64"},
    .outputs = {"size: int32"},
    .attrs = {"validate_indices: bool = true", SET_TYPES},
    .shape = shape_unknown_outputs,
    .gradient = NO_GRADIENT,
    .state_size = sizeof(SetState),
    .construct = size_construct,
    .kernels = {SET_KERNELS(set_size)},
};

/* --- operations --- */

/* The results so far: for each value its index, and the input and position that it comes from. */
typedef struct Results {
  int64_t *indices, *positions, count, longest;
  bool *from_b;
} Results;

typedef struct Operands {
  SetOperation operation;
  SetInput a, b;
  Set sets[2];
  Results results;
} Operands;

static bool open_operands(KernelContext *context, Operands *o, Status *status) {
  const SetState *state = context->state;
  const Tensor *const *inputs = context->inputs;
  bool a_sparse = context->num_inputs == 6, b_sparse = context->num_inputs > 2;
  o->operation = state->operation;
  if (a_sparse) TRY(open_sparse(inputs, state->validate, &o->a, status));
  if (b_sparse) TRY(open_sparse(inputs + (a_sparse ? 3 : 1), state->validate, &o->b, status));
  if (!a_sparse) TRY(open_dense(inputs[0], &o->a, status));
  if (!b_sparse) TRY(open_dense(inputs[1], &o->b, status));
  bool equal = o->a.rank == o->b.rank;
  for (int d = 0; equal && d < o->a.rank - 1; d++) equal = o->a.sizes[d] == o->b.sizes[d];
  if (equal) return true;
  Shape x = {0}, y = {0};
  char a[SHAPE_TEXT_CAPACITY], b[SHAPE_TEXT_CAPACITY];
  if (shape_set(&x, o->a.rank - 1, o->a.sizes, status) && shape_set(&y, o->b.rank - 1, o->b.sizes, status))
    status_invalid(status, "Mismatched shapes %s vs %s", shape_text(&x, a), shape_text(&y, b));
  shape_clear(&x);
  shape_clear(&y);
  return false;
}

static void add_result(Operands *o, const int64_t *row, int64_t number, int which, int64_t member) {
  Results *results = &o->results;
  int64_t *index = results->indices + results->count * o->a.rank;
  memcpy(index, row, (size_t)(o->a.rank - 1) * sizeof *index);
  index[o->a.rank - 1] = number;
  results->positions[results->count] = o->sets[which].members[member];
  results->from_b[results->count++] = which == 1;
}

/* Whether a value that is in a, in b or in both belongs to the result. */
static bool belongs(SetOperation operation, bool in_a, bool in_b) {
  switch (operation) {
    case A_MINUS_B: return !in_b;
    case B_MINUS_A: return !in_a;
    case INTERSECTION: return in_a && in_b;
    default: return true;
  }
}

/* Merges the two sets of a row. */
static void operate(Operands *o, const int64_t *row) {
  const Set *a = &o->sets[0], *b = &o->sets[1];
  int64_t i = 0, k = 0, number = 0;
  while (i < a->count || k < b->count) {
    int order = i == a->count   ? 1
                : k == b->count ? -1
                                : compare_elements(a->values, a->members[i], b->values, b->members[k]);
    if (belongs(o->operation, order <= 0, order >= 0))
      add_result(o, row, number++, order > 0, order > 0 ? k : i);
    i += order <= 0;
    k += order >= 0;
  }
  if (number > o->results.longest) o->results.longest = number;
}

/* Takes the current row of entries as a set. */
static bool take_row(SetInput *input, Set *set, Status *status) {
  TRY(check_row(input, status));
  make_set(set, input->cursor, input->end);
  input->cursor = input->end;
  return true;
}

/* All rows in order; a sparse row takes part when its turn comes. */
static bool operate_dense(Operands *o, Status *status) {
  int64_t row[SHAPE_MAX_RANK] = {0}, rows = 1, width = o->a.sizes[o->a.rank - 1];
  for (int d = 0; d < o->a.rank - 1; d++) rows *= o->a.sizes[d];
  for (int64_t i = 0; i < rows; i++) {
    int64_t rest = i;
    for (int d = o->a.rank - 2; d >= 0; d--) {
      row[d] = rest % o->a.sizes[d];
      rest /= o->a.sizes[d];
    }
    make_set(&o->sets[0], i * width, (i + 1) * width);
    o->sets[1].count = 0;
    const int64_t *index = o->b.is_sparse ? next_row(&o->b) : NULL;
    if (index && sparse_compare(index, row, o->a.rank - 1) == 0) TRY(take_row(&o->b, &o->sets[1], status));
    int64_t b_width = o->b.sizes[o->b.rank - 1];
    if (!o->b.is_sparse) make_set(&o->sets[1], i * b_width, (i + 1) * b_width);
    operate(o, row);
  }
  return true;
}

/* The rows that have entries in either tensor. */
static bool operate_sparse(Operands *o, Status *status) {
  for (;;) {
    const int64_t *a = next_row(&o->a), *b = next_row(&o->b);
    if (!a && !b) return true;
    int order = !a ? 1 : !b ? -1 : sparse_compare(a, b, o->a.rank - 1);
    o->sets[0].count = o->sets[1].count = 0;
    if (order <= 0) TRY(take_row(&o->a, &o->sets[0], status));
    if (order >= 0) TRY(take_row(&o->b, &o->sets[1], status));
    operate(o, order >= 0 ? b : a);
  }
}

static bool give_results(KernelContext *context, const Operands *o, Status *status) {
  const Results *results = &o->results;
  int rank = o->a.rank;
  int64_t sizes[SHAPE_MAX_RANK];
  Tensor *indices, *values;
  TRY(kernel_allocate_output_dims(context, 0, 2, (int64_t[]){results->count, rank}, &indices, status));
  TRY(kernel_allocate_output_dims(context, 1, 1, &results->count, &values, status));
  if (results->count > 0)
    memcpy(indices->data, results->indices, (size_t)(results->count * rank) * sizeof *results->indices);
  for (int64_t i = 0; i < results->count; i++) {
    const Tensor *from = results->from_b[i] ? o->b.values : o->a.values;
    TRY(copy_elements(from, results->positions[i], values, i, 1, status));
  }
  memcpy(sizes, o->a.sizes, (size_t)rank * sizeof *sizes);
  sizes[rank - 1] = results->longest;
  return sparse_give_sizes(context, 2, sizes, rank, status);
}

static bool operate_on(KernelContext *context, Operands *o, Status *status) {
  int64_t a = tensor_num_elements(o->a.values), b = tensor_num_elements(o->b.values), both = a + b;
  o->sets[0] = (Set){.values = o->a.values, .members = mem_calloc(a, 2 * sizeof(int64_t))};
  o->sets[1] = (Set){.values = o->b.values, .members = mem_calloc(b, 2 * sizeof(int64_t))};
  o->results.indices = mem_calloc(both, (o->a.rank + 1) * (int64_t)sizeof(int64_t));
  o->results.from_b = mem_calloc(both, sizeof(bool));
  bool ok = (o->sets[0].members && o->sets[1].members && o->results.indices && o->results.from_b) ||
            status_oom(status, "the sets");
  if (ok) {
    o->sets[0].scratch = o->sets[0].members + a;
    o->sets[1].scratch = o->sets[1].members + b;
    o->results.positions = o->results.indices + both * o->a.rank;
    ok = (o->a.is_sparse ? operate_sparse(o, status) : operate_dense(o, status)) &&
         give_results(context, o, status);
  }
  mem_free(o->sets[0].members);
  mem_free(o->sets[1].members);
  mem_free(o->results.indices);
  mem_free(o->results.from_b);
  return ok;
}

static bool set_operation(KernelContext *context, Status *status) {
  Operands operands = {0};
  return open_operands(context, &operands, status) && operate_on(context, &operands, status);
}

/* --- shapes --- */

static bool dense_dense_shape(InferenceContext *c, Status *status) {
  ShapeHandle a, b = shape_input(c, 1), any;
  DimHandle rank = NULL;
  TRY(shape_with_rank_at_least(c, shape_input(c, 0), 2, &a, status));
  if (shape_rank_known(a)) {
    TRY(shape_with_rank(c, b, shape_rank(a), &b, status));
    if (shape_rank_known(shape_input(c, 1))) {
      ShapeHandle x, y;
      TRY(shape_subshape(c, a, 0, -1, 1, &x, status));
      TRY(shape_subshape(c, b, 0, -1, 1, &y, status));
      TRY(shape_merge(c, x, y, &any, status));
    }
    TRY(dim_ok(dim_make(c, shape_rank(a)), &rank, status));
  } else {
    TRY(shape_with_rank_at_least(c, b, 2, &b, status));
    if (shape_rank_known(b)) TRY(dim_ok(dim_make(c, shape_rank(b)), &rank, status));
  }
  return sparse_set_shapes(c, 0, NULL, rank, status);
}

/* The rank of the sparse tensor whose three inputs begin with `first`; an unknown dimension if unknown. */
static bool sparse_rank(InferenceContext *c, int first, DimHandle *rank, Status *status) {
  DimHandle count;
  TRY(sparse_shapes(c, first, status));
  TRY(dim_merge(c, shape_dim_of(c, shape_input(c, first), 0), shape_dim_of(c, shape_input(c, first + 1), 0),
                &count, status));
  return dim_merge(c, shape_dim_of(c, shape_input(c, first), 1),
                   shape_dim_of(c, shape_input(c, first + 2), 0), rank, status);
}

static bool dense_sparse_shape(InferenceContext *c, Status *status) {
  DimHandle rank, own;
  TRY(sparse_rank(c, 1, &rank, status));
  ShapeHandle a = shape_input(c, 0);
  if (shape_rank_known(a)) {
    TRY(shape_with_rank_at_least(c, a, 2, &a, status));
    TRY(dim_ok(dim_make(c, shape_rank(a)), &own, status));
    TRY(dim_merge(c, rank, own, &rank, status));
  }
  return sparse_set_shapes(c, 0, NULL, rank, status);
}

static bool sparse_sparse_shape(InferenceContext *c, Status *status) {
  DimHandle a, b;
  return sparse_rank(c, 0, &a, status) && sparse_rank(c, 3, &b, status) && dim_merge(c, a, b, &a, status) &&
         sparse_set_shapes(c, 0, NULL, a, status);
}

#define SET_OPERATION                                                                                      \
  .outputs = {"result_indices: int64", "result_values: T", "result_shape: int64"},                         \
  .attrs = {"set_operation: string", "validate_indices: bool = true", SET_TYPES}, .gradient = NO_GRADIENT, \
  .state_size = sizeof(SetState), .construct = operation_construct, .kernels = {SET_KERNELS(set_operation)}

const OpRegistration kOpDenseToDenseSetOperation = {
    .name = "DenseToDenseSetOperation",
    .inputs = {"set1: T", "set2: T"},
    .shape = dense_dense_shape,
    SET_OPERATION,
};

const OpRegistration kOpDenseToSparseSetOperation = {
    .name = "DenseToSparseSetOperation",
    .inputs = {"set1: T", "set2_indices: int64", "set2_values: T", "set2_shape: int64"},
    .shape = dense_sparse_shape,
    SET_OPERATION,
};

const OpRegistration kOpSparseToSparseSetOperation = {
    .name = "SparseToSparseSetOperation",
    .inputs = {"set1_indices: int64", "set1_values: T", "set1_shape: int64", "set2_indices: int64",
               "set2_values: T", "set2_shape: int64"},
    .shape = sparse_sparse_shape,
    SET_OPERATION,
};
