/* Add of strings. */
#ifndef TFCORE_OPS_MATH_STRING_ADD_H_
#define TFCORE_OPS_MATH_STRING_ADD_H_

#include "ops/support/broadcast.h"

/* A kernel: each output is a string of input 0 followed by one of input 1; shapes broadcast. */
MUST_CHECK bool add_string(KernelContext *context, Status *status);

#endif
