/* Tensors of zeros and of ones with the shape of another. */
#include <string.h>

#include "op/op_registry.h"
#include "ops/support/variant.h"

static bool zeros_like(KernelContext *context, Status *status) {
  const Tensor *x = context->inputs[0];
  Tensor *out;
  if (!dtype_is_pod(x->dtype)) return tensor_zeros_like(context, x, 0, &context->outputs[0], status);
  TRY(kernel_forward_or_allocate(context, 0, 0, &x->shape, &out, status));
  memset(out->data, 0, (size_t)tensor_bytes(out));
  return true;
}

/* The bits of the number one, in `size` bytes. */
static bool one(DataType dtype, unsigned char bits[16], Status *status) {
  memset(bits, 0, 16);
  const float f = 1.0f;
  const double d = 1.0;
  const uint16_t half = 0x3c00, bfloat16 = 0x3f80, u16 = 1;
  const int32_t i32 = 1;
  const int64_t i64 = 1;
  switch (dtype) {
    case DT_FLOAT:
    case DT_COMPLEX64: memcpy(bits, &f, sizeof f); return true;
    case DT_DOUBLE:
    case DT_COMPLEX128: memcpy(bits, &d, sizeof d); return true;
    case DT_HALF: memcpy(bits, &half, sizeof half); return true;
    case DT_BFLOAT16: memcpy(bits, &bfloat16, sizeof bfloat16); return true;
    case DT_INT32:
    case DT_UINT32: memcpy(bits, &i32, sizeof i32); return true;
    case DT_INT64:
    case DT_UINT64: memcpy(bits, &i64, sizeof i64); return true;
    case DT_INT16:
    case DT_UINT16: memcpy(bits, &u16, sizeof u16); return true;
    case DT_INT8:
    case DT_UINT8:
    case DT_BOOL: bits[0] = 1; return true;
    default:
      return status_set(status, CODE_UNIMPLEMENTED, "OnesLike of %s is not supported", dtype_name(dtype));
  }
}

static bool ones_like(KernelContext *context, Status *status) {
  const Tensor *x = context->inputs[0];
  unsigned char bits[16];
  Tensor *out;
  TRY(one(x->dtype, bits, status));
  TRY(kernel_forward_or_allocate(context, 0, 0, &x->shape, &out, status));
  /* Stores one element, then repeatedly doubles the filled part. */
  size_t total = (size_t)tensor_bytes(out), done = dtype_size(x->dtype);
  if (total == 0) return true;
  memcpy(out->data, bits, done);
  for (; done < total; done *= 2) {
    memcpy((char *)out->data + done, out->data, total - done < done ? total - done : done);
  }
  return true;
}

const OpRegistration kOpZerosLike = {
    .name = "ZerosLike",
    .inputs = {"x: T"},
    .outputs = {"y: T"},
    .attrs = {"T: type"},
    .shape = shape_unchanged,
    .gradient = NO_GRADIENT,
    .kernels = {{DT_INVALID, zeros_like}},
};

const OpRegistration kOpOnesLike = {
    .name = "OnesLike",
    .inputs = {"x: T"},
    .outputs = {"y: T"},
    .attrs = {"T: {bfloat16, half, float, double, int8, uint8, int16, uint16, int32, uint32, int64, uint64, "
              "complex64, complex128, "
              "bool}"},
    .shape = shape_unchanged,
    .gradient = NO_GRADIENT,
    .kernels = {{DT_INVALID, ones_like}},
};
