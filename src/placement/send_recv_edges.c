/* Edges from one part to another, led over _Send and _Recv. */
#include <string.h>

#include "graph/node_builder.h"
#include "graph/node_class.h"
#include "placement/partition_internal.h"

/* --- the two nodes --- */

static void describe_edge(NodeBuilder *b, const Split *s, const char *name, int from, int to) {
  static const char *const kNames[] = {"tensor_name", "send_device", "recv_device"};
  const Device *source = split_device(s, from);
  const char *texts[] = {name, source->name, split_device(s, to)->name};
  Arena *arena = node_builder_arena(b);
  for (int i = 0; i < 3; i++)
    node_builder_attr(b, kNames[i], attr_value_string(arena, texts[i], strlen(texts[i])));
  node_builder_attr(b, "send_device_incarnation", attr_value_int(arena, (int64_t)device_incarnation(source)));
  node_builder_attr(b, "client_terminated", attr_value_bool(arena, false));
}

/* A worker keeps the kernels of a session by the names of their nodes, for all graphs that it is given. So
 * the name tells what the attrs say: which edge it is, and where it goes. */
static const char *edge_name(const Split *s, const Edge *edge, const char *what) {
  const char *own = arena_printf(s->arena, "/_%s%d_%d_%d", what, edge->id, split_part(s, edge->src),
                                 split_part(s, edge->dst));
  return own ? split_name(s, "", edge->src, own) : NULL;
}

/* The waiting of the _Recv for the _Send is for the order alone: no part has both. */
static bool add_pair(Split *s, NodeOutput value, const Edge *edge, int32_t loop, Channel *channel) {
  NodeBuilder b;
  Node *send, *recv;
  int from = split_part(s, edge->src), to = split_part(s, edge->dst);
  DataType type = (DataType)dtype_base((int)node_output_type(value));
  const char *name = arena_printf(graph_arena(s->graph), "edge_%d_%s", edge->id, edge->src->name);
  if (!name) return status_oom(s->status, "the partitions of a graph");
  node_builder(&b, s->graph, "_Send", edge_name(s, edge, "S"));
  node_builder_type(&b, "T", type);
  describe_edge(&b, s, name, from, to);
  node_builder_input(&b, value);
  TRY(node_builder_finish_bare(&b, &send, s->status) && split_place(s, send, from, edge->src, 1));
  node_builder(&b, s->graph, "_Recv", edge_name(s, edge, "R"));
  node_builder_type(&b, "tensor_type", type);
  describe_edge(&b, s, name, from, to);
  node_builder_control(&b, send);
  if (loop > 0) node_builder_control(&b, split_control_loop(s, loop, to)->merge);
  TRY(node_builder_finish_bare(&b, &recv, s->status) && split_place(s, recv, to, edge->dst, -1));
  recv->output_shapes[0] = value.node->output_shapes[value.index];
  channel->send = send;
  channel->recv = recv;
  return true;
}

/* A constant that waits for the source stands for it. */
static bool add_signal(Split *s, const Edge *edge, NodeOutput *value) {
  NodeBuilder b;
  Tensor nothing = {0};
  TRY(tensor_allocate_dims(&nothing, DT_FLOAT, 1, (const int64_t[]){0}, NULL, s->status));
  node_builder(&b, s->graph, "Const", split_name(s, "", edge->src, "/ctrl"));
  node_builder_tensor(&b, &nothing);
  node_builder_control(&b, edge->src);
  tensor_clear(&nothing);
  *value = (NodeOutput){NULL, 0};
  return node_builder_finish_bare(&b, &value->node, s->status) &&
         split_place(s, value->node, split_part(s, edge->src), edge->src, 1);
}

static bool add_arrival(Split *s, const Edge *edge, Node *recv, Node **arrival) {
  NodeBuilder b;
  node_builder(&b, s->graph, "Identity", split_name(s, "", edge->src, ""));
  node_builder_type(&b, "T", DT_FLOAT);
  node_builder_input(&b, (NodeOutput){recv, 0});
  return node_builder_finish_bare(&b, arrival, s->status) &&
         split_place(s, *arrival, split_part(s, edge->dst), edge->dst, -1);
}

/* --- channels --- */

static bool add_channel(Split *s, const Edge *edge, int32_t loop, Channel *channel) {
  NodeOutput value = {edge->src, edge->src_output};
  if (edge_is_control(edge)) TRY(add_signal(s, edge, &value));
  TRY(add_pair(s, value, edge, loop, channel));
  channel->end = channel->recv;
  return !edge_is_control(edge) || add_arrival(s, edge, channel->recv, &channel->end);
}

static bool find_channel(Split *s, const Edge *edge, int32_t loop, Channel **channel) {
  int part = split_part(s, edge->dst);
  Channel **first = &s->channels[edge->src->id];
  for (Channel *at = *first; at; at = at->next) {
    if (at->output != edge->src_output || at->part != part) continue;
    if (at->reader != edge->dst) at->reader = NULL;
    split_hurry(s, at->recv, edge->dst);
    split_hurry(s, at->end, edge->dst);
    *channel = at;
    return true;
  }
  Channel *added = arena_calloc(s->arena, 1, sizeof *added);
  if (!added) return status_oom(s->status, "the partitions of a graph");
  *added = (Channel){.next = *first, .output = edge->src_output, .part = part, .reader = edge->dst};
  TRY(add_channel(s, edge, loop, added));
  *channel = *first = added;
  return true;
}

static bool lead(Split *s, Edge *edge, int32_t loop) {
  Channel *channel = NULL;
  Edge *moved;
  Node *dst = edge->dst;
  TRY(find_channel(s, edge, loop, &channel));
  if (!edge_is_control(edge))
    return graph_update_edge(s->graph, channel->end, 0, dst, edge->dst_input, s->status);
  graph_remove_edge(s->graph, edge);
  return graph_add_control_edge(s->graph, channel->end, dst, &moved, s->status);
}

/* --- references --- */

/* A search for the nodes of the sender's part that a reader waits for. */
typedef struct Search {
  Split *s;
  const Channel *channel;
  Node **queue;
  int64_t num_queued;
  int64_t *seen; /* per node id: the number of the search that found it */
  int64_t number;
} Search;

static void visit(Search *search, Node *node) {
  if (node->id <= SINK_ID || search->seen[node->id] == search->number) return;
  search->seen[node->id] = search->number;
  search->queue[search->num_queued++] = node;
}

static bool begins_iteration(const Node *node) { return node_is_enter(node) || node_is_next_iteration(node); }

/* The value of a reference is read when its reader may read it: the _Send waits for what the reader waits
 * for in that part, and the _Recv for all that the reader waits for. */
static bool wait_with_reader(Search *search) {
  Split *s = search->s;
  const Node *reader = search->channel->reader;
  Edge *added;
  search->number++;
  search->num_queued = 0;
  for (int32_t i = 0; i < reader->num_control_inputs; i++) {
    Node *awaited = reader->control_inputs[i]->src;
    TRY(graph_add_control_edge(s->graph, awaited, search->channel->recv, &added, s->status));
    visit(search, awaited);
  }
  for (int64_t i = 0; i < search->num_queued; i++) {
    Node *node = search->queue[i];
    if (split_part(s, node) == split_part(s, search->channel->send)) {
      TRY(graph_add_control_edge(s->graph, node, search->channel->send, &added, s->status));
    } else if (!begins_iteration(node)) {
      for (int64_t e = 0; e < node_num_in_edges(node); e++) visit(search, node_in_edge(node, e)->src);
    }
  }
  return true;
}

static bool start_search(Split *s, Search *search) {
  int64_t ids = graph_num_node_ids(s->graph);
  *search = (Search){.s = s,
                     .queue = arena_alloc(s->arena, ids * (int64_t)sizeof *search->queue),
                     .seen = arena_calloc(s->arena, ids, sizeof *search->seen)};
  return (search->queue && search->seen) || status_oom(s->status, "the partitions of a graph");
}

static bool delay_references(Split *s) {
  Search search = {0};
  for (int64_t id = SINK_ID + 1; id < s->num_old; id++) {
    const Node *node = graph_node(s->graph, id);
    for (const Channel *at = s->channels[id]; at; at = at->next) {
      if (at->output == CONTROL_SLOT || !at->reader || !dtype_is_ref(node->output_types[at->output]) ||
          at->reader->num_control_inputs == 0)
        continue;
      TRY(search.s || start_search(s, &search));
      search.channel = at;
      TRY(wait_with_reader(&search));
    }
  }
  return true;
}

bool split_edges(Split *s, Edge *const *edges, int64_t count) {
  for (int64_t i = 0; i < count; i++) TRY(lead(s, edges[i], loop_of_inputs(&s->loops, edges[i]->dst)));
  for (ControlLoop *at = s->control_loops; at; at = at->next) {
    Edge *condition = node_input_edge(at->pivot, 1);
    if (split_part(s, condition->src) != at->part) TRY(lead(s, condition, at->loop));
  }
  return delay_references(s);
}
