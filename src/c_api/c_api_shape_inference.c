/* The API of shape functions that programs register. */
#include "base/alloc.h"
#include "c_api/shape_handles.h"
#include "op/node_def.h"

/* ---- handles ---- */

TF_ShapeHandle *TF_NewShapeHandle(void) { return mem_calloc(1, sizeof(TF_ShapeHandle)); }

void TF_DeleteShapeHandle(TF_ShapeHandle *handle) { mem_free(handle); }

TF_DimensionHandle *TF_NewDimensionHandle(void) { return mem_calloc(1, sizeof(TF_DimensionHandle)); }

void TF_DeleteDimensionHandle(TF_DimensionHandle *handle) { mem_free(handle); }

int TF_DimensionHandleValueKnown(TF_DimensionHandle *dim_handle) {
  return dim_handle && dim_handle->dim && dim_known(dim_handle->dim) ? 1 : 0;
}

int64_t TF_DimensionHandleValue(TF_DimensionHandle *dim_handle) {
  return dim_handle && dim_handle->dim ? dim_value(dim_handle->dim) : UNKNOWN_DIM;
}

int TF_ShapeHandleSame(TF_ShapeHandle *a, TF_ShapeHandle *b) {
  return a && b && a->shape && a->shape == b->shape ? 1 : 0;
}

int TF_DimensionHandleSame(TF_DimensionHandle *a, TF_DimensionHandle *b) {
  return a && b && a->dim && a->dim == b->dim ? 1 : 0;
}

/* An empty handle counts as unknown. NULL when out of memory, or for a NULL handle, which also means that
 * memory ran out; the shape calls report it. */
static ShapeHandle shape_in(InferenceContext *c, const TF_ShapeHandle *handle) {
  if (!handle) return NULL;
  return handle->shape ? handle->shape : shape_unknown(c);
}

static DimHandle dim_in(InferenceContext *c, const TF_DimensionHandle *handle) {
  if (!handle) return NULL;
  return handle->dim ? handle->dim : dim_unknown(c);
}

/* After an error the handle is empty. */
static void put_shape(bool ok, const ShapeHandle *shape, TF_ShapeHandle *result, TF_Status *status) {
  if (result) {
    result->shape = ok ? *shape : NULL;
  } else if (ok) {
    status_oom(&status->status, "a shape");
  }
}

static void put_dim(bool ok, const DimHandle *dim, TF_DimensionHandle *result, TF_Status *status) {
  if (result) {
    result->dim = ok ? *dim : NULL;
  } else if (ok) {
    status_oom(&status->status, "a dimension");
  }
}

static TF_ShapeHandle *new_handle(ShapeHandle shape) {
  TF_ShapeHandle *handle = shape ? TF_NewShapeHandle() : NULL;
  if (handle) handle->shape = shape;
  return handle;
}

/* ---- queries ---- */

static bool has_input(const InferenceContext *c, int i, Status *status) {
  status_init(status);
  return (i >= 0 && i < c->num_inputs) || status_invalid(status, "input index out of range");
}

int64_t TF_ShapeInferenceContextNumInputs(TF_ShapeInferenceContext *ctx) {
  return inference_of(ctx)->num_inputs;
}

int64_t TF_ShapeInferenceContextNumOutputs(TF_ShapeInferenceContext *ctx) {
  return inference_of(ctx)->num_outputs;
}

int TF_ShapeInferenceContextGraphDefVersion(TF_ShapeInferenceContext *ctx) {
  return inference_of(ctx)->graph_def_version;
}

void TF_ShapeInferenceContextGetInput(TF_ShapeInferenceContext *ctx, int i, TF_ShapeHandle *handle,
                                      TF_Status *status) {
  if (!has_input(inference_of(ctx), i, &status->status)) return;
  ShapeHandle shape = shape_input(inference_of(ctx), i);
  put_shape(true, &shape, handle, status);
}

void TF_ShapeInferenceContext_GetAttrType(TF_ShapeInferenceContext *ctx, const char *attr_name,
                                          TF_DataType *val, TF_Status *status) {
  DataType type;
  start_status(status);
  if (node_attr_type(inference_of(ctx)->node, attr_name, &type, &status->status)) *val = (TF_DataType)type;
}

void TF_ShapeInferenceContextGetAttrValueProto(TF_ShapeInferenceContext *ctx, const char *attr_name,
                                               TF_Buffer *output_attr_value, TF_Status *status) {
  const AttrValue *value;
  start_status(status);
  if (node_attr(inference_of(ctx)->node, attr_name, &value, &status->status)) {
    reported(fill_buffer_with_message(value, output_attr_value, &status->status));
  }
}

TF_Tensor *TF_ShapeInferenceContextInputTensor(TF_ShapeInferenceContext *ctx, int i, TF_Status *status) {
  if (!has_input(inference_of(ctx), i, &status->status)) return NULL;
  const Tensor *value = shape_input_tensor(inference_of(ctx), i);
  return value ? share_tensor(value, &status->status) : NULL;
}

void TF_ShapeInferenceContextMakeShapeFromShapeTensor(TF_ShapeInferenceContext *ctx, int i,
                                                      TF_ShapeHandle *result, TF_Status *status) {
  if (!has_input(inference_of(ctx), i, &status->status)) return;
  ShapeHandle out = NULL;
  put_shape(shape_from_input_tensor(inference_of(ctx), i, &out, &status->status), &out, result, status);
}

void TF_ShapeInferenceContextMakeDimForScalarInput(TF_ShapeInferenceContext *ctx, int i,
                                                   TF_DimensionHandle *result, TF_Status *status) {
  if (!has_input(inference_of(ctx), i, &status->status)) return;
  DimHandle out = NULL;
  put_dim(dim_for_scalar_input(inference_of(ctx), i, &out, &status->status), &out, result, status);
}

int64_t TF_ShapeInferenceContextRank(TF_ShapeInferenceContext *ctx, TF_ShapeHandle *handle) {
  (void)ctx;
  return handle && handle->shape ? shape_rank(handle->shape) : UNKNOWN_RANK;
}

int TF_ShapeInferenceContextRankKnown(TF_ShapeInferenceContext *ctx, TF_ShapeHandle *handle) {
  (void)ctx;
  return handle && handle->shape && shape_rank_known(handle->shape) ? 1 : 0;
}

void TF_ShapeInferenceContextDim(TF_ShapeInferenceContext *ctx, TF_ShapeHandle *shape_handle, int64_t i,
                                 TF_DimensionHandle *result) {
  ShapeHandle shape = shape_in(inference_of(ctx), shape_handle);
  if (result) result->dim = shape ? shape_dim_of(inference_of(ctx), shape, i) : NULL;
}

void TF_ShapeInferenceContextNumElements(TF_ShapeInferenceContext *ctx, TF_ShapeHandle *handle,
                                         TF_DimensionHandle *result, TF_Status *status) {
  InferenceContext *c = inference_of(ctx);
  start_status(status);
  ShapeHandle shape;
  DimHandle out = NULL;
  bool ok = shape_ok(shape_in(c, handle), &shape, &status->status) &&
            dim_ok(shape_num_elements_of(c, shape), &out, &status->status);
  put_dim(ok, &out, result, status);
}

/* ---- results ---- */

void TF_ShapeInferenceContextSetOutput(TF_ShapeInferenceContext *ctx, int i, TF_ShapeHandle *handle,
                                       TF_Status *status) {
  InferenceContext *c = inference_of(ctx);
  start_status(status);
  if (i < 0 || i >= c->num_outputs) {
    status_invalid(&status->status, "output index out of range");
  } else if (!handle) {
    status_oom(&status->status, "a shape");
  } else {
    shape_set_output(c, i, handle->shape);
  }
}

void TF_ShapeInferenceContextSetUnknownShape(TF_ShapeInferenceContext *ctx, TF_Status *status) {
  start_status(status);
  reported(shape_unknown_outputs(inference_of(ctx), &status->status));
}

/* ---- new shapes ---- */

TF_ShapeHandle *TF_ShapeInferenceContextScalar(TF_ShapeInferenceContext *ctx) {
  return new_handle(shape_scalar(inference_of(ctx)));
}

TF_ShapeHandle *TF_ShapeInferenceContextVectorFromSize(TF_ShapeInferenceContext *ctx, size_t size) {
  InferenceContext *c = inference_of(ctx);
  DimHandle dim = (uint64_t)size <= INT64_MAX ? dim_make(c, (int64_t)size) : dim_unknown(c);
  return dim ? new_handle(shape_vector(c, dim)) : NULL;
}

void TF_ShapeInferenceContextMakeUnknownShape(TF_ShapeInferenceContext *ctx, int64_t rank,
                                              TF_ShapeHandle *result, TF_Status *status) {
  InferenceContext *c = inference_of(ctx);
  start_status(status);
  if (rank < UNKNOWN_RANK || rank > SHAPE_MAX_RANK) {
    status_invalid(&status->status, "Rank must be between -1 and %d but is %lld", SHAPE_MAX_RANK,
                   (long long)rank);
    return;
  }
  ShapeHandle made = rank == UNKNOWN_RANK ? shape_unknown(c) : shape_unknown_of_rank(c, rank);
  ShapeHandle out = NULL;
  put_shape(shape_ok(made, &out, &status->status), &out, result, status);
}

static bool make_shape(InferenceContext *c, TF_DimensionHandle *const *dims, int num_dims,
                       ShapeHandle *result, Status *status) {
  if (num_dims < 0 || num_dims > SHAPE_MAX_RANK) {
    return status_invalid(status, "The number of dimensions must be between 0 and %d but is %d",
                          SHAPE_MAX_RANK, num_dims);
  }
  DimHandle list[SHAPE_MAX_RANK + 1];
  for (int i = 0; i < num_dims; i++) TRY(dim_ok(dim_in(c, dims[i]), &list[i], status));
  return shape_ok(shape_of_dims(c, list, num_dims), result, status);
}

void TF_ShapeInferenceContextMakeShape(TF_ShapeInferenceContext *ctx, TF_DimensionHandle *const *dims,
                                       int num_dims, TF_ShapeHandle *result, TF_Status *status) {
  start_status(status);
  ShapeHandle out = NULL;
  put_shape(make_shape(inference_of(ctx), dims, num_dims, &out, &status->status), &out, result, status);
}

void TF_ShapeInferenceContextMakeDim(TF_ShapeInferenceContext *ctx, int64_t value, TF_DimensionHandle *result,
                                     TF_Status *status) {
  InferenceContext *c = inference_of(ctx);
  start_status(status);
  if (value < UNKNOWN_DIM) {
    status_invalid(&status->status, "Dimension size must be >= -1 but is %lld", (long long)value);
    return;
  }
  DimHandle made = value == UNKNOWN_DIM ? dim_unknown(c) : dim_make(c, value);
  DimHandle out = NULL;
  put_dim(dim_ok(made, &out, &status->status), &out, result, status);
}

/* ---- checks and combinations of shapes ---- */

void TF_ShapeInferenceContextWithRank(TF_ShapeInferenceContext *ctx, TF_ShapeHandle *handle, int64_t rank,
                                      TF_ShapeHandle *result, TF_Status *status) {
  InferenceContext *c = inference_of(ctx);
  start_status(status);
  ShapeHandle out = NULL;
  put_shape(shape_with_rank(c, shape_in(c, handle), rank, &out, &status->status), &out, result, status);
}

void TF_ShapeInferenceContextWithRankAtLeast(TF_ShapeInferenceContext *ctx, TF_ShapeHandle *handle,
                                             int64_t rank, TF_ShapeHandle *result, TF_Status *status) {
  InferenceContext *c = inference_of(ctx);
  start_status(status);
  ShapeHandle out = NULL;
  put_shape(shape_with_rank_at_least(c, shape_in(c, handle), rank, &out, &status->status), &out, result,
            status);
}

void TF_ShapeInferenceContextWithRankAtMost(TF_ShapeInferenceContext *ctx, TF_ShapeHandle *handle,
                                            int64_t rank, TF_ShapeHandle *result, TF_Status *status) {
  InferenceContext *c = inference_of(ctx);
  start_status(status);
  ShapeHandle out = NULL;
  put_shape(shape_with_rank_at_most(c, shape_in(c, handle), rank, &out, &status->status), &out, result,
            status);
}

void TF_ShapeInferenceContextSubshapeWithStride(TF_ShapeInferenceContext *ctx, TF_ShapeHandle *handle,
                                                int64_t start, int64_t end, int64_t stride,
                                                TF_ShapeHandle *result, TF_Status *status) {
  InferenceContext *c = inference_of(ctx);
  start_status(status);
  ShapeHandle out = NULL;
  put_shape(shape_subshape(c, shape_in(c, handle), start, end, stride, &out, &status->status), &out, result,
            status);
}

void TF_ShapeInferenceContextSubshape(TF_ShapeInferenceContext *ctx, TF_ShapeHandle *shape_handle,
                                      int64_t start, int64_t end, TF_ShapeHandle *result, TF_Status *status) {
  TF_ShapeInferenceContextSubshapeWithStride(ctx, shape_handle, start, end, 1, result, status);
}

void TF_ShapeInferenceContextReplaceDim(TF_ShapeInferenceContext *ctx, TF_ShapeHandle *handle, int64_t i,
                                        TF_DimensionHandle *dim, TF_ShapeHandle *result, TF_Status *status) {
  InferenceContext *c = inference_of(ctx);
  start_status(status);
  ShapeHandle out = NULL;
  put_shape(shape_replace_dim(c, shape_in(c, handle), i, dim_in(c, dim), &out, &status->status), &out, result,
            status);
}

/* The types of functions of two shapes, and of two dimensions. */
typedef bool (*ShapePairFn)(InferenceContext *c, ShapeHandle a, ShapeHandle b, ShapeHandle *out,
                            Status *status);
typedef bool (*DimPairFn)(InferenceContext *c, DimHandle a, DimHandle b, DimHandle *out, Status *status);

static void combine_shapes(ShapePairFn combine, TF_ShapeInferenceContext *ctx, TF_ShapeHandle *a,
                           TF_ShapeHandle *b, TF_ShapeHandle *result, TF_Status *status) {
  InferenceContext *c = inference_of(ctx);
  start_status(status);
  ShapeHandle out = NULL;
  put_shape(combine(c, shape_in(c, a), shape_in(c, b), &out, &status->status), &out, result, status);
}

static void combine_dims(DimPairFn combine, TF_ShapeInferenceContext *ctx, TF_DimensionHandle *a,
                         TF_DimensionHandle *b, TF_DimensionHandle *result, TF_Status *status) {
  InferenceContext *c = inference_of(ctx);
  start_status(status);
  DimHandle out = NULL;
  put_dim(combine(c, dim_in(c, a), dim_in(c, b), &out, &status->status), &out, result, status);
}

void TF_ShapeInferenceContextConcatenateShapes(TF_ShapeInferenceContext *ctx, TF_ShapeHandle *first,
                                               TF_ShapeHandle *second, TF_ShapeHandle *result,
                                               TF_Status *status) {
  combine_shapes(shape_concatenate, ctx, first, second, result, status);
}

void TF_ShapeInferenceContextMerge(TF_ShapeInferenceContext *ctx, TF_ShapeHandle *a, TF_ShapeHandle *b,
                                   TF_ShapeHandle *result, TF_Status *status) {
  combine_shapes(shape_merge, ctx, a, b, result, status);
}

void TF_ShapeInferenceContextBroadcast(TF_ShapeInferenceContext *ctx, TF_ShapeHandle *a, TF_ShapeHandle *b,
                                       TF_ShapeHandle *result, TF_Status *status) {
  combine_shapes(shape_broadcast, ctx, a, b, result, status);
}

/* ---- dimensions ---- */

void TF_ShapeInferenceContextMergeDim(TF_ShapeInferenceContext *ctx, TF_DimensionHandle *a,
                                      TF_DimensionHandle *b, TF_DimensionHandle *result, TF_Status *status) {
  combine_dims(dim_merge, ctx, a, b, result, status);
}

void TF_ShapeInferenceContextAddDims(TF_ShapeInferenceContext *ctx, TF_DimensionHandle *a,
                                     TF_DimensionHandle *b, TF_DimensionHandle *result, TF_Status *status) {
  combine_dims(dim_add, ctx, a, b, result, status);
}

void TF_ShapeInferenceContextSubtractDims(TF_ShapeInferenceContext *ctx, TF_DimensionHandle *a,
                                          TF_DimensionHandle *b, TF_DimensionHandle *result,
                                          TF_Status *status) {
  combine_dims(dim_subtract, ctx, a, b, result, status);
}

void TF_ShapeInferenceContextMultiplyDims(TF_ShapeInferenceContext *ctx, TF_DimensionHandle *a,
                                          TF_DimensionHandle *b, TF_DimensionHandle *result,
                                          TF_Status *status) {
  combine_dims(dim_multiply, ctx, a, b, result, status);
}

void TF_ShapeInferenceContextMinDims(TF_ShapeInferenceContext *ctx, TF_DimensionHandle *a,
                                     TF_DimensionHandle *b, TF_DimensionHandle *result, TF_Status *status) {
  combine_dims(dim_min, ctx, a, b, result, status);
}

void TF_ShapeInferenceContextMaxDims(TF_ShapeInferenceContext *ctx, TF_DimensionHandle *a,
                                     TF_DimensionHandle *b, TF_DimensionHandle *result, TF_Status *status) {
  combine_dims(dim_max, ctx, a, b, result, status);
}

void TF_ShapeInferenceContextWithValue(TF_ShapeInferenceContext *ctx, TF_DimensionHandle *dim, int64_t value,
                                       TF_DimensionHandle *result, TF_Status *status) {
  InferenceContext *c = inference_of(ctx);
  start_status(status);
  DimHandle out = NULL;
  put_dim(dim_with_value(c, dim_in(c, dim), value, &out, &status->status), &out, result, status);
}

void TF_ShapeInferenceContextDivideDim(TF_ShapeInferenceContext *ctx, TF_DimensionHandle *dim,
                                       int64_t divisor, int evenly, TF_DimensionHandle *result,
                                       TF_Status *status) {
  InferenceContext *c = inference_of(ctx);
  start_status(status);
  DimHandle out = NULL;
  put_dim(dim_divide(c, dim_in(c, dim), divisor, evenly != 0, &out, &status->status), &out, result, status);
}
