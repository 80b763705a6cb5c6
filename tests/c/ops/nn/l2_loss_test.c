/* L2Loss. */
#include "gradient_cases.h"
#include "harness.h"
#include "op_runner.h"

TEST(half_the_sum_of_squares) {
  op_gives("L2Loss[T=float]", "float[2] 3 4", "float[] 12.5");
  op_gives("L2Loss[T=double]", "double[2,3] 1 2 3 4 5 6", "double[] 45.5");
  op_gives("L2Loss[T=half]", "half[] -4", "half[] 8");
  op_gives("L2Loss[T=bfloat16]", "bfloat16[3] 1 2 1", "bfloat16[] 3");
  op_gives("L2Loss[T=float]", "float[0]", "float[] 0");
}

/* 1^2 + ... + n^2 = n (n + 1) (2n + 1) / 6 */
TEST(long_tensors_lose_nothing) {
  Status status;
  status_init(&status);
  OpRun run;
  REQUIRE_OK(op_run_begin(&run, "L2Loss[T=float]", &status), status);
  int64_t count = 4003;
  Tensor *x = op_run_input(&run, DT_FLOAT, 1, &count);
  for (int64_t i = 0; i < count; i++) tensor_f32(x)[i] = (float)(i + 1);
  if (CHECK_OK(op_run_compute(&run, &status), status)) {
    double n = (double)count, want = n * (n + 1) * (2 * n + 1) / 12;
    CHECK_NEAR(tensor_f32(&run.outputs[0])[0], want, 1e-7 * want);
  }
  op_run_end(&run);
}

GRADIENT_CASES(l2_loss, {"L2Loss[T=double]", "double[2,3] -3 -1.5 -0.25 0.5 1.25 2.5"},
               {"L2Loss[T=double]", "double[4] -0.7 0.1 1 -2"}, {"L2Loss[T=double]", "double[] 0.7"})
