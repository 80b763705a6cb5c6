/* Matrix multiplication on raw pointers: C = epilogue(activation(op(A) * op(B) [+ C] [+ bias])).
 *
 *   GemmArgs args = {.m = 64, .n = 10, .k = 128, .a = x, .lda = 128, .b = w, .ldb = 10, .c = y, .ldc = 10};
 *   int64_t size = gemm_f32.workspace(&args);
 *   void *workspace = size ? mem_alloc(size) : NULL;
 *   gemm_f32.run(&args, parallel, workspace);
 *
 * Matrices are row-major: element (i, j) of C is c[i * ldc + j]. op(A) is m x k and stored as m rows of lda
 * elements, or, with transpose_a, as k rows of lda elements; op(B) is k x n, or with transpose_b stored as n
 * x k. A stride is at least the length of its rows. Any size may be 0: with k = 0 the product is zero. C must
 * not overlap the inputs or the bias. No products are skipped: 0 * infinity gives NaN.
 *
 * Every element is summed in an order that depends only on m, n, k and the flags: results do not depend on
 * the number of threads or the strides.
 *
 * How it works: A and B are copied into panels that the inner loop reads from front to back
 * (gemm_packed.inc); where a matrix is used too seldom to pay for its copy (few rows or columns), loops
 * without copies run (gemm_direct.inc). A single row reads a B that is packed for
 * it (gemm_row.inc).
 */
#ifndef TFCORE_BLAS_GEMM_H_
#define TFCORE_BLAS_GEMM_H_

#include <stdbool.h>
#include <stdint.h>

#include "base/parallel.h"
#include "base/work_stop.h"

/* max(x, 0), for GEMM_RELU6 min(max(x, 0), 6); both keep NaN. */
typedef enum GemmActivation { GEMM_NONE, GEMM_RELU, GEMM_RELU6 } GemmActivation;

/* Further arithmetic on results, which the thread that has completed a block of C does while the block is in
 * its cache. */
typedef struct GemmEpilogue {
  /* `rows` x `columns` elements from `c` on, in place; their rows are as far apart as those of C. With the
   * bias and the activation. Called once for each element, on several threads. */
  void (*run)(const void *arg, void *c, int64_t rows, int64_t columns);
  const void *arg;
  double work; /* of an element: base/parallel.h */
} GemmEpilogue;

/* Pointers are to elements of the GemmType's type; strides count elements. */
typedef struct GemmArgs {
  int64_t m, n, k;
  bool transpose_a, transpose_b;
  const void *a;
  int64_t lda;
  const void *b; /* ignored when packed_b or row_b is given */
  int64_t ldb;
  void *c;
  int64_t ldc;
  bool accumulate;  /* add to C; otherwise C is only written */
  const void *bias; /* n elements, added to every row; or NULL */
  GemmActivation activation;
  const GemmEpilogue *epilogue; /* or NULL; of gemm_f32 and gemm_f64 */
  const void *packed_b;         /* op(B) as pack_b left it, for the same n, k; or NULL */
  const void *row_b;            /* op(B) as pack_row_b left it, for the same n, k, if m is 1; or NULL */
  int threads; /* parallel_threads() of the `parallel` of run(), for a workspace that is no larger than these
                * need; or 0, for any number */
  /* If not NULL, A is not stored as a matrix. Instead this function computes rows [i, i + rows) of it from
   * `a`, in panels of `width` <= GEMM_MAX_ROWS rows (the last one of the remaining rows), one after the
   * other: panel[p * its rows + r] = A(its first row + r, p0 + p), p < depth. Called on several threads;
   * transpose_a and lda are ignored. */
  void (*pack_a)(const void *a, int64_t i, int64_t rows, int width, int64_t p0, int64_t depth, void *panels);
} GemmArgs;

enum { GEMM_MAX_ROWS = 6 };

/* The product for one element type. */
typedef struct GemmType {
  /* The size of `workspace` for `run` in bytes (64-byte aligned; its contents are undefined before and
   * after). If it is 0, NULL is allowed. At most a few megabytes for any shape. Depends on the sizes, the
   * transposes, the threads and on whether packed_b and row_b are given. */
  int64_t (*workspace)(const GemmArgs *args);
  void (*run)(const GemmArgs *args, const Parallel *parallel, void *workspace);
  /* Packs a B that many products share, such as constant weights, to save the copy in each product.
   * packed_b_size is in bytes; -1 when it exceeds int64. */
  int64_t (*packed_b_size)(int64_t k, int64_t n);
  /* Reads args->{n, k, transpose_b, b, ldb}. `packed` must be 64-byte aligned. */
  void (*pack_b)(const GemmArgs *args, const Parallel *parallel, void *packed);
  /* The same for rows [p, p + args->k) of an op(B) with k rows, of which `args` describes these. */
  void (*pack_b_rows)(const GemmArgs *args, int64_t k, int64_t p, void *packed);
  /* The place of element (p, j) of op(B) in the packed form, counted in elements, for those that compute B.
   * The other columns of the same vector follow. */
  int64_t (*packed_b_place)(int64_t k, int64_t n, int64_t p, int64_t j);
  /* The same two for products of a single row, whose B has an order of its own; NULL except for gemm_f32. */
  int64_t (*row_b_size)(int64_t k, int64_t n);
  void (*pack_row_b)(const GemmArgs *args, const Parallel *parallel, void *packed);
  /* For threads that divide a product themselves, with row_b if m is 1, else with packed_b: the number of
   * groups of its columns, the first column of a group (n for the one after the last), the product for groups
   * [begin, end), without an epilogue, and the work of the whole one (base/parallel.h) if B is in a cache. k
   * is at least 1, and A is stored as m rows, of which there are few. NULL where these are. */
  int64_t (*column_groups)(const GemmArgs *args);
  int64_t (*group_column)(const GemmArgs *args, int64_t group);
  void (*run_column_groups)(const GemmArgs *args, int64_t begin, int64_t end);
  double (*column_groups_work)(const GemmArgs *args);
} GemmType;

extern const GemmType gemm_f32, gemm_f64;
/* Integers wrap around on overflow, as in TensorFlow. No workspace and no packed form: packed_b must be NULL,
 * and the functions for it are NULL. */
extern const GemmType gemm_i32, gemm_i64;

#endif
