/* TridiagonalMatMul and TridiagonalSolve. */
#include <float.h>
#include <stdio.h>

#include "base/alloc.h"
#include "op/node_def.h"
#include "op/op_registry.h"
#include "ops/linalg/field.h"
#include "ops/linalg/matrix_batch.h"
#include "ops/linalg/matrix_shapes.h"

typedef struct TridiagonalState {
  bool pivots, perturbs;
} TridiagonalState;

#define TEMPLATE "ops/linalg/tridiagonal_steps.inc"
#include "ops/linalg/each_field.inc"

static bool product_kernel(KernelContext *context, Status *status) {
  static const MatrixFunction kProduct = {product_step_f64, product_step_c128};
  static const char *const kNames[] = {"superdiagonal", "main diagonal", "subdiagonal"};
  MatrixBatch batch;
  TRY(matrix_batch_begin(context, 4, &batch, status));
  int64_t m = batch.in[3].rows, n = batch.in[3].columns;
  for (int i = 0; i < 3; i++) {
    if (batch.in[i].rows != 1 || batch.in[i].columns != m)
      return status_invalid(status, "Invalid %s shape.", kNames[i]);
  }
  TRY(matrix_batch_output(context, &batch, 0, 2, m, n, status));
  return matrix_batch_run(context, &batch, &kProduct, NULL, 6 * (double)m * (double)n, "", status);
}

static bool solve_construct(const KernelConstruction *construction, void *memory, Status *status) {
  TridiagonalState *state = memory;
  TRY(node_attr_bool(construction->node, "partial_pivoting", &state->pivots, status));
  TRY(node_attr_bool(construction->node, "perturb_singular", &state->perturbs, status));
  return state->pivots || !state->perturbs ||
         status_invalid(status, "Setting perturb_singular requires also setting partial_pivoting.");
}

static bool solve_kernel(KernelContext *context, Status *status) {
  static const MatrixFunction kSolve = {tridiagonal_step_f64, tridiagonal_step_c128};
  const TridiagonalState *state = context->state;
  MatrixBatch batch;
  TRY(matrix_batch_begin(context, 2, &batch, status));
  int64_t m = batch.in[0].columns, n = batch.in[1].columns;
  if (batch.in[0].rows != 3) {
    return status_invalid(status, "Expected diagonals to be provided as a matrix with 3 rows, got %lld rows.",
                          (long long)batch.in[0].rows);
  }
  if (m != batch.in[1].rows) {
    return status_invalid(status,
                          "Expected the same number of left-hand sides and right-hand sides, got %lld and "
                          "%lld.",
                          (long long)m, (long long)batch.in[1].rows);
  }
  TRY(matrix_batch_output(context, &batch, 0, 2, m, n, status));
  return matrix_batch_run(context, &batch, &kSolve, state, 12 * (double)m * (double)(n + 1),
                          m == 1          ? "The matrix is not invertible: it is a scalar with value zero."
                          : state->pivots ? "The matrix is not invertible."
                                          : "The matrix is either not invertible, or requires pivoting. "
                                            "Try setting partial_pivoting = True.",
                          status);
}

/* The output has the shape of the right-hand side, the last input. */
static bool rhs_shape(InferenceContext *c, Status *status) {
  ShapeHandle rhs, outer, other;
  DimHandle m, size;
  int last = c->num_inputs - 1;
  TRY(shape_with_rank_at_least(c, shape_input(c, last), 2, &rhs, status));
  TRY(shape_subshape(c, rhs, 0, -2, 1, &outer, status));
  TRY(dim_ok(shape_dim_of(c, rhs, -2), &m, status));
  for (int i = 0; i < last; i++) {
    TRY(shape_with_rank_at_least(c, shape_input(c, i), 2, &other, status));
    TRY(dim_with_value(c, shape_dim_of(c, other, -2), last == 1 ? 3 : 1, &size, status));
    TRY(dim_merge(c, shape_dim_of(c, other, -1), m, &m, status));
    TRY(shape_subshape(c, other, 0, -2, 1, &other, status));
    TRY(shape_merge(c, outer, other, &outer, status));
  }
  return shape_of_matrices(c, outer, m, shape_dim_of(c, rhs, -1), &c->outputs[0], status);
}

/* --- gradients --- */

#define SLICES                                        \
  "  from0 = Const[dtype=int32, value=[0, 0, 0]]()\n" \
  "  from1 = Const[dtype=int32, value=[0, 1, 0]]()\n" \
  "  from2 = Const[dtype=int32, value=[0, 2, 0]]()\n" \
  "  but1 = Const[dtype=int32, value=[0, -1, 0]]()\n" \
  "  left0 = Const[dtype=int32, value=[0, 0]]()\n"    \
  "  left1 = Const[dtype=int32, value=[0, 1]]()\n"    \
  "  right1 = Const[dtype=int32, value=[0, -1]]()\n"  \
  "  step2 = Const[dtype=int32, value=[1, 1]]()\n"    \
  "  step3 = Const[dtype=int32, value=[1, 1, 1]]()\n" \
  "  last = Const[dtype=int32, value=-1]()\n"         \
  "  second = Const[dtype=int32, value=-2]()\n"

/* name:output:0 is value[..., begin:end, :]. */
#define ROWS(name, value, begin, end)                                                              \
  "  " name " = StridedSlice[T=$T, Index=int32, ellipsis_mask=1, begin_mask=4, end_mask=4](" value \
  ", " begin ":output:0, " end ":output:0, step3:output:0)\n"
/* The same with end = the number of rows. */
#define ROWS_FROM(name, value, begin)                                                              \
  "  " name " = StridedSlice[T=$T, Index=int32, ellipsis_mask=1, begin_mask=4, end_mask=6](" value \
  ", " begin ":output:0, from0:output:0, step3:output:0)\n"

/* Rows, or elements of the last axis, moved up or down by one, with a zero in the free place. */
#define ROWS_UP(name, value)                                                                             \
  ROWS_FROM(name "_rest", value, "from1")                                                                \
  "  " name "_zeros = ZerosLike[T=$T](" value                                                            \
  ")\n" ROWS(name "_free", name "_zeros:y:0", "from0", "from1") "  " name " = ConcatV2[N=2, T=$T](" name \
                                                                "_rest:output:0, " name                  \
                                                                "_free:output:0, second:output:0)\n"
#define ROWS_DOWN(name, value)                                                                           \
  ROWS(name "_rest", value, "from0", "but1")                                                             \
  "  " name "_zeros = ZerosLike[T=$T](" value                                                            \
  ")\n" ROWS(name "_free", name "_zeros:y:0", "from0", "from1") "  " name " = ConcatV2[N=2, T=$T](" name \
                                                                "_free:output:0, " name                  \
                                                                "_rest:output:0, second:output:0)\n"
#define FIRST_ELEMENT(name, value)                                           \
  "  " name "_zeros = ZerosLike[T=$T](" value                                \
  ")\n"                                                                      \
  "  " name "_free = StridedSlice[T=$T, Index=int32, ellipsis_mask=1](" name \
  "_zeros:y:0, left0:output:0, left1:output:0, step2:output:0)\n"
#define ELEMENTS_UP(name, value)                                                          \
  "  " name "_rest = StridedSlice[T=$T, Index=int32, ellipsis_mask=1, end_mask=2](" value \
  ", left1:output:0, left0:output:0, step2:output:0)\n" FIRST_ELEMENT(                    \
      name, value) "  " name " = ConcatV2[N=2, T=$T](" name "_rest:output:0, " name       \
                   "_free:output:0, last:output:0)\n"
#define ELEMENTS_DOWN(name, value)                                                  \
  "  " name "_rest = StridedSlice[T=$T, Index=int32, ellipsis_mask=1](" value       \
  ", left0:output:0, right1:output:0, step2:output:0)\n" FIRST_ELEMENT(             \
      name, value) "  " name " = ConcatV2[N=2, T=$T](" name "_free:output:0, " name \
                   "_rest:output:0, last:output:0)\n"

/* name:output:0: the sums over columns of g * other, as a matrix with one row. */
#define ROW_SUMS(name, g, other)                  \
  "  " name "_products = Mul[T=$T](" g ", " other \
  ")\n"                                           \
  "  " name "_sums = Sum[T=$T, Tidx=int32](" name \
  "_products:z:0, last:output:0)\n"               \
  "  " name " = ExpandDims[T=$T, Tdim=int32](" name "_sums:output:0, second:output:0)\n"

/* Conj is for complex numbers alone. */
static const char *conjugate(const char *value, const char *name, const char *output, bool is_complex,
                             StrBuf *text) {
  if (!is_complex) return value;
  strbuf_printf(text, "  %s = Conj[T=$T](%s)\n", name, value);
  return output;
}

/* The adjoint of the matrix exchanges the diagonals and moves them by one. */
static bool product_gradient(const GradientRequest *request, StrBuf *text, Status *status) {
  DataType type;
  TRY(node_attr_type(request->node, "T", &type, status));
  bool is_complex = dtype_is_complex(type);
  strbuf_append(text,
                "TridiagonalMatMulGradient[T:type](above:T, main:T, below:T, rhs:T, dy:T) -> (dabove:T, "
                "dmain:T, "
                "dbelow:T, drhs:T) {\n" SLICES);
  const char *above = conjugate("above", "above_c", "above_c:output:0", is_complex, text);
  const char *middle = conjugate("main", "main_c", "main_c:output:0", is_complex, text);
  const char *below = conjugate("below", "below_c", "below_c:output:0", is_complex, text);
  const char *rhs = conjugate("rhs", "rhs_c", "rhs_c:output:0", is_complex, text);
  strbuf_printf(text, ELEMENTS_UP("new_above", "%s"), below, below);
  strbuf_printf(text, ELEMENTS_DOWN("new_below", "%s"), above, above);
  strbuf_printf(text,
                "  drhs = TridiagonalMatMul[T=$T](new_above:output:0, %s, new_below:output:0, dy)\n" ROWS_UP(
                    "up", "%s"),
                middle, rhs, rhs);
  strbuf_printf(text, ROWS_DOWN("down", "%s") ROW_SUMS("dmain", "dy", "%s"), rhs, rhs, rhs);
  strbuf_append(text,
                ROW_SUMS("dabove", "dy", "up:output:0") ROW_SUMS("dbelow", "dy", "down:output:0")
                "  return dabove = dabove:output:0, dmain = dmain:output:0, dbelow = dbelow:output:0, drhs = "
                "drhs:output:0\n}\n");
  return strbuf_ok(text, status);
}

/* dB solves A^H dB = dY, and dA = -dB Y^H on the three diagonals. */
static bool solve_gradient(const GradientRequest *request, StrBuf *text, Status *status) {
  DataType type;
  bool pivots, perturbs;
  TRY(node_attr_type(request->node, "T", &type, status));
  TRY(node_attr_bool(request->node, "partial_pivoting", &pivots, status));
  TRY(node_attr_bool(request->node, "perturb_singular", &perturbs, status));
  bool is_complex = dtype_is_complex(type);
  char attrs[80];
  snprintf(attrs, sizeof attrs, "T=$T, partial_pivoting=%s, perturb_singular=%s", pivots ? "true" : "false",
           pivots && perturbs ? "true" : "false");
  strbuf_printf(text,
                "TridiagonalSolveGradient[T:type](diagonals:T, rhs:T, dy:T) -> (ddiagonals:T, drhs:T) {\n"
                "  y = TridiagonalSolve[%s](diagonals, rhs)\n" SLICES,
                attrs);
  const char *all = conjugate("diagonals", "diagonals_c", "diagonals_c:output:0", is_complex, text);
  const char *y = conjugate("y:output:0", "y_c", "y_c:output:0", is_complex, text);
  strbuf_printf(text,
                ROWS("above", "%s", "from0", "from1") ROWS("main", "%s", "from1", "from2")
                ROWS_FROM("below", "%s", "from2")
                ELEMENTS_UP("new_above", "below:output:0") ELEMENTS_DOWN("new_below", "above:output:0")
                "  adjoint = ConcatV2[N=3, T=$T](new_above:output:0, main:output:0, new_below:output:0, "
                "second:output:0)\n"
                "  drhs = TridiagonalSolve[%s](adjoint:output:0, dy)\n",
                all, all, all, attrs);
  strbuf_printf(text, ROWS_UP("up", "%s") ROWS_DOWN("down", "%s") ROW_SUMS("dmain", "drhs:output:0", "%s"), y,
                y, y, y, y);
  strbuf_append(text,
                ROW_SUMS("dabove", "drhs:output:0", "up:output:0")
                ROW_SUMS("dbelow", "drhs:output:0", "down:output:0")
                "  minus = ConcatV2[N=3, T=$T](dabove:output:0, dmain:output:0, dbelow:output:0, "
                "second:output:0)\n"
                "  ddiagonals = Neg[T=$T](minus:output:0)\n"
                "  return ddiagonals = ddiagonals:y:0, drhs = drhs:output:0\n}\n");
  return strbuf_ok(text, status);
}

#define TYPES "T: {double, float, complex64, complex128}"

const OpRegistration kOpTridiagonalMatMul = {
    .name = "TridiagonalMatMul",
    .inputs = {"superdiag: T", "maindiag: T", "subdiag: T", "rhs: T"},
    .outputs = {"output: T"},
    .attrs = {TYPES},
    .shape = rhs_shape,
    .gradient_fn = product_gradient,
    .kernels = {FLOAT_KERNELS(product_kernel), COMPLEX_KERNELS(product_kernel)},
};

const OpRegistration kOpTridiagonalSolve = {
    .name = "TridiagonalSolve",
    .inputs = {"diagonals: T", "rhs: T"},
    .outputs = {"output: T"},
    .attrs = {"partial_pivoting: bool = true", "perturb_singular: bool = false", TYPES},
    .shape = rhs_shape,
    .gradient_fn = solve_gradient,
    .state_size = sizeof(TridiagonalState),
    .construct = solve_construct,
    .kernels = {FLOAT_KERNELS(solve_kernel), COMPLEX_KERNELS(solve_kernel)},
};
