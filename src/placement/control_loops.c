/* Loops whose nodes are on several devices: each device that receives values in such a loop gets a loop that
 * does nothing but go around as often, and in which the receives wait. */
#include "graph/node_builder.h"
#include "placement/partition_internal.h"

static bool oom(const Split *s) { return status_oom(s->status, "the partitions of a graph"); }

ControlLoop *split_control_loop(const Split *s, int32_t loop, int device) {
  ControlLoop *at = s->control_loops;
  while (at && (at->loop != loop || at->device != device)) at = at->next;
  return at;
}

/* --- nodes --- */

/* What the loop begins with: nothing but the fact that it begins. */
static bool add_start(Split *s, const Node *beside, int device, Node **start) {
  NodeBuilder b;
  Tensor nothing = {0};
  TRY(tensor_allocate_dims(&nothing, DT_FLOAT, 1, (const int64_t[]){0}, NULL, s->status));
  node_builder(&b, s->graph, "Const", split_name(s, "", beside, ""));
  node_builder_tensor(&b, &nothing);
  tensor_clear(&nothing);
  return node_builder_finish_bare(&b, start, s->status) && split_place(s, *start, device, beside, -1);
}

static bool finish(Split *s, NodeBuilder *b, const Node *beside, int device, Node **node) {
  node_builder_type(b, "T", DT_FLOAT);
  return node_builder_finish_bare(b, node, s->status) && split_place(s, *node, device, beside, -1);
}

static bool add_enter(Split *s, int32_t loop, Node *start, const Node *beside, int device, Node **enter) {
  static const char *const kAttrs[] = {"frame_name", "parallel_iterations"};
  NodeBuilder b;
  node_builder(&b, s->graph, "Enter", split_name(s, "_cloop", beside, ""));
  for (int i = 0; i < 2; i++) {
    AttrValue *value = (AttrValue *)node_def_attr(s->enters[loop]->def, kAttrs[i]);
    if (value) node_builder_attr(&b, kAttrs[i], value);
  }
  node_builder_attr(&b, "is_constant", attr_value_bool(node_builder_arena(&b), false));
  node_builder_input(&b, (NodeOutput){start, 0});
  return finish(s, &b, beside, device, enter);
}

/* The Merge reads the Enter twice, until there is a NextIteration. */
static bool add_round(Split *s, ControlLoop *loop, Node *enter, const Node *beside) {
  NodeBuilder b;
  Node *next;
  node_builder(&b, s->graph, "Merge", split_name(s, "_cloop", beside, ""));
  node_builder_int(&b, "N", 2);
  node_builder_inputs(&b, (const NodeOutput[]){{enter, 0}, {enter, 0}}, 2);
  TRY(finish(s, &b, beside, loop->device, &loop->merge));
  node_builder(&b, s->graph, "Switch", split_name(s, "_cloop", beside, ""));
  node_builder_inputs(&b, (const NodeOutput[]){{loop->merge, 0}, {s->conditions[loop->loop], 0}}, 2);
  TRY(finish(s, &b, beside, loop->device, &loop->pivot));
  node_builder(&b, s->graph, "NextIteration", split_name(s, "_cloop", beside, ""));
  node_builder_input(&b, (NodeOutput){loop->pivot, 1});
  TRY(finish(s, &b, beside, loop->device, &next));
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
static bool add_control_loop(Split *s, int32_t loop, int device, const ControlLoop *around,
                             const Node *beside) {
  Node *start = around ? around->merge : NULL, *enter;
  if (!s->conditions[loop] || !s->enters[loop]) return no_condition(s, loop);
  ControlLoop *added = arena_calloc(s->arena, 1, sizeof *added);
  if (!added) return oom(s);
  *added = (ControlLoop){.next = s->control_loops, .loop = loop, .device = device};
  if (!start) TRY(add_start(s, beside, device, &start));
  TRY(add_enter(s, loop, start, beside, device, &enter) && add_round(s, added, enter, beside));
  s->control_loops = added;
  return true;
}

/* Outer loops first. */
static bool follow_loops(Split *s, int32_t loop, int device, const Node *beside) {
  while (!split_control_loop(s, loop, device)) {
    int32_t outer = loop;
    while (s->loops.parent[outer] > 0 && !split_control_loop(s, s->loops.parent[outer], device))
      outer = s->loops.parent[outer];
    TRY(add_control_loop(s, outer, device, split_control_loop(s, s->loops.parent[outer], device), beside));
  }
  return true;
}

bool split_add_control_loops(Split *s, Edge *const *edges, int64_t count) {
  for (int64_t i = 0; i < count; i++) {
    int32_t loop = loop_of_inputs(&s->loops, edges[i]->dst);
    if (loop > 0) TRY(follow_loops(s, loop, split_device(s, edges[i]->dst), edges[i]->dst));
  }
  return true;
}
