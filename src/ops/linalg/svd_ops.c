/* Svd. */
#include "base/alloc.h"
#include "op/node_def.h"
#include "op/op_registry.h"
#include "ops/linalg/field.h"
#include "ops/linalg/gradient_text.h"
#include "ops/linalg/matrix_batch.h"
#include "ops/linalg/matrix_shapes.h"
#include "ops/linalg/spectral.h"

typedef struct SvdState {
  bool vectors, full;
} SvdState;

static bool svd_construct(const KernelConstruction *construction, void *memory, Status *status) {
  SvdState *state = memory;
  TRY(node_attr_bool(construction->node, "compute_uv", &state->vectors, status));
  return node_attr_bool(construction->node, "full_matrices", &state->full, status);
}

#define TEMPLATE "ops/linalg/svd_steps.inc"
#include "ops/linalg/each_field.inc"

static bool svd_kernel(KernelContext *context, Status *status) {
  static const MatrixFunction kSvd = {svd_step_f64, svd_step_c128};
  const SvdState *state = context->state;
  MatrixBatch batch;
  TRY(matrix_batch_begin(context, 1, &batch, status));
  int64_t m = batch.in[0].rows, n = batch.in[0].columns, k = m < n ? m : n;
  TRY(matrix_batch_output(context, &batch, 0, 1, k, 1, status));
  batch.out_is_real[0] = true;
  if (state->vectors) {
    TRY(matrix_batch_output(context, &batch, 1, 2, m, state->full ? m : k, status));
    TRY(matrix_batch_output(context, &batch, 2, 2, n, state->full ? n : k, status));
  } else {
    TRY(matrix_batch_no_output(context, 1, status));
    TRY(matrix_batch_no_output(context, 2, status));
  }
  double work = 20 * (double)m * (double)n * (double)k;
  return matrix_batch_run(context, &batch, &kSvd, state, work, "", status);
}

static bool svd_shape(InferenceContext *c, Status *status) {
  ShapeHandle input, outer;
  DimHandle m, n, k;
  bool vectors, full;
  TRY(node_attr_bool(c->node, "compute_uv", &vectors, status));
  TRY(node_attr_bool(c->node, "full_matrices", &full, status));
  TRY(shape_with_rank_at_least(c, shape_input(c, 0), 2, &input, status));
  TRY(dim_ok(shape_dim_of(c, input, -2), &m, status));
  TRY(dim_ok(shape_dim_of(c, input, -1), &n, status));
  TRY(dim_min(c, m, n, &k, status));
  TRY(shape_subshape(c, input, 0, -2, 1, &outer, status));
  TRY(shape_of_matrices(c, outer, k, NULL, &c->outputs[0], status));
  if (!vectors) return shape_no_matrices(c, 1, status) && shape_no_matrices(c, 2, status);
  TRY(shape_of_matrices(c, outer, m, full ? m : k, &c->outputs[1], status));
  return shape_of_matrices(c, outer, n, full ? n : k, &c->outputs[2], status);
}

/* dsm: the diagonal of ds. Singular values are real, whatever the imaginary parts of ds. */
static void diagonal_lines(DataType type, StrBuf *text) {
  if (!dtype_is_complex(type)) {
    strbuf_append(text, "  dsm = MatrixDiag[T=$T](ds)\n");
    return;
  }
  const char *real = type == DT_COMPLEX64 ? "float" : "double";
  strbuf_printf(text,
                "  ds_real = Real[T=$T, Tout=%s](ds)\n"
                "  ds_wide = Cast[SrcT=%s, DstT=$T](ds_real:output:0)\n"
                "  dsm = MatrixDiag[T=$T](ds_wide:y:0)\n",
                real, real);
}

/* Singular values alone: da = U ds V^H. */
static const char kValuesLines[] =
    "  svd = Svd[T=$T](a)\n"
    "  left = BatchMatMulV2[T=$T](svd:u:0, dsm:output:0)\n"
    "  da = BatchMatMulV2[T=$T, adj_y=true](left:output:0, svd:v:0)\n"
    "  return da = da:output:0\n"
    "}\n";

/* Columns beyond k act on the gradient of the first k through their products. */
#define FOLD_REST(x)                                                        \
  GRADIENT_RIGHT_COLUMNS(x "2", "svd:" x ":0", "k")                         \
  GRADIENT_RIGHT_COLUMNS("d" x "2", "d" x, "k")                             \
  "  " x "_products = BatchMatMulV2[T=$T, adj_x=true](d" x "2:output:0, " x \
  "1:output:0)\n"                                                           \
  "  " x "_turned = BatchMatMulV2[T=$T](" x "2:output:0, " x                \
  "_products:output:0)\n"                                                   \
  "  g" x " = Sub[T=$T](d" x "1:output:0, " x "_turned:output:0)\n"

/* f * (x^H gx) and the part of gx outside of the space of x, divided by the singular values. */
#define SIDE(x)                                                                                     \
  "  p" x " = BatchMatMulV2[T=$T, adj_x=true](" x "1:output:0, g" x                                 \
  ":z:0)\n"                                                                                         \
  "  f" x " = Mul[T=$T](f:output:0, p" x                                                            \
  ":output:0)\n" GRADIENT_ADJOINT("h" x, "f" x ":z:0",                                              \
                                  "eye") "  sym" x " = Add[T=$T](f" x ":z:0, h" x                   \
                                         ":output:0)\n"                                             \
                                         "  within" x " = BatchMatMulV2[T=$T](" x "1:output:0, p" x \
                                         ":output:0)\n"                                             \
                                         "  outside" x " = Sub[T=$T](g" x ":z:0, within" x          \
                                         ":output:0)\n"                                             \
                                         "  scaled" x " = BatchMatMulV2[T=$T](outside" x            \
                                         ":z:0, inverse:output:0)\n"

/* x / (x^2 + 1e-20): the reciprocal, but 0 for 0. */
#define SAFE_RECIPROCAL(name, x)     \
  "  " name "_2 = Square[T=$T](" x   \
  ")\n"                              \
  "  " name "_sum = Add[T=$T](" name \
  "_2:y:0, tiny:output:0)\n"         \
  "  " name " = RealDiv[T=$T](" x ", " name "_sum:z:0)\n"

/* middle: `real`, and the phases that complex vectors turn by. */
static const char kPhases[] =
    "  l = MatrixDiagPart[T=$T](pv:output:0)\n"
    "  lc = Conj[T=$T](l:diagonal:0)\n"
    "  turn = Sub[T=$T](lc:output:0, l:diagonal:0)\n"
    "  half = Const[dtype=$T, value=0.5]()\n"
    "  halved = Mul[T=$T](half:output:0, turn:z:0)\n"
    "  phase = Mul[T=$T](reciprocal:z:0, halved:z:0)\n"
    "  phases = MatrixDiag[T=$T](phase:z:0)\n"
    "  middle = Add[T=$T](real:z:0, phases:output:0)\n";

/* With f_ij = 1 / (s_j^2 - s_i^2) off the diagonal,
 *
 *   da = U [ds + sym(f U^H gU) S + S sym(f V^H gV)] V^H + (I - U U^H) gU S^-1 V^H + U S^-1 gV^H (I - V V^H)
 *
 * and for complex numbers U S^-1 (L^H - L) V^H / 2, where L is the diagonal of V^H gV. */
static bool svd_gradient(const GradientRequest *request, StrBuf *text, Status *status) {
  DataType type;
  bool vectors, full;
  TRY(node_attr_type(request->node, "T", &type, status));
  TRY(node_attr_bool(request->node, "compute_uv", &vectors, status));
  TRY(node_attr_bool(request->node, "full_matrices", &full, status));
  if (!vectors) {
    strbuf_append(text, "SvdGradient[T:type](a:T, ds:T, du:T, dv:T) -> (da:T) {\n");
    diagonal_lines(type, text);
    strbuf_append(text, kValuesLines);
    return strbuf_ok(text, status);
  }
  strbuf_printf(text,
                "SvdGradient[T:type](a:T, ds:T, du:T, dv:T) -> (da:T) {\n"
                "  svd = Svd[T=$T, full_matrices=%s](a)\n" GRADIENT_SIZES("a")
                    GRADIENT_LEFT_COLUMNS("u1", "svd:u:0", "k") GRADIENT_LEFT_COLUMNS("v1", "svd:v:0", "k")
                        GRADIENT_LEFT_COLUMNS("du1", "du", "k") GRADIENT_LEFT_COLUMNS("dv1", "dv", "k")
                            FOLD_REST("u") FOLD_REST("v"),
                gradient_truth(full));
  diagonal_lines(type, text);
  strbuf_append(text,
                "  tiny = Const[dtype=$T, value=1e-20]()\n"
                "  s = MatrixDiag[T=$T](svd:s:0)\n" GRADIENT_EYE("eye", "s:output:0")
                "  squares = Square[T=$T](svd:s:0)\n"
                "  last = Const[dtype=int32, value=-1]()\n"
                "  second = Const[dtype=int32, value=-2]()\n"
                "  along = ExpandDims[T=$T, Tdim=int32](squares:y:0, second:output:0)\n"
                "  down = ExpandDims[T=$T, Tdim=int32](squares:y:0, last:output:0)\n"
                "  gaps = Sub[T=$T](along:output:0, down:output:0)\n" SAFE_RECIPROCAL("gap", "gaps:z:0")
                "  zeros = ZerosLike[T=$T](svd:s:0)\n"
                "  f = MatrixSetDiag[T=$T](gap:z:0, zeros:y:0)\n" SAFE_RECIPROCAL("reciprocal", "svd:s:0")
                "  inverse = MatrixDiag[T=$T](reciprocal:z:0)\n" SIDE("u") SIDE("v")
                "  us = BatchMatMulV2[T=$T](symu:z:0, s:output:0)\n"
                "  sv = BatchMatMulV2[T=$T](s:output:0, symv:z:0)\n"
                "  both = Add[T=$T](us:output:0, sv:output:0)\n"
                "  real = Add[T=$T](dsm:output:0, both:z:0)\n");
  if (dtype_is_complex(type)) {
    strbuf_append(text, kPhases);
  }
  strbuf_printf(text,
                "  inner = BatchMatMulV2[T=$T](u1:output:0, %s:z:0)\n"
                "  left = Add[T=$T](inner:output:0, scaledu:output:0)\n"
                "  first = BatchMatMulV2[T=$T, adj_y=true](left:z:0, v1:output:0)\n"
                "  rest = BatchMatMulV2[T=$T, adj_y=true](u1:output:0, scaledv:output:0)\n"
                "  da = Add[T=$T](first:output:0, rest:output:0)\n"
                "  return da = da:z:0\n}\n",
                dtype_is_complex(type) ? "middle" : "real");
  return strbuf_ok(text, status);
}

#define SVD                                                                        \
  .inputs = {"input: T"}, .outputs = {"s: T", "u: T", "v: T"}, .shape = svd_shape, \
  .state_size = sizeof(SvdState), .construct = svd_construct,                      \
  .kernels = {FLOAT_KERNELS(svd_kernel), COMPLEX_KERNELS(svd_kernel)}
#define SVD_ATTRS "compute_uv: bool = true", "full_matrices: bool = false"

const OpRegistration kOpSvd = {
    .name = "Svd",
    SVD,
    .attrs = {SVD_ATTRS, "T: {double, float, half, complex64, complex128}"},
    .gradient_fn = svd_gradient,
};

const OpRegistration kOpBatchSvd = {
    .name = "BatchSvd",
    SVD,
    .attrs = {SVD_ATTRS, "T: {double, float, complex64, complex128}"},
    .deprecated_version = 13,
    .deprecation_explanation = "Use Svd instead.",
};
