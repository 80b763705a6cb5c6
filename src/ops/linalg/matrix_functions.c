/* MatrixSquareRoot, MatrixLogarithm and MatrixExponential. */
#include "base/alloc.h"
#include "op/op_registry.h"
#include "ops/linalg/factors.h"
#include "ops/linalg/field.h"
#include "ops/linalg/gradient_text.h"
#include "ops/linalg/matrix_batch.h"
#include "ops/linalg/matrix_shapes.h"
#include "ops/linalg/matrix_update.h"
#include "ops/linalg/spectral.h"
#include "ops/linalg/triangular_functions.h"

#define TEMPLATE "ops/linalg/matrix_functions.inc"
#include "ops/linalg/each_field.inc"

static MatrixResult log_step(MatrixStep *step) {
  int64_t n = step->in[0].rows;
  double _Complex *memory = matrix_scratch(3 * n * n, sizeof *memory);
  if (!memory) return MATRIX_NO_MEMORY;
  double _Complex *t = memory, *z = t + n * n, *out = step->out[0].data;
  MatrixResult result = spectral_schur_c128(n, step->in[0].data, t, z);
  if (result == MATRIX_FAILED) {
    for (int64_t i = 0; i < n * n; i++) out[i] = complex_of((double)NAN, (double)NAN);
    result = MATRIX_DONE;
  } else if (result == MATRIX_DONE) {
    if (triangular_log(n, t)) {
      triangular_restore(n, t, z, out, z + n * n);
    } else {
      result = MATRIX_NO_MEMORY;
    }
  }
  mem_free(memory);
  return result;
}

static bool run(KernelContext *context, const MatrixFunction *function, double factor, Status *status) {
  MatrixBatch batch;
  TRY(matrix_batch_begin(context, 1, &batch, status));
  TRY(matrix_batch_square(&batch, status));
  int64_t n = batch.in[0].rows;
  TRY(matrix_batch_output(context, &batch, 0, 2, n, n, status));
  return matrix_batch_run(context, &batch, function, NULL, factor * matrix_cube(n), "", status);
}

static bool sqrt_kernel(KernelContext *context, Status *status) {
  static const MatrixFunction kSqrt = {sqrt_step_f64, sqrt_step_c128};
  return run(context, &kSqrt, 30, status);
}
static bool log_kernel(KernelContext *context, Status *status) {
  static const MatrixFunction kLog = {NULL, log_step};
  return run(context, &kLog, 60, status);
}
static bool exp_kernel(KernelContext *context, Status *status) {
  static const MatrixFunction kExp = {exp_step_f64, exp_step_c128};
  return run(context, &kExp, 30, status);
}

#define FUNCTION .inputs = {"input: T"}, .outputs = {"output: T"}, .shape = shape_square_unchanged
#define ALL_TYPES "T: {double, float, half, complex64, complex128}"

/* A function of the block matrix [a^H dy; 0 a^H] has its derivative by a^H towards dy in the upper right
 * corner. */
const OpRegistration kOpMatrixSquareRoot = {
    .name = "MatrixSquareRoot",
    FUNCTION,
    .attrs = {ALL_TYPES},
    .gradient =
        "MatrixSquareRootGradient[T:type](a:T, dy:T) -> (da:T) {\n"
        GRADIENT_SIZES("a") GRADIENT_EYE("eye", "a") GRADIENT_ADJOINT("adjoint", "a", "eye")
        "  last = Const[dtype=int32, value=-1]()\n"
        "  second = Const[dtype=int32, value=-2]()\n"
        "  zeros = ZerosLike[T=$T](a)\n"
        GRADIENT_JOIN_COLUMNS("top", "adjoint:output:0", "dy")
        GRADIENT_JOIN_COLUMNS("bottom", "zeros:y:0", "adjoint:output:0")
        "  blocks = ConcatV2[N=2, T=$T](top:output:0, bottom:output:0, second:output:0)\n"
        "  root = MatrixSquareRoot[T=$T](blocks:output:0)\n"
        GRADIENT_ROWS("upper", "root:output:0", "k") GRADIENT_RIGHT_COLUMNS("da", "upper:output:0", "k")
        "  return da = da:output:0\n"
        "}\n",
    .kernels = {FLOAT_KERNELS(sqrt_kernel), COMPLEX_KERNELS(sqrt_kernel)},
};

const OpRegistration kOpMatrixLogarithm = {
    .name = "MatrixLogarithm",
    FUNCTION,
    .attrs = {"T: {complex64, complex128}"},
    .kernels = {COMPLEX_KERNELS(log_kernel)},
};

const OpRegistration kOpMatrixExponential = {
    .name = "MatrixExponential",
    FUNCTION,
    .attrs = {ALL_TYPES},
    .deprecated_version = 27,
    .deprecation_explanation = "Use Python implementation tf.linalg.matrix_exponential instead.",
    .kernels = {FLOAT_KERNELS(exp_kernel), COMPLEX_KERNELS(exp_kernel)},
};
