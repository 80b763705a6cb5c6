/* SparseMatMul: the product of two matrices of float or bfloat16, one of which may be declared mostly zero.
 * The sparse operand is multiplied element by element, and its zeros are skipped: even zero times infinity is
 * skipped. */
#include <string.h>

#include "op/node_def.h"
#include "op/op_registry.h"
#include "ops/support/half_precision.h"
#include "ops/math/matrix_product.h"

typedef struct SparseMatMulState {
  bool transpose_a, transpose_b, a_is_sparse, b_is_sparse;
} SparseMatMulState;

static bool sparse_matmul_construct(const KernelConstruction *construction, void *memory, Status *status) {
  SparseMatMulState *state = memory;
  TRY(node_attr_bool(construction->node, "transpose_a", &state->transpose_a, status));
  TRY(node_attr_bool(construction->node, "transpose_b", &state->transpose_b, status));
  TRY(node_attr_bool(construction->node, "a_is_sparse", &state->a_is_sparse, status));
  return node_attr_bool(construction->node, "b_is_sparse", &state->b_is_sparse, status);
}

/* Nonzero elements, row by row: those of row i are from begins[i] to begins[i + 1]. */
typedef struct SparseRows {
  int64_t *begins, *columns;
  float *values;
} SparseRows;

/* `x` is `rows` by `columns` with the given strides. */
static void collect(const float *x, int64_t rows, int64_t columns, int64_t row_stride, int64_t column_stride,
                    SparseRows *out) {
  int64_t count = 0;
  for (int64_t i = 0; i < rows; i++) {
    out->begins[i] = count;
    for (int64_t j = 0; j < columns; j++) {
      float value = x[i * row_stride + j * column_stride];
      if (value == 0) continue;
      out->columns[count] = j;
      out->values[count++] = value;
    }
  }
  out->begins[rows] = count;
}

typedef struct SparseJob {
  const GemmArgs *args;
  SparseRows sparse; /* op(A), or op(B) */
  bool b_is_sparse;
} SparseJob;

/* Rows [begin, end) of C. */
static void multiply_rows(void *arg, int64_t begin, int64_t end) {
  const SparseJob *job = arg;
  const GemmArgs *args = job->args;
  const float *a = args->a, *b = args->b;
  int64_t b_row = args->transpose_b ? 1 : args->ldb, b_column = args->transpose_b ? args->ldb : 1;
  for (int64_t i = begin; i < end; i++) {
    float *c = (float *)args->c + i * args->ldc;
    memset(c, 0, (size_t)args->n * sizeof *c);
    if (job->b_is_sparse) {
      for (int64_t p = 0; p < args->k; p++) {
        float x = args->transpose_a ? a[p * args->lda + i] : a[i * args->lda + p];
        for (int64_t q = job->sparse.begins[p]; q < job->sparse.begins[p + 1]; q++)
          c[job->sparse.columns[q]] += x * job->sparse.values[q];
      }
      continue;
    }
    for (int64_t q = job->sparse.begins[i]; q < job->sparse.begins[i + 1]; q++) {
      float x = job->sparse.values[q];
      const float *row = b + job->sparse.columns[q] * b_row;
      if (b_column == 1) {
        for (int64_t j = 0; j < args->n; j++) c[j] += x * row[j];
      } else {
        for (int64_t j = 0; j < args->n; j++) c[j] += x * row[j * b_column];
      }
    }
  }
}

static bool multiply_sparse(KernelContext *context, const GemmArgs *args, bool b_is_sparse, Status *status) {
  int64_t rows = b_is_sparse ? args->k : args->m, columns = b_is_sparse ? args->n : args->k;
  int64_t elements = rows * columns, size;
  if (__builtin_mul_overflow(elements, (int64_t)(sizeof(int64_t) + sizeof(float)), &size) ||
      __builtin_add_overflow(size, (rows + 1) * (int64_t)sizeof(int64_t), &size)) {
    return status_oom(status, "a sparse matrix");
  }
  Buffer *scratch = kernel_scratch(context, size, status);
  if (!scratch) return false;
  SparseJob job = {.args = args, .b_is_sparse = b_is_sparse};
  job.sparse.begins = scratch->data;
  job.sparse.columns = job.sparse.begins + rows + 1;
  job.sparse.values = (float *)(job.sparse.columns + elements);
  bool transposed = b_is_sparse ? args->transpose_b : args->transpose_a;
  int64_t stride = b_is_sparse ? args->ldb : args->lda;
  collect(b_is_sparse ? args->b : args->a, rows, columns, transposed ? 1 : stride, transposed ? stride : 1,
          &job.sparse);
  double work =
      (double)job.sparse.begins[rows] * (double)(b_is_sparse ? args->m : args->n) / (double)args->m + 1;
  parallel_work(context->parallel, args->m, work, multiply_rows, &job);
  buffer_unref(scratch);
  return true;
}

/* The matrix as float: itself, or a copy. */
static bool as_float(KernelContext *context, const Tensor *tensor, Buffer **copy, const void **data,
                     Status *status) {
  int64_t count = tensor_num_elements(tensor), size;
  *data = tensor->data;
  if (tensor->dtype == DT_FLOAT || count == 0) return true;
  if (__builtin_mul_overflow(count, (int64_t)sizeof(float), &size)) return status_oom(status, "a matrix");
  if (!(*copy = kernel_scratch(context, size, status))) return false;
  half_precision_widen(tensor->dtype, tensor->data, (*copy)->data, count);
  *data = (*copy)->data;
  return true;
}

static bool multiply(KernelContext *context, GemmArgs *args, const SparseMatMulState *state, Status *status) {
  if (state->a_is_sparse || state->b_is_sparse)
    return multiply_sparse(context, args, !state->a_is_sparse, status);
  MatrixProduct product = {.type = DT_FLOAT, .args = *args};
  int64_t size = matrix_product_workspace(&product);
  Buffer *workspace = NULL;
  if (size > 0 && !(workspace = kernel_scratch(context, size, status))) return false;
  matrix_product_run(&product, context->parallel, workspace ? workspace->data : NULL);
  buffer_unref(workspace);
  return true;
}

static bool sparse_matmul_kernel(KernelContext *context, Status *status) {
  const SparseMatMulState *state = context->state;
  const Tensor *a = context->inputs[0], *b = context->inputs[1];
  char a_text[SHAPE_TEXT_CAPACITY], b_text[SHAPE_TEXT_CAPACITY];
  if (a->shape.rank != 2) return status_invalid(status, "a is not a matrix");
  if (b->shape.rank != 2) return status_invalid(status, "b is not a matrix");
  bool ta = state->transpose_a, tb = state->transpose_b;
  GemmArgs args = {.m = shape_dim(&a->shape, ta ? 1 : 0),
                   .n = shape_dim(&b->shape, tb ? 0 : 1),
                   .k = shape_dim(&a->shape, ta ? 0 : 1),
                   .transpose_a = ta,
                   .transpose_b = tb,
                   .lda = shape_dim(&a->shape, 1),
                   .ldb = shape_dim(&b->shape, 1)};
  if (args.k != shape_dim(&b->shape, tb ? 1 : 0)) {
    return status_invalid(status, "Matrix size incompatible: a: %s, b: %s", shape_text(&a->shape, a_text),
                          shape_text(&b->shape, b_text));
  }
  args.ldc = args.n;
  Tensor *out;
  TRY(kernel_allocate_output_dims(context, 0, 2, (int64_t[]){args.m, args.n}, &out, status));
  if (tensor_num_elements(out) == 0) return true;
  args.c = out->data;
  Buffer *copies[2] = {NULL, NULL};
  bool ok = as_float(context, a, &copies[0], &args.a, status) &&
            as_float(context, b, &copies[1], &args.b, status) && multiply(context, &args, state, status);
  buffer_unref(copies[0]);
  buffer_unref(copies[1]);
  return ok;
}

/* Products of dy, which is not sparse, with the other operand, which may be; rounded to bfloat16 if the
 * operand is bfloat16. */
static bool sparse_matmul_gradient(const GradientRequest *request, StrBuf *text, Status *status) {
  static const char *const kTransposes[2] = {"transpose_a", "transpose_b"},
                           *const kSparse[2] = {"a_is_sparse", "b_is_sparse"};
  bool transposes[2], sparse[2];
  DataType types[2];
  for (int i = 0; i < 2; i++) {
    TRY(node_attr_bool(request->node, kTransposes[i], &transposes[i], status));
    TRY(node_attr_bool(request->node, kSparse[i], &sparse[i], status));
    TRY(node_attr_type(request->node, i == 0 ? "Ta" : "Tb", &types[i], status));
  }
  strbuf_append(text, "SparseMatMulGradient[Ta:type, Tb:type](a:Ta, b:Tb, dy:float) -> (da:Ta, db:Tb) {\n");
  for (int side = 0; side < 2; side++) {
    MatrixProductGradient g = matrix_product_gradient(side, transposes[0], transposes[1]);
    int other = 1 - side;
    char name = side == 0 ? 'a' : 'b', other_name = side == 0 ? 'b' : 'a';
    const char *is_sparse = sparse[other] ? "true" : "false", *other_type = other == 0 ? "$Ta" : "$Tb";
    bool first = g.dy_first;
    strbuf_printf(text,
                  "  g%c = SparseMatMul[Ta=%s, Tb=%s, transpose_a=%s, transpose_b=%s, a_is_sparse=%s, "
                  "b_is_sparse=%s]",
                  name, first ? "float" : other_type, first ? other_type : "float",
                  g.transpose_first ? "true" : "false", g.transpose_second ? "true" : "false",
                  first ? "false" : is_sparse, first ? is_sparse : "false");
    if (first) {
      strbuf_printf(text, "(dy, %c)\n", other_name);
    } else {
      strbuf_printf(text, "(%c, dy)\n", other_name);
    }
    if (types[side] != DT_FLOAT) {
      strbuf_printf(text, "  c%c = Cast[SrcT=float, DstT=$T%c](g%c:product:0)\n", name, name, name);
    }
  }
  strbuf_printf(text, "  return da = %s, db = %s\n}\n", types[0] == DT_FLOAT ? "ga:product:0" : "ca:y:0",
                types[1] == DT_FLOAT ? "gb:product:0" : "cb:y:0");
  return strbuf_ok(text, status);
}

const OpRegistration kOpSparseMatMul = {
    .name = "SparseMatMul",
    .inputs = {"a: Ta", "b: Tb"},
    .outputs = {"product: float"},
    .attrs = {"transpose_a: bool = false", "transpose_b: bool = false", "a_is_sparse: bool = false",
              "b_is_sparse: bool = false", "Ta: {float, bfloat16} = DT_FLOAT",
              "Tb: {float, bfloat16} = DT_FLOAT"},
    .shape = shape_matmul,
    .gradient_fn = sparse_matmul_gradient,
    .state_size = sizeof(SparseMatMulState),
    .construct = sparse_matmul_construct,
    .kernels = {{DT_INVALID, sparse_matmul_kernel}},
};
