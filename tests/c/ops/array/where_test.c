/* Where: the indices of what is not zero. */
#include <stdio.h>

#include "harness.h"
#include "op_runner.h"

static bool is_set(int64_t i, int every) { return every > 0 && (i * i + i / 3) % every == 0; }

/* One in about `every` elements is set; 0: none. */
static void check_where(DataType type, int rank, const int64_t *dims, int every) {
  OpRun run;
  Status status;
  char op[40];
  int64_t set = 0, wrong = 0;
  status_init(&status);
  snprintf(op, sizeof op, "Where[T=%s]", dtype_name(type));
  CHECK_OK(op_run_begin(&run, op, &status), status);
  Tensor *x = op_run_input(&run, type, rank, dims);
  for (int64_t i = 0; i < tensor_num_elements(x); i++) tensor_put(x, i, is_set(i, every));
  CHECK_OK(op_run_compute(&run, &status), status);
  const int64_t *index = tensor_i64(&run.outputs[0]);
  for (int64_t i = 0; i < tensor_num_elements(x); i++) {
    if (!is_set(i, every)) continue;
    int64_t at = 0;
    for (int d = 0; d < rank; d++) {
      wrong += index[set * rank + d] < 0 || index[set * rank + d] >= dims[d];
      at = at * dims[d] + index[set * rank + d];
    }
    wrong += at != i;
    set++;
  }
  CHECK_CONTEXT("%s rank %d, one in %d", op, rank, every);
  CHECK_INT_EQ(shape_dim(&run.outputs[0].shape, 0), set);
  CHECK_INT_EQ(shape_dim(&run.outputs[0].shape, 1), rank);
  CHECK_INT_EQ(wrong, 0);
  op_run_end(&run);
}

TEST(indices_of_what_is_set) {
  static const int64_t kDims[][5] = {{1000},           {30, 41}, {7, 1, 13}, {5, 6, 7, 2},
                                     {1, 3, 40, 1, 3}, {200, 1}, {1, 200}};
  static const int kRanks[] = {1, 2, 3, 4, 5, 2, 2}, kEvery[] = {0, 1, 2, 3, 50};
  static const DataType kTypes[] = {DT_BOOL, DT_FLOAT, DT_INT64};
  for (int t = 0; t < 3; t++)
    for (int s = 0; s < 7; s++)
      for (int e = 0; e < 5; e++) check_where(kTypes[t], kRanks[s], kDims[s], kEvery[e]);
  check_where(DT_BOOL, 2, (int64_t[]){0, 4}, 1);
  op_gives("Where[T=float]", "float[5] 0 nan -0 -inf 1e-40", "int64[3,1] 1 3 4");
}
