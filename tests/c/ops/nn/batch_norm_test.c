/* FusedBatchNorm and FusedBatchNormGrad in all versions. */
#include <math.h>
#include <stdio.h>

#include "gradient_cases.h"
#include "gradient_checker.h"
#include "harness.h"
#include "op_runner.h"

#define X "[1,2,2,2] 1 2 -1 0.5 3 -2 4 0"
#define CHANNELS "float[2] 1.5 -2; float[2] 0.5 1"
#define GIVEN "float[2] 0.25 -1; float[2] 2 3"
#define NONE "float[0]; float[0]"

/* By hand: the mean of 1 2 3 6 is 3, their variance 3.5, and 14/3 without bias. */
TEST(batch_norm_by_hand) {
  op_gives_about("FusedBatchNorm[T=float, epsilon=0.5]",
                 "float[1,1,4,1] 1 2 3 6; float[1] 4; float[1] 10; float[0]; float[0]",
                 "float[1,1,4,1] 6 8 10 16; float[1] 3; float[1] 4.666666666666667; float[1] 3; float[1] 3.5",
                 1e-6);
  op_gives_about("FusedBatchNorm[T=float, epsilon=0.5, is_training=false]",
                 "float[1,1,2,2] 1 2 3 6; float[2] 4 1; float[2] 10 0; float[2] 3 2; float[2] 3.5 0.5",
                 "float[1,1,2,2] 6 0 10 4; float[2] 3 2; float[2] 3.5 0.5; float[2] 3 2; float[2] 3.5 0.5",
                 1e-6);
  /* A single element: no correction of the variance. */
  op_gives("FusedBatchNormV3[T=float, U=float]", "float[1,1,1,2] 3 4; float[2] 1.5 -2; float[2] 0.5 1; " NONE,
           "float[1,1,1,2] 0.5 1; float[2] 3 4; float[2] 0; float[2] 3 4; float[2] 0; float[] 0");
}

/* TensorFlow 2.21's own numbers. */
#define Y                                                                                             \
  "-0.0780644416809082 -1.5593395233154297 -1.6195695400238037 0.488132119178772 1.4634406566619873 " \
  "3.9005846977233887 "                                                                               \
  "2.2341933250427246 1.1706225872039795"
#define MOMENTS                                                                                         \
  "float[2] 1.75 0.125; float[2] 4.9166669845581055 2.7291667461395264; float[2] 1.75 0.125; float[2] " \
  "3.6875 2.046875"
TEST(batch_norm_in_training) {
  op_gives_about("FusedBatchNorm[T=float, epsilon=0.1]", "float" X "; " CHANNELS "; " NONE,
                 "float[1,2,2,2] " Y "; " MOMENTS, 1e-6);
  op_gives_about("FusedBatchNormV2[T=float, U=float, epsilon=0.1]", "float" X "; " CHANNELS "; " GIVEN,
                 "float[1,2,2,2] " Y "; " MOMENTS, 1e-6);
  op_gives_about("FusedBatchNormV3[T=half, U=float, epsilon=0.1]", "half" X "; " CHANNELS "; " NONE,
                 "half[1,2,2,2] " Y "; " MOMENTS "; float[] 0", 1e-3);
  op_gives_about("FusedBatchNormV3[T=bfloat16, U=float, epsilon=0.1]", "bfloat16" X "; " CHANNELS "; " NONE,
                 "bfloat16[1,2,2,2] " Y "; " MOMENTS "; float[] 0", 8e-3);
  op_gives_about("FusedBatchNormV3[T=float, U=float, epsilon=0.1, data_format=NDHWC]",
                 "float[1,1,2,2,2] 1 2 -1 0.5 3 -2 4 0; " CHANNELS "; " NONE,
                 "float[1,1,2,2,2] " Y "; " MOMENTS "; float[] 0", 1e-6);
}

#define FIRST                                                                                         \
  "0.998769998550415 2.3288233280181885 -1.6613366603851318 0.3337433338165283 -0.45486438274383545 " \
  "3.7018911838531494 "                                                                               \
  "-1.2862155437469482 2.039188861846924"
#define FIRST_MOMENTS \
  "float[2] 0.625 1.25; float[2] 1.5625 7.583333492279053; float[2] 0.625 1.25; float[2] 1.171875 5.6875"
TEST(batch_norm_with_channels_first) {
  op_gives_about("FusedBatchNorm[T=float, epsilon=0.1, data_format=NCHW]", "float" X "; " CHANNELS "; " NONE,
                 "float[1,2,2,2] " FIRST "; " FIRST_MOMENTS, 1e-6);
  op_gives_about("FusedBatchNormV3[T=float, U=float, epsilon=0.1, data_format=NCDHW]",
                 "float[1,2,1,2,2] 1 2 -1 0.5 3 -2 4 0; " CHANNELS "; " NONE,
                 "float[1,2,1,2,2] " FIRST "; " FIRST_MOMENTS "; float[] 0", 1e-6);
  op_gives_about("FusedBatchNormV2[T=half, U=float, epsilon=0.1, data_format=NCHW, is_training=false]",
                 "half" X "; " CHANNELS "; " GIVEN,
                 "half[1,2,2,2] 1.2763237953186035 2.311422109603882 -0.7938728332519531 0.7587745785713196 "
                 "-3.5436949729919434 "
                 "2.1359238624572754 -4.679618835449219 -0.13592374324798584; " GIVEN "; " GIVEN,
                 1e-3);
}

TEST(batch_norm_in_inference) {
  static const char kWant[] =
      "[1,2,2,2] 1.2763237953186035 -2.407771110534668 -0.7938728332519531 -0.703885555267334 "
      "3.34652042388916 "
      "2.1359238624572754 4.381618499755859 -0.13592374324798584; " GIVEN "; " GIVEN "; float[] 0";
  static const char *const kTypes[] = {"float", "half", "bfloat16"};
  for (int i = 0; i < 3; i++) {
    char op[128], inputs[256], want[512];
    snprintf(op, sizeof op, "FusedBatchNormV3[T=%s, U=float, epsilon=0.1, is_training=false]", kTypes[i]);
    snprintf(inputs, sizeof inputs, "%s" X "; " CHANNELS "; " GIVEN, kTypes[i]);
    snprintf(want, sizeof want, "%s%s", kTypes[i], kWant);
    op_gives_about(op, inputs, want, i == 0 ? 1e-6 : i == 1 ? 1e-3 : 8e-3);
  }
}

TEST(batch_norm_of_nothing) {
  static const char *const kTraining[] = {"true", "false"};
  for (int i = 0; i < 2; i++) {
    char op[128];
    snprintf(op, sizeof op, "FusedBatchNorm[T=float, is_training=%s]", kTraining[i]);
    op_gives(op, "float[0,2,2,2]; " CHANNELS "; " GIVEN,
             "float[0,2,2,2]; float[2] nan; float[2] nan; float[2] 0; float[2] 0");
    op_gives(op, "float[2,2,2,0]; float[0]; float[0]; float[0]; float[0]",
             "float[2,2,2,0]; float[0]; float[0]; float[0]; float[0]");
    snprintf(op, sizeof op, "FusedBatchNormGrad[T=float, is_training=%s]", kTraining[i]);
    op_gives(op, "float[0,2,2,2]; float[0,2,2,2]; float[2] 1; " GIVEN,
             "float[0,2,2,2]; float[2] 0; float[2] 0; float[0]; float[0]");
  }
}

#define DY "[1,2,2,2] 0.5 1 2 -1 0.25 3 1 -0.75"
#define DX                                                                                             \
  "-0.6665756106376648 -1.1153123378753662 1.4559921026229858 1.4657080173492432 -1.4952702522277832 " \
  "-2.56269907951355 "                                                                                 \
  "-1.0039067268371582 1.2847846746444702"
#define DX_GIVEN                                                                                     \
  "0.5175491571426392 -1.1359237432479858 2.0701966285705566 1.1359237432479858 0.2587745785713196 " \
  "-3.407771110534668 "                                                                              \
  "1.0350983142852783 0.851942777633667"
#define SUMS "float[2] 1.5957765579223633 -1.2779141664505005; float[2] 3.75 2.25; float[0]; float[0]"
TEST(batch_norm_grad) {
  static const char kInputs[] = "float" DY "; float" X "; float[2] 1.5 -2; " GIVEN;
  op_gives_about("FusedBatchNormGrad[T=float, epsilon=0.1]", kInputs, "float[1,2,2,2] " DX "; " SUMS, 1e-6);
  op_gives_about("FusedBatchNormGradV2[T=float, U=float, epsilon=0.1, is_training=false]", kInputs,
                 "float[1,2,2,2] " DX_GIVEN "; " SUMS, 1e-6);
  op_gives_about("FusedBatchNormGradV3[T=half, U=float, epsilon=0.1]",
                 "half" DY "; half" X "; float[2] 1.5 -2; " GIVEN "; float[] 0",
                 "half[1,2,2,2] " DX "; " SUMS, 1e-3);
  op_gives_about("FusedBatchNormGradV3[T=bfloat16, U=float, epsilon=0.1, is_training=false]",
                 "bfloat16" DY "; bfloat16" X "; float[2] 1.5 -2; " GIVEN "; float[3] 0",
                 "bfloat16[1,2,2,2] " DX_GIVEN "; " SUMS, 8e-3);
  op_gives_about("FusedBatchNormGrad[T=float, epsilon=0.1, data_format=NCHW]", kInputs,
                 "float[1,2,2,2] -0.07162511348724365 0.5229402780532837 1.3269898891448975 "
                 "-1.66278076171875 1.5344133377075195 "
                 "-2.619953155517578 0.8885857462882996 2.0519914627075195; float[2] -0.4312909245491028 "
                 "1.2779144048690796; "
                 "float[2] 2.5 3.5; float[0]; float[0]",
                 1e-6);
  /* By hand; TensorFlow has no such kernel. 1 / sqrt(variance + epsilon) is 0.5. */
  op_gives_about("FusedBatchNormGrad[T=float, epsilon=1, data_format=NCHW, is_training=false]",
                 "float[1,1,1,2] 3 -1; float[1,1,1,2] 2 7; float[1] 4; float[1] 1; float[1] 3",
                 "float[1,1,1,2] 6 -2; float[1] -1.5; float[1] 2; float[0]; float[0]", 1e-6);
}

/* Every path of the loops: channels and rows of all lengths, some longer than a block; a mean far from
 * zero. */
static void check_moments(bool channels_first, int64_t batch, int64_t rows, int64_t channels) {
  OpRun run;
  Status status;
  status_init(&status);
  CHECK_CONTEXT("%s %d %d %d", channels_first ? "NCHW" : "NHWC", (int)batch, (int)rows, (int)channels);
  CHECK_OK(op_run_begin(&run,
                        channels_first ? "FusedBatchNorm[T=float, data_format=NCHW]"
                                       : "FusedBatchNorm[T=float]",
                        &status),
           status);
  int64_t first[] = {batch, channels, rows, 1}, last[] = {batch, rows, 1, channels}, none = 0;
  Tensor *x = op_run_input(&run, DT_FLOAT, 4, channels_first ? first : last);
  Tensor *scale = op_run_input(&run, DT_FLOAT, 1, &channels),
         *offset = op_run_input(&run, DT_FLOAT, 1, &channels);
  CHECK(x && scale && offset);
  CHECK(op_run_input(&run, DT_FLOAT, 1, &none) && op_run_input(&run, DT_FLOAT, 1, &none));
  int64_t count = batch * rows * channels, n = batch * rows;
  for (int64_t i = 0; i < count; i++) tensor_put(x, i, 1000 + sin((double)i * 0.7) * (double)(i % 13));
  for (int64_t c = 0; c < channels; c++)
    tensor_put(scale, c, 1 + (double)(c % 5)), tensor_put(offset, c, (double)(c % 3));
  CHECK_OK(op_run_compute(&run, &status), status);
  double worst = 0;
  for (int64_t c = 0; status.code == CODE_OK && c < channels; c++) {
    double mean = 0, squares = 0;
    for (int pass = 0; pass < 2; pass++) {
      for (int64_t i = 0; i < n; i++) {
        double v =
            tensor_get(x, channels_first ? (i / rows * channels + c) * rows + i % rows : i * channels + c);
        if (pass == 0) mean += v / (double)n;
        else squares += (v - mean) * (v - mean);
      }
    }
    double variance = squares / (double)n, unbiased = n > 1 ? squares / (double)(n - 1) : 0;
    worst = fmax(worst, fabs(tensor_get(&run.outputs[1], c) / mean - 1));
    worst = fmax(worst, fabs(tensor_get(&run.outputs[2], c) - unbiased) / (unbiased + 0.01));
    worst = fmax(worst, fabs(tensor_get(&run.outputs[4], c) - variance) / (variance + 0.01));
    for (int64_t i = 0; i < n; i++) {
      int64_t at = channels_first ? (i / rows * channels + c) * rows + i % rows : i * channels + c;
      double y =
          (tensor_get(x, at) - mean) * tensor_get(scale, c) / sqrt(variance + 0.0001) + tensor_get(offset, c);
      /* The mean as a float is off by up to 3e-5. */
      if (variance > 1)
        worst = fmax(worst, fabs(tensor_get(&run.outputs[0], at) - y) / fmax(1, fabs(y)) * 0.01);
    }
  }
  CHECK(worst < 3e-6);
  op_run_end(&run);
}

TEST(batch_norm_is_accurate_for_all_sizes) {
  static const int64_t kSizes[][3] = {{1, 2, 1},  {1, 7, 3},   {2, 5, 4},    {3, 11, 17}, {1, 40, 64},
                                      {2, 9, 83}, {2, 700, 2}, {3, 2500, 5}, {1, 90, 700}};
  for (size_t i = 0; i < sizeof kSizes / sizeof kSizes[0]; i++) {
    for (int first = 0; first < 2; first++) check_moments(first, kSizes[i][0], kSizes[i][1], kSizes[i][2]);
  }
  CHECK_CONTEXT("%s", "");
}

TEST(batch_norm_errors) {
  op_fails("FusedBatchNorm[T=float]", "float[2,2,2] 0; " CHANNELS "; " NONE, CODE_INVALID_ARGUMENT,
           "input must be 4 or 5-dimensional[2,2,2]");
  op_fails("FusedBatchNorm[T=float]", "float[1,1,2,2,2] 0; " CHANNELS "; " NONE, CODE_INVALID_ARGUMENT,
           "input must be 4-dimensional[1,1,2,2,2]");
  op_fails("FusedBatchNorm[T=float]", "float" X "; float[1,2] 1; float[2] 1; " NONE, CODE_INVALID_ARGUMENT,
           "scale must be 1-dimensional[1,2]");
  op_fails("FusedBatchNorm[T=float]", "float" X "; float[2] 1; float[] 1; " NONE, CODE_INVALID_ARGUMENT,
           "offset must be 1-dimensional[]");
  op_fails("FusedBatchNorm[T=float]", "float" X "; " CHANNELS "; float[1,2] 1; float[0]",
           CODE_INVALID_ARGUMENT, "estimated_mean must be 1-dimensional[1,2]");
  op_fails("FusedBatchNorm[T=float]", "float" X "; " CHANNELS "; float[0]; float[1,2] 1",
           CODE_INVALID_ARGUMENT, "estimated_variance must be 1-dimensional[1,2]");
  op_fails("FusedBatchNorm[T=float]", "float" X "; float[3] 1; float[2] 1; " NONE, CODE_INVALID_ARGUMENT,
           "scale must have the same number of elements as the channels of x, got 3 and 2");
  op_fails("FusedBatchNorm[T=float]", "float" X "; float[2] 1; float[1] 1; " NONE, CODE_INVALID_ARGUMENT,
           "offset must have the same number of elements as the channels of x, got 1 and 2");
  op_fails("FusedBatchNorm[T=float, is_training=false]", "float" X "; " CHANNELS "; float[0]; float[2] 1",
           CODE_INVALID_ARGUMENT,
           "When is_training=false, mean must have the same number of elements as the channels of x, got 0 "
           "and 2");
  op_fails("FusedBatchNorm[T=float, is_training=false]", "float" X "; " CHANNELS "; float[2] 1; float[3] 1",
           CODE_INVALID_ARGUMENT,
           "When is_training=false, variance must have the same number of elements as the channels of x, got "
           "3 and 2");
}

TEST(batch_norm_grad_errors) {
  static const char kOp[] = "FusedBatchNormGrad[T=float]";
  op_fails(kOp, "float[2,2] 0; float" X "; float[2] 1; " GIVEN, CODE_INVALID_ARGUMENT,
           "input must be 4 or 5-dimensional[2,2]");
  op_fails(kOp, "float" X "; float[2,2] 0; float[2] 1; " GIVEN, CODE_INVALID_ARGUMENT,
           "input must be 4 or 5-dimensional[2,2]");
  op_fails(kOp, "float[1,2,2,3] 0; float" X "; float[2] 1; " GIVEN, CODE_INVALID_ARGUMENT,
           "x and y_backprop must have same shape, but x has shape [1,2,2,2] and y_backprop has shape "
           "[1,2,2,3]");
  op_fails(kOp, "float" X "; float" X "; float[1,2] 1; " GIVEN, CODE_INVALID_ARGUMENT,
           "scale must be 1-dimensional[1,2]");
  op_fails(kOp, "float" X "; float" X "; float[2] 1; float[1,2] 1; float[2] 1", CODE_INVALID_ARGUMENT,
           "saved mean must be 1-dimensional[1,2]");
  op_fails(kOp, "float" X "; float" X "; float[2] 1; float[2] 1; float[] 1", CODE_INVALID_ARGUMENT,
           "saved variance must be 1-dimensional[]");
  op_fails(kOp, "float" X "; float" X "; float[3] 1; " GIVEN, CODE_INVALID_ARGUMENT,
           "scale must have the same number of elements as the channels of x, got 3 and 2");
  op_fails(kOp, "float" X "; float" X "; float[2] 1; float[3] 1; float[2] 1", CODE_INVALID_ARGUMENT,
           "reserve_space_1 must have the same number of elements as the channels of x, got 3 and 2");
  op_fails(kOp, "float" X "; float" X "; float[2] 1; float[2] 1; float[1] 1", CODE_INVALID_ARGUMENT,
           "reserve_space_2 must have the same number of elements as the channels of x, got 1 and 2");
}

/* Differences are impossible in 16-bit floats, but the gradient is the same: dys of one give dx = 0 in
 * training. */
TEST(batch_norm_gradient_of_half) {
  gradient_is("FusedBatchNormV2[T=half, U=float, is_training=false, epsilon=1]",
              "half[1,1,2,1] 1 3; float[1] 4; float[1] 0; float[1] 1; float[1] 3",
              "half[1,1,2,1] 2 2; float[1] 1; float[1] 2; float[1] -2; float[1] 1.5");
}

#define V1(attrs) "FusedBatchNorm[T=float" attrs "]"
#define V2(attrs) "FusedBatchNormV2[T=float, U=float" attrs "]"
#define V3(attrs) "FusedBatchNormV3[T=float, U=float" attrs "]"
#define G1(attrs) "FusedBatchNormGrad[T=float" attrs "]"
#define G2(attrs) "FusedBatchNormGradV2[T=float, U=float" attrs "]"
#define G3(attrs) "FusedBatchNormGradV3[T=float, U=float" attrs "]"
#define WIDE "float[1,2,1,2] 1 0.5 -1 2"
#define TALL "float[2,1,2,1] 1 -0.5 0.25 2"
#define FLAT "float[1,2,2,1] 1 -0.5 0.25 2"
#define DEEP "float[1,1,2,1,2] 1 0.5 -1 2"
#define TWO "float[2] 0.5 1"
#define ONE "float[1] 0.75"

GRADIENT_CASES(
    batch_norm, {V1(", epsilon=1"), WIDE "; " TWO "; " TWO "; " NONE},
    {V1(", epsilon=1, is_training=false"), TALL "; " ONE "; " ONE "; " ONE "; " ONE},
    {V1(", epsilon=0.5, data_format=NCHW"), FLAT "; float[2] 0.5 1; " TWO "; " NONE},
    {V2(", epsilon=1, is_training=false, data_format=NCHW"), FLAT "; " TWO "; " TWO "; " TWO "; " TWO},
    {V2(", epsilon=1"), TALL "; " ONE "; " ONE "; " NONE},
    {V2(", epsilon=1"), WIDE "; " TWO "; " TWO "; " NONE},
    {V3(", epsilon=1, data_format=NDHWC"), DEEP "; " TWO "; " TWO "; " NONE},
    {V3(", epsilon=1, data_format=NCDHW, is_training=false"),
     "float[1,1,2,1,2] 1 0.5 -1 2; " ONE "; " ONE "; " ONE "; " ONE},
    {V3(", epsilon=1"), WIDE "; " TWO "; " TWO "; " NONE},
    {G1(", epsilon=1"), "float[1,2,1,2] 0.5 1 -1 0.25; " WIDE "; " TWO "; " TWO "; " TWO},
    {G1(", epsilon=1, is_training=false"), "float[2,1,2,1] 0.5 1 -1 0.25; " TALL "; " ONE "; " ONE "; " ONE},
    {G1(", epsilon=1, data_format=NCHW"), "float[1,2,2,1] 0.5 1 -1 0.25; " FLAT "; " TWO "; " TWO "; " TWO},
    {G2(", epsilon=1"), "float[1,2,1,2] 0.5 1 -1 0.25; " WIDE "; " TWO "; " TWO "; " TWO},
    {G2(", epsilon=1"), "float[2,1,2,1] 0.5 1 -1 0.25; " TALL "; " ONE "; " ONE "; " ONE},
    {G2(", epsilon=1, is_training=false, data_format=NCHW"),
     "float[1,2,2,1] 0.5 1 -1 0.25; " FLAT "; " TWO "; " TWO "; " TWO},
    {G3(", epsilon=1, data_format=NDHWC"),
     "float[1,1,2,1,2] 0.5 1 -1 0.25; " DEEP "; " TWO "; " TWO "; " TWO "; float[] 0"},
    {G3(", epsilon=1"), "float[2,1,2,1] 0.5 1 -1 0.25; " TALL "; " ONE "; " ONE "; " ONE "; float[0]"},
    {G3(", epsilon=1, is_training=false"),
     "float[1,2,1,2] 0.5 1 -1 0.25; " WIDE "; " TWO "; " TWO "; " TWO "; float[2] 0"})
