/* Constant values for shape inference: small values that follow from constants alone, computed once and
 * cached with the graph.
 *
 * The walk goes backward over stateless nodes with kernels to Const nodes, and to Shape, Size and Rank of
 * known shapes. It uses an explicit stack, so the depth of a graph does not matter, and computes every node
 * at most once.
 */
#include "base/alloc.h"
#include "graph/graph_internal.h"
#include "graph/node_class.h"
#include "graph/node_evaluate.h"

enum { MAX_VALUE_BYTES = 1024 };

/* --- cache --- */

static CachedValue *new_entry(Graph *graph, Node *node, Status *status) {
  CachedValue *entry = arena_calloc(graph->arena, 1, sizeof *entry);
  if (!entry) {
    status_oom(status, "a constant value");
    return NULL;
  }
  entry->previous = graph->cached_values;
  entry->node = node;
  graph->cached_values = entry;
  node_entry(node)->value = entry;
  return entry;
}

static bool allocate_outputs(Graph *graph, CachedValue *entry, Status *status) {
  if (!entry->outputs)
    entry->outputs = arena_calloc(graph->arena, entry->node->num_outputs, sizeof *entry->outputs);
  return entry->outputs || status_oom(status, "a constant value");
}

/* --- checks of a node's value --- */

static bool has_shape(const Tensor *value, ShapeHandle shape) {
  if (!shape_fully_defined(shape) || shape_rank(shape) != value->shape.rank) return false;
  for (int32_t d = 0; d < shape_rank(shape); d++) {
    if (dim_value(shape->dims[d]) != shape_dim(&value->shape, d)) return false;
  }
  return true;
}

/* Makes the outputs of the entry known if their types and shapes are those of the graph. Shape functions and
 * kernels read values by the declared types and shapes. A Const with a tensor of another type, or a
 * registered kernel with another output shape, has no value. */
static void accept_outputs(CachedValue *entry) {
  const Node *node = entry->node;
  for (int i = 0; i < node->num_outputs; i++) {
    const Tensor *value = &entry->outputs[i];
    if ((int)value->dtype != dtype_base(node->output_types[i]) || !has_shape(value, node->output_shapes[i]))
      return;
  }
  entry->state = VALUE_KNOWN;
}

/* --- which nodes can be computed --- */

static bool small_and_known(const Node *node) {
  for (int i = 0; i < node->num_outputs; i++) {
    int dtype = node->output_types[i];
    if (!dtype_is_pod(dtype) && dtype != DT_STRING) return false;
    ShapeHandle shape = node->output_shapes[i];
    if (!shape_fully_defined(shape)) return false;
    int64_t bytes = (int64_t)dtype_size(dtype);
    bool empty = false;
    for (int32_t d = 0; d < shape_rank(shape); d++) empty |= dim_value(shape->dims[d]) == 0;
    for (int32_t d = 0; d < shape_rank(shape) && !empty; d++) {
      if (__builtin_mul_overflow(bytes, dim_value(shape->dims[d]), &bytes) || bytes > MAX_VALUE_BYTES)
        return false;
    }
  }
  return true;
}

static bool can_compute(const Node *node) {
  const Op *op = node->op;
  if (!op || node_is_function(node) || op->def->is_stateful || op->def->name[0] == '_' ||
      node->num_outputs == 0)
    return false;
  if (!op_has_kernel(op, DT_INVALID) || node_is_never_constant(node)) return false;
  for (int i = 0; i < node->num_inputs; i++) {
    if (!node->inputs[i] || dtype_is_ref(node->input_types[i])) return false;
  }
  return small_and_known(node);
}

/* An error of a computation does not make the graph invalid: the value is just unknown. Only running out of
 * memory is reported. */
static bool forgive(bool ok, bool *computed, Status *status) {
  *computed = ok;
  if (ok) return true;
  if (status->code == CODE_RESOURCE_EXHAUSTED) return false;
  status_init(status);
  return true;
}

static bool const_value(Graph *graph, CachedValue *entry, Status *status) {
  const AttrValue *attr = node_def_attr(entry->node->def, "value");
  if (!attr || attr->value_case != (int)ATTR_TENSOR || entry->node->num_outputs != 1) return true;
  const TensorShapeProto *shape = attr->tensor->tensor_shape;
  int64_t bytes = (int64_t)dtype_size(attr->tensor->dtype);
  for (size_t i = 0; shape && i < shape->n_dim; i++) {
    if (shape->dim[i]->size < 0 || __builtin_mul_overflow(bytes, shape->dim[i]->size, &bytes)) return true;
  }
  if (bytes > MAX_VALUE_BYTES ||
      (!dtype_is_pod((int)attr->tensor->dtype) && (int)attr->tensor->dtype != (int)DT_STRING))
    return true;
  TRY(allocate_outputs(graph, entry, status));
  bool known;
  TRY(forgive(tensor_from_proto(attr->tensor, &entry->outputs[0], status), &known, status));
  if (known) accept_outputs(entry);
  return true;
}

static bool set_int(Tensor *tensor, int64_t i, int64_t value) {
  if (tensor->dtype == DT_INT64) {
    tensor_i64(tensor)[i] = value;
    return true;
  }
  if (tensor->dtype != DT_INT32 || value > INT32_MAX) return false;
  tensor_i32(tensor)[i] = (int32_t)value;
  return true;
}

/* Shape, ShapeN, Size and Rank need the shapes of their inputs, not the values. */
typedef enum ShapeQuery { NO_QUERY, QUERY_SHAPE, QUERY_SIZE, QUERY_RANK } ShapeQuery;

static ShapeQuery shape_query(const Node *node) {
  if (node->num_inputs != node->num_outputs) return NO_QUERY;
  switch (node->node_class) {
    case NODE_SHAPE: return QUERY_SHAPE;
    case NODE_SIZE: return QUERY_SIZE;
    case NODE_RANK: return QUERY_RANK;
    default: return NO_QUERY;
  }
}

static bool answer_query(ShapeQuery query, ShapeHandle shape, DataType dtype, Tensor *value, bool *known,
                         Status *status) {
  *known = shape_rank_known(shape) && (query == QUERY_RANK || shape_fully_defined(shape)) &&
           (dtype == DT_INT32 || dtype == DT_INT64);
  if (!*known) return true;
  int64_t rank = shape_rank(shape), size = 1;
  TRY(tensor_allocate_dims(value, dtype, query == QUERY_SHAPE ? 1 : 0, &rank, NULL, status));
  if (query == QUERY_RANK) {
    *known = set_int(value, 0, rank);
    return true;
  }
  for (int64_t i = 0; i < rank; i++) {
    int64_t dim = dim_value(shape->dims[i]);
    if (query == QUERY_SHAPE) {
      *known &= set_int(value, i, dim);
    } else if (size != 0 && __builtin_mul_overflow(size, dim, &size)) {
      *known = false;
      return true;
    }
  }
  if (query == QUERY_SIZE) *known = set_int(value, 0, size);
  return true;
}

static bool shape_value(Graph *graph, CachedValue *entry, ShapeQuery query, Status *status) {
  Node *node = entry->node;
  TRY(allocate_outputs(graph, entry, status));
  for (int i = 0; i < node->num_inputs; i++) {
    const Edge *edge = node->inputs[i];
    bool known = false;
    if (edge) {
      TRY(answer_query(query, edge->src->output_shapes[edge->src_output], node->output_types[i],
                       &entry->outputs[i], &known, status));
    }
    if (!known) return true;
  }
  accept_outputs(entry);
  return true;
}

static bool evaluate(Graph *graph, CachedValue *entry, Status *status) {
  Node *node = entry->node;
  GraphMark mark = graph_mark(graph); /* the argument list is temporary */
  const Tensor **inputs = arena_alloc(graph->arena, node->num_inputs * (int64_t)sizeof *inputs);
  if (!inputs) return status_oom(status, "a constant value");
  for (int i = 0; i < node->num_inputs; i++) {
    const Edge *edge = node->inputs[i];
    inputs[i] = &node_entry(edge->src)->value->outputs[edge->src_output];
  }
  Tensor *results = mem_calloc(node->num_outputs, sizeof *results);
  if (!results) return status_oom(status, "a constant value");
  bool known, was_inferring = graph->is_inferring;
  graph->is_inferring = true;
  bool ok = forgive(node_evaluate(node, inputs, results, status), &known, status);
  graph->is_inferring = was_inferring;
  arena_rollback(graph->arena, mark.arena);
  for (int i = 0; ok && known && i < node->num_outputs; i++)
    known = tensor_bytes(&results[i]) <= MAX_VALUE_BYTES;
  if (ok && known) ok = allocate_outputs(graph, entry, status);
  for (int i = 0; i < node->num_outputs; i++) {
    if (ok && known) tensor_move(&entry->outputs[i], &results[i]);
    tensor_clear(&results[i]);
  }
  if (ok && known) accept_outputs(entry);
  mem_free(results);
  return ok;
}

/* An argument of a function has the value of the call's input once that is known. */
static bool arg_value(Graph *graph, CachedValue *entry, int index, Status *status) {
  const Tensor *value = shape_input_tensor(graph->call, index);
  if (!value || tensor_bytes(value) > MAX_VALUE_BYTES) return true;
  TRY(allocate_outputs(graph, entry, status));
  TRY(tensor_assign(&entry->outputs[0], value, status));
  accept_outputs(entry);
  return true;
}

/* --- the walk --- */

typedef struct Frame {
  CachedValue *entry; /* pending */
  int next_input;
} Frame;

typedef struct Walk {
  Frame *frames;
  int64_t count, capacity;
} Walk;

/* Gives the node an entry: known, unknown, or pending and on the stack if its inputs are needed first. */
static bool enter(Graph *graph, Walk *walk, Node *node, Status *status) {
  CachedValue *entry = new_entry(graph, node, status);
  if (!entry) return false;
  entry->state = VALUE_UNKNOWN;
  if (node_is_const(node)) return const_value(graph, entry, status);
  int arg = graph_arg_index(graph, node);
  if (arg >= 0) return arg_value(graph, entry, arg, status);
  ShapeQuery query = shape_query(node);
  if (query != NO_QUERY) return shape_value(graph, entry, query, status);
  if (!can_compute(node)) return true;
  if (!mem_grow((void **)&walk->frames, &walk->capacity, walk->count + 1, sizeof *walk->frames)) {
    return status_oom(status, "a constant value");
  }
  entry->state = VALUE_PENDING;
  walk->frames[walk->count++] = (Frame){entry, 0};
  return true;
}

static bool step(Graph *graph, Walk *walk, Status *status) {
  Frame *frame = &walk->frames[walk->count - 1];
  CachedValue *entry = frame->entry;
  Node *node = entry->node;
  while (frame->next_input < node->num_inputs) {
    Node *src = node->inputs[frame->next_input]->src;
    const CachedValue *input = node_entry(src)->value;
    if (!input) return enter(graph, walk, src, status);
    if (input->state != VALUE_KNOWN) break; /* pending: a cycle, which has no value */
    frame->next_input++;
  }
  bool ready = frame->next_input == node->num_inputs;
  entry->state = VALUE_UNKNOWN;
  walk->count--;
  return !ready || evaluate(graph, entry, status);
}

bool graph_cached_constant(Graph *graph, NodeOutput output, const Tensor **value, Status *status) {
  *value = NULL;
  NodeEntry *node = node_entry(output.node);
  if (!node->value) {
    Walk walk = {0};
    bool ok = enter(graph, &walk, output.node, status);
    while (ok && walk.count > 0) ok = step(graph, &walk, status);
    mem_free(walk.frames);
    TRY(ok);
  }
  if (node->value->state == VALUE_KNOWN) *value = &node->value->outputs[output.index];
  return true;
}

bool graph_constant_value(Graph *graph, NodeOutput output, Tensor *value, bool *known, Status *status) {
  *known = false;
  TRY(graph_check_node(graph, output.node, status));
  TRY(graph_check_output(output.node, output.index, status));
  GraphMark mark = graph_mark(graph);
  const Tensor *cached;
  if (!graph_cached_constant(graph, output, &cached, status)) return graph_rollback(graph, mark);
  if (!cached) return true;
  TRY(tensor_assign(value, cached, status));
  *known = true;
  return true;
}
