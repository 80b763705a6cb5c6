/* Gradients of all ops, from recorded facts of TensorFlow and against central differences. */
#include <stdio.h>

#include "gradient_checker.h"
#include "harness.h"

TEST(gradients_of_functions) {
  static const char *const kAnywhere[] = {"Neg", "Abs", "Sign", "Square", "Exp", "Expm1", "Tanh", "Sigmoid", "Relu"};
  static const char *const kPositive[] = {"Sqrt", "Rsqrt", "Reciprocal", "Inv", "Log", "Log1p", "Relu6"};
  char op[64];
  for (int i = 0; i < 9; i++) {
    snprintf(op, sizeof op, "%s[T=double]", kAnywhere[i]);
    gradient_holds_twice(op, "double[2,3] -3 -1.5 -0.25 0.5 1.25 2.5");
  }
  for (int i = 0; i < 7; i++) {
    snprintf(op, sizeof op, "%s[T=double]", kPositive[i]);
    gradient_holds_twice(op, "double[5] 0.2 0.7 1.5 4 7");
  }
}

TEST(gradients_of_gradient_ops) {
  static const char *const kOps[] = {"SqrtGrad", "RsqrtGrad", "ReciprocalGrad", "InvGrad", "TanhGrad", "SigmoidGrad"};
  char op[64];
  for (int i = 0; i < 6; i++) {
    snprintf(op, sizeof op, "%s[T=double]", kOps[i]);
    gradient_holds_twice(op, "double[4] 0.3 0.6 1.5 2; double[4] 1 -2 0.5 3");
  }
  gradient_holds_twice("ReluGrad[T=double]", "double[4] 1 -2 0.5 3; double[4] -1 2 3 -4");
  gradient_holds_twice("Relu6Grad[T=double]", "double[4] 1 -2 0.5 3; double[4] -1 2 7 4");
}

TEST(gradients_of_broadcasting_ops) {
  static const char *const kOps[] = {"Add", "AddV2", "Sub", "Mul", "RealDiv", "Maximum", "Minimum", "SquaredDifference"};
  static const char *const kInputs[] = {
      "double[2,3] -3 -2 -1.5 1 2.5 3; double[2,3] 1 2 -3.5 0.5 -1 4", "double[2,3] -3 -2 -1.5 1 2.5 3; double[3] 1.2 -2.2 0.7",
      "double[2,1] -1.7 2; double[2,3] 1 2.2 -3.5 0.5 -1 4",           "double[] 1.7; double[2,2] 1 2.2 -3.5 0.5",
      "double[3,1] 1 2.5 -3; double[1,2] 0.5 -1.7",                    "double[1,3] 1 2.5 -3; double[1,1] 0.7",
      "double[] 2; double[] 3",                                        "double[0,3]; double[3] 1 2 3"};
  char op[64];
  for (int i = 0; i < 8; i++) {
    snprintf(op, sizeof op, "%s[T=double]", kOps[i]);
    for (int k = 0; k < 8; k++) gradient_holds_twice(op, kInputs[k]);
  }
}

TEST(gradients_at_kinks_follow_tensorflow) {
  gradient_is("Maximum[T=float]", "float[2,1] -1.5 1.5; float[2,3] -3 -2 -1 1 2 3", "float[2,1] 2 1; float[2,3] 0 0 1 0 1 1");
  gradient_is("Minimum[T=float]", "float[2,1] -1.5 1.5; float[2,3] -3 -2 -1 1 2 3", "float[2,1] 1 2; float[2,3] 1 1 0 1 0 0");
  gradient_is("Maximum[T=float]", "float[2] 1 2; float[2] 1 2", "float[2] 1; float[2] 0");
  gradient_is("Minimum[T=float]", "float[2] 1 2; float[2] 1 2", "float[2] 1; float[2] 0");
  gradient_is("Abs[T=float]", "float[3] -2 0 2", "float[3] -1 0 1");
  gradient_is("Sign[T=float]", "float[3] -2 0 2", "float[3] 0");
  gradient_is("Relu[T=float]", "float[3] -2 0 2", "float[3] 0 0 1");
  gradient_is("Relu6[T=float]", "float[5] -2 0 2 6 7", "float[5] 0 0 1 0 0");
  gradient_is("Min[T=float]", "float[2,3] -3 -2 -1 1 2 -3; int32[2] 0 1", "float[2,3] 0.5 0 0 0 0 0.5");
  gradient_is("Max[T=float]", "float[2,3] 3 3 3 1 2 2; int32[] -1", "float[2,3] 0.33333333 0.33333333 0.33333333 0 0.5 0.5");
}

TEST(gradients_of_reductions) {
  static const char *const kOps[] = {"Sum", "Mean", "Max", "Min", "Prod"};
  static const char *const kAxes[] = {"int32[] 1", "int32[] -1", "int32[2] 0 -1", "int32[1] 0", "int32[0]", "int32[3] 0 1 2"};
  char op[64], inputs[128];
  for (int i = 0; i < 5; i++) {
    for (int keep = 0; keep < 2; keep++) {
      snprintf(op, sizeof op, "%s[T=double, keep_dims=%s]", kOps[i], keep ? "true" : "false");
      for (int a = 0; a < 6; a++) {
        snprintf(inputs, sizeof inputs, "double[2,3,2] 1.5 -2 3 0.5 1 4 -1.2 2.5 0.7 -3 2 1.1; %s", kAxes[a]);
        gradient_holds_twice(op, inputs);
      }
      gradient_holds(op, "double[] 1.5; int32[0]");
      if (i < 2) gradient_holds(op, "double[0,2]; int32[] 0");
    }
  }
  gradient_holds_twice("Mean[T=double, Tidx=int64]", "double[2,2] 1 2 3 4; int64[] 0");
}

TEST(gradient_of_a_product_with_zeros) {
  gradient_holds("Prod[T=double]", "double[3,3] 2 0 3 0 0 4 1 2 5; int32[] 1");
  gradient_holds("Prod[T=double, keep_dims=true]", "double[4] 0 2 3 4; int32[] 0");
  gradient_is("Prod[T=float]", "float[3] 2 0 3; int32[] 0", "float[3] 0 6 0");
}

TEST(gradients_of_matmul) {
  char op[96], inputs[128];
  for (int ta = 0; ta < 2; ta++) {
    for (int tb = 0; tb < 2; tb++) {
      snprintf(op, sizeof op, "MatMul[T=double, transpose_a=%s, transpose_b=%s]", ta ? "true" : "false", tb ? "true" : "false");
      snprintf(inputs, sizeof inputs, "double[%s] 1 2 3 4 -5 6; double[%s] -1 0.5 2 3 1.5 -2 0.7 4 1 2 3 -1", ta ? "3,2" : "2,3", tb ? "4,3" : "3,4");
      gradient_holds_twice(op, inputs);
    }
  }
  gradient_holds("MatMul[T=double]", "double[0,3]; double[3,2] 1 2 3 4 5 6");
  gradient_is("MatMul[T=float, transpose_a=true]", "float[3,2] 1 2 3 4 5 6; float[3,1] -1 0.5 2",
              "float[3,2] -1 -1 0.5 0.5 2 2; float[3,1] 3 7 11");
}

TEST(gradients_of_bias) {
  gradient_holds_twice("BiasAdd[T=double]", "double[2,3] 1 2 3 4 5 6; double[3] 1 2 3");
  gradient_holds_twice("BiasAdd[T=double, data_format=NCHW]", "double[2,2,3] 1 2 3 4 5 6 7 8 9 1 2 3; double[2] 1 2");
  gradient_holds_twice("BiasAddV1[T=double]", "double[2,1,3] 1 2 3 4 5 6; double[3] 1 2 3");
  gradient_holds_twice("BiasAddGrad[T=double]", "double[2,3] 1 2 3 4 5 6");
  gradient_holds_twice("BiasAddGrad[T=double, data_format=NCHW]", "double[2,2,3] 1 2 3 4 5 6 7 8 9 1 2 3");
}

TEST(gradients_of_softmax) {
  const char *logits = "double[2,4] 0.5 -1 2 0.1 1 1 -0.5 3";
  gradient_holds_twice("Softmax[T=double]", logits);
  gradient_holds_twice("LogSoftmax[T=double]", logits);
  gradient_holds_twice("Softmax[T=double]", "double[3] 1 2 0.5");
  gradient_holds("LogSoftmax[T=double]", "double[2,1,3] 1 2 0.5 -1 0 1");
}

/* Both outputs are differentiated: loss, and backprop for second derivatives. */
TEST(gradients_of_cross_entropy) {
  gradient_holds_twice("SparseSoftmaxCrossEntropyWithLogits[T=double, Tlabels=int32]",
                       "double[3,4] 0.5 -1 2 0.1 1 1 -0.5 3 0.2 0.4 0.6 0.8; int32[3] 2 0 3");
  gradient_holds_twice("SoftmaxCrossEntropyWithLogits[T=double]",
                 "double[2,3] 0.5 -1 2 0.1 1 1; double[2,3] 0.2 0.3 0.5 0.1 0.1 0.8");
  gradient_holds_twice("SoftmaxCrossEntropyWithLogits[T=double]", "double[1,3] 0.5 -1 2; double[2,3] 0.2 0.3 0.5 0.1 0.1 0.8");
}

TEST(gradients_of_choices_and_sums) {
  gradient_holds_twice("Select[T=double]", "bool[2,2] 1 0 0 1; double[2,2] 1 2 3 4; double[2,2] 5 6 7 8");
  gradient_holds_twice("Select[T=double]", "bool[2] 1 0; double[2,2] 1 2 3 4; double[2,2] 5 6 7 8");
  gradient_holds("Select[T=double]", "bool[] 1; double[2] 1 2; double[2] 5 6");
  gradient_holds_twice("AddN[N=3, T=double]", "double[2] 1 2; double[2] 3 4; double[2] 5 6");
  gradient_holds("AddN[N=1, T=double]", "double[2] 1 2");
  gradient_holds_twice("BroadcastTo[T=double]", "double[2,1] 1 2; int32[3] 3 2 4");
  gradient_holds("BroadcastTo[T=double, Tidx=int64]", "double[] 1; int64[2] 3 2");
  gradient_holds("Cast[SrcT=double, DstT=double]", "double[2] 1 2");
  gradient_is("Cast[SrcT=float, DstT=double]", "float[2] 1 2", "float[2] 1");
  gradient_is("Cast[SrcT=half, DstT=float]", "half[2] 1 2", "half[2] 1");
}
