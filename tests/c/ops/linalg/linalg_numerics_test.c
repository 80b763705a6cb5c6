/* The factorizations give the matrix back, for sizes around their blocks, and for matrices that are singular,
 * graded, defective, huge or tiny; they end for any input. */
#include <complex.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "harness.h"
#include "op_runner.h"
#include "ops/support/element_types.h"

static double next_number(uint64_t *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (double)(int64_t)(*state >> 11) / 0x1p52 - 1;
}

/* An op on one m x n matrix of numbers in [-1, 1), scaled; with a diagonal that is `heavy` larger. */
typedef struct Sample {
  const char *op;
  DataType type;
  int64_t m, n;
  double scale, heavy;
  bool hermitian;
} Sample;

static void fill(Tensor *x, const Sample *s) {
  uint64_t state = (uint64_t)(s->m * 131 + s->n);
  for (int64_t i = 0; i < s->m; i++) {
    for (int64_t j = 0; j < s->n; j++) {
      double re = next_number(&state), im = i == j && s->hermitian ? 0 : next_number(&state);
      if (s->hermitian && j < i) {
        re = tensor_get(x, j * s->n + i) / s->scale, im = -tensor_get_imaginary(x, j * s->n + i) / s->scale;
      }
      tensor_put(x, i * s->n + j, s->scale * (re + (i == j ? s->heavy : 0)));
      tensor_put_imaginary(x, i * s->n + j, s->scale * im);
    }
  }
}

static bool begin(OpRun *run, const Sample *s, Tensor **x) {
  Status status;
  status_init(&status);
  char text[160];
  const char *name = s->type == DT_COMPLEX128 ? "complex128" : "double";
  snprintf(text, sizeof text, s->op, name);
  CHECK_CONTEXT("%s, %d x %d, scale %g", text, (int)s->m, (int)s->n, s->scale);
  if (!CHECK_OK(op_run_begin(run, text, &status), status)) return false;
  int64_t dims[2] = {s->m, s->n};
  *x = op_run_input(run, s->type, 2, dims);
  if (!CHECK(*x)) return false;
  fill(*x, s);
  return CHECK_OK(op_run_compute(run, &status), status);
}

typedef double _Complex Number;

static Number at(const Tensor *x, int64_t i, int64_t j) {
  int64_t columns = shape_dim(&x->shape, 1);
  return complex_of(tensor_get(x, i * columns + j), tensor_get_imaginary(x, i * columns + j));
}

/* The largest distance of A diag(d) B from `want`; d NULL: ones. With `adjoint`, of A diag(d) B^H. */
static double distance(const Tensor *a, const Tensor *d, const Tensor *b, bool adjoint, const Tensor *want) {
  int64_t m = shape_dim(&want->shape, 0), n = shape_dim(&want->shape, 1);
  int64_t k = d ? shape_dim(&d->shape, 0) : shape_dim(&a->shape, 1);
  double largest = 0;
  for (int64_t i = 0; i < m; i++) {
    for (int64_t j = 0; j < n; j++) {
      Number sum = -at(want, i, j);
      for (int64_t p = 0; p < k; p++) {
        Number factor = adjoint ? conj(at(b, j, p)) : at(b, p, j);
        sum += at(a, i, p) * factor * (d ? complex_of(tensor_get(d, p), tensor_get_imaginary(d, p)) : 1);
      }
      double off = cabs(sum);
      if (!(off <= largest)) largest = off;
    }
  }
  return largest;
}

/* The largest distance of A^H A from the identity. */
static double off_unitary(const Tensor *a) {
  int64_t m = shape_dim(&a->shape, 0), n = shape_dim(&a->shape, 1);
  double largest = 0;
  for (int64_t i = 0; i < n; i++) {
    for (int64_t j = 0; j < n; j++) {
      Number sum = i == j ? -1 : 0;
      for (int64_t p = 0; p < m; p++) sum += conj(at(a, p, i)) * at(a, p, j);
      if (!(cabs(sum) <= largest)) largest = cabs(sum);
    }
  }
  return largest;
}

static const DataType kTypes[] = {DT_DOUBLE, DT_COMPLEX128};
static const double kScales[] = {1, 1e-200, 1e200};

/* The error that a backward stable algorithm may have. */
static double allowed(const Sample *s) {
  return 1e-15 * (double)(s->m + s->n + 10) * s->scale * (s->heavy + 2);
}

TEST(qr_and_svd_give_the_matrix_back) {
  static const int64_t kSizes[][2] = {{1, 1}, {5, 3}, {3, 5}, {33, 31}, {31, 64}, {70, 70}, {100, 2}};
  for (size_t i = 0; i < sizeof kSizes / sizeof *kSizes * 2; i++) {
    for (int scale = 0; scale < 3; scale++) {
      Sample s = {"", kTypes[i % 2], kSizes[i / 2][0], kSizes[i / 2][1], kScales[scale], 0, false};
      OpRun run;
      Tensor *a;
      for (int full = 0; full < 2; full++) {
        s.op = full ? "Qr[T=%s, full_matrices=true]" : "Qr[T=%s]";
        if (begin(&run, &s, &a)) {
          CHECK(off_unitary(&run.outputs[0]) <= 1e-13);
          CHECK(distance(&run.outputs[0], NULL, &run.outputs[1], false, a) <= allowed(&s));
        }
        op_run_end(&run);
        s.op = full ? "Svd[T=%s, full_matrices=true]" : "Svd[T=%s]";
        if (begin(&run, &s, &a)) {
          const Tensor *values = &run.outputs[0];
          CHECK(off_unitary(&run.outputs[1]) <= 1e-13);
          CHECK(off_unitary(&run.outputs[2]) <= 1e-13);
          CHECK(distance(&run.outputs[1], values, &run.outputs[2], true, a) <= allowed(&s));
          for (int64_t k = 1; k < tensor_num_elements(values); k++)
            CHECK(tensor_get(values, k) <= tensor_get(values, k - 1) && tensor_get(values, k) >= 0);
        }
        op_run_end(&run);
      }
    }
  }
}

TEST(eigenvectors_give_the_matrix_back) {
  static const int64_t kSizes[] = {1, 2, 3, 10, 33, 60};
  for (size_t i = 0; i < sizeof kSizes / sizeof *kSizes * 2; i++) {
    for (int scale = 0; scale < 3; scale++) {
      int64_t n = kSizes[i / 2];
      Sample s = {"SelfAdjointEigV2[T=%s]", kTypes[i % 2], n, n, kScales[scale], 0, true};
      OpRun run;
      Tensor *a;
      if (begin(&run, &s, &a)) {
        CHECK(off_unitary(&run.outputs[1]) <= 1e-13);
        CHECK(distance(&run.outputs[1], &run.outputs[0], &run.outputs[1], true, a) <= allowed(&s));
        for (int64_t k = 1; k < n; k++)
          CHECK(tensor_get(&run.outputs[0], k) >= tensor_get(&run.outputs[0], k - 1));
      }
      op_run_end(&run);
      s.op = "Eig[T=%s, Tout=complex128]", s.hermitian = false;
      if (begin(&run, &s, &a)) {
        /* A V = V diag(e), compared column by column. */
        const Tensor *e = &run.outputs[0], *v = &run.outputs[1];
        double largest = 0;
        for (int64_t row = 0; row < n; row++) {
          for (int64_t k = 0; k < n; k++) {
            Number sum = -at(v, row, k) * complex_of(tensor_get(e, k), tensor_get_imaginary(e, k));
            for (int64_t p = 0; p < n; p++) sum += at(a, row, p) * at(v, p, k);
            if (!(cabs(sum) <= largest)) largest = cabs(sum);
          }
        }
        CHECK(largest <= 10 * allowed(&s));
      }
      op_run_end(&run);
    }
  }
  CHECK_CONTEXT("%s", "");
}

TEST(systems_are_solved_beyond_one_block) {
  static const int64_t kSizes[] = {1, 47, 48, 49, 97, 150};
  for (size_t i = 0; i < sizeof kSizes / sizeof *kSizes * 2; i++) {
    int64_t n = kSizes[i / 2];
    Sample s = {"MatrixInverse[T=%s]", kTypes[i % 2], n, n, 1, 20, false};
    OpRun run;
    Tensor *a, *identity;
    if (begin(&run, &s, &a)) {
      int64_t dims[2] = {n, n};
      OpRun other;
      Status status;
      status_init(&status);
      if (CHECK_OK(op_run_begin(&other, "MatrixInverse[T=double]", &status), status) &&
          CHECK(identity = op_run_input(&other, s.type, 2, dims))) {
        for (int64_t k = 0; k < n * n; k++) tensor_put(identity, k, k / n == k % n);
        CHECK(distance(a, NULL, &run.outputs[0], false, identity) <= 1e-13);
      }
      op_run_end(&other);
    }
    op_run_end(&run);
    s.op = "Cholesky[T=%s]", s.hermitian = true;
    if (begin(&run, &s, &a)) {
      CHECK(distance(&run.outputs[0], NULL, &run.outputs[0], true, a) <= 1e-12);
      if (n > 1) CHECK(at(&run.outputs[0], 0, n - 1) == 0);
    }
    op_run_end(&run);
  }
  CHECK_CONTEXT("%s", "");
}

TEST(eigenvalues_of_special_matrices) {
  /* Real matrices: real numbers stay real, pairs are exact conjugates. */
  op_gives_about("Eig[T=double, Tout=complex128, compute_v=false]", "double[2,2] 0 -1 1 0",
                 "complex128[2] 0+1i 0-1i; complex128[0]", 1e-15);
  /* A Jordan block, whose eigenvectors coincide, and a permutation, on which unshifted steps stand still. */
  op_gives_about("Eig[T=double, Tout=complex128, compute_v=false]", "double[3,3] 2 1 0 0 2 1 0 0 2",
                 "complex128[3] 2; complex128[0]", 1e-15);
  op_gives_about("Eig[T=double, Tout=complex128, compute_v=false]", "double[1,1] 7",
                 "complex128[1] 7; complex128[0]", 0);
  OpRun run;
  Status status;
  status_init(&status);
  REQUIRE_OK(op_run_begin(&run, "Eig[T=double, Tout=complex128]", &status), status);
  int64_t dims[2] = {8, 8};
  Tensor *x = op_run_input(&run, DT_DOUBLE, 2, dims);
  for (int64_t i = 0; x && i < 64; i++) tensor_f64(x)[i] = (i / 8 + 1) % 8 == i % 8;
  if (CHECK_OK(op_run_compute(&run, &status), status)) {
    for (int64_t i = 0; i < 8; i++) {
      Number e = complex_of(tensor_get(&run.outputs[0], i), tensor_get_imaginary(&run.outputs[0], i));
      Number power = e * e * e * e * e * e * e * e;
      CHECK_NEAR(cabs(power - 1), 0, 1e-13);
    }
  }
  op_run_end(&run);
  op_gives("SelfAdjointEigV2[T=double, compute_v=false]", "double[3,3] 0", "double[3] 0; double[0]");
  op_gives_about("Svd[T=double, compute_uv=false]", "double[3,3] 1", "double[3] 3 0 0; double[0]; double[0]",
                 1e-15);
  op_gives_about("Svd[T=double, compute_uv=false]", "double[3,3] 0 1 0 0 0 1 0 0 0",
                 "double[3] 1 1 0; double[0]; double[0]", 1e-15);
  op_gives_about("Svd[T=double, compute_uv=false]", "double[2,2] 1 1e-20 0 1e-20",
                 "double[2] 1 1e-20; double[0]; double[0]", 1e-15);
}

TEST(decompositions_end_for_infinities_and_nan) {
  static const char *const kInputs[] = {"%s[3,3] nan 1 2 3 4 5 6 7 8", "%s[3,3] 1 inf 2 3 4 5 6 7 8",
                                        "%s[3,3] 1 2 3 4 5 6 7 8 -inf", "%s[3,3] nan"};
  static const char *const kOps[] = {"Svd",
                                     "SelfAdjointEigV2",
                                     "Eig",
                                     "Qr",
                                     "MatrixSquareRoot",
                                     "MatrixLogarithm",
                                     "MatrixExponential",
                                     "MatrixInverse",
                                     "Cholesky",
                                     "MatrixSolveLs",
                                     "Lu"};
  for (size_t i = 0; i < sizeof kOps / sizeof *kOps; i++) {
    for (size_t k = 0; k < sizeof kInputs / sizeof *kInputs; k++) {
      char op[80], text[160];
      bool eig = strcmp(kOps[i], "Eig") == 0, least = strcmp(kOps[i], "MatrixSolveLs") == 0;
      snprintf(op, sizeof op, "%s[T=complex128%s]", kOps[i],
               eig     ? ", Tout=complex128"
               : least ? ", fast=false"
                       : "");
      int length = snprintf(text, sizeof text, kInputs[k], "complex128");
      if (least) snprintf(text + length, sizeof text - (size_t)length, "; complex128[3,1] 1; double[] 0");
      OpRun run;
      Status status, outcome;
      status_init(&status);
      status_init(&outcome);
      CHECK_CONTEXT("%s of %s", op, text);
      if (CHECK_OK(op_run_begin(&run, op, &status), status) &&
          CHECK_OK(op_run_inputs(&run, text, &status), status) && !op_run_compute(&run, &outcome))
        CHECK_INT_EQ(outcome.code, CODE_INVALID_ARGUMENT);
      op_run_end(&run);
    }
  }
  CHECK_CONTEXT("%s", "");
}

/* exp of a rotation's generator, of a nilpotent matrix, and of a matrix that needs squarings. */
TEST(exponentials_of_matrices) {
  op_gives_about("MatrixExponential[T=double]", "double[2,2] 0 -1 1 0",
                 "double[2,2] 0.54030230586813977 -0.8414709848078965 0.8414709848078965 0.54030230586813977",
                 1e-15);
  op_gives_about("MatrixExponential[T=double]", "double[2,2,2] 0 3 0 0 0 0 0 0",
                 "double[2,2,2] 1 3 0 1 1 0 0 1", 1e-15);
  op_gives_about("MatrixExponential[T=double]", "double[2,2] 50 0 0 -50",
                 "double[2,2] 5.184705528587072e21 0 0 1.9287498479639178e-22", 1e-13);
  op_gives_about("MatrixExponential[T=complex128]", "complex128[1,1] 0+3.14159265358979312i",
                 "complex128[1,1] -1+0i", 1e-15);
  op_gives_about("MatrixLogarithm[T=complex128]", "complex128[2,2] 1 3 0 1", "complex128[2,2] 0 3 0 0",
                 1e-15);
  op_fails("MatrixExponential[T=double]", "double[1,2] 0", CODE_INVALID_ARGUMENT,
           "Input matrix must be square.");
}

/* Graphs of old versions name the ops for batches differently. */
TEST(ops_of_old_graphs_have_their_own_names) {
  op_gives("BatchMatrixDiag[T=float]", "float[2] 1 2", "float[2,2] 1 0 0 2");
  op_gives("BatchMatrixDiagPart[T=float]", "float[2,2] 1 3 4 2", "float[2] 1 2");
  op_gives("BatchMatrixSetDiag[T=float]", "float[2,2] 1 3 4 2; float[2] 7 8", "float[2,2] 7 3 4 8");
  op_gives("BatchMatrixBandPart[T=float]", "float[2,2] 1 3 4 2; int64[] 0; int64[] -1", "float[2,2] 1 3 0 2");
  op_gives_about("BatchCholesky[T=float]", "float[1,2,2] 4 9 2 5", "float[1,2,2] 2 0 1 2", 1e-6);
  op_gives_about("BatchCholeskyGrad[T=float]", "float[2,2] 1 0 2 1; float[2,2] 1 5 2 3",
                 "float[2,2] 4.5 -2 -2 1.5", 1e-6);
  op_gives_about("BatchMatrixDeterminant[T=float]", "float[2,2] 1 2 3 4", "float[] -2", 1e-6);
  op_gives_about("BatchMatrixInverse[T=float]", "float[1,1] 4", "float[1,1] 0.25", 1e-6);
  op_gives_about("BatchMatrixSolve[T=float]", "float[2,2] 1 2 3 4; float[2,1] 5 6", "float[2,1] -4 4.5",
                 1e-5);
  op_gives_about("BatchMatrixTriangularSolve[T=float]", "float[2,2] 2 9 1 4; float[2,1] 4 6",
                 "float[2,1] 2 1", 1e-6);
  op_gives_about("BatchMatrixSolveLs[T=float]", "float[2,1] 1 1; float[2,1] 1 3; double[] 0", "float[1,1] 2",
                 1e-6);
  op_gives_about("BatchSelfAdjointEigV2[T=float, compute_v=false]", "float[2,2] 4 9 0 2",
                 "float[2] 2 4; float[0]", 1e-6);
  op_gives_about("BatchSvd[T=float, compute_uv=false]", "float[2,2] 0 2 3 0",
                 "float[2] 3 2; float[0]; float[0]", 1e-6);
  /* The eigenvalues are in the first row; vectors may have either sign. */
  Status status;
  status_init(&status);
  OpRun run;
  if (CHECK_OK(op_run_begin(&run, "BatchSelfAdjointEig[T=double]", &status), status) &&
      CHECK_OK(op_run_inputs(&run, "double[2,2] 4 9 0 2", &status), status) &&
      CHECK_OK(op_run_compute(&run, &status), status)) {
    const double *y = tensor_f64(&run.outputs[0]), want[] = {2, 4, 0, 1, 1, 0};
    for (int i = 0; i < 6; i++) CHECK_NEAR(fabs(y[i]), want[i], 1e-15);
  }
  op_run_end(&run);
}

/* Where 1.15 reports an error, 2.x gives NaN. */
TEST(singular_systems_are_refused) {
  op_fails("Cholesky[T=float]", "float[2,2] 1 2 2 1", CODE_INVALID_ARGUMENT,
           "Cholesky decomposition was not successful. The input might not be valid.");
  op_fails("MatrixTriangularSolve[T=float]", "float[2,2] 1 0 2 0; float[2,1] 1", CODE_INVALID_ARGUMENT,
           "Input matrix is not invertible.");
  op_fails("TridiagonalSolve[T=float]", "float[3,1] 0; float[1,1] 1", CODE_INVALID_ARGUMENT,
           "The matrix is not invertible: it is a scalar with value zero.");
  op_fails("TridiagonalSolve[T=float]", "float[3,2] 1 9 0 0 9 0; float[2,1] 1", CODE_INVALID_ARGUMENT,
           "The matrix is not invertible.");
  op_fails("TridiagonalSolve[T=float, partial_pivoting=false]", "float[3,2] 1 9 0 1 9 1; float[2,1] 1",
           CODE_INVALID_ARGUMENT, "Try setting partial_pivoting = True.");
  op_gives_about("TridiagonalSolve[T=float]", "float[3,2] 1 9 0 1 9 1; float[2,1] 1 2", "float[2,1] 1 1",
                 1e-6);
  op_fails("MatrixSolveLs[T=double]", "double[2,2] 0; double[2,1] 1; double[] 0", CODE_INVALID_ARGUMENT,
           "Input matrix was rank deficient or ill-conditioned.");
}

/* The determinant of a diagonal matrix, of which partial products exceed the range of numbers. */
TEST(determinants_do_not_overflow_on_the_way) {
  op_gives_about("MatrixDeterminant[T=double]",
                 "double[4,4] 1e200 0 0 0 0 1e200 0 0 0 0 1e-200 0 0 0 0 1e-200", "double[] 1", 1e-14);
  op_gives("MatrixDeterminant[T=double]", "double[2,2] 1e200 0 0 1e200", "double[] inf");
  op_gives("MatrixDeterminant[T=double]", "double[2,2] inf 0 0 1", "double[] inf");
}
