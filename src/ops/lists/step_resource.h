/* What stacks and arrays of tensors have in common: resources of one step, which handles refer to. */
#ifndef TFCORE_OPS_LISTS_STEP_RESOURCE_H_
#define TFCORE_OPS_LISTS_STEP_RESOURCE_H_

#include "op/op_registry.h"

/* Makes a name that no other resource of the process has: the text of an attr, or else the node's name, and a
 * number. The caller frees it with mem_free. NULL with status when out of memory. */
char *step_resource_name(const KernelContext *context, Str wanted, Status *status);
/* Sets output `output` to a handle of a new resource, which lives until its step ends. Takes the caller's
 * reference over, also when it fails. */
MUST_CHECK bool step_resource_set_output(KernelContext *context, int output, const char *name,
                                         Resource *resource, Status *status);

/* --- shape functions --- */

/* Input `i` is a handle as TensorFlow's inference has them: a vector of two elements. */
MUST_CHECK bool step_resource_check_handle(InferenceContext *c, int i, Status *status);
/* Output `i` is such a handle. The kernels give a scalar, as TensorFlow's do. */
MUST_CHECK bool step_resource_set_handle(InferenceContext *c, int i, Status *status);

#endif
