/* What a fused op asks the kernel of a product to do with each result before it stores it.
 *
 *   const ProductEpilogue *epilogue = context->data;       // NULL where the product is a node of its own
 *   TRY(product_epilogue_bias(context, out, channels, &args.bias, status));
 *   args.activation = product_epilogue_activation(context);
 *
 * Heeded by the kernels of Conv2D, DepthwiseConv2dNative and MatMul on float and double.
 */
#ifndef TFCORE_OPS_SUPPORT_PRODUCT_EPILOGUE_H_
#define TFCORE_OPS_SUPPORT_PRODUCT_EPILOGUE_H_

#include "blas/gemm.h"
#include "op/kernel.h"

/* KernelContext.data of the product. */
typedef struct ProductEpilogue {
  bool has_bias; /* input 2, with one element for each channel of the result */
  GemmActivation activation;
} ProductEpilogue;

/* The elements of the bias, or NULL. INVALID_ARGUMENT, in the words of BiasAdd, unless it has `channels`
 * elements; `out` is the result. */
MUST_CHECK bool product_epilogue_bias(const KernelContext *context, const Tensor *out, int64_t channels,
                                      const void **bias, Status *status);
static inline GemmActivation product_epilogue_activation(const KernelContext *context) {
  const ProductEpilogue *epilogue = context->data;
  return epilogue ? epilogue->activation : GEMM_NONE;
}

#endif
