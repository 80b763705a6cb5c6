/* Conv2D and its backprops compared with direct sums in double, over a grid of sizes, strides, dilations,
 * paddings and formats. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "blas/fake_parallel.h"
#include "gradient_cases.h"
#include "harness.h"
#include "op_runner.h"
#include "shortage.h"

typedef struct Setting {
  int batch, rows, columns, channels, filter_rows, filter_columns, outputs, groups;
  int stride[2], dilation[2];
  /* "SAME", "VALID", or "EXPLICIT" with pads of 2 and 1 for rows, 0 and 3 for columns */
  const char *padding;
} Setting;

typedef struct Geometry {
  int out[2], before[2];
} Geometry;

/* TensorFlow's rule: SAME pads the missing part of the last window, the smaller half before. */
static Geometry geometry(const Setting *s) {
  Geometry g = {{0}, {0}};
  int in[2] = {s->rows, s->columns}, filter[2] = {s->filter_rows, s->filter_columns},
      pads[2][2] = {{2, 1}, {0, 3}};
  for (int k = 0; k < 2; k++) {
    int window = (filter[k] - 1) * s->dilation[k] + 1, before = 0, after = 0;
    if (s->padding[0] == 'S') {
      g.out[k] = (in[k] + s->stride[k] - 1) / s->stride[k];
      int missing = (g.out[k] - 1) * s->stride[k] + window - in[k];
      g.before[k] = missing > 0 ? missing / 2 : 0;
      continue;
    }
    if (s->padding[0] == 'E') before = pads[k][0], after = pads[k][1];
    g.before[k] = before;
    int room = in[k] + before + after - window;
    g.out[k] = room < 0 ? 0 : room / s->stride[k] + 1;
  }
  return g;
}

static int at(bool first, const int dims[4], int n, int r, int c, int d) {
  return first ? ((n * dims[3] + d) * dims[1] + r) * dims[2] + c
               : ((n * dims[1] + r) * dims[2] + c) * dims[3] + d;
}

enum { MAX_ELEMENTS = 16384 };
static double x[MAX_ELEMENTS], w[MAX_ELEMENTS], y[MAX_ELEMENTS], dx[MAX_ELEMENTS], dw[MAX_ELEMENTS];

/* y, or dx and dw for the given y. */
static void reference(const Setting *s, bool first, bool forward, const int in[4], const int out[4]) {
  Geometry g = geometry(s);
  int depth = s->channels / s->groups, width = s->outputs / s->groups;
  memset(forward ? y : dx, 0, sizeof x);
  if (!forward) memset(dw, 0, sizeof dw);
  for (int n = 0; n < out[0]; n++)
    for (int r = 0; r < out[1]; r++)
      for (int c = 0; c < out[2]; c++)
        for (int o = 0; o < out[3]; o++) {
          for (int fr = 0; fr < s->filter_rows; fr++)
            for (int fc = 0; fc < s->filter_columns; fc++)
              for (int d = 0; d < depth; d++) {
                int row = r * s->stride[0] - g.before[0] + fr * s->dilation[0],
                    column = c * s->stride[1] - g.before[1] + fc * s->dilation[1];
                if (row < 0 || row >= s->rows || column < 0 || column >= s->columns) continue;
                int i = at(first, in, n, row, column, o / width * depth + d), j = at(first, out, n, r, c, o);
                int k = ((fr * s->filter_columns + fc) * depth + d) * s->outputs + o;
                if (forward) {
                  y[j] += x[i] * w[k];
                } else {
                  dx[i] += y[j] * w[k];
                  dw[k] += y[j] * x[i];
                }
              }
        }
}

static void attrs_text(char *text, size_t size, const char *op, const char *type, const Setting *s,
                       bool first) {
  const int *t = s->stride, *d = s->dilation;
  snprintf(text, size,
           first
               ? "%s[T=%s, strides=[1, 1, %d, %d], dilations=[1, 1, %d, %d], padding=%s, data_format=NCHW%s]"
               : "%s[T=%s, strides=[1, %d, %d, 1], dilations=[1, %d, %d, 1], padding=%s, data_format=NHWC%s]",
           op, type, t[0], t[1], d[0], d[1], s->padding,
           s->padding[0] != 'E' ? ""
           : first              ? ", explicit_paddings=[0, 0, 0, 0, 2, 1, 0, 3]"
                                : ", explicit_paddings=[0, 0, 2, 1, 0, 3, 0, 0]");
}

static void put(OpRun *run, DataType type, const int dims[4], const double *values) {
  int64_t sizes[4] = {dims[0], dims[1], dims[2], dims[3]};
  Tensor *tensor = op_run_input(run, type, 4, sizes);
  CHECK(tensor);
  for (int64_t i = 0; tensor && i < tensor_num_elements(tensor); i++) tensor_put(tensor, i, values[i]);
}

static void put_sizes(OpRun *run, const int dims[4]) {
  Tensor *tensor = op_run_input(run, DT_INT32, 1, (int64_t[]){4});
  CHECK(tensor);
  for (int i = 0; tensor && i < 4; i++) tensor_put(tensor, i, dims[i]);
}

enum { FORWARD, BACK_INPUT, BACK_FILTER };

static void check_op(int product, const Setting *s, bool first, DataType type, bool constant, const int in[4],
                     const int filter[4], const int out[4]) {
  static const char *const kOps[] = {"Conv2D", "Conv2DBackpropInput", "Conv2DBackpropFilter"};
  char text[320];
  Geometry g = geometry(s);
  OpRun run;
  Status status;
  status_init(&status);
  attrs_text(text, sizeof text, kOps[product],
             type == DT_FLOAT    ? "float"
             : type == DT_DOUBLE ? "double"
                                 : "bfloat16",
             s, first);
  CHECK_OK(op_run_begin(&run, text, &status), status);
  run.constant = constant;
  if (product == FORWARD) put(&run, type, in, x), put(&run, type, filter, w);
  if (product == BACK_INPUT) put_sizes(&run, in), put(&run, type, filter, w), put(&run, type, out, y);
  if (product == BACK_FILTER) put(&run, type, in, x), put_sizes(&run, filter), put(&run, type, out, y);
  bool ran = op_run_compute(&run, &status);
  CHECK_OK(ran, status);
  const double *want = product == FORWARD ? y : product == BACK_INPUT ? dx : dw;
  const int *dims = product == FORWARD ? out : product == BACK_INPUT ? in : filter;
  double tolerance = type == DT_FLOAT ? 2e-5 : type == DT_DOUBLE ? 1e-12 : 0.2;
  /* By tiles, most errors are below 1e-6 of the sum of magnitudes (blas/winograd.h); that of a product is
   * 0.22 on average. */
  int terms = product == BACK_FILTER
                  ? s->batch * g.out[0] * g.out[1]
                  : s->filter_rows * s->filter_columns * (product == FORWARD ? s->channels : s->outputs);
  bool tiles = type == DT_FLOAT && s->channels >= 16 && s->outputs >= 16;
  if (tiles) tolerance = fmax(tolerance, 1e-6 * 0.22 * terms);
  if (ran) {
    const Tensor *got = &run.outputs[0];
    CHECK_INT_EQ(got->shape.rank, 4);
    for (int i = 0; i < 4; i++) CHECK_INT_EQ(shape_dim(&got->shape, i), dims[i]);
    double worst = 0;
    for (int64_t i = 0; i < tensor_num_elements(got); i++) {
      double off = fabs(tensor_get(got, i) - want[i]);
      if (!(off <= worst)) worst = off;
    }
    if (!(worst <= tolerance)) printf("  %s is off by %g\n", text, worst);
    CHECK(worst <= tolerance);
  }
  op_run_end(&run);
}

/* Small dyadic numbers, exact in bfloat16. */
static void fill(double *values, unsigned seed) {
  for (int i = 0; i < MAX_ELEMENTS; i++) {
    seed = seed * 1664525u + 1013904223u;
    values[i] = ((int)(seed >> 20 & 31) - 15) / 16.0;
  }
}

static void check_setting(const Setting *s, DataType type) {
  Geometry g = geometry(s);
  int in[4] = {s->batch, s->rows, s->columns, s->channels},
      out[4] = {s->batch, g.out[0], g.out[1], s->outputs};
  int filter[4] = {s->filter_rows, s->filter_columns, s->channels / s->groups, s->outputs};
  for (int first = 0; first < 2; first++) {
    int shown_in[4] = {in[0], first ? in[3] : in[1], first ? in[1] : in[2], first ? in[2] : in[3]};
    int shown_out[4] = {out[0], first ? out[3] : out[1], first ? out[1] : out[2], first ? out[2] : out[3]};
    fill(x, 1), fill(w, 2);
    reference(s, first, true, in, out);
    check_op(FORWARD, s, first, type, false, shown_in, filter, shown_out);
    check_op(FORWARD, s, first, type, true, shown_in, filter, shown_out);
    fill(y, 3);
    reference(s, first, false, in, out);
    check_op(BACK_INPUT, s, first, type, false, shown_in, filter, shown_out);
    check_op(BACK_INPUT, s, first, type, true, shown_in, filter, shown_out);
    check_op(BACK_FILTER, s, first, type, false, shown_in, filter, shown_out);
  }
}

static void check_settings(const Setting *settings, size_t count) {
  for (size_t i = 0; i < count; i++) {
    CHECK_CONTEXT("setting %zu", i);
    check_setting(&settings[i], DT_DOUBLE);
    check_setting(&settings[i], DT_FLOAT);
  }
}

TEST(convolutions_are_the_sums_they_should_be) {
  static const char *const kPaddings[] = {"SAME", "VALID", "EXPLICIT"};
  static const int kSteps[][4] = {{1, 1, 1, 1}, {2, 2, 1, 1}, {1, 1, 2, 2}, {2, 3, 1, 1},
                                  {2, 1, 3, 2}, {4, 2, 2, 3}, {3, 3, 2, 2}};
  static const int kFilters[][2] = {{1, 1}, {3, 3}, {2, 3}, {1, 4}};
  static const int kChannels[][3] = {{1, 1, 1}, {3, 5, 1}, {8, 16, 1}, {6, 4, 2}, {4, 4, 4}, {5, 10, 5}};
  for (int p = 0; p < 3; p++)
    for (int t = 0; t < 7; t++)
      for (int f = 0; f < 4; f++)
        for (int c = 0; c < 6; c++) {
          Setting s = {2,
                       9,
                       11,
                       kChannels[c][0],
                       kFilters[f][0],
                       kFilters[f][1],
                       kChannels[c][1],
                       kChannels[c][2],
                       {kSteps[t][0], kSteps[t][1]},
                       {kSteps[t][2], kSteps[t][3]},
                       kPaddings[p]};
          check_setting(&s, DT_DOUBLE);
          if (f == 1) check_setting(&s, DT_FLOAT);
        }
}

TEST(convolutions_of_odd_sizes) {
  static const Setting kSettings[] =
      {{1, 5, 5, 7, 5, 5, 13, 1, {1, 1}, {1, 1}, "VALID"}, /* the window is the image */
       {1, 1, 1, 40, 1, 1, 21, 1, {2, 1}, {1, 2}, "SAME"},
       {1, 4, 3, 6, 4, 3, 50, 1, {1, 1}, {1, 1}, "VALID"},
       {1, 1, 3, 6, 1, 2, 5, 1, {1, 1}, {1, 2}, "VALID"},
       {1, 1, 1, 8, 1, 1, 6, 2, {1, 1}, {1, 1}, "VALID"},
       {3, 1, 1, 17, 1, 1, 9, 1, {1, 1}, {1, 1}, "SAME"},
       {2, 9, 11, 9, 1, 1, 21, 1, {1, 1}, {1, 1}, "VALID"}, /* more pixels than channels */
       {1, 3, 2, 2, 7, 5, 3, 1, {1, 1}, {1, 1}, "SAME"},    /* larger than the image */
       {1, 13, 7, 33, 3, 3, 6, 1, {1, 1}, {1, 1}, "SAME"},  /* more than one block of depth */
       {1, 4, 4, 3, 2, 2, 4, 1, {5, 5}, {1, 1}, "SAME"},    /* strides that skip pixels */
       {1, 6, 6, 4, 1, 1, 4, 1, {2, 2}, {1, 1}, "VALID"},
       {1, 2, 17, 5, 1, 9, 2, 1, {1, 2}, {1, 2}, "VALID"}};
  for (int i = 0; i < (int)(sizeof kSettings / sizeof kSettings[0]); i++) {
    check_setting(&kSettings[i], DT_DOUBLE);
    check_setting(&kSettings[i], DT_FLOAT);
    check_setting(&kSettings[i], DT_BFLOAT16);
  }
}

/* Windows of every second pixel of a colour image (blas/conv_colour.inc): at each edge and not, more of
 * them than are multiplied together, as many, and fewer; outputs that are whole panels of a packed filter and
 * not. */
TEST(convolutions_of_colour_images) {
  static const Setting kSettings[] =
      {{2, 19, 33, 3, 3, 3, 20, 1, {2, 2}, {1, 1}, "SAME"},
       {2, 18, 36, 3, 3, 3, 8, 1, {2, 2}, {1, 1}, "VALID"},
       {1, 17, 37, 3, 5, 3, 12, 1, {1, 2}, {1, 1}, "EXPLICIT"},
       {1, 24, 41, 3, 7, 7, 4, 1, {2, 2}, {1, 1}, "SAME"},
       {1, 24, 41, 3, 7, 9, 16, 1, {2, 2}, {1, 1}, "SAME"},
       {1, 20, 33, 3, 9, 9, 16, 1, {2, 2}, {1, 1}, "SAME"}, /* two blocks of double */
       {1, 15, 30, 3, 3, 3, 8, 1, {1, 2}, {2, 1}, "SAME"},
       {1, 9, 31, 3, 3, 3, 8, 1, {2, 2}, {5, 1}, "SAME"},
       {1, 9, 12, 3, 3, 3, 8, 1, {2, 2}, {1, 1}, "SAME"},
       {1, 9, 9, 3, 3, 3, 8, 1, {2, 2}, {1, 1}, "SAME"},
       {1, 9, 40, 2, 3, 3, 8, 1, {2, 3}, {1, 1}, "EXPLICIT"},
       {1, 9, 33, 3, 3, 3, 6, 1, {2, 2}, {1, 1}, "SAME"}};
  check_settings(kSettings, sizeof kSettings / sizeof kSettings[0]);
}

/* Groups of few channels (blas/conv_patches.inc), and of too many: at each edge and not, with dilations, with
 * outputs that are whole panels of a packed filter and not, and images of which the lines or the columns are
 * copied in pieces. */
TEST(convolutions_of_groups) {
  static const Setting kSettings[] = {{2, 9, 13, 16, 3, 3, 16, 4, {1, 1}, {1, 1}, "SAME"},
                                      {1, 11, 17, 16, 3, 3, 32, 2, {1, 1}, {1, 1}, "SAME"},
                                      {1, 12, 15, 24, 3, 3, 24, 2, {2, 2}, {1, 1}, "SAME"},
                                      {2, 9, 14, 9, 2, 3, 24, 3, {1, 2}, {1, 1}, "VALID"},
                                      {1, 13, 19, 8, 3, 3, 16, 2, {1, 1}, {2, 3}, "SAME"},
                                      {1, 8, 16, 10, 5, 5, 16, 2, {1, 1}, {1, 1}, "EXPLICIT"},
                                      {1, 7, 7, 12, 3, 1, 12, 3, {1, 1}, {2, 1}, "SAME"},
                                      {1, 6, 20, 12, 1, 7, 8, 2, {1, 3}, {1, 2}, "EXPLICIT"},
                                      {1, 4, 30, 12, 3, 3, 8, 2, {2, 1}, {1, 1}, "SAME"},
                                      {1, 9, 9, 8, 3, 3, 40, 2, {1, 1}, {1, 1}, "SAME"},
                                      {1, 9, 9, 64, 3, 3, 8, 2, {1, 1}, {1, 1}, "SAME"},
                                      {1, 40, 20, 16, 3, 3, 16, 2, {1, 1}, {1, 1}, "SAME"},
                                      {1, 3, 266, 16, 3, 3, 16, 2, {1, 1}, {1, 1}, "SAME"},
                                      {1, 3, 150, 16, 3, 3, 8, 2, {2, 1}, {1, 2}, "EXPLICIT"},
                                      {1, 5, 100, 16, 5, 5, 8, 2, {1, 2}, {1, 1}, "SAME"}};
  check_settings(kSettings, sizeof kSettings / sizeof kSettings[0]);
}

TEST(lines_of_groups_of_any_length) {
  for (int columns = 1; columns < 30; columns++) {
    for (int outputs = 4; outputs <= 16; outputs += 4) {
      Setting s = {1, 5, columns, 6, 3, 3, 2 * outputs, 2, {2, 1}, {1, 1}, "SAME"};
      CHECK_CONTEXT("%d columns, %d outputs", columns, outputs);
      check_setting(&s, DT_FLOAT);
    }
  }
}

/* Images of few channels (blas/conv_patches.inc): outputs that are whole vectors and not, windows as deep as
 * are multiplied where they are and deeper, and images that are copied in several pieces. */
TEST(convolutions_of_few_channels) {
  static const Setting kSettings[] = {{3, 28, 28, 1, 5, 5, 6, 1, {1, 1}, {1, 1}, "SAME"},
                                      {2, 14, 14, 6, 5, 5, 16, 1, {1, 1}, {1, 1}, "VALID"},
                                      {1, 20, 31, 3, 9, 9, 13, 1, {1, 1}, {1, 1}, "SAME"},
                                      {1, 12, 13, 16, 4, 4, 9, 1, {1, 1}, {1, 1}, "SAME"},
                                      {1, 12, 13, 17, 3, 3, 9, 1, {1, 1}, {1, 1}, "SAME"},
                                      {1, 12, 13, 16, 5, 5, 9, 1, {1, 1}, {1, 1}, "SAME"},
                                      {1, 1, 900, 1, 1, 80, 10, 1, {1, 4}, {1, 1}, "SAME"},
                                      {1, 49, 10, 1, 10, 4, 34, 1, {2, 2}, {1, 1}, "SAME"},
                                      {1, 41, 43, 2, 3, 3, 7, 1, {1, 1}, {1, 1}, "EXPLICIT"},
                                      {1, 21, 33, 3, 3, 3, 11, 1, {1, 2}, {2, 3}, "SAME"}};
  check_settings(kSettings, sizeof kSettings / sizeof kSettings[0]);
}

TEST(lines_of_few_channels_of_any_length) {
  for (int columns = 1; columns < 24; columns++) {
    for (int outputs = 1; outputs <= 13; outputs++) {
      Setting s = {1, 5, columns, 1 + columns % 3, 3, 3, outputs, 1, {2, 1}, {1, 1}, "SAME"};
      CHECK_CONTEXT("%d columns, %d outputs", columns, outputs);
      check_setting(&s, DT_FLOAT);
    }
  }
}

/* No more outputs than a vector has lanes (blas/conv_narrow.inc): at each edge and not, with rows of a window
 * that are whole vectors, that end within one, and that are too short for one, with fewer windows than are
 * multiplied together, with dilations, and with windows that see too many pixels. */
TEST(convolutions_to_few_outputs) {
  static const Setting kSettings[] = {{2, 9, 13, 8, 3, 3, 1, 1, {1, 1}, {1, 1}, "SAME"},
                                      {1, 12, 21, 5, 3, 3, 3, 1, {1, 1}, {1, 1}, "SAME"},
                                      {1, 9, 19, 3, 3, 3, 2, 1, {1, 1}, {1, 1}, "SAME"},
                                      {2, 10, 17, 1, 5, 5, 1, 1, {1, 1}, {1, 1}, "SAME"},
                                      {1, 10, 18, 1, 3, 3, 1, 1, {1, 1}, {1, 1}, "SAME"},
                                      {1, 15, 16, 6, 9, 9, 3, 1, {1, 1}, {1, 1}, "SAME"},
                                      {2, 11, 23, 4, 3, 3, 1, 1, {2, 2}, {1, 1}, "VALID"},
                                      {1, 8, 12, 7, 2, 3, 2, 1, {1, 3}, {1, 1}, "EXPLICIT"},
                                      {1, 13, 15, 8, 3, 3, 3, 1, {1, 1}, {2, 3}, "SAME"},
                                      {1, 13, 15, 6, 3, 3, 1, 1, {1, 1}, {2, 2}, "EXPLICIT"},
                                      {1, 13, 15, 6, 3, 3, 2, 1, {1, 1}, {1, 4}, "VALID"},
                                      {2, 4, 4, 16, 3, 3, 1, 1, {1, 1}, {1, 1}, "SAME"},
                                      {1, 3, 2, 12, 5, 7, 2, 1, {1, 1}, {1, 1}, "SAME"},
                                      {1, 1, 40, 9, 1, 5, 1, 1, {1, 1}, {1, 2}, "SAME"},
                                      {1, 40, 1, 9, 5, 1, 2, 1, {1, 1}, {1, 1}, "SAME"},
                                      {1, 14, 19, 6, 3, 3, 4, 1, {1, 1}, {1, 1}, "SAME"},
                                      {1, 5, 6, 400, 3, 3, 3, 1, {1, 1}, {1, 1}, "SAME"},
                                      {1, 4, 10, 400, 3, 3, 3, 1, {1, 1}, {1, 1}, "VALID"},
                                      {1, 6, 14, 8, 2, 2, 2, 1, {2, 2}, {1, 1}, "EXPLICIT"},
                                      {2, 7, 22, 37, 2, 11, 4, 1, {1, 2}, {1, 1}, "SAME"},
                                      {1, 9, 12, 70, 3, 4, 3, 1, {2, 1}, {1, 3}, "SAME"},
                                      {3, 5, 8, 11, 1, 1, 4, 1, {1, 1}, {1, 1}, "VALID"}};
  check_settings(kSettings, sizeof kSettings / sizeof kSettings[0]);
}

TEST(lines_of_any_length_to_few_outputs) {
  for (int columns = 1; columns < 20; columns++) {
    for (int outputs = 1; outputs <= 4; outputs++) {
      for (int channels = 3; channels <= 4; channels++) {
        Setting s = {1, 5, columns, channels, 3, 3, outputs, 1, {2, 1}, {1, 1}, "SAME"};
        CHECK_CONTEXT("%d columns, %d channels, %d outputs", columns, channels, outputs);
        check_setting(&s, DT_FLOAT);
      }
    }
  }
}

/* Large enough for blas/winograd.h, also where the filter is not a constant. */
TEST(convolutions_of_tiles) {
  static const Setting kSettings[] = {{1, 15, 17, 16, 3, 3, 20, 1, {1, 1}, {1, 1}, "SAME"},
                                      {2, 14, 15, 16, 3, 3, 16, 1, {1, 1}, {1, 1}, "VALID"},
                                      {3, 11, 10, 20, 3, 3, 16, 1, {1, 1}, {1, 1}, "EXPLICIT"},
                                      {1, 15, 17, 16, 5, 5, 20, 1, {1, 1}, {1, 1}, "SAME"},
                                      {2, 14, 16, 16, 5, 5, 20, 1, {1, 1}, {1, 1}, "VALID"},
                                      {3, 11, 10, 20, 5, 5, 16, 1, {1, 1}, {1, 1}, "EXPLICIT"},
                                      {2, 14, 15, 16, 4, 4, 16, 1, {1, 1}, {1, 1}, "SAME"},
                                      {2, 14, 15, 16, 2, 2, 16, 1, {1, 1}, {1, 1}, "SAME"},
                                      {1, 1, 90, 20, 1, 4, 16, 1, {1, 1}, {1, 1}, "SAME"},
                                      {1, 1, 90, 64, 1, 2, 64, 1, {1, 1}, {1, 3}, "VALID"},
                                      {1, 20, 21, 16, 7, 7, 16, 1, {1, 1}, {1, 1}, "SAME"},
                                      {1, 23, 24, 16, 5, 5, 16, 1, {2, 2}, {1, 1}, "SAME"},
                                      {1, 24, 23, 16, 4, 4, 16, 1, {2, 2}, {1, 1}, "EXPLICIT"},
                                      {2, 1, 200, 16, 1, 16, 16, 1, {1, 4}, {1, 1}, "VALID"}};
  for (int i = 0; i < (int)(sizeof kSettings / sizeof kSettings[0]); i++)
    check_setting(&kSettings[i], DT_FLOAT);
}

TEST(convolutions_of_tiles_say_that_memory_ran_out) {
  for (int constant = 0; constant < 2; constant++) {
    Shortage shortage = {.what = "a convolution of tiles"};
    do {
      OpRun run;
      Status status;
      status_init(&status);
      CHECK_OK(op_run_begin(&run, "Conv2D[T=float, strides=[1, 1, 1, 1], padding=VALID]", &status), status);
      CHECK_OK(op_run_inputs(&run, "float[1,14,14,16] 1; float[3,3,16,16] 1", &status), status);
      run.constant = constant;
      shortage_begin(&shortage);
      bool ok = op_run_compute(&run, &status);
      shortage_end(&shortage, ok, status.code);
      if (ok) CHECK_NEAR(tensor_get(&run.outputs[0], 5), 144, 1e-3);
      op_run_end(&run);
    } while (shortage_next(&shortage));
  }
}

TEST(gradients_of_tiles_say_that_memory_ran_out) {
  Shortage shortage = {.what = "a gradient of tiles"};
  do {
    OpRun run;
    Status status;
    status_init(&status);
    CHECK_OK(op_run_begin(&run, "Conv2DBackpropFilter[T=float, strides=[1, 1, 1, 1], padding=VALID]",
                          &status),
             status);
    CHECK_OK(op_run_inputs(&run, "float[1,16,16,16] 1; int32[4] 5 5 16 16; float[1,12,12,16] 1", &status),
             status);
    shortage_begin(&shortage);
    bool ok = op_run_compute(&run, &status);
    shortage_end(&shortage, ok, status.code);
    if (ok) CHECK_NEAR(tensor_get(&run.outputs[0], 5), 144, 1e-3);
    op_run_end(&run);
  } while (shortage_next(&shortage));
}

/* How many of `size` adjacent pixels around `at` are among 20. */
static int64_t seen(int at, int size) {
  int before = at - size / 2 < 0 ? size / 2 - at : 0, after = at + size / 2 > 19 ? at + size / 2 - 19 : 0;
  return size - before - after;
}

/* A window of 16 channels to 16 outputs is one of tiles; one to few outputs ends within a vector with 5
 * channels. */
static void check_pixel(const char *sizes, int size, int channels, int outputs, bool constant, float value) {
  OpRun run;
  Status status;
  status_init(&status);
  CHECK_OK(op_run_begin(&run, "Conv2D[T=float, strides=[1, 1, 1, 1], padding=SAME]", &status), status);
  CHECK_OK(op_run_inputs(&run, sizes, &status), status);
  run.constant = constant;
  tensor_put(&run.inputs[0], (9 * 20 + 10) * channels + 3, value);
  CHECK_OK(op_run_compute(&run, &status), status);
  for (int place = 0; place < 400 && status.code == CODE_OK; place++) {
    int row = place / 20, column = place % 20;
    bool affected = abs(row - 9) <= size / 2 && abs(column - 10) <= size / 2;
    CHECK_NEAR(tensor_get(&run.outputs[0], place * outputs),
               affected ? value : (double)(seen(row, size) * seen(column, size) * channels), 0);
  }
  op_run_end(&run);
}

/* An infinite or undefined pixel reaches the windows that see it, and no others. */
TEST(pixels_that_are_not_finite_stay_in_their_windows) {
  static const float kValues[] = {NAN, INFINITY};
  for (int i = 0; i < 4; i++) {
    bool constant = i % 2;
    float value = kValues[i / 2];
    check_pixel("float[1,20,20,16] 1; float[3,3,16,16] 1", 3, 16, 16, constant, value);
    check_pixel("float[1,20,20,16] 1; float[5,5,16,16] 1", 5, 16, 16, constant, value);
    check_pixel("float[1,20,20,5] 1; float[3,3,5,1] 1", 3, 5, 1, constant, value);
    check_pixel("float[1,20,20,5] 1; float[5,5,5,2] 1", 5, 5, 2, constant, value);
    check_pixel("float[1,20,20,5] 1; float[3,3,5,3] 1", 3, 5, 3, constant, value);
    check_pixel("float[1,20,20,5] 1; float[3,3,5,4] 1", 3, 5, 4, constant, value);
  }
}

/* A pixel that only some elements of the filter see: the gradients of the others are finite. */
TEST(gradients_of_elements_that_see_only_finite_pixels_are_finite) {
  for (int size = 3; size <= 5; size += 2) {
    OpRun run;
    Status status;
    status_init(&status);
    CHECK_OK(op_run_begin(&run, "Conv2DBackpropFilter[T=float, strides=[1, 1, 1, 1], padding=SAME]", &status),
             status);
    CHECK_OK(op_run_inputs(&run,
                           size == 3 ? "float[1,20,20,16] 1; int32[4] 3 3 16 16; float[1,20,20,16] 1"
                                     : "float[1,20,20,16] 1; int32[4] 5 5 16 16; float[1,20,20,16] 1",
                           &status),
             status);
    tensor_put(&run.inputs[0], 2, INFINITY); /* the first pixel */
    CHECK_OK(op_run_compute(&run, &status), status);
    for (int tap = 0; tap < size * size && status.code == CODE_OK; tap++) {
      int row = tap / size - size / 2, column = tap % size - size / 2;
      double sum = (20 - abs(row)) * (20 - abs(column));
      CHECK_NEAR(tensor_get(&run.outputs[0], (tap * 16 + 2) * 16 + 1), row > 0 || column > 0 ? sum : INFINITY,
                 0);
      CHECK_NEAR(tensor_get(&run.outputs[0], (tap * 16 + 3) * 16 + 1), sum, 0);
    }
    op_run_end(&run);
  }
}

TEST(convolutions_of_any_setting) {
  static const char *const kPaddings[] = {"SAME", "VALID", "EXPLICIT"};
  unsigned seed = 9;
  for (int checked = 0; checked < 300;) {
    int groups = random_to(&seed, 3) == 1 ? random_to(&seed, 3) : 1;
    Setting s = {random_to(&seed, 3),
                 random_to(&seed, 14),
                 random_to(&seed, 14),
                 groups * random_to(&seed, 9),
                 random_to(&seed, 5),
                 random_to(&seed, 5),
                 groups * random_to(&seed, 11),
                 groups,
                 {random_to(&seed, 3), random_to(&seed, 3)},
                 {1, 1},
                 kPaddings[random_to(&seed, 3) - 1]};
    if (random_to(&seed, 4) == 1) s.dilation[0] = random_to(&seed, 3), s.dilation[1] = random_to(&seed, 3);
    Geometry g = geometry(&s);
    int in = s.batch * s.rows * s.columns * s.channels,
        filter = s.filter_rows * s.filter_columns * s.channels / groups * s.outputs;
    if (g.out[0] < 1 || g.out[1] < 1) continue;
    if (in > MAX_ELEMENTS || filter > MAX_ELEMENTS ||
        s.batch * g.out[0] * g.out[1] * s.outputs > MAX_ELEMENTS)
      continue;
    CHECK_CONTEXT("%dx%dx%dx%d, filter %dx%d to %d in %d groups, strides %d %d, dilations %d %d, %s", s.batch,
                  s.rows, s.columns, s.channels, s.filter_rows, s.filter_columns, s.outputs, groups,
                  s.stride[0], s.stride[1], s.dilation[0], s.dilation[1], s.padding);
    check_setting(&s, checked++ % 2 ? DT_DOUBLE : DT_FLOAT);
  }
}

TEST(empty_convolutions) {
  op_gives("Conv2D[T=float, strides=[1, 1, 1, 1], padding=VALID]", "float[0,3,3,1]; float[2,2,1,2] 1",
           "float[0,2,2,2]");
  op_gives("Conv2D[T=float, strides=[1, 1, 1, 1], padding=VALID]", "float[1,3,3,1] 1; float[4,4,1,1] 1",
           "float[1,0,0,1]");
  op_gives("Conv2DBackpropInput[T=float, strides=[1, 1, 1, 1], padding=VALID]",
           "int32[4] 1 2 1 1; float[3,1,1,1] 1; float[1,0,1,1]", "float[1,2,1,1] 0");
  /* No output uses pixels of the second column; those of the first are used through the image's edge. */
  op_gives("Conv2DBackpropInput[T=float, strides=[1, 1, 2, 1], padding=SAME]",
           "int32[4] 1 3 2 1; float[3,1,1,1] 1 10 100; float[1,3,1,1] 1 2 3",
           "float[1,3,2,1] 12 0 123 0 230 0");
  op_gives("Conv2DBackpropFilter[T=double, strides=[1, 1, 1, 1], padding=SAME]",
           "double[0,3,3,1]; int32[4] 2 1 1 1; double[0,3,3,1]", "double[2,1,1,1] 0");
  op_gives("Conv2DBackpropInput[T=float, strides=[1, 1, 1, 1], padding=VALID]",
           "int32[2] 3 3; float[2,2,1,1] 1; float[1,2,2,1] 1", "float[1,3,3,1] 1 2 1 2 4 2 1 2 1");
}

#define PLAIN "[T=float, strides=[1, 1, 1, 1], padding=VALID]"

TEST(convolution_errors) {
  op_fails("Conv2D" PLAIN, "float[3,3] 1; float[1,1,1,1] 1", CODE_INVALID_ARGUMENT,
           "convolution input must be 4-dimensional: [3,3]");
  op_fails("Conv2D" PLAIN, "float[1,3,3,1] 1; float[1,1] 1", CODE_INVALID_ARGUMENT,
           "convolution filter must be 4-dimensional: [1,1]");
  op_fails("Conv2D" PLAIN, "float[1,3,3,3] 1; float[1,1,2,1] 1", CODE_INVALID_ARGUMENT,
           "input depth must be evenly divisible by filter depth: 3 vs 2");
  op_fails("Conv2D" PLAIN, "float[1,3,3,4] 1; float[1,1,2,3] 1", CODE_INVALID_ARGUMENT,
           "output depth must be evenly divisible by number of groups: 3 vs 2");
  op_fails("Conv2D" PLAIN, "float[1,3,3,1] 1; float[0,2,1,1]", CODE_INVALID_ARGUMENT,
           "filter must not have zero elements");
  op_fails("Conv2D" PLAIN, "float[1,3,3,1] 1; float[1,1,0,1]", CODE_INVALID_ARGUMENT, "filter depth must be");
  op_fails("Conv2D" PLAIN, "float[1,3,3,1] 1; float[1,1,1,0]", CODE_INVALID_ARGUMENT,
           "filter must not have zero elements");
  /* No division by a zero depth. */
  op_fails("Conv2DBackpropInput" PLAIN, "int32[4] 1 3 3 1; float[1,1,0,1]; float[1,3,3,1] 1",
           CODE_INVALID_ARGUMENT, "filter depth must be");
  op_fails("Conv2DBackpropFilter" PLAIN, "float[1,3,3,1] 1; int32[4] 1 1 0 1; float[1,3,3,1] 1",
           CODE_INVALID_ARGUMENT, "filter depth must be");
  op_fails("Conv2D" PLAIN, "float[1,3,3,1] 1; float[5,1,1,1] 1", CODE_INVALID_ARGUMENT,
           "Computed output size would be negative: -1 [input_size: 3, effective_filter_size: 5, stride: 1]");
  op_fails("Conv2D[T=float, strides=[1, 0, 1, 1], padding=SAME]", "float[1,3,3,1] 1; float[1,1,1,1] 1",
           CODE_INVALID_ARGUMENT, "Row and column strides should be larger than 0.");
  op_fails("Conv2D[T=float, strides=[2, 1, 1, 1], padding=SAME]", "float[1,3,3,1] 1; float[1,1,1,1] 1",
           CODE_UNIMPLEMENTED,
           "Current implementation does not yet support strides in the batch and depth dimensions.");
  op_fails("Conv2D[T=float, strides=[1, 1, 1], padding=SAME]", "float[1,3,3,1] 1; float[1,1,1,1] 1",
           CODE_INVALID_ARGUMENT, "Sliding window strides field must specify 4 dimensions");
  op_fails("Conv2D[T=float, strides=[1, 1, 1, 1], padding=SAME, dilations=[1, 0, 1, 1]]",
           "float[1,3,3,1] 1; float[1,1,1,1] 1", CODE_INVALID_ARGUMENT,
           "Dilated rates should be larger than 0.");
  op_fails("Conv2DBackpropInput" PLAIN, "int32[4] 1 3 3 1; float[2,2,1,1] 1; float[1,3,3,1] 1",
           CODE_INVALID_ARGUMENT,
           "Conv2DCustomBackpropInput: Size of out_backprop doesn't match computed: actual = 3, computed = 2 "
           "spatial_dim: 1 input: 3 "
           "filter: 2 output: 3 stride: 1 dilation: 1");
  op_fails("Conv2DBackpropInput" PLAIN, "int32[3] 1 3 3; float[2,2,1,1] 1; float[1,2,2,1] 1",
           CODE_INVALID_ARGUMENT,
           "Conv2DBackpropInput requires input_sizes to contain 4 values or 2 values, but got: 3");
  op_fails("Conv2DBackpropInput" PLAIN, "int32[4] 1 -3 3 1; float[2,2,1,1] 1; float[1,2,2,1] 1",
           CODE_INVALID_ARGUMENT, "Dimension -3 must be >= 0");
  op_fails("Conv2DBackpropFilter" PLAIN, "float[1,3,3,1] 1; int32[3] 2 2 1; float[1,2,2,1] 1",
           CODE_INVALID_ARGUMENT, "Conv2DCustomBackpropFilter: filter must be 4-dimensional");
  op_fails("Conv2DBackpropFilter" PLAIN, "float[1,3,3,1] 1; int32[4] 2 2 1 1; float[2,2,2,1] 1",
           CODE_INVALID_ARGUMENT,
           "Conv2DCustomBackpropFilter: input and out_backprop must have the same batch size. Input batch: "
           "1, outbackprop batch: 2");
}

#define CASE(op, attrs, inputs) \
  { op "[T=double, " attrs "]", inputs }

GRADIENT_CASES(conv2d,
               CASE("Conv2D", "strides=[1, 1, 1, 1], padding=VALID",
                    "double[1,3,2,1] 1 2 -1 0.5 3 -2; double[2,2,1,2] 1 -2 3 0.5 2 1 -1 2"),
               CASE("Conv2D", "strides=[1, 2, 1, 1], padding=SAME, dilations=[1, 1, 2, 1]",
                    "double[1,3,3,2] 1 2 -1 0.5 3; double[2,2,2,1] 1 -2 3 0.5"),
               CASE("Conv2D",
                    "strides=[1, 1, 1, 2], padding=EXPLICIT, explicit_paddings=[0, 0, 0, 0, 1, 0, 0, 2], "
                    "data_format=NCHW",
                    "double[2,2,2,3] 1 2 -1 0.5; double[1,2,1,2] 1 -2 3 0.5"),
               CASE("Conv2DBackpropInput", "strides=[1, 1, 1, 1], padding=VALID",
                    "int32[4] 1 3 2 1; double[2,2,1,2] 1 -2 3 0.5; double[1,2,1,2] 1 2 3 4"),
               CASE("Conv2DBackpropInput", "strides=[1, 2, 2, 1], padding=SAME",
                    "int32[4] 1 3 3 1; double[2,2,1,1] 1 -2 3 0.5; double[1,2,2,1] 1 2 3 4"),
               CASE("Conv2DBackpropInput",
                    "strides=[1, 1, 1, 1], dilations=[1, 1, 2, 1], padding=SAME, data_format=NCHW",
                    "int32[4] 2 1 2 2; double[2,1,1,1] 1 -2; double[2,1,2,2] 1 2 3 4"),
               CASE("Conv2DBackpropFilter", "strides=[1, 1, 1, 1], padding=VALID",
                    "double[1,3,2,1] 1 2 -1 0.5 3; int32[4] 2 2 1 2; double[1,2,1,2] 1 2 3 4"),
               CASE("Conv2DBackpropFilter", "strides=[1, 2, 2, 1], padding=SAME",
                    "double[1,3,3,1] 1 2 -1 0.5; int32[4] 2 2 1 1; double[1,2,2,1] 1 2 3 4"),
               CASE("Conv2DBackpropFilter",
                    "strides=[1, 1, 1, 1], dilations=[1, 1, 2, 1], padding=SAME, data_format=NCHW",
                    "double[2,1,2,2] 1 -2 3; int32[4] 2 1 1 1; double[2,1,2,2] 1 2 3 4"))

/* --- one result for any number of threads --- */

/* Large enough for several blocks and groups of work. */
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

TEST(windows_give_the_same_bits_on_any_number_of_threads) {
  check_threads("Conv2D[T=float, strides=[1, 1, 1, 1], padding=SAME]",
                "float[2,40,41,16] 0; float[3,3,16,40] 0");
  check_threads("Conv2D[T=float, strides=[1, 1, 1, 1], padding=SAME]",
                "float[2,40,41,16] 0; float[3,3,16,3] 0");
  check_threads("Conv2D[T=float, strides=[1, 1, 1, 1], padding=SAME]",
                "float[1,90,91,3] 0; float[5,5,3,22] 0");
  check_threads("Conv2DBackpropInput[T=float, strides=[1, 1, 1, 1], padding=SAME]",
                "int32[4] 2 40 41 16; float[3,3,16,40] 0; float[2,40,41,40] 0");
  check_threads("Conv2DBackpropInput[T=float, strides=[1, 1, 1, 1], padding=SAME]",
                "int32[4] 9 70 71 1; float[3,3,1,16] 0; float[9,70,71,16] 0");
  check_threads("Conv2DBackpropFilter[T=float, strides=[1, 1, 1, 1], padding=SAME]",
                "float[9,70,71,1] 0; int32[4] 3 3 1 40; float[9,70,71,40] 0");
  check_threads("Conv2D[T=float, strides=[1, 1, 1, 1], padding=SAME]",
                "float[2,40,41,24] 0; float[3,3,1,48] 0");
  check_threads("Conv2D[T=float, strides=[1, 1, 1, 1], padding=SAME, data_format=NCHW]",
                "float[2,40,90,91] 0; float[1,1,40,33] 0");
  check_threads("Conv2DBackpropFilter[T=float, strides=[1, 1, 1, 1], padding=SAME, data_format=NCHW]",
                "float[2,40,90,91] 0; int32[4] 1 1 40 33; float[2,33,90,91] 0");
  check_threads("Conv2DBackpropInput[T=float, strides=[1, 2, 2, 1], padding=SAME]",
                "int32[4] 2 80 81 16; float[3,3,16,40] 0; float[2,40,41,40] 0");
  check_threads("Conv2DBackpropFilter[T=float, strides=[1, 1, 1, 1], padding=SAME]",
                "float[2,20,21,32] 0; int32[4] 3 3 32 80; float[2,20,21,80] 0");
  check_threads("Conv2DBackpropFilter[T=float, strides=[1, 1, 1, 1], padding=SAME]",
                "float[2,80,81,3] 0; int32[4] 3 3 3 30; float[2,80,81,30] 0");
  check_threads("DepthwiseConv2dNative[T=float, strides=[1, 1, 1, 1], padding=SAME]",
                "float[2,40,41,30] 0; float[3,3,30,2] 0");
  check_threads("DepthwiseConv2dNativeBackpropInput[T=float, strides=[1, 2, 2, 1], padding=SAME]",
                "int32[4] 2 80 81 30; float[3,3,30,2] 0; float[2,40,41,60] 0");
  check_threads("DepthwiseConv2dNativeBackpropFilter[T=float, strides=[1, 1, 1, 1], padding=SAME]",
                "float[2,40,41,60] 0; int32[4] 3 3 60 1; float[2,40,41,60] 0");
  check_threads("MaxPool[T=float, ksize=[1, 3, 3, 1], strides=[1, 1, 1, 1], padding=SAME]",
                "float[2,40,41,60] 0");
  check_threads("MaxPoolGrad[T=float, ksize=[1, 3, 3, 1], strides=[1, 1, 1, 1], padding=SAME]",
                "float[2,40,41,60] 0; float[2,40,41,60] 0; float[2,40,41,60] 0");
  check_threads("AvgPoolGrad[T=float, ksize=[1, 3, 3, 1], strides=[1, 1, 1, 1], padding=SAME]",
                "int32[4] 2 40 41 60; float[2,40,41,60] 0");
  check_threads("LRN[T=float]", "float[2,40,41,60] 0");
  check_threads("ResizeBilinear[T=float]", "float[2,40,41,20] 0; int32[2] 90 70");
  check_threads("ResizeBilinearGrad[T=float]", "float[2,90,70,20] 0; float[2,40,41,20] 0");
  check_threads("ResizeNearestNeighbor[T=float]", "float[2,40,41,20] 0; int32[2] 90 70");
  check_threads("ResizeNearestNeighborGrad[T=float]", "float[2,90,70,20] 0; int32[2] 40 41");
  check_threads("FusedBatchNorm[T=float]",
                "float[2,40,41,60] 0; float[60] 0; float[60] 0; float[0]; float[0]");
  check_threads("FusedBatchNorm[T=float, data_format=NCHW]",
                "float[2,60,40,41] 0; float[60] 0; float[60] 0; float[0]; float[0]");
  check_threads("FusedBatchNormGrad[T=float, epsilon=2]",
                "float[2,40,41,60] 0; float[2,40,41,60] 0; float[60] 0; float[60] 0; float[60] 0");
  check_threads("FusedBatchNormGrad[T=float, epsilon=2, data_format=NCHW]",
                "float[2,60,40,41] 0; float[2,60,40,41] 0; float[60] 0; float[60] 0; float[60] 0");
}

/* --- many images: a few at a time are copied into zero padding --- */

/* Each image of a batch has the same result as alone. `op` has the batch's sizes, `images` the inputs with a
 * part for each image. */
static void check_images(const char *op, int batch, const char *whole, const char *single, unsigned images) {
  OpRun all, one;
  Status status;
  status_init(&status);
  CHECK_OK(op_run_begin(&all, op, &status), status);
  CHECK_OK(op_run_inputs(&all, whole, &status), status);
  for (int k = 0; k < all.num_inputs; k++) {
    Tensor *tensor = &all.inputs[k];
    for (int64_t j = 0; tensor->dtype == DT_FLOAT && j < tensor_num_elements(tensor); j++)
      tensor_put(tensor, j, sin((double)j * (k + 1)));
  }
  CHECK_OK(op_run_compute(&all, &status), status);
  for (int n = 0; n < batch && status.code == CODE_OK; n++) {
    CHECK_OK(op_run_begin(&one, op, &status), status);
    CHECK_OK(op_run_inputs(&one, single, &status), status);
    for (int k = 0; k < one.num_inputs; k++) {
      int64_t size = tensor_bytes(&one.inputs[k]);
      if (one.inputs[k].dtype == DT_FLOAT)
        memcpy(one.inputs[k].data, (char *)all.inputs[k].data + (images >> k & 1 ? n * size : 0),
               (size_t)size);
    }
    CHECK_OK(op_run_compute(&one, &status), status);
    int64_t size = tensor_bytes(&one.outputs[0]);
    CHECK_INT_EQ(tensor_bytes(&all.outputs[0]), batch * size);
    CHECK(memcmp(one.outputs[0].data, (char *)all.outputs[0].data + n * size, (size_t)size) == 0);
    op_run_end(&one);
  }
  op_run_end(&all);
}

TEST(images_of_a_batch_do_not_meet) {
  check_images("Conv2D[T=float, strides=[1, 1, 1, 1], padding=SAME]", 5,
               "float[5,48,47,32] 0; float[3,3,32,2] 0", "float[1,48,47,32] 0; float[3,3,32,2] 0", 1);
  check_images("Conv2D[T=float, strides=[1, 1, 1, 1], padding=SAME]", 5,
               "float[5,48,47,32] 0; float[3,3,32,5] 0", "float[1,48,47,32] 0; float[3,3,32,5] 0", 1);
  check_images("Conv2DBackpropInput[T=float, strides=[1, 2, 2, 1], padding=SAME]", 7,
               "int32[4] 7 96 94 2; float[3,3,2,24] 0; float[7,48,47,24] 0",
               "int32[4] 1 96 94 2; float[3,3,2,24] 0; float[1,48,47,24] 0", 4);
}

/* --- the largest strides --- */

#define FAR "2147483647"

TEST(windows_with_enormous_steps) {
  /* Only the middle of the window is inside. */
  op_gives("Conv2D[T=float, strides=[1, 1, 1, 1], dilations=[1, " FAR ", " FAR ", 1], padding=SAME]",
           "float[1,1,2,1] 3 4; float[3,3,1,1] 1 1 1 1 5 1 1 1 1", "float[1,1,2,1] 15 20");
  op_gives("Conv2D[T=float, strides=[1, 1, 1, 1], dilations=[1, " FAR ", 1, 1], padding=SAME]",
           "float[1,1,2,4] 1 1 1 1 2 2 2 2; float[3,1,4,1] 1 1 1 1 5 5 5 5 1 1 1 1", "float[1,1,2,1] 20 40");
  op_gives("Conv2DBackpropInput[T=float, strides=[1, 1, 1, 1], dilations=[1, " FAR ", " FAR
           ", 1], padding=SAME]",
           "int32[4] 1 1 2 1; float[3,3,1,1] 1 1 1 1 5 1 1 1 1; float[1,1,2,1] 3 4", "float[1,1,2,1] 15 20");
  op_gives("Conv2DBackpropFilter[T=float, strides=[1, 1, 1, 1], dilations=[1, " FAR ", " FAR
           ", 1], padding=SAME]",
           "float[1,1,2,1] 3 4; int32[4] 3 1 1 1; float[1,1,2,1] 1 10", "float[3,1,1,1] 0 43 0");
  op_gives("Conv2D[T=float, strides=[1, " FAR ", " FAR ", 1], padding=VALID]",
           "float[1,2,2,1] 3 4 5 6; float[1,1,1,1] 2", "float[1,1,1,1] 6");
  op_gives("Conv2DBackpropInput[T=float, strides=[1, " FAR ", " FAR ", 1], padding=VALID]",
           "int32[4] 1 2 2 1; float[1,1,1,1] 2; float[1,1,1,1] 3", "float[1,2,2,1] 6 0 0 0");
  op_gives("Conv2D[T=float, strides=[1, " FAR ", 1, 1], padding=EXPLICIT, explicit_paddings=[0, 0, " FAR
           ", 0, 0, 0, 0, 0]]",
           "float[1,1,1,1] 3; float[1,1,1,1] 2", "float[1,2,1,1] 0 6");
  op_gives("Conv2D[T=float, strides=[1, " FAR ", " FAR ", 1], padding=EXPLICIT, explicit_paddings=[0, 0, " FAR
           ", 0, " FAR ", 0, 0, 0]]",
           "float[1,1,1,1] 3; float[1,1,1,1] 2", "float[1,2,2,1] 0 0 0 6");
  op_gives("DepthwiseConv2dNative[T=float, strides=[1, 1, 1, 1], dilations=[1, " FAR ", " FAR
           ", 1], padding=SAME]",
           "float[1,1,2,1] 3 4; float[3,3,1,1] 1 1 1 1 5 1 1 1 1", "float[1,1,2,1] 15 20");
  op_gives("DepthwiseConv2dNativeBackpropInput[T=float, strides=[1, " FAR ", " FAR ", 1], padding=VALID]",
           "int32[4] 1 2 2 1; float[1,1,1,1] 2; float[1,1,1,1] 3", "float[1,2,2,1] 6 0 0 0");
  op_gives("MaxPool[T=float, ksize=[1, " FAR ", " FAR ", 1], strides=[1, " FAR ", 1, 1], padding=SAME]",
           "float[1,1,3,1] 1 3 2", "float[1,1,3,1] 3 3 3");
  op_gives("AvgPoolGrad[T=float, ksize=[1, " FAR ", " FAR ", 1], strides=[1, " FAR ", " FAR
           ", 1], padding=SAME]",
           "int32[4] 1 2 2 1; float[1,1,1,1] 4", "float[1,2,2,1] 1");
  op_fails("Conv2D[T=float, strides=[1, 1, 1, 1], dilations=[1, " FAR ", 1, 1], padding=SAME]",
           "float[1,1,1,1] 1; float[40,1,1,1] 1", CODE_INVALID_ARGUMENT, "is too large");
}
