/* The input "paddings" of ops that put borders around tensors: a row of two numbers, before and after, for
 * each axis. */
#ifndef TFCORE_OPS_ARRAY_PADDINGS_H_
#define TFCORE_OPS_ARRAY_PADDINGS_H_

#include "op/op_registry.h"

/* There is a row for each axis of `input`. `separator` stands between the two shapes of the message, which
 * ops write differently. */
MUST_CHECK bool paddings_check(const Tensor *input, const Tensor *paddings, const char *separator,
                               Status *status);

/* Shape functions, of inputs 0 and 1: with the borders, and without. */
bool paddings_shape(InferenceContext *c, Status *status);
bool paddings_grad_shape(InferenceContext *c, Status *status);

#endif
