/* The experimental part of TensorFlow's C API for eager execution. In the native library.
 *
 * Not included: metrics (TFE_Monitoring*), custom devices, packed handles, and what needs other processes:
 * ServerDefs, the coordination service.
 */
#ifndef TENSORFLOW_C_EAGER_C_API_EXPERIMENTAL_H_
#define TENSORFLOW_C_EAGER_C_API_EXPERIMENTAL_H_

#include "tensorflow/c/c_api.h"
#include "tensorflow/c/c_api_macros.h"
#include "tensorflow/c/eager/c_api.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- contexts ---- */

/* Accepted, and without effect. */
TF_NATIVE_EXPORT extern void TFE_ContextOptionsSetTfrt(TFE_ContextOptions *options, bool use_tfrt);
TF_NATIVE_EXPORT extern void TFE_ContextEnableGraphCollection(TFE_Context *ctx);
TF_NATIVE_EXPORT extern void TFE_ContextDisableGraphCollection(TFE_Context *ctx);
TF_NATIVE_EXPORT extern void TFE_ContextSetLogDevicePlacement(TFE_Context *ctx, unsigned char enable,
                                                              TF_Status *status);
TF_NATIVE_EXPORT extern void TFE_ContextSetRunEagerOpAsFunction(TFE_Context *ctx, unsigned char enable,
                                                                TF_Status *status);
TF_NATIVE_EXPORT extern void TFE_ContextSetJitCompileRewrite(TFE_Context *ctx, unsigned char enable,
                                                             TF_Status *status);
/* Whether ops run on another device when there is none of the name that they ask for. False by default. */
TF_NATIVE_EXPORT extern void TFE_ContextSetSoftDevicePlacement(TFE_Context *ctx, unsigned char enable,
                                                               TF_Status *status);
/* Every op has ended when TFE_Execute returns. */
TF_NATIVE_EXPORT extern void TFE_ContextAsyncWait(TFE_Context *ctx, TF_Status *status);
/* "/job:localhost/replica:0/task:0" */
TF_NATIVE_EXPORT extern void TFE_HostAddressSpace(TFE_Context *ctx, TF_Buffer *buf);
/* False: there are none. */
TF_NATIVE_EXPORT extern bool TFE_IsCustomDevice(TFE_Context *ctx, const char *device_name);
/* A serialised FunctionDef, or a function that the caller deletes. NOT_FOUND if there is no such function. */
TF_NATIVE_EXPORT extern void TFE_ContextGetFunctionDef(TFE_Context *ctx, const char *function_name,
                                                       TF_Buffer *buf, TF_Status *status);
TF_NATIVE_EXPORT extern TF_Function *TFE_ContextGetFunction(TFE_Context *ctx, const char *name,
                                                            TF_Status *status);

/* ---- executors ---- */

/* The order of ops. Ops run in the thread that executes them, so an executor only tells how it was made. NULL
 * when out of memory. */
typedef struct TFE_Executor TFE_Executor;
TF_NATIVE_EXPORT extern TFE_Executor *TFE_NewExecutor(bool is_async, bool enable_streaming_enqueue,
                                                      int in_flight_nodes_limit);
TF_NATIVE_EXPORT extern void TFE_DeleteExecutor(TFE_Executor *executor);
TF_NATIVE_EXPORT extern bool TFE_ExecutorIsAsync(TFE_Executor *executor);
TF_NATIVE_EXPORT extern void TFE_ExecutorWaitForAllPendingNodes(TFE_Executor *executor, TF_Status *status);
TF_NATIVE_EXPORT extern void TFE_ExecutorClearError(TFE_Executor *executor);
/* For all threads. The executor may be deleted. */
TF_NATIVE_EXPORT extern void TFE_ContextSetExecutorForThread(TFE_Context *ctx, TFE_Executor *executor);
/* A new executor like the one that was set, which the caller deletes. */
TF_NATIVE_EXPORT extern TFE_Executor *TFE_ContextGetExecutorForThread(TFE_Context *ctx);

/* ---- cancelling ---- */

/* Callbacks for the end of some work. */
typedef struct TFE_CancellationManager TFE_CancellationManager;
typedef int64_t TFE_CancellationToken;
typedef struct TFE_CancelCallback {
  void (*callback)(void *context);
  void *context;
} TFE_CancelCallback;

/* NULL when out of memory. */
TF_NATIVE_EXPORT extern TFE_CancellationManager *TFE_NewCancellationManager(void);
/* Cancels first. */
TF_NATIVE_EXPORT extern void TFE_DeleteCancellationManager(TFE_CancellationManager *manager);
TF_NATIVE_EXPORT extern bool TFE_CancellationManagerIsCancelled(TFE_CancellationManager *manager);
/* Whether the callbacks are being called. */
TF_NATIVE_EXPORT extern bool TFE_CancellationManagerIsCancelling(TFE_CancellationManager *manager);
/* Calls the callbacks, once, in the order in which they were registered. */
TF_NATIVE_EXPORT extern void TFE_CancellationManagerStartCancel(TFE_CancellationManager *manager);
/* 0, 1, 2, ... */
TF_NATIVE_EXPORT extern TFE_CancellationToken TFE_CancellationManagerGetToken(
    TFE_CancellationManager *manager);
/* False after cancelling has begun, or when out of memory: the callback will not be called. */
TF_NATIVE_EXPORT extern bool TFE_CancellationManagerRegisterCallback(TFE_CancellationManager *manager,
                                                                     TFE_CancellationToken token,
                                                                     const TFE_CancelCallback *c_callback,
                                                                     const char *callback_name);
/* False after cancelling has begun. The first one waits until the callbacks were called. */
TF_NATIVE_EXPORT extern bool TFE_CancellationManagerDeregisterCallback(TFE_CancellationManager *manager,
                                                                       TFE_CancellationToken token);
TF_NATIVE_EXPORT extern bool TFE_CancellationManagerTryDeregisterCallback(TFE_CancellationManager *manager,
                                                                          TFE_CancellationToken token);
/* Has no effect: an op that has begun runs to its end. */
TF_NATIVE_EXPORT extern void TFE_OpSetCancellationManager(TFE_Op *op,
                                                          TFE_CancellationManager *cancellation_manager,
                                                          TF_Status *status);

/* ---- handles ---- */

/* Uninitialised memory, or empty strings. The caller deletes the tensor. */
TF_NATIVE_EXPORT extern TF_Tensor *TFE_AllocateHostTensor(TFE_Context *ctx, TF_DataType dtype,
                                                          const int64_t *dims, int num_dims,
                                                          TF_Status *status);
/* As TFE_NewTensorHandle. */
TF_NATIVE_EXPORT extern TFE_TensorHandle *TFE_NewTensorHandleFromTensor(TFE_Context *ctx, TF_Tensor *t,
                                                                        TF_Status *status);
/* A value in the memory of the caller, for which `deallocator` is called when it is no longer used, also
 * after an error. INVALID_ARGUMENT "x unknown device." */
TF_NATIVE_EXPORT extern TFE_TensorHandle *TFE_NewTensorHandleFromDeviceMemory(
    TFE_Context *ctx, const char *device_name, TF_DataType dtype, const int64_t *dims, int num_dims,
    void *data, size_t len, void (*deallocator)(void *data, size_t len, void *arg), void *deallocator_arg,
    TF_Status *status);
/* The elements, and their size in bytes; valid as long as the handle. */
TF_NATIVE_EXPORT extern void *TFE_TensorHandleDevicePointer(TFE_TensorHandle *h, TF_Status *status);
TF_NATIVE_EXPORT extern size_t TFE_TensorHandleDeviceMemorySize(TFE_TensorHandle *h, TF_Status *status);
/* "CPU", and the number of the device. */
TF_NATIVE_EXPORT extern const char *TFE_TensorHandleDeviceType(TFE_TensorHandle *h, TF_Status *status);
TF_NATIVE_EXPORT extern int TFE_TensorHandleDeviceID(TFE_TensorHandle *h, TF_Status *status);
/* OK. */
TF_NATIVE_EXPORT extern void TFE_TensorHandleGetStatus(TFE_TensorHandle *h, TF_Status *status);

/* ---- ops ---- */

/* Makes the op another one, without inputs and attrs, as TFE_NewOp and TFE_OpSetDevice do. NULL: no device.
 * If there is no such op, the op stays as it was. */
TF_NATIVE_EXPORT extern void TFE_OpReset(TFE_Op *op_to_reset, const char *op_or_function_name,
                                         const char *raw_device_name, TF_Status *status);

/* The attrs of an op, valid as long as it is. */
typedef struct TFE_OpAttrs TFE_OpAttrs;
TF_NATIVE_EXPORT extern const TFE_OpAttrs *TFE_OpGetAttrs(const TFE_Op *op);
/* Adds the attrs that the op does not have yet. */
TF_NATIVE_EXPORT extern void TFE_OpAddAttrs(TFE_Op *op, const TFE_OpAttrs *attrs);
/* A serialised NameAttrList: the op's name and its attrs, with defaults. */
TF_NATIVE_EXPORT extern void TFE_OpAttrsSerialize(const TFE_OpAttrs *attrs, TF_Buffer *buf,
                                                  TF_Status *status);
/* A serialised AttrValue. */
TF_NATIVE_EXPORT extern void TFE_OpSetAttrValueProto(const TFE_Op *op, const char *attr_name,
                                                     const void *proto, size_t proto_len, TF_Status *status);

#ifdef __cplusplus
}
#endif

#endif
