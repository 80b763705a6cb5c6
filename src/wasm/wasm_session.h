/* Session steps that yield to JavaScript's event loop: a step runs for a slice of time, pauses between two
 * kernels, and is resumed. */
#ifndef TFCORE_WASM_WASM_SESSION_H_
#define TFCORE_WASM_WASM_SESSION_H_

#include "tensorflow/c/c_api.h"

/* Records what one step runs, and when. */
typedef struct TF_WasmTrace TF_WasmTrace;

/* NULL when out of memory. */
TF_CAPI_EXPORT extern TF_WasmTrace *TF_WasmNewTrace(void);
/* A serialised RunMetadata with the records so far. */
TF_CAPI_EXPORT extern void TF_WasmTraceMetadata(TF_WasmTrace *trace, TF_Buffer *metadata, TF_Status *status);
TF_CAPI_EXPORT extern void TF_WasmDeleteTrace(TF_WasmTrace *trace);

/* The exchange of a step with other tasks: wasm/wasm_cluster.h. */
typedef struct TF_WasmRendezvous TF_WasmRendezvous;

typedef struct TF_WasmStepOptions {
  int timeout_ms;                /* a longer step fails with DEADLINE_EXCEEDED; 0: no deadline */
  int slice_ms;                  /* the step pauses after this time; 0: it runs to its end */
  TF_WasmTrace *trace;           /* NULL: the step is not recorded; else it outlives the step */
  TF_WasmRendezvous *rendezvous; /* NULL: no other task takes part; else it outlives the step */
} TF_WasmStepOptions;

/* A paused step. */
typedef struct TF_WasmStep TF_WasmStep;

/* TF_SessionRun with options. Returns the step if it paused: TF_WasmResumeStep returns its output values.
 * Returns NULL if it ended, with or without an error. */
TF_CAPI_EXPORT extern TF_WasmStep *TF_WasmStartStep(TF_Session *session, const TF_WasmStepOptions *options,
                                                    const TF_Output *inputs, TF_Tensor *const *input_values,
                                                    int ninputs, const TF_Output *outputs,
                                                    TF_Tensor **output_values, int noutputs,
                                                    const TF_Operation *const *target_opers, int ntargets,
                                                    TF_Status *status);
/* Does the same for a piece of a partial run (TF_SessionPRunSetup). */
TF_CAPI_EXPORT extern TF_WasmStep *TF_WasmStartPiece(TF_Session *session, const char *handle,
                                                     const TF_WasmStepOptions *options,
                                                     const TF_Output *inputs, TF_Tensor *const *input_values,
                                                     int ninputs, const TF_Output *outputs,
                                                     TF_Tensor **output_values, int noutputs,
                                                     TF_Status *status);

/* Resumes a paused step for `slice_ms`; 0: to its end. `noutputs` is the same as when the step started.
 * Returns 1 if the step paused again; otherwise the step is freed. */
TF_CAPI_EXPORT extern int TF_WasmResumeStep(TF_WasmStep *step, int slice_ms, TF_Tensor **output_values,
                                            int noutputs, TF_Status *status);
/* Whether a paused step waits for another step: until one has run, resuming it runs nothing. */
TF_CAPI_EXPORT extern int TF_WasmStepIsBlocked(const TF_WasmStep *step);
/* Abandons a paused step. */
TF_CAPI_EXPORT extern void TF_WasmAbandonStep(TF_WasmStep *step);

#endif
