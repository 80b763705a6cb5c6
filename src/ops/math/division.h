/* What the ops of division.c and truncated_division.c have in common. */
#ifndef TFCORE_OPS_MATH_DIVISION_H_
#define TFCORE_OPS_MATH_DIVISION_H_

#include "op/kernel.h"

/* As broadcast_kernel. Integers cannot be divided by zero: INVALID_ARGUMENT; without a dividend nothing is
 * divided. */
bool divide_kernel(KernelContext *context, Status *status);

#define QUOTIENT_TYPES                                                                                       \
  "T: {bfloat16, half, float, double, uint8, int8, uint16, int16, int32, uint32, uint64, int64, complex64, " \
  "complex128}"

/* The remainder is x - y * quotient, where the quotient is piecewise constant. */
#define REMAINDER_GRADIENT(op, division)                       \
  BROADCAST_GRADIENT(op, "dz", "gy:y:0",                       \
                     "  quotient = " division                  \
                     "[T=$T](x, y)\n"                          \
                     "  slope = Mul[T=$T](dz, quotient:z:0)\n" \
                     "  gy = Neg[T=$T](slope:z:0)\n")

#endif
