/* The gradients of Switch and Merge outside of loops. A gradient of a Merge goes to the input that is alive;
 * what arrives at a Switch is the gradient of the output that was chosen. */
#include "gradient/gradients.h"
#include "graph/node_class.h"

/* The output of a Switch that sends `value` to where `predicate` says. */
static bool add_switch(BodyWork *work, NodeOutput value, const Condition *condition, Node **node) {
  NodeBuilder b;
  bool two = dtype_base(node_output_type(condition->predicate)) == DT_BOOL;
  const char *op = two ? "Switch" : "_SwitchN";
  body_work_node(&b, work, op, "Switch");
  node_builder_type(&b, "T", node_output_type(value));
  if (!two) node_builder_int(&b, "num_outs", condition->sides);
  node_builder_input(&b, value);
  node_builder_input(&b, condition->predicate);
  return node_builder_finish(&b, node, work->status);
}

bool switch_gradient_gate(BodyWork *work, NodeOutput value, const Condition *condition, NodeOutput *gated) {
  gated->index = condition->side;
  return add_switch(work, value, condition, &gated->node);
}

static bool add_merge(BodyWork *work, const NodeOutput *values, int count, NodeOutput *merged) {
  NodeBuilder b;
  body_work_node(&b, work, "Merge", "Merge");
  node_builder_type(&b, "T", node_output_type(values[0]));
  node_builder_int(&b, "N", count);
  node_builder_inputs(&b, values, count);
  return body_work_finish(work, &b, merged);
}

/* Each side is sent through a Switch of its own: a value that the gradient computes again is alive
 * everywhere. */
static bool complete_one(BodyWork *work, NodeOutput value, const Condition *condition, NodeOutput other,
                         NodeOutput *whole) {
  Node *others;
  NodeOutput *sides = arena_calloc(work->arena, condition->sides, sizeof *sides);
  if (!sides) return status_oom(work->status, "gradients");
  TRY(add_switch(work, other, condition, &others));
  for (int i = 0; i < condition->sides; i++) sides[i] = (NodeOutput){others, i};
  TRY(switch_gradient_gate(work, value, condition, &sides[condition->side]));
  return add_merge(work, sides, condition->sides, whole);
}

/* A predicate that is itself under a condition comes before that condition. */
static bool innermost_first(BodyWork *work, const Conditions *conditions, int *order) {
  int *depths = arena_calloc(work->arena, conditions->count + 1, sizeof *depths);
  if (!depths) return status_oom(work->status, "gradients");
  for (int i = 0; i < conditions->count; i++) {
    const Conditions *own;
    int at = i;
    TRY(conditions_of(&work->site->conditions, conditions->all[i].predicate, &own));
    depths[i] = own->count;
    for (; at > 0 && depths[order[at - 1]] < depths[i]; at--) order[at] = order[at - 1];
    order[at] = i;
  }
  return true;
}

bool switch_gradient_complete(BodyWork *work, NodeOutput value, const Conditions *conditions,
                              NodeOutput other, NodeOutput *whole) {
  int *order = arena_calloc(work->arena, conditions->count + 1, sizeof *order);
  if (!order) return status_oom(work->status, "gradients");
  *whole = value;
  TRY(innermost_first(work, conditions, order));
  for (int i = 0; i < conditions->count; i++)
    TRY(complete_one(work, *whole, &conditions->all[order[i]], other, whole));
  return true;
}

static void scoped_work(Gradients *g, const Node *node, BodyWork *work) {
  const char *scope =
      arena_printf(g->arena, "%s%s%s_grad", g->scope, g->scope[0] == 0 ? "" : "/", node->name);
  gradients_work(g, !scope ? g->scope : scope, work);
}

/* --- Switch --- */

static bool fill_sides(Gradients *g, BodyWork *work, Node *node, NodeOutput *sides) {
  DataType type = DT_INVALID;
  for (int i = 0; i < node->num_outputs; i++) {
    TRY(backward_sum(&g->walk, (NodeOutput){node, i}, &sides[i]));
    if (sides[i].node) type = node_output_type(sides[i]);
  }
  Condition condition = {{node->inputs[1]->src, node->inputs[1]->src_output}, 0, node->num_outputs};
  for (int i = 0; i < node->num_outputs && type != DT_INVALID; i++) {
    condition.side = i;
    if (!sides[i].node) TRY(body_work_zeros(work, (NodeOutput){node, i}, type, &sides[i]));
    TRY(switch_gradient_gate(work, sides[i], &condition, &sides[i]));
  }
  return true;
}

bool switch_gradient_of_switch(Gradients *g, Node *node) {
  BodyWork work;
  NodeOutput gradient, *sides = arena_calloc(g->arena, node->num_outputs, sizeof *sides);
  const Edge *data = gradients_edge(g, node, 0);
  if (!sides) return status_oom(g->status, "gradients");
  if (!data || !node->inputs[1]) return true;
  scoped_work(g, node, &work);
  TRY(fill_sides(g, &work, node, sides));
  if (!sides[0].node) return true;
  return add_merge(&work, sides, node->num_outputs, &gradient) && gradients_arrive_at(g, data, gradient);
}

/* --- Merge --- */

static bool not_exclusive(const Gradients *g, const Node *node, const Node *a, const Node *b) {
  status_set(g->status, CODE_UNIMPLEMENTED,
             "The gradient of '%s' (op: '%s') is not known: no Switch tells which of its inputs '%s' and "
             "'%s' is alive",
             node->name, node->def->op, a->name, b->name);
  return node_attach(node->name, g->status);
}

/* The conditions of each input beyond those that all of them have; in a loop, those that arise in a round. */
static bool find_conditions(Gradients *g, const Node *node, const Conditions **own) {
  ConditionFinder *finder = &g->site->conditions;
  const Conditions *common = NULL;
  for (int i = 0; i < node->num_inputs; i++) {
    const Edge *edge = node->inputs[i];
    if (!edge) return status_invalid(g->status, "Input %d of node '%s' is not connected", i, node->name);
    TRY(gradient_site_conditions(g->site, edge_value(edge), NULL, &own[i]));
    for (int k = 0; k < i; k++) {
      if (!conditions_exclude(own[i], own[k])) return not_exclusive(g, node, node->inputs[k]->src, edge->src);
    }
    if (i == 0) common = own[i];
    else TRY(conditions_common(finder, common, own[i], &common));
  }
  for (int i = 0; i < node->num_inputs; i++) TRY(conditions_without(finder, own[i], common, &own[i]));
  return true;
}

bool switch_gradient_of_merge(Gradients *g, Node *node) {
  BodyWork work;
  NodeOutput dy;
  const Conditions **own = arena_calloc(g->arena, node->num_inputs + 1, sizeof *own);
  if (!own) return status_oom(g->status, "gradients");
  TRY(backward_sum(&g->walk, (NodeOutput){node, 0}, &dy));
  if (!dy.node) return true;
  TRY(find_conditions(g, node, own));
  scoped_work(g, node, &work);
  for (int i = 0; i < node->num_inputs; i++) {
    const Edge *edge = gradients_edge(g, node, i);
    NodeOutput gradient = dy;
    if (!edge) continue;
    for (int k = 0; k < own[i]->count; k++)
      TRY(switch_gradient_gate(&work, gradient, &own[i]->all[k], &gradient));
    TRY(gradients_arrive_at(g, edge, gradient));
  }
  return true;
}
