/* Arithmetic of the templates of this wing, which compute in double and in double _Complex.
 *
 *   y = MINUS_TIMES(y, CONJ(a), b);
 *
 * Matrices of float, half and complex64 are converted (ops/linalg/matrix_batch.h): each algorithm is compiled
 * twice, and its errors vanish when results are rounded. Unlike C's product, TIMES does not repair NaN that
 * come from infinite parts.
 *
 * A template is included for both types by
 *
 *   #define TEMPLATE "ops/linalg/foo.inc"
 *   #include "ops/linalg/each_field.inc"
 */
#ifndef TFCORE_OPS_LINALG_FIELD_H_
#define TFCORE_OPS_LINALG_FIELD_H_

#include "ops/support/complex_quotient.h"
#include "ops/support/element_types.h"

#define TIMES(a, b) NAME(field_times)(a, b)
#define OVER(a, b) NAME(field_over)(a, b)
#define CONJ(a) NAME(field_conj)(a)
#define REAL_PART(a) NAME(field_real)(a)
#define MAGNITUDE(a) NAME(field_magnitude)(a)
#define MAGNITUDE_1(a) NAME(field_magnitude_1)(a) /* within a factor of sqrt(2), and cheaper */
#define MINUS_TIMES(c, a, b) ((c)-TIMES(a, b))

ALWAYS_INLINE double field_times_f64(double a, double b) { return a * b; }
ALWAYS_INLINE double field_over_f64(double a, double b) { return a / b; }
ALWAYS_INLINE double field_conj_f64(double a) { return a; }
ALWAYS_INLINE double field_real_f64(double a) { return a; }
ALWAYS_INLINE double field_magnitude_f64(double a) { return fabs(a); }
ALWAYS_INLINE double field_magnitude_1_f64(double a) { return fabs(a); }

ALWAYS_INLINE double _Complex field_times_c128(double _Complex a, double _Complex b) {
  double ar = creal(a), ai = cimag(a), br = creal(b), bi = cimag(b);
  return complex_of(ar * br - ai * bi, ar * bi + ai * br);
}
ALWAYS_INLINE double _Complex field_over_c128(double _Complex a, double _Complex b) {
  return complex_divide_c128(a, b);
}
ALWAYS_INLINE double _Complex field_conj_c128(double _Complex a) { return complex_of(creal(a), -cimag(a)); }
ALWAYS_INLINE double field_real_c128(double _Complex a) { return creal(a); }
ALWAYS_INLINE double field_magnitude_c128(double _Complex a) { return hypot(creal(a), cimag(a)); }
ALWAYS_INLINE double field_magnitude_1_c128(double _Complex a) { return fabs(creal(a)) + fabs(cimag(a)); }

#endif
