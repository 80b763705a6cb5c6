/* What the ops on resource variables share: finding the variables behind handles, and their shape
 * functions. */
#ifndef TFCORE_OPS_SUPPORT_VARIABLE_ACCESS_H_
#define TFCORE_OPS_SUPPORT_VARIABLE_ACCESS_H_

#include "op/op_registry.h"

/* The variable behind input `i`, which must hold a value of `dtype`; FAILED_PRECONDITION when it was not
 * initialised. */
MUST_CHECK bool initialized_variable(const KernelContext *context, int i, DataType dtype, Variable **variable,
                                     Status *status);
/* The variable that an op changes, at input `i`: by reference where the op has an output, which is the same
 * reference, else by resource handle and as above. */
MUST_CHECK bool changed_variable(const KernelContext *context, int i, DataType dtype, Variable **variable,
                                 Status *status);
/* Ends such an op, whose reference is input 0. */
MUST_CHECK bool variable_changed(KernelContext *context, Status *status);
/* Its name, for messages. */
const char *variable_name(const KernelContext *context, int i);
/* A whole kernel: whether the variable of input 0 has a value. */
MUST_CHECK bool variable_is_initialized(KernelContext *context, Status *status);

/* The shape and dtype that the handle in input `i` refers to: unknown and DT_INVALID when that is not
 * known. */
MUST_CHECK bool variable_shape_and_type(InferenceContext *c, int i, ShapeAndType *out, Status *status);
/* The shape that the handle in input 0 refers to; INVALID_ARGUMENT when its dtype is known and not the node's
 * attr "dtype". */
MUST_CHECK bool variable_shape_of_dtype(InferenceContext *c, ShapeHandle *shape, Status *status);
/* The shape function of ops that combine the variable of input 0 with input 1. */
bool shape_assign_variable(InferenceContext *c, Status *status);

#endif
