#include "placement/partition.h"

#include <string.h>

#include "base/alloc.h"
#include "graph/graph_walk.h"
#include "graph/node_class.h"
#include "placement/partition_internal.h"

static bool oom(Status *status) { return status_oom(status, "the partitions of a graph"); }

/* --- where nodes are, and in which order they should come --- */

int split_part(const Split *s, const Node *node) { return s->part_of[node->id]; }

const Device *split_device(const Split *s, int part) {
  return &s->devices->devices[s->device_of_part ? s->device_of_part[part] : part];
}

const char *split_name(const Split *s, const char *before, const Node *node, const char *behind) {
  const char *prefix = arena_printf(s->arena, "%s%s%s", before, node->name, behind);
  return prefix ? graph_new_free_name(s->graph, prefix) : NULL;
}

const Node *split_first_reader(const Node *node) {
  for (int32_t i = 0; i < node->num_out_edges; i++) {
    if (!edge_is_control(node->out_edges[i])) return node->out_edges[i]->dst;
  }
  return NULL;
}

static bool make_room(Split *s, int64_t ids) {
  return (mem_grow((void **)&s->keys, &s->key_capacity, ids, sizeof *s->keys) &&
          mem_grow((void **)&s->part_of, &s->part_capacity, ids, sizeof *s->part_of)) ||
         oom(s->status);
}

bool split_place(Split *s, Node *node, int part, const Node *beside, int place) {
  TRY(make_room(s, node->id + 1));
  s->keys[node->id] = s->keys[beside->id] + place;
  s->part_of[node->id] = part;
  return graph_set_assigned_device(s->graph, node, split_device(s, part)->name, s->status);
}

void split_hurry(Split *s, const Node *node, const Node *consumer) {
  if (s->keys[node->id] >= s->keys[consumer->id]) s->keys[node->id] = s->keys[consumer->id] - 1;
}

/* Per index of a device's name in the graph: the device, or -1. */
static bool find_devices(const Split *s, int32_t **device_of_name) {
  int names = 1;
  while (graph_device(s->graph, names)[0]) names++;
  *device_of_name = arena_alloc(s->arena, names * (int64_t)sizeof **device_of_name);
  if (!*device_of_name) return oom(s->status);
  for (int i = 0; i < names; i++) {
    DeviceName name;
    (*device_of_name)[i] = -1;
    if (!device_name_parse(str_of(graph_device(s->graph, i)), &name) || !device_name_is_complete(&name))
      continue;
    const Device *device = device_set_match(s->devices, &name);
    if (device) (*device_of_name)[i] = (int32_t)(device - s->devices->devices);
  }
  return true;
}

/* Arguments and results that are not assigned are on the first device, and all nodes if it is the only one.
 */
static bool assign_parts(Split *s) {
  int32_t *device_of_name;
  TRY(find_devices(s, &device_of_name) && make_room(s, s->num_old));
  s->num_parts = s->devices->count;
  for (int64_t id = 0; id < s->num_old; id++) {
    const Node *node = graph_node(s->graph, id);
    s->keys[id] = KEYS_PER_NODE * id;
    s->part_of[id] = 0;
    if (!node || id <= SINK_ID ||
        (node->assigned_device == 0 && (node_is_boundary(node) || s->devices->count == 1)))
      continue;
    s->part_of[id] = device_of_name[node->assigned_device];
    if (s->part_of[id] >= 0) continue;
    status_invalid(s->status, "Malformed assigned device '%s'", node_assigned_device(node));
    return node_attach(node->name, s->status);
  }
  return true;
}

/* --- loops --- */

static bool all_nodes(const Graph *graph, Arena *arena, NodeSet *set, Status *status) {
  TRY(node_set_new(graph, arena, set, status));
  for (int64_t id = SINK_ID + 1; id < set->size; id++) set->member[id] = graph_node(graph, id) != NULL;
  return true;
}

/* TensorFlow moves control flow nodes, whatever devices they asked for: an Enter and a NextIteration to their
 * reader, a Switch and an Exit to their input. So what an Enter or the last iteration hands to the next one
 * does not change devices, where a _Recv would run in every iteration. */
static void move_control_flow(Split *s) {
  for (int64_t i = s->num_ordered; i > 0; i--) {
    const Node *node = s->order[i - 1];
    bool enters = node_is_enter(node) && !dtype_is_ref(node->input_types[0]);
    const Node *reader = enters || node_is_next_iteration(node) ? split_first_reader(node) : NULL;
    if (reader) s->part_of[node->id] = s->part_of[reader->id];
  }
  for (int64_t i = 0; i < s->num_ordered; i++) {
    const Node *node = s->order[i];
    if (node_is_switch(node) || node_is_exit(node))
      s->part_of[node->id] = s->part_of[node_input_edge(node, 0)->src->id];
  }
}

bool split_closes_loop(const Node *merge) {
  for (int i = 0; i < merge->num_inputs; i++) {
    if (node_is_next_iteration(node_input_edge(merge, i)->src)) return true;
  }
  return false;
}

/* In a graph that is part of another one already, the condition of a loop may come from elsewhere: a _Recv,
 * which decides whether the value of a Merge goes around. */
static bool is_condition(const Node *node) {
  if (!node_is_recv(node)) return false;
  for (int32_t i = 0; i < node->num_out_edges; i++) {
    const Edge *edge = node->out_edges[i];
    if (!node_is_switch(edge->dst) || edge->dst_input != 1) continue;
    const Node *value = node_input_edge(edge->dst, 0)->src;
    if (node_is_merge(value) && split_closes_loop(value)) return true;
  }
  return false;
}

static bool find_loops(Split *s) {
  NodeSet set;
  TRY(graph_fixup_source_and_sink_edges(s->graph, NULL, s->status));
  TRY(all_nodes(s->graph, s->arena, &set, s->status));
  TRY(loop_tree_of(s->graph, &set, s->arena, &s->loops, s->status));
  s->conditions = arena_calloc(s->arena, s->loops.num_loops, sizeof(Node *));
  s->enters = arena_calloc(s->arena, s->loops.num_loops, sizeof(Node *));
  if (!s->conditions || !s->enters) return oom(s->status);
  for (int64_t id = SINK_ID + 1; id < s->num_old; id++) {
    Node *node = graph_node(s->graph, id);
    if (!node) continue;
    int32_t loop = s->loops.loop_of[id];
    if (node_is_loop_cond(node) || (!s->conditions[loop] && is_condition(node))) s->conditions[loop] = node;
    if (node_is_enter(node)) s->enters[loop] = node;
  }
  return graph_topological_order(s->graph, &set, NULL, 0, s->arena, &s->order, &s->num_ordered, s->status);
}

/* --- from one graph to several --- */

static bool find_edges(Split *s, Edge ***crossing, int64_t *count) {
  Edge *const *edges;
  int64_t total;
  TRY(graph_edges(s->graph, &edges, &total, s->status));
  *crossing = arena_alloc(s->arena, total * (int64_t)sizeof(Edge *));
  *count = 0;
  if (!*crossing) return oom(s->status);
  for (int64_t i = 0; i < total; i++) {
    Edge *edge = edges[i];
    if (edge && edge->src->id > SINK_ID && edge->dst->id > SINK_ID &&
        split_part(s, edge->src) != split_part(s, edge->dst))
      (*crossing)[(*count)++] = edge;
  }
  return true;
}

/* Nodes that were moved, arguments and results say where they are. */
static bool name_devices(Split *s) {
  for (int64_t i = 0; i < s->num_ordered; i++) {
    Node *node = s->order[i];
    if (!node_is_boundary(node) && !node_is_control_flow(node)) continue;
    const char *device = split_device(s, split_part(s, node))->name;
    TRY(graph_set_assigned_device(s->graph, node, device, s->status));
  }
  return true;
}

static bool split(Split *s) {
  Edge **crossing;
  int64_t count;
  TRY(assign_parts(s) && find_loops(s));
  move_control_flow(s);
  TRY(name_devices(s) && split_into_stages(s) && find_edges(s, &crossing, &count));
  s->channels = arena_calloc(s->arena, s->num_old, sizeof(Channel *));
  if (!s->channels) return oom(s->status);
  return split_add_control_loops(s, crossing, count) && split_edges(s, crossing, count);
}

/* All nodes, the _Send and _Recv among them, in one order. */
static bool put_in_order(Split *s, Node ***order, int64_t *count) {
  NodeSet set;
  LoopTree loops;
  TRY(graph_fixup_source_and_sink_edges(s->graph, NULL, s->status));
  TRY(all_nodes(s->graph, s->arena, &set, s->status));
  TRY(loop_tree_of(s->graph, &set, s->arena, &loops, s->status));
  return graph_loop_order(s->graph, &set, &loops, s->keys, s->arena, order, count, s->status);
}

static bool stays(const void *argument, const Edge *edge) {
  return split_part(argument, edge->src) == split_part(argument, edge->dst);
}

/* The copies of those of `nodes` that are in the part; `places` (may be NULL) gets where they were. */
static int pick(const Split *s, Node *const *nodes, int count, int part, Node **copies, Node **picked,
                int *places) {
  int n = 0;
  for (int i = 0; i < count; i++) {
    if (split_part(s, nodes[i]) != part) continue;
    if (places) places[n] = i;
    picked[n++] = copies[nodes[i]->id];
  }
  return n;
}

static bool make_body(const Split *s, const FunctionBody *whole, Graph *graph, Node *const *nodes,
                      int64_t count, Node **copies, int part, Partitions *partitions) {
  Partition made = {.device = split_device(s, part)};
  Node **args = arena_calloc(s->arena, whole->num_args, sizeof *args),
       **rets = arena_calloc(s->arena, whole->num_rets, sizeof *rets),
       **controls = arena_calloc(s->arena, whole->num_control_rets + count, sizeof *controls);
  int *arg_places = arena_calloc(partitions->arena, whole->num_args, sizeof *arg_places),
      *ret_places = arena_calloc(partitions->arena, whole->num_rets, sizeof *ret_places);
  if (!args || !rets || !controls || !arg_places || !ret_places) return oom(s->status);
  int num_args = pick(s, whole->arg_nodes, whole->num_args, part, copies, args, arg_places),
      num_rets = pick(s, whole->ret_nodes, whole->num_rets, part, copies, rets, ret_places),
      num_controls = pick(s, whole->control_ret_nodes, whole->num_control_rets, part, copies, controls, NULL);
  for (int64_t i = 0; i < count; i++) {
    if (node_is_send(nodes[i])) controls[num_controls++] = copies[nodes[i]->id];
  }
  made.arg_places = arg_places;
  made.ret_places = ret_places;
  TRY(graph_fixup_source_and_sink_edges(graph, NULL, s->status));
  TRY(function_body_of_nodes(whole->name, graph, args, num_args, rets, num_rets, controls, num_controls,
                             &made.body, s->status));
  partitions->parts[partitions->count++] = made;
  return true;
}

/* Programs of a session share the kernels of constants (runtime/kernel_table.h) unless the constant's value
 * belongs to its graph. So the values of new constants are copied into the graph of the part. */
static bool own_new_constants(const Split *s, Graph *part, Node *const *nodes, int64_t count,
                              Node *const *copies) {
  for (int64_t i = 0; i < count; i++) {
    if (nodes[i]->id < s->num_old || !node_is_const(nodes[i])) continue;
    NodeDef *def = copies[nodes[i]->id]->def;
    for (size_t k = 0; k < def->n_attr; k++) {
      def->attr[k]->value = proto_copy(def->attr[k]->value, graph_arena(part));
      if (!def->attr[k]->value) return oom(s->status);
    }
  }
  return true;
}

static bool make_part(Split *s, const FunctionBody *whole, Node *const *nodes, int64_t count, Node **copies,
                      int part, Partitions *partitions) {
  if (count == 0) return true;
  Graph *graph = graph_new_body(graph_library(s->graph));
  if (!graph) return oom(s->status);
  if (graph_share_in_order(graph, nodes, count, stays, s, copies, s->status) &&
      own_new_constants(s, graph, nodes, count, copies) &&
      make_body(s, whole, graph, nodes, count, copies, part, partitions))
    return true;
  graph_free(graph);
  return false;
}

/* Sorts nodes by their parts: those of part i begin at begins[i]. */
static bool group(const Split *s, Node *const *order, int64_t count, Node ***grouped, int64_t **begins) {
  *grouped = arena_alloc(s->arena, count * (int64_t)sizeof **grouped);
  *begins = arena_calloc(s->arena, s->num_parts + 2, sizeof **begins);
  if (!*grouped || !*begins) return oom(s->status);
  int64_t *next = *begins + 1;
  for (int64_t i = 0; i < count; i++) next[split_part(s, order[i]) + 1]++;
  for (int part = 0; part < s->num_parts; part++) next[part + 1] += next[part];
  for (int64_t i = 0; i < count; i++) (*grouped)[next[split_part(s, order[i])]++] = order[i];
  return true;
}

static bool make_parts(Split *s, const FunctionBody *whole, Partitions *partitions) {
  Node **order, **grouped, **copies = arena_calloc(s->arena, graph_num_node_ids(s->graph), sizeof *copies);
  int64_t count, *begins;
  if (!copies) return oom(s->status);
  TRY(put_in_order(s, &order, &count) && group(s, order, count, &grouped, &begins));
  partitions->parts = arena_calloc(partitions->arena, s->num_parts, sizeof *partitions->parts);
  if (!partitions->parts) return oom(s->status);
  for (int device = 0; device < s->devices->count; device++) {
    for (int part = 0; part < s->num_parts; part++) {
      if (split_device(s, part) == &s->devices->devices[device])
        TRY(make_part(s, whole, grouped + begins[part], begins[part + 1] - begins[part], copies, part,
                      partitions));
    }
  }
  return true;
}

bool partition_body(FunctionBody *body, const DeviceSet *devices, Partitions *partitions, Status *status) {
  Split s = {.graph = body->graph,
             .devices = devices,
             .arena = arena_new(),
             .status = status,
             .num_old = graph_num_node_ids(body->graph)};
  *partitions = (Partitions){.arena = arena_new()};
  bool ok = (s.arena && partitions->arena) || oom(status);
  ok = ok && split(&s) && make_parts(&s, body, partitions);
  if (!ok) partitions_free(partitions);
  mem_free(s.keys);
  mem_free(s.part_of);
  arena_free(s.arena);
  return ok;
}

void partitions_free(Partitions *partitions) {
  for (int i = 0; i < partitions->count; i++) function_body_free(partitions->parts[i].body);
  arena_free(partitions->arena);
  *partitions = (Partitions){0};
}
