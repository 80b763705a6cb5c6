/* Qr: A = Q R by Householder reflections. */
#include "op/node_def.h"
#include "op/op_registry.h"
#include "ops/support/element_types.h"
#include "ops/linalg/gradient_text.h"
#include "ops/linalg/matrix_batch.h"
#include "ops/linalg/matrix_shapes.h"
#include "ops/linalg/reflectors.h"
#include "ops/linalg/field.h"

typedef struct QrState {
  bool full;
} QrState;

static bool qr_construct(const KernelConstruction *construction, void *memory, Status *status) {
  return node_attr_bool(construction->node, "full_matrices", &((QrState *)memory)->full, status);
}

#define TEMPLATE "ops/linalg/qr_steps.inc"
#include "ops/linalg/each_field.inc"

static bool qr_kernel(KernelContext *context, Status *status) {
  static const MatrixFunction kQr = {qr_step_f64, qr_step_c128};
  const QrState *state = context->state;
  MatrixBatch batch;
  TRY(matrix_batch_begin(context, 1, &batch, status));
  int64_t m = batch.in[0].rows, n = batch.in[0].columns, k = m < n ? m : n, columns = state->full ? m : k;
  TRY(matrix_batch_output(context, &batch, 0, 2, m, columns, status));
  TRY(matrix_batch_output(context, &batch, 1, 2, columns, n, status));
  double work = 4 * (double)m * (double)columns * (double)n;
  return matrix_batch_run(context, &batch, &kQr, NULL, work, "", status);
}

static bool qr_shape(InferenceContext *c, Status *status) {
  ShapeHandle input, outer;
  DimHandle m, n, k;
  bool full;
  TRY(node_attr_bool(c->node, "full_matrices", &full, status));
  TRY(shape_with_rank_at_least(c, shape_input(c, 0), 2, &input, status));
  TRY(dim_ok(shape_dim_of(c, input, -2), &m, status));
  TRY(dim_ok(shape_dim_of(c, input, -1), &n, status));
  TRY(dim_min(c, m, n, &k, status));
  TRY(shape_subshape(c, input, 0, -2, 1, &outer, status));
  TRY(shape_of_matrices(c, outer, m, full ? m : k, &c->outputs[0], status));
  return shape_of_matrices(c, outer, full ? m : k, n, &c->outputs[1], status);
}

/* middle: `lower`, and on its diagonal the imaginary parts. */
static const char kTurns[] =
    GRADIENT_ADJOINT("qgh", "qg:output:0", "eye")
    "  c = Sub[T=$T](udu:output:0, qgh:output:0)\n"
    "  diagonal = MatrixDiagPart[T=$T](c:z:0)\n"
    "  conj = Conj[T=$T](diagonal:diagonal:0)\n"
    "  difference = Sub[T=$T](conj:output:0, diagonal:diagonal:0)\n"
    "  half = Const[dtype=$T, value=0.5]()\n"
    "  imaginary = Mul[T=$T](half:output:0, difference:z:0)\n"
    "  turns = MatrixDiag[T=$T](imaginary:z:0)\n"
    "  middle = Add[T=$T](lower:band:0, turns:output:0)\n";

/* With k = min(m, n), A = [X Y] and R = [U V] are split after k columns, X = Q U, and Q and dQ after k
 * columns too. Columns of Q beyond k, which span the rest of the space, act on dQ through their products with
 * it.
 *
 *   dX = Q (dU + L U^-H) + (dQ' - Q Q^H dQ') U^-H,   dY = Q dV,   dQ' = dQ + Y dV^H - Q2 dQ2^H Q
 *
 * where L is the lower triangle of M - M^H for M = Q^H dQ' + U dU^H. Of complex numbers the diagonal of R is
 * real: the imaginary parts on the diagonal of U dU^H - (Q^H dQ')^H turn rows of R back. */
static bool qr_gradient(const GradientRequest *request, StrBuf *text, Status *status) {
  DataType type;
  bool full;
  TRY(node_attr_type(request->node, "T", &type, status));
  TRY(node_attr_bool(request->node, "full_matrices", &full, status));
  strbuf_printf(text,
                "QrGradient[T:type](a:T, dq:T, dr:T) -> (da:T) {\n"
                "  qr = Qr[T=$T, full_matrices=%s](a)\n" GRADIENT_SIZES("a")
                GRADIENT_LEFT_COLUMNS("q1", "qr:q:0", "k") GRADIENT_LEFT_COLUMNS("dq1", "dq", "k")
                GRADIENT_ROWS("rk", "qr:r:0", "k") GRADIENT_ROWS("drk", "dr", "k")
                GRADIENT_LEFT_COLUMNS("u", "rk:output:0", "k") GRADIENT_LEFT_COLUMNS("du", "drk:output:0", "k")
                GRADIENT_RIGHT_COLUMNS("dv", "drk:output:0", "k") GRADIENT_RIGHT_COLUMNS("y", "a", "k")
                "  ydv = BatchMatMulV2[T=$T, adj_y=true](y:output:0, dv:output:0)\n"
                "  dq_y = Add[T=$T](dq1:output:0, ydv:output:0)\n"
                GRADIENT_RIGHT_COLUMNS("q2", "qr:q:0", "k") GRADIENT_RIGHT_COLUMNS("dq2", "dq", "k")
                "  products = BatchMatMulV2[T=$T, adj_x=true](dq2:output:0, q1:output:0)\n"
                "  turned = BatchMatMulV2[T=$T](q2:output:0, products:output:0)\n"
                "  g = Sub[T=$T](dq_y:z:0, turned:output:0)\n"
                "  qg = BatchMatMulV2[T=$T, adj_x=true](q1:output:0, g:z:0)\n"
                "  udu = BatchMatMulV2[T=$T, adj_y=true](u:output:0, du:output:0)\n"
                "  mixed = Add[T=$T](qg:output:0, udu:output:0)\n" GRADIENT_EYE("eye", "mixed:z:0")
                GRADIENT_ADJOINT("mixed_h", "mixed:z:0", "eye")
                "  skew = Sub[T=$T](mixed:z:0, mixed_h:output:0)\n"
                "  all = Const[dtype=int64, value=-1]()\n"
                "  none = Const[dtype=int64, value=0]()\n"
                "  lower = MatrixBandPart[T=$T](skew:z:0, all:output:0, none:output:0)\n"
                "  qqg = BatchMatMulV2[T=$T](q1:output:0, qg:output:0)\n"
                "  outside = Sub[T=$T](g:z:0, qqg:output:0)\n",
                gradient_truth(full));
  const char *middle = "lower:band:0";
  if (dtype_is_complex(type)) {
    strbuf_append(text, kTurns);
    middle = "middle:z:0";
  }
  /* x U^-H is the adjoint of the solution of U s = x^H. */
  strbuf_printf(text,
                "  inside = BatchMatMulV2[T=$T](q1:output:0, %s)\n"
                "  before = Add[T=$T](inside:output:0, outside:z:0)\n"
                "  inverse = MatrixTriangularSolve[T=$T, lower=false](u:output:0, eye:output:0)\n"
                "  solved = BatchMatMulV2[T=$T, adj_y=true](before:z:0, inverse:output:0)\n"
                "  qdu = BatchMatMulV2[T=$T](q1:output:0, du:output:0)\n"
                "  dx = Add[T=$T](qdu:output:0, solved:output:0)\n"
                "  dy = BatchMatMulV2[T=$T](q1:output:0, dv:output:0)\n"
                "  last = Const[dtype=int32, value=-1]()\n" GRADIENT_JOIN_COLUMNS(
                    "da", "dx:z:0", "dy:output:0") "  return da = da:output:0\n}\n",
                middle);
  return strbuf_ok(text, status);
}

const OpRegistration kOpQr = {
    .name = "Qr",
    .inputs = {"input: T"},
    .outputs = {"q: T", "r: T"},
    .attrs = {"full_matrices: bool = false", "T: {double, float, half, complex64, complex128}"},
    .shape = qr_shape,
    .gradient_fn = qr_gradient,
    .state_size = sizeof(QrState),
    .construct = qr_construct,
    .kernels = {FLOAT_KERNELS(qr_kernel), {DT_HALF, qr_kernel}, COMPLEX_KERNELS(qr_kernel)},
};
