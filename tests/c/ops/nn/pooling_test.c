/* MaxPool and AvgPool with their gradients, compared with loops over one window at a time. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "gradient_cases.h"
#include "harness.h"
#include "op_runner.h"

typedef struct Setting {
  int batch, rows, columns, channels, window[2], stride[2];
  bool same, first;
} Setting;

enum { MAX_ELEMENTS = 16384 };
static double x[MAX_ELEMENTS], g[MAX_ELEMENTS], want[MAX_ELEMENTS];

static int index_of(const Setting *s, int rows, int columns, int n, int r, int c, int d) {
  return s->first ? ((n * s->channels + d) * rows + r) * columns + c
                  : ((n * rows + r) * columns + c) * s->channels + d;
}

static void out_size(const Setting *s, int out[2], int before[2]) {
  int in[2] = {s->rows, s->columns};
  for (int k = 0; k < 2; k++) {
    int missing = 0;
    out[k] = s->same ? (in[k] + s->stride[k] - 1) / s->stride[k] : (in[k] - s->window[k]) / s->stride[k] + 1;
    if (s->same) missing = (out[k] - 1) * s->stride[k] + s->window[k] - in[k];
    before[k] = missing > 0 ? missing / 2 : 0;
  }
}

enum { MAX, MAX_GRAD, MAX_GRAD_GRAD, AVG, AVG_GRAD };

static void reference(const Setting *s, int product) {
  int out[2], before[2];
  out_size(s, out, before);
  memset(want, 0, sizeof want);
  for (int n = 0; n < s->batch; n++)
    for (int r = 0; r < out[0]; r++)
      for (int c = 0; c < out[1]; c++)
        for (int d = 0; d < s->channels; d++) {
          int to = index_of(s, out[0], out[1], n, r, c, d), best = -1, count = 0;
          double sum = 0;
          for (int a = 0; a < s->window[0]; a++)
            for (int b = 0; b < s->window[1]; b++) {
              int row = r * s->stride[0] - before[0] + a, column = c * s->stride[1] - before[1] + b;
              if (row < 0 || row >= s->rows || column < 0 || column >= s->columns) continue;
              int from = index_of(s, s->rows, s->columns, n, row, column, d);
              if (best < 0 || x[from] > x[best]) best = from;
              sum += x[from];
              count++;
            }
          if (product == MAX) want[to] = x[best];
          if (product == MAX_GRAD) want[best] += g[to];
          if (product == MAX_GRAD_GRAD) want[to] = g[best];
          if (product == AVG) want[to] = sum / count;
          for (int a = 0; product == AVG_GRAD && a < s->window[0]; a++)
            for (int b = 0; b < s->window[1]; b++) {
              int row = r * s->stride[0] - before[0] + a, column = c * s->stride[1] - before[1] + b;
              if (row < 0 || row >= s->rows || column < 0 || column >= s->columns) continue;
              want[index_of(s, s->rows, s->columns, n, row, column, d)] += g[to] / count;
            }
        }
}

static void dims_of(const Setting *s, int rows, int columns, int64_t dims[4]) {
  int64_t last[4] = {s->batch, rows, columns, s->channels}, first[4] = {s->batch, s->channels, rows, columns};
  memcpy(dims, s->first ? first : last, sizeof last);
}

static void put(OpRun *run, DataType type, const int64_t dims[4], const double *values) {
  Tensor *tensor = op_run_input(run, type, 4, dims);
  CHECK(tensor);
  for (int64_t i = 0; tensor && i < tensor_num_elements(tensor); i++) tensor_put(tensor, i, values[i]);
}

static void check_product(const Setting *s, int product, DataType type, bool by_inputs) {
  static const char *const kOps[] = {"MaxPool", "MaxPoolGrad", "MaxPoolGradGrad", "AvgPool", "AvgPoolGrad"};
  int size[2], before[2];
  int64_t in[4], out[4];
  char text[256], window[128];
  OpRun run;
  Status status;
  status_init(&status);
  out_size(s, size, before);
  dims_of(s, s->rows, s->columns, in);
  dims_of(s, size[0], size[1], out);
  const int *k = s->window, *t = s->stride;
  snprintf(window, sizeof window,
           s->first ? ", ksize=[1, 1, %d, %d], strides=[1, 1, %d, %d]"
                    : ", ksize=[1, %d, %d, 1], strides=[1, %d, %d, 1]",
           k[0], k[1], t[0], t[1]);
  snprintf(text, sizeof text, "%s%s[T=%s%s, padding=%s, data_format=%s]", kOps[product],
           by_inputs ? "V2" : "", dtype_name(type), by_inputs ? "" : window, s->same ? "SAME" : "VALID",
           s->first ? "NCHW" : "NHWC");
  CHECK_OK(op_run_begin(&run, text, &status), status);
  if (product == AVG_GRAD) {
    Tensor *shape = op_run_input(&run, DT_INT32, 1, (int64_t[]){4});
    for (int i = 0; shape && i < 4; i++) tensor_put(shape, i, (double)in[i]);
  } else {
    put(&run, type, in, x);
  }
  if (product == MAX_GRAD || product == MAX_GRAD_GRAD) {
    reference(s, MAX);
    put(&run, type, out, want);
  }
  if (product != MAX && product != AVG) put(&run, type, product == MAX_GRAD_GRAD ? in : out, g);
  for (int list = 0; by_inputs && list < 2; list++) {
    const int *v = list == 0 ? k : t;
    Tensor *tensor = op_run_input(&run, DT_INT32, 1, (int64_t[]){4});
    for (int i = 0; tensor && i < 4; i++) tensor_put(tensor, i, 1);
    for (int i = 0; tensor && i < 2; i++) tensor_put(tensor, (s->first ? 2 : 1) + i, v[i]);
  }
  bool ran = op_run_compute(&run, &status);
  CHECK_OK(ran, status);
  reference(s, product);
  double tolerance = type == DT_DOUBLE  ? 1e-13
                     : type == DT_FLOAT ? 1e-5
                     : type == DT_HALF  ? 1e-2
                                        : 0,
         worst = 0;
  const Tensor *got = &run.outputs[0];
  bool input_like = product == MAX_GRAD || product == AVG_GRAD;
  for (int i = 0; ran && i < 4; i++) CHECK_INT_EQ(shape_dim(&got->shape, i), (input_like ? in : out)[i]);
  for (int64_t i = 0; ran && i < tensor_num_elements(got); i++) {
    double off = fabs(tensor_get(got, i) - want[i]);
    if (!(off <= worst)) worst = off;
  }
  if (!(worst <= tolerance)) printf("  %s is off by %g\n", text, worst);
  CHECK(worst <= tolerance);
  op_run_end(&run);
}

/* Few different numbers, so that most windows have several maxima. */
static void fill(double *values, unsigned seed) {
  for (int i = 0; i < MAX_ELEMENTS; i++) {
    seed = seed * 1664525u + 1013904223u;
    values[i] = seed >> 20 & 7;
  }
}

TEST(pooling_of_all_sizes) {
  static const int kWindows[][4] = {{1, 1, 1, 1}, {2, 2, 2, 2}, {3, 3, 1, 1}, {3, 3, 2, 2},
                                    {3, 2, 2, 3}, {2, 2, 4, 3}, {7, 5, 2, 1}};
  static const int kChannels[] = {1, 3, 4, 19, 33, 70};
  static const DataType kTypes[] = {DT_FLOAT, DT_DOUBLE, DT_HALF, DT_INT32, DT_INT64,
                                    DT_UINT8, DT_INT16,  DT_INT8, DT_UINT16};
  fill(x, 5), fill(g, 6);
  for (int w = 0; w < 7; w++)
    for (int c = 0; c < 6; c++)
      for (int same = 0; same < 2; same++)
        for (int first = 0; first < 2; first++) {
          Setting s = {2,
                       7,
                       8,
                       kChannels[c],
                       {kWindows[w][0], kWindows[w][1]},
                       {kWindows[w][2], kWindows[w][3]},
                       same,
                       first};
          for (int t = 0; t < (c == 3 ? 9 : 2); t++) {
            for (int product = MAX; product <= (t < 3 ? AVG_GRAD : MAX_GRAD_GRAD); product++)
              check_product(&s, product, kTypes[t], false);
          }
          for (int product = MAX; product <= MAX_GRAD_GRAD; product++)
            check_product(&s, product, DT_FLOAT, true);
        }
}

TEST(pooling_of_any_setting) {
  unsigned seed = 2;
  fill(x, 9), fill(g, 10);
  for (int checked = 0; checked < 300;) {
    int size = random_to(&seed, 3);
    Setting s = {random_to(&seed, 2),
                 random_to(&seed, 12),
                 random_to(&seed, 16),
                 random_to(&seed, 40),
                 {size, size},
                 {random_to(&seed, 3), random_to(&seed, 3)},
                 random_to(&seed, 2) == 1,
                 random_to(&seed, 4) == 1};
    if (random_to(&seed, 3) == 1) s.window[0] = random_to(&seed, 4), s.window[1] = random_to(&seed, 4);
    if ((!s.same && (s.window[0] > s.rows || s.window[1] > s.columns)) ||
        s.batch * s.rows * s.columns * s.channels > MAX_ELEMENTS)
      continue;
    CHECK_CONTEXT("%dx%dx%dx%d, window %d %d, strides %d %d, same %d", s.batch, s.rows, s.columns, s.channels,
                  s.window[0], s.window[1], s.stride[0], s.stride[1], s.same);
    for (int product = MAX; product <= AVG_GRAD; product++)
      check_product(&s, product, checked % 2 ? DT_DOUBLE : DT_FLOAT, false);
    checked++;
  }
}

TEST(pooling_of_images_smaller_than_windows) {
  static const int kStrides[] = {1, 2, 3};
  fill(x, 7), fill(g, 8);
  for (int k = 0; k < 3; k++)
    for (int columns = 1; columns <= 3; columns++)
      for (int rows = 1; rows <= 3; rows++) {
        Setting s = {1, rows, columns, 5, {3, 3}, {kStrides[k], kStrides[k]}, true, false};
        for (int product = MAX; product <= AVG_GRAD; product++) check_product(&s, product, DT_FLOAT, false);
      }
}

#define ROW3 "ksize=[1, 1, 3, 1], strides=[1, 1, 1, 1], padding=VALID"

/* As TensorFlow's kernels: a NaN is never the maximum, but keeps the gradient if it is first. */
TEST(pooling_of_nan_and_infinity) {
  op_gives("MaxPool[T=float, " ROW3 "]", "float[1,1,3,1] 1 nan 2", "float[1,1,1,1] 2");
  op_gives("MaxPool[T=float, " ROW3 "]", "float[1,1,3,5] nan nan nan nan nan 1 1 1 1 1 2 2 2 2 2",
           "float[1,1,1,5] 2 2 2 2 2");
  op_gives("MaxPool[T=float, " ROW3 "]", "float[1,1,3,1] nan nan nan",
           "float[1,1,1,1] -3.4028234663852886e38");
  op_gives("MaxPoolGrad[T=float, " ROW3 "]", "float[1,1,3,1] 1 nan 2; float[1,1,1,1] 2; float[1,1,1,1] 5",
           "float[1,1,3,1] 0 0 5");
  op_gives("MaxPoolGrad[T=float, " ROW3 "]", "float[1,1,3,1] nan 1 2; float[1,1,1,1] 2; float[1,1,1,1] 5",
           "float[1,1,3,1] 5 0 0");
  op_gives("MaxPoolGradGrad[T=float, " ROW3 "]",
           "float[1,1,3,1] nan 1 2; float[1,1,1,1] 2; float[1,1,3,1] 5 6 7", "float[1,1,1,1] 7");
  op_gives("MaxPoolGradGrad[T=float, " ROW3 "]", "float[1,1,3,1] nan; float[1,1,1,1] 2; float[1,1,3,1] 5 6 7",
           "float[1,1,1,1] 0");
  op_gives("MaxPool[T=double, " ROW3 "]", "double[1,1,3,1] -inf 1 inf", "double[1,1,1,1] inf");
  op_gives("AvgPool[T=float, " ROW3 "]", "float[1,1,3,1] 1 nan 2", "float[1,1,1,1] nan");
}

#define NAN4 "nan nan nan nan "
#define NAN20 NAN4 NAN4 NAN4 NAN4 NAN4

/* Windows of the common shapes, whose columns are shared by neighbours, with a column of NaN between them. */
TEST(pooling_of_nan_in_columns_that_windows_share) {
  op_gives("MaxPool[T=float, ksize=[1, 3, 3, 1], strides=[1, 2, 2, 1], padding=VALID]",
           "float[1,3,5,4] " NAN20 "0 1 2 3 -1 5 -6 7 " NAN4 "8 9 -10 11 12 -13 14 -15 " NAN20,
           "float[1,1,2,4] 0 5 2 7 12 9 14 11");
  op_gives("MaxPool[T=float, ksize=[1, 3, 3, 1], strides=[1, 1, 1, 1], padding=VALID]",
           "float[1,3,5,4] 1 2 3 4 " NAN20 NAN20 NAN4 NAN4 "5 6 7 8 " NAN4,
           "float[1,1,3,4] 1 2 3 4 5 6 7 8 5 6 7 8");
  op_gives("MaxPool[T=float, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding=VALID]",
           "float[1,2,2,4] " NAN4 "1 2 3 4 " NAN4 NAN4, "float[1,1,1,4] 1 2 3 4");
  /* A channel with NaN in each pixel of the window in turn, the maximum in the last of the others. */
  op_gives("MaxPoolGrad[T=float, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding=VALID]",
           "float[1,2,2,4] nan 1 1 1 1 nan 2 2 2 2 nan 3 3 3 3 nan; float[1,1,1,4] 3 3 3 3; "
           "float[1,1,1,4] 5 6 7 8",
           "float[1,2,2,4] 5 0 0 0 0 0 0 0 0 0 0 8 0 6 7 0");
}

TEST(pooling_across_channels) {
  op_gives("MaxPool[T=float, ksize=[1, 1, 1, 2], strides=[1, 1, 1, 2], padding=VALID]",
           "float[1,1,2,4] 1 2 4 3 8 7 5 6", "float[1,1,2,2] 2 4 8 6");
  op_gives("MaxPool[T=int32, ksize=[1, 2, 1, 1], strides=[1, 2, 1, 1], padding=VALID, data_format=NCHW]",
           "int32[1,4,1,2] 1 2 4 3 8 7 5 6", "int32[1,2,1,2] 4 3 8 7");
  op_fails("MaxPool[T=float, ksize=[1, 1, 1, 2], strides=[1, 1, 1, 2], padding=VALID]", "float[1,1,1,3] 1",
           CODE_UNIMPLEMENTED,
           "Depthwise max pooling requires the depth window to evenly divide the input depth");
  op_fails("MaxPool[T=float, ksize=[1, 1, 1, 2], strides=[1, 1, 1, 1], padding=VALID]", "float[1,1,1,4] 1",
           CODE_UNIMPLEMENTED, "Depthwise max pooling requires the depth window to equal the depth stride");
  op_fails("MaxPool[T=float, ksize=[1, 1, 2, 2], strides=[1, 1, 1, 2], padding=VALID]", "float[1,1,2,4] 1",
           CODE_UNIMPLEMENTED,
           "MaxPooling supports exactly one of pooling across depth or pooling across width/height.");
  op_fails("AvgPool[T=float, ksize=[1, 1, 1, 2], strides=[1, 1, 1, 2], padding=VALID]", "float[1,1,1,4] 1",
           CODE_UNIMPLEMENTED, "Non-spatial pooling is not yet supported.");
  op_fails("MaxPoolGrad[T=float, ksize=[1, 1, 1, 2], strides=[1, 1, 1, 2], padding=VALID]",
           "float[1,1,1,4] 1; float[1,1,1,2] 1; float[1,1,1,2] 1", CODE_UNIMPLEMENTED,
           "MaxPoolingGrad is not yet supported on the depth dimension.");
}

#define SQUARE "[T=float, ksize=[1, 2, 2, 1], strides=[1, 1, 1, 1], padding=VALID]"

TEST(pooling_errors) {
  op_fails("MaxPool" SQUARE, "float[3,3] 1", CODE_INVALID_ARGUMENT,
           "tensor_in_shape must have 2 spatial dimensions. 2 0");
  op_fails("MaxPool[T=float, ksize=[2, 1, 1, 1], strides=[1, 1, 1, 1], padding=VALID]", "float[1,3,3,1] 1",
           CODE_UNIMPLEMENTED, "Pooling is not yet supported on the batch dimension.");
  op_fails("MaxPool[T=float, ksize=[1, 0, 1, 1], strides=[1, 1, 1, 1], padding=VALID]", "float[1,3,3,1] 1",
           CODE_INVALID_ARGUMENT,
           "Sliding window ksize must be positive. The specified or inferred ksize is: 1,0,1,1");
  op_fails("MaxPool[T=float, ksize=[1, 1, 1, 1], strides=[1, 0, 1, 1], padding=VALID]", "float[1,3,3,1] 1",
           CODE_INVALID_ARGUMENT, "Stride must be > 0, but got 0");
  op_fails("MaxPool" SQUARE, "float[1,0,3,1]", CODE_INVALID_ARGUMENT,
           "Computed output size would be negative");
  op_fails("MaxPoolV2[T=float, padding=VALID]", "float[1,3,3,1] 1; int32[3] 1; int32[4] 1",
           CODE_INVALID_ARGUMENT, "Sliding window ksize field must specify 4 dimensions");
  op_fails("MaxPoolGrad" SQUARE, "float[1,3,3,1] 1; float[1,3,2,1] 1; float[1,2,2,1] 1",
           CODE_INVALID_ARGUMENT, "Expected orig_output shape to be [1,2,2,1], but got [1,3,2,1]");
  op_fails("MaxPoolGrad" SQUARE, "float[1,3,3,1] 1; float[1,2,2,1] 1; float[1,3,2,1] 1",
           CODE_INVALID_ARGUMENT, "Expected grad shape to be [1,2,2,1], but got [1,3,2,1]");
  op_fails("MaxPoolGradGrad" SQUARE, "float[1,3,3,1] 1; float[1,2,2,1] 1; float[1,2,2,1] 1",
           CODE_INVALID_ARGUMENT, "Expected grad shape to be [1,3,3,1], but got [1,2,2,1]");
  op_fails("MaxPoolGrad" SQUARE, "float[1,3,3] 1; float[1,2,2,1] 1; float[1,2,2,1] 1", CODE_INVALID_ARGUMENT,
           "tensor_in must be 4-dimensional");
  op_fails("AvgPoolGrad" SQUARE, "int32[3] 1; float[1,2,2,1] 1", CODE_INVALID_ARGUMENT,
           "out_backprop must be 1-dimensional and 4 elements");
  op_fails("AvgPoolGrad" SQUARE, "int32[4] 1 -3 3 1; float[1,2,2,1] 1", CODE_INVALID_ARGUMENT,
           "Expected a non-negative size, got -3");
  op_fails("MaxPoolGrad" SQUARE, "float[0,65536,65536,1]; float[0,65535,65535,1]; float[0,65535,65535,1]",
           CODE_UNIMPLEMENTED,
           "Gradients of MaxPool are not yet supported for images of more than 2147483647 pixels.");
  op_gives("MaxPool" SQUARE, "float[0,3,3,2]", "float[0,2,2,2]");
  op_gives("AvgPoolGrad" SQUARE, "int32[4] 0 3 3 2; float[0,2,2,2]", "float[0,3,3,2]");
}

#define NUMBERS18 "1 7 2 9 4 6 3 8 5 11 19 13 10 16 12 18 14 17"

GRADIENT_CASES(
    pooling,
    {"MaxPool|AvgPool[T=double, ksize=[1, 2, 2, 1], strides=[1, 1, 1, 1], padding=VALID]",
     "double[1,3,3,2] " NUMBERS18},
    {"MaxPool|AvgPool[T=double, ksize=[1, 3, 2, 1], strides=[1, 2, 2, 1], padding=SAME]",
     "double[2,3,3,1] " NUMBERS18},
    {"MaxPool|AvgPool[T=double, ksize=[1, 1, 2, 2], strides=[1, 1, 1, 2], padding=VALID, data_format=NCHW]",
     "double[1,2,3,3] " NUMBERS18},
    {"MaxPoolV2[T=double, padding=VALID]",
     "double[1,3,3,2] " NUMBERS18 "; int32[4] 1 2 2 1; int32[4] 1 1 1 1"},
    {"MaxPoolV2[T=double, padding=SAME]",
     "double[2,3,3,1] " NUMBERS18 "; int32[4] 1 3 2 1; int32[4] 1 2 2 1"},
    {"MaxPoolV2[T=double, padding=VALID, data_format=NCHW]",
     "double[1,2,3,3] " NUMBERS18 "; int32[4] 1 1 2 2; int32[4] 1 1 1 2"},
    {"MaxPoolGrad[T=double, ksize=[1, 1, 2, 1], strides=[1, 1, 1, 1], padding=VALID]",
     "double[1,1,3,1] 1 3 2; double[1,1,2,1] 3 3; double[1,1,2,1] 5 7"},
    {"MaxPoolGrad[T=double, ksize=[1, 2, 1, 1], strides=[1, 2, 1, 1], padding=SAME]",
     "double[1,3,1,1] 1 3 2; double[1,2,1,1] 3 2; double[1,2,1,1] 5 7"},
    {"MaxPoolGrad[T=double, ksize=[1, 1, 1, 2], strides=[1, 1, 1, 2], padding=VALID, data_format=NCHW]",
     "double[1,2,1,2] 1 3 4 2; double[1,2,1,1] 3 4; double[1,2,1,1] 5 7"},
    {"MaxPoolGradV2[T=double, padding=VALID]",
     "double[1,1,3,1] 1 3 2; double[1,1,2,1] 3 3; double[1,1,2,1] 5 7; int32[4] 1 1 2 1; int32[4] 1 1 1 1"},
    {"MaxPoolGradV2[T=double, padding=SAME]",
     "double[1,3,1,1] 1 3 2; double[1,2,1,1] 3 2; double[1,2,1,1] 5 7; int32[4] 1 2 1 1; int32[4] 1 2 1 1"},
    {"MaxPoolGradV2[T=double, padding=VALID, data_format=NCHW]",
     "double[1,2,1,2] 1 3 4 2; double[1,2,1,1] 3 4; double[1,2,1,1] 5 7; int32[4] 1 1 1 2; int32[4] 1 1 1 2"},
    {"MaxPoolGradGrad[T=double, ksize=[1, 1, 2, 1], strides=[1, 1, 1, 1], padding=VALID]",
     "double[1,1,3,1] 1 3 2; double[1,1,2,1] 3 3; double[1,1,3,1] 5 7 9"},
    {"MaxPoolGradGrad[T=double, ksize=[1, 2, 1, 1], strides=[1, 2, 1, 1], padding=SAME]",
     "double[1,3,1,1] 1 3 2; double[1,2,1,1] 3 2; double[1,3,1,1] 5 7 9"},
    {"MaxPoolGradGrad[T=double, ksize=[1, 1, 1, 2], strides=[1, 1, 1, 2], padding=VALID, data_format=NCHW]",
     "double[1,2,1,2] 1 3 4 2; double[1,2,1,1] 3 4; double[1,2,1,2] 5 7 9 8"},
    {"MaxPoolGradGradV2[T=double, padding=VALID]",
     "double[1,1,3,1] 1 3 2; double[1,1,2,1] 3 3; double[1,1,3,1] 5 7 9; int32[4] 1 1 2 1; int32[4] 1 1 1 1"},
    {"MaxPoolGradGradV2[T=double, padding=SAME]",
     "double[1,3,1,1] 1 3 2; double[1,2,1,1] 3 2; double[1,3,1,1] 5 7 9; int32[4] 1 2 1 1; int32[4] 1 2 1 1"},
    {"MaxPoolGradGradV2[T=double, padding=VALID, data_format=NCHW]",
     "double[1,2,1,2] 1 3 4 2; double[1,2,1,1] 3 4; double[1,2,1,2] 5 7 9 8; int32[4] 1 1 1 2; int32[4] 1 1 "
     "1 2"},
    {"AvgPoolGrad[T=double, ksize=[1, 1, 2, 1], strides=[1, 1, 1, 1], padding=VALID]",
     "int32[4] 1 1 3 1; double[1,1,2,1] 5 7"},
    {"AvgPoolGrad[T=double, ksize=[1, 2, 2, 1], strides=[1, 2, 1, 1], padding=SAME]",
     "int32[4] 1 3 2 2; double[1,2,2,2] 5 7 1 2"},
    {"AvgPoolGrad[T=double, ksize=[1, 1, 1, 2], strides=[1, 1, 1, 2], padding=VALID, data_format=NCHW]",
     "int32[4] 1 2 1 2; double[1,2,1,1] 5 7"})
