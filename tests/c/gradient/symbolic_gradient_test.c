#include "gradient/symbolic_gradient.h"

#include "gradient/gradient_fixture.h"

static bool gradient_shape(InferenceContext *c, Status *status) {
  (void)status;
  for (int i = 0; i < c->num_outputs; i++) c->outputs[i] = shape_unknown(c);
  return true;
}

const OpRegistration kOpSymbolicGradient = {
    .name = "SymbolicGradient",
    .inputs = {"input: Tin"},
    .outputs = {"output: Tout"},
    .attrs = {"Tin: list(type)", "Tout: list(type)", "f: func"},
    .shape = gradient_shape,
};
const OpRegistration kOpLook = {
    .name = "Look",
    .inputs = {"x: T"},
    .outputs = {"size: int32"},
    .attrs = {"T: type"},
    .shape = gradient_shape,
};

static Graph *new_library(void) {
  static const OpTableRow kTable[] = {{"SymbolicGradient", &kOpSymbolicGradient}, {"Look", &kOpLook}};
  Status status;
  status_init(&status);
  CHECK_OK(op_registry_add_table(op_registry_global(), kTable, 2, &status), &status);
  return graph_new();
}

/* The attrs of a node in function text; in `arena`. */
static const NodeDef *node_of(const char *attrs, Arena *arena, Status *status) {
  FunctionDef *holder = NULL;
  char *text = arena_printf(arena, "F() -> () { n = Op%s() }", attrs);
  CHECK_OK(function_parse(str_of(text), arena, &holder, status), status);
  return !holder ? NULL : holder->node_def[0];
}

static bool instantiate(Graph *library, const char *attrs, FunctionBody **body, Status *status) {
  Arena *arena = arena_new();
  const NodeDef *node = node_of(attrs, arena, status);
  bool ok =
      gradient_instantiate(library, (const AttrEntry *const *)node->attr, (int)node->n_attr, body, status);
  arena_free(arena);
  return ok;
}

static void check_gradient(Graph *library, const char *attrs, const char *want) {
  Status status;
  status_init(&status);
  FunctionBody *body;
  StrBuf text = {0};
  CHECK_CONTEXT("%s", attrs);
  if (!CHECK_OK(instantiate(library, attrs, &body, &status), &status)) return;
  CHECK_OK(function_body_print(body, &text, &status), &status);
  CHECK_STR_EQ(strbuf_text(&text), want);
  strbuf_free(&text);
  function_body_free(body);
}

TEST(symbolic_gradient_of_a_function) {
  Graph *library = new_library();
  add_function(library,
               "Cube[T:{float, double}](x:T) -> (y:T) {\n  s = Square[T=$T](x)\n  y = Mul[T=$T](s:y:0, x)\n"
               "  return y = y:z:0\n}");
  check_gradient(
      library, "[f=Cube[T=float]]",
      "\n(x:float, Func/_0:float) -> (Func/_3:float) {\n"
      "  s = Square[T=float](x)\n"
      "  y = Mul[T=float](s, x)\n"
      "  Func/_1 = SymbolicGradient[Tin={float, float, float}, Tout={float, float}, f=Mul[T=float]](s, x, "
      "Func/_0)\n"
      "  Func/_2 = SymbolicGradient[Tin={float, float}, Tout={float}, f=Square[T=float]](x, Func/_1)\n"
      "  Func/_3 = AddN[N=2, T=float](Func/_1:1, Func/_2)\n"
      "}\n");
  graph_free(library);
}

TEST(symbolic_gradient_is_zero_where_nothing_arrives) {
  Graph *library = new_library();
  add_function(
      library,
      "Parts(x:double, n:int32, b:bool, r:resource, u:double) -> (y:double, m:int32, c:bool, size:int32) {\n"
      "  n2 = Look[T=double](x)\n  stop = StopGradient[T=double](u)\n  y = Add[T=double](x, stop:output:0)\n"
      "  return y = y:z:0\n  return m = n\n  return c = b\n  return size = n2:size:0\n}");
  check_gradient(library, "[f=Parts]",
                 "\n(x:double, n:int32, b:bool, r:resource, u:double, Func/_0:double, Func/_1:int32, "
                 "Func/_2:bool, Func/_3:int32) -> "
                 "(Func/_4:double, Func/_1:int32, Func/_5:bool, Func/_6:float, Func/_7:double) {\n"
                 "  n2 = Look[T=double](x)\n"
                 "  stop = StopGradient[T=double](u)\n"
                 "  y = Add[T=double](x, stop)\n"
                 "  Func/_4 = SymbolicGradient[Tin={double, double, double}, Tout={double, double}, "
                 "f=Add[T=double]](x, stop, Func/_0)\n"
                 "  Func/_5 = ZerosLike[T=bool](b)\n"
                 "  Func/_6 = Const[dtype=float, value=Tensor<type: float shape: [] values: 0>]()\n"
                 "  Func/_7 = ZerosLike[T=double](u)\n"
                 "}\n");
  /* Neither results nor arguments: nothing to do. */
  add_function(library, "Nothing() -> () {\n}");
  check_gradient(library, "[f=Nothing]", "\n() -> () {\n}\n");
  add_function(library, "Unused(x:double) -> () {\n}");
  check_gradient(library, "[f=Unused]",
                 "\n(x:double) -> (Func/_0:double) {\n  Func/_0 = ZerosLike[T=double](x)\n}\n");
  graph_free(library);
}

TEST(symbolic_gradient_of_ops_with_several_outputs) {
  Graph *library = new_library();
  add_function(library,
               "Sine(x:double) -> (y:double) {\n  sc = SinCos[T=double](x)\n  return y = sc:sine:0\n}");
  check_gradient(library, "[f=Sine]",
                 "\n(x:double, Func/_0:double) -> (Func/_2:double) {\n"
                 "  sc = SinCos[T=double](x)\n"
                 "  Func/_1 = ZerosLike[T=double](sc:1)\n"
                 "  Func/_2 = SymbolicGradient[Tin={double, double, double}, Tout={double}, "
                 "f=SinCos[T=double]](x, Func/_0, "
                 "Func/_1)\n"
                 "}\n");
  graph_free(library);
}

TEST(symbolic_gradient_of_variables_has_their_type) {
  Graph *library = new_library();
  add_function(library,
               "Read(r:resource) -> (y:double) {\n  a = ReadVariableOp[dtype=double](r)\n  b = "
               "ReadVariableOp[dtype=double](r)\n"
               "  y = Mul[T=double](a:value:0, b:value:0)\n  return y = y:z:0\n}");
  Status status;
  status_init(&status);
  FunctionBody *body;
  REQUIRE_OK(instantiate(library, "[f=Read]", &body, &status), &status);
  CHECK_INT_EQ(body->num_args, 2);
  CHECK_INT_EQ(body->num_rets, 1);
  CHECK_INT_EQ(body->ret_types[0], DT_DOUBLE);
  CHECK_STR_EQ(body->ret_nodes[0]->inputs[0]->src->def->op, "AddN");
  function_body_free(body);
  graph_free(library);
}

TEST(symbolic_gradient_of_a_gradient) {
  Graph *library = new_library();
  Status status;
  status_init(&status);
  add_function(library, "Twice(x:double) -> (y:double) {\n  y = Square[T=double](x)\n  return y = y:y:0\n}");
  FunctionBody *body, *second;
  REQUIRE_OK(instantiate(library, "[f=Twice]", &body, &status), &status);
  REQUIRE_OK(symbolic_gradient(body, &second, &status), &status);
  CHECK_INT_EQ(second->num_args, 3);
  CHECK_INT_EQ(second->num_rets, 2);
  /* The names of the first gradient are not used again. */
  for (int64_t id = 2; id < graph_num_node_ids(second->graph); id++) {
    const Node *node = graph_node(second->graph, id);
    if (node) CHECK(graph_find_node(second->graph, node->name) == node);
  }
  function_body_free(body);
  function_body_free(second);
  graph_free(library);
}

TEST(symbolic_gradient_of_ops_is_their_gradient) {
  Graph *library = new_library();
  check_gradient(library, "[f=Mul[T=double]]",
                 "\n(x:double, y:double, dz:double) -> (gx:double, gy:double) {\n"
                 "  gx = Mul[T=double](dz, y)\n"
                 "  gy = Mul[T=double](x, dz)\n"
                 "}\n");
  add_function(library, "Mine[T:type](x:T, dy:T) -> (dx:T) {\n  dx = Neg[T=$T](dy)\n  return dx = dx:y:0\n}");
  add_function(library, "F(x:double) -> (y:double) {\n  y = Square[T=double](x)\n  return y = y:y:0\n}");
  Status status;
  status_init(&status);
  REQUIRE_OK(graph_add_gradient_def(library, "Square", "Mine", &status), &status);
  REQUIRE_OK(graph_add_gradient_def(library, "F", "Mine", &status), &status);
  const char *mine = "\n(x:double, dy:double) -> (dx:double) {\n  dx = Neg[T=double](dy)\n}\n";
  check_gradient(library, "[f=Square[T=double]]", mine);
  check_gradient(library, "[f=F[T=double]]", mine);
  graph_free(library);
}

TEST(symbolic_gradient_errors) {
  Status status;
  status_init(&status);
  Graph *library = new_library();
  FunctionBody *body;
  const struct {
    const char *attrs;
    Code code;
    const char *message;
  } cases[] = {
      {"[g=Mul]", CODE_INVALID_ARGUMENT, "SymbolicGradient is missing attr: f"},
      {"[f=3]", CODE_INVALID_ARGUMENT, "SymbolicGradient is missing attr: f"},
      {"[f=SymbolicGradient[g=Mul[T=double]]]", CODE_INVALID_ARGUMENT, "SymbolicGradient is missing attr: f"},
      {"[f=Missing]", CODE_NOT_FOUND, "No gradient defined for op: Missing"},
      {"[f=NoGradientKnown[T=double]]", CODE_NOT_FOUND, "No gradient defined for op: NoGradientKnown"},
      {"[f=Shape[T=double]]", CODE_INVALID_ARGUMENT, "No gradient is defined for Shape"},
      {"[f=Mul]", CODE_NOT_FOUND, "Attr T is not found from "},
      {"[f=Sub[T=double]]", CODE_NOT_FOUND, "Function Gone is not defined."},
  };
  REQUIRE_OK(graph_add_gradient_def(library, "Sub", "Gone", &status), &status);
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    status_init(&status);
    CHECK_ERROR(instantiate(library, cases[i].attrs, &body, &status), &status, cases[i].code,
                cases[i].message);
  }
  /* Each further gradient is larger than the one before, by a factor. */
  StrBuf deep = {0};
  for (int i = 0; i < 20; i++) strbuf_append(&deep, "[f=SymbolicGradient");
  strbuf_append(&deep, "[f=Mul[T=double]]");
  for (int i = 0; i < 20; i++) strbuf_append(&deep, "]");
  status_init(&status);
  CHECK_ERROR(instantiate(library, strbuf_text(&deep), &body, &status), &status, CODE_INVALID_ARGUMENT,
              "SymbolicGradient is nested more than 4 deep in its attr f");
  strbuf_free(&deep);
  /* Without a known gradient the function still has one, which fails when it runs. */
  add_function(library,
               "G(x:double) -> (y:double) {\n  y = NoGradientKnown[T=double](x)\n  return y = y:y:0\n}");
  status_init(&status);
  CHECK_OK(instantiate(library, "[f=G]", &body, &status), &status);
  CHECK_INT_EQ(count_ops(body->graph, "SymbolicGradient"), 1);
  function_body_free(body);
  graph_free(library);
}

TEST(symbolic_gradient_is_linear) {
  enum { LAYERS = 10000 };
  Status status;
  status_init(&status);
  Graph *library = new_library();
  StrBuf text = {0};
  strbuf_append(&text, "Deep(x:double) -> (y:double) {\n  n0 = Neg[T=double](x)\n");
  for (int i = 1; i < LAYERS; i++)
    strbuf_printf(&text, "  n%d = Mul[T=double](n%d:%s:0, x)\n", i, i - 1, i == 1 ? "y" : "z");
  strbuf_printf(&text, "  return y = n%d:z:0\n}", LAYERS - 1);
  add_function(library, strbuf_text(&text));
  strbuf_free(&text);
  FunctionBody *body;
  REQUIRE_OK(instantiate(library, "[f=Deep]", &body, &status), &status);
  CHECK_INT_EQ(count_ops(body->graph, "SymbolicGradient"), LAYERS);
  CHECK_INT_EQ(body->ret_nodes[0]->inputs[0]->src->num_inputs, LAYERS);
  function_body_free(body);
  graph_free(library);
}

TEST(symbolic_gradient_survives_failing_allocations) {
  for (int64_t after = 0; after < 2000; after += after < 300 ? 1 : 7) {
    Status status;
    status_init(&status);
    Graph *library = new_library();
    Arena *arena = arena_new();
    add_function(library,
                 "Cube(x:double) -> (y:double) {\n  s = Square[T=double](x)\n  y = Mul[T=double](s:y:0, x)\n "
                 " return y = y:z:0\n}");
    const NodeDef *node = node_of("[f=Cube]", arena, &status);
    FunctionBody *body;
    mem_fail_after(after);
    bool ok = gradient_instantiate(library, (const AttrEntry *const *)node->attr, (int)node->n_attr, &body,
                                   &status);
    mem_fail_after(-1);
    CHECK_CONTEXT("after %d", (int)after);
    if (ok) function_body_free(body);
    if (!ok) CHECK_INT_EQ(status.code, CODE_RESOURCE_EXHAUSTED);
    arena_free(arena);
    graph_free(library);
  }
}
