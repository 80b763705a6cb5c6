/* Constant folding of a graph: which nodes follow from constants alone, what they compute, and which tensors
 * that replaces. */
#include <string.h>

#include "base/alloc.h"
#include "graph/node_builder.h"
#include "optimizer/constant_folding.h"
#include "optimizer/optimizer_internal.h"

/* Collecting the control inputs of one constant looks at no more nodes than this: else the tensor stays. */
enum { MAX_CONTROL_WALK = 1024 };

typedef enum NodeState {
  NOT_CONSTANT,
  CONSTANT,      /* computed from constants */
  CONSTANT_SHAPE /* computed from the shape of its inputs */
} NodeState;

typedef struct Folder {
  Graph *graph;
  const FoldOptions *options;
  Status *status;
  Arena *arena;
  Node **order;
  int64_t count;
  uint8_t *state;   /* NodeState by id */
  uint8_t *waits;   /* by id: of what it stands for, something has a control input that is not constant */
  uint8_t *needed;  /* by id: a value is replaced that needs this one */
  int32_t *readers; /* by id: how many needed nodes have not read its values yet */
  Tensor **values;  /* by id: while they are needed */
  int32_t *visited; /* by id: the last walk that has been here */
  int32_t walk;
  int64_t total_bytes; /* added to the graph */
  int64_t max_bytes;
  int64_t num_replaced;
} Folder;

static bool oom(Folder *f) { return status_oom(f->status, "constant folding"); }

/* --- which nodes are constant --- */

static bool has_storable_outputs(const Node *node) {
  for (int i = 0; i < node->num_outputs; i++) {
    int type = node->output_types[i];
    if (dtype_is_ref(type) || (!dtype_is_pod(type) && type != DT_STRING)) return false;
  }
  return node->num_outputs > 0;
}

static bool may_fold(const Folder *f, const Node *node) {
  if (node->op == NULL || node->op->def->is_stateful || kept(f->options->keep, node)) return false;
  if (node_is_function(node) || node_is_never_constant(node)) return false;
  if (node_def_attr(node->def, "_scoped_allocator") != NULL) return false;
  if (f->options->consider != NULL && !f->options->consider(node)) return false;
  for (int i = 0; i < node->num_inputs; i++) {
    if (node->inputs[i] == NULL || dtype_is_ref(node->input_types[i])) return false;
  }
  return has_storable_outputs(node) && op_has_kernel(node->op, DT_INVALID);
}

static bool shapes_known(const Node *node) {
  bool rank_is_enough = node->node_class == NODE_RANK;
  for (int i = 0; i < node->num_inputs; i++) {
    const Edge *edge = node->inputs[i];
    ShapeHandle shape = graph_output_shape((NodeOutput){edge->src, edge->src_output});
    if (shape == NULL || !(rank_is_enough ? shape_rank_known(shape) : shape_fully_defined(shape)))
      return false;
  }
  return true;
}

static NodeState classify(const Folder *f, const Node *node) {
  if (!may_fold(f, node)) return NOT_CONSTANT;
  if (node_is_const(node)) return CONSTANT;
  bool constant = node->num_inputs > 0;
  for (int i = 0; i < node->num_inputs && constant; i++)
    constant = f->state[node->inputs[i]->src->id] != NOT_CONSTANT;
  if (constant) return CONSTANT;
  return f->options->trust_shapes && node_reads_only_shapes(node) && shapes_known(node) ? CONSTANT_SHAPE
                                                                                        : NOT_CONSTANT;
}

/* Whether what replaces the node has to wait for a node that is not constant. */
static bool must_wait(const Folder *f, const Node *node) {
  for (int i = 0; i < node->num_inputs; i++) {
    int32_t source = node->inputs[i]->src->id;
    if (f->state[source] == NOT_CONSTANT || f->waits[source]) return true;
  }
  for (int32_t i = 0; i < node->num_control_inputs; i++) {
    int32_t source = node->control_inputs[i]->src->id;
    if (f->state[source] == NOT_CONSTANT || f->waits[source]) return true;
  }
  return false;
}

static bool is_replaced(const Folder *f, const Edge *edge) {
  return !edge_is_control(edge) && f->state[edge->dst->id] == NOT_CONSTANT;
}

static bool is_boundary(const Folder *f, const Node *node) {
  if (node_is_const(node)) return false;
  for (int32_t i = 0; i < node->num_out_edges; i++) {
    if (is_replaced(f, node->out_edges[i])) return true;
  }
  return false;
}

/* Returns whether there is anything to do. */
static bool find_constants(Folder *f) {
  bool any = false;
  for (int64_t i = 0; i < f->count; i++) {
    const Node *node = f->order[i];
    f->state[node->id] = (uint8_t)classify(f, node);
    if (f->state[node->id] != NOT_CONSTANT) f->waits[node->id] = must_wait(f, node);
  }
  for (int64_t i = f->count - 1; i >= 0; i--) {
    const Node *node = f->order[i];
    if (f->state[node->id] == NOT_CONSTANT) continue;
    if (!f->needed[node->id] && !is_boundary(f, node)) continue;
    f->needed[node->id] = any = true;
    for (int k = 0; k < node->num_inputs && f->state[node->id] == CONSTANT; k++) {
      f->needed[node->inputs[k]->src->id] = true;
      f->readers[node->inputs[k]->src->id]++;
    }
  }
  return any;
}

/* --- replacing --- */

/* The nodes that are not constant and that `node`, and what it is computed from, wait for. *few: all were
 * found. */
static bool collect_controls(Folder *f, Node *node, Node ***controls, int64_t *count, bool *few) {
  Node **stack = arena_alloc(f->arena, MAX_CONTROL_WALK * (int64_t)sizeof *stack);
  *controls = arena_alloc(f->arena, MAX_CONTROL_WALK * (int64_t)sizeof **controls);
  if (stack == NULL || *controls == NULL) return oom(f);
  int64_t depth = 0, seen = 0;
  *count = 0;
  f->walk++;
  stack[depth++] = node;
  *few = true;
  while (depth > 0) {
    const Node *next = stack[--depth];
    int64_t num_inputs = next->num_inputs + (int64_t)next->num_control_inputs;
    for (int64_t i = 0; i < num_inputs; i++) {
      Node *source =
          (i < next->num_inputs ? next->inputs[i] : next->control_inputs[i - next->num_inputs])->src;
      bool constant = f->state[source->id] != NOT_CONSTANT;
      if (f->visited[source->id] == f->walk || (constant && !f->waits[source->id])) continue;
      f->visited[source->id] = f->walk;
      if (++seen >= MAX_CONTROL_WALK) {
        *few = false;
        return true;
      }
      if (constant) {
        stack[depth++] = source;
      } else {
        (*controls)[(*count)++] = source;
      }
    }
  }
  return true;
}

static bool make_const(Folder *f, const Node *node, const Tensor *value, Node **made) {
  Arena *arena = graph_arena(f->graph);
  const char *numbered, *name;
  do {
    numbered = graph_new_name(f->graph, node->name);
    name =
        numbered == NULL ? NULL : arena_printf(arena, "%s__cf__%lld", numbered, (long long)f->num_replaced);
  } while (name != NULL && graph_find_node(f->graph, name) != NULL);
  NodeBuilder b;
  node_builder(&b, f->graph, "Const", name);
  node_builder_device(&b, node->def->device);
  node_builder_tensor(&b, value);
  return node_builder_finish_bare(&b, made, f->status);
}

/* Without consumers it does no harm should a later step fail. */
static bool replace_output(Folder *f, Node *node, int output, const Tensor *value, Node *const *controls,
                           int64_t count) {
  Node *made;
  TRY(make_const(f, node, value, &made));
  for (int64_t i = 0; i < count; i++) TRY(optimizer_control(f->graph, controls[i], made, f->status));
  if (count == 0) TRY(optimizer_control(f->graph, graph_node(f->graph, SOURCE_ID), made, f->status));
  TRY(graph_infer_shapes(f->graph, made, f->status));
  f->num_replaced++;
  f->total_bytes += tensor_bytes(value);
  /* Constant nodes go on reading what they read: what they compute may not be replaced. */
  for (int32_t i = node->num_out_edges - 1; i >= 0; i--) {
    const Edge *edge = node->out_edges[i];
    if (edge->src_output != output || !is_replaced(f, edge)) continue;
    TRY(graph_update_edge(f->graph, made, 0, edge->dst, edge->dst_input, f->status));
  }
  return true;
}

static bool has_readers(const Folder *f, const Node *node, int output) {
  for (int32_t i = 0; i < node->num_out_edges; i++) {
    const Edge *edge = node->out_edges[i];
    if (edge->src_output == output && is_replaced(f, edge)) return true;
  }
  return false;
}

static bool replace_outputs(Folder *f, Node *node, const Tensor *values) {
  ArenaMark mark = arena_mark(f->arena);
  Node **controls = NULL;
  int64_t count = 0;
  bool ok = true, few = true;
  if (f->waits[node->id]) ok = collect_controls(f, node, &controls, &count, &few);
  for (int i = 0; ok && few && i < node->num_outputs; i++) {
    int64_t bytes = tensor_bytes(&values[i]);
    if (bytes > f->max_bytes || bytes > CONSTANT_FOLDING_MAX_TOTAL_BYTES - f->total_bytes) continue;
    if (has_readers(f, node, i)) ok = replace_output(f, node, i, &values[i], controls, count);
  }
  arena_rollback(f->arena, mark);
  return ok;
}

/* --- computing --- */

static void clear_values(Folder *f, const Node *node) {
  for (int i = 0; f->values[node->id] != NULL && i < node->num_outputs; i++)
    tensor_clear(&f->values[node->id][i]);
  mem_free(f->values[node->id]);
  f->values[node->id] = NULL;
}

static bool compute(Folder *f, const Node *node, bool *known) {
  *known = false;
  const Tensor **inputs = mem_calloc(node->num_inputs + 1, sizeof *inputs);
  Tensor *outputs = mem_calloc(node->num_outputs + 1, sizeof *outputs);
  bool ok = (inputs != NULL && outputs != NULL) || oom(f);
  for (int i = 0; ok && i < node->num_inputs; i++) {
    const Edge *edge = node->inputs[i];
    const Tensor *values = f->values[edge->src->id];
    inputs[i] = values == NULL ? NULL : &values[edge->src_output];
  }
  ok = ok && node_fold_constant(f->graph, node, inputs, f->options->trust_shapes, outputs, known, f->status);
  mem_free(inputs);
  if (ok && *known) {
    f->values[node->id] = outputs;
  } else {
    mem_free(outputs);
  }
  return ok;
}

/* The values of inputs are given back after their last use. */
static void release_inputs(Folder *f, const Node *node) {
  if (f->state[node->id] != CONSTANT) return;
  for (int i = 0; i < node->num_inputs; i++) {
    const Node *source = node->inputs[i]->src;
    if (--f->readers[source->id] == 0) clear_values(f, source);
  }
}

static bool fold(Folder *f) {
  for (int64_t i = 0; i < f->count; i++) {
    Node *node = f->order[i];
    if (!f->needed[node->id]) continue;
    bool known;
    TRY(compute(f, node, &known));
    if (known && !node_is_const(node)) TRY(replace_outputs(f, node, f->values[node->id]));
    release_inputs(f, node);
    if (f->readers[node->id] == 0) clear_values(f, node);
  }
  return true;
}

static bool prepare(Folder *f) {
  TRY(optimizer_order(f->graph, f->arena, &f->order, &f->count, f->status));
  int64_t ids = graph_num_node_ids(f->graph);
  f->state = arena_calloc(f->arena, ids, 1);
  f->waits = arena_calloc(f->arena, ids, 1);
  f->needed = arena_calloc(f->arena, ids, 1);
  f->readers = arena_calloc(f->arena, ids, sizeof *f->readers);
  f->values = arena_calloc(f->arena, ids, sizeof *f->values);
  f->visited = arena_calloc(f->arena, ids, sizeof *f->visited);
  bool all = f->state != NULL && f->waits != NULL && f->needed != NULL && f->readers != NULL &&
             f->values != NULL && f->visited != NULL;
  if (!all) f->count = 0;
  return all || oom(f);
}

bool graph_fold_constants(Graph *graph, const FoldOptions *options, bool *changed, Status *status) {
  Folder f = {.graph = graph, .options = options, .status = status, .arena = arena_new()};
  *changed = false;
  if (f.arena == NULL) return oom(&f);
  f.max_bytes = options->max_constant_size_in_bytes > 0 ? options->max_constant_size_in_bytes
                                                        : CONSTANT_FOLDING_MAX_BYTES;
  bool ok = prepare(&f) && (!find_constants(&f) || fold(&f));
  for (int64_t i = 0; i < f.count && f.values != NULL; i++) clear_values(&f, f.order[i]);
  *changed = f.num_replaced > 0;
  arena_free(f.arena);
  return ok;
}
