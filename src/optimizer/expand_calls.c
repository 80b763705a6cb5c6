/* Inlines all calls of a graph, and lowers its While, If and Case. */
#include "optimizer/inline_functions.h"
#include "optimizer/lower_control_flow.h"
#include "optimizer/optimizer_internal.h"

ExpandOptions expand_options_default(void) {
  ExpandOptions options = {.max_rounds = 1, .max_nodes = (int64_t)1 << 22};
  options.native.placer = INLINE_PLACER_SINGLE_DEVICE;
  options.multi_device.placer = INLINE_PLACER_DEFAULT;
  options.multi_device.output_control_src = OUTPUT_CONTROL_CONTROL_OUTPUTS;
  return options;
}

static bool lower(Graph *graph, Node *node, const FunctionBodySource *source, const ExpandOptions *options,
                  LoweringBudget *budget, bool *changed, Status *status) {
  bool lowered;
  TRY(graph_lower_control_flow(graph, node, source, options->max_nodes, budget, &lowered, status));
  *changed |= lowered;
  return true;
}

static bool has_control_flow(const Graph *graph) {
  for (int64_t id = SINK_ID + 1; id < graph_num_node_ids(graph); id++) {
    const Node *node = graph_node(graph, id);
    if (node && node_is_control_flow(node)) return true;
  }
  return false;
}

/* Whether a call cannot become one step of the caller's nodes. Nodes with effects in branches or loops of the
 * body are not always alive, so the results cannot wait for them. */
static bool must_stay(const Node *node, const FunctionBody *body, bool *has_effects, bool *stays,
                      Status *status) {
  TRY(node_has_effects(node, has_effects, status));
  if (!*has_effects) return true;
  TRY(node_keeps_state(node, stays, status));
  *stays = *stays || has_control_flow(body->graph);
  return true;
}

/* Inlines one call if possible. */
static bool expand(Graph *graph, Node *node, const FunctionBodySource *source, const ExpandOptions *options,
                   bool in_loop, LoweringBudget *budget, bool *changed, Status *status) {
  const char *name;
  const AttrEntry *const *attrs;
  int num_attrs;
  if (!node_function_call(node, &name, &attrs, &num_attrs))
    return !options->lower_control_flow || lower(graph, node, source, options, budget, changed, status);
  const FunctionBody *body = NULL;
  Status ignored;
  status_init(&ignored);
  if (!source->body(source->owner, name, attrs, num_attrs, &body, &ignored)) {
    if (ignored.code == CODE_RESOURCE_EXHAUSTED)
      return status_set(status, CODE_RESOURCE_EXHAUSTED, "%s", ignored.message);
    return true;
  }
  InlineOptions how = node_is_partitioned_call(node) ? options->multi_device : options->native;
  how.in_loop = how.as_one_step && in_loop;
  if (!inline_validate(node, body, &how, &ignored)) return true;
  bool stays = false;
  if (how.as_one_step) TRY(must_stay(node, body, &how.has_effects, &stays, status));
  if (stays) return true;
  int64_t count = graph_num_nodes(graph) + graph_num_nodes(body->graph);
  if (count > options->max_nodes) {
    return status_set(status, CODE_RESOURCE_EXHAUSTED,
                      "Inlining function %s, called by {{node %s}}, would make a graph of more than %lld "
                      "nodes",
                      body->name, node->name, (long long)options->max_nodes);
  }
  TRY(graph_inline_function_body(graph, node, body, &how, source, status));
  *changed = true;
  return true;
}

/* One round: the calls among the nodes with ids in [begin, end). */
static bool expand_nodes(Graph *graph, int64_t begin, int64_t end, const FunctionBodySource *source,
                         const ExpandOptions *options, LoweringBudget *budget, bool *changed,
                         Status *status) {
  ControlFlowInfo *frames;
  Arena *arena = arena_new();
  bool ok =
      (arena || status_oom(status, "inlining a function")) && optimizer_frames(graph, arena, &frames, status);
  for (int64_t id = begin; ok && id < end; id++) {
    Node *node = graph_node(graph, id);
    if (!node || kept(options->keep, node)) continue;
    bool in_loop = frames && frames[id].frame && frames[id].frame->id != SOURCE_ID;
    ok = expand(graph, node, source, options, in_loop, budget, changed, status);
  }
  arena_free(arena);
  return ok;
}

bool graph_expand_inline_functions(Graph *graph, const FunctionBodySource *source,
                                   const ExpandOptions *options, bool *changed, Status *status) {
  LoweringBudget budget = {0};
  int64_t begin = SINK_ID + 1, end = begin;
  bool ok = true;
  *changed = false;
  for (int round = 0; ok && round < options->max_rounds; round++) {
    begin = end; /* calls that could not be inlined are not tried again */
    end = graph_num_node_ids(graph);
    if (begin == end) break;
    ok = expand_nodes(graph, begin, end, source, options, &budget, changed, status);
  }
  lowering_budget_free(&budget);
  return ok;
}
