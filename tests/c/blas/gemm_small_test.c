/* Lanes of small products compared with sums in double. */
#include "blas/gemm_small.h"

#include <math.h>

#include "base/alloc.h"
#include "blas/small_numbers.h"
#include "harness.h"

enum { LANES = GEMM_SMALL_LANES };

/* A matrix for each lane, one after the other, with `gap` unused elements after each row but the last. */
typedef struct Stack {
  int64_t stride, size; /* of rows, and of a matrix */
  float *data;
} Stack;

static Stack make_stack(SmallNumbers *numbers, int64_t rows, int64_t columns, int64_t gap) {
  Stack stack = {columns + gap, 0, NULL};
  stack.size = rows > 0 ? (rows - 1) * stack.stride + columns : 0;
  stack.data = mem_alloc(LANES * stack.size * (int64_t)sizeof(float));
  for (int64_t i = 0; i < LANES * stack.size; i++) {
    bool used = i % stack.size % stack.stride < columns;
    stack.data[i] = used ? (float)(small_number(numbers, 2001) - 1000) / 512 : (float)NAN;
  }
  return stack;
}

static double element(const Stack *stack, int lane, bool transposed, int64_t row, int64_t column) {
  return stack
      ->data[lane * stack->size + (transposed ? column * stack->stride + row : row * stack->stride + column)];
}

static void check_small(SmallNumbers *numbers, int m, int n, int k) {
  bool transpose_a = small_number(numbers, 2) != 0, transpose_b = small_number(numbers, 2) != 0;
  int gap = small_number(numbers, 3);
  CHECK_CONTEXT("%d %d %d, transposed %d %d, gap %d", m, n, k, transpose_a, transpose_b, gap);
  Stack a = make_stack(numbers, transpose_a ? k : m, transpose_a ? m : k, gap);
  Stack b = make_stack(numbers, transpose_b ? n : k, transpose_b ? k : n, gap);
  Stack c = make_stack(numbers, m, n, gap);
  GemmArgs args = {.m = m,
                   .n = n,
                   .k = k,
                   .transpose_a = transpose_a,
                   .transpose_b = transpose_b,
                   .a = a.data,
                   .lda = a.stride,
                   .b = b.data,
                   .ldb = b.stride,
                   .c = c.data,
                   .ldc = c.stride};
  if (CHECK(gemm_is_small(&args))) {
    /* B is shared, and the last lane may repeat the one before it. */
    int last = small_number(numbers, 2) != 0 ? LANES - 1 : LANES - 2;
    int64_t at_a[LANES], at_b[LANES] = {0}, at_c[LANES];
    for (int l = 0; l < LANES; l++)
      at_a[l] = (l < last ? l : last) * a.size, at_c[l] = (l < last ? l : last) * c.size;
    gemm_small_f32(&args, at_a, at_b, at_c);
    for (int l = 0; l <= last; l++) {
      for (int64_t e = 0; e < m * n; e++) {
        double sum = 0, magnitude = 0;
        for (int p = 0; p < k; p++) {
          double term = element(&a, l, transpose_a, e / n, p) * element(&b, 0, transpose_b, p, e % n);
          sum += term, magnitude += fabs(term);
        }
        if (!CHECK_NEAR(element(&c, l, false, e / n, e % n), sum, (k + 1) * 0x1p-24 * magnitude)) break;
      }
    }
    for (int64_t i = 0; i < LANES * c.size; i++) /* what lies between rows is not written */
      if (i % c.size % c.stride >= n && !CHECK(isnan(c.data[i]))) break;
  }
  mem_free(a.data), mem_free(b.data), mem_free(c.data);
}

TEST(small_products_in_lanes) {
  SmallNumbers numbers = {3};
  for (int m = 1; m <= 8; m++)
    for (int n = 1; n <= 8; n++)
      for (int k = 0; k <= 8; k++) check_small(&numbers, m, n, k);
  check_small(&numbers, 1, 1, GEMM_SMALL_ELEMENTS);
  check_small(&numbers, 1, GEMM_SMALL_ELEMENTS, 1);
  check_small(&numbers, GEMM_SMALL_ELEMENTS, 1, 1);
  check_small(&numbers, 2, 3, 21);
  CHECK_CONTEXT("%s", "");
}

TEST(products_of_which_any_matrix_is_large_are_not_small) {
  static const int64_t kSizes[][3] = {{8, 9, 1},         {8, 1, 9},
                                      {1, 8, 9},         {9, 9, 0},
                                      {1, 1, 65},        {65, 1, 0},
                                      {INT64_MAX, 0, 0}, {INT64_MAX, INT64_MAX, INT64_MAX}};
  for (size_t i = 0; i < sizeof kSizes / sizeof *kSizes; i++) {
    GemmArgs args = {.m = kSizes[i][0], .n = kSizes[i][1], .k = kSizes[i][2]};
    CHECK(!gemm_is_small(&args));
  }
}
