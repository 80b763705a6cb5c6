/* The truth of If's conditions, and the errors of functional ops. */
#include <stdio.h>

#include "runtime/function_fixture.h"

static const char kLibrary[] =
    "Negate(x:float) -> (y:float) {\n"
    "  y = Neg[T=float](x)\n"
    "  return y = y:y:0\n"
    "}\n"
    "Same(x:float) -> (y:float) {\n"
    "  return y = x\n"
    "}\n"
    "Join(x:float, u:float) -> (y:float) {\n"
    "  y = Add[T=float](x, u)\n"
    "  return y = y:z:0\n"
    "}\n"
    "Widen(x:float, u:float) -> (y:float) {\n"
    "  axis = Const[dtype=int32, value=0]()\n"
    "  y = ExpandDims[T=float, Tdim=int32](u, axis:output:0)\n"
    "  return y = y:output:0\n"
    "}\n"
    "Nothing(x:float) -> (y:float) {\n"
    "  empty = Const[dtype=string, value=Attr<tensor { dtype: DT_STRING tensor_shape { } string_val: \"\" "
    "}>]()\n"
    "  y = If[Tcond=string, Tin={float}, Tout={float}, then_branch=Negate, else_branch=Same](empty:output:0, "
    "x)\n"
    "  return y = y:output:0\n"
    "}\n"
    "Remote(target:string, x:float) -> (y:float) {\n"
    "  y = RemoteCall[Tin={float}, Tout={float}, f=Negate](target, x)\n"
    "  return y = y:output:0\n"
    "}\n"
    "Choose(i:int32, x:float) -> (y:float) {\n"
    "  y = Case[Tin={float}, Tout={float}, branches=[Negate, Same]](i, x)\n"
    "  return y = y:output:0\n"
    "}\n"
    "Running(x:float, u:float) -> (y:float) {\n"
    "  y = MapAccumulate[f=Join, T=float, K=0](x, u)\n"
    "  return y = y:y:0\n"
    "}\n"
    "Widening(x:float, u:float) -> (y:float) {\n"
    "  y = MapAccumulate[f=Widen, T=float, K=0](x, u)\n"
    "  return y = y:y:0\n"
    "}\n"
    "TooFew(x:float, u:float) -> (y:float) {\n"
    "  y = MapAccumulate[f=Same, T=float, K=0](x, u)\n"
    "  return y = y:y:0\n"
    "}\n";

/* A number is true if it is not 0, a string if it is not empty, a tensor other than a scalar if it has
 * elements. */
TEST(conditions_of_every_type_are_true_or_false) {
  static const struct {
    const char *type, *truth, *lie;
  } kConditions[] = {
      {"float", "float[] 0.5", "float[] 0"},    {"double", "double[] -1", "double[] 0"},
      {"int32", "int32[] 7", "int32[] 0"},      {"int64", "int64[] -7", "int64[] 0"},
      {"uint8", "uint8[] 255", "uint8[] 0"},    {"int8", "int8[] -1", "int8[] 0"},
      {"int16", "int16[] 256", "int16[] 0"},    {"bool", "bool[] true", "bool[] false"},
      {"string", "string[] no", "string[0]"},   {"float", "float[2] 0", "float[0]"},
      {"bool", "bool[1,1] false", "bool[1,0]"}, {"half", "half[3] 0", "half[0,3]"},
  };
  for (size_t i = 0; i < sizeof kConditions / sizeof *kConditions; i++) {
    Functions f;
    char text[300], inputs[80];
    const char *type = kConditions[i].type;
    snprintf(text, sizeof text,
             "Negate(x:float) -> (y:float) {\n  y = Neg[T=float](x)\n  return y = y:y:0\n}\n"
             "Same(x:float) -> (y:float) {\n  return y = x\n}\n"
             "Main(c:%s, x:float) -> (y:float) {\n"
             "  y = If[Tcond=%s, Tin={float}, Tout={float}, then_branch=Negate, else_branch=Same](c, x)\n"
             "  return y = y:output:0\n}\n",
             type, type);
    if (!functions_begin(&f, text)) break;
    CHECK_CONTEXT("%s", kConditions[i].truth);
    snprintf(inputs, sizeof inputs, "%s; float[] 3", kConditions[i].truth);
    function_gives(&f, "Main", inputs, "float[] -3");
    CHECK_CONTEXT("%s", kConditions[i].lie);
    snprintf(inputs, sizeof inputs, "%s; float[] 3", kConditions[i].lie);
    function_gives(&f, "Main", inputs, "float[] 3");
    functions_end(&f);
  }
  CHECK_CONTEXT("%s", "");
  Functions f;
  REQUIRE(functions_begin(&f, kLibrary));
  function_gives(&f, "Nothing", "float[] 3", "float[] 3");
  functions_end(&f);
}

TEST(a_scalar_of_another_type_is_no_condition) {
  Functions f;
  REQUIRE(functions_begin(&f,
                          "Same(x:float) -> (y:float) {\n  return y = x\n}\n"
                          "Main(c:complex64, x:float) -> (y:float) {\n"
                          "  y = If[Tcond=complex64, Tin={float}, Tout={float}, then_branch=Same, "
                          "else_branch=Same](c, x)\n"
                          "  return y = y:output:0\n}\n"));
  function_fails(&f, "Main", "complex64[] 1; float[] 3", 1, CODE_INVALID_ARGUMENT,
                 "complex64 cannot be converted to a boolean");
  functions_end(&f);
}

TEST(remote_calls_reach_this_process_alone) {
  Functions f;
  REQUIRE(functions_begin(&f, kLibrary));
  function_gives(&f, "Remote", "string[] /device:CPU:0; float[] 3", "float[] -3");
  function_gives(&f, "Remote", "string[] /job:localhost/replica:0/task:0/cpu:0; float[] 3", "float[] -3");
  function_fails(&f, "Remote", "string[] /device:GPU:0; float[] 3", 1, CODE_INVALID_ARGUMENT,
                 "/device:GPU:0");
  function_fails(&f, "Remote", "string[1] /cpu:0; float[] 3", 1, CODE_INVALID_ARGUMENT,
                 "target must be a scalar");
  functions_end(&f);
}

TEST(a_branch_is_chosen_by_a_scalar) {
  Functions f;
  REQUIRE(functions_begin(&f, kLibrary));
  function_gives(&f, "Choose", "int32[] 0; float[] 3", "float[] -3");
  function_gives(&f, "Choose", "int32[] -1; float[] 3", "float[] 3");
  function_fails(&f, "Choose", "int32[1] 0; float[] 3", 1, CODE_INVALID_ARGUMENT,
                 "branch_index must be scalar");
  functions_end(&f);
}

TEST(map_accumulate_checks_its_function_and_what_it_returns) {
  Functions f;
  REQUIRE(functions_begin(&f, kLibrary));
  function_gives(&f, "Running", "float[3] 1 2 3; float[] 10", "float[3] 11 13 16");
  function_gives(&f, "Running", "float[2,2] 1 2 3 4; float[2] 10 20", "float[2,2] 11 22 14 26");
  function_gives(&f, "Running", "float[0]; float[] 10", "float[0]");
  function_fails(&f, "Running", "float[] 1; float[] 10", 1, CODE_INVALID_ARGUMENT,
                 "x must be at least a vector, but saw shape: []");
  function_fails(&f, "Widening", "float[2] 1 2; float[] 10", 1, CODE_INVALID_ARGUMENT,
                 "returned a float tensor of shape [1]. Expected: float of shape []");
  function_fails(&f, "TooFew", "float[2] 1 2; float[] 10", 1, CODE_INVALID_ARGUMENT,
                 "takes 1 arguments. Expected: 2");
  functions_end(&f);
}
