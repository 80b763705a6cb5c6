/* Transposes many small matrices by picking bytes from vectors. This suits matrices of few rows or columns,
 * and elements of any size, such as the short runs that a permutation of axes keeps together.
 *
 *   ByteMoves moves;
 *   ByteMatrix matrix = {.size = 4, .rows = 2, .columns = 12, .x_row = 12, .y_column = 2};
 *   if (byte_moves_plan(&matrix, &moves)) byte_moves_run(&moves, x, 96, y, 96, count);
 *
 * A matrix is cut into equal tiles, the last of which may overlap those before. What is done with a tile is
 * the same for all of them, so it is planned once.
 */
#ifndef TFCORE_BLAS_BYTE_MOVES_H_
#define TFCORE_BLAS_BYTE_MOVES_H_

#include <stdbool.h>
#include <stdint.h>

#include "simd/simd.h"

/* x[r * x_row + c] goes to y[c * y_column + r]. An element has `size` bytes; all else counts elements. */
typedef struct ByteMatrix {
  int64_t size, rows, columns, x_row, y_column;
} ByteMatrix;

enum { BYTE_MOVES_STORES = 32, BYTE_MOVES_LOADS = 64 };

typedef struct ByteMoves {
  int64_t size, rows, columns, tile_rows, tile_columns;
  int64_t x_row, y_column; /* bytes */
  /* Of a tile: each vector that is stored is put together from `loads` vectors. */
  int stores, loads;
  int32_t to[BYTE_MOVES_STORES], from[BYTE_MOVES_LOADS];
  u8x16 places[BYTE_MOVES_LOADS];
} ByteMoves;

/* False if the matrix is too small for vectors, or if the bytes of one come from many places. */
bool byte_moves_plan(const ByteMatrix *matrix, ByteMoves *moves);
/* Transposes `count` matrices, which begin x_step and y_step bytes apart. Nothing before the first and behind
 * the last element of a matrix is read, and no other elements are written. x and y need no alignment. */
void byte_moves_run(const ByteMoves *moves, const char *x, int64_t x_step, char *y, int64_t y_step,
                    int64_t count);
/* How much work a matrix is, for base/parallel.h. */
double byte_moves_work(const ByteMoves *moves);

#endif
