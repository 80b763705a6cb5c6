#include "ops/math/error_inverse.h"

#include <math.h>
#include <stdbool.h>

/* 2 / sqrt(pi) and sqrt(2) */
static const double kSlope = 1.12837916709551257390, kRoot2 = 1.41421356237309504880;

/* A step of Halley's method for a function with the derivative of erf: `miss` is the function's value minus
 * the target. Each step triples the number of digits; returns whether another one could change the result. */
static bool step(double *y, double miss) {
  double newton = miss / (kSlope * exp(-*y * *y));
  *y -= newton / (1 + *y * newton);
  return fabs(newton) > 1e-6;
}

/* y >= 0 with erfc(y) = q, 0 < q <= 1/2. Starts with an approximation by Winitzki of three digits; the first
 * steps far out gain fewer digits than others. */
static double complement_inverse(double q) {
  double logarithm = log(q) + log(2 - q), half = 4.33 + logarithm / 2;
  double y = sqrt(sqrt(half * half - logarithm / 0.147) - half);
  for (int i = 0; i < 5 && step(&y, q - erfc(y)); i++) continue;
  return y;
}

double error_inverse(double x) {
  double size = fabs(x);
  if (!(size < 1)) return size == 1 ? copysign((double)INFINITY, x) : (double)NAN;
  if (size >= 0.5) return copysign(complement_inverse(1 - size), x);
  double y = x / kSlope; /* exact at 0, and close below 0.5 */
  for (int i = 0; i < 4 && step(&y, erf(y) - x); i++) continue;
  return y;
}

double error_normal_quantile(double p) {
  if (!(p > 0 && p < 1)) return p == 0 ? -(double)INFINITY : p == 1 ? (double)INFINITY : (double)NAN;
  if (p > 0.25 && p < 0.75) return kRoot2 * error_inverse(2 * p - 1);
  return p <= 0.25 ? -kRoot2 * complement_inverse(2 * p) : kRoot2 * complement_inverse(2 * (1 - p));
}
