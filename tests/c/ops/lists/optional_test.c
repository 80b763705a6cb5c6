/* Optionals: values, sums, zeros, errors, and gradients through them. */
#include <string.h>

#include "runtime/function_fixture.h"
#include "op_runner.h"

#define GET(optional, shapes)                                                               \
  "  v = OptionalGetValue[output_types={float, int32}, output_shapes=" shapes "](" optional \
  ")\n"                                                                                     \
  "  return a = v:components:0, b = v:components:1\n}\n"
#define MAKE(name, a, b) "  " name " = OptionalFromValue[Toutput_types={float, int32}](" a ", " b ")\n"
#define FUNCTION(body) "F(x:float, y:int32) -> (a:float, b:int32) {\n" body

static void gives(const char *library, const char *want) {
  Functions f;
  if (functions_begin(&f, library)) function_gives(&f, "F", "float[2] 1 -2; int32[] 3", want);
  functions_end(&f);
}

static void fails(const char *library, Code code, const char *part) {
  Functions f;
  if (functions_begin(&f, library)) function_fails(&f, "F", "float[2] 1 -2; int32[] 3", 2, code, part);
  functions_end(&f);
}

TEST(optionals_hold_values) {
  gives(FUNCTION(MAKE("o", "x", "y") GET("o:optional:0", "[<unknown>, <unknown>]")),
        "float[2] 1 -2; int32[] 3");
  gives(FUNCTION(
            MAKE("o", "x", "y") "  z = ZerosLike[T=variant](o:optional:0)\n" GET("z:y:0",
                                                                                 "[<unknown>, <unknown>]")),
        "float[2] 0 0; int32[] 0");
  gives(FUNCTION(MAKE("o", "x", "y") "  s = AddN[N=2, T=variant](o:optional:0, o:optional:0)\n" GET(
            "s:sum:0", "[<unknown>, <unknown>]")),
        "float[2] 2 -4; int32[] 6");
}

TEST(optionals_say_whether_they_have_a_value) {
#define HAS \
  "H(x:float, y:int32) -> (a:bool, b:bool, c:bool) {\n" MAKE("o", "x", "y") \
  "  n = OptionalNone()\n  z = ZerosLike[T=variant](n:optional:0)\n" \
  "  a = OptionalHasValue(o:optional:0)\n  b = OptionalHasValue(n:optional:0)\n" \
  "  c = OptionalHasValue(z:y:0)\n" \
  "  return a = a:has_value:0, b = b:has_value:0, c = c:has_value:0\n}\n"
  Functions f;
  if (functions_begin(&f, HAS))
    function_gives(&f, "H", "float[] 1; int32[] 3", "bool[] 1; bool[] 0; bool[] 0");
  functions_end(&f);
}

TEST(optionals_are_refused_in_tensorflows_words) {
  fails(FUNCTION("  n = OptionalNone()\n" GET("n:optional:0", "[<unknown>, <unknown>]")),
        CODE_INVALID_ARGUMENT, "The given optional does not have a value.");
  fails(FUNCTION("  o = OptionalFromValue[Toutput_types={float}](x)\n" GET("o:optional:0",
                                                                           "[<unknown>, <unknown>]")),
        CODE_INVALID_ARGUMENT, "The given optional has 1 components, expected 2");
  fails(
      FUNCTION("  o = OptionalFromValue[Toutput_types={int32, float}](y, x)\n" GET("o:optional:0",
                                                                                   "[<unknown>, <unknown>]")),
      CODE_INVALID_ARGUMENT,
      "The given optional does not match the expected type for component 0. Expected: float. Actual: int32.");
  fails(FUNCTION(MAKE("o", "x", "y") GET("o:optional:0", "[[?,3], <unknown>]")), CODE_INVALID_ARGUMENT,
        "The given optional does not match the expected shape for component 0. Expected: [?,3]. Actual: "
        "[2].");
  fails(FUNCTION("  p = Const[dtype=int32, value=[2]]()\n  e = Const[dtype=int32, value=0]()\n"
                 "  l = EmptyTensorList[element_dtype=float, shape_type=int32](p:output:0, e:output:0)\n" GET(
                     "l:handle:0", "[<unknown>, <unknown>]")),
        CODE_INVALID_ARGUMENT, "Input to OptionalGetValue must be an OptionalVariant object.");
  fails(FUNCTION(
            MAKE("o", "x",
                 "y") "  s = Pack[N=1, T=variant, axis=0](o:optional:0)\n" GET("s:output:0",
                                                                               "[<unknown>, <unknown>]")),
        CODE_INVALID_ARGUMENT,
        "Input to OptionalGetValue must be a scalar tensor containing an OptionalVariant object.");
}

TEST(sums_of_optionals_need_equal_optionals) {
#define SUM(a, b) "  s = AddN[N=2, T=variant](" a ", " b ")\n" GET("s:sum:0", "[<unknown>, <unknown>]")
  fails(FUNCTION(MAKE("o", "x", "y") "  n = OptionalNone()\n" SUM("o:optional:0", "n:optional:0")),
        CODE_INVALID_ARGUMENT, "Cannot add optionals because one has a value and the other doesn't.");
  fails(FUNCTION(
            MAKE("o", "x", "y") "  n = OptionalFromValue[Toutput_types={float}](x)\n" SUM("o:optional:0",
                                                                                          "n:optional:0")),
        CODE_INVALID_ARGUMENT,
        "Cannot add optionals because they have different numbers of components (2 vs. 1).");
  fails(FUNCTION(MAKE("o", "x", "y") "  p = Const[dtype=int32, value=[2]]()\n"
                                     "  e = Const[dtype=int32, value=0]()\n"
                                     "  l = EmptyTensorList[element_dtype=float, shape_type=int32]"
                                     "(p:output:0, e:output:0)\n" SUM("l:handle:0", "o:optional:0")),
        CODE_INTERNAL,
        "BinaryOpVariants: Variants a and b have different type ids.  Type names: 'tensorflow::TensorList' "
        "vs. 'tensorflow::data::Optional'");
}

/* Freeing is recursive, so the depth is limited. */
TEST(optionals_nest_to_a_limit) {
  static const char kNest[] =
      "Below(i:int32, o:variant) -> (b:bool) {\n  n = Const[dtype=int32, value=1000]()\n"
      "  b = Less[T=int32](i, n:output:0)\n  return b = b:z:0\n}\n"
      "Wrap(i:int32, o:variant) -> (j:int32, p:variant) {\n  one = Const[dtype=int32, value=1]()\n"
      "  j = Add[T=int32](i, one:output:0)\n  p = OptionalFromValue[Toutput_types={variant}](o)\n"
      "  return j = j:z:0, p = p:optional:0\n}\n"
      "F(i:int32) -> (n:int32) {\n  none = OptionalNone()\n"
      "  w = While[T={int32, variant}, cond=Below, body=Wrap](i, none:optional:0)\n"
      "  return n = w:output:0\n}\n";
  Functions f;
  if (functions_begin(&f, kNest)) {
    function_gives(&f, "F", "int32[] 950", "int32[] 1000");
    function_fails(&f, "F", "int32[] 0", 1, CODE_INVALID_ARGUMENT, "Variants are nested more than 64 deep");
  }
  functions_end(&f);
}

/* y = x * v, where v is x from an optional. */
TEST(gradients_flow_through_optionals) {
  Functions f;
  if (functions_begin(&f,
                      "S(x:double) -> (y:double) {\n"
                      "  o = OptionalFromValue[Toutput_types={double, double}](x, x)\n"
                      "  v = OptionalGetValue[output_types={double, double}, output_shapes=[<unknown>, "
                      "<unknown>]](o:optional:0)\n"
                      "  y = Mul[T=double](x, v:components:0)\n"
                      "  return y = y:z:0\n}\n"
                      "G(x:double, dy:double) -> (dx:double) {\n"
                      "  g = SymbolicGradient[Tin={double, double}, Tout={double}, f=S](x, dy)\n"
                      "  return dx = g:output:0\n}\n")) {
    function_gives(&f, "G", "double[] 3; double[] 10", "double[] 60");
  }
  functions_end(&f);
}
