#include "ops/linalg/triangular_functions.h"

#include <float.h>
#include <math.h>

#include "base/alloc.h"
#include "ops/support/complex_math.h"
#include "ops/linalg/field.h"
#include "ops/linalg/matrix_batch.h"

/* --- eigenvectors --- */

/* x = the eigenvector of T for its k-th eigenvalue; a denominator that vanishes is replaced by a small one.
 */
static void solve_vector(int64_t n, const double _Complex *t, int64_t k, double smallest,
                         double _Complex *x) {
  x[k] = 1;
  for (int64_t i = k - 1; i >= 0; i--) {
    double _Complex sum = 0, gap = t[i * n + i] - t[k * n + k];
    for (int64_t j = i + 1; j <= k; j++) sum += field_times_c128(t[i * n + j], x[j]);
    if (field_magnitude_1_c128(gap) < smallest) gap = smallest;
    x[i] = -field_over_c128(sum, gap);
    double size = field_magnitude_1_c128(x[i]);
    for (int64_t j = i; j <= k && size > 1e100; j++) x[j] /= size;
  }
}

/* Divides column k by its length and, for a real vector, by the phase of its largest element. */
static void normalize(int64_t n, int64_t k, bool real, double _Complex *v) {
  double largest = 0, sum = 0;
  double _Complex phase = 1;
  for (int64_t i = 0; i < n; i++) {
    double size = cabs(v[i * n + k]);
    if (size <= largest) continue;
    largest = size;
    phase = v[i * n + k] / size;
  }
  for (int64_t i = 0; i < n && largest > 0; i++) {
    v[i * n + k] /= largest;
    sum += creal(field_times_c128(v[i * n + k], field_conj_c128(v[i * n + k])));
  }
  for (int64_t i = 0; i < n && largest > 0; i++) {
    v[i * n + k] /= sqrt(sum);
    if (real) v[i * n + k] = creal(field_times_c128(v[i * n + k], field_conj_c128(phase)));
  }
}

void triangular_eigenvectors(int64_t n, const double _Complex *t, const double _Complex *z, bool real,
                             double _Complex *v, double _Complex *work) {
  double norm = 0;
  for (int64_t i = 0; i < n * n; i++) norm = fmax(norm, field_magnitude_1_c128(t[i]));
  for (int64_t k = 0; k < n; k++) {
    double height = cimag(t[k * n + k]);
    if (real && height < 0 && k > 0) {
      for (int64_t i = 0; i < n; i++) v[i * n + k] = field_conj_c128(v[i * n + k - 1]);
      continue;
    }
    solve_vector(n, t, k, fmax(DBL_EPSILON * norm, DBL_MIN), work);
    for (int64_t i = 0; i < n; i++) {
      double _Complex sum = 0;
      for (int64_t j = 0; j <= k; j++) sum += field_times_c128(z[i * n + j], work[j]);
      v[i * n + k] = sum;
    }
    normalize(n, k, real && height == 0, v);
  }
}

/* --- square roots and logarithms --- */

void triangular_sqrt(int64_t n, const double _Complex *t, double _Complex *r) {
  for (int64_t i = 0; i < n * n; i++) r[i] = 0;
  for (int64_t j = 0; j < n; j++) {
    r[j * n + j] = complex_sqrt(t[j * n + j]);
    for (int64_t i = j - 1; i >= 0; i--) {
      double _Complex sum = t[i * n + j];
      for (int64_t k = i + 1; k < j; k++) sum -= field_times_c128(r[i * n + k], r[k * n + j]);
      r[i * n + j] = sum == 0 ? 0 : field_over_c128(sum, r[i * n + i] + r[j * n + j]);
    }
  }
}

/* The largest sum of magnitudes of a column of T - I. */
static double distance_from_one(int64_t n, const double _Complex *t) {
  double largest = 0;
  for (int64_t j = 0; j < n; j++) {
    double sum = 0;
    for (int64_t i = 0; i <= j; i++) sum += field_magnitude_1_c128(t[i * n + j] - (i == j));
    if (!(sum <= largest)) largest = sum;
  }
  return largest;
}

/* y += w X (I + x X)^-1 for an upper triangular X. */
static void add_fraction(int64_t n, const double _Complex *x, double node, double weight, double _Complex *y,
                         double _Complex *column) {
  for (int64_t j = 0; j < n; j++) {
    /* X and the inverse commute: column j solves (I + node X) column = X e_j. */
    for (int64_t i = j; i >= 0; i--) {
      double _Complex sum = x[i * n + j];
      for (int64_t k = i + 1; k <= j; k++) sum -= node * field_times_c128(x[i * n + k], column[k]);
      column[i] = field_over_c128(sum, 1 + node * x[i * n + i]);
      y[i * n + j] += weight * column[i];
    }
  }
}

/* log(I + X) = the integral over s from 0 to 1 of X (I + s X)^-1, with 8 nodes of Gauss and Legendre: exact
 * to double precision for |X| < 0.25. */
static void log_near_one(int64_t n, const double _Complex *x, double _Complex *y, double _Complex *column) {
  static const double kNodes[4] = {0.18343464249564981, 0.52553240991632899, 0.79666647741362674,
                                   0.96028985649753623};
  static const double kWeights[4] = {0.36268378337836199, 0.31370664587788728, 0.22238103445337448,
                                     0.10122853629037626};
  for (int64_t i = 0; i < n * n; i++) y[i] = 0;
  for (int i = 0; i < 4; i++) {
    add_fraction(n, x, (1 - kNodes[i]) / 2, kWeights[i] / 2, y, column);
    add_fraction(n, x, (1 + kNodes[i]) / 2, kWeights[i] / 2, y, column);
  }
}

bool triangular_log(int64_t n, double _Complex *t) {
  double _Complex *memory = matrix_scratch(2 * n * n + 2 * n, sizeof *memory);
  if (!memory) return false;
  double _Complex *root = memory, *y = root + n * n, *diagonal = y + n * n, *column = diagonal + n;
  bool singular = false;
  for (int64_t i = 0; i < n; i++) {
    diagonal[i] = complex_log(t[i * n + i]);
    singular = singular || t[i * n + i] == 0;
  }
  double factor = 1;
  for (int round = 0; round < 1100 && distance_from_one(n, t) > 0.25; round++, factor *= 2) {
    triangular_sqrt(n, t, root);
    for (int64_t i = 0; i < n * n; i++) t[i] = root[i];
  }
  for (int64_t i = 0; i < n; i++) t[i * n + i] -= 1;
  log_near_one(n, t, y, column);
  for (int64_t i = 0; i < n * n; i++) t[i] = singular ? (double)NAN : y[i] * factor;
  for (int64_t i = 0; i < n && !singular; i++) t[i * n + i] = diagonal[i];
  mem_free(memory);
  return true;
}

void triangular_restore(int64_t n, const double _Complex *t, const double _Complex *z, double _Complex *out,
                        double _Complex *work) {
  for (int64_t i = 0; i < n; i++) {
    for (int64_t j = 0; j < n; j++) {
      double _Complex sum = 0;
      for (int64_t k = 0; k <= j; k++) sum += field_times_c128(z[i * n + k], t[k * n + j]);
      work[i * n + j] = sum;
    }
  }
  for (int64_t i = 0; i < n; i++) {
    for (int64_t j = 0; j < n; j++) {
      double _Complex sum = 0;
      for (int64_t k = 0; k < n; k++) sum += field_times_c128(work[i * n + k], field_conj_c128(z[j * n + k]));
      out[i * n + j] = sum;
    }
  }
}
