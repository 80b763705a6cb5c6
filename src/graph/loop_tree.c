#include "graph/loop_tree.h"

#include <string.h>

#include "graph/graph_walk.h"
#include "graph/node_class.h"

/* A disjoint-set forest joins nodes into parts. It has two elements per node. The first is the node in its
 * frame. The second is used for one node of each loop: it is the loop as a unit of the surrounding frame. */
typedef struct Parts {
  const Graph *graph;
  const NodeSet *set;
  const ControlFlowInfo *info; /* per id */
  int64_t num_ids;
  int64_t *joined;   /* per element: another element of the same part, or itself */
  int32_t *frame_of; /* per id: frames are numbered by name; 0 outside of loops */
  int32_t *parents;  /* per frame */
  int32_t *depths;
  int32_t num_frames, max_depth;
} Parts;

static bool oom(Status *status) { return status_oom(status, "the loops of a graph"); }

static int64_t part_of(const Parts *p, int64_t element) {
  while (p->joined[element] != element) {
    p->joined[element] = p->joined[p->joined[element]];
    element = p->joined[element];
  }
  return element;
}

static void join(const Parts *p, int64_t a, int64_t b) {
  int64_t part_a = part_of(p, a), part_b = part_of(p, b);
  if (part_a < part_b) p->joined[part_b] = part_a;
  if (part_b < part_a) p->joined[part_a] = part_b;
}

static const Node *node_in(const Parts *p, int64_t id) {
  const Node *node = id < p->set->size && p->set->member[id] ? graph_node(p->graph, id) : NULL;
  return node && id > SINK_ID ? node : NULL;
}

/* --- frames --- */

static int32_t frame_named(Parts *p, StringMap *numbers, const char *name, Status *status) {
  int32_t *number = string_map_find(numbers, name);
  if (number) return (int32_t)(number - p->parents);
  number = &p->parents[p->num_frames];
  return string_map_set(numbers, name, number, status) ? p->num_frames++ : -1;
}

static bool number_frames(Parts *p, StringMap *numbers, Status *status) {
  if (frame_named(p, numbers, "", status) < 0) return false;
  for (int64_t id = SINK_ID + 1; id < p->num_ids; id++) {
    const Node *node = node_in(p, id);
    const ControlFlowInfo *info = &p->info[id];
    if (!node || !info->frame) continue;
    p->frame_of[id] = frame_named(p, numbers, info->frame_name, status);
    int32_t parent = frame_named(p, numbers, p->info[info->parent_frame->id].frame_name, status);
    if (p->frame_of[id] < 0 || parent < 0) return false;
    p->parents[p->frame_of[id]] = p->frame_of[id] == 0 ? 0 : parent;
    if (p->frame_of[id] == 0 && node_is_exit(node))
      return status_invalid(status, "Invalid Exit op: Cannot find a corresponding Enter op. {{node %s}}",
                            node->name);
  }
  return true;
}

/* A parent frame opens before its children, but may have a larger number than they have. */
static void measure_depths(Parts *p) {
  for (int32_t f = 1; f < p->num_frames; f++) {
    int32_t depth = 0, at = f;
    for (; at != 0 && p->depths[at] == 0 && depth <= p->num_frames; at = p->parents[at]) depth++;
    depth += p->depths[at];
    if (depth > p->max_depth) p->max_depth = depth;
    for (at = f; at != 0 && p->depths[at] == 0; at = p->parents[at]) p->depths[at] = depth--;
  }
}

static bool find_frames(Parts *p, Arena *arena, Status *status) {
  StringMap numbers = {0};
  p->frame_of = arena_calloc(arena, p->num_ids, sizeof *p->frame_of);
  p->parents = arena_calloc(arena, 2 * p->num_ids + 1, sizeof *p->parents);
  p->depths = arena_calloc(arena, 2 * p->num_ids + 1, sizeof *p->depths);
  bool ok = (p->frame_of && p->parents && p->depths) || oom(status);
  ok = ok && number_frames(p, &numbers, status);
  string_map_free(&numbers);
  if (ok) measure_depths(p);
  return ok;
}

/* --- parts --- */

/* The loop that a node runs in, as an element of the surrounding frame. */
static int64_t unit_of(const Parts *p, const Node *node) { return p->num_ids + part_of(p, node->id); }

/* The source of an edge as an element of the edge's frame. The next function does the same for the
 * destination. */
static int64_t source_element(const Parts *p, const Edge *edge) {
  return node_is_exit(edge->src) ? unit_of(p, edge->src) : edge->src->id;
}
static int64_t destination_element(const Parts *p, const Edge *edge) {
  return node_is_enter(edge->dst) ? unit_of(p, edge->dst) : edge->dst->id;
}

static int32_t frame_of_edge(const Parts *p, const Edge *edge) {
  int32_t frame = p->frame_of[edge->src->id];
  return node_is_exit(edge->src) ? p->parents[frame] : frame;
}

static void join_ends(const Parts *p, const Edge *edge, int32_t depth) {
  if (!edge || !node_in(p, edge->src->id)) return;
  if (p->depths[frame_of_edge(p, edge)] == depth)
    join(p, source_element(p, edge), destination_element(p, edge));
}

/* Joins the inner frames first, because a loop can be a unit only when its nodes are known. */
static bool join_parts(Parts *p, Arena *arena, Status *status) {
  p->joined = arena_alloc(arena, 2 * p->num_ids * (int64_t)sizeof *p->joined);
  if (!p->joined) return oom(status);
  for (int64_t i = 0; i < 2 * p->num_ids; i++) p->joined[i] = i;
  int64_t *by_depth = arena_calloc(arena, p->max_depth + 2, sizeof *by_depth);
  const Node **sorted = arena_alloc(arena, p->num_ids * (int64_t)sizeof *sorted);
  if (!by_depth || !sorted) return oom(status);
  /* An edge has the depth of its frame: its destination's depth, or one less for an Enter. */
  for (int64_t id = SINK_ID + 1; id < p->num_ids; id++) {
    if (node_in(p, id)) by_depth[p->max_depth - p->depths[p->frame_of[id]] + 1]++;
  }
  for (int32_t d = 0; d <= p->max_depth; d++) by_depth[d + 1] += by_depth[d];
  int64_t total = by_depth[p->max_depth + 1];
  for (int64_t id = SINK_ID + 1; id < p->num_ids; id++) {
    if (node_in(p, id))
      sorted[by_depth[p->max_depth - p->depths[p->frame_of[id]]]++] = graph_node(p->graph, id);
  }
  int64_t begin = 0;
  for (int32_t depth = p->max_depth; depth > 0; depth--) {
    /* Enters of frames one level deeper come before the nodes of this depth. */
    int64_t end = begin;
    while (end < total && p->depths[p->frame_of[sorted[end]->id]] >= depth) end++;
    for (int64_t i = begin; i < end; i++) {
      const Node *node = sorted[i];
      for (int k = 0; k < node->num_inputs; k++) join_ends(p, node_input_edge(node, k), depth);
      for (int k = 0; k < node->num_control_inputs; k++) join_ends(p, node->control_inputs[k], depth);
    }
    while (begin < end && p->depths[p->frame_of[sorted[begin]->id]] > depth) begin++;
  }
  return true;
}

/* --- the tree --- */

static int32_t number_of(int32_t *numbers, int64_t part, int32_t *count) {
  if (numbers[part] == 0) numbers[part] = (*count)++;
  return numbers[part];
}

static bool number_loops(Parts *p, Arena *arena, LoopTree *tree, Status *status) {
  int32_t *numbers = arena_calloc(arena, 2 * p->num_ids, sizeof *numbers);
  tree->loop_of = arena_calloc(arena, p->num_ids, sizeof *tree->loop_of);
  tree->parent = arena_calloc(arena, 2 * p->num_ids + 1, sizeof *tree->parent);
  if (!numbers || !tree->loop_of || !tree->parent) return oom(status);
  tree->num_loops = 1;
  for (int64_t id = SINK_ID + 1; id < p->num_ids; id++) {
    const Node *node = node_in(p, id);
    int32_t frame = node ? p->frame_of[id] : 0;
    if (frame == 0) continue;
    int32_t loop = number_of(numbers, part_of(p, id), &tree->num_loops);
    tree->loop_of[id] = loop;
    if (p->parents[frame] != 0)
      tree->parent[loop] = number_of(numbers, part_of(p, unit_of(p, node)), &tree->num_loops);
  }
  return true;
}

bool loop_tree_of(const Graph *graph, const NodeSet *set, Arena *arena, LoopTree *tree, Status *status) {
  ControlFlowInfo *info;
  Parts parts = {.graph = graph, .set = set, .num_ids = graph_num_node_ids(graph)};
  TRY(graph_control_flow(graph, arena, &info, NULL, NULL, status));
  parts.info = info;
  return find_frames(&parts, arena, status) && join_parts(&parts, arena, status) &&
         number_loops(&parts, arena, tree, status);
}

int32_t loop_of_value(const LoopTree *tree, const Edge *edge) {
  int32_t loop = tree->loop_of[edge->src->id];
  return node_is_exit(edge->src) ? tree->parent[loop] : loop;
}

int32_t loop_of_inputs(const LoopTree *tree, const Node *node) {
  int32_t loop = tree->loop_of[node->id];
  return node_is_enter(node) ? tree->parent[loop] : loop;
}
