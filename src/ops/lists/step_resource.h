/* Resources of one step, which handles refer to: the common part of stacks and TensorArrays. */
#ifndef TFCORE_OPS_LISTS_STEP_RESOURCE_H_
#define TFCORE_OPS_LISTS_STEP_RESOURCE_H_

#include "op/op_registry.h"

/* Makes a name that no other resource of the process has. It consists of the text of an attr (the node's name
 * if that is empty) and a number. The caller frees it with mem_free. NULL with status when out of memory. */
char *step_resource_name(const KernelContext *context, Str wanted, Status *status);
/* Sets output `output` to a handle of a new resource, which lives until its step ends. Takes over the
 * caller's reference, even on failure. */
MUST_CHECK bool step_resource_set_output(KernelContext *context, int output, const char *name,
                                         Resource *resource, Status *status);

/* --- shape functions --- */

/* Requires that input `i` has the shape of a handle in TensorFlow's inference: a vector of two elements. */
MUST_CHECK bool step_resource_check_handle(InferenceContext *c, int i, Status *status);
/* Gives output `i` the shape of such a handle. The kernels produce a scalar, as TensorFlow's do. */
MUST_CHECK bool step_resource_set_handle(InferenceContext *c, int i, Status *status);

#endif
