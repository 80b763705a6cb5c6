/* ResizeBicubic, ResizeArea, ScaleAndTranslate, CropAndResize and their gradients. TensorFlow's own results
 * are in tests/data/golden/images.pb. */
#include <math.h>
#include <stdio.h>

#include "gradient_cases.h"
#include "gradient_checker.h"
#include "harness.h"
#include "op_runner.h"

#define X "[1,2,3,1] 1 2 -1 0.5 3 -2"
#define ALIGNED ", align_corners=true"
#define CENTERED ", half_pixel_centers=true"

/* The weights of each element add up to 1. */
TEST(resizing_keeps_a_constant_image) {
  static const char *const kKernels[] = {"lanczos1", "lanczos3", "lanczos5",  "gaussian",
                                         "box",      "triangle", "keyscubic", "mitchellcubic"};
  static const char kImage[] = "float[1,7,5,2] 3; int32[2] 4 9", kWant[] = "float[1,4,9,2] 3";
  op_gives_about("ResizeBicubic[T=float]", kImage, kWant, 1e-6);
  op_gives_about("ResizeBicubic[T=float" ALIGNED "]", kImage, kWant, 1e-6);
  op_gives_about("ResizeBicubic[T=float" CENTERED "]", kImage, kWant, 1e-6);
  op_gives_about("ResizeArea[T=float]", kImage, kWant, 1e-6);
  op_gives_about("ResizeArea[T=uint8]", "uint8[1,7,5,2] 3; int32[2] 4 9", kWant, 1e-6);
  for (int i = 0; i < 8; i++) {
    char op[96];
    snprintf(op, sizeof op, "ScaleAndTranslate[T=float, kernel_type=%s]", kKernels[i]);
    op_gives_about(op, "float[1,7,5,2] 3; int32[2] 4 9; float[2] 0.5714286 1.8; float[2] 0", kWant, 1e-6);
  }
}

/* One axis of a resized image in double, from [in] to element i of [out]: the weights of the elements. */
static void cubic_of(int64_t in, int64_t out, int64_t i, double *weights) {
  double place = (double)i * (double)in / (double)out, x = place - floor(place);
  for (int k = -1; k <= 2; k++) {
    double d = fabs(x - k), a = -0.75;
    double weight = d <= 1 ? ((a + 2) * d - (a + 3)) * d * d + 1 : ((a * d - 5 * a) * d + 8 * a) * d - 4 * a;
    int64_t at = (int64_t)floor(place) + k;
    weights[at < 0 ? 0 : at >= in ? in - 1 : at] += weight;
  }
}
static void area_of(int64_t in, int64_t out, int64_t i, double *weights) {
  double begin = (double)(i * in) / (double)out, end = (double)((i + 1) * in) / (double)out;
  for (int64_t k = 0; k < in; k++) {
    double part = fmin(end, (double)k + 1) - fmax(begin, (double)k);
    if (part > 0) weights[k] += part / (end - begin);
  }
}

enum { LARGEST = 64 };
typedef void WeightsOf(int64_t in, int64_t out, int64_t i, double *weights);
static void check_resized(const char *name, WeightsOf *weights_of, const int64_t in[2], const int64_t out[2],
                          int64_t channels) {
  char op[64], size[64];
  OpRun run;
  Status status;
  status_init(&status);
  snprintf(op, sizeof op, "%s[T=float]", name);
  snprintf(size, sizeof size, "int32[2] %d %d", (int)out[0], (int)out[1]);
  CHECK_CONTEXT("%s of [%d, %d, %d] to %s", name, (int)in[0], (int)in[1], (int)channels, size);
  CHECK_OK(op_run_begin(&run, op, &status), status);
  Tensor *x = op_run_input(&run, DT_FLOAT, 4, (int64_t[]){2, in[0], in[1], channels});
  CHECK(x);
  for (int64_t i = 0; i < 2 * in[0] * in[1] * channels; i++) tensor_put(x, i, (double)(i * i % 31) / 8);
  CHECK_OK(op_run_inputs(&run, size, &status), status);
  CHECK_OK(op_run_compute(&run, &status), status);
  for (int64_t i = 0; i < 2 * out[0] * out[1] * channels; i++) {
    int64_t c = i % channels, column = i / channels % out[1], row = i / channels / out[1] % out[0],
            image = i / channels / out[1] / out[0];
    double y_weights[LARGEST] = {0}, x_weights[LARGEST] = {0}, want = 0;
    weights_of(in[0], out[0], row, y_weights);
    weights_of(in[1], out[1], column, x_weights);
    for (int64_t r = 0; r < in[0]; r++) {
      for (int64_t k = 0; k < in[1]; k++)
        want += y_weights[r] * x_weights[k] * tensor_get(x, ((image * in[0] + r) * in[1] + k) * channels + c);
    }
    if (!CHECK_NEAR(tensor_get(&run.outputs[0], i), want, 5e-6)) break;
  }
  op_run_end(&run);
  CHECK_CONTEXT("%s", "");
}

/* Sizes whose places are multiples of 1/1024, to which ResizeBicubic rounds them. */
TEST(resized_images_are_weighted_sums) {
  static const int64_t channels[] = {1, 2, 3, 4, 5, 8, 11};
  static const int64_t sizes[][2][2] = {{{5, 7}, {16, 32}}, {{9, 40}, {4, 16}}, {{20, 3}, {20, 2}},
                                        {{1, 2}, {8, 1}},   {{64, 4}, {1, 8}},  {{3, 1}, {48, 1}}};
  for (size_t c = 0; c < sizeof channels / sizeof channels[0]; c++) {
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
      check_resized("ResizeArea", area_of, sizes[s][0], sizes[s][1], channels[c]);
      check_resized("ResizeBicubic", cubic_of, sizes[s][0], sizes[s][1], channels[c]);
    }
  }
}

/* An element of weight 0 does not count, whatever it is. */
TEST(elements_between_which_nothing_lies_are_left_out) {
  op_gives("ResizeBicubic[T=float]", "float[1,1,5,1] 1 2 inf 3 4; int32[2] 1 5",
           "float[1,1,5,1] 1 2 inf 3 4");
  op_gives("ResizeArea[T=float]", "float[1,3,1,2] 1 2 inf nan 3 4; int32[2] 6 1",
           "float[1,6,1,2] 1 2 1 2 inf nan inf nan 3 4 3 4");
}

TEST(resize_area_averages_whole_elements) {
  op_gives("ResizeArea[T=float]", "float[1,4,4,1] 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; int32[2] 2 2",
           "float[1,2,2,1] 3.5 5.5 11.5 13.5");
  op_gives("ResizeArea[T=float]", "float[1,1,2,1] 1 2; int32[2] 2 4", "float[1,2,4,1] 1 1 2 2 1 1 2 2");
}

/* Keys' cubic reproduces a linear image between elements that are away from the edges. */
TEST(cubic_kernels_keep_a_line) {
  op_gives_about("ScaleAndTranslate[T=float, kernel_type=keyscubic]",
                 "float[1,1,7,1] 0 1 2 3 4 5 6; int32[2] 1 3; float[2] 1 1; float[2] 0 -2.25",
                 "float[1,1,3,1] 2.25 3.25 4.25", 1e-6);
}

TEST(samples_outside_of_the_image_are_zero) {
  op_gives("ScaleAndTranslate[T=float, kernel_type=box]",
           "float[1,1,2,1] 3 4; int32[2] 1 4; float[2] 1 1; float[2] 0 1", "float[1,1,4,1] 0 3 4 0");
}

TEST(crops_of_boxes) {
  static const char kOp[] = "CropAndResize[T=float]";
  op_gives(kOp, "float[1,2,2,1] 1 2 3 4; float[1,4] 0 0 1 1; int32[1] 0; int32[2] 1 1", "float[1,1,1,1] 2.5");
  op_gives(kOp, "float[1,2,2,1] 1 2 3 4; float[1,4] 1 1 0 0; int32[1] 0; int32[2] 2 2",
           "float[1,2,2,1] 4 3 2 1");
  op_gives("CropAndResize[T=int32, extrapolation_value=-7]",
           "int32[2,2,2,1] 1 2 3 4 5 6 7 8; float[1,4] 0 0 2 1; int32[1] 1; int32[2] 2 2",
           "float[1,2,2,1] 5 6 -7 -7");
  op_gives("CropAndResize[T=float, method=nearest]",
           "float[1,1,3,1] 1 2 3; float[1,4] 0 0.2 0 0.3; int32[1] 0; int32[2] 1 2", "float[1,1,2,1] 1 2");
  op_fails(kOp, "float[1,2,2,1] 1; float[1,4] 0 0 1 1; int32[1] 1; int32[2] 1 1", CODE_OUT_OF_RANGE,
           "box_index has values outside [0, batch_size)");
}

TEST(gradients_of_resized_integers_are_zero) {
  gradient_is("ResizeBicubic[T=uint8]", "uint8[1,1,2,1] 1 2; int32[2] 1 4", "none");
  gradient_is("ScaleAndTranslate[T=int32]", "int32[1,1,2,1] 1 2; int32[2] 1 4; float[2] 1 2; float[2] 0",
              "float[2] 0; float[2] 0");
}

#define LINEAR "TensorFlow has no gradient for its gradient."
/* Scale and translation receive no gradient. A box does not depend on small changes of them. */
#define SCALED "; float[2] 0.7 1.4; float[2] 0.3 -0.2"
GRADIENT_CASES(
    resample, {"ResizeBicubic[T=float]", "float" X "; int32[2] 3 4", LINEAR},
    {"ResizeBicubic[T=float" ALIGNED "]", "float[2,2,1,2] 1 2 -1 0.5 3 -2 1 2; int32[2] 1 3", LINEAR},
    {"ResizeBicubic[T=float" CENTERED "]", "float[1,3,3,1] 1 2 -1 0.5 3 -2 1 2 4; int32[2] 2 5", LINEAR},
    {"ScaleAndTranslate[T=float, kernel_type=box]", "float" X "; int32[2] 2 4" SCALED, LINEAR},
    {"ScaleAndTranslate[T=float, kernel_type=box, antialias=false]",
     "float[1,3,3,1] 1 2 -1 0.5 3 -2 1 2 4; int32[2] 2 3" SCALED, LINEAR},
    {"ScaleAndTranslate[T=float, kernel_type=box]", "float[2,2,1,2] 1 2 -1 0.5 3 -2 1 2; int32[2] 1 3" SCALED,
     LINEAR},
    {"CropAndResize[T=float]", "float" X "; float[1,4] 0.1 0.15 0.8 0.7; int32[1] 0; int32[2] 2 3", LINEAR},
    {"CropAndResize[T=float]",
     "float[2,2,2,2] 1 2 -1 0.5 3 -2 1 2 4 1 -3 2 5 1 2 3; float[2,4] 0.1 0.15 0.8 0.7 0.9 0.2 0.3 0.8; "
     "int32[2] 1 0; int32[2] 1 2",
     LINEAR},
    {"CropAndResize[T=float]",
     "float[1,3,3,1] 1 2 -1 0.5 3 -2 1 2 4; float[1,4] 0.3 -0.6 0.7 0.8; int32[1] 0; int32[2] 2 2", LINEAR})
