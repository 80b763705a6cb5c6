#include <string.h>

#include "graph/node_evaluate.h"
#include "optimizer/constant_folding.h"
#include "optimizer/cse.h"
#include "runtime/expand.h"
#include "runtime/plan.h"
#include "runtime/plan_internal.h"

/* What is known of a node while its plan is made; indexed by node id. */
typedef struct NodeState {
  bool fed;         /* one of its outputs is fed */
  bool passed_over; /* something that is needed was computed without running it */
  bool folded;      /* its outputs are constants; that of a Const may still have to be read */
  bool needed;      /* it is fetched, a target, or something needed reads it */
  int64_t first;    /* its outputs begin here: in `values`, or in `constants` when folded */
} NodeState;

typedef struct Compiler {
  const Graph *graph;
  const PlanSpec *spec;
  const KernelCache *cache;
  const PlanEnvironment *environment;
  Plan *plan;
  Arena *scratch; /* goes when the plan is made */
  NodeState *states;
  Node **order;
  int64_t num_ordered;
  Node **same; /* per node id: the node that computes the same in its place */
  int64_t constant_capacity;
  const CallSites *sites;
  Expansion expansion;  /* of a graph that calls functions; then `graph` and `spec` are in here */
  int64_t *last_reader; /* per value: the step that reads it last, -1: none, INT64_MAX: fetched */
  int64_t next_read;    /* the value that the next read of a reference gets */
} Compiler;

static bool same_output(NodeOutput a, NodeOutput b) { return a.node == b.node && a.index == b.index; }

static bool check_output(const Graph *graph, NodeOutput output, const char *what, Status *status) {
  TRY(graph_check_node(graph, output.node, status));
  if (output.index >= 0 && output.index < output.node->num_outputs) return true;
  if (output.node->num_outputs == 0 && output.index == 0 && strcmp(what, "FetchOutputs") == 0) {
    return status_invalid(
        status,
        "Tried to fetch data for '%s', which produces no output.  To run to a node but not fetch any data, "
        "pass '%s' as an argument to the 'target_node_names' argument of the Session::Run API.",
        output.node->name, output.node->name);
  }
  return status_invalid(status, "%s: %s:%d should have output index < %d", what, output.node->name,
                        output.index, output.node->num_outputs);
}

static bool check_spec(const Graph *graph, const PlanSpec *spec, Status *status) {
  if (spec->num_fetches + spec->num_targets == 0 && !spec->is_function) {
    return status_invalid(status, "Must specify at least one target to fetch or execute.");
  }
  for (int i = 0; i < spec->num_feeds; i++) {
    TRY(check_output(graph, spec->feeds[i], "FeedInputs", status));
    for (int k = 0; k < i; k++) {
      if (same_output(spec->feeds[i], spec->feeds[k])) {
        return status_invalid(status, "Endpoint \"%s:%d\" fed more than once.", spec->feeds[i].node->name,
                              spec->feeds[i].index);
      }
    }
  }
  for (int i = 0; i < spec->num_fetches; i++) {
    TRY(check_output(graph, spec->fetches[i], "FetchOutputs", status));
    for (int k = 0; k < spec->num_feeds && !spec->is_function; k++) {
      if (same_output(spec->fetches[i], spec->feeds[k])) {
        return status_invalid(status, "%s:%d is both fed and fetched.", spec->fetches[i].node->name,
                              spec->fetches[i].index);
      }
    }
  }
  for (int i = 0; i < spec->num_targets; i++) TRY(graph_check_node(graph, spec->targets[i], status));
  return true;
}

/* The feed of an output, or -1. */
static int feed_of(const Compiler *c, NodeOutput output) {
  if (!c->states[output.node->id].fed) return -1;
  for (int i = 0; i < c->spec->num_feeds; i++) {
    if (same_output(c->spec->feeds[i], output)) return i;
  }
  return -1;
}

/* The node whose outputs are read in place of this one's. */
static Node *representative(const Compiler *c, Node *node) {
  return c->same[node->id] != NULL ? c->same[node->id] : node;
}

static bool find_common(Compiler *c, Status *status) {
  CseOptions options = {.fed = c->spec->feeds, .num_fed = c->spec->num_feeds};
  if (!c->environment->unoptimized)
    return graph_find_common(c->graph, c->order, c->num_ordered, &options, c->scratch, &c->same, status);
  c->same = arena_calloc(c->scratch, graph_num_node_ids(c->graph), sizeof *c->same);
  return c->same || status_oom(status, "a plan");
}

/* A node that is nothing but what is fed: who waits for it waits for nothing. */
static bool stands_for_feed(const Compiler *c, const Node *node) {
  return node->num_outputs == 1 && c->states[node->id].fed &&
         (text_starts_with(node->def->op, "Placeholder") || strcmp(node->def->op, "_Arg") == 0);
}

/* What has effects runs, even when nothing that it computes is read in the end. */
static bool need_effects(Compiler *c, Status *status) {
  for (int64_t i = 0; i < c->num_ordered; i++) {
    Node *node = c->order[i];
    bool effects;
    TRY(node_has_effects(node, &effects, status));
    if (effects && !stands_for_feed(c, node)) c->states[representative(c, node)->id].needed = true;
  }
  return true;
}

/* Prunes, orders, and finds what would be computed twice. */
static bool order_nodes(Compiler *c, Status *status) {
  const PlanSpec *spec = c->spec;
  int64_t num_roots = 0;
  Node **roots = arena_calloc(c->scratch, (int64_t)spec->num_fetches + spec->num_targets, sizeof *roots);
  c->states = arena_calloc(c->scratch, graph_num_node_ids(c->graph), sizeof *c->states);
  if (!roots || !c->states) return status_oom(status, "a plan");
  for (int i = 0; i < spec->num_feeds; i++) c->states[spec->feeds[i].node->id].fed = true;
  for (int i = 0; i < spec->num_fetches; i++) {
    if (feed_of(c, spec->fetches[i]) < 0) roots[num_roots++] = spec->fetches[i].node;
  }
  for (int i = 0; i < spec->num_targets; i++) roots[num_roots++] = spec->targets[i];
  NodeSet reached;
  TRY(graph_reverse_reachable(c->graph, roots, num_roots, spec->feeds, spec->num_feeds, c->scratch, &reached,
                              status));
  TRY(graph_topological_order(c->graph, &reached, spec->feeds, spec->num_feeds, c->scratch, &c->order,
                              &c->num_ordered, status));
  TRY(find_common(c, status));
  for (int64_t i = 0; i < num_roots; i++) c->states[representative(c, roots[i])->id].needed = true;
  return need_effects(c, status);
}

/* The constant that an input is, empty when it has not been read, or NULL. */
static Tensor *constant_input(const Compiler *c, const Node *node, int i) {
  const Edge *edge = node_input_edge(node, i);
  const NodeState *source = &c->states[representative(c, edge->src)->id];
  if (!source->folded || feed_of(c, (NodeOutput){edge->src, edge->src_output}) >= 0) return NULL;
  return &c->plan->constants[source->first + edge->src_output];
}

static bool check_connected(const Node *node, Status *status) {
  for (int i = 0; i < node->num_inputs; i++) {
    if (!node_input_edge(node, i)) {
      status_invalid(status, "Input %d of node %s is not connected", i, node->name);
      return node_attach(node->name, status);
    }
  }
  return true;
}

/* What inference says of shapes holds in a run when nothing that inference took for a constant is fed with
 * another value. */
static bool shapes_can_be_trusted(const PlanSpec *spec) {
  for (int i = 0; i < spec->num_feeds; i++) {
    if (!text_starts_with(spec->feeds[i].node->def->op, "Placeholder")) return false;
  }
  return true;
}

/* Kernels with state, and constants with their values, are the session's: one for all plans. */
static bool is_shared(const Node *node) {
  return node->op->def->is_stateful || strcmp(node->def->op, "Const") == 0;
}

/* A node may have become another one since (graph_extend_node). */
static bool is_kernel_of(const OpKernel *kernel, const Op *op, const NodeDef *def) {
  if (kernel->node == def) return true;
  if (kernel->op != op || kernel->node->n_attr != def->n_attr) return false;
  for (size_t i = 0; i < def->n_attr; i++) {
    const AttrValue *other = node_def_attr(kernel->node, def->attr[i]->key);
    if (!other || !attr_value_equal(def->attr[i]->value, other)) return false;
  }
  return true;
}

/* A kernel's NodeDef: a node of a function has the name there. */
static bool kernel_def(Compiler *c, const Node *node, const NodeDef **def, Status *status) {
  const CallSite *site = call_sites_find(c->sites, node->name);
  *def = node->def;
  if (!site) return true;
  NodeDef *named = arena_alloc(c->plan->arena, sizeof *named);
  if (!named) return status_oom(status, "a kernel");
  *named = *node->def;
  named->name = arena_strdup(c->plan->arena, site->node);
  *def = named;
  return named->name || status_oom(status, "a kernel");
}

static bool find_shared_kernel(Compiler *c, const Node *node, const OpKernel **kernel, Status *status) {
  const KernelCache *cache = c->cache;
  const char *inlined = c->expansion.graph ? c->expansion.inlined[node->id] : NULL;
  const Node *origin = c->expansion.graph ? c->expansion.origins[node->id] : node;
  *kernel = cache->find(cache->owner, origin, inlined);
  if (*kernel && is_kernel_of(*kernel, node->op, inlined ? node->def : origin->def)) return true;
  OpKernel *made;
  const NodeDef *def = origin->def;
  if (inlined) { /* the graph of the functions' bodies goes with the plan, the kernel stays */
    TRY(kernel_def(c, node, &def, status));
    def = proto_copy(def, cache->arena);
    if (!def) return status_oom(status, "a kernel");
  }
  TRY(op_kernel_new(node->op, def, NULL, c->environment->functions, &made, status));
  *kernel = made;
  if (cache->store(cache->owner, origin, inlined, made, status)) return true;
  op_kernel_free(made);
  return false;
}

/* The value of a Const, in the memory that its kernel holds. */
static bool read_const(Compiler *c, const Node *node, Tensor *value, Status *status) {
  const OpKernel *kernel;
  TRY(find_shared_kernel(c, node, &kernel, status));
  KernelContext context = {.outputs = value};
  return op_kernel_run(kernel, &context, status);
}

/* The values of a node's inputs, when all of them are constants that can be had. Which are not there yet are
 * read: a node whose value cannot be had is no error here, as it may turn out that nobody needs it. */
static bool read_inputs(Compiler *c, const Node *node, const Tensor **inputs) {
  Status ignored;
  status_init(&ignored);
  for (int k = 0; k < node->num_inputs; k++) {
    if (!constant_input(c, node, k)) return false;
  }
  for (int k = 0; k < node->num_inputs; k++) {
    Tensor *value = constant_input(c, node, k);
    const Node *source = representative(c, node_input_edge(node, k)->src);
    if (tensor_is_empty(value) && !read_const(c, source, value, &ignored)) return false;
    inputs[k] = value;
  }
  return true;
}

/* Shapes may say enough: then not even constants are read. */
static bool fold_node(Compiler *c, const Node *node, const Tensor **inputs, bool trust_shapes,
                      Tensor *outputs, Status *status) {
  NodeState *state = &c->states[node->id];
  Graph *graph = (Graph *)c->graph;
  for (int k = 0; k < node->num_inputs; k++) inputs[k] = NULL;
  TRY(node_fold_constant(graph, node, inputs, trust_shapes, outputs, &state->folded, status));
  if (state->folded || node->num_inputs == 0 || !read_inputs(c, node, inputs)) return true;
  return node_fold_constant(graph, node, inputs, trust_shapes, outputs, &state->folded, status);
}

/* Computes what depends on constants alone. Values stay where they are once computed, so room for all is made
 * at the start. The value of a Const is compact in the graph, and is made only when it is needed. */
static bool fold(Compiler *c, Status *status) {
  Plan *plan = c->plan;
  int most_inputs = 0;
  for (int64_t i = 0; i < c->num_ordered; i++) {
    TRY(check_connected(c->order[i], status));
    c->constant_capacity += c->order[i]->num_outputs;
    if (c->order[i]->num_inputs > most_inputs) most_inputs = c->order[i]->num_inputs;
  }
  plan->constants = arena_calloc(plan->arena, c->constant_capacity, sizeof *plan->constants);
  const Tensor **inputs = arena_calloc(c->scratch, most_inputs, sizeof *inputs);
  if (!plan->constants || !inputs) return status_oom(status, "a plan");
  bool trust_shapes = shapes_can_be_trusted(c->spec);
  for (int64_t i = 0; i < c->num_ordered; i++) {
    const Node *node = c->order[i];
    if (representative(c, c->order[i]) != node) continue;
    NodeState *state = &c->states[node->id];
    Tensor *outputs = &plan->constants[plan->num_constants];
    if (strcmp(node->def->op, "Const") == 0) {
      state->folded = true;
    } else if (!c->environment->unoptimized) {
      TRY(fold_node(c, node, inputs, trust_shapes, outputs, status));
    }
    if (!state->folded) continue;
    state->first = plan->num_constants;
    plan->num_constants += node->num_outputs;
  }
  return true;
}

/* Marks what is still needed now that some nodes are constants. What is not run for that leaves its control
 * inputs behind, and so does what it would have read: they may have effects. */
static void mark_needed(Compiler *c) {
  for (int64_t i = c->num_ordered - 1; i >= 0; i--) {
    const Node *node = c->order[i];
    const NodeState *state = &c->states[node->id];
    if (!state->needed && !state->passed_over) continue;
    for (int64_t k = 0; k < node->num_control_inputs; k++) {
      Node *source = node->control_inputs[k]->src;
      if (!stands_for_feed(c, source)) c->states[representative(c, source)->id].needed = true;
    }
    for (int k = 0; k < node->num_inputs; k++) {
      const Edge *edge = node_input_edge(node, k);
      NodeState *source = &c->states[representative(c, edge->src)->id];
      if (feed_of(c, (NodeOutput){edge->src, edge->src_output}) >= 0) continue;
      if (state->needed && !state->folded)
        source->needed = true;
      else
        source->passed_over = true;
    }
  }
}

/* Those that steps and fetches will read. */
static bool read_needed_constants(Compiler *c, Status *status) {
  for (int64_t i = 0; i < c->num_ordered; i++) {
    const Node *node = c->order[i];
    const NodeState *state = &c->states[node->id];
    if (!state->needed || !state->folded) continue;
    Tensor *value = &c->plan->constants[state->first];
    if (tensor_is_empty(value) && !read_const(c, node, value, status)) return node_attach(node->name, status);
  }
  return true;
}

static bool is_step(const Compiler *c, const Node *node) {
  return c->states[node->id].needed && !c->states[node->id].folded;
}

static bool takes_value(const Edge *edge) { return !dtype_is_ref(edge->dst->input_types[edge->dst_input]); }

/* An input that takes the value of a reference, or a reference that must have one. What is fed is a value
 * already. */
static bool is_read(const Compiler *c, const Edge *edge) {
  return dtype_is_ref(edge->src->output_types[edge->src_output]) &&
         feed_of(c, (NodeOutput){edge->src, edge->src_output}) < 0 &&
         (takes_value(edge) || !edge->dst->op->def->allows_uninitialized_input);
}

static int count_reads(const Compiler *c, const Node *node) {
  int count = 0;
  for (int i = 0; i < node->num_inputs; i++) count += is_read(c, node_input_edge(node, i));
  return count;
}

/* Gives every step its outputs' places; the feeds come first, what is read of references last (some of these
 * places stay empty). */
static bool place_values(Compiler *c, Status *status) {
  Plan *plan = c->plan;
  plan->num_values = c->spec->num_feeds;
  for (int64_t i = 0; i < c->num_ordered; i++) {
    if (!is_step(c, c->order[i])) continue;
    c->states[c->order[i]->id].first = plan->num_values;
    plan->num_values += c->order[i]->num_outputs;
    plan->num_steps++;
  }
  c->next_read = plan->num_values;
  for (int64_t i = 0; i < c->num_ordered; i++) {
    if (is_step(c, c->order[i])) plan->num_values += count_reads(c, c->order[i]);
  }
  plan->first.values = arena_calloc(plan->arena, plan->num_values, sizeof *plan->first.values);
  plan->first.steps = arena_calloc(plan->arena, plan->num_steps, sizeof *plan->first.steps);
  plan->kernels = arena_calloc(plan->arena, plan->num_steps, sizeof(OpKernel *));
  c->last_reader = arena_alloc(c->scratch, plan->num_values * (int64_t)sizeof *c->last_reader);
  if (!plan->first.values || !plan->first.steps || !plan->kernels || !c->last_reader)
    return status_oom(status, "a plan");
  for (int64_t i = 0; i < plan->num_values; i++) c->last_reader[i] = -1;
  return true;
}

/* The place of an output: a constant's or a value's. */
static Tensor *place_of(const Compiler *c, NodeOutput output) {
  int feed = feed_of(c, output);
  if (feed >= 0) return &c->plan->first.values[feed];
  const NodeState *state = &c->states[representative(c, output.node)->id];
  return (state->folded ? c->plan->constants : c->plan->first.values) + state->first + output.index;
}

static bool make_kernel(Compiler *c, const Node *node, const OpKernel **kernel, Status *status) {
  if (is_shared(node)) return find_shared_kernel(c, node, kernel, status);
  const Tensor **constants = arena_calloc(c->scratch, node->num_inputs, sizeof *constants);
  if (!constants) return status_oom(status, "a plan");
  for (int i = 0; i < node->num_inputs; i++) constants[i] = constant_input(c, node, i);
  OpKernel *made;
  const NodeDef *def;
  TRY(kernel_def(c, node, &def, status));
  TRY(op_kernel_new(node->op, def, constants, c->environment->functions, &made, status));
  *kernel = c->plan->kernels[c->plan->num_kernels++] = made;
  return true;
}

/* "v" or "v:1", as a NodeDef names its inputs. */
static const char *reference_name(Compiler *c, NodeOutput output) {
  if (output.index == 0) return arena_strdup(c->plan->arena, output.node->name);
  return arena_printf(c->plan->arena, "%s:%d", output.node->name, output.index);
}

/* What is fed is no reference. */
static bool check_reference(const Compiler *c, const Edge *edge, Status *status) {
  int type = edge->dst->input_types[edge->dst_input];
  if (!dtype_is_ref(type) || feed_of(c, (NodeOutput){edge->src, edge->src_output}) < 0) return true;
  return status_invalid(status, "Input %d of node %s was passed %s from %s:%d incompatible with expected %s.",
                        edge->dst_input, edge->dst->name, dtype_name(dtype_base(type)), edge->src->name,
                        edge->src_output, dtype_name(type));
}

/* The place of a step's input: a value's or constant's, or that of the value that is read of a reference. */
static bool place_input(Compiler *c, PlanStep *step, const Edge *edge, const Tensor **place, Status *status) {
  NodeOutput source = {edge->src, edge->src_output};
  TRY(check_reference(c, edge, status));
  *place = place_of(c, source);
  if (!is_read(c, edge)) return true;
  PlanRead *read = &step->reads[step->num_reads++];
  *read = (PlanRead){*place, NULL, reference_name(c, source)};
  if (takes_value(edge)) *place = read->value = &c->plan->first.values[c->next_read++];
  return read->name || status_oom(status, "a plan");
}

static void note_reader(Compiler *c, const Tensor *place, int64_t step) {
  int64_t value = plan_value_index(c->plan, place);
  if (value >= 0 && c->last_reader[value] != INT64_MAX) c->last_reader[value] = step;
}

static bool find_callers(Compiler *c, const Node *node, PlanStep *step, Status *status) {
  const CallSite *site = call_sites_find(c->sites, node->name);
  step->callers = site ? arena_strdup(c->plan->arena, site->callers) : NULL;
  return !site || step->callers || status_oom(status, "a plan");
}

static bool make_step(Compiler *c, const Node *node, int64_t index, Status *status) {
  Plan *plan = c->plan;
  PlanStep *step = &plan->first.steps[index];
  TRY(find_callers(c, node, step, status));
  TRY(make_kernel(c, node, &step->kernel, status));
  const OpKernel *kernel = step->kernel;
  TRY(node_compare_types(node, kernel->input_types, kernel->num_inputs, kernel->output_types, kernel->num_outputs, status));
  const Tensor **inputs = arena_calloc(plan->arena, node->num_inputs, sizeof *inputs);
  step->reads = arena_calloc(plan->arena, count_reads(c, node), sizeof *step->reads);
  if (!inputs || !step->reads) return status_oom(status, "a plan");
  for (int i = 0; i < node->num_inputs; i++) {
    TRY(place_input(c, step, node_input_edge(node, i), &inputs[i], status));
    note_reader(c, inputs[i], index);
  }
  for (int i = 0; i < step->num_reads; i++) note_reader(c, step->reads[i].reference, index);
  step->context = (KernelContext){
      .inputs = inputs,
      .outputs = plan->first.values + c->states[node->id].first,
      .pool = c->environment->pool,
      .parallel = c->environment->parallel,
      .resources = c->environment->resources,
      .functions = c->environment->functions,
  };
  return true;
}

static bool make_steps(Compiler *c, Status *status) {
  int64_t index = 0;
  for (int64_t i = 0; i < c->num_ordered; i++) {
    if (!is_step(c, c->order[i])) continue;
    if (make_step(c, c->order[i], index++, status)) continue;
    const CallSite *site = call_sites_find(c->sites, c->order[i]->name);
    node_attach(site ? site->node : c->order[i]->name, status);
    return site ? status_append(status, "%s", site->callers) : false;
  }
  return true;
}

/* An input may be overwritten when this step reads it last, and only once. */
static bool mark_last_uses(Compiler *c, Status *status) {
  Plan *plan = c->plan;
  int64_t *num_dead = arena_calloc(c->scratch, plan->num_steps, sizeof *num_dead);
  if (!num_dead) return status_oom(status, "a plan");
  for (int64_t s = 0; s < plan->num_steps; s++) {
    KernelContext *context = &plan->first.steps[s].context;
    const OpKernel *kernel = plan->first.steps[s].kernel;
    bool *last_use = arena_calloc(plan->arena, kernel->num_inputs, sizeof *last_use);
    if (!last_use) return status_oom(status, "a plan");
    for (int i = 0; i < kernel->num_inputs; i++) {
      int64_t value = plan_value_index(plan, context->inputs[i]);
      last_use[i] = value >= 0 && c->last_reader[value] == s;
      for (int k = 0; k < kernel->num_inputs && last_use[i]; k++) {
        if (k != i && context->inputs[k] == context->inputs[i]) last_use[i] = false;
      }
    }
    context->last_use = last_use;
    for (int i = 0; i < kernel->num_outputs; i++) { /* an output that nobody reads dies where it is born */
      int64_t value = context->outputs + i - plan->first.values;
      if (c->last_reader[value] < 0) c->last_reader[value] = s;
    }
  }
  for (int64_t v = 0; v < plan->num_values; v++) {
    if (c->last_reader[v] >= 0 && c->last_reader[v] < plan->num_steps) num_dead[c->last_reader[v]]++;
  }
  for (int64_t s = 0; s < plan->num_steps; s++) {
    plan->first.steps[s].dead = arena_calloc(plan->arena, num_dead[s], sizeof(Tensor *));
    if (!plan->first.steps[s].dead) return status_oom(status, "a plan");
  }
  for (int64_t v = 0; v < plan->num_values; v++) {
    if (c->last_reader[v] < 0 || c->last_reader[v] >= plan->num_steps) continue;
    PlanStep *step = &plan->first.steps[c->last_reader[v]];
    step->dead[step->num_dead++] = &plan->first.values[v];
  }
  return true;
}

static bool connect_feeds_and_fetches(Compiler *c, Status *status) {
  Plan *plan = c->plan;
  plan->num_feeds = c->spec->num_feeds;
  plan->num_fetches = c->spec->num_fetches;
  plan->first.feed_values = arena_calloc(plan->arena, plan->num_feeds, sizeof(Tensor *));
  plan->first.fetch_values = arena_calloc(plan->arena, plan->num_fetches, sizeof(Tensor *));
  plan->fetched_references = arena_calloc(plan->arena, plan->num_fetches, sizeof(char *));
  if (!plan->first.feed_values || !plan->first.fetch_values || !plan->fetched_references)
    return status_oom(status, "a plan");
  for (int i = 0; i < plan->num_fetches; i++) {
    NodeOutput fetched = c->spec->fetches[i];
    plan->first.fetch_values[i] = place_of(c, fetched);
    if (dtype_is_ref(node_output_type(fetched)) && feed_of(c, fetched) < 0) {
      plan->fetched_references[i] = reference_name(c, fetched);
      if (!plan->fetched_references[i]) return status_oom(status, "a plan");
    }
    int64_t value = plan_value_index(plan, plan->first.fetch_values[i]);
    if (value >= 0) c->last_reader[value] = INT64_MAX;
  }
  for (int i = 0; i < plan->num_feeds; i++) {
    if (c->last_reader[i] >= 0) plan->first.feed_values[i] = &plan->first.values[i];
  }
  return true;
}

/* The graph's shapes follow from those of the feeds: where these may be others, or something was assumed, shapes
 * are inferred anew. */
static bool expand_calls(Compiler *c, Status *status) {
  bool calls = false;
  if (c->environment->bodies) TRY(graph_calls_functions(c->graph, c->spec, c->scratch, &calls, status));
  if (!calls && !c->spec->any_shapes && !graph_has_assumed_shapes(c->graph)) return true;
  TRY(graph_expand_calls(c->graph, c->spec, c->environment->bodies, c->scratch, &c->expansion, status));
  c->graph = c->plan->expanded = c->expansion.graph;
  c->spec = &c->expansion.spec;
  c->sites = &c->expansion.sites;
  return true;
}

static bool compile(Compiler *c, Status *status) {
  TRY(check_spec(c->graph, c->spec, status));
  TRY(expand_calls(c, status));
  TRY(order_nodes(c, status));
  TRY(fold(c, status));
  mark_needed(c);
  TRY(read_needed_constants(c, status));
  TRY(place_values(c, status));
  TRY(make_steps(c, status));
  TRY(connect_feeds_and_fetches(c, status));
  TRY(mark_last_uses(c, status));
  c->plan->first.plan = c->plan;
  c->plan->unused = &c->plan->first;
  return true;
}

bool plan_compile(const Graph *graph, const PlanSpec *spec, const KernelCache *kernels,
                  const PlanEnvironment *environment, Plan **plan, Status *status) {
  Arena *arena = arena_new();
  Arena *scratch = arena_new();
  Plan *made = arena ? arena_calloc(arena, 1, sizeof *made) : NULL;
  if (!made || !scratch) {
    arena_free(arena);
    arena_free(scratch);
    return status_oom(status, "a plan");
  }
  made->arena = arena;
  Compiler compiler = {.graph = graph,
                       .spec = spec,
                       .cache = kernels,
                       .environment = environment,
                       .plan = made,
                       .scratch = scratch,
                       .sites = environment->sites};
  bool ok = compile(&compiler, status);
  call_sites_free(&compiler.expansion.sites);
  arena_free(scratch);
  if (!ok) {
    plan_free(made);
    return false;
  }
  *plan = made;
  return true;
}
