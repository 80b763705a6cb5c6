/* SparseReorder: row-major order, with equal indices in the order in which they were. */
#include "harness.h"
#include "op_runner.h"
#include "random_numbers.h"

/* Indices are random below the sizes, plus `base`: they are not checked. */
static void check_order(int rank, const int64_t *sizes, int64_t base, int64_t count) {
  OpRun run;
  Status status;
  Random random = {7};
  int64_t wrong = 0;
  status_init(&status);
  CHECK_OK(op_run_begin(&run, "SparseReorder[T=int32]", &status), status);
  Tensor *indices = op_run_input(&run, DT_INT64, 2, (int64_t[]){count, rank}),
         *values = op_run_input(&run, DT_INT32, 1, &count),
         *dims = op_run_input(&run, DT_INT64, 1, (int64_t[]){rank});
  for (int64_t i = 0; i < count; i++) {
    for (int d = 0; d < rank; d++)
      tensor_i64(indices)[i * rank + d] = base + (int64_t)(random_bits(&random) % (uint64_t)sizes[d]);
    tensor_i32(values)[i] = (int32_t)i;
  }
  for (int d = 0; d < rank; d++) tensor_i64(dims)[d] = sizes[d];
  CHECK_OK(op_run_compute(&run, &status), status);
  const int64_t *got = tensor_i64(&run.outputs[0]);
  const int32_t *from = tensor_i32(&run.outputs[1]);
  bool seen[3000] = {false};
  for (int64_t i = 0; i < count; i++) {
    int order = 0;
    for (int d = 0; d < rank; d++) {
      int64_t here = got[i * rank + d];
      wrong += here != tensor_i64(indices)[from[i] * rank + d];
      if (i > 0 && order == 0 && here != got[(i - 1) * rank + d])
        order = here > got[(i - 1) * rank + d] ? 1 : -1;
    }
    wrong += seen[from[i]] || (i > 0 && (order < 0 || (order == 0 && from[i] < from[i - 1])));
    seen[from[i]] = true;
  }
  CHECK_INT_EQ(wrong, 0);
  op_run_end(&run);
}

TEST(entries_are_sorted) {
  check_order(2, (int64_t[]){40, 50}, 0, 3000);
  check_order(1, (int64_t[]){5}, 0, 100);
  check_order(3, (int64_t[]){3, 5000, 2}, 0, 3000);
  check_order(2, (int64_t[]){INT64_MAX, 1}, 0, 1000);
  check_order(2, (int64_t[]){(int64_t)1 << 40, (int64_t)1 << 20}, -1000, 1000);
  check_order(2, (int64_t[]){2, 2}, INT64_MIN, 30);
  check_order(4, (int64_t[]){1, 1, 1, 1}, 0, 10);
  check_order(2, (int64_t[]){3, 3}, 0, 1);
  check_order(2, (int64_t[]){3, 3}, 0, 0);
}
