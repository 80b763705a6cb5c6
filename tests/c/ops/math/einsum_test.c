/* Einsum: what golden cases leave out, and derivatives. */
#include "gradient_cases.h"
#include "harness.h"
#include "op_runner.h"

#define EINSUM(n, equation) "Einsum[T=double, N=" #n ", equation=" equation "]"
#define TWO "double[2,3] 1 2 3 4 5 6"

TEST(equations_are_refused_in_tensorflows_words) {
  static const struct {
    const char *op, *message;
  } kBad[] = {
      {EINSUM(1, "ij"), "Expecting exactly one '->' in einsum equation: ij"},
      {EINSUM(1, "ij->i->j"), "Expecting exactly one '->' in einsum equation: ij->i->j"},
      {EINSUM(1, "ij.->i"),
       "Expected at most one ellipsis (...), but found 1 periods (.) in the input subscript: ij."},
      {EINSUM(1, "i...j...->i"),
       "Expected at most one ellipsis (...), but found 6 periods (.) in the input subscript: i...j..."},
      {EINSUM(1, "ij->k"),
       "Einsum output subscripts for equation 'ij->k' has label 'k' which is not present in the input "
       "subscripts"},
  };
  for (size_t i = 0; i < sizeof kBad / sizeof kBad[0]; i++)
    op_fails(kBad[i].op, TWO, CODE_INVALID_ARGUMENT, kBad[i].message);
}

TEST(any_character_is_a_label) {
  op_gives(EINSUM(1, "1$->$1"), TWO, "double[3,2] 1 4 2 5 3 6");
  op_gives(EINSUM(1, "Ii->i"), TWO, "double[3] 5 7 9");
}

/* 2^62 * 4 exceeds int64. */
TEST(sizes_whose_product_overflows_beside_a_size_of_0_are_summed) {
  op_gives(EINSUM(1, "abc->"), "double[0,4611686018427387904,4]", "double[] 0");
}

GRADIENT_CASES(einsum, {EINSUM(1, "ij->i"), "double[2,3] 1.5 -2 0.5 3 1 -1"},
               {EINSUM(1, "iij->ji"), "double[2,2,2] 1.5 -2 0.5 3 1 -1 2 0.25"},
               {EINSUM(1, "...ii->i..."), "double[2,2,2] 1.5 -2 0.5 3 1 -1 2 0.25"},
               {EINSUM(2, "[ij,jk->ki]"), "double[2,2] 1 2 3 4; double[2,1] -1 0.5"},
               {EINSUM(2, "[ij,jk->k]"), "double[2,2] 1 2 3 4; double[2,1] -1 0.5"},
               {EINSUM(2, "[...ij,jk...->...ik]"), "double[2,1,2] 1 2 3 4; double[2,1,2] -1 0.5 2 -3"},
               {"Einsum[T=complex128, N=2, equation=[ij,jk->ki]]",
                "complex128[2,2] 1-2i 2 0+3i 4; complex128[2,1] -1+1i 0.5"})
