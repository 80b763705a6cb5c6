/* Unique and ListDiff. */
#include <stdio.h>

#include "harness.h"
#include "op_runner.h"

TEST(unique_finds_different_elements) {
  op_gives("Unique[T=int32]", "int32[6] 5 3 5 5 1 3", "int32[3] 5 3 1; int32[6] 0 1 0 0 2 1");
  op_gives("Unique[T=string, out_idx=int64]", "string[3] a b a", "string[2] a b; int64[3] 0 1 0");
  op_gives("Unique[T=float]", "float[4] nan nan 0 -0", "float[3] nan nan 0; int32[4] 0 1 2 2");
  op_gives("Unique[T=half]", "half[3] -0 1 0", "half[2] -0 1; int32[3] 0 1 0");
  op_gives("Unique[T=bool]", "bool[0]", "bool[0]; int32[0]");
  op_fails("Unique[T=float]", "float[3,2] 0", CODE_INVALID_ARGUMENT, "unique expects a 1D vector.");
}

TEST(unique_of_many_elements) {
  Status status;
  status_init(&status);
  OpRun run;
  int64_t count = 20000;
  if (CHECK_OK(op_run_begin(&run, "Unique[T=int64]", &status), status)) {
    Tensor *x = op_run_input(&run, DT_INT64, 1, &count);
    for (int64_t i = 0; i < count; i++) tensor_i64(x)[i] = (i * 7919 % 5003) << 40;
    if (CHECK_OK(op_run_compute(&run, &status), status)) {
      int64_t wrong = 0;
      CHECK_INT_EQ(tensor_num_elements(&run.outputs[0]), 5003);
      for (int64_t i = 0; i < count; i++) {
        wrong += tensor_i32(&run.outputs[1])[i] != i % 5003;
        wrong += tensor_i64(&run.outputs[0])[i % 5003] != tensor_i64(x)[i];
      }
      CHECK_INT_EQ(wrong, 0);
    }
  }
  op_run_end(&run);
}

TEST(list_diff_leaves_out_what_the_other_has) {
  op_gives("ListDiff[T=int32]", "int32[4] 1 2 3 2; int32[1] 2", "int32[2] 1 3; int32[2] 0 2");
  op_gives("ListDiff[T=string, out_idx=int64]", "string[3] a b a; string[2] b c",
           "string[2] a a; int64[2] 0 2");
  op_gives("ListDiff[T=float]", "float[2] nan 0; float[2] nan -0", "float[1] nan; int32[1] 0");
  op_gives("ListDiff[T=uint8]", "uint8[0]; uint8[1] 1", "uint8[0]; int32[0]");
  op_fails("ListDiff[T=float]", "float[3,2] 0; float[2] 0", CODE_INVALID_ARGUMENT,
           "x should be a 1D vector.");
  op_fails("ListDiff[T=float]", "float[3] 0; float[1,2] 0", CODE_INVALID_ARGUMENT,
           "y should be a 1D vector.");
}

/* Numbers that differ little, or only in their highest bits; their set grows several times. */
TEST(unique_of_numbers_of_all_types) {
  static const DataType kTypes[] = {DT_FLOAT,  DT_DOUBLE, DT_HALF,  DT_INT8,
                                    DT_UINT16, DT_INT32,  DT_INT64, DT_UINT64};
  static const int kCounts[] = {5003, 5003, 2047, 127, 5003, 5003, 5003, 5003};
  for (int t = 0; t < 8; t++) {
    OpRun run;
    Status status;
    char op[80];
    int64_t length = 3 * kCounts[t], wrong = 0;
    double scale = t == 1 || t >= 6 ? 1099511627776.0 : 1;
    status_init(&status);
    snprintf(op, sizeof op, "UniqueWithCounts[T=%s, out_idx=%s]", dtype_name(kTypes[t]),
             t % 2 ? "int64" : "int32");
    CHECK_OK(op_run_begin(&run, op, &status), status);
    Tensor *x = op_run_input(&run, kTypes[t], 1, &length);
    for (int64_t i = 0; i < length; i++) tensor_put(x, i, (double)(i * 7 % kCounts[t]) * scale);
    CHECK_OK(op_run_compute(&run, &status), status);
    CHECK_CONTEXT("%s", op);
    CHECK_INT_EQ(tensor_num_elements(&run.outputs[0]), kCounts[t]);
    for (int64_t i = 0; i < length; i++) {
      int64_t number = i % kCounts[t];
      wrong += tensor_int_at(&run.outputs[1], i) != number || tensor_int_at(&run.outputs[2], number) != 3 ||
               tensor_get(&run.outputs[0], number) != tensor_get(x, i);
    }
    CHECK_INT_EQ(wrong, 0);
    op_run_end(&run);
  }
}

TEST(unique_strings_that_share_parts) {
  op_gives("UniqueWithCounts[T=string]",
           "string[6] word_of_nine word_of_nine_ word_of_ten word_of_nine wor word_of_nine_",
           "string[4] word_of_nine word_of_nine_ word_of_ten wor; int32[6] 0 1 2 0 3 1; int32[4] 2 2 1 1");
}

TEST(unique_slices) {
#define SLICES(t) "UniqueV2[T=" t ", Taxis=int32]"
  op_gives(SLICES("int32"), "int32[3,2] 1 2 3 4 1 2; int32[1] 0", "int32[2,2] 1 2 3 4; int32[3] 0 1 0");
  op_gives(SLICES("int32"), "int32[2,3] 1 2 1 3 4 3; int32[1] 1", "int32[2,2] 1 2 3 4; int32[3] 0 1 0");
  op_gives(SLICES("float"), "float[4,2] 0 1 -0 1 nan 1 nan 1; int32[1] 0",
           "float[3,2] 0 1 nan 1 nan 1; int32[4] 0 0 1 2");
  op_gives(SLICES("string"), "string[3,2] a b ab c a b; int32[1] 0", "string[2,2] a b ab c; int32[3] 0 1 0");
  op_gives(SLICES("float"), "float[3,0]; int32[1] 0", "float[1,0]; int32[3] 0 0 0");
}

/* Rows and columns of more elements than are compared at once. */
TEST(unique_of_long_slices) {
  for (int axis = 0; axis < 2; axis++) {
    Status status;
    OpRun run;
    int64_t dims[2] = {axis == 0 ? 4 : 600, axis == 0 ? 600 : 4};
    status_init(&status);
    CHECK_OK(op_run_begin(&run, "UniqueV2[T=double, Taxis=int32]", &status), status);
    Tensor *x = op_run_input(&run, DT_DOUBLE, 2, dims);
    for (int64_t i = 0; i < 2400; i++) {
      int64_t slice = axis == 0 ? i / 600 : i % 4, at = axis == 0 ? i % 600 : i / 4;
      tensor_put(x, i,
                 (double)at + (slice % 2 == 1 && at == 599)); /* slices 0 and 2, and 1 and 3, are equal */
    }
    CHECK_OK(op_run_inputs(&run, axis == 0 ? "int32[1] 0" : "int32[1] 1", &status), status);
    CHECK_OK(op_run_compute(&run, &status), status);
    CHECK_INT_EQ(shape_dim(&run.outputs[0].shape, axis), 2);
    for (int i = 0; i < 4; i++) CHECK_INT_EQ(tensor_i32(&run.outputs[1])[i], i % 2);
    op_run_end(&run);
  }
}

TEST(list_diff_of_many_elements) {
  Status status;
  OpRun run;
  int64_t count = 20000, wrong = 0;
  status_init(&status);
  if (CHECK_OK(op_run_begin(&run, "ListDiff[T=int32]", &status), status)) {
    Tensor *x = op_run_input(&run, DT_INT32, 1, &count), *y = op_run_input(&run, DT_INT32, 1, &count);
    for (int i = 0; i < count; i++) tensor_i32(x)[i] = i, tensor_i32(y)[i] = 2 * (i % 5000);
    if (CHECK_OK(op_run_compute(&run, &status), status)) {
      CHECK_INT_EQ(tensor_num_elements(&run.outputs[0]), 15000);
      for (int i = 0; i < 15000; i++) {
        int want = i < 5000 ? 2 * i + 1 : i + 5000;
        wrong += tensor_i32(&run.outputs[0])[i] != want || tensor_i32(&run.outputs[1])[i] != want;
      }
      CHECK_INT_EQ(wrong, 0);
    }
  }
  op_run_end(&run);
}
