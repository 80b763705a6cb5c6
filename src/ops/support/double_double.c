#include "ops/support/double_double.h"

double dd_sum_of(double *terms, int count) {
  /* Each pass moves the error of every sum to its left neighbour: after count - 1 passes no error is lost. */
  for (int pass = 1; pass < count; pass++) {
    for (int i = 1; i < count; i++) {
      DoubleDouble s = dd_sum(terms[i], terms[i - 1]);
      terms[i] = s.high;
      terms[i - 1] = s.low;
    }
  }
  double sum = 0;
  for (int i = 0; i < count; i++) sum += terms[i];
  return sum;
}

/* (k + 1) ... (k + step) */
static double divisor(int k, int step) {
  double product = 1;
  for (int i = 1; i <= step; i++) product *= k + i;
  return product;
}
/* The sum of x^k / k! from the term `power` = x^k / k! on, in steps of `step`, each of which multiplies by
 * `by`. Terms below the precision of a double are summed in double. */
static DoubleDouble series(DoubleDouble power, DoubleDouble by, int k, int step) {
  DoubleDouble sum = power;
  for (; fabs(power.high) > 0x1p-56 * fabs(sum.high); k += step) {
    power = dd_divide(dd_mul(power, by), divisor(k, step));
    sum = dd_add(sum, power);
  }
  double rest = 0;
  for (double term = power.high; fabs(term) > 0x1p-112 * fabs(sum.high); k += step) {
    term *= by.high / divisor(k, step);
    rest += term;
  }
  return dd_add(sum, (DoubleDouble){rest, 0});
}

/* e^x = 2^k (1 + m) */
static DoubleDouble reduced_expm1(double x, double *power_of_two) {
  static const double kLn2[3] = {0x1.62e42fefa2000p-1, 0x1.9ef35793c6000p-41, 0x1.673007e5ed5e8p-81};
  double k = nearbyint(x / 0x1.62e42fefa39efp-1);
  DoubleDouble r = {x, 0};
  for (int i = 0; i < 3; i++) r = dd_add(r, dd_product(-k, kLn2[i]));
  *power_of_two = ldexp(1, (int)k);
  return series(r, r, 1, 1);
}
DoubleDouble dd_expm1(double x) {
  double scale;
  DoubleDouble m = reduced_expm1(x, &scale);
  return dd_add(dd_scale(m, scale), dd_sum(scale, -1));
}
DoubleDouble dd_exp(double x) {
  double scale;
  DoubleDouble m = reduced_expm1(x, &scale);
  return dd_scale(dd_add((DoubleDouble){1, 0}, m), scale);
}

void dd_sin_cos(double y, DoubleDouble *sine, DoubleDouble *cosine) {
  /* Products of the quadrant's number (below 2^26) with the first four parts are exact. */
  static const double kHalfPi[5] = {0x1.921fb5p+0, 0x1.110b46p-26, 0x1.1a6263p-54, 0x1.8a2e03p-81,
                                    0x1.c1cd129024e09p-107};
  double n = nearbyint(y * 0x1.45f306dc9c883p-1);
  DoubleDouble r = {y, 0};
  for (int i = 0; i < 5; i++) r = dd_add(r, dd_product(-n, kHalfPi[i]));
  DoubleDouble minus_r2 = dd_scale(dd_mul(r, r), -1);
  DoubleDouble s = series(r, minus_r2, 1, 2), c = series((DoubleDouble){1, 0}, minus_r2, 0, 2);
  int quadrant = (int)((int64_t)n & 3);
  double sign_s = quadrant >= 2 ? -1 : 1, sign_c = quadrant == 1 || quadrant == 2 ? -1 : 1;
  *sine = dd_scale(quadrant % 2 ? c : s, sign_s);
  *cosine = dd_scale(quadrant % 2 ? s : c, sign_c);
}
