/* The noise of ExtractGlimpse, which has no golden cases. */
#include <math.h>
#include <stdio.h>

#include "harness.h"
#include "op_runner.h"

enum { IMAGE = 40, WINDOW = 80, CHANNELS = 2 };

/* The window has the image in its middle. Counts the numbers of the noise that lie in a part of the channel's
 * range. */
static void check_noise(const char *noise, double low, double high, double share) {
  char op[128];
  OpRun run;
  Status status;
  status_init(&status);
  snprintf(op, sizeof op, "ExtractGlimpseV2[uniform_noise=false, noise=%s]", noise);
  CHECK_OK(op_run_begin(&run, op, &status), status);
  Tensor *x = op_run_input(&run, DT_FLOAT, 4, (int64_t[]){1, IMAGE, IMAGE, CHANNELS});
  for (int64_t i = 0; CHECK(x) && i < tensor_num_elements(x); i++)
    tensor_put(x, i, (double)(i / CHANNELS % IMAGE) / (IMAGE - 1));
  CHECK_OK(op_run_inputs(&run, "int32[2] 80; float[1,2] 0", &status), status);
  bool ran = op_run_compute(&run, &status);
  CHECK_OK(ran, status);
  int64_t inside = 0, total = 0;
  for (int64_t i = 0; ran && i < WINDOW * WINDOW * CHANNELS; i++) {
    int64_t row = i / CHANNELS / WINDOW - (WINDOW - IMAGE) / 2;
    int64_t column = i / CHANNELS % WINDOW - (WINDOW - IMAGE) / 2;
    double value = tensor_get(&run.outputs[0], i);
    if (row >= 0 && row < IMAGE && column >= 0 && column < IMAGE) {
      CHECK_NEAR(value, (double)column / (IMAGE - 1), 1e-6);
      continue;
    }
    CHECK(value >= 0 && value <= 1);
    inside += value >= low && value < high;
    total++;
  }
  CHECK(total > 0 && fabs((double)inside / (double)total - share) < 0.05);
  op_run_end(&run);
}

TEST(glimpses_end_in_uniform_noise) {
  check_noise("uniform", 0.25, 0.5, 0.25);
  check_noise("uniform", 0.8, 1.1, 0.2);
}

/* The channels are uniform in [0, 1]: deviation 1 / sqrt(12), 68 % within it; 4 % are cut off on each side.
 */
TEST(glimpses_end_in_gaussian_noise) {
  check_noise("gaussian", 0.5 - 0.2887, 0.5 + 0.2887, 0.68);
  check_noise("gaussian", -0.1, 1e-9, 0.042);
}
