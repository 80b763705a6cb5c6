/* Gradients at points without a derivative, or where formulas divide by zero. */
#include "gradient_checker.h"
#include "harness.h"

TEST(gradients_at_kinks_follow_tensorflow) {
  gradient_is("Maximum[T=float]", "float[2,1] -1.5 1.5; float[2,3] -3 -2 -1 1 2 3",
              "float[2,1] 2 1; float[2,3] 0 0 1 0 1 1");
  gradient_is("Minimum[T=float]", "float[2,1] -1.5 1.5; float[2,3] -3 -2 -1 1 2 3",
              "float[2,1] 1 2; float[2,3] 1 1 0 1 0 0");
  gradient_is("Maximum[T=float]", "float[2] 1 2; float[2] 1 2", "float[2] 1; float[2] 0");
  gradient_is("Minimum[T=float]", "float[2] 1 2; float[2] 1 2", "float[2] 1; float[2] 0");
  gradient_is("Abs[T=float]", "float[3] -2 0 2", "float[3] -1 0 1");
  gradient_is("Sign[T=float]", "float[3] -2 0 2", "float[3] 0");
  gradient_is("Relu[T=float]", "float[3] -2 0 2", "float[3] 0 0 1");
  gradient_is("Relu6[T=float]", "float[5] -2 0 2 6 7", "float[5] 0 0 1 0 0");
  gradient_is("Min[T=float]", "float[2,3] -3 -2 -1 1 2 -3; int32[2] 0 1", "float[2,3] 0.5 0 0 0 0 0.5");
  gradient_is("Max[T=float]", "float[2,3] 3 3 3 1 2 2; int32[] -1",
              "float[2,3] 0.33333333 0.33333333 0.33333333 0 0.5 0.5");
}

TEST(gradient_of_a_product_with_zeros) {
  gradient_holds("Prod[T=double]", "double[3,3] 2 0 3 0 0 4 1 2 5; int32[] 1");
  gradient_holds("Prod[T=double, keep_dims=true]", "double[4] 0 2 3 4; int32[] 0");
  gradient_is("Prod[T=float]", "float[3] 2 0 3; int32[] 0", "float[3] 0 6 0");
}

TEST(gradient_of_a_transposed_product_is_tensorflows) {
  gradient_is("MatMul[T=float, transpose_a=true]", "float[3,2] 1 2 3 4 5 6; float[3,1] -1 0.5 2",
              "float[3,2] -1 -1 0.5 0.5 2 2; float[3,1] 3 7 11");
}
