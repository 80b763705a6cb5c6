/* Kernels in a side module: a second WebAssembly module with the kernels of ops that most graphs do not have.
 * A program that loads the engine in two parts (src/wasm/wasm_side_module.c) names those ops
 * (op_registry_set_aside) and loads the side module when one of them is wanted. Everywhere else, no kernel is
 * missing. */
#ifndef TFCORE_OP_SIDE_KERNELS_H_
#define TFCORE_OP_SIDE_KERNELS_H_

#include <stdbool.h>

/* Whether the side module is not loaded yet; kernels of ops that are aside must not be called then. */
bool side_kernels_missing(void);
void side_kernels_set_missing(bool missing);
/* Notes that an op that is aside was looked up, or is called by a function. */
void side_kernels_want(void);
/* Whether the side module is missing and wanted. */
bool side_kernels_wanted(void);

#endif
