/* What a fused op asks the kernel of a product to do with each result: add a bias and compute an activation
 * before it stores the result, and run a program of elementwise ops on blocks of results that are complete.
 *
 *   ProductEnd end;                                        // context->data is a ProductEpilogue, or NULL
 *   TRY(product_end_begin(&end, context, out, channels, status));
 *   args.bias = end.bias, args.activation = end.activation, args.epilogue = end.epilogue;
 *   bool ok = multiply(&args, status);
 *   return product_end_finish(&end, ok);
 *
 * Heeded by the kernels of Conv2D, DepthwiseConv2dNative and MatMul on float and double.
 */
#ifndef TFCORE_OPS_SUPPORT_PRODUCT_EPILOGUE_H_
#define TFCORE_OPS_SUPPORT_PRODUCT_EPILOGUE_H_

#include "blas/gemm.h"
#include "op/kernel.h"
#include "ops/support/fused_run.h"

/* KernelContext.data of the product. */
typedef struct ProductEpilogue {
  bool has_bias; /* input 2, with one element for each channel of the result */
  GemmActivation activation;
  /* NULL, or: its first input is the result, channels last; the others are the inputs of the kernel that
   * follow the bias, each with one element, one for each channel, or as many as the result. */
  const FusedProgram *program;
} ProductEpilogue;

/* One run of it. Must not be copied or moved. */
typedef struct ProductEnd {
  const void *bias; /* or NULL */
  GemmActivation activation;
  const GemmEpilogue *epilogue; /* or NULL */
  FusedRun *run;                /* of the program, or NULL */
  char *result;
  int64_t channels, element; /* bytes of an element */
  Shape row;
  GemmEpilogue blocks;
  FusedRoom room;
} ProductEnd;

/* `out` is the result, which is allocated and has a last dimension of `channels`, unless there is no
 * ProductEpilogue or its program is NULL. INVALID_ARGUMENT, in the words of BiasAdd, unless the bias has
 * `channels` elements, or if inputs of the program do not fit. On error there is nothing to finish. */
MUST_CHECK bool product_end_begin(ProductEnd *end, KernelContext *context, const Tensor *out,
                                  int64_t channels, Status *status);
/* Computes what is left if the product is `ok`, and returns that. */
bool product_end_finish(ProductEnd *end, bool ok);

#endif
