/* Exports for JavaScript beyond TensorFlow's C API: text forms, names, memory and threads. Only the bindings
 * (bindings/js/) call them. */
#ifndef TFCORE_WASM_WASM_EXPORTS_H_
#define TFCORE_WASM_WASM_EXPORTS_H_

#include "tensorflow/c/c_api.h"

/* Bytes held by live objects of the engine (graphs, sessions, tensors, cached buffers). */
TF_CAPI_EXPORT extern double TF_WasmLiveBytes(void);
/* The most that TF_WasmLiveBytes() was since the start, or since TF_WasmResetPeakBytes(). */
TF_CAPI_EXPORT extern double TF_WasmPeakBytes(void);
TF_CAPI_EXPORT extern void TF_WasmResetPeakBytes(void);
/* The number of tensors with elements: of variables, constants, runs, and TF_Tensors. */
TF_CAPI_EXPORT extern int TF_WasmLiveTensors(void);
/* Allocations since the start, for tests of steps that allocate nothing. */
TF_CAPI_EXPORT extern double TF_WasmAllocationCount(void);
/* Sets the number of threads for kernels; always 1 in builds without threads. */
TF_CAPI_EXPORT extern void TF_WasmSetThreads(int threads);
TF_CAPI_EXPORT extern int TF_WasmThreads(void);

/* The serialised OpDef of one op; an empty buffer if there is no such op. */
TF_CAPI_EXPORT extern void TF_WasmFindOpDef(const char *op, TF_Buffer *op_def, TF_Status *status);
/* The names of all ops, separated by spaces, in any order. */
TF_CAPI_EXPORT extern void TF_WasmOpNames(TF_Buffer *names, TF_Status *status);
/* 1 if the op has a gradient, 0 if by definition no gradient flows through it, -1 if none is registered (or
 * the op is unknown). */
TF_CAPI_EXPORT extern int TF_WasmOpGradient(const char *op);

/* The devices of a task of a cluster ("/job:worker/replica:0/task:1"), and the resources on them: see
 * runtime/device_manager.h. Deleting it leaves it to the sessions that use it. */
typedef struct TF_WasmDeviceManager TF_WasmDeviceManager;
TF_CAPI_EXPORT extern TF_WasmDeviceManager *TF_WasmNewDeviceManager(const char *task, int num_cpus,
                                                                    TF_Status *status);
/* The same devices, with resources of their own. */
TF_CAPI_EXPORT extern TF_WasmDeviceManager *TF_WasmIsolatedDevices(const TF_WasmDeviceManager *manager,
                                                                   TF_Status *status);
/* Delete it with TF_DeleteDeviceList. */
TF_CAPI_EXPORT extern TF_DeviceList *TF_WasmManagedDevices(const TF_WasmDeviceManager *manager);
TF_CAPI_EXPORT extern void TF_WasmDeleteDeviceManager(TF_WasmDeviceManager *manager);
/* Forgets the resources of a container. "" names the default one. */
TF_CAPI_EXPORT extern void TF_WasmClearContainer(TF_WasmDeviceManager *manager, const char *container);

/* TF_NewSession, except that the session refuses feeds whose shape is incompatible with the graph's. It uses
 * the devices of the manager; NULL: those that the options ask for. */
TF_CAPI_EXPORT extern TF_Session *TF_WasmNewSession(TF_Graph *graph, const TF_SessionOptions *options,
                                                    TF_WasmDeviceManager *manager, TF_Status *status);

/* The device of operations in a scope for `inner` within one whose device is `outer`; both are names of
 * devices, whole or not, or "". INVALID_ARGUMENT when one is malformed. */
TF_CAPI_EXPORT extern void TF_WasmMergeDevices(const char *outer, const char *inner, TF_Buffer *merged,
                                               TF_Status *status);

/* A free operation name: `base`, else base_1, base_2, ... Lives as long as the graph; NULL when out of
 * memory. */
TF_CAPI_EXPORT extern const char *TF_WasmUniqueName(TF_Graph *graph, const char *base);

/* The operation of extension `index` of the graph: gradients extend operations that call functions. NULL
 * behind the last extension. */
TF_CAPI_EXPORT extern TF_Operation *TF_WasmExtendedOperation(TF_Graph *graph, int index);
/* Extends an operation as its counterpart in another copy of the graph was, whose serialised NodeDef this is.
 */
TF_CAPI_EXPORT extern void TF_WasmExtendOperation(TF_Graph *graph, TF_Operation *operation,
                                                  const void *node_def, size_t length, TF_Status *status);

typedef struct TF_WasmAttr {
  const char *name;
  const void *proto; /* a serialised AttrValue */
  size_t length;
} TF_WasmAttr;

/* A whole operation, so that building one takes one call. The name must be valid in a GraphDef. */
typedef struct TF_WasmOperation {
  const char *type, *name;
  int make_unique;    /* not 0: a name in use gets a suffix */
  const char *device; /* may be NULL */
  int num_args;
  const int *arg_lengths;  /* per argument: -1 for a single output, else the length of its list */
  const TF_Output *inputs; /* of all arguments, concatenated */
  int num_controls, num_attrs;
  TF_Operation *const *controls;
  const TF_WasmAttr *attrs;
} TF_WasmOperation;

/* TF_NewOperation to TF_FinishOperation. NULL on error. */
TF_CAPI_EXPORT extern TF_Operation *TF_WasmAddOperation(TF_Graph *graph, const TF_WasmOperation *operation,
                                                        TF_Status *status);
/* "{{node n}} = Op[attr=value](a, b:1, ^c)", as TensorFlow's messages show a node. */
TF_CAPI_EXPORT extern void TF_WasmOperationSummary(TF_Operation *operation, TF_Buffer *text,
                                                   TF_Status *status);
/* Fills a TF_STRING tensor: string i ends before bytes[ends[i]] and begins at the end of the previous one. */
TF_CAPI_EXPORT extern void TF_WasmSetStrings(TF_Tensor *tensor, const char *bytes, const size_t *ends,
                                             TF_Status *status);

/* The graph as a GraphDef in protobuf text format. */
TF_CAPI_EXPORT extern void TF_WasmGraphToText(TF_Graph *graph, TF_Buffer *text, TF_Status *status);
/* Converts a message from text format to bytes. `type` is "GraphDef", "MetaGraphDef" or "SavedModel". */
TF_CAPI_EXPORT extern void TF_WasmMessageFromText(const char *type, const char *text, size_t length,
                                                  TF_Buffer *message, TF_Status *status);
/* A serialised FunctionDef as function text; `full` is lossless, otherwise as TensorFlow prints it. */
TF_CAPI_EXPORT extern void TF_WasmFunctionToText(const void *proto, size_t length, int full, TF_Buffer *text,
                                                 TF_Status *status);
/* Converts function text to a serialised FunctionDef. */
TF_CAPI_EXPORT extern void TF_WasmFunctionFromText(const char *text, size_t length, TF_Buffer *proto,
                                                   TF_Status *status);
/* TF_AddGradientsWithPrefix, except that an x that no gradient reaches gets {NULL, 0} instead of failing the
 * call, and outputs in `stops` are treated as constants. */
TF_CAPI_EXPORT extern void TF_WasmAddGradients(TF_Graph *graph, const char *prefix, const TF_Output *y,
                                               int ny, const TF_Output *x, int nx, const TF_Output *dx,
                                               const TF_Output *stops, int num_stops, TF_Output *dy,
                                               TF_Status *status);
/* Runs the shape function of a node's op, in the language of op/shape_language.h: for MatMul, input_shapes
 * "[1,?];[?,2]" gives "[d0_0,d1_1]". The NodeDef needs neither inputs nor attrs with a default. tensors[k],
 * of num_tensors, is the known value of input tensor_inputs[k], of a type that the op accepts there.
 * graph_def_version < 0: the current one. */
TF_CAPI_EXPORT extern void TF_WasmInferShapes(const void *node_def, size_t length, const int *tensor_inputs,
                                              TF_Tensor *const *tensors, int num_tensors,
                                              int graph_def_version, const char *input_shapes,
                                              TF_Buffer *text, TF_Status *status);

#endif
