/* Gradient texts for ops of real and complex numbers.
 *
 * Where f has a complex derivative, TensorFlow's gradient is dy * conj(f'(x)), and for the functions here
 * that is dy * f'(conj(x)). So one text serves for both kinds of numbers: "~x" stands for the conjugate of
 * the argument x.
 *
 *   "LogGradient[T:type](x:T, dy:T) -> (dx:T) {\n"
 *   "  dx = RealDiv[T=$T](dy, ~x)\n"
 *   "  return dx = dx:z:0\n"
 *   "}\n"
 */
#ifndef TFCORE_OPS_SUPPORT_CONJUGATE_H_
#define TFCORE_OPS_SUPPORT_CONJUGATE_H_

#include "op/op_registry.h"

/* Appends the text for the node's T: for a real T, ~x is x, without a node. The first line must be the head,
 * and at most four arguments may be marked. */
MUST_CHECK bool conjugate_text(const GradientRequest *request, const char *text, StrBuf *out, Status *status);

/* A GradientFn that writes that text. */
#define CONJUGATE_GRADIENT(name, ...)                                              \
  static bool name(const GradientRequest *request, StrBuf *text, Status *status) { \
    return conjugate_text(request, __VA_ARGS__, text, status);                     \
  }

#endif
