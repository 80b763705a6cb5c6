#include "runtime/client_graph.h"

#include <string.h>

#include "optimizer/graph_checker.h"
#include "runtime/program_fixture.h"
#include "runtime/session_fixture.h"

static FunctionBody *body_of(Graph *graph, const StepSignature *signature) {
  Status status;
  status_init(&status);
  FunctionBody *body = NULL;
  CHECK_OK(client_graph_of_step(graph, signature, &body, &status), status);
  return body;
}

static bool refuses(Graph *graph, const StepSignature *signature, const char *part) {
  Status status;
  status_init(&status);
  FunctionBody *body = NULL;
  return CHECK(!client_graph_of_step(graph, signature, &body, &status)) &&
         CHECK_INT_EQ(status.code, CODE_INVALID_ARGUMENT) && CHECK_STR_CONTAINS(status.message, part);
}

static void control(Graph *graph, Node *from, Node *to) {
  Status status;
  Edge *edge;
  status_init(&status);
  CHECK_OK(graph_add_control_edge(graph, from, to, &edge, &status), status);
}

TEST(a_step_gets_the_part_that_it_needs_with_tensorflows_names) {
  Graph *graph = graph_new();
  REQUIRE(graph);
  NodeOutput x = placeholder(graph, "x", "shape { dim { size: 2 } }"),
             c = constant(graph, "c", "tensor_shape { } float_val: 3");
  NodeOutput y = binary(graph, "Mul", "y", x, c), z = unary(graph, "Neg", "z", y);
  unary(graph, "Tanh", "unused", y);
  int64_t mutations = graph_mutation_count(graph), nodes = graph_num_nodes(graph);
  NodeOutput fetches[] = {z, y};
  FunctionBody *body =
      body_of(graph, &(StepSignature){.feeds = &x, .num_feeds = 1, .fetches = fetches, .num_fetches = 2});
  REQUIRE(body);
  CHECK(graph_is_whole(body->graph));
  CHECK_INT_EQ(body->num_args, 1);
  CHECK_INT_EQ(body->num_rets, 2);
  CHECK_STR_EQ(body->arg_nodes[0]->name, "_arg_x_0_0");
  CHECK_STR_EQ(body->ret_nodes[0]->name, "_retval_z_0_0");
  CHECK_STR_EQ(body->ret_nodes[1]->name, "_retval_y_0_1");
  CHECK(!graph_find_node(body->graph, "unused") && !graph_find_node(body->graph, "x"));
  /* Attr values and shapes belong to the graph. */
  const Node *copy = graph_find_node(body->graph, "c"), *product = graph_find_node(body->graph, "y");
  REQUIRE(copy && product);
  CHECK(node_def_attr(copy->def, "value") == node_def_attr(c.node->def, "value"));
  CHECK(product->output_shapes[0] == y.node->output_shapes[0]);
  CHECK_STR_EQ(product->def->input[0], "_arg_x_0_0");
  /* The graph is unaffected. */
  CHECK_INT_EQ(graph_mutation_count(graph), mutations);
  CHECK_INT_EQ(graph_num_nodes(graph), nodes);
  CHECK_STR_EQ(y.node->def->input[0], "x");
  function_body_free(body);
  graph_free(graph);
}

TEST(names_of_arguments_keep_clear_of_the_graphs) {
  Graph *graph = graph_new();
  REQUIRE(graph);
  NodeOutput x = placeholder(graph, "x", "shape { }"), taken = unary(graph, "Neg", "_arg_x_0_0", x);
  FunctionBody *body =
      body_of(graph, &(StepSignature){.feeds = &x, .num_feeds = 1, .fetches = &taken, .num_fetches = 1});
  REQUIRE(body);
  CHECK_STR_EQ(body->arg_nodes[0]->name, "_arg_x_0_0_");
  CHECK(graph_find_node(body->graph, "_arg_x_0_0")->inputs[0]->src == body->arg_nodes[0]);
  function_body_free(body);
  graph_free(graph);
}

TEST(control_edges_from_fed_placeholders_go_and_others_stay) {
  Graph *graph = graph_new();
  REQUIRE(graph);
  NodeOutput x = placeholder(graph, "x", "shape { }"), a = unary(graph, "Neg", "a", x),
             b = unary(graph, "Tanh", "b", a);
  control(graph, x.node, b.node);
  control(graph, a.node, b.node);
  NodeOutput feeds[] = {x, a};
  FunctionBody *body =
      body_of(graph, &(StepSignature){.feeds = feeds, .num_feeds = 2, .fetches = &b, .num_fetches = 1});
  REQUIRE(body);
  const Node *copy = graph_find_node(body->graph, "b");
  REQUIRE(copy && copy->num_control_inputs == 1);
  CHECK_STR_EQ(copy->control_inputs[0]->src->name, "a"); /* runs, although its output is fed */
  CHECK(copy->inputs[0]->src == body->arg_nodes[1]);
  CHECK(graph_is_whole(body->graph));
  function_body_free(body);
  graph_free(graph);
}

TEST(nodes_with_effects_are_control_results_behind_the_targets) {
  Fixture f;
  REQUIRE(begin(&f));
  NodeOutput v = scalar_variable(f.graph, "v"), one = scalar(f.graph, "one", 1);
  NodeOutput inputs[] = {v, one};
  Attr attrs[] = {{"dtype", "type: DT_FLOAT"}};
  Node *add = add_node(f.graph, "AssignAddVariableOp", "add", inputs, 2, attrs, 1);
  NodeOutput same = unary(f.graph, "Identity", "same", one);
  control(f.graph, add, same.node);
  FunctionBody *body = body_of(f.graph, &(StepSignature){.targets = &same.node, .num_targets = 1});
  REQUIRE(body);
  CHECK_INT_EQ(body->num_control_rets, 3);
  CHECK_STR_EQ(body->control_ret_nodes[0]->name, "same");
  CHECK_STR_EQ(body->control_ret_nodes[1]->name, "v");
  CHECK_STR_EQ(body->control_ret_nodes[2]->name, "add");
  function_body_free(body);
  end(&f);
}

/* Shapes inferred from a constant's value do not hold when another value is fed for it. */
TEST(shapes_follow_from_what_is_fed) {
  Graph *graph = graph_new();
  REQUIRE(graph);
  Attr attrs[] = {{"dtype", "type: DT_INT32"},
                  {"value", "tensor { dtype: DT_INT32 tensor_shape { dim { size: 1 } } int_val: 4 }"}};
  NodeOutput shape = out(add_node(graph, "Const", "shape", NULL, 0, attrs, 2)),
             x = placeholder(graph, "x", "shape { }");
  NodeOutput filled = binary(graph, "Fill", "filled", shape, x);
  CHECK_INT_EQ(dim_value(graph_output_shape(filled)->dims[0]), 4);
  NodeOutput feeds[] = {x, shape};
  for (int fed = 1; fed <= 2; fed++) {
    FunctionBody *body =
        body_of(graph,
                &(StepSignature){.feeds = feeds, .num_feeds = fed, .fetches = &filled, .num_fetches = 1});
    REQUIRE(body);
    ShapeHandle got = graph_output_shape(out(graph_find_node(body->graph, "filled")));
    CHECK(dim_known(got->dims[0]) == (fed == 1));
    CHECK_INT_EQ(shape_rank(got), 1);
    function_body_free(body);
  }
  StepSignature any = {.feeds = feeds,
                       .num_feeds = 1,
                       .fetches = &filled,
                       .num_fetches = 1,
                       .any_shapes = true};
  FunctionBody *body = body_of(graph, &any);
  REQUIRE(body);
  CHECK(!shape_rank_known(graph_output_shape(out(body->arg_nodes[0]))));
  function_body_free(body);
  graph_free(graph);
}

TEST(what_cannot_be_asked_for_is_refused) {
  Graph *graph = graph_new();
  REQUIRE(graph);
  NodeOutput x = placeholder(graph, "x", "shape { }"), y = unary(graph, "Neg", "y", x);
  Node *nothing = add_node(graph, "NoOp", "nothing", NULL, 0, NULL, 0);
  NodeOutput twice[] = {x, x}, beyond = {y.node, 1}, none = {nothing, 0};
  refuses(graph, &(StepSignature){.feeds = &x, .num_feeds = 1},
          "Must specify at least one target to fetch or execute.");
  refuses(graph, &(StepSignature){.feeds = twice, .num_feeds = 2, .fetches = &y, .num_fetches = 1},
          "Endpoint \"x:0\" fed more than once.");
  refuses(graph, &(StepSignature){.feeds = &x, .num_feeds = 1, .fetches = &x, .num_fetches = 1},
          "x:0 is both fed and fetched.");
  refuses(graph, &(StepSignature){.fetches = &beyond, .num_fetches = 1},
          "FetchOutputs: y:1 should have output index < 1");
  refuses(graph, &(StepSignature){.fetches = &none, .num_fetches = 1},
          "Tried to fetch data for 'nothing', which produces no output.");
  graph_free(graph);
}

/* --- nodes that passes remove --- */

/* Each of many variables is assigned before a value of which only a sum's shape is read; the amount added to
 * the variables follows from that shape. The assigning nodes come last, so that only the edges order them. */
enum { VARIABLES = 9 };

static void check_order_of_effects(bool optimize, int depth) {
  Fixture f;
  REQUIRE(begin(&f));
  session_optimize(f.session, optimize);
  NodeOutput x = placeholder(f.graph, "x", "shape { dim { size: 3 } }"), sum = x, variables[VARIABLES],
             same[VARIABLES];
  Node *added[VARIABLES];
  char name[32];
  for (int i = 0; i < VARIABLES; i++) {
    snprintf(name, sizeof name, "v%d", i);
    variables[i] = scalar_variable(f.graph, name);
    snprintf(name, sizeof name, "same%d", i);
    same[i] = unary(f.graph, "Identity", name, x);
    NodeOutput value = same[i];
    for (int k = 0; k < depth; k++) {
      snprintf(name, sizeof name, "pure%d_%d", i, k);
      value = unary(f.graph, "Neg", name, value);
    }
    snprintf(name, sizeof name, "sum%d", i);
    sum = binary(f.graph, "Add", name, sum, value);
  }
  NodeOutput size = unary(f.graph, "Size", "size", sum);
  Attr types[] = {{"SrcT", "type: DT_INT32"}, {"DstT", "type: DT_FLOAT"}},
       dtype[] = {{"dtype", "type: DT_FLOAT"}};
  NodeOutput total = out(add_node(f.graph, "Cast", "total", &size, 1, types, 2)),
             start = scalar(f.graph, "start", 5);
  for (int i = 0; i < VARIABLES; i++) {
    NodeOutput more[] = {variables[i], total}, initial[] = {variables[i], start};
    snprintf(name, sizeof name, "add%d", i);
    added[i] = add_node(f.graph, "AssignAddVariableOp", name, more, 2, dtype, 1);
    snprintf(name, sizeof name, "init%d", i);
    control(f.graph, add_node(f.graph, "AssignVariableOp", name, initial, 2, dtype, 1), same[i].node);
  }
  Tensor value;
  const Tensor *values[] = {&value};
  REQUIRE(float_tensor(&value, 1, (int64_t[]){3}, (float[]){1, 2, 3}));
  CHECK_OK(session_run(f.session, &x, values, 1, NULL, NULL, 0, added, VARIABLES, &f.status), f.status);
  for (int i = 0; i < VARIABLES; i++) {
    snprintf(name, sizeof name, "read%d", i);
    NodeOutput read = out(add_node(f.graph, "ReadVariableOp", name, &variables[i], 1, dtype, 1));
    Tensor result = {0};
    if (CHECK_OK(session_run(f.session, NULL, NULL, 0, &read, &result, 1, NULL, 0, &f.status), f.status))
      CHECK_NEAR(tensor_f32(&result)[0], 8, 0);
    tensor_clear(&result);
  }
  tensor_clear(&value);
  end(&f);
}

TEST(effects_keep_their_order_around_shapes_that_are_folded) {
  for (int depth = 0; depth < 3; depth++) {
    check_order_of_effects(false, depth);
    check_order_of_effects(true, depth);
  }
}

/* The layers of a deep network read variables, but nothing runs just for a shape. */
TEST(only_effects_run_before_a_shape_that_is_known) {
  enum { LAYERS = 2000 };
  Fixture f;
  REQUIRE(begin(&f));
  Attr dtype[] = {{"dtype", "type: DT_FLOAT"}},
       types[] = {{"SrcT", "type: DT_INT32"}, {"DstT", "type: DT_FLOAT"}};
  NodeOutput x = placeholder(f.graph, "x", "shape { dim { size: 3 } }"), value = x, last = x;
  char name[32];
  for (int i = 0; i < LAYERS; i++) {
    snprintf(name, sizeof name, "v%d", i);
    NodeOutput v = scalar_variable(f.graph, name);
    snprintf(name, sizeof name, "read%d", i);
    NodeOutput read = out(add_node(f.graph, "ReadVariableOp", name, &v, 1, dtype, 1));
    snprintf(name, sizeof name, "layer%d", i);
    value = binary(f.graph, "Mul", name, value, read);
    snprintf(name, sizeof name, "size%d", i);
    NodeOutput size = unary(f.graph, "Size", name, value);
    snprintf(name, sizeof name, "cast%d", i);
    NodeOutput cast = out(add_node(f.graph, "Cast", name, &size, 1, types, 2));
    snprintf(name, sizeof name, "last%d", i);
    last = binary(f.graph, "FloorMod", name, last, cast);
  }
  /* A handle and a read for each variable, and the rest by each size. */
  KernelTable *kernels = kernel_table_new();
  const StepSignature signature = {.feeds = &x, .num_feeds = 1, .fetches = &last, .num_fetches = 1};
  CHECK_INT_EQ(steps_of(f.graph, &signature, kernels), 3 * LAYERS);
  kernel_table_free(kernels);
  end(&f);
}

/* --- kernels that programs share --- */

TEST(kernels_are_found_by_name_while_the_node_is_the_same) {
  Graph *first = graph_new(), *second = graph_new();
  KernelTable *table = kernel_table_new();
  Status status;
  status_init(&status);
  REQUIRE(first && second && table);
  Node *c = constant(first, "c", "tensor_shape { } float_val: 3").node;
  Node *other = add_node(first, "VarHandleOp", "v", NULL, 0,
                         (Attr[]){{"dtype", "type: DT_FLOAT"}, {"shape", "shape { }"}}, 2);
  Node *changed = add_node(second, "VarHandleOp", "v", NULL, 0,
                           (Attr[]){{"dtype", "type: DT_INT32"}, {"shape", "shape { }"}}, 2);
  REQUIRE(c && other && changed);
  const OpKernel *kernels[4] = {NULL};
  CHECK_OK(kernel_table_get(table, other, "v", NULL, &kernels[0], &status), status);
  CHECK_OK(kernel_table_get(table, other, "v", NULL, &kernels[1], &status), status);
  CHECK(kernels[0] == kernels[1]);
  CHECK_OK(kernel_table_get(table, changed, "called v", NULL, &kernels[2], &status), status);
  CHECK(kernels[2] != kernels[0] && kernels[2]->output_types[0] == DT_RESOURCE);
  CHECK_STR_EQ(kernels[2]->node->name, "called v");
  CHECK(kernel_table_holds(other) && !kernel_table_holds(unary(first, "Neg", "n", out(c)).node));
  /* The value of this one is freed with its graph; client graphs share the values of others. */
  CHECK(!kernel_table_holds(c));
  FunctionBody *body = body_of(first, &(StepSignature){.fetches = &(NodeOutput){c, 0}, .num_fetches = 1});
  CHECK(body && kernel_table_holds(graph_find_node(body->graph, "c")));
  function_body_free(body);
  kernel_table_free(table);
  graph_free(first);
  graph_free(second);
}
