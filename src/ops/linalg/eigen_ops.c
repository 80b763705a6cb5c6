/* SelfAdjointEigV2, its older forms, and Eig. */
#include "base/alloc.h"
#include "op/node_def.h"
#include "op/op_registry.h"
#include "ops/linalg/field.h"
#include "ops/linalg/gradient_text.h"
#include "ops/linalg/matrix_batch.h"
#include "ops/linalg/matrix_shapes.h"
#include "ops/linalg/spectral.h"
#include "ops/linalg/triangular_functions.h"

typedef struct EigState {
  bool vectors;
} EigState;

#define TEMPLATE "ops/linalg/eigen_steps.inc"
#include "ops/linalg/each_field.inc"

static bool eig_construct(const KernelConstruction *construction, void *memory, Status *status) {
  return node_attr_bool(construction->node, "compute_v", &((EigState *)memory)->vectors, status);
}

/* Allocates values and, if asked for, vectors. */
static bool eigen_outputs(KernelContext *context, MatrixBatch *batch, bool vectors, Status *status) {
  int64_t n = batch->in[0].rows;
  TRY(matrix_batch_output(context, batch, 0, 1, n, 1, status));
  return vectors ? matrix_batch_output(context, batch, 1, 2, n, n, status)
                 : matrix_batch_no_output(context, 1, status);
}

static const char kFailed[] =
    "Self-adjoint eigen decomposition was not successful. The input might not be valid.";

static bool self_adjoint_kernel(KernelContext *context, Status *status) {
  static const MatrixFunction kEigen = {self_adjoint_step_f64, self_adjoint_step_c128};
  const EigState *state = context->state;
  MatrixBatch batch;
  TRY(matrix_batch_begin(context, 1, &batch, status));
  TRY(matrix_batch_square(&batch, status));
  TRY(eigen_outputs(context, &batch, state->vectors, status));
  batch.out_is_real[0] = true;
  return matrix_batch_run(context, &batch, &kEigen, state, 10 * matrix_cube(batch.in[0].rows), kFailed,
                          status);
}

/* The eigenvalues in the first row, and below them the eigenvectors as columns. */
static MatrixResult joined_step(MatrixStep *step) {
  static const EigState kVectors = {true};
  int64_t n = step->in[0].rows;
  MatrixStep parts = *step;
  parts.options = &kVectors;
  parts.out[0].data = step->out[0].data;
  parts.out[1].data = (double *)step->out[0].data + n;
  return self_adjoint_step_f64(&parts);
}

static bool joined_kernel(KernelContext *context, Status *status) {
  static const MatrixFunction kJoined = {joined_step, NULL};
  MatrixBatch batch;
  TRY(matrix_batch_begin(context, 1, &batch, status));
  TRY(matrix_batch_square(&batch, status));
  int64_t n = batch.in[0].rows;
  TRY(matrix_batch_output(context, &batch, 0, 2, n + 1, n, status));
  return matrix_batch_run(context, &batch, &kJoined, NULL, 10 * matrix_cube(n), kFailed, status);
}

static bool eig_kernel(KernelContext *context, Status *status) {
  static const MatrixFunction kEig = {eig_step_f64, eig_step_c128};
  const EigState *state = context->state;
  MatrixBatch batch;
  DataType in = context->inputs[0]->dtype, out = context->output_types[0];
  DataType wanted = in == DT_FLOAT || in == DT_COMPLEX64 ? DT_COMPLEX64 : DT_COMPLEX128;
  if (out != wanted) return status_invalid(status, "Invalid output dtype %d vs %d", (int)out, (int)wanted);
  TRY(matrix_batch_begin(context, 1, &batch, status));
  TRY(matrix_batch_square(&batch, status));
  TRY(eigen_outputs(context, &batch, state->vectors, status));
  return matrix_batch_run(context, &batch, &kEig, state, 25 * matrix_cube(batch.in[0].rows),
                          "Eigen decomposition was not successful. The input might not be valid.", status);
}

static bool eigen_shape(InferenceContext *c, Status *status) {
  ShapeHandle square, outer;
  DimHandle n;
  bool vectors;
  TRY(node_attr_bool(c->node, "compute_v", &vectors, status));
  TRY(shape_square_matrices(c, shape_input(c, 0), &square, &outer, status));
  TRY(dim_ok(shape_dim_of(c, square, -1), &n, status));
  TRY(shape_of_matrices(c, outer, n, NULL, &c->outputs[0], status));
  if (!vectors) return shape_no_matrices(c, 1, status);
  shape_set_output(c, 1, square);
  return true;
}

static bool joined_shape(InferenceContext *c, Status *status) {
  ShapeHandle square, outer;
  DimHandle n, one, rows;
  TRY(shape_square_matrices(c, shape_input(c, 0), &square, &outer, status));
  TRY(dim_ok(shape_dim_of(c, square, -1), &n, status));
  TRY(dim_ok(dim_make(c, 1), &one, status));
  TRY(dim_add(c, n, one, &rows, status));
  return shape_of_matrices(c, outer, rows, n, &c->outputs[0], status);
}

/* --- gradients --- */

/* f:output:0: 1 / (e_j - e_i) off the diagonal, as x / (x^2 + 1e-20). */
#define GAPS                                                           \
  "  tiny = Const[dtype=$T, value=1e-20]()\n"                          \
  "  last = Const[dtype=int32, value=-1]()\n"                          \
  "  second = Const[dtype=int32, value=-2]()\n"                        \
  "  along = ExpandDims[T=$T, Tdim=int32](eig:e:0, second:output:0)\n" \
  "  down = ExpandDims[T=$T, Tdim=int32](eig:e:0, last:output:0)\n"    \
  "  gaps = Sub[T=$T](along:output:0, down:output:0)\n"                \
  "  squares = Square[T=$T](gaps:z:0)\n"                               \
  "  sums = Add[T=$T](squares:y:0, tiny:output:0)\n"                   \
  "  reciprocals = RealDiv[T=$T](gaps:z:0, sums:z:0)\n"                \
  "  zeros = ZerosLike[T=$T](eig:e:0)\n"                               \
  "  f = MatrixSetDiag[T=$T](reciprocals:z:0, zeros:y:0)\n"

/* da = V (diag(de) + f V^H dV) V^H, folded onto the lower triangle, which is all that the op reads. */
static bool self_adjoint_gradient(const GradientRequest *request, StrBuf *text, Status *status) {
  bool vectors;
  TRY(node_attr_bool(request->node, "compute_v", &vectors, status));
  strbuf_append(text,
                "SelfAdjointEigV2Gradient[T:type](a:T, de:T, dv:T) -> (da:T) {\n"
                "  eig = SelfAdjointEigV2[T=$T](a)\n"
                "  values = MatrixDiag[T=$T](de)\n");
  if (vectors) {
    strbuf_append(text, GAPS
                  "  product = BatchMatMulV2[T=$T, adj_x=true](eig:v:0, dv)\n"
                  "  turns = Mul[T=$T](f:output:0, product:output:0)\n"
                  "  middle = Add[T=$T](values:output:0, turns:z:0)\n");
  }
  strbuf_printf(text,
                "  left = BatchMatMulV2[T=$T](eig:v:0, %s)\n"
                "  all = BatchMatMulV2[T=$T, adj_y=true](left:output:0, eig:v:0)\n"
                GRADIENT_EYE("eye", "all:output:0") GRADIENT_ADJOINT("adjoint", "all:output:0", "eye")
                "  both = Add[T=$T](all:output:0, adjoint:output:0)\n"
                "  unlimited = Const[dtype=int64, value=-1]()\n"
                "  none = Const[dtype=int64, value=0]()\n"
                "  lower = MatrixBandPart[T=$T](both:z:0, unlimited:output:0, none:output:0)\n"
                "  diagonal = MatrixDiagPart[T=$T](both:z:0)\n"
                "  half = Const[dtype=$T, value=0.5]()\n"
                "  halved = Mul[T=$T](half:output:0, diagonal:diagonal:0)\n"
                "  da = MatrixSetDiag[T=$T](lower:band:0, halved:z:0)\n"
                "  return da = da:output:0\n}\n",
                vectors ? "middle:z:0" : "values:output:0");
  return strbuf_ok(text, status);
}

/* da = V^-H (diag(de) + conj(f) (W - V^H V Re(diag(W)))) V^H for W = V^H dV, and its real part for real
 * matrices. The texts below compute with the complex type of the outputs, which they call T. */
static bool eig_gradient(const GradientRequest *request, StrBuf *text, Status *status) {
  bool vectors;
  DataType type;
  TRY(node_attr_bool(request->node, "compute_v", &vectors, status));
  TRY(node_attr_type(request->node, "Tout", &type, status));
  StrBuf lines = {0};
  strbuf_append(&lines, "  values = MatrixDiag[T=$T](de)\n");
  if (vectors) {
    strbuf_append(&lines, GAPS
                  "  fc = Conj[T=$T](f:output:0)\n"
                  "  w = BatchMatMulV2[T=$T, adj_x=true](eig:v:0, dv)\n"
                  "  diagonal = MatrixDiagPart[T=$T](w:output:0)\n"
                  "  real = Real[T=$T, Tout=$R](diagonal:diagonal:0)\n"
                  "  wide = Cast[SrcT=$R, DstT=$T](real:output:0)\n"
                  "  scales = MatrixDiag[T=$T](wide:y:0)\n"
                  "  gram = BatchMatMulV2[T=$T, adj_x=true](eig:v:0, eig:v:0)\n"
                  "  along_v = BatchMatMulV2[T=$T](gram:output:0, scales:output:0)\n"
                  "  across = Sub[T=$T](w:output:0, along_v:output:0)\n"
                  "  turns = Mul[T=$T](fc:output:0, across:z:0)\n"
                  "  middle = Add[T=$T](values:output:0, turns:z:0)\n");
  }
  strbuf_printf(&lines,
                "  right = BatchMatMulV2[T=$T, adj_y=true](%s, eig:v:0)\n"
                "  all = MatrixSolve[T=$T, adjoint=true](eig:v:0, right:output:0)\n",
                vectors ? "middle:z:0" : "values:output:0");
  strbuf_append(text,
                "EigGradient[T:type, Tout:type](a:T, de:Tout, dv:Tout) -> (da:T) {\n"
                "  eig = Eig[T=$T, Tout=$Tout](a)\n");
  const char *part = type == DT_COMPLEX64 ? "float" : "double";
  for (const char *p = strbuf_text(&lines); *p != '\0'; p++) {
    bool name = *p == '$' && (p[1] == 'T' || p[1] == 'R');
    if (!name) {
      strbuf_append_bytes(text, p, 1);
    } else {
      strbuf_append(text, p[1] == 'T' ? "$Tout" : part);
      p++;
    }
  }
  strbuf_append(text,
                "  da = Cast[SrcT=$Tout, DstT=$T](all:output:0)\n"
                "  return da = da:y:0\n}\n");
  bool ok = strbuf_ok(&lines, status) && strbuf_ok(text, status);
  strbuf_free(&lines);
  return ok;
}

/* --- ops --- */

#define EIGEN \
  .inputs = {"input: T"}, .state_size = sizeof(EigState), .construct = eig_construct, .shape = eigen_shape

const OpRegistration kOpSelfAdjointEigV2 = {
    .name = "SelfAdjointEigV2",
    EIGEN,
    .outputs = {"e: T", "v: T"},
    .attrs = {"compute_v: bool = true", "T: {double, float, half, complex64, complex128}"},
    .gradient_fn = self_adjoint_gradient,
    .kernels = {FLOAT_KERNELS(self_adjoint_kernel), COMPLEX_KERNELS(self_adjoint_kernel)},
};

const OpRegistration kOpBatchSelfAdjointEigV2 = {
    .name = "BatchSelfAdjointEigV2",
    EIGEN,
    .outputs = {"e: T", "v: T"},
    .attrs = {"compute_v: bool = true", "T: {double, float}"},
    .deprecated_version = 13,
    .deprecation_explanation = "Use SelfAdjointEigV2 instead.",
    .kernels = {FLOAT_KERNELS(self_adjoint_kernel)},
};

#define JOINED                                                                                       \
  .inputs = {"input: T"}, .outputs = {"output: T"}, .shape = joined_shape, .deprecated_version = 11, \
  .deprecation_explanation = "Use SelfAdjointEigV2 instead.", .kernels = {FLOAT_KERNELS(joined_kernel)}

const OpRegistration kOpSelfAdjointEig = {
    .name = "SelfAdjointEig",
    JOINED,
    .attrs = {"T: {double, float, half}"},
};

const OpRegistration kOpBatchSelfAdjointEig = {
    .name = "BatchSelfAdjointEig",
    JOINED,
    .attrs = {"T: {double, float}"},
};

const OpRegistration kOpEig = {
    .name = "Eig",
    EIGEN,
    .outputs = {"e: Tout", "v: Tout"},
    .attrs = {"compute_v: bool = true", "T: {float, double, complex64, complex128}",
              "Tout: {complex64, complex128}"},
    .gradient_fn = eig_gradient,
    .kernels = {FLOAT_KERNELS(eig_kernel), COMPLEX_KERNELS(eig_kernel)},
};
