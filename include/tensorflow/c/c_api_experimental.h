/* The experimental part of TensorFlow's C API for graphs. Not included: devices that are loaded at run time
 * and compilation (XLA). */
#ifndef TENSORFLOW_C_C_API_EXPERIMENTAL_H_
#define TENSORFLOW_C_C_API_EXPERIMENTAL_H_

#include "tensorflow/c/c_api.h"
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
/* Has no effect: there is no compiler. */
TF_NATIVE_EXPORT extern void TF_EnableXLACompilation(TF_SessionOptions *options, unsigned char enable);
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

/* As TF_LoadLibrary. */
TF_NATIVE_EXPORT extern TF_Library *TF_LoadPluggableDeviceLibrary(const char *library_filename,
                                                                  TF_Status *status);
TF_NATIVE_EXPORT extern void TF_DeletePluggableDeviceLibraryHandle(TF_Library *lib_handle);

#ifdef __cplusplus
}
#endif

#endif
