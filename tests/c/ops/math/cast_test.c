/* Cast between all number types, at the limits of their ranges. */
#include <math.h>
#include <stdio.h>

#include "gradient_cases.h"
#include "gradient_checker.h"
#include "harness.h"
#include "op_runner.h"

static const DataType kTypes[] = {DT_FLOAT, DT_DOUBLE, DT_HALF,   DT_BFLOAT16, DT_INT32,  DT_INT64, DT_UINT8,
                                  DT_INT8,  DT_INT16,  DT_UINT16, DT_UINT32,   DT_UINT64, DT_BOOL};
enum { NUM_TYPES = sizeof kTypes / sizeof kTypes[0] };

/* Small integers are exact in every conversion; bool makes them 0 or 1. More than one piece of a tensor. */
TEST(small_numbers_go_from_every_type_to_every_type) {
  static const double kValues[] = {0, 1, 2, 3, 100, 127};
  for (int from = 0; from < NUM_TYPES; from++) {
    for (int to = 0; to < NUM_TYPES; to++) {
      char spec[64];
      snprintf(spec, sizeof spec, "Cast[SrcT=%s, DstT=%s]", dtype_name((int)kTypes[from]),
               dtype_name((int)kTypes[to]));
      CHECK_CONTEXT("%s", spec);
      Status status;
      status_init(&status);
      OpRun run;
      int64_t count = 603;
      REQUIRE_OK(op_run_begin(&run, spec, &status), status);
      Tensor *x = op_run_input(&run, kTypes[from], 1, &count);
      for (int i = 0; i < count; i++) tensor_put(x, i, kValues[i % 6]);
      if (CHECK_OK(op_run_compute(&run, &status), status)) {
        for (int i = 0; i < count; i++) {
          bool truth = kTypes[from] == DT_BOOL || kTypes[to] == DT_BOOL;
          CHECK_NEAR(tensor_get(&run.outputs[0], i), truth ? kValues[i % 6] != 0 : kValues[i % 6], 0);
        }
      }
      op_run_end(&run);
    }
  }
  CHECK_CONTEXT("%s", "");
}

TEST(floats_are_cut_towards_zero) {
  op_gives("Cast[SrcT=float, DstT=int32]", "float[4] 1.9 -1.9 0.5 -0.5", "int32[4] 1 -1 0 0");
  op_gives("Cast[SrcT=double, DstT=int64]", "double[2] 2251799813685249.5 -2.75",
           "int64[2] 2251799813685249 -2");
  op_gives("Cast[SrcT=half, DstT=int8]", "half[2] -1.5 99.9", "int8[2] -1 99");
}

/* The results of cvttss2si and related instructions. */
TEST(values_that_no_integer_holds_become_the_smallest) {
  op_gives("Cast[SrcT=float, DstT=int32]", "float[6] nan inf -inf 2147483648 -2147483648 3e30",
           "int32[6] -2147483648");
  op_gives("Cast[SrcT=double, DstT=int32]", "double[3] 2147483647.9 2147483648 -2147483649",
           "int32[3] 2147483647 -2147483648 -2147483648");
  op_gives("Cast[SrcT=double, DstT=int64]", "double[4] nan inf 9223372036854775808 -1e300",
           "int64[4] -9223372036854775808");
  op_gives("Cast[SrcT=float, DstT=uint8]", "float[5] 300 -1 nan 255 1e20", "uint8[5] 44 255 0 255 0");
  op_gives("Cast[SrcT=float, DstT=int8]", "float[3] 200 -129 nan", "int8[3] -56 127 0");
  op_gives("Cast[SrcT=float, DstT=uint32]", "float[3] 4294967040 -1 nan",
           "uint32[3] 4294967040 4294967295 0");
  op_gives("Cast[SrcT=double, DstT=uint64]", "double[4] 9223372036854775808 18446744073709549568 -1 nan",
           "uint64[4] 9223372036854775808 18446744073709549568 18446744073709551615 9223372036854775808");
}

TEST(integers_lose_their_upper_bits) {
  op_gives("Cast[SrcT=int32, DstT=uint8]", "int32[4] 256 257 -1 511", "uint8[4] 0 1 255 255");
  op_gives("Cast[SrcT=int64, DstT=int32]", "int64[2] 4294967297 -1", "int32[2] 1 -1");
  op_gives("Cast[SrcT=int8, DstT=uint64]", "int8[1] -1", "uint64[1] 18446744073709551615");
  op_gives("Cast[SrcT=uint64, DstT=double]", "uint64[1] 18446744073709551615",
           "double[1] 18446744073709551616");
}

TEST(rounding_to_narrower_floats) {
  op_gives("Cast[SrcT=double, DstT=float]", "double[2] 16777217 1e300", "float[2] 16777216 inf");
  op_gives("Cast[SrcT=int64, DstT=float]", "int64[1] 9007199791611905", "float[1] 9007200328482816");
  op_gives("Cast[SrcT=float, DstT=half]", "float[4] 2049 2051 65520 1e-8", "half[4] 2048 2052 inf 0");
  op_gives("Cast[SrcT=float, DstT=bfloat16]", "float[2] 257 259", "bfloat16[2] 256 260");
  op_gives("Cast[SrcT=float, DstT=half, Truncate=true]", "float[2] 2051 -2049.9", "half[2] 2050 -2048");
  op_gives("Cast[SrcT=float, DstT=bfloat16, Truncate=true]", "float[2] 259 -257", "bfloat16[2] 258 -256");
  op_gives("Cast[SrcT=double, DstT=float, Truncate=true]", "double[1] 16777219", "float[1] 16777218");
}

TEST(truth) {
  op_gives("Cast[SrcT=float, DstT=bool]", "float[5] 0 -0.0 0.1 nan -inf", "bool[5] 0 0 1 1 1");
  op_gives("Cast[SrcT=bool, DstT=float]", "bool[2] 1 0", "float[2] 1 0");
}

TEST(complex_numbers) {
  Status status;
  status_init(&status);
  OpRun run;
  int64_t count = 300;
  REQUIRE_OK(op_run_begin(&run, "Cast[SrcT=complex64, DstT=complex128]", &status), status);
  Tensor *x = op_run_input(&run, DT_COMPLEX64, 1, &count);
  for (int i = 0; i < 600; i++) tensor_f32(x)[i] = (float)i / 4;
  if (CHECK_OK(op_run_compute(&run, &status), status)) {
    for (int i = 0; i < 600; i++) CHECK_NEAR(tensor_f64(&run.outputs[0])[i], i / 4.0, 0);
  }
  op_run_end(&run);
  REQUIRE_OK(op_run_begin(&run, "Cast[SrcT=complex64, DstT=int32]", &status), status);
  x = op_run_input(&run, DT_COMPLEX64, 1, &count);
  for (int i = 0; i < 600; i++) tensor_f32(x)[i] = (float)i;
  if (CHECK_OK(op_run_compute(&run, &status), status)) {
    for (int i = 0; i < 300; i++) CHECK_INT_EQ(tensor_i32(&run.outputs[0])[i], 2 * i);
  }
  op_run_end(&run);
  REQUIRE_OK(op_run_begin(&run, "Cast[SrcT=int32, DstT=complex64]", &status), status);
  x = op_run_input(&run, DT_INT32, 1, &count);
  for (int i = 0; i < 300; i++) tensor_i32(x)[i] = i;
  if (CHECK_OK(op_run_compute(&run, &status), status)) {
    for (int i = 0; i < 600; i++) CHECK_NEAR(tensor_f32(&run.outputs[0])[i], i % 2 == 0 ? i / 2 : 0, 0);
  }
  op_run_end(&run);
}

/* In vectors and after them: the same at every place of a long tensor. */
TEST(vectors_of_floats_are_cut_as_single_ones) {
  static const float kValues[] =
      {NAN,           -NAN,           INFINITY,   -INFINITY, 2147483648.0f, -2147483648.0f, -2147483904.0f,
       2147483520.0f, -2147483520.0f, 3e38f,      -3e38f,    1.99999988f,   -1.99999988f,   -0.0f,
       1e-45f,        16777215.0f,    -8388607.5f};
  static const int32_t kWant[] = {INT32_MIN, INT32_MIN,  INT32_MIN,   INT32_MIN, INT32_MIN, INT32_MIN,
                                  INT32_MIN, 2147483520, -2147483520, INT32_MIN, INT32_MIN, 1,
                                  -1,        0,          0,           16777215,  -8388607};
  int64_t count = 17 * 19;
  Status status;
  status_init(&status);
  OpRun run;
  REQUIRE_OK(op_run_begin(&run, "Cast[SrcT=float, DstT=int32]", &status), status);
  Tensor *x = op_run_input(&run, DT_FLOAT, 1, &count);
  for (int i = 0; i < count; i++) tensor_f32(x)[i] = kValues[i % 17];
  if (CHECK_OK(op_run_compute(&run, &status), status)) {
    for (int i = 0; i < count; i++) CHECK_INT_EQ(tensor_i32(&run.outputs[0])[i], kWant[i % 17]);
  }
  op_run_end(&run);
}

TEST(a_cast_to_the_same_type_shares_the_value) {
  Status status;
  status_init(&status);
  OpRun run;
  REQUIRE_OK(op_run_begin(&run, "Cast[SrcT=float, DstT=float]", &status), status);
  CHECK_OK(op_run_inputs(&run, "float[2] 1 2", &status), status);
  if (CHECK_OK(op_run_compute(&run, &status), status)) CHECK(run.outputs[0].buffer == run.inputs[0].buffer);
  op_run_end(&run);
}

TEST(strings_are_not_cast) {
  op_fails("Cast[SrcT=string, DstT=float]", "string[1] 1", CODE_UNIMPLEMENTED,
           "Cast string to float is not supported");
  op_fails("Cast[SrcT=float, DstT=string]", "float[1] 1", CODE_UNIMPLEMENTED,
           "Cast float to string is not supported");
}

TEST(gradients_go_back_to_the_type_they_came_from) {
  gradient_is("Cast[SrcT=float, DstT=double]", "float[2] 1 2", "float[2] 1");
  gradient_is("Cast[SrcT=half, DstT=float]", "half[2] 1 2", "half[2] 1");
}

GRADIENT_CASES(cast, {"Cast[SrcT=double, DstT=double]", "double[2] 1 2"},
               {"Cast[SrcT=double, DstT=double, Truncate=true]", "double[2,0]"},
               {"Cast[SrcT=double, DstT=double]", "double[] 1"})
