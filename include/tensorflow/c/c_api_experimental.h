/* What TensorFlow has of graphs outside the stable part of its C API. Left out are devices that are loaded at
 * run time, compilation (XLA), eager execution, checkpoints, and texts for debugging. */
#ifndef TENSORFLOW_C_C_API_EXPERIMENTAL_H_
#define TENSORFLOW_C_C_API_EXPERIMENTAL_H_

#include "tensorflow/c/c_api.h"
#include "tensorflow/c/tf_export.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Whether every "loc:@n" in an attr `_class` must name a node of the GraphDef. It must, unless this is called
 * with 0. */
TF_CAPI_EXPORT extern void TF_ImportGraphDefOptionsSetValidateColocationConstraints(
    TF_ImportGraphDefOptions *opts, unsigned char enable);
/* 1 for an op that has side effects or state; 0, with a NOT_FOUND, for one that is not known. */
TF_CAPI_EXPORT extern int TF_OpIsStateful(const char *op_type, TF_Status *status);

/* Takes a function out of the graph's library. Operations that call it stay; they cannot be run any more.
 * INVALID_ARGUMENT when there is no such function. */
TF_CAPI_EXPORT extern void TF_GraphRemoveFunction(TF_Graph *g, const char *func_name, TF_Status *status);

#ifdef __cplusplus
}
#endif

#endif
