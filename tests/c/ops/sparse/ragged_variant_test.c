/* Ragged tensors as variants: gradients, sums and zeros. */
#include "harness.h"
#include "op_runner.h"
#include "runtime/function_fixture.h"

#define TO(batched) \
  "RaggedTensorToVariant[RAGGED_RANK=1, Tvalues=double, Tsplits=int64, batched_input=" batched "]"
#define FROM(rank) \
  "RaggedTensorFromVariant[input_ragged_rank=" rank ", output_ragged_rank=1, Tvalues=double, Tsplits=int64]"

/* y = x * x, with one of them on a way through variants. */
#define SQUARES(name, batched, rank) \
  name "(x:double) -> (y:double) {\n"                                                        \
       "  splits = Const[dtype=int64, value=[0, 2, 2, 3]]()\n"                               \
       "  o = " TO(batched) "(splits:output:0, x)\n"                                         \
       "  v = " FROM(rank) "(o:encoded_ragged:0)\n"                                          \
       "  y = Mul[T=double](x, v:output_dense_values:0)\n"                                   \
       "  return y = y:z:0\n}\n"                                                             \
       "G" name "(x:double, dy:double) -> (dx:double) {\n"                                   \
       "  g = SymbolicGradient[Tin={double, double}, Tout={double}, f=" name "](x, dy)\n"    \
       "  return dx = g:output:0\n}\n"

TEST(gradients_flow_through_variants_of_rows) {
  Functions f;
  if (functions_begin(&f, SQUARES("Rows", "true", "0") SQUARES("Whole", "false", "1"))) {
    function_gives(&f, "GRows", "double[3] 3 4 5; double[3] 10 1 0.5", "double[3] 60 8 5");
    function_gives(&f, "GWhole", "double[3] 3 4 5; double[3] 10 1 0.5", "double[3] 60 8 5");
  }
  functions_end(&f);
}

TEST(variants_of_ragged_tensors_are_added_and_have_zeros) {
  Functions f;
  if (functions_begin(
          &f,
          "S(x:double, y:double, a:int64, b:int64) -> (splits:int64, sum:double, zeros:double) {\n"
          "  first = " TO(
              "false") "(a, x)\n"
                       "  second = " TO(
                           "false") "(b, y)\n"
                                    "  both = AddN[N=2, T=variant](first:encoded_ragged:0, "
                                    "second:encoded_ragged:0)\n"
                                    "  none = ZerosLike[T=variant](first:encoded_ragged:0)\n"
                                    "  sum = " FROM(
                                        "1") "(both:sum:0)\n"
                                             "  zeros = " FROM(
                                                 "1") "(none:y:0)\n"
                                                      "  return splits = sum:output_nested_splits:0, sum = "
                                                      "sum:output_dense_values:0, zeros = "
                                                      "zeros:output_dense_values:0\n}\n")) {
    function_gives(&f, "S", "double[3] 1 2 3; double[3] 10 20 30; int64[3] 0 1 3; int64[3] 0 1 3",
                   "int64[3] 0 1 3; double[3] 11 22 33; double[3] 0 0 0");
    function_fails(&f, "S", "double[3] 1 2 3; double[3] 10 20 30; int64[3] 0 1 3; int64[3] 0 2 3", 3,
                   CODE_INVALID_ARGUMENT, "Can't add RaggedTensorVariants with different row_splits.");
  }
  functions_end(&f);
}

/* The gradient of values of shape `sizes`, whose one row has none; the splits are the argument. */
#define JOIN(name, sizes)                                                                   \
  name "(s:int64) -> (y:double) {\n"                                                        \
       "  shape = Const[dtype=int32, value=-1]()\n"                                         \
       "  list = EmptyTensorList[element_dtype=double, shape_type=int32](shape:output:0, "  \
       "shape:output:0)\n"                                                                  \
       "  sizes = Const[dtype=int32, value=" sizes                                          \
       "]()\n"                                                                              \
       "  y = RaggedTensorToVariantGradient[Tvalues=double, Tsplits=int64](list:handle:0, " \
       "s, sizes:output:0)\n"                                                               \
       "  return y = y:dense_values_grad:0\n}\n"

TEST(rows_of_gradients_that_exceed_64_bits_are_refused) {
  static const char problem[] = "The gradients have too many values";
  Functions f;
  if (functions_begin(&f, JOIN("Two", "[2]") JOIN("None", "[0, 2147483647, 2147483647, 2147483647]"))) {
    function_gives(&f, "Two", "int64[2] 3 5", "double[2] 0 0");
    function_fails(&f, "Two", "int64[2] -9223372036854775808 2147483647", 1, CODE_INVALID_ARGUMENT, problem);
    function_fails(&f, "Two", "int64[2] 5 3", 1, CODE_INVALID_ARGUMENT, problem);
    function_fails(&f, "None", "int64[2] 0 1", 1, CODE_INVALID_ARGUMENT, problem);
  }
  functions_end(&f);
}
