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
 * Names, signatures and ownership are TensorFlow's. Where TensorFlow aborts, or delays an error until the ops
 * are looked up, TF_RegisterOpDefinition reports it at once. After OK, every graph knows the op as long as
 * the process lasts. Kernels are registered with tensorflow/c/kernels.h. Features that TensorFlow has in C++
 * only (texts, gradients, more of shape inference) are in tfcore/ops_extension.h.
 */
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
/* Frees the builder, also on error: INVALID_ARGUMENT with all errors in the specs, ALREADY_EXISTS "Op with
 * name X". A failed registration changes nothing. */
TF_CAPI_EXPORT extern void TF_RegisterOpDefinition(TF_OpDefinitionBuilder *builder, TF_Status *status);
/* For a builder that was not registered. */
TF_CAPI_EXPORT extern void TF_DeleteOpDefinitionBuilder(TF_OpDefinitionBuilder *builder);

/* "<name>: <type>" or "<name>: <type> = <default>"; the type is one of string, int, float, bool, type, shape,
 * tensor, func, list(<type>), or restricts values: numbertype, realnumbertype, quantizedtype, "{int32,
 * int64}",
 * "{'SAME', 'VALID'}", "int >= 2", "list(type) >= 1". The default is in protobuf text format, "[a, b]" for
 * lists. */
TF_CAPI_EXPORT extern void TF_OpDefinitionBuilderAddAttr(TF_OpDefinitionBuilder *builder,
                                                         const char *attr_spec);
/* "<name>: <type>", where the type is float, int32, ... or an attr of type `type`; "<name>: <number> *
 * <type>" for a number of tensors given by an int attr; "<name>: <types>" for tensors with the types of an
 * attr of type list(type); "<name>: Ref(<type>)". */
TF_CAPI_EXPORT extern void TF_OpDefinitionBuilderAddInput(TF_OpDefinitionBuilder *builder,
                                                          const char *input_spec);
TF_CAPI_EXPORT extern void TF_OpDefinitionBuilderAddOutput(TF_OpDefinitionBuilder *builder,
                                                           const char *output_spec);
/* The order of the inputs does not matter. False, here and below, has no effect. */
TF_CAPI_EXPORT extern void TF_OpDefinitionBuilderSetIsCommutative(TF_OpDefinitionBuilder *builder,
                                                                  bool is_commutative);
/* N >= 2 inputs of one type and shape give one output of that type and shape, in any grouping. */
TF_CAPI_EXPORT extern void TF_OpDefinitionBuilderSetIsAggregate(TF_OpDefinitionBuilder *builder,
                                                                bool is_aggregate);
/* The op does more than compute its outputs from its inputs: it is never folded, merged or removed, and has
 * one kernel per session. */
TF_CAPI_EXPORT extern void TF_OpDefinitionBuilderSetIsStateful(TF_OpDefinitionBuilder *builder,
                                                               bool is_stateful);
TF_CAPI_EXPORT extern void TF_OpDefinitionBuilderSetAllowsUninitializedInput(TF_OpDefinitionBuilder *builder,
                                                                             bool allows_uninitialized_input);
/* From GraphDef version `version` on the op must not be used any more; `explanation` says what to use
 * instead. */
TF_CAPI_EXPORT extern void TF_OpDefinitionBuilderDeprecated(TF_OpDefinitionBuilder *builder, int version,
                                                            const char *explanation);
/* The function runs when a node is added and when its inputs' shapes change; it may run several times for one
 * node. Its error becomes the error of adding the node, with the node's input shapes appended. It must not
 * change the graph: adding a node is FAILED_PRECONDITION. Without a shape function the outputs are
 * unknown. */
TF_CAPI_EXPORT extern void TF_OpDefinitionBuilderSetShapeInferenceFunction(
    TF_OpDefinitionBuilder *builder,
    void (*shape_inference_func)(TF_ShapeInferenceContext *ctx, TF_Status *status));

/* ---- handles ----
 * A handle holds a shape (or dimension), or nothing yet, which counts as unknown. Its contents are valid
 * until the shape function returns. A result may be stored in a handle that is also an argument.
 */

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
/* INVALID_ARGUMENT if there is no such input (output). */
TF_CAPI_EXPORT extern void TF_ShapeInferenceContextGetInput(TF_ShapeInferenceContext *ctx, int i,
                                                            TF_ShapeHandle *handle, TF_Status *status);
TF_CAPI_EXPORT extern void TF_ShapeInferenceContextSetOutput(TF_ShapeInferenceContext *ctx, int i,
                                                             TF_ShapeHandle *handle, TF_Status *status);
/* Makes every output unknown. */
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
/* Checks and returns the shape with that rank: INVALID_ARGUMENT "Shape must be rank 2 but is rank 1". */
TF_CAPI_EXPORT extern void TF_ShapeInferenceContextWithRank(TF_ShapeInferenceContext *ctx,
                                                            TF_ShapeHandle *handle, int64_t rank,
                                                            TF_ShapeHandle *result, TF_Status *status);
TF_CAPI_EXPORT extern void TF_ShapeInferenceContextWithRankAtLeast(TF_ShapeInferenceContext *ctx,
                                                                   TF_ShapeHandle *handle, int64_t rank,
                                                                   TF_ShapeHandle *result, TF_Status *status);
TF_CAPI_EXPORT extern void TF_ShapeInferenceContextWithRankAtMost(TF_ShapeInferenceContext *ctx,
                                                                  TF_ShapeHandle *handle, int64_t rank,
                                                                  TF_ShapeHandle *result, TF_Status *status);
/* Dimension `i`, counted from the end if negative. An unknown dimension if `i` is out of range. */
TF_CAPI_EXPORT extern void TF_ShapeInferenceContextDim(TF_ShapeInferenceContext *ctx,
                                                       TF_ShapeHandle *shape_handle, int64_t i,
                                                       TF_DimensionHandle *result);
/* Dimensions [start, end), from the end if negative; bounds beyond the rank are clamped to it. */
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
