/* Element-wise kernels. All work in place where possible, and on several threads for large tensors. Their
 * data is the function: a loop from a template (simd/templates.h), or the functions of simd/vector_math.h:
 *
 *   .kernels = {TYPED_FLOAT_KERNELS(elementwise_unary, floor)}
 *
 *   static const VectorFunction kVectorExp = {vector_exp_f32, vector_exp_f64, NULL, NULL};
 *   .kernels = {FLOAT_KERNELS(elementwise_function, &kVectorExp)}
 */
#ifndef TFCORE_OPS_SUPPORT_ELEMENTWISE_H_
#define TFCORE_OPS_SUPPORT_ELEMENTWISE_H_

#include "op/kernel.h"

/* y[i] = f(x[i]); y may be x. */
typedef void UnaryLoop(int64_t count, const void *x, void *y);
/* A kernel whose data is a UnaryLoop: input 0, output 0 of the same dtype and shape. */
MUST_CHECK bool elementwise_unary(KernelContext *context, Status *status);

/* The same words for any two shapes of a node. */
MUST_CHECK bool elementwise_check_shape(const char *node, const char *op, const Shape *first, int i,
                                        const Shape *other, Status *status);
/* Checks that all inputs have the shape of input 0, else INVALID_ARGUMENT. */
MUST_CHECK bool elementwise_check_shapes(const KernelContext *context, Status *status);

/* z[i] = f(x[i], y[i]); z may be x or y. */
typedef void PairLoop(int64_t count, const void *x, const void *y, void *z);
/* A kernel whose data is a PairLoop: inputs 0 and 1 of the same dtype and shape, output 0 likewise. */
MUST_CHECK bool elementwise_pair(KernelContext *context, Status *status);

/* The same where TensorFlow compares the numbers of elements first, in other words. */
MUST_CHECK bool elementwise_slope(KernelContext *context, Status *status);
MUST_CHECK bool elementwise_check_counts(int64_t count, int64_t other, Status *status);

/* A function for float and double (simd/vector_math.h); half and bfloat16 are converted to float. The name of
 * the constant begins with kVector: what only its members for side types (op/side_kernels.h) call goes into
 * the side module, so a kernel calls the member of the type for which it is registered. */
typedef struct VectorFunction {
  void (*f32)(int64_t count, const float *x, float *y);
  void (*f64)(int64_t count, const double *x, double *y);
  void (*c64)(int64_t count, const float _Complex *x,
              float _Complex *y); /* may be NULL if no kernel has complex types */
  void (*c128)(int64_t count, const double _Complex *x, double _Complex *y);
} VectorFunction;
/* A kernel whose data is a VectorFunction: input 0, output 0 of the same dtype and shape. */
MUST_CHECK bool elementwise_function(KernelContext *context, Status *status);

/* Whether one of the integers is zero: checked before a division. */
bool elementwise_has_zero(const Tensor *integers);

/* For templates that include ops/support/unary_each.inc: the loop NAME(op), which computes
 * NAME(op_one)(C). */
#define UNARY_LOOP(op) \
  static void NAME(op)(int64_t count, const void *x, void *y) { NAME(each)(NAME(op##_one), count, x, y); }
/* For templates that include ops/support/pair_each.inc: the loop NAME(op), which computes
 * NAME(op_one)(C, C). */
#define PAIR_LOOP(op)                                                          \
  static void NAME(op)(int64_t count, const void *x, const void *y, void *z) { \
    NAME(each_pair)(NAME(op##_one), count, x, y, z);                           \
  }

#endif
