/* Functions and graphs: inlining functions into graphs, and making functions of graphs. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "function/text/function_text.h"
#include "function/graph_to_function.h"
#include "function/function_body.h"
#include "harness.h"
#include "splice_function.h"

static FunctionDef *parse(const char *text, Arena *arena) {
  Status status;
  status_init(&status);
  FunctionDef *function = NULL;
  CHECK_OK(function_parse(str_of(text), arena, &function, &status), &status);
  return function;
}

static NodeOutput add(Graph *graph, const char *line, int num_inputs, const NodeOutput *inputs) {
  Status status;
  status_init(&status);
  Arena *arena = arena_new();
  NodeOutput output = {NULL, 0};
  char text[512];
  snprintf(text, sizeof text, "F() -> () { %s }", line);
  FunctionDef *function = parse(text, arena);
  if (function)
    CHECK_OK(graph_add_operation(graph, function->node_def[0], inputs, num_inputs, NULL, 0, &output.node,
                                 &status),
             &status);
  arena_free(arena);
  return output;
}

static NodeOutput placeholder(Graph *graph, const char *name) {
  char line[128];
  snprintf(line, sizeof line, "%s = Placeholder[dtype=float]()", name);
  return add(graph, line, 0, NULL);
}

#define TWO_RESULTS                                     \
  "F(a:float, b:float) -> (y:float, z:float) {\n"       \
  "  z = Neg[T=float](s:z:0) @ q\n"                     \
  "  s = Add[T=float](a, b)\n"                          \
  "  q = Square[T=float](b)\n"                          \
  "  y = Tanh[T=float](a)\n"                            \
  "  r = ReadVariableOp[dtype=float](h:resource:0)\n"   \
  "  h = VarHandleOp[dtype=float, shape=Shape<[]>]()\n" \
  "  return y = y:y:0\n  return z = z:y:0\n}"

TEST(splicing_adds_what_is_wanted) {
  static const struct {
    bool wanted[2];
    int nodes;
  } cases[] = {{{true, true}, 6}, {{true, false}, 1 + 2}, {{false, true}, 3 + 2}, {{false, false}, 2}};
  for (int i = 0; i < 4; i++) {
    CHECK_CONTEXT("case %d", i);
    Status status;
    status_init(&status);
    Arena *arena = arena_new();
    Graph *graph = graph_new();
    NodeOutput inputs[] = {placeholder(graph, "p"), placeholder(graph, "q")}, outputs[2];
    int64_t before = graph_num_nodes(graph);
    const FunctionDef *function = parse(TWO_RESULTS, arena);
    const SpliceOptions options = {.wanted_outputs = cases[i].wanted, .scope = "in", .keep_stateful = true};
    REQUIRE_OK(splice_function_with(graph, function, inputs, &options, outputs, &status), &status);
    CHECK_INT_EQ(graph_num_nodes(graph) - before, cases[i].nodes); /* stateful nodes always */
    CHECK((outputs[0].node != NULL) == cases[i].wanted[0]);
    CHECK((outputs[1].node != NULL) == cases[i].wanted[1]);
    if (outputs[1].node) {
      CHECK_STR_EQ(outputs[1].node->name, "in/z");
      CHECK_STR_EQ(outputs[1].node->inputs[0]->src->name, "in/s");
      CHECK_INT_EQ(outputs[1].node->num_control_inputs, 1);
      CHECK_STR_EQ(outputs[1].node->control_inputs[0]->src->name, "in/q");
    }
    graph_free(graph);
    arena_free(arena);
  }
}

TEST(splicing_twice_in_one_scope_gives_other_names) {
  Status status;
  status_init(&status);
  Arena *arena = arena_new();
  Graph *graph = graph_new();
  NodeOutput inputs[] = {placeholder(graph, "p"), placeholder(graph, "q")};
  const FunctionDef *function = parse(TWO_RESULTS, arena);
  static const char *const kNames[][3] = {{"in/z", "in/s", "in/q"},
                                          {"in/z_1", "in/s_1", "in/q_1"},
                                          {"in/z_2", "in/s_2", "in/q_2"}};
  for (int i = 0; i < 3; i++) {
    NodeOutput outputs[2];
    REQUIRE_OK(splice_function(graph, function, inputs, "in", outputs, &status), &status);
    const Node *z = outputs[1].node;
    CHECK_STR_EQ(z->name, kNames[i][0]);
    CHECK_STR_EQ(z->inputs[0]->src->name, kNames[i][1]);
    CHECK_STR_EQ(z->control_inputs[0]->src->name, kNames[i][2]);
  }
  graph_free(graph);
  arena_free(arena);
}

TEST(splicing_reuses_an_equal_node) {
  Status status;
  status_init(&status);
  Arena *arena = arena_new();
  Graph *graph = graph_new();
  NodeOutput inputs[] = {placeholder(graph, "p"), placeholder(graph, "q")},
             swapped[] = {inputs[1], inputs[0]}, outputs[1];
  NodeOutput sum = add(graph, "sum = Add[T=float]()", 2, inputs);
  const SpliceOptions options = {.reuse = sum.node};
  const FunctionDef *function = parse(
      "F(a:float, b:float) -> (y:float) {\n  s = Add[T=float](a, b)\n  y = Neg[T=float](s:z:0)\n  return y = "
      "y:y:0\n}",
      arena);
  REQUIRE_OK(splice_function_with(graph, function, inputs, &options, outputs, &status), &status);
  CHECK(outputs[0].node->inputs[0]->src == sum.node);
  REQUIRE_OK(splice_function_with(graph, function, swapped, &options, outputs, &status), &status);
  CHECK(outputs[0].node->inputs[0]->src != sum.node);
  CHECK_STR_EQ(outputs[0].node->name, "y_1");
  graph_free(graph);
  arena_free(arena);
}

TEST(splicing_errors_leave_nothing_behind) {
  static const struct {
    const char *text, *message;
  } cases[] = {
      {"F(a:float, b:double) -> (y:float, z:double) {\n  z = Neg[T=double](b)\n  return y = a\n  return z = "
       "z:y:0\n}",
       "Input 0 of node s/z was passed float from q:0 incompatible with expected double."},
      {"F(a:float, b:float, c:float) -> (y:float, z:float) {\n  y = Neg[T=float](a)\n  z = Neg[T=float](c)\n "
       " "
       "return y = y:y:0\n  return z = z:y:0\n}",
       "Function F needs a value for its argument c"},
      {"F(a:float, b:float) -> (y:float, z:float) {\n  y = Neg[T=float](z:y:0)\n  z = Neg[T=float](y:y:0)\n  "
       "return y = y:y:0\n"
       "  return z = z:y:0\n}",
       "is in a cycle"},
      /* The second of two nodes has no valid dtype for its op. */
      {"F(a:float, b:float) -> (y:float, z:half) {\n  y = Neg[T=float](a)\n  z = One[T=half]() @ y\n  return "
       "y = y:y:0\n  return z = z:y:0\n}",
       "is not in the list of allowed values"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    CHECK_CONTEXT("%s", cases[i].text);
    Status status;
    status_init(&status);
    Arena *arena = arena_new();
    Graph *graph = graph_new();
    NodeOutput inputs[3] = {placeholder(graph, "p"), placeholder(graph, "q")}, outputs[2];
    int64_t nodes = graph_num_nodes(graph), edges = graph_num_edges(graph);
    const FunctionDef *function = parse(cases[i].text, arena);
    CHECK_ERROR(splice_function(graph, function, inputs, "s", outputs, &status), &status,
                CODE_INVALID_ARGUMENT, cases[i].message);
    CHECK_INT_EQ(graph_num_nodes(graph), nodes);
    CHECK_INT_EQ(graph_num_edges(graph), edges);
    graph_free(graph);
    arena_free(arena);
  }
}

TEST(graph_to_function_and_back) {
  Status status;
  status_init(&status);
  Arena *arena = arena_new();
  Graph *graph = graph_new();
  NodeOutput x = placeholder(graph, "X"), other = placeholder(graph, "scope/x"), ab[] = {x, other};
  NodeOutput sum = add(graph, "x = Add[T=float]()", 2, ab),
             sc = add(graph, "`a/sc` = SinCos[T=float]()", 1, &sum);
  NodeOutput both[] = {{sc.node, 1}, sum}, y = add(graph, "Y = Mul[T=float]()", 2, both);
  add(graph, "unused = Neg[T=float]()", 1, &y);
  NodeOutput outputs[] = {y, x, y};
  GraphToFunctionOptions options = {.name = "G",
                                    .inputs = ab,
                                    .num_inputs = 2,
                                    .outputs = outputs,
                                    .num_outputs = 3};
  FunctionDef *function;
  REQUIRE_OK(graph_to_function(graph, &options, arena, &function, &status), &status);
  StrBuf text = {0};
  function_print(function, &text);
  CHECK_STR_EQ(strbuf_text(&text),
               "\nG(x_0:float, scope_x:float) -> (y:float, x:float, y_0:float) {\n"
               "  x_1 = Add[T=float](x_0, scope_x)\n"
               "  a/sc = SinCos[T=float](x_1:z:0)\n"
               "  Y = Mul[T=float](a/sc:cosine:0, x_1:z:0)\n"
               "  return y = Y:z:0\n  return x = x_0\n  return y_0 = Y:z:0\n}\n");
  FunctionDef *back = parse(strbuf_text(&text), arena);
  CHECK(back && proto_equal(back, function));
  FunctionBody *body = NULL;
  CHECK_OK(function_body_new(NULL, function, NULL, 0, &body, &status), &status);
  function_body_free(body);
  strbuf_free(&text);
  graph_free(graph);
  arena_free(arena);
}

TEST(graph_to_function_cuts_at_inputs) {
  Status status;
  status_init(&status);
  Arena *arena = arena_new();
  Graph *graph = graph_new();
  NodeOutput x = placeholder(graph, "x"), s = add(graph, "s = Square[T=float]()", 1, &x),
             y = add(graph, "y = Neg[T=float]()", 1, &s);
  GraphToFunctionOptions options = {.name = "G",
                                    .inputs = &s,
                                    .num_inputs = 1,
                                    .outputs = &y,
                                    .num_outputs = 1,
                                    .output_names = (const char *const[]){"out"}};
  FunctionDef *function;
  REQUIRE_OK(graph_to_function(graph, &options, arena, &function, &status), &status);
  StrBuf text = {0};
  function_print(function, &text);
  CHECK_STR_EQ(strbuf_text(&text),
               "\nG(s:float) -> (out:float) {\n  y = Neg[T=float](s)\n  return out = y:y:0\n}\n");
  strbuf_free(&text);
  graph_free(graph);
  arena_free(arena);
}

TEST(graph_to_function_errors) {
  Status status;
  status_init(&status);
  Arena *arena = arena_new();
  Graph *graph = graph_new(), *foreign = graph_new();
  NodeOutput x = placeholder(graph, "x"), y = add(graph, "y = Neg[T=float]()", 1, &x),
             away = placeholder(foreign, "x"), twice[] = {x, x};
  FunctionDef *function;
  GraphToFunctionOptions options = {.name = "G",
                                    .inputs = twice,
                                    .num_inputs = 2,
                                    .outputs = &y,
                                    .num_outputs = 1};
  CHECK_ERROR(graph_to_function(graph, &options, arena, &function, &status), &status, CODE_INVALID_ARGUMENT,
              "appears more than once");
  options.inputs = &away, options.num_inputs = 1;
  CHECK_ERROR(graph_to_function(graph, &options, arena, &function, &status), &status, CODE_INVALID_ARGUMENT,
              "");
  options.inputs = NULL, options.num_inputs = 0, options.nodes = &y.node, options.num_nodes = 1;
  CHECK_ERROR(graph_to_function(graph, &options, arena, &function, &status), &status, CODE_INVALID_ARGUMENT,
              "Input 0, 'x:0', of node 'y' in function 'G' is not available. You might need to include it in "
              "inputs or "
              "include its source node in the body");
  options.nodes = &x.node;
  CHECK_ERROR(graph_to_function(graph, &options, arena, &function, &status), &status, CODE_INVALID_ARGUMENT,
              "TF_Output y:0 is neither in the function body nor among function inputs");
  NodeOutput third = {y.node, 3};
  options.outputs = &third;
  CHECK_ERROR(graph_to_function(graph, &options, arena, &function, &status), &status, CODE_OUT_OF_RANGE,
              "does not have output 3");
  graph_free(graph);
  graph_free(foreign);
  arena_free(arena);
}
