/* Conv3D, MaxPool3D, AvgPool3D and their gradients, compared with loops over one window at a time. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "blas/fake_parallel.h"
#include "blas/winograd.h"
#include "gradient_cases.h"
#include "harness.h"
#include "op_runner.h"

typedef struct Setting {
  int in[5], filter[5]; /* volume; window, and for convolutions its channels and outputs */
  int stride[3], dilation[3];
  bool same;
} Setting;

enum { MAX_ELEMENTS = 140000 };
static double x[MAX_ELEMENTS], w[MAX_ELEMENTS], y[MAX_ELEMENTS], want[MAX_ELEMENTS];

static void geometry(const Setting *s, int out[5], int before[3]) {
  out[0] = s->in[0], out[4] = s->filter[4];
  for (int k = 0; k < 3; k++) {
    int window = (s->filter[k] - 1) * s->dilation[k] + 1, missing;
    out[1 + k] = s->same ? (s->in[1 + k] + s->stride[k] - 1) / s->stride[k]
                         : (s->in[1 + k] - window) / s->stride[k] + 1;
    missing = s->same ? (out[1 + k] - 1) * s->stride[k] + window - s->in[1 + k] : 0;
    before[k] = missing > 0 ? missing / 2 : 0;
  }
}

/* The offset of the first channel of a pixel; -1 outside. */
static int pixel_of(const int dims[5], int n, const int at[3]) {
  for (int k = 0; k < 3; k++) {
    if (at[k] < 0 || at[k] >= dims[1 + k]) return -1;
  }
  return (((n * dims[1] + at[0]) * dims[2] + at[1]) * dims[3] + at[2]) * dims[4];
}

/* Calls `visit` for each pair of output and input pixel. */
typedef void Visit(const Setting *s, int output, int input, int tap, void *arg);
static void each_pair(const Setting *s, Visit *visit, void *arg) {
  int out[5], before[3], taps = s->filter[0] * s->filter[1] * s->filter[2];
  geometry(s, out, before);
  for (int n = 0; n < out[0]; n++)
    for (int i = 0; i < out[1] * out[2] * out[3]; i++)
      for (int tap = 0; tap < taps; tap++) {
        int place[3] = {i / out[3] / out[2], i / out[3] % out[2], i % out[3]}, at[3];
        int f[3] = {tap / s->filter[2] / s->filter[1], tap / s->filter[2] % s->filter[1], tap % s->filter[2]};
        for (int k = 0; k < 3; k++) at[k] = place[k] * s->stride[k] - before[k] + f[k] * s->dilation[k];
        int input = pixel_of(s->in, n, at);
        if (input >= 0) visit(s, pixel_of(out, n, place), input, tap, arg);
      }
}

static void add_product(const Setting *s, int output, int input, int tap, void *arg) {
  int product = *(int *)arg, channels = s->filter[3], outputs = s->filter[4], groups = s->in[4] / channels;
  for (int c = 0; c < channels; c++)
    for (int o = 0; o < outputs; o++) {
      int weight = (tap * channels + c) * outputs + o, from = input + o / (outputs / groups) * channels + c;
      if (product == 0) want[output + o] += x[from] * w[weight];
      if (product == 1) want[from] += y[output + o] * w[weight];
      if (product == 2) want[weight] += x[from] * y[output + o];
    }
}

static void put(OpRun *run, DataType type, const int dims[5], const double *values) {
  int64_t sizes[5] = {dims[0], dims[1], dims[2], dims[3], dims[4]};
  Tensor *tensor = op_run_input(run, type, 5, sizes);
  CHECK(tensor);
  for (int64_t i = 0; tensor && i < tensor_num_elements(tensor); i++) tensor_put(tensor, i, values[i]);
}
static void put_sizes(OpRun *run, const int dims[5]) {
  Tensor *tensor = op_run_input(run, DT_INT32, 1, (int64_t[]){5});
  for (int i = 0; tensor && i < 5; i++) tensor_put(tensor, i, dims[i]);
}

static void fill(double *values, unsigned seed) {
  for (int i = 0; i < MAX_ELEMENTS; i++) {
    seed = seed * 1664525u + 1013904223u;
    values[i] = (double)(seed >> 20) / 2048 - 1;
  }
}

static void check_result(OpRun *run, const char *op, double tolerance) {
  Status status;
  status_init(&status);
  bool ran = op_run_compute(run, &status);
  double worst = 0, largest = 0;
  CHECK_OK(ran, status);
  for (int64_t i = 0; ran && i < tensor_num_elements(&run->outputs[0]); i++) {
    double got = tensor_get(&run->outputs[0], i), off = got == want[i] ? 0 : fabs(got - want[i]);
    if (!(off <= worst)) worst = off;
    if (isfinite(want[i])) largest = fmax(largest, fabs(want[i]));
  }
  if (!CHECK(worst <= tolerance * fmax(largest, 1))) printf("  %s is off by %g\n", op, worst);
  op_run_end(run);
}

static void check_conv(const Setting *s, int product, DataType type, double tolerance) {
  static const char *const kOps[] = {"Conv3D", "Conv3DBackpropInputV2", "Conv3DBackpropFilterV2"};
  char op[256];
  int out[5], before[3];
  OpRun run;
  Status status;
  status_init(&status);
  geometry(s, out, before);
  snprintf(op, sizeof op, "%s[T=%s, strides=[1, %d, %d, %d, 1], dilations=[1, %d, %d, %d, 1], padding=%s%s]",
           kOps[product], dtype_name(type), s->stride[0], s->stride[1], s->stride[2], s->dilation[0],
           s->dilation[1], s->dilation[2], s->same ? "SAME" : "VALID", product == 1 ? ", Tshape=int32" : "");
  CHECK_OK(op_run_begin(&run, op, &status), status);
  if (product == 1) put_sizes(&run, s->in);
  else put(&run, type, s->in, x);
  if (product == 2) put_sizes(&run, s->filter);
  else put(&run, type, s->filter, w);
  if (product != 0) put(&run, type, out, y);
  memset(want, 0, sizeof want);
  each_pair(s, add_product, &product);
  check_result(&run, op, tolerance);
}

TEST(conv3d_and_its_gradients_equal_sums) {
  static const Setting kSettings[] = {
      {{1, 3, 3, 3, 1}, {2, 2, 2, 1, 1}, {1, 1, 1}, {1, 1, 1}, false},
      {{2, 4, 5, 6, 3}, {3, 3, 2, 3, 4}, {1, 1, 1}, {1, 1, 1}, true},
      {{2, 5, 4, 7, 2}, {2, 3, 3, 2, 5}, {2, 1, 3}, {1, 1, 1}, true},
      {{1, 7, 6, 5, 3}, {3, 2, 1, 3, 2}, {3, 2, 1}, {1, 1, 1}, false},
      {{1, 7, 6, 5, 3}, {3, 2, 2, 3, 2}, {1, 1, 1}, {2, 3, 1}, true},
      {{1, 9, 6, 5, 2}, {2, 2, 3, 2, 3}, {2, 1, 1}, {3, 2, 1}, false},
      {{3, 4, 3, 3, 5}, {1, 1, 1, 5, 4}, {1, 1, 1}, {1, 1, 1}, true},
      {{2, 4, 4, 4, 3}, {1, 3, 3, 3, 2}, {1, 2, 1}, {1, 1, 1}, true},
      {{2, 5, 3, 3, 2}, {1, 2, 2, 2, 2}, {2, 1, 1}, {1, 1, 1}, false},
      {{1, 2, 2, 2, 2}, {5, 4, 3, 2, 2}, {1, 1, 1}, {1, 1, 1}, true},
      {{1, 3, 4, 2, 6}, {3, 4, 2, 6, 7}, {1, 1, 1}, {1, 1, 1}, false},
      {{2, 3, 4, 5, 6}, {2, 3, 2, 2, 9}, {1, 2, 1}, {1, 1, 1}, true}, /* three groups of channels */
      {{1, 4, 4, 4, 4}, {2, 2, 3, 1, 4}, {1, 1, 1}, {1, 2, 1}, false},
  };
  fill(x, 1), fill(w, 2), fill(y, 3);
  for (size_t i = 0; i < sizeof kSettings / sizeof *kSettings; i++) {
    for (int product = 0; product < 3; product++) {
      check_conv(&kSettings[i], product, DT_DOUBLE, 1e-13);
      check_conv(&kSettings[i], product, DT_FLOAT, 1e-5);
    }
  }
  check_conv(&kSettings[1], 0, DT_HALF, 2e-2);
  check_conv(&kSettings[1], 2, DT_BFLOAT16, 2e-1);
  check_conv(&kSettings[11], 0, DT_HALF, 2e-2);
}

/* Stacks of planes are made a megabyte at a time: these are several, and the last group is smaller. */
TEST(conv3d_of_many_planes) {
  static const Setting kMany = {{3, 11, 20, 21, 4}, {3, 2, 1, 4, 2}, {1, 1, 1}, {1, 1, 1}, true};
  static const Setting kWide = {{2, 5, 60, 61, 1}, {4, 1, 2, 1, 1}, {2, 1, 1}, {1, 1, 1}, true};
  fill(x, 1), fill(w, 2), fill(y, 3);
  for (int product = 0; product < 3; product++) {
    check_conv(&kMany, product, DT_DOUBLE, 1e-13);
    check_conv(&kWide, product, DT_DOUBLE, 1e-12);
  }
}

/* Planes whose products are computed by tiles (blas/winograd.h): one group of stacks, several, flat planes,
 * and gradients. */
TEST(conv3d_by_tiles) {
  static const Setting kTiled[] = {
      {{1, 4, 13, 12, 16}, {3, 3, 3, 16, 16}, {1, 1, 1}, {1, 1, 1}, true},
      {{1, 14, 25, 25, 8}, {5, 3, 3, 8, 16}, {1, 1, 1}, {1, 1, 1}, true},
      {{2, 5, 12, 12, 16}, {1, 3, 3, 16, 16}, {1, 1, 1}, {1, 1, 1}, false},
      {{2, 7, 14, 12, 16}, {3, 3, 3, 16, 16}, {2, 1, 1}, {2, 1, 1}, true},
  };
  fill(x, 1), fill(w, 2), fill(y, 3);
  for (size_t i = 0; i < sizeof kTiled / sizeof *kTiled; i++) {
    const Setting *s = &kTiled[i];
    Conv plane = {.batch = s->in[0] * s->in[1],
                  .in_channels = s->in[4] * s->filter[0],
                  .out_channels = s->filter[4],
                  .groups = 1};
    for (int k = 0; k < 2; k++) {
      plane.axis[k] = (WindowAxis){.in = s->in[2 + k],
                                   .out = s->same ? s->in[2 + k] : s->in[2 + k] - 2,
                                   .filter = s->filter[1 + k],
                                   .stride = 1,
                                   .dilation = 1,
                                   .pad = s->same};
    }
    CHECK(winograd_suits(CONV_FORWARD, &plane, false));
    for (int product = 0; product < 3; product++) check_conv(s, product, DT_FLOAT, 1e-5);
  }
  /* An infinity would spread to its tile. */
  x[4321] = INFINITY;
  check_conv(&kTiled[0], 0, DT_FLOAT, 1e-5);
}

/* --- pooling --- */

enum { MAX, MAX_GRAD, MAX_GRAD_GRAD, AVG, AVG_GRAD };
static double most[MAX_ELEMENTS];
static int count[MAX_ELEMENTS], first_of[MAX_ELEMENTS];

static void find_most(const Setting *s, int output, int input, int tap, void *arg) {
  (void)tap, (void)arg;
  for (int c = 0; c < s->in[4]; c++) {
    int to = output + c, from = input + c;
    if (count[to] == 0 || x[from] > most[to]) most[to] = x[from], first_of[to] = from;
    count[to]++;
  }
}

static void pool_pair(const Setting *s, int output, int input, int tap, void *arg) {
  (void)tap;
  for (int c = 0; c < s->in[4]; c++) {
    int to = output + c, from = input + c, product = *(int *)arg;
    if (product == MAX) want[to] = most[to];
    if (product == MAX_GRAD && x[from] == most[to]) want[from] += y[to];
    if (product == MAX_GRAD_GRAD) want[to] = y[first_of[to]];
    if (product == AVG) want[to] += x[from] / count[to];
    if (product == AVG_GRAD) want[from] += y[to] / count[to];
  }
}

static void check_pool(const Setting *s, int product, DataType type, double tolerance) {
  static const char *const kOps[] = {"MaxPool3D", "MaxPool3DGrad", "MaxPool3DGradGrad", "AvgPool3D",
                                     "AvgPool3DGrad"};
  char op[256];
  int out[5], before[3];
  OpRun run;
  Status status;
  status_init(&status);
  geometry(s, out, before);
  snprintf(op, sizeof op, "%s[T=%s, ksize=[1, %d, %d, %d, 1], strides=[1, %d, %d, %d, 1], padding=%s%s%s]",
           kOps[product], dtype_name(type), s->filter[0], s->filter[1], s->filter[2], s->stride[0],
           s->stride[1], s->stride[2], s->same ? "SAME" : "VALID", product == MAX_GRAD ? ", TInput=" : "",
           product == MAX_GRAD ? dtype_name(type) : "");
  CHECK_OK(op_run_begin(&run, op, &status), status);
  memset(count, 0, sizeof count);
  each_pair(s, find_most, NULL);
  if (product == AVG_GRAD) put_sizes(&run, s->in);
  else put(&run, type, s->in, x);
  if (product == MAX_GRAD || product == MAX_GRAD_GRAD) put(&run, type, out, most);
  if (product == MAX_GRAD_GRAD) put(&run, type, s->in, y);
  if (product == MAX_GRAD || product == AVG_GRAD) put(&run, type, out, y);
  memset(want, 0, sizeof want);
  each_pair(s, pool_pair, &product);
  check_result(&run, op, tolerance);
}

TEST(pooling_of_volumes_equals_loops) {
  static const Setting kSettings[] = {
      {{1, 4, 4, 4, 1}, {2, 2, 2, 1, 1}, {2, 2, 2}, {1, 1, 1}, false},
      {{2, 5, 4, 6, 3}, {3, 2, 1, 3, 3}, {2, 1, 3}, {1, 1, 1}, true},
      {{1, 5, 5, 5, 35}, {2, 3, 2, 35, 35}, {1, 2, 2}, {1, 1, 1}, false},
      {{1, 3, 3, 3, 64}, {3, 3, 3, 64, 64}, {1, 1, 1}, {1, 1, 1}, true},
  };
  fill(x, 5), fill(y, 6);
  for (int i = 0; i < MAX_ELEMENTS; i++) x[i] = floor(x[i] * 4) / 4; /* windows have several maxima */
  for (int i = 0; i < MAX_ELEMENTS; i++) y[i] = floor(y[i] * 4) / 4;
  for (size_t i = 0; i < sizeof kSettings / sizeof *kSettings; i++) {
    for (int product = MAX; product <= AVG_GRAD; product++) {
      check_pool(&kSettings[i], product, DT_FLOAT, 1e-5);
      check_pool(&kSettings[i], product, DT_BFLOAT16, product < AVG ? 2e-3 : 2e-2);
      check_pool(&kSettings[i], product, DT_HALF, 2e-3);
      if (product >= AVG) check_pool(&kSettings[i], product, DT_DOUBLE, 1e-13);
    }
  }
}

/* --- errors --- */

#define SAME "strides=[1, 1, 1, 1, 1], padding=SAME"
#define CONV "Conv3D[T=float, " SAME "]"
#define INPUT_GRAD "Conv3DBackpropInputV2[T=float, Tshape=int32, " SAME "]"
#define FILTER_GRAD "Conv3DBackpropFilterV2[T=float, " SAME "]"
#define X "float[1,3,3,3,4] 1"

TEST(conv3d_errors) {
  op_fails(CONV, "float[3,3,3,4] 1; float[2,2,2,4,2] 1", CODE_INVALID_ARGUMENT,
           "input must be 5-dimensional");
  op_fails(CONV, X "; float[2,2,4,2] 1", CODE_INVALID_ARGUMENT, "filter must be 5-dimensional");
  op_fails(CONV, X "; float[2,2,2,3,2] 1", CODE_INVALID_ARGUMENT,
           "Input depth must be evenly divisible by filter depth: 4 vs 3");
  op_fails(CONV, X "; float[2,2,2,2,3] 1", CODE_INVALID_ARGUMENT,
           "Number of channels in filter (2) must match last dimension of input (4)");
  op_fails(CONV, X "; float[2,0,2,4,2]", CODE_INVALID_ARGUMENT,
           "filter must not have zero elements (i.e. all dimensions must be non-zero)");
  op_fails(CONV, X "; float[2,2,2,0,2]", CODE_INVALID_ARGUMENT, "filter_depth must be non-zero");
  op_fails("Conv3D[T=float, data_format=NCDHW, " SAME "]", "float[1,4,3,3,3] 1; float[2,2,2,4,2] 1",
           CODE_INVALID_ARGUMENT,
           "CPU implementation of Conv3D currently only supports the NHWC tensor format.");
  op_fails("Conv3D[T=float, strides=[1, 1, 1, 1, 2], padding=SAME]", X "; float[2,2,2,4,2] 1",
           CODE_INVALID_ARGUMENT,
           "Current implementation does not yet support strides in the batch and depth dimensions.");
  op_fails("Conv3D[T=float, dilations=[2, 1, 1, 1, 1], " SAME "]", X "; float[2,2,2,4,2] 1",
           CODE_INVALID_ARGUMENT,
           "Current implementation does not yet support dilation rates in the batch and depth dimensions.");
  op_fails("Conv3D[T=float, dilations=[1, 1, 0, 1, 1], " SAME "]", X "; float[2,2,2,4,2] 1",
           CODE_INVALID_ARGUMENT, "Dilation rate must be >= 1, but got 0");
  op_fails("Conv3D[T=float, strides=[1, 1, 0, 1, 1], padding=SAME]", X "; float[2,2,2,4,2] 1",
           CODE_INVALID_ARGUMENT, "Stride must be > 0, but got 0");
  op_fails("Conv3D[T=float, strides=[1, 1, 1, 1, 1], padding=VALID]", X "; float[6,2,2,4,2] 1",
           CODE_INVALID_ARGUMENT,
           "Computed output size would be negative: -2 [input_size: 3, effective_filter_size: 6, stride: 1]");
}

TEST(conv3d_gradient_errors) {
  op_fails(INPUT_GRAD, "int32[4] 1 3 3 4; float[2,2,2,4,2] 1; float[1,3,3,3,2] 1", CODE_INVALID_ARGUMENT,
           "input tensor must have 5 dimensions");
  op_fails(INPUT_GRAD, "int32[1,5] 1 3 3 3 4; float[2,2,2,4,2] 1; float[1,3,3,3,2] 1", CODE_INVALID_ARGUMENT,
           "shape must be a vector of {int32,int64}, got shape [1,5]");
  op_fails(INPUT_GRAD, "int32[5] 1 3 -3 3 4; float[2,2,2,4,2] 1; float[1,3,3,3,2] 1", CODE_INVALID_ARGUMENT,
           "Dimension -3 must be >= 0");
  op_fails(INPUT_GRAD, "int32[5] 1 3 3 3 4; float[2,2,4,2] 1; float[1,3,3,3,2] 1", CODE_INVALID_ARGUMENT,
           "filter_sizes tensor must have 5 dimensions");
  op_fails(INPUT_GRAD, "int32[5] 1 3 3 3 4; float[2,2,2,4,2] 1; float[1,3,3,2] 1", CODE_INVALID_ARGUMENT,
           "out_backprop tensor must have 5 dimensions");
  op_fails(INPUT_GRAD, "int32[5] 1 3 3 3 4; float[2,2,2,4,2] 1; float[1,3,3,2,2] 1", CODE_INVALID_ARGUMENT,
           "Conv3DBackpropInputOp: Size of out_backprop doesn't match computed: actual = 2, computed = 3 "
           "spatial_dim: 3 input: 3 filter: 2 output: 2 stride: 1 dilation: 1");
  op_fails(INPUT_GRAD, "int32[5] 1 3 3 3 4; float[2,2,2,4,2] 1; float[2,3,3,3,2] 1", CODE_INVALID_ARGUMENT,
           "Conv3DBackpropInputOp: input and out_backprop must have the same batch size. Input batch: 1, "
           "outbackprop batch: 2, batch_dim: 0");
  op_fails(INPUT_GRAD, "int32[5] 1 3 3 3 4; float[2,2,2,3,2] 1; float[1,3,3,3,2] 1", CODE_INVALID_ARGUMENT,
           "input and filter_sizes must have the same number of channels. Got 4 for input and 3 for "
           "filter_sizes");
  op_fails(FILTER_GRAD, X "; int32[5] 2 2 2 4 2; float[1,3,3,3,3] 1", CODE_INVALID_ARGUMENT,
           "out_backprop and filter_sizes must have the same number of channels. Got 3 for out_backprop and "
           "2 "
           "for filter_sizes");
  op_fails(FILTER_GRAD, "float[3,3,3,4] 1; int32[5] 2 2 2 4 2; float[1,3,3,3,2] 1", CODE_INVALID_ARGUMENT,
           "input tensor must have 5 dimensions");
  op_fails(FILTER_GRAD, X "; int32[1,5] 2 2 2 4 2; float[1,3,3,3,2] 1", CODE_INVALID_ARGUMENT,
           "filter_sizes shape must be rank 1 but is rank 2");
  op_fails("Conv3DBackpropFilterV2[T=float, data_format=NCDHW, " SAME "]",
           "float[1,4,3,3,3] 1; int32[5] 2 2 2 4 2; float[1,2,3,3,3] 1", CODE_INVALID_ARGUMENT,
           "Conv3DBackpropFilterOpV2 only supports NDHWC on the CPU.");
  op_fails("Conv3DBackpropInputV2[T=float, Tshape=int64, data_format=NCDHW, " SAME "]",
           "int64[5] 1 4 3 3 3; float[2,2,2,4,2] 1; float[1,2,3,3,3] 1", CODE_INVALID_ARGUMENT,
           "Conv3DBackpropInputOpV2 only supports NDHWC on the CPU.");
}

/* The ops of version 1 take a tensor of which they need the shape only. */
TEST(conv3d_gradients_of_version_1) {
  op_gives("Conv3DBackpropInput[T=float, strides=[1, 1, 1, 1, 1], padding=VALID]",
           "float[1,2,1,2,1] 0; float[2,1,1,1,1] 2 3; float[1,1,1,2,1] 5 7", "float[1,2,1,2,1] 10 14 15 21");
  op_gives("Conv3DBackpropFilter[T=double, strides=[1, 1, 1, 1, 1], padding=VALID]",
           "double[1,2,1,2,1] 1 2 3 4; double[2,1,1,1,1] 0; double[1,1,1,2,1] 5 7",
           "double[2,1,1,1,1] 19 43");
  op_gives("Conv3DBackpropInputV2[T=float, Tshape=int64, strides=[1, 1, 1, 1, 1], padding=VALID]",
           "int64[5] 1 2 1 2 1; float[2,1,1,1,1] 2 3; float[1,1,1,2,1] 5 7", "float[1,2,1,2,1] 10 14 15 21");
}

#define WINDOW "ksize=[1, 2, 2, 2, 1], strides=[1, 2, 2, 2, 1], padding=VALID"
TEST(pool3d_errors) {
  static const char *const kOps[] = {"MaxPool3D", "AvgPool3D"};
  for (int i = 0; i < 2; i++) {
    char op[160];
    snprintf(op, sizeof op, "%s[T=float, " WINDOW "]", kOps[i]);
    op_fails(op, "float[4,4,4,2] 1", CODE_INVALID_ARGUMENT, "tensor_in must be 5-dimensional");
    snprintf(op, sizeof op, "%s[T=float, data_format=NCDHW, " WINDOW "]", kOps[i]);
    op_fails(op, "float[1,4,4,4,2] 1", CODE_INVALID_ARGUMENT,
             "Default Pooling3DOp only supports NDHWC on device type CPU");
    snprintf(op, sizeof op, "%s[T=float, ksize=[2, 2, 2, 2, 1], strides=[1, 1, 1, 1, 1], padding=SAME]",
             kOps[i]);
    op_fails(op, "float[1,4,4,4,2] 1", CODE_UNIMPLEMENTED,
             "Pooling is not yet supported on the batch dimension.");
    snprintf(op, sizeof op, "%s[T=float, ksize=[1, 2, 2, 2, 1], strides=[1, 1, 1, 1, 2], padding=SAME]",
             kOps[i]);
    op_fails(op, "float[1,4,4,4,2] 1", CODE_UNIMPLEMENTED,
             "Pooling is not yet supported on the depth dimension.");
    snprintf(op, sizeof op, "%s[T=float, ksize=[1, 2, 0, 2, 1], strides=[1, 1, 1, 1, 1], padding=SAME]",
             kOps[i]);
    op_fails(op, "float[1,4,4,4,2] 1", CODE_INVALID_ARGUMENT,
             "Sliding window ksize field must have non-negative dimensions");
  }
  op_fails("MaxPool3DGrad[T=float, TInput=float, " WINDOW "]",
           "float[1,4,4,4,2] 1; float[1,2,2,2,2] 1; float[1,2,2,1,2] 1", CODE_INVALID_ARGUMENT,
           "Expected grad shape to be [1,2,2,2,2], but got [1,2,2,1,2]");
  op_fails("MaxPool3DGrad[T=float, TInput=float, " WINDOW "]",
           "float[1,4,4,4,2] 1; float[1,2,2,2] 1; float[1,2,2,2,2] 1", CODE_INVALID_ARGUMENT,
           "tensor_out must be 5-dimensional");
  op_fails("MaxPool3DGradGrad[T=float, " WINDOW "]",
           "float[1,4,4,4,2] 1; float[1,2,1,2,2] 1; float[1,4,4,4,2] 1", CODE_INVALID_ARGUMENT,
           "Expected orig_output shape to be [1,2,2,2,2], but got [1,2,1,2,2]");
  op_fails("MaxPool3DGradGrad[T=float, data_format=NCDHW, " WINDOW "]",
           "float[1,4,4,4,2] 1; float[1,2,1,2,2] 1; float[1,4,4,4,2] 1", CODE_INVALID_ARGUMENT,
           "Default MaxPooling3dGradGradOp only supports NDHWC");
  op_fails("AvgPool3DGrad[T=float, " WINDOW "]", "int32[4] 1 4 4 4; float[1,2,2,2,2] 1",
           CODE_INVALID_ARGUMENT, "tensor_in must be 1-dimensional and 5 elements");
  op_fails("AvgPool3DGrad[T=float, " WINDOW "]", "int32[5] 1 4 4 -4 2; float[1,2,2,2,2] 1",
           CODE_INVALID_ARGUMENT, "Expected a non-negative size, got -4");
  op_fails("AvgPool3DGrad[T=float, " WINDOW "]", "int32[5] 1 4 4 4 2; float[2,2,2,2,2] 1",
           CODE_INVALID_ARGUMENT,
           "Expected first dimension of tensor_in_shape and out_backprop to match, got 1 and 2");
  op_fails("AvgPool3DGrad[T=float, " WINDOW "]", "int32[5] 1 4 4 4 2; float[1,2,2,2,3] 1",
           CODE_INVALID_ARGUMENT,
           "Expected last dimension of tensor_in_shape and out_backprop to match, got 2 and 3");
  op_fails("AvgPool3DGrad[T=float, " WINDOW "]", "int32[5] 1 4 4 4 2; float[1,3,2,2,2] 1",
           CODE_INVALID_ARGUMENT, "Expected grad shape to be [1,2,2,2,2], but got [1,3,2,2,2]");
}

/* --- one result for any number of threads --- */

static void check_threads(const char *op, const char *inputs) {
  OpRun alone, split;
  int64_t calls = 0;
  Parallel parallel = {fake_parallel_run, &calls, 4};
  Status status;
  status_init(&status);
  for (int i = 0; i < 2; i++) {
    OpRun *run = i == 0 ? &alone : &split;
    CHECK_OK(op_run_begin(run, op, &status), status);
    CHECK_OK(op_run_inputs(run, inputs, &status), status);
    for (int k = 0; k < run->num_inputs; k++) {
      Tensor *tensor = &run->inputs[k];
      for (int64_t j = 0; tensor->dtype == DT_FLOAT && j < tensor_num_elements(tensor); j++)
        tensor_put(tensor, j, sin((double)j * (k + 1)));
    }
    run->parallel = i == 0 ? NULL : &parallel;
    CHECK_OK(op_run_compute(run, &status), status);
  }
  if (!CHECK(calls > 0)) printf("  by %s\n", op);
  if (status.code == CODE_OK) {
    size_t size = (size_t)tensor_num_elements(&alone.outputs[0]) * sizeof(float);
    CHECK(memcmp(alone.outputs[0].data, split.outputs[0].data, size) == 0);
  }
  op_run_end(&alone);
  op_run_end(&split);
}

TEST(volumes_give_the_same_bits_on_any_number_of_threads) {
  check_threads(CONV, "float[2,6,20,21,16] 0; float[3,3,3,16,9] 0");
  check_threads("Conv3DBackpropInputV2[T=float, Tshape=int32, strides=[1, 2, 1, 1, 1], padding=SAME]",
                "int32[5] 2 6 20 21 16; float[3,3,3,16,9] 0; float[2,3,20,21,9] 0");
  check_threads(FILTER_GRAD, "float[2,6,20,21,16] 0; int32[5] 3 3 3 16 9; float[2,6,20,21,9] 0");
  check_threads("MaxPool3D[T=float, ksize=[1, 3, 3, 3, 1], strides=[1, 1, 1, 1, 1], padding=SAME]",
                "float[2,6,20,21,40] 0");
  check_threads("AvgPool3DGrad[T=float, ksize=[1, 3, 3, 3, 1], strides=[1, 1, 1, 1, 1], padding=SAME]",
                "int32[5] 2 6 20 21 40; float[2,6,20,21,40] 0");
}

#define CASE(op, attrs, inputs) \
  { op "[T=double, " attrs "]", inputs }
#define FLOATS(op, attrs, inputs) \
  { op "[T=float, " attrs "]", inputs }
#define VALID "strides=[1, 1, 1, 1, 1], padding=VALID"
#define STEPS "strides=[1, 2, 1, 2, 1], padding=SAME"
#define DILATED "strides=[1, 1, 1, 1, 1], dilations=[1, 2, 1, 1, 1], padding=SAME"
#define SMALL "ksize=[1, 2, 1, 2, 1], strides=[1, 1, 1, 2, 1], padding=SAME"
#define LARGE "ksize=[1, 2, 3, 2, 1], strides=[1, 1, 1, 1, 1], padding=VALID"
#define EIGHT "0.5 -1 2 3 -2.5 1 4 -3"

GRADIENT_CASES(volumes, CASE("Conv3D", VALID, "double[1,2,2,3,2] 1 2 -1 0.5 3; double[2,1,2,2,2] " EIGHT),
               CASE("Conv3D", STEPS, "double[2,3,1,2,1] 1 2 -1 0.5 3; double[2,1,2,1,2] " EIGHT),
               CASE("Conv3D", DILATED, "double[1,3,2,2,1] 1 2 -1 0.5 3; double[2,2,1,1,1] 1 -2 3 0.5"),
               CASE("Conv3D", VALID,
                    "double[1,1,2,3,2] 1 2 -1 0.5 3; double[1,1,2,1,2] 1 -2 3 0.5"), /* groups */
               CASE("Conv3DBackpropInputV2", "Tshape=int32, " VALID,
                    "int32[5] 1 2 2 3 1; double[2,1,2,1,2] " EIGHT "; double[1,1,2,2,2] " EIGHT),
               CASE("Conv3DBackpropInputV2", "Tshape=int64, " STEPS,
                    "int64[5] 1 3 1 2 1; double[2,1,2,1,2] " EIGHT "; double[1,2,1,1,2] 1 2 3 -4"),
               CASE("Conv3DBackpropInputV2", "Tshape=int32, " DILATED,
                    "int32[5] 1 3 1 2 1; double[2,1,1,1,2] 1 2 3 4; double[1,3,1,2,2] " EIGHT),
               CASE("Conv3DBackpropFilterV2", VALID,
                    "double[1,2,2,3,1] " EIGHT "; int32[5] 2 1 2 1 2; double[1,1,2,2,2] " EIGHT),
               CASE("Conv3DBackpropFilterV2", STEPS,
                    "double[1,3,1,2,1] 1 -2 3 0.5; int32[5] 2 1 2 1 2; double[1,2,1,1,2] 1 2 3 -4"),
               CASE("Conv3DBackpropFilterV2", DILATED,
                    "double[1,3,1,2,1] 1 -2 3 0.5; int32[5] 2 1 1 1 2; double[1,3,1,2,2] " EIGHT),
               FLOATS("MaxPool3D", WINDOW, "float[1,2,2,4,1] " EIGHT " 5 -4 2.5 6 -6 7 -7 8"),
               FLOATS("MaxPool3D", SMALL, "float[1,2,2,2,1] " EIGHT),
               FLOATS("MaxPool3D", LARGE, "float[1,2,3,2,1] " EIGHT " 5 -4 2.5 6"),
               FLOATS("MaxPool3DGrad", "TInput=float, " WINDOW,
                      "float[1,2,2,2,1] " EIGHT "; float[1,1,1,1,1] 4; float[1,1,1,1,1] 2"),
               FLOATS("MaxPool3DGrad", "TInput=float, " SMALL,
                      "float[1,2,1,2,1] 1 2 3 4; float[1,2,1,1,1] 4 4; float[1,2,1,1,1] 2 3"),
               FLOATS("MaxPool3DGrad", "TInput=float, " LARGE,
                      "float[1,2,3,2,1] " EIGHT " 5 -4 2.5 6; float[1,1,1,1,1] 6; float[1,1,1,1,1] 2"),
               FLOATS("MaxPool3DGradGrad", WINDOW,
                      "float[1,2,2,2,1] " EIGHT "; float[1,1,1,1,1] 4; float[1,2,2,2,1] " EIGHT),
               FLOATS("MaxPool3DGradGrad", SMALL,
                      "float[1,2,1,2,1] 1 2 3 4; float[1,2,1,1,1] 4 4; float[1,2,1,2,1] 5 6 7 8"),
               FLOATS("MaxPool3DGradGrad", LARGE,
                      "float[1,2,3,2,1] " EIGHT " 5 -4 2.5 6; float[1,1,1,1,1] 6; float[1,2,3,2,1] " EIGHT),
               CASE("AvgPool3D", WINDOW, "double[1,2,2,4,1] " EIGHT),
               CASE("AvgPool3D", SMALL, "double[2,2,1,3,1] " EIGHT),
               CASE("AvgPool3D", LARGE, "double[1,2,3,2,2] " EIGHT),
               CASE("AvgPool3DGrad", WINDOW, "int32[5] 1 2 2 4 1; double[1,1,1,2,1] 1 2"),
               CASE("AvgPool3DGrad", SMALL, "int32[5] 1 2 1 3 2; double[1,2,1,2,2] " EIGHT),
               CASE("AvgPool3DGrad", LARGE, "int32[5] 2 2 3 3 1; double[2,1,1,2,1] 1 2 3 4"))
