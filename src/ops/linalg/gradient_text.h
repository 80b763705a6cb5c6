/* Lines of gradient texts (function/text/function_text.h) that several ops of this wing need. Values are of
 * type T; matrices are the last two dimensions. */
#ifndef TFCORE_OPS_LINALG_GRADIENT_TEXT_H_
#define TFCORE_OPS_LINALG_GRADIENT_TEXT_H_

#include <stdbool.h>

/* The value of a bool attr. */
static inline const char *gradient_truth(bool value) { return value ? "true" : "false"; }

/* name:output:0: identity matrices like the square matrices of a value. */
#define GRADIENT_EYE(name, like)                     \
  "  " name "_diagonal = MatrixDiagPart[T=$T](" like \
  ")\n"                                              \
  "  " name "_ones = OnesLike[T=$T](" name           \
  "_diagonal:diagonal:0)\n"                          \
  "  " name " = MatrixDiag[T=$T](" name "_ones:y:0)\n"

/* name:output:0: the adjoints of matrices with as many rows as the identity matrices `eye`. */
#define GRADIENT_ADJOINT(name, value, eye) \
  "  " name " = BatchMatMulV2[T=$T, adj_x=true](" value ", " eye ":output:0)\n"

/* The sizes of a value's matrices as int32 vectors of one element: m:output:0, n:output:0 and their minimum
 * k:z:0; and zero1:output:0, one1:output:0. */
#define GRADIENT_SIZES(value)                                                                              \
  "  sizes = Shape[T=$T](" value                                                                           \
  ")\n"                                                                                                    \
  "  zero1 = Const[dtype=int32, value=[0]]()\n"                                                            \
  "  one1 = Const[dtype=int32, value=[1]]()\n"                                                             \
  "  minus1 = Const[dtype=int32, value=[-1]]()\n"                                                          \
  "  minus2 = Const[dtype=int32, value=[-2]]()\n"                                                          \
  "  m = StridedSlice[T=int32, Index=int32](sizes:output:0, minus2:output:0, minus1:output:0, "            \
  "one1:output:0)\n"                                                                                       \
  "  n = StridedSlice[T=int32, Index=int32, end_mask=1](sizes:output:0, minus1:output:0, zero1:output:0, " \
  "one1:output:0)\n"                                                                                       \
  "  k = Minimum[T=int32](m:output:0, n:output:0)\n"                                                       \
  "  axis0 = Const[dtype=int32, value=0]()\n"                                                              \
  "  from0 = Const[dtype=int32, value=[0, 0]]()\n"                                                         \
  "  step1 = Const[dtype=int32, value=[1, 1]]()\n"                                                         \
  "  from0k = ConcatV2[N=2, T=int32](zero1:output:0, k:z:0, axis0:output:0)\n"                             \
  "  step3 = Const[dtype=int32, value=[1, 1, 1]]()\n"                                                      \
  "  from3 = Const[dtype=int32, value=[0, 0, 0]]()\n"                                                      \
  "  k3 = ConcatV2[N=3, T=int32](zero1:output:0, k:z:0, zero1:output:0, axis0:output:0)\n"

/* After GRADIENT_SIZES: name:output:0 is value[..., :k], value[..., k:], value[..., :k, :] or value[..., k:,
 * :]. For another size p, from0p:output:0 is [0, p] and p3:output:0 [0, p, 0]. */
#define GRADIENT_LEFT_COLUMNS(name, value, k)                                          \
  "  " name " = StridedSlice[T=$T, Index=int32, ellipsis_mask=1, begin_mask=2](" value \
  ", from0:output:0, from0" k ":output:0, step1:output:0)\n"
#define GRADIENT_RIGHT_COLUMNS(name, value, k)                                                   \
  "  " name " = StridedSlice[T=$T, Index=int32, ellipsis_mask=1, end_mask=2](" value ", from0" k \
  ":output:0, from0:output:0, step1:output:0)\n"
#define GRADIENT_ROWS(name, value, count)                                                          \
  "  " name " = StridedSlice[T=$T, Index=int32, ellipsis_mask=1, begin_mask=6, end_mask=4](" value \
  ", from3:output:0, " count "3:output:0, step3:output:0)\n"
#define GRADIENT_ROWS_FROM(name, value, count)                                                     \
  "  " name " = StridedSlice[T=$T, Index=int32, ellipsis_mask=1, begin_mask=4, end_mask=6](" value \
  ", " count "3:output:0, from3:output:0, step3:output:0)\n"

/* [a b] along the columns; `last:output:0` is -1. */
#define GRADIENT_JOIN_COLUMNS(name, a, b) "  " name " = ConcatV2[N=2, T=$T](" a ", " b ", last:output:0)\n"

#endif
