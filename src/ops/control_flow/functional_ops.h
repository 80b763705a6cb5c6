/* What the ops that call functions share. */
#ifndef TFCORE_OPS_CONTROL_FLOW_FUNCTIONAL_OPS_H_
#define TFCORE_OPS_CONTROL_FLOW_FUNCTIONAL_OPS_H_

#include "op/op_registry.h"

/* A value as a condition: a number that is not zero, a string that is not empty; other shapes than scalars
 * when they have elements. INVALID_ARGUMENT for types that have no truth. */
MUST_CHECK bool tensor_to_bool(const Tensor *value, bool *truth, Status *status);

/* The shapes in the attr output_shapes, else unknown ones. */
bool output_shapes_attr(InferenceContext *c, Status *status);
#endif
