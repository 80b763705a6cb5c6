/* Recorded facts about rewriting a graph for feeds and fetches (tests/data/facts/session.jsonl): which nodes
 * a step runs.
 *
 * The records have two conventions. In one, which client graphs use, feeds and fetches are _Arg and _Retval
 * nodes, and the names are compared as they are. In the other they are _Recv and _Send nodes, so
 * "_recv_c_0" of the record stands for "_arg_c_0_<position>" here. One fact is about a target that does not
 * exist; it is not replayed, because steps get nodes and not names. An _Arg that no node reads is an argument
 * of the client graph all the same; TensorFlow's rewritten graph does not have it. */
#include <string.h>

#include "json.h"
#include "runtime/client_graph.h"
#include "runtime/session_fixture.h"

enum { MOST = 16 };

#define TEST_OP(op, ...) \
  { .name = op, __VA_ARGS__, .shape = shape_unknown_outputs, .gradient = NO_GRADIENT }
static const OpRegistration kTestOps[] = {
    TEST_OP("TestParams", .outputs = {"o: float"}),
    TEST_OP("TestInput", .outputs = {"a: float", "b: float"}),
    TEST_OP("TestRelu", .inputs = {"i: float"}, .outputs = {"o: float"}),
    TEST_OP("TestMul", .inputs = {"a: float", "b: float"}, .outputs = {"o: float"}),
};

static bool register_test_ops(Status *status) {
  for (size_t i = 0; i < sizeof kTestOps / sizeof *kTestOps; i++)
    TRY(op_registry_add(op_registry_global(), &kTestOps[i], status));
  return true;
}

static bool outputs_of(const Graph *graph, const Json *names, NodeOutput *outputs, Status *status) {
  for (int i = 0; i < names->count; i++)
    TRY(graph_find_output(graph, names->items[i].string, &outputs[i], status));
  return true;
}

/* What the record calls the node. */
static const char *recorded_name(const Node *node, bool function_convention, Arena *arena) {
  const char *op = node->op->def->name;
  if (function_convention || (strcmp(op, "_Arg") != 0 && strcmp(op, "_Retval") != 0)) return node->name;
  bool is_arg = strcmp(op, "_Arg") == 0;
  const char *rest = node->name + strlen(is_arg ? "_arg" : "_retval");
  StrBuf name = {0};
  strbuf_printf(&name, "%s%.*s", is_arg ? "_recv" : "_send", (int)(strrchr(rest, '_') - rest), rest);
  const char *made = arena_strdup(arena, strbuf_text(&name));
  strbuf_free(&name);
  return made;
}

static const Node *find_recorded(const Graph *graph, const char *name, bool function_convention,
                                 Arena *arena) {
  for (int64_t id = SINK_ID + 1; id < graph_num_node_ids(graph); id++) {
    const Node *node = graph_node(graph, id);
    if (node && strcmp(recorded_name(node, function_convention, arena), name) == 0) return node;
  }
  return NULL;
}

static void check_edge(const Graph *graph, const Json *edge, bool function_convention, Arena *arena) {
  const Node *from = find_recorded(graph, edge->items[0].string, function_convention, arena),
             *to = find_recorded(graph, edge->items[2].string, function_convention, arena);
  if (!CHECK(from && to)) return;
  const Edge *input = to->inputs[edge->items[3].integer];
  CHECK(input->src == from);
  CHECK_INT_EQ(input->src_output, edge->items[1].integer);
}

static int num_nodes(const Graph *graph) {
  int count = 0;
  for (int64_t id = SINK_ID + 1; id < graph_num_node_ids(graph); id++) {
    const Node *node = graph_node(graph, id);
    count += node && (strcmp(node->op->def->name, "_Arg") != 0 || node->num_out_edges > 0);
  }
  return count;
}

static void check_graph(const Graph *graph, const Json *expect, bool function_convention, Arena *arena) {
  const Json *names = json_get(expect, "nodes"), *edges = json_get(expect, "has_edges");
  CHECK_INT_EQ(num_nodes(graph), names->count);
  for (int i = 0; i < names->count; i++) {
    CHECK_CONTEXT("%s", names->items[i].string);
    CHECK(find_recorded(graph, names->items[i].string, function_convention, arena));
  }
  for (int i = 0; edges && i < edges->count; i++)
    check_edge(graph, &edges->items[i], function_convention, arena);
  CHECK_CONTEXT("%s", "");
}

static void check_rewrite(const Json *fact, Fixture *f, Arena *arena) {
  NodeOutput feeds[MOST], fetches[MOST];
  Node *targets[MOST];
  const Json *error = json_get(fact, "error"), *fed = json_get(fact, "feeds"),
             *fetched = json_get(fact, "fetches"), *asked = json_get(fact, "targets");
  FunctionBody *body = NULL;
  StepSignature signature = {.feeds = feeds,
                             .num_feeds = fed->count,
                             .fetches = fetches,
                             .num_fetches = fetched->count,
                             .targets = targets,
                             .num_targets = asked->count};
  for (int i = 0; i < asked->count; i++) targets[i] = graph_find_node(f->graph, asked->items[i].string);
  bool ok = outputs_of(f->graph, fed, feeds, &f->status) &&
            outputs_of(f->graph, fetched, fetches, &f->status) &&
            client_graph_of_step(f->graph, &signature, &body, &f->status);
  if (error) {
    CHECK(!ok);
    CHECK_INT_EQ(f->status.code, json_get(fact, "code")->integer);
    if (fetched->count > 0 && fed->count == 0) CHECK_STR_CONTAINS(f->status.message, error->items[0].string);
  } else if (CHECK_OK(ok, f->status)) {
    check_graph(body->graph, json_get(fact, "expect"), json_get(fact, "function_convention")->boolean, arena);
  }
  function_body_free(body);
}

static void check_fact(const Json *fact, void *checked) {
  Fixture f;
  void *def;
  if (strcmp(json_get(fact, "kind")->string, "rewrite") != 0) return;
  if (json_get(fact, "error") && json_get(fact, "targets")->count > 0) return;
  Arena *arena = arena_new();
  if (begin(&f) && CHECK_OK(proto_parse_text(kGraphDef, str_of(json_get(fact, "graphdef")->string), arena,
                                             &def, &f.status) &&
                                graph_import(f.graph, def, false, NULL, arena, NULL, &f.status),
                            f.status)) {
    check_rewrite(fact, &f, arena);
    ++*(int *)checked;
  }
  end(&f);
  arena_free(arena);
}

TEST(client_graphs_have_the_nodes_that_were_recorded) {
  Status status;
  int checked = 0;
  status_init(&status);
  REQUIRE_OK(register_test_ops(&status), status);
  CHECK(json_read_lines("tests/data/facts/session.jsonl", check_fact, &checked) > 0);
  CHECK_INT_EQ(checked, 8);
}
