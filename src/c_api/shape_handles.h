/* The structs behind the handles of tensorflow/c/ops.h. A TF_ShapeInferenceContext is an InferenceContext. */
#ifndef TFCORE_C_API_SHAPE_HANDLES_H_
#define TFCORE_C_API_SHAPE_HANDLES_H_

#include "c_api/c_api_internal.h"
#include "op/shape_inference.h"
#include "tfcore/ops_extension.h"

typedef void (*ForeignShapeFn)(TF_ShapeInferenceContext *ctx, TF_Status *status);

struct TF_ShapeHandle {
  ShapeHandle shape; /* NULL: empty */
};

struct TF_DimensionHandle {
  DimHandle dim; /* NULL: empty */
};

static inline InferenceContext *inference_of(TF_ShapeInferenceContext *ctx) {
  return (InferenceContext *)ctx;
}

#endif
