/* Circular and hyperbolic functions; unary_math_test.c compares them with libm. */
#include <complex.h>
#include <math.h>
#include <stdio.h>

#include "gradient_cases.h"
#include "gradient_checker.h"
#include "harness.h"
#include "op_runner.h"

TEST(special_values_of_circular_functions) {
  op_gives("Sin[T=float]", "float[4] -0.0 inf nan 0", "float[4] -0.0 nan nan 0");
  op_gives("Cos[T=float]", "float[3] 0 -inf nan", "float[3] 1 nan nan");
  op_gives("Asin[T=double]", "double[2] 2 -0.0", "double[2] nan -0.0");
  op_gives("Acosh[T=double]", "double[3] 1 0.5 inf", "double[3] 0 nan inf");
  op_gives("Atanh[T=float]", "float[3] 1 -1 2", "float[3] inf -inf nan");
  op_gives_about("Atan[T=double]", "double[2] inf -inf", "double[2] 1.5707963267948966 -1.5707963267948966",
                 1e-16);
  op_gives("Cosh[T=float]", "float[3] 1000 -inf 0", "float[3] inf inf 1");
}

TEST(angles_of_points) {
  op_gives_about("Atan2[T=double]", "double[4] 0 -0.0 1 -1; double[4] -1 -1 0 1",
                 "double[4] 3.141592653589793 -3.141592653589793 1.5707963267948966 -0.7853981633974483",
                 1e-16);
  op_gives_about("Atan2[T=float]", "float[2,1] 1 -1; float[2] 1 -1",
                 "float[2,2] 0.7853982 2.3561945 -0.7853982 -2.3561945", 1e-7);
  op_gives("Atan2[T=float]", "float[2] 0 -0.0; float[] -1", "float[2] 3.1415927 -3.1415927");
  op_gives("Atan2[T=float]", "float[] 0; float[3] -0.0 nan inf", "float[3] 3.1415927 nan 0");
  op_gives("Atan2[T=half]", "half[2] 0 -0.0; half[] 5", "half[2] 0 -0.0");
  op_fails("Atan2[T=float]", "float[2] 1; float[3] 1", CODE_INVALID_ARGUMENT,
           "Incompatible shapes: [2] vs. [3]");
}

typedef double _Complex ComplexFunction(double _Complex z);

/* By their definitions through exponentials; the inverses are checked by applying the functions. */
static double _Complex by_sin(double _Complex z) { return (cexp(I * z) - cexp(-I * z)) / (2 * I); }
static double _Complex by_cos(double _Complex z) { return (cexp(I * z) + cexp(-I * z)) / 2; }
static double _Complex by_tan(double _Complex z) { return by_sin(z) / by_cos(z); }
static double _Complex by_sinh(double _Complex z) { return (cexp(z) - cexp(-z)) / 2; }
static double _Complex by_cosh(double _Complex z) { return (cexp(z) + cexp(-z)) / 2; }
static double _Complex by_tanh(double _Complex z) { return by_sinh(z) / by_cosh(z); }

static void check_complex(const char *name, ComplexFunction *f, bool inverse, bool wide) {
  char spec[64];
  snprintf(spec, sizeof spec, "%s[T=%s]", name, wide ? "complex128" : "complex64");
  CHECK_CONTEXT("%s", spec);
  Status status;
  status_init(&status);
  OpRun run;
  REQUIRE_OK(op_run_begin(&run, spec, &status), status);
  const char *inputs = wide ? "complex128[5] 1+0.5i -0.7+2i 0.3-1.1i -2-0.4i 0"
                            : "complex64[5] 1+0.5i -0.7+2i 0.3-1.1i -2-0.4i 0";
  CHECK_OK(op_run_inputs(&run, inputs, &status), status);
  if (CHECK_OK(op_run_compute(&run, &status), status)) {
    const void *x = run.inputs[0].data, *y = run.outputs[0].data;
    for (int k = 0; k < 5; k++) {
      double _Complex in = wide ? ((const double _Complex *)x)[k] : ((const float _Complex *)x)[k];
      double _Complex out = wide ? ((const double _Complex *)y)[k] : ((const float _Complex *)y)[k];
      CHECK_NEAR(cabs(inverse ? f(out) - in : f(in) - out), 0, wide ? 1e-14 : 2e-6);
    }
  }
  op_run_end(&run);
}

TEST(complex_functions_and_their_inverses) {
  static const struct {
    const char *name;
    ComplexFunction *f;
    bool inverse;
  } kCases[] = {{"Sin", by_sin, false},   {"Cos", by_cos, false},   {"Tan", by_tan, false},
                {"Sinh", by_sinh, false}, {"Cosh", by_cosh, false}, {"Tanh", by_tanh, false},
                {"Asin", by_sin, true},   {"Acos", by_cos, true},   {"Atan", by_tan, true},
                {"Asinh", by_sinh, true}, {"Acosh", by_cosh, true}, {"Atanh", by_tanh, true}};
  for (size_t i = 0; i < sizeof kCases / sizeof kCases[0]; i++) {
    for (int wide = 0; wide < 2; wide++) check_complex(kCases[i].name, kCases[i].f, kCases[i].inverse, wide);
  }
  CHECK_CONTEXT("%s", "");
}

#define EVERYWHERE "Sin|Cos|Tan|Atan|Sinh|Cosh|Asinh[T=double]"
#define BELOW_ONE "Asin|Acos|Atanh[T=double]"
#define OF_COMPLEX "Sin|Cos|Tan|Asin|Acos|Atan|Sinh|Cosh|Asinh|Acosh|Atanh[T=complex128]"
GRADIENT_CASES(trigonometry, {EVERYWHERE, "double[2,3] -2.5 -1.2 -0.25 0.5 1.25 2.5"},
               {EVERYWHERE, "double[4] -0.7 0.1 1 -2"}, {EVERYWHERE, "double[] 0"},
               {BELOW_ONE, "double[2,2] -0.8 -0.25 0.5 0.1"}, {BELOW_ONE, "double[3] -0.6 0.3 0.7"},
               {BELOW_ONE, "double[] 0"}, {"Acosh[T=double]", "double[2,2] 1.5 2 3 7"},
               {"Acosh[T=double]", "double[3] 1.3 2.5 4"}, {"Acosh[T=double]", "double[] 2"},
               {OF_COMPLEX, "complex128[3] 1+0.5i -0.5+1i 0.7-1.1i"},
               {"Atan2[T=double]", "double[4] 1 -2 0.5 -0.1; double[4] 2 -1 -3 0.7"},
               {"Atan2[T=double]", "double[2,1] 1 -2; double[3] 2 -1 0.4"},
               {"Atan2[T=double]", "double[] 1; double[2,2] 2 -1 0.4 3"})

TEST(slopes_of_inverse_hyperbolic_functions) {
  gradient_is("Acosh[T=double]", "double[2] 2 1.5", "double[2] 0.5773502691896258 0.8944271909999159");
  gradient_is("Asinh[T=double]", "double[2] 0 0.75", "double[2] 1 0.8");
}
