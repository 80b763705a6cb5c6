/* Graph gradients through ops that call functions, run in sessions: variables in loops, missing gradients,
 * errors. */
#include "gradient/graph_gradients.h"

#include <math.h>
#include <string.h>

#include "runtime/session_fixture.h"

static const char kLibrary[] =
    "More(n:int32, s:float, v:resource) -> (go:bool) {\n"
    "  zero = Const[dtype=int32, value=0]()\n"
    "  go = Greater[T=int32](n, zero:output:0)\n"
    "  return go = go:z:0\n"
    "}\n"
    "Scale(n:int32, s:float, v:resource) -> (m:int32, t:float, w:resource) {\n"
    "  one = Const[dtype=int32, value=1]()\n"
    "  m = Sub[T=int32](n, one:output:0)\n"
    "  r = ReadVariableOp[dtype=float](v)\n"
    "  t = Mul[T=float](s, r:value:0)\n"
    "  return m = m:z:0, t = t:z:0, w = v\n"
    "}\n"
    /* The variable changes in every iteration. */
    "Count(n:int32, s:float, v:resource) -> (m:int32, t:float, w:resource) {\n"
    "  one = Const[dtype=int32, value=1]()\n"
    "  step = Const[dtype=float, value=1]()\n"
    "  m = Sub[T=int32](n, one:output:0)\n"
    "  r = ReadVariableOp[dtype=float](v)\n"
    "  t = Mul[T=float](s, r:value:0)\n"
    "  a = AssignAddVariableOp[dtype=float](v, step:output:0) @ r\n"
    "  return m = m:z:0, t = t:z:0, w = v\n"
    "}\n"
    /* The variable is passed on but not used. */
    "Double(n:int32, s:float, v:resource) -> (m:int32, t:float, w:resource) {\n"
    "  one = Const[dtype=int32, value=1]()\n"
    "  m = Sub[T=int32](n, one:output:0)\n"
    "  t = Add[T=float](s, s)\n"
    "  return m = m:z:0, t = t:z:0, w = v\n"
    "}\n"
    "Same(x:float, y:float, v:resource) -> (z:float) {\n"
    "  return z = x\n"
    "}\n"
    "Read(x:float, y:float, v:resource) -> (z:float) {\n"
    "  r = ReadVariableOp[dtype=float](v)\n"
    "  z = Mul[T=float](x, r:value:0)\n"
    "  return z = z:z:0\n"
    "}\n"
    "Down(x:float) -> (y:float) {\n"
    "  y = If[Tcond=float, Tin={float}, Tout={float}, then_branch=Down, else_branch=Down](x, x)\n"
    "  return y = y:output:0\n"
    "}\n";

static bool begin_with_library(Fixture *f) { return begin(f) && define(f->graph, kLibrary); }

static NodeOutput whole(Graph *graph, const char *name, int value) {
  char text[96];
  snprintf(text, sizeof text, "tensor { dtype: DT_INT32 tensor_shape { } int_val: %d }", value);
  Attr attrs[] = {{"dtype", "type: DT_INT32"}, {"value", text}};
  return out(add_node(graph, "Const", name, NULL, 0, attrs, 2));
}

static float fetch(Fixture *f, NodeOutput value) {
  Tensor result = {0};
  float number = NAN;
  if (CHECK(value.node) &&
      CHECK_OK(session_run(f->session, NULL, NULL, 0, &value, &result, 1, NULL, 0, &f->status), f->status))
    number = tensor_f32(&result)[0];
  tensor_clear(&result);
  return number;
}

/* A variable that holds the value. */
static NodeOutput variable(Fixture *f, const char *name, float value) {
  NodeOutput handle = scalar_variable(f->graph, name),
             inputs[] = {handle, scalar(f->graph, "initial", value)};
  CHECK_OK(run_target(f, add_node(f->graph, "AssignVariableOp", "assign", inputs, 2, NULL, 0)), f->status);
  return handle;
}

/* An op whose inputs are lists; all attrs are given. */
static Node *add_call(Graph *graph, const char *op, const char *name, const NodeOutput *inputs,
                      int num_inputs, const Attr *attrs, int num_attrs) {
  Status status;
  status_init(&status);
  Arena *arena = arena_new();
  NodeDef *def = node_def_new(arena, name, op);
  Node *node = NULL;
  void *value;
  for (int i = 0; i < num_attrs; i++) {
    if (CHECK_OK(proto_parse_text(kAttrValue, str_of(attrs[i].text), arena, &value, &status), status))
      CHECK_OK(node_def_set_attr(def, arena, attrs[i].name, value, &status), status);
  }
  CHECK_OK(graph_add_operation(graph, def, inputs, num_inputs, NULL, 0, &node, &status), status);
  arena_free(arena);
  return node;
}

static Node *scale_loop(Graph *graph, const char *name, const char *body, NodeOutput n, NodeOutput x,
                        NodeOutput v) {
  char text[64];
  snprintf(text, sizeof text, "func { name: \"%s\" }", body);
  NodeOutput inputs[] = {n, x, v};
  Attr attrs[] = {{"cond", "func { name: \"More\" }"},
                  {"body", text},
                  {"T", "list { type: DT_INT32 type: DT_FLOAT type: DT_RESOURCE }"}};
  return add_call(graph, "While", name, inputs, 3, attrs, 3);
}

/* x v^n */
TEST(gradients_reach_variables_through_loops) {
  Fixture f;
  REQUIRE(begin_with_library(&f));
  NodeOutput x = scalar(f.graph, "x", 1.5f), v = variable(&f, "v", 0.5f), n = whole(f.graph, "n", 3);
  Node *loop = scale_loop(f.graph, "loop", "Scale", n, x, v);
  NodeOutput y = {loop, 1}, xs[] = {x, v, n}, dxs[3], second[2], dy = scalar(f.graph, "dy", 2);
  REQUIRE_OK(graph_add_gradients(f.graph, &y, 1, xs, 3, NULL, NULL, dxs, &f.status), &f.status);
  CHECK_NEAR(fetch(&f, y), 1.5 * 0.125, 1e-6);
  CHECK_NEAR(fetch(&f, dxs[0]), 0.125, 1e-6);
  CHECK_NEAR(fetch(&f, dxs[1]), 3 * 1.5 * 0.25, 1e-6);
  CHECK(!dxs[2].node);
  CHECK_INT_EQ(shape_rank(graph_output_shape(dxs[0])), 0);
  CHECK(text_starts_with(dxs[0].node->name, "gradients/loop_grad/"));
  /* d^2 y / dx dv = n v^(n-1), d^2 y / dv^2 = n (n - 1) x v^(n-2) */
  REQUIRE_OK(graph_add_gradients(f.graph, &dxs[1], 1, xs, 2, NULL, NULL, second, &f.status), &f.status);
  CHECK_NEAR(fetch(&f, second[0]), 3 * 0.25, 1e-6);
  CHECK_NEAR(fetch(&f, second[1]), 6 * 1.5 * 0.5, 1e-6);
  REQUIRE_OK(graph_add_gradients(f.graph, &y, 1, xs, 2, &dy, &(GradientOptions){.scope = "mine"}, dxs,
                                 &f.status),
             &f.status);
  CHECK_NEAR(fetch(&f, dxs[0]), 0.25, 1e-6);
  CHECK_NEAR(fetch(&f, dxs[1]), 2 * 3 * 1.5 * 0.25, 1e-6);
  end(&f);
}

/* x v (v + 1) (v + 2): side effects of the body happen once, and its gradient uses the values read then. */
TEST(bodies_have_their_effects_once) {
  Fixture f;
  REQUIRE(begin_with_library(&f));
  NodeOutput x = scalar(f.graph, "x", 1.5f), v = variable(&f, "v", 2), n = whole(f.graph, "n", 3);
  Node *loop = scale_loop(f.graph, "loop", "Count", n, x, v);
  Attr type[] = {{"dtype", "type: DT_FLOAT"}};
  NodeOutput y = {loop, 1}, dx, read = out(add_node(f.graph, "ReadVariableOp", "read", &v, 1, type, 1));
  REQUIRE_OK(graph_add_gradients(f.graph, &y, 1, &x, 1, NULL, NULL, &dx, &f.status), &f.status);
  for (int i = 0; i < 3; i++) {
    float from = 2 + 3 * (float)i;
    CHECK_NEAR(fetch(&f, read), from, 0);
    Tensor values[2] = {{0}};
    NodeOutput fetches[] = {y, dx};
    if (CHECK_OK(session_run(f.session, NULL, NULL, 0, fetches, values, 2, NULL, 0, &f.status), f.status)) {
      CHECK_NEAR(tensor_f32(&values[0])[0], 1.5 * from * (from + 1) * (from + 2), 1e-3);
      CHECK_NEAR(tensor_f32(&values[1])[0], from * (from + 1) * (from + 2), 1e-3);
    }
    tensor_clear(&values[0]);
    tensor_clear(&values[1]);
  }
  end(&f);
}

/* Equal helper functions are in the library once. */
TEST(gradients_of_the_same_loop_share_their_functions) {
  Fixture f;
  REQUIRE(begin_with_library(&f));
  NodeOutput x = scalar(f.graph, "x", 1.5f), v = variable(&f, "v", 0.5f), y = x, dx;
  for (int i = 0; i < 3; i++) {
    char name[16];
    snprintf(name, sizeof name, "loop%d", i);
    y = (NodeOutput){scale_loop(f.graph, name, "Scale",
                                whole(f.graph,
                                      i == 0   ? "a"
                                      : i == 1 ? "b"
                                               : "c",
                                      i),
                                y, v),
                     1};
  }
  int64_t before = graph_num_functions(f.graph);
  REQUIRE_OK(graph_add_gradients(f.graph, &y, 1, &x, 1, NULL, NULL, &dx, &f.status), &f.status);
  CHECK_INT_EQ(graph_num_functions(f.graph) - before, 3);
  CHECK_NEAR(fetch(&f, dx), 0.125, 1e-6);
  /* The loops keep the intermediates: only the backward pass through their new bodies adds a function,
   * once. */
  int num_outputs = y.node->num_outputs;
  for (int i = 0; i < 3; i++) {
    REQUIRE_OK(graph_add_gradients(f.graph, &y, 1, &x, 1, NULL, NULL, &dx, &f.status), &f.status);
    CHECK_INT_EQ(graph_num_functions(f.graph) - before, 4);
    CHECK_INT_EQ(y.node->num_outputs, num_outputs);
    CHECK_NEAR(fetch(&f, dx), 0.125, 1e-6);
  }
  end(&f);
}

/* No gradient if no branch uses a value; zeros if one does not. */
TEST(gradients_of_branches_flow_where_one_does) {
  Fixture f;
  REQUIRE(begin_with_library(&f));
  NodeOutput x = scalar(f.graph, "x", 3), y = scalar(f.graph, "y", 4), v = variable(&f, "v", 0.5f), dxs[3];
  for (int c = 0; c < 2; c++) {
    CHECK_CONTEXT("condition %d", c);
    NodeOutput inputs[] = {whole(f.graph, c == 0 ? "no" : "yes", c), x, y, v}, *xs = inputs + 1;
    Attr attrs[] = {{"then_branch", "func { name: \"Read\" }"},
                    {"else_branch", "func { name: \"Same\" }"},
                    {"Tout", "list { type: DT_FLOAT }"},
                    {"Tin", "list { type: DT_FLOAT type: DT_FLOAT type: DT_RESOURCE }"},
                    {"Tcond", "type: DT_INT32"}};
    NodeOutput z = out(add_call(f.graph, "If", c == 0 ? "if0" : "if1", inputs, 4, attrs, 5));
    REQUIRE_OK(graph_add_gradients(f.graph, &z, 1, xs, 3, NULL, NULL, dxs, &f.status), &f.status);
    CHECK_NEAR(fetch(&f, dxs[0]), c == 0 ? 1 : 0.5, 1e-6);
    CHECK(!dxs[1].node);
    CHECK_NEAR(fetch(&f, dxs[2]), c == 0 ? 0 : 3, 1e-6);
  }
  end(&f);
}

/* A loop that keeps values for its gradient has more outputs, and as many output_shapes, unless it has
 * none. */
TEST(shapes_that_a_loop_names_grow_with_its_outputs) {
  Fixture f;
  REQUIRE(begin_with_library(&f));
  NodeOutput inputs[] = {whole(f.graph, "n", 3), scalar(f.graph, "x", 1.5f), variable(&f, "v", 0.5f)}, dx;
  for (int named = 0; named < 2; named++) {
    CHECK_CONTEXT("named %d", named);
    Attr attrs[] = {{"cond", "func { name: \"More\" }"},
                    {"body", "func { name: \"Scale\" }"},
                    {"T", "list { type: DT_INT32 type: DT_FLOAT type: DT_RESOURCE }"},
                    {"output_shapes", "list { shape { } shape { } shape { } }"}};
    Node *loop = add_call(f.graph, "While", named ? "named" : "unnamed", inputs, 3, attrs, 3 + named);
    NodeOutput y = {loop, 1};
    REQUIRE_OK(graph_add_gradients(f.graph, &y, 1, &inputs[1], 1, NULL, NULL, &dx, &f.status), &f.status);
    CHECK(loop->num_outputs > 3);
    const AttrValue *shapes = node_def_attr(loop->def, "output_shapes");
    int64_t count = !shapes || !shapes->list ? 0 : (int64_t)shapes->list->n_shape;
    CHECK_INT_EQ(count, named ? loop->num_outputs : 0);
    for (int64_t i = 0; i < count; i++) CHECK_INT_EQ(shapes->list->shape[i]->unknown_rank, i >= 3);
    CHECK_NEAR(fetch(&f, dx), 0.125, 1e-6);
  }
  end(&f);
}

/* Functions that keep values for gradients have names with _forward, and their derivatives are named after
 * the originals. */
TEST(names_of_bodies_do_not_grow_with_every_gradient) {
  Fixture f;
  REQUIRE(begin_with_library(&f));
  NodeOutput x = scalar(f.graph, "x", 1.5f), v = variable(&f, "v", 0.5f), dx;
  NodeOutput y = {scale_loop(f.graph, "loop", "Scale", whole(f.graph, "n", 3), x, v), 1};
  for (int i = 0; i < 3; i++) {
    REQUIRE_OK(graph_add_gradients(f.graph, &y, 1, &v, 1, NULL, NULL, &dx, &f.status), &f.status);
    y = dx;
  }
  CHECK_NEAR(fetch(&f, y), 6 * 1.5, 1e-5); /* the third derivative of x v^3 */
  for (int64_t i = 0; i < graph_num_functions(f.graph); i++) {
    const char *name = graph_function(f.graph, i)->signature->name, *first = strstr(name, "_forward");
    CHECK_CONTEXT("%s", name);
    CHECK(!first || !strstr(first + 1, "_forward"));
    CHECK(!first || !strstr(first, "_grad"));
  }
  end(&f);
}

/* No gradient for a variable that branches, loops and functions take but do not use. */
TEST(variables_that_nothing_looks_at_have_no_gradients) {
  Fixture f;
  REQUIRE(begin_with_library(&f));
  NodeOutput x = scalar(f.graph, "x", 3), y = scalar(f.graph, "y", 4), v = variable(&f, "v", 0.5f), dxs[3];
  NodeOutput inputs[] = {whole(f.graph, "n", 3), x, y, v}, *xs = inputs + 1;
  Attr types = {"Tin", "list { type: DT_FLOAT type: DT_FLOAT type: DT_RESOURCE }"},
       type = {"Tout", "list { type: DT_FLOAT }"};
  Attr branches[] = {{"then_branch", "func { name: \"Same\" }"},
                     {"else_branch", "func { name: \"Same\" }"},
                     type,
                     types,
                     {"Tcond", "type: DT_INT32"}};
  Attr call[] = {{"f", "func { name: \"Same\" }"}, type, types};
  NodeOutput zs[] = {out(add_call(f.graph, "If", "if", inputs, 4, branches, 5)),
                     {scale_loop(f.graph, "loop", "Double", inputs[0], x, v), 1},
                     out(add_call(f.graph, "PartitionedCall", "call", xs, 3, call, 3))};
  static const double kSlopes[] = {1, 8, 1};
  for (int i = 0; i < 3; i++) {
    CHECK_CONTEXT("%s", zs[i].node->name);
    REQUIRE_OK(graph_add_gradients(f.graph, &zs[i], 1, xs, 3, NULL, NULL, dxs, &f.status), &f.status);
    CHECK_NEAR(fetch(&f, dxs[0]), kSlopes[i], 0);
    CHECK(!dxs[1].node && !dxs[2].node);
  }
  end(&f);
}

TEST(gradients_of_functions_fail_as_a_whole) {
  Fixture f;
  REQUIRE(begin_with_library(&f));
  NodeOutput x = scalar(f.graph, "x", 3), v = variable(&f, "v", 0.5f), n = whole(f.graph, "n", 2), dx;
  NodeOutput inner = {scale_loop(f.graph, "inner", "Missing", n, x, v), 1},
             y = {scale_loop(f.graph, "outer", "Scale", n, inner, v), 1};
  NodeOutput wrong = {scale_loop(f.graph, "wrong", "More", n, x, v), 1};
  int64_t nodes = graph_num_nodes(f.graph), functions = graph_num_functions(f.graph);
  CHECK_ERROR(graph_add_gradients(f.graph, &y, 1, &x, 1, NULL, NULL, &dx, &f.status), &f.status,
              CODE_NOT_FOUND, "Function Missing is not defined.");
  status_init(&f.status);
  CHECK_ERROR(graph_add_gradients(f.graph, &wrong, 1, &x, 1, NULL, NULL, &dx, &f.status), &f.status,
              CODE_INVALID_ARGUMENT, "While loop body returned 1 arguments. Expected: 3");
  status_init(&f.status);
  NodeOutput branch[] = {x, x};
  Attr attrs[] = {{"then_branch", "func { name: \"Down\" }"},
                  {"else_branch", "func { name: \"Down\" }"},
                  {"Tout", "list { type: DT_FLOAT }"},
                  {"Tin", "list { type: DT_FLOAT }"},
                  {"Tcond", "type: DT_FLOAT"}};
  NodeOutput down = out(add_call(f.graph, "If", "down", branch, 2, attrs, 5));
  CHECK_ERROR(graph_add_gradients(f.graph, &down, 1, &x, 1, NULL, NULL, &dx, &f.status), &f.status,
              CODE_INVALID_ARGUMENT, "is it recursive?");
  CHECK_INT_EQ(graph_num_nodes(f.graph), nodes + 1);
  CHECK_INT_EQ(graph_num_functions(f.graph), functions);
  end(&f);
}

TEST(gradients_of_loops_survive_failing_allocations) {
  for (int64_t after = 0; after < 6000; after += after < 200 ? 1 : 53) {
    Fixture f;
    if (!begin_with_library(&f)) return;
    NodeOutput x = scalar(f.graph, "x", 3), v = variable(&f, "v", 0.5f), n = whole(f.graph, "n", 2), dx;
    NodeOutput y = {scale_loop(f.graph, "loop", "Scale", n, x, v), 1};
    int64_t nodes = graph_num_nodes(f.graph), functions = graph_num_functions(f.graph);
    mem_fail_after(after);
    bool ok = graph_add_gradients(f.graph, &y, 1, &x, 1, NULL, NULL, &dx, &f.status);
    mem_fail_after(-1);
    CHECK_CONTEXT("after %d", (int)after);
    if (!ok) {
      CHECK_INT_EQ(f.status.code, CODE_RESOURCE_EXHAUSTED);
      CHECK_INT_EQ(graph_num_nodes(f.graph), nodes);
      CHECK_INT_EQ(graph_num_functions(f.graph), functions);
      status_init(&f.status);
      CHECK_OK(graph_add_gradients(f.graph, &y, 1, &x, 1, NULL, NULL, &dx, &f.status), &f.status);
    }
    end(&f);
  }
}
