/* Registering kernels at run time: TensorFlow's C API.
 *
 *   void *create(TF_OpKernelConstruction *construction);               reads attrs, once for each kernel
 *   void compute(void *kernel, TF_OpKernelContext *context);           runs in every step
 *   void destroy(void *kernel);
 *
 *   TF_KernelBuilder *builder = TF_NewKernelBuilder("MyOp", "CPU", create, compute, destroy);
 *   TF_KernelBuilder_TypeConstraint(builder, "T", TF_FLOAT, status);
 *   TF_RegisterKernelBuilder("MyOpFloat", builder, status);
 *
 * A kernel is registered for the name of an op, which may be registered later, or be one of the library's
 * ops: it then supports another type, or replaces a kernel by its higher priority (the library's have 0). A
 * registration lasts as long as the process. Invalid ones are reported, never fatal.
 *
 * The kernel deletes the tensors that these functions return. An invalid index is an error in the status;
 * functions without a status, where TensorFlow would abort, return no type (0).
 *
 * A kernel may use other graphs and sessions. It must not change its graph, nor close or delete its session;
 * running its session is FAILED_PRECONDITION.
 *
 * Names, signatures and ownership are TensorFlow's. Not included because it has no use here: streams and
 * devices (TF_GetStream, TF_GetDeviceId, TF_GetDeviceName, TF_IsHostMemory*), kernels that finish later
 * (TF_NewAsyncKernelBuilder, TF_RunAsyncOpKernelDoneCallback, TF_Inc/DecNumDeferredOps), plugins
 * (TF_InitKernel), rendezvous, and TF_GetResourceMgrDefaultContainerName, TF_GetOpKernelRequestedInput,
 * TF_GetGraphDefVersion, TF_GetSerialized*.
 */
#ifndef TENSORFLOW_C_KERNELS_H_
#define TENSORFLOW_C_KERNELS_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tensorflow/c/c_api.h"
#include "tensorflow/c/c_api_macros.h"
#include "tensorflow/c/tf_buffer.h"
#include "tensorflow/c/tf_datatype.h"
#include "tensorflow/c/tf_status.h"
#include "tensorflow/c/tf_tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct TF_KernelBuilder TF_KernelBuilder;
typedef struct TF_OpKernelConstruction TF_OpKernelConstruction;
typedef struct TF_OpKernelContext TF_OpKernelContext;

/* ---- registration ---- */

/* `create_func` (may be NULL: the kernel is NULL) makes a kernel; `compute_func` gets it in every step, and
 * `delete_func` (may be NULL) at the end, at the latest with the session. A kernel whose create_func reported
 * an error is deleted unless it is NULL. Kernels are called on the thread that runs the step, and several
 * threads may run steps of different sessions concurrently. Kernels for devices other than "CPU" and
 * "DEFAULT" are never chosen. NULL when out of memory. */
TF_CAPI_EXPORT extern TF_KernelBuilder *TF_NewKernelBuilder(
    const char *op_name, const char *device_name, void *(*create_func)(TF_OpKernelConstruction *),
    void (*compute_func)(void *, TF_OpKernelContext *), void (*delete_func)(void *));
/* Restricts the kernel to nodes whose attr (a type, or a list of types) is `type`. UNIMPLEMENTED for an
 * invalid type. */
TF_CAPI_EXPORT extern void TF_KernelBuilder_TypeConstraint(TF_KernelBuilder *kernel_builder,
                                                           const char *attr_name, TF_DataType type,
                                                           TF_Status *status);
/* Recorded in the KernelDef; all memory is the host's. */
TF_CAPI_EXPORT extern void TF_KernelBuilder_HostMemory(TF_KernelBuilder *kernel_builder,
                                                       const char *arg_name);
/* Of the matching kernels, the one of highest priority is used. Two of the same priority are an error of the
 * node. */
TF_CAPI_EXPORT extern void TF_KernelBuilder_Priority(TF_KernelBuilder *kernel_builder,
                                                     int32_t priority_number);
/* Restricts the kernel to nodes whose attr `_kernel` is the label. */
TF_CAPI_EXPORT extern void TF_KernelBuilder_Label(TF_KernelBuilder *kernel_builder, const char *label);
/* Takes the builder, also on error. `kernel_name` is only for the reader of the code. */
TF_CAPI_EXPORT extern void TF_RegisterKernelBuilder(const char *kernel_name, TF_KernelBuilder *builder,
                                                    TF_Status *status);
/* The same with the caller's KernelDef, serialised and ended by a NUL byte, unless it is NULL. */
TF_CAPI_EXPORT extern void TF_RegisterKernelBuilderWithKernelDef(const char *serialized_kernel_def,
                                                                 const char *name, TF_KernelBuilder *builder,
                                                                 TF_Status *status);
/* For a builder that was not registered. */
TF_CAPI_EXPORT extern void TF_DeleteKernelBuilder(TF_KernelBuilder *builder);

/* ---- one run of a kernel ---- */

TF_CAPI_EXPORT extern int TF_NumInputs(TF_OpKernelContext *ctx);
TF_CAPI_EXPORT extern int TF_NumOutputs(TF_OpKernelContext *ctx);
/* OUT_OF_RANGE if there is no such input; `*tensor` is then unchanged. Its elements must not be modified. */
TF_CAPI_EXPORT extern void TF_GetInput(TF_OpKernelContext *ctx, int i, TF_Tensor **tensor, TF_Status *status);

typedef struct TF_InputRange_Args {
  size_t struct_size;
  void *priv;
  int start; /* output: the first input of the arg, */
  int stop;  /* output: the one after its last */
  TF_Status *status;
} TF_InputRange_Args;
#define TF_InputRange_Args_STRUCT_SIZE TF_OFFSET_OF_END(TF_InputRange_Args, status)

/* The inputs of a named input_arg. */
TF_CAPI_EXPORT extern void TF_InputRange(TF_OpKernelContext *ctx, const char *name, TF_InputRange_Args *args);
TF_CAPI_EXPORT extern TF_DataType TF_InputDatatype(TF_OpKernelContext *ctx, int index);

/* The output shares the tensor's memory; OUT_OF_RANGE if there is no such output. After the kernel, the dtype
 * is compared with the declared one. */
TF_CAPI_EXPORT extern void TF_SetOutput(TF_OpKernelContext *ctx, int i, const TF_Tensor *tensor,
                                        TF_Status *status);
/* An output that was allocated or set before, else FAILED_PRECONDITION. */
TF_CAPI_EXPORT extern TF_Tensor *TF_GetMutableOutput(TF_OpKernelContext *ctx, int i, TF_Status *status);
TF_CAPI_EXPORT extern TF_DataType TF_ExpectedOutputDataType(TF_OpKernelContext *ctx, int i);
/* Allocates the output. `dtype` must be the declared one; `len` is ignored. */
TF_CAPI_EXPORT extern TF_Tensor *TF_AllocateOutput(TF_OpKernelContext *context, int index, TF_DataType dtype,
                                                   const int64_t *dims, int num_dims, size_t len,
                                                   TF_Status *status);
/* The output in the memory of the first of the candidates that has no other users and has the output's
 * element size and count; else in new memory. `*forwarded_input` (unless NULL) receives the index of that
 * input, or -1. A tensor from TF_GetInput uses its memory until it is deleted. */
TF_CAPI_EXPORT extern TF_Tensor *TF_ForwardInputOrAllocateOutput(TF_OpKernelContext *context,
                                                                 const int *candidate_input_indices,
                                                                 int num_candidate_input_indices,
                                                                 int output_index, const int64_t *output_dims,
                                                                 int output_num_dims, int *forwarded_input,
                                                                 TF_Status *status);
/* Memory for this run. `alloc_attrs` may be NULL. */
TF_CAPI_EXPORT extern TF_Tensor *TF_AllocateTemp(TF_OpKernelContext *context, TF_DataType dtype,
                                                 const int64_t *dims, int num_dims,
                                                 TF_AllocatorAttributes *alloc_attrs, TF_Status *status);
/* Makes the step fail with this status, to which the node's name is added. The first failure counts. */
TF_CAPI_EXPORT extern void TF_OpKernelContext_Failure(TF_OpKernelContext *ctx, TF_Status *status);

/* Different in each step of the process; 0 when a value is computed outside of steps. */
TF_CAPI_EXPORT extern int64_t TF_StepId(TF_OpKernelContext *ctx);
TF_CAPI_EXPORT extern int64_t TF_GetStepId(TF_OpKernelContext *ctx);
/* Always 0: kernels have no frames of loops. */
TF_CAPI_EXPORT extern uint64_t TF_GetFrameId(TF_OpKernelContext *ctx);
TF_CAPI_EXPORT extern int64_t TF_GetIterId(TF_OpKernelContext *ctx);
/* The node's name, which lives as long as the kernel. */
TF_CAPI_EXPORT extern TF_StringView TF_GetOpKernelName(TF_OpKernelContext *ctx);

/* ---- making a kernel ---- */

TF_CAPI_EXPORT extern TF_StringView TF_OpKernelConstruction_GetName(TF_OpKernelConstruction *ctx);
/* The serialised NodeDef, with the defaults of its op; the caller deletes it. */
TF_CAPI_EXPORT extern TF_Buffer *TF_OpKernelConstruction_GetNodeDef(TF_OpKernelConstruction *ctx,
                                                                    TF_Status *status);
TF_CAPI_EXPORT extern bool TF_OpKernelConstruction_HasAttr(TF_OpKernelConstruction *ctx,
                                                           const char *attr_name, TF_Status *status);
/* `*list_size`: the length of a list, else -1. `*total_size`: the bytes of a string or of all strings of a
 * list, the dimensions of a shape (-1: unknown rank) or of all shapes of a list, else -1. */
TF_CAPI_EXPORT extern void TF_OpKernelConstruction_GetAttrSize(TF_OpKernelConstruction *ctx,
                                                               const char *attr_name, int32_t *list_size,
                                                               int32_t *total_size, TF_Status *status);
/* NOT_FOUND without such an attr, INVALID_ARGUMENT if it has another type. */
TF_CAPI_EXPORT extern void TF_OpKernelConstruction_GetAttrType(TF_OpKernelConstruction *ctx,
                                                               const char *attr_name, TF_DataType *val,
                                                               TF_Status *status);
TF_CAPI_EXPORT extern void TF_OpKernelConstruction_GetAttrInt32(TF_OpKernelConstruction *ctx,
                                                                const char *attr_name, int32_t *val,
                                                                TF_Status *status);
TF_CAPI_EXPORT extern void TF_OpKernelConstruction_GetAttrInt64(TF_OpKernelConstruction *ctx,
                                                                const char *attr_name, int64_t *val,
                                                                TF_Status *status);
TF_CAPI_EXPORT extern void TF_OpKernelConstruction_GetAttrFloat(TF_OpKernelConstruction *ctx,
                                                                const char *attr_name, float *val,
                                                                TF_Status *status);
TF_CAPI_EXPORT extern void TF_OpKernelConstruction_GetAttrBool(TF_OpKernelConstruction *ctx,
                                                               const char *attr_name, TF_Bool *val,
                                                               TF_Status *status);
/* At most max_length bytes, without a NUL at the end. */
TF_CAPI_EXPORT extern void TF_OpKernelConstruction_GetAttrString(TF_OpKernelConstruction *ctx,
                                                                 const char *attr_name, char *val,
                                                                 size_t max_length, TF_Status *status);
/* The caller deletes the tensor. */
TF_CAPI_EXPORT extern void TF_OpKernelConstruction_GetAttrTensor(TF_OpKernelConstruction *ctx,
                                                                 const char *attr_name, TF_Tensor **val,
                                                                 TF_Status *status);
/* The lists: at most max_vals values. */
TF_CAPI_EXPORT extern void TF_OpKernelConstruction_GetAttrTypeList(TF_OpKernelConstruction *ctx,
                                                                   const char *attr_name, TF_DataType *vals,
                                                                   int max_vals, TF_Status *status);
TF_CAPI_EXPORT extern void TF_OpKernelConstruction_GetAttrInt32List(TF_OpKernelConstruction *ctx,
                                                                    const char *attr_name, int32_t *vals,
                                                                    int max_vals, TF_Status *status);
TF_CAPI_EXPORT extern void TF_OpKernelConstruction_GetAttrInt64List(TF_OpKernelConstruction *ctx,
                                                                    const char *attr_name, int64_t *vals,
                                                                    int max_vals, TF_Status *status);
TF_CAPI_EXPORT extern void TF_OpKernelConstruction_GetAttrFloatList(TF_OpKernelConstruction *ctx,
                                                                    const char *attr_name, float *vals,
                                                                    int max_vals, TF_Status *status);
TF_CAPI_EXPORT extern void TF_OpKernelConstruction_GetAttrBoolList(TF_OpKernelConstruction *ctx,
                                                                   const char *attr_name, TF_Bool *vals,
                                                                   int max_vals, TF_Status *status);
/* `values` point into `storage`, where the bytes are concatenated; INVALID_ARGUMENT if that is too short. */
TF_CAPI_EXPORT extern void TF_OpKernelConstruction_GetAttrStringList(TF_OpKernelConstruction *ctx,
                                                                     const char *attr_name, char **values,
                                                                     size_t *lengths, int max_values,
                                                                     void *storage, size_t storage_size,
                                                                     TF_Status *status);
/* The caller deletes the tensors; on error there are none. */
TF_CAPI_EXPORT extern void TF_OpKernelConstruction_GetAttrTensorList(TF_OpKernelConstruction *ctx,
                                                                     const char *attr_name, TF_Tensor **vals,
                                                                     int max_values, TF_Status *status);
/* The serialised NameAttrList of a function; the caller deletes it. NULL on error. */
TF_CAPI_EXPORT extern TF_Buffer *TF_OpKernelConstruction_GetAttrFunction(TF_OpKernelConstruction *ctx,
                                                                         const char *attr_name,
                                                                         TF_Status *status);
/* Makes the construction fail, and with it the caller. The first failure counts. */
TF_CAPI_EXPORT extern void TF_OpKernelConstruction_Failure(TF_OpKernelConstruction *ctx, TF_Status *status);

#ifdef __cplusplus
}
#endif

#endif
