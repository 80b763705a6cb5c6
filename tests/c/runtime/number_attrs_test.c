/* Number attrs of functions, where a node of the function needs a tensor, a float or a shape. */
#include "runtime/function_fixture.h"
#include "shortage.h"

static const char kLibrary[] =
    "Int[v:int](x:float) -> (y:float) {\n"
    "  c = Const[dtype=float, value=$v]()\n"
    "  y = Add[T=float](x, c:output:0)\n"
    "  return y = y:z:0\n}\n"
    "Float[v:float, T:type](x:T) -> (y:T) {\n"
    "  c = Const[dtype=$T, value=$v]()\n"
    "  y = Add[T=$T](x, c:output:0)\n"
    "  return y = y:z:0\n}\n"
    "Flag[v:bool]() -> (y:bool) {\n"
    "  y = Const[dtype=bool, value=$v]()\n"
    "  return y = y:output:0\n}\n"
    "Ints[v:list(int)](x:double) -> (y:double) {\n"
    "  c = Const[dtype=double, value=$v]()\n"
    "  y = Add[T=double](x, c:output:0)\n"
    "  return y = y:z:0\n}\n"
    "Floats[v:list(float)](x:half) -> (y:half) {\n"
    "  c = Const[dtype=half, value=$v]()\n"
    "  y = Add[T=half](x, c:output:0)\n"
    "  return y = y:z:0\n}\n"
    "Flags[v:list(bool)]() -> (y:bool) {\n"
    "  y = Const[dtype=bool, value=$v]()\n"
    "  return y = y:output:0\n}\n"
    "Slope[v:int](x:float) -> (y:float) {\n"
    "  y = LeakyRelu[T=float, alpha=$v](x)\n"
    "  return y = y:activations:0\n}\n"
    "Ensure[v:list(int)](x:float) -> (y:float) {\n"
    "  y = EnsureShape[T=float, shape=$v](x)\n"
    "  return y = y:output:0\n}\n"
    "UseInt(x:float) -> (y:float) {\n  y = Int[v=-3](x)\n  return y = y:y:0\n}\n"
    "UseFloat(x:double) -> (y:double) {\n  y = Float[v=0.25, T=double](x)\n  return y = y:y:0\n}\n"
    "UseWhole(x:int32) -> (y:int32) {\n  y = Float[v=2.0, T=int32](x)\n  return y = y:y:0\n}\n"
    "UsePart(x:int32) -> (y:int32) {\n  y = Float[v=2.5, T=int32](x)\n  return y = y:y:0\n}\n"
    "UseHuge(x:int32) -> (y:int32) {\n  y = Float[v=1e30, T=int32](x)\n  return y = y:y:0\n}\n"
    "UseFlag() -> (y:bool) {\n  y = Flag[v=true]()\n  return y = y:y:0\n}\n"
    "UseInts(x:double) -> (y:double) {\n  y = Ints[v=[1, 2, 3]](x)\n  return y = y:y:0\n}\n"
    "UseFloats(x:half) -> (y:half) {\n  y = Floats[v=[0.5, -1.5]](x)\n  return y = y:y:0\n}\n"
    "UseFlags() -> (y:bool) {\n  y = Flags[v=[true, false]]()\n  return y = y:y:0\n}\n"
    "UseSlope(x:float) -> (y:float) {\n  y = Slope[v=2](x)\n  return y = y:y:0\n}\n"
    "UseEnsure(x:float) -> (y:float) {\n  y = Ensure[v=[2, 1]](x)\n  return y = y:y:0\n}\n";

typedef struct Case {
  const char *function, *inputs, *want;
} Case;

static const Case kCases[] = {
    {"UseInt", "float[2] 1 2", "float[2] -2 -1"},
    {"UseFloat", "double[] 1", "double[] 1.25"},
    {"UseWhole", "int32[] 1", "int32[] 3"},
    {"UseFlag", "", "bool[] true"},
    {"UseInts", "double[] 1", "double[3] 2 3 4"},
    {"UseFloats", "half[] 1", "half[2] 1.5 -0.5"},
    {"UseFlags", "", "bool[2] true false"},
    {"UseSlope", "float[2] -1 3", "float[2] -2 3"},
    {"UseEnsure", "float[2,1] 4 5", "float[2,1] 4 5"},
};

TEST(numbers_become_what_a_node_wants) {
  Functions f;
  if (functions_begin(&f, kLibrary)) {
    for (size_t i = 0; i < sizeof kCases / sizeof kCases[0]; i++) {
      CHECK_CONTEXT("%s", kCases[i].function);
      function_gives(&f, kCases[i].function, kCases[i].inputs, kCases[i].want);
    }
    CHECK_CONTEXT("%s", "");
    function_fails(&f, "UsePart", "int32[] 1", 1, CODE_INVALID_ARGUMENT, "2.5");
    function_fails(&f, "UseHuge", "int32[] 1", 1, CODE_INVALID_ARGUMENT, "is no value of type int32");
    function_fails(&f, "UseEnsure", "float[2,2] 1 2 3 4", 1, CODE_INVALID_ARGUMENT, "[2,1]");
  }
  functions_end(&f);
}

/* A new runtime for each round, so that every function is instantiated again. */
TEST(functions_with_numbers_short_of_memory_give_the_same_or_say_so) {
  for (size_t i = 0; i < sizeof kCases / sizeof kCases[0]; i++) {
    Shortage shortage = {.what = kCases[i].function, .most = 100};
    do {
      Functions f;
      Tensor result = {0}, want = {0};
      int count = 0;
      bool ready = functions_begin(&f, kLibrary) &&
                   CHECK_OK(tensors_parse(kCases[i].want, &want, 1, &count, &f.status), f.status);
      Tensor args[1] = {{0}};
      const Tensor *pointers[1] = {&args[0]};
      int64_t handle;
      int num_args = 0;
      ready = ready && CHECK_OK(tensors_parse(kCases[i].inputs, args, 1, &num_args, &f.status), f.status);
      shortage_begin(&shortage);
      bool ok =
          ready &&
          function_runtime_instantiate(f.runtime, kCases[i].function, NULL, 0, NULL, &handle, &f.status) &&
          function_runtime_run(f.runtime, handle, NULL, pointers, num_args, &result, 1, &f.status);
      shortage_end(&shortage, ok, f.status.code);
      if (ok) tensor_is_about(&result, &want, 0);
      tensor_clear(&args[0]);
      tensor_clear(&result);
      tensor_clear(&want);
      functions_end(&f);
    } while (shortage_next(&shortage));
  }
}
