#include "function/function_body.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "function/function_canonicalize.h"
#include "function/text/function_text.h"
#include "harness.h"
#include "shortage.h"

/* The attrs of a node written in function text: "T=float, N=2". */
static const NodeDef *bindings(const char *attrs, Arena *arena) {
  Status status;
  status_init(&status);
  FunctionDef *function;
  char text[512];
  snprintf(text, sizeof text, "F() -> () { n = Op[%s]() }", attrs);
  return CHECK_OK(function_parse(str_of(text), arena, &function, &status), &status) ? function->node_def[0]
                                                                                    : NULL;
}

static bool instantiate(const char *text, const char *attrs, Arena *arena, FunctionBody **body,
                        Status *status) {
  FunctionDef *function;
  const NodeDef *values = bindings(attrs, arena);
  if (!CHECK_OK(function_parse(str_of(text), arena, &function, status), status) || !values) return false;
  return function_body_new(NULL, function, (const AttrEntry *const *)values->attr, (int)values->n_attr, body,
                           status);
}

TEST(instantiate_prints_the_bound_body) {
  static const struct {
    const char *text, *attrs, *printed;
  } cases[] = {
      {"SquarePlusOne[T:{float, double, int32, int64}](x:T) -> (y:T) {\n  a = Square[T=$T](x)\n  o = "
       "One[T=$T]()\n"
       "  y = Add[T=$T](a:y, o:y)\n  return y = y:z:0\n}",
       "T=float",
       "\n(x:float) -> (y:float) {\n  a = Square[T=float](x)\n  o = One[T=float]()\n  y = Add[T=float](a, "
       "o)\n}\n"},
      {"ControlDep(x:int32) -> (y:int32) {\n  a = Identity[T=int32](x)\n  o = NoOp() @ a\n  y = "
       "Identity[T=int32](a:output:0) @ o\n"
       "  return y = y:output:0\n}",
       "T=float",
       "\n(x:int32) -> (y:int32) {\n  a = Identity[T=int32](x)\n  o = NoOp() @ a\n  y = Identity[T=int32](a) "
       "@ o\n}\n"},
      {"BackCompat() -> (y:float) {\n  a = HasDefaultType()\n  return y = a:out:0\n}", "",
       "\n() -> (a:float) {\n  a = HasDefaultType[T=float]()\n}\n"},
      /* A list of arguments returned as it is. */
      {"Pass[N:int, T:type](x:N*T) -> (y:N*T) {\n  return y = x\n}", "N=2, T=double",
       "\n(x_0:double, x_1:double) -> (x_0:double, x_1:double) {\n}\n"},
      {"Pick[l:list(type)](x:l) -> (y:float) {\n  n = Neg[T=float](x:1)\n  return y = n:y:0\n}",
       "l={int32, float}", "\n(x_0:int32, x_1:float) -> (n:float) {\n  n = Neg[T=float](x_1)\n}\n"},
      /* Nodes in any order; defaults of the signature. */
      {"Late[T:type = DT_FLOAT](x:T) -> (y:T) {\n  y = Neg[T=$T](s:y:0)\n  s = Square[T=$T](x)\n  return y = "
       "y:y:0\n}",
       "", "\n(x:float) -> (y:float) {\n  y = Neg[T=float](s)\n  s = Square[T=float](x)\n}\n"},
      /* Numbers get the dtype that the function is instantiated with. */
      {"Two[T:type]() -> (y:T) {\n  y = Const[dtype=$T, value=2]()\n  return y = y:output:0\n}", "T=half",
       "\n() -> (y:half) {\n  y = Const[dtype=half, value=Tensor<type: half shape: [] values: 2>]()\n}\n"},
      {"Halves[T:type]() -> (y:T) {\n  y = Const[dtype=$T, value=[0.5, 1]]()\n  return y = y:output:0\n}",
       "T=double",
       "\n() -> (y:double) {\n  y = Const[dtype=double, value=Tensor<type: double shape: [2] values: 0.5 "
       "1>]()\n}\n"},
      /* Placeholders inside function references, and a list without elements. */
      {"Refs[T:type](x:T) -> (y:T) {\n  y = Cond[Tin={float}, out_types={float}, cond=C[a=D[T=$T]], "
       "then_branch=A, else_branch=B](x)\n"
       "  return y = y:output:0\n}",
       "T=float",
       "\n(x:float) -> (y:float) {\n  y = Cond[Tin={float}, cond=C[a=D[T=float]], else_branch=B, "
       "out_types={float}, then_branch=A](x)\n}\n"},
      {"None[l:list(type)](x:l) -> (y:float) {\n  y = Cond[Tin=$l, out_types={float}, cond=C, then_branch=A, "
       "else_branch=B](x)\n"
       "  return y = y:output:0\n}",
       "l=[]",
       "\n() -> (y:float) {\n  y = Cond[Tin=[], cond=C, else_branch=B, out_types={float}, "
       "then_branch=A]()\n}\n"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    CHECK_CONTEXT("%s", cases[i].text);
    Status status;
    status_init(&status);
    Arena *arena = arena_new();
    FunctionBody *body = NULL;
    StrBuf text = {0};
    if (CHECK_OK(instantiate(cases[i].text, cases[i].attrs, arena, &body, &status), &status))
      CHECK_OK(function_body_print(body, &text, &status), &status);
    function_body_free(body);
    CHECK_STR_EQ(strbuf_text(&text), cases[i].printed);
    strbuf_free(&text);
    arena_free(arena);
  }
}

TEST(instantiate_errors) {
  static const struct {
    const char *text, *attrs;
    Code code;
    const char *message;
  } cases[] = {
      {"F[T:type](x:T) -> () {}", "", CODE_NOT_FOUND, "Attr T is not found from Op<name=F"},
      {"F[T:type](x:T) -> () {}", "T=1", CODE_INVALID_ARGUMENT,
       "AttrValue had value with type 'int' when 'type' expected\n\tfor attr 'T'"},
      {"F(x:float) -> () { n = Neg[T=$U](x) }", "", CODE_INVALID_ARGUMENT,
       "Failed to bind all placeholders in $U"},
      {"F(x:float) -> () { n = Nothing(x) }", "", CODE_NOT_FOUND, "Op type not registered 'Nothing'"},
      {"F(x:float, x:float) -> () {}", "", CODE_INVALID_ARGUMENT, "Duplicated arg name: x"},
      {"F(x:float) -> () { n = Neg[T=float](x)\n n = Neg[T=float](x) }", "", CODE_INVALID_ARGUMENT,
       "Duplicated ret name: n:y"},
      {"F(x:float) -> () { n = Neg[T=float](x) @ z }", "", CODE_INVALID_ARGUMENT,
       "input[1] == '^z', is not found."},
      {"F(x:float) -> () { n = Neg[T=float](m:z:0)\n m = Neg[T=float](x) }", "", CODE_INVALID_ARGUMENT,
       "input m:z:0 is not found: {{node n}}"},
      {"F(x:float) -> () { n = Neg[T=float](m:y:1)\n m = Neg[T=float](x) }", "", CODE_INVALID_ARGUMENT,
       "input m:y:1 is not found: {{node n}}"},
      {"F(x:float) -> () { n = Neg(x) }", "", CODE_NOT_FOUND, "T"},
      {"F(x:float) -> (y:float, z:double) { return y = x\n return z = x }", "", CODE_INVALID_ARGUMENT,
       "Invalid ret types z : double vs. float\n\tIn function output z:double"},
      {"F[N:int](x:N*float) -> () {}", "N=-1", CODE_INVALID_ARGUMENT, "Value for number_attr() -1 < 0"},
      {"F[N:int](x:N*float) -> () {}", "N=4000000000000", CODE_INVALID_ARGUMENT, "too many tensors"},
      {"F[T:type]() -> () { n = Const[dtype=$T, value=0.5]() }", "T=int32", CODE_INVALID_ARGUMENT,
       "the number 0.5 is no value of type int32"},
      {"F[T:type]() -> () { n = Const[dtype=$T, value=1]() }", "T=string", CODE_INVALID_ARGUMENT,
       "a number cannot be a value of type string"},
      {"F() -> () { a = NoOp()\n @return r = b }", "", CODE_INVALID_ARGUMENT,
       "Control return r -> b is not found."},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    CHECK_CONTEXT("%s", cases[i].text);
    Status status;
    status_init(&status);
    Arena *arena = arena_new();
    FunctionBody *body = NULL;
    CHECK_ERROR(instantiate(cases[i].text, cases[i].attrs, arena, &body, &status), &status, cases[i].code,
                cases[i].message);
    arena_free(arena);
  }
}

TEST(instantiate_tells_where_inputs_come_from) {
  Status status;
  status_init(&status);
  Arena *arena = arena_new();
  FunctionBody *body = NULL;
  REQUIRE_OK(instantiate("F(d:int32, x:float) -> (a:float, b:float) {\n  s = Split[T=float, num_split=2](d, "
                         "x)\n  m = Mul[T=float](s:output:0, s:output:1) @ d\n"
                         "  return a = s:output:1\n  return b = m:z:0\n}",
                         "", arena, &body, &status),
             &status);
  const Graph *graph = body->graph;
  CHECK_INT_EQ(graph_num_nodes(graph), SINK_ID + 1 + 6);
  CHECK_STR_EQ(body->arg_nodes[0]->def->op, "_Arg");
  CHECK_STR_EQ(body->ret_nodes[0]->name, "a_RetVal");
  CHECK_STR_EQ(body->ret_nodes[0]->def->op, "_Retval");
  const Node *split = graph_find_node(graph, "s"), *mul = graph_find_node(graph, "m");
  CHECK_INT_EQ(mul->num_inputs, 2);
  CHECK(mul->inputs[1]->src == split);
  CHECK_INT_EQ(mul->inputs[1]->src_output, 1);
  CHECK_INT_EQ(mul->num_control_inputs, 1);
  CHECK(mul->control_inputs[0]->src == body->arg_nodes[0]);
  CHECK_INT_EQ(body->ret_nodes[0]->inputs[0]->src_output, 1);
  function_body_free(body);
  arena_free(arena);
}

TEST(canonical_names_are_sorted_and_whole) {
  Arena *arena = arena_new();
  StrBuf text = {0};
  const NodeDef *node = bindings(
      "b="
      "\"0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789"
      "\", a=1",
      arena);
  function_canonicalize("F", (const AttrEntry *const *)node->attr, (int)node->n_attr, &text);
  CHECK_STR_EQ(strbuf_text(&text),
               "F[a=1,b="
               "\"0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890"
               "123456789\"]");
  strbuf_free(&text);
  arena_free(arena);
}

static void check_canonical(const char *attrs, const InstantiateOptions *options, const char *want) {
  Arena *arena = arena_new();
  StrBuf text = {0};
  const NodeDef *node = bindings(attrs, arena);
  function_canonicalize_with("F", (const AttrEntry *const *)node->attr, (int)node->n_attr, options, &text);
  CHECK_STR_EQ(strbuf_text(&text), want);
  strbuf_free(&text);
  arena_free(arena);
}

TEST(canonical_names_hold_values_of_every_kind) {
  check_canonical("", NULL, "F[]");
  check_canonical("T=float, S=$T, l={float, int32}, n=[1, 2], x=0.5, b=true", NULL,
                  "F[S=$T,T=float,b=true,l={float, int32},n=[1, 2],x=0.5]");
  check_canonical("f=G, g=G[b=1, a=H[T=float]]", NULL, "F[f=G,g=G[a=H[T=float], b=1]]");
  /* Parts that TensorFlow's text truncates distinguish instantiations here. */
  check_canonical("t=Tensor<type: int32 shape: [5] values: 1 2 3 4 5>", NULL,
                  "F[t=Tensor<type: int32 shape: [5] values: 1 2 3 4 5>]");
}

TEST(canonical_names_hold_options) {
  static const char *const kInputs[] = {"/cpu:0", ""}, *const kOutputs[] = {"/cpu:1"};
  const InstantiateOptions none = {0},
                           all = {.target = "/device:CPU:0",
                                  .input_devices = kInputs,
                                  .num_input_devices = 2,
                                  .output_devices = kOutputs,
                                  .num_output_devices = 1,
                                  .state_handle = "s\n",
                                  .executor_type = "FAST",
                                  .config_proto = {"\1\0", 2}},
                           library = {.library = (const FunctionLibraryDefinition *)(uintptr_t)4096};
  check_canonical("T=float", &none, "F[T=float]");
  check_canonical("z=1, T=float", &all,
                  "F[T=float,_config_proto=\\001\\000,_executor=FAST,_input_dev0=/cpu:0,_input_dev1=,"
                  "_output_dev0=/cpu:1,_state_handle=s\\n,_target=/device:CPU:0,z=1]");
  check_canonical("", &library, "F[_lib_def=4096]");
  check_canonical("_executor=\"SLOW\"", NULL, "F[_executor=SLOW]");
  check_canonical("_executor=\"SLOW\"", &none, "F[_executor=SLOW]");
  check_canonical("_executor=\"SLOW\"", &all,
                  "F[_config_proto=\\001\\000,_executor=FAST,_input_dev0=/cpu:0,_input_dev1=,"
                  "_output_dev0=/cpu:1,_state_handle=s\\n,_target=/device:CPU:0]");
}

TEST(canonical_names_have_no_limit) {
  enum { LENGTH = 1 << 20 };
  Arena *arena = arena_new();
  char *long_text = arena_alloc(arena, LENGTH + 1);
  memset(long_text, 'x', LENGTH);
  long_text[LENGTH] = 0;
  NodeDef *node = node_def_new(arena, "", "");
  Status status;
  status_init(&status);
  StrBuf first = {0}, second = {0};
  CHECK_OK(node_def_set_attr(node, arena, "s", attr_value_string(arena, long_text, LENGTH), &status),
           &status);
  function_canonicalize("F", (const AttrEntry *const *)node->attr, 1, &first);
  CHECK_INT_EQ(first.length, LENGTH + 7);
  long_text[LENGTH - 1] = 'y';
  CHECK_OK(node_def_set_attr(node, arena, "s", attr_value_string(arena, long_text, LENGTH), &status),
           &status);
  function_canonicalize("F", (const AttrEntry *const *)node->attr, 1, &second);
  CHECK(strcmp(strbuf_text(&first), strbuf_text(&second)) != 0);
  strbuf_free(&first);
  strbuf_free(&second);
  arena_free(arena);
}

TEST(instantiate_survives_failing_allocations) {
  Status status;
  status_init(&status);
  Arena *text_arena = arena_new();
  FunctionDef *function;
  const NodeDef *values = bindings("T=float, N=3", text_arena);
  REQUIRE_OK(function_parse(str_of("AddSquared[N:int, T:type](x:N*T) -> (y:T) {\n  a = Map[N=$N, T=$T, U=$T, "
                                   "func=Square[T=$T]](x)\n"
                                   "  c = Const[dtype=$T, value=1]()\n  y = AddN[N=$N, T=$T](a:y) @ c\n  "
                                   "return y = y:sum\n}"),
                            text_arena, &function, &status),
             &status);
  Shortage shortage = {.what = "instantiating", .most = 1000};
  do {
    FunctionBody *body = NULL;
    status_init(&status);
    shortage_begin(&shortage);
    bool ok = function_body_new(NULL, function, (const AttrEntry *const *)values->attr, (int)values->n_attr,
                                &body, &status);
    shortage_end(&shortage, ok, status.code);
    function_body_free(body);
  } while (shortage_next(&shortage));
  arena_free(text_arena);
}
