/* The input "paddings" of padding ops: a row of two numbers, before and after, for each axis. */
#ifndef TFCORE_OPS_ARRAY_PADDINGS_H_
#define TFCORE_OPS_ARRAY_PADDINGS_H_

#include "op/op_registry.h"

/* Checks that there is a row for each axis of `input`. `separator` is the text between the two shapes of the
 * message, which differs between ops. */
MUST_CHECK bool paddings_check(const Tensor *input, const Tensor *paddings, const char *separator,
                               Status *status);

/* Shape functions of inputs 0 and 1: of padding, and of its inverse. */
bool paddings_shape(InferenceContext *c, Status *status);
bool paddings_grad_shape(InferenceContext *c, Status *status);

#endif
