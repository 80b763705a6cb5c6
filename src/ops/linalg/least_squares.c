/* MatrixSolveLs: least squares, by normal equations (`fast`) or by singular values. */
#include <float.h>

#include "base/alloc.h"
#include "op/node_def.h"
#include "op/op_registry.h"
#include "ops/linalg/factors.h"
#include "ops/linalg/field.h"
#include "ops/linalg/gradient_text.h"
#include "ops/linalg/matrix_batch.h"
#include "ops/linalg/matrix_shapes.h"
#include "ops/linalg/matrix_update.h"
#include "ops/linalg/spectral.h"

typedef struct LeastState {
  bool fast;
} LeastState;

typedef struct LeastOptions {
  double regularizer; /* for `fast` */
  double epsilon;     /* of the type: relative singular values below it count as zero */
} LeastOptions;

#define TEMPLATE "ops/linalg/least_squares.inc"
#include "ops/linalg/each_field.inc"

static bool least_construct(const KernelConstruction *construction, void *memory, Status *status) {
  return node_attr_bool(construction->node, "fast", &((LeastState *)memory)->fast, status);
}

static bool least_kernel(KernelContext *context, Status *status) {
  static const MatrixFunction kFast = {normal_step_f64, normal_step_c128};
  static const MatrixFunction kSlow = {minimal_step_f64, minimal_step_c128};
  const LeastState *state = context->state;
  const Tensor *l2 = context->inputs[2];
  char text[SHAPE_TEXT_CAPACITY];
  MatrixBatch batch;
  if (l2->shape.rank != 0) {
    return status_invalid(status, "l2_regularizer must be scalar, got shape %s",
                          shape_text(&l2->shape, text));
  }
  LeastOptions options = {tensor_f64(l2)[0], 0};
  if (!(options.regularizer >= 0)) return status_invalid(status, "l2_regularizer must be >= 0.");
  TRY(matrix_batch_begin(context, 2, &batch, status));
  if (batch.in[0].rows != batch.in[1].rows)
    return status_invalid(status, "Input matrix and rhs are incompatible.");
  int64_t m = batch.in[0].rows, n = batch.in[0].columns, k = batch.in[1].columns, small = m < n ? m : n;
  TRY(matrix_batch_output(context, &batch, 0, 2, n, k, status));
  DataType type = context->inputs[0]->dtype;
  bool single = type == DT_FLOAT || type == DT_COMPLEX64;
  options.epsilon = (single ? (double)FLT_EPSILON : DBL_EPSILON) * (double)small;
  double work = (double)m * (double)n * (double)(small + k);
  return matrix_batch_run(context, &batch, state->fast ? &kFast : &kSlow, &options,
                          state->fast ? work : 20 * work,
                          "Input matrix was rank deficient or ill-conditioned. Try setting fast=False or "
                          "provide a larger l2_regularizer > 0.",
                          status);
}

static bool least_shape(InferenceContext *c, Status *status) {
  ShapeHandle matrix, rhs, outer, rhs_outer, scalar;
  DimHandle m, n, rows, columns;
  TRY(shape_with_rank(c, shape_input(c, 2), 0, &scalar, status));
  TRY(shape_with_rank_at_least(c, shape_input(c, 0), 2, &matrix, status));
  TRY(shape_with_rank_at_least(c, shape_input(c, 1), 2, &rhs, status));
  TRY(dim_ok(shape_dim_of(c, matrix, -2), &m, status));
  TRY(dim_ok(shape_dim_of(c, matrix, -1), &n, status));
  TRY(dim_ok(shape_dim_of(c, rhs, -2), &rows, status));
  TRY(dim_ok(shape_dim_of(c, rhs, -1), &columns, status));
  TRY(dim_merge(c, m, rows, &rows, status));
  TRY(shape_subshape(c, matrix, 0, -2, 1, &outer, status));
  TRY(shape_subshape(c, rhs, 0, -2, 1, &rhs_outer, status));
  TRY(shape_merge(c, outer, rhs_outer, &outer, status));
  return shape_of_matrices(c, outer, n, columns, &c->outputs[0], status);
}

/* The solution of (gram + l2 I) name = right. */
#define REGULAR_SOLVE(name, gram, right)       \
  GRADIENT_EYE(name "_eye", gram)              \
  "  " name "_ridge = Mul[T=$T](" name         \
  "_eye:output:0, ridge:y:0)\n"                \
  "  " name "_sum = Add[T=$T](" gram ", " name \
  "_ridge:z:0)\n"                              \
  "  " name " = MatrixSolve[T=$T](" name "_sum:z:0, " right ")\n"

/* For m >= n, y = (A^H A + l I)^-1 A^H B; with z = (A^H A + l I)^-1 dY
 *
 *   dB = A z,  dA = -dB y^H + (B - A y) z^H
 *
 * and else y = A^H t for t = (A A^H + l I)^-1 B, so that
 *
 *   dB = (A A^H + l I)^-1 A dY,  dA = -dB y^H + t (dY - A^H dB)^H.
 *
 * Which one it is becomes known when the gradient runs. Both are computed, the other one for no columns or
 * rows: p = n or 0 columns of A, and q = 0 or m rows. */
static bool least_gradient(const GradientRequest *request, StrBuf *text, Status *status) {
  bool fast;
  TRY(node_attr_bool(request->node, "fast", &fast, status));
  strbuf_printf(text,
                "MatrixSolveLsGradient[T:type](a:T, b:T, l2:double, dy:T) -> (da:T, db:T, dl2:double) {\n"
                "  y = MatrixSolveLs[T=$T, fast=%s](a, b, l2)\n" GRADIENT_SIZES("a")
                "  tall = GreaterEqual[T=int32](m:output:0, n:output:0)\n"
                "  is_tall = Cast[SrcT=bool, DstT=int32](tall:z:0)\n"
                "  is_wide = Sub[T=int32](one1:output:0, is_tall:y:0)\n"
                "  p = Mul[T=int32](n:output:0, is_tall:y:0)\n"
                "  q = Mul[T=int32](m:output:0, is_wide:z:0)\n"
                "  from0p = ConcatV2[N=2, T=int32](zero1:output:0, p:z:0, axis0:output:0)\n"
                "  q3 = ConcatV2[N=3, T=int32](zero1:output:0, q:z:0, zero1:output:0, axis0:output:0)\n"
                "  p3 = ConcatV2[N=3, T=int32](zero1:output:0, p:z:0, zero1:output:0, axis0:output:0)\n"
                "  no_l2 = ZerosLike[T=double](l2)\n"
                "  ridge = Cast[SrcT=double, DstT=$T](%s)\n"
                GRADIENT_LEFT_COLUMNS("ap", "a", "p") GRADIENT_ROWS("aq", "a", "q") GRADIENT_ROWS("bq", "b", "q")
                GRADIENT_ROWS("dyp", "dy", "p")
                "  gram_p = BatchMatMulV2[T=$T, adj_x=true](ap:output:0, ap:output:0)\n"
                "  gram_q = BatchMatMulV2[T=$T, adj_y=true](aq:output:0, aq:output:0)\n"
                REGULAR_SOLVE("z", "gram_p:output:0", "dyp:output:0")
                REGULAR_SOLVE("t", "gram_q:output:0", "bq:output:0")
                "  ady = BatchMatMulV2[T=$T](aq:output:0, dy)\n"
                "  dbq = MatrixSolve[T=$T](t_sum:z:0, ady:output:0)\n"
                "  dbp = BatchMatMulV2[T=$T](ap:output:0, z:output:0)\n"
                "  zeros_b = ZerosLike[T=$T](b)\n" GRADIENT_ROWS_FROM("none_b", "zeros_b:y:0", "q")
                "  last = Const[dtype=int32, value=-1]()\n"
                "  second = Const[dtype=int32, value=-2]()\n"
                "  dbw = ConcatV2[N=2, T=$T](dbq:output:0, none_b:output:0, second:output:0)\n"
                "  db = Add[T=$T](dbp:output:0, dbw:output:0)\n"
                "  ay = BatchMatMulV2[T=$T](a, y:output:0)\n"
                "  rest = Sub[T=$T](b, ay:output:0)\n"
                "  adb = BatchMatMulV2[T=$T, adj_x=true](a, db:z:0)\n"
                "  left = Sub[T=$T](dy, adb:output:0)\n"
                "  rz = BatchMatMulV2[T=$T, adj_y=true](rest:z:0, z:output:0)\n"
                "  tl = BatchMatMulV2[T=$T, adj_y=true](t:output:0, left:z:0)\n"
                "  zeros_a = ZerosLike[T=$T](a)\n" GRADIENT_RIGHT_COLUMNS("none_p", "zeros_a:y:0", "p")
                GRADIENT_ROWS_FROM("none_q", "zeros_a:y:0", "q")
                GRADIENT_JOIN_COLUMNS("dap", "rz:output:0", "none_p:output:0")
                "  daq = ConcatV2[N=2, T=$T](tl:output:0, none_q:output:0, second:output:0)\n"
                "  dby = BatchMatMulV2[T=$T, adj_y=true](db:z:0, y:output:0)\n"
                "  both = Add[T=$T](dap:output:0, daq:output:0)\n"
                "  da = Sub[T=$T](both:z:0, dby:output:0)\n"
                "  return da = da:z:0, db = db:z:0, dl2 = no_l2:y:0\n}\n",
                gradient_truth(fast), fast ? "l2" : "no_l2:y:0");
  return strbuf_ok(text, status);
}

#define LEAST                                                                            \
  .inputs = {"matrix: T", "rhs: T", "l2_regularizer: double"}, .outputs = {"output: T"}, \
  .shape = least_shape, .state_size = sizeof(LeastState), .construct = least_construct

const OpRegistration kOpMatrixSolveLs = {
    .name = "MatrixSolveLs",
    LEAST,
    .attrs = {"T: {double, float, half, complex64, complex128}", "fast: bool = true"},
    .gradient_fn = least_gradient,
    .kernels = {FLOAT_KERNELS(least_kernel), COMPLEX_KERNELS(least_kernel)},
};

const OpRegistration kOpBatchMatrixSolveLs = {
    .name = "BatchMatrixSolveLs",
    LEAST,
    .attrs = {"T: {double, float}", "fast: bool = true"},
    .deprecated_version = 13,
    .deprecation_explanation = "Use MatrixSolveLs instead.",
    .kernels = {FLOAT_KERNELS(least_kernel)},
};
