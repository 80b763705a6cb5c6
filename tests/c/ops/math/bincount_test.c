/* Bincount. */
#include "harness.h"
#include "op_runner.h"

TEST(occurrences_are_counted) {
  op_gives("Bincount[T=float]", "int32[3] 1 1 3; int32[] 2; float[0]", "float[2] 0 2");
  op_gives("Bincount[T=int32]", "int32[2,2] 1 1 3 0; int32[] 5; int32[0]", "int32[5] 1 2 0 1 0");
  op_gives("Bincount[T=double]", "int32[3] 1 1 3; int32[] 4; double[3] 0.5 2 -1", "double[4] 0 2.5 0 -1");
  op_gives("Bincount[T=int64]", "int32[2] 0 0; int32[] 1; int64[2] 9223372036854775807 1",
           "int64[1] -9223372036854775808");
  op_gives("Bincount[T=int64]", "int32[0]; int32[] 0; int64[0]", "int64[0]");
}

TEST(what_cannot_be_counted) {
  op_fails("Bincount[T=float]", "int32[3] 1 -1 3; int32[] 2; float[0]", CODE_INVALID_ARGUMENT,
           "Input arr must be non-negative!");
  op_fails("Bincount[T=float]", "int32[3] 1; int32[] -2; float[0]", CODE_INVALID_ARGUMENT,
           "size (-2) must be non-negative");
  op_fails("Bincount[T=float]", "int32[3] 1; int32[] 2; float[2] 1", CODE_INVALID_ARGUMENT,
           "Input indices and weights must have the same size.");
  op_fails("Bincount[T=float]", "int32[3] 1; int32[1] 2; float[0]", CODE_INVALID_ARGUMENT,
           "Shape must be rank 0 but is rank 1");
}

TEST(occurrences_in_rows_are_counted) {
#define DENSE(t, i) "DenseBincount[T=" t ", Tidx=" i "]"
#define BINARY(t) "DenseBincount[T=" t ", Tidx=int64, binary_output=true]"
  op_gives(DENSE("float", "int32"), "int32[2,3] 1 1 3 0 2 1; int32[] 3; float[0]", "float[2,3] 0 2 0 1 1 1");
  op_gives(DENSE("double", "int64"), "int64[2,2] 1 1 0 9; int64[] 2; double[2,2] 0.5 2 -1 4",
           "double[2,2] 0 2.5 -1 0");
  op_gives(DENSE("int32", "int64"), "int64[3] 1 1 0; int64[] 2; int32[3] 2147483647 1 5",
           "int32[2] 5 -2147483648");
  op_gives(DENSE("int64", "int32"), "int32[] 1; int32[] 2; int64[0]", "int64[2] 0 1");
  op_gives(BINARY("float"), "int64[2,3] 1 1 3 0 2 1; int64[] 3; float[0]", "float[2,3] 0 1 0 1 1 1");
  op_gives(BINARY("int32"), "int64[2,2] 1 1 0 0; int64[] 2; int32[2,2] 7 8 9 0", "int32[2,2] 0 1 1 0");
  op_fails(DENSE("float", "int32"), "int32[2,2] 1 1 1 -3; int32[] 2; float[0]", CODE_INVALID_ARGUMENT,
           "Input 'in' must be non-negative! Negative input value found: -3");
  op_fails(DENSE("float", "int64"), "int64[2] 1 -3; int64[] 2; float[0]", CODE_INVALID_ARGUMENT,
           "Input arr must be non-negative!");
  op_gives("RaggedBincount[T=float, Tidx=int32]", "int64[4] 0 2 2 3; int32[3] 1 1 0; int32[] 2; float[0]",
           "float[3,2] 0 2 0 0 1 0");
}

/* Each number is that of the boundaries that are not above the value. */
static void check_buckets(const char *type, DataType dtype, int boundaries) {
  OpRun run;
  Status status;
  StrBuf op = {0};
  enum { VALUES = 500 };
  status_init(&status);
  strbuf_printf(&op, "Bucketize[T=%s, boundaries=[", type);
  for (int k = 0; k < boundaries; k++)
    strbuf_printf(&op, "%s%d", k > 0 ? ", " : "", 3 * (k / 2)); /* in pairs */
  strbuf_append(&op, "]]");
  CHECK_OK(op_run_begin(&run, strbuf_text(&op), &status), status);
  Tensor *x = op_run_input(&run, dtype, 1, (int64_t[]){VALUES});
  for (int i = 0; i < VALUES; i++) tensor_put(x, i, i % 120 - 10);
  CHECK_OK(op_run_compute(&run, &status), status);
  for (int i = 0; i < VALUES; i++) {
    int want = 0;
    for (int k = 0; k < boundaries; k++) want += 3 * (k / 2) <= i % 120 - 10;
    CHECK_CONTEXT("%s, %d boundaries, %d", type, boundaries, i % 120 - 10);
    CHECK_INT_EQ(tensor_i32(&run.outputs[0])[i], want);
  }
  op_run_end(&run);
  strbuf_free(&op);
}

TEST(buckets_of_all_counts_and_types) {
  static const DataType kTypes[] = {DT_FLOAT, DT_DOUBLE, DT_INT32, DT_INT64};
  for (int t = 0; t < 4; t++)
    for (int boundaries = 0; boundaries < 40; boundaries++)
      check_buckets(dtype_name(kTypes[t]), kTypes[t], boundaries);
  op_gives("Bucketize[T=float, boundaries=[-1, 0, 1]]", "float[6] nan -inf inf -1 -0 0.5",
           "int32[6] 3 0 3 1 2 2");
  op_gives("Bucketize[T=double, boundaries=[0.1]]", "double[2] 0.1 0.1000000015", "int32[2] 0 1");
  op_gives("Bucketize[T=int64, boundaries=[16777216]]", "int64[3] 16777215 16777217 -9223372036854775808",
           "int32[3] 0 1 0");
}
