#include "blas/transpose.h"

#include <string.h>

#include "base/copy.h"
#include "base/odometer.h"
#include "blas/byte_moves.h"
#include "simd/templates.h"
#include "simd/simd.h"

typedef struct Wide {
  uint64_t low, high;
} Wide;

static inline void block_u8(const uint8_t *x, int64_t stride, uint8_t *y) {
  for (int r = 0; r < 64; r++) {
    for (int c = 0; c < 64; c++) y[c * 64 + r] = x[r * stride + c];
  }
}

static inline void block_u16(const uint16_t *x, int64_t stride, uint16_t *y) {
  for (int r = 0; r < 32; r++) {
    for (int c = 0; c < 32; c++) y[c * 32 + r] = x[r * stride + c];
  }
}

static inline void fours_u32(const uint32_t *x, int64_t x_stride, uint32_t *y, int64_t y_stride) {
  f32x4 v[4];
  SIMD_UNROLL
  for (int l = 0; l < 4; l++) memcpy(&v[l], x + l * x_stride, 16);
  f32x4_transpose(v);
  SIMD_UNROLL
  for (int l = 0; l < 4; l++) memcpy(y + l * y_stride, &v[l], 16);
}

static inline void block_u32(const uint32_t *x, int64_t stride, uint32_t *y) {
  for (int r = 0; r < 16; r += 4) {
    SIMD_UNROLL
    for (int c = 0; c < 16; c += 4) fours_u32(x + r * stride + c, stride, y + c * 16 + r, 16);
  }
}

static inline void block_u64(const uint64_t *x, int64_t stride, uint64_t *y) {
  for (int r = 0; r < 8; r += 2) {
    SIMD_UNROLL
    for (int c = 0; c < 8; c += 2) {
      f64x2 v[2];
      SIMD_UNROLL
      for (int l = 0; l < 2; l++) memcpy(&v[l], x + (r + l) * stride + c, 16);
      f64x2_transpose(v);
      SIMD_UNROLL
      for (int l = 0; l < 2; l++) memcpy(y + (c + l) * 8 + r, &v[l], 16);
    }
  }
}

static inline void block_wide(const Wide *x, int64_t stride, Wide *y) {
  for (int r = 0; r < 4; r++) {
    for (int c = 0; c < 4; c++) y[c * 4 + r] = x[r * stride + c];
  }
}

/* Pixels of three channels, to three planes and back: a vector holds a pixel and one element of the next. The
 * remaining pixels at the end, where that element may not exist, are left to the caller; the functions return
 * the number of pixels done. */
static int64_t planes_of_pixels(const uint32_t *x, int64_t pixels, uint32_t *y, int64_t plane) {
  int64_t i = 0;
  for (; i + 5 <= pixels; i += 4) {
    f32x4 v[4];
    SIMD_UNROLL
    for (int l = 0; l < 4; l++) memcpy(&v[l], x + 3 * (i + l), 16);
    f32x4_transpose(v);
    SIMD_UNROLL
    for (int l = 0; l < 3; l++) memcpy(y + l * plane + i, &v[l], 16);
  }
  return i;
}

static int64_t pixels_of_planes(const uint32_t *x, int64_t plane, int64_t pixels, uint32_t *y) {
  int64_t i = 0;
  for (; i + 5 <= pixels; i += 4) {
    f32x4 v[4] = {{0}, {0}, {0}, {0}};
    SIMD_UNROLL
    for (int l = 0; l < 3; l++) memcpy(&v[l], x + l * plane + i, 16);
    f32x4_transpose(v);
    SIMD_UNROLL
    for (int l = 0; l < 4; l++) memcpy(y + 3 * (i + l), &v[l], 16);
  }
  return i;
}

#include "simd/types/u8.inc"
#include "blas/transpose_tile.inc"
#include "simd/types/end.inc"

#include "simd/types/u16.inc"
#include "blas/transpose_tile.inc"
#include "simd/types/end.inc"

#define FOURS fours_u32
#include "simd/types/u32.inc"
#include "blas/transpose_tile.inc"
#include "simd/types/end.inc"
#undef FOURS

#include "simd/types/u64.inc"
#include "blas/transpose_tile.inc"
#include "simd/types/end.inc"

#define T Wide
#define NAME(op) op##_wide
#include "blas/transpose_tile.inc"
#include "simd/types/end.inc"

static void transpose_pixels(const void *from, int64_t x_stride, int64_t rows, int64_t columns, void *to,
                             int64_t y_stride) {
  const uint32_t *x = from;
  uint32_t *y = to;
  int64_t done;
  if (columns == 3 && x_stride == 3) {
    done = planes_of_pixels(x, rows, y, y_stride);
    transpose_u32(x + 3 * done, x_stride, rows - done, columns, y + done, y_stride);
  } else if (rows == 3 && y_stride == 3) {
    done = pixels_of_planes(x, x_stride, columns, y);
    transpose_u32(x + done, x_stride, rows, columns - done, y + 3 * done, y_stride);
  } else {
    transpose_u32(x, x_stride, rows, columns, y, y_stride);
  }
}

typedef void TransposeMatrix(const void *x, int64_t x_stride, int64_t rows, int64_t columns, void *y,
                             int64_t y_stride);

static TransposeMatrix *matrix_function(int element_size) {
  switch (element_size) {
    case 1: return transpose_u8;
    case 2: return transpose_u16;
    case 4: return transpose_pixels;
    case 8: return transpose_u64;
    default: return transpose_wide;
  }
}

/* A permutation as loops around copies of runs, small matrices whose elements are runs, or large matrices.
 * Axes are in y's order; strides count elements. */
typedef struct Plan {
  int rank;
  int64_t dims[TRANSPOSE_MAX_AXES], x_strides[TRANSPOSE_MAX_AXES], y_strides[TRANSPOSE_MAX_AXES];
  int size;    /* element size in bytes */
  int64_t run; /* elements that stay together; 0 for large matrices */
  int64_t rows, columns, x_row,
      y_column;            /* the matrix: x[r * x_row + c * run] to y[c * y_column + r * run] */
  int64_t strip, strips;   /* a work item is a strip of that many rows */
  TransposeMatrix *matrix; /* of a large matrix; NULL when `moves` are those of small ones */
  ByteMoves moves;
  const char *x;
  char *y;
} Plan;

/* Steps along the last axis: `count` runs or small matrices, or a strip of a matrix. */
static void do_items(const Plan *plan, const char *from, char *to, int64_t count, int64_t strip) {
  if (plan->run == 0) {
    int64_t row = strip * plan->strip, rows = plan->rows - row < plan->strip ? plan->rows - row : plan->strip;
    plan->matrix(from + row * plan->x_row * plan->size, plan->x_row, rows, plan->columns,
                 to + row * plan->size, plan->y_column);
    return;
  }
  int64_t from_step = 0, to_step = 0;
  if (plan->rank > 0)
    from_step = plan->x_strides[plan->rank - 1] * plan->size,
    to_step = plan->y_strides[plan->rank - 1] * plan->size;
  if (plan->matrix) copy_rows(to, to_step, from, from_step, plan->run * plan->size, count);
  else byte_moves_run(&plan->moves, from, from_step, to, to_step, count);
}

static void plan_body(void *arg, int64_t begin, int64_t end) {
  const Plan *plan = arg;
  int64_t index[TRANSPOSE_MAX_AXES], strip = begin % plan->strips;
  int last = plan->rank - 1;
  Odometer o = {.rank = plan->rank,
                .dims = plan->dims,
                .strides = {plan->x_strides, plan->y_strides},
                .index = index};
  odometer_seek(&o, 2, begin / plan->strips);
  for (int64_t item = begin, count; item < end; item += count) {
    count = plan->run > 0 && last >= 0 ? plan->dims[last] - index[last] : 1;
    if (count > end - item) count = end - item;
    do_items(plan, plan->x + o.at[0] * plan->size, plan->y + o.at[1] * plan->size, count, strip);
    if (++strip < plan->strips) continue;
    strip = 0;
    odometer_advance(&o, 2, count);
  }
}

/* Drops axes of size 1 and merges axes that stay adjacent. Writes the rest in y's order; -1 when there are
 * too many. */
static int collapse(int rank, const int64_t *dims, const int32_t *perm, int64_t *sizes, int64_t *strides) {
  int left = 0;
  for (int d = 0; d < rank; d++) {
    int axis = perm[d];
    if (dims[axis] == 1) continue;
    int64_t stride = 1;
    for (int i = axis + 1; i < rank; i++) stride *= dims[i];
    if (left > 0 && strides[left - 1] == stride * dims[axis]) {
      sizes[left - 1] *= dims[axis];
      strides[left - 1] = stride;
    } else {
      if (left == TRANSPOSE_MAX_AXES) return -1;
      sizes[left] = dims[axis];
      strides[left++] = stride;
    }
  }
  return left;
}

static void remove_axis(Plan *plan, int axis) {
  for (int d = axis; d + 1 < plan->rank; d++) {
    plan->dims[d] = plan->dims[d + 1];
    plan->x_strides[d] = plan->x_strides[d + 1];
    plan->y_strides[d] = plan->y_strides[d + 1];
  }
  plan->rank--;
}

/* Finds the matrix of runs whose rows are contiguous in x, and its columns in y. Returns the axis of its
 * columns. */
static int find_matrix(Plan *plan) {
  int last = plan->rank - 1, contiguous = 0;
  while (plan->x_strides[contiguous] != plan->run) contiguous++;
  plan->rows = plan->dims[last], plan->x_row = plan->x_strides[last];
  plan->columns = plan->dims[contiguous], plan->y_column = plan->y_strides[contiguous];
  return contiguous;
}

/* Whether transpose_pixels has vectors of elements, which take fewer instructions than their bytes. */
static bool has_vectors(const Plan *plan) {
  return (plan->rows >= 4 && plan->columns >= 4) || (plan->columns == 3 && plan->x_row == 3) ||
         (plan->rows == 3 && plan->y_column == 3);
}

enum { MANY_MATRICES = 64, SMALL_MATRIX = 8192 };

/* Whether the matrices that find_matrix found are small and so many that planning their moves is worth it. */
static bool plan_moves(Plan *plan, int64_t total) {
  int64_t run = plan->run, matrix = plan->rows * plan->columns * run, bytes = matrix * plan->size;
  if (!SIMD_PICKS_BYTES || total / matrix < MANY_MATRICES || bytes > SMALL_MATRIX || run * plan->size > 16)
    return false;
  if (plan->size == 4 && run == 1 && bytes > 64 && has_vectors(plan)) return false;
  ByteMatrix m = {run * plan->size, plan->rows, plan->columns, plan->x_row / run, plan->y_column / run};
  return byte_moves_plan(&m, &plan->moves);
}

bool transpose(int element_size, int rank, const int64_t *dims, const int32_t *perm, const void *x, void *y,
               const Parallel *parallel) {
  Plan plan;
  plan.size = element_size, plan.matrix = matrix_function(element_size), plan.strips = 1, plan.x = x,
  plan.y = y;
  int64_t total = 1;
  for (int d = 0; d < rank; d++) total *= dims[d];
  if (total == 0) return true;
  plan.rank = collapse(rank, dims, perm, plan.dims, plan.x_strides);
  if (plan.rank < 0) return false;
  int64_t stride = 1;
  for (int d = plan.rank - 1; d >= 0; d--) {
    plan.y_strides[d] = stride;
    stride *= plan.dims[d];
  }
  double work;
  plan.run = 1;
  if (plan.rank > 0 && plan.x_strides[plan.rank - 1] == 1) plan.run = plan.dims[--plan.rank];
  int contiguous = plan.rank > 0 ? find_matrix(&plan) : 0;
  if (plan.rank > 0 && plan_moves(&plan, total)) {
    plan.matrix = NULL;
    plan.rank--;
    remove_axis(&plan, contiguous);
    work = byte_moves_work(&plan.moves);
  } else if (plan.rank == 0 || plan.run > 1) {
    work = copy_work(plan.run * plan.size);
  } else {
    plan.run = 0;
    plan.rank--;
    remove_axis(&plan, contiguous);
    plan.strip = plan.columns < 16 ? 1024 : 64;
    plan.strips = plan.rows / plan.strip + (plan.rows % plan.strip != 0);
    work = (double)(plan.columns * (plan.rows < plan.strip ? plan.rows : plan.strip));
    if (element_size == 4 && has_vectors(&plan)) work /= 4;
  }
  int64_t items = plan.strips;
  for (int d = 0; d < plan.rank; d++) items *= plan.dims[d];
  parallel_work(parallel, items, work, plan_body, &plan);
  return true;
}
