/* Lu, MatrixDeterminant, LogMatrixDeterminant, MatrixInverse and MatrixSolve: Gaussian elimination. */
#include "base/alloc.h"
#include "op/node_def.h"
#include "op/op_registry.h"
#include "ops/support/complex_math.h"
#include "ops/linalg/factors.h"
#include "ops/linalg/field.h"
#include "ops/linalg/gradient_text.h"
#include "ops/linalg/matrix_batch.h"
#include "ops/linalg/matrix_shapes.h"

typedef struct AdjointState {
  bool adjoint;
} AdjointState;

#define TEMPLATE "ops/linalg/lu_steps.inc"
#include "ops/linalg/each_field.inc"

static bool lu_kernel(KernelContext *context, Status *status) {
  static const MatrixFunction kLu = {lu_step_f64, lu_step_c128};
  MatrixBatch batch;
  int rank = context->inputs[0]->shape.rank;
  if (rank < 2) return status_invalid(status, "Input tensor must have rank >= 2, got %d", rank);
  TRY(matrix_batch_begin(context, 1, &batch, status));
  TRY(matrix_batch_square(&batch, status));
  int64_t n = batch.in[0].rows;
  TRY(matrix_batch_output(context, &batch, 0, 2, n, n, status));
  TRY(matrix_batch_output(context, &batch, 1, 1, n, 1, status));
  batch.out_is_real[1] = true;
  return matrix_batch_run(context, &batch, &kLu, NULL, matrix_cube(n), "Input is not invertible.", status);
}

static bool determinant_kernel(KernelContext *context, Status *status) {
  static const MatrixFunction kDeterminant = {determinant_step_f64, determinant_step_c128};
  MatrixBatch batch;
  TRY(matrix_batch_begin(context, 1, &batch, status));
  TRY(matrix_batch_square(&batch, status));
  TRY(matrix_batch_output(context, &batch, 0, 0, 1, 1, status));
  return matrix_batch_run(context, &batch, &kDeterminant, NULL, matrix_cube(batch.in[0].rows), "", status);
}

static bool log_determinant_kernel(KernelContext *context, Status *status) {
  static const MatrixFunction kLogDeterminant = {log_determinant_step_f64, log_determinant_step_c128};
  MatrixBatch batch;
  TRY(matrix_batch_begin(context, 1, &batch, status));
  TRY(matrix_batch_square(&batch, status));
  TRY(matrix_batch_output(context, &batch, 0, 0, 1, 1, status));
  TRY(matrix_batch_output(context, &batch, 1, 0, 1, 1, status));
  batch.out_is_real[1] = true;
  return matrix_batch_run(context, &batch, &kLogDeterminant, NULL, matrix_cube(batch.in[0].rows), "", status);
}

static bool adjoint_construct(const KernelConstruction *construction, void *memory, Status *status) {
  return node_attr_bool(construction->node, "adjoint", &((AdjointState *)memory)->adjoint, status);
}

static bool inverse_kernel(KernelContext *context, Status *status) {
  static const MatrixFunction kInverse = {inverse_step_f64, inverse_step_c128};
  MatrixBatch batch;
  TRY(matrix_batch_begin(context, 1, &batch, status));
  TRY(matrix_batch_square(&batch, status));
  int64_t n = batch.in[0].rows;
  TRY(matrix_batch_output(context, &batch, 0, 2, n, n, status));
  return matrix_batch_run(context, &batch, &kInverse, context->state, 2 * matrix_cube(n),
                          "Input is not invertible.", status);
}

static bool solve_kernel(KernelContext *context, Status *status) {
  static const MatrixFunction kSolve = {solve_step_f64, solve_step_c128};
  MatrixBatch batch;
  TRY(matrix_batch_begin(context, 2, &batch, status));
  TRY(matrix_batch_solver(&batch, status));
  int64_t n = batch.in[0].rows, k = batch.in[1].columns;
  TRY(matrix_batch_output(context, &batch, 0, 2, n, k, status));
  return matrix_batch_run(context, &batch, &kSolve, context->state,
                          matrix_cube(n) + (double)n * (double)n * (double)k,
                          "Input matrix is not invertible.", status);
}

static bool lu_shape(InferenceContext *c, Status *status) {
  ShapeHandle square, outer;
  DimHandle n;
  TRY(shape_square_matrices(c, shape_input(c, 0), &square, &outer, status));
  TRY(dim_ok(shape_dim_of(c, square, -1), &n, status));
  shape_set_output(c, 0, square);
  return shape_of_matrices(c, outer, n, NULL, &c->outputs[1], status);
}

#define LU_KERNELS(f) FLOAT_KERNELS(f), COMPLEX_KERNELS(f)
#define LU_TYPES "T: {double, float, half, complex64, complex128}"
#define OLD_TYPES "T: {double, float}"
#define ADJOINT .state_size = sizeof(AdjointState), .construct = adjoint_construct

const OpRegistration kOpLu = {
    .name = "Lu",
    .inputs = {"input: T"},
    .outputs = {"lu: T", "p: output_idx_type"},
    .attrs = {LU_TYPES, "output_idx_type: {int32, int64} = DT_INT32"},
    .shape = lu_shape,
    .kernels = {LU_KERNELS(lu_kernel)},
};

/* --- determinants --- */

#define DETERMINANT                                                                   \
  .inputs = {"input: T"}, .outputs = {"output: T"}, .shape = shape_number_per_matrix, \
  .kernels = {LU_KERNELS(determinant_kernel)}

/* Numbers dy, one for each matrix, times the inverse of the adjoint. */
#define TIMES_INVERSE(dy)                                                             \
  "  inverse = MatrixInverse[T=$T, adjoint=true](x)\n"                                \
  "  shape = Shape[T=$T](" dy                                                         \
  ")\n"                                                                               \
  "  ones = Const[dtype=int32, value=[1, 1]]()\n"                                     \
  "  zero = Const[dtype=int32, value=0]()\n"                                          \
  "  spread = ConcatV2[N=2, T=int32](shape:output:0, ones:output:0, zero:output:0)\n" \
  "  factors = Reshape[T=$T](" dy                                                     \
  ", spread:output:0)\n"                                                              \
  "  dx = Mul[T=$T](factors:output:0, inverse:output:0)\n"                            \
  "  return dx = dx:z:0\n"                                                            \
  "}\n"

static bool determinant_gradient(const GradientRequest *request, StrBuf *text, Status *status) {
  DataType type;
  TRY(node_attr_type(request->node, "T", &type, status));
  strbuf_append(text,
                "MatrixDeterminantGradient[T:type](x:T, dy:T) -> (dx:T) {\n"
                "  y = MatrixDeterminant[T=$T](x)\n");
  if (dtype_is_complex(type)) {
    strbuf_append(text,
                  "  factor = Conj[T=$T](y:output:0)\n"
                  "  scale = Mul[T=$T](dy, factor:output:0)\n");
  } else {
    strbuf_append(text, "  scale = Mul[T=$T](dy, y:output:0)\n");
  }
  strbuf_append(text, TIMES_INVERSE("scale:z:0"));
  return strbuf_ok(text, status);
}

const OpRegistration kOpMatrixDeterminant = {
    .name = "MatrixDeterminant",
    DETERMINANT,
    .attrs = {"T: {half, float, double, complex64, complex128}"},
    .gradient_fn = determinant_gradient,
};

const OpRegistration kOpBatchMatrixDeterminant = {
    .name = "BatchMatrixDeterminant",
    DETERMINANT,
    .attrs = {"T: {float, double, complex64, complex128}"},
    .deprecated_version = 13,
    .deprecation_explanation = "Use MatrixDeterminant instead.",
};

/* As in TensorFlow, no gradient flows from the sign, which of complex matrices is not constant. */
const OpRegistration kOpLogMatrixDeterminant = {
    .name = "LogMatrixDeterminant",
    .inputs = {"input: T"},
    .outputs = {"sign: T", "log_abs_determinant: T"},
    .attrs = {"T: {half, float, double, complex64, complex128}"},
    .shape = shape_number_per_matrix,
    .gradient =
        "LogMatrixDeterminantGradient[T:type](x:T, dsign:T, dlog:T) -> (dx:T) {\n" TIMES_INVERSE("dlog"),
    .kernels = {LU_KERNELS(log_determinant_kernel)},
};

/* --- inverses and solutions --- */

/* dx = -y^H dy y^H, or for y = x^-H dx = -y dy^H y. */
static bool inverse_gradient(const GradientRequest *request, StrBuf *text, Status *status) {
  bool adjoint;
  TRY(node_attr_bool(request->node, "adjoint", &adjoint, status));
  strbuf_printf(text,
                "MatrixInverseGradient[T:type](x:T, dy:T) -> (dx:T) {\n"
                "  y = MatrixInverse[T=$T, adjoint=%s](x)\n"
                "  right = BatchMatMulV2[T=$T, adj_x=%s, adj_y=%s](dy, y:output:0)\n"
                "  minus = BatchMatMulV2[T=$T, adj_x=%s](y:output:0, right:output:0)\n"
                "  dx = Neg[T=$T](minus:output:0)\n"
                "  return dx = dx:y:0\n}\n",
                gradient_truth(adjoint), gradient_truth(adjoint), gradient_truth(!adjoint),
                gradient_truth(!adjoint));
  return strbuf_ok(text, status);
}

#define INVERSE .inputs = {"input: T"}, .outputs = {"output: T"}, .shape = shape_square_unchanged, ADJOINT

const OpRegistration kOpMatrixInverse = {
    .name = "MatrixInverse",
    INVERSE,
    .attrs = {"adjoint: bool = false", LU_TYPES},
    .gradient_fn = inverse_gradient,
    .kernels = {LU_KERNELS(inverse_kernel), {DT_HALF, inverse_kernel}},
};

const OpRegistration kOpBatchMatrixInverse = {
    .name = "BatchMatrixInverse",
    INVERSE,
    .attrs = {"adjoint: bool = false", OLD_TYPES},
    .deprecated_version = 13,
    .deprecation_explanation = "Use MatrixInverse instead.",
    .kernels = {FLOAT_KERNELS(inverse_kernel)},
};

static bool solve_gradient(const GradientRequest *request, StrBuf *text, Status *status) {
  bool adjoint;
  TRY(node_attr_bool(request->node, "adjoint", &adjoint, status));
  strbuf_printf(text,
                "MatrixSolveGradient[T:type](matrix:T, rhs:T, dy:T) -> (dmatrix:T, drhs:T) {\n"
                "  y = MatrixSolve[T=$T, adjoint=%s](matrix, rhs)\n"
                "  drhs = MatrixSolve[T=$T, adjoint=%s](matrix, dy)\n"
                "  minus = BatchMatMulV2[T=$T, adj_y=true](%s)\n"
                "  dmatrix = Neg[T=$T](minus:output:0)\n"
                "  return dmatrix = dmatrix:y:0, drhs = drhs:output:0\n}\n",
                gradient_truth(adjoint), gradient_truth(!adjoint),
                adjoint ? "y:output:0, drhs:output:0" : "drhs:output:0, y:output:0");
  return strbuf_ok(text, status);
}

#define SOLVE \
  .inputs = {"matrix: T", "rhs: T"}, .outputs = {"output: T"}, .shape = shape_matrix_solve, ADJOINT

const OpRegistration kOpMatrixSolve = {
    .name = "MatrixSolve",
    SOLVE,
    .attrs = {"adjoint: bool = false", LU_TYPES},
    .gradient_fn = solve_gradient,
    .kernels = {LU_KERNELS(solve_kernel)},
};

const OpRegistration kOpBatchMatrixSolve = {
    .name = "BatchMatrixSolve",
    SOLVE,
    .attrs = {"adjoint: bool = false", OLD_TYPES},
    .deprecated_version = 13,
    .deprecation_explanation = "Use MatrixSolve instead.",
    .kernels = {FLOAT_KERNELS(solve_kernel)},
};
