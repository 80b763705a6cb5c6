#include "ops/signal/fft_plan.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "simd/simd.h"
#include "simd/templates.h"

enum { FFT_MAX_PASSES = 64, FFT_MAX_RADIX = 13 };

static const int kRadices[] = {4, 2, 3, 5, 7, 11, 13};
enum { NUM_RADICES = sizeof kRadices / sizeof kRadices[0] };

struct FftPlan {
  int64_t length;
  bool wide;
  int num_passes; /* 0: a convolution, or length 1 */
  int radix[FFT_MAX_PASSES];
  void *roots[FFT_MAX_PASSES]; /* of a pass, see make_pass */
  void *half_roots;
  /* a convolution */
  FftPlan *smooth;        /* the transform of the padded length */
  double *chirp, *filter; /* real parts, then imaginary parts */
};

int64_t fft_plan_length(const FftPlan *plan) { return plan->length; }
bool fft_plan_is_wide(const FftPlan *plan) { return plan->wide; }
bool fft_plan_has_halves(const FftPlan *plan) { return plan->half_roots; }
const void *fft_plan_half_roots(const FftPlan *plan) { return plan->half_roots; }

/* What is left of n without the radices. */
static int64_t rough_part(int64_t n) {
  for (int i = 0; i < NUM_RADICES; i++) {
    while (n % kRadices[i] == 0) n /= kRadices[i];
  }
  return n;
}

bool fft_needs_double(int64_t n) { return rough_part(n) > 1; }

/* exp(-2 pi i k / n) for 0 <= k < n. The angle is reduced to an eighth of a turn in integers. */
static void unit_root(int64_t k, int64_t n, double *re, double *im) {
  const double turn = 6.283185307179586476925;
  int64_t eighth = 8 * k / n;
  int64_t from = eighth % 2 == 0 ? eighth : eighth + 1; /* the nearest multiple of a quarter turn */
  int64_t rest = 8 * k - from * n;                      /* 8 n turns, at most n in magnitude */
  double angle = turn * (double)rest / (8.0 * (double)n), c = cos(angle), s = sin(angle);
  static const int kCos[] = {1, 0, -1, 0};
  int quarter = (int)(from / 2) % 4, turned = (quarter + 3) % 4; /* cos(a + q) and sin(a + q) */
  *re = kCos[quarter] * c - kCos[turned] * s;
  *im = -(kCos[turned] * c + kCos[quarter] * s);
}

static void put_root(bool wide, void *roots, int64_t re_at, int64_t im_at, double re, double im) {
  if (wide) {
    ((double *)roots)[re_at] = re;
    ((double *)roots)[im_at] = im;
  } else {
    ((float *)roots)[re_at] = (float)re;
    ((float *)roots)[im_at] = (float)im;
  }
}

static void *new_numbers(bool wide, int64_t count, Status *status) {
  void *numbers = mem_alloc(count * (int64_t)(wide ? sizeof(double) : sizeof(float)));
  if (!numbers) status_oom(status, "roots of unity");
  return numbers;
}

/* The roots of a pass over parts of length n: exp(-2 pi i j p / n) at [(j - 1) * m + p] for 0 < j < radix and
 * p < m = n / radix; all real parts, then all imaginary parts. */
static bool make_pass(FftPlan *plan, int pass, int64_t n, Status *status) {
  int radix = plan->radix[pass];
  int64_t m = n / radix, count = (radix - 1) * m;
  void *roots = plan->roots[pass] = new_numbers(plan->wide, 2 * count, status);
  if (!roots) return false;
  for (int j = 1; j < radix; j++) {
    for (int64_t p = 0; p < m; p++) {
      double re, im;
      unit_root(j * p, n, &re, &im);
      put_root(plan->wide, roots, (j - 1) * m + p, count + (j - 1) * m + p, re, im);
    }
  }
  return true;
}

static bool make_passes(FftPlan *plan, Status *status) {
  int64_t n = plan->length;
  for (int i = 0; i < NUM_RADICES; i++) {
    for (; n % kRadices[i] == 0; n /= kRadices[i]) {
      plan->radix[plan->num_passes] = kRadices[i];
      TRY(make_pass(plan, plan->num_passes++, n, status));
    }
  }
  return true;
}

/* The smallest length of at least n whose factors are 2, and 3 or 5 at most once or twice. */
static int64_t smooth_length(int64_t n) {
  static const int kOdd[] = {1, 3, 5, 9, 15};
  int64_t best = INT64_MAX;
  for (int i = 0; i < 5; i++) {
    int64_t length = kOdd[i];
    while (length < n) length *= 2;
    if (length < best) best = length;
  }
  return best;
}

/* With jk = (j^2 + k^2 - (k - j)^2) / 2 the sum is a convolution with exp(pi i j^2 / n). */
static bool make_convolution(FftPlan *plan, Status *status) {
  int64_t n = plan->length, m = smooth_length(2 * n - 1);
  plan->smooth = fft_plan_new(m, true, false, status);
  if (!plan->smooth) return false;
  if (!(plan->chirp = new_numbers(true, 2 * n, status))) return false;
  if (!(plan->filter = new_numbers(true, 2 * m, status))) return false;
  double *work = new_numbers(true, fft_plan_work(plan->smooth, 1), status);
  if (!work) return false;
  memset(plan->filter, 0, (size_t)(2 * m) * sizeof(double));
  for (int64_t k = 0, square = 0; k < n; square = (square + 2 * k + 1) % (2 * n), k++) {
    double re, im, *filter = plan->filter;
    unit_root(square, 2 * n, &re, &im);
    plan->chirp[k] = re;
    plan->chirp[n + k] = im;
    filter[k] = filter[(m - k) % m] = re / (double)m;
    filter[m + k] = filter[m + (m - k) % m] = -im / (double)m;
  }
  fft_run_f64(plan->smooth, 1, plan->filter, plan->filter + m, work);
  mem_free(work);
  return true;
}

static bool make_half_roots(FftPlan *plan, Status *status) {
  int64_t n = plan->length;
  if (!(plan->half_roots = new_numbers(plan->wide, 2 * (n + 1), status))) return false;
  for (int64_t k = 0; k <= n; k++) {
    double re, im;
    unit_root(k, 2 * n, &re, &im);
    put_root(plan->wide, plan->half_roots, k, n + 1 + k, re, im);
  }
  return true;
}

FftPlan *fft_plan_new(int64_t n, bool wide, bool halves, Status *status) {
  FftPlan *plan = mem_calloc(1, sizeof *plan);
  if (!plan) {
    status_oom(status, "plan of a Fourier transform");
    return NULL;
  }
  plan->length = n;
  plan->wide = wide || fft_needs_double(n);
  bool ok = rough_part(n) > 1 ? make_convolution(plan, status) : make_passes(plan, status);
  if (ok && (!halves || make_half_roots(plan, status))) return plan;
  fft_plan_free(plan);
  return NULL;
}

void fft_plan_free(FftPlan *plan) {
  if (!plan) return;
  for (int i = 0; i < plan->num_passes; i++) mem_free(plan->roots[i]);
  mem_free(plan->half_roots);
  mem_free(plan->chirp);
  mem_free(plan->filter);
  fft_plan_free(plan->smooth);
  mem_free(plan);
}

int64_t fft_plan_work(const FftPlan *plan, int64_t lanes) {
  return plan->smooth ? 4 * plan->smooth->length * lanes : 2 * plan->length * lanes;
}

/* re + i im times a + i b. */
static void multiply(int64_t count, const double *a, const double *b, int64_t lanes, double *re, double *im) {
  for (int64_t k = 0; k < count; k++, re += lanes, im += lanes) {
    f64x2 wide_a = f64x2_splat(a[k]), wide_b = f64x2_splat(b[k]);
    int64_t j = 0;
    for (; j + 2 <= lanes; j += 2) {
      f64x2 x = f64x2_load(re + j), y = f64x2_load(im + j);
      f64x2_store(re + j, x * wide_a - y * wide_b);
      f64x2_store(im + j, x * wide_b + y * wide_a);
    }
    for (; j < lanes; j++) {
      double x = re[j], y = im[j];
      re[j] = x * a[k] - y * b[k];
      im[j] = x * b[k] + y * a[k];
    }
  }
}

static void convolve(const FftPlan *plan, int64_t lanes, double *re, double *im, double *work) {
  int64_t n = plan->length, m = plan->smooth->length;
  double *wide_re = work, *wide_im = wide_re + m * lanes, *rest = wide_im + m * lanes;
  size_t used = (size_t)(n * lanes) * sizeof(double), padding = (size_t)((m - n) * lanes) * sizeof(double);
  multiply(n, plan->chirp, plan->chirp + n, lanes, re, im);
  memcpy(wide_re, re, used);
  memcpy(wide_im, im, used);
  memset(wide_re + n * lanes, 0, padding);
  memset(wide_im + n * lanes, 0, padding);
  fft_run_f64(plan->smooth, lanes, wide_re, wide_im, rest);
  multiply(m, plan->filter, plan->filter + m, lanes, wide_re, wide_im);
  fft_run_f64(plan->smooth, lanes, wide_im, wide_re, rest);
  memcpy(re, wide_re, used);
  memcpy(im, wide_im, used);
  multiply(n, plan->chirp, plan->chirp + n, lanes, re, im);
}

#define TEMPLATE "ops/signal/fft_passes.inc"
#define TYPES TYPES_FLOAT
#include "simd/each_type.inc"

void fft_run_f32(const FftPlan *plan, int64_t lanes, float *re, float *im, float *work) {
  run_passes_f32(plan, lanes, re, im, work);
}

void fft_run_f64(const FftPlan *plan, int64_t lanes, double *re, double *im, double *work) {
  if (plan->smooth) {
    convolve(plan, lanes, re, im, work);
  } else {
    run_passes_f64(plan, lanes, re, im, work);
  }
}
