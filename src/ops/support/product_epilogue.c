#include "ops/support/product_epilogue.h"

bool product_epilogue_bias(const KernelContext *context, const Tensor *out, int64_t channels,
                           const void **bias, Status *status) {
  const ProductEpilogue *epilogue = context->data;
  *bias = NULL;
  if (!epilogue || !epilogue->has_bias) return true;
  const Tensor *tensor = context->inputs[2];
  char a[SHAPE_TEXT_CAPACITY], b[SHAPE_TEXT_CAPACITY];
  if (tensor->shape.rank != 1)
    return status_invalid(status, "Biases must be 1D: %s", shape_text(&tensor->shape, a));
  if (tensor_num_elements(tensor) != channels) {
    return status_invalid(status,
                          "Must provide as many biases as the last dimension of the input tensor: %s vs. %s",
                          shape_text(&tensor->shape, a), shape_text(&out->shape, b));
  }
  *bias = tensor->data;
  return true;
}
