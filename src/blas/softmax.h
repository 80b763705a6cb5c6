/* Softmax over the rows of a matrix, and the cross-entropy losses built on it. Matrices are dense, rows x
 * columns; outputs may be the input itself, but must not overlap it otherwise.
 *
 * The largest logit of a row is subtracted first, so nothing overflows. A row with a NaN or +infinity, or
 * with -infinity only, gives NaN, as in TensorFlow.
 */
#ifndef TFCORE_BLAS_SOFTMAX_H_
#define TFCORE_BLAS_SOFTMAX_H_

#include <stdint.h>

#include "base/parallel.h"

/* y = exp(x) / sum(exp(x)) */
void softmax_f32(int64_t rows, int64_t columns, const float *x, float *y, const Parallel *parallel);
void softmax_f64(int64_t rows, int64_t columns, const double *x, double *y, const Parallel *parallel);

/* y = x - log(sum(exp(x))) */
void log_softmax_f32(int64_t rows, int64_t columns, const float *x, float *y, const Parallel *parallel);
void log_softmax_f64(int64_t rows, int64_t columns, const double *x, double *y, const Parallel *parallel);

/* loss[i] = -sum_j labels[i][j] * log_softmax(logits)[i][j]; NaN where a label of zero meets a
 * logit of minus infinity, as in TensorFlow.
 * backprop = softmax(logits) - labels. Every row of labels is a distribution. */
void softmax_cross_entropy_f32(int64_t rows, int64_t columns, const float *logits, const float *labels,
                               float *loss, float *backprop, const Parallel *parallel);
void softmax_cross_entropy_f64(int64_t rows, int64_t columns, const double *logits, const double *labels,
                               double *loss, double *backprop, const Parallel *parallel);

/* The same with one class per row: labels[i] in [0, columns). Another label gives NaN in the row's loss and
 * backprop. */
void sparse_softmax_cross_entropy_f32(int64_t rows, int64_t columns, const float *logits,
                                      const int64_t *labels, float *loss, float *backprop,
                                      const Parallel *parallel);
void sparse_softmax_cross_entropy_f64(int64_t rows, int64_t columns, const double *logits,
                                      const int64_t *labels, double *loss, double *backprop,
                                      const Parallel *parallel);

#endif
