/* Softplus, Softsign, Elu, Selu, LeakyRelu; unary_math_test.c compares them with libm. */
#include <stdio.h>

#include "gradient_cases.h"
#include "gradient_checker.h"
#include "harness.h"
#include "op_runner.h"

TEST(special_values_of_units) {
  op_gives("Softplus[T=float]", "float[5] -inf -200 200 inf nan", "float[5] 0 0 200 inf nan");
  op_gives_about("Softplus[T=double]", "double[2] -50 800", "double[2] 1.9287498479639178e-22 800", 1e-36);
  op_gives("Softsign[T=float]", "float[4] -3 -0.0 1 nan", "float[4] -0.75 -0.0 0.5 nan");
  op_gives("Elu[T=float]", "float[6] -inf -0.0 0 3 inf nan", "float[6] -1 -0.0 0 3 inf nan");
  op_gives_about("Elu[T=double]", "double[] -1e-12", "double[] -9.999999999995e-13", 1e-26);
  op_gives_about("Selu[T=float]", "float[4] -inf 3 inf nan", "float[4] -1.7580993 3.1521029 inf nan", 1e-7);
  op_gives("LeakyRelu", "float[6] -inf -2 -0.0 0 nan 3", "float[6] -inf -0.4 -0.0 0 nan 3");
  op_gives("LeakyRelu[T=double, alpha=2]", "double[2] -2 3", "double[2] -4 3");
  op_gives("LeakyRelu[T=half, alpha=0.5]", "half[2,1] -2 3", "half[2,1] -1 3");
}

TEST(gradient_ops_of_units) {
  op_gives("EluGrad[T=float]", "float[4] 1 2 3 4; float[4] -0.5 0 nan 2", "float[4] 0.5 2 3 4");
  op_gives_about("SeluGrad[T=float]", "float[4] 1 2 3 4; float[4] -0.5 0 nan 2",
                 "float[4] 1.2580993 2.1014020 3.1521029 4.2028039", 1e-7);
  op_gives("LeakyReluGrad[T=float]", "float[4] 1 2 3 4; float[4] -1 0 2 -0.0", "float[4] 0.2 0.4 3 0.8");
  op_gives("SoftplusGrad[T=double]", "double[4] 1 2 3 4; double[4] 0 -inf inf nan", "double[4] 0.5 0 3 nan");
  op_gives("SoftplusGrad[T=bfloat16]", "bfloat16[] 3; bfloat16[] 0", "bfloat16[] 1.5");
  op_gives("SoftsignGrad[T=float]", "float[3] 1 2 18; float[3] 0 1 -2", "float[3] 1 0.5 2");
}

TEST(gradient_ops_want_two_equal_shapes) {
  static const char *const kOps[] = {"EluGrad", "SeluGrad", "LeakyReluGrad", "SoftplusGrad", "SoftsignGrad"};
  char op[64], message[256];
  for (int i = 0; i < 5; i++) {
    snprintf(op, sizeof op, "%s[T=float]", kOps[i]);
    snprintf(message, sizeof message,
             "Inputs to operation n of type %s must have the same size and shape.  Input 0: [3] != input 1: "
             "[2]",
             kOps[i]);
    op_fails(op, "float[3] 1; float[2] 1", CODE_INVALID_ARGUMENT, message);
  }
}

#define UNITS "Softplus|Softsign|Elu|Selu|LeakyRelu[T=double]"
#define GRADIENT_OPS "SoftplusGrad|SoftsignGrad|EluGrad|SeluGrad|LeakyReluGrad[T=double]"
GRADIENT_CASES(linear_units, {UNITS, "double[2,3] -3 -1.5 -0.25 0.5 1.25 2.5"},
               {UNITS, "double[4] -0.7 0.1 1 -2"}, {UNITS, "double[] 0.7"},
               {"LeakyRelu[T=double, alpha=1.5]", "double[2,1] -2 3"},
               {GRADIENT_OPS, "double[4] 1 -2 0.5 3; double[4] -1 2 0.7 -0.4"},
               {GRADIENT_OPS, "double[1,2] -1 2; double[1,2] 0.4 -0.8"},
               {GRADIENT_OPS, "double[] 3; double[] -0.9"},
               {"LeakyReluGrad[T=double, alpha=1.5]", "double[2] 1 2; double[2] -2 3"})

TEST(gradients_of_units_at_zero) {
  gradient_is("LeakyRelu[T=float]", "float[3] 0 1 -1", "float[3] 0.2 1 0.2");
  gradient_is("Elu[T=float]", "float[3] 0 1 -inf", "float[3] 1 1 0");
}
