/* Access to variables for ops: finding the variable of a handle, and shape functions. */
#ifndef TFCORE_OPS_SUPPORT_VARIABLE_ACCESS_H_
#define TFCORE_OPS_SUPPORT_VARIABLE_ACCESS_H_

#include "op/op_registry.h"

/* The variable of input `i`, whose value must have `dtype`. NOT_FOUND "Resource
 * localhost/v/N10tensorflow3VarE does not exist." when it was not initialised. */
MUST_CHECK bool initialized_variable(const KernelContext *context, int i, DataType dtype, Variable **variable,
                                     Status *status);
/* The variable at input `i` that an op changes: a reference if the op has an output, which is the same
 * reference; else a resource handle as above. */
MUST_CHECK bool changed_variable(const KernelContext *context, int i, DataType dtype, Variable **variable,
                                 Status *status);
/* Ends such an op: output 0 is the reference of input 0. */
MUST_CHECK bool variable_changed(KernelContext *context, Status *status);
/* INVALID_ARGUMENT "Trying to read variable with wrong dtype. Expected float got double" unless the dtypes
 * are equal; `action` is "read" or "assign". */
MUST_CHECK bool variable_check_dtype(const char *action, DataType expected, DataType got, Status *status);
/* The variable's name and its container, for messages. */
const char *variable_name(const KernelContext *context, int i);
const char *variable_container(const KernelContext *context, int i);
/* A whole kernel: whether the variable of input 0 is initialised. */
MUST_CHECK bool variable_is_initialized(KernelContext *context, Status *status);

/* The shape and dtype behind the handle in input `i`: unknown and DT_INVALID if nothing is known. */
MUST_CHECK bool variable_shape_and_type(InferenceContext *c, int i, ShapeAndType *out, Status *status);
/* The shape behind the handle in input 0; INVALID_ARGUMENT if its dtype is known and differs from the node's
 * attr "dtype". */
MUST_CHECK bool variable_shape_of_dtype(InferenceContext *c, ShapeHandle *shape, Status *status);
/* The shape function of ops that update the variable of input 0 with input 1. */
bool shape_assign_variable(InferenceContext *c, Status *status);

#endif
