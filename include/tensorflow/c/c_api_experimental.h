/* The experimental part of TensorFlow's C API for graphs. Not included: devices that are loaded at run time,
 * compilation (XLA), eager execution, checkpoints, and texts for debugging. */
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

#ifdef __cplusplus
}
#endif

#endif
