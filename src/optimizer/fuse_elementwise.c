#include "optimizer/fuse_elementwise.h"

#include <string.h>

#include "graph/node_builder.h"
#include "op/fused_op.h"
#include "optimizer/dead_values.h"
#include "optimizer/fusible_ops.h"
#include "optimizer/optimizer_internal.h"

typedef struct Fuse {
  Graph *graph;
  const NodeSet *keep;
  const FuseOptions *options;
  Arena *arena;
  Status *status;
  Node **order; /* topological */
  int64_t count;
  bool trees_only;
  bool *fusible;    /* by id */
  int64_t *level;   /* by id; see set_levels */
  int64_t *group;   /* by id: the id of the group's first node */
  int64_t *size;    /* by the id of a group: its nodes */
  bool *apart;      /* by id, with trees_only: the node is fused only with its one reader */
  Node **first;     /* by the id of a group: its first node, */
  Node **next;      /* and by id the next one, in the order */
  uint64_t *mask;   /* by id: the sources in its group that the value depends on */
  AliveWhen *alive; /* by id, with trees_only */
} Fuse;

static bool oom(Status *status) { return status_oom(status, "fusing nodes"); }

/* --- which edges --- */

/* The one node that reads the value, or NULL. */
static const Node *only_reader(const Node *node) {
  const Node *reader = NULL;
  for (int32_t i = 0; i < node->num_out_edges; i++) {
    if (reader && node->out_edges[i]->dst != reader) return NULL;
    reader = node->out_edges[i]->dst;
  }
  return reader;
}

static bool same_shape(const Node *a, const Node *b) {
  return optimizer_same_shape(a->output_shapes[0], b->output_shapes[0]);
}

/* The number of elements of a known shape, at least -1: unknown. */
static double elements_of(const Node *node) {
  ShapeHandle shape = node->output_shapes[0];
  if (!shape || !shape_fully_defined(shape)) return -1;
  double elements = 1;
  for (int32_t i = 0; i < shape_rank(shape); i++) elements *= (double)dim_value(shape->dims[i]);
  return elements;
}

/* A smaller value is computed as a whole, and so is better small. */
static bool is_small_beside(const Node *part, const Node *whole) {
  enum { SMALL = 4096, MUCH = 16 };
  double a = elements_of(part), b = elements_of(whole);
  return a < 0 || b < 0 || a <= SMALL || a * MUCH <= b;
}

/* Whether the nodes at both ends may be in one group. A value of another shape, such as a learning rate, has
 * no other readers, or it would connect groups of different shapes. */
static bool joins(const Fuse *f, const Edge *edge) {
  const Node *from = edge->src, *to = edge->dst;
  if (edge_is_control(edge) || !f->fusible[from->id] || !f->fusible[to->id]) return false;
  if (!optimizer_same_device(from, to)) return false;
  if (f->options->may_join && !f->options->may_join(f->options->owner, from, to)) return false;
  bool alone = only_reader(from) == to;
  if (f->trees_only && !alone && f->apart[from->id]) return false;
  if (node_reduces_rows(to)) return edge->dst_input == 0;
  return same_shape(from, to) || (alone && is_small_beside(from, to));
}

/* --- groups --- */

static bool is_free(const Fuse *f, const Node *node) {
  return optimizer_is_free(f->keep, node) && node->num_out_edges > 0 && node_fused_op(node);
}

static void find_fusible(Fuse *f) {
  for (int64_t i = 0; i < f->count; i++) {
    const Node *node = f->order[i];
    f->fusible[node->id] = is_free(f, node);
    f->trees_only |= node_is_control_flow(node) || node_is_send(node) || node_is_recv(node);
  }
}

/* The level grows along every edge, except where it joins two nodes: a path that leaves the nodes of one
 * level does not come back to them, so groups of one level make no cycle. A value with one reader moves up to
 * its level. */
static void set_levels(Fuse *f) {
  for (int64_t i = 0; i < f->count; i++) {
    const Node *node = f->order[i];
    int64_t level = 0;
    for (int64_t k = 0; k < node_num_in_edges(node); k++) {
      const Edge *edge = node_in_edge(node, k);
      if (!edge) continue;
      int64_t least = f->level[edge->src->id] + !joins(f, edge);
      if (least > level) level = least;
    }
    f->level[node->id] = level;
  }
  for (int64_t i = f->count - 1; i >= 0; i--) {
    const Node *node = f->order[i], *reader = only_reader(node);
    if (reader && joins(f, node->out_edges[0])) f->level[node->id] = f->level[reader->id];
  }
}

static int64_t group_of(const Fuse *f, int64_t id) {
  while (f->group[id] != id) id = f->group[id] = f->group[f->group[id]];
  return id;
}

static void join_groups(Fuse *f) {
  for (int64_t i = 0; i < f->count; i++) {
    const Node *node = f->order[i];
    f->group[node->id] = node->id;
    f->size[node->id] = 1;
    for (int k = 0; k < node->num_inputs; k++) {
      const Edge *edge = node->inputs[k];
      if (!edge || f->level[edge->src->id] != f->level[node->id] || !joins(f, edge)) continue;
      int64_t from = group_of(f, edge->src->id), to = group_of(f, node->id);
      if (from == to) continue;
      f->group[to] = from;
      f->size[from] += f->size[to];
    }
  }
}

/* --- groups in graphs with control flow --- */

/* Of what a group reads: loops, and nodes that are alive at other times, and that its values wait for. */
typedef struct Sources {
  struct {
    int64_t node; /* the id of the node, or of the loop's LoopCond */
    int output;   /* of a Switch; of a LoopCond: 1 for what is alive in rounds only; else 0 */
  } items[64];
  int count;
  bool overflow;
} Sources;

static uint64_t source_bit(Sources *sources, int64_t node, int output) {
  int at = 0;
  while (at < sources->count && (sources->items[at].node != node || sources->items[at].output != output))
    at++;
  if (at == 64) {
    sources->overflow = true;
    return 0;
  }
  if (at == sources->count) {
    sources->items[at].node = node;
    sources->items[at].output = output;
    sources->count++;
  }
  return (uint64_t)1 << at;
}

/* The bits of what the edge's value is alive with. */
static uint64_t source_bits(const Fuse *f, Sources *sources, const Edge *edge) {
  AliveWhen when = dead_values_edge_time(edge, f->alive);
  switch (when.kind) {
    case ALIVE_ALWAYS: return 0;
    case ALIVE_IN_LOOP: return source_bit(sources, when.loop, 0);
    case ALIVE_IN_ROUNDS: return source_bit(sources, when.loop, 0) | source_bit(sources, when.loop, 1);
    default: return source_bit(sources, edge->src->id, node_is_switch(edge->src) ? edge->src_output : 0);
  }
}

static bool is_read_outside(Fuse *f, const Node *node) {
  for (int32_t i = 0; i < node->num_out_edges; i++) {
    const Node *reader = node->out_edges[i]->dst;
    if (!f->fusible[reader->id] || group_of(f, reader->id) != group_of(f, node->id)) return true;
  }
  return false;
}

/* Whether all values that other nodes read depend on the same sources, so that none of them waits for a
 * source, or is dead with it, that it did not depend on before. `first` begins the chain of the group's nodes
 * in f->next. */
static bool depends_alike(Fuse *f, Node *first) {
  Sources sources = {.count = 0};
  uint64_t all = 0, common = ~(uint64_t)0;
  int results = 0;
  for (const Node *node = first; node; node = f->next[node->id]) {
    uint64_t mask = 0;
    for (int k = 0; k < node->num_inputs; k++) {
      const Edge *edge = node->inputs[k];
      bool inside = f->fusible[edge->src->id] && group_of(f, edge->src->id) == group_of(f, node->id);
      mask |= inside ? f->mask[edge->src->id] : source_bits(f, &sources, edge);
    }
    f->mask[node->id] = mask;
    all |= mask;
    if (!is_read_outside(f, node)) continue;
    common &= mask;
    results++;
  }
  return results == 1 || (common == all && !sources.overflow);
}

/* Marks the nodes of groups that do not: they are fused only with values that they alone read. */
static bool separate_groups(Fuse *f) {
  bool any = false;
  for (int64_t i = f->count - 1; i >= 0; i--) {
    int64_t id = group_of(f, f->order[i]->id);
    f->next[f->order[i]->id] = f->first[id];
    f->first[id] = f->order[i];
  }
  for (int64_t i = 0; i < f->count; i++) {
    Node *first = f->order[i];
    if (f->first[group_of(f, first->id)] != first || !f->next[first->id] || depends_alike(f, first)) continue;
    for (Node *node = first; node; node = f->next[node->id]) {
      any |= !f->apart[node->id];
      f->apart[node->id] = true;
    }
  }
  memset(f->first, 0, (size_t)graph_num_node_ids(f->graph) * sizeof *f->first);
  return any;
}

/* --- one group --- */

/* The nodes of a group, at most FUSED_MOST_NODES, in topological order. */
typedef struct Group {
  Node *nodes[FUSED_MOST_NODES];
  NodeOutput inputs[FUSED_MOST_INPUTS];
  DataType input_types[FUSED_MOST_INPUTS], output_types[FUSED_MOST_NODES];
  int64_t operands[FUSED_MOST_NODES * FUSED_MOST_OPERANDS], results[FUSED_MOST_NODES];
  int num_nodes, num_inputs, num_outputs, num_operands;
} Group;

static int index_in(const Group *g, const Node *node) {
  for (int i = 0; i < g->num_nodes; i++) {
    if (g->nodes[i] == node) return i;
  }
  return -1;
}

static int input_in(Group *g, const Edge *edge) {
  for (int i = 0; i < g->num_inputs; i++) {
    if (g->inputs[i].node == edge->src && g->inputs[i].index == edge->src_output) return i;
  }
  g->inputs[g->num_inputs] = edge_value(edge);
  g->input_types[g->num_inputs] = edge->src->output_types[edge->src_output];
  return g->num_inputs++;
}

/* Operands that are nodes count from the number of inputs on, which is known at the end. */
static void find_operands(Group *g) {
  for (int i = 0; i < g->num_nodes; i++) {
    int count = node_reduces_rows(g->nodes[i]) ? 1 : g->nodes[i]->num_inputs;
    for (int k = 0; k < count; k++) {
      const Edge *edge = g->nodes[i]->inputs[k];
      int from = index_in(g, edge->src);
      g->operands[g->num_operands++] = from >= 0 ? -1 - from : input_in(g, edge);
    }
  }
  for (int i = 0; i < g->num_operands; i++) {
    if (g->operands[i] < 0) g->operands[i] = -1 - g->operands[i] + g->num_inputs;
  }
}

static void find_results(Group *g) {
  for (int i = 0; i < g->num_nodes; i++) {
    const Node *node = g->nodes[i];
    bool is_read = false;
    for (int32_t k = 0; k < node->num_out_edges; k++) is_read |= index_in(g, node->out_edges[k]->dst) < 0;
    if (!is_read) continue;
    g->output_types[g->num_outputs] = node->output_types[0];
    g->results[g->num_outputs++] = i;
  }
}

static DataType type_of(const Node *node) {
  const AttrValue *type = node_def_attr(node->def, "T");
  return type ? (DataType)type->type : DT_BOOL;
}

static void set_program(const Group *g, NodeBuilder *b) {
  Str ops[FUSED_MOST_NODES], names[FUSED_MOST_NODES];
  int types[FUSED_MOST_NODES];
  Arena *arena = node_builder_arena(b);
  size_t count = (size_t)g->num_nodes;
  for (int i = 0; i < g->num_nodes; i++) {
    ops[i] = str_of(node_fused_op(g->nodes[i]));
    names[i] = str_of(g->nodes[i]->name);
    types[i] = (int)type_of(g->nodes[i]);
  }
  node_builder_types(b, "Tin", g->input_types, g->num_inputs);
  node_builder_types(b, "Tout", g->output_types, g->num_outputs);
  node_builder_attr(b, "ops", attr_value_string_list(arena, ops, count));
  node_builder_attr(b, FUSED_NODES, attr_value_string_list(arena, names, count));
  node_builder_attr(b, "types", attr_value_type_list(arena, types, count));
  node_builder_attr(b, "operands", attr_value_int_list(arena, g->operands, (size_t)g->num_operands));
  node_builder_attr(b, "results", attr_value_int_list(arena, g->results, (size_t)g->num_outputs));
}

NodeDef *fused_def_of_one(Graph *graph, const Node *node) {
  Group g = {.nodes = {(Node *)node},
             .num_nodes = 1,
             .num_inputs = node->num_inputs,
             .num_operands = node->num_inputs,
             .num_outputs = 1,
             .output_types = {node->output_types[0]}};
  for (int i = 0; i < node->num_inputs; i++) {
    g.input_types[i] = node->input_types[i];
    g.operands[i] = i;
  }
  NodeBuilder b;
  node_builder(&b, graph, FUSED_OP, node->name);
  set_program(&g, &b);
  return b.def;
}

static bool add_fused(Fuse *f, Group *g, Node **fused) {
  const Node *last = g->nodes[g->num_nodes - 1];
  NodeBuilder b;
  find_operands(g);
  find_results(g);
  node_builder(&b, f->graph, FUSED_OP, last->name);
  node_builder_place_as(&b, last);
  set_program(g, &b);
  node_builder_inputs(&b, g->inputs, g->num_inputs);
  TRY(node_builder_finish_bare(&b, fused, f->status));
  for (int i = 0; i < g->num_outputs; i++)
    (*fused)->output_shapes[i] = g->nodes[g->results[i]]->output_shapes[0];
  return true;
}

static bool fuse_group(Fuse *f, Group *g) {
  Node *fused;
  TRY(add_fused(f, g, &fused));
  for (int i = 0; i < g->num_outputs; i++) {
    NodeOutput output = {fused, i};
    Node *node = g->nodes[g->results[i]];
    for (int32_t k = node->num_out_edges - 1; k >= 0; k--) {
      Edge *edge = node->out_edges[k];
      if (index_in(g, edge->dst) < 0)
        TRY(graph_update_edge(f->graph, output.node, output.index, edge->dst, edge->dst_input, f->status));
    }
  }
  for (int i = g->num_nodes - 1; i >= 0; i--) graph_remove_node(f->graph, g->nodes[i]);
  return true;
}

/* --- all groups --- */

/* Large groups are cut in topological order, which makes no cycle either. */
static bool fuse_groups(Fuse *f, bool *changed) {
  Group **open = arena_calloc(f->arena, graph_num_node_ids(f->graph), sizeof *open);
  if (!open) return oom(f->status);
  for (int64_t i = 0; i < f->count; i++) {
    Node *node = f->order[i];
    int64_t id = group_of(f, node->id), left = f->size[id];
    if (left < 2 && !open[id]) continue;
    if (!open[id] && !(open[id] = arena_calloc(f->arena, 1, sizeof **open))) return oom(f->status);
    Group *g = open[id];
    g->nodes[g->num_nodes++] = node;
    f->size[id]--;
    if (g->num_nodes < FUSED_MOST_NODES && left > 1) continue;
    open[id] = NULL;
    if (g->num_nodes < 2) continue;
    TRY(fuse_group(f, g));
    *changed = true;
  }
  return true;
}

/* After these, groups are trees in all graphs with control flow. */
enum { MOST_ROUNDS = 4 };

static bool fuse(Fuse *f, bool *changed) {
  int64_t ids = graph_num_node_ids(f->graph);
  TRY(optimizer_order(f->graph, f->arena, &f->order, &f->count, f->status));
  f->fusible = arena_calloc(f->arena, ids, sizeof *f->fusible);
  f->level = arena_calloc(f->arena, ids, sizeof *f->level);
  f->group = arena_calloc(f->arena, ids, sizeof *f->group);
  f->size = arena_calloc(f->arena, ids, sizeof *f->size);
  f->mask = arena_calloc(f->arena, ids, sizeof *f->mask);
  f->apart = arena_calloc(f->arena, ids, sizeof *f->apart);
  f->first = arena_calloc(f->arena, ids, sizeof *f->first);
  f->next = arena_calloc(f->arena, ids, sizeof *f->next);
  f->alive = arena_calloc(f->arena, ids, sizeof *f->alive);
  if (!f->fusible || !f->level || !f->group || !f->size || !f->mask || !f->apart || !f->first || !f->next ||
      !f->alive)
    return oom(f->status);
  find_fusible(f);
  if (f->trees_only) dead_values_find_times(f->order, f->count, f->alive);
  for (int round = 0, again = 1; again; round++) {
    memset(f->level, 0, (size_t)ids * sizeof *f->level);
    if (round == MOST_ROUNDS) memset(f->apart, true, (size_t)ids);
    set_levels(f);
    join_groups(f);
    again = f->trees_only && separate_groups(f);
  }
  return fuse_groups(f, changed);
}

bool graph_fuse_elementwise(Graph *graph, const NodeSet *keep, const FuseOptions *options, bool *changed,
                            Status *status) {
  Fuse f = {.graph = graph, .keep = keep, .options = options, .status = status, .arena = arena_new()};
  *changed = false;
  bool ok = (f.arena || oom(status)) && fuse(&f, changed);
  arena_free(f.arena);
  return ok;
}
