/* BatchMatMul and BatchMatMulV2: products of the matrices in the last two dimensions. In V2 the other
 * dimensions broadcast. */
#include <string.h>

#include "op/node_def.h"
#include "op/op_registry.h"
#include "ops/math/batch_product.h"
#include "ops/support/array_box.h"
#include "ops/support/element_types.h"

typedef struct BatchMatMulState {
  bool adjoint[2];
} BatchMatMulState;

static bool batch_construct(const KernelConstruction *construction, void *memory, Status *status) {
  BatchMatMulState *state = memory;
  TRY(node_attr_bool(construction->node, "adj_x", &state->adjoint[0], status));
  return node_attr_bool(construction->node, "adj_y", &state->adjoint[1], status);
}

/* The batch sizes of the output. */
static bool plan_batch(const Shape *x, const Shape *y, bool broadcasts, BatchProduct *batch, Status *status) {
  char a[SHAPE_TEXT_CAPACITY], b[SHAPE_TEXT_CAPACITY];
  const Shape *shapes[2] = {x, y};
  if (!broadcasts && x->rank != y->rank) {
    return status_invalid(status, "In[0] and In[1] has different ndims: %s vs. %s", shape_text(x, a),
                          shape_text(y, b));
  }
  for (int i = 0; i < 2; i++) {
    if (shapes[i]->rank < 2)
      return status_invalid(status, "In[%d] ndims must be >= 2: %d", i, shapes[i]->rank);
  }
  batch->rank = (x->rank > y->rank ? x->rank : y->rank) - 2;
  for (int k = 0; k < batch->rank; k++) {
    int64_t sizes[2];
    for (int i = 0; i < 2; i++) {
      int at = k - (batch->rank + 2 - shapes[i]->rank);
      sizes[i] = at < 0 ? 1 : shape_dim(shapes[i], at);
    }
    if (sizes[0] != sizes[1] && !broadcasts) {
      return status_invalid(status, "In[0].dim(%d) and In[1].dim(%d) must be the same: %s vs %s", k, k,
                            shape_text(x, a), shape_text(y, b));
    }
    if (sizes[0] != sizes[1] && sizes[0] != 1 && sizes[1] != 1) {
      return status_invalid(status, "In[0] and In[1] must have compatible batch dimensions: %s vs. %s",
                            shape_text(x, a), shape_text(y, b));
    }
    batch->dims[k] = sizes[0] == 1 ? sizes[1] : sizes[0];
  }
  return true;
}

/* The strides of a tensor whose matrices lie one after the other, for the last of the axes of the box. */
static void set_strides(const Shape *shape, int rank, int64_t *strides) {
  int64_t own[SHAPE_MAX_RANK];
  array_strides(shape, own);
  for (int k = 0; k < rank; k++) {
    int at = k - (rank + 2 - shape->rank);
    strides[k] = at < 0 || shape_dim(shape, at) == 1 ? 0 : own[at];
  }
}

static bool batch_kernel(KernelContext *context, bool broadcasts, Status *status) {
  const BatchMatMulState *state = context->state;
  const Tensor *x = context->inputs[0], *y = context->inputs[1];
  const Shape *a = &x->shape, *b = &y->shape;
  char a_text[SHAPE_TEXT_CAPACITY], b_text[SHAPE_TEXT_CAPACITY];
  BatchProduct batch;
  batch.product = (MatrixProduct){.type = x->dtype};
  Tensor *out;
  TRY(plan_batch(a, b, broadcasts, &batch, status));
  bool ta = state->adjoint[0], tb = state->adjoint[1], is_complex = dtype_is_complex(x->dtype);
  int64_t a_rows = shape_dim(a, a->rank - 2), a_columns = shape_dim(a, a->rank - 1);
  int64_t b_rows = shape_dim(b, b->rank - 2), b_columns = shape_dim(b, b->rank - 1);
  if ((ta ? a_rows : a_columns) != (tb ? b_columns : b_rows)) {
    return status_invalid(status, "Matrix size-incompatible: In[0]: %s, In[1]: %s", shape_text(a, a_text),
                          shape_text(b, b_text));
  }
  GemmArgs *args = &batch.product.args;
  *args = (GemmArgs){.m = ta ? a_columns : a_rows,
                     .n = tb ? b_rows : b_columns,
                     .k = ta ? a_rows : a_columns,
                     .transpose_a = ta,
                     .transpose_b = tb,
                     .a = x->data,
                     .lda = a_columns,
                     .b = y->data,
                     .ldb = b_columns};
  args->ldc = args->n;
  batch.product.conjugate_a = ta && is_complex, batch.product.conjugate_b = tb && is_complex;
  int64_t dims[SHAPE_MAX_RANK + 1];
  memcpy(dims, batch.dims, sizeof batch.dims);
  dims[batch.rank] = args->m, dims[batch.rank + 1] = args->n;
  TRY(kernel_allocate_output_dims(context, 0, batch.rank + 2, dims, &out, status));
  args->c = out->data;
  set_strides(a, batch.rank, batch.strides[0]);
  set_strides(b, batch.rank, batch.strides[1]);
  set_strides(&out->shape, batch.rank, batch.strides[2]);
  return batch_product_run(context, &batch, status);
}

static bool batch_matmul(KernelContext *context, Status *status) {
  return batch_kernel(context, false, status);
}
static bool batch_matmul_v2(KernelContext *context, Status *status) {
  return batch_kernel(context, true, status);
}

/* Products of dy with the other operand; adjoints conjugate as the gradient requires. Broadcast dimensions
 * are summed: they follow from the operands' shapes and those of their gradients. */
static bool batch_gradient(const GradientRequest *request, StrBuf *text, bool broadcasts, Status *status) {
  bool adjoint[2];
  const char *op = broadcasts ? "BatchMatMulV2" : "BatchMatMul";
  TRY(node_attr_bool(request->node, "adj_x", &adjoint[0], status));
  TRY(node_attr_bool(request->node, "adj_y", &adjoint[1], status));
  strbuf_printf(text, "%sGradient[T:type](x:T, y:T, dz:T) -> (dx:T, dy:T) {\n", op);
  for (int side = 0; side < 2; side++) {
    MatrixProductGradient g = matrix_product_gradient(side, adjoint[0], adjoint[1]);
    char name = side == 0 ? 'x' : 'y', other = side == 0 ? 'y' : 'x';
    char factors[16] = {'d', 'z', ',', ' ', other, '\0'};
    if (!g.dy_first)
      factors[0] = other, factors[1] = ',', factors[2] = ' ', factors[3] = 'd', factors[4] = 'z';
    strbuf_printf(text, "  %s%c = %s[T=$T, adj_x=%s, adj_y=%s](%s)\n", broadcasts ? "g" : "d", name, op,
                  g.transpose_first ? "true" : "false", g.transpose_second ? "true" : "false", factors);
    if (!broadcasts) continue;
    strbuf_printf(text,
                  "  shape_%c = Shape[T=$T](%c)\n"
                  "  spread_%c = Shape[T=$T](g%c:output:0)\n"
                  "  axes_%c = BroadcastGradientArgs(spread_%c:output:0, shape_%c:output:0)\n"
                  "  total_%c = Sum[T=$T](g%c:output:0, axes_%c:r1:0)\n"
                  "  d%c = Reshape[T=$T](total_%c:output:0, shape_%c:output:0)\n",
                  name, name, name, name, name, name, name, name, name, name, name, name, name);
  }
  strbuf_append(text, "  return dx = dx:output:0, dy = dy:output:0\n}\n");
  return strbuf_ok(text, status);
}
static bool batch_matmul_gradient(const GradientRequest *request, StrBuf *text, Status *status) {
  return batch_gradient(request, text, false, status);
}
static bool batch_matmul_v2_gradient(const GradientRequest *request, StrBuf *text, Status *status) {
  return batch_gradient(request, text, true, status);
}

#define BATCH_MATMUL(types)                                                                         \
  .inputs = {"x: T", "y: T"}, .outputs = {"output: T"},                                             \
  .attrs = {"T: {" types "}", "adj_x: bool = false", "adj_y: bool = false", "grad_x: bool = false", \
            "grad_y: bool = false"},                                                                \
  .state_size = sizeof(BatchMatMulState), .construct = batch_construct
#define BATCH_KERNELS(kernel) FLOAT_AND_HALF_KERNELS(kernel), INT_KERNELS(kernel), COMPLEX_KERNELS(kernel)

const OpRegistration kOpBatchMatMul = {
    .name = "BatchMatMul",
    BATCH_MATMUL("bfloat16, half, float, double, int32, int64, complex64, complex128"),
    .shape = shape_batch_matmul,
    .gradient_fn = batch_matmul_gradient,
    .kernels = {BATCH_KERNELS(batch_matmul)},
};

const OpRegistration kOpBatchMatMulV2 = {
    .name = "BatchMatMulV2",
    BATCH_MATMUL("bfloat16, half, float, double, int16, int32, int64, uint8, uint16, uint32, uint64, "
                 "complex64, complex128"),
    .shape = shape_batch_matmul_v2,
    .gradient_fn = batch_matmul_v2_gradient,
    .kernels = {BATCH_KERNELS(batch_matmul_v2), {DT_INT16, batch_matmul_v2}},
};
