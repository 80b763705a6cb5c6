/* Functions made from descriptions: TensorFlow's examples, and invalid ones. */
#include "function/function_def_builder.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "function/text/function_text.h"
#include "function/function_body.h"
#include "harness.h"

#define NAMES(...) ((const char *const[]){__VA_ARGS__, NULL})
#define ATTRS(...)                              \
  .attrs = (const FunctionAttr[]){__VA_ARGS__}, \
  .num_attrs = sizeof((const FunctionAttr[]){__VA_ARGS__}) / sizeof(FunctionAttr)

static AttrValue *int32_scalar(int32_t value, Arena *arena) {
  Status status;
  status_init(&status);
  Tensor tensor = {0};
  TensorProto *proto = NULL;
  CHECK_OK(tensor_allocate_dims(&tensor, DT_INT32, 0, NULL, NULL, &status), &status);
  tensor_i32(&tensor)[0] = value;
  CHECK_OK(tensor_to_proto(&tensor, arena, &proto, &status), &status);
  tensor_clear(&tensor);
  return attr_value_tensor(arena, proto);
}

static AttrValue *types(Arena *arena, int count) {
  static const int kFloats[] = {DT_FLOAT, DT_FLOAT};
  return attr_value_type_list(arena, kFloats, (size_t)count);
}

static void check_text(const FunctionDef *function, const char *want) {
  StrBuf text = {0};
  function_print(function, &text);
  CHECK_STR_EQ(strbuf_text(&text), want);
  strbuf_free(&text);
}

/* Prints the function, and its body with the attrs of a node in protobuf text format. */
static void check_example(const FunctionDef *function, const char *attrs, const char *printed,
                          const char *body, Arena *arena) {
  Status status;
  status_init(&status);
  void *node = NULL;
  FunctionBody *result = NULL;
  check_text(function, printed);
  REQUIRE_OK(proto_parse_text(kNodeDef, str_of(attrs), arena, &node, &status), &status);
  const NodeDef *bindings = node;
  REQUIRE_OK(function_body_new(NULL, function, (const AttrEntry *const *)bindings->attr,
                               (int)bindings->n_attr, &result, &status),
             &status);
  StrBuf text = {0};
  CHECK_OK(function_body_print(result, &text, &status), &status);
  function_body_free(result);
  CHECK_STR_EQ(strbuf_text(&text), body);
  strbuf_free(&text);
}

static FunctionDef *create(const FunctionSpec *spec, Arena *arena) {
  Status status;
  status_init(&status);
  FunctionDef *function = NULL;
  CHECK_OK(function_create(spec, NULL, arena, &function, &status), &status);
  return function;
}

static FunctionDef *define(const FunctionSpec *spec, Arena *arena) {
  Status status;
  status_init(&status);
  FunctionDef *function = NULL;
  CHECK_OK(function_define(spec, NULL, arena, &function, &status), &status);
  return function;
}

/* --- TensorFlow's examples --- */

TEST(example_square_plus_one) {
  Arena *arena = arena_new();
  AttrValue *t = function_attr_text(arena, "$T");
  const FunctionNode nodes[] = {
      {.rets = NAMES("a"), .op = "Square", .args = NAMES("x"), ATTRS({"T", t})},
      {.rets = NAMES("o"), .op = "One", ATTRS({"T", t})},
      {.rets = NAMES("y"), .op = "Add", .args = NAMES("a:y", "o:y"), ATTRS({"T", t})},
  };
  const FunctionReturn returns[] = {{"y", "y:z:0"}};
  const FunctionDef *function = create(&(FunctionSpec){.name = "SquarePlusOne",
                                                       .args = NAMES("x: T"),
                                                       .rets = NAMES("y: T"),
                                                       .attrs = NAMES("T: {float, double, int32, int64}"),
                                                       .nodes = nodes,
                                                       .num_nodes = 3,
                                                       .returns = returns,
                                                       .num_returns = 1},
                                       arena);
  REQUIRE(function);
  check_example(function, "attr { key: 'T' value { type: DT_FLOAT } }",
                "\nSquarePlusOne[T:{float, double, int32, int64}](x:T) -> (y:T) {\n"
                "  a = Square[T=$T](x)\n"
                "  o = One[T=$T]()\n"
                "  y = Add[T=$T](a:y, o:y)\n"
                "  return y = y:z:0\n"
                "}\n",
                "\n(x:float) -> (y:float) {\n"
                "  a = Square[T=float](x)\n"
                "  o = One[T=float]()\n"
                "  y = Add[T=float](a, o)\n"
                "}\n",
                arena);
  arena_free(arena);
}

TEST(example_control_dependency) {
  Arena *arena = arena_new();
  AttrValue *t = attr_value_type(arena, DT_INT32);
  /* Control inputs among the arguments, as TensorFlow's example has them. */
  const FunctionNode nodes[] = {
      {.rets = NAMES("a"), .op = "Identity", .args = NAMES("x"), ATTRS({"T", t})},
      {.rets = NAMES("o"), .op = "NoOp", .args = NAMES("^a")},
      {.rets = NAMES("y"), .op = "Identity", .args = NAMES("a:output:0", "^o"), ATTRS({"T", t})},
  };
  const FunctionReturn returns[] = {{"y", "y:output:0"}};
  const FunctionDef *function = create(&(FunctionSpec){.name = "ControlDep",
                                                       .args = NAMES("x: int32"),
                                                       .rets = NAMES("y: int32"),
                                                       .nodes = nodes,
                                                       .num_nodes = 3,
                                                       .returns = returns,
                                                       .num_returns = 1},
                                       arena);
  REQUIRE(function);
  check_example(function, "attr { key: 'T' value { type: DT_FLOAT } }",
                "\nControlDep(x:int32) -> (y:int32) {\n"
                "  a = Identity[T=int32](x)\n"
                "  o = NoOp() @ a\n"
                "  y = Identity[T=int32](a:output:0) @ o\n"
                "  return y = y:output:0\n"
                "}\n",
                "\n(x:int32) -> (y:int32) {\n"
                "  a = Identity[T=int32](x)\n"
                "  o = NoOp() @ a\n"
                "  y = Identity[T=int32](a) @ o\n"
                "}\n",
                arena);
  arena_free(arena);
}

TEST(example_default_of_an_op) {
  Arena *arena = arena_new();
  const FunctionNode nodes[] = {{.rets = NAMES("a"), .op = "HasDefaultType"}};
  const FunctionReturn returns[] = {{"y", "a:out:0"}};
  const FunctionDef *function = create(&(FunctionSpec){.name = "BackCompat",
                                                       .rets = NAMES("y: float"),
                                                       .nodes = nodes,
                                                       .num_nodes = 1,
                                                       .returns = returns,
                                                       .num_returns = 1},
                                       arena);
  REQUIRE(function);
  check_example(function, "",
                "\nBackCompat() -> (y:float) {\n"
                "  a = HasDefaultType()\n"
                "  return y = a:out:0\n"
                "}\n",
                "\n() -> (a:float) {\n"
                "  a = HasDefaultType[T=float]()\n"
                "}\n",
                arena);
  arena_free(arena);
}

TEST(example_n_times_t) {
  Arena *arena = arena_new();
  const FunctionNode nodes[] = {
      {.rets = NAMES("a"),
       .op = "AddN",
       .args = NAMES("x", "y"),
       ATTRS({"T", attr_value_type(arena, DT_FLOAT)}, {"N", attr_value_int(arena, 2)})},
  };
  const FunctionReturn returns[] = {{"z", "a:sum:0"}};
  const FunctionDef *function = create(&(FunctionSpec){.name = "NTimesT",
                                                       .args = NAMES("x: float", "y: float"),
                                                       .rets = NAMES("z: float"),
                                                       .nodes = nodes,
                                                       .num_nodes = 1,
                                                       .returns = returns,
                                                       .num_returns = 1},
                                       arena);
  REQUIRE(function);
  check_example(function, "",
                "\nNTimesT(x:float, y:float) -> (z:float) {\n"
                "  a = AddN[N=2, T=float](x, y)\n"
                "  return z = a:sum:0\n"
                "}\n",
                "\n(x:float, y:float) -> (a:float) {\n"
                "  a = AddN[N=2, T=float](x, y)\n"
                "}\n",
                arena);
  arena_free(arena);
}

TEST(example_function_among_attrs) {
  Arena *arena = arena_new();
  AttrValue *t = function_attr_text(arena, "$T"), *n = function_attr_text(arena, "$N");
  const FunctionAttr square[] = {{"T", t}};
  const FunctionNode nodes[] = {
      {.rets = NAMES("a"),
       .op = "Map",
       .args = NAMES("x"),
       ATTRS({"func", function_attr_ref(arena, "Square", square, 1)}, {"T", t}, {"U", t}, {"N", n})},
      {.rets = NAMES("y"), .op = "AddN", .args = NAMES("a:y"), ATTRS({"N", n}, {"T", t})},
  };
  const FunctionReturn returns[] = {{"y", "y:sum"}};
  /* Blanks in a spec are ignored. */
  for (const char *arg = "x: N*T\0x: N * T\0"; *arg; arg += strlen(arg) + 1) {
    const FunctionDef *function =
        create(&(FunctionSpec){.name = "AddSquared",
                               .args = NAMES(arg),
                               .rets = NAMES("y: T"),
                               .attrs = NAMES("N:int", "T:{float, double, int32, int64}"),
                               .nodes = nodes,
                               .num_nodes = 2,
                               .returns = returns,
                               .num_returns = 1},
               arena);
    REQUIRE(function);
    check_example(function, "attr { key: 'N' value { i: 3 } } attr { key: 'T' value { type: DT_FLOAT } }",
                  "\nAddSquared[N:int, T:{float, double, int32, int64}](x:N*T) -> (y:T) {\n"
                  "  a = Map[N=$N, T=$T, U=$T, func=Square[T=$T]](x)\n"
                  "  y = AddN[N=$N, T=$T](a:y)\n"
                  "  return y = y:sum\n"
                  "}\n",
                  "\n(x_0:float, x_1:float, x_2:float) -> (y:float) {\n"
                  "  a = Map[N=3, T=float, U=float, func=Square[T=float]](x_0, x_1, x_2)\n"
                  "  y = AddN[N=3, T=float](a, a:1, a:2)\n"
                  "}\n",
                  arena);
  }
  arena_free(arena);
}

TEST(example_arrays_and_lists) {
  Arena *arena = arena_new();
  AttrValue *t = attr_value_type(arena, DT_FLOAT), *two = attr_value_int(arena, 2);
  const FunctionNode nodes[] = {
      {.rets = NAMES("zero"),
       .op = "Const",
       ATTRS({"value", int32_scalar(0, arena)}, {"dtype", attr_value_type(arena, DT_INT32)})},
      {.rets = NAMES("s"),
       .op = "Split",
       .args = NAMES("zero:output:0", "i"),
       ATTRS({"num_split", attr_value_int(arena, 4)}, {"T", t})},
      {.rets = NAMES("l"), .op = "Mul", .args = NAMES("s:output:0", "s:output:1"), ATTRS({"T", t})},
      {.rets = NAMES("r"), .op = "Mul", .args = NAMES("s:output:2", "s:output:3"), ATTRS({"T", t})},
      {.rets = NAMES("x"),
       .op = "_ListToArray",
       .args = NAMES("l:z", "r:z"),
       ATTRS({"N", two}, {"T", t}, {"Tin", types(arena, 2)})},
      {.rets = NAMES("o"), .op = "AddN", .args = NAMES("x:output"), ATTRS({"N", two}, {"T", t})},
  };
  const FunctionReturn returns[] = {{"o", "o:sum:0"}};
  const FunctionDef *function = create(&(FunctionSpec){.name = "Test",
                                                       .args = NAMES("i:float"),
                                                       .rets = NAMES("o:float"),
                                                       .nodes = nodes,
                                                       .num_nodes = 6,
                                                       .returns = returns,
                                                       .num_returns = 1},
                                       arena);
  REQUIRE(function);
  check_example(function, "",
                "\nTest(i:float) -> (o:float) {\n"
                "  zero = Const[dtype=int32, value=Tensor<type: int32 shape: [] values: 0>]()\n"
                "  s = Split[T=float, num_split=4](zero:output:0, i)\n"
                "  l = Mul[T=float](s:output:0, s:output:1)\n"
                "  r = Mul[T=float](s:output:2, s:output:3)\n"
                "  x = _ListToArray[N=2, T=float, Tin={float, float}](l:z, r:z)\n"
                "  o = AddN[N=2, T=float](x:output)\n"
                "  return o = o:sum:0\n"
                "}\n",
                "\n(i:float) -> (o:float) {\n"
                "  zero = Const[dtype=int32, value=Tensor<type: int32 shape: [] values: 0>]()\n"
                "  s = Split[T=float, num_split=4](zero, i)\n"
                "  l = Mul[T=float](s, s:1)\n"
                "  r = Mul[T=float](s:2, s:3)\n"
                "  x = _ListToArray[N=2, T=float, Tin={float, float}](l, r)\n"
                "  o = AddN[N=2, T=float](x, x:1)\n"
                "}\n",
                arena);
  arena_free(arena);
}

TEST(example_branches) {
  Arena *arena = arena_new();
  const FunctionNode nodes[] = {
      {.rets = NAMES("y"),
       .op = "Cond",
       .args = NAMES("x"),
       ATTRS({"Tin", types(arena, 1)}, {"out_types", types(arena, 1)},
             {"cond", function_attr_ref(arena, "MyCond", NULL, 0)},
             {"then_branch", function_attr_ref(arena, "MyThen", NULL, 0)},
             {"else_branch", function_attr_ref(arena, "MyElse", NULL, 0)})},
      {.rets = NAMES("z"),
       .op = "Cond",
       .args = NAMES("y", "y"),
       ATTRS({"Tin", types(arena, 2)}, {"out_types", types(arena, 1)},
             {"cond", function_attr_ref(arena, "MyCond2", NULL, 0)},
             {"then_branch", function_attr_ref(arena, "MyThen2", NULL, 0)},
             {"else_branch", function_attr_ref(arena, "MyElse2", NULL, 0)})},
  };
  const FunctionDef *function = define(&(FunctionSpec){.name = "MySelect",
                                                       .args = NAMES("x:float"),
                                                       .rets = NAMES("z:float"),
                                                       .nodes = nodes,
                                                       .num_nodes = 2},
                                       arena);
  REQUIRE(function);
  check_example(
      function, "",
      "\nMySelect(x:float) -> (z:float) {\n"
      "  y = Cond[Tin={float}, cond=MyCond, else_branch=MyElse, out_types={float}, then_branch=MyThen](x)\n"
      "  z = Cond[Tin={float, float}, cond=MyCond2, else_branch=MyElse2, out_types={float}, "
      "then_branch=MyThen2](y:output:0, y:output:0)\n"
      "  return z = z:output:0\n"
      "}\n",
      "\n(x:float) -> (z:float) {\n"
      "  y = Cond[Tin={float}, cond=MyCond, else_branch=MyElse, out_types={float}, then_branch=MyThen](x)\n"
      "  z = Cond[Tin={float, float}, cond=MyCond2, else_branch=MyElse2, out_types={float}, "
      "then_branch=MyThen2](y, y)\n"
      "}\n",
      arena);
  arena_free(arena);
}

/* --- other features of descriptions --- */

TEST(a_node_that_is_defined_is_named_after_its_first_result) {
  Arena *arena = arena_new();
  Status status;
  status_init(&status);
  Tensor zero = {0};
  CHECK_OK(tensor_allocate_dims(&zero, DT_INT32, 0, NULL, NULL, &status), &status);
  tensor_i32(&zero)[0] = 0;
  AttrValue *t = attr_value_type(arena, DT_DOUBLE);
  FunctionNode nodes[] = {
      {0},
      {.rets = NAMES("a", "b", "c"),
       .op = "Split",
       .args = NAMES("zero", "x"),
       ATTRS({"num_split", attr_value_int(arena, 3)}, {"T", t}),
       .device = "/device:CPU:1"},
      {.rets = NAMES("sine", "cosine"),
       .op = "SinCos",
       .args = NAMES("c"),
       ATTRS({"T", t}),
       .deps = NAMES("a", "x")},
      {.rets = NAMES("sum"),
       .op = "AddN",
       .args = NAMES("b", "sine", "cosine"),
       ATTRS({"N", attr_value_int(arena, 3)}, {"T", t})},
  };
  REQUIRE_OK(function_const_node("zero", &zero, arena, &nodes[0], &status), &status);
  tensor_clear(&zero);
  FunctionSpec spec = {.name = "Parts",
                       .args = NAMES("x: double"),
                       .rets = NAMES("sum: double", "cosine: double", "x2: double"),
                       .nodes = nodes,
                       .num_nodes = 4};
  FunctionDef *function = NULL;
  CHECK(!function_define(&spec, NULL, arena, &function, &status));
  CHECK_STR_EQ(status.message, "Function 'Parts': result 'x2' is no argument, and no result of a node");
  spec.rets = NAMES("sum: double", "cosine: double", "x: double");
  REQUIRE_OK(function_define(&spec, NULL, arena, &function, &status), &status);
  check_text(function,
             "\nParts(x:double) -> (sum:double, cosine:double, x:double) {\n"
             "  zero = Const[dtype=int32, value=Tensor<type: int32 shape: [] values: 0>]()\n"
             "  a = Split[T=double, num_split=3, device=/device:CPU:1](zero:output:0, x)\n"
             "  sine = SinCos[T=double](a:output:2) @ a, x\n"
             "  sum = AddN[N=3, T=double](a:output:1, sine:sine:0, sine:cosine:0)\n"
             "  return sum = sum:sum:0\n"
             "  return cosine = sine:cosine:0\n"
             "  return x = x\n"
             "}\n");
  CHECK(!function->signature->is_stateful);
  arena_free(arena);
}

TEST(functions_are_stateful_when_an_op_is) {
  static const struct {
    const char *op;
    bool by_create, by_define; /* by_define counts only where the op is known */
    bool known;
  } kCases[] = {{"NoOp", false, false, true},
                {"VarHandleOp", true, true, true},
                {"NobodyKnows", true, false, false}};
  Status status;
  status_init(&status);
  Arena *arena = arena_new();
  for (size_t i = 0; i < sizeof kCases / sizeof *kCases; i++) {
    CHECK_CONTEXT("%s", kCases[i].op);
    const FunctionNode nodes[] = {{.rets = NAMES("n"), .op = kCases[i].op}};
    const FunctionSpec spec = {.name = "F", .nodes = nodes, .num_nodes = 1};
    FunctionDef *function = NULL;
    CHECK_OK(function_create(&spec, NULL, arena, &function, &status), &status);
    CHECK_INT_EQ(function->signature->is_stateful, kCases[i].by_create);
    bool ok = function_define(&spec, NULL, arena, &function, &status);
    CHECK_INT_EQ(ok, kCases[i].known);
    if (ok) CHECK_INT_EQ(function->signature->is_stateful, kCases[i].by_define);
    if (!ok) CHECK_INT_EQ(status.code, CODE_NOT_FOUND);
  }
  CHECK_CONTEXT("%s", "");
  /* A function of a library can be used like other ops. */
  FunctionLibraryDefinition *library = function_library_new(op_registry_global(), NULL);
  FunctionDef *callee = NULL, *caller = NULL;
  CHECK_OK(function_parse(str_of("NobodyKnows(x:float) -> (y:float, z:float) {\n  return y = x\n  return z = "
                                 "x\n}"),
                          arena, &callee, &status),
           &status);
  CHECK_OK(function_library_add_function(library, callee, &status), &status);
  const FunctionNode nodes[] = {{.rets = NAMES("a", "b"), .op = "NobodyKnows", .args = NAMES("x")}};
  const FunctionSpec spec = {.name = "F",
                             .args = NAMES("x: float"),
                             .rets = NAMES("b: float"),
                             .nodes = nodes,
                             .num_nodes = 1};
  REQUIRE_OK(function_define(&spec, library, arena, &caller, &status), &status);
  CHECK(!caller->signature->is_stateful);
  CHECK_STR_EQ(caller->ret[0]->value, "a:z:0");
  function_library_free(library);
  arena_free(arena);
}

TEST(control_returns_stand_in_signature_and_function) {
  Arena *arena = arena_new();
  const FunctionNode nodes[] = {{.rets = NAMES("n"), .op = "NoOp", .deps = NAMES("x")}};
  const FunctionReturn returns[] = {{"y", "x"}}, controls[] = {{"done", "n"}};
  const FunctionDef *function = create(&(FunctionSpec){.name = "F",
                                                       .args = NAMES("x: float"),
                                                       .rets = NAMES("y: float"),
                                                       .nodes = nodes,
                                                       .num_nodes = 1,
                                                       .returns = returns,
                                                       .num_returns = 1,
                                                       .control_returns = controls,
                                                       .num_control_returns = 1},
                                       arena);
  REQUIRE(function);
  CHECK_INT_EQ(function->signature->n_control_output, 1);
  CHECK_STR_EQ(function->signature->control_output[0], "done");
  check_text(function,
             "\nF(x:float) -> (y:float) {\n"
             "  n = NoOp() @ x\n"
             "  @return done = n\n"
             "  return y = x\n"
             "}\n");
  arena_free(arena);
}

TEST(texts_of_attrs_may_be_placeholders) {
  Arena *arena = arena_new();
  CHECK_INT_EQ(function_attr_text(arena, "$T")->value_case, ATTR_PLACEHOLDER);
  CHECK_STR_EQ(function_attr_text(arena, "$T")->placeholder, "T");
  for (const char *text = "T\0$\0T$\0"; *text; text += strlen(text) + 1) {
    const AttrValue *value = function_attr_text(arena, text);
    CHECK_INT_EQ(value->value_case, ATTR_STRING);
    CHECK_INT_EQ(value->s.len, strlen(text));
  }
  CHECK_INT_EQ(function_attr_text(arena, "")->s.len, 0);
  arena_free(arena);
}

TEST(descriptions_that_are_refused) {
  Arena *arena = arena_new();
  AttrValue *t = attr_value_type(arena, DT_FLOAT);
  const FunctionNode
      unknown_input[] = {{.rets = NAMES("n"), .op = "Square", .args = NAMES("z"), ATTRS({"T", t})}},
      later_input[] = {{.rets = NAMES("n"), .op = "Square", .args = NAMES("m"), ATTRS({"T", t})},
                       {.rets = NAMES("m"), .op = "Square", .args = NAMES("x"), ATTRS({"T", t})}},
      no_name[] = {{.op = "NoOp"}}, empty_name[] = {{.rets = NAMES(""), .op = "NoOp"}},
      few_names[] = {{.rets = NAMES("s"), .op = "SinCos", .args = NAMES("x"), ATTRS({"T", t})}},
      no_number[] = {{.rets = NAMES("s"), .op = "Split", .args = NAMES("x", "x"), ATTRS({"T", t})}},
      open_number[] = {{.rets = NAMES("s"),
                        .op = "Split",
                        .args = NAMES("x", "x"),
                        ATTRS({"T", t}, {"num_split", function_attr_text(arena, "$N")})}};
  const FunctionNode one_node[] = {{.rets = NAMES("n"), .op = "NoOp"}};
  const FunctionReturn twice_control[] = {{"c", "n"}, {"c", "n"}};
  const FunctionReturn twice[] = {{"y", "x"}, {"y", "x"}};
  const char *const *x = NAMES("x: float"), *const *y = NAMES("y: float");
  const struct {
    bool define;
    FunctionSpec spec;
    const char *message;
  } cases[] = {
      {true,
       {.name = "F", .args = x, .nodes = unknown_input, .num_nodes = 1},
       "Function 'F': node 'n' has no input named 'z': it is no argument, and no result of a node before"},
      {true,
       {.name = "F", .args = x, .nodes = later_input, .num_nodes = 2},
       "node 'n' has no input named 'm'"},
      {true,
       {.name = "F", .args = x, .rets = y},
       "Function 'F': result 'y' is no argument, and no result of a node"},
      {true,
       {.name = "F", .nodes = no_name, .num_nodes = 1},
       "Function 'F': a node of op 'NoOp' has no name"},
      {false,
       {.name = "F", .nodes = no_name, .num_nodes = 1},
       "Function 'F': a node of op 'NoOp' has no name"},
      {false,
       {.name = "F", .nodes = empty_name, .num_nodes = 1},
       "Function 'F': a node of op 'NoOp' has no name"},
      {true,
       {.name = "F", .args = x, .nodes = few_names, .num_nodes = 1},
       "Function 'F': node 's' has no name for its output 'cosine:0', only for 1"},
      {true, {.name = "F", .args = x, .nodes = no_number, .num_nodes = 1}, "num_split"},
      {true,
       {.name = "F", .args = x, .nodes = open_number, .num_nodes = 1},
       "while naming the outputs of node 's' in function 'F'"},
      {false,
       {.name = "F", .args = x, .rets = y, .returns = twice, .num_returns = 2},
       "Function 'F': result 'y' is given twice"},
      {false,
       {.name = "F",
        .nodes = one_node,
        .num_nodes = 1,
        .control_returns = twice_control,
        .num_control_returns = 2},
       "Function 'F': control result 'c' is given twice"},
      {true, {.name = "F", .args = NAMES("x float")}, "from Input(\"x float\") for Op F"},
      {false, {.name = "F", .attrs = NAMES("T: nonsense")}, "from Attr(\"T: nonsense\") for Op F"},
      {false, {.name = "F", .rets = NAMES("y: T")}, "from Output(\"y: T\") for Op F"},
      {false, {.name = ""}, "Op"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    CHECK_CONTEXT("case %d", (int)i);
    Status status;
    status_init(&status);
    FunctionDef *function = NULL;
    Arena *result = arena_new();
    bool ok = (cases[i].define ? function_define : function_create)(&cases[i].spec, NULL, result, &function,
                                                                    &status);
    if (cases[i].spec.name[0] == 0) {
      /* A name is required when the function is added to a library. */
      CHECK(ok);
    } else {
      CHECK(!ok && !function);
      CHECK_INT_EQ(status.code, cases[i].spec.nodes == no_number ? CODE_NOT_FOUND : CODE_INVALID_ARGUMENT);
      if (!CHECK(strstr(status.message, cases[i].message))) printf("  %s\n", status.message);
    }
    arena_free(result);
  }
  CHECK_CONTEXT("%s", "");
  arena_free(arena);
}

TEST(describing_functions_survives_failing_allocations) {
  Status status;
  Arena *arena = arena_new();
  AttrValue *t = function_attr_text(arena, "$T");
  const FunctionNode nodes[] = {
      {.rets = NAMES("a"), .op = "Square", .args = NAMES("x"), ATTRS({"T", t})},
      {.rets = NAMES("y"),
       .op = "Add",
       .args = NAMES("a", "x"),
       ATTRS({"T", t}),
       .deps = NAMES("x"),
       .device = "d"},
  };
  const FunctionSpec spec = {.name = "F",
                             .args = NAMES("x: T"),
                             .rets = NAMES("y: T"),
                             .attrs = NAMES("T: type"),
                             .nodes = nodes,
                             .num_nodes = 2};
  bool ok = false;
  for (int64_t after = 0; !ok; after++) {
    status_init(&status);
    Arena *result = arena_new();
    while (arena_bytes(result) < 1 << 20) arena_alloc(result, 1 << 16);
    int64_t bytes = arena_bytes(result);
    while (arena_bytes(result) == bytes) arena_alloc(result, 64); /* the last block is nearly fresh */
    bytes = arena_bytes(result);
    FunctionDef *function = NULL;
    mem_fail_after(after);
    ok = function_define(&spec, NULL, result, &function, &status);
    mem_fail_after(-1);
    if (!ok) {
      CHECK_INT_EQ(status.code, CODE_RESOURCE_EXHAUSTED);
      CHECK(!function);
      CHECK_INT_EQ(arena_bytes(result), bytes);
    }
    arena_free(result);
    REQUIRE(after < 1000);
  }
  arena_free(arena);
}
