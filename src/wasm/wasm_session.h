/* Steps of a session for JavaScript, which give way to the event loop: a step runs for a slice of time,
 * pauses between two kernels, and is resumed. */
#ifndef TFCORE_WASM_WASM_SESSION_H_
#define TFCORE_WASM_WASM_SESSION_H_

#include "tensorflow/c/c_api.h"

typedef struct TF_WasmStepOptions {
  int timeout_ms; /* the step fails then with DEADLINE_EXCEEDED; 0: never */
  int slice_ms;   /* it pauses then; 0: it runs to its end */
} TF_WasmStepOptions;

/* As TF_SessionRun. 1 when the step paused: its output values come from TF_WasmResumeSession. 0 when it
 * ended, well or not. */
TF_CAPI_EXPORT extern int TF_WasmStartSession(TF_Session *session, const TF_WasmStepOptions *options,
                                              const TF_Output *inputs, TF_Tensor *const *input_values,
                                              int ninputs, const TF_Output *outputs,
                                              TF_Tensor **output_values, int noutputs,
                                              const TF_Operation *const *target_opers, int ntargets,
                                              TF_Status *status);
/* Goes on with the step that paused, for that time; 0: to its end. `noutputs` as at its start. */
TF_CAPI_EXPORT extern int TF_WasmResumeSession(TF_Session *session, int slice_ms, TF_Tensor **output_values,
                                               int noutputs, TF_Status *status);
/* Gives up the step that paused, if any. */
TF_CAPI_EXPORT extern void TF_WasmAbandonStep(TF_Session *session);

#endif
