/* Powers, and products that are zero if their first factor is zero. */
#include <math.h>
#include <stdio.h>

#include "gradient_cases.h"
#include "gradient_checker.h"
#include "harness.h"
#include "op_runner.h"

TEST(powers) {
  op_gives("Pow[T=int32]", "int32[4] 2 3 -2 0; int32[4] 3 0 3 0", "int32[4] 8 1 -8 1");
  op_gives("Pow[T=int64]", "int64[2] 3 2; int64[2] 39 64", "int64[2] 4052555153018976267 0");
  op_gives("Pow[T=double]", "double[4] 2 -2 4 2; double[4] 10 3 0.5 -1", "double[4] 1024 -8 2 0.5");
  op_gives("Pow[T=float]", "float[3] 1.5 -2 inf; float[] 2", "float[3] 2.25 4 inf");
  op_gives("Pow[T=float]", "float[3] 1.5 -2 -inf; float[] 3", "float[3] 3.375 -8 -inf");
  op_gives("Pow[T=float]", "float[7] 0 0 -8 nan 1 -0.0 2; float[7] 0 -1 0.5 0 nan -3 inf",
           "float[7] 1 inf nan 1 1 -inf inf");
  op_gives("Pow[T=bfloat16]", "bfloat16[2,1] 2 3; bfloat16[2] 2 3", "bfloat16[2,2] 4 8 9 27");
  op_gives_about("Pow[T=complex128]", "complex128[4] 1+1i 0 0 0+1i; complex128[4] 2 0 2 0+1i",
                 "complex128[4] 0+2i 1 0 0.20787957635076193", 1e-15);
  op_gives_about("Pow[T=complex64]", "complex64[] -1; complex64[] 0.5", "complex64[] 0+1i", 1e-7);
}

/* A single exponent may be computed differently from many. All values are exact. */
TEST(powers_of_one_exponent) {
  static const struct {
    const char *exponent, *powers; /* of 1.5, -2 and 4 */
  } kCases[] =
      {{"0", "1 1 1"},         {"1", "1.5 -2 4"},         {"2", "2.25 4 16"},        {"3", "3.375 -8 64"},
       {"4", "5.0625 16 256"}, {"5", "7.59375 -32 1024"}, {"6", "11.390625 64 4096"}};
  static const char *const kTypes[] = {"float", "double", "half", "bfloat16"};
  for (size_t t = 0; t < sizeof kTypes / sizeof *kTypes; t++) {
    for (size_t i = 0; i < sizeof kCases / sizeof *kCases; i++) {
      char spec[32], inputs[64], outputs[64];
      bool rounds = t == 3 && i > 4; /* bfloat16 has 8 bits */
      snprintf(spec, sizeof spec, "Pow[T=%s]", kTypes[t]);
      snprintf(inputs, sizeof inputs, "%s[3] 1.5 -2 4; %s[] %s", kTypes[t], kTypes[t], kCases[i].exponent);
      snprintf(outputs, sizeof outputs, "%s[3] %s", kTypes[t], kCases[i].powers);
      op_gives_about(spec, inputs, outputs, rounds ? 0.04 : 0);
    }
    char spec[32], inputs[64], outputs[64];
    snprintf(spec, sizeof spec, "Pow[T=%s]", kTypes[t]);
    snprintf(inputs, sizeof inputs, "%s[2] 0.25 16; %s[] -1.5", kTypes[t], kTypes[t]);
    snprintf(outputs, sizeof outputs, "%s[2] 8 0.015625", kTypes[t]);
    op_gives_about(spec, inputs, outputs, 0);
  }
}

TEST(integers_have_no_powers_below_zero) {
  op_fails("Pow[T=int32]", "int32[2] 2 3; int32[2] 3 -1", CODE_INVALID_ARGUMENT,
           "Integers to negative integer powers are not allowed");
  op_fails("Pow[T=int64]", "int64[2] 1 3; int64[] -3", CODE_INVALID_ARGUMENT,
           "Integers to negative integer powers are not allowed");
  op_gives("Pow[T=int32]", "int32[0]; int32[] -1", "int32[0]");
}

TEST(powers_match_libm) {
  for (int pass = 0; pass < 3; pass++) {
    static const char *const kOps[] = {"Pow[T=float]", "Pow[T=double]", "Pow[T=half]"};
    static const DataType kTypes[] = {DT_FLOAT, DT_DOUBLE, DT_HALF};
    static const double kPrecision[] = {3e-7, 1e-15, 1e-3};
    Status status;
    status_init(&status);
    OpRun run;
    REQUIRE_OK(op_run_begin(&run, kOps[pass], &status), status);
    Tensor *x = op_run_input(&run, kTypes[pass], 2, (int64_t[]){40, 1}),
           *y = op_run_input(&run, kTypes[pass], 1, (int64_t[]){31});
    for (int i = 0; i < 40; i++) tensor_put(x, i, pass == 2 ? 0.5 + i * 0.1 : exp((i - 20) * 0.9));
    for (int i = 0; i < 31; i++) tensor_put(y, i, (i - 15) * 0.25);
    if (CHECK_OK(op_run_compute(&run, &status), status)) {
      for (int i = 0; i < 40 * 31; i++) {
        double want = pow(tensor_get(x, i / 31), tensor_get(y, i % 31));
        if (!CHECK_NEAR(tensor_get(&run.outputs[0], i), want, kPrecision[pass] * want)) break;
      }
    }
    op_run_end(&run);
  }
}

TEST(products_that_are_zero) {
  op_gives_about("Xlogy[T=float]", "float[4] 0 0 1 2; float[4] 0 nan 0 3", "float[4] 0 0 -inf 2.1972246",
                 1e-7);
  op_gives("Xdivy[T=float]", "float[4] 0 0 1 3; float[4] 0 nan 0 2", "float[4] 0 0 inf 1.5");
  op_gives_about("Xlog1py[T=double]", "double[4] 0 0 1 2; double[4] -1 nan -1 1e-20",
                 "double[4] 0 0 -inf 2e-20", 0);
  op_gives_about("Xlogy[T=half]", "half[2,1] 0 2; half[2] 0 1", "half[2,2] 0 0 -inf 0", 0);
  op_gives_about("Xlogy[T=complex128]", "complex128[2] 0 0+1i; complex128[2] 0 -1",
                 "complex128[2] 0 -3.141592653589793", 1e-15);
  op_gives("Xdivy[T=complex64]", "complex64[2] 0 0+1i; complex64[2] 0 2", "complex64[2] 0 0+0.5i");
  op_gives_about("Xlog1py[T=complex128]", "complex128[2] 0 0+1i; complex128[2] -1 -2",
                 "complex128[2] 0 -3.141592653589793", 1e-15);
  op_gives("Xlog1py[T=bfloat16]", "bfloat16[] 0; bfloat16[] -1", "bfloat16[] 0");
}

/* Longer than a block, with either operand constant, and zeros, against C's functions in double. */
TEST(products_with_logarithms_match_libm) {
  static const char *const kOps[] = {"Xlogy", "Xlog1py"};
  enum { COUNT = 1003 };
  for (int pass = 0; pass < 12; pass++) {
    int op = pass % 2, still = pass / 2 % 3;
    bool wide = pass >= 6;
    char spec[32];
    snprintf(spec, sizeof spec, "%s[T=%s]", kOps[op], wide ? "double" : "float");
    CHECK_CONTEXT("%s, pass %d", spec, pass);
    Status status;
    status_init(&status);
    OpRun run;
    REQUIRE_OK(op_run_begin(&run, spec, &status), status);
    const Tensor *inputs[2];
    for (int k = 0; k < 2; k++) {
      int64_t count = still == k + 1 ? 1 : COUNT;
      Tensor *x = op_run_input(&run, wide ? DT_DOUBLE : DT_FLOAT, 1, &count);
      REQUIRE(x);
      inputs[k] = x;
      for (int64_t i = 0; i < count; i++) {
        double value = k == 0 ? (i % 7 == 3 ? 0 : (double)(i - 500) / 64) : (double)(i + 1) / 256;
        if (wide) tensor_f64(x)[i] = value;
        else tensor_f32(x)[i] = (float)value;
      }
    }
    if (CHECK_OK(op_run_compute(&run, &status), status)) {
      for (int i = 0; i < COUNT; i++) {
        int at_x = still == 1 ? 0 : i, at_y = still == 2 ? 0 : i;
        double x = wide ? tensor_f64(inputs[0])[at_x] : tensor_f32(inputs[0])[at_x];
        double y = wide ? tensor_f64(inputs[1])[at_y] : tensor_f32(inputs[1])[at_y];
        double want = x == 0 ? 0 : x * (op ? log1p(y) : log(y));
        double got = wide ? tensor_f64(&run.outputs[0])[i] : tensor_f32(&run.outputs[0])[i];
        if (!CHECK_NEAR(got, want, fabs(want) * (wide ? 1e-15 : 2.4e-7))) break;
      }
    }
    op_run_end(&run);
  }
  CHECK_CONTEXT("%s", "");
}

#define PRODUCTS "Pow|Xlogy|Xlog1py|Xdivy[T=double]"
GRADIENT_CASES(power, {PRODUCTS, "double[3] 1.3 0.2 3.1; double[3] 0.7 1.1 2.4"},
               {PRODUCTS, "double[2,1] 1.3 2.2; double[3] 0.7 1.1 2.4"},
               {PRODUCTS, "double[] 1.7; double[2,2] 0.7 1.1 2.4 3"},
               {"Pow[T=double]", "double[2] 1.3 2.2; double[3,1] 0 2 -1.5"})

TEST(gradients_of_powers_at_zero) {
  gradient_is("Pow[T=float]", "float[5] 0 0 0 2 -2; float[5] 0 1 2 3 2",
              "float[5] 0 1 0 12 -4; float[5] 0 0 0 5.5451775 0");
  gradient_is("Pow[T=bfloat16]", "bfloat16[2] 2 -2; bfloat16[2] 3 2",
              "bfloat16[2] 12 -4; bfloat16[2] 5.53125 0");
}

TEST(gradients_of_products_at_zero) {
  gradient_is("Xlogy[T=float]", "float[3] 0 0 1; float[3] 0 2 3",
              "float[3] 0 0 1.0986123; float[3] 0 0 0.33333333");
  gradient_is("Xdivy[T=float]", "float[3] 0 0 1; float[3] 0 2 4", "float[3] 0 0 0.25; float[3] 0 0 -0.0625");
  gradient_is("Xlog1py[T=float]", "float[3] 0 0 1; float[3] -1 2 3",
              "float[3] 0 0 1.3862944; float[3] 0 0 0.25");
  gradient_is("Xlog1py[T=bfloat16]", "bfloat16[3] 0 0 1; bfloat16[3] -1 2 3",
              "bfloat16[3] 0 0 1.3828125; bfloat16[3] 0 0 0.25");
}
