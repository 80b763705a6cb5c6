#include "wasm/wasm_session.h"

#include "c_api/c_api_internal.h"

/* A TF_WasmStep is a SessionStep. */
static SessionStep *session_step(TF_WasmStep *step) { return (SessionStep *)step; }

TF_WasmStep *TF_WasmStartStep(TF_Session *session, const TF_WasmStepOptions *options, const TF_Output *inputs,
                              TF_Tensor *const *input_values, int ninputs, const TF_Output *outputs,
                              TF_Tensor **output_values, int noutputs,
                              const TF_Operation *const *target_opers, int ntargets, TF_Status *status) {
  const SessionRunOptions run = {.timeout_ms = options->timeout_ms};
  SessionStep *step;
  start_status(status);
  if (!begin_session_step(session, &run, inputs, input_values, ninputs, outputs, noutputs, target_opers,
                          ntargets, &step, &status->status))
    return NULL;
  RunState state = advance_session_step(step, options->slice_ms, output_values, noutputs, &status->status);
  return state == RUN_WAITING ? (TF_WasmStep *)step : NULL;
}

int TF_WasmResumeStep(TF_WasmStep *step, int slice_ms, TF_Tensor **output_values, int noutputs,
                      TF_Status *status) {
  start_status(status);
  return advance_session_step(session_step(step), slice_ms, output_values, noutputs, &status->status) ==
         RUN_WAITING;
}

void TF_WasmAbandonStep(TF_WasmStep *step) { session_abandon(session_step(step)); }
