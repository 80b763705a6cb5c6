#include "optimizer/fuse_recurrences.h"

#include "graph/node_builder.h"
#include "op/node_def.h"
#include "optimizer/dead_values.h"
#include "optimizer/fuse_elementwise.h"
#include "optimizer/fusible_ops.h"
#include "optimizer/optimizer_internal.h"
#include "optimizer/recurrence.h"

static bool oom(Status *status) { return status_oom(status, "the loops of a graph"); }

/* --- the node --- */

/* The stages as fused nodes or products. NULL: out of memory. */
static AttrValue *stages_of(Graph *graph, const Recurrence *r, Arena *arena) {
  NameAttrList stages[RECURRENCE_MOST_STAGES];
  const NameAttrList *list[RECURRENCE_MOST_STAGES];
  for (int i = 0; i < r->num_stages; i++) {
    const Node *stage = r->stages[i];
    const NodeDef *def = node_fused_op(stage) ? fused_def_of_one(graph, stage) : stage->def;
    if (!def) return NULL;
    stages[i] = (NameAttrList)TENSORFLOW__NAME_ATTR_LIST__INIT;
    stages[i].name = def->op;
    /* All map entries have the same layout: a key and a value. */
    stages[i].attr = (FuncAttrEntry **)def->attr;
    stages[i].n_attr = def->n_attr;
    list[i] = &stages[i];
  }
  return attr_value_func_list(arena, list, (size_t)r->num_stages);
}

/* As the node counts values: behind its inputs, the outputs of stages. */
static int64_t number_of(const Recurrence *r, int64_t value) {
  return value < RECURRENCE_MOST_VALUES ? value : value - RECURRENCE_MOST_VALUES + r->num_inputs;
}

static void add_attrs(const Recurrence *r, NodeBuilder *b) {
  DataType in_types[RECURRENCE_MOST_VALUES], out_types[RECURRENCE_MOST_VALUES];
  int64_t operands[RECURRENCE_MOST_STAGES * FUSED_MOST_INPUTS], next[RECURRENCE_MOST_VALUES],
      results[RECURRENCE_MOST_VALUES], rows[RECURRENCE_MOST_VALUES], groups = r->num_stages;
  Arena *arena = node_builder_arena(b);
  for (int i = 0; i < r->num_operands; i++) operands[i] = number_of(r, r->operands[i]);
  for (int i = 0; i < r->num_inputs; i++) {
    const Node *constant = r->inputs[i].constant;
    next[i] = number_of(r, r->inputs[i].next);
    in_types[i] = constant ? constant->output_types[0]
                           : (DataType)dtype_base((int)node_output_type(r->inputs[i].outside));
  }
  for (int i = 0; i < r->num_results; i++) {
    results[i] = number_of(r, r->results[i].value);
    rows[i] = r->results[i].rows;
    out_types[i] = DT_FLOAT;
  }

  node_builder_types(b, "Tin", in_types, r->num_inputs);
  node_builder_types(b, "Tout", out_types, r->num_results);
  node_builder_int(b, "rounds", r->rounds);
  node_builder_attr(b, "stages", stages_of(b->graph, r, arena));
  node_builder_attr(b, "operands", attr_value_int_list(arena, operands, (size_t)r->num_operands));
  node_builder_attr(b, "next", attr_value_int_list(arena, next, (size_t)r->num_inputs));
  node_builder_attr(b, "results", attr_value_int_list(arena, results, (size_t)r->num_results));
  node_builder_attr(b, "rows", attr_value_int_list(arena, rows, (size_t)r->num_results));
  node_builder_attr(b, "groups", attr_value_int_list(arena, &groups, 1));
}

/* Constants of the loop get copies in front of it. */
static bool add_inputs(Graph *graph, const Recurrence *r, NodeBuilder *b, Status *status) {
  const Node *enter = r->loop->variables[0].enter;
  for (int i = 0; i < r->num_inputs; i++) {
    NodeOutput outside = r->inputs[i].outside;
    if (r->inputs[i].constant) {
      Tensor value = {0};
      bool is_known;
      TRY(optimizer_constant(r->inputs[i].constant, &value, &is_known, status));
      bool ok = optimizer_add_constant(graph, &value, enter, &outside, status);
      tensor_clear(&value);
      if (!ok) return false;
    }
    node_builder_input(b, outside);
  }
  return true;
}

static bool reads(const Node *node, const Node *value) {
  for (int i = 0; i < node->num_inputs; i++) {
    if (node->inputs[i]->src == value) return true;
  }
  return false;
}

/* Nodes that the loop needed, and that only hand on what they wait for. */
static bool is_needless(const Node *node) {
  return node_is_const(node) || node->node_class == NODE_NO_OP ||
         optimizer_is_op(node, "TensorListFromTensor") || optimizer_is_op(node, "TensorListReserve");
}

/* The node must not run where the value is dead, nor before what the value waits for. Looks behind `*left`
 * needless nodes at most, and waits for others. */
static bool wait_for(Graph *graph, Node *value, Node *node, int *left, Status *status) {
  if (value->id <= SINK_ID || reads(node, value)) return true;
  if (!is_needless(value) || --*left < 0) return optimizer_control(graph, value, node, status);
  for (int i = 0; i < value->num_inputs; i++) TRY(wait_for(graph, value->inputs[i]->src, node, left, status));
  for (int32_t i = 0; i < value->num_control_inputs; i++)
    TRY(wait_for(graph, value->control_inputs[i]->src, node, left, status));
  return true;
}

static bool add_controls(Graph *graph, const Recurrence *r, Node *node, Status *status) {
  const FrameLoop *loop = r->loop;
  int left = 256;
  for (int i = 0; i < loop->num_variables + loop->num_constants; i++) {
    int k = i - loop->num_variables;
    const Node *enter = k < 0 ? loop->variables[i].enter : loop->constants[k];
    TRY(wait_for(graph, enter->inputs[0]->src, node, &left, status));
    for (int32_t c = 0; c < enter->num_control_inputs; c++)
      TRY(wait_for(graph, enter->control_inputs[c]->src, node, &left, status));
  }
  return true;
}

static bool add_node(Graph *graph, const Recurrence *r, Node **node, Status *status) {
  const Node *last = r->stages[r->num_stages - 1];
  NodeBuilder b;
  node_builder(&b, graph, FUSED_RECURRENCE, graph_unique_name(graph, last->name));
  node_builder_place_as(&b, last);
  add_attrs(r, &b);
  TRY(add_inputs(graph, r, &b, status));
  TRY(node_builder_finish_bare(&b, node, status));
  for (int i = 0; i < r->num_results; i++) {
    const Node *from = r->results[i].node;
    (*node)->output_shapes[i] = from->output_shapes[0];
  }
  return add_controls(graph, r, *node, status);
}

/* --- the loop --- */

static bool move_results(Graph *graph, const Recurrence *r, Node *node, Status *status) {
  const NodeOutput nothing = {NULL, 0};
  for (int i = 0; i < r->num_results; i++) {
    const NodeOutput output = {node, i};
    TRY(optimizer_move_consumers(graph, r->results[i].node, &output, node, status));
  }
  for (int i = 0; i < r->loop->num_variables; i++) {
    const Node *split = r->loop->variables[i].split;
    for (int32_t k = 0; k < split->num_out_edges; k++) {
      Node *exit = split->out_edges[k]->dst;
      if (node_is_exit(exit)) TRY(optimizer_move_consumers(graph, exit, &nothing, node, status));
    }
  }
  return true;
}

static void remove_readers(Graph *graph, const Recurrence *r) {
  for (int i = 0; i < r->num_results; i++) {
    if (!node_is_exit(r->results[i].node)) graph_remove_node(graph, r->results[i].node);
  }
  for (int i = 0; i < r->loop->num_variables; i++) {
    Node *split = r->loop->variables[i].split;
    for (int32_t k = split->num_out_edges - 1; k >= 0; k--) {
      Node *exit = split->out_edges[k]->dst;
      if (node_is_exit(exit)) graph_remove_node(graph, exit);
    }
  }
}

static bool replace(Graph *graph, const Recurrence *r, Status *status) {
  Node *node;
  int64_t ids = graph_num_node_ids(graph);
  if (!add_node(graph, r, &node, status) || !move_results(graph, r, node, status)) return false;
  remove_readers(graph, r);
  for (int64_t id = SINK_ID + 1; id < ids; id++) {
    Node *member = r->member[id] ? graph_node(graph, id) : NULL;
    if (member) graph_remove_node(graph, member);
  }
  return true;
}

/* The branches of nodes that were added behind those whose branches are known; they read no later ones. */
static bool find_new_branches(const Graph *graph, int64_t first, Arena *arena, RecurrenceFacts *facts,
                              Status *status) {
  int64_t ids = graph_num_node_ids(graph), count = 0;
  int32_t *branches = arena_calloc(arena, ids, sizeof *branches);
  Node **added = arena_calloc(arena, ids - first, sizeof *added);
  if (!branches || !added) return oom(status);
  memcpy(branches, facts->branches, (size_t)first * sizeof *branches);
  for (int64_t id = first; id < ids; id++) {
    Node *node = graph_node(graph, id);
    if (node) added[count++] = node;
  }
  dead_values_find_branches(added, count, branches);
  facts->branches = branches;
  return true;
}

static bool find_facts(Graph *graph, const NodeSet *keep, Arena *arena, RecurrenceFacts *facts,
                       Status *status) {
  Node **order;
  int64_t count;
  TRY(optimizer_order(graph, arena, &order, &count, status));
  int32_t *branches = arena_calloc(arena, graph_num_node_ids(graph), sizeof *branches);
  if (!branches) return oom(status);
  dead_values_find_branches(order, count, branches);
  facts->branches = branches;
  facts->keep = keep;
  return true;
}

static bool fuse_all(Graph *graph, const NodeSet *keep, Arena *arena, bool *changed, Status *status) {
  ControlFlowInfo *frames;
  TRY(optimizer_frames(graph, arena, &frames, status));
  if (!frames) return true;
  RecurrenceFacts facts = {.frames = frames};
  TRY(find_facts(graph, keep, arena, &facts, status));
  int64_t ids = graph_num_node_ids(graph);
  Recurrence *r = arena_alloc(arena, sizeof *r);
  char *tried = arena_calloc(arena, ids, 1);
  if (!tried || !r) return oom(status);
  for (int64_t id = SINK_ID + 1; id < ids; id++) {
    Node *exit = graph_node(graph, id);
    const Edge *edge = exit && node_is_exit(exit) ? exit->inputs[0] : NULL;
    const Edge *condition = edge && node_is_loop_switch(edge->src) ? edge->src->inputs[1] : NULL;
    bool found;
    if (!condition || tried[condition->src->id]) continue;
    tried[condition->src->id] = 1;
    TRY(recurrence_of_exit(exit, &facts, arena, r, &found, status));
    if (!found) continue;
    int64_t first = graph_num_node_ids(graph);
    TRY(replace(graph, r, status));
    TRY(find_new_branches(graph, first, arena, &facts, status));
    *changed = true;
  }
  return true;
}

bool graph_fuse_recurrences(Graph *graph, const NodeSet *keep, bool *changed, Status *status) {
  *changed = false;
  Arena *arena = arena_new();
  bool ok = (arena || oom(status)) && fuse_all(graph, keep, arena, changed, status);
  arena_free(arena);
  return ok;
}
