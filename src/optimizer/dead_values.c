#include "optimizer/dead_values.h"

#include "graph/frame_loop.h"
#include "optimizer/optimizer_internal.h"

enum { MOST_NEEDED = 64, MOST_STEPS = 64, MOST_DEPTH = 16 };

/* What a value needs to be alive, as far as the search went. */
typedef struct Needed {
  const Node *nodes[MOST_NEEDED];
  int outputs[MOST_NEEDED]; /* of Switches, CONTROL_SLOT for both; else 0 */
  int count;
} Needed;

static int output_of(const Node *node, int output) { return node_is_switch(node) ? output : 0; }

static bool is_needed(const Needed *needed, const Node *node, int output) {
  for (int i = 0; i < needed->count; i++) {
    if (needed->nodes[i] == node && needed->outputs[i] == output_of(node, output)) return true;
  }
  return false;
}

static void add_needed(Needed *needed, const Node *node, int output) {
  if (needed->count == MOST_NEEDED || node->id <= SINK_ID || is_needed(needed, node, output)) return;
  needed->nodes[needed->count] = node;
  needed->outputs[needed->count++] = output_of(node, output);
}

/* A Merge needs one of its inputs only, and a ControlTrigger none. What a round needs does not lead to the
 * round before. */
static void find_needed(Needed *needed, NodeOutput value) {
  add_needed(needed, value.node, value.index);
  for (int i = 0; i < needed->count; i++) {
    const Node *node = needed->nodes[i];
    if (node_is_merge(node) || node_is_next_iteration(node) || node_is_control_trigger(node)) continue;
    for (int64_t k = 0; k < node_num_in_edges(node); k++) {
      const Edge *edge = node_in_edge(node, k);
      if (edge) add_needed(needed, edge->src, edge->src_output);
    }
  }
}

/* Whether a needed Switch passes its data on this side under the same condition. */
static bool has_like_switch(const Needed *needed, const Node *node, int output) {
  const Edge *condition = node->inputs[1];
  for (int i = 0; condition && i < needed->count; i++) {
    const Node *other = needed->nodes[i];
    const Edge *of_other = node_is_switch(other) && needed->outputs[i] == output ? other->inputs[1] : NULL;
    if (of_other && of_other->src == condition->src && of_other->src_output == condition->src_output)
      return true;
  }
  return false;
}

/* Whether the output is alive when all that is needed is. Looks at `*left` more nodes at most. */
static bool lives(const Needed *needed, const Node *node, int output, int depth, int *left) {
  if (node->id <= SINK_ID || is_needed(needed, node, output)) return true;
  if (--*left < 0 || depth == MOST_DEPTH) return false;
  bool is_switch = node_is_switch(node);
  if (is_switch && output != CONTROL_SLOT) {
    if (!has_like_switch(needed, node, output)) return false;
    if (node_is_loop_switch(node)) return true; /* the variables of a loop are alive together */
  }
  if (node_is_recv(node) || node_is_control_trigger(node) ||
      (node_is_control_flow(node) && !is_switch && !node_is_constant_enter(node)))
    return false;
  for (int64_t i = 0; i < node_num_in_edges(node); i++) {
    const Edge *edge = node_in_edge(node, i);
    if (!edge || !lives(needed, edge->src, edge->src_output, depth + 1, left)) return false;
  }
  return true;
}

bool dead_values_include(NodeOutput value, NodeOutput other) {
  Needed needed = {.count = 0};
  int left = MOST_STEPS;
  if (node_num_in_edges(other.node) == 0 && !node_is_recv(other.node)) return true;
  find_needed(&needed, value);
  return lives(&needed, other.node, other.index, 0, &left);
}

/* --- times --- */

AliveWhen dead_values_edge_time(const Edge *edge, const AliveWhen *when) {
  const Node *node = edge->src;
  if (node->id <= SINK_ID) return (AliveWhen){ALIVE_ALWAYS, 0};
  if (!node_is_loop_switch(node) || edge->src_output == 0) return when[node->id];
  return (AliveWhen){edge_is_control(edge) ? ALIVE_IN_LOOP : ALIVE_IN_ROUNDS, node->inputs[1]->src->id};
}

static bool reads_variable(const Node *node) {
  return optimizer_is_op(node, "VarHandleOp") || optimizer_is_op(node, "ReadVariableOp");
}

static bool may_be_waited_for(const Node *node) {
  bool has_effects = !node->op || (node->op->def->is_stateful && !node_is_arg(node) && !reads_variable(node));
  return has_effects || node_is_recv(node) || node_is_control_trigger(node);
}

static AliveWhen both(AliveWhen a, AliveWhen b) {
  bool differ = a.loop > 0 && b.loop > 0 && a.loop != b.loop;
  if (differ || a.kind == ALIVE_SOMETIMES || b.kind == ALIVE_SOMETIMES)
    return (AliveWhen){ALIVE_SOMETIMES, 0};
  return a.kind > b.kind ? a : b;
}

static AliveWhen time_of(const Node *node, const AliveWhen *when) {
  static const AliveWhen kSometimes = {ALIVE_SOMETIMES, 0};
  AliveWhen time = {ALIVE_ALWAYS, 0};
  if (may_be_waited_for(node) || (node_is_control_flow(node) && !node_is_constant_enter(node)))
    return kSometimes;
  for (int64_t i = 0; i < node_num_in_edges(node); i++) {
    const Edge *edge = node_in_edge(node, i);
    time = both(time, edge ? dead_values_edge_time(edge, when) : kSometimes);
  }
  return node_is_enter(node) && time.loop > 0 ? kSometimes : time;
}

void dead_values_find_times(Node *const *order, int64_t count, AliveWhen *when) {
  for (int64_t i = 0; i < count; i++) when[order[i]->id] = time_of(order[i], when);
}

/* --- branches --- */

static int32_t branches_of(const Node *node, const int32_t *branches) {
  int32_t most = 0;
  if (node_is_control_trigger(node)) return 0;
  for (int64_t i = 0; i < node_num_in_edges(node); i++) {
    const Edge *edge = node_in_edge(node, i);
    if (edge && branches[edge->src->id] > most) most = branches[edge->src->id];
  }
  if (node_is_recv(node) || (node_is_switch(node) && !node_is_loop_switch(node))) return most + 1;
  return node_is_merge(node) && !node_is_loop_merge(node) && most > 0 ? most - 1 : most;
}

void dead_values_find_branches(Node *const *order, int64_t count, int32_t *branches) {
  for (int64_t i = 0; i < count; i++) branches[order[i]->id] = branches_of(order[i], branches);
}

/* --- constants --- */

bool dead_values_constant(const Node *node, NodeOutput left, Tensor *value, bool *known, Status *status) {
  *known = node_is_const(node) && dead_values_include(left, (NodeOutput){(Node *)node, 0});
  return !*known || optimizer_constant(node, value, known, status);
}
