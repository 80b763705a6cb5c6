#include "blas/channel_norm.h"

#include <stdbool.h>
#include <string.h>

#include "simd/simd.h"

/* --- sums ---
 *
 * Numbers are added in float within blocks. Blocks are small enough that little precision is lost and that a
 * second pass over them is cheap, which also measures the error of the mean. The results of blocks are
 * combined in double, in the order of the blocks.
 */

enum {
  BLOCK_ELEMENTS = 8192,
  BLOCK_ROWS_MIN = 16,
  BLOCK_ROWS_MAX = 512,
  BLOCK_LINE = 2048,
  LANES = 4,
  VECTORS = 4
};

/* The kinds of two sums over the same elements, by their terms: x and nothing; (x - mean)^2 and x - mean; dy
 * and dy * (x - mean). */
typedef enum SumKind { SUM_VALUES, SUM_SQUARES, SUM_PRODUCTS } SumKind;

/* `vectors` (a constant) adjacent vectors, in `rows` rows with stride `step`. */
SIMD_INLINE void add_rows(SumKind kind, int vectors, int64_t rows, int64_t step, const float *dy,
                          const float *x, const float *mean, float *first, float *second) {
  f32x4 a[VECTORS], b[VECTORS], m[VECTORS];
  SIMD_UNROLL
  for (int j = 0; j < vectors; j++) {
    a[j] = b[j] = f32x4_splat(0);
    m[j] = kind == SUM_VALUES ? a[j] : f32x4_load(mean + j * LANES);
  }
  for (int64_t row = 0; row < rows; row++) {
    SIMD_UNROLL
    for (int j = 0; j < vectors; j++) {
      int64_t at = row * step + j * LANES;
      if (kind == SUM_VALUES) {
        a[j] += f32x4_load(x + at);
      } else if (kind == SUM_SQUARES) {
        f32x4 d = f32x4_load(x + at) - m[j];
        a[j] = f32x4_madd(d, d, a[j]);
        b[j] += d;
      } else {
        f32x4 g = f32x4_load(dy + at);
        a[j] += g;
        b[j] = f32x4_madd(g, f32x4_load(x + at) - m[j], b[j]);
      }
    }
  }
  SIMD_UNROLL
  for (int j = 0; j < vectors; j++) {
    f32x4_store(first + j * LANES, a[j]);
    if (kind != SUM_VALUES) f32x4_store(second + j * LANES, b[j]);
  }
}

SIMD_INLINE void add_column(SumKind kind, int64_t rows, int64_t step, const float *dy, const float *x,
                            const float *mean, float *first, float *second) {
  float a = 0, b = 0;
  for (int64_t at = 0; at < rows * step; at += step) {
    if (kind == SUM_VALUES) {
      a += x[at];
    } else if (kind == SUM_SQUARES) {
      a += (x[at] - *mean) * (x[at] - *mean);
      b += x[at] - *mean;
    } else {
      a += dy[at];
      b += dy[at] * (x[at] - *mean);
    }
  }
  *first = a;
  if (kind != SUM_VALUES) *second = b;
}

/* The sums of every channel over `rows` rows of channels. */
SIMD_INLINE void sum_rows(SumKind kind, int64_t rows, int64_t channels, const float *dy, const float *x,
                          const float *mean, float *first, float *second) {
  int64_t c = 0;
  for (; c + VECTORS * LANES <= channels; c += VECTORS * LANES) {
    add_rows(kind, VECTORS, rows, channels, dy + c, x + c, mean + c, first + c, second + c);
  }
  for (; c + LANES <= channels; c += LANES)
    add_rows(kind, 1, rows, channels, dy + c, x + c, mean + c, first + c, second + c);
  for (; c < channels; c++) add_column(kind, rows, channels, dy + c, x + c, mean + c, first + c, second + c);
}

/* The sums over a row of one channel. */
SIMD_INLINE void sum_line(SumKind kind, int64_t length, const float *dy, const float *x, float mean,
                          float *first, float *second) {
  enum { STEP = VECTORS * LANES };
  float means[STEP], a[STEP], b[STEP];
  int64_t whole = length / STEP * STEP;
  for (int j = 0; j < STEP; j++) means[j] = mean;
  add_rows(kind, VECTORS, whole / STEP, STEP, dy, x, means, a, b);
  add_column(kind, length - whole, 1, dy + whole, x + whole, &mean, first, second);
  for (int j = 0; j < STEP; j++) {
    *first += a[j];
    if (kind != SUM_VALUES) *second += b[j];
  }
}

typedef struct Sums {
  ChannelNormSizes sizes;
  int64_t rows; /* in a block of channels-last data */
  const float *dy, *x, *mean;
  float *first, *second; /* the results: mean and variance, or the two sums */
  float *partial;        /* three vectors per block */
} Sums;

/* The statistics of the elements so far. */
typedef struct Moments {
  double mean, squares; /* squares: the sum of (x - mean)^2 */
  int64_t count;
} Moments;

/* squares and rest are the sums of (x - near)^2 and of x - near, for a number `near` close to the mean. */
SIMD_INLINE void join(Moments *all, double near, double squares, double rest, int64_t count) {
  double missed = rest / (double)count, delta = near + missed - all->mean,
         share = (double)count / (double)(all->count + count);
  double own = squares - missed * rest;
  all->mean += delta * share;
  all->squares += (own < 0 ? 0 : own) + delta * delta * share * (double)all->count;
  all->count += count;
}

/* Channels last: blocks of rows. */
static int64_t block_rows(int64_t channels) {
  int64_t rows = BLOCK_ELEMENTS / channels;
  return rows < BLOCK_ROWS_MIN ? BLOCK_ROWS_MIN : rows > BLOCK_ROWS_MAX ? BLOCK_ROWS_MAX : rows;
}
static int64_t blocks_of(const ChannelNormSizes *sizes) {
  int64_t rows = block_rows(sizes->channels);
  return (sizes->outer + rows - 1) / rows;
}
static int64_t rows_of_block(const Sums *s, int64_t block) {
  int64_t rest = s->sizes.outer - block * s->rows;
  return rest < s->rows ? rest : s->rows;
}

int64_t channel_norm_workspace(const ChannelNormSizes *sizes) {
  int64_t size;
  if (sizes->inner != 1 || sizes->channels == 0) return 0;
  if (__builtin_mul_overflow(blocks_of(sizes), sizes->channels, &size)) return -1;
  return __builtin_mul_overflow(size, 3 * (int64_t)sizeof(float), &size) ? -1 : size;
}

static void moments_of_blocks(void *arg, int64_t begin, int64_t end) {
  const Sums *s = arg;
  int64_t channels = s->sizes.channels;
  for (int64_t block = begin; block < end; block++) {
    const float *x = s->x + block * s->rows * channels;
    float *mean = s->partial + 3 * block * channels, *squares = mean + channels, *rest = squares + channels;
    int64_t rows = rows_of_block(s, block);
    sum_rows(SUM_VALUES, rows, channels, x, x, mean, mean, rest);
    for (int64_t c = 0; c < channels; c++) mean[c] /= (float)rows;
    sum_rows(SUM_SQUARES, rows, channels, x, x, mean, squares, rest);
  }
}

static void join_moments(void *arg, int64_t begin, int64_t end) {
  const Sums *s = arg;
  int64_t channels = s->sizes.channels, blocks = blocks_of(&s->sizes);
  for (int64_t c = begin; c < end; c++) {
    Moments all = {0};
    const float *partial = s->partial + c;
    for (int64_t block = 0; block < blocks; block++, partial += 3 * channels) {
      join(&all, partial[0], partial[channels], partial[2 * channels], rows_of_block(s, block));
    }
    s->first[c] = (float)all.mean;
    s->second[c] = (float)(all.squares / (double)all.count);
  }
}

static void moments_of_channels(void *arg, int64_t begin, int64_t end) {
  const Sums *s = arg;
  for (int64_t c = begin; c < end; c++) {
    Moments all = {0};
    for (int64_t o = 0; o < s->sizes.outer; o++) {
      const float *x = s->x + (o * s->sizes.channels + c) * s->sizes.inner;
      for (int64_t i = 0; i < s->sizes.inner; i += BLOCK_LINE) {
        int64_t length = s->sizes.inner - i < BLOCK_LINE ? s->sizes.inner - i : BLOCK_LINE;
        float mean, squares, rest;
        sum_line(SUM_VALUES, length, x + i, x + i, 0, &mean, &rest);
        mean /= (float)length;
        sum_line(SUM_SQUARES, length, x + i, x + i, mean, &squares, &rest);
        join(&all, mean, squares, rest, length);
      }
    }
    s->first[c] = (float)all.mean;
    s->second[c] = (float)(all.squares / (double)all.count);
  }
}

static void products_of_blocks(void *arg, int64_t begin, int64_t end) {
  const Sums *s = arg;
  int64_t channels = s->sizes.channels;
  for (int64_t block = begin; block < end; block++) {
    int64_t at = block * s->rows * channels;
    float *sum = s->partial + 3 * block * channels;
    sum_rows(SUM_PRODUCTS, rows_of_block(s, block), channels, s->dy + at, s->x + at, s->mean, sum,
             sum + channels);
  }
}

static void join_products(void *arg, int64_t begin, int64_t end) {
  const Sums *s = arg;
  int64_t channels = s->sizes.channels, blocks = blocks_of(&s->sizes);
  for (int64_t c = begin; c < end; c++) {
    double sum = 0, product = 0;
    for (int64_t block = 0; block < blocks; block++) {
      sum += s->partial[3 * block * channels + c];
      product += s->partial[(3 * block + 1) * channels + c];
    }
    s->first[c] = (float)sum;
    s->second[c] = (float)product;
  }
}

static void products_of_channels(void *arg, int64_t begin, int64_t end) {
  const Sums *s = arg;
  for (int64_t c = begin; c < end; c++) {
    double sum = 0, product = 0;
    for (int64_t o = 0; o < s->sizes.outer; o++) {
      int64_t at = (o * s->sizes.channels + c) * s->sizes.inner;
      for (int64_t i = 0; i < s->sizes.inner; i += BLOCK_LINE) {
        int64_t length = s->sizes.inner - i < BLOCK_LINE ? s->sizes.inner - i : BLOCK_LINE;
        float a, b;
        sum_line(SUM_PRODUCTS, length, s->dy + at + i, s->x + at + i, s->mean[c], &a, &b);
        sum += a;
        product += b;
      }
    }
    s->first[c] = (float)sum;
    s->second[c] = (float)product;
  }
}

/* The number of rows of `length` elements that justifies a thread. */
static void run_sums(Sums *s, ParallelBody *channels_first, ParallelBody *blocks, ParallelBody *join_blocks,
                     const Parallel *parallel) {
  const ChannelNormSizes *sizes = &s->sizes;
  if (sizes->inner != 1) {
    parallel_work(parallel, sizes->channels, (double)(sizes->outer * sizes->inner), channels_first, s);
    return;
  }
  s->rows = block_rows(sizes->channels);
  int64_t count = blocks_of(sizes);
  parallel_work(parallel, count, (double)(s->rows * sizes->channels), blocks, s);
  parallel_work(parallel, sizes->channels, 4 * (double)count, join_blocks, s);
}

void channel_norm_moments_f32(const ChannelNormSizes *sizes, const float *x, float *mean, float *variance,
                              void *workspace, const Parallel *parallel) {
  if (sizes->channels == 0) return;
  Sums s = {.sizes = *sizes, .x = x, .first = mean, .second = variance, .partial = workspace};
  run_sums(&s, moments_of_channels, moments_of_blocks, join_moments, parallel);
}

void channel_norm_sums_f32(const ChannelNormSizes *sizes, const float *dy, const float *x, const float *mean,
                           float *sum, float *product, void *workspace, const Parallel *parallel) {
  if (sizes->channels == 0) return;
  Sums s = {.sizes = *sizes,
            .dy = dy,
            .x = x,
            .mean = mean,
            .first = sum,
            .second = product,
            .partial = workspace};
  run_sums(&s, products_of_channels, products_of_blocks, join_products, parallel);
}

/* --- applying --- */

enum { SHORT_ROW = 64 };

typedef struct Affine {
  int64_t length, elements, channels;
  bool rows; /* a line has one element of each channel, else it is of one channel */
  const float *dy, *x, *mean, *factor, *slope, *offset;
  float *to;
} Affine;

SIMD_INLINE void affine_lines(bool backprop, const Affine *a, int64_t begin, int64_t end) {
  for (int64_t line = begin; line < end; line++) {
    int64_t at = line * a->length, c = a->rows ? 0 : line % a->channels, i = 0;
    int64_t length = a->elements - at < a->length ? a->elements - at : a->length;
    const float *x = a->x + at, *dy = backprop ? a->dy + at : x;
    const float *mean = a->mean + c, *factor = a->factor + c, *offset = a->offset + c,
                *slope = backprop ? a->slope + c : factor;
    float *to = a->to + at;
    f32x4 m = f32x4_splat(*mean), f = f32x4_splat(*factor), o = f32x4_splat(*offset), s = f32x4_splat(*slope);
    for (; i + LANES <= length; i += LANES) {
      if (a->rows) {
        m = f32x4_load(mean + i), f = f32x4_load(factor + i), o = f32x4_load(offset + i);
        if (backprop) s = f32x4_load(slope + i);
      }
      f32x4 d = f32x4_load(x + i) - m;
      if (backprop) d = f32x4_madd(d, s, f32x4_madd(f32x4_load(dy + i), f, o));
      else d = f32x4_madd(d, f, o);
      f32x4_store(to + i, d);
    }
    for (; i < length; i++) {
      int64_t k = a->rows ? i : 0;
      float d = x[i] - mean[k];
      to[i] = backprop ? d * slope[k] + (dy[i] * factor[k] + offset[k]) : d * factor[k] + offset[k];
    }
  }
}
static void apply_lines(void *arg, int64_t begin, int64_t end) { affine_lines(false, arg, begin, end); }
static void backprop_lines(void *arg, int64_t begin, int64_t end) { affine_lines(true, arg, begin, end); }

/* Several short rows make one line, so that vectors are full. */
static void run_affine(const ChannelNormSizes *sizes, Affine *a, ParallelBody *body,
                       const Parallel *parallel) {
  float repeated[4][2 * SHORT_ROW];
  const float **vectors[4] = {&a->mean, &a->factor, &a->offset, &a->slope};
  a->elements = sizes->outer * sizes->channels * sizes->inner;
  if (a->elements == 0) return;
  a->rows = sizes->inner == 1;
  a->channels = sizes->channels;
  a->length = a->rows ? sizes->channels : sizes->inner;
  if (a->rows && sizes->channels < SHORT_ROW) {
    a->length = (SHORT_ROW + sizes->channels - 1) / sizes->channels * sizes->channels;
    for (int v = 0; v < 4; v++) {
      if (!*vectors[v]) continue;
      for (int64_t i = 0; i < a->length; i += sizes->channels) {
        memcpy(repeated[v] + i, *vectors[v], (size_t)sizes->channels * sizeof(float));
      }
      *vectors[v] = repeated[v];
    }
  }
  parallel_work(parallel, (a->elements + a->length - 1) / a->length, (double)a->length, body, a);
}

void channel_norm_apply_f32(const ChannelNormSizes *sizes, const float *x, const float *mean,
                            const float *factor, const float *offset, float *y, const Parallel *parallel) {
  Affine a = {.x = x, .mean = mean, .factor = factor, .offset = offset, .to = y};
  run_affine(sizes, &a, apply_lines, parallel);
}

void channel_norm_backprop_f32(const ChannelNormSizes *sizes, const float *dy, const float *x,
                               const float *mean, const float *factor, const float *slope,
                               const float *offset, float *dx, const Parallel *parallel) {
  Affine a = {.dy = dy, .x = x, .mean = mean, .factor = factor, .slope = slope, .offset = offset, .to = dx};
  run_affine(sizes, &a, backprop_lines, parallel);
}
