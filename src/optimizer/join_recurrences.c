#include "optimizer/join_recurrences.h"

#include "graph/node_builder.h"
#include "op/fused_op.h"
#include "op/node_def.h"
#include "optimizer/dead_values.h"
#include "optimizer/fuse_recurrences.h"
#include "optimizer/optimizer_internal.h"

enum { MOST_LOOPS = 32 };

typedef struct Join {
  Graph *graph;
  Arena *arena;
  Node *loops[MOST_LOOPS]; /* NULL: joined with another one */
  int num_loops;
  char *tied; /* by node id: a loop depends on the node, or the node on the loop */
  Status *status;
} Join;

/* --- a loop --- */

static const AttrListValue *list_of(const Node *loop, const char *name) {
  return node_def_attr(loop->def, name)->list;
}

static int64_t rounds_of(const Node *loop) { return node_def_attr(loop->def, "rounds")->i; }

static int outputs_of_stage(const NameAttrList *stage) {
  for (size_t i = 0; i < stage->n_attr; i++) {
    if (strcmp(stage->name, FUSED_OP) == 0 && strcmp(stage->attr[i]->key, "results") == 0)
      return (int)stage->attr[i]->value->list->n_i;
  }
  return 1;
}

/* The number of values that its stages compute. */
static int num_computed(const Node *loop) {
  const AttrListValue *stages = list_of(loop, "stages");
  int count = 0;
  for (size_t i = 0; i < stages->n_func; i++) count += outputs_of_stage(stages->func[i]);
  return count;
}

static double size_of(DimHandle dim, double unknown) {
  return dim && dim_known(dim) ? (double)dim_value(dim) : unknown;
}

/* The multiply-adds of its products, of as many rows as its results have, and what its stages take to begin.
 */
static double work_of(const Node *loop) {
  const AttrListValue *next = list_of(loop, "next");
  ShapeHandle result = optimizer_shape(loop, 0);
  int32_t rank = result ? shape_rank(result) : 0;
  double rows = size_of(rank < 2 ? NULL : result->dims[rank - 2], RECURRENCE_MOST_ROWS), weights = 0;
  for (int i = 0; i < loop->num_inputs; i++) {
    ShapeHandle shape = next->i[i] == RECURRENCE_SAME ? optimizer_edge_shape(loop->inputs[i]) : NULL;
    if (shape && shape_rank(shape) == 2) weights += size_of(shape->dims[0], 0) * size_of(shape->dims[1], 0);
  }
  double begins = RECURRENCE_STAGE_WORK * (double)list_of(loop, "stages")->n_func;
  return (double)rounds_of(loop) * (begins + rows * weights);
}

/* Whether the node for both would be one that the kernel takes. */
static bool fit_together(const Node *a, const Node *b) {
  return rounds_of(a) == rounds_of(b) && optimizer_same_device(a, b) &&
         list_of(a, "stages")->n_func + list_of(b, "stages")->n_func <= RECURRENCE_MOST_STAGES &&
         a->num_inputs + num_computed(a) + b->num_inputs + num_computed(b) <= RECURRENCE_MOST_VALUES &&
         a->num_outputs + b->num_outputs <= RECURRENCE_MOST_VALUES &&
         work_of(a) + work_of(b) <= RECURRENCE_MOST_WORK;
}

/* --- the node for both --- */

/* What the numbers of a loop's inputs increase by, and those of what its stages compute in addition. */
typedef struct Renumbering {
  const Node *loop;
  int64_t inputs, computed;
} Renumbering;

static int64_t renumbered(const Renumbering *r, int64_t value) {
  return value < 0                     ? value
         : value < r->loop->num_inputs ? value + r->inputs
                                       : value + r->inputs + r->computed;
}

/* Adds the numbers of both lists, those that are values as the new node counts them. */
static void add_list(NodeBuilder *b, const char *name, bool are_values, const Renumbering both[2]) {
  int64_t numbers[RECURRENCE_MOST_STAGES * FUSED_MOST_INPUTS];
  size_t count = 0;
  for (int k = 0; k < 2; k++) {
    const AttrListValue *list = list_of(both[k].loop, name);
    for (size_t i = 0; i < list->n_i; i++)
      numbers[count++] = are_values ? renumbered(&both[k], list->i[i]) : list->i[i];
  }
  node_builder_attr(b, name, attr_value_int_list(node_builder_arena(b), numbers, count));
}

static void add_types(NodeBuilder *b, const char *name, const Renumbering both[2]) {
  DataType types[RECURRENCE_MOST_VALUES];
  int count = 0;
  for (int k = 0; k < 2; k++) {
    const AttrListValue *list = list_of(both[k].loop, name);
    for (size_t i = 0; i < list->n_type; i++) types[count++] = (DataType)list->type[i];
  }
  node_builder_types(b, name, types, count);
}

static void add_stages(NodeBuilder *b, const Renumbering both[2]) {
  const NameAttrList *stages[RECURRENCE_MOST_STAGES];
  size_t count = 0;
  for (int k = 0; k < 2; k++) {
    const AttrListValue *list = list_of(both[k].loop, "stages");
    for (size_t i = 0; i < list->n_func; i++) stages[count++] = list->func[i];
  }
  node_builder_attr(b, "stages", attr_value_func_list(node_builder_arena(b), stages, count));
}

static void add_edges(NodeBuilder *b, const Node *loop) {
  for (int i = 0; i < loop->num_inputs; i++) node_builder_input(b, edge_value(loop->inputs[i]));
  for (int32_t i = 0; i < loop->num_control_inputs; i++)
    node_builder_control(b, loop->control_inputs[i]->src);
}

static bool add_node(const Join *join, const Node *first, const Node *second, Node **node) {
  /* All inputs are in front of all values that stages compute. */
  const Renumbering both[2] = {{first, 0, second->num_inputs},
                               {second, first->num_inputs, num_computed(first)}};
  NodeBuilder b;
  node_builder(&b, join->graph, FUSED_RECURRENCE, graph_unique_name(join->graph, first->name));
  node_builder_place_as(&b, first);
  add_types(&b, "Tin", both);
  add_types(&b, "Tout", both);
  node_builder_int(&b, "rounds", rounds_of(first));
  add_stages(&b, both);
  add_list(&b, "operands", true, both);
  add_list(&b, "next", true, both);
  add_list(&b, "results", true, both);
  add_list(&b, "rows", false, both);
  add_list(&b, "groups", false, both);
  for (int k = 0; k < 2; k++) add_edges(&b, both[k].loop);
  return node_builder_finish_bare(&b, node, join->status);
}

/* The node's outputs from `first` on are those of the loop. */
static bool replace(const Join *join, Node *loop, Node *node, int first) {
  NodeOutput outputs[RECURRENCE_MOST_VALUES];
  for (int i = 0; i < loop->num_outputs; i++) {
    outputs[i] = (NodeOutput){node, first + i};
    node->output_shapes[first + i] = loop->output_shapes[i];
  }
  return optimizer_move_consumers(join->graph, loop, outputs, node, join->status);
}

static bool join_loops(Join *join, int first, int second) {
  Node *a = join->loops[first], *b = join->loops[second], *node;
  TRY(add_node(join, a, b, &node));
  TRY(replace(join, a, node, 0));
  TRY(replace(join, b, node, a->num_outputs));
  graph_remove_node(join->graph, a);
  graph_remove_node(join->graph, b);
  join->loops[first] = node;
  join->loops[second] = NULL;
  return true;
}

/* --- loops that do not depend on each other --- */

static void note_tied(void *argument, Node *node) {
  const Join *join = argument;
  join->tied[node->id] = 1;
}

static bool find_tied(Join *join, Node *loop) {
  const Walk walk = {.enter = note_tied, .argument = join};
  int64_t ids = graph_num_node_ids(join->graph);
  join->tied = arena_calloc(join->arena, ids, 1);
  if (!join->tied) return status_oom(join->status, "the loops of a graph");
  return graph_dfs_from(join->graph, &loop, 1, &walk, join->status) &&
         graph_reverse_dfs_from(join->graph, &loop, 1, &walk, join->status);
}

/* The loop that another one is joined with; -1: there is none. */
static int partner_of(const Join *join, int first) {
  for (int i = first + 1; i < join->num_loops; i++) {
    const Node *loop = join->loops[i];
    if (loop && !join->tied[loop->id] && fit_together(join->loops[first], loop)) return i;
  }
  return -1;
}

static bool find_loops(Join *join, int64_t first_id) {
  Node **order;
  int64_t count;
  TRY(graph_fixup_source_and_sink_edges(join->graph, NULL, join->status));
  TRY(optimizer_order(join->graph, join->arena, &order, &count, join->status));
  AliveWhen *when = arena_calloc(join->arena, graph_num_node_ids(join->graph), sizeof *when);
  if (!when) return status_oom(join->status, "the loops of a graph");
  dead_values_find_times(order, count, when);
  for (int64_t i = 0; i < count && join->num_loops < MOST_LOOPS; i++) {
    const Node *node = order[i];
    if (node->id >= first_id && optimizer_is_op(node, FUSED_RECURRENCE) &&
        when[node->id].kind == ALIVE_ALWAYS)
      join->loops[join->num_loops++] = order[i];
  }
  return true;
}

static bool join_all(Join *join, int64_t first_id, bool *changed) {
  TRY(find_loops(join, first_id));
  for (int i = 0; i < join->num_loops - 1; i++) {
    for (int partner = i; join->loops[i] && partner >= 0;) {
      TRY(find_tied(join, join->loops[i]));
      partner = partner_of(join, i);
      if (partner < 0) continue;
      TRY(join_loops(join, i, partner));
      *changed = true;
    }
  }
  return true;
}

bool graph_join_recurrences(Graph *graph, int64_t first_id, bool *changed, Status *status) {
  Join join = {.graph = graph, .arena = arena_new(), .status = status};
  *changed = false;
  bool ok = (join.arena || status_oom(status, "the loops of a graph")) && join_all(&join, first_id, changed);
  arena_free(join.arena);
  return ok;
}
