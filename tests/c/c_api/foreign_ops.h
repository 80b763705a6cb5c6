/* Shared by tests of ops and kernels registered through the C API. */
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

/* `type` 0: any T. */
static inline void register_kernel(Fixture *f, const char *op, TF_DataType type,
                                   void *(*create)(TF_OpKernelConstruction *),
                                   void (*compute)(void *, TF_OpKernelContext *), void (*destroy)(void *)) {
  TF_KernelBuilder *builder = TF_NewKernelBuilder(op, "CPU", create, compute, destroy);
  if (type) TF_KernelBuilder_TypeConstraint(builder, "T", type, f->status);
  TF_RegisterKernelBuilder(op, builder, f->status);
  CHECK_TF_OK(f->status);
}

/* A kernel: output 0 is input 0. */
static inline void compute_identity(void *kernel, TF_OpKernelContext *ctx) {
  (void)kernel;
  TF_Status *status = TF_NewStatus();
  TF_Tensor *x = NULL;
  TF_GetInput(ctx, 0, &x, status);
  TF_SetOutput(ctx, 0, x, status);
  CHECK_TF_OK(status);
  TF_DeleteTensor(x);
  TF_DeleteStatus(status);
}

static inline TF_Session *session_on(Fixture *f) {
  TF_Session *session = TF_NewSession(f->graph, NULL, f->status);
  CHECK_TF_OK(f->status);
  return session;
}

#endif
