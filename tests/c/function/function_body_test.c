/* Bodies of functions as graphs. */
#include "function/function_body.h"

#include <string.h>

#include "base/alloc.h"
#include "function/text/function_text.h"
#include "graph/node_class.h"
#include "harness.h"

static FunctionBody *body_of(Graph *library, const char *text) {
  Status status;
  status_init(&status);
  Arena *arena = arena_new();
  FunctionDef *function;
  FunctionBody *body = NULL;
  if (CHECK_OK(function_parse(str_of(text), arena, &function, &status), &status)) {
    CHECK_OK(function_body_new(library, function, NULL, 0, &body, &status), &status);
  }
  arena_free(arena); /* the body keeps no pointers into it */
  return body;
}

static const char kText[] =
    "F(x:double, z:double) -> (y:double, w:double) {\n  a = Square[T=double](x)\n"
    "  unused = Neg[T=double](x)\n  y = Mul[T=double](a:y:0, z) @ a\n  v = VarHandleOp[dtype=double, "
    "shape=[]]()\n"
    "  return w = x\n  return y = y:z:0\n}";

static const char kPruned[] =
    "\n(x:double, z:double) -> (y:double, x:double) {\n  a = Square[T=double](x)\n"
    "  y = Mul[T=double](a, z) @ a\n"
    "  v = VarHandleOp[container=\"\", dtype=double, shape=[], shared_name=\"\"]()\n}\n";

TEST(bodies_are_pruned_copied_and_printed) {
  Status status;
  status_init(&status);
  Graph *library = graph_new();
  FunctionBody *body = body_of(library, kText), *copy;
  REQUIRE(body);
  CHECK_INT_EQ(body->num_args, 2);
  CHECK_INT_EQ(body->num_rets, 2);
  CHECK(graph_find_node(body->graph, "unused"));
  CHECK_OK(function_body_prune(body, &status), &status);
  CHECK(!graph_find_node(body->graph, "unused"));
  REQUIRE_OK(function_body_copy(body, &copy, &status), &status);
  function_body_free(body);
  StrBuf text = {0};
  CHECK_OK(function_body_print(copy, &text, &status), &status);
  CHECK_STR_EQ(strbuf_text(&text), kPruned);
  CHECK_STR_EQ(copy->arg_nodes[1]->name, "z");
  CHECK(copy->ret_nodes[1]->inputs[0]->src == copy->arg_nodes[0]);
  strbuf_free(&text);
  function_body_free(copy);
  graph_free(library);
}

TEST(graphs_are_printed_by_numbers) {
  Status status;
  status_init(&status);
  Graph *library = graph_new();
  FunctionBody *body =
      body_of(library,
              "Swap(i:double, j:double) -> (o:double, p:double) {\n  return o = j\n  return p = i\n}");
  FunctionBody *square =
      body_of(library, "G(x:double) -> (y:double) {\n  y = Square[T=double](x)\n  return y = y:y:0\n}");
  REQUIRE(body && square);
  StrBuf text = {0};
  CHECK_OK(graph_debug_print(body->graph, &text, &status), &status);
  CHECK_STR_EQ(strbuf_text(&text), "(n2:double, n3:double) -> (n3:double, n2:double) {\n}\n");
  strbuf_free(&text);
  CHECK_OK(graph_debug_print(square->graph, &text, &status), &status);
  CHECK_STR_EQ(strbuf_text(&text), "(n2:double) -> (n3:double) {\n  n3 = Square[T=double](n2)\n}\n");
  strbuf_free(&text);
  function_body_free(body);
  function_body_free(square);
  graph_free(library);
}

/* A graph with a result and an argument whose attr `index` (unless it is NULL) is that text. */
static Graph *graph_of_argument(Graph *library, const char *index, Status *status) {
  Graph *graph = graph_new_body(library);
  Arena *arena = graph_arena(graph);
  NodeDef *arg = node_def_new(arena, "a", "_Arg"), *ret = node_def_new(arena, "r", "_Retval");
  Node *node, *result;
  Edge *edge;
  void *value;
  CHECK(proto_parse_text(kAttrValue, str_of("type: DT_FLOAT"), arena, &value, status) &&
        node_def_set_attr(arg, arena, "T", value, status) &&
        node_def_set_attr(ret, arena, "T", value, status));
  CHECK(proto_parse_text(kAttrValue, str_of("i: 0"), arena, &value, status) &&
        node_def_set_attr(ret, arena, "index", value, status));
  if (index) {
    CHECK(proto_parse_text(kAttrValue, str_of(index), arena, &value, status) &&
          node_def_set_attr(arg, arena, "index", value, status));
  }
  CHECK_OK(graph_add_node(graph, arg, &node, status) && graph_add_node(graph, ret, &result, status) &&
               graph_add_edge(graph, node, 0, result, 0, &edge, status),
           status);
  return graph;
}

TEST(arguments_of_a_body_count_from_zero) {
  static const char *const kWrong[] = {"i: 1", "i: -1", "i: 4294967296", "i: 9223372036854775807", NULL};
  Status status;
  status_init(&status);
  Graph *library = graph_new();
  FunctionBody *body;
  Graph *graph = graph_of_argument(library, "i: 0", &status);
  REQUIRE_OK(function_body_of_graph("F", graph, NULL, 0, &body, &status), &status);
  CHECK(body->num_args == 1 && body->num_rets == 1 && node_is_arg(body->arg_nodes[0]) &&
        node_is_retval(body->ret_nodes[0]));
  function_body_free(body);
  for (size_t i = 0; i < sizeof kWrong / sizeof kWrong[0]; i++) {
    graph = graph_of_argument(library, kWrong[i], &status);
    CHECK_ERROR(function_body_of_graph("F", graph, NULL, 0, &body, &status), &status, CODE_INVALID_ARGUMENT,
                "The indexes of _Arg nodes are not 0 to 0: {{node a}} has");
    status_init(&status);
    graph_free(graph);
  }
  graph_free(library);
}

TEST(bodies_are_made_or_not_when_memory_runs_out) {
  bool done = false;
  Graph *library = graph_new();
  Arena *arena = arena_new();
  Status status;
  status_init(&status);
  FunctionDef *function;
  REQUIRE_OK(function_parse(str_of(kText), arena, &function, &status), &status);
  for (int64_t allowed = 0; !done && allowed < 500; allowed++) {
    FunctionBody *body = NULL, *copy = NULL;
    status_init(&status);
    mem_fail_after(allowed);
    done = function_body_new(library, function, NULL, 0, &body, &status) &&
           function_body_copy(body, &copy, &status);
    mem_fail_after(-1);
    CHECK(done || status.code == CODE_RESOURCE_EXHAUSTED);
    function_body_free(body);
    function_body_free(copy);
  }
  CHECK(done);
  arena_free(arena);
  graph_free(library);
}
