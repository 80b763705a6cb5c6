/* The experimental part of TensorFlow's C API. What needs other processes (collective operations, ServerDefs)
 * gives UNIMPLEMENTED, as do devices that are loaded at run time. */
#ifndef TENSORFLOW_C_C_API_EXPERIMENTAL_H_
#define TENSORFLOW_C_C_API_EXPERIMENTAL_H_

#include "tensorflow/c/c_api.h"
#include "tensorflow/c/eager/c_api.h"
#include "tensorflow/c/tf_export.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Whether every "loc:@n" in an attr `_class` must name a node of the GraphDef. True by default. */
TF_CAPI_EXPORT extern void TF_ImportGraphDefOptionsSetValidateColocationConstraints(
    TF_ImportGraphDefOptions *opts, unsigned char enable);
/* 1 for an op that has side effects or state; 0, with NOT_FOUND, for an unknown op. */
TF_CAPI_EXPORT extern int TF_OpIsStateful(const char *op_type, TF_Status *status);

/* Removes a function from the graph's library. Operations that call it stay, but can no longer run.
 * INVALID_ARGUMENT if there is no such function. */
TF_CAPI_EXPORT extern void TF_GraphRemoveFunction(TF_Graph *g, const char *func_name, TF_Status *status);

/* ---- configuration and texts ---- */

/* A serialised ConfigProto: compilation and memory of GPUs are recorded and have no effect; `num_cpu_devices`
 * is the number of devices. NULL when out of memory; the caller deletes it. */
TF_NATIVE_EXPORT extern TF_Buffer *TF_CreateConfig(unsigned char enable_xla_compilation,
                                                   unsigned char gpu_memory_allow_growth,
                                                   unsigned int num_cpu_devices);
/* A serialised RunOptions, with trace level FULL_TRACE or NO_TRACE. */
TF_NATIVE_EXPORT extern TF_Buffer *TF_CreateRunOptions(unsigned char enable_full_trace);
/* There is no compiler: the calls for it remember what they are given, for the process, and have no other
 * effect. Those that return something return the setting so far. */
TF_NATIVE_EXPORT extern void TF_EnableXLACompilation(TF_SessionOptions *options, unsigned char enable);
TF_NATIVE_EXPORT extern unsigned char TF_SetXlaEnableLazyCompilation(unsigned char enable);
TF_NATIVE_EXPORT extern unsigned char TF_SetTfXlaCpuGlobalJit(unsigned char enable);
/* A level ("0", "1", "2"), "fusible", or "single-gpu(1)"; other texts are ignored. */
TF_NATIVE_EXPORT extern void TF_SetXlaAutoJitMode(const char *mode);
/* 1 after a mode other than level 0. */
TF_NATIVE_EXPORT extern unsigned char TF_GetXlaAutoJitEnabled(void);
TF_NATIVE_EXPORT extern void TF_SetXlaMinClusterSize(int size);
TF_NATIVE_EXPORT extern unsigned char TF_GetXlaConstantFoldingDisabled(void);
TF_NATIVE_EXPORT extern void TF_SetXlaConstantFoldingDisabled(unsigned char should_enable);
/* The GraphDef in protobuf's text format, and the function as TensorFlow writes it for people:
 * "\nF(x:float) -> (y:float) {...}". The caller frees the text with free(); *len is its length. NULL when out
 * of memory. */
TF_NATIVE_EXPORT extern const char *TF_GraphDebugString(TF_Graph *graph, size_t *len);
TF_NATIVE_EXPORT extern char *TF_FunctionDebugString(TF_Function *func, size_t *len);

/* ---- checkpoints ---- */

/* Reads a checkpoint (of version 2) tensor by tensor. */
typedef struct TF_CheckpointReader TF_CheckpointReader;

/* `filename` is the prefix of the checkpoint. NULL on error. */
TF_NATIVE_EXPORT extern TF_CheckpointReader *TF_NewCheckpointReader(const char *filename, TF_Status *status);
TF_NATIVE_EXPORT extern void TF_DeleteCheckpointReader(TF_CheckpointReader *reader);
TF_NATIVE_EXPORT extern int TF_CheckpointReaderHasTensor(TF_CheckpointReader *reader, const char *name);
/* The number of tensors, and their names, sorted. NULL when out of range; owned by the reader. */
TF_NATIVE_EXPORT extern int TF_CheckpointReaderSize(TF_CheckpointReader *reader);
TF_NATIVE_EXPORT extern const char *TF_CheckpointReaderGetVariable(TF_CheckpointReader *reader, int index);
/* 0 (no type), -1 (no rank) and NOT_FOUND for a name that the checkpoint does not have. */
TF_NATIVE_EXPORT extern TF_DataType TF_CheckpointReaderGetVariableDataType(TF_CheckpointReader *reader,
                                                                           const char *name);
TF_NATIVE_EXPORT extern int TF_CheckpointReaderGetVariableNumDims(TF_CheckpointReader *reader,
                                                                  const char *name);
/* Fills `dims`, of which there must be as many as the tensor has, else INVALID_ARGUMENT. */
TF_NATIVE_EXPORT extern void TF_CheckpointReaderGetVariableShape(TF_CheckpointReader *reader,
                                                                 const char *name, int64_t *dims,
                                                                 int num_dims, TF_Status *status);
/* A new tensor, which the caller deletes; NULL on error. */
TF_NATIVE_EXPORT extern TF_Tensor *TF_CheckpointReaderGetTensor(TF_CheckpointReader *reader, const char *name,
                                                                TF_Status *status);

/* ---- queues ---- */

/* Runs the operation "fifo_queue_dequeue_<id>"; the caller deletes the result. INTERNAL, and NULL, if the
 * graph has no such operation. A step cannot wait for another one: an empty queue is an error. */
TF_NATIVE_EXPORT extern TF_Tensor *TF_DequeueNamedTensor(TF_Session *session, int tensor_id,
                                                         TF_Status *status);
/* Runs "fifo_queue_enqueue_<id>" with `tensor` as the value of "arg_tensor_enqueue_<id>". */
TF_NATIVE_EXPORT extern void TF_EnqueueNamedTensor(TF_Session *session, int tensor_id, TF_Tensor *tensor,
                                                   TF_Status *status);

/* ---- ops ---- */

/* An op with types, to ask whether there is a kernel for it. NULL when out of memory. */
typedef struct TF_AttrBuilder TF_AttrBuilder;
TF_NATIVE_EXPORT extern TF_AttrBuilder *TF_NewAttrBuilder(const char *op_name);
TF_NATIVE_EXPORT extern void TF_DeleteAttrBuilder(TF_AttrBuilder *builder);
TF_NATIVE_EXPORT extern void TF_AttrBuilderSetType(TF_AttrBuilder *builder, const char *attr_name,
                                                   TF_DataType value);
TF_NATIVE_EXPORT extern void TF_AttrBuilderSetTypeList(TF_AttrBuilder *builder, const char *attr_name,
                                                       const TF_DataType *values, int num_values);
/* NOT_FOUND if no kernel for that type of device ("CPU") computes the op; INVALID_ARGUMENT if a type is
 * missing. */
TF_NATIVE_EXPORT extern void TF_AttrBuilderCheckCanRunOnDevice(TF_AttrBuilder *builder,
                                                               const char *device_type, TF_Status *status);
/* The attr with the length of an input that is a list of one type. NULL with INVALID_ARGUMENT for an input
 * that the op does not have, NOT_FOUND for one that is no such list. Static text. */
TF_NATIVE_EXPORT extern const char *TF_GetNumberAttrForOpListInput(const char *op_name, int input_index,
                                                                   TF_Status *status);

/* ---- shapes of eager ops ---- */

typedef struct TF_ShapeAndType {
  int num_dims;      /* -1: unknown rank */
  int64_t *dims;     /* -1: unknown size; owned by the list */
  TF_DataType dtype; /* 0: unknown */
} TF_ShapeAndType;
typedef struct TF_ShapeAndTypeList {
  int num_items;
  TF_ShapeAndType *items;
} TF_ShapeAndTypeList;

/* `num_shapes` scalars of unknown type. NULL when out of memory. */
TF_NATIVE_EXPORT extern TF_ShapeAndTypeList *TF_NewShapeAndTypeList(int num_shapes);
/* Copies `dims`. When out of memory the shape is unknown. */
TF_NATIVE_EXPORT extern void TF_ShapeAndTypeListSetShape(TF_ShapeAndTypeList *shape_list, int index,
                                                         const int64_t *dims, int num_dims);
TF_NATIVE_EXPORT extern void TF_ShapeAndTypeListSetUnknownShape(TF_ShapeAndTypeList *shape_list, int index);
TF_NATIVE_EXPORT extern void TF_ShapeAndTypeListSetDtype(TF_ShapeAndTypeList *shape_list, int index,
                                                         TF_DataType dtype);
TF_NATIVE_EXPORT extern void TF_DeleteShapeAndTypeList(TF_ShapeAndTypeList *shape_list);
/* Also frees the array, which is from malloc(). */
TF_NATIVE_EXPORT extern void TF_DeleteShapeAndTypeListArray(TF_ShapeAndTypeList **shape_list_array,
                                                            int num_items);
/* The shapes of the results of `op`, whose own inputs do not count: it has `input_shapes`, and where they are
 * known the values `input_tensors` (NULL, or one for each input, which may be NULL). *output_shapes gets a
 * list that the caller deletes, without types. As in TensorFlow, the other arguments have no effect. */
TF_NATIVE_EXPORT extern void TFE_InferShapes(TFE_Op *op, TF_ShapeAndTypeList *input_shapes,
                                             TF_Tensor **input_tensors,
                                             TF_ShapeAndTypeList *input_tensor_as_shapes,
                                             TF_ShapeAndTypeList **input_resource_shapes_and_types,
                                             TF_ShapeAndTypeList **output_shapes,
                                             TF_ShapeAndTypeList ***output_resource_shapes_and_types,
                                             TF_Status *status);
/* A scalar with the `len` bytes at `data`, which must be the size of the type, else INVALID_ARGUMENT. */
TF_NATIVE_EXPORT extern TFE_TensorHandle *TFE_NewTensorHandleFromScalar(TF_DataType data_type, void *data,
                                                                        size_t len, TF_Status *status);

/* ---- the process ---- */

TF_NATIVE_EXPORT extern void TF_MakeInternalErrorStatus(TF_Status *status, const char *errMsg);
/* Has no effect: there is nothing to prepare. */
TF_NATIVE_EXPORT extern void TF_InitMain(const char *usage, int *argc, char ***argv);
/* A free port of this machine; 0 if there is none. */
TF_NATIVE_EXPORT extern int TF_PickUnusedPortOrDie(void);

/* UNIMPLEMENTED; the first one returns NULL. */
TF_NATIVE_EXPORT extern TF_Buffer *TFE_GetServerDef(const char *text_proto, TF_Status *status);
TF_NATIVE_EXPORT extern void TFE_EnableCollectiveOps(TFE_Context *ctx, const void *proto, size_t proto_len,
                                                     TF_Status *status);
TF_NATIVE_EXPORT extern void TFE_AbortCollectiveOps(TFE_Context *ctx, TF_Status *status);
TF_NATIVE_EXPORT extern void TFE_CollectiveOpsCheckPeerHealth(TFE_Context *ctx, const char *task,
                                                              int64_t timeout_in_ms, TF_Status *status);

/* As TF_LoadLibrary. */
TF_NATIVE_EXPORT extern TF_Library *TF_LoadPluggableDeviceLibrary(const char *library_filename,
                                                                  TF_Status *status);
TF_NATIVE_EXPORT extern void TF_DeletePluggableDeviceLibraryHandle(TF_Library *lib_handle);

#ifdef __cplusplus
}
#endif

#endif
