#include "runtime/expand.h"

#include <string.h>

#include "base/alloc.h"
#include "optimizer/graph_cleanup.h"
#include "runtime/function_runtime.h"

typedef struct Expander {
  const Graph *graph;
  const PlanSpec *spec;
  const FunctionBodySource *bodies;
  Arena *arena;
  Status *status;
  Graph *into;
  Node **copies;        /* per node id of the original */
  NodeOutput **fed;     /* per node id of the original: NULL, or per output what is fed */
  const Node **origins; /* per node id of `into` */
  const char **inlined;
  int64_t num_ids, capacity;
  CallSites sites;
  StringMap names; /* of inlined nodes with their origins, to how many have it */
  bool failed;     /* memory ran out where no status can be given */
} Expander;

static bool oom(Expander *e) { return status_oom(e->status, "the functions of a plan"); }

/* --- where nodes come from --- */

static bool note(Expander *e, const Node *node, const Node *origin, const char *inlined) {
  int64_t old = e->capacity, capacity = e->capacity;
  if (!mem_grow((void **)&e->origins, &capacity, node->id + 1, sizeof *e->origins) ||
      !mem_grow((void **)&e->inlined, &e->capacity, node->id + 1, sizeof *e->inlined)) {
    e->failed = true;
    return false;
  }
  for (int64_t i = old; i < e->capacity; i++) {
    e->origins[i] = NULL;
    e->inlined[i] = NULL;
  }
  e->origins[node->id] = origin;
  e->inlined[node->id] = inlined;
  if (node->id >= e->num_ids) e->num_ids = node->id + 1;
  return true;
}

/* Names in bodies of bodies can be the same; the order in which they come is always the same, too. */
static const char *inlined_name(Expander *e, const Node *node, const Node *origin) {
  const char *key = arena_printf(e->arena, "%lld %s", (long long)origin->id, node->name);
  intptr_t count = key ? (intptr_t)string_map_find(&e->names, key) : 0;
  Status ignored;
  status_init(&ignored);
  if (!key || !string_map_set(&e->names, key, (void *)(count + 1), &ignored)) return NULL;
  return count == 0 ? arena_strdup(e->arena, node->name)
                    : arena_printf(e->arena, "%s %lld", node->name, (long long)count);
}

static void note_inlined(void *owner, const Node *caller, Node *added) {
  Expander *e = owner;
  const Node *origin = caller->id < e->num_ids ? e->origins[caller->id] : NULL;
  const char *name = origin ? inlined_name(e, added, origin) : NULL;
  call_sites_note(&e->sites, caller, added);
  if (!name || !note(e, added, origin, name)) e->failed = true;
}

static bool find_body(void *owner, const char *name, const AttrEntry *const *attrs, int num_attrs,
                      const FunctionBody **body, Status *status) {
  const Expander *e = owner;
  return e->bodies->body(e->bodies->owner, name, attrs, num_attrs, body, status);
}

/* --- the part of the graph that is needed --- */

/* A Placeholder or an Identity, under a name that no node has. */
static bool add_helper(Expander *e, const char *op, const char *name, const char *attr, DataType type,
                       const NodeOutput *input, const Node *origin, Node **node) {
  name = name ? graph_unique_name(e->into, name) : NULL;
  NodeDef *def = name ? node_def_new(e->arena, name, op) : NULL;
  AttrValue *value = attr_value_type(e->arena, type);
  if (!def || !value) return oom(e);
  TRY(node_def_set_attr(def, e->arena, attr, value, e->status));
  TRY(graph_add_operation(e->into, def, input, input ? 1 : 0, NULL, 0, node, e->status));
  return note(e, *node, origin, NULL) || oom(e);
}

/* What is known of the shape of a placeholder holds for what is fed, unless anything may be. */
static bool keep_shape(Expander *e, NodeOutput from, Node *to) {
  ShapeHandle shape = graph_output_shape(from);
  if (!shape || !shape_rank_known(shape)) return true;
  int rank = shape_rank(shape);
  int64_t *dims = arena_calloc(e->arena, rank, sizeof *dims);
  if (!dims) return oom(e);
  for (int i = 0; i < rank; i++) dims[i] = dim_known(shape->dims[i]) ? dim_value(shape->dims[i]) : -1;
  return graph_set_shape(e->into, (NodeOutput){to, 0}, rank, dims, e->status);
}

static bool add_feeds(Expander *e, NodeOutput *feeds) {
  for (int i = 0; i < e->spec->num_feeds; i++) {
    NodeOutput feed = e->spec->feeds[i];
    NodeOutput **fed = &e->fed[feed.node->id];
    if (!*fed) *fed = arena_calloc(e->arena, feed.node->num_outputs, sizeof **fed);
    const char *name = arena_printf(e->arena, "%s/fed_%d", feed.node->name, feed.index);
    if (!*fed) return oom(e);
    TRY(add_helper(e, "Placeholder", name, "dtype", (DataType)dtype_base(node_output_type(feed)), NULL,
                   feed.node, &feeds[i].node));
    bool known = !e->spec->any_shapes && strcmp(feed.node->def->op, "Placeholder") == 0;
    if (known) TRY(keep_shape(e, feed, feeds[i].node));
    feeds[i].index = 0;
    (*fed)[feed.index] = feeds[i];
  }
  return true;
}

static NodeOutput new_output(const Expander *e, NodeOutput output) {
  const NodeOutput *fed = e->fed[output.node->id];
  if (fed && fed[output.index].node) return fed[output.index];
  return (NodeOutput){e->copies[output.node->id], output.index};
}

/* A node of the original, with its attrs shared. */
static bool copy_node(Expander *e, const Node *node) {
  NodeDef *def = arena_alloc(graph_arena(e->into), sizeof *def);
  if (!def) return oom(e);
  *def = *node->def;
  def->input = NULL;
  def->n_input = 0;
  Node *copy;
  Edge *edge;
  TRY(graph_add_node(e->into, def, &copy, e->status));
  e->copies[node->id] = copy;
  if (!note(e, copy, node, NULL)) return oom(e);
  for (int i = 0; i < node->num_inputs; i++) {
    const Edge *from = node_input_edge(node, i);
    if (!from) {
      status_invalid(e->status, "Input %d of node %s is not connected", i, node->name);
      return node_attach(node->name, e->status);
    }
    NodeOutput input = new_output(e, (NodeOutput){from->src, from->src_output});
    TRY(graph_add_edge(e->into, input.node, input.index, copy, i, &edge, e->status));
  }
  for (int64_t i = 0; i < node->num_control_inputs; i++) {
    Node *source = e->copies[node->control_inputs[i]->src->id];
    TRY(graph_add_control_edge(e->into, source, copy, &edge, e->status));
  }
  return graph_infer_shapes(e->into, copy, e->status);
}

static bool is_call(const Node *node) {
  const char *name;
  const AttrEntry *const *attrs;
  int num_attrs;
  return node_function_call(node, &name, &attrs, &num_attrs);
}

/* The result of a call is read through a node of its own, as the call goes. */
static bool add_fetches(Expander *e, NodeOutput *fetches) {
  for (int i = 0; i < e->spec->num_fetches; i++) {
    NodeOutput asked = e->spec->fetches[i], value = new_output(e, asked);
    fetches[i] = value;
    if (!is_call(asked.node)) continue;
    const char *name = arena_printf(e->arena, "%s/output_%d", asked.node->name, asked.index);
    TRY(add_helper(e, "Identity", name, "T", (DataType)dtype_base(node_output_type(asked)), &value,
                   asked.node, &fetches[i].node));
    fetches[i].index = 0;
  }
  return true;
}

/* The nodes that the spec needs, inputs first. */
static bool order_needed(const Graph *graph, const PlanSpec *spec, Arena *arena, Node ***order,
                         int64_t *count, Status *status) {
  int64_t num_roots = (int64_t)spec->num_fetches + spec->num_targets;
  Node **roots = arena_calloc(arena, num_roots, sizeof *roots);
  if (!roots) return status_oom(status, "the functions of a plan");
  for (int i = 0; i < spec->num_fetches; i++) roots[i] = spec->fetches[i].node;
  for (int i = 0; i < spec->num_targets; i++) roots[spec->num_fetches + i] = spec->targets[i];
  NodeSet needed;
  TRY(graph_reverse_reachable(graph, roots, num_roots, spec->feeds, spec->num_feeds, arena, &needed, status));
  return graph_topological_order(graph, &needed, spec->feeds, spec->num_feeds, arena, order, count, status);
}

bool graph_calls_functions(const Graph *graph, const PlanSpec *spec, Arena *arena, bool *calls,
                           Status *status) {
  *calls = false;
  if (graph_num_functions(graph) == 0) return true;
  Node **order;
  int64_t count;
  TRY(order_needed(graph, spec, arena, &order, &count, status));
  for (int64_t i = 0; i < count && !*calls; i++) *calls = is_call(order[i]);
  return true;
}

/* --- the bodies --- */

static bool inline_calls(Expander *e) {
  FunctionBodySource source = {find_body, note_inlined, e};
  ExpandOptions options = function_runtime_expand_options();
  bool changed = false;
  options.max_rounds = EXPAND_MAX_DEPTH;
  options.max_nodes = EXPAND_MAX_NODES + graph_num_nodes(e->into);
  options.native.keep_caller_node = options.multi_device.keep_caller_node = KEEP_CALLER_TARGETABLE;
  TRY(graph_expand_inline_functions(e->into, &source, &options, &changed, e->status));
  return (!e->failed && !e->sites.failed) || oom(e);
}

/* What was to run. A call that was inlined has left a node of its name. */
static bool find_targets(Expander *e, Node ***out) {
  Node **targets = arena_calloc(e->arena, e->spec->num_targets, sizeof *targets);
  if (!targets) return oom(e);
  for (int i = 0; i < e->spec->num_targets; i++) {
    Node *copy = e->copies[e->spec->targets[i]->id];
    targets[i] = graph_node(e->into, copy->id) == copy
                     ? copy
                     : graph_find_node(e->into, e->spec->targets[i]->name);
  }
  *out = targets;
  return true;
}

static bool remove_identities(Expander *e, const PlanSpec *spec) {
  NodeSet keep;
  bool changed;
  TRY(node_set_new(e->into, e->arena, &keep, e->status));
  for (int i = 0; i < spec->num_feeds; i++) keep.member[spec->feeds[i].node->id] = 1;
  for (int i = 0; i < spec->num_fetches; i++) keep.member[spec->fetches[i].node->id] = 1;
  for (int i = 0; i < spec->num_targets; i++) keep.member[spec->targets[i]->id] = 1;
  return graph_remove_identity_nodes(e->into, &keep, &changed, e->status);
}

static bool expand(Expander *e, Expansion *expansion) {
  const PlanSpec *spec = e->spec;
  NodeOutput *feeds = arena_calloc(e->arena, spec->num_feeds, sizeof *feeds);
  NodeOutput *fetches = arena_calloc(e->arena, spec->num_fetches, sizeof *fetches);
  e->into = graph_new_body((Graph *)e->graph);
  e->copies = arena_calloc(e->arena, graph_num_node_ids(e->graph), sizeof *e->copies);
  e->fed = arena_calloc(e->arena, graph_num_node_ids(e->graph), sizeof *e->fed);
  if (!feeds || !fetches || !e->into || !e->copies || !e->fed) return oom(e);
  TRY(graph_set_versions(e->into, graph_versions(e->graph), e->status));
  TRY(add_feeds(e, feeds));
  Node **order, **targets = NULL;
  int64_t count;
  TRY(order_needed(e->graph, spec, e->arena, &order, &count, e->status));
  for (int64_t i = 0; i < count; i++) TRY(copy_node(e, order[i]));
  TRY(add_fetches(e, fetches));
  if (e->bodies) TRY(inline_calls(e));
  TRY(find_targets(e, &targets));
  PlanSpec made = {.feeds = feeds,
                   .num_feeds = spec->num_feeds,
                   .fetches = fetches,
                   .num_fetches = spec->num_fetches,
                   .targets = targets,
                   .num_targets = spec->num_targets,
                   .is_function = spec->is_function};
  TRY(remove_identities(e, &made));
  const Node **origins = arena_calloc(e->arena, e->num_ids, sizeof *origins);
  const char **inlined = arena_calloc(e->arena, e->num_ids, sizeof *inlined);
  if (!origins || !inlined) return oom(e);
  if (e->num_ids > 0) {
    memcpy(origins, e->origins, (size_t)e->num_ids * sizeof *origins);
    memcpy(inlined, e->inlined, (size_t)e->num_ids * sizeof *inlined);
  }
  *expansion = (Expansion){
      .graph = e->into, .spec = made, .sites = e->sites, .origins = origins, .inlined = inlined};
  return true;
}

bool graph_expand_calls(const Graph *graph, const PlanSpec *spec, const FunctionBodySource *bodies,
                        Arena *arena, Expansion *expansion, Status *status) {
  Expander e = {.graph = graph,
                .spec = spec,
                .bodies = bodies,
                .arena = arena,
                .status = status,
                .sites = {.arena = arena}};
  bool ok = expand(&e, expansion);
  if (!ok) {
    graph_free(e.into);
    call_sites_free(&e.sites);
  }
  mem_free(e.origins);
  mem_free(e.inlined);
  string_map_free(&e.names);
  return ok;
}
