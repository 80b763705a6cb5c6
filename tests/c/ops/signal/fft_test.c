/* Fourier transforms against the sums that define them, in extended precision. */
#include <math.h>
#include <stdio.h>

#include "base/alloc.h"
#include "gradient_cases.h"
#include "harness.h"
#include "op_runner.h"
#include "ops/signal/fft_plan.h"
#include "random_numbers.h"

/* The largest error over all elements, relative to the root of the mean square of the result. */
static double error_of(int64_t n, int64_t lanes, const double *x_re, const double *x_im, const double *re,
                       const double *im) {
  const long double turn = 6.283185307179586476925286766559L;
  long double worst = 0, squares = 0;
  for (int64_t lane = 0; lane < lanes; lane++) {
    for (int64_t k = 0; k < n; k++) {
      long double a = 0, b = 0;
      for (int64_t j = 0; j < n; j++) {
        long double angle = -turn * (long double)(j * k % n) / (long double)n, c = cosl(angle),
                    s = sinl(angle);
        int64_t at = j * lanes + lane;
        a += x_re[at] * c - x_im[at] * s;
        b += x_re[at] * s + x_im[at] * c;
      }
      long double off = hypotl(a - re[k * lanes + lane], b - im[k * lanes + lane]);
      worst = off > worst ? off : worst;
      squares += a * a + b * b;
    }
  }
  return (double)(worst / sqrtl(squares / (long double)(n * lanes)));
}

static void check_length(int64_t n, int64_t lanes, bool wide) {
  Status status;
  status_init(&status);
  FftPlan *plan = fft_plan_new(n, wide, false, &status);
  if (!CHECK_OK(plan, status)) return;
  int64_t count = n * lanes;
  bool narrow = !fft_plan_is_wide(plan);
  double *x = mem_alloc(4 * count * 8), *re = x + 2 * count, *im = x + 3 * count;
  void *numbers = mem_alloc((2 * count + fft_plan_work(plan, lanes)) * 8);
  float *small = numbers;
  double *large = numbers;
  for (int64_t i = 0; i < 2 * count; i++) {
    x[i] = (float)sin(0.7 * (double)(i * i % 1009) + (double)i);
    if (narrow) small[i] = (float)x[i];
    else large[i] = x[i];
  }
  if (narrow) fft_run_f32(plan, lanes, small, small + count, small + 2 * count);
  else fft_run_f64(plan, lanes, large, large + count, large + 2 * count);
  for (int64_t i = 0; i < 2 * count; i++) re[i] = narrow ? (double)small[i] : large[i];
  double error = error_of(n, lanes, x, x + count, re, im);
  double limit = (narrow ? 1e-7 : 4e-16) * (1 + log2((double)n));
  CHECK_CONTEXT("n = %lld, %lld lanes, %s: error %g", (long long)n, (long long)lanes,
                narrow ? "float" : "double", error);
  CHECK(error <= limit);
  CHECK_CONTEXT("%s", "");
  mem_free(numbers);
  mem_free(x);
  fft_plan_free(plan);
}

TEST(fourier_transforms_of_all_short_lengths_are_accurate) {
  for (int64_t n = 1; n <= 130; n++) {
    check_length(n, n % 3 == 0 ? 5 : 1, false);
    check_length(n, n % 5 == 0 ? 3 : 1, true);
  }
}

TEST(fourier_transforms_of_long_lengths_are_accurate) {
  static const int64_t lengths[] = {1024, 1000, 2048, 2 * 3 * 5 * 7 * 11, 1021, 1018, 1331, 2197};
  for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
    check_length(lengths[i], 1, false);
    check_length(lengths[i], 1, true);
  }
}

TEST(fourier_transforms_over_given_axes) {
  op_gives_about("FFTND[Tcomplex=complex64]", "complex64[4] 1 2 3 4; int32[1] 4; int32[1] 0",
                 "complex64[4] 10 -2+2i -2 -2-2i", 1e-6);
  op_gives_about("FFTND[Tcomplex=complex64]", "complex64[3] 1 2 3; int32[1] 4; int32[1] -1",
                 "complex64[4] 6 -2-2i 2 -2+2i", 1e-6);
  op_gives_about("IFFTND[Tcomplex=complex128]", "complex128[5] 10 -2+2i -2 -2-2i 9; int32[1] 4; int32[1] 0",
                 "complex128[4] 1 2 3 4", 1e-14);
  op_gives_about("RFFTND[Treal=float, Tcomplex=complex64]",
                 "float[2,4] 1 2 3 4 1 1 1 1; int32[2] 2 4; int32[2] 0 1",
                 "complex64[2,3] 14 -2+2i -2 6 -2+2i -2", 1e-6);
  op_gives_about("IRFFTND[Treal=float, Tcomplex=complex64]",
                 "complex64[2,3] 14 -2+2i -2 6 -2+2i -2; int32[2] 2 4; int32[2] -2 -1",
                 "float[2,4] 1 2 3 4 1 1 1 1", 1e-6);
}

TEST(axes_of_fourier_transforms_are_the_last_ones_in_order) {
  const char *op = "FFTND[Tcomplex=complex64]";
  op_fails(op, "complex64[2,2] 1; int32[2] 2 2; int32[2] 1 0", CODE_INVALID_ARGUMENT,
           "axes must be successive and ascending.");
  op_fails(op, "complex64[2,2] 1; int32[1] 2; int32[1] 0", CODE_INVALID_ARGUMENT,
           "The last axis to perform transform on must be -1.");
  op_fails(op, "complex64[2] 1; int32[2] 2 2; int32[2] 0 1", CODE_INVALID_ARGUMENT,
           "Input must have rank of at least 2 but got: [2]");
  op_fails(op, "complex64[2,2] 1; int32[1] 2; int32[2] 0 1", CODE_INVALID_ARGUMENT,
           "fft_length must have shape [2], but got: [1].");
  op_fails(op, "complex64[2] 1; int32[1] -1; int32[1] 0", CODE_INVALID_ARGUMENT,
           "fft_length[0] must >= 0, but got: -1");
  op_fails(op, "complex64[2] 1; int32[0]; int32[0]", CODE_INVALID_ARGUMENT, "axes must be a vector");
}

TEST(old_names_of_fourier_transforms) {
  const char *x = "complex64[1,1,4] 1 2 3 4", *y = "complex64[1,1,4] 10 -2+2i -2 -2-2i";
  op_gives_about("BatchFFT", x, y, 1e-6);
  op_gives_about("BatchIFFT", y, x, 1e-6);
  op_gives_about("BatchFFT2D", x, y, 1e-6);
  op_gives_about("BatchIFFT2D", y, x, 1e-6);
  op_gives_about("BatchFFT3D", x, y, 1e-6);
  op_gives_about("BatchIFFT3D", y, x, 1e-6);
}

TEST(transforms_of_no_elements_are_zero) {
  op_gives("RFFT[Treal=float, Tcomplex=complex64]", "float[0]; int32[1] 4", "complex64[3] 0");
  op_gives("IRFFT[Treal=float, Tcomplex=complex64]", "complex64[0]; int32[1] 4", "float[4] 0");
  op_gives("RFFT[Treal=float, Tcomplex=complex64]", "float[4] 1; int32[1] 0", "complex64[0]");
}

#define Z "complex128"
GRADIENT_CASES(fourier, {"FFT|IFFT[Tcomplex=complex128]", Z "[4] 1+2i 0-1i 3 2-1i"},
               {"FFT|IFFT[Tcomplex=complex128]", Z "[2,3] 1+2i 0-1i 3 2-1i 4 1+1i"},
               {"FFT|IFFT[Tcomplex=complex128]", Z "[1] 1+2i"},
               {"FFT2D|IFFT2D[Tcomplex=complex128]", Z "[2,3] 1+2i 0-1i 3 2-1i 4 1+1i"},
               {"FFT2D|IFFT2D[Tcomplex=complex128]", Z "[2,2,1] 1+2i 0-1i 3 2-1i"},
               {"FFT2D|IFFT2D[Tcomplex=complex128]", Z "[1,4] 1+2i 0-1i 3 2-1i"},
               {"FFT3D|IFFT3D[Tcomplex=complex128]", Z "[2,1,3] 1+2i 0-1i 3 2-1i 4 1+1i"},
               {"FFT3D|IFFT3D[Tcomplex=complex128]", Z "[2,1,2,1] 1+2i 0-1i 3 2-1i"},
               {"FFT3D|IFFT3D[Tcomplex=complex128]", Z "[2,2,2] 1+2i 0-1i 3 2-1i 1 0+2i 0.5 -1"})

#define REALS "[Treal=double, Tcomplex=complex128]"
GRADIENT_CASES(real_fourier, {"RFFT" REALS, "double[4] 1 2 -1 3; int32[1] 4"},
               {"RFFT" REALS, "double[2,3] 1 2 -1 3 0.5 -2; int32[1] 3"},
               {"RFFT" REALS, "double[5] 1 2 -1 3 4; int32[1] 4"},
               {"RFFT2D" REALS, "double[2,3] 1 2 -1 3 0.5 -2; int32[2] 2 3"},
               {"RFFT2D" REALS, "double[1,3,2] 1 2 -1 3 0.5 -2; int32[2] 2 2"},
               {"RFFT2D" REALS, "double[1,4] 1 2 -1 3; int32[2] 1 4"},
               {"RFFT3D" REALS, "double[2,1,3] 1 2 -1 3 0.5 -2; int32[3] 2 1 3"},
               {"RFFT3D" REALS, "double[1,2,1,2] 1 2 -1 3; int32[3] 2 1 2"},
               {"RFFT3D" REALS, "double[2,2,2] 1 2 -1 3 4 0.5 2 1; int32[3] 2 2 1"},
               {"IRFFT" REALS, Z "[3] 1+2i 0-1i 3; int32[1] 4"},
               {"IRFFT" REALS, Z "[2,3] 1+2i 0-1i 3 2-1i 4 1+1i; int32[1] 5"},
               {"IRFFT" REALS, Z "[4] 1+2i 0-1i 3 2; int32[1] 4"},
               {"IRFFT2D" REALS, Z "[2,3] 1+2i 0-1i 3 2-1i 4 1+1i; int32[2] 2 4"},
               {"IRFFT2D" REALS, Z "[1,3,2] 1+2i 0-1i 3 2-1i 4 1+1i; int32[2] 3 3"},
               {"IRFFT2D" REALS, Z "[2,2] 1+2i 0-1i 3 2-1i; int32[2] 2 1"},
               {"IRFFT3D" REALS, Z "[2,1,3] 1+2i 0-1i 3 2-1i 4 1+1i; int32[3] 2 1 4"},
               {"IRFFT3D" REALS, Z "[1,2,1,2] 1+2i 0-1i 3 2-1i; int32[3] 2 1 3"},
               {"IRFFT3D" REALS, Z "[2,2,2] 1+2i 0-1i 3 2-1i 1 0+2i 0.5 -1; int32[3] 2 2 2"})
