/* Fused ops: fusions of which golden cases know nothing, and Prelu. */
#include <stdio.h>

#include "gradient_cases.h"
#include "harness.h"
#include "op_runner.h"

#define MATMUL(ops) \
  "_FusedMatMul[T=float, num_args=1, transpose_a=false, transpose_b=false, fused_ops=" ops "]"
#define CONV "_FusedConv2D[T=float, strides=[1, 1, 1, 1], padding=VALID, "
#define DEPTHWISE "[T=float, strides=[1, 1, 1, 1], padding=VALID, "
#define NORM "_FusedBatchNormEx[T=float, U=float, epsilon=0.0, is_training=false, "

/* Phi by its values: Phi(1) = 0.841344746, Phi(-2) = 0.022750132. */
TEST(gelu_is_x_times_the_normal_distribution) {
  op_gives_about(MATMUL("[BiasAdd, GeluExact]"), "float[1,1] 1; float[1,2] 0 0; float[2] 1 -2",
                 "float[1,2] 0.841344746 -0.045500264", 1e-6);
  op_gives_about(MATMUL("[BiasAdd, GeluApproximate]"), "float[1,1] 1; float[1,2] 0 0; float[2] 1 -2",
                 "float[1,2] 0.841191991 -0.045402306", 1e-6);
}

TEST(products_and_convolutions_are_fused_with_sums_and_slopes) {
  op_gives("_FusedMatMul[T=float, num_args=2, fused_ops=[BiasAdd, Add]]",
           "float[1,1] 2; float[1,2] 1 3; float[2] 10 20; float[1,2] 100 -200", "float[1,2] 112 -174");
  op_gives(CONV "num_args=2, TArgs=[float, float], fused_ops=[BiasAdd, Prelu]]",
           "float[1,1,1,1] 2; float[1,1,1,2] 1 3; float[2] -10 20; float[2] 0.5 0.5", "float[1,1,1,2] -4 26");
  op_gives(CONV "num_args=3, TArgs=[float, float, float], fused_ops=[BiasAdd, Add, Prelu]]",
           "float[1,1,1,1] 2; float[1,1,1,2] 1 3; float[2] -10 20; float[1,1,1,2] 0 -30; float[2] 0.5 0.25",
           "float[1,1,1,2] -4 -1");
}

/* Large enough for blas/winograd.h: each result is a sum of 3 * 3 * 16 ones. */
TEST(convolutions_of_tiles_are_fused) {
#define ONES "float[1,12,12,16] 1; float[3,3,16,16] 1; "
  op_gives_about(CONV "num_args=1, TArgs=[float], fused_ops=[BiasAdd, Relu]]", ONES "float[16] -100",
                 "float[1,10,10,16] 44", 1e-5);
  op_gives(CONV "num_args=1, TArgs=[float], fused_ops=[BiasAdd, Relu]]", ONES "float[16] -200",
           "float[1,10,10,16] 0");
}

/* Of one pixel, in planes of channels. */
TEST(convolutions_of_planes_are_fused) {
#define PLANES(type)                                                                               \
  "_FusedConv2D[T=" type ", strides=[1, 1, 1, 1], padding=VALID, num_args=1, TArgs=[" type         \
  "], "                                                                                            \
  "data_format=NCHW, fused_ops=[BiasAdd, Relu]]",                                                  \
      type "[2,2,1,3] 1 2 3 4 5 6 -1 -2 -3 7 8 9; " type "[1,1,2,2] 1 -1 10 0; " type "[2] -45 2", \
      type "[2,2,1,3] 0 7 18 1 0 0 24 33 42 3 4 5"
  op_gives(PLANES("float"));
  op_gives(PLANES("double"));
}

/* The first letter of the name is TensorFlow's; without it the op is one of TensorFlow.js. */
TEST(depthwise_convolutions_are_fused) {
  static const char *const kNames[] = {"_FusedDepthwiseConv2dNative", "FusedDepthwiseConv2dNative"};
  for (int i = 0; i < 2; i++) {
    char op[300];
    snprintf(op, sizeof op, "%s" DEPTHWISE "num_args=1, fused_ops=[BiasAdd, Relu6]]", kNames[i]);
    op_gives(op, "float[1,1,2,2] 1 2 3 4; float[1,1,2,1] 5 -6; float[2] 1 30", "float[1,1,2,2] 6 6 6 6");
    snprintf(op, sizeof op, "%s" DEPTHWISE "num_args=2, fused_ops=[BiasAdd, Prelu]]", kNames[i]);
    op_gives(op, "float[1,1,2,2] 1 2 3 4; float[1,1,2,1] 5 -6; float[2] 1 2; float[2] 0.5 0.25",
             "float[1,1,2,2] 6 -2.5 16 -5.5");
  }
}

/* y = (x - mean) * scale / sqrt(variance) + offset, plus the side input, without what is negative */
TEST(batch_norms_are_fused_with_a_sum_and_relu) {
#define NORM_INPUTS "float[1,1,2,1] 1 -3; float[1] 6; float[1] 5; float[1] 2; float[1] 9"
  op_gives(NORM "num_side_inputs=0, activation_mode=Identity]", NORM_INPUTS,
           "float[1,1,2,1] 3 -5; float[1] 2; float[1] 9; float[1] 2; float[1] 9; float[] 0");
  op_gives(NORM "num_side_inputs=0, activation_mode=Relu]", NORM_INPUTS,
           "float[1,1,2,1] 3 0; float[1] 2; float[1] 9; float[1] 2; float[1] 9; float[] 0");
  op_gives(NORM "num_side_inputs=1, activation_mode=Relu]", NORM_INPUTS "; float[1,1,2,1] -4 6",
           "float[1,1,2,1] 0 1; float[1] 2; float[1] 9; float[1] 2; float[1] 9; float[] 0");
  op_fails(NORM "num_side_inputs=0, activation_mode=Elu]", NORM_INPUTS, CODE_INVALID_ARGUMENT,
           "Unsupported FusedBatchNorm activation mode: Elu");
}

TEST(fusions_must_have_their_arguments) {
  op_fails(MATMUL("[]"), "float[1,1] 1; float[1,1] 0; float[1] 1", CODE_INVALID_ARGUMENT,
           "Fused MatMul must have at least one fused op.");
  op_fails(MATMUL("[BiasAdd, Add]"), "float[1,1] 1; float[1,1] 0; float[1] 1", CODE_INVALID_ARGUMENT,
           "Fused MatMul must have one extra argument: bias.");
  op_fails(MATMUL("[FusedBatchNorm]"), "float[1,1] 1; float[1,1] 0; float[1] 1", CODE_INVALID_ARGUMENT,
           "must have four extra arguments: scale, offset, mean, variance.");
  op_fails(MATMUL("[Relu, Relu, Relu, Relu, Relu, Relu, Relu, Relu, Relu]"),
           "float[1,1] 1; float[1,1] 0; float[1] 1", CODE_INVALID_ARGUMENT, "More than 8 ops are fused");
  op_fails(CONV "num_args=1, TArgs=[float], filter_format=OIHW, fused_ops=[BiasAdd]]",
           "float[1,1,1,1] 2; float[1,1,1,2] 1 3; float[2] -10 20", CODE_UNIMPLEMENTED, "must be HWIO");
}

TEST(prelu_has_a_slope_for_negative_values) {
  op_gives("Prelu[T=float]", "float[2,3] -2 -1 0 1 nan -4; float[3] 0.5 2 3", "float[2,3] -1 -2 0 1 nan -12");
  op_gives("Prelu[T=double]", "double[2] -2 3; double[] 0.5", "double[2] -1 3");
  op_fails("Prelu[T=float]", "float[2] 1; float[3] 1", CODE_INVALID_ARGUMENT, "Incompatible shapes");
}

GRADIENT_CASES(fused_ops, {"Prelu[T=double]", "double[4] -1.5 0.5 2 -3; double[4] 0.5 2 -1 0.25"},
               {"Prelu[T=double]", "double[2,3] -1.5 0.5 2 -3 1 -2; double[3] 0.5 2 -1"},
               {"Prelu[T=double]", "double[] -1.5; double[2] 0.5 2"})

/* --- programs --- */

#define SWISH "fused_ops=[BiasAdd, Sigmoid, Mul], _program_ops=2, _operands=[0, 0, 1]]"
#define SUMS "fused_ops=[AddV2, Mul], _program_ops=2, _operands=[0, 1, 3, 2]]"

/* x / (1 + exp(-x)) of 2 and -4; and (x + z) * s with a z of the result's shape and an s of each channel. */
TEST(products_run_a_program_of_elementwise_ops) {
  op_gives_about("_FusedMatMul[T=float, num_args=1, " SWISH, "float[1,1] 1; float[1,2] 1 -5; float[2] 1 1",
                 "float[1,2] 1.7615942 -0.0719448", 1e-6);
  op_gives_about(CONV "num_args=1, TArgs=[float], " SWISH,
                 "float[1,1,1,1] 1; float[1,1,1,2] 1 -5; float[2] 1 1", "float[1,1,1,2] 1.7615942 -0.0719448",
                 1e-6);
  op_gives("FusedDepthwiseConv2dNative" DEPTHWISE "num_args=2, " SUMS,
           "float[1,1,2,2] 1 2 3 4; float[1,1,2,1] 5 -6; float[1,1,2,2] 10 20 30 40; float[2] 1 -1",
           "float[1,1,2,2] 15 -8 45 -16");
  op_gives("_FusedMatMul[T=float, num_args=2, " SUMS,
           "float[2,1] 1 2; float[1,2] 3 4; float[1,2,2] 1 2 3 4; float[] 10", "float[2,2] 40 60 90 120");
  op_gives(
      "_FusedConv2D[T=double, strides=[1, 1, 1, 1], padding=VALID, num_args=2, TArgs=[double, double], " SUMS,
      "double[1,1,1,1] 2; double[1,1,1,2] 1 3; double[2] 1 2; double[] 10", "double[1,1,1,2] 30 80");
}

/* Large enough for blas/winograd.h: each result is a sum of 3 * 3 * 16 ones. */
TEST(convolutions_of_tiles_run_a_program) {
  op_gives_about(CONV "num_args=2, TArgs=[float, float], " SUMS, ONES "float[16] -100; float[] 2",
                 "float[1,10,10,16] 88", 1e-5);
}

/* Without channels or depth, the program runs on zeros. */
TEST(products_of_nothing_run_a_program) {
  op_gives("_FusedMatMul[T=float, num_args=2, " SUMS, "float[2,0]; float[0,2]; float[2] 1 2; float[] 10",
           "float[2,2] 10 20 10 20");
  op_gives("_FusedMatMul[T=float, num_args=2, " SUMS, "float[0,1]; float[1,2] 1 2; float[2] 1 2; float[] 10",
           "float[0,2]");
  op_gives(CONV "num_args=2, TArgs=[float, float], " SUMS,
           "float[1,1,2,0]; float[1,1,1,2] 1 3; float[2] 1 2; float[] 10", "float[1,1,2,2] 10 20 10 20");
}

TEST(programs_that_do_not_fit_a_product_are_refused) {
  static const char kInputs[] = "float[1,1] 1; float[1,2] 1 -5; float[2] 1 1";
  static const char *const kOps[] =
      {"fused_ops=[BiasAdd, Sigmoid], _program_ops=3, _operands=[0]]",
       "fused_ops=[BiasAdd, Sigmoid], _program_ops=0, _operands=[0]]",
       "fused_ops=[BiasAdd, Elu, Sigmoid], _program_ops=1, _operands=[0]]", /* Elu is no part of either */
       "fused_ops=[BiasAdd, Sigmoid], _program_ops=1, _operands=[1]]",
       "fused_ops=[BiasAdd, Softmax], _program_ops=1, _operands=[0]]",
       "fused_ops=[BiasAdd, Max], _program_ops=1, _operands=[0]]"};
  for (size_t i = 0; i < sizeof kOps / sizeof *kOps; i++) {
    char op[200];
    snprintf(op, sizeof op, "_FusedMatMul[T=float, num_args=1, %s", kOps[i]);
    op_fails(op, kInputs, CODE_INVALID_ARGUMENT, "The program of a fused op is invalid");
  }
  op_fails(
      "_FusedConv2D[T=float, strides=[1, 1, 1, 1], padding=VALID, data_format=NCHW, num_args=1, "
      "TArgs=[float], " SWISH,
      "float[1,1,1,1] 1; float[1,1,1,2] 1 -5; float[2] 1 1", CODE_INVALID_ARGUMENT,
      "The program of a fused op is invalid");
  op_fails("_FusedMatMul[T=float, num_args=2, " SUMS,
           "float[2,1] 1 2; float[1,2] 3 4; float[2,1] 1 2; float[] 10", CODE_INVALID_ARGUMENT,
           "Incompatible shapes: [2,2] vs. [2,1]");
}
