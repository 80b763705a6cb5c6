/* Parts of the engine in modules of their own, which tools/split-wasm.mjs takes out of the builds without
 * threads. Only the bindings (bindings/js/engine/engine-part.ts) call these functions. A part is an
 * EnginePart (op/engine_parts.h). */
#ifndef TFCORE_WASM_WASM_ENGINE_PARTS_H_
#define TFCORE_WASM_WASM_ENGINE_PARTS_H_

#include "tensorflow/c/c_api.h"

/* Says that the part is not loaded, until TF_WasmPartIsLoaded. What needs it at once calls
 * Module.loadPart(part), which loads it, or returns the text of the reason why it could not, made by malloc.
 */
TF_CAPI_EXPORT extern void TF_WasmPartIsMissing(int part);
TF_CAPI_EXPORT extern void TF_WasmPartIsLoaded(int part);
/* 1 if the side part is missing, and a graph or a function has a kernel in it; else 0. */
TF_CAPI_EXPORT extern int TF_WasmSideKernelsAreWanted(void);

#endif
