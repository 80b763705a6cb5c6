/* Checks gradients by central differences, like TensorFlow's C++ ComputeGradientError: for tests of your own
 * ops, kernels and gradients. Experimental: structs may grow.
 *
 *   double error;
 *   TF_ComputeGradientError(graph, &y, 1, &x, 1, &x_value, NULL, &error, status);
 *   assert(TF_GetCode(status) == TF_OK && error < 1e-6);      // x and y of TF_DOUBLE
 */
#ifndef TFCORE_GRADIENT_CHECKER_H_
#define TFCORE_GRADIENT_CHECKER_H_

#include "tensorflow/c/c_api.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { TF_MAX_GRADIENT_CHECK_ORDER = 4 };

/* All zeros, or NULL instead: a new session, no other feeds, a step that suits the type. */
typedef struct TF_GradientCheckOptions {
  /* The session to use, for graphs whose variables were initialised there; borrowed. */
  TF_Session *session;
  /* Values of other placeholders; borrowed. */
  const TF_Output *feeds;
  TF_Tensor *const *feed_values;
  int num_feeds;
  /* The step of the differences; 0: 2^-17 for elements of x in double precision, 2^-7 in single precision. */
  double delta;
  /* 2: also the derivatives of the gradients, by the xs and by the incoming gradients of the ys; 3: also
   * those of these, and so on, to TF_MAX_GRADIENT_CHECK_ORDER. 0 is 1. */
  int order;
} TF_GradientCheckOptions;

/* Compares the derivatives of all elements of the ys by all elements of the xs, from the graph's gradients,
 * with (y(x + delta) - y(x - delta)) / 2 delta, and sets *max_error to the largest |gradient - difference| /
 * max(1, |difference|): at most about 1e-8 in double and 1e-3 in single precision if the gradient is correct
 * and x is not at a kink. NaN if a derivative is NaN.
 *
 * x_values[i], borrowed, is the point at which x[i] is checked; it is fed, so x[i] need not be a placeholder.
 * xs and ys are of TF_FLOAT, TF_DOUBLE, TF_COMPLEX64 or TF_COMPLEX128; the real and the imaginary part of a
 * complex number count as two elements, and the gradient is taken as TensorFlow defines it: dx = conj(f'(x))
 * * dy. An x without gradient counts as one with gradient zero. The check runs the graph once for each
 * element of the ys and twice for each element of the xs.
 *
 * It adds operations to the graph and removes them again, so no other thread may use the graph meanwhile.
 * INVALID_ARGUMENT for other types, for values that do not match their outputs, and if the ys have different
 * shapes in different runs; otherwise errors are those of TF_AddGradients and TF_SessionRun. On error
 * *max_error is unchanged.
 */
TF_CAPI_EXPORT extern void TF_ComputeGradientError(TF_Graph *graph, const TF_Output *y, int ny,
                                                   const TF_Output *x, int nx, TF_Tensor *const *x_values,
                                                   const TF_GradientCheckOptions *options, double *max_error,
                                                   TF_Status *status);

#ifdef __cplusplus
}
#endif

#endif
