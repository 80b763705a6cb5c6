/* FunctionBody of JavaScript: a function with bound attrs that can be printed, differentiated, optimised and
 * run without a graph that calls it. */
#ifndef TFCORE_WASM_WASM_FUNCTION_BODY_H_
#define TFCORE_WASM_WASM_FUNCTION_BODY_H_

#include "wasm/wasm_exports.h"

typedef struct TF_WasmFunctionBody TF_WasmFunctionBody;

/* A body of the serialised function. It can use that function and the current functions of `library` (may be
 * NULL), which may change or be deleted afterwards. NULL on error. */
TF_CAPI_EXPORT extern TF_WasmFunctionBody *TF_WasmNewFunctionBody(const void *function, size_t length,
                                                                  const TF_WasmAttr *attrs, int num_attrs,
                                                                  TF_Graph *library, TF_Status *status);
TF_CAPI_EXPORT extern void TF_WasmDeleteFunctionBody(TF_WasmFunctionBody *body);

/* New bodies: the gradient (gradient/symbolic_gradient.h), and the body after the passes of
 * optimizer/graph_optimizer.h. They share functions and resources with `body`, and may outlive it. NULL on
 * error. */
TF_CAPI_EXPORT extern TF_WasmFunctionBody *TF_WasmFunctionBodyGradient(TF_WasmFunctionBody *body,
                                                                       TF_Status *status);
TF_CAPI_EXPORT extern TF_WasmFunctionBody *TF_WasmFunctionBodyOptimize(TF_WasmFunctionBody *body, int inlines,
                                                                       int folds, int merges, int fuses,
                                                                       TF_Status *status);

/* The text of an instantiated body as TensorFlow prints it. */
TF_CAPI_EXPORT extern void TF_WasmFunctionBodyText(TF_WasmFunctionBody *body, TF_Buffer *text,
                                                   TF_Status *status);
TF_CAPI_EXPORT extern int TF_WasmFunctionBodyNumArgs(TF_WasmFunctionBody *body);
TF_CAPI_EXPORT extern int TF_WasmFunctionBodyNumRets(TF_WasmFunctionBody *body);
TF_CAPI_EXPORT extern TF_DataType TF_WasmFunctionBodyArgType(TF_WasmFunctionBody *body, int index);
TF_CAPI_EXPORT extern TF_DataType TF_WasmFunctionBodyRetType(TF_WasmFunctionBody *body, int index);

/* One call, which yields to the event loop like a step of a session (wasm/wasm_session.h). NULL on error. The
 * args are borrowed during this call; `timeout_ms` (0: none) starts now. The call must be deleted before its
 * body. */
typedef struct TF_WasmFunctionCall TF_WasmFunctionCall;
TF_CAPI_EXPORT extern TF_WasmFunctionCall *TF_WasmNewFunctionCall(TF_WasmFunctionBody *body,
                                                                  TF_Tensor *const *args, int num_args,
                                                                  int timeout_ms, TF_Status *status);
/* Runs the call for `slice_ms`; 0: to its end. Returns 1 when it paused. Returns 0 when it ended: `rets` has
 * an entry for every result; the caller owns the tensors, which are NULL on error. */
TF_CAPI_EXPORT extern int TF_WasmAdvanceFunctionCall(TF_WasmFunctionCall *call, int slice_ms,
                                                     TF_Tensor **rets, TF_Status *status);
/* Whether a paused call waits for another call: until one has run, advancing it runs nothing. */
TF_CAPI_EXPORT extern int TF_WasmFunctionCallIsBlocked(const TF_WasmFunctionCall *call);
/* Abandons a paused call. NULL is fine. */
TF_CAPI_EXPORT extern void TF_WasmDeleteFunctionCall(TF_WasmFunctionCall *call);

#endif
