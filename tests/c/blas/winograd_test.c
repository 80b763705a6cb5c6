/* Convolutions by tiles compared with direct sums in double. An error is measured by the sum of the
 * magnitudes of what the direct sum adds. */
#include "blas/winograd.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "blas/fake_parallel.h"
#include "harness.h"

/* Filters: squares, and lines in both directions. */
typedef struct Taps {
  int64_t rows, columns;
} Taps;

/* Rows and columns of images with that many pixels before and after them; in a direction with one tap, none.
 */
static Conv conv_of_taps(Taps taps, int64_t batch, int64_t rows, int64_t columns, const int64_t pads[4],
                         int64_t in_channels, int64_t out_channels) {
  int64_t row_pads = taps.rows > 1 ? pads[0] + pads[1] : 0,
          column_pads = taps.columns > 1 ? pads[2] + pads[3] : 0;
  WindowAxis of_rows = {rows, rows + row_pads - (taps.rows - 1), taps.rows, 1,
                        1,    taps.rows > 1 ? pads[0] : 0},
             of_columns = {columns,
                           columns + column_pads - (taps.columns - 1),
                           taps.columns,
                           1,
                           1,
                           taps.columns > 1 ? pads[2] : 0};
  return (Conv){.batch = batch,
                .axis = {of_rows, of_columns},
                .in_channels = in_channels,
                .out_channels = out_channels,
                .groups = 1};
}
static Conv conv_of(int64_t batch, int64_t rows, int64_t columns, const int64_t pads[4], int64_t in_channels,
                    int64_t out_channels) {
  return conv_of_taps((Taps){3, 3}, batch, rows, columns, pads, in_channels, out_channels);
}
/* The same convolution with dilated windows of the same images and pads. */
static Conv dilated(Conv conv, int64_t row_dilation, int64_t column_dilation) {
  const int64_t dilations[] = {row_dilation, column_dilation};
  for (int k = 0; k < WINDOW_AXES; k++) {
    WindowAxis *axis = &conv.axis[k];
    axis->out -= (axis->filter - 1) * (dilations[k] - axis->dilation);
    axis->dilation = dilations[k];
  }
  return conv;
}

static int64_t image_size(const Conv *conv) {
  return conv->batch * conv->axis[0].in * conv->axis[1].in * conv->in_channels;
}
static int64_t result_size(const Conv *conv) {
  return conv->batch * conv->axis[0].out * conv->axis[1].out * conv->out_channels;
}
static int64_t filter_size(const Conv *conv) { return conv_depth(conv) * conv->out_channels; }
/* Of the image, the filter or y. */
static int64_t size_of(ConvProduct product, const Conv *conv) {
  return product == CONV_INPUT    ? image_size(conv)
         : product == CONV_FILTER ? filter_size(conv)
                                  : result_size(conv);
}

typedef float Numbers(uint32_t *random);

/* In [-1, 1). */
static float even_number(uint32_t *random) {
  *random = *random * 1664525u + 1013904223u;
  return (float)(*random >> 8) * 0x1p-23f - 1;
}
/* As after a Relu: half of them are zero. */
static float positive_number(uint32_t *random) { return fmaxf(even_number(random), 0); }
/* Of very different sizes. */
static float spread_number(uint32_t *random) { return even_number(random) * expf(3 * even_number(random)); }

static float *numbers(int64_t count, Numbers *next, uint32_t seed) {
  float *values = mem_alloc(count * (int64_t)sizeof(float));
  for (int64_t i = 0; values && i < count; i++) values[i] = next(&seed);
  return values;
}

/* The sum and the sum of magnitudes for each result of a product. */
static void sums(ConvProduct product, const Conv *conv, const float *a, const float *b, double *sum,
                 double *magnitude) {
  int64_t in = conv->in_channels, out = conv->out_channels;
  const WindowAxis *r = &conv->axis[0], *c = &conv->axis[1];
  for (int64_t place = 0; place < conv->batch * r->out * c->out; place++) {
    for (int64_t tap = 0; tap < r->filter * c->filter; tap++) {
      int64_t y = place / c->out % r->out * r->stride - r->pad + tap / c->filter * r->dilation,
              x = place % c->out * c->stride - c->pad + tap % c->filter * c->dilation;
      if (y < 0 || y >= r->in || x < 0 || x >= c->in) continue;
      int64_t pixel = (place / c->out / r->out * r->in + y) * c->in + x;
      for (int64_t i = 0; i < in; i++) {
        for (int64_t o = 0; o < out; o++) {
          int64_t of_x = pixel * in + i, of_y = place * out + o, of_w = (tap * in + i) * out + o;
          int64_t to = product == CONV_FORWARD ? of_y : product == CONV_INPUT ? of_x : of_w;
          double v = (double)a[product == CONV_INPUT ? of_y : of_x] * b[product == CONV_FILTER ? of_y : of_w];
          sum[to] += v;
          magnitude[to] += fabs(v);
        }
      }
    }
  }
}

static bool run_gradient(const Conv *conv, const float *x, const float *dy, float *dw,
                         const Parallel *parallel) {
  void *workspace = mem_alloc(winograd_gradient_workspace(conv));
  bool ok = CHECK(workspace) && winograd_gradient(conv, x, dy, dw, parallel, workspace);
  mem_free(workspace);
  return ok;
}

/* Runs a product with exactly the announced memory. */
static bool run(ConvProduct product, const Conv *conv, bool packed, const float *a, const float *w,
                float *result, const Parallel *parallel) {
  if (product == CONV_FILTER) return run_gradient(conv, a, w, result, parallel);
  float *filter = mem_alloc(winograd_filter_size(conv));
  void *workspace = mem_alloc(winograd_workspace(product, conv, packed));
  bool ok = false;
  if (CHECK(filter && workspace)) {
    if (packed) winograd_packed_filter(conv, w, filter, parallel);
    else winograd_filter(product, conv, w, filter, parallel);
    ok = winograd_run(product, conv, a, filter, packed, result, parallel, workspace);
  }
  mem_free(filter);
  mem_free(workspace);
  return ok;
}

/* The largest error of a product, in units of the sum of magnitudes. */
static double error_of(ConvProduct product, const Conv *conv, bool packed, Numbers *next) {
  int64_t from = product == CONV_INPUT ? result_size(conv) : image_size(conv),
          by = product == CONV_FILTER ? result_size(conv) : filter_size(conv), to = size_of(product, conv);
  float *a = numbers(from, next, 1), *b = numbers(by, even_number, 2),
        *result = mem_alloc(to * (int64_t)sizeof(float));
  double *want = mem_calloc(to, sizeof(double)), *scale = mem_calloc(to, sizeof(double));
  double worst = INFINITY;
  if (CHECK(a && b && result && want && scale)) {
    sums(product, conv, a, b, want, scale);
    CHECK(run(product, conv, packed, a, b, result, NULL));
    worst = 0;
    for (int64_t i = 0; i < to; i++) {
      double error = fabs(result[i] - want[i]);
      if (!(error <= worst * scale[i])) worst = error / scale[i];
    }
  }
  mem_free(a), mem_free(b), mem_free(result), mem_free(want), mem_free(scale);
  return worst;
}

static const int64_t kSame[4] = {1, 1, 1, 1}, kValid[4] = {0, 0, 0, 0}, kWide[4] = {2, 2, 2, 2};

/* All products of convolutions of several sizes. */
static void check_sizes(Taps taps, const int64_t pads[4]) {
  static const int64_t kSizes[][5] = {{1, 7, 9, 16, 20},  {2, 8, 5, 20, 16},   {3, 4, 4, 24, 16},
                                      {1, 3, 13, 36, 16}, {2, 14, 3, 16, 36},  {1, 17, 18, 16, 16},
                                      {2, 1, 65, 16, 24}, {1, 131, 1, 20, 36}, {1, 2, 6, 24, 20}};
  for (int i = 0; i < 9; i++) {
    const int64_t *s = kSizes[i];
    Conv conv = conv_of_taps(taps, s[0], s[1], s[2], pads, s[3], s[4]);
    if (conv.axis[0].out < 1 || conv.axis[1].out < 1) continue;
    CHECK_CONTEXT("%dx%d taps, size %d, pads %d, %d", (int)taps.rows, (int)taps.columns, i, (int)pads[0],
                  (int)pads[2]);
    CHECK(error_of(CONV_FORWARD, &conv, false, even_number) <= 4e-6);
    CHECK(error_of(CONV_FORWARD, &conv, true, even_number) <= 4e-6);
    CHECK(error_of(CONV_INPUT, &conv, false, even_number) <= 4e-6);
    if (winograd_suits(CONV_FILTER, &conv, false))
      CHECK(error_of(CONV_FILTER, &conv, false, even_number) <= 4e-6);
  }
}

TEST(tiles_give_the_sums_of_windows) {
  static const int64_t kPads[][4] = {{1, 1, 1, 1}, {0, 0, 0, 0}, {2, 1, 0, 2}, {2, 2, 1, 0}};
  static const int64_t kWidePads[][4] = {{2, 2, 2, 2}, {0, 0, 0, 0}, {4, 1, 0, 3}, {1, 4, 3, 2}};
  static const int64_t kNarrowPads[][4] = {{1, 1, 1, 1}, {0, 0, 0, 0}, {1, 0, 0, 1}, {0, 1, 1, 0}};
  for (int p = 0; p < 4; p++) {
    check_sizes((Taps){3, 3}, kPads[p]);
    check_sizes((Taps){5, 5}, kWidePads[p]);
    check_sizes((Taps){1, 3}, kPads[p]);
    check_sizes((Taps){3, 1}, kPads[p]);
    check_sizes((Taps){1, 5}, kWidePads[p]);
    check_sizes((Taps){5, 1}, kWidePads[p]);
    check_sizes((Taps){4, 4}, kPads[p]);
    check_sizes((Taps){2, 2}, kNarrowPads[p]);
    check_sizes((Taps){1, 4}, kPads[p]);
    check_sizes((Taps){4, 1}, kPads[p]);
    check_sizes((Taps){1, 2}, kNarrowPads[p]);
    check_sizes((Taps){2, 1}, kNarrowPads[p]);
  }
}

/* Long filters, of which the last piece may have fewer taps: forward. */
TEST(tiles_of_pieces_of_filters) {
  static const Taps kShapes[] = {{1, 6},  {1, 7}, {7, 1}, {8, 1}, {1, 9},  {1, 11}, {16, 1},
                                 {1, 17}, {7, 7}, {6, 6}, {9, 9}, {10, 7}, {1, 64}, {4, 7}};
  static const int64_t kPads[][4] = {{0, 0, 0, 0}, {3, 3, 3, 3}, {5, 0, 1, 4}};
  for (int i = 0; i < 14; i++) {
    for (int p = 0; p < 3; p++) {
      bool tall = kShapes[i].columns == 1;
      Conv conv = conv_of_taps(kShapes[i], 2, tall ? 71 : 17, tall ? 11 : 68, kPads[p], 16, 20);
      CHECK_CONTEXT("%dx%d taps, pads %d", (int)kShapes[i].rows, (int)kShapes[i].columns, p);
      CHECK(winograd_allows(&conv));
      CHECK(error_of(CONV_FORWARD, &conv, false, even_number) <= 4e-6);
      CHECK(error_of(CONV_FORWARD, &conv, true, even_number) <= 4e-6);
      if (p == 1 && kShapes[i].columns < 20) {
        conv = dilated(conv, kShapes[i].rows > 1 && !tall ? 1 : 2, 2);
        if (conv.axis[0].out < 1) continue;
        CHECK(error_of(CONV_FORWARD, &conv, true, even_number) <= 4e-6);
      }
    }
  }
}

/* The same convolution with strides, of the same images and pads. */
static Conv strided(Conv conv, int64_t row_stride, int64_t column_stride) {
  const int64_t strides[] = {row_stride, column_stride};
  for (int k = 0; k < WINDOW_AXES; k++) {
    conv.axis[k].stride = strides[k];
    conv.axis[k].out = (conv.axis[k].out - 1) / strides[k] + 1;
  }
  return conv;
}

/* Windows at every second or third pixel: forward. */
TEST(tiles_of_pieces_of_strided_windows) {
  static const int64_t kCases[][4] = {{3, 3, 2, 2}, {4, 4, 2, 2},   {5, 5, 2, 2}, {5, 5, 3, 3}, {7, 7, 2, 2},
                                      {1, 4, 1, 2}, {1, 16, 1, 4},  {1, 8, 2, 2}, {9, 1, 2, 1}, {13, 1, 2, 3},
                                      {2, 4, 2, 2}, {11, 11, 4, 4}, {3, 3, 1, 2}, {6, 3, 2, 1}};
  static const int64_t kPads[][4] = {{0, 0, 0, 0}, {1, 1, 1, 1}, {0, 2, 2, 1}};
  int allowed = 0;
  for (int i = 0; i < 14; i++) {
    for (int p = 0; p < 3; p++) {
      const int64_t *c = kCases[i];
      Conv conv = strided(conv_of_taps((Taps){c[0], c[1]}, 2, 29, 34, kPads[p], 16, 20), c[2], c[3]);
      CHECK_CONTEXT("%dx%d taps, strides %d, %d, pads %d", (int)c[0], (int)c[1], (int)c[2], (int)c[3], p);
      if (!winograd_allows(&conv)) continue;
      allowed++;
      CHECK(error_of(CONV_FORWARD, &conv, false, even_number) <= 4e-6);
      CHECK(error_of(CONV_FORWARD, &conv, true, even_number) <= 4e-6);
      CHECK(!winograd_suits(CONV_INPUT, &conv, false) && !winograd_suits(CONV_FILTER, &conv, false));
    }
  }
  CHECK_INT_EQ(allowed, 3 * 13); /* but two and three taps in one filter */
}

/* More tiles than a block has, and more channels than gemm_f32 sums at a time. */
TEST(tiles_of_several_blocks) {
  Conv wide = conv_of(2, 21, 26, kSame, 16, 112), deep = conv_of(1, 9, 10, kValid, 260, 16);
  CHECK(error_of(CONV_FORWARD, &wide, true, even_number) <= 4e-6);
  CHECK(error_of(CONV_INPUT, &wide, false, even_number) <= 4e-6);
  CHECK(error_of(CONV_FORWARD, &deep, true, even_number) <= 4e-6);
  CHECK(error_of(CONV_FILTER, &wide, false, even_number) <= 4e-6);
  const Taps kMore[] = {{5, 5}, {1, 3}, {5, 1}, {4, 4}, {4, 1}};
  for (int i = 0; i < 5; i++) {
    CHECK_CONTEXT("%dx%d taps", (int)kMore[i].rows, (int)kMore[i].columns);
    wide = conv_of_taps(kMore[i], 2, 61, 66, kWide, 16, kMore[i].rows == kMore[i].columns ? 32 : 112);
    CHECK(error_of(CONV_FORWARD, &wide, true, even_number) <= 4e-6);
    CHECK(error_of(CONV_INPUT, &wide, false, even_number) <= 4e-6);
    CHECK(error_of(CONV_FILTER, &wide, false, even_number) <= 4e-6);
  }
}

/* Each phase has tiles of its own; phases differ in size, and some are smaller than a tile. */
TEST(tiles_of_dilated_windows) {
  static const int64_t kDilations[][2] = {{2, 3}, {4, 2}, {3, 1}, {1, 5}, {6, 7}};
  for (int i = 0; i < 180; i++) {
    const int64_t *d = kDilations[i % 5], taps = 2 + i / 15 % 4;
    /* as many results as pixels, no padding, padding on one side */
    int64_t before = i / 5 % 3 == 0 ? taps / 2 : 0, after = i / 5 % 3 == 1 ? 0 : taps / 2;
    const int64_t pads[] = {before * d[0], after * d[0], before * d[1], after * d[1]};
    const Taps kShapes[] = {{taps, taps}, {1, taps}, {taps, 1}};
    Conv conv = dilated(conv_of_taps(kShapes[i / 60], 2, 29, 32, pads, 16, 20), d[0], d[1]);
    CHECK_CONTEXT("case %d", i);
    CHECK(error_of(CONV_FORWARD, &conv, false, even_number) <= 4e-6);
    CHECK(error_of(CONV_FORWARD, &conv, true, even_number) <= 4e-6);
    CHECK(error_of(CONV_INPUT, &conv, false, even_number) <= 4e-6);
    CHECK(error_of(CONV_FILTER, &conv, false, even_number) <= 4e-6);
  }
}

/* y = 2 y + 1, which is wrong for an element that is not complete, or for which it is called twice. */
static void double_block(const void *arg, void *c, int64_t rows, int64_t columns) {
  float *y = c;
  const Conv *conv = arg;
  CHECK_INT_EQ(columns, conv->out_channels);
  for (int64_t i = 0; i < rows * columns; i++) y[i] = 2 * y[i] + 1;
}

TEST(tiles_have_an_epilogue) {
  static const int64_t kSizes[][5] = {{1, 7, 9, 16, 20}, {3, 4, 4, 24, 16}, {2, 21, 26, 16, 112}};
  static const Taps kShapes[] = {{3, 3}, {1, 3}, {3, 1}};
  for (int i = 0; i < 18; i++) {
    const int64_t *s = kSizes[i / 2 % 3];
    Conv conv = conv_of_taps(kShapes[i / 6], s[0], s[1], s[2], kSame, s[3], s[4]), ended;
    ended = conv = dilated(conv, 1 + i % 2, 1 + i % 2);
    const GemmEpilogue epilogue = {double_block, &conv, 1};
    ended.epilogue = &epilogue;
    int64_t count = result_size(&conv), calls = 0;
    float *a = numbers(image_size(&conv), even_number, 1), *w = numbers(filter_size(&conv), even_number, 2);
    float *plain = mem_alloc(count * (int64_t)sizeof(float)),
          *both = mem_alloc(count * (int64_t)sizeof(float));
    REQUIRE(a && w && plain && both);
    CHECK(run(CONV_FORWARD, &conv, true, a, w, plain, NULL));
    for (int threads = 1; threads <= 5; threads += 2) {
      Parallel parallel = {fake_parallel_run, &calls, threads};
      CHECK(run(CONV_FORWARD, &ended, true, a, w, both, &parallel));
      int bad = 0;
      for (int64_t k = 0; k < count; k++) bad += both[k] != 2 * plain[k] + 1;
      CHECK_INT_EQ(bad, 0);
    }
    mem_free(a), mem_free(w), mem_free(plain), mem_free(both);
  }
}

TEST(tiles_of_activations_and_of_numbers_of_different_sizes) {
  static const Taps kShapes[] = {{3, 3}, {5, 5}, {1, 3}, {5, 1}, {2, 2}, {4, 4}, {2, 1}, {1, 4}};
  for (int i = 0; i < 8; i++) {
    const Taps taps = kShapes[i];
    Conv conv = conv_of_taps(taps, 2, 16, 16, i % 2 == 0 ? kSame : kWide, 32, 16);
    for (ConvProduct product = CONV_FORWARD; product <= CONV_FILTER; product++) {
      CHECK_CONTEXT("%dx%d taps, product %d", (int)taps.rows, (int)taps.columns, product);
      CHECK(error_of(product, &conv, product == CONV_FORWARD, positive_number) <= 4e-6);
      CHECK(error_of(product, &conv, product == CONV_FORWARD, spread_number) <= 4e-6);
    }
  }
}

static void check_threads(ConvProduct product, const Conv *conv, bool packed) {
  int64_t calls = 0, size = size_of(product, conv) * (int64_t)sizeof(float);
  Parallel parallel = {fake_parallel_run, &calls, 4};
  float *a = numbers(size_of(product == CONV_INPUT ? CONV_FORWARD : CONV_INPUT, conv), even_number, 3),
        *b = numbers(size_of(product == CONV_FILTER ? CONV_FORWARD : CONV_FILTER, conv), even_number, 4),
        *alone = mem_alloc(size), *split = mem_alloc(size);
  if (CHECK(a && b && alone && split)) {
    CHECK(run(product, conv, packed, a, b, alone, NULL));
    CHECK(run(product, conv, packed, a, b, split, &parallel));
    CHECK_MEM_EQ(split, alone, size);
    CHECK(calls > 0);
  }
  mem_free(a), mem_free(b), mem_free(alone), mem_free(split);
}

TEST(tiles_have_the_same_bits_on_any_number_of_threads) {
  Conv conv = conv_of(2, 30, 33, kSame, 32, 48), wide = conv_of_taps((Taps){5, 5}, 2, 30, 33, kWide, 32, 48),
       line = conv_of_taps((Taps){1, 3}, 2, 30, 33, kSame, 32, 48);
  check_threads(CONV_FORWARD, &conv, false);
  check_threads(CONV_FORWARD, &conv, true);
  check_threads(CONV_FILTER, &conv, false);
  check_threads(CONV_INPUT, &wide, false);
  check_threads(CONV_FILTER, &wide, false);
  check_threads(CONV_FORWARD, &line, true);
  Conv seven = conv_of_taps((Taps){7, 7}, 2, 30, 33, kWide, 32, 48);
  check_threads(CONV_FORWARD, &seven, true);
  check_threads(CONV_INPUT, &line, false);
  check_threads(CONV_FILTER, &line, false);
}

static void check_infinities(ConvProduct product, const Conv *conv) {
  static const float kValues[] = {NAN, INFINITY, -INFINITY, 3e38f};
  float *a = numbers(image_size(conv), even_number, 5),
        *b = numbers(size_of(product == CONV_FILTER ? CONV_FORWARD : CONV_FILTER, conv), even_number, 6),
        *result = mem_alloc(size_of(product, conv) * (int64_t)sizeof(float));
  if (CHECK(a && b && result)) {
    CHECK(run(product, conv, product == CONV_FORWARD, a, b, result, NULL));
    for (int i = 0; i < 4; i++) {
      CHECK_CONTEXT("product %d, value %g", product, (double)kValues[i]);
      int64_t at = image_size(conv) - 1 - 37 * i;
      float before = a[at];
      a[at] = kValues[i];
      CHECK(!run(product, conv, product == CONV_FORWARD, a, b, result, NULL));
      a[at] = before;
    }
  }
  mem_free(a), mem_free(b), mem_free(result);
}

TEST(tiles_report_results_that_are_not_finite) {
  Conv conv = conv_of(1, 20, 20, kSame, 16, 16), wide = conv_of_taps((Taps){5, 5}, 1, 20, 20, kWide, 16, 16),
       row = conv_of_taps((Taps){1, 3}, 1, 20, 20, kSame, 16, 16),
       column = conv_of_taps((Taps){5, 1}, 1, 20, 20, kWide, 16, 16);
  check_infinities(CONV_FORWARD, &conv);
  check_infinities(CONV_FILTER, &conv);
  check_infinities(CONV_FORWARD, &wide);
  check_infinities(CONV_FILTER, &wide);
  check_infinities(CONV_FORWARD, &row);
  check_infinities(CONV_FILTER, &row);
  check_infinities(CONV_FORWARD, &column);
  check_infinities(CONV_FILTER, &column);
}

TEST(tiles_are_for_dense_windows_of_many_channels) {
  Conv good = conv_of(1, 56, 56, kSame, 64, 64), conv = good;
  CHECK(winograd_suits(CONV_FORWARD, &good, true) && winograd_suits(CONV_FORWARD, &good, false));
  CHECK(winograd_suits(CONV_INPUT, &good, false));
  CHECK(winograd_suits(CONV_FILTER, &good, false));
  conv.axis[0].stride = 2; /* a piece of two taps, and three */
  CHECK(!winograd_allows(&conv));
  conv = dilated(conv_of(1, 56, 56, (int64_t[]){6, 6, 6, 6}, 64, 64), 6, 6);
  CHECK(winograd_suits(CONV_FORWARD, &conv, true) && winograd_suits(CONV_INPUT, &conv, false));
  CHECK(winograd_suits(CONV_FILTER, &conv, false));
  conv = good, conv.axis[1].filter = 5;
  CHECK(!winograd_allows(&conv));
  conv = good, conv.groups = 2;
  CHECK(!winograd_allows(&conv));
  conv = good, conv.in_channels = 66;
  CHECK(!winograd_allows(&conv));
  conv = good, conv.out_channels = 12;
  CHECK(!winograd_allows(&conv));
  conv = good, conv.in_channels = conv.out_channels = 512; /* its filter is too large */
  CHECK(!winograd_allows(&conv));
  /* windows that see no pixel */
  conv = conv_of(1, 56, 56, (int64_t[]){3, 0, 0, 0}, 64, 64);
  CHECK(winograd_allows(&conv) && !winograd_suits(CONV_FORWARD, &conv, true));
  conv = conv_of(1, 56, 56, (int64_t[]){0, 0, 0, 3}, 64, 64);
  CHECK(!winograd_suits(CONV_FORWARD, &conv, true) && !winograd_suits(CONV_INPUT, &conv, false));
  CHECK(winograd_suits(CONV_FILTER, &conv, false));
  conv = dilated(conv_of(1, 56, 56, (int64_t[]){0, 12, 9, 5}, 64, 64), 6, 4); /* pads longer than windows */
  CHECK(!winograd_suits(CONV_FORWARD, &conv, true));
  conv = dilated(conv_of(1, 3, 56, (int64_t[]){12, 12, 1, 1}, 64, 64), 6, 1); /* pixels between the taps */
  CHECK(!winograd_suits(CONV_FORWARD, &conv, true));
  /* elements of the filter that see none */
  conv = conv_of_taps((Taps){5, 5}, 1, 2, 56, kWide, 64, 64);
  CHECK(winograd_suits(CONV_FORWARD, &conv, true) && !winograd_suits(CONV_FILTER, &conv, false));
  conv = conv_of_taps((Taps){5, 5}, 1, 56, 56, kWide, 64, 64);
  CHECK(winograd_suits(CONV_FORWARD, &conv, false) && winograd_suits(CONV_FILTER, &conv, false));
  conv.axis[0].filter = 4; /* a rectangle */
  CHECK(!winograd_allows(&conv));
  conv = conv_of_taps((Taps){1, 3}, 1, 1, 512, kSame, 64, 64);
  CHECK(winograd_suits(CONV_FORWARD, &conv, true) && winograd_suits(CONV_INPUT, &conv, false));
  CHECK(winograd_suits(CONV_FILTER, &conv, false));
  conv.axis[0].dilation = 2; /* of one tap */
  CHECK(winograd_suits(CONV_FORWARD, &conv, true) && winograd_suits(CONV_FILTER, &conv, false));
  conv = conv_of_taps((Taps){1, 2}, 1, 1, 2048, kSame, 32, 32);
  CHECK(winograd_suits(CONV_FORWARD, &conv, true));
  /* transforms that take longer than is saved in products */
  conv = conv_of_taps((Taps){1, 3}, 1, 1, 2048, kSame, 16, 16);
  CHECK(winograd_allows(&conv) && !winograd_suits(CONV_FORWARD, &conv, true));
  conv = conv_of_taps((Taps){1, 1}, 1, 56, 56, kSame, 64, 64);
  CHECK(!winograd_allows(&conv));
  conv = conv_of_taps((Taps){1, 7}, 1, 56, 56, kWide, 64, 64); /* only its results */
  CHECK(winograd_suits(CONV_FORWARD, &conv, true));
  CHECK(!winograd_suits(CONV_INPUT, &conv, false) && !winograd_suits(CONV_FILTER, &conv, false));
  conv = conv_of_taps((Taps){1, 65}, 1, 56, 120, kWide, 64, 64);
  CHECK(!winograd_allows(&conv));
  conv = conv_of_taps((Taps){3, 7}, 1, 56, 56, kWide, 64, 64); /* pieces of three and of four taps */
  CHECK(!winograd_allows(&conv));
  conv = conv_of(1, 2, 2, kSame, 64, 64); /* most of the tile is outside */
  CHECK(winograd_allows(&conv) && !winograd_suits(CONV_FORWARD, &conv, true));
  conv = conv_of(1, 8, 8, kSame, 64, 64); /* too few tiles to transform the filter for */
  CHECK(winograd_suits(CONV_FORWARD, &conv, true) && !winograd_suits(CONV_FORWARD, &conv, false));
}
