/* Matrix multiplication on raw pointers: C = activation(op(A) * op(B) [+ C] [+ bias]).
 *
 *   GemmArgs args = {.m = 64, .n = 10, .k = 128, .a = x, .lda = 128, .b = w, .ldb = 10, .c = y, .ldc = 10};
 *   int64_t size = gemm_f32.workspace(&args);
 *   void *workspace = size ? mem_alloc(size) : NULL;
 *   gemm_f32.run(&args, parallel, workspace);
 *
 * Matrices are row-major: element (i, j) of C stands at c[i * ldc + j]. op(A) is m x k and stands as m rows
 * of lda elements, or, with transpose_a, as k rows of lda elements; op(B) is k x n, or with transpose_b
 * stored as n x k. A stride is at least the length of its rows. Any size may be 0: with k = 0 the product is
 * zero. C overlaps neither input nor bias. Nothing is skipped: 0 * infinity gives NaN.
 *
 * Every element is summed in an order that depends on m, n, k and the flags alone: the number of threads and
 * the strides do not change a bit of it.
 *
 * How it works: A and B are copied into panels that the inner loop reads from front to back
 * (gemm_packed.inc); where a matrix is used too seldom to pay for its copy (few rows or columns), loops
 * without copies run (gemm_direct.inc).
 */
#ifndef TFCORE_BLAS_GEMM_H_
#define TFCORE_BLAS_GEMM_H_

#include <stdbool.h>
#include <stdint.h>

#include "base/parallel.h"

typedef enum GemmActivation { GEMM_NONE, GEMM_RELU /* max(x, 0); keeps NaN */ } GemmActivation;

/* Pointers are to elements of the GemmType's type; strides count elements. */
typedef struct GemmArgs {
  int64_t m, n, k;
  bool transpose_a, transpose_b;
  const void *a;
  int64_t lda;
  const void *b; /* ignored when packed_b is given */
  int64_t ldb;
  void *c;
  int64_t ldc;
  bool accumulate;  /* adds to what C holds; otherwise C is only written */
  const void *bias; /* n elements, added to every row; or NULL */
  GemmActivation activation;
  const void *packed_b; /* op(B) as pack_b left it, for the same n, k; or NULL */
  /* Not NULL: A stands nowhere as a matrix. Instead this writes rows [i, i + rows) of it from what `a` points
   * to, in panels of `width` <= GEMM_MAX_ROWS rows, the last one of those that are left: panel[p * its rows +
   * r] = A(its first row + r, p0 + p), p < depth, and the next panel follows. Runs on several threads;
   * transpose_a and lda are not looked at. */
  void (*pack_a)(const void *a, int64_t i, int64_t rows, int width, int64_t p0, int64_t depth, void *panels);
} GemmArgs;

enum { GEMM_MAX_ROWS = 6 };

/* The product for one type of elements. */
typedef struct GemmType {
  /* Bytes that `workspace` of `run` must hold (64-byte aligned; contents do not matter before or after). May
   * be 0: then NULL will do. Bounded by a few megabytes for any shape. Depends on the sizes, the transposes
   * and on whether packed_b is given. */
  int64_t (*workspace)(const GemmArgs *args);
  void (*run)(const GemmArgs *args, const Parallel *parallel, void *workspace);
  /* Packing once a B that many products share, such as weights that never change: saves the copy in each
   * product. The size in bytes of the packed form; -1 when it does not fit 63 bits. */
  int64_t (*packed_b_size)(int64_t k, int64_t n);
  /* Reads args->{n, k, transpose_b, b, ldb}. `packed` is 64-byte aligned. */
  void (*pack_b)(const GemmArgs *args, const Parallel *parallel, void *packed);
} GemmType;

extern const GemmType gemm_f32, gemm_f64;
/* Integers wrap around on overflow, as in TensorFlow. No workspace; there is no packed form: packed_b must be
 * NULL, and so are the functions for it. */
extern const GemmType gemm_i32, gemm_i64;

#endif
