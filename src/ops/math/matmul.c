/* MatMul: the product of two matrices, each of which may be transposed. */
#include "blas/gemm.h"
#include "op/node_def.h"
#include "op/op_registry.h"
#include "ops/support/conjugate.h"
#include "ops/support/element_types.h"
#include "ops/support/packed_matrix.h"
#include "ops/support/product_epilogue.h"
#include "ops/math/matrix_product.h"

typedef struct MatMulState {
  bool transpose_a, transpose_b;
  bool is_constant; /* B, of type float or double */
  ConstantForm packed_b, row_b;
} MatMulState;

static bool matmul_construct(const KernelConstruction *construction, void *memory, Status *status) {
  MatMulState *state = memory;
  TRY(node_attr_bool(construction->node, "transpose_a", &state->transpose_a, status));
  TRY(node_attr_bool(construction->node, "transpose_b", &state->transpose_b, status));
  const Tensor *b = construction->constant_inputs ? construction->constant_inputs[1] : NULL;
  state->is_constant = b && (b->dtype == DT_FLOAT || b->dtype == DT_DOUBLE);
  return true;
}

static void matmul_destroy(void *memory) {
  MatMulState *state = memory;
  constant_form_free(&state->packed_b);
  constant_form_free(&state->row_b);
}

/* Checks the shapes, fills in the sizes, allocates the product. */
static bool prepare(KernelContext *context, GemmArgs *args, Status *status) {
  const MatMulState *state = context->state;
  const Tensor *a = context->inputs[0], *b = context->inputs[1];
  Tensor *out;
  char a_text[SHAPE_TEXT_CAPACITY], b_text[SHAPE_TEXT_CAPACITY];
  for (int i = 0; i < 2; i++) {
    const Shape *shape = &context->inputs[i]->shape;
    if (shape->rank != 2) {
      return status_invalid(status, "In[%d] is not a matrix. Instead it has shape %s", i,
                            shape_text(shape, a_text));
    }
  }
  bool ta = state->transpose_a, tb = state->transpose_b;
  if (shape_dim(&a->shape, ta ? 0 : 1) != shape_dim(&b->shape, tb ? 1 : 0)) {
    return status_invalid(status, "Matrix size-incompatible: In[0]: %s, In[1]: %s",
                          shape_text(&a->shape, a_text), shape_text(&b->shape, b_text));
  }
  *args = (GemmArgs){.m = shape_dim(&a->shape, ta ? 1 : 0),
                     .n = shape_dim(&b->shape, tb ? 0 : 1),
                     .k = shape_dim(&a->shape, ta ? 0 : 1),
                     .transpose_a = ta,
                     .transpose_b = tb,
                     .a = a->data,
                     .lda = shape_dim(&a->shape, 1),
                     .b = b->data,
                     .ldb = shape_dim(&b->shape, 1)};
  args->ldc = args->n;
  TRY(kernel_allocate_output_dims(context, 0, 2, (int64_t[]){args->m, args->n}, &out, status));
  args->c = out->data;
  return true;
}

/* Gives the constant B in the form with which the product is fastest, if B has one. */
static bool pack(KernelContext *context, MatrixProduct *product, Status *status) {
  MatMulState *state = context->state;
  GemmArgs *args = &product->args;
  if (!state->is_constant || args->k == 0 || args->n == 1) return true;
  if (args->m == 1 && product->type == DT_FLOAT)
    return packed_row_get(&state->row_b, args, context->parallel, &args->row_b, status);
  if (args->m <= 2) return true;
  return packed_matrix_get(&state->packed_b, product->type, args, context->parallel, &args->packed_b, status);
}

static bool multiply(KernelContext *context, MatrixProduct *product, Status *status) {
  GemmArgs *args = &product->args;
  if (args->m == 0 || args->n == 0) return true; /* the product of the other sizes is arbitrary */
  TRY(pack(context, product, status));
  args->threads = parallel_threads(context->parallel);
  int64_t size = matrix_product_workspace(product);
  Buffer *workspace = NULL;
  if (size < 0) return status_oom(status, "a product of matrices");
  if (size > 0 && !(workspace = kernel_scratch(context, size, status))) return false;
  matrix_product_run(product, context->parallel, workspace ? workspace->data : NULL);
  buffer_unref(workspace);
  return true;
}

static bool matmul_kernel(KernelContext *context, Status *status) {
  MatrixProduct product = {.type = context->inputs[0]->dtype};
  TRY(prepare(context, &product.args, status));
  ProductEnd end;
  TRY(product_end_begin(&end, context, &context->outputs[0], product.args.n, status));
  product.args.bias = end.bias, product.args.activation = end.activation;
  product.args.epilogue = end.epilogue;
  return product_end_finish(&end, multiply(context, &product, status));
}

/* A product of dy with the conjugate of the other operand. TensorFlow has no functional gradient for complex
 * matrices; this equals its other gradients. */
static bool matmul_gradient(const GradientRequest *request, StrBuf *text, Status *status) {
  StrBuf marked = {0};
  bool transposes[2], ok = false;
  TRY(node_attr_bool(request->node, "transpose_a", &transposes[0], status));
  TRY(node_attr_bool(request->node, "transpose_b", &transposes[1], status));
  strbuf_append(&marked, "MatMulGradient[T:type](a:T, b:T, dy:T) -> (da:T, db:T) {\n");
  for (int side = 0; side < 2; side++) {
    MatrixProductGradient g = matrix_product_gradient(side, transposes[0], transposes[1]);
    const char *other = side == 0 ? "~b" : "~a";
    strbuf_printf(&marked, "  d%c = MatMul[T=$T, transpose_a=%s, transpose_b=%s](%s, %s)\n",
                  side == 0 ? 'a' : 'b', g.transpose_first ? "true" : "false",
                  g.transpose_second ? "true" : "false", g.dy_first ? "dy" : other,
                  g.dy_first ? other : "dy");
  }
  strbuf_append(&marked, "  return da = da:product:0, db = db:product:0\n}\n");
  TRY_DONE(strbuf_ok(&marked, status));
  ok = conjugate_text(request, marked.data, text, status);
done:
  strbuf_free(&marked);
  return ok;
}

const OpRegistration kOpMatMul = {
    .name = "MatMul",
    .inputs = {"a: T", "b: T"},
    .outputs = {"product: T"},
    .attrs = {"transpose_a: bool = false", "transpose_b: bool = false",
              "T: {bfloat16, half, float, double, int32, int64, uint8, uint16, uint32, uint64, complex64, "
              "complex128}",
              "grad_a: bool = false", "grad_b: bool = false"},
    .shape = shape_matmul,
    .gradient_fn = matmul_gradient,
    .state_size = sizeof(MatMulState),
    .construct = matmul_construct,
    .destroy = matmul_destroy,
    .kernels = {FLOAT_AND_HALF_KERNELS(matmul_kernel), INT_KERNELS(matmul_kernel),
                COMPLEX_KERNELS(matmul_kernel)},
};
