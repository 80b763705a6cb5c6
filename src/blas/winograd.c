#include "blas/winograd.h"

#include <string.h>

#include "blas/gemm.h"
#include "simd/templates.h"
#include "simd/simd.h"

#include "simd/types/f32.inc"
#include "blas/finish.inc"
#include "blas/winograd_points.h"
#include "blas/winograd_tile.inc"

enum {
  MOST_POINTS = SEEN * SEEN,
  LONGEST = 64,            /* taps in a direction, at most */
  FILTER_BYTES = 16 << 20, /* the largest transformed filter */
  BLOCK_BYTES = 1 << 20,   /* of the transformed tiles and their products */
  BLOCK_ROWS = 30,         /* a multiple of the rows of gemm_f32's tiles */
  CHUNK = 16,              /* channels of a tile at the edge that are copied at a time */
  /* multiply-adds that take as long as to transform a number, and to read one of the filter */
  TRANSFORM = 9,
  READING = 2
};

/* Rows or columns. */
typedef struct Side {
  const WindowAxis *axis;
  WindowView view;
  int points, tile;      /* of a tile: SEEN and its results, or one of each if the filter has one tap */
  int pieces;            /* of the filter */
  int64_t phases, tiles; /* of a dilated convolution; of a phase */
  int64_t spacing;       /* between the pixels that a tile of a piece sees */
} Side;

/* The products of a convolution, as forward products. */
typedef struct Plan {
  Side rows, columns;
  int points;
  int64_t batch, pixel, outputs; /* pixel: channels of the image */
  int pieces;                    /* of the filter */
  int64_t channels;              /* that are summed: of all pieces */
  int64_t tiles;                 /* of all images */
  int64_t block;                 /* tiles at a time */
  /* elements between two points of the tiles, of the filter, and of the products */
  int64_t tile_stride, filter_stride, product_stride;
  bool backward;
} Plan;

/* The most taps in a line that see the same pixels, those at every stride-th place. */
static int64_t taps_of_pixels(const WindowAxis *axis) {
  return (axis->filter + axis->stride - 1) / axis->stride;
}
/* The taps of a piece: for long filters those that need the fewest multiplications. */
static int taps_of(const WindowAxis *axis) {
  int64_t taps = taps_of_pixels(axis);
  if (taps <= MOST_TAPS) return (int)taps;
  /* six products for four results of three taps, or for three of four taps */
  return (taps + 2) / 3 * 3 < (taps + 3) / 4 * 4 ? 3 : 4;
}
/* The pieces that see the same pixels, which follow each other, and all of a line. */
static int pieces_of_pixels(const WindowAxis *axis) {
  int taps = taps_of(axis);
  return (int)((taps_of_pixels(axis) + taps - 1) / taps);
}
static int pieces_of(const WindowAxis *axis) {
  return (int)(axis->stride < axis->filter ? axis->stride : axis->filter) * pieces_of_pixels(axis);
}
/* The first tap of a piece; the others are every stride-th one from there on. */
static int64_t first_tap(const WindowAxis *axis, int piece) {
  int same = pieces_of_pixels(axis);
  return piece / same + piece % same * taps_of(axis) * axis->stride;
}
static int points_of(const WindowAxis *axis) { return taps_of(axis) == 1 ? 1 : SEEN; }
static int pieces_of_filter(const Conv *conv) {
  return pieces_of(&conv->axis[WINDOW_ROWS]) * pieces_of(&conv->axis[WINDOW_COLUMNS]);
}
static int points_of_filter(const Conv *conv) {
  return points_of(&conv->axis[WINDOW_ROWS]) * points_of(&conv->axis[WINDOW_COLUMNS]);
}

/* An odd number of cache lines: the points of a tile are stored to different sets of the cache. */
static int64_t point_stride(int64_t elements) { return ((elements + 15) / 16 | 1) * 16; }

/* Elements between two points of the filter. */
static int64_t filter_stride(const Conv *conv) {
  return point_stride(pieces_of_filter(conv) * conv->in_channels * conv->out_channels);
}

/* The places of a phase from `place` on. */
static int64_t places_from(const WindowView *view, int64_t place) {
  return place < view->places ? (view->places - place - 1) / view->tap_step + 1 : 0;
}

/* The results at every tap_step-th place from one of the first on are a phase. */
static Side side_of(const WindowAxis *axis, bool backward) {
  WindowView view = backward ? window_backward(axis, 0) : window_forward(axis);
  if (axis->filter == 1) view.tap_step = 1; /* dilation means nothing, and each tile has a result */
  int points = points_of(axis), tile = points + 1 - taps_of(axis);
  return (Side){.axis = axis,
                .view = view,
                .points = points,
                .tile = tile,
                .pieces = pieces_of(axis),
                .spacing = axis->stride > 1 ? axis->stride : view.tap_step,
                .phases = view.tap_step < view.places ? view.tap_step : view.places,
                .tiles = (places_from(&view, 0) + tile - 1) / tile};
}

static Plan plan_of(ConvProduct product, const Conv *conv) {
  bool backward = product == CONV_INPUT;
  Plan p = {.rows = side_of(&conv->axis[WINDOW_ROWS], backward),
            .columns = side_of(&conv->axis[WINDOW_COLUMNS], backward),
            .points = points_of_filter(conv),
            .batch = conv->batch,
            .pixel = backward ? conv->out_channels : conv->in_channels,
            .pieces = pieces_of_filter(conv),
            .outputs = backward ? conv->in_channels : conv->out_channels,
            .backward = backward};
  p.channels = p.pieces * p.pixel;
  p.tiles = p.batch * p.rows.phases * p.columns.phases * p.rows.tiles * p.columns.tiles;
  int64_t fit = BLOCK_BYTES / (p.points * (int64_t)sizeof(float) * (p.channels + p.outputs));
  p.block = fit < BLOCK_ROWS ? BLOCK_ROWS : fit / BLOCK_ROWS * BLOCK_ROWS;
  if (p.block > p.tiles) p.block = p.tiles;
  p.tile_stride = point_stride(p.block * p.channels);
  p.filter_stride = filter_stride(conv);
  p.product_stride = point_stride(p.block * p.outputs);
  return p;
}

/* The results of a line, or of a side of a square. */
static int results_in_line(const Plan *p) {
  return p->rows.tile > p->columns.tile ? p->rows.tile : p->columns.tile;
}
/* That of a line, of the strides of rows and columns or of the numbers in them. */
static int64_t of_line(const Plan *p, int64_t rows, int64_t columns) {
  return p->columns.points > 1 ? columns : rows;
}

bool winograd_allows(const Conv *conv) {
  int most_taps = 1;
  for (int k = 0; k < WINDOW_AXES; k++) {
    const WindowAxis *axis = &conv->axis[k];
    if (axis->filter > LONGEST || axis->stride > LONGEST) return false;
    if (axis->stride > 1 && axis->dilation > 1) return false;
    if (taps_of(axis) > most_taps) most_taps = taps_of(axis);
  }
  if (most_taps < 2) return false;
  for (int k = 0; k < WINDOW_AXES; k++) {
    int taps = taps_of(&conv->axis[k]);
    if (taps != 1 && taps != most_taps) return false;
  }
  int64_t in = conv->in_channels, out = conv->out_channels,
          most = FILTER_BYTES / (points_of_filter(conv) * pieces_of_filter(conv) * (int64_t)sizeof(float));
  return conv->groups == 1 && in % 4 == 0 && out % 4 == 0 && in >= 16 && out >= 16 && in <= most / out;
}

/* A window without any pixel must be zero, but rounding errors of its tile would reach it. A dilated one does
 * not see every pixel that it extends over. */
static bool windows_see_pixels(const WindowAxis *axis) {
  int64_t last = (axis->filter - 1) * axis->dilation, step = axis->filter > 1 ? axis->dilation : 1;
  return axis->pad <= last && (axis->out - 1) * axis->stride - axis->pad < axis->in && step <= axis->in &&
         step <= axis->out;
}
/* The same for an element of the filter. */
static bool taps_see_pixels(const WindowAxis *axis) {
  return axis->pad < axis->out && (axis->filter - 1) * axis->dilation - axis->pad < axis->in;
}

/* Whether the filter is one piece. */
static bool is_plain(const Conv *conv) {
  return conv->axis[WINDOW_ROWS].stride == 1 && conv->axis[WINDOW_COLUMNS].stride == 1 &&
         pieces_of_filter(conv) == 1;
}

bool winograd_suits(ConvProduct product, const Conv *conv, bool constant) {
  if (!winograd_allows(conv) || (product != CONV_FORWARD && !is_plain(conv))) return false;
  for (int k = 0; k < WINDOW_AXES; k++) {
    const WindowAxis *axis = &conv->axis[k];
    if (product == CONV_FILTER ? !taps_see_pixels(axis) : !windows_see_pixels(axis)) return false;
  }
  Plan p = plan_of(product, conv);
  double both = (double)p.channels * (double)p.outputs, tiles = (double)p.tiles;
  double places = (double)(p.batch * p.rows.view.places * p.columns.view.places),
         direct = (double)conv_depth(conv) * (double)conv->out_channels * places;
  double transforms = tiles * TRANSFORM * (double)(p.channels + p.outputs),
         filter = both * (constant ? READING : TRANSFORM + READING);
  return p.points * (tiles * both + transforms + filter) < direct;
}

/* --- the filter --- */

int64_t winograd_filter_size(const Conv *conv) {
  return points_of_filter(conv) * filter_stride(conv) * (int64_t)sizeof(float);
}

typedef struct FilterJob {
  const float *from;
  float *to;
  int taps;                      /* in a line of a piece */
  int64_t given_rows, given;     /* of these taps in each direction; the others are zero */
  bool line;                     /* not a square */
  int64_t next_row, next;        /* elements between taps */
  int64_t first_row;             /* of the piece in the matrix of all pieces */
  int64_t rows, columns, stride; /* of a tap as a matrix; elements between two points */
  int64_t all_rows;              /* of all pieces */
} FilterJob;

/* The four elements of each tap at `from`. A function of its own: V8 replaces its first, slow code of a
 * function only where the function is called again. */
SIMD_NOINLINE void transform_elements(const FilterJob *job, const float *from, float *to) {
  if (job->line) transform_line_of_taps(job->taps, from, job->next, job->given, to, job->stride);
  else if (job->taps == 3)
    transform_taps(3, from, job->next_row, job->next, job->given_rows, job->given, to, job->stride);
  else
    transform_any_taps(job->taps, from, job->next_row, job->next, job->given_rows, job->given, to,
                       job->stride);
}

/* Vectors [begin, end) of the elements of a tap. */
static void transform_filter(void *arg, int64_t begin, int64_t end) {
  const FilterJob *job = arg;
  float *to = job->to + job->first_row * job->columns;
  for (int64_t i = 4 * begin; i < 4 * end; i += 4) transform_elements(job, job->from + i, to + i);
}

/* The same vectors of the packed form, where those of four columns follow one another. */
static void transform_packed(void *arg, int64_t begin, int64_t end) {
  const FilterJob *job = arg;
  for (int64_t i = begin; i < end; i++) {
    int64_t column = i / job->rows * 4, row = i % job->rows;
    float *to = job->to + gemm_f32.packed_b_place(job->all_rows, job->columns, job->first_row + row, column);
    transform_elements(job, job->from + row * job->columns + column, to);
  }
}

/* The taps of a piece in one direction that the filter has. */
static int64_t given_taps(const WindowAxis *axis, int piece) {
  int64_t left = axis->filter - first_tap(axis, piece), given = (left + axis->stride - 1) / axis->stride;
  return left <= 0 ? 0 : given < taps_of(axis) ? given : taps_of(axis);
}

static void transform(const Conv *conv, const float *w, bool backward, ParallelBody *body, float *to,
                      const Parallel *parallel) {
  const WindowAxis *rows = &conv->axis[WINDOW_ROWS], *columns = &conv->axis[WINDOW_COLUMNS];
  int64_t elements = conv->in_channels * conv->out_channels, line = columns->filter * elements;
  int points = points_of_filter(conv), in_line = pieces_of(columns), pieces = pieces_of_filter(conv);
  FilterJob job = {.to = to,
                   .line = points == SEEN,
                   .rows = conv->in_channels,
                   .all_rows = pieces * conv->in_channels,
                   .columns = conv->out_channels,
                   .stride = filter_stride(conv)};
  job.taps = taps_of(points_of(rows) > 1 ? rows : columns);
  for (int piece = 0; piece < pieces; piece++) {
    int row = piece / in_line, column = piece % in_line;
    job.from = w + first_tap(rows, row) * line + first_tap(columns, column) * elements;
    job.given_rows = given_taps(rows, row), job.given = given_taps(columns, column);
    job.next_row = rows->stride * line, job.next = columns->stride * elements;
    if (backward) {
      job.from += (rows->filter - 1) * line + (columns->filter - 1) * elements;
      job.next_row = -line, job.next = -elements;
    }
    if (job.line && points_of(columns) == 1) job.next = job.next_row, job.given = job.given_rows;
    job.first_row = piece * conv->in_channels;
    parallel_work(parallel, elements / 4, points, body, &job);
  }
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

/* A tile of all: its image, its first row and column there, and the results that it has in each direction.
 * Adjacent ones are tap_step places apart. */
typedef struct Place {
  int64_t image, row, column;
  int64_t rows, columns; /* those to its right or below it in the phase, too */
} Place;

static Place place_of(const Plan *p, int64_t tile) {
  const Side *rows = &p->rows, *columns = &p->columns;
  int64_t line = tile / columns->tiles, column = tile - line * columns->tiles;
  int64_t phase = line / rows->tiles, row = line - phase * rows->tiles;
  int64_t row_phase = phase / columns->phases, column_phase = phase - row_phase * columns->phases;
  Place place = {.image = row_phase / rows->phases};
  row_phase -= place.image * rows->phases;
  place.row = row_phase + row * rows->tile * rows->view.tap_step;
  place.column = column_phase + column * columns->tile * columns->view.tap_step;
  place.rows = places_from(&rows->view, place.row);
  place.columns = places_from(&columns->view, place.column);
  return place;
}

/* The element of the results with which a tile begins. */
static int64_t first_result(const Plan *p, const Place *place) {
  int64_t row = place->image * p->rows.view.places + place->row;
  return (row * p->columns.view.places + place->column) * p->outputs;
}

/* Copies `width` channels of a tile that begins at (row, column); zero outside of the image. */
static void copy_edge(const Plan *p, const float *image, int64_t row, int64_t column, int64_t width,
                      float *to) {
  const WindowView *rows = &p->rows.view, *columns = &p->columns.view;
  memset(to, 0, sizeof(float) * (size_t)(p->points * CHUNK));
  for (int i = 0; i < p->points; i++, to += CHUNK) {
    int64_t y = row + i / p->columns.points * p->rows.spacing,
            x = column + i % p->columns.points * p->columns.spacing;
    if (y < 0 || y >= rows->size || x < 0 || x >= columns->size) continue;
    memcpy(to, image + (y * columns->size + x) * p->pixel, sizeof(float) * (size_t)width);
  }
}

/* A tile as a piece of the filter sees it, from (row, column) of the image on. */
static void transform_tile(const Plan *p, const float *image, int64_t row, int64_t column, float *to) {
  const WindowView *rows = &p->rows.view, *columns = &p->columns.view;
  int64_t line = columns->size * p->pixel;
  int64_t height = (p->rows.points - 1) * p->rows.spacing,
          breadth = (p->columns.points - 1) * p->columns.spacing;
  bool inside = row >= 0 && row + height < rows->size && column >= 0 && column + breadth < columns->size;
  for (int64_t c = 0, width; c < p->pixel; c += width) {
    float edge[MOST_POINTS * CHUNK];
    width = inside || p->pixel - c < CHUNK ? p->pixel - c : CHUNK;
    if (!inside) copy_edge(p, image + c, row, column, width, edge);
    const float *from = inside ? image + row * line + column * p->pixel + c : edge;
    intptr_t stride = inside ? (intptr_t)(p->columns.spacing * p->pixel) : CHUNK;
    intptr_t row_stride = inside ? (intptr_t)(p->rows.spacing * line) : p->columns.points * CHUNK;
    if (p->points == SEEN) {
      transform_line_of_pixels(from, (intptr_t)of_line(p, row_stride, stride), to + c,
                               (intptr_t)p->tile_stride, (intptr_t)width);
      continue;
    }
    for (int64_t i = 0; i < width; i += 4)
      transform_pixels(from + i, row_stride, stride, to + c + i, (intptr_t)p->tile_stride);
  }
}

static void transform_tiles(void *arg, int64_t begin, int64_t end) {
  const Block *block = arg;
  const Plan *p = block->plan;
  const WindowView *rows = &p->rows.view, *columns = &p->columns.view;
  for (int64_t tile = begin; tile < end; tile++) {
    Place place = place_of(p, block->first + tile);
    const float *image = block->from + place.image * rows->size * columns->size * p->pixel;
    float *to = block->tiles + tile * p->channels;
    for (int piece = 0; piece < p->pieces; piece++, to += p->pixel) {
      int64_t row = first_tap(p->rows.axis, piece / p->columns.pieces) * rows->tap_step,
              column = first_tap(p->columns.axis, piece % p->columns.pieces) * columns->tap_step;
      transform_tile(p, image, place.row * rows->step + rows->offset + row,
                     place.column * columns->step + columns->offset + column, to);
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

/* Runs the epilogue on the results of `count` tiles in a row of tiles, which are side by side. */
static void finish_tiles(const Block *block, int64_t tile, int64_t count) {
  const Plan *p = block->plan;
  Place place = place_of(p, block->first + tile);
  int64_t rows = place.rows < p->rows.tile ? place.rows : p->rows.tile,
          columns = place.columns < count * p->columns.tile ? place.columns : count * p->columns.tile,
          line = p->rows.view.tap_step * p->columns.view.places * p->outputs;
  float *to = block->to + first_result(p, &place);
  for (int64_t row = 0; row < rows; row++, to += line)
    block->epilogue->run(block->epilogue->arg, to, columns, p->outputs);
}

/* The same for tiles [begin, end), by rows of tiles. */
static void finish_rows(const Block *block, int64_t begin, int64_t end) {
  int64_t columns = block->plan->columns.tiles;
  for (int64_t next; begin < end; begin = next) {
    next = begin + columns - (block->first + begin) % columns;
    if (next > end) next = end;
    finish_tiles(block, begin, next - begin);
  }
}

/* The results of a square tile of `size` * `size`. Returns a sum of all, before bias and activation. */
SIMD_INLINE f32x4 store_square(const Block *block, int size, const float *from, int rows, int columns,
                               float *to, intptr_t row_stride, intptr_t stride) {
  const Plan *p = block->plan;
  f32x4 sum = f32x4_splat(0);
  for (int64_t i = 0; i < p->outputs; i += 4) {
    const float *bias = block->bias ? block->bias + i : NULL;
    sum += transform_products(size, from + i, (intptr_t)p->product_stride, rows, columns, to + i, row_stride,
                              stride, bias, block->ceiling);
  }
  return sum;
}

/* The same for a line. */
SIMD_INLINE f32x4 store_line(const Block *block, int size, const float *from, int count, float *to,
                             intptr_t stride) {
  const Plan *p = block->plan;
  return transform_line_of_products(size, from, (intptr_t)p->product_stride, count, to, stride,
                                    (intptr_t)p->outputs, block->bias, block->ceiling);
}

/* The results of a tile; `size` is 2 to 5. Sizes 4 and 2, of filters of 3 and 5 taps, have their own code. */
SIMD_NOINLINE f32x4 store_any_square(const Block *block, int size, const float *from, int rows, int columns,
                                     float *to, intptr_t row_stride, intptr_t stride) {
  return store_square(block, size, from, rows, columns, to, row_stride, stride);
}
SIMD_NOINLINE f32x4 store_any_line(const Block *block, int size, const float *from, int count, float *to,
                                   intptr_t stride) {
  return store_line(block, size, from, count, to, stride);
}

static void store_tiles(void *arg, int64_t begin, int64_t end) {
  const Block *block = arg;
  const Plan *p = block->plan;
  intptr_t line = (intptr_t)(p->rows.view.tap_step * p->columns.view.places * p->outputs),
           next = (intptr_t)(p->columns.view.tap_step * p->outputs),
           stride = (intptr_t)of_line(p, line, next);
  int size = results_in_line(p);
  for (int64_t tile = begin; tile < end; tile++) {
    Place place = place_of(p, block->first + tile);
    float *to = block->to + first_result(p, &place);
    const float *from = block->products + tile * p->outputs;
    int height = place.rows < p->rows.tile ? (int)place.rows : p->rows.tile,
        width = place.columns < p->columns.tile ? (int)place.columns : p->columns.tile;
    f32x4 sum;
    if (p->points == SEEN) {
      sum = size == 4   ? store_line(block, 4, from, height * width, to, stride)
            : size == 2 ? store_line(block, 2, from, height * width, to, stride)
                        : store_any_line(block, size, from, height * width, to, stride);
    } else {
      sum = size == 4   ? store_square(block, 4, from, height, width, to, line, next)
            : size == 2 ? store_square(block, 2, from, height, width, to, line, next)
                        : store_any_square(block, size, from, height, width, to, line, next);
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
  return (p.tile_stride + p.product_stride) * p.points * (int64_t)sizeof(float) + lines(p.block) +
         p.points * product_workspace(&p, packed);
}

bool winograd_run(ConvProduct product, const Conv *conv, const float *a, const float *filter, bool packed,
                  float *result, const Parallel *parallel, void *workspace) {
  Plan p = plan_of(product, conv);
  Block block = {.plan = &p, .from = a, .filter = filter, .to = result, .tiles = workspace, .packed = packed};
  if (product == CONV_FORWARD) {
    block.bias = conv->bias;
    block.ceiling = NAME(ceiling)(conv->activation);
    if (p.columns.phases == 1) block.epilogue = conv->epilogue;
  }
  block.products = block.tiles + p.points * p.tile_stride;
  block.finite = (bool *)(block.products + p.points * p.product_stride);
  block.rest = (char *)block.finite + lines(p.block);
  block.rest_size = product_workspace(&p, packed);
  for (; block.first < p.tiles && !work_is_stopped(); block.first += p.block) {
    int64_t left = p.tiles - block.first;
    block.count = left < p.block ? left : p.block;
    memset(block.finite, true, sizeof(bool) * (size_t)block.count);
    parallel_work(parallel, block.count, (double)(p.points * p.channels), transform_tiles, &block);
    double work = (double)(block.count * p.channels) * (double)p.outputs / 23;
    parallel_work(parallel, p.points, work, multiply_points, &block);
    double results = p.points * (double)p.outputs;
    if (block.epilogue) results += p.rows.tile * p.columns.tile * (double)p.outputs * block.epilogue->work;
    parallel_work(parallel, block.count, results, store_tiles, &block);
    for (int64_t i = 0; i < block.count; i++) {
      if (!block.finite[i]) return false;
    }
  }
  if (product == CONV_FORWARD && conv->epilogue && !block.epilogue) {
    /* results side by side are of several phases */
    GemmArgs all = {.m = p.batch * p.rows.view.places * p.columns.view.places,
                    .n = p.outputs,
                    .c = result,
                    .ldc = p.outputs,
                    .epilogue = conv->epilogue};
    NAME(finish_all)(&all, parallel);
  }
  return true;
}

#include "blas/winograd_gradient.inc"
