/* Steps of optimisers, each in one pass over variable, slots and gradient, with the formulae of TensorFlow's training ops.
 * All arrays have `count` elements and do not overlap. Loops are elementwise: threads do not change results. */
#ifndef TFCORE_BLAS_UPDATE_H_
#define TFCORE_BLAS_UPDATE_H_

#include <stdbool.h>
#include <stdint.h>

#include "base/parallel.h"

/* var -= rate * grad */
void update_sgd_f32(int64_t count, float *var, const float *grad, float rate, const Parallel *parallel);
void update_sgd_f64(int64_t count, double *var, const double *grad, double rate, const Parallel *parallel);

/* accum = accum * momentum + grad; var -= rate * accum, or with Nesterov var -= rate * grad + rate * momentum * accum. */
void update_momentum_f32(int64_t count, float *var, float *accum, const float *grad, float rate, float momentum, bool nesterov,
                         const Parallel *parallel);
void update_momentum_f64(int64_t count, double *var, double *accum, const double *grad, double rate, double momentum,
                         bool nesterov, const Parallel *parallel);

/* The powers are those before this step's update of them: beta^t in step t = 1, 2, ...
 *   step = rate * sqrt(1 - beta2_power) / (1 - beta1_power)
 *   m += (grad - m) * (1 - beta1); v += (grad^2 - v) * (1 - beta2)
 *   var -= step * m / (sqrt(v) + epsilon), or with Nesterov step * (m * beta1 + (1 - beta1) * grad) / (sqrt(v) + epsilon) */
typedef struct AdamRates {
  double rate, beta1, beta2, beta1_power, beta2_power, epsilon;
  bool nesterov;
} AdamRates;
void update_adam_f32(int64_t count, float *var, float *m, float *v, const float *grad, const AdamRates *rates,
                     const Parallel *parallel);
void update_adam_f64(int64_t count, double *var, double *m, double *v, const double *grad, const AdamRates *rates,
                     const Parallel *parallel);

#endif
