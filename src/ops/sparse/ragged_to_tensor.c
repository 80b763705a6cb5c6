/* RaggedTensorToTensor: the rows of a ragged tensor, cut or filled up to equal lengths. */
#include <string.h>

#include "base/alloc.h"
#include "op/node_def.h"
#include "op/op_registry.h"
#include "ops/sparse/element_rows.h"

typedef enum PartitionType { FIRST_DIM_SIZE, VALUE_ROWIDS, ROW_SPLITS } PartitionType;

typedef struct RaggedState {
  PartitionType *types;
  int num_types;
} RaggedState;

static bool partition_type(const ProtobufCBinaryData *name, PartitionType *type, Status *status) {
  static const char *const kNames[] = {"FIRST_DIM_SIZE", "VALUE_ROWIDS", "ROW_SPLITS"};
  Str text = {(const char *)name->data, name->len};
  for (int i = 0; i < 3; i++) {
    *type = (PartitionType)i;
    if (str_equal_text(text, kNames[i])) return true;
  }
  return status_invalid(status, "Unknown string for partition info type: %.*s", (int)text.length, text.data);
}

static bool read_types(const NodeDef *node, Arena *arena, RaggedState *state, Status *status) {
  const AttrListValue *list;
  TRY(node_attr_list(node, "row_partition_types", ATTR_STRING, &list, status));
  state->num_types = list ? (int)list->n_s : 0;
  state->types = arena_calloc(arena, state->num_types + 1, sizeof *state->types);
  if (!state->types) return status_oom(status, "partition types");
  for (int i = 0; i < state->num_types; i++) TRY(partition_type(&list->s[i], &state->types[i], status));
  return true;
}

static bool ragged_construct(const KernelConstruction *construction, void *memory, Status *status) {
  RaggedState *state = memory;
  TRY(read_types(construction->node, construction->arena, state, status));
  if (state->num_types != construction->num_inputs - 3)
    return status_invalid(status, "Expected %d row partition types, got %d", construction->num_inputs - 3,
                          state->num_types);
  return state->num_types == 0 || state->types[0] != VALUE_ROWIDS ||
         status_invalid(status, "Cannot handle VALUE_ROWIDS in first dimension.");
}

/* --- sizes --- */

typedef struct RaggedPlan {
  const Tensor *const *partitions; /* those after FIRST_DIM_SIZE */
  const PartitionType *types;
  int num_partitions;
  int64_t rows;                     /* of the first dimension */
  int64_t dims[2 * SHAPE_MAX_RANK]; /* of the result */
  int rank, outer;                  /* outer: the dimensions that are not inside of values */
  int64_t inner;                    /* the elements of one value */
} RaggedPlan;

static int64_t longest_row(const Tensor *partition, PartitionType type) {
  int64_t longest = 0, run = 0, count = tensor_num_elements(partition);
  for (int64_t i = type == ROW_SPLITS ? 1 : 0; i < count; i++) {
    int64_t now = tensor_int_at(partition, i);
    if (type == ROW_SPLITS) run = now - tensor_int_at(partition, i - 1);
    else run = i > 0 && now == tensor_int_at(partition, i - 1) ? run + 1 : 1;
    if (run > longest) longest = run;
  }
  return longest;
}

static bool read_first(KernelContext *context, RaggedPlan *plan, Status *status) {
  const RaggedState *state = context->state;
  bool sized = state->types[0] == FIRST_DIM_SIZE;
  const Tensor *first = context->inputs[3];
  if (tensor_num_elements(first) == 0)
    return status_invalid(status, "Invalid first partition input. Tensor requires at least one element.");
  plan->rows = sized ? tensor_int_at(first, 0) : tensor_num_elements(first) - 1;
  if (plan->rows < 0) return status_invalid(status, "Invalid first partition input.");
  plan->partitions = context->inputs + 3 + sized;
  plan->types = state->types + sized;
  plan->num_partitions = state->num_types - sized;
  plan->outer = plan->num_partitions + 1;
  return true;
}

static void print_sizes(const Tensor *shape, StrBuf *text) {
  strbuf_append_char(text, '[');
  for (int64_t i = 0; i < tensor_num_elements(shape); i++) {
    long long size = (long long)tensor_int_at(shape, i);
    strbuf_append(text, i > 0 ? "," : "");
    if (size < 0) strbuf_append_char(text, '?');
    else strbuf_printf(text, "%lld", size);
  }
  strbuf_append_char(text, ']');
}

static bool refuse_shape(const Tensor *shape, const char *what, int64_t at, int64_t got, int64_t want,
                         Status *status) {
  StrBuf text = {0};
  print_sizes(shape, &text);
  if (strbuf_ok(&text, status)) {
    if (at < 0)
      status_invalid(status,
                     "rt_input.shape and shape=%s are incompatible: rt_input.rank = %lld but shape.rank = "
                     "%lld",
                     strbuf_text(&text), (long long)got, (long long)want);
    else
      status_invalid(status,
                     "rt_input.shape and shape=%s are incompatible: %s[%lld] = %lld but shape[%lld] = %lld",
                     strbuf_text(&text), what, (long long)at, (long long)got, (long long)at, (long long)want);
  }
  strbuf_free(&text);
  return false;
}

/* The sizes that the input "shape" does not give are those of the longest rows. */
static bool read_dims(KernelContext *context, RaggedPlan *plan, Status *status) {
  const Tensor *shape = context->inputs[0], *values = context->inputs[1];
  bool known = shape->shape.rank > 0;
  if (values->shape.rank < 1) return status_invalid(status, "values must have at least one dimension");
  plan->rank = plan->outer + values->shape.rank - 1;
  plan->inner = 1;
  if (known && tensor_num_elements(shape) != plan->rank)
    return refuse_shape(shape, "", -1, plan->rank, tensor_num_elements(shape), status);
  for (int i = 0; i < plan->rank; i++) {
    int64_t asked = known ? tensor_int_at(shape, i) : -1, size = plan->rows;
    if (i >= plan->outer) size = shape_dim(&values->shape, i - plan->outer + 1);
    else if (i > 0) size = longest_row(plan->partitions[i - 1], plan->types[i - 1]);
    if (i >= plan->outer && asked >= 0 && asked != size)
      return refuse_shape(shape, "rt_input.shape", i, size, asked, status);
    plan->dims[i] = asked >= 0 ? asked : size;
    if (i >= plan->outer) plan->inner *= size;
  }
  return true;
}

/* --- where the values go: for each item of a level its position among those of the result, or -1 --- */

static bool split_items(const RaggedPlan *plan, int level, const int64_t *parents, int64_t num_parents,
                        int64_t *items, Status *status) {
  const Tensor *splits = plan->partitions[level];
  int64_t width = plan->dims[level + 1], rows = tensor_num_elements(splits) - 1;
  if (rows > num_parents || (rows >= 0 && tensor_int_at(splits, 0) != 0))
    return status_invalid(status, "Invalid row split size.");
  for (int64_t row = 0; row < rows; row++) {
    int64_t begin = tensor_int_at(splits, row), end = tensor_int_at(splits, row + 1);
    if (end < begin) return status_invalid(status, "Invalid row split size.");
    for (int64_t i = begin; i < end; i++)
      items[i] = parents[row] >= 0 && i - begin < width ? parents[row] * width + (i - begin) : -1;
  }
  return true;
}

static bool number_items(const RaggedPlan *plan, int level, const int64_t *parents, int64_t num_parents,
                         int64_t *items, Status *status) {
  const Tensor *ids = plan->partitions[level];
  int64_t width = plan->dims[level + 1], column = 0;
  for (int64_t i = 0; i < tensor_num_elements(ids); i++) {
    int64_t id = tensor_int_at(ids, i);
    if (id < 0 || id >= num_parents)
      return status_invalid(status, "Got next_value_rowid=%lld which is not less than %lld", (long long)id,
                            (long long)num_parents);
    column = i > 0 && id == tensor_int_at(ids, i - 1) ? column + 1 : 0;
    items[i] = parents[id] >= 0 && column < width ? parents[id] * width + column : -1;
  }
  return true;
}

/* The number of items below a level, checked before memory is allocated for them. */
static bool count_items(const RaggedPlan *plan, int level, int64_t *count, Status *status) {
  const Tensor *partition = plan->partitions[level];
  int64_t elements = tensor_num_elements(partition);
  *count = elements;
  if (plan->types[level] != ROW_SPLITS) return true;
  *count = elements > 0 ? tensor_int_at(partition, elements - 1) : 0;
  for (int64_t i = 1; i < elements; i++) {
    if (tensor_int_at(partition, i) < tensor_int_at(partition, i - 1))
      return status_invalid(status, "Invalid row split size.");
  }
  return *count >= 0 || status_invalid(status, "Invalid row split size.");
}

/* Replaces the positions of a level's items by those of the next one. */
static bool next_level(const RaggedPlan *plan, int level, int64_t **items, int64_t *count, Status *status) {
  int64_t next_count;
  TRY(count_items(plan, level, &next_count, status));
  int64_t *next = mem_calloc(next_count, sizeof *next);
  if (!next) return status_oom(status, "the rows of a ragged tensor");
  bool ok = plan->types[level] == ROW_SPLITS ? split_items(plan, level, *items, *count, next, status)
                                             : number_items(plan, level, *items, *count, next, status);
  mem_free(*items);
  *items = next;
  *count = next_count;
  return ok;
}

static bool place_values(const RaggedPlan *plan, const Tensor *values, Tensor *out, Status *status) {
  int64_t count = plan->rows, *items = mem_calloc(count, sizeof *items);
  bool ok = items || status_oom(status, "the rows of a ragged tensor");
  for (int64_t i = 0; ok && i < count; i++) items[i] = i < plan->dims[0] ? i : -1;
  for (int level = 0; ok && level < plan->num_partitions; level++)
    ok = next_level(plan, level, &items, &count, status);
  if (ok && count > shape_dim(&values->shape, 0)) count = shape_dim(&values->shape, 0);
  for (int64_t i = 0; ok && i < count; i++) {
    if (items[i] >= 0)
      ok = copy_elements(values, i * plan->inner, out, items[i] * plan->inner, plan->inner, status);
  }
  mem_free(items);
  return ok;
}

/* --- the default --- */

static bool check_default(const Tensor *values, const Tensor *fallback, Status *status) {
  char a[SHAPE_TEXT_CAPACITY], b[SHAPE_TEXT_CAPACITY];
  int rank = fallback->shape.rank;
  if (rank >= values->shape.rank)
    return status_invalid(status,
                          "default_value.shape=%s and rt_input.flat_values.shape=%s are incompatible: "
                          "default_value.rank = %d  must be less than rt_input.flat_values.rank = %d",
                          shape_text(&fallback->shape, a), shape_text(&values->shape, b), rank,
                          values->shape.rank);
  for (int i = 1; i <= rank; i++) {
    int64_t size = shape_dim(&fallback->shape, rank - i);
    int64_t inner = shape_dim(&values->shape, values->shape.rank - i);
    if (size != 1 && size != inner)
      return status_invalid(status,
                            "default_value.shape=%s and rt_input.flat_values.shape=%s are incompatible: "
                            "default_value.shape[-%d] = %lld but rt_input.flat_values.shape[-%d] = %lld",
                            shape_text(&fallback->shape, a), shape_text(&values->shape, b), i,
                            (long long)size, i, (long long)inner);
  }
  return true;
}

/* The element of the default for element `i` of a value: it is broadcast. */
static int64_t default_element(const Tensor *values, const Tensor *fallback, int64_t i) {
  int64_t at = 0, stride = 1;
  for (int k = 1; k <= fallback->shape.rank; k++) {
    int64_t size = shape_dim(&fallback->shape, fallback->shape.rank - k);
    int64_t inner = shape_dim(&values->shape, values->shape.rank - k);
    if (size > 1) at += i % inner * stride;
    i /= inner;
    stride *= size;
  }
  return at;
}

static bool ragged_to_tensor(KernelContext *context, Status *status) {
  const Tensor *values = context->inputs[1], *fallback = context->inputs[2];
  RaggedPlan plan = {0};
  Tensor *out;
  TRY(read_first(context, &plan, status));
  TRY(check_default(values, fallback, status));
  TRY(read_dims(context, &plan, status));
  TRY(kernel_allocate_output_dims(context, 0, plan.rank, plan.dims, &out, status));
  for (int64_t i = 0; i < tensor_num_elements(out); i++)
    TRY(copy_elements(fallback, default_element(values, fallback, i % plan.inner), out, i, 1, status));
  return plan.inner == 0 || place_values(&plan, values, out, status);
}

/* --- shape --- */

static bool ragged_shape(InferenceContext *c, Status *status) {
  RaggedState state;
  ShapeHandle asked, values = shape_input(c, 1), out, inner;
  TRY(read_types(c->node, c->arena, &state, status));
  TRY(shape_from_input_tensor_or_scalar(c, 0, &asked, status));
  if (state.num_types > 0 && state.types[0] == VALUE_ROWIDS)
    return status_invalid(status, "Cannot handle VALUE_ROWIDS in first dimension.");
  int outer = state.num_types > 0 && state.types[0] == FIRST_DIM_SIZE ? state.num_types : state.num_types + 1;
  TRY(shape_ok(shape_unknown(c), &out, status));
  if (shape_rank_known(values)) {
    TRY(shape_with_rank_at_least(c, values, 1, &values, status));
    TRY(shape_subshape(c, values, 1, INT64_MAX, 1, &inner, status));
    TRY(shape_ok(shape_unknown_of_rank(c, outer), &out, status));
    TRY(shape_concatenate(c, out, inner, &out, status));
  }
  TRY(shape_merge(c, out, asked, &out, status));
  shape_set_output(c, 0, out);
  return true;
}

/* --- gradient: the numbers 1, 2, ... take the way of the values, 0 that of the default --- */

static bool ragged_gradient(const GradientRequest *request, StrBuf *text, Status *status) {
  RaggedState state;
  Arena *arena = arena_new();
  bool ok = (arena || status_oom(status, "a gradient")) && read_types(request->node, arena, &state, status);
  int n = ok ? state.num_types : 0;
  int outer = n > 0 && ok && state.types[0] == FIRST_DIM_SIZE ? n : n + 1;
  arena_free(arena);
  if (!ok) return false;
  strbuf_append(text,
                "RaggedGradient[T:type, Tindex:{int64, int32}, Tshape:{int64, int32}](shape:Tshape, "
                "values:T, default:T");
  for (int i = 0; i < n; i++) strbuf_printf(text, ", p%d:Tindex", i);
  strbuf_append(text, ", dy:T) -> (dshape:Tshape, dvalues:T, ddefault:T");
  for (int i = 0; i < n; i++) strbuf_printf(text, ", dp%d:Tindex", i);
  strbuf_append(text,
                ") {\n"
                "  sizes = Shape[T=$T, out_type=int32](values)\n"
                "  zero = Const[dtype=int32, value=0]()\n"
                "  first = Const[dtype=int32, value=[0]]()\n"
                "  second = Const[dtype=int32, value=[1]]()\n"
                "  one = Const[dtype=int32, value=1]()\n"
                "  count = StridedSlice[T=int32, Index=int32, shrink_axis_mask=1](sizes:output:0, "
                "first:output:0, second:output:0, second:output:0)\n"
                "  all = Add[T=int32](count:output:0, one:output:0)\n"
                "  numbers = Range[Tidx=int32](one:output:0, all:z:0, one:output:0)\n"
                "  inner = StridedSlice[T=int32, Index=int32, end_mask=1](sizes:output:0, second:output:0, "
                "first:output:0, second:output:0)\n"
                "  dy_sizes = Shape[T=$T, out_type=$Tshape](dy)\n");
  strbuf_printf(text, "  outer_end = Const[dtype=int32, value=[%d]]()\n", outer);
  strbuf_append(text,
                "  outer = StridedSlice[T=$Tshape, Index=int32](dy_sizes:output:0, first:output:0, "
                "outer_end:output:0, second:output:0)\n");
  strbuf_printf(text,
                "  at = RaggedTensorToTensor[T=int32, Tindex=$Tindex, Tshape=$Tshape, "
                "num_row_partition_tensors=%d, row_partition_types=$row_partition_types](outer:output:0, "
                "numbers:output:0, zero:output:0",
                n);
  for (int i = 0; i < n; i++) strbuf_printf(text, ", p%d", i);
  strbuf_append(text,
                ")\n"
                "  minus = Const[dtype=int32, value=[-1]]()\n"
                "  flat = Reshape[T=int32, Tshape=int32](at:result:0, minus:output:0)\n"
                "  cells = Shape[T=int32, out_type=int32](flat:output:0)\n"
                "  row_sizes = ConcatV2[N=2, T=int32, Tidx=int32](cells:output:0, inner:output:0, "
                "zero:output:0)\n"
                "  rows = Reshape[T=$T, Tshape=int32](dy, row_sizes:output:0)\n"
                "  sums = UnsortedSegmentSum[T=$T, Tindices=int32, Tnumsegments=int32](rows:output:0, "
                "flat:output:0, all:z:0)\n"
                "  dvalues = StridedSlice[T=$T, Index=int32, end_mask=1](sums:output:0, second:output:0, "
                "first:output:0, second:output:0)\n"
                "  rest = StridedSlice[T=$T, Index=int32, shrink_axis_mask=1](sums:output:0, first:output:0, "
                "second:output:0, second:output:0)\n"
                "  default_sizes = Shape[T=$T, out_type=int32](default)\n"
                "  axes = BroadcastGradientArgs[T=int32](inner:output:0, default_sizes:output:0)\n"
                "  summed = Sum[T=$T, Tidx=int32](rest:output:0, axes:r1:0)\n"
                "  ddefault = Reshape[T=$T, Tshape=int32](summed:output:0, default_sizes:output:0)\n"
                "  dshape = ZerosLike[T=$Tshape](shape)\n");
  for (int i = 0; i < n; i++) strbuf_printf(text, "  dp%d = ZerosLike[T=$Tindex](p%d)\n", i, i);
  strbuf_append(text,
                "  return dshape = dshape:y:0, dvalues = dvalues:output:0, ddefault = ddefault:output:0");
  for (int i = 0; i < n; i++) strbuf_printf(text, ", dp%d = dp%d:y:0", i, i);
  strbuf_append(text, "\n}\n");
  return strbuf_ok(text, status);
}

const OpRegistration kOpRaggedTensorToTensor = {
    .name = "RaggedTensorToTensor",
    .inputs = {"shape: Tshape", "values: T", "default_value: T",
               "row_partition_tensors: num_row_partition_tensors * Tindex"},
    .outputs = {"result: T"},
    .attrs = {"T: type", "Tindex: {int64, int32}", "Tshape: {int64, int32}",
              "num_row_partition_tensors: int >= 1", "row_partition_types: list(string)"},
    .shape = ragged_shape,
    .gradient_fn = ragged_gradient,
    .state_size = sizeof(RaggedState),
    .construct = ragged_construct,
    .kernels = {{DT_INVALID, ragged_to_tensor}},
};
