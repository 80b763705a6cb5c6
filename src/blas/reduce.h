/* Reductions of arrays of any rank over any axes, on raw pointers.
 *
 *   int64_t dims[3] = {32, 28, 10};
 *   bool reduced[3] = {true, false, true};                          // result has shape [28]
 *   int64_t size = reduce_workspace(3, dims, reduced, sizeof(float));
 *   reduce_f32(REDUCE_SUM, 3, dims, reduced, x, y, parallel, workspace);
 *
 * The data is row-major and dense. y is overwritten and must not overlap x. Over no elements, the sum is 0,
 * the product 1, the maximum the lowest value of the type (-infinity for floats), the minimum the highest,
 * the mean NaN (0 for integers). Maximum and minimum are NaN if any element is NaN. Integer sums and products
 * wrap around; an integer mean is the wrapped sum divided by the count, truncated.
 *
 * Floats are summed in blocks, so that the error grows with the logarithm of the count rather than with the
 * count; the order depends only on the shape.
 */
#ifndef TFCORE_BLAS_REDUCE_H_
#define TFCORE_BLAS_REDUCE_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/parallel.h"

/* A row of floats with a multiple of REDUCE_VECTORS vectors of 16 bytes, and at most REDUCE_LINE elements, is
 * summed in this order: vector i is added to sum i % REDUCE_VECTORS of so many, from the first vector to the
 * last; then sums i and i + 4, i and i + 2, and i and i + 1 are added; then the elements of the vector from
 * its first to its last. */
enum { REDUCE_LINE = 1024, REDUCE_VECTORS = 8 };

typedef enum ReduceKind { REDUCE_SUM, REDUCE_MEAN, REDUCE_PROD, REDUCE_MAX, REDUCE_MIN } ReduceKind;

/* The workspace in bytes (64-byte aligned; may be 0): intermediate results of reductions over axes that are
 * not adjacent. */
int64_t reduce_workspace(int rank, const int64_t *dims, const bool *reduced, size_t element_size);

void reduce_f32(ReduceKind kind, int rank, const int64_t *dims, const bool *reduced, const float *x, float *y,
                const Parallel *parallel, void *workspace);
void reduce_f64(ReduceKind kind, int rank, const int64_t *dims, const bool *reduced, const double *x,
                double *y, const Parallel *parallel, void *workspace);
void reduce_i32(ReduceKind kind, int rank, const int64_t *dims, const bool *reduced, const int32_t *x,
                int32_t *y, const Parallel *parallel, void *workspace);
void reduce_i64(ReduceKind kind, int rank, const int64_t *dims, const bool *reduced, const int64_t *x,
                int64_t *y, const Parallel *parallel, void *workspace);

/* The same for the rows of a matrix, y[i] for row i. No workspace. */
void reduce_rows_f32(ReduceKind kind, int64_t rows, int64_t length, const float *x, float *y,
                     const Parallel *parallel);
void reduce_rows_f64(ReduceKind kind, int64_t rows, int64_t length, const double *x, double *y,
                     const Parallel *parallel);
/* The same for one row, with little work for the call. */
float reduce_row_f32(ReduceKind kind, int64_t length, const float *x);
double reduce_row_f64(ReduceKind kind, int64_t length, const double *x);

#endif
