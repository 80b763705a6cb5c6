/* What tests of ops and kernels from outside share. */
#ifndef TFCORE_TESTS_C_API_FOREIGN_OPS_H_
#define TFCORE_TESTS_C_API_FOREIGN_OPS_H_

#include "c_api/c_api_fixture.h"
#include "op/op_registry.h"
#include "tensorflow/c/kernels.h"
#include "tensorflow/c/ops.h"
#include "tfcore/ops_extension.h"

/* The definition of a registered op, or NULL. */
static inline const OpDef *op_def_of(const char *name) {
  const Op *op = op_registry_find(op_registry_global(), name);
  return op ? op->def : NULL;
}

/* Output 0 has the shape of input 0. */
static inline void infer_same_shape(TF_ShapeInferenceContext *ctx, TF_Status *status) {
  TF_ShapeHandle *x = TF_NewShapeHandle();
  TF_ShapeInferenceContextGetInput(ctx, 0, x, status);
  if (TF_GetCode(status) == TF_OK) TF_ShapeInferenceContextSetOutput(ctx, 0, x, status);
  TF_DeleteShapeHandle(x);
}

#endif
