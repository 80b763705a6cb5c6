/* MatrixTriangularSolve and BandedTriangularSolve. */
#include "op/node_def.h"
#include "op/op_registry.h"
#include "ops/linalg/factors.h"
#include "ops/linalg/field.h"
#include "ops/linalg/gradient_text.h"
#include "ops/linalg/matrix_batch.h"
#include "ops/linalg/matrix_shapes.h"

typedef struct TriangularState {
  bool lower, adjoint;
} TriangularState;

#define TEMPLATE "ops/linalg/triangular_steps.inc"
#include "ops/linalg/each_field.inc"

static bool triangular_construct(const KernelConstruction *construction, void *memory, Status *status) {
  TriangularState *state = memory;
  TRY(node_attr_bool(construction->node, "lower", &state->lower, status));
  return node_attr_bool(construction->node, "adjoint", &state->adjoint, status);
}

static bool sizes_differ(KernelContext *context, int64_t n, int64_t rows, Status *status) {
  char a[SHAPE_TEXT_CAPACITY], b[SHAPE_TEXT_CAPACITY];
  const TriangularState *state = context->state;
  return status_invalid(status, "In[0] mismatch In[1] shape: %lld vs. %lld: %s %s %d %d", (long long)n,
                        (long long)rows, shape_text(&context->inputs[0]->shape, a),
                        shape_text(&context->inputs[1]->shape, b), state->lower, state->adjoint);
}

static const char kSingular[] = "Input matrix is not invertible.";

static bool triangular_kernel(KernelContext *context, Status *status) {
  static const MatrixFunction kSolve = {triangular_step_f64, triangular_step_c128};
  MatrixBatch batch;
  TRY(matrix_batch_begin_broadcast(context, &batch, status));
  int64_t n = batch.in[0].rows, k = batch.in[1].columns;
  if (n != batch.in[0].columns) {
    return status_invalid(status, "In[0] matrices in the last dimensions must be square (%lld =/= %lld)",
                          (long long)batch.in[0].columns, (long long)n);
  }
  if (n != batch.in[1].rows) return sizes_differ(context, n, batch.in[1].rows, status);
  TRY(matrix_batch_output(context, &batch, 0, 2, n, k, status));
  return matrix_batch_run(context, &batch, &kSolve, context->state, (double)n * (double)n * (double)k,
                          kSingular, status);
}

static bool banded_kernel(KernelContext *context, Status *status) {
  static const MatrixFunction kSolve = {banded_step_f64, banded_step_c128};
  MatrixBatch batch;
  TRY(matrix_batch_begin_broadcast(context, &batch, status));
  int64_t bands = batch.in[0].rows, n = batch.in[0].columns, k = batch.in[1].columns;
  if (bands == 0) {
    char shape[SHAPE_TEXT_CAPACITY];
    return status_invalid(status, "In[0] must not be an empty tensor: Tensor<type: %s shape: %s values: >",
                          dtype_name(context->inputs[0]->dtype),
                          shape_text(&context->inputs[0]->shape, shape));
  }
  if (n != batch.in[1].rows) return sizes_differ(context, n, batch.in[1].rows, status);
  TRY(matrix_batch_output(context, &batch, 0, 2, n, k, status));
  return matrix_batch_run(context, &batch, &kSolve, context->state, (double)n * (double)bands * (double)k,
                          kSingular, status);
}

/* The matrix has a row for each diagonal and a column for each row of the system. */
static bool banded_shape(InferenceContext *c, Status *status) {
  ShapeHandle bands, rhs, outer, rhs_outer;
  DimHandle n, rows, columns;
  TRY(shape_with_rank_at_least(c, shape_input(c, 0), 2, &bands, status));
  TRY(shape_with_rank_at_least(c, shape_input(c, 1), 2, &rhs, status));
  TRY(dim_ok(shape_dim_of(c, bands, -1), &n, status));
  TRY(dim_ok(shape_dim_of(c, rhs, -2), &rows, status));
  TRY(dim_ok(shape_dim_of(c, rhs, -1), &columns, status));
  TRY(dim_merge(c, n, rows, &rows, status));
  TRY(shape_subshape(c, bands, 0, -2, 1, &outer, status));
  TRY(shape_subshape(c, rhs, 0, -2, 1, &rhs_outer, status));
  TRY(shape_broadcast(c, outer, rhs_outer, &outer, status));
  return shape_of_matrices(c, outer, rows, columns, &c->outputs[0], status);
}

/* --- gradients --- */

/* Sums over the outer dimensions along which an input was broadcast. */
#define OUTER_SUM(name, gradient, axes)                     \
  "  total_" name " = Sum[T=$T](" gradient ":0, axes:" axes \
  ":0)\n"                                                   \
  "  d" name " = Reshape[T=$T](total_" name ":output:0, s_" name ":output:0)\n"
#define OUTER_SUMS(matrix_gradient)                                                                          \
  "  s_matrix = Shape[T=$T](matrix)\n"                                                                       \
  "  s_rhs = Shape[T=$T](rhs)\n"                                                                             \
  "  begin = Const[dtype=int32, value=[0]]()\n"                                                              \
  "  end = Const[dtype=int32, value=[-2]]()\n"                                                               \
  "  step = Const[dtype=int32, value=[1]]()\n"                                                               \
  "  o_matrix = StridedSlice[T=int32, Index=int32](s_matrix:output:0, begin:output:0, end:output:0, "        \
  "step:output:0)\n"                                                                                         \
  "  o_rhs = StridedSlice[T=int32, Index=int32](s_rhs:output:0, begin:output:0, end:output:0, "              \
  "step:output:0)\n"                                                                                         \
  "  axes = BroadcastGradientArgs(o_matrix:output:0, o_rhs:output:0)\n" OUTER_SUM("matrix", matrix_gradient, \
                                                                                  "r0")                      \
      OUTER_SUM("rhs", "g_rhs:output",                                                                       \
                "r1") "  return dmatrix = dmatrix:output:0, drhs = drhs:output:0\n}\n"

/* For op(A) Y = B: dB solves op(A)^H dB = dY, and dA = -dB Y^H or -Y dB^H, within the stored part of A. */
static void solve_lines(const char *op, bool lower, bool adjoint, StrBuf *text) {
  strbuf_printf(text,
                "%sGradient[T:type](matrix:T, rhs:T, dy:T) -> (dmatrix:T, drhs:T) {\n"
                "  y = %s[T=$T, lower=%s, adjoint=%s](matrix, rhs)\n"
                "  g_rhs = %s[T=$T, lower=%s, adjoint=%s](matrix, dy)\n"
                "  product = BatchMatMulV2[T=$T, adj_y=true](%s)\n"
                "  minus = Neg[T=$T](product:output:0)\n",
                op, op, gradient_truth(lower), gradient_truth(adjoint), op, gradient_truth(lower),
                gradient_truth(!adjoint),
                adjoint ? "y:output:0, g_rhs:output:0" : "g_rhs:output:0, y:output:0");
}

static bool triangular_gradient(const GradientRequest *request, StrBuf *text, Status *status) {
  bool lower, adjoint;
  TRY(node_attr_bool(request->node, "lower", &lower, status));
  TRY(node_attr_bool(request->node, "adjoint", &adjoint, status));
  solve_lines("MatrixTriangularSolve", lower, adjoint, text);
  strbuf_printf(text,
                "  all = Const[dtype=int64, value=-1]()\n"
                "  none = Const[dtype=int64, value=0]()\n"
                "  part = MatrixBandPart[T=$T](minus:y:0, %s)\n" OUTER_SUMS("part:band"),
                lower ? "all:output:0, none:output:0" : "none:output:0, all:output:0");
  return strbuf_ok(text, status);
}

static bool banded_gradient(const GradientRequest *request, StrBuf *text, Status *status) {
  bool lower, adjoint;
  TRY(node_attr_bool(request->node, "lower", &lower, status));
  TRY(node_attr_bool(request->node, "adjoint", &adjoint, status));
  solve_lines("BandedTriangularSolve", lower, adjoint, text);
  strbuf_printf(text,
                "  shape = Shape[T=$T](matrix)\n"
                "  from = Const[dtype=int32, value=[-2]]()\n"
                "  to = Const[dtype=int32, value=[-1]]()\n"
                "  one = Const[dtype=int32, value=[1]]()\n"
                "  bands = StridedSlice[T=int32, Index=int32](shape:output:0, from:output:0, to:output:0, "
                "one:output:0)\n"
                "  furthest = Sub[T=int32](%s)\n"
                "  diagonal = Const[dtype=int32, value=[0]]()\n"
                "  axis = Const[dtype=int32, value=0]()\n"
                "  range = ConcatV2[N=2, T=int32](%s, axis:output:0)\n"
                "  zero = Const[dtype=$T, value=0]()\n"
                "  part = MatrixDiagPartV3[T=$T, align=\"LEFT_RIGHT\"](minus:y:0, range:output:0, "
                "zero:output:0)\n" OUTER_SUMS("part:diagonal"),
                lower ? "one:output:0, bands:output:0" : "bands:output:0, one:output:0",
                lower ? "furthest:z:0, diagonal:output:0" : "diagonal:output:0, furthest:z:0");
  return strbuf_ok(text, status);
}

/* --- ops --- */

#define SOLVE                                                                                         \
  .inputs = {"matrix: T", "rhs: T"}, .outputs = {"output: T"}, .state_size = sizeof(TriangularState), \
  .construct = triangular_construct
#define SOLVE_ATTRS "lower: bool = true", "adjoint: bool = false"

const OpRegistration kOpMatrixTriangularSolve = {
    .name = "MatrixTriangularSolve",
    SOLVE,
    .attrs = {SOLVE_ATTRS, "T: {bfloat16, double, float, half, complex64, complex128}"},
    .shape = shape_matrix_solve_broadcast,
    .gradient_fn = triangular_gradient,
    /* Half is for the gradient of Qr. */
    .kernels = {FLOAT_KERNELS(triangular_kernel),
                {DT_HALF, triangular_kernel},
                COMPLEX_KERNELS(triangular_kernel)},
};

const OpRegistration kOpBatchMatrixTriangularSolve = {
    .name = "BatchMatrixTriangularSolve",
    SOLVE,
    .attrs = {SOLVE_ATTRS, "T: {double, float}"},
    .deprecated_version = 13,
    .deprecation_explanation = "Use MatrixTriangularSolve instead.",
    .shape = shape_matrix_solve,
    .kernels = {FLOAT_KERNELS(triangular_kernel)},
};

const OpRegistration kOpBandedTriangularSolve = {
    .name = "BandedTriangularSolve",
    SOLVE,
    .attrs = {SOLVE_ATTRS, "T: {double, float, half, complex64, complex128}"},
    .shape = banded_shape,
    .gradient_fn = banded_gradient,
    .kernels = {FLOAT_KERNELS(banded_kernel), COMPLEX_KERNELS(banded_kernel)},
};
