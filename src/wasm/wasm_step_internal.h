/* What the ways to begin a step share. */
#ifndef TFCORE_WASM_WASM_STEP_INTERNAL_H_
#define TFCORE_WASM_WASM_STEP_INTERNAL_H_

#include "c_api/c_api_internal.h"
#include "wasm/wasm_callable.h"
#include "wasm/wasm_session.h"

SessionRunOptions wasm_run_options(const TF_WasmStepOptions *options);
/* Runs the first slice of a step, if the begin_... function succeeded. Returns the step if it paused. */
TF_WasmStep *wasm_first_slice(bool begun, SessionStep *step, const TF_WasmStepOptions *options,
                              TF_Tensor **output_values, int noutputs, TF_Status *status);

SessionCallable *wasm_session_callable(TF_WasmCallable *callable);

#endif
