/* Discrete Fourier transforms of one length: y[k] = sum over j of x[j] * exp(-2 pi i j k / n).
 *
 *   FftPlan *plan = fft_plan_new(1024, false, false, status);
 *   fft_run_f32(plan, 1, re, im, work);     // work has fft_plan_work(plan, 1) floats
 *   fft_run_f32(plan, 1, im, re, work);     // the inverse, times n: real and imaginary parts change places
 *
 * Several transforms run side by side, in lanes: element k of lane j is re[k * lanes + j]. The parts are
 * separate arrays, so that loops over lanes and over neighbouring elements become vector instructions.
 *
 * How it works: passes of radix 4, 2, 3, 5, 7, 11 and 13, each from one pair of arrays to another, in an
 * order that needs no bit reversal (Stockham). Lengths with a larger prime factor become a convolution of a
 * smooth length (Bluestein), always in double. Roots of unity are computed in double from angles of at most
 * 45 degrees; the relative error of a transform is about 1e-7 (2e-16 in double) times the logarithm of n.
 */
#ifndef TFCORE_OPS_SIGNAL_FFT_PLAN_H_
#define TFCORE_OPS_SIGNAL_FFT_PLAN_H_

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

typedef struct FftPlan FftPlan;

/* Whether a plan of that length must be in double. */
bool fft_needs_double(int64_t n);
/* A plan for n >= 1 in double (`wide`) or float. With `halves` the plan also has the roots of 2n, which
 * combine the transforms of the even and the odd elements of real numbers. NULL when out of memory. */
FftPlan *fft_plan_new(int64_t n, bool wide, bool halves, Status *status);
void fft_plan_free(FftPlan *plan); /* NULL is fine */
int64_t fft_plan_length(const FftPlan *plan);
bool fft_plan_is_wide(const FftPlan *plan);
bool fft_plan_has_halves(const FftPlan *plan);
/* exp(-2 pi i k / 2n) for k <= n, as n + 1 real parts and then n + 1 imaginary parts of the plan's type. */
const void *fft_plan_half_roots(const FftPlan *plan);

/* Elements of the working memory for `lanes` transforms. */
int64_t fft_plan_work(const FftPlan *plan, int64_t lanes);
/* Transforms re and im, of n * lanes elements, in place. */
void fft_run_f32(const FftPlan *plan, int64_t lanes, float *re, float *im, float *work);
void fft_run_f64(const FftPlan *plan, int64_t lanes, double *re, double *im, double *work);

#endif
