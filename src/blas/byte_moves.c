#include "blas/byte_moves.h"

/* The inner loops go over matrices of this many bytes, which stay in the first-level cache. */
enum { NEAR_BYTES = 12 << 10 };

enum { VECTOR = 16, TILE_BYTES = 128, MAX_LOADS = 4 };

static int64_t at_most(int64_t a, int64_t b) { return a < b ? a : b; }

/* How many elements of `size` bytes fill whole vectors. */
static int64_t whole_vectors(int64_t size) {
  int64_t count = VECTOR;
  while (count > 1 && count / 2 * size % VECTOR == 0) count /= 2;
  return count;
}

/* Chooses the tiles: columns that lie one behind the other in y, or rows with all columns. */
static bool choose_tile(const ByteMatrix *m, ByteMoves *moves) {
  int64_t column = m->rows * m->size;
  if (m->y_column == m->rows && column <= TILE_BYTES) {
    int64_t even = whole_vectors(column), fit = at_most(TILE_BYTES / column, m->columns);
    moves->tile_rows = m->rows;
    moves->tile_columns = fit > even ? fit - fit % even : fit;
    return fit * column >= VECTOR;
  }
  moves->tile_rows = at_most(whole_vectors(m->size), m->rows);
  moves->tile_columns = m->columns;
  return moves->tile_rows * m->size >= VECTOR;
}

/* Where the 16 bytes from byte `i` of some columns on come from, counted from the tile's beginning in x. The
 * first of the columns is `column`. */
static void find_sources(const ByteMoves *m, int64_t column, int64_t i, int64_t sources[VECTOR]) {
  int64_t element = i / m->size, row = element % m->tile_rows, byte = i % m->size;
  column += element / m->tile_rows;
  for (int k = 0; k < VECTOR; k++) {
    sources[k] = row * m->x_row + column * m->size + byte;
    if (++byte < m->size) continue;
    byte = 0;
    if (++row < m->tile_rows) continue;
    row = 0, column++;
  }
}

/* Plans the loads that give a vector its bytes. None begins behind byte `last` of the tile. False if they are
 * not enough. */
static bool plan_loads(const int64_t sources[VECTOR], int64_t last, int loads, int32_t *from, u8x16 *places) {
  unsigned left = 0xFFFF;
  for (int l = 0; l < loads; l++) {
    int64_t start = last;
    for (int k = 0; k < VECTOR; k++) {
      if (left >> k & 1) start = at_most(start, sources[k]);
    }
    from[l] = (int32_t)start;
    for (int k = 0; k < VECTOR; k++) {
      bool found = left >> k & 1 && sources[k] < start + VECTOR;
      places[l][k] = found ? (uint8_t)(sources[k] - start) : 255;
      if (found) left &= ~(1u << k);
    }
  }
  return left == 0;
}

/* Plans a tile in which each vector is put together from `loads` others. */
static bool plan_tile(ByteMoves *m, int loads) {
  bool joined = m->y_column == m->tile_rows * m->size;
  int64_t last = (m->tile_rows - 1) * m->x_row + m->tile_columns * m->size - VECTOR, sources[VECTOR];
  int64_t piece = m->tile_rows * m->size * (joined ? m->tile_columns : 1);
  m->stores = 0, m->loads = loads;
  if (last > INT32_MAX || m->tile_columns * m->y_column > INT32_MAX) return false;
  for (int64_t column = 0; column < m->tile_columns; column += joined ? m->tile_columns : 1) {
    for (int64_t i = 0; i < piece; i += VECTOR) {
      int64_t start = at_most(i, piece - VECTOR);
      int at = m->stores * loads;
      if (m->stores == BYTE_MOVES_STORES || at + loads > BYTE_MOVES_LOADS) return false;
      find_sources(m, column, start, sources);
      if (!plan_loads(sources, last, loads, m->from + at, m->places + at)) return false;
      m->to[m->stores++] = (int32_t)(column * m->y_column + start);
    }
  }
  return true;
}

bool byte_moves_plan(const ByteMatrix *matrix, ByteMoves *moves) {
  if (!choose_tile(matrix, moves)) return false;
  moves->size = matrix->size, moves->rows = matrix->rows, moves->columns = matrix->columns;
  moves->x_row = matrix->x_row * matrix->size, moves->y_column = matrix->y_column * matrix->size;
  for (int loads = 1; loads <= MAX_LOADS; loads++) {
    if (plan_tile(moves, loads)) return true;
  }
  return false;
}

/* One vector of each of `count` tiles. */
SIMD_INLINE void move_vectors(const int32_t *from, const u8x16 *places, int loads, const char *x,
                              int64_t x_step, char *y, int64_t y_step, int64_t count) {
  for (; count > 0; count--, x += x_step, y += y_step) {
    u8x16 sum = {0}, part;
    SIMD_UNROLL
    for (int l = 0; l < loads; l++) {
      memcpy(&part, x + from[l], VECTOR);
      sum |= u8x16_pick(part, places[l]);
    }
    memcpy(y, &sum, VECTOR);
  }
}

static void move_tiles(const ByteMoves *m, const char *x, int64_t x_step, char *y, int64_t y_step,
                       int64_t count) {
  const int32_t *f = m->from;
  const u8x16 *p = m->places;
  int32_t from[MAX_LOADS];
  u8x16 places[MAX_LOADS];
  for (int s = 0; s < m->stores; s++, f += m->loads, p += m->loads) {
    char *to = y + m->to[s];
    for (int l = 0; l < m->loads; l++) from[l] = f[l], places[l] = p[l];
    switch (m->loads) {
      case 1: move_vectors(from, places, 1, x, x_step, to, y_step, count); break;
      case 2: move_vectors(from, places, 2, x, x_step, to, y_step, count); break;
      case 3: move_vectors(from, places, 3, x, x_step, to, y_step, count); break;
      default: move_vectors(from, places, 4, x, x_step, to, y_step, count); break;
    }
  }
}

void byte_moves_run(const ByteMoves *m, const char *x, int64_t x_step, char *y, int64_t y_step,
                    int64_t count) {
  int64_t some = NEAR_BYTES / (m->rows * m->columns * m->size) + 1;
  for (; count > 0; count -= some, x += some * x_step, y += some * y_step) {
    for (int64_t r = 0; r < m->rows; r += m->tile_rows) {
      int64_t row = at_most(r, m->rows - m->tile_rows);
      for (int64_t c = 0; c < m->columns; c += m->tile_columns) {
        int64_t column = at_most(c, m->columns - m->tile_columns);
        move_tiles(m, x + row * m->x_row + column * m->size, x_step, y + column * m->y_column + row * m->size,
                   y_step, at_most(some, count));
      }
    }
  }
}

double byte_moves_work(const ByteMoves *m) {
  int64_t tiles = ((m->rows - 1) / m->tile_rows + 1) * ((m->columns - 1) / m->tile_columns + 1);
  return (double)(tiles * m->stores * (1 + m->loads)) / 2;
}
