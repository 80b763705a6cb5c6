/* LRN and LRNGrad. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "gradient_cases.h"
#include "harness.h"
#include "op_runner.h"

/* By hand: with radius 0 the channels are independent, y = x / sqrt(2 + x * x / 2). */
TEST(lrn_of_single_channels) {
  op_gives_about("LRN[T=float, depth_radius=0, bias=2, alpha=0.5, beta=0.5]", "float[1,1,1,3] 0 2 -4",
                 "float[1,1,1,3] 0 1 -1.2649110640673518", 1e-6);
  op_gives_about("LRN[T=half, depth_radius=0, bias=2, alpha=0.5, beta=0.5]", "half[1,1,1,2] 0 2",
                 "half[1,1,1,2] 0 1", 1e-3);
  op_gives("LRN[T=float]", "float[1,0,2,3]", "float[1,0,2,3]");
}

/* TensorFlow 2.21's own numbers. */
TEST(lrn_of_neighbours) {
  op_gives_about("LRN[T=float, depth_radius=1, bias=1, alpha=0.5, beta=0.75]",
                 "float[1,1,2,3] 1 2 -1 0.5 3 -2",
                 "float[1,1,2,3] 0.390794962644577 0.7071067690849304 -0.390794962644577 0.13689202070236206 "
                 "0.6537945866584778 "
                 "-0.44130009412765503",
                 1e-6);
  op_gives_about("LRNGrad[T=float, depth_radius=1, bias=1, alpha=0.5, beta=0.75]",
                 "float[1,1,2,3] 1 2 -1 0.5 3 -2; float[1,1,2,3] 1 2 -1 0.5 3 -2; "
                 "float[1,1,2,3] 0.390794962644577 0.7071067690849304 -0.390794962644577 0.13689202070236206 "
                 "0.6537945866584778 "
                 "-0.44130009412765503",
                 "float[1,1,2,3] 0.041888147592544556 -0.15819039940834045 -0.041888147592544556 "
                 "0.03586743772029877 "
                 "-0.2171327769756317 0.12106591463088989",
                 1e-6);
}

TEST(lrn_of_many_channels) {
  static const float kBetas[] = {0.5f, 0.75f, 1, 0.6f};
  for (int b = 0; b < 4; b++) {
    char op[128];
    OpRun run;
    Status status;
    status_init(&status);
    snprintf(op, sizeof op, "LRN[T=float, depth_radius=3, bias=1.5, alpha=0.25, beta=%g]", kBetas[b]);
    CHECK_OK(op_run_begin(&run, op, &status), status);
    Tensor *x = op_run_input(&run, DT_FLOAT, 4, (int64_t[]){2, 3, 1, 37});
    CHECK(x);
    for (int64_t i = 0; i < 222; i++) tensor_put(x, i, (double)(i * 7 % 19) - 9);
    CHECK_OK(op_run_compute(&run, &status), status);
    for (int64_t i = 0; i < 222; i++) {
      double sum = 0;
      for (int64_t c = 0; c < 37; c++) {
        if (llabs(c - i % 37) <= 3) sum += pow(tensor_get(x, i - i % 37 + c), 2);
      }
      CHECK_NEAR(tensor_get(&run.outputs[0], i), tensor_get(x, i) * pow(1.5 + 0.25 * sum, -(double)kBetas[b]),
                 1e-6);
    }
    op_run_end(&run);
  }
}

TEST(lrn_errors) {
  op_fails("LRN[T=float]", "float[2,3] 1", CODE_INVALID_ARGUMENT, "in must be 4-dimensional");
  op_fails("LRNGrad[T=float]", "float[1,1,2] 1; float[1,1,2,3] 1; float[1,1,2,3] 1", CODE_INVALID_ARGUMENT,
           "inputs must be 4-dimensional");
  op_fails("LRNGrad[T=float]", "float[1,1,2,2] 1; float[1,1,2,3] 1; float[1,1,2,3] 1", CODE_INVALID_ARGUMENT,
           "input_grads, input_image, and out_image should have the same shape");
}

GRADIENT_CASES(
    lrn, {"LRN[T=float, depth_radius=1, bias=1, alpha=0.5, beta=0.75]", "float[1,1,2,3] 1 2 -1 0.5 3 -2"},
    {"LRN[T=float, depth_radius=2, bias=2, alpha=0.25, beta=0.5]", "float[1,2,1,4] 1 2 -1 0.5 3 -2 1 1.5"},
    {"LRN[T=float, depth_radius=0, bias=1, alpha=1, beta=1]", "float[2,1,1,2] 1 2 -1 0.5"},
    {"LRNGrad[T=float, depth_radius=1, bias=1, alpha=0.5, beta=0.75]",
     "float[1,1,1,3] 1 2 -1; float[1,1,1,3] 0.5 3 -2; float[1,1,1,3] 1 0.5 2"},
    {"LRNGrad[T=float, depth_radius=2, bias=2, alpha=0.25, beta=0.5]",
     "float[1,2,1,2] 1 2 -1 3; float[1,2,1,2] 0.5 3 -2 1; float[1,2,1,2] 1 0.5 2"},
    {"LRNGrad[T=float, depth_radius=0, bias=1, alpha=1, beta=1]",
     "float[2,1,1,2] 1 2 -1 3; float[2,1,1,2] 0.5 3 -2 1; float[2,1,1,2] 1 0.5 2"})
