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

/* The sum of f over the neighbours of channel i within `radius`, in rows of `channels`. */
typedef double TermAt(const OpRun *run, int64_t i);
static double neighbour_sum(const OpRun *run, int64_t i, int64_t channels, int64_t radius, TermAt *term) {
  double sum = 0;
  for (int64_t c = 0; c < channels; c++) {
    if (llabs(c - i % channels) <= radius) sum += term(run, i - i % channels + c);
  }
  return sum;
}
/* x is the last input but one, or the only one. */
static double x_at(const OpRun *run, int64_t i) {
  return tensor_get(&run->inputs[run->num_inputs == 1 ? 0 : 1], i);
}
static double square_at(const OpRun *run, int64_t i) { return x_at(run, i) * x_at(run, i); }

typedef struct LrnCase {
  int64_t pixels, channels, radius;
  double beta;
} LrnCase;
static LrnCase lrn_case;
static double scale_at(const OpRun *run, int64_t i) {
  return 1.5 + 0.25 * neighbour_sum(run, i, lrn_case.channels, lrn_case.radius, square_at);
}
static double slope_at(const OpRun *run, int64_t i) {
  return tensor_get(&run->inputs[0], i) * tensor_get(&run->inputs[2], i) / scale_at(run, i);
}

static void check_lrn(bool gradient) {
  const LrnCase *c = &lrn_case;
  int64_t count = c->pixels * c->channels;
  char op[128];
  OpRun run;
  Status status;
  status_init(&status);
  snprintf(op, sizeof op, "LRN%s[T=float, depth_radius=%d, bias=1.5, alpha=0.25, beta=%g]",
           gradient ? "Grad" : "", (int)c->radius, c->beta);
  CHECK_CONTEXT("%s, %lld channels", op, (long long)c->channels);
  CHECK_OK(op_run_begin(&run, op, &status), status);
  for (int k = 0; k < (gradient ? 3 : 1); k++) {
    Tensor *x = op_run_input(&run, DT_FLOAT, 4, (int64_t[]){1, c->pixels, 1, c->channels});
    CHECK(x);
    for (int64_t i = 0; i < count; i++) tensor_put(x, i, (double)((i + k) * (7 + k) % 19) - 9);
  }
  CHECK_OK(op_run_compute(&run, &status), status);
  for (int64_t i = 0; i < count; i++) {
    double factor = pow(scale_at(&run, i), -(double)(float)c->beta), want = x_at(&run, i) * factor;
    if (gradient) {
      want = tensor_get(&run.inputs[0], i) * factor -
             2 * 0.25 * c->beta * x_at(&run, i) * neighbour_sum(&run, i, c->channels, c->radius, slope_at);
    }
    if (!CHECK_NEAR(tensor_get(&run.outputs[0], i), want, gradient ? 3e-5 : 1e-6)) break;
  }
  op_run_end(&run);
  CHECK_CONTEXT("%s", "");
}

/* Pixels whose rows are one block, several, or parts of one, and sums that reach beyond the channels. */
TEST(lrn_of_many_channels) {
  static const LrnCase cases[] = {{6, 37, 3, 0.5},   {6, 37, 3, 0.75},  {6, 37, 3, 1},    {6, 37, 3, 0.6},
                                  {1500, 3, 1, 0.5}, {999, 4, 5, 0.75}, {7, 1, 5, 1},     {2, 2100, 2, 0.75},
                                  {130, 32, 5, 0.5}, {3, 20, 100, 0.6}, {40, 64, 0, 0.75}};
  for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
    lrn_case = cases[k];
    check_lrn(false);
    check_lrn(true);
  }
}

/* s^-0.75 is in the range of float wherever s is. */
TEST(lrn_of_large_and_small_numbers) {
  op_gives_about("LRN[T=float, depth_radius=0, bias=0, alpha=1, beta=0.75]",
                 "float[1,1,1,4] 1e18 1e16 1e-16 -1e-18", "float[1,1,1,4] 1e-9 1e-8 1e8 -1e9", 1e-6);
  op_gives("LRN[T=float, depth_radius=1, bias=1, alpha=1, beta=0.5]", "float[1,1,2,4] nan 0 0 0 0 0 0 inf",
           "float[1,1,2,4] nan nan 0 0 0 0 0 nan");
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
