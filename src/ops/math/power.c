/* Powers. */
#include "op/node_def.h"
#include "op/op_registry.h"
#include "ops/support/broadcast.h"
#include "ops/support/broadcast_gradient.h"
#include "ops/support/complex_math.h"
#include "ops/support/complex_quotient.h"
#include "ops/support/conjugate.h"
#include "ops/support/element_types.h"
#include "simd/vector_math.h"

#define TEMPLATE "ops/math/power.inc"
#define TYPES (TYPES_FLOAT | TYPES_HALF | TYPES_INT | TYPES_SMALL | TYPES_COMPLEX)
#include "simd/each_type.inc"

/* Integers have no negative powers, not even of 1. */
static bool power_of_integers(KernelContext *context, Status *status) {
  const Tensor *x = context->inputs[0], *y = context->inputs[1];
  for (int64_t i = 0; tensor_num_elements(x) > 0 && i < tensor_num_elements(y); i++) {
    if (tensor_int_at(y, i) < 0) {
      return status_invalid(status, "Integers to negative integer powers are not allowed");
    }
  }
  return broadcast_kernel(context, status);
}

/* By x: dz y x^(y-1), where y = 0 takes precedence over 0^-1. By y: dz z log x. Where the logarithm does not
 * exist, TensorFlow replaces it by 0, and this by the logarithm of 1, so that its own gradient is 0 as
 * well. */
#define POW_GRADIENT(has_logarithm)                                     \
  BROADCAST_GRADIENT("Pow", "gx:z:0", "gy:z:0",                         \
                     "  one = Const[dtype=$T, value=1]()\n"             \
                     "  less = Sub[T=$T](~y, one:output:0)\n"           \
                     "  power = Pow[T=$T](~x, less:z:0)\n"              \
                     "  slope_x = MulNoNan[T=$T](power:z:0, ~y)\n"      \
                     "  gx = Mul[T=$T](dz, slope_x:z:0)\n"              \
                     "  z = Pow[T=$T](~x, ~y)\n"                        \
                     "  zeros = ZerosLike[T=$T](x)\n"                   \
                     "  ones = OnesLike[T=$T](x)\n"                     \
                     "  usual = " has_logarithm                         \
                     "[T=$T](x, zeros:y:0)\n"                           \
                     "  base = Select[T=$T](usual:z:0, ~x, ones:y:0)\n" \
                     "  logarithm = Log[T=$T](base:output:0)\n"         \
                     "  weighted = Mul[T=$T](dz, z:z:0)\n"              \
                     "  gy = Mul[T=$T](weighted:z:0, logarithm:y:0)\n")

static bool pow_gradient(const GradientRequest *request, StrBuf *text, Status *status) {
  DataType type;
  TRY(node_attr_type(request->node, "T", &type, status));
  if (dtype_is_complex(type)) return conjugate_text(request, POW_GRADIENT("NotEqual"), text, status);
  return conjugate_text(request, POW_GRADIENT("Greater"), text, status);
}

const OpRegistration kOpPow = {
    .name = "Pow",
    .inputs = {"x: T", "y: T"},
    .outputs = {"z: T"},
    .attrs = {"T: {bfloat16, float, half, double, int8, int16, int32, int64, complex64, complex128}"},
    .shape = shape_broadcast_binary,
    .gradient_fn = pow_gradient,
    .kernels = {TYPED_FLOAT_AND_HALF_KERNELS(broadcast_kernel, pow),
                TYPED_COMPLEX_KERNELS(broadcast_kernel, pow),
                TYPED_INT_KERNELS(power_of_integers, pow),
                {DT_INT8, power_of_integers, pow_i8},
                {DT_INT16, power_of_integers, pow_i16}},
};
