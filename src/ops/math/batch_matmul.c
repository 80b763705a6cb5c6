/* BatchMatMul and BatchMatMulV2: products of the matrices in the last two dimensions. In V2 the other
 * dimensions broadcast. */
#include <stdatomic.h>

#include "base/alloc.h"
#include "base/odometer.h"
#include "op/node_def.h"
#include "op/op_registry.h"
#include "ops/support/element_types.h"
#include "ops/math/batch_product.h"
#include "ops/math/matrix_product.h"

typedef struct BatchMatMulState {
  bool adjoint[2];
} BatchMatMulState;

static bool batch_construct(const KernelConstruction *construction, void *memory, Status *status) {
  BatchMatMulState *state = memory;
  TRY(node_attr_bool(construction->node, "adj_x", &state->adjoint[0], status));
  return node_attr_bool(construction->node, "adj_y", &state->adjoint[1], status);
}

typedef struct BatchJob {
  MatrixProduct product;              /* of the first matrices */
  int rank;                           /* batch dimensions of the output */
  int64_t dims[SHAPE_MAX_RANK + 1];   /* of the output, its matrices at the end */
  int64_t strides[2][SHAPE_MAX_RANK]; /* in matrices; 0 where a side is broadcast */
  int64_t count, workspace;
  const Parallel *parallel; /* for a single product */
  atomic_bool out_of_memory;
} BatchJob;

/* Products [begin, end), with their own workspace. */
static void multiply_range(void *arg, int64_t begin, int64_t end) {
  BatchJob *job = arg;
  const GemmArgs *first = &job->product.args;
  int64_t size = (int64_t)dtype_size(job->product.type);
  void *workspace = NULL;
  if (job->workspace > 0 && !(workspace = mem_alloc(job->workspace))) {
    atomic_store(&job->out_of_memory, true);
    return;
  }
  int64_t index[SHAPE_MAX_RANK];
  Odometer o = {.rank = job->rank,
                .dims = job->dims,
                .strides = {job->strides[0], job->strides[1]},
                .index = index};
  odometer_seek(&o, 2, begin);
  for (int64_t i = begin; i < end; i++, odometer_advance(&o, 2, 1)) {
    MatrixProduct product = job->product;
    product.args.a = (const char *)first->a + o.at[0] * first->m * first->k * size;
    product.args.b = (const char *)first->b + o.at[1] * first->k * first->n * size;
    product.args.c = (char *)first->c + i * first->m * first->n * size;
    matrix_product_run(&product, job->parallel, workspace);
  }
  mem_free(workspace);
}

/* The batch sizes of the output and the strides of the operands. */
static bool plan_batch(const Shape *x, const Shape *y, bool broadcasts, BatchJob *job, Status *status) {
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
  job->rank = (x->rank > y->rank ? x->rank : y->rank) - 2;
  int64_t matrices[2] = {1, 1};
  job->count = 1;
  bool empty = false;
  for (int k = 0; k < job->rank; k++) {
    int64_t sizes[2];
    for (int i = 0; i < 2; i++) {
      int at = k - (job->rank + 2 - shapes[i]->rank);
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
    job->dims[k] = sizes[0] == 1 ? sizes[1] : sizes[0];
    empty = empty || job->dims[k] == 0;
  }
  if (empty) job->count = 0;
  for (int k = job->rank - 1; k >= 0 && !empty; k--) {
    for (int i = 0; i < 2; i++) {
      int at = k - (job->rank + 2 - shapes[i]->rank);
      int64_t size = at < 0 ? 1 : shape_dim(shapes[i], at);
      job->strides[i][k] = size == 1 ? 0 : matrices[i];
      /* For operands with elements, the number of matrices fits int64; others are not used. */
      if (__builtin_mul_overflow(matrices[i], size, &matrices[i])) matrices[i] = 0;
    }
    if (__builtin_mul_overflow(job->count, job->dims[k], &job->count)) job->count = 0;
  }
  return true;
}

bool batch_product(KernelContext *context, const BatchFactor factors[2], bool broadcasts, Tensor *out,
                   Status *status) {
  const Tensor *x = factors[0].matrices, *y = factors[1].matrices;
  const Shape *a = &x->shape, *b = &y->shape;
  char a_text[SHAPE_TEXT_CAPACITY], b_text[SHAPE_TEXT_CAPACITY];
  BatchJob job = {.product = {.type = x->dtype}};
  TRY(plan_batch(a, b, broadcasts, &job, status));
  bool ta = factors[0].transpose, tb = factors[1].transpose;
  int64_t a_rows = shape_dim(a, a->rank - 2), a_columns = shape_dim(a, a->rank - 1);
  int64_t b_rows = shape_dim(b, b->rank - 2), b_columns = shape_dim(b, b->rank - 1);
  if ((ta ? a_rows : a_columns) != (tb ? b_columns : b_rows)) {
    return status_invalid(status, "Matrix size-incompatible: In[0]: %s, In[1]: %s", shape_text(a, a_text),
                          shape_text(b, b_text));
  }
  GemmArgs *args = &job.product.args;
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
  job.product.conjugate_a = factors[0].conjugate, job.product.conjugate_b = factors[1].conjugate;
  job.dims[job.rank] = args->m, job.dims[job.rank + 1] = args->n;
  TRY(tensor_allocate_dims(out, x->dtype, job.rank + 2, job.dims, context->pool, status));
  if (tensor_num_elements(out) == 0) return true;
  args->c = out->data;
  bool b_is_one = true;
  for (int k = 0; k < job.rank; k++) b_is_one = b_is_one && job.strides[1][k] == 0;
  if (b_is_one && !ta && tensor_num_elements(x) > 0 &&
      tensor_num_elements(x) / args->k == job.count * args->m) {
    /* If one matrix serves for all, the other operand's rows form a single matrix. */
    args->m *= job.count;
    job.count = 1;
  }
  if ((job.workspace = matrix_product_workspace(&job.product)) < 0)
    return status_oom(status, "a product of matrices");
  double work = (double)args->m * (double)args->n * (double)args->k + 1;
  if (work > 1e6 || job.count < parallel_threads(context->parallel)) {
    job.parallel = context->parallel;
    multiply_range(&job, 0, job.count);
  } else {
    parallel_work(context->parallel, job.count, work, multiply_range, &job);
  }
  return atomic_load(&job.out_of_memory) ? status_oom(status, "a product of matrices") : true;
}

static bool batch_kernel(KernelContext *context, bool broadcasts, Status *status) {
  const BatchMatMulState *state = context->state;
  bool is_complex = dtype_is_complex(context->inputs[0]->dtype);
  BatchFactor factors[2];
  for (int i = 0; i < 2; i++) {
    bool adjoint = state->adjoint[i];
    factors[i] = (BatchFactor){context->inputs[i], adjoint, adjoint && is_complex};
  }
  return batch_product(context, factors, broadcasts, &context->outputs[0], status);
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
