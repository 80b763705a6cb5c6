/* MaxPoolWithArgmax and its gradients. */
#include <math.h>
#include <stdio.h>

#include "gradient_cases.h"
#include "harness.h"
#include "op_runner.h"

#define ATTRS(padding) "ksize=[1, 2, 2, 1], strides=[1, 1, 1, 1], padding=" padding
#define OP(name, type, index, padding) name "[T=" type ", Targmax=" index ", " ATTRS(padding) "]"
#define OP_BATCH(name, padding) \
  name "[T=float, Targmax=int64, include_batch_in_index=true, " ATTRS(padding) "]"
#define X "[2,3,3,1] 1 2 3 4 5 6 7 8 9 5 3 2 1 0 7 7 2 8"

/* TensorFlow 2.21's own numbers. */
TEST(argmax_of_pools) {
  op_gives(OP("MaxPoolWithArgmax", "float", "int64", "SAME"), "float" X,
           "float[2,3,3,1] 5 6 6 8 9 9 8 9 9 5 7 7 7 8 8 7 8 8; int64[2,3,3,1] 4 5 5 7 8 8 7 8 8 0 5 5 6 8 8 "
           "6 8 8");
  op_gives(OP_BATCH("MaxPoolWithArgmax", "SAME"), "float" X,
           "float[2,3,3,1] 5 6 6 8 9 9 8 9 9 5 7 7 7 8 8 7 8 8; int64[2,3,3,1] 4 5 5 7 8 8 7 8 8 9 14 14 15 "
           "17 17 15 17 17");
  /* A NaN is the maximum only if it is the first element. */
  op_gives(OP("MaxPoolWithArgmax", "float", "int64", "VALID"), "float[1,2,3,1] 1 nan 2 3 4 5",
           "float[1,1,2,1] 4 nan; int64[1,1,2,1] 4 1");
  op_gives(OP("MaxPoolWithArgmax", "float", "int64", "VALID"), "float[1,2,2,2] 1 -1 2 -2 3 -3 4 -4",
           "float[1,1,1,2] 4 -1; int64[1,1,1,2] 6 1");
}

TEST(argmax_of_all_types) {
  static const char *const kTypes[] = {"float", "double", "half",  "bfloat16", "int8",   "uint8",
                                       "int16", "uint16", "int32", "int64",    "uint32", "uint64"};
  for (int i = 0; i < 12; i++) {
    char op[160], inputs[256], want[256];
    snprintf(op, sizeof op, OP("MaxPoolWithArgmax", "%s", "int32", "VALID"), kTypes[i]);
    snprintf(inputs, sizeof inputs, "%s" X, kTypes[i]);
    snprintf(want, sizeof want, "%s[2,2,2,1] 5 6 8 9 5 7 7 8; int32[2,2,2,1] 4 5 7 8 0 5 6 8", kTypes[i]);
    op_gives(op, inputs, want);
    snprintf(op, sizeof op, OP("MaxPoolGradWithArgmax", "%s", "int32", "VALID"), kTypes[i]);
    snprintf(inputs, sizeof inputs, "%s" X "; %s[2,2,2,1] 1 2 3 4 5 6 7 8; int32[2,2,2,1] 4 5 7 7 0 5 6 8",
             kTypes[i], kTypes[i]);
    snprintf(want, sizeof want, "%s[2,3,3,1] 0 0 0 0 1 2 0 7 0 5 0 0 0 0 6 7 0 8", kTypes[i]);
    op_gives(op, inputs, want);
    snprintf(op, sizeof op, OP("MaxPoolGradGradWithArgmax", "%s", "int32", "VALID"), kTypes[i]);
    snprintf(inputs, sizeof inputs,
             "%s" X
             "; %s[2,3,3,1] 9 8 7 6 5 4 3 2 1 11 12 13 14 15 16 17 18 19; int32[2,2,2,1] 4 5 7 7 0 5 6 8",
             kTypes[i], kTypes[i]);
    snprintf(want, sizeof want, "%s[2,2,2,1] 5 4 2 2 11 16 17 19", kTypes[i]);
    op_gives(op, inputs, want);
  }
}

TEST(argmax_gradients_across_a_batch) {
  static const char kIndices[] = "; int64[2,2,2,1] 4 5 7 7 9 14 15 17";
  char inputs[256];
  snprintf(inputs, sizeof inputs, "float" X "; float[2,2,2,1] 1 2 3 4 5 6 7 8%s", kIndices);
  op_gives(OP_BATCH("MaxPoolGradWithArgmax", "VALID"), inputs,
           "float[2,3,3,1] 0 0 0 0 1 2 0 7 0 5 0 0 0 0 6 7 0 8");
  snprintf(inputs, sizeof inputs, "float" X "; float" X "%s", kIndices);
  op_gives(OP_BATCH("MaxPoolGradGradWithArgmax", "VALID"), inputs, "float[2,2,2,1] 5 6 8 8 5 7 7 8");
}

/* More channels than are computed together, large windows. */
TEST(argmax_of_many_channels) {
  OpRun run;
  Status status;
  status_init(&status);
  CHECK_OK(op_run_begin(&run,
                        "MaxPoolWithArgmax[T=float, ksize=[1, 3, 4, 1], strides=[1, 2, 1, 1], padding=SAME]",
                        &status),
           status);
  Tensor *x = op_run_input(&run, DT_FLOAT, 4, (int64_t[]){2, 5, 6, 70});
  CHECK(x);
  for (int64_t i = 0; i < tensor_num_elements(x); i++) tensor_put(x, i, sin((double)(i * i % 1000)));
  CHECK_OK(op_run_compute(&run, &status), status);
  int64_t bad = 0;
  for (int64_t i = 0; status.code == CODE_OK && i < tensor_num_elements(&run.outputs[0]); i++) {
    int64_t c = i % 70, column = i / 70 % 6, row = i / 70 / 6 % 3, image = i / 70 / 6 / 3, index = -1;
    for (int64_t r = 2 * row - 1; r < 2 * row + 2; r++) {
      for (int64_t k = column - 1; k < column + 3; k++) {
        if (r < 0 || r > 4 || k < 0 || k > 5) continue;
        int64_t at = (r * 6 + k) * 70 + c;
        if (index < 0 || tensor_get(x, image * 2100 + at) > tensor_get(x, image * 2100 + index)) index = at;
      }
    }
    bad += tensor_get(&run.outputs[1], i) != (double)index ||
           tensor_get(&run.outputs[0], i) != tensor_get(x, image * 2100 + index);
  }
  CHECK_INT_EQ(bad, 0);
  op_run_end(&run);
}

TEST(argmax_errors) {
  static const char kOp[] = OP("MaxPoolWithArgmax", "float", "int64", "VALID");
  op_fails(kOp, "float[2,2,1] 1", CODE_INVALID_ARGUMENT, "tensor_in must be 4-dimensional (2)");
  op_fails(kOp, "float[0,3,3,1]", CODE_INVALID_ARGUMENT, "tensor_in must not be empty (2)");
  op_fails("MaxPoolWithArgmax[T=float, ksize=[1, 0, 2, 1], strides=[1, 1, 1, 1], padding=SAME]",
           "float[1,2,2,1] 1", CODE_INVALID_ARGUMENT, "ksize must be a positive int32 value, got:0");
  op_fails("MaxPoolWithArgmax[T=float, ksize=[1, 2, 2, 1, 1], strides=[1, 1, 1, 1], padding=SAME]",
           "float[1,2,2,1] 1", CODE_INVALID_ARGUMENT, "Sliding window ksize field must specify 4 dimensions");
  op_fails("MaxPoolWithArgmax[T=float, ksize=[1, 1, 1, 2], strides=[1, 1, 1, 2], padding=SAME]",
           "float[1,2,2,2] 1", CODE_UNIMPLEMENTED, "not supported on the depth dimension");
  op_fails("MaxPoolWithArgmax[T=float, ksize=[2, 2, 2, 1], strides=[1, 1, 1, 1], padding=SAME]",
           "float[1,2,2,1] 1", CODE_UNIMPLEMENTED, "Pooling is not yet supported on the batch dimension.");
  op_fails("MaxPoolWithArgmax[T=float, ksize=[1, 9, 9, 1], strides=[1, 1, 1, 1], padding=VALID]",
           "float[1,3,3,1] 1", CODE_INVALID_ARGUMENT,
           "Computed output size would be negative: -5 [input_size: 3, effective_filter_size: 9, stride: 1]");
}

TEST(argmax_gradient_errors) {
  static const char kGrad[] = OP("MaxPoolGradWithArgmax", "float", "int64", "VALID"),
                    kSecond[] = OP("MaxPoolGradGradWithArgmax", "float", "int64", "VALID");
  op_fails(kGrad, "float[2,2] 1; float[2,2,2,1] 1; int64[2,2,2,1] 0", CODE_INVALID_ARGUMENT,
           "tensor_in_shape must have 2 spatial dimensions. 2 0");
  op_fails(kGrad, "float" X "; float[2,2] 1; int64[2,2,2,1] 0", CODE_INVALID_ARGUMENT,
           "Expected grad shape to be [2,2,2,1], but got [2,2]");
  op_fails(kGrad, "float" X "; float[2,2,2,1] 1; int64[2,2,3,1] 0", CODE_INVALID_ARGUMENT,
           "Expected argmax shape to be [2,2,2,1], but got [2,2,3,1]");
  op_fails(kGrad, "float" X "; float[2,2,2,1] 1; int64[2,2,2,1] 0 0 104 0", CODE_INVALID_ARGUMENT,
           "Invalid output gradient index: 104, 0, 9");
  op_fails(kGrad, "float" X "; float[2,2,2,1] 1; int64[2,2,2,1] 0 0 0 0 -1", CODE_INVALID_ARGUMENT,
           "Invalid output gradient index: 8, 9, 18");
  op_fails(kGrad, "float" X "; float[2,2,2,1] 1; int64[2,2,2,1] 0 0 0 0 9223372036854775807",
           CODE_INVALID_ARGUMENT, "Invalid output gradient index");
  op_fails(kSecond, "float" X "; float[2,2,2,1] 1; int64[2,2,2,1] 0", CODE_INVALID_ARGUMENT,
           "Expected grad shape to be [2,3,3,1], but got [2,2,2,1]");
  op_fails(kSecond, "float" X "; float" X "; int64[2,2,2,1] 9", CODE_INVALID_ARGUMENT,
           "Invalid output gradient index: 9, 0, 9");
}

#define CASE(name, padding, inputs) \
  { OP(name, "double", "int64", padding), inputs }
GRADIENT_CASES(
    argmax, CASE("MaxPoolWithArgmax", "VALID", "double[1,3,3,1] 1 2 3 6 5 4 9 8 7"),
    CASE("MaxPoolWithArgmax", "SAME", "double[2,2,2,1] 1 2 3 6 5 4 9 8"),
    {"MaxPoolWithArgmax[T=double, include_batch_in_index=true, " ATTRS("SAME") "]",
     "double[2,1,2,2] 1 2 3 6 5 4 9 8"},
    CASE("MaxPoolGradWithArgmax", "VALID",
         "double[1,3,3,1] 1 2 3 6 5 4 9 8 7; double[1,2,2,1] 1 2 3 4; int64[1,2,2,1] 3 4 6 7"),
    CASE("MaxPoolGradWithArgmax", "SAME",
         "double[2,1,2,1] 1 2 3 6; double[2,1,2,1] 1 2 3 4; int64[2,1,2,1] 1 1 0 1"),
    CASE("MaxPoolGradWithArgmax", "SAME",
         "double[1,2,1,2] 1 2 3 6; double[1,2,1,2] 1 2 3 4; int64[1,2,1,2] 2 3 2 3"),
    CASE("MaxPoolGradGradWithArgmax", "VALID",
         "double[1,3,3,1] 1 2 3 6 5 4 9 8 7; double[1,3,3,1] 1 2 3 4 5 6 7 8 9; int64[1,2,2,1] 3 4 6 7"),
    CASE("MaxPoolGradGradWithArgmax", "SAME",
         "double[2,1,2,1] 1 2 3 6; double[2,1,2,1] 1 2 3 4; int64[2,1,2,1] 1 1 0 1"),
    CASE("MaxPoolGradGradWithArgmax", "SAME",
         "double[1,2,1,2] 1 2 3 6; double[1,2,1,2] 1 2 3 4; int64[1,2,1,2] 2 3 2 3"))
