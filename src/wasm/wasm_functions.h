/* Functions for JavaScript beyond TensorFlow's C API: making them from descriptions, and changing a graph's
 * library. */
#ifndef TFCORE_WASM_WASM_FUNCTIONS_H_
#define TFCORE_WASM_WASM_FUNCTIONS_H_

#include "wasm/wasm_exports.h"

/* A node of a description (function/function_def_builder.h). Lists of names end with NULL. */
typedef struct TF_WasmFunctionNode {
  const char *const *rets; /* the first is the node's name */
  const char *op;
  const char *const *args;
  int num_attrs;
  const TF_WasmAttr *attrs;
  const char *const *deps;
  const char *device; /* may be NULL */
} TF_WasmFunctionNode;

typedef struct TF_WasmFunctionSpec {
  int define; /* not 0: TensorFlow's Define, else its Create */
  const char *name;
  const char *const *args, *const *rets, *const *attrs;
  int num_nodes;
  const TF_WasmFunctionNode *nodes;
  const char *const *returns; /* name, value, name, value, ... */
  const char *const *control_returns;
} TF_WasmFunctionSpec;

/* The description as a serialised FunctionDef. */
TF_CAPI_EXPORT extern void TF_WasmBuildFunction(const TF_WasmFunctionSpec *spec, TF_Buffer *proto,
                                                TF_Status *status);
/* Makes the function `gradient` of the graph the gradient of a function or op. */
TF_CAPI_EXPORT extern void TF_WasmGraphAddGradient(TF_Graph *graph, const char *function,
                                                   const char *gradient, TF_Status *status);
/* The name of a function's gradient function, or "". Lives as long as the graph. */
TF_CAPI_EXPORT extern const char *TF_WasmGraphFindGradient(TF_Graph *graph, const char *function);
/* One function of the graph, serialised. NOT_FOUND "Function f is not defined." */
TF_CAPI_EXPORT extern void TF_WasmGraphFindFunction(TF_Graph *graph, const char *name, TF_Buffer *proto,
                                                    TF_Status *status);

#endif
