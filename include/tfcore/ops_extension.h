/* Extensions of TensorFlow's C API for ops described at run time, which TensorFlow offers in C++ only.
 * Handles, contexts and errors are those of tensorflow/c/ops.h. */
#ifndef TFCORE_OPS_EXTENSION_H_
#define TFCORE_OPS_EXTENSION_H_

#include "tensorflow/c/ops.h"
#include "tensorflow/c/tf_buffer.h"
#include "tensorflow/c/tf_tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- the builder ---- */

TF_CAPI_EXPORT extern void TF_OpDefinitionBuilderAddControlOutput(TF_OpDefinitionBuilder *builder,
                                                                  const char *name);
/* The first line is the summary; "name: text" in the following lines describes an argument or attr. */
TF_CAPI_EXPORT extern void TF_OpDefinitionBuilderDoc(TF_OpDefinitionBuilder *builder, const char *text);
/* The op's gradient: a function in the language of printed functions, whose arguments are the op's inputs
 * followed by one gradient for each output, and whose results are one gradient for each input:
 *
 *   CubeGrad[T:{float, double}](x:T, dy:T) -> (dx:T) {
 *     three = Const[dtype=$T, value=3]()
 *     x2 = Square[T=$T](x)
 *     a = Mul[T=$T](three:output:0, x2:y:0)
 *     dx = Mul[T=$T](a:z:0, dy)
 *     return dx = dx:z:0
 *   }
 *
 * `$T` stands for the node's attr T. "none": no gradient flows through the op. NULL, the default: the op has
 * no gradient, and requesting one is an error. TF_RegisterOpDefinition reports INVALID_ARGUMENT if the text
 * is not a function.
 */
TF_CAPI_EXPORT extern void TF_OpDefinitionBuilderSetGradient(TF_OpDefinitionBuilder *builder,
                                                             const char *gradient);

/* ---- queries in a shape function ---- */

TF_CAPI_EXPORT extern int64_t TF_ShapeInferenceContextNumOutputs(TF_ShapeInferenceContext *ctx);
/* The version of the graph's producer. */
TF_CAPI_EXPORT extern int TF_ShapeInferenceContextGraphDefVersion(TF_ShapeInferenceContext *ctx);
/* The serialised AttrValue of an attr; the buffer must be empty. NOT_FOUND without such an attr. */
TF_CAPI_EXPORT extern void TF_ShapeInferenceContextGetAttrValueProto(TF_ShapeInferenceContext *ctx,
                                                                     const char *attr_name,
                                                                     TF_Buffer *output_attr_value,
                                                                     TF_Status *status);
/* The constant value of an input, which the caller deletes; NULL if it is unknown. The engine then tries to
 * compute it: if it can, the shape function runs again. */
TF_CAPI_EXPORT extern TF_Tensor *TF_ShapeInferenceContextInputTensor(TF_ShapeInferenceContext *ctx, int i,
                                                                     TF_Status *status);
/* The shape given by input `i`, a vector of sizes, as far as its value is known. */
TF_CAPI_EXPORT extern void TF_ShapeInferenceContextMakeShapeFromShapeTensor(TF_ShapeInferenceContext *ctx,
                                                                            int i, TF_ShapeHandle *result,
                                                                            TF_Status *status);
/* The size given by input `i`, a scalar; unknown if its value is unknown. */
TF_CAPI_EXPORT extern void TF_ShapeInferenceContextMakeDimForScalarInput(TF_ShapeInferenceContext *ctx, int i,
                                                                         TF_DimensionHandle *result,
                                                                         TF_Status *status);
/* Whether two handles hold the same shape (dimension). An unknown one keeps its identity when it is passed
 * on, so these recognise equal sizes even if they are unknown. */
TF_CAPI_EXPORT extern int TF_ShapeHandleSame(TF_ShapeHandle *a, TF_ShapeHandle *b);
TF_CAPI_EXPORT extern int TF_DimensionHandleSame(TF_DimensionHandle *a, TF_DimensionHandle *b);

/* ---- new shapes and dimensions ---- */

/* Rank -1: a shape of unknown rank; else one with that many unknown dimensions. */
TF_CAPI_EXPORT extern void TF_ShapeInferenceContextMakeUnknownShape(TF_ShapeInferenceContext *ctx,
                                                                    int64_t rank, TF_ShapeHandle *result,
                                                                    TF_Status *status);
TF_CAPI_EXPORT extern void TF_ShapeInferenceContextMakeShape(TF_ShapeInferenceContext *ctx,
                                                             TF_DimensionHandle *const *dims, int num_dims,
                                                             TF_ShapeHandle *result, TF_Status *status);
/* A new dimension; -1: an unknown one, different from all others. */
TF_CAPI_EXPORT extern void TF_ShapeInferenceContextMakeDim(TF_ShapeInferenceContext *ctx, int64_t value,
                                                           TF_DimensionHandle *result, TF_Status *status);
/* The product of the sizes; unknown if one is unknown. */
TF_CAPI_EXPORT extern void TF_ShapeInferenceContextNumElements(TF_ShapeInferenceContext *ctx,
                                                               TF_ShapeHandle *handle,
                                                               TF_DimensionHandle *result, TF_Status *status);

/* ---- checks and combinations ---- */

/* The merge of both; INVALID_ARGUMENT if they contradict each other. */
TF_CAPI_EXPORT extern void TF_ShapeInferenceContextMerge(TF_ShapeInferenceContext *ctx, TF_ShapeHandle *a,
                                                         TF_ShapeHandle *b, TF_ShapeHandle *result,
                                                         TF_Status *status);
TF_CAPI_EXPORT extern void TF_ShapeInferenceContextMergeDim(TF_ShapeInferenceContext *ctx,
                                                            TF_DimensionHandle *a, TF_DimensionHandle *b,
                                                            TF_DimensionHandle *result, TF_Status *status);
/* The shape of both after broadcasting. */
TF_CAPI_EXPORT extern void TF_ShapeInferenceContextBroadcast(TF_ShapeInferenceContext *ctx, TF_ShapeHandle *a,
                                                             TF_ShapeHandle *b, TF_ShapeHandle *result,
                                                             TF_Status *status);
/* The dimension, which must be `value` or unknown. */
TF_CAPI_EXPORT extern void TF_ShapeInferenceContextWithValue(TF_ShapeInferenceContext *ctx,
                                                             TF_DimensionHandle *dim, int64_t value,
                                                             TF_DimensionHandle *result, TF_Status *status);
TF_CAPI_EXPORT extern void TF_ShapeInferenceContextReplaceDim(TF_ShapeInferenceContext *ctx,
                                                              TF_ShapeHandle *handle, int64_t i,
                                                              TF_DimensionHandle *dim, TF_ShapeHandle *result,
                                                              TF_Status *status);
/* As TF_ShapeInferenceContextSubshape, in steps of `stride`, which may be negative. */
TF_CAPI_EXPORT extern void TF_ShapeInferenceContextSubshapeWithStride(TF_ShapeInferenceContext *ctx,
                                                                      TF_ShapeHandle *handle, int64_t start,
                                                                      int64_t end, int64_t stride,
                                                                      TF_ShapeHandle *result,
                                                                      TF_Status *status);
/* Results that are negative or too large are INVALID_ARGUMENT; results of unknown sizes are unknown. */
TF_CAPI_EXPORT extern void TF_ShapeInferenceContextAddDims(TF_ShapeInferenceContext *ctx,
                                                           TF_DimensionHandle *a, TF_DimensionHandle *b,
                                                           TF_DimensionHandle *result, TF_Status *status);
TF_CAPI_EXPORT extern void TF_ShapeInferenceContextSubtractDims(TF_ShapeInferenceContext *ctx,
                                                                TF_DimensionHandle *a, TF_DimensionHandle *b,
                                                                TF_DimensionHandle *result,
                                                                TF_Status *status);
TF_CAPI_EXPORT extern void TF_ShapeInferenceContextMultiplyDims(TF_ShapeInferenceContext *ctx,
                                                                TF_DimensionHandle *a, TF_DimensionHandle *b,
                                                                TF_DimensionHandle *result,
                                                                TF_Status *status);
/* `evenly` other than 0: a remainder is INVALID_ARGUMENT; else the result is rounded down. */
TF_CAPI_EXPORT extern void TF_ShapeInferenceContextDivideDim(TF_ShapeInferenceContext *ctx,
                                                             TF_DimensionHandle *dim, int64_t divisor,
                                                             int evenly, TF_DimensionHandle *result,
                                                             TF_Status *status);
TF_CAPI_EXPORT extern void TF_ShapeInferenceContextMinDims(TF_ShapeInferenceContext *ctx,
                                                           TF_DimensionHandle *a, TF_DimensionHandle *b,
                                                           TF_DimensionHandle *result, TF_Status *status);
TF_CAPI_EXPORT extern void TF_ShapeInferenceContextMaxDims(TF_ShapeInferenceContext *ctx,
                                                           TF_DimensionHandle *a, TF_DimensionHandle *b,
                                                           TF_DimensionHandle *result, TF_Status *status);

#ifdef __cplusplus
}
#endif

#endif
