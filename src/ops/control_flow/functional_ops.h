/* Shared by the ops that call functions. */
#ifndef TFCORE_OPS_CONTROL_FLOW_FUNCTIONAL_OPS_H_
#define TFCORE_OPS_CONTROL_FLOW_FUNCTIONAL_OPS_H_

#include "op/op_registry.h"

/* A value as a condition: a scalar number is true if it is not zero, a scalar string if it is not empty;
 * other shapes are true if they have elements. INVALID_ARGUMENT for other types. */
MUST_CHECK bool tensor_to_bool(const Tensor *value, bool *truth, Status *status);

/* The shapes in the attr output_shapes, else unknown ones. */
bool output_shapes_attr(InferenceContext *c, Status *status);
#endif
