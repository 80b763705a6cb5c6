/* TensorFlow's C API for eager execution: single ops and functions, run at once. In the native library.
 *
 *   TFE_Context *context = TFE_NewContext(options, status);
 *   TFE_Op *op = TFE_NewOp(context, "MatMul", status);
 *   TFE_OpAddInput(op, a, status);
 *   TFE_OpAddInput(op, b, status);
 *   TFE_Execute(op, &product, &num_results, status);
 *
 * A context has the variables and functions that its ops use, and remembers each op that it ran with its
 * attrs, so that the next call is fast. Ops run in the thread that executes them, also in a context that is
 * asked to be asynchronous: a result is always there, and an error belongs to its call.
 */
#ifndef TENSORFLOW_C_EAGER_C_API_H_
#define TENSORFLOW_C_EAGER_C_API_H_

#include "tensorflow/c/c_api.h"
#include "tensorflow/c/c_api_macros.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- contexts ---- */

typedef struct TFE_ContextOptions TFE_ContextOptions;
typedef struct TFE_Context TFE_Context;

/* What happens to an input that is on another device: there is nothing to copy, because all devices share the
 * memory of the process. */
typedef enum TFE_ContextDevicePlacementPolicy {
  TFE_DEVICE_PLACEMENT_EXPLICIT = 0,
  TFE_DEVICE_PLACEMENT_WARN = 1,
  TFE_DEVICE_PLACEMENT_SILENT = 2,
  TFE_DEVICE_PLACEMENT_SILENT_FOR_INT32 = 3,
} TFE_ContextDevicePlacementPolicy;

/* NULL when out of memory. */
TF_NATIVE_EXPORT extern TFE_ContextOptions *TFE_NewContextOptions(void);
/* A serialised ConfigProto, as in TF_SetConfig. */
TF_NATIVE_EXPORT extern void TFE_ContextOptionsSetConfig(TFE_ContextOptions *options, const void *proto,
                                                         size_t proto_len, TF_Status *status);
/* Without effect, except on TFE_ContextGetExecutorForThread. */
TF_NATIVE_EXPORT extern void TFE_ContextOptionsSetAsync(TFE_ContextOptions *options, unsigned char enable);
TF_NATIVE_EXPORT extern void TFE_ContextOptionsSetDevicePlacementPolicy(
    TFE_ContextOptions *options, TFE_ContextDevicePlacementPolicy policy);
TF_NATIVE_EXPORT extern void TFE_DeleteContextOptions(TFE_ContextOptions *options);

/* NULL on error. */
TF_NATIVE_EXPORT extern TFE_Context *TFE_NewContext(const TFE_ContextOptions *opts, TF_Status *status);
/* Tensor handles may outlive the context, ops may not. */
TF_NATIVE_EXPORT extern void TFE_DeleteContext(TFE_Context *ctx);
/* The caller deletes the list. */
TF_NATIVE_EXPORT extern TF_DeviceList *TFE_ContextListDevices(TFE_Context *ctx, TF_Status *status);
/* Forgets the ops that ran, with the state of their kernels. Variables stay. */
TF_NATIVE_EXPORT extern void TFE_ContextClearCaches(TFE_Context *ctx);
TF_NATIVE_EXPORT extern void TFE_ContextSetThreadLocalDevicePlacementPolicy(
    TFE_Context *ctx, TFE_ContextDevicePlacementPolicy policy);
TF_NATIVE_EXPORT extern TFE_ContextDevicePlacementPolicy TFE_ContextGetDevicePlacementPolicy(
    TFE_Context *ctx);

/* UNIMPLEMENTED: ops run in this process. */
TF_NATIVE_EXPORT extern void TFE_ContextSetServerDef(TFE_Context *ctx, int keep_alive_secs, const void *proto,
                                                     size_t proto_len, TF_Status *status);

/* A serialised FunctionDef. */
TF_NATIVE_EXPORT extern void TFE_ContextAddFunctionDef(TFE_Context *ctx, const char *serialized_function_def,
                                                       size_t size, TF_Status *status);
/* Copied. */
TF_NATIVE_EXPORT extern void TFE_ContextAddFunction(TFE_Context *ctx, TF_Function *function,
                                                    TF_Status *status);
TF_NATIVE_EXPORT extern void TFE_ContextRemoveFunction(TFE_Context *ctx, const char *name, TF_Status *status);
TF_NATIVE_EXPORT extern unsigned char TFE_ContextHasFunction(TFE_Context *ctx, const char *name);

/* Nothing is recorded: the exported RunMetadata is empty. */
TF_NATIVE_EXPORT extern void TFE_ContextEnableRunMetadata(TFE_Context *ctx);
TF_NATIVE_EXPORT extern void TFE_ContextDisableRunMetadata(TFE_Context *ctx);
TF_NATIVE_EXPORT extern void TFE_ContextExportRunMetadata(TFE_Context *ctx, TF_Buffer *buf,
                                                          TF_Status *status);
/* Resources of a step live as long as the call of an op, with these calls or without. */
TF_NATIVE_EXPORT extern void TFE_ContextStartStep(TFE_Context *ctx);
TF_NATIVE_EXPORT extern void TFE_ContextEndStep(TFE_Context *ctx);

/* ---- values ---- */

typedef struct TFE_TensorHandle TFE_TensorHandle;

/* Shares the memory of the tensor. INVALID_ARGUMENT "Invalid handle" from the calls below for NULL. */
TF_NATIVE_EXPORT extern TFE_TensorHandle *TFE_NewTensorHandle(const TF_Tensor *t, TF_Status *status);
TF_NATIVE_EXPORT extern void TFE_DeleteTensorHandle(TFE_TensorHandle *h);
TF_NATIVE_EXPORT extern TF_DataType TFE_TensorHandleDataType(TFE_TensorHandle *h);
TF_NATIVE_EXPORT extern int TFE_TensorHandleNumDims(TFE_TensorHandle *h, TF_Status *status);
TF_NATIVE_EXPORT extern int64_t TFE_TensorHandleNumElements(TFE_TensorHandle *h, TF_Status *status);
/* -1 for a dimension that there is not. */
TF_NATIVE_EXPORT extern int64_t TFE_TensorHandleDim(TFE_TensorHandle *h, int dim_index, TF_Status *status);
/* The device of the op that made the value, and the device whose memory has it. Owned by the handle. */
TF_NATIVE_EXPORT extern const char *TFE_TensorHandleDeviceName(TFE_TensorHandle *h, TF_Status *status);
TF_NATIVE_EXPORT extern const char *TFE_TensorHandleBackingDeviceName(TFE_TensorHandle *h, TF_Status *status);
/* Another handle of the same value. */
TF_NATIVE_EXPORT extern TFE_TensorHandle *TFE_TensorHandleCopySharingTensor(TFE_TensorHandle *h,
                                                                            TF_Status *status);
/* A tensor that shares the memory of the value, and that the caller deletes. */
TF_NATIVE_EXPORT extern TF_Tensor *TFE_TensorHandleResolve(TFE_TensorHandle *h, TF_Status *status);
/* INVALID_ARGUMENT "x unknown device." */
TF_NATIVE_EXPORT extern TFE_TensorHandle *TFE_TensorHandleCopyToDevice(TFE_TensorHandle *h, TFE_Context *ctx,
                                                                       const char *device_name,
                                                                       TF_Status *status);

/* The shape in the memory of the device, which is the value's shape. */
typedef struct TFE_TensorDebugInfo TFE_TensorDebugInfo;
TF_NATIVE_EXPORT extern TFE_TensorDebugInfo *TFE_TensorHandleTensorDebugInfo(TFE_TensorHandle *h,
                                                                             TF_Status *status);
TF_NATIVE_EXPORT extern void TFE_DeleteTensorDebugInfo(TFE_TensorDebugInfo *debug_info);
TF_NATIVE_EXPORT extern int TFE_TensorDebugInfoOnDeviceNumDims(TFE_TensorDebugInfo *debug_info);
TF_NATIVE_EXPORT extern int64_t TFE_TensorDebugInfoOnDeviceDim(TFE_TensorDebugInfo *debug_info,
                                                               int dim_index);

/* ---- ops ---- */

/* A call: an op or a function with inputs and attrs. */
typedef struct TFE_Op TFE_Op;

/* NULL with NOT_FOUND if there is no such op or function. */
TF_NATIVE_EXPORT extern TFE_Op *TFE_NewOp(TFE_Context *ctx, const char *op_or_function_name,
                                          TF_Status *status);
TF_NATIVE_EXPORT extern void TFE_DeleteOp(TFE_Op *op);
TF_NATIVE_EXPORT extern const char *TFE_OpGetName(const TFE_Op *op, TF_Status *status);
TF_NATIVE_EXPORT extern TFE_Context *TFE_OpGetContext(const TFE_Op *op, TF_Status *status);
/* A full, partial or local name; "" leaves the choice to the context. */
TF_NATIVE_EXPORT extern void TFE_OpSetDevice(TFE_Op *op, const char *device_name, TF_Status *status);
TF_NATIVE_EXPORT extern const char *TFE_OpGetDevice(const TFE_Op *op, TF_Status *status);

/* The value is shared; the handle may be deleted. Types of attrs follow from the inputs. */
TF_NATIVE_EXPORT extern void TFE_OpAddInput(TFE_Op *op, TFE_TensorHandle *input, TF_Status *status);
TF_NATIVE_EXPORT extern void TFE_OpAddInputList(TFE_Op *op, TFE_TensorHandle **inputs, int num_inputs,
                                                TF_Status *status);
TF_NATIVE_EXPORT extern int TFE_OpGetFlatInputCount(const TFE_Op *op, TF_Status *status);
/* Owned by the op. */
TF_NATIVE_EXPORT extern TFE_TensorHandle *TFE_OpGetFlatInput(const TFE_Op *op, int index, TF_Status *status);

/* TF_ATTR_INT with INVALID_ARGUMENT when there is no such attr. */
TF_NATIVE_EXPORT extern TF_AttrType TFE_OpGetAttrType(TFE_Op *op, const char *attr_name,
                                                      unsigned char *is_list, TF_Status *status);
TF_NATIVE_EXPORT extern TF_AttrType TFE_OpNameGetAttrType(TFE_Context *ctx, const char *op_or_function_name,
                                                          const char *attr_name, unsigned char *is_list,
                                                          TF_Status *status);

/* Values are copied. Those without a status are reported by TFE_Execute. */
TF_NATIVE_EXPORT extern void TFE_OpSetAttrString(TFE_Op *op, const char *attr_name, const void *value,
                                                 size_t length);
TF_NATIVE_EXPORT extern void TFE_OpSetAttrInt(TFE_Op *op, const char *attr_name, int64_t value);
TF_NATIVE_EXPORT extern void TFE_OpSetAttrFloat(TFE_Op *op, const char *attr_name, float value);
TF_NATIVE_EXPORT extern void TFE_OpSetAttrBool(TFE_Op *op, const char *attr_name, unsigned char value);
TF_NATIVE_EXPORT extern void TFE_OpSetAttrType(TFE_Op *op, const char *attr_name, TF_DataType value);
TF_NATIVE_EXPORT extern void TFE_OpSetAttrShape(TFE_Op *op, const char *attr_name, const int64_t *dims,
                                                const int num_dims, TF_Status *out_status);
/* The name and the attrs of `value`. */
TF_NATIVE_EXPORT extern void TFE_OpSetAttrFunction(TFE_Op *op, const char *attr_name, const TFE_Op *value);
TF_NATIVE_EXPORT extern void TFE_OpSetAttrFunctionName(TFE_Op *op, const char *attr_name, const char *data,
                                                       size_t length);
TF_NATIVE_EXPORT extern void TFE_OpSetAttrTensor(TFE_Op *op, const char *attr_name, TF_Tensor *tensor,
                                                 TF_Status *status);
TF_NATIVE_EXPORT extern void TFE_OpSetAttrStringList(TFE_Op *op, const char *attr_name,
                                                     const void *const *values, const size_t *lengths,
                                                     int num_values);
TF_NATIVE_EXPORT extern void TFE_OpSetAttrIntList(TFE_Op *op, const char *attr_name, const int64_t *values,
                                                  int num_values);
TF_NATIVE_EXPORT extern void TFE_OpSetAttrFloatList(TFE_Op *op, const char *attr_name, const float *values,
                                                    int num_values);
TF_NATIVE_EXPORT extern void TFE_OpSetAttrBoolList(TFE_Op *op, const char *attr_name,
                                                   const unsigned char *values, int num_values);
TF_NATIVE_EXPORT extern void TFE_OpSetAttrTypeList(TFE_Op *op, const char *attr_name,
                                                   const TF_DataType *values, int num_values);
TF_NATIVE_EXPORT extern void TFE_OpSetAttrShapeList(TFE_Op *op, const char *attr_name, const int64_t **dims,
                                                    const int *num_dims, int num_values,
                                                    TF_Status *out_status);
TF_NATIVE_EXPORT extern void TFE_OpSetAttrFunctionList(TFE_Op *op, const char *attr_name,
                                                       const TFE_Op **value, int num_values);

/* The number of inputs or outputs of an argument, from the inputs and attrs so far; -1 with an error. */
TF_NATIVE_EXPORT extern int TFE_OpGetInputLength(TFE_Op *op, const char *input_name, TF_Status *status);
TF_NATIVE_EXPORT extern int TFE_OpGetOutputLength(TFE_Op *op, const char *output_name, TF_Status *status);

/* Runs the op. *num_retvals is the space in `retvals`, and becomes the number of results, new handles that
 * the caller deletes. The op may be executed again. */
TF_NATIVE_EXPORT extern void TFE_Execute(TFE_Op *op, TFE_TensorHandle **retvals, int *num_retvals,
                                         TF_Status *status);

#ifdef __cplusplus
}
#endif

#endif
