/* Complex numbers and their parts, and arithmetic of complex numbers. */
#include "gradient_cases.h"
#include "gradient_checker.h"
#include "harness.h"
#include "op_runner.h"

TEST(parts_of_complex_numbers) {
  op_gives("Real[T=complex64]", "complex64[3] 1+2i -3 0-0.5i", "float[3] 1 -3 0");
  op_gives("Imag[T=complex64]", "complex64[3] 1+2i -3 0-0.5i", "float[3] 2 0 -0.5");
  op_gives("Real[T=complex128, Tout=double]", "complex128[2,1] 0.1+2i 3", "double[2,1] 0.1 3");
  op_gives("Imag[T=complex128, Tout=float]", "complex128[] 0.1+2i", "float[] 2");
  op_gives("ComplexAbs[T=complex128, Tout=double]", "complex128[3] 3-4i 0 -5e200+12e200i",
           "double[3] 5 0 13e200");
  op_gives("ComplexAbs[T=complex64]",
           "complex64[4] 3-4i 0 -1.2760588759535192e38+1.7014118346046923e38i 3e-42-4e-42i",
           "float[4] 5 0 2.1267647932558654e38 5e-42");
  op_gives("ComplexAbs[T=complex64]", "complex64[5] inf -inf+1i 0+infi 1-infi inf+nani",
           "float[5] inf inf inf inf inf");
  op_gives_about("Angle[T=complex128, Tout=double]", "complex128[4] 0+1i -1 0 1-1i",
                 "double[4] 1.5707963267948966 3.141592653589793 0 -0.7853981633974483", 1e-15);
  op_gives("Conj[T=complex128]", "complex128[3] 1+2i -3 0-0.5i", "complex128[3] 1-2i -3 0+0.5i");
  op_gives("Conj[T=complex64]", "complex64[0,2]", "complex64[0,2]");
}

TEST(complex_numbers_of_parts) {
  op_gives("Complex[T=float]", "float[2] 1 2; float[] 3", "complex64[2] 1+3i 2+3i");
  op_gives("Complex[T=double, Tout=complex128]", "double[2,1] 1 2; double[2] 3 -0.5",
           "complex128[2,2] 1+3i 1-0.5i 2+3i 2-0.5i");
  op_gives("Complex[T=double]", "double[] 0.5; double[2] 1 2", "complex64[2] 0.5+1i 0.5+2i");
  op_fails("Complex[T=float]", "float[2] 1; float[3] 1", CODE_INVALID_ARGUMENT,
           "Incompatible shapes: [2] vs. [3]");
}

TEST(arithmetic_of_complex_numbers) {
  op_gives("Add[T=complex64]", "complex64[2] 1+2i 3; complex64[] 0-1i", "complex64[2] 1+1i 3-1i");
  op_gives("Sub[T=complex128]", "complex128[2] 1+2i 3; complex128[] 0-1i", "complex128[2] 1+3i 3+1i");
  op_gives("Mul[T=complex64]", "complex64[2] 1+2i 3; complex64[] 0-1i", "complex64[2] 2-1i 0-3i");
  op_gives("RealDiv[T=complex128]", "complex128[2] 1+2i 3; complex128[] 0-2i",
           "complex128[2] -1+0.5i 0+1.5i");
  op_gives("SquaredDifference[T=complex64]", "complex64[] 1+2i; complex64[] 0+5i", "complex64[] 10");
  op_gives("Neg[T=complex64]", "complex64[2] 1+2i -3", "complex64[2] -1-2i 3");
  op_gives("Square[T=complex64]", "complex64[2] 1+2i 0-3i", "complex64[2] -3+4i -9");
  op_gives("Sign[T=complex128]", "complex128[3] 3+4i 0 0-2i", "complex128[3] 0.6+0.8i 0 0-1i");
  op_gives("Reciprocal[T=complex128]", "complex128[] 0+2i", "complex128[] 0-0.5i");
  op_gives_about("Sqrt[T=complex128]", "complex128[2] -4 3+4i", "complex128[2] 0+2i 2+1i", 1e-15);
  op_gives_about("Rsqrt[T=complex64]", "complex64[2] -4 3+4i", "complex64[2] 0-0.5i 0.4-0.2i", 1e-7);
  op_gives("Equal[T=complex64]", "complex64[2] 1+2i 3; complex64[] 3", "bool[2] 0 1");
  op_gives("NotEqual[T=complex128]", "complex128[2] 1+2i 3; complex128[] 1-2i", "bool[2] 1 1");
}

TEST(sums_of_complex_numbers) {
  op_gives("Sum[T=complex64]", "complex64[2,2] 1+2i 3-1i 0+1i 5; int32[] 1", "complex64[2] 4+1i 5+1i");
  op_gives("Sum[T=complex128]", "complex128[2,2] 1+2i 3-1i 0+1i 5; int32[2] 0 1", "complex128[] 9+2i");
  op_gives("Mean[T=complex128, keep_dims=true]", "complex128[2,2] 1+2i 3-1i 0+1i 5; int32[] 0",
           "complex128[1,2] 0.5+1.5i 4-0.5i");
  op_gives("Sum[T=complex64]", "complex64[0,2]; int32[] 0", "complex64[2] 0");
}

/* exp(i pi) + 1 = 0, and its relatives. */
TEST(functions_of_complex_numbers) {
  op_gives_about("Exp[T=complex128]", "complex128[2] 0+3.141592653589793i 0.6931471805599453",
                 "complex128[2] -1 2", 1e-15);
  op_gives_about("Log[T=complex128]", "complex128[2] -1 0+2i",
                 "complex128[2] 0+3.141592653589793i 0.6931471805599453+1.5707963267948966i", 1e-15);
  op_gives_about("Expm1[T=complex128]", "complex128[3] 1e-18+2e-18i 0+3.141592653589793i 0",
                 "complex128[3] 1e-18+2e-18i -2 0", 1e-15);
  op_gives("Expm1[T=complex64]", "complex64[] 1e-12-3e-12i", "complex64[] 1e-12-3e-12i");
  op_gives("Log1p[T=complex64]", "complex64[2] 1e-12-3e-12i 0", "complex64[2] 1e-12-3e-12i 0");
  op_gives_about("Log1p[T=complex128]", "complex128[3] -2 -0.5+0.5i 3e200",
                 "complex128[3] 0+3.141592653589793i -0.34657359027997264+0.7853981633974483i "
                 "461.61563088747727",
                 1e-12);
  op_gives_about("Tanh[T=complex128]", "complex128[2] 0+0.7853981633974483i 1",
                 "complex128[2] 0+1i 0.7615941559557649", 1e-15);
  op_gives_about("Sigmoid[T=complex128]", "complex128[3] 0 -800+1i 800-1i", "complex128[3] 0.5 0 1", 1e-15);
  op_gives_about("Sigmoid[T=complex64]", "complex64[] 0+1.5707963267948966i", "complex64[] 0.5+0.5i", 1e-7);
}

#define FUNCTIONS "Exp|Expm1|Log|Log1p|Sqrt|Rsqrt|Reciprocal|Inv|Square|Neg|Tanh|Sigmoid[T=complex128]"
#define REDUCTIONS "Sum|Mean[T=complex128]"
#define GRADIENT_OPS "SqrtGrad|RsqrtGrad|ReciprocalGrad|InvGrad|TanhGrad|SigmoidGrad[T=complex128]"
GRADIENT_CASES(
    complex_parts, {FUNCTIONS, "complex128[3] 1+0.5i -0.5+2i 0.7-1.1i"}, {FUNCTIONS, "complex128[] 0.4+0.3i"},
    {GRADIENT_OPS, "complex128[2] 0.7+0.5i -0.5+1i; complex128[2] 1-1i 0.3+2i"},
    {REDUCTIONS, "complex128[2,2] 1+0.5i -0.5+2i 3 0-1i; int32[] 1"},
    {"Real|Imag|Angle|ComplexAbs[T=complex128, Tout=double]", "complex128[3] 1+0.5i -0.5+2i 0.7-1.1i"},
    {"Real|Imag|Angle|ComplexAbs[T=complex128, Tout=double]", "complex128[2,1] 1+0.5i -2-1i"},
    {"Real|Imag|Angle|ComplexAbs[T=complex128, Tout=double]", "complex128[] 3-4i"},
    {"Conj[T=complex128]", "complex128[3] 1+0.5i -0.5+2i 0.7-1.1i"},
    {"Conj[T=complex128]", "complex128[2,1] 1+0.5i -2-1i"}, {"Conj[T=complex128]", "complex128[] 3-4i"},
    {"Complex[T=double, Tout=complex128]", "double[2] 1 2; double[2] 0.5 -1"},
    {"Complex[T=double, Tout=complex128]", "double[2,1] 1 2; double[3] 0.5 -1 2"},
    {"Complex[T=double, Tout=complex128]", "double[] 1; double[2] 0.5 -1"})

TEST(gradients_of_parts_at_zero_are_zero) {
  gradient_is("ComplexAbs[T=complex128, Tout=double]", "complex128[2] 0 3+4i", "complex128[2] 0 0.6+0.8i");
}
