#include "optimizer/equal_variables.h"

#include "graph/frame_loop.h"
#include "op/node_def.h"
#include "optimizer/loop_values.h"
#include "optimizer/optimizer_internal.h"

/* A variable of a loop. */
typedef struct LoopVariable {
  Node *enter, *merge, *gate, *next; /* the gate is its Switch */
} LoopVariable;

/* Further variables of a loop, and deeper expressions, are not compared. */
enum { MOST_VARIABLES = 64, MOST_DEPTH = 4 };

typedef struct Joining {
  Graph *graph;
  const NodeSet *keep;
  Status *status;
  LoopVariable variables[MOST_VARIABLES];
  int count;
  bool changed;
} Joining;

/* --- values --- */

/* Behind Identities and constant Enters: the Const that gives a value, or NULL. */
static const Node *constant_of(const Edge *edge) {
  edge = loop_value_source(edge);
  while (edge && node_is_constant_enter(edge->src)) edge = loop_value_source(edge->src->inputs[0]);
  return edge && node_is_const(edge->src) ? edge->src : NULL;
}

static bool same_constant(const Node *a, const Node *b) {
  const AttrValue *x = node_def_attr(a->def, "value"), *y = node_def_attr(b->def, "value");
  return a == b || (x && y && attr_value_equal(x, y));
}

/* The Merge of the variable whose value an edge carries, in the condition or in the round; or NULL. */
static const Node *variable_of(const Edge *edge) {
  if (node_is_loop_merge(edge->src)) return edge->src_output == 0 ? edge->src : NULL;
  if (!node_is_loop_switch(edge->src) || edge->src_output != 1) return NULL;
  const Edge *merged = loop_value_source(edge->src->inputs[0]);
  return merged && node_is_loop_merge(merged->src) ? merged->src : NULL;
}

/* Whether both only compute, and do the same with their inputs. */
static bool same_operation(const Node *a, const Node *b) {
  return a->op && a->op == b->op && !a->op->def->is_stateful && !node_is_never_constant(a) &&
         !node_is_function(a) && a->num_inputs == b->num_inputs && a->num_control_inputs == 0 &&
         b->num_control_inputs == 0 && optimizer_same_device(a, b) && node_def_same_attrs(a->def, b->def);
}

/* Whether two edges carry the same value if the variables of the two Merges, which may be NULL, are equal. */
static bool same_value(const Edge *a, const Edge *b, const Node *first, const Node *second, int depth) {
  const Node *x = constant_of(a), *y = constant_of(b);
  if (x && y) return same_constant(x, y);
  if (!(a = loop_value_source(a)) || !(b = loop_value_source(b)) || a->src_output != b->src_output)
    return false;
  if (a->src == b->src) return true;
  x = variable_of(a), y = variable_of(b);
  if (x && y && node_is_merge(a->src) == node_is_merge(b->src))
    return (x == first && y == second) || (x == second && y == first);
  if (depth == 0 || a->src->num_inputs == 0 || !same_operation(a->src, b->src)) return false;
  for (int i = 0; i < a->src->num_inputs; i++) {
    if (!same_value(a->src->inputs[i], b->src->inputs[i], first, second, depth - 1)) return false;
  }
  return true;
}

/* --- variables --- */

static bool find_variable(const Joining *j, Node *gate, LoopVariable *v) {
  const Edge *merged = gate->inputs[0];
  *v = (LoopVariable){.gate = gate};
  if (!node_is_loop_switch(gate) || !merged || merged->src_output != 0) return false;
  v->merge = merged->src;
  if (!loop_value_ends(v->merge, &v->enter, &v->next) || dtype_is_ref(v->merge->output_types[0]) ||
      v->next->num_out_edges != 1)
    return false;
  return !kept(j->keep, v->enter) && !kept(j->keep, v->merge) && !kept(j->keep, gate) &&
         !kept(j->keep, v->next);
}

static void find_variables(Joining *j, const Node *condition) {
  j->count = 0;
  for (int32_t i = 0; i < condition->num_out_edges && j->count < MOST_VARIABLES; i++) {
    const Edge *edge = condition->out_edges[i];
    if (!edge_is_control(edge) && edge->dst_input == 1 &&
        find_variable(j, edge->dst, &j->variables[j->count]))
      j->count++;
  }
}

static bool are_equal(const LoopVariable *a, const LoopVariable *b) {
  return a->merge != b->merge && a->merge->output_types[0] == b->merge->output_types[0] &&
         dtype_is_pod(a->merge->output_types[0]) && optimizer_same_device(a->merge, b->merge) &&
         same_value(a->enter->inputs[0], b->enter->inputs[0], NULL, NULL, MOST_DEPTH) &&
         same_value(a->next->inputs[0], b->next->inputs[0], a->merge, b->merge, MOST_DEPTH);
}

/* Lets all that reads `b` read `a`. */
static bool join(Joining *j, const LoopVariable *a, const LoopVariable *b) {
  const NodeOutput passed[] = {{a->gate, 0}, {a->gate, 1}}, merged[] = {{a->merge, 0}, {a->merge, 1}};
  TRY(optimizer_move_consumers(j->graph, b->gate, passed, a->gate, j->status));
  graph_remove_node(j->graph, b->gate);
  TRY(optimizer_move_consumers(j->graph, b->merge, merged, a->merge, j->status));
  graph_remove_node(j->graph, b->merge);
  graph_remove_node(j->graph, b->next);
  if (b->enter->num_out_edges == 0) graph_remove_node(j->graph, b->enter); /* they may share it */
  j->changed = true;
  return true;
}

static bool join_all(Joining *j) {
  for (int a = 0; a < j->count; a++) {
    for (int b = j->count - 1; b > a; b--) {
      if (!are_equal(&j->variables[a], &j->variables[b])) continue;
      TRY(join(j, &j->variables[a], &j->variables[b]));
      j->variables[b] = j->variables[--j->count];
    }
  }
  return true;
}

/* --- conditions --- */

static bool is_scalar(const Edge *edge) {
  ShapeHandle shape = optimizer_edge_shape(edge);
  return shape && shape_rank(shape) == 0;
}

/* Whether the node gives its first input, a scalar: p && p, or a p that was not known to be a scalar. */
static bool gives_input(const Joining *j, const Node *node) {
  if (!node->op || !optimizer_is_free(j->keep, node) || !is_scalar(node->inputs[0])) return false;
  if (optimizer_is_op(node, "ToBool")) return node->input_types[0] == DT_BOOL;
  return optimizer_is_op(node, "LogicalAnd") && is_scalar(node->inputs[1]) &&
         same_value(node->inputs[0], node->inputs[1], NULL, NULL, MOST_DEPTH);
}

static bool shorten(Joining *j, Node *condition) {
  for (const Edge *asked; (asked = loop_value_source(condition->inputs[0])) && gives_input(j, asked->src);) {
    Node *node = asked->src;
    const NodeOutput input = edge_value(node->inputs[0]);
    TRY(optimizer_move_consumers(j->graph, node, &input, NULL, j->status));
    graph_remove_node(j->graph, node);
    j->changed = true;
  }
  return true;
}

bool graph_join_equal_variables(Graph *graph, const NodeSet *keep, bool *changed, Status *status) {
  Joining j = {.graph = graph, .keep = keep, .status = status};
  bool ok = true;
  int64_t ids = graph_num_node_ids(graph);
  for (int64_t id = SINK_ID + 1; ok && id < ids; id++) {
    Node *node = graph_node(graph, id);
    if (!node || !node_is_loop_cond(node)) continue;
    find_variables(&j, node);
    ok = join_all(&j) && shorten(&j, node);
  }
  *changed = j.changed;
  return ok;
}
