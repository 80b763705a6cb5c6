/* What the ops on resource variables share: finding the variables behind handles, and their shape
 * functions. */
#ifndef TFCORE_OPS_SUPPORT_VARIABLE_ACCESS_H_
#define TFCORE_OPS_SUPPORT_VARIABLE_ACCESS_H_

#include "op/op_registry.h"

/* The variable behind input `i`, which must hold a value of `dtype`; FAILED_PRECONDITION when it was not
 * initialised. */
MUST_CHECK bool initialized_variable(const KernelContext *context, int i, DataType dtype, Variable **variable,
                                     Status *status);
/* Its name, for messages. */
const char *variable_name(const KernelContext *context, int i);
/* A whole kernel: whether the variable of input 0 has a value. */
MUST_CHECK bool variable_is_initialized(KernelContext *context, Status *status);

/* The shape and dtype that the handle in input `i` refers to: unknown and DT_INVALID when that is not
 * known. */
MUST_CHECK bool variable_shape_and_type(InferenceContext *c, int i, ShapeAndType *out, Status *status);

#endif
