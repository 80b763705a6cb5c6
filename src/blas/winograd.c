#include "blas/winograd.h"

#include <string.h>

#include "blas/gemm.h"
#include "simd/templates.h"
#include "simd/simd.h"

#include "simd/types/f32.inc"
#include "blas/finish.inc"
#include "blas/winograd_points.h"

enum {
  POINTS = SEEN * SEEN,
  FILTER_BYTES = 16 << 20, /* the largest transformed filter */
  BLOCK_BYTES = 1 << 20,   /* of the transformed tiles and their products */
  BLOCK_ROWS = 30,         /* a multiple of the rows of gemm_f32's tiles */
  CHUNK = 16               /* channels of a tile at the edge that are copied at a time */
};

/* The products of a convolution, as forward products. */
typedef struct Plan {
  WindowView rows, columns;
  int tile; /* results of a tile, in each direction */
  int64_t batch, channels, outputs;
  int64_t row_phases, column_phases;      /* of a dilated convolution */
  int64_t tile_rows, tile_columns, tiles; /* of a phase; of all images */
  int64_t block;                          /* tiles at a time */
  /* elements between two points of the tiles, of the filter, and of the products */
  int64_t tile_stride, filter_stride, product_stride;
  bool backward;
} Plan;

/* An odd number of cache lines: the points of a tile are stored to different sets of the cache. */
static int64_t point_stride(int64_t elements) { return ((elements + 15) / 16 | 1) * 16; }

/* Elements between two points of the filter. */
static int64_t filter_stride(const Conv *conv) {
  return point_stride(conv->in_channels * conv->out_channels);
}

/* The results at every tap_step-th place from one of the first on are a phase. */
static int64_t phases_of(const WindowView *view) {
  return view->tap_step < view->places ? view->tap_step : view->places;
}
/* The places of a phase from `place` on. */
static int64_t places_from(const WindowView *view, int64_t place) {
  return place < view->places ? (view->places - place - 1) / view->tap_step + 1 : 0;
}
/* The tiles of the longest phase. */
static int64_t tiles_of(const WindowView *view, int tile) { return (places_from(view, 0) + tile - 1) / tile; }

static Plan plan_of(ConvProduct product, const Conv *conv) {
  bool backward = product == CONV_INPUT;
  const WindowAxis *rows = &conv->axis[WINDOW_ROWS], *columns = &conv->axis[WINDOW_COLUMNS];
  Plan p = {.rows = backward ? window_backward(rows, 0) : window_forward(rows),
            .columns = backward ? window_backward(columns, 0) : window_forward(columns),
            .batch = conv->batch,
            .channels = backward ? conv->out_channels : conv->in_channels,
            .outputs = backward ? conv->in_channels : conv->out_channels,
            .tile = (int)(SEEN + 1 - rows->filter),
            .backward = backward};
  p.row_phases = phases_of(&p.rows);
  p.column_phases = phases_of(&p.columns);
  p.tile_rows = tiles_of(&p.rows, p.tile);
  p.tile_columns = tiles_of(&p.columns, p.tile);
  p.tiles = p.batch * p.row_phases * p.column_phases * p.tile_rows * p.tile_columns;
  int64_t fit = BLOCK_BYTES / (POINTS * (int64_t)sizeof(float) * (p.channels + p.outputs));
  p.block = fit < BLOCK_ROWS ? BLOCK_ROWS : fit / BLOCK_ROWS * BLOCK_ROWS;
  if (p.block > p.tiles) p.block = p.tiles;
  p.tile_stride = point_stride(p.block * p.channels);
  p.filter_stride = filter_stride(conv);
  p.product_stride = point_stride(p.block * p.outputs);
  return p;
}

bool winograd_allows(const Conv *conv) {
  for (int k = 0; k < WINDOW_AXES; k++) {
    const WindowAxis *axis = &conv->axis[k];
    if (axis->stride != 1) return false;
  }
  int64_t taps = conv->axis[WINDOW_ROWS].filter;
  if ((taps != 3 && taps != 5) || conv->axis[WINDOW_COLUMNS].filter != taps) return false;
  int64_t in = conv->in_channels, out = conv->out_channels, most = FILTER_BYTES / (POINTS * sizeof(float));
  return conv->groups == 1 && in % 4 == 0 && out % 4 == 0 && in >= 16 && out >= 16 && in <= most / out;
}

/* A window without any pixel must be zero, but rounding errors of its tile would reach it. A dilated one does
 * not see every pixel that it extends over. */
static bool windows_see_pixels(const WindowAxis *axis) {
  int64_t last = (axis->filter - 1) * axis->dilation;
  return axis->pad <= last && axis->out - 1 - axis->pad < axis->in && axis->dilation <= axis->in &&
         axis->dilation <= axis->out;
}
/* The same for an element of the filter. */
static bool taps_see_pixels(const WindowAxis *axis) {
  return axis->pad < axis->out && (axis->filter - 1) * axis->dilation - axis->pad < axis->in;
}

bool winograd_suits(ConvProduct product, const Conv *conv, bool constant) {
  if (!winograd_allows(conv)) return false;
  for (int k = 0; k < WINDOW_AXES; k++) {
    const WindowAxis *axis = &conv->axis[k];
    if (product == CONV_FILTER ? !taps_see_pixels(axis) : !windows_see_pixels(axis)) return false;
  }
  Plan p = plan_of(product, conv);
  double both = (double)p.channels * (double)p.outputs, tiles = (double)p.tiles;
  double taps = (double)conv_depth(conv) / (double)conv->in_channels,
         direct = taps * both * (double)(p.batch * p.rows.places * p.columns.places);
  double transforms = tiles * POINTS * 5 * (double)(p.channels + p.outputs);
  double filter = POINTS * both * (constant ? 2 : 10);
  return tiles * POINTS * both + transforms + filter < 0.7 * direct;
}

/* --- the filter --- */

int64_t winograd_filter_size(const Conv *conv) {
  return POINTS * filter_stride(conv) * (int64_t)sizeof(float);
}

/* Four channels of taps * taps elements with these strides, and zeros outside of the `rows` x `columns` first
 * ones. */
SIMD_INLINE void transform_taps(int taps, const float *from, int64_t row_stride, int64_t stride, int64_t rows,
                                int64_t columns, float *to, int64_t point_stride) {
  f32x4 half[SEEN][MOST_TAPS];
  SIMD_ROLLED
  for (int column = 0; column < taps; column++) {
    f32x4 line[MOST_TAPS] = {{0}}, points[SEEN];
    SIMD_UNROLL
    for (int row = 0; row < MOST_TAPS; row++) {
      if (row >= taps || row >= rows || column >= columns) break;
      line[row] = f32x4_load(from + row * row_stride + column * stride);
    }
    filter_points(taps, line, points);
    SIMD_UNROLL
    for (int row = 0; row < SEEN; row++) half[row][column] = points[row];
  }
  SIMD_ROLLED
  for (int row = 0; row < SEEN; row++) {
    f32x4 points[SEEN];
    filter_points(taps, half[row], points);
    SIMD_UNROLL
    for (int column = 0; column < SEEN; column++, to += point_stride) f32x4_store(to, points[column]);
  }
}
/* The same for any number of taps. */
SIMD_NOINLINE void transform_any_taps(int taps, const float *from, int64_t row_stride, int64_t stride,
                                      int64_t rows, int64_t columns, float *to, int64_t point_stride) {
  transform_taps(taps, from, row_stride, stride, rows, columns, to, point_stride);
}

typedef struct FilterJob {
  const float *from;
  float *to;
  int taps;
  int64_t rows, columns, stride; /* of a tap as a matrix; elements between two points */
  bool backward;                 /* the last tap first */
} FilterJob;

/* The four elements of each tap at `from`. A function of its own: V8 replaces its first, slow code of a
 * function only where the function is called again. */
SIMD_NOINLINE void transform_elements(const FilterJob *job, const float *from, float *to) {
  int64_t elements = job->rows * job->columns, next = job->backward ? -elements : elements;
  if (job->backward) from += (job->taps * job->taps - 1) * elements;
  if (job->taps == 3) transform_taps(3, from, 3 * next, next, 3, 3, to, job->stride);
  else transform_any_taps(5, from, 5 * next, next, 5, 5, to, job->stride);
}

/* Vectors [begin, end) of the elements of a tap. */
static void transform_filter(void *arg, int64_t begin, int64_t end) {
  const FilterJob *job = arg;
  for (int64_t i = 4 * begin; i < 4 * end; i += 4) transform_elements(job, job->from + i, job->to + i);
}

/* The same vectors of the packed form, where those of four columns follow one another. */
static void transform_packed(void *arg, int64_t begin, int64_t end) {
  const FilterJob *job = arg;
  for (int64_t i = begin; i < end; i++) {
    int64_t column = i / job->rows * 4, row = i % job->rows;
    float *to = job->to + gemm_f32.packed_b_place(job->rows, job->columns, row, column);
    transform_elements(job, job->from + row * job->columns + column, to);
  }
}

static void transform(const Conv *conv, const float *w, bool backward, ParallelBody *body, float *to,
                      const Parallel *parallel) {
  FilterJob job = {.from = w,
                   .to = to,
                   .taps = (int)conv->axis[WINDOW_ROWS].filter,
                   .rows = conv->in_channels,
                   .columns = conv->out_channels,
                   .stride = filter_stride(conv),
                   .backward = backward};
  parallel_work(parallel, job.rows * job.columns / 4, POINTS, body, &job);
}

void winograd_filter(ConvProduct product, const Conv *conv, const float *w, float *filter,
                     const Parallel *parallel) {
  transform(conv, w, product == CONV_INPUT, transform_filter, filter, parallel);
}

void winograd_packed_filter(const Conv *conv, const float *w, float *packed, const Parallel *parallel) {
  transform(conv, w, false, transform_packed, packed, parallel);
}

/* --- the tiles of the image --- */

/* A block of tiles, in the transformed form. */
typedef struct Block {
  const Plan *plan;
  const float *from;
  const float *filter;
  float *to;
  float *tiles, *products;
  char *rest;        /* the workspaces of products */
  int64_t rest_size; /* of one */
  int64_t first, count;
  bool packed;
  const float *bias, *ceiling; /* of the results */
  const GemmEpilogue *epilogue;
  bool *finite; /* of each tile */
} Block;

/* Four channels of a tile; strides are those of rows and pixels in `from`, and of points in `to`. */
static void transform_pixels(const float *from, intptr_t row_stride, intptr_t stride, float *to,
                             intptr_t point_stride) {
  f32x4 half[SEEN][SEEN];
  SIMD_ROLLED
  for (int column = 0; column < SEEN; column++, from += stride) {
    f32x4 pixels[SEEN], points[SEEN];
    SIMD_UNROLL
    for (int row = 0; row < SEEN; row++) pixels[row] = f32x4_load(from + row * row_stride);
    image_points(pixels, points);
    SIMD_UNROLL
    for (int row = 0; row < SEEN; row++) half[row][column] = points[row];
  }
  SIMD_ROLLED
  for (int row = 0; row < SEEN; row++) {
    f32x4 points[SEEN];
    image_points(half[row], points);
    SIMD_UNROLL
    for (int column = 0; column < SEEN; column++, to += point_stride) f32x4_store(to, points[column]);
  }
}

/* A tile of all: its image, its first row and column there, and the results that it has in each direction.
 * Adjacent ones are tap_step places apart. */
typedef struct Place {
  int64_t image, row, column;
  int64_t rows, columns; /* those to its right or below it in the phase, too */
} Place;

static Place place_of(const Plan *p, int64_t tile) {
  int64_t line = tile / p->tile_columns, column = tile - line * p->tile_columns;
  int64_t phase = line / p->tile_rows, row = line - phase * p->tile_rows;
  int64_t row_phase = phase / p->column_phases, column_phase = phase - row_phase * p->column_phases;
  Place place = {.image = row_phase / p->row_phases};
  row_phase -= place.image * p->row_phases;
  place.row = row_phase + row * p->tile * p->rows.tap_step;
  place.column = column_phase + column * p->tile * p->columns.tap_step;
  place.rows = places_from(&p->rows, place.row);
  place.columns = places_from(&p->columns, place.column);
  return place;
}

/* The element of the results with which a tile begins. */
static int64_t first_result(const Plan *p, const Place *place) {
  int64_t row = place->image * p->rows.places + place->row;
  return (row * p->columns.places + place->column) * p->outputs;
}

/* Copies `width` channels of a tile that begins at (row, column); zero outside of the image. */
static void copy_edge(const Plan *p, const float *image, int64_t row, int64_t column, int64_t width,
                      float *to) {
  memset(to, 0, sizeof(float) * POINTS * CHUNK);
  for (int i = 0; i < POINTS; i++, to += CHUNK) {
    int64_t y = row + i / SEEN * p->rows.tap_step, x = column + i % SEEN * p->columns.tap_step;
    if (y < 0 || y >= p->rows.size || x < 0 || x >= p->columns.size) continue;
    memcpy(to, image + (y * p->columns.size + x) * p->channels, sizeof(float) * (size_t)width);
  }
}

static void transform_tiles(void *arg, int64_t begin, int64_t end) {
  const Block *block = arg;
  const Plan *p = block->plan;
  int64_t line = p->columns.size * p->channels;
  int64_t height = (SEEN - 1) * p->rows.tap_step, breadth = (SEEN - 1) * p->columns.tap_step;
  for (int64_t tile = begin; tile < end; tile++) {
    Place place = place_of(p, block->first + tile);
    int64_t row = place.row + p->rows.offset, column = place.column + p->columns.offset;
    const float *image = block->from + place.image * p->rows.size * line;
    bool inside =
        row >= 0 && row + height < p->rows.size && column >= 0 && column + breadth < p->columns.size;
    float *to = block->tiles + tile * p->channels;
    for (int64_t c = 0, width; c < p->channels; c += width) {
      float edge[POINTS * CHUNK];
      width = inside || p->channels - c < CHUNK ? p->channels - c : CHUNK;
      if (!inside) copy_edge(p, image + c, row, column, width, edge);
      const float *from = inside ? image + row * line + column * p->channels : edge;
      intptr_t stride = inside ? (intptr_t)(p->columns.tap_step * p->channels) : CHUNK;
      intptr_t row_stride = inside ? (intptr_t)(p->rows.tap_step * line) : SEEN * CHUNK;
      for (int64_t i = 0; i < width; i += 4)
        transform_pixels(from + i, row_stride, stride, to + c + i, (intptr_t)p->tile_stride);
    }
  }
}

/* --- the products at the points --- */

static GemmArgs point_product(const Plan *p, int64_t tiles, bool packed) {
  GemmArgs args = {.m = tiles,
                   .n = p->outputs,
                   .k = p->channels,
                   .lda = p->channels,
                   .ldb = p->backward ? p->channels : p->outputs,
                   .transpose_b = p->backward,
                   .ldc = p->outputs};
  if (packed) args.packed_b = &args; /* until there is one, it only says that there will be */
  return args;
}

static void multiply_points(void *arg, int64_t begin, int64_t end) {
  const Block *block = arg;
  const Plan *p = block->plan;
  GemmArgs args = point_product(p, block->count, block->packed);
  for (int64_t point = begin; point < end; point++) {
    const float *filter = block->filter + point * p->filter_stride;
    args.a = block->tiles + point * p->tile_stride;
    args.b = filter;
    args.packed_b = block->packed ? filter : NULL;
    args.c = block->products + point * p->product_stride;
    gemm_f32.run(&args, NULL, block->rest + begin * block->rest_size);
  }
}

/* --- the results --- */

/* Four channels of a tile of `size` * `size` results, of which `rows` x `columns` are stored. Returns a sum
 * of all, before bias and activation. */
SIMD_INLINE f32x4 transform_products(int size, const float *from, intptr_t point_stride, int rows,
                                     int columns, float *to, intptr_t row_stride, intptr_t stride,
                                     const float *bias, const float *ceiling) {
  f32x4 half[MOST_TAPS][SEEN], sum = f32x4_splat(0);
  SIMD_ROLLED
  for (int column = 0; column < SEEN; column++, from += point_stride) {
    f32x4 products[SEEN], results[MOST_TAPS] = {{0}};
    SIMD_UNROLL
    for (int row = 0; row < SEEN; row++) products[row] = f32x4_load(from + row * SEEN * point_stride);
    results_of(size, products, results);
    for (int row = 0; row < size; row++) half[row][column] = results[row];
  }
  SIMD_ROLLED
  for (int row = 0; row < rows; row++, to += row_stride) {
    f32x4 results[MOST_TAPS] = {{0}};
    results_of(size, half[row], results);
    for (int column = 0; column < size; column++) {
      sum += results[column];
      if (column >= columns) continue;
      f32x4 v = results[column];
      if (bias) v += f32x4_load(bias);
      f32x4_store(to + column * stride, NAME(activate_vector)(v, ceiling));
    }
  }
  return sum;
}

/* Runs the epilogue on the results of `count` tiles in a row of tiles. */
static void finish_tiles(const Block *block, int64_t tile, int64_t count) {
  const Plan *p = block->plan;
  Place place = place_of(p, block->first + tile);
  int64_t rows = place.rows < p->tile ? place.rows : p->tile,
          columns = place.columns < count * p->tile ? place.columns : count * p->tile,
          step = p->columns.tap_step, adjacent = step == 1 ? columns : 1,
          line = p->rows.tap_step * p->columns.places * p->outputs;
  float *to = block->to + first_result(p, &place);
  for (int64_t row = 0; row < rows; row++, to += line) {
    for (int64_t column = 0; column < columns; column += adjacent)
      block->epilogue->run(block->epilogue->arg, to + column * step * p->outputs, adjacent, p->outputs);
  }
}

/* The same for tiles [begin, end), by rows of tiles. */
static void finish_rows(const Block *block, int64_t begin, int64_t end) {
  int64_t columns = block->plan->tile_columns;
  for (int64_t next; begin < end; begin = next) {
    next = begin + columns - (block->first + begin) % columns;
    if (next > end) next = end;
    finish_tiles(block, begin, next - begin);
  }
}

static void store_tiles(void *arg, int64_t begin, int64_t end) {
  const Block *block = arg;
  const Plan *p = block->plan;
  intptr_t line = (intptr_t)(p->rows.tap_step * p->columns.places * p->outputs),
           next = (intptr_t)(p->columns.tap_step * p->outputs);
  for (int64_t tile = begin; tile < end; tile++) {
    Place place = place_of(p, block->first + tile);
    float *to = block->to + first_result(p, &place);
    int height = place.rows < p->tile ? (int)place.rows : p->tile,
        width = place.columns < p->tile ? (int)place.columns : p->tile;
    f32x4 sum = f32x4_splat(0);
    for (int64_t i = 0; i < p->outputs; i += 4) {
      const float *from = block->products + tile * p->outputs + i,
                  *bias = block->bias ? block->bias + i : NULL;
      intptr_t stride = (intptr_t)p->product_stride;
      sum +=
          p->tile == 4
              ? transform_products(4, from, stride, height, width, to + i, line, next, bias, block->ceiling)
              : transform_products(2, from, stride, height, width, to + i, line, next, bias, block->ceiling);
    }
    block->finite[tile] = isfinite(f32x4_sum(sum));
  }
  if (block->epilogue) finish_rows(block, begin, end);
}

/* --- all --- */

static int64_t lines(int64_t bytes) { return (bytes + 63) / 64 * 64; }

/* The workspace of a product at a point. The number of tiles in the last block differs. */
static int64_t product_workspace(const Plan *p, bool packed) {
  GemmArgs whole = point_product(p, p->block, packed), last = point_product(p, p->tiles % p->block, packed);
  int64_t size = gemm_f32.workspace(&whole), rest = gemm_f32.workspace(&last);
  return lines(size > rest ? size : rest);
}

int64_t winograd_workspace(ConvProduct product, const Conv *conv, bool packed) {
  Plan p = plan_of(product, conv);
  return (p.tile_stride + p.product_stride) * POINTS * (int64_t)sizeof(float) + lines(p.block) +
         POINTS * product_workspace(&p, packed);
}

bool winograd_run(ConvProduct product, const Conv *conv, const float *a, const float *filter, bool packed,
                  float *result, const Parallel *parallel, void *workspace) {
  Plan p = plan_of(product, conv);
  Block block = {.plan = &p, .from = a, .filter = filter, .to = result, .tiles = workspace, .packed = packed};
  if (product == CONV_FORWARD) {
    block.bias = conv->bias;
    block.ceiling = NAME(ceiling)(conv->activation);
    block.epilogue = conv->epilogue;
  }
  block.products = block.tiles + POINTS * p.tile_stride;
  block.finite = (bool *)(block.products + POINTS * p.product_stride);
  block.rest = (char *)block.finite + lines(p.block);
  block.rest_size = product_workspace(&p, packed);
  for (; block.first < p.tiles && !work_is_stopped(); block.first += p.block) {
    int64_t left = p.tiles - block.first;
    block.count = left < p.block ? left : p.block;
    memset(block.finite, true, sizeof(bool) * (size_t)block.count);
    parallel_work(parallel, block.count, (double)(POINTS * p.channels), transform_tiles, &block);
    double work = (double)(block.count * p.channels) * (double)p.outputs / 23;
    parallel_work(parallel, POINTS, work, multiply_points, &block);
    double results = POINTS * (double)p.outputs;
    if (block.epilogue) results += p.tile * p.tile * (double)p.outputs * block.epilogue->work;
    parallel_work(parallel, block.count, results, store_tiles, &block);
    for (int64_t i = 0; i < block.count; i++) {
      if (!block.finite[i]) return false;
    }
  }
  return true;
}

#include "blas/winograd_gradient.inc"
