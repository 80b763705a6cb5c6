/* Stages: the nodes of a device that wait for the same values from other tasks.
 *
 * The graph that a master registers with a worker has _Recv nodes of its own. Their values come from tasks
 * that may in turn wait for what this graph sends, so that there is no order in which one program could run
 * all of its nodes: it would wait for one value while another task waits for a later node. A stage is a part
 * of its own (partition.h), and all of its nodes depend on the same set of _Recv. It waits for nothing that
 * one of its nodes could do without. Within an iteration, a node comes behind those that depend on fewer
 * values.
 *
 * Nodes that depend on something through an earlier iteration do not wait for it in this one. What reads the
 * Exit of a loop depends on all that its last iteration depends on. Each loop has stages of its own.
 */
#include <string.h>

#include "base/string_map.h"
#include "graph/node_builder.h"
#include "graph/node_class.h"
#include "placement/partition_internal.h"

/* A set of _Recv nodes. Equal sets are one object. */
typedef struct RecvSet {
  int32_t number; /* of the set itself */
  int32_t size;
  uint64_t bits[];
} RecvSet;

typedef struct Stages {
  Split *s;
  Node **order; /* all nodes, inputs first but for what closes loops */
  int64_t count;
  int32_t *recv_number; /* per node id: of a _Recv, from 1 */
  int64_t num_words;    /* of a set */
  uint64_t *scratch;    /* a set */
  StringMap sets;
  const RecvSet *none;
  const RecvSet **waits;   /* per node id: within an iteration */
  const RecvSet **depends; /* per node id: through all iterations */
  StringMap parts;         /* by device, loop and set */
  int32_t *device_of_part;
} Stages;

static bool oom(const Stages *t) { return status_oom(t->s->status, "the stages of a graph"); }

/* --- sets --- */

static int32_t size_of(const Stages *t) {
  int32_t size = 0;
  for (int64_t i = 0; i < t->num_words; i++) size += __builtin_popcountll(t->scratch[i]);
  return size;
}

/* The set in `scratch`. */
static bool intern(Stages *t, const RecvSet **set) {
  size_t bytes = (size_t)t->num_words * sizeof *t->scratch;
  *set = string_map_find_bytes(&t->sets, (const char *)t->scratch, bytes);
  if (*set) return true;
  RecvSet *made = arena_alloc(t->s->arena, (int64_t)(sizeof *made + bytes));
  if (!made) return oom(t);
  made->number = (int32_t)t->sets.count;
  made->size = size_of(t);
  memcpy(made->bits, t->scratch, bytes);
  *set = made;
  return string_map_set_bytes(&t->sets, (const char *)made->bits, bytes, made, t->s->status);
}

static void add_set(const Stages *t, const RecvSet *set) {
  for (int64_t i = 0; i < t->num_words; i++) t->scratch[i] |= set->bits[i];
}

static void add_own(const Stages *t, const Node *node) {
  int32_t number = t->recv_number[node->id];
  if (number > 0) t->scratch[number / 64] |= (uint64_t)1 << number % 64;
}

static bool find_depends(Stages *t, const Node *node, bool *changed) {
  const RecvSet *set;
  memset(t->scratch, 0, (size_t)t->num_words * sizeof *t->scratch);
  add_own(t, node);
  for (int64_t i = 0; i < node_num_in_edges(node); i++)
    add_set(t, t->depends[node_in_edge(node, i)->src->id]);
  TRY(intern(t, &set));
  *changed = *changed || set != t->depends[node->id];
  t->depends[node->id] = set;
  return true;
}

static bool find_waits(Stages *t, const Node *node) {
  memset(t->scratch, 0, (size_t)t->num_words * sizeof *t->scratch);
  add_own(t, node);
  for (int64_t i = 0; i < node_num_in_edges(node); i++) {
    const Node *src = node_in_edge(node, i)->src;
    if (node_is_next_iteration(src)) continue;
    add_set(t, node_is_exit(src) ? t->depends[src->id] : t->waits[src->id]);
  }
  return intern(t, &t->waits[node->id]);
}

static bool find_sets(Stages *t) {
  int64_t ids = graph_num_node_ids(t->s->graph);
  t->waits = arena_alloc(t->s->arena, ids * (int64_t)sizeof *t->waits);
  t->depends = arena_alloc(t->s->arena, ids * (int64_t)sizeof *t->depends);
  t->scratch = arena_calloc(t->s->arena, t->num_words, sizeof *t->scratch);
  if (!t->waits || !t->depends || !t->scratch) return oom(t);
  TRY(intern(t, &t->none));
  for (int64_t id = 0; id < ids; id++) t->waits[id] = t->depends[id] = t->none;
  for (bool changed = t->s->loops.num_loops > 1; changed;) {
    changed = false;
    for (int64_t i = 0; i < t->count; i++) TRY(find_depends(t, t->order[i], &changed));
  }
  for (int64_t i = 0; i < t->count; i++) TRY(find_waits(t, t->order[i]));
  return true;
}

/* --- parts --- */

static bool part_for(Stages *t, int32_t device, int32_t loop, const RecvSet *set, int32_t *part) {
  const int32_t key[] = {device, loop, set->number};
  const void *found = string_map_find_bytes(&t->parts, (const char *)key, sizeof key);
  if (found) {
    *part = (int32_t)((const int32_t *)found - t->device_of_part);
    return true;
  }
  char *kept = arena_strndup(t->s->arena, (const char *)key, sizeof key);
  if (!kept) return oom(t);
  *part = t->s->num_parts++;
  t->device_of_part[*part] = device;
  return string_map_set_bytes(&t->parts, kept, sizeof key, &t->device_of_part[*part], t->s->status);
}

static bool make_parts(Stages *t) {
  Split *s = t->s;
  s->num_parts = 0;
  t->device_of_part =
      arena_alloc(s->arena, (t->count + s->devices->count) * (int64_t)sizeof *t->device_of_part);
  if (!t->device_of_part) return oom(t);
  for (int64_t i = 0; i < t->count; i++) {
    int64_t id = t->order[i]->id;
    TRY(part_for(t, s->part_of[id], s->loops.loop_of[id], t->waits[id], &s->part_of[id]));
    s->keys[id] += t->waits[id]->size * KEYS_PER_NODE * s->num_old;
  }
  s->device_of_part = t->device_of_part;
  return true;
}

/* What an Enter or the last iteration hands on stays in the part. */
static void join_loop_values(const Stages *t) {
  Split *s = t->s;
  for (int64_t i = t->count; i > 0; i--) {
    const Node *node = t->order[i - 1], *reader = split_first_reader(node);
    if ((node_is_enter(node) || node_is_next_iteration(node)) && reader)
      s->part_of[node->id] = s->part_of[reader->id];
  }
  for (int64_t i = 0; i < t->count; i++) {
    const Node *node = t->order[i];
    if (node_is_exit(node)) s->part_of[node->id] = s->part_of[node_input_edge(node, 0)->src->id];
  }
}

/* --- nodes without inputs --- */

static bool waits_for_nodes(const Node *node) {
  for (int i = 0; i < node->num_control_inputs; i++) {
    if (node->control_inputs[i]->src->id > SINK_ID) return true;
  }
  return node->num_inputs > 0;
}

/* Whether a second node is the same resource, or the same value. `*name` gets the name of the resource. */
static bool can_be_copied(const Stages *t, const Node *node, Str *name) {
  *name = str_of(node->name);
  if (waits_for_nodes(node) || t->s->loops.loop_of[node->id] > 0) return false;
  if (node_is_const(node)) return true;
  const AttrValue *shared = node_def_attr(node->def, "shared_name");
  if (!shared || node->num_outputs != 1) return false;
  Status ignored;
  Str given;
  status_init(&ignored);
  bool is_named = node_attr_string(node->def, "shared_name", &given, &ignored) && given.length > 0;
  if (is_named) *name = given;
  return is_named || dtype_is_ref(node->output_types[0]);
}

static bool copy_node(Stages *t, const Node *node, Str name, int part, Node **copy) {
  NodeBuilder b;
  Split *s = t->s;
  node_builder(&b, s->graph, node->def->op, split_name(s, "", node, ""));
  for (size_t i = 0; i < node->def->n_attr; i++) {
    const AttrEntry *attr = node->def->attr[i];
    if (strcmp(attr->key, "shared_name") != 0) node_builder_attr(&b, attr->key, attr->value);
  }
  if (node_def_attr(node->def, "shared_name"))
    node_builder_attr(&b, "shared_name", attr_value_string(node_builder_arena(&b), name.data, name.length));
  TRY(node_builder_finish_bare(&b, copy, s->status) && split_place(s, *copy, part, node, 0));
  for (int i = 0; i < node->num_outputs; i++) (*copy)->output_shapes[i] = node->output_shapes[i];
  return true;
}

/* Gives the readers in other parts a node of their own in their part. A constant moves to its first reader.
 */
static bool copy_for_readers(Stages *t, Node *node, Str name) {
  Split *s = t->s;
  const Node *first = split_first_reader(node);
  if (node_is_const(node) && first) s->part_of[node->id] = s->part_of[first->id];
  Node *copy = NULL;
  for (int32_t i = 0; i < node->num_out_edges;) {
    const Edge *edge = node->out_edges[i];
    Node *reader = edge->dst;
    if (edge_is_control(edge) || reader->id <= SINK_ID || split_part(s, reader) == split_part(s, node)) {
      i++;
      continue;
    }
    if (!copy || split_part(s, copy) != split_part(s, reader))
      TRY(copy_node(t, node, name, split_part(s, reader), &copy));
    TRY(graph_update_edge(s->graph, copy, edge->src_output, reader, edge->dst_input, s->status));
  }
  return true;
}

/* The variable that a reference comes from: Assign and its like hand on the reference of their first input.
 */
static Node *variable_of(Node *node) {
  while (node->num_inputs > 0 && dtype_is_ref(node->input_types[0]) && !node_is_control_flow(node))
    node = node_input_edge(node, 0)->src;
  return node;
}

/* A reference is not sent. The reader gets one from the variable, when the node that handed it on has ended;
 * or, where the reference depends on control flow, it joins the part of that node. */
static bool read_variable(Stages *t, Node *reader, int input) {
  Split *s = t->s;
  const Edge *edge = node_input_edge(reader, input);
  Node *src = edge->src, *variable = variable_of(src);
  Str name;
  Edge *added;
  if (!dtype_is_ref(src->output_types[edge->src_output]) || split_part(s, src) == split_part(s, reader))
    return true;
  if (!can_be_copied(t, variable, &name)) {
    if (dtype_is_ref(reader->input_types[input])) s->part_of[reader->id] = s->part_of[src->id];
    return true;
  }
  if (src == variable) return true;
  return graph_add_control_edge(s->graph, src, reader, &added, s->status) &&
         graph_update_edge(s->graph, variable, 0, reader, input, s->status);
}

static bool copy_sources(Stages *t) {
  for (int64_t i = 0; i < t->count; i++) {
    for (int k = 0; k < t->order[i]->num_inputs; k++) TRY(read_variable(t, t->order[i], k));
  }
  for (int64_t i = 0; i < t->count; i++) {
    Str name;
    if (can_be_copied(t, t->order[i], &name)) TRY(copy_for_readers(t, t->order[i], name));
  }
  return true;
}

/* --- the whole --- */

static int64_t number_receives(Stages *t) {
  int32_t number = 0;
  for (int64_t id = SINK_ID + 1; id < t->s->num_old; id++) {
    const Node *node = graph_node(t->s->graph, id);
    if (node && node_is_recv(node)) t->recv_number[id] = ++number;
  }
  return number;
}

bool split_into_stages(Split *s) {
  Stages t = {.s = s, .order = s->order, .count = s->num_ordered};
  t.recv_number = arena_calloc(s->arena, s->num_old, sizeof *t.recv_number);
  if (!t.recv_number) return oom(&t);
  int64_t num_receives = number_receives(&t);
  if (num_receives == 0) return true;
  t.num_words = num_receives / 64 + 1;
  bool ok = find_sets(&t) && make_parts(&t);
  if (ok) join_loop_values(&t);
  ok = ok && copy_sources(&t);
  string_map_free(&t.sets);
  string_map_free(&t.parts);
  return ok;
}
