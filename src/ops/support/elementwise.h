/* Kernels that compute every element from the element at the same place. All work in place where they may,
 * and on several threads when there is much to do. The loops come from a template
 * (ops/support/element_types.h) or from simd/vector_math.h:
 *
 *   static bool exp_kernel(KernelContext *context, Status *status) {
 *     static const VectorFunction kExp = {vector_exp_f32, vector_exp_f64, NULL, NULL};
 *     return elementwise_function(context, &kExp, status);
 *   }
 */
#ifndef TFCORE_OPS_SUPPORT_ELEMENTWISE_H_
#define TFCORE_OPS_SUPPORT_ELEMENTWISE_H_

#include "op/kernel.h"

/* y[i] = f(x[i]); y may be x. */
typedef void UnaryLoop(int64_t count, const void *x, void *y);
/* A whole kernel: input 0, output 0 of the same dtype and shape. */
MUST_CHECK bool elementwise_unary(KernelContext *context, UnaryLoop *loop, Status *status);

/* Checks that all inputs have the shape of input 0: INVALID_ARGUMENT else. `op` is for the message. */
MUST_CHECK bool elementwise_check_shapes(const KernelContext *context, const char *op, Status *status);

/* z[i] = f(x[i], y[i]); z may be x or y. */
typedef void PairLoop(int64_t count, const void *x, const void *y, void *z);
/* Inputs 0 and 1 of one dtype and shape, output 0 like them. `op` is for the error message. */
MUST_CHECK bool elementwise_pair(KernelContext *context, const char *op, PairLoop *loop, Status *status);

/* A function that exists for float and double (simd/vector_math.h); half and bfloat16 go through float. */
typedef struct VectorFunction {
  void (*f32)(int64_t count, const float *x, float *y);
  void (*f64)(int64_t count, const double *x, double *y);
  void (*c64)(int64_t count, const float _Complex *x,
              float _Complex *y); /* may be NULL when no kernel is for complex types */
  void (*c128)(int64_t count, const double _Complex *x, double _Complex *y);
} VectorFunction;
MUST_CHECK bool elementwise_function(KernelContext *context, const VectorFunction *function, Status *status);

#endif
