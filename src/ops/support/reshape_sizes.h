/* Reshape, for the ops that give the first input another shape: input 1 has the sizes, one of which may be
 * -1. */
#ifndef TFCORE_OPS_SUPPORT_RESHAPE_SIZES_H_
#define TFCORE_OPS_SUPPORT_RESHAPE_SIZES_H_

#include "op/op_registry.h"

/* Sets output 0 to input 0 with the shape that input 1 asks for. INVALID_ARGUMENT if the numbers of elements
 * differ. */
MUST_CHECK bool reshape_to_sizes(KernelContext *context, Status *status);
/* The shape of output 0. Both shapes have the same number of elements, which may determine the one unknown
 * size. */
MUST_CHECK bool shape_of_reshape(InferenceContext *c, Status *status);

#endif
