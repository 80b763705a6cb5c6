/* Cholesky and CholeskyGrad. */
#include "op/op_registry.h"
#include "ops/linalg/factors.h"
#include "ops/linalg/field.h"
#include "ops/linalg/matrix_batch.h"
#include "ops/linalg/matrix_shapes.h"

#define TEMPLATE "ops/linalg/cholesky_steps.inc"
#include "ops/linalg/each_field.inc"

static bool cholesky_kernel(KernelContext *context, Status *status) {
  static const MatrixFunction kCholesky = {cholesky_step_f64, cholesky_step_c128};
  MatrixBatch batch;
  TRY(matrix_batch_begin(context, 1, &batch, status));
  TRY(matrix_batch_square(&batch, status));
  int64_t n = batch.in[0].rows;
  TRY(matrix_batch_output(context, &batch, 0, 2, n, n, status));
  return matrix_batch_run(context, &batch, &kCholesky, NULL, matrix_cube(n) / 3,
                          "Cholesky decomposition was not successful. The input might not be valid.", status);
}

/* The symmetric gradient L^-T P(L^T dL) L^-1, where P takes the lower triangle and halves the diagonal. */
static MatrixResult cholesky_grad_step(MatrixStep *step) {
  int64_t n = step->in[0].rows;
  double *l = step->in[0].data, *dl = step->in[1].data, *x = step->out[0].data;
  for (int64_t i = 0; i < n; i++) {
    for (int64_t j = 0; j < n; j++) {
      double sum = 0;
      for (int64_t k = i; k < n && j <= i; k++) sum += l[k * n + i] * dl[k * n + j];
      x[i * n + j] = i == j ? sum / 2 : sum;
    }
  }
  factor_adjoint_f64(n, l);
  Triangle upper = {false, false};
  /* The product with L^-1 from the right is one with L^-T from the left of the transpose. */
  for (int side = 0; side < 2; side++) {
    if (!factor_solve_f64(n, n, l, upper, x, step->parallel)) return MATRIX_NO_MEMORY;
    factor_adjoint_f64(n, x);
  }
  for (int64_t i = 0; i < n; i++)
    for (int64_t j = 0; j <= i; j++) x[i * n + j] = x[j * n + i] = (x[i * n + j] + x[j * n + i]) / 2;
  return MATRIX_DONE;
}

static bool cholesky_grad_kernel(KernelContext *context, Status *status) {
  static const MatrixFunction kCholeskyGrad = {cholesky_grad_step, NULL};
  MatrixBatch batch;
  TRY(matrix_batch_begin(context, 2, &batch, status));
  int64_t n = batch.in[0].rows;
  if (n != batch.in[1].rows || batch.in[0].columns != batch.in[1].columns)
    return status_invalid(status, "Inputs (L and grad) must have the same shape.");
  if (n != batch.in[0].columns) return status_invalid(status, "Input matrix must be square.");
  TRY(matrix_batch_output(context, &batch, 0, 2, n, n, status));
  return matrix_batch_run(context, &batch, &kCholeskyGrad, NULL, 3 * matrix_cube(n), "", status);
}

#define CHOLESKY .inputs = {"input: T"}, .outputs = {"output: T"}, .shape = shape_square_unchanged

/* dx = (s + s^H) / 2 for s = L^-H P(L^H dL) L^-1, with P as in CholeskyGrad. */
const OpRegistration kOpCholesky = {
    .name = "Cholesky",
    CHOLESKY,
    .attrs = {"T: {double, float, half, complex64, complex128}"},
    .gradient =
        "CholeskyGradient[T:type](x:T, dy:T) -> (dx:T) {\n"
        "  l = Cholesky[T=$T](x)\n"
        "  product = BatchMatMulV2[T=$T, adj_x=true](l:output:0, dy)\n"
        "  all = Const[dtype=int64, value=-1]()\n"
        "  none = Const[dtype=int64, value=0]()\n"
        "  lower = MatrixBandPart[T=$T](product:output:0, all:output:0, none:output:0)\n"
        "  diagonal = MatrixDiagPart[T=$T](product:output:0)\n"
        "  half = Const[dtype=$T, value=0.5]()\n"
        "  halved = Mul[T=$T](half:output:0, diagonal:diagonal:0)\n"
        "  middle = MatrixSetDiag[T=$T](lower:band:0, halved:z:0)\n"
        "  ones = OnesLike[T=$T](diagonal:diagonal:0)\n"
        "  eye = MatrixDiag[T=$T](ones:y:0)\n"
        "  inverse = MatrixTriangularSolve[T=$T](l:output:0, eye:output:0)\n"
        "  left = BatchMatMulV2[T=$T, adj_x=true](inverse:output:0, middle:output:0)\n"
        "  s = BatchMatMulV2[T=$T](left:output:0, inverse:output:0)\n"
        "  adjoint = BatchMatMulV2[T=$T, adj_x=true](s:output:0, eye:output:0)\n"
        "  both = Add[T=$T](s:output:0, adjoint:output:0)\n"
        "  dx = Mul[T=$T](half:output:0, both:z:0)\n"
        "  return dx = dx:z:0\n"
        "}\n",
    .kernels = {FLOAT_KERNELS(cholesky_kernel), COMPLEX_KERNELS(cholesky_kernel)},
};

const OpRegistration kOpBatchCholesky = {
    .name = "BatchCholesky",
    CHOLESKY,
    .attrs = {"T: {double, float}"},
    .deprecated_version = 13,
    .deprecation_explanation = "Use Cholesky instead.",
    .kernels = {FLOAT_KERNELS(cholesky_kernel)},
};

#define CHOLESKY_GRAD                                                                       \
  .inputs = {"l: T", "grad: T"}, .outputs = {"output: T"}, .shape = shape_square_unchanged, \
  .kernels = {FLOAT_KERNELS(cholesky_grad_kernel)}

const OpRegistration kOpCholeskyGrad = {
    .name = "CholeskyGrad",
    CHOLESKY_GRAD,
    .attrs = {"T: {half, float, double}"},
};

const OpRegistration kOpBatchCholeskyGrad = {
    .name = "BatchCholeskyGrad",
    CHOLESKY_GRAD,
    .attrs = {"T: {float, double}"},
    .deprecated_version = 13,
    .deprecation_explanation = "Use CholeskyGrad instead.",
};
