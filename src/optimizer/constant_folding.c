/* Finds the nodes that follow from constants alone, computes them, and replaces their outputs. */
#include "optimizer/constant_folding.h"

#include <string.h>

#include "base/alloc.h"
#include "graph/node_builder.h"
#include "graph/node_evaluate.h"
#include "op/node_def.h"
#include "optimizer/optimizer_internal.h"

typedef enum NodeState {
  NOT_CONSTANT,
  CONSTANT,       /* computed from constants */
  CONSTANT_SHAPE, /* computed from the shape of its inputs */
  ENTERED         /* a constant in a loop: not replaced, but those that follow from it are */
} NodeState;

/* Whether the pass computes the node from the values of its inputs. */
static bool reads_values(NodeState state) { return state == CONSTANT || state == ENTERED; }

/* What must have run before a node could run, if the node itself is removed: nodes, with the index
 * CONTROL_SLOT, and outputs of Switches, which run whichever of their outputs is alive. */
enum { MAX_WAITS = 4 };
typedef struct Waits {
  NodeOutput sources[MAX_WAITS];
  int32_t count;
  int32_t gate_of; /* if there are more: the id of a node with the same ones, whose gate represents them; else
                    * 0 */
} Waits;

typedef struct Folder {
  Graph *graph;
  const FoldOptions *options;
  Status *status;
  Arena *arena;
  Node **order;
  int64_t count;
  int64_t num_ids;     /* number of ids at the beginning */
  uint8_t *state;      /* NodeState by id */
  uint8_t *passable;   /* by id: a node that only reads its output's shape need not wait for it */
  Waits *waits;        /* by id */
  Node ***identities;  /* by id: of the outputs of a Switch; NULL until one is needed */
  Node **gates;        /* by id: a NoOp that waits for the same nodes; NULL until it is needed */
  uint8_t *needed;     /* by id: a value that is replaced depends on it */
  int32_t *readers;    /* by id: the number of needed nodes that have not read its values yet */
  Tensor **values;     /* by id: while they are needed */
  int64_t total_bytes; /* added to the graph so far */
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
  if (!node->op || node->op->def->is_stateful || kept(f->options->keep, node)) return false;
  if (node_is_function(node) || node_is_never_constant(node)) return false;
  if (node_def_attr(node->def, "_scoped_allocator")) return false;
  if (f->options->consider && !f->options->consider(node)) return false;
  for (int i = 0; i < node->num_inputs; i++) {
    if (!node->inputs[i] || dtype_is_ref(node->input_types[i])) return false;
  }
  return has_storable_outputs(node) && op_has_kernel(node->op, DT_INVALID);
}

/* Assign may give a variable a shape other than the declared one. */
static bool reads_references(const Node *node) {
  for (int i = 0; i < node->num_inputs; i++) {
    const Edge *edge = node->inputs[i];
    if (edge && dtype_is_ref(edge->src->output_types[edge->src_output])) return true;
  }
  return false;
}

/* Shape, ShapeN, Rank, Size: their values follow from the shapes of their inputs. */
static bool reads_only_shapes(const Node *node) {
  return node_is_shape_query(node) && !reads_references(node);
}

static bool shapes_known(const Node *node) {
  bool rank_is_enough = node->node_class == NODE_RANK;
  for (int i = 0; i < node->num_inputs; i++) {
    ShapeHandle shape = graph_output_shape(edge_value(node->inputs[i]));
    if (!shape || !(rank_is_enough ? shape_rank_known(shape) : shape_fully_defined(shape))) return false;
  }
  return true;
}

/* A constant that enters a loop unchanged, or another name for one. */
static bool is_entered(const Folder *f, const Node *node) {
  bool constant = false;
  Status ignored;
  if (!node_is_enter(node) && !node_is_identity(node)) return false;
  const Edge *edge = node->inputs[0];
  if (!edge || dtype_is_ref(node->output_types[0]) || kept(f->options->keep, node)) return false;
  if (node_is_identity(node)) return f->state[edge->src->id] == ENTERED;
  status_init(&ignored);
  return f->state[edge->src->id] == CONSTANT &&
         node_attr_bool(node->def, "is_constant", &constant, &ignored) && constant;
}

static NodeState classify(const Folder *f, const Node *node) {
  if (is_entered(f, node)) return ENTERED;
  if (!may_fold(f, node)) return NOT_CONSTANT;
  if (node_is_const(node)) return CONSTANT;
  if (f->options->trust_shapes && reads_only_shapes(node) && shapes_known(node)) return CONSTANT_SHAPE;
  bool constant = node->num_inputs > 0;
  for (int i = 0; i < node->num_inputs && constant; i++)
    constant = f->state[node->inputs[i]->src->id] != NOT_CONSTANT;
  return constant ? CONSTANT : NOT_CONSTANT;
}

/* --- control dependencies of constants --- */

static bool find_passable(Folder *f, const Node *node) {
  bool effects = false;
  if (f->state[node->id] != NOT_CONSTANT) {
    f->passable[node->id] = !node_is_enter(node);
    return true;
  }
  if (!node->op || kept(f->options->keep, node) || node_is_control_flow(node)) return true;
  for (int i = 0; i < node->num_inputs; i++) {
    const Edge *edge = node->inputs[i];
    if (!edge || (node_is_switch(edge->src) && reads_references(node))) return true;
  }
  TRY(node_has_effects(node, &effects, f->status));
  f->passable[node->id] = !effects;
  return true;
}

static void add_wait(Waits *waits, NodeOutput source, const Node *owner) {
  if (waits->gate_of == owner->id) return;
  for (int i = 0; i < waits->count; i++) {
    if (waits->sources[i].node == source.node && waits->sources[i].index == source.index) return;
  }
  if (waits->gate_of > 0 || waits->count == MAX_WAITS) {
    waits->gate_of = owner->id;
  } else {
    waits->sources[waits->count++] = source;
  }
}

static void add_waits(Waits *waits, const Waits *more, const Node *owner) {
  for (int i = 0; i < more->count && more->gate_of == 0; i++) add_wait(waits, more->sources[i], owner);
  if (more->gate_of == 0 || more->gate_of == waits->gate_of) return;
  waits->gate_of = waits->count == 0 && waits->gate_of == 0 ? more->gate_of : owner->id;
}

/* Whether a reader of the edge waits for the source's own dependencies in place of the source. The source of
 * a control edge must run, unless it is constant. A Const that this pass added keeps its dependencies. */
static bool passes_over(const Folder *f, const Edge *edge) {
  if (edge->src->id >= f->num_ids) return false;
  NodeState state = f->state[edge->src->id];
  return edge_is_control(edge) ? state == CONSTANT || state == CONSTANT_SHAPE : f->passable[edge->src->id];
}

static NodeOutput wait_of(const Edge *edge) {
  return (NodeOutput){edge->src, node_is_switch(edge->src) ? edge->src_output : CONTROL_SLOT};
}

static void find_waits(Folder *f, const Node *node) {
  Waits *waits = &f->waits[node->id];
  for (int64_t i = 0; i < node_num_in_edges(node); i++) {
    const Edge *edge = node_in_edge(node, i);
    if (!edge) continue;
    if (passes_over(f, edge)) {
      add_waits(waits, &f->waits[edge->src->id], node);
    } else {
      add_wait(waits, wait_of(edge), node);
    }
  }
}

static bool is_replaced(const Folder *f, const Edge *edge) {
  NodeState reader = f->state[edge->dst->id];
  return !edge_is_control(edge) && (reader == NOT_CONSTANT || reader == ENTERED);
}

static bool is_boundary(const Folder *f, const Node *node) {
  if (node_is_const(node) || f->state[node->id] == ENTERED) return false;
  for (int32_t i = 0; i < node->num_out_edges; i++) {
    if (is_replaced(f, node->out_edges[i])) return true;
  }
  return false;
}

static bool find_constants(Folder *f) {
  for (int64_t i = 0; i < f->count; i++) {
    const Node *node = f->order[i];
    f->state[node->id] = (uint8_t)classify(f, node);
    TRY(find_passable(f, node));
    find_waits(f, node);
  }
  for (int64_t i = f->count - 1; i >= 0; i--) {
    const Node *node = f->order[i];
    if (f->state[node->id] == NOT_CONSTANT) continue;
    if (!f->needed[node->id] && !is_boundary(f, node)) continue;
    f->needed[node->id] = true;
    for (int k = 0; k < node->num_inputs && reads_values(f->state[node->id]); k++) {
      f->needed[node->inputs[k]->src->id] = true;
      f->readers[node->inputs[k]->src->id]++;
    }
  }
  return true;
}

/* --- replacing --- */

/* Missing gates, in reverse order: the last one is made first. */
typedef struct GateStack {
  int32_t *ids;
  int64_t depth, capacity;
} GateStack;

/* Pushes the missing gates that the gate of `node` depends on. */
static bool push_inner_gates(Folder *f, const Node *node, GateStack *stack) {
  for (int64_t i = 0; i < node_num_in_edges(node); i++) {
    const Edge *edge = node_in_edge(node, i);
    int32_t gate = edge && passes_over(f, edge) ? f->waits[edge->src->id].gate_of : 0;
    if (gate == 0 || f->gates[gate]) continue;
    if (!mem_grow((void **)&stack->ids, &stack->capacity, stack->depth + 1, sizeof *stack->ids))
      return oom(f);
    stack->ids[stack->depth++] = gate;
  }
  return true;
}

/* The Identities of the outputs of a Switch, NULL for outputs without one; or NULL when out of memory. */
static Node **find_identities(Folder *f, const Node *node) {
  Node **found = f->identities[node->id];
  if (!found) {
    found = f->identities[node->id] = arena_calloc(f->arena, node->num_outputs, sizeof *found);
    for (int32_t i = 0; found && i < node->num_out_edges; i++) {
      const Edge *edge = node->out_edges[i];
      if (edge_is_control(edge) || !node_is_identity(edge->dst) || edge->dst->num_control_inputs > 0)
        continue;
      found[edge->src_output] = edge->dst;
    }
  }
  return found;
}

/* An Identity of the output of a Switch. Without readers a new one is harmless if a later step fails. */
static bool make_identity(Folder *f, NodeOutput source, Node **identity) {
  const Node *node = source.node;
  Node **list = find_identities(f, node);
  if (!list) return oom(f);
  if (!list[source.index]) {
    TRY(optimizer_add_identity(f->graph, graph_new_free_name(f->graph, node->name), node->def->device,
                               source.node, source.index, &list[source.index], f->status));
    TRY(graph_infer_leniently(f->graph, list[source.index], f->status));
  }
  *identity = list[source.index];
  return true;
}

static bool wait_for_source(Folder *f, NodeOutput source, Node *waiting) {
  Node *node = source.node;
  if (source.index != CONTROL_SLOT) TRY(make_identity(f, source, &node));
  return optimizer_control(f->graph, node, waiting, f->status);
}

static bool wait_for(Folder *f, const Waits *waits, Node *waiting) {
  if (waits->gate_of > 0) return optimizer_control(f->graph, f->gates[waits->gate_of], waiting, f->status);
  for (int i = 0; i < waits->count; i++) TRY(wait_for_source(f, waits->sources[i], waiting));
  return true;
}

static bool add_gate(Folder *f, const Node *node) {
  Node *gate;
  TRY(optimizer_add_no_op(f->graph, graph_new_free_name(f->graph, node->name), node->def->device, &gate,
                          f->status));
  for (int64_t i = 0; i < node_num_in_edges(node); i++) {
    const Edge *edge = node_in_edge(node, i);
    if (!edge) continue;
    TRY(passes_over(f, edge) ? wait_for(f, &f->waits[edge->src->id], gate)
                             : wait_for_source(f, wait_of(edge), gate));
  }
  f->gates[node->id] = gate;
  return true;
}

/* Makes the gate, which waits for everything that the node waits for. */
static bool make_gate(Folder *f, const Node *node) {
  GateStack stack = {0};
  bool ok = push_inner_gates(f, node, &stack);
  while (ok && stack.depth > 0) {
    const Node *inner = graph_node(f->graph, stack.ids[stack.depth - 1]);
    int64_t depth = stack.depth;
    ok = push_inner_gates(f, inner, &stack);
    if (!ok || stack.depth > depth) continue;
    stack.depth--;
    if (!f->gates[inner->id]) ok = add_gate(f, inner);
  }
  mem_free(stack.ids);
  return ok && add_gate(f, node);
}

static bool make_const(Folder *f, const Node *node, const Tensor *value, Node **made) {
  Arena *arena = graph_arena(f->graph);
  const char *numbered, *name;
  do {
    numbered = graph_new_name(f->graph, node->name);
    name = !numbered ? NULL : arena_printf(arena, "%s__cf__%lld", numbered, (long long)f->num_replaced);
  } while (name && graph_find_node(f->graph, name));
  NodeBuilder b;
  node_builder(&b, f->graph, "Const", name);
  node_builder_device(&b, node->def->device);
  node_builder_tensor(&b, value);
  return node_builder_finish_bare(&b, made, f->status);
}

/* Without consumers it is harmless if a later step fails. */
static bool replace_output(Folder *f, Node *node, int output, const Tensor *value) {
  Node *made;
  const Waits *waits = &f->waits[node->id];
  TRY(make_const(f, node, value, &made));
  if (waits->gate_of > 0 && !f->gates[waits->gate_of])
    TRY(make_gate(f, graph_node(f->graph, waits->gate_of)));
  TRY(wait_for(f, waits, made));
  if (made->num_control_inputs == 0)
    TRY(optimizer_control(f->graph, graph_node(f->graph, SOURCE_ID), made, f->status));
  TRY(graph_infer_shapes(f->graph, made, f->status));
  f->num_replaced++;
  f->total_bytes += tensor_bytes(value);
  /* Constant nodes keep their inputs: their own outputs may not be replaced. */
  for (int32_t i = node->num_out_edges - 1; i >= 0; i--) {
    const Edge *edge = node->out_edges[i];
    if (edge->src_output != output || !is_replaced(f, edge)) continue;
    TRY(graph_update_edge(f->graph, made, 0, edge->dst, edge->dst_input, f->status));
  }
  return true;
}

/* Nothing need wait for a node that computes a constant, and that waits for nothing itself. */
static void forget_waits_for(Folder *f, const Node *node) {
  if (f->waits[node->id].gate_of > 0 || f->waits[node->id].count > 0) return;
  for (int32_t i = node->num_out_edges - 1; i >= 0; i--) {
    Edge *edge = node->out_edges[i];
    if (edge_is_control(edge) && edge->dst->id > SINK_ID) graph_remove_edge(f->graph, edge);
  }
}

static bool has_readers(const Folder *f, const Node *node, int output) {
  for (int32_t i = 0; i < node->num_out_edges; i++) {
    const Edge *edge = node->out_edges[i];
    if (edge->src_output == output && is_replaced(f, edge)) return true;
  }
  return false;
}

static bool replace_outputs(Folder *f, Node *node, const Tensor *values) {
  for (int i = 0; i < node->num_outputs; i++) {
    int64_t bytes = tensor_bytes(&values[i]);
    if (bytes > f->max_bytes || bytes > CONSTANT_FOLDING_MAX_TOTAL_BYTES - f->total_bytes) continue;
    if (has_readers(f, node, i)) TRY(replace_output(f, node, i, &values[i]));
  }
  return true;
}

/* --- computing --- */

static void clear_outputs(const Node *node, Tensor *outputs) {
  for (int i = 0; i < node->num_outputs; i++) tensor_clear(&outputs[i]);
}

/* The outputs of a shape op, if inference knows all of them. */
static bool fold_shapes(Graph *graph, const Node *node, Tensor *outputs, bool *folded, Status *status) {
  *folded = true;
  for (int i = 0; i < node->num_outputs && *folded; i++) {
    if (!graph_constant_value(graph, (NodeOutput){(Node *)node, i}, &outputs[i], folded, status)) {
      clear_outputs(node, outputs);
      return *folded = false;
    }
  }
  if (!*folded) clear_outputs(node, outputs);
  return true;
}

/* Tries to compute a node. `inputs` has the known input values, else NULL. Sets *folded and, if true, all
 * `outputs` (empty at entry). Nodes whose results are too large or whose kernel fails are left unchanged:
 * they run, and fail, in the step. The only error is RESOURCE_EXHAUSTED. */
static bool compute_node(Graph *graph, const Node *node, const Tensor *const *inputs, bool trust_shapes,
                         Tensor *outputs, bool *folded, Status *status) {
  *folded = false;
  if (trust_shapes && reads_only_shapes(node)) {
    TRY(fold_shapes(graph, node, outputs, folded, status));
    if (*folded) return true;
  }
  for (int i = 0; i < node->num_inputs; i++) {
    if (!inputs[i]) return true;
  }
  Status failure;
  status_init(&failure);
  if (!node_evaluate(node, inputs, outputs, &failure)) {
    clear_outputs(node, outputs);
    return true;
  }
  int64_t bytes = 0;
  for (int i = 0; i < node->num_outputs; i++) bytes += tensor_bytes(&outputs[i]);
  *folded = bytes <= CONSTANT_FOLDING_MAX_BYTES;
  if (!*folded) clear_outputs(node, outputs);
  return true;
}

static void clear_values(Folder *f, const Node *node) {
  for (int i = 0; f->values[node->id] && i < node->num_outputs; i++) tensor_clear(&f->values[node->id][i]);
  mem_free(f->values[node->id]);
  f->values[node->id] = NULL;
}

static bool compute(Folder *f, const Node *node, bool *known) {
  *known = false;
  const Tensor **inputs = mem_calloc(node->num_inputs + 1, sizeof *inputs);
  Tensor *outputs = mem_calloc(node->num_outputs + 1, sizeof *outputs);
  bool ok = (inputs && outputs) || oom(f);
  for (int i = 0; ok && i < node->num_inputs; i++) {
    const Edge *edge = node->inputs[i];
    const Tensor *values = edge->src->id < f->num_ids ? f->values[edge->src->id] : NULL;
    inputs[i] = !values ? NULL : &values[edge->src_output];
  }
  if (ok && f->state[node->id] == ENTERED) {
    *known = inputs[0] != NULL;
    ok = !*known || tensor_assign(&outputs[0], inputs[0], f->status);
  } else {
    ok = ok && compute_node(f->graph, node, inputs, f->options->trust_shapes, outputs, known, f->status);
  }
  mem_free(inputs);
  if (ok && *known) {
    f->values[node->id] = outputs;
  } else {
    mem_free(outputs);
  }
  return ok;
}

/* Releases the values of inputs after their last use. */
static void release_inputs(Folder *f, const Node *node) {
  if (!reads_values(f->state[node->id])) return;
  for (int i = 0; i < node->num_inputs; i++) {
    const Node *source = node->inputs[i]->src;
    if (source->id >= f->num_ids) continue; /* a new constant that enters a loop: for the next call */
    if (--f->readers[source->id] == 0) clear_values(f, source);
  }
}

static bool fold(Folder *f) {
  for (int64_t i = 0; i < f->count; i++) {
    Node *node = f->order[i];
    if (!f->needed[node->id]) continue;
    bool known;
    TRY(compute(f, node, &known));
    if (known && !node_is_const(node) && f->state[node->id] != ENTERED) {
      TRY(replace_outputs(f, node, f->values[node->id]));
      forget_waits_for(f, node);
    }
    release_inputs(f, node);
    if (f->readers[node->id] == 0) clear_values(f, node);
  }
  return true;
}

static bool prepare(Folder *f) {
  TRY(optimizer_order(f->graph, f->arena, &f->order, &f->count, f->status));
  int64_t ids = f->num_ids = graph_num_node_ids(f->graph);
  f->state = arena_calloc(f->arena, ids, 1);
  f->passable = arena_calloc(f->arena, ids, 1);
  f->waits = arena_calloc(f->arena, ids, sizeof *f->waits);
  f->identities = arena_calloc(f->arena, ids, sizeof(Node **));
  f->gates = arena_calloc(f->arena, ids, sizeof(Node *));
  f->needed = arena_calloc(f->arena, ids, 1);
  f->readers = arena_calloc(f->arena, ids, sizeof *f->readers);
  f->values = arena_calloc(f->arena, ids, sizeof *f->values);
  bool all = f->state && f->passable && f->waits && f->identities && f->gates && f->needed && f->readers &&
             f->values;
  if (!all) f->count = 0;
  return all || oom(f);
}

bool graph_fold_constants(Graph *graph, const FoldOptions *options, bool *changed, Status *status) {
  Folder f = {.graph = graph, .options = options, .status = status, .arena = arena_new()};
  *changed = false;
  if (!f.arena) return oom(&f);
  f.max_bytes = options->max_constant_size_in_bytes > 0 ? options->max_constant_size_in_bytes
                                                        : CONSTANT_FOLDING_MAX_BYTES;
  bool ok = prepare(&f) && find_constants(&f) && fold(&f);
  for (int64_t i = 0; i < f.count && f.values; i++) clear_values(&f, f.order[i]);
  *changed = f.num_replaced > 0;
  arena_free(f.arena);
  return ok;
}
