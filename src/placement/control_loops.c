/* Loops whose nodes are in several parts: each part that receives values in such a loop gets a loop that does
 * nothing but go around as often, and in which the receives wait. */
#include "graph/node_builder.h"
#include "graph/node_class.h"
#include "placement/partition_internal.h"

static bool oom(const Split *s) { return status_oom(s->status, "the partitions of a graph"); }

ControlLoop *split_control_loop(const Split *s, int32_t loop, int part) {
  ControlLoop *at = s->control_loops;
  while (at && (at->loop != loop || at->part != part)) at = at->next;
  return at;
}

/* --- nodes --- */

/* What the loop begins with: nothing but the fact that it begins. */
static bool add_start(Split *s, const Node *beside, int part, Node **start) {
  NodeBuilder b;
  Tensor nothing = {0};
  TRY(tensor_allocate_dims(&nothing, DT_FLOAT, 1, (const int64_t[]){0}, NULL, s->status));
  node_builder(&b, s->graph, "Const", split_name(s, "", beside, ""));
  node_builder_tensor(&b, &nothing);
  tensor_clear(&nothing);
  return node_builder_finish_bare(&b, start, s->status) && split_place(s, *start, part, beside, -1);
}

static bool finish(Split *s, NodeBuilder *b, const Node *beside, int part, Node **node) {
  node_builder_type(b, "T", DT_FLOAT);
  return node_builder_finish_bare(b, node, s->status) && split_place(s, *node, part, beside, -1);
}

static bool add_enter(Split *s, int32_t loop, Node *start, const Node *beside, int part, Node **enter) {
  static const char *const kAttrs[] = {"frame_name", "parallel_iterations"};
  NodeBuilder b;
  node_builder(&b, s->graph, "Enter", split_name(s, "_cloop", beside, ""));
  for (int i = 0; i < 2; i++) {
    AttrValue *value = (AttrValue *)node_def_attr(s->enters[loop]->def, kAttrs[i]);
    if (value) node_builder_attr(&b, kAttrs[i], value);
  }
  node_builder_attr(&b, "is_constant", attr_value_bool(node_builder_arena(&b), false));
  node_builder_input(&b, (NodeOutput){start, 0});
  return finish(s, &b, beside, part, enter);
}

/* The Merge reads the Enter twice, until there is a NextIteration. */
static bool add_round(Split *s, ControlLoop *loop, Node *enter, const Node *beside) {
  NodeBuilder b;
  Node *next;
  node_builder(&b, s->graph, "Merge", split_name(s, "_cloop", beside, ""));
  node_builder_int(&b, "N", 2);
  node_builder_inputs(&b, (const NodeOutput[]){{enter, 0}, {enter, 0}}, 2);
  TRY(finish(s, &b, beside, loop->part, &loop->merge));
  node_builder(&b, s->graph, "Switch", split_name(s, "_cloop", beside, ""));
  node_builder_inputs(&b, (const NodeOutput[]){{loop->merge, 0}, {s->conditions[loop->loop], 0}}, 2);
  TRY(finish(s, &b, beside, loop->part, &loop->pivot));
  node_builder(&b, s->graph, "NextIteration", split_name(s, "_cloop", beside, ""));
  node_builder_input(&b, (NodeOutput){loop->pivot, 1});
  TRY(finish(s, &b, beside, loop->part, &next));
  return graph_update_edge(s->graph, next, 0, loop->merge, 1, s->status);
}

/* --- loops --- */

static bool no_condition(const Split *s, int32_t loop) {
  Str name = {"", 0};
  if (s->enters[loop] && !node_attr_string(s->enters[loop]->def, "frame_name", &name, s->status))
    return false;
  return status_invalid(s->status, "A cross-device loop must have a pivot predicate: %.*s", (int)name.length,
                        name.data);
}

/* `around` follows the loop around this one; NULL when there is none. */
static bool add_control_loop(Split *s, int32_t loop, int part, const ControlLoop *around,
                             const Node *beside) {
  Node *start = around ? around->merge : NULL, *enter;
  if (!s->conditions[loop] || !s->enters[loop]) return no_condition(s, loop);
  ControlLoop *added = arena_calloc(s->arena, 1, sizeof *added);
  if (!added) return oom(s);
  *added = (ControlLoop){.next = s->control_loops, .loop = loop, .part = part};
  if (!start) TRY(add_start(s, beside, part, &start));
  TRY(add_enter(s, loop, start, beside, part, &enter) && add_round(s, added, enter, beside));
  s->control_loops = added;
  return true;
}

/* Outer loops come first. */
static bool follow_loop(Split *s, int32_t loop, int part, const Node *beside) {
  while (!split_control_loop(s, loop, part)) {
    int32_t outer = loop;
    while (s->loops.parent[outer] > 0 && !split_control_loop(s, s->loops.parent[outer], part))
      outer = s->loops.parent[outer];
    TRY(add_control_loop(s, outer, part, split_control_loop(s, s->loops.parent[outer], part), beside));
  }
  return true;
}

/* A stage of a loop without a loop variable goes around as often as the others. */
static bool follow_from_stages(Split *s) {
  uint8_t *goes_around = arena_calloc(s->arena, s->num_parts, 1);
  if (!goes_around) return oom(s);
  for (int64_t i = 0; i < s->num_ordered; i++) {
    const Node *node = s->order[i];
    if (node_is_merge(node) && split_closes_loop(node)) goes_around[split_part(s, node)] = 1;
  }
  for (int64_t i = 0; i < s->num_ordered; i++) {
    const Node *node = s->order[i];
    int part = split_part(s, node);
    int32_t loop = s->loops.loop_of[node->id];
    if (loop == 0 || goes_around[part] || !s->conditions[loop]) continue;
    goes_around[part] = 1;
    TRY(follow_loop(s, loop, part, node));
  }
  return true;
}

bool split_add_control_loops(Split *s, Edge *const *edges, int64_t count) {
  for (int64_t i = 0; i < count; i++) {
    int32_t loop = loop_of_inputs(&s->loops, edges[i]->dst);
    if (loop > 0) TRY(follow_loop(s, loop, split_part(s, edges[i]->dst), edges[i]->dst));
  }
  return !s->device_of_part || follow_from_stages(s);
}
