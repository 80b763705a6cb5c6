/* The side module: the kernels of the side ops (ops/op_table.h), which tools/split-wasm.mjs takes out of the
 * builds without threads. Only the bindings (bindings/js/engine/side-module.ts) call these functions. */
#ifndef TFCORE_WASM_WASM_SIDE_MODULE_H_
#define TFCORE_WASM_WASM_SIDE_MODULE_H_

#include "tensorflow/c/c_api.h"

/* Says that the side module is not loaded: until TF_WasmSideModuleIsLoaded, kernels of the side ops fail
 * with UNAVAILABLE. */
TF_CAPI_EXPORT extern void TF_WasmSideModuleIsMissing(TF_Status *status);
TF_CAPI_EXPORT extern void TF_WasmSideModuleIsLoaded(void);
/* 1 if the side module is missing, and a graph or a function has a side op; else 0. */
TF_CAPI_EXPORT extern int TF_WasmSideModuleIsWanted(void);

#endif
