/* Add for strings. */
#ifndef TFCORE_OPS_MATH_STRING_ADD_H_
#define TFCORE_OPS_MATH_STRING_ADD_H_

#include "ops/support/broadcast.h"

/* A kernel: concatenates the strings of inputs 0 and 1; shapes broadcast. */
MUST_CHECK bool add_string(KernelContext *context, Status *status);

#endif
