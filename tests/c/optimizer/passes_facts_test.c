/* Recorded facts about passes over function bodies and graphs. */
#include "function/function_facts.h"
#include "optimizer/body_source.h"
#include "optimizer/graph_checker.h"
#include "optimizer/graph_cleanup.h"
#include "optimizer/graph_optimizer.h"
#include "runtime/graph_fixture.h"
#include "shortage.h"

/* Ops that the passes do not need. */
static const OpRegistration kVariable = {.name = "VariableV2",
                                         .outputs = {"ref: Ref(dtype)"},
                                         .attrs = {"shape: shape", "dtype: type", "container: string = ''",
                                                   "shared_name: string = ''"},
                                         .is_stateful = true,
                                         .shape = shape_unknown_outputs};
static const OpRegistration kSymbolicGradient = {.name = "SymbolicGradient",
                                                 .inputs = {"input: Tin"},
                                                 .outputs = {"output: Tout"},
                                                 .attrs = {"Tin: list(type)", "Tout: list(type)", "f: func"},
                                                 .shape = shape_unknown_outputs};

static const OpRegistration kSplit = {.name = "Split",
                                      .inputs = {"split_dim: int32", "value: T"},
                                      .outputs = {"output: num_split * T"},
                                      .attrs = {"num_split: int >= 1", "T: type"},
                                      .shape = shape_unknown_outputs};

static void add_missing_op(const OpRegistration *registration) {
  Status status;
  status_init(&status);
  if (!op_registry_find(op_registry_global(), registration->name))
    CHECK_OK(op_registry_add(op_registry_global(), registration, &status), &status);
}

/* --- comparing graphs --- */

static bool attrs_agree(const NodeDef *got, const NodeDef *want, StrBuf *why) {
  for (size_t i = 0; i < want->n_attr; i++) {
    const char *key = want->attr[i]->key;
    const AttrValue *value = node_def_attr(got, key);
    if (key[0] != '_' && (!value || !attr_value_equal(value, want->attr[i]->value)))
      return fact_differs(why, got->name, key, "an attr of the right value");
  }
  for (size_t i = 0; i < got->n_attr; i++) {
    const char *key = got->attr[i]->key;
    if (key[0] != '_' && !node_def_attr(want, key)) return fact_differs(why, got->name, key, "absent");
  }
  return true;
}

static int count_controls(const NodeDef *def) {
  int count = 0;
  for (size_t i = 0; i < def->n_input; i++) count += def->input[i][0] == '^';
  return count;
}

static bool has_control(const Node *node, const char *name) {
  for (int32_t i = 0; i < node->num_control_inputs; i++) {
    if (strcmp(node->control_inputs[i]->src->name, name) == 0) return true;
  }
  return false;
}

static bool inputs_agree(const Node *got, const NodeDef *want, StrBuf *why) {
  int controls = count_controls(want);
  if (got->num_control_inputs != controls || got->num_inputs + controls != (int)want->n_input)
    return fact_differs(why, got->name, "a node of other inputs", "of the right number");
  for (size_t i = 0; i < want->n_input; i++) {
    Str name;
    int index;
    CHECK(node_parse_input(want->input[i], &name, &index));
    bool same = index == CONTROL_SLOT
                    ? has_control(got, want->input[i] + 1)
                    : got->inputs[i]->src_output == index && str_equal_text(name, got->inputs[i]->src->name);
    if (!same) return fact_differs(why, got->name, "a node of other inputs", want->input[i]);
  }
  return true;
}

static bool graphs_agree(const Graph *graph, const GraphDef *want, StrBuf *why) {
  for (size_t i = 0; i < want->n_node; i++) {
    const NodeDef *def = want->node[i];
    const Node *got = graph_find_node(graph, def->name);
    if (!got) return fact_differs(why, def->name, "absent", "in the graph");
    if (strcmp(got->def->op, def->op) != 0) return fact_differs(why, def->name, got->def->op, def->op);
    if (strcmp(got->def->device, def->device) != 0)
      return fact_differs(why, def->name, got->def->device, def->device);
    if (!inputs_agree(got, def, why) || !attrs_agree(got->def, def, why)) return false;
  }
  for (int64_t id = SINK_ID + 1; id < graph_num_node_ids(graph); id++) {
    const Node *node = graph_node(graph, id);
    bool there = !node;
    for (size_t i = 0; i < want->n_node && !there; i++) there = strcmp(node->name, want->node[i]->name) == 0;
    if (!there) return fact_differs(why, node->name, "in the graph", "absent");
  }
  return true;
}

/* --- passes --- */

static bool inline_once(Graph *graph, const Json *pass, const FunctionBodySource *source, bool *changed,
                        Status *status) {
  const char *src = fact_text(pass, "output_control_src"), *keep = fact_text(pass, "keep_caller_node"),
             *placer = fact_text(pass, "placer");
  ExpandOptions options = expand_options_default();
  InlineOptions *how = &options.native;
  if (src) {
    CHECK_STR_EQ(src, "control_outputs");
    how->output_control_src = OUTPUT_CONTROL_CONTROL_OUTPUTS;
  }
  if (keep && strcmp(keep, "fetchable") == 0) how->keep_caller_node = KEEP_CALLER_FETCHABLE;
  if (placer)
    how->placer = strcmp(placer, "default") == 0 ? INLINE_PLACER_DEFAULT : INLINE_PLACER_SINGLE_DEVICE;
  return graph_expand_inline_functions(graph, source, &options, changed, status);
}

static bool run_pass(FunctionBody **body, Graph **graph, const Json *pass, const FunctionBodySource *source,
                     Status *status) {
  const char *name = fact_text(pass, "pass");
  bool changed;
  if (strcmp(name, "inline") == 0) return inline_once(*graph, pass, source, &changed, status);
  if (strcmp(name, "remove_identity") == 0)
    return graph_remove_identity_nodes(*graph, NULL, &changed, status);
  if (strcmp(name, "remove_dead_nodes") == 0) return graph_remove_dead_nodes(*graph, NULL, &changed, status);
  if (strcmp(name, "remove_list_array_converter") == 0)
    return graph_remove_list_array_converters(*graph, NULL, &changed, status);
  if (strcmp(name, "optimize") == 0) {
    OptimizerOptions options = optimizer_options_all(source);
    return graph_optimize(*graph, &options, NULL, status);
  }
  CHECK_STR_EQ(name, "symbolic_gradient");
  FunctionBody *gradient;
  TRY(symbolic_gradient(*body, &gradient, status));
  function_body_free(*body);
  *body = gradient;
  *graph = gradient->graph;
  return true;
}

static bool begin(const Json *start, Graph *library, Arena *arena, FunctionBody **body, Graph **graph,
                  Status *status) {
  const char *function = fact_text(start, "function");
  if (!function) {
    *graph = library;
    return graph_import(library, fact_parse(kGraphDef, fact_text(start, "graphdef"), arena), false, NULL,
                        arena, NULL, status);
  }
  NodeDef *attrs = node_def_new(arena, "", "");
  add_attrs(attrs, json_get(start, "attrs"), arena);
  TRY(function_body_new(library, graph_find_function(library, function),
                        (const AttrEntry *const *)attrs->attr, (int)attrs->n_attr, body, status));
  *graph = (*body)->graph;
  return true;
}

/* The limit counts nodes of a GraphDef: without source and sink. */
static bool is_small(const Graph *graph, int64_t most, StrBuf *why) {
  for (int64_t id = SINK_ID + 1; id < graph_num_node_ids(graph); id++) {
    const Node *node = graph_node(graph, id);
    const char *name;
    const AttrEntry *const *attrs;
    int num_attrs;
    if (!node) continue;
    if (strcmp(node->def->op, "Identity") == 0 || node_function_call(node, &name, &attrs, &num_attrs))
      return fact_differs(why, node->name, "there", "inlined and removed");
  }
  return graph_num_nodes(graph) - 2 <= most || fact_differs(why, "the number of nodes", "larger", "small");
}

/* One round of the fact: the passes run with the memory that the shortage leaves. */
static bool try_once(const Json *fact, const Json *answer, Shortage *shortage, StrBuf *why) {
  Status status;
  status_init(&status);
  Arena *arena = arena_new();
  Graph *library = graph_new(), *graph = NULL;
  FunctionBody *body = NULL;
  TestBodies bodies = {.library = library};
  FunctionBodySource source = test_bodies_source(&bodies);
  const Json *functions = json_get(fact, "functions"), *passes = json_get(fact, "passes"),
             *most = json_get(answer, "expect_max_nodes");
  bool ok = true;
  for (int i = 0; ok && i < functions->count; i++)
    ok = graph_add_function(library, make_function(&functions->items[i], arena), &status);
  ok = ok && begin(json_get(fact, "start"), library, arena, &body, &graph, &status);
  shortage_begin(shortage);
  for (int i = 0; ok && i < passes->count; i++)
    ok = run_pass(&body, &graph, &passes->items[i], &source, &status);
  shortage_end(shortage, ok, status.code);
  bool starved = !ok && status.code == CODE_RESOURCE_EXHAUSTED;
  ok = graph_is_whole(graph) && (starved || fact_check_ok(ok, &status, why));
  const char *want = fact_text(answer, "expect_graph");
  if (ok && !starved && want) ok = graphs_agree(graph, fact_parse(kGraphDef, want, arena), why);
  if (ok && !starved && most) ok = is_small(graph, most->integer, why);
  test_bodies_free(&bodies);
  function_body_free(body);
  graph_free(library);
  arena_free(arena);
  return ok;
}

static bool holds(const Json *fact, const Json *answer, Arena *arena, StrBuf *why) {
  Shortage shortage = {.what = "passes"};
  (void)arena;
  do {
    if (!try_once(fact, answer, &shortage, why)) return false;
  } while (shortage_next(&shortage));
  return true;
}

TEST(recorded_facts_about_passes_hold) {
  add_missing_op(&kVariable);
  add_missing_op(&kSymbolicGradient);
  add_missing_op(&kSplit);
  facts_run_kind("tests/data/facts/optimizer.jsonl", "passes", 18, holds);
}
