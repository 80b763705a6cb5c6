#include "wasm/wasm_session.h"

#include "c_api/c_api_internal.h"

int TF_WasmStartSession(TF_Session *session, const TF_WasmStepOptions *options, const TF_Output *inputs,
                        TF_Tensor *const *input_values, int ninputs, const TF_Output *outputs,
                        TF_Tensor **output_values, int noutputs, const TF_Operation *const *target_opers,
                        int ntargets, TF_Status *status) {
  const SessionRunOptions run = {.timeout_ms = options->timeout_ms, .slice_ms = options->slice_ms};
  return start_session_run(session, &run, inputs, input_values, ninputs, outputs, output_values, noutputs,
                           target_opers, ntargets, status) == RUN_WAITING;
}

int TF_WasmResumeSession(TF_Session *session, int slice_ms, TF_Tensor **output_values, int noutputs,
                         TF_Status *status) {
  return resume_session_run(session, slice_ms, output_values, noutputs, status) == RUN_WAITING;
}

void TF_WasmAbandonStep(TF_Session *session) { session_abandon(session->session); }
