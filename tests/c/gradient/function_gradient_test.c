#include "gradient/function_gradient.h"

#include "function/graph_to_function.h"
#include "gradient/gradient_fixture.h"
#include "op/op_registry.h"
#include "splice_function.h"

static bool differentiate(Graph *library, const char *text, const char *attrs, Arena *arena,
                          FunctionDef **gradient, Status *status) {
  FunctionDef *function, *values;
  char holder[256];
  snprintf(holder, sizeof holder, "F() -> () { n = Op[%s]() }", attrs);
  if (!CHECK_OK(function_parse(str_of(text), arena, &function, status), status)) return false;
  if (!CHECK_OK(function_parse(str_of(holder), arena, &values, status), status)) return false;
  const NodeDef *node = values->node_def[0];
  return function_gradient(library, function, (const AttrEntry *const *)node->attr, (int)node->n_attr, NULL,
                           arena, gradient, status);
}

TEST(function_gradient_is_a_function_that_reads) {
  Status status;
  status_init(&status);
  Arena *arena = arena_new();
  FunctionDef *gradient;
  REQUIRE_OK(differentiate(NULL,
                           "Poly[T:{float, double}](x:T, w:T, n:int32) -> (y:T) {\n  s = Square[T=$T](x)\n  "
                           "y = Mul[T=$T](s:y:0, w)\n"
                           "  return y = y:z:0\n}",
                           "T=double", arena, &gradient, &status),
             &status);
  StrBuf text = {0};
  function_print(gradient, &text);
  CHECK_STR_EQ(strbuf_text(&text),
               "\nPolyGrad(x:double, w:double, n:int32, dy:double) -> (dx:double, dw:double, dn:int32) {\n"
               "  s = Square[T=double](x)\n"
               "  y_grad/gx = Mul[T=double](dy, w)\n"
               "  y_grad/gy = Mul[T=double](s:y:0, dy)\n"
               "  s_grad/x2 = Add[T=double](x, x)\n"
               "  s_grad/dx = Mul[T=double](y_grad/gx:z:0, s_grad/x2:z:0)\n"
               "  ZerosLike = ZerosLike[T=int32](n)\n"
               "  return dx = s_grad/dx:z:0\n"
               "  return dw = y_grad/gy:z:0\n"
               "  return dn = ZerosLike:y:0\n}\n");
  FunctionBody *body = NULL;
  CHECK_OK(function_body_new(NULL, gradient, NULL, 0, &body, &status), &status);
  function_body_free(body);
  strbuf_free(&text);
  arena_free(arena);
}

/* g(x, dy) inlined must be the derivative of f inlined; likewise for the gradient of the gradient. */
TEST(function_gradient_computes_derivatives) {
  static const char *text =
      "F(x:double, w:double) -> (y:double, z:double) {\n  t = Tanh[T=double](x)\n  sc = SinCos[T=double](w)\n"
      "  y = Mul[T=double](t:y:0, sc:sine:0)\n  z = Add[T=double](y:z:0, sc:cosine:0)\n  return y = y:z:0\n  "
      "return z = z:z:0\n}";
  Status status;
  status_init(&status);
  Arena *arena = arena_new();
  Graph *graph = graph_new();
  FunctionDef *function, *gradient;
  REQUIRE_OK(function_parse(str_of(text), arena, &function, &status), &status);
  REQUIRE_OK(function_gradient(NULL, function, NULL, 0, "G", arena, &gradient, &status), &status);
  NodeOutput xs[] = {placeholder(graph, "x"), placeholder(graph, "w")}, ys[2], dxs[2];
  REQUIRE_OK(splice_function(graph, function, xs, "f", ys, &status), &status);
  NodeOutput loss = binary(graph, "loss", "Add", unary(graph, "square", "Square", ys[0]), ys[1]);
  /* d loss / d ys = 2 y, 1 */
  NodeOutput one = unary(graph, "one", "OnesLike", ys[1]),
             dys[] = {binary(graph, "twice", "Add", ys[0], ys[0]), one};
  NodeOutput inputs[] = {xs[0], xs[1], dys[0], dys[1]};
  REQUIRE_OK(splice_function(graph, gradient, inputs, "g", dxs, &status), &status);
  check_central(graph, loss, xs, dxs, (double[]){0.4, 1.2}, 2);
  NodeOutput ddxs[2];
  REQUIRE_OK(graph_add_gradients(graph, &dxs[0], 1, xs, 2, NULL, NULL, ddxs, &status), &status);
  check_central(graph, dxs[0], xs, ddxs, (double[]){0.4, 1.2}, 2);
  graph_free(graph);
  arena_free(arena);
}

TEST(function_gradient_of_arguments_returned_as_they_are) {
  Status status;
  status_init(&status);
  Arena *arena = arena_new();
  FunctionDef *gradient;
  REQUIRE_OK(differentiate(NULL,
                           "F(x:double, r:resource) -> (y:double, z:double) {\n  return y = x\n  return z = "
                           "x\n}",
                           "", arena, &gradient, &status),
             &status);
  StrBuf text = {0};
  function_print(gradient, &text);
  CHECK_STR_EQ(strbuf_text(&text),
               "\nFGrad(x:double, r:resource, dy:double, dz:double) -> (dx:double, dr:float) {\n"
               "  AddN = AddN[N=2, T=double](dy, dz)\n"
               "  zero = Const[dtype=float, value=Tensor<type: float shape: [] values: 0>]()\n"
               "  return dx = AddN:sum:0\n  return dr = zero:output:0\n}\n");
  strbuf_free(&text);
  arena_free(arena);
}

TEST(op_gradient_gives_the_text_of_an_op) {
  Status status;
  status_init(&status);
  Arena *arena = arena_new();
  FunctionDef *holder;
  REQUIRE_OK(function_parse(str_of("F() -> () { m = Mul[T=float]()\n s = Shape[T=float]()\n n = "
                                   "NoGradientKnown[T=float]() }"),
                            arena, &holder, &status),
             &status);
  const FunctionDef *gradient;
  REQUIRE_OK(op_gradient(NULL, op_registry_find(op_registry_global(), "Mul"), holder->node_def[0], arena,
                         &gradient, &status),
             &status);
  CHECK_STR_EQ(gradient->signature->name, "MulGrad");
  REQUIRE_OK(op_gradient(NULL, op_registry_find(op_registry_global(), "Shape"), holder->node_def[1], arena,
                         &gradient, &status),
             &status);
  CHECK(!gradient);
  CHECK_ERROR(op_gradient(NULL, op_registry_find(op_registry_global(), "NoGradientKnown"),
                          holder->node_def[2], arena, &gradient, &status),
              &status, CODE_NOT_FOUND, "No gradient defined for op: NoGradientKnown");
  arena_free(arena);
}

/* A complete example: the gradient of a loss, as function text. */
TEST(gradient_of_a_loss_as_function_text) {
  Status status;
  status_init(&status);
  Arena *arena = arena_new();
  Graph *graph = graph_new();
  NodeOutput x = placeholder(graph, "x"), w = placeholder(graph, "w"), dw;
  NodeOutput loss = unary(graph, "loss", "Square", binary(graph, "y", "Mul", x, w));
  REQUIRE_OK(graph_add_gradients(graph, &loss, 1, &w, 1, NULL, NULL, &dw, &status), &status);
  NodeOutput inputs[] = {x, w};
  const char *const names[] = {"dw"};
  GraphToFunctionOptions options = {.name = "LossGrad",
                                    .inputs = inputs,
                                    .num_inputs = 2,
                                    .outputs = &dw,
                                    .num_outputs = 1,
                                    .output_names = names};
  FunctionDef *function;
  REQUIRE_OK(graph_to_function(graph, &options, arena, &function, &status), &status);
  StrBuf text = {0};
  function_print(function, &text);
  CHECK_STR_EQ(strbuf_text(&text),
               "\nLossGrad(x:double, w:double) -> (dw:double) {\n"
               "  y = Mul[T=double](x, w)\n"
               "  loss = Square[T=double](y:z:0)\n"
               "  gradients/OnesLike = OnesLike[T=double](loss:y:0)\n"
               "  gradients/loss_grad/x2 = Add[T=double](y:z:0, y:z:0)\n"
               "  gradients/loss_grad/dx = Mul[T=double](gradients/OnesLike:y:0, "
               "gradients/loss_grad/x2:z:0)\n"
               "  gradients/y_grad/gy = Mul[T=double](x, gradients/loss_grad/dx:z:0)\n"
               "  return dw = gradients/y_grad/gy:z:0\n}\n");
  strbuf_free(&text);
  graph_free(graph);
  arena_free(arena);
}
