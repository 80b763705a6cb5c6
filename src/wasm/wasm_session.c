#include "wasm/wasm_session.h"

#include "wasm/wasm_step_internal.h"

/* A TF_WasmStep is a SessionStep, and a TF_WasmTrace a StepTrace. */
static SessionStep *session_step(TF_WasmStep *step) { return (SessionStep *)step; }

SessionRunOptions wasm_run_options(const TF_WasmStepOptions *options) {
  return (SessionRunOptions){.timeout_ms = options->timeout_ms,
                             .trace = (StepTrace *)options->trace,
                             .rendezvous = (TaskRendezvous *)options->rendezvous};
}

TF_WasmTrace *TF_WasmNewTrace(void) { return (TF_WasmTrace *)step_trace_new(); }

void TF_WasmTraceMetadata(TF_WasmTrace *trace, TF_Buffer *metadata, TF_Status *status) {
  start_status(status);
  reported(fill_buffer_with_run_metadata((StepTrace *)trace, NULL, 0, metadata, &status->status));
}

void TF_WasmDeleteTrace(TF_WasmTrace *trace) { step_trace_free((StepTrace *)trace); }

TF_WasmStep *wasm_first_slice(bool begun, SessionStep *step, const TF_WasmStepOptions *options,
                              TF_Tensor **output_values, int noutputs, TF_Status *status) {
  if (!begun || !step) return NULL;
  RunState state = advance_session_step(step, options->slice_ms, output_values, noutputs, &status->status);
  return state == RUN_WAITING ? (TF_WasmStep *)step : NULL;
}

TF_WasmStep *TF_WasmStartStep(TF_Session *session, const TF_WasmStepOptions *options, const TF_Output *inputs,
                              TF_Tensor *const *input_values, int ninputs, const TF_Output *outputs,
                              TF_Tensor **output_values, int noutputs,
                              const TF_Operation *const *target_opers, int ntargets, TF_Status *status) {
  const SessionRunOptions run = wasm_run_options(options);
  SessionStep *step;
  start_status(status);
  bool begun = begin_session_step(session, &run, inputs, input_values, ninputs, outputs, noutputs,
                                  target_opers, ntargets, &step, &status->status);
  return wasm_first_slice(begun, step, options, output_values, noutputs, status);
}

TF_WasmStep *TF_WasmStartPiece(TF_Session *session, const char *handle, const TF_WasmStepOptions *options,
                               const TF_Output *inputs, TF_Tensor *const *input_values, int ninputs,
                               const TF_Output *outputs, TF_Tensor **output_values, int noutputs,
                               TF_Status *status) {
  const SessionRunOptions run = wasm_run_options(options);
  SessionStep *step;
  start_status(status);
  bool begun = begin_session_piece(session, handle, &run, inputs, input_values, ninputs, outputs,
                                   output_values, noutputs, &step, &status->status);
  return wasm_first_slice(begun, step, options, output_values, noutputs, status);
}

int TF_WasmResumeStep(TF_WasmStep *step, int slice_ms, TF_Tensor **output_values, int noutputs,
                      TF_Status *status) {
  start_status(status);
  return advance_session_step(session_step(step), slice_ms, output_values, noutputs, &status->status) ==
         RUN_WAITING;
}

int TF_WasmStepIsBlocked(const TF_WasmStep *step) {
  return session_step_is_blocked((const SessionStep *)step);
}

void TF_WasmAbandonStep(TF_WasmStep *step) { session_abandon(session_step(step)); }
