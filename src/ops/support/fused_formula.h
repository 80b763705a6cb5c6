/* What an elementwise op computes, as a text that code can be made of (ops/support/fused_emit.h).
 *
 * A text is in postfix order, and each letter is an instruction for vectors:
 *
 *   x y            the operands
 *   0 1 6 h H s S  0, 1, 6, 1/2, -1/2, SELU_SCALE_ALPHA, SELU_SCALE
 *   + - * /        arithmetic
 *   n a r          -a, |a|, square root
 *   f c i          rounded down, up, to the nearest even integer
 *   m M            b < a ? b : a, a < b ? b : a
 *   < > l = !      masks: <, >, <=, ==, != (true for a NaN)
 *   & | ~          of bits: a and b, a or b, a and not b
 *   ?              a where the mask c is set, else b
 */
#ifndef TFCORE_OPS_SUPPORT_FUSED_FORMULA_H_
#define TFCORE_OPS_SUPPORT_FUSED_FORMULA_H_

#include <stdbool.h>
#include <stdint.h>

/* The number of the formula that gives the bits of the op's kernels for float and double; 0: none. */
uint8_t fused_formula_of(const char *op);
/* The text of formula `number` > 0. */
const char *fused_formula_text(uint8_t number);
/* The value of a letter for a constant; false for other letters. */
bool fused_formula_constant(char letter, double *value);

#endif
