/* Gradients of complex arithmetic, which conjugate the other operand. */
#include "gradient_cases.h"
#include "gradient_checker.h"
#include "harness.h"

#define ARITHMETIC "Add|AddV2|Sub|Mul|RealDiv|Div|DivNoNan|MulNoNan|Pow|Xlogy|Xlog1py|Xdivy[T=complex128]"
GRADIENT_CASES(complex_arithmetic, {ARITHMETIC, "complex128[2] 1+0.5i 0.5+2i; complex128[2] 0.3-1i 2+1i"},
               {ARITHMETIC, "complex128[2,1] 1+0.5i 0.5+2i; complex128[2] 0.3-1i 2+1i"})

TEST(gradients_of_complex_powers_at_zero) {
  gradient_is("Pow[T=complex128]", "complex128[3] 0 0 0; complex128[3] 0 1 2",
              "complex128[3] 0 1 0; complex128[3] 0");
}

/* TensorFlow's, whose loss is real. */
TEST(gradients_of_complex_squared_differences) {
  gradient_is("SquaredDifference[T=complex128]", "complex128[] 1+2i; complex128[] 0",
              "complex128[] 2+4i; complex128[] -2-4i");
}
