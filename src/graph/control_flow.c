/* The frame of every node: walking from source, Enter opens a frame and Exit leaves it. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "graph/graph_internal.h"
#include "graph/graph_walk.h"
#include "graph/node_class.h"

/* --- frames from source on --- */

typedef struct Frames {
  const Graph *graph;
  Arena *arena;
  ControlFlowInfo *info; /* by id */
  Node **found_from;     /* by id: the node through which the walk first reached it */
  Node **queue;
  int64_t num_done, num_queued;
  Status *status;
} Frames;

/* The node's name for messages; truncated rather than failing. */
typedef struct Label {
  char text[512];
} Label;

static Label label(const Node *node) {
  Label result;
  StrBuf text = {0};
  node_def_format_for_error(node->def, &text);
  snprintf(result.text, sizeof result.text, "%s", strbuf_text(&text));
  strbuf_free(&text);
  return result;
}

static bool different_frames(Frames *frames, const Node *node, const Node *input, const char *frame,
                             const char *first_frame) {
  Label node_label = label(node), input_label = label(input),
        first_label = label(frames->found_from[node->id]);
  return status_invalid(frames->status,
                        "%s has inputs from different frames. The input %s is in frame '%s'. The input %s is "
                        "in frame '%s'.",
                        node_label.text, input_label.text, frame, first_label.text, first_frame);
}

static bool open_frame(Frames *frames, Node *enter, Node *parent) {
  Str name;
  TRY(node_attr_string(enter->def, "frame_name", &name, frames->status));
  if (name.length == 0) {
    Label enter_label = label(enter);
    return status_invalid(frames->status, "The Enter %s must have a frame name.", enter_label.text);
  }
  const char *copy = arena_strndup(frames->arena, name.data, name.length);
  if (!copy) return status_oom(frames->status, "the frames of a graph");
  frames->info[enter->id] = (ControlFlowInfo){.frame = enter, .parent_frame = parent, .frame_name = copy};
  return true;
}

/* `in` is the frame on the source's side of the edge. */
static bool reach(Frames *frames, Node *from, Node *node, ControlFlowInfo in) {
  if (node->id <= SINK_ID) return true;
  ControlFlowInfo *info = &frames->info[node->id];
  bool seen = frames->found_from[node->id] != NULL;
  if (seen) {
    /* An Enter's inputs are in the surrounding frame. */
    const char *frame =
        node_is_enter(node) ? frames->info[info->parent_frame->id].frame_name : info->frame_name;
    return strcmp(frame, in.frame_name) == 0 || different_frames(frames, node, from, in.frame_name, frame);
  }
  frames->found_from[node->id] = from;
  frames->queue[frames->num_queued++] = node;
  if (node_is_enter(node)) return open_frame(frames, node, in.frame);
  *info = in;
  return true;
}

static bool follow_source(Frames *frames, Node *source) {
  const Graph *graph = frames->graph;
  ControlFlowInfo *info = &frames->info[SOURCE_ID];
  *info = (ControlFlowInfo){.frame = source, .parent_frame = source, .frame_name = ""};
  for (int64_t id = SINK_ID + 1; id < graph->num_node_ids; id++) {
    Node *node = graph->nodes[id];
    if (node && node->source_edge) TRY(reach(frames, source, node, *info));
  }
  return true;
}

static bool follow(Frames *frames, Node *node) {
  ControlFlowInfo in = frames->info[node->id];
  if (node_is_exit(node)) in = frames->info[in.parent_frame->id];
  for (int32_t i = 0; i < node->num_out_edges; i++) TRY(reach(frames, node, node->out_edges[i]->dst, in));
  return true;
}

/* --- checks that the frames are loops --- */

static const char kInternalBug[] =
    ". This is an internal bug, please file a bug report with instructions on how to reproduce the error.";

typedef struct Frame {
  const char *name;
  struct Frame *parent; /* NULL until it is known; the root frame is its own parent */
  const Node *condition;
} Frame;

static Frame *find_frame(Frames *frames, StringMap *map, const char *name) {
  Frame *frame = string_map_find(map, name);
  if (frame) return frame;
  frame = arena_calloc(frames->arena, 1, sizeof *frame);
  if (!frame || !string_map_set(map, name, frame, frames->status)) return NULL;
  frame->name = name;
  return frame;
}

static bool check_frame(Frames *frames, StringMap *map, const Node *node) {
  const ControlFlowInfo *info = &frames->info[node->id];
  Frame *frame = find_frame(frames, map, info->frame_name);
  Frame *parent = find_frame(frames, map, frames->info[info->parent_frame->id].frame_name);
  if (!frame || !parent) return status_oom(frames->status, "the frames of a graph");
  if (!frame->parent) frame->parent = parent;
  if (frame->parent != parent) {
    Label node_label = label(node);
    return status_set(frames->status, CODE_INTERNAL,
                      "Invalid loop structure: Mismatched parent frames for \"%s\": \"%s\" vs \"%s\". The "
                      "node "
                      "giving this error: %s%s",
                      frame->name, parent->name, frame->parent->name, node_label.text, kInternalBug);
  }
  if (!node_is_loop_cond(node)) return true;
  /* The counters that gradients add to a loop are loops in the same frame. */
  if (frame->condition && !strstr(frame->condition->name, "LoopCounter") &&
      !strstr(node->name, "LoopCounter")) {
    Label node_label = label(node), other_label = label(frame->condition);
    return status_invalid(frames->status,
                          "Invalid loop structure: Loop \"%s\" has more than one LoopCond node: %s and %s%s",
                          frame->name, node_label.text, other_label.text, kInternalBug);
  }
  frame->condition = node;
  return true;
}

static bool check_frames(Frames *frames) {
  StringMap map = {0};
  bool ok = true;
  for (int64_t id = SINK_ID + 1; ok && id < frames->graph->num_node_ids; id++) {
    if (frames->graph->nodes[id] && frames->info[id].frame)
      ok = check_frame(frames, &map, frames->graph->nodes[id]);
  }
  string_map_free(&map);
  return ok;
}

static bool list_unreachable(Frames *frames, Node ***unreachable, int64_t *count) {
  const Graph *graph = frames->graph;
  *unreachable = arena_alloc(frames->arena, graph->num_nodes * (int64_t)sizeof **unreachable);
  *count = 0;
  if (!*unreachable) return status_oom(frames->status, "the frames of a graph");
  for (int64_t id = SINK_ID + 1; id < graph->num_node_ids; id++) {
    if (graph->nodes[id] && !frames->found_from[id]) (*unreachable)[(*count)++] = graph->nodes[id];
  }
  return true;
}

bool graph_control_flow(const Graph *graph, Arena *arena, ControlFlowInfo **info, Node ***unreachable,
                        int64_t *num_unreachable, Status *status) {
  Frames frames = {.graph = graph, .arena = arena, .status = status};
  frames.info = arena_calloc(arena, graph->num_node_ids, sizeof *frames.info);
  frames.found_from = mem_calloc(graph->num_node_ids, sizeof *frames.found_from);
  frames.queue = mem_alloc(graph->num_nodes * (int64_t)sizeof *frames.queue);
  bool ok = (frames.info && frames.found_from && frames.queue) || status_oom(status, "the frames of a graph");
  ok = ok && follow_source(&frames, graph->nodes[SOURCE_ID]);
  while (ok && frames.num_done < frames.num_queued) ok = follow(&frames, frames.queue[frames.num_done++]);
  ok = ok && (!unreachable || list_unreachable(&frames, unreachable, num_unreachable)) &&
       check_frames(&frames);
  if (ok) *info = frames.info;
  mem_free(frames.found_from);
  mem_free(frames.queue);
  return ok;
}
