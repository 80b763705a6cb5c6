/* The gradient of Einsum, in the words of Einsum.
 *
 * For z = x y, dx sums dz conj(y) to the labels of x. Labels that only x has take the gradient's value
 * repeated: a factor of ones. Axes of an ellipsis along which x was broadcast are summed.
 */
#ifndef TFCORE_OPS_MATH_EINSUM_GRADIENT_H_
#define TFCORE_OPS_MATH_EINSUM_GRADIENT_H_

#include "op/op_registry.h"

/* A GradientFn. UNIMPLEMENTED for equations with more than 52 labels. */
bool einsum_gradient(const GradientRequest *request, StrBuf *text, Status *status);

#endif
