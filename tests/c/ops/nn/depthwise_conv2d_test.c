/* DepthwiseConv2dNative compared with Conv2D of all channels, whose filter is zero between a channel and the
 * outputs of others. */
#include <stdio.h>
#include <string.h>

#include "gradient_cases.h"
#include "harness.h"
#include "op_runner.h"

typedef struct Setting {
  int batch, rows, columns, channels, filter_rows, filter_columns, multiplier;
  int stride[2], dilation[2];
  const char *padding;
} Setting;

static double next_number(unsigned *seed) {
  *seed = *seed * 1664525u + 1013904223u;
  return ((int)(*seed >> 20 & 31) - 15) / 16.0;
}

static void numbers(Tensor *tensor, unsigned seed) {
  for (int64_t i = 0; i < tensor_num_elements(tensor); i++) tensor_put(tensor, i, next_number(&seed));
}

enum { FORWARD, BACK_INPUT, BACK_FILTER };

/* The elements of the depthwise filter in that of all channels: [rows, columns, channels, outputs], where
 * output o uses channel o / multiplier. */
static int64_t place_in_dense(const Setting *s, int64_t i) {
  int64_t outputs = s->channels * s->multiplier, output = i % outputs;
  return (i / outputs * s->channels + output / s->multiplier) * outputs + output;
}

static void dense_filter(Tensor *tensor, const Setting *s, unsigned seed) {
  int64_t count = tensor_num_elements(tensor);
  for (int64_t i = 0; i < count; i++) tensor_put(tensor, i, 0);
  for (int64_t i = 0; i < count / s->channels; i++)
    tensor_put(tensor, place_in_dense(s, i), next_number(&seed));
}

/* Leaves the elements of the depthwise filter in a gradient by the filter of all channels. */
static void keep_depthwise(Tensor *tensor, const Setting *s) {
  for (int64_t i = 0; i < tensor_num_elements(tensor) / s->channels; i++)
    tensor_put(tensor, i, tensor_get(tensor, place_in_dense(s, i)));
}

/* Runs one of the three. `out` has the sizes of the output. */
static bool run_op(OpRun *run, bool depthwise, int product, const Setting *s, bool first, DataType type,
                   const int64_t out[4], Status *status) {
  static const char *const kOps[2][3] = {{"Conv2D", "Conv2DBackpropInput", "Conv2DBackpropFilter"},
                                         {"DepthwiseConv2dNative", "DepthwiseConv2dNativeBackpropInput",
                                          "DepthwiseConv2dNativeBackpropFilter"}};
  int64_t in[4] = {s->batch, first ? s->channels : s->rows, first ? s->rows : s->columns,
                   first ? s->columns : s->channels};
  int64_t filter[4] = {s->filter_rows, s->filter_columns, s->channels,
                       depthwise ? s->multiplier : s->channels * s->multiplier};
  const int *t = s->stride, *d = s->dilation;
  char text[256];
  snprintf(text, sizeof text,
           first ? "%s[T=%s, strides=[1, 1, %d, %d], dilations=[1, 1, %d, %d], padding=%s, data_format=NCHW]"
                 : "%s[T=%s, strides=[1, %d, %d, 1], dilations=[1, %d, %d, 1], padding=%s]",
           kOps[depthwise][product],
           type == DT_FLOAT    ? "float"
           : type == DT_DOUBLE ? "double"
                               : "half",
           t[0], t[1], d[0], d[1], s->padding);
  if (!op_run_begin(run, text, status)) return false;
  for (int i = 0; i < (product == FORWARD ? 2 : 3); i++) {
    bool sizes = (product == BACK_INPUT && i == 0) || (product == BACK_FILTER && i == 1);
    const int64_t *dims = i == 2 ? out : i == 1 ? filter : in;
    Tensor *tensor =
        sizes ? op_run_input(run, DT_INT32, 1, (int64_t[]){4}) : op_run_input(run, type, 4, dims);
    if (!tensor) return status_oom(status, "an input");
    if (!sizes && i == 1 && !depthwise) dense_filter(tensor, s, (unsigned)i + 7);
    else if (!sizes) numbers(tensor, (unsigned)i + 7);
    for (int k = 0; sizes && k < 4; k++) tensor_put(tensor, k, (double)dims[k]);
  }
  return op_run_compute(run, status);
}

static void check_setting(const Setting *s, DataType type) {
  double tolerance = type == DT_FLOAT ? 1e-5 : type == DT_DOUBLE ? 1e-13 : 4e-3;
  int64_t out[4] = {0};
  for (int first = 0; first < 2; first++) {
    for (int product = FORWARD; product <= BACK_FILTER; product++) {
      OpRun got, want;
      Status status;
      status_init(&status);
      CHECK_OK(run_op(&got, true, product, s, first, type, out, &status), status);
      CHECK_OK(run_op(&want, false, product, s, first, type, out, &status), status);
      if (status.code == CODE_OK) {
        if (product == FORWARD) memcpy(out, shape_dims(&got.outputs[0].shape), sizeof out);
        if (product == BACK_FILTER) {
          keep_depthwise(&want.outputs[0], s);
          CHECK_OK(shape_set(&want.outputs[0].shape, 4, shape_dims(&got.outputs[0].shape), &status), status);
        }
        if (!tensor_is_about(&got.outputs[0], &want.outputs[0], tolerance))
          printf("  product %d, padding %s\n", product, s->padding);
      }
      op_run_end(&got);
      op_run_end(&want);
    }
  }
}

TEST(depthwise_convolutions_are_convolutions_of_single_channels) {
  static const char *const kPaddings[] = {"SAME", "VALID"};
  static const int kSteps[][4] = {{1, 1, 1, 1}, {2, 2, 1, 1}, {1, 1, 2, 2}, {2, 3, 1, 2}, {4, 2, 2, 3}};
  static const int kFilters[][2] = {{1, 1}, {3, 3}, {2, 4}};
  static const int kChannels[][2] = {{1, 1},  {2, 1},  {3, 1}, {4, 1}, {7, 1},
                                     {13, 1}, {21, 1}, {3, 2}, {2, 5}};
  for (int p = 0; p < 2; p++)
    for (int t = 0; t < 5; t++)
      for (int f = 0; f < 3; f++)
        for (int c = 0; c < 9; c++) {
          Setting s = {2,
                       7,
                       15,
                       kChannels[c][0],
                       kFilters[f][0],
                       kFilters[f][1],
                       kChannels[c][1],
                       {kSteps[t][0], kSteps[t][1]},
                       {kSteps[t][2], kSteps[t][3]},
                       kPaddings[p]};
          check_setting(&s, DT_DOUBLE);
          if (f == 1) check_setting(&s, DT_FLOAT);
          if (t == 1) check_setting(&s, DT_HALF);
        }
}

/* More columns than are summed at a time, and more channels than a vector. */
TEST(depthwise_convolutions_with_wide_filters) {
  Setting s = {2, 5, 30, 21, 2, 19, 1, {1, 2}, {1, 1}, "SAME"};
  check_setting(&s, DT_DOUBLE);
  check_setting(&s, DT_FLOAT);
}

/* The filter of pixels with few channels is repeated for adjacent ones unless it is very large. */
TEST(depthwise_convolutions_of_few_channels_with_large_filters) {
  static const int kFilters[][2] = {{11, 11}, {9, 12}, {1, 25}, {19, 18}};
  for (int channels = 1; channels <= 3; channels++)
    for (int f = 0; f < 4; f++)
      for (int stride = 1; stride <= 2; stride++) {
        Setting s = {1, 20, 41, channels, kFilters[f][0], kFilters[f][1], 1, {1, stride}, {1, 1}, "SAME"};
        check_setting(&s, DT_FLOAT);
        if (stride == 1) check_setting(&s, DT_DOUBLE);
      }
}

/* Windows of adjacent columns are summed in strips of lines (blas/depthwise_strip.inc): less than a strip,
 * several of them, windows of fewer and of more rows than columns, at the edges and not; the last channels
 * overlap others or do not. */
TEST(depthwise_convolutions_of_adjacent_columns) {
  static const int kColumns[] = {1, 6, 7, 15, 43, 64}, kRows[] = {1, 3, 5, 8}, kChannels[] = {4, 6, 16};
  for (int taps = 3; taps <= 7; taps += 2)
    for (int stride = 1; stride <= 2; stride++)
      for (int w = 0; w < 6; w++)
        for (int r = 0; r < 4; r++)
          for (int valid = 0; valid < 2; valid++) {
            Setting s = {1,    9, kColumns[w],      kChannels[(w + r) % 3], kRows[r],
                         taps, 1, {stride, stride}, {1 + r % 2, 1},         valid ? "VALID" : "SAME"};
            if (valid && (s.columns < taps || (s.filter_rows - 1) * s.dilation[0] >= s.rows)) continue;
            CHECK_CONTEXT("%d columns, %d channels, filter %dx%d, stride %d, %s", s.columns, s.channels,
                          s.filter_rows, taps, stride, s.padding);
            check_setting(&s, DT_FLOAT);
            check_setting(&s, DT_DOUBLE);
          }
}

/* Columns that are 2 KB apart are copied first, if the windows have not too many rows. */
TEST(depthwise_convolutions_of_columns_that_compete_for_the_cache) {
  for (int stride = 1; stride <= 2; stride++) {
    Setting s = {1,     stride == 1 ? 3 : 10, stride == 1 ? 30 : 12,
                 512,   stride == 1 ? 3 : 8,  3,
                 1,     {stride, stride},     {1, 1},
                 "SAME"};
    check_setting(&s, DT_FLOAT);
    s.channels = 256;
    check_setting(&s, DT_DOUBLE);
  }
}

/* Images whose rows are fetched first (base/cache.h). */
TEST(depthwise_convolutions_of_large_images) {
  Setting same = {2, 190, 260, 7, 3, 3, 1, {2, 2}, {1, 1}, "SAME"};
  check_setting(&same, DT_FLOAT);
  Setting dilated = {1, 401, 260, 7, 2, 3, 1, {1, 1}, {2, 1}, "VALID"};
  check_setting(&dilated, DT_FLOAT);
}

TEST(depthwise_convolutions_of_any_setting) {
  unsigned seed = 4;
  for (int checked = 0; checked < 300;) {
    Setting s = {random_to(&seed, 2),
                 random_to(&seed, 9),
                 random_to(&seed, 30),
                 random_to(&seed, 3) == 1 ? random_to(&seed, 20) : random_to(&seed, 5),
                 random_to(&seed, 4),
                 random_to(&seed, 5),
                 random_to(&seed, 4) == 1 ? random_to(&seed, 3) : 1,
                 {random_to(&seed, 3), random_to(&seed, 3)},
                 {1, 1},
                 random_to(&seed, 2) == 1 ? "SAME" : "VALID"};
    if (random_to(&seed, 4) == 1) s.dilation[0] = random_to(&seed, 3), s.dilation[1] = random_to(&seed, 3);
    bool fits =
        (s.filter_rows - 1) * s.dilation[0] < s.rows && (s.filter_columns - 1) * s.dilation[1] < s.columns;
    if (s.padding[0] == 'V' && !fits) continue;
    CHECK_CONTEXT("%dx%dx%dx%d, filter %dx%dx%d, strides %d %d, dilations %d %d, %s", s.batch, s.rows,
                  s.columns, s.channels, s.filter_rows, s.filter_columns, s.multiplier, s.stride[0],
                  s.stride[1], s.dilation[0], s.dilation[1], s.padding);
    check_setting(&s, checked++ % 2 ? DT_DOUBLE : DT_FLOAT);
  }
}

TEST(depthwise_values) {
  /* Channel c of pixel p is 10 p + c; the filter sums both pixels of channel 0, and takes the difference in
   * channel 1. */
  op_gives("DepthwiseConv2dNative[T=float, strides=[1, 1, 1, 1], padding=VALID]",
           "float[1,1,3,2] 10 11 20 21 30 31; float[1,2,2,1] 1 -1 1 1", "float[1,1,2,2] 30 10 50 10");
  op_gives("DepthwiseConv2dNative[T=float, strides=[1, 1, 1, 1], padding=VALID]",
           "float[1,1,2,1] 2 3; float[1,1,1,3] 1 10 100", "float[1,1,2,3] 2 20 200 3 30 300");
  op_gives("DepthwiseConv2dNative[T=float, strides=[1, 1, 1, 1], padding=SAME]",
           "float[0,3,3,1]; float[2,2,1,2] 1", "float[0,3,3,2]");
}

#define PLAIN "[T=float, strides=[1, 1, 1, 1], padding=VALID]"

TEST(depthwise_errors) {
  op_fails("DepthwiseConv2dNative" PLAIN, "float[3,3] 1; float[1,1,1,1] 1", CODE_INVALID_ARGUMENT,
           "input must be 4-dimensional[3,3]");
  op_fails("DepthwiseConv2dNative" PLAIN, "float[1,3,3,1] 1; float[1,1] 1", CODE_INVALID_ARGUMENT,
           "filter must be 4-dimensional: [1,1]");
  op_fails("DepthwiseConv2dNative" PLAIN, "float[1,3,3,3] 1; float[1,1,2,1] 1", CODE_INVALID_ARGUMENT,
           "input and filter must have the same depth: 3 vs 2");
  op_fails("DepthwiseConv2dNativeBackpropInput" PLAIN, "int32[3] 1 3 3; float[2,2,1,1] 1; float[1,2,2,1] 1",
           CODE_INVALID_ARGUMENT, "DepthwiseConv2DBackpropInput: input must be 4-dimensional");
  op_fails("DepthwiseConv2dNativeBackpropInput" PLAIN, "int32[4] 1 3 3 1; float[2,2,1,1] 1; float[1,3,2,1] 1",
           CODE_INVALID_ARGUMENT,
           "DepthwiseConv2DBackpropInput: Number of rows of out_backprop doesn't match computed: actual = 3, "
           "computed = 2");
  op_fails("DepthwiseConv2dNativeBackpropInput" PLAIN, "int32[4] 1 3 3 1; float[2,2,1,1] 1; float[1,2,2,2] 1",
           CODE_INVALID_ARGUMENT,
           "DepthwiseConv2DBackpropInput: depth_multiplier * in_depth not equal to out_depth");
  op_fails("DepthwiseConv2dNativeBackpropFilter" PLAIN,
           "float[1,3,3,1] 1; int32[4] 2 2 1 1; float[1,2,3,1] 1", CODE_INVALID_ARGUMENT,
           "DepthwiseConv2DBackpropFilter: Number of cols of out_backprop doesn't match computed: actual = "
           "3, computed = 2");
}

#define CASE(op, attrs, inputs) \
  { "DepthwiseConv2dNative" op "[T=double, " attrs "]", inputs }

GRADIENT_CASES(depthwise,
               CASE("", "strides=[1, 1, 1, 1], padding=VALID",
                    "double[1,3,2,2] 1 2 -1 0.5 3 -2; double[2,2,2,1] 1 -2 3 0.5 2 1 -1 2"),
               CASE("", "strides=[1, 2, 2, 1], padding=SAME",
                    "double[1,3,3,1] 1 2 -1 0.5 3; double[2,2,1,2] 1 -2 3 0.5"),
               CASE("", "strides=[1, 1, 1, 1], dilations=[1, 1, 2, 1], padding=SAME, data_format=NCHW",
                    "double[2,2,2,1] 1 2 -1 0.5; double[2,1,2,1] 1 -2 3 0.5"),
               CASE("BackpropInput", "strides=[1, 1, 1, 1], padding=VALID",
                    "int32[4] 1 3 2 2; double[2,2,2,1] 1 -2 3 0.5; double[1,2,1,2] 1 2 3 4"),
               CASE("BackpropInput", "strides=[1, 2, 2, 1], padding=SAME",
                    "int32[4] 1 3 3 1; double[2,2,1,2] 1 -2 3 0.5; double[1,2,2,2] 1 2 3 4"),
               CASE("BackpropInput", "strides=[1, 1, 1, 1], padding=SAME, data_format=NCHW",
                    "int32[4] 2 1 2 2; double[2,1,1,1] 1 -2; double[2,1,2,2] 1 2 3 4"),
               CASE("BackpropFilter", "strides=[1, 1, 1, 1], padding=VALID",
                    "double[1,3,2,2] 1 2 -1 0.5 3; int32[4] 2 2 2 1; double[1,2,1,2] 1 2 3 4"),
               CASE("BackpropFilter", "strides=[1, 2, 2, 1], padding=SAME",
                    "double[1,3,3,1] 1 2 -1 0.5; int32[4] 2 2 1 2; double[1,2,2,2] 1 2 3 4"),
               CASE("BackpropFilter", "strides=[1, 1, 1, 1], padding=SAME, data_format=NCHW",
                    "double[2,1,2,2] 1 -2 3; int32[4] 2 1 1 1; double[2,1,2,2] 1 2 3 4"))
