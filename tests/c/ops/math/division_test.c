/* Quotients and remainders. */
#include "gradient_cases.h"
#include "gradient_checker.h"
#include "harness.h"
#include "op_runner.h"

TEST(quotients_of_integers) {
  const char *inputs = "int32[4] 7 -7 7 -7; int32[4] 2 2 -2 -2";
  op_gives("Div[T=int32]", inputs, "int32[4] 3 -3 -3 3");
  op_gives("TruncateDiv[T=int32]", inputs, "int32[4] 3 -3 -3 3");
  op_gives("FloorDiv[T=int32]", inputs, "int32[4] 3 -4 -4 3");
  op_gives("Mod[T=int32]", inputs, "int32[4] 1 -1 1 -1");
  op_gives("TruncateMod[T=int32]", inputs, "int32[4] 1 -1 1 -1");
  op_gives("FloorMod[T=int32]", inputs, "int32[4] 1 1 -1 -1");
  op_gives("FloorDiv[T=int64]", "int64[3] 6 -6 9007199254740993; int64[] 3",
           "int64[3] 2 -2 3002399751580331");
  op_gives("FloorMod[T=int64]", "int64[2,1] 5 -5; int64[2] 3 -3", "int64[2,2] 2 -1 1 -2");
  op_gives("FloorDiv[T=uint8]", "uint8[2] 255 200; uint8[2] 2 255", "uint8[2] 127 0");
  op_gives("Div[T=uint16]", "uint16[] 65535; uint16[2] 65535 256", "uint16[2] 1 255");
  op_gives("FloorDiv[T=int8]", "int8[2] -7 7; int8[] 2", "int8[2] -4 3");
  op_gives("TruncateDiv[T=int16]", "int16[2] -7 7; int16[] 2", "int16[2] -3 3");
}

/* The quotient is not representable; it wraps around. */
TEST(smallest_integer_over_minus_one) {
  static const char *const kOps[] = {"Div[T=int32]", "FloorDiv[T=int32]", "TruncateDiv[T=int32]"};
  for (int i = 0; i < 3; i++)
    op_gives(kOps[i], "int32[] -2147483648; int32[2] -1 1", "int32[2] -2147483648 -2147483648");
  op_gives("FloorDiv[T=int64]", "int64[] -9223372036854775808; int64[] -1", "int64[] -9223372036854775808");
  op_gives("Div[T=int8]", "int8[] -128; int8[] -1", "int8[] -128");
  op_gives("FloorDiv[T=int16]", "int16[] -32768; int16[] -1", "int16[] -32768");
  op_gives("FloorMod[T=int32]", "int32[] -2147483648; int32[] -1", "int32[] 0");
  op_gives("Mod[T=int64]", "int64[] -9223372036854775808; int64[] -1", "int64[] 0");
}

TEST(integers_by_zero) {
  static const char *const kOps[] = {"Div[T=int32]",      "FloorDiv[T=int32]", "TruncateDiv[T=int32]",
                                     "FloorMod[T=int32]", "Mod[T=int32]",      "TruncateMod[T=int32]"};
  for (int i = 0; i < 6; i++) {
    op_fails(kOps[i], "int32[2] 7 1; int32[2] 2 0", CODE_INVALID_ARGUMENT, "Integer division by zero");
    op_gives(kOps[i], "int32[0]; int32[] 0", "int32[0]");
  }
  op_fails("Div[T=uint8]", "uint8[] 7; uint8[3] 2 1 0", CODE_INVALID_ARGUMENT, "Integer division by zero");
  op_fails("FloorDiv[T=int64]", "int64[] 7; int64[] 0", CODE_INVALID_ARGUMENT, "Integer division by zero");
  op_fails("FloorMod[T=int32]", "int32[2] 7; int32[3] 2", CODE_INVALID_ARGUMENT,
           "Incompatible shapes: [2] vs. [3]");
}

/* TensorFlow's results. */
TEST(quotients_of_floats) {
  const char *inputs = "float[9] 7.5 -7.5 7.5 -7.5 1 -0.0 3 inf 6; float[9] 2 2 -2 -2 0 5 inf 3 -3";
  op_gives("Div[T=float]", inputs, "float[9] 3.75 -3.75 -3.75 3.75 inf -0.0 0 inf -2");
  op_gives("FloorDiv[T=float]", inputs, "float[9] 3 -4 -4 3 inf -0.0 0 inf -2");
  op_gives("TruncateDiv[T=float]", inputs, "float[9] 3 -3 -3 3 inf -0.0 0 inf -2");
  op_gives("FloorMod[T=float]", inputs, "float[9] 1.5 0.5 -0.5 -1.5 nan -0.0 3 nan 0");
  op_gives("Mod[T=float]", inputs, "float[9] 1.5 -1.5 1.5 -1.5 nan -0.0 3 nan 0");
  op_gives("TruncateMod[T=double]", "double[2] -7.5 1e300; double[2] 2 7", "double[2] -1.5 1");
  op_gives("FloorDiv[T=half]", "half[2] -7.5 7; half[] 2", "half[2] -4 3");
  op_gives("FloorMod[T=bfloat16]", "bfloat16[2] -7.5 7; bfloat16[] 2", "bfloat16[2] 0.5 1");
  op_gives("Div[T=complex64]", "complex64[] 1+2i; complex64[2] 0-2i 1", "complex64[2] -1+0.5i 1+2i");
}

TEST(quotients_and_products_without_nan) {
  op_gives("DivNoNan[T=float]", "float[5] 1 0 nan inf 5; float[5] 0 0 0 -0.0 2", "float[5] 0 0 0 0 2.5");
  op_gives("MulNoNan[T=float]", "float[4] nan inf 0 5; float[4] 0 -0.0 nan 2", "float[4] 0 0 nan 10");
  op_gives("DivNoNan[T=complex128]", "complex128[2] 1 0+4i; complex128[2] 0 0+2i", "complex128[2] 0 2");
  op_gives("MulNoNan[T=half]", "half[2,1] 3 inf; half[2] 0 2", "half[2,2] 0 6 0 inf");
}

#define QUOTIENTS "Div|DivNoNan|MulNoNan|FloorMod|Mod|TruncateMod[T=double]"
GRADIENT_CASES(division, {QUOTIENTS, "double[3] 1.3 -2.2 3.1; double[3] 0.7 0.9 -2.4"},
               {QUOTIENTS, "double[2,1] 1.3 -2.2; double[3] 0.7 0.9 -2.4"},
               {QUOTIENTS, "double[] 5.3; double[2,2] 0.7 0.9 -2.4 3"},
               {QUOTIENTS, "double[0,3]; double[3] 1 2 3"})

TEST(gradients_of_quotients_by_zero) {
  gradient_is("DivNoNan[T=float]", "float[3] 0 1 1; float[3] 0 0 4",
              "float[3] 0 0 0.25; float[3] 0 0 -0.0625");
  gradient_is("MulNoNan[T=float]", "float[3] inf 1 1; float[3] 0 0 3", "float[3] 0 0 3; float[3] inf 1 1");
  gradient_is("FloorDiv[T=float]", "float[] 7; float[] 2", "none");
  gradient_is("FloorMod[T=float]", "float[2] 7.5 -7.5; float[2] 2 2", "float[2] 1 1; float[2] -3 4");
}
