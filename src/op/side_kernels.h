/* Kernels in a side module: a second WebAssembly module with kernels that most graphs do not have, those of
 * some ops and those for some element types. A program that loads the engine in two parts
 * (src/wasm/wasm_side_module.c) names those ops (op_registry_set_aside) and loads the side module when a
 * kernel of it is wanted. Everywhere else, no kernel is missing. */
#ifndef TFCORE_OP_SIDE_KERNELS_H_
#define TFCORE_OP_SIDE_KERNELS_H_

#include <stdbool.h>

#include "tensor/dtype.h"

/* Whether the side module is not loaded yet; kernels that are aside must not be called then. */
bool side_kernels_missing(void);
void side_kernels_set_missing(bool missing);
/* Notes that a graph or a function has a kernel that is aside. */
void side_kernels_want(void);
/* Whether the side module is missing and wanted. */
bool side_kernels_wanted(void);
/* Whether kernels that are registered for the type are aside, whatever their op is. */
bool side_kernels_have_type(DataType type);

#endif
