/* Rounding, and tests for infinity and NaN; unary_math_test.c compares rounding with libm. */
#include <float.h>
#include <math.h>

#include "gradient_cases.h"
#include "gradient_checker.h"
#include "harness.h"
#include "op_runner.h"

TEST(rounding) {
  op_gives("Floor[T=float]", "float[6] 1.5 -1.5 -0.0 inf nan 1e30", "float[6] 1 -2 -0.0 inf nan 1e30");
  op_gives("Ceil[T=double]", "double[4] 1.5 -1.5 -0.5 -inf", "double[4] 2 -1 -0.0 -inf");
  op_gives("Rint[T=float]", "float[5] 0.5 1.5 -0.5 2.5 8388609", "float[5] 0 2 -0.0 2 8388609");
  op_gives("Round[T=double]", "double[5] 0.5 1.5 -0.5 -2.5 nan", "double[5] 0 2 -0.0 -2 nan");
  op_gives("Round[T=half]", "half[2] 2.5 3.5", "half[2] 2 4");
  op_gives("Round[T=int32]", "int32[2] 7 -2147483648", "int32[2] 7 -2147483648");
  op_gives("Round[T=int64]", "int64[1] 9007199254740993", "int64[1] 9007199254740993");
  op_fails("Round[T=complex64]", "complex64[] 1", CODE_NOT_FOUND,
           "No OpKernel was registered to support Op 'Round'");
}

TEST(numbers_that_are_none) {
  const char *floats = "float[6] nan inf -inf 0 1e-45 3e38";
  op_gives("IsNan[T=float]", floats, "bool[6] 1 0 0 0 0 0");
  op_gives("IsInf[T=float]", floats, "bool[6] 0 1 1 0 0 0");
  op_gives("IsFinite[T=float]", floats, "bool[6] 0 0 0 1 1 1");
  op_gives("IsNan[T=half]", "half[3] nan inf 1", "bool[3] 1 0 0");
  op_gives("IsInf[T=bfloat16]", "bfloat16[2,2] nan inf 1 -inf", "bool[2,2] 0 1 0 1");
  op_gives("IsFinite[T=double]", "double[3] nan inf 1e308", "bool[3] 0 0 1");
  op_gives("IsNan[T=double]", "double[0,2]", "bool[0,2]");
}

TEST(next_numbers) {
  op_gives("NextAfter[T=float]", "float[4] 1 0 1 nan; float[4] 2 -1 1 0",
           "float[4] 1.00000011920929 -1.4012984643248171e-45 1 nan");
  op_gives("NextAfter[T=double]", "double[2,1] 1 -1; double[2] 9 -9",
           "double[2,2] 1.0000000000000002 0.9999999999999999 -0.9999999999999999 -1.0000000000000002");
}

/* All pairs, compared with the C library's function; the sign of 0 counts. */
static void check_next(DataType type, const double *numbers, int64_t count) {
  OpRun run;
  Status status;
  status_init(&status);
  CHECK_OK(op_run_begin(&run, type == DT_FLOAT ? "NextAfter[T=float]" : "NextAfter[T=double]", &status),
           status);
  Tensor *a = op_run_input(&run, type, 2, (int64_t[]){count, 1}),
         *b = op_run_input(&run, type, 1, (int64_t[]){count});
  CHECK(a && b);
  for (int64_t i = 0; i < count; i++) tensor_put(a, i, numbers[i]), tensor_put(b, i, numbers[i]);
  CHECK_OK(op_run_compute(&run, &status), status);
  for (int64_t i = 0; i < count * count; i++) {
    double x = numbers[i / count], y = numbers[i % count], got = tensor_get(&run.outputs[0], i);
    double want = type == DT_FLOAT ? (double)nextafterf((float)x, (float)y) : nextafter(x, y);
    CHECK_CONTEXT("after %g towards %g: %.17g, want %.17g", x, y, got, want);
    CHECK(isnan(want) ? isnan(got) : got == want && signbit(got) == signbit(want));
  }
  op_run_end(&run);
  CHECK_CONTEXT("%s", "");
}

TEST(next_numbers_of_all_kinds) {
  static const double kFloats[] = {0,
                                   -0.0,
                                   1,
                                   -1,
                                   0x1p-149,
                                   -0x1p-149,
                                   0x1p-126,
                                   -0x1p-126,
                                   INFINITY,
                                   -INFINITY,
                                   NAN,
                                   -NAN,
                                   0x1.fffffep127,
                                   -0x1.fffffep127,
                                   2,
                                   -2,
                                   0x1.fffffep0,
                                   3.5,
                                   -1e-40};
  static const double kDoubles[] =
      {0,         -0.0, 1,    -1,      0x1p-1074, -0x1p-1074, 0x1p-1022, -0x1p-1022,          INFINITY,
       -INFINITY, NAN,  -NAN, DBL_MAX, -DBL_MAX,  2,          -2,        0x1.fffffffffffffp0, 3.5,
       -1e-310};
  check_next(DT_FLOAT, kFloats, sizeof kFloats / sizeof *kFloats);
  check_next(DT_DOUBLE, kDoubles, sizeof kDoubles / sizeof *kDoubles);
}

GRADIENT_CASES(rounding, {"NextAfter[T=double]", "double[3] 1 2 -3; double[3] 2 1 0"},
               {"NextAfter[T=double]", "double[2,1] 1 -3; double[3] 20 10 40"},
               {"NextAfter[T=double]", "double[] 1; double[2,2] 20 10 40 3"})

TEST(steps_have_no_gradient) {
  static const char *const kOps[] = {"Floor[T=float]", "Ceil[T=float]", "Rint[T=float]", "Round[T=float]"};
  for (int i = 0; i < 4; i++) gradient_is(kOps[i], "float[2] 1.3 2", "none");
}
