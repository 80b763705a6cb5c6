/* Transpose, ConjugateTranspose, and the inverse of permutations. */
#include <string.h>

#include "blas/transpose.h"
#include "op/op_registry.h"
#include "ops/support/array_box.h"
#include "ops/support/element_types.h"

/* --- Transpose --- */

static bool out_of_range(int64_t axis, int rank, Status *status) {
  return status_invalid(status, "%lld is out of range [0 .. %d)", (long long)axis, rank);
}

static bool missing(int axis, int rank, const int64_t *perm, Status *status) {
  StrBuf text = {0};
  for (int i = 0; i < rank; i++) strbuf_printf(&text, "%s%lld", i > 0 ? "," : "", (long long)perm[i]);
  if (strbuf_ok(&text, status)) status_invalid(status, "%d is missing from {%s}.", axis, strbuf_text(&text));
  strbuf_free(&text);
  return false;
}

static bool read_permutation(const Tensor *x, const Tensor *tensor, int64_t *perm, Status *status) {
  char text[SHAPE_TEXT_CAPACITY];
  int rank = x->shape.rank;
  if (!tensor_is_vector(tensor)) {
    return status_invalid(status, "perm must be a vector, not %s", shape_text(&tensor->shape, text));
  }
  if (tensor_num_elements(tensor) != rank) {
    return status_invalid(status,
                          "transpose expects a vector of size %d. But input(1) is a vector of size %lld",
                          rank, (long long)tensor_num_elements(tensor));
  }
  TRY(array_read_ints(tensor, perm, status));
  bool seen[SHAPE_MAX_RANK] = {false};
  for (int i = 0; i < rank; i++) {
    if (perm[i] < 0) perm[i] += rank; /* from the end */
    if (perm[i] < 0 || perm[i] >= rank) return out_of_range(perm[i], rank, status);
    seen[perm[i]] = true;
  }
  for (int i = 0; i < rank; i++) {
    if (!seen[i]) return missing(i, rank, perm, status);
  }
  return true;
}

/* The order of elements does not change: only axes of size 1 moved, or there are no elements. */
static bool keeps_order(const ArrayBox *box) {
  return box->empty || box->rank == 0 || (box->rank == 1 && box->from_strides[0] == 1);
}

/* Without `shared` the output never shares the input's memory. */
static bool permute(KernelContext *context, bool shared, Status *status) {
  const Tensor *x = context->inputs[0];
  int rank = x->shape.rank;
  int64_t perm[SHAPE_MAX_RANK], dims[SHAPE_MAX_RANK], from[SHAPE_MAX_RANK], to[SHAPE_MAX_RANK];
  Shape shape = {0};
  bool ok;
  TRY(read_permutation(x, context->inputs[1], perm, status));
  for (int i = 0; i < rank; i++) dims[i] = shape_dim(&x->shape, (int)perm[i]);
  TRY(shape_set(&shape, rank, dims, status));
  array_strides(&x->shape, from);
  array_strides(&shape, to);
  ArrayBox box = {0};
  for (int i = 0; i < rank; i++) array_box_add(&box, dims[i], from[perm[i]], to[i]);
  Tensor *out;
  if (shared && keeps_order(&box)) {
    ok = kernel_set_output(context, 0, x, &shape, status);
  } else {
    ok = kernel_allocate_output(context, 0, &shape, &out, status);
    int32_t axes[SHAPE_MAX_RANK];
    for (int i = 0; i < rank; i++) axes[i] = (int32_t)perm[i];
    bool done = ok && dtype_is_pod(x->dtype) &&
                transpose((int)dtype_size(x->dtype), rank, shape_dims(&x->shape), axes, x->data, out->data,
                          context->parallel);
    if (ok && !done) ok = array_box_copy(&box, x, out, context->parallel, status);
  }
  shape_clear(&shape);
  return ok;
}

static bool transpose_kernel(KernelContext *context, Status *status) {
  return permute(context, true, status);
}

static void conjugate_f32(void *data, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; i++) ((float *)data)[2 * i + 1] = -((float *)data)[2 * i + 1];
}
static void conjugate_f64(void *data, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; i++) ((double *)data)[2 * i + 1] = -((double *)data)[2 * i + 1];
}

static bool conjugate_transpose_kernel(KernelContext *context, Status *status) {
  DataType dtype = context->inputs[0]->dtype;
  if (dtype != DT_COMPLEX64 && dtype != DT_COMPLEX128) return permute(context, true, status);
  TRY(permute(context, false, status));
  Tensor *out = &context->outputs[0];
  parallel_work(context->parallel, tensor_num_elements(out), 1,
                dtype == DT_COMPLEX64 ? conjugate_f32 : conjugate_f64, out->data);
  return true;
}

static bool transpose_shape(InferenceContext *c, Status *status) {
  ShapeHandle input = shape_input(c, 0), output, numbers;
  const Tensor *perm = shape_input_tensor(c, 1);
  DimHandle length;
  TRY(dim_ok(shape_num_elements_of(c, shape_input(c, 1)), &length, status));
  int64_t rank;
  if (shape_rank_known(input)) {
    rank = shape_rank(input);
  } else if (dim_known(length)) {
    rank = dim_value(length);
  } else if (perm) {
    rank = tensor_num_elements(perm);
  } else {
    return shape_unknown_outputs(c, status);
  }
  /* One element permutes a vector, or names an axis that a scalar does not have: both are unchanged. */
  if (!shape_rank_known(input) && rank < 2) {
    shape_set_output(c, 0, input);
    return true;
  }
  TRY(shape_with_rank(c, shape_input(c, 1), 1, &numbers, status));
  TRY(shape_with_rank(c, input, rank, &input, status));
  TRY(dim_with_value(c, length, rank, &length, status));
  DimHandle *dims = arena_alloc(c->arena, (rank + 1) * (int64_t)sizeof *dims);
  if (!dims) return status_oom(status, "shape inference");
  for (int64_t i = 0; i < rank; i++) {
    if (!perm || i >= tensor_num_elements(perm)) {
      TRY(dim_ok(dim_unknown(c), &dims[i], status));
      continue;
    }
    int64_t axis = tensor_int_at(perm, i);
    if (axis < -rank || axis >= rank) {
      return status_invalid(status, "perm dim %lld is out of range of input rank %lld", (long long)axis,
                            (long long)rank);
    }
    TRY(dim_ok(shape_dim_of(c, input, axis), &dims[i], status));
  }
  TRY(shape_ok(shape_of_dims(c, dims, (int32_t)rank), &output, status));
  shape_set_output(c, 0, output);
  return true;
}

/* Negative axes must be made positive before the permutation can be inverted. */
#define TRANSPOSE_GRADIENT(op)                                                                  \
  op "Gradient[T:type, Tperm:{int32, int64}](x:T, perm:Tperm, dy:T) -> (dx:T, dperm:Tperm) {\n" \
     "  rank = Size[T=$Tperm, out_type=$Tperm](perm)\n"                                         \
     "  axes = FloorMod[T=$Tperm](perm, rank:output:0)\n"                                       \
     "  back = InvertPermutation[T=$Tperm](axes:z:0)\n"                                         \
     "  d = " op                                                                                \
     "[T=$T, Tperm=$Tperm](dy, back:y:0)\n"                                                     \
     "  none = ZerosLike[T=$Tperm](perm)\n"                                                     \
     "  return dx = d:y:0, dperm = none:y:0\n"                                                  \
     "}\n"

const OpRegistration kOpTranspose = {
    .name = "Transpose",
    .inputs = {"x: T", "perm: Tperm"},
    .outputs = {"y: T"},
    .attrs = {"T: type", "Tperm: {int32, int64} = DT_INT32"},
    .shape = transpose_shape,
    .gradient = TRANSPOSE_GRADIENT("Transpose"),
    .kernels = {{DT_INVALID, transpose_kernel}},
};

const OpRegistration kOpConjugateTranspose = {
    .name = "ConjugateTranspose",
    .inputs = {"x: T", "perm: Tperm"},
    .outputs = {"y: T"},
    .attrs = {"T: type", "Tperm: {int32, int64} = DT_INT32"},
    .shape = transpose_shape,
    .gradient = TRANSPOSE_GRADIENT("ConjugateTranspose"),
    .kernels = {{DT_INVALID, conjugate_transpose_kernel}},
};

/* --- InvertPermutation --- */

/* Writes the number of each element to the place that the element names. Returns how many have a place of
 * their own, from the first on; all places are -1 before. */
typedef int64_t Invert(const void *x, int64_t count, void *places);

#define TEMPLATE "ops/array/invert_permutation.inc"
#define TYPES TYPES_INT
#include "simd/each_type.inc"

/* Its data is an Invert. */
static bool invert_kernel(KernelContext *context, Status *status) {
  const Tensor *x = context->inputs[0];
  if (!tensor_is_vector(x)) return status_invalid(status, "invert_permutation expects a 1D vector.");
  int64_t count = tensor_num_elements(x);
  if (count > INT32_MAX) {
    return status_invalid(status, "permutation of nonnegative int32s must have <= int32 max elements");
  }
  Tensor *out;
  TRY(kernel_allocate_output(context, 0, &x->shape, &out, status));
  memset(out->data, -1, (size_t)tensor_bytes(out));
  int64_t done = ((Invert *)context->data)(x->data, count, out->data);
  if (done == count) return true;
  int64_t to = tensor_int_at(x, done);
  if (to < 0 || to >= count)
    return status_invalid(status, "%lld is not between 0 and %lld", (long long)to, (long long)count);
  return status_invalid(status, "%lld is duplicated in the input.", (long long)to);
}

static bool invert_shape(InferenceContext *c, Status *status) {
  return shape_unchanged_with_rank(c, shape_input(c, 0), 1, status);
}

const OpRegistration kOpInvertPermutation = {
    .name = "InvertPermutation",
    .inputs = {"x: T"},
    .outputs = {"y: T"},
    .attrs = {"T: {int32, int64} = DT_INT32"},
    .shape = invert_shape,
    .gradient = NO_GRADIENT,
    .kernels = {TYPED_INT_KERNELS(invert_kernel, invert)},
};
