/* Fourier transforms against the sums that define them, in extended precision. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "gradient_cases.h"
#include "harness.h"
#include "op_runner.h"
#include "ops/signal/fft_plan.h"
#include "random_numbers.h"

/* A number of more digits than a double has: high is a float if it is a factor, and a rounded sum otherwise.
 */
typedef struct Wide {
  double high, low;
} Wide;

static Wide factor_of(long double x) { return (Wide){(float)x, (double)(x - (float)x)}; }

/* Adds x times the factor; x is a float, so that the product with `high` is exact. */
static void add_product(Wide *sum, double x, Wide factor) {
  double product = x * factor.high, next = sum->high + product, added = next - sum->high;
  sum->low += (sum->high - (next - added)) + (product - added) + x * factor.low;
  sum->high = next;
}

/* The largest error over all elements, relative to the root of the mean square of the result. */
static double error_of(int64_t n, int64_t lanes, const double *x_re, const double *x_im, const double *re,
                       const double *im) {
  const long double turn = 6.283185307179586476925286766559L;
  Wide *cosines = mem_alloc(3 * n * (int64_t)sizeof *cosines), *sines = cosines + n, *negated = sines + n;
  for (int64_t i = 0; i < n; i++) {
    cosines[i] = factor_of(cosl(turn * (long double)i / (long double)n));
    sines[i] = factor_of(-sinl(turn * (long double)i / (long double)n));
    negated[i] = (Wide){-sines[i].high, -sines[i].low};
  }
  double worst = 0, squares = 0;
  for (int64_t lane = 0; lane < lanes; lane++) {
    for (int64_t k = 0; k < n; k++) {
      Wide a = {0, 0}, b = {0, 0};
      for (int64_t j = 0; j < n; j++) {
        int64_t at = j * lanes + lane, root = j * k % n;
        add_product(&a, x_re[at], cosines[root]);
        add_product(&a, x_im[at], negated[root]);
        add_product(&b, x_re[at], sines[root]);
        add_product(&b, x_im[at], cosines[root]);
      }
      double off = hypot(a.high - re[k * lanes + lane] + a.low, b.high - im[k * lanes + lane] + b.low);
      worst = off > worst ? off : worst;
      squares += a.high * a.high + b.high * b.high;
    }
  }
  mem_free(cosines);
  return worst / sqrt(squares / (double)(n * lanes));
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
    check_length(n, 1, false);
    check_length(n, 1, true);
    check_length(n, 1 + n % 11, false);
    check_length(n, 1 + n % 9, true);
  }
}

TEST(fourier_transforms_of_long_lengths_are_accurate) {
  static const int64_t lengths[] = {1024, 1000, 2048, 2 * 3 * 5 * 7 * 11, 1021, 1018, 1331, 2197};
  for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
    check_length(lengths[i], 1, false);
    check_length(lengths[i], 1, true);
  }
}

/* How an op transforms [planes, rows, columns]: along the columns, or the rows and then the columns. Input
 * elements beyond those that exist are 0. */
typedef struct OpCase {
  const char *op;
  bool real, back, planes; /* back: IFFT or IRFFT; planes: both axes */
  int64_t rows, from, n;   /* from: columns of the input, of which n elements or half a spectrum count */
} OpCase;

/* The sum for one element of the result of a transform of `n` elements: the spectrum of real elements is
 * completed by symmetry. */
static void op_sum(const OpCase *c, const OpRun *run, int64_t plane, int64_t u, int64_t v, double *re,
                   double *im) {
  const double turn = 6.283185307179586;
  const Tensor *x = &run->inputs[0];
  *re = *im = 0;
  for (int64_t r = 0; r < (c->planes ? c->rows : 1); r++) {
    for (int64_t k = 0; k < c->n; k++) {
      bool mirrored = c->real && c->back && k > c->n / 2;
      int64_t row = c->planes ? (mirrored ? (c->rows - r) % c->rows : r) : u,
              column = mirrored ? c->n - k : k;
      if (column >= c->from) continue;
      int64_t at = (plane * c->rows + row) * c->from + column;
      double a = tensor_get(x, at), b = tensor_get_imaginary(x, at);
      if (mirrored) b = -b;
      double angle =
          (c->back ? turn : -turn) * ((double)(k * v % c->n) / (double)c->n +
                                      (c->planes ? (double)(r * u % c->rows) / (double)c->rows : 0));
      *re += a * cos(angle) - b * sin(angle);
      *im += a * sin(angle) + b * cos(angle);
    }
  }
  if (!c->back) return;
  *re /= (double)(c->n * (c->planes ? c->rows : 1));
  *im /= (double)(c->n * (c->planes ? c->rows : 1));
}

static void check_op(const OpCase *c, bool wide, int64_t planes) {
  Status status;
  OpRun run;
  char op[128];
  const char *real = wide ? "double" : "float", *complex = wide ? "complex128" : "complex64";
  status_init(&status);
  if (c->real) snprintf(op, sizeof op, "%s[Treal=%s, Tcomplex=%s]", c->op, real, complex);
  else snprintf(op, sizeof op, "%s[Tcomplex=%s]", c->op, complex);
  CHECK_CONTEXT("%s, %lld rows of %lld to %lld", op, (long long)c->rows, (long long)c->from, (long long)c->n);
  DataType type = c->real && !c->back ? (wide ? DT_DOUBLE : DT_FLOAT) : wide ? DT_COMPLEX128 : DT_COMPLEX64;
  if (!CHECK_OK(op_run_begin(&run, op, &status), status)) return;
  Tensor *x = op_run_input(&run, type, 3, (int64_t[]){planes, c->rows, c->from});
  CHECK(x);
  for (int64_t i = 0; i < planes * c->rows * c->from; i++) {
    bool end =
        i % c->from == 0 || 2 * (i % c->from) == c->n; /* such of a spectrum must be of real elements */
    tensor_put(x, i, (double)(i * i % 23 - 11));
    if (type == DT_COMPLEX64 || type == DT_COMPLEX128)
      tensor_put_imaginary(x, i, c->real && end ? 0 : (double)(i * i % 19 - 9));
  }
  if (c->real && c->back && c->planes) { /* these columns are spectra of real elements too */
    for (int64_t i = 0; i < planes * c->rows; i++) {
      tensor_put(x, i * c->from, 2);
      if (c->n % 2 == 0 && c->n / 2 < c->from) tensor_put(x, i * c->from + c->n / 2, 3);
    }
  }
  char lengths[64];
  bool any_axes = strstr(c->op, "ND");
  if (c->planes) snprintf(lengths, sizeof lengths, "int32[2] %d %d", (int)c->rows, (int)c->n);
  else snprintf(lengths, sizeof lengths, "int32[1] %d", (int)c->n);
  if (any_axes) strcat(lengths, c->planes ? "; int32[2] 1 2" : "; int32[1] 2");
  if (c->real || any_axes) CHECK_OK(op_run_inputs(&run, lengths, &status), status);
  CHECK_OK(op_run_compute(&run, &status), status);
  const Tensor *y = &run.outputs[0];
  int64_t columns = shape_dim(&y->shape, 2);
  CHECK(columns == (c->real && !c->back ? c->n / 2 + 1 : c->n));
  for (int64_t i = 0; i < planes * c->rows * columns; i++) {
    double re, im;
    op_sum(c, &run, i / (c->rows * columns), i / columns % c->rows, i % columns, &re, &im);
    double limit = (wide ? 1e-14 : 3e-6) * 10 * (double)c->n;
    if (!CHECK(fabs(tensor_get(y, i) - re) <= limit)) break;
    if (!(c->real && c->back) && !CHECK(fabs(tensor_get_imaginary(y, i) - im) <= limit)) break;
  }
  op_run_end(&run);
  CHECK_CONTEXT("%s", "");
}

TEST(fourier_ops_of_many_lines_are_their_sums) {
  static const OpCase cases[] =
      {{"FFT", false, false, false, 8, 15, 15},   {"FFT", false, false, false, 5, 14, 14},
       {"IFFT", false, true, false, 8, 12, 12},   {"IFFT", false, true, false, 4, 11, 11},
       {"FFT", false, false, false, 8, 17, 17},   {"FFT2D", false, false, true, 9, 12, 12},
       {"IFFT2D", false, true, true, 10, 21, 21}, {"FFT2D", false, false, true, 7, 3, 3},
       {"RFFT", true, false, false, 8, 30, 30},   {"RFFT", true, false, false, 8, 31, 18},
       {"RFFT", true, false, false, 8, 15, 15},   {"RFFT", true, false, false, 5, 2, 2},
       {"RFFT", true, false, false, 8, 34, 34},   {"RFFT2D", true, false, true, 6, 20, 20},
       {"IRFFT", true, true, false, 8, 16, 30},   {"FFTND", false, false, false, 8, 7, 12},
       {"IFFTND", false, true, true, 8, 7, 12},   {"IRFFT", true, true, false, 8, 19, 12},
       {"IRFFT", true, true, false, 8, 8, 15},    {"IRFFT", true, true, false, 5, 2, 2},
       {"IRFFT2D", true, true, true, 6, 11, 20}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    check_op(&cases[i], false, 3);
    check_op(&cases[i], true, 3);
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
