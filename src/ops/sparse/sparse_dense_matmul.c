/* SparseTensorDenseMatMul: a sparse matrix times a dense one. */
#include "base/alloc.h"
#include "op/node_def.h"
#include "op/op_registry.h"
#include "ops/support/element_types.h"
#include "ops/support/half_precision.h"
#include "ops/sparse/sparse_tensor.h"

typedef struct MatMulState {
  bool adjoint_a, adjoint_b;
} MatMulState;

static bool read_adjoints(const NodeDef *node, MatMulState *state, Status *status) {
  return node_attr_bool(node, "adjoint_a", &state->adjoint_a, status) &&
         node_attr_bool(node, "adjoint_b", &state->adjoint_b, status);
}

static bool matmul_construct(const KernelConstruction *construction, void *memory, Status *status) {
  return read_adjoints(construction->node, memory, status);
}

/* Entry i adds values[i] times row at_b[i] of b to row at_out[i] of the product. */
typedef struct SparseProduct {
  const int64_t *at_out, *at_b;
  int64_t count, rows, columns; /* entries; the sizes of the product */
  const void *values, *b;
  bool conjugate_a;
  void *sums, *out;
} SparseProduct;

typedef struct ProductLoops {
  ParallelBody *multiply;
  void (*transpose)(const void *from, int64_t rows, int64_t columns, void *to);
  int64_t sum_bytes; /* of one sum */
} ProductLoops;

#define CONJUGATE(x) ((C)conj(x))
#define TEMPLATE "ops/sparse/sparse_dense_matmul.inc"
#define TYPES (TYPES_FLOAT | TYPES_HALF | TYPES_COMPLEX)
#include "simd/each_type.inc"

#include "simd/simd.h"
#include "simd/types/i32.inc"
#include "ops/sparse/sparse_dense_matmul.inc"
#include "simd/types/end.inc"

/* --- checks --- */

static bool check_ranks(KernelContext *context, Status *status) {
  const Tensor *indices = context->inputs[0], *values = context->inputs[1], *sizes = context->inputs[2];
  if (context->inputs[3]->shape.rank != 2) return status_invalid(status, "Tensor 'b' is not a matrix");
  if (sizes->shape.rank != 1) return status_invalid(status, "Tensor 'a_shape' is not a vector");
  if (tensor_num_elements(sizes) != 2) return status_invalid(status, "Tensor 'a_shape' must have 2 elements");
  if (values->shape.rank != 1) return status_invalid(status, "Tensor 'a_values' is not a vector");
  if (indices->shape.rank != 2) return status_invalid(status, "Tensor 'a_indices' is not a matrix");
  if (shape_dim(&indices->shape, 0) != tensor_num_elements(values))
    return status_invalid(status, "Number of rows of a_indices does not match number of entries in a_values");
  return shape_dim(&indices->shape, 1) == 2 ||
         status_invalid(status, "Number of columns of a_indices does not match number of entries in a_shape");
}

static bool check_inner(const int64_t *sizes, const Tensor *b, const MatMulState *state, Status *status) {
  char text[SHAPE_TEXT_CAPACITY];
  int64_t left = sizes[state->adjoint_a ? 0 : 1], right = shape_dim(&b->shape, state->adjoint_b ? 1 : 0);
  return left == right ||
         status_invalid(status,
                        "Cannot multiply A and B because inner dimension does not match: %lld vs. %lld.  Did "
                        "you "
                        "forget a transpose?  Dimensions of A: [%lld, %lld).  Dimensions of B: %s",
                        (long long)left, (long long)right, (long long)sizes[0], (long long)sizes[1],
                        shape_text(&b->shape, text));
}

/* Reads the rows of the product and of b for each entry. */
static bool read_rows(const Tensor *indices, bool adjoint_a, int64_t rows, int64_t inner, int64_t *at_out,
                      int64_t *at_b, Status *status) {
  int left = adjoint_a ? 1 : 0;
  for (int64_t i = 0; i < shape_dim(&indices->shape, 0); i++) {
    at_out[i] = tensor_int_at(indices, 2 * i + left);
    at_b[i] = tensor_int_at(indices, 2 * i + 1 - left);
    if (at_b[i] < 0 || at_b[i] >= inner)
      return status_invalid(status, "k (%lld) from index[%lld,%d] out of bounds (>=%lld)", (long long)at_b[i],
                            (long long)i, 1 - left, (long long)inner);
    if (at_out[i] < 0 || at_out[i] >= rows)
      return status_invalid(status, "m (%lld) from index[%lld,%d] out of bounds (>=%lld)",
                            (long long)at_out[i], (long long)i, left, (long long)rows);
  }
  return true;
}

/* --- kernel; its data is a ProductLoops --- */

/* Scratch memory: the rows of the entries, the transposed b, and sums of halves. */
typedef struct ProductMemory {
  Buffer *rows, *b, *sums;
} ProductMemory;

static bool multiply(KernelContext *context, SparseProduct *p, Tensor *out, ProductMemory *memory,
                     Status *status) {
  const MatMulState *state = context->state;
  const ProductLoops *loops = context->data;
  const Tensor *indices = context->inputs[0], *b = context->inputs[3];
  int64_t inner = shape_dim(&b->shape, state->adjoint_b ? 1 : 0), size = (int64_t)dtype_size(b->dtype);
  memory->rows = kernel_scratch(context, p->count * 2 * (int64_t)sizeof(int64_t) + 1, status);
  if (!memory->rows) return false;
  int64_t *at_out = memory->rows->data, *at_b = at_out + p->count;
  TRY(read_rows(indices, state->adjoint_a, p->rows, inner, at_out, at_b, status));
  p->at_out = at_out;
  p->at_b = at_b;
  p->b = b->data;
  p->sums = p->out = out->data;
  if (state->adjoint_b) {
    memory->b = kernel_scratch(context, tensor_num_elements(b) * size + 1, status);
    if (!memory->b) return false;
    loops->transpose(b->data, p->columns, inner, memory->b->data);
    p->b = memory->b->data;
  }
  if (loops->sum_bytes != size) {
    memory->sums = kernel_scratch(context, tensor_num_elements(out) * loops->sum_bytes + 1, status);
    if (!memory->sums) return false;
    p->sums = memory->sums->data;
  }
  parallel_work(context->parallel, p->columns, (double)(p->count + p->rows), loops->multiply, p);
  return true;
}

static bool sparse_matmul(KernelContext *context, Status *status) {
  const MatMulState *state = context->state;
  const Tensor *values = context->inputs[1], *b = context->inputs[3];
  TRY(check_ranks(context, status));
  const int64_t *sizes = tensor_i64(context->inputs[2]);
  TRY(check_inner(sizes, b, state, status));
  SparseProduct p = {.count = tensor_num_elements(values),
                     .rows = sizes[state->adjoint_a ? 1 : 0],
                     .columns = shape_dim(&b->shape, state->adjoint_b ? 0 : 1),
                     .values = values->data,
                     .conjugate_a = state->adjoint_a};
  Tensor *out;
  ProductMemory memory = {0};
  TRY(kernel_allocate_output_dims(context, 0, 2, (int64_t[]){p.rows, p.columns}, &out, status));
  bool ok = tensor_num_elements(out) == 0 || multiply(context, &p, out, &memory, status);
  buffer_unref(memory.rows);
  buffer_unref(memory.b);
  buffer_unref(memory.sums);
  return ok;
}

static bool matmul_shape(InferenceContext *c, Status *status) {
  ShapeHandle any, a, b, out;
  DimHandle inner;
  MatMulState state;
  TRY(read_adjoints(c->node, &state, status));
  TRY(shape_with_rank(c, shape_input(c, 0), 2, &any, status));
  TRY(shape_with_rank(c, shape_input(c, 1), 1, &any, status));
  TRY(shape_from_input_tensor(c, 2, &a, status));
  TRY(shape_with_rank(c, a, 2, &a, status));
  TRY(shape_with_rank(c, shape_input(c, 3), 2, &b, status));
  TRY(dim_merge(c, shape_dim_of(c, a, state.adjoint_a ? 0 : 1), shape_dim_of(c, b, state.adjoint_b ? 1 : 0),
                &inner, status));
  TRY(shape_ok(shape_matrix(c, shape_dim_of(c, a, state.adjoint_a ? 1 : 0),
                            shape_dim_of(c, b, state.adjoint_b ? 0 : 1)),
               &out, status));
  shape_set_output(c, 0, out);
  return true;
}

/* --- gradient --- */

static void append_conjugate(bool is_complex, const char *from, const char *to, StrBuf *text) {
  strbuf_printf(text, "  %s = %s[T=$T](%s)\n", to, is_complex ? "Conj" : "Identity", from);
}

/* The gradient of an entry in row r and column c of A is the product of rows r of dy and c of B (of their
 * conjugates, as the adjoints have it), or with A's adjoint of rows c and r. */
static bool matmul_gradient(const GradientRequest *request, StrBuf *text, Status *status) {
  MatMulState state;
  DataType type;
  TRY(read_adjoints(request->node, &state, status));
  TRY(node_attr_type(request->node, "T", &type, status));
  bool is_complex = dtype_is_complex((int)type), a = state.adjoint_a, b = state.adjoint_b;
  strbuf_printf(text,
                "SparseTensorDenseMatMulGradient[T:type, Tindices:type](i:Tindices, v:T, s:int64, b:T, dy:T) "
                "-> "
                "(di:Tindices, dv:T, ds:int64, db:T) {\n"
                "  back = SparseTensorDenseMatMul[T=$T, Tindices=$Tindices, adjoint_a=%s](i, v, s, dy)\n"
                "  swap = Const[dtype=int32, value=[1, 0]]()\n"
                "  axis = Const[dtype=int32, value=1]()\n"
                "  columns = Unpack[T=$Tindices, num=2, axis=1](i)\n"
                "  left = Gather[Tparams=$T, Tindices=$Tindices](dy, columns:output:%d)\n",
                a ? "false" : "true", a ? 1 : 0);
  if (b) strbuf_append(text, "  bt = Transpose[T=$T, Tperm=int32](b, swap:output:0)\n");
  strbuf_printf(text, "  right = Gather[Tparams=$T, Tindices=$Tindices](%s, columns:output:%d)\n",
                b ? "bt:y:0" : "b", a ? 0 : 1);
  append_conjugate(is_complex && a, "left:output:0", "x", text);
  append_conjugate(is_complex && a == b, "right:output:0", "y", text);
  strbuf_append(text,
                "  product = Mul[T=$T](x:output:0, y:output:0)\n"
                "  dv = Sum[T=$T, Tidx=int32](product:z:0, axis:output:0)\n");
  if (b) strbuf_append(text, "  turned = Transpose[T=$T, Tperm=int32](back:product:0, swap:output:0)\n");
  append_conjugate(is_complex && b, b ? "turned:y:0" : "back:product:0", "db", text);
  strbuf_append(text,
                "  di = ZerosLike[T=$Tindices](i)\n"
                "  ds = ZerosLike[T=int64](s)\n"
                "  return di = di:y:0, dv = dv:output:0, ds = ds:y:0, db = db:output:0\n"
                "}\n");
  return strbuf_ok(text, status);
}

const OpRegistration kOpSparseTensorDenseMatMul = {
    .name = "SparseTensorDenseMatMul",
    .inputs = {"a_indices: Tindices", "a_values: T", "a_shape: int64", "b: T"},
    .outputs = {"product: T"},
    .attrs = {"T: type", "Tindices: {int32, int64} = DT_INT64", "adjoint_a: bool = false",
              "adjoint_b: bool = false"},
    .shape = matmul_shape,
    .gradient_fn = matmul_gradient,
    .state_size = sizeof(MatMulState),
    .construct = matmul_construct,
    .kernels = {TYPED_FLOAT_AND_HALF_KERNELS(sparse_matmul, &product),
                TYPED_COMPLEX_KERNELS(sparse_matmul, &product),
                {DT_INT32, sparse_matmul, &product_i32}},
};
