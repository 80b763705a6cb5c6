#include "blas/byte_moves.h"

#include "base/alloc.h"
#include "blas/small_numbers.h"
#include "harness.h"

enum { GUARD = 170 };

/* Matrices inside of arrays that end with the last element: the sanitizers see what is read behind it. */
static bool check_moves(const ByteMatrix *m, int64_t count, int64_t x_gap, int64_t y_gap) {
  ByteMoves moves;
  if (!byte_moves_plan(m, &moves)) return false;
  CHECK_CONTEXT("%d matrices of %d x %d x %d bytes, rows of %d and %d", (int)count, (int)m->rows,
                (int)m->columns, (int)m->size, (int)m->x_row, (int)m->y_column);
  int64_t x_step = (m->rows * m->x_row + x_gap) * m->size,
          y_step = (m->columns * m->y_column + y_gap) * m->size;
  int64_t x_bytes = (count - 1) * x_step + ((m->rows - 1) * m->x_row + m->columns) * m->size;
  int64_t y_bytes = (count - 1) * y_step + ((m->columns - 1) * m->y_column + m->rows) * m->size;
  uint8_t *x = mem_alloc(x_bytes), *y = mem_alloc(y_bytes), *want = mem_alloc(y_bytes);
  for (int64_t i = 0; i < x_bytes; i++) x[i] = (uint8_t)((uint64_t)i * 2654435761u >> 13);
  memset(y, GUARD, (size_t)y_bytes), memset(want, GUARD, (size_t)y_bytes);
  for (int64_t i = 0; i < count; i++) {
    for (int64_t r = 0; r < m->rows; r++) {
      for (int64_t c = 0; c < m->columns; c++)
        memcpy(want + i * y_step + (c * m->y_column + r) * m->size,
               x + i * x_step + (r * m->x_row + c) * m->size, (size_t)m->size);
    }
  }
  byte_moves_run(&moves, (const char *)x, x_step, (char *)y, y_step, count);
  CHECK_MEM_EQ(y, want, (size_t)y_bytes);
  CHECK(byte_moves_work(&moves) > 0);
  mem_free(x), mem_free(y), mem_free(want);
  CHECK_CONTEXT("%s", "");
  return true;
}

TEST(byte_moves_transpose_small_matrices_of_all_elements) {
  int64_t planned = 0, all = 0;
  for (int64_t size = 1; size <= 16; size++) {
    for (int64_t rows = 1; rows <= 20; rows++) {
      for (int64_t columns = 1; columns <= 20; columns++) {
        ByteMatrix m = {size, rows, columns, columns, rows};
        bool done = check_moves(&m, 3, 0, 0);
        all++, planned += done;
        /* Vectors of 16 bytes fit, and each has bytes of at most three rows. */
        if (rows <= 3 && rows * size <= 128 && rows * columns * size >= 16) CHECK(done);
      }
    }
  }
  CHECK(planned > all / 4);
}

TEST(byte_moves_transpose_parts_of_arrays) {
  SmallNumbers random = {7};
  int64_t planned = 0;
  for (int i = 0; i < 4000; i++) {
    ByteMatrix m = {.size = 1 + small_number(&random, 16),
                    .rows = 1 + small_number(&random, !small_number(&random, 2) ? 4 : 70),
                    .columns = 1 + small_number(&random, !small_number(&random, 2) ? 4 : 70)};
    m.x_row = m.columns + (!small_number(&random, 2) ? small_number(&random, 30) : 0);
    m.y_column = m.rows + (!small_number(&random, 2) ? small_number(&random, 30) : 0);
    int64_t count = 1 + small_number(&random, !small_number(&random, 20) ? 300 : 4);
    planned += check_moves(&m, count, small_number(&random, 3), small_number(&random, 3));
  }
  CHECK(planned > 1000);
}
