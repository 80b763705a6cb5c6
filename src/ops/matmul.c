/* MatMul: the product of two matrices, either of them transposed first. */
#include "base/alloc.h"
#include "blas/gemm.h"
#include "op/node_def.h"
#include "op/op_registry.h"
#include "ops/half_precision.h"

typedef struct MatMulState {
  bool transpose_a, transpose_b;
  void *packed_b; /* when B is a constant */
} MatMulState;

/* Up to this many rows the product is faster with B as it stands than with its packed form. */
enum { MATMUL_FEW_ROWS = 2 };

static bool pack_constant(MatMulState *state, const Tensor *b, Status *status) {
  if (b->shape.rank != 2 || tensor_num_elements(b) == 0) return true;
  int64_t rows = shape_dim(&b->shape, 0), columns = shape_dim(&b->shape, 1);
  GemmArgs args = {.k = state->transpose_b ? columns : rows, .n = state->transpose_b ? rows : columns,
                   .transpose_b = state->transpose_b, .b = b->data, .ldb = columns};
  bool is_float = b->dtype == DT_FLOAT;
  int64_t size = is_float ? gemm_f32_packed_b_size(args.k, args.n) : gemm_f64_packed_b_size(args.k, args.n);
  if (size < 0 || (state->packed_b = mem_alloc(size)) == NULL) return status_oom(status, "a packed matrix");
  if (is_float) {
    gemm_f32_pack_b(&args, NULL, state->packed_b);
  } else {
    gemm_f64_pack_b(&args, NULL, state->packed_b);
  }
  return true;
}

static bool matmul_construct(const KernelConstruction *construction, void *memory, Status *status) {
  MatMulState *state = memory;
  TRY(node_attr_bool(construction->node, "transpose_a", &state->transpose_a, status));
  TRY(node_attr_bool(construction->node, "transpose_b", &state->transpose_b, status));
  const Tensor *b = construction->constant_inputs != NULL ? construction->constant_inputs[1] : NULL;
  if (b == NULL || (b->dtype != DT_FLOAT && b->dtype != DT_DOUBLE)) return true;
  return pack_constant(state, b, status);
}

static void matmul_destroy(void *memory) { mem_free(((MatMulState *)memory)->packed_b); }

/* Checks the shapes, fills in the sizes, allocates the product. */
static bool prepare(KernelContext *context, GemmArgs *args, Tensor **out, Status *status) {
  const MatMulState *state = context->state;
  const Tensor *a = context->inputs[0], *b = context->inputs[1];
  char a_text[SHAPE_TEXT_CAPACITY], b_text[SHAPE_TEXT_CAPACITY];
  for (int i = 0; i < 2; i++) {
    const Shape *shape = &context->inputs[i]->shape;
    if (shape->rank != 2) {
      return status_invalid(status, "In[%d] is not a matrix. Instead it has shape %s", i, shape_text(shape, a_text));
    }
  }
  bool ta = state->transpose_a, tb = state->transpose_b;
  if (shape_dim(&a->shape, ta ? 0 : 1) != shape_dim(&b->shape, tb ? 1 : 0)) {
    return status_invalid(status, "Matrix size-incompatible: In[0]: %s, In[1]: %s", shape_text(&a->shape, a_text),
                          shape_text(&b->shape, b_text));
  }
  *args = (GemmArgs){.m = shape_dim(&a->shape, ta ? 1 : 0), .n = shape_dim(&b->shape, tb ? 0 : 1),
                     .k = shape_dim(&a->shape, ta ? 0 : 1), .transpose_a = ta, .transpose_b = tb,
                     .a = a->data, .lda = shape_dim(&a->shape, 1), .b = b->data, .ldb = shape_dim(&b->shape, 1)};
  args->ldc = args->n;
  TRY(kernel_allocate_output_dims(context, 0, 2, (int64_t[]){args->m, args->n}, out, status));
  args->c = (*out)->data;
  return true;
}

static bool scratch(KernelContext *context, int64_t size, Buffer **buffer, Status *status) {
  *buffer = NULL;
  return size == 0 || (*buffer = kernel_scratch(context, size, status)) != NULL;
}

static bool matmul_f32(KernelContext *context, Status *status) {
  GemmArgs args;
  Tensor *out;
  Buffer *workspace;
  TRY(prepare(context, &args, &out, status));
  if (args.m > MATMUL_FEW_ROWS) args.packed_b = ((MatMulState *)context->state)->packed_b;
  TRY(scratch(context, gemm_f32_workspace(&args), &workspace, status));
  gemm_f32(&args, context->parallel, workspace != NULL ? workspace->data : NULL);
  buffer_unref(workspace);
  return true;
}

static bool matmul_f64(KernelContext *context, Status *status) {
  GemmArgs args;
  Tensor *out;
  Buffer *workspace;
  TRY(prepare(context, &args, &out, status));
  if (args.m > MATMUL_FEW_ROWS) args.packed_b = ((MatMulState *)context->state)->packed_b;
  TRY(scratch(context, gemm_f64_workspace(&args), &workspace, status));
  gemm_f64(&args, context->parallel, workspace != NULL ? workspace->data : NULL);
  buffer_unref(workspace);
  return true;
}

static bool matmul_i32(KernelContext *context, Status *status) {
  GemmArgs args;
  Tensor *out;
  TRY(prepare(context, &args, &out, status));
  gemm_i32(&args, context->parallel);
  return true;
}

static bool matmul_i64(KernelContext *context, Status *status) {
  GemmArgs args;
  Tensor *out;
  TRY(prepare(context, &args, &out, status));
  gemm_i64(&args, context->parallel);
  return true;
}

/* 16-bit floats are multiplied as float and rounded once. */
static bool matmul_half(KernelContext *context, Status *status) {
  DataType type = context->inputs[0]->dtype;
  GemmArgs args;
  Tensor *out;
  Buffer *wide = NULL, *workspace = NULL;
  bool ok = false;
  TRY(prepare(context, &args, &out, status));
  int64_t count_a = tensor_num_elements(context->inputs[0]), count_b = tensor_num_elements(context->inputs[1]);
  int64_t count = tensor_num_elements(out);
  /* The sum fits: the tensors exist with half the size. */
  TRY_DONE(scratch(context, (count_a + count_b + count + 1) * (int64_t)sizeof(float), &wide, status));
  float *a = wide->data, *b = a + count_a, *c = b + count_b;
  half_precision_widen(type, args.a, a, count_a);
  half_precision_widen(type, args.b, b, count_b);
  args.a = a, args.b = b, args.c = c;
  TRY_DONE(scratch(context, gemm_f32_workspace(&args), &workspace, status));
  gemm_f32(&args, context->parallel, workspace != NULL ? workspace->data : NULL);
  half_precision_narrow(type, c, out->data, count);
  ok = true;
done:
  buffer_unref(wide);
  buffer_unref(workspace);
  return ok;
}

/* d(op(A) op(B)): each side's gradient is a product of dy with the other side, arranged so that nothing but MatMul's own flags
 * transposes. */
static bool matmul_gradient(const GradientRequest *request, StrBuf *text, Status *status) {
  static const char *const kProducts[2][2][2] = {
      {{"MatMul[T=$T, transpose_a=false, transpose_b=true](dy, b)", "MatMul[T=$T, transpose_a=true, transpose_b=false](a, dy)"},
       {"MatMul[T=$T, transpose_a=false, transpose_b=false](dy, b)", "MatMul[T=$T, transpose_a=true, transpose_b=false](dy, a)"}},
      {{"MatMul[T=$T, transpose_a=false, transpose_b=true](b, dy)", "MatMul[T=$T, transpose_a=false, transpose_b=false](a, dy)"},
       {"MatMul[T=$T, transpose_a=true, transpose_b=true](b, dy)", "MatMul[T=$T, transpose_a=true, transpose_b=true](dy, a)"}}};
  DataType type;
  bool ta, tb;
  TRY(node_attr_type(request->node, "T", &type, status));
  TRY(node_attr_bool(request->node, "transpose_a", &ta, status));
  TRY(node_attr_bool(request->node, "transpose_b", &tb, status));
  if (dtype_is_complex(type)) {
    return status_set(status, CODE_UNIMPLEMENTED, "MatMul gradient for complex is not supported yet.");
  }
  strbuf_printf(text,
                "MatMulGradient[T:type](a:T, b:T, dy:T) -> (da:T, db:T) {\n"
                "  da = %s\n"
                "  db = %s\n"
                "  return da = da:product:0, db = db:product:0\n"
                "}\n",
                kProducts[ta][tb][0], kProducts[ta][tb][1]);
  return strbuf_ok(text, status);
}

REGISTER_OP(MatMul,
  .inputs = {"a: T", "b: T"},
  .outputs = {"product: T"},
  .attrs = {"transpose_a: bool = false", "transpose_b: bool = false",
            "T: {bfloat16, half, float, double, int32, int64, complex64, complex128}"},
  .shape = shape_matmul,
  .gradient_fn = matmul_gradient,
  .state_size = sizeof(MatMulState),
  .construct = matmul_construct,
  .destroy = matmul_destroy,
  .kernels = {{DT_FLOAT, matmul_f32}, {DT_DOUBLE, matmul_f64}, {DT_INT32, matmul_i32}, {DT_INT64, matmul_i64},
              {DT_HALF, matmul_half}, {DT_BFLOAT16, matmul_half}})
