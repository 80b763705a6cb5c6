/* Schur's form: reduction to Hessenberg form, then implicit QR steps, with two shifts for real matrices
 * (Francis) and one for complex ones. */
#include <float.h>

#include "base/alloc.h"
#include "base/work_stop.h"
#include "ops/linalg/field.h"
#include "ops/linalg/reflectors.h"
#include "ops/linalg/rotations.h"
#include "ops/linalg/spectral.h"

enum { MAX_ROUNDS = 300 }; /* for one eigenvalue */

#define TEMPLATE "ops/linalg/hessenberg.inc"
#include "ops/linalg/each_field.inc"

/* --- real matrices --- */

typedef struct RealForm {
  int64_t n;
  double *h, *z;
} RealForm;

/* Applies a reflection of `count` rows and columns from k on; columns before `from` are zero. */
static void reflect(RealForm *f, int64_t k, int64_t count, int64_t from, int64_t high, double *v,
                    double *work) {
  double tau, beta = reflector_make_f64(count, v, &tau);
  int64_t n = f->n, rows = k + 4 < high + 1 ? k + 4 : high + 1;
  reflector_left_f64(count, n - from, v, tau, f->h + k * n + from, n, work);
  if (from < k) {
    f->h[k * n + from] = beta;
    for (int64_t i = 1; i < count; i++) f->h[(k + i) * n + from] = 0;
  }
  reflector_right_f64(rows, count, v, tau, f->h + k, n);
  reflector_right_f64(n, count, v, tau, f->z + k, n);
}

/* One step with the two eigenvalues of the last 2 x 2 block of [low, high] as shifts. */
static void francis_step(RealForm *f, int64_t low, int64_t high, int round, double *work) {
  int64_t n = f->n;
  const double *h = f->h, *last = h + (high - 1) * n + high - 1, *first = h + low * n + low;
  double sum = last[0] + last[n + 1], product = last[0] * last[n + 1] - last[1] * last[n];
  if (round % 11 == 10) { /* an arbitrary shift, where the usual ones repeat themselves */
    double size = fabs(last[n]) + fabs(h[(high - 1) * n + high - 2]);
    sum = 1.5 * size;
    product = size * size;
  }
  double v[3] = {first[0] * first[0] + first[1] * first[n] - sum * first[0] + product,
                 first[n] * (first[0] + first[n + 1] - sum), first[n] * first[2 * n + 1]};
  for (int64_t k = low; k < high; k++) {
    int64_t count = k < high - 1 ? 3 : 2;
    if (k > low)
      for (int64_t i = 0; i < count; i++) v[i] = h[(k + i) * n + k - 1];
    reflect(f, k, count, k > low ? k - 1 : k, high, v, work);
  }
}

/* Makes the 2 x 2 block at k triangular if its eigenvalues are real. */
static void split_block(RealForm *f, int64_t k) {
  int64_t n = f->n;
  double *a = f->h + k * n + k, half = (a[0] - a[n + 1]) / 2, square = half * half + a[1] * a[n], r;
  if (square < 0 || a[n] == 0) return;
  double root = sqrt(square);
  Rotation q = rotation_to(half >= 0 ? half + root : half - root, a[n], &r);
  rotation_apply_f64(q, n - k, a, a + n);
  for (int64_t i = 0; i < 2 * n; i++) {
    double *row = i < n ? f->h + i * n + k : f->z + (i - n) * n + k, x = row[0], y = row[1];
    if (i >= k + 2 && i < n) continue;
    row[0] = q.c * x + q.s * y;
    row[1] = q.c * y - q.s * x;
  }
  a[n] = 0;
}

/* Squares of values below 1e-150 would underflow; the largest element of the matrix is 1. */
static bool negligible(double below, double left, double right) {
  return below < 1e-150 || below <= DBL_EPSILON * (left + right);
}

/* The matrix becomes triangular up to 2 x 2 blocks with complex eigenvalues. */
static bool real_schur(RealForm *f, double *work) {
  int64_t n = f->n;
  int round = 0;
  for (int64_t high = n - 1; high > 0;) {
    int64_t low = high;
    for (; low > 0; low--) {
      double *below = &f->h[low * n + low - 1];
      if (!negligible(fabs(*below), fabs(f->h[(low - 1) * n + low - 1]), fabs(f->h[low * n + low]))) continue;
      *below = 0;
      break;
    }
    if (low >= high - 1) {
      if (low == high - 1) split_block(f, low);
      high = low - 1;
      round = 0;
    } else {
      if (round++ == MAX_ROUNDS) return false;
      francis_step(f, low, high, round, work);
    }
    if (work_is_stopped()) return true;
  }
  return true;
}

/* [a b; -conj(b) conj(a)] applied to rows or, as its adjoint, to columns i and i + 1. */
static void turn_rows(double _Complex a, double _Complex b, int64_t n, double _Complex *x,
                      double _Complex *y) {
  for (int64_t i = 0; i < n; i++) {
    double _Complex p = x[i], q = y[i];
    x[i] = field_times_c128(a, p) + field_times_c128(b, q);
    y[i] = field_times_c128(field_conj_c128(a), q) - field_times_c128(field_conj_c128(b), p);
  }
}
static void turn_columns(double _Complex a, double _Complex b, int64_t rows, int64_t stride,
                         double _Complex *at) {
  for (int64_t i = 0; i < rows; i++) {
    double _Complex p = at[i * stride], q = at[i * stride + 1];
    at[i * stride] = field_times_c128(field_conj_c128(a), p) + field_times_c128(field_conj_c128(b), q);
    at[i * stride + 1] = field_times_c128(a, q) - field_times_c128(b, p);
  }
}

/* Makes the real form's 2 x 2 blocks triangular. */
static void split_complex(int64_t n, double _Complex *t, double _Complex *z) {
  for (int64_t m = n - 1; m > 0; m--) {
    double _Complex *block = t + (m - 1) * n + m - 1;
    double a = creal(block[0]), b = creal(block[1]), c = creal(block[n]), d = creal(block[n + 1]);
    if (c == 0) continue;
    double half = (a - d) / 2, height = sqrt(fabs(half * half + b * c));
    double _Complex value = complex_of((a + d) / 2, height);
    double size = hypot(hypot(half, height), c);
    double _Complex first = complex_of(half / size, -height / size); /* conjugated */
    turn_rows(first, c / size, n - m + 1, block, block + n);
    turn_columns(first, c / size, m + 1, n, t + m - 1);
    turn_columns(first, c / size, n, n, z + m - 1);
    block[0] = value;
    block[n + 1] = field_conj_c128(value);
    block[n] = 0;
    m--; /* blocks do not overlap */
  }
}

MatrixResult spectral_schur_f64(int64_t n, double *a, double _Complex *t, double _Complex *z) {
  double scale = scale_f64(n, a);
  if (!isfinite(scale)) return MATRIX_FAILED;
  double *memory = matrix_scratch(n * n + 2 * n + 1, sizeof *memory);
  if (!memory) return MATRIX_NO_MEMORY;
  RealForm form = {n, a, memory};
  hessenberg_f64(n, a, memory, memory + n * n);
  bool ok = real_schur(&form, memory + n * n);
  for (int64_t i = 0; i < n * n; i++) t[i] = a[i], z[i] = memory[i];
  mem_free(memory);
  if (!ok) return MATRIX_FAILED;
  split_complex(n, t, z);
  for (int64_t i = 0; i < n * n; i++) t[i] *= scale;
  return MATRIX_DONE;
}

/* --- complex matrices --- */

/* The eigenvalue of the last 2 x 2 block that is nearer to its last element. */
static double _Complex complex_shift(const double _Complex *last, int64_t n) {
  double _Complex half = (last[0] - last[n + 1]) / 2, off = field_times_c128(last[1], last[n]);
  double _Complex root = csqrt(field_times_c128(half, half) + off);
  if (creal(half) * creal(root) + cimag(half) * cimag(root) < 0) root = -root;
  double _Complex below = half + root;
  return below == 0 ? last[n + 1] : last[n + 1] - field_over_c128(off, below);
}

static void complex_step(int64_t n, int64_t low, int64_t high, int round, double _Complex *h,
                         double _Complex *z) {
  const double _Complex *last = h + (high - 1) * n + high - 1;
  double _Complex shift = round % 11 == 10 ? h[high * n + high] + cabs(last[n]) : complex_shift(last, n);
  for (int64_t k = low; k < high; k++) {
    int64_t from = k > low ? k - 1 : k, rows = k + 3 < high + 1 ? k + 3 : high + 1;
    double _Complex x = h[k * n + from] - (k > low ? 0 : shift), y = h[(k + 1) * n + from];
    double size = hypot(cabs(x), cabs(y));
    if (size == 0) continue;
    double _Complex a = field_conj_c128(x) / size, b = field_conj_c128(y) / size;
    turn_rows(a, b, n - from, h + k * n + from, h + (k + 1) * n + from);
    if (k > low) h[(k + 1) * n + from] = 0;
    turn_columns(a, b, rows, n, h + k);
    turn_columns(a, b, n, n, z + k);
  }
}

static bool complex_schur(int64_t n, double _Complex *h, double _Complex *z) {
  int round = 0;
  for (int64_t high = n - 1; high > 0;) {
    int64_t low = high;
    for (; low > 0; low--) {
      double _Complex *below = &h[low * n + low - 1];
      if (!negligible(field_magnitude_1_c128(*below), field_magnitude_1_c128(h[(low - 1) * n + low - 1]),
                      field_magnitude_1_c128(h[low * n + low])))
        continue;
      *below = 0;
      break;
    }
    if (low == high) {
      high--;
      round = 0;
    } else {
      if (round++ == MAX_ROUNDS) return false;
      complex_step(n, low, high, round, h, z);
    }
    if (work_is_stopped()) return true;
  }
  return true;
}

MatrixResult spectral_schur_c128(int64_t n, double _Complex *a, double _Complex *t, double _Complex *z) {
  double scale = scale_c128(n, a);
  if (!isfinite(scale)) return MATRIX_FAILED;
  double _Complex *work = matrix_scratch(2 * n + 1, sizeof *work);
  if (!work) return MATRIX_NO_MEMORY;
  hessenberg_c128(n, a, z, work);
  mem_free(work);
  if (!complex_schur(n, a, z)) return MATRIX_FAILED;
  for (int64_t i = 0; i < n * n; i++) t[i] = i / n <= i % n ? a[i] * scale : 0;
  return MATRIX_DONE;
}
