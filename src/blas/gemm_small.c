#include "blas/gemm_small.h"

#include "simd/simd.h"

bool gemm_is_small(const GemmArgs *args) {
  enum { MOST = GEMM_SMALL_ELEMENTS };
  int64_t m = args->m, n = args->n, k = args->k;
  return m <= MOST && n <= MOST && k <= MOST && m * n <= MOST && m * k <= MOST && k * n <= MOST;
}

/* to[i * columns + j]: element (i, j) of the matrices at `from` + at[...], a lane for each. */
SIMD_INLINE void take_small(const float *from, const int64_t *at, int rows, int columns, int64_t row,
                            int64_t column, f32x4 *to) {
  const float *lane[GEMM_SMALL_LANES];
  for (int l = 0; l < GEMM_SMALL_LANES; l++) lane[l] = from + at[l];
  for (int i = 0; i < rows; i++) {
    for (int j = 0; j < columns; j++) {
      int64_t place = i * row + j * column;
      *to++ = (f32x4){lane[0][place], lane[1][place], lane[2][place], lane[3][place]};
    }
  }
}

void gemm_small_f32(const GemmArgs *args, const int64_t *at_a, const int64_t *at_b, const int64_t *at_c) {
  f32x4 a[GEMM_SMALL_ELEMENTS], b[GEMM_SMALL_ELEMENTS];
  int m = (int)args->m, n = (int)args->n, k = (int)args->k;
  take_small(args->a, at_a, m, k, args->transpose_a ? 1 : args->lda, args->transpose_a ? args->lda : 1, a);
  take_small(args->b, at_b, n, k, args->transpose_b ? args->ldb : 1, args->transpose_b ? 1 : args->ldb, b);
  float *to[GEMM_SMALL_LANES];
  for (int l = 0; l < GEMM_SMALL_LANES; l++) to[l] = (float *)args->c + at_c[l];
  for (int i = 0; i < m; i++) {
    for (int j = 0; j < n; j++) {
      const f32x4 *x = a + i * k, *y = b + j * k;
      f32x4 sum = f32x4_splat(0);
      for (int p = 0; p < k; p++) sum = f32x4_madd(x[p], y[p], sum);
      for (int l = 0; l < GEMM_SMALL_LANES; l++) to[l][i * args->ldc + j] = sum[l];
    }
  }
}
