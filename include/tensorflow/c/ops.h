/* Ops described at run time: TensorFlow's C API for registering them and for their shape functions.
 *
 *   TF_OpDefinitionBuilder *builder = TF_NewOpDefinitionBuilder("MyScale");
 *   TF_OpDefinitionBuilderAddAttr(builder, "T: {float, double}");
 *   TF_OpDefinitionBuilderAddInput(builder, "x: T");
 *   TF_OpDefinitionBuilderAddOutput(builder, "y: T");
 *   TF_OpDefinitionBuilderSetShapeInferenceFunction(builder, same_shape);
 *   TF_RegisterOpDefinition(builder, status);
 *
 *   void same_shape(TF_ShapeInferenceContext *ctx, TF_Status *status) {
 *     TF_ShapeHandle *x = TF_NewShapeHandle();
 *     TF_ShapeInferenceContextGetInput(ctx, 0, x, status);
 *     if (TF_GetCode(status) == TF_OK) TF_ShapeInferenceContextSetOutput(ctx, 0, x, status);
 *     TF_DeleteShapeHandle(x);
 *   }
 *
 * Names, signatures and ownership are TensorFlow's. Where TensorFlow ends the process or waits with an error
 * until somebody looks at the ops, TF_RegisterOpDefinition reports it at once; an op that it reported OK for
 * is known to every graph from then on, for as long as the process lasts. Kernels are given by
 * tensorflow/c/kernels.h; what TensorFlow has in C++ only (texts, gradients, more of shape inference) by
 * tfcore/ops_extension.h. */
#ifndef TENSORFLOW_C_OPS_H_
#define TENSORFLOW_C_OPS_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tensorflow/c/c_api_macros.h"
#include "tensorflow/c/tf_datatype.h"
#include "tensorflow/c/tf_status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct TF_DimensionHandle TF_DimensionHandle;
typedef struct TF_OpDefinitionBuilder TF_OpDefinitionBuilder;
typedef struct TF_ShapeHandle TF_ShapeHandle;
typedef struct TF_ShapeInferenceContext TF_ShapeInferenceContext;

/* ---- the builder ---- */

/* NULL when out of memory. TF_RegisterOpDefinition or TF_DeleteOpDefinitionBuilder frees it. */
TF_CAPI_EXPORT extern TF_OpDefinitionBuilder *TF_NewOpDefinitionBuilder(const char *op_name);
/* Frees the builder, also on error: INVALID_ARGUMENT with all that is wrong in the specs, ALREADY_EXISTS "Op
 * with name X". A failed registration leaves nothing behind. */
TF_CAPI_EXPORT extern void TF_RegisterOpDefinition(TF_OpDefinitionBuilder *builder, TF_Status *status);
/* For a builder that is not registered. */
TF_CAPI_EXPORT extern void TF_DeleteOpDefinitionBuilder(TF_OpDefinitionBuilder *builder);

/* "<name>: <type>" or "<name>: <type> = <default>"; the type is one of string, int, float, bool, type, shape,
 * tensor, func, list(<type>), or restricts values: numbertype, realnumbertype, quantizedtype, "{int32,
 * int64}",
 * "{'SAME', 'VALID'}", "int >= 2", "list(type) >= 1". The default is in protobuf text format, "[a, b]" for
 * lists. */
TF_CAPI_EXPORT extern void TF_OpDefinitionBuilderAddAttr(TF_OpDefinitionBuilder *builder,
                                                         const char *attr_spec);
/* "<name>: <type>", where the type is float, int32, ... or an attr of kind type; "<name>: <number> * <type>"
 * for as many tensors as an int attr says; "<name>: <types>" for the tensors of an attr of kind list(type);
 * "<name>: Ref(<type>)". */
TF_CAPI_EXPORT extern void TF_OpDefinitionBuilderAddInput(TF_OpDefinitionBuilder *builder,
                                                          const char *input_spec);
TF_CAPI_EXPORT extern void TF_OpDefinitionBuilderAddOutput(TF_OpDefinitionBuilder *builder,
                                                           const char *output_spec);
/* The order of the inputs does not matter. False, here and below, changes nothing. */
TF_CAPI_EXPORT extern void TF_OpDefinitionBuilderSetIsCommutative(TF_OpDefinitionBuilder *builder,
                                                                  bool is_commutative);
/* N >= 2 inputs of one type and shape give one output of that type and shape, in any grouping. */
TF_CAPI_EXPORT extern void TF_OpDefinitionBuilderSetIsAggregate(TF_OpDefinitionBuilder *builder,
                                                                bool is_aggregate);
/* The op does more than to compute its outputs from its inputs: it is never folded, shared or left out, and
 * has one kernel a session. */
TF_CAPI_EXPORT extern void TF_OpDefinitionBuilderSetIsStateful(TF_OpDefinitionBuilder *builder,
                                                               bool is_stateful);
TF_CAPI_EXPORT extern void TF_OpDefinitionBuilderSetAllowsUninitializedInput(TF_OpDefinitionBuilder *builder,
                                                                             bool allows_uninitialized_input);
/* From GraphDef version `version` on the op may not be used any more; `explanation` says what to use
 * instead. */
TF_CAPI_EXPORT extern void TF_OpDefinitionBuilderDeprecated(TF_OpDefinitionBuilder *builder, int version,
                                                            const char *explanation);
/* The function runs when a node is added and when what is known of its inputs changes; it may run several
 * times for one node. An error that it sets is the error of adding the node, where the node's input shapes
 * are added to it. It must not change the graph: adding a node is FAILED_PRECONDITION. Without a shape
 * function nothing is known of the outputs. */
TF_CAPI_EXPORT extern void TF_OpDefinitionBuilderSetShapeInferenceFunction(
    TF_OpDefinitionBuilder *builder,
    void (*shape_inference_func)(TF_ShapeInferenceContext *ctx, TF_Status *status));

/* ---- handles ----
 * A handle is a place that holds a shape (or dimension), or nothing yet, which counts as an unknown one. What
 * it holds is good until the shape function returns. Results may go into a handle that is an argument too. */

/* NULL when out of memory. */
TF_CAPI_EXPORT extern TF_ShapeHandle *TF_NewShapeHandle(void);
TF_CAPI_EXPORT extern void TF_DeleteShapeHandle(TF_ShapeHandle *handle);
TF_CAPI_EXPORT extern TF_DimensionHandle *TF_NewDimensionHandle(void);
TF_CAPI_EXPORT extern void TF_DeleteDimensionHandle(TF_DimensionHandle *handle);
TF_CAPI_EXPORT extern int TF_DimensionHandleValueKnown(TF_DimensionHandle *dim_handle);
/* -1 when it is unknown. */
TF_CAPI_EXPORT extern int64_t TF_DimensionHandleValue(TF_DimensionHandle *dim_handle);

/* ---- in a shape function ---- */

TF_CAPI_EXPORT extern int64_t TF_ShapeInferenceContextNumInputs(TF_ShapeInferenceContext *ctx);
/* INVALID_ARGUMENT when there is no such input (output). */
TF_CAPI_EXPORT extern void TF_ShapeInferenceContextGetInput(TF_ShapeInferenceContext *ctx, int i,
                                                            TF_ShapeHandle *handle, TF_Status *status);
TF_CAPI_EXPORT extern void TF_ShapeInferenceContextSetOutput(TF_ShapeInferenceContext *ctx, int i,
                                                             TF_ShapeHandle *handle, TF_Status *status);
/* Every output becomes unknown. */
TF_CAPI_EXPORT extern void TF_ShapeInferenceContextSetUnknownShape(TF_ShapeInferenceContext *ctx,
                                                                   TF_Status *status);
TF_CAPI_EXPORT extern void TF_ShapeInferenceContext_GetAttrType(TF_ShapeInferenceContext *ctx,
                                                                const char *attr_name, TF_DataType *val,
                                                                TF_Status *status);
/* New handles, which the caller deletes; NULL when out of memory. */
TF_CAPI_EXPORT extern TF_ShapeHandle *TF_ShapeInferenceContextScalar(TF_ShapeInferenceContext *ctx);
TF_CAPI_EXPORT extern TF_ShapeHandle *TF_ShapeInferenceContextVectorFromSize(TF_ShapeInferenceContext *ctx,
                                                                             size_t size);
/* -1 when it is unknown. */
TF_CAPI_EXPORT extern int64_t TF_ShapeInferenceContextRank(TF_ShapeInferenceContext *ctx,
                                                           TF_ShapeHandle *handle);
TF_CAPI_EXPORT extern int TF_ShapeInferenceContextRankKnown(TF_ShapeInferenceContext *ctx,
                                                            TF_ShapeHandle *handle);
/* The shape as one of that rank: INVALID_ARGUMENT "Shape must be rank 2 but is rank 1". */
TF_CAPI_EXPORT extern void TF_ShapeInferenceContextWithRank(TF_ShapeInferenceContext *ctx,
                                                            TF_ShapeHandle *handle, int64_t rank,
                                                            TF_ShapeHandle *result, TF_Status *status);
TF_CAPI_EXPORT extern void TF_ShapeInferenceContextWithRankAtLeast(TF_ShapeInferenceContext *ctx,
                                                                   TF_ShapeHandle *handle, int64_t rank,
                                                                   TF_ShapeHandle *result, TF_Status *status);
TF_CAPI_EXPORT extern void TF_ShapeInferenceContextWithRankAtMost(TF_ShapeInferenceContext *ctx,
                                                                  TF_ShapeHandle *handle, int64_t rank,
                                                                  TF_ShapeHandle *result, TF_Status *status);
/* Dimension `i`, from the end when negative; an unknown one when there is none. */
TF_CAPI_EXPORT extern void TF_ShapeInferenceContextDim(TF_ShapeInferenceContext *ctx,
                                                       TF_ShapeHandle *shape_handle, int64_t i,
                                                       TF_DimensionHandle *result);
/* Dimensions [start, end), from the end when negative; ends beyond the rank are the rank. */
TF_CAPI_EXPORT extern void TF_ShapeInferenceContextSubshape(TF_ShapeInferenceContext *ctx,
                                                            TF_ShapeHandle *shape_handle, int64_t start,
                                                            int64_t end, TF_ShapeHandle *result,
                                                            TF_Status *status);
TF_CAPI_EXPORT extern void TF_ShapeInferenceContextConcatenateShapes(TF_ShapeInferenceContext *ctx,
                                                                     TF_ShapeHandle *first,
                                                                     TF_ShapeHandle *second,
                                                                     TF_ShapeHandle *result,
                                                                     TF_Status *status);

#ifdef __cplusplus
}
#endif

#endif
