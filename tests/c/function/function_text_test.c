#include "function/text/function_text.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "function/test_ops.h"
#include "harness.h"
#include "shortage.h"

BEFORE_EACH() { test_ops_register(); }
AFTER_EACH() { op_registry_clear(op_registry_global()); }

/* As printed in TensorFlow's own tests. */
static const char *const kPrinted[] = {
    "\nSquarePlusOne[T:{float, double, int32, int64}](x:T) -> (y:T) {\n"
    "  a = Square[T=$T](x)\n"
    "  o = One[T=$T]()\n"
    "  y = Add[T=$T](a:y, o:y)\n"
    "  return y = y:z:0\n}\n",
    "\nControlDep(x:int32) -> (y:int32) {\n"
    "  a = Identity[T=int32](x)\n"
    "  o = NoOp() @ a\n"
    "  y = Identity[T=int32](a:output:0) @ o\n"
    "  return y = y:output:0\n}\n",
    "\nBackCompat() -> (y:float) {\n"
    "  a = HasDefaultType()\n"
    "  return y = a:out:0\n}\n",
    "\nNTimesT(x:float, y:float) -> (z:float) {\n"
    "  a = AddN[N=2, T=float](x, y)\n"
    "  return z = a:sum:0\n}\n",
    "\nAddSquared[N:int, T:{float, double, int32, int64}](x:N*T) -> (y:T) {\n"
    "  a = Map[N=$N, T=$T, U=$T, func=Square[T=$T]](x)\n"
    "  y = AddN[N=$N, T=$T](a:y)\n"
    "  return y = y:sum\n}\n",
    "\nTest(i:float) -> (o:float) {\n"
    "  zero = Const[dtype=int32, value=Tensor<type: int32 shape: [] values: 0>]()\n"
    "  s = Split[T=float, num_split=4](zero:output:0, i)\n"
    "  l = Mul[T=float](s:output:0, s:output:1)\n"
    "  r = Mul[T=float](s:output:2, s:output:3)\n"
    "  x = _ListToArray[N=2, T=float, Tin={float, float}](l:z, r:z)\n"
    "  o = AddN[N=2, T=float](x:output)\n"
    "  return o = o:sum:0\n}\n",
    "\nMySelect(x:float) -> (z:float) {\n"
    "  y = Cond[Tin={float}, cond=MyCond, else_branch=MyElse, out_types={float}, then_branch=MyThen](x)\n"
    "  z = Cond[Tin={float, float}, cond=MyCond2, else_branch=MyElse2, out_types={float}, "
    "then_branch=MyThen2](y:output:0, y:output:0)\n"
    "  return z = z:output:0\n}\n",
    "\nWXPlusB[T:{float, double}](w:T, x:T, b:T) -> (y:T) {\n"
    "  mm = MatMul[T=$T, _kernel=\"eigen\", transpose_a=false, transpose_b=false](w, x)\n"
    "  y = Add[T=$T](mm:product:0, b)\n"
    "  return y = y:z:0\n}\n",
    "\nControlDeps(x:float) -> () {\n"
    "  a = One[T=float]() @ x\n"
    "  u = NoOp() @ a\n"
    "  c = One[T=float]() @ a, u\n}\n",
    "\nAny[T:<Unknown AttrValue type>, l:list(type)](x:T, xs:l) -> (y:Ref(float)) {\n"
    "  y = Op[T=$T, device=/job:localhost/device:CPU:0](x)\n"
    "  @return done = y\n"
    "  return y = y:z:0\n}\n",
};

static FunctionDef *parse(const char *text, Arena *arena) {
  Status status;
  status_init(&status);
  FunctionDef *function = NULL;
  return CHECK_OK(function_parse(str_of(text), arena, &function, &status), &status) ? function : NULL;
}

TEST(function_text_prints_what_it_parsed) {
  for (size_t i = 0; i < sizeof kPrinted / sizeof kPrinted[0]; i++) {
    CHECK_CONTEXT("%s", kPrinted[i]);
    Arena *arena = arena_new();
    FunctionDef *function = parse(kPrinted[i], arena);
    StrBuf text = {0};
    if (function) function_print(function, &text);
    CHECK_STR_EQ(strbuf_text(&text), kPrinted[i]);
    strbuf_free(&text);
    arena_free(arena);
  }
}

/* parse(full(f)) == f */
static void check_full(const FunctionDef *function) {
  Status status;
  status_init(&status);
  StrBuf text = {0};
  Arena *arena = arena_new();
  FunctionDef *back = NULL;
  if (CHECK_OK(function_print_full(function, &text, &status), &status) &&
      CHECK_OK(function_parse(str_of(strbuf_text(&text)), arena, &back, &status), &status)) {
    if (!CHECK(proto_equal(back, function)))
      CHECK_STR_EQ(strbuf_text(&text), "a text that gives the function back");
  }
  strbuf_free(&text);
  arena_free(arena);
}

static void check_full_text(const char *proto_text) {
  Status status;
  status_init(&status);
  Arena *arena = arena_new();
  void *function = NULL;
  CHECK_CONTEXT("%s", proto_text);
  if (CHECK_OK(proto_parse_text(kFunctionDef, str_of(proto_text), arena, &function, &status), &status))
    check_full(function);
  arena_free(arena);
}

TEST(function_text_full_form_of_printed_functions) {
  for (size_t i = 0; i < sizeof kPrinted / sizeof kPrinted[0]; i++) {
    CHECK_CONTEXT("%s", kPrinted[i]);
    Arena *arena = arena_new();
    FunctionDef *function = parse(kPrinted[i], arena);
    if (function) check_full(function);
    arena_free(arena);
  }
}

#define SIGNATURE                                                                                    \
  "signature { name: \"f\" input_arg { name: \"x\" type: DT_FLOAT } output_arg { name: \"y\" type: " \
  "DT_FLOAT } } "
#define ATTR(value) SIGNATURE "node_def { name: \"n\" op: \"Op\" attr { key: \"a\" value { " value " } } }"

TEST(function_text_full_form_loses_nothing) {
  static const char *const cases[] = {
      "",
      "signature { }",
      "node_def { name: \"n\" op: \"Op\" }",
      ATTR(""),
      ATTR("i: -9223372036854775808"),
      ATTR("f: 1"),
      ATTR("f: 0.1"),
      ATTR("f: 1e-45"),
      ATTR("f: 3.4028235e38"),
      ATTR("f: inf"),
      ATTR("f: -inf"),
      ATTR("f: nan"),
      ATTR("f: -0"),
      ATTR("b: true"),
      ATTR("s: \"\""),
      ATTR("s: \"a\\000b\\n\\\"\\377 #@]\""),
      ATTR("s: "
           "\"01234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234"
           "56789\""),
      ATTR("type: DT_FLOAT"),
      ATTR("type: DT_FLOAT_REF"),
      ATTR("type: DT_INVALID"),
      ATTR("type: 77"),
      ATTR("shape { }"),
      ATTR("shape { unknown_rank: true }"),
      ATTR("shape { dim { size: 1 } dim { size: -1 } dim { size: 3 } }"),
      ATTR("shape { dim { size: 1 name: \"batch\" } }"),
      ATTR("placeholder: \"T\""),
      ATTR("placeholder: \"no word\""),
      ATTR("placeholder: \"\""),
      ATTR("func { name: \"Square\" }"),
      ATTR("func { name: \"true\" }"),
      ATTR("func { name: \"inf\" }"),
      ATTR("func { name: \"a b`c\" }"),
      ATTR("func { name: \"\" }"),
      ATTR("func { name: \"F\" attr { key: \"g\" value { func { name: \"G\" attr { key: \"T\" value { type: "
           "DT_HALF } } } } } }"),
      ATTR("list { }"),
      ATTR("list { i: 1 }"),
      ATTR("list { i: 1 i: -2 i: 3 i: 4 i: 5 i: 6 i: 7 i: 8 i: 9 i: 10 i: 11 i: 12 i: 13 i: 14 i: 15 i: 16 "
           "i: 17 i: 18 i: 19 i: 20 i: 21 "
           "i: 22 i: 23 i: 24 i: 25 i: 26 i: 27 i: 28 i: 29 i: 30 i: 31 i: 32 }"),
      ATTR("list { f: 1 f: 2.5 }"),
      ATTR("list { f: 1 f: 2 }"),
      ATTR("list { b: true b: false }"),
      ATTR("list { s: \"a\" s: \"b,\\\"]\" }"),
      ATTR("list { type: DT_FLOAT type: DT_INT32 }"),
      ATTR("list { shape { } }"),
      ATTR("list { shape { dim { size: 2 } } shape { unknown_rank: true } }"),
      ATTR("list { func { name: \"F\" } func { name: \"G\" attr { key: \"N\" value { i: 2 } } } }"),
      ATTR("list { i: 1 f: 2 }"),
      ATTR("list { tensor { dtype: DT_INT32 tensor_shape { } int_val: 7 } tensor { dtype: DT_STRING "
           "tensor_shape { } string_val: \"s\" } }"),
      ATTR("tensor { dtype: DT_INT32 tensor_shape { } int_val: 7 }"),
      ATTR("tensor { dtype: DT_FLOAT tensor_shape { dim { size: 2 } } tensor_content: "
           "\"\\000\\000\\200?\\000\\000\\000@\" }"),
      ATTR("tensor { dtype: DT_FLOAT tensor_shape { dim { size: 1000 } } float_val: 0.5 }"),
      ATTR("tensor { dtype: DT_DOUBLE tensor_shape { } double_val: 0.1 }"),
      ATTR("tensor { dtype: DT_HALF tensor_shape { } half_val: 31744 }"),
      ATTR("tensor { dtype: DT_BOOL tensor_shape { } bool_val: true }"),
      ATTR("tensor { dtype: DT_UINT64 tensor_shape { } uint64_val: 18446744073709551615 }"),
      ATTR("tensor { dtype: DT_COMPLEX64 tensor_shape { } scomplex_val: 1 scomplex_val: 2 }"),
      ATTR("tensor { dtype: DT_STRING tensor_shape { } string_val: \"a>b\" }"),
      ATTR("tensor { dtype: DT_FLOAT tensor_shape { dim { size: -1 } } }"),
      ATTR("tensor { }"),
      SIGNATURE "node_def { name: \"n\" op: \"Op\" device: \"/device:CPU:0\" }",
      SIGNATURE "node_def { name: \"n\" op: \"Op\" device: \"a, b]\" }",
      SIGNATURE
      "node_def { name: \"n\" op: \"Op\" device: \"/device:CPU:0\" attr { key: \"device\" value { s: \"x\" } "
      "} }",
      SIGNATURE "node_def { name: \"n\" op: \"Op\" attr { key: \"device\" value { i: 3 } } }",
      SIGNATURE "node_def { name: \"n\" op: \"Op\" input: \"^c\" input: \"x\" }",
      SIGNATURE "node_def { name: \"n\" op: \"Op\" input: \"x:0\" input: \"a/b:out:1\" input: \"^c/d\" }",
      SIGNATURE
      "node_def { name: \"return\" op: \"Op\" } node_def { name: \"a/b-c.d->e\" op: \"Op\" } node_def { "
      "name: \"\" op: \"\" }",
      SIGNATURE "node_def { name: \"n\" op: \"Op\" experimental_debug_info { original_node_names: \"m\" } }",
      SIGNATURE "attr { key: \"_noinline\" value { b: true } } attr { key: \"odd name\" value { s: \"x\" } }",
      SIGNATURE
      "ret { key: \"y\" value: \"x\" } ret { key: \"extra\" value: \"n:z:0\" } control_ret { key: \"c\" "
      "value: \"n\" }",
      SIGNATURE
      "arg_attr { key: 0 value { attr { key: \"_user\" value { s: \"u\" } } } } resource_arg_unique_id { "
      "key: 0 value: 3 }",
      "signature { name: \"f\" is_stateful: true description: \"what it does > that\" attr { name: \"N\" "
      "type: \"int\" has_minimum: true minimum: 2 "
      "default_value { i: 3 } } attr { name: \"s\" type: \"string\" default_value { s: \"a, b]\" } "
      "allowed_values { list { s: \"a, b]\" } } } "
      "input_arg { name: \"x\" type_attr: \"T\" number_attr: \"N\" } }",
      ("signature { name: \"__inference_f_12\" control_output: \"d\" } control_ret { key: \"d\" value: \"n\" "
       "}"),
      "signature { name: \"f g\" input_arg { name: \"Odd Name\" type: DT_FLOAT description: \"d\" } }",
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) check_full_text(cases[i]);
}

TEST(function_text_full_form_is_readable) {
  Arena *arena = arena_new();
  Status status;
  status_init(&status);
  FunctionDef *function = parse(
      "F[T:{float, double}, N:int >= 2 = 3](x:N*T) -> (y:T) {\n"
      "  c = Const[dtype=$T, value=[0.5, 2]]()   # two numbers\n"
      "  y = AddN[T=$T, N=$N, rate=1.0](x) @ c\n"
      "  return y = y:sum:0\n}",
      arena);
  StrBuf text = {0};
  if (function) CHECK_OK(function_print_full(function, &text, &status), &status);
  CHECK_STR_EQ(strbuf_text(&text),
               "F[T:{float, double}, N:int >= 2 = 3](x:N*T) -> (y:T) {\n"
               "  c = Const[dtype=$T, value=Tensor<type: double shape: [2] values: 0.5 2.0>]()\n"
               "  y = AddN[N=$N, T=$T, rate=1.0](x) @ c\n"
               "  return y = y:sum:0\n}\n");
  strbuf_free(&text);
  arena_free(arena);
}

TEST(function_text_constants_in_numbers) {
  static const struct {
    const char *attrs, *tensor;
  } cases[] = {
      {"dtype=int32, value=7", "dtype: DT_INT32 tensor_shape { } int_val: 7"},
      {"value=7, dtype=int32", "dtype: DT_INT32 tensor_shape { } int_val: 7"},
      {"dtype=double, value=0.1", "dtype: DT_DOUBLE tensor_shape { } double_val: 0.1"},
      {"dtype=half, value=1", "dtype: DT_HALF tensor_shape { } half_val: 15360"},
      {"dtype=bool, value=true", "dtype: DT_BOOL tensor_shape { } bool_val: true"},
      {"dtype=int64, value=[]", "dtype: DT_INT64 tensor_shape { dim { size: 0 } }"},
      {"dtype=int32, value=[[1, 2], [3, 4]]",
       "dtype: DT_INT32 tensor_shape { dim { size: 2 } dim { size: 2 } } int_val: 1 int_val: 2 int_val: 3 "
       "int_val: 4"},
      {"dtype=float, value=[inf, -1e3]",
       "dtype: DT_FLOAT tensor_shape { dim { size: 2 } } float_val: inf float_val: -1000"},
      {"dtype=$T, value=3", "dtype: DT_INT64 tensor_shape { } int64_val: 3"},
      {"dtype=$T, value=0.1", "dtype: DT_DOUBLE tensor_shape { } double_val: 0.1"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    CHECK_CONTEXT("%s", cases[i].attrs);
    Status status;
    status_init(&status);
    Arena *arena = arena_new();
    StrBuf text = {0};
    strbuf_printf(&text, "F() -> () { c = Const[%s]() }", cases[i].attrs);
    FunctionDef *function = parse(strbuf_text(&text), arena);
    void *want = NULL;
    const AttrValue *value = !function ? NULL : node_def_attr(function->node_def[0], "value");
    CHECK_OK(proto_parse_text(kTensorProto, str_of(cases[i].tensor), arena, &want, &status), &status);
    CHECK(value && value->value_case == (int)ATTR_TENSOR && tensor_proto_equal(value->tensor, want));
    strbuf_free(&text);
    arena_free(arena);
  }
}

TEST(function_text_errors_name_line_and_column) {
  static const struct {
    const char *text, *message;
  } cases[] = {
      {"", "function text 1:1: expected the name of a function, found the end of the text"},
      {"F", "function text 1:2: expected '(' after the name of the function, found the end of the text"},
      {"F(x:float) - (y:float) {}", "1:12: expected '->' after the arguments, found '-'"},
      {"F(x) -> () {}", "function text 1:3: "},
      {"F(x:what) -> () {}", "function text 1:3: Reference to unknown attr 'what'"},
      {"F[T:nothing]() -> () {}", "function text 1:3: "},
      {"F() -> () {\n  y = \n}", "function text 3:1: expected an op, found '}'"},
      {"F() -> () {\n  y = Mul[T=float](x\n}", "3:1: expected ')' after the inputs of a node, found '}'"},
      {"F() -> () {\n  y = Mul[T=float]\n}", "3:1: expected '(' after the op 'Mul', found '}'"},
      {"F() -> () {\n  y = Mul[T=]()\n}", "2:13: expected a value"},
      {"F() -> () {\n  y = Mul[T=float, T=float]()\n}", "2:20: attr 'T' is given twice"},
      {"F() -> () {\n  y = A[f=G[a=1, a=2]]()\n}", "2:19: attr 'a' is given twice"},
      {"F() -> () {\n  return y = x\n  return y = x\n}", "3:11: 'y' is given twice"},
      {"F() -> () {\n  @attr a = 1\n  @attr a = 2\n}", "3:10: 'a' is given twice"},
      {"F() -> () {\n  y = A[n=99999999999999999999]()\n}", "does not fit 64 bits"},
      {"F() -> () {\n  y = A[n=12x]()\n}", "'12x' is no number"},
      {"F() -> () {\n  y = A[s=\"abc]()\n}", "2:11: a quote that is not closed"},
      {"F() -> () {\n  y = A[s=\"\\q\"]()\n}", "an unknown escape"},
      {"F() -> () {\n  y = A[l=[1, \"a\"]]()\n}", "2:15: expected a number"},
      {"F() -> () {\n  y = A[l=[float, true]]()\n}", "the values of a list must be of one kind"},
      {"F() -> () {\n  y = A[l={float, what}]()\n}", "'what' is no type"},
      {"F() -> () {\n  y = A[s=Shape<[1,-2]>]()\n}", "a size must be an integer that is not negative, or ?"},
      {"F() -> () {\n  y = A[v=Tensor<type: int32 shape: [4] values: 1 2 3...>]()\n}",
       "the values of this tensor were cut"},
      {"F() -> () {\n  y = A[v=Tensor<type: int32 shape: [4] values: 1 2 3>]()\n}",
       "3 values for a tensor of shape [4]"},
      {"F() -> () {\n  y = A[v=Tensor<type: int8 shape: [] values: 300>]()\n}",
       "the number 300 is no value of type int8"},
      {"F() -> () {\n  y = A[v=Tensor<type: what shape: [] values: 1>]()\n}", "'what' is no type"},
      {"F() -> () {\n  y = A[v=Attr<nothing: 1>]()\n}", "2:15: "},
      {"F() -> () {\n  y = Const[dtype=uint8, value=-1]()\n}",
       "2:32: the number -1 is no value of type uint8"},
      {"F() -> () {\n  y = Const[dtype=int32, value=0.5]()\n}", "the number 0.5 is no value of type int32"},
      {"F() -> () {\n  y = Const[dtype=string, value=1]()\n}", "a number cannot be a value of type string"},
      {"F() -> () {\n  y = Const[dtype=int32, value=[[1], 2]]()\n}", "rows of different depth"},
      {"F() -> () {\n  y = Const[dtype=int32, value=[[1], [2, 3]]]()\n}", "rows of different length"},
      {"F() -> () {\n  @what x\n}", "2:3: '@what' is nothing that a function can say"},
      {"F() -> () {", "1:12: expected a node, 'return' or '}', found the end of the text"},
      {"F() -> () {} x", "1:14: more text behind the function"},
      {"F() -> () {\n  return y\n}", "3:1: expected '=' after the name of a result, found '}'"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    CHECK_CONTEXT("%s", cases[i].text);
    Status status;
    status_init(&status);
    Arena *arena = arena_new();
    FunctionDef *function = NULL;
    CHECK_ERROR(function_parse(str_of(cases[i].text), arena, &function, &status), &status,
                CODE_INVALID_ARGUMENT, cases[i].message);
    arena_free(arena);
  }
}

TEST(function_text_nesting_is_bounded) {
  static const char *const openings[] = {"F() -> () { n = A[a=", "F() -> () { n = Const[value=",
                                         "F() -> () { n = A[a="};
  static const char *const levels[] = {"G[a=", "[", "["};
  for (size_t i = 0; i < 3; i++) {
    Status status;
    status_init(&status);
    Arena *arena = arena_new();
    StrBuf text = {0};
    FunctionDef *function = NULL;
    strbuf_append(&text, openings[i]);
    for (int k = 0; k < 100000; k++) strbuf_append(&text, levels[i]);
    CHECK_ERROR(function_parse(str_of(strbuf_text(&text)), arena, &function, &status), &status,
                CODE_INVALID_ARGUMENT, "");
    strbuf_free(&text);
    arena_free(arena);
  }
}

TEST(function_text_library) {
  Status status;
  status_init(&status);
  Arena *arena = arena_new();
  FunctionDefLibrary *library = NULL;
  CHECK_OK(function_parse_library(str_of("# two\nF() -> () {}\n\nG(x:float) -> (y:float) { return y = x }  # "
                                         "end"),
                                  arena, &library, &status),
           &status);
  if (library && CHECK_INT_EQ(library->n_function, 2)) {
    CHECK_STR_EQ(library->function[1]->signature->name, "G");
    CHECK_STR_EQ(library->function[1]->ret[0]->value, "x");
  }
  arena_free(arena);
}

TEST(function_text_marks_stateful_functions) {
  Arena *arena = arena_new();
  FunctionDef *pure = parse("F() -> () { a = NoOp() }", arena);
  FunctionDef *stateful = parse("F(r:resource) -> () { a = ReadVariableOp[dtype=float](r) }", arena);
  CHECK(pure && !pure->signature->is_stateful);
  CHECK(stateful && stateful->signature->is_stateful);
  if (stateful) {
    check_full(stateful);
    stateful->signature->is_stateful = false;
    check_full(stateful);
  }
  arena_free(arena);
}

TEST(function_text_survives_failing_allocations) {
  for (size_t i = 0; i < sizeof kPrinted / sizeof kPrinted[0]; i++) {
    Shortage shortage = {.what = "function text", .most = 1000};
    do {
      Status status;
      status_init(&status);
      StrBuf text = {0};
      FunctionDef *function = NULL, *back = NULL;
      Arena *arena = arena_new();
      shortage_begin(&shortage);
      bool ok = function_parse(str_of(kPrinted[i]), arena, &function, &status) &&
                function_print_full(function, &text, &status);
      shortage_end(&shortage, ok, status.code);
      if (ok && CHECK_OK(function_parse(str_of(strbuf_text(&text)), arena, &back, &status), &status))
        CHECK(proto_equal(back, function));
      strbuf_free(&text);
      arena_free(arena);
    } while (shortage_next(&shortage));
  }
}

/* A single failing allocation is reported or makes no difference: it must not change the text. */
TEST(function_text_does_not_change_when_one_allocation_fails) {
  for (size_t i = 0; i < sizeof kPrinted / sizeof kPrinted[0]; i++) {
    Status status;
    StrBuf whole = {0};
    Arena *arena = arena_new();
    FunctionDef *function = NULL;
    status_init(&status);
    REQUIRE_OK(function_parse(str_of(kPrinted[i]), arena, &function, &status), &status);
    CHECK_OK(function_print_full(function, &whole, &status), &status);
    int failures = 0;
    for (int64_t after = 0; after < 400; after++) {
      StrBuf text = {0};
      mem_fail_once(after);
      bool printed = function_print_full(function, &text, &status);
      mem_fail_after(-1);
      if (printed) CHECK_STR_EQ(strbuf_text(&text), strbuf_text(&whole));
      else CHECK_INT_EQ(status.code, CODE_RESOURCE_EXHAUSTED);
      failures += !printed;
      strbuf_free(&text);
    }
    CHECK(failures > 0);
    strbuf_free(&whole);
    arena_free(arena);
  }
}
