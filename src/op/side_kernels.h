/* Kernels that may be in the part PART_SIDE of the engine (op/engine_parts.h) while their op is not: those
 * for rarer element types. A graph with such a kernel can be made before that part is loaded. */
#ifndef TFCORE_OP_SIDE_KERNELS_H_
#define TFCORE_OP_SIDE_KERNELS_H_

#include <stdbool.h>

#include "tensor/dtype.h"

/* Notes that a graph or a function has a kernel that is aside. */
void side_kernels_want(void);
/* Whether the side part is missing and wanted. */
bool side_kernels_wanted(void);
/* Whether kernels that are registered for the type are aside, whatever their op is. */
bool side_kernels_have_type(DataType type);

#endif
