/* Callables: steps that are looked up, checked and compiled once. A small step takes less time than a few
 * calls from JavaScript into the engine, so that there is a form of it (TF_WasmRunCall) which takes one:
 *
 *   TF_WasmCallFrame *frame = TF_WasmFrameOfCallable(callable);
 *   frame->input_values[0] = x;              // the frame owns it now
 *   if (TF_WasmRunCall(callable, 0, status) == TF_WASM_CALL_ENDED) use(frame->results[0].data);
 *   if (frame->input_values[0]) set(x, 2);   // the next call may have another value in the same memory
 */
#ifndef TFCORE_WASM_WASM_CALLABLE_H_
#define TFCORE_WASM_WASM_CALLABLE_H_

#include "wasm/wasm_session.h"

/* A step that was looked up, checked and compiled once. */
typedef struct TF_WasmCallable TF_WasmCallable;

/* `connected` holds pairs of outputs: readers of the second output of a pair read the first one instead. NULL
 * on error. */
TF_CAPI_EXPORT extern TF_WasmCallable *TF_WasmMakeCallable(TF_Session *session, const TF_Output *inputs,
                                                           int ninputs, const TF_Output *outputs,
                                                           int noutputs,
                                                           const TF_Operation *const *target_opers,
                                                           int ntargets, const TF_Output *connected,
                                                           int nconnections, TF_Status *status);
/* As TF_WasmStartStep. Values are in the order of the callable's inputs and outputs. */
TF_CAPI_EXPORT extern TF_WasmStep *TF_WasmStartCall(TF_WasmCallable *callable,
                                                    const TF_WasmStepOptions *options,
                                                    TF_Tensor *const *input_values, int ninputs,
                                                    TF_Tensor **output_values, int noutputs,
                                                    TF_Status *status);

/* A result of TF_WasmRunCall. */
typedef struct TF_WasmResult {
  TF_Tensor *tensor; /* the frame's until the next call; a caller who takes it sets it to NULL */
  int dtype, num_dims;
  void *data;
} TF_WasmResult;

/* What goes into a callable and comes out of it by TF_WasmRunCall. It belongs to the callable. */
typedef struct TF_WasmCallFrame {
  TF_Tensor **input_values; /* set by the caller, who may exchange them, and owned by the frame */
  TF_WasmResult *results;   /* of the last call, if that ended */
  TF_WasmStep *paused;      /* the last call, if that paused: TF_WasmResumeStep returns its output values */
} TF_WasmCallFrame;

TF_CAPI_EXPORT extern TF_WasmCallFrame *TF_WasmFrameOfCallable(TF_WasmCallable *callable);

typedef enum TF_WasmCallState {
  TF_WASM_CALL_FAILED,
  TF_WASM_CALL_PAUSED,
  TF_WASM_CALL_ENDED
} TF_WasmCallState;

/* Runs a call with the values in the frame, to its end or until it is blocked. Then it deletes the input
 * values (which become NULL) to which something else refers, and large ones: the memory of the others may be
 * written for the next call. */
TF_CAPI_EXPORT extern TF_WasmCallState TF_WasmRunCall(TF_WasmCallable *callable, int timeout_ms,
                                                      TF_Status *status);
TF_CAPI_EXPORT extern void TF_WasmReleaseCallable(TF_WasmCallable *callable);

#endif
