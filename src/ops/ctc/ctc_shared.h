/* Shared by the ops of connectionist temporal classification. Inputs are [time, batch, classes]. */
#ifndef TFCORE_OPS_CTC_CTC_SHARED_H_
#define TFCORE_OPS_CTC_CTC_SHARED_H_

#include <math.h>

#include "op/kernel.h"

/* log(exp(a) + exp(b)); -infinity stands for a probability of 0. */
static inline double ctc_log_sum(double a, double b) {
  if (a == -INFINITY) return b;
  if (b == -INFINITY) return a;
  return a > b ? a + log1p(exp(b - a)) : b + log1p(exp(a - b));
}

/* Element `i` of a tensor of float or double. */
static inline double ctc_at(const Tensor *tensor, int64_t i) {
  return tensor->dtype == DT_FLOAT ? (double)tensor_f32(tensor)[i] : tensor_f64(tensor)[i];
}
static inline void ctc_put(Tensor *tensor, int64_t i, double value) {
  if (tensor->dtype == DT_FLOAT) tensor_f32(tensor)[i] = (float)value;
  else tensor_f64(tensor)[i] = value;
}

#endif
