#include "gradient/frame_scope.h"

#include "graph/frame_loop.h"
#include "graph/graph_walk.h"
#include "graph/node_class.h"

static bool oom(const FrameScope *s) { return status_oom(s->site->status, "gradients"); }

/* --- frames --- */

/* The frame of that Enter inside of `around`. NULL when out of memory. */
static const Frame *frame_entered(FrameScope *s, const Frame *around, Node *enter) {
  Str name = {0};
  Status ignored;
  status_init(&ignored);
  if (!node_attr_string(enter->def, "frame_name", &name, &ignored)) name = str_of("");
  Frame **first = around ? &((Frame *)around)->inner : &s->outer, *frame = *first;
  while (frame && !str_equal(frame->name, name)) frame = frame->next;
  if (!frame) {
    frame = arena_calloc(s->arena, 1, (int64_t)sizeof *frame);
    if (!frame) return NULL;
    *frame = (Frame){enter, name, around ? around->depth + 1 : 1, around, NULL, *first};
    *first = frame;
  }
  if (node_is_constant_enter(frame->enter)) frame->enter = enter;
  return frame;
}

typedef struct FrameSearch {
  FrameScope *scope;
  bool failed;
} FrameSearch;

static const Frame *deeper(const Frame *a, const Frame *b) {
  return !a || (b && b->depth > a->depth) ? b : a;
}

/* All that the node reads has been left before, except what closes a loop. */
static void leave(void *argument, Node *node) {
  FrameSearch *search = argument;
  FrameScope *s = search->scope;
  const Frame *frame = NULL;
  for (int i = 0; i < node->num_inputs; i++) {
    if (node->inputs[i]) frame = deeper(frame, s->frame_of[node->inputs[i]->src->id]);
  }
  for (int i = 0; i < node->num_control_inputs; i++)
    frame = deeper(frame, s->frame_of[node->control_inputs[i]->src->id]);
  if (node_is_exit(node) && frame) frame = frame->around;
  if (node_is_enter(node)) {
    frame = frame_entered(s, frame, node);
    search->failed = search->failed || !frame;
  }
  s->frame_of[node->id] = frame;
}

static bool find_frames(FrameScope *s) {
  const Graph *graph = s->site->graph;
  FrameSearch search = {s, false};
  int64_t count = 0;
  s->num_ids = graph_num_node_ids(graph);
  s->frame_of = arena_calloc(s->arena, s->num_ids, sizeof *s->frame_of);
  Node **all = arena_calloc(s->arena, s->num_ids, sizeof *all);
  if (!s->frame_of || !all) return oom(s);
  for (int64_t id = s->num_ids - 1; id > SINK_ID; id--) {
    if (graph_node(graph, id)) all[count++] = graph_node(graph, id);
  }
  const Walk walk = {.leave = leave, .follow = walk_follow_forward, .argument = &search};
  TRY(graph_reverse_dfs_from(graph, all, count, &walk, s->site->status));
  return !search.failed || oom(s);
}

static bool is_around(const Frame *outer, const Frame *inner) {
  while (inner && inner != outer) inner = inner->around;
  return inner == outer;
}

/* --- the scope --- */

static bool has_loops(const Graph *graph) {
  for (int64_t id = SINK_ID + 1; id < graph_num_node_ids(graph); id++) {
    if (graph_node(graph, id) && node_is_enter(graph_node(graph, id))) return true;
  }
  return false;
}

static bool find_scope(FrameScope *s, const NodeOutput *ys, int num_ys) {
  const Frame *last = NULL;
  const Node *in_last = NULL;
  for (int i = 0; i < num_ys; i++) {
    const Frame *frame = s->frame_of[ys[i].node->id];
    if (!is_around(last, frame) && !is_around(frame, last))
      return status_invalid(s->site->status,
                            "Cannot compute the gradient of values in the rounds of different while loops: "
                            "'%s' "
                            "and '%s'",
                            in_last->name, ys[i].node->name);
    last = deeper(last, frame);
    if (last == frame) in_last = ys[i].node;
  }
  s->depth = last ? last->depth : 0;
  s->frames = arena_calloc(s->arena, s->depth + 1, sizeof *s->frames);
  s->pivots = arena_calloc(s->arena, s->depth + 1, sizeof *s->pivots);
  if (!s->frames || !s->pivots) return oom(s);
  for (; last; last = last->around) s->frames[last->depth] = last;
  return true;
}

bool frame_scope_init(FrameScope *scope, GradientSite *site, const NodeOutput *ys, int num_ys) {
  *scope = (FrameScope){.site = site, .arena = site->arena};
  return !has_loops(site->graph) || (find_frames(scope) && find_scope(scope, ys, num_ys));
}

bool frame_scope_has(const FrameScope *s, const Node *node) {
  const Frame *frame = s->frame_of[node->id];
  return frame && frame->depth <= s->depth && s->frames[frame->depth] == frame;
}

void frame_scope_stand(const FrameScope *s, const Node *node) {
  const Frame *frame = s->frame_of[node->id];
  while (frame && (frame->depth > s->depth || s->frames[frame->depth] != frame)) frame = frame->around;
  s->site->pivot = frame ? s->pivots[frame->depth] : NULL;
}

/* --- pivots --- */

/* A value of a variable in the rounds that the condition allows. */
static NodeOutput chosen_by(const Node *condition) {
  for (int32_t i = 0; i < condition->num_out_edges; i++) {
    const Edge *edge = condition->out_edges[i];
    if (edge->dst_input == 1 && node_is_switch(edge->dst)) return (NodeOutput){edge->dst, 1};
  }
  return (NodeOutput){NULL, 0};
}

/* A value that is alive also when the condition is computed for the last time. */
static NodeOutput of_every_round(const Frame *frame) {
  for (int32_t i = 0; i < frame->enter->num_out_edges; i++) {
    const Edge *edge = frame->enter->out_edges[i];
    if (!edge_is_control(edge) && node_is_merge(edge->dst)) return (NodeOutput){edge->dst, 0};
  }
  return (NodeOutput){frame->enter, 0};
}

static bool add_pivot(FrameScope *s, BodyWork *work, const Conditions *of_ys, int depth) {
  NodeOutput value = {NULL, 0}, pivot;
  for (int i = 0; i < of_ys->count && !value.node; i++) {
    const Node *predicate = of_ys->all[i].predicate.node;
    if (node_is_loop_cond(predicate) && s->frame_of[predicate->id] == s->frames[depth])
      value = chosen_by(predicate);
  }
  if (!value.node) value = of_every_round(s->frames[depth]);
  TRY(body_work_op(work, "Identity", &value, 1, &pivot));
  s->pivots[depth] = pivot.node;
  return true;
}

bool frame_scope_begin(FrameScope *s, BodyWork *work, const NodeOutput *ys, int num_ys) {
  ConditionFinder *finder = &s->site->conditions;
  const Conditions *common = NULL, *own;
  for (int i = 0; i < num_ys; i++) {
    TRY(conditions_of(finder, ys[i], &own));
    if (!common) common = own;
    else TRY(conditions_common(finder, common, own, &common));
  }
  for (int depth = 1; depth <= s->depth; depth++) TRY(add_pivot(s, work, common, depth));
  return conditions_of(finder, (NodeOutput){s->pivots[s->depth], 0}, &s->site->outside);
}

/* --- what enters the frames --- */

static bool is_way_in(const Edge *edge, NodeOutput value, const Frame *frame) {
  Str name;
  Status ignored;
  status_init(&ignored);
  return edge->src_output == value.index && node_is_constant_enter(edge->dst) &&
         node_attr_string(edge->dst->def, "frame_name", &name, &ignored) && str_equal(name, frame->name);
}

/* Finds or adds the constant Enter of a value from around the frame. */
static bool enter(BodyWork *work, const Frame *frame, NodeOutput value, NodeOutput *inside) {
  NodeBuilder b;
  int64_t parallel;
  for (int32_t i = 0; i < value.node->num_out_edges; i++) {
    if (!is_way_in(value.node->out_edges[i], value, frame)) continue;
    *inside = (NodeOutput){value.node->out_edges[i]->dst, 0};
    return true;
  }
  TRY(node_attr_int(frame->enter->def, "parallel_iterations", &parallel, work->status));
  body_work_node(&b, work, "Enter", "Enter");
  node_builder_type(&b, "T", node_output_type(value));
  node_builder_attr(&b, "frame_name",
                    attr_value_string(node_builder_arena(&b), frame->name.data, frame->name.length));
  node_builder_attr(&b, "is_constant", attr_value_bool(node_builder_arena(&b), true));
  node_builder_int(&b, "parallel_iterations", parallel);
  node_builder_input(&b, value);
  return body_work_finish(work, &b, inside);
}

/* From the frame `from` into `to`, which is inside of it. */
static bool enter_all(BodyWork *work, const Frame *from, const Frame *to, NodeOutput value,
                      NodeOutput *inside) {
  const Frame **path = arena_calloc(work->arena, to->depth, sizeof *path);
  int count = 0;
  if (!path) return status_oom(work->status, "gradients");
  for (; to != from; to = to->around) path[count++] = to;
  for (*inside = value; count > 0; count--) TRY(enter(work, path[count - 1], *inside, inside));
  return true;
}

/* The outputs of an Exit are around the frame of its input, and those of an Enter inside. */
static bool bring_inputs(FrameScope *s, BodyWork *work, Node *node) {
  const Frame *frame = s->frame_of[node->id];
  if (!frame || node_is_enter(node) || node_is_exit(node)) return true;
  for (int i = 0; i < node->num_inputs; i++) {
    const Edge *edge = node->inputs[i];
    const Frame *from = !edge ? frame : s->frame_of[edge->src->id];
    NodeOutput inside;
    if (from == frame || !is_around(from, frame)) continue;
    TRY(enter_all(work, from, frame, edge_value(edge), &inside));
    TRY(graph_update_edge(work->graph, inside.node, inside.index, node, i, work->status));
  }
  /* What is outside has run before the loop begins. */
  for (int i = node->num_control_inputs; i > 0; i--) {
    Edge *edge = node->control_inputs[i - 1];
    if (s->frame_of[edge->src->id] != frame) graph_remove_edge(work->graph, edge);
  }
  return true;
}

bool frame_scope_close(FrameScope *s, BodyWork *work, int64_t first_id) {
  TRY(find_frames(s));
  for (int64_t id = first_id; id < s->num_ids; id++) {
    if (graph_node(work->graph, id)) TRY(bring_inputs(s, work, graph_node(work->graph, id)));
  }
  return true;
}
