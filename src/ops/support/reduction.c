/* Reductions of every number type with those of blas/reduce.h. Types without their own go through a wider
 * type, complex numbers through their parts. */
#include "ops/support/reduction.h"

#include "base/odometer.h"
#include "ops/support/element_types.h"
#include "ops/support/half_precision.h"
#include "ops/support/typed_loops.h"

typedef struct Reduction {
  ReduceKind kind;
  int rank;
  const int64_t *dims;
  const bool *reduced;
  const Parallel *parallel;
  void *workspace;
} Reduction;

typedef void Reduce(const Reduction *r, const void *x, void *y);
#define REDUCE(name)                                                              \
  static void each_##name(const Reduction *r, const void *x, void *y) {           \
    name(r->kind, r->rank, r->dims, r->reduced, x, y, r->parallel, r->workspace); \
  }
REDUCE(reduce_f32)
REDUCE(reduce_f64)
REDUCE(reduce_i32)
REDUCE(reduce_i64)
static const KernelEntry kTypedReductions[] = {TYPED_FLOAT_KERNELS(NULL, each_reduce),
                                               TYPED_INT_KERNELS(NULL, each_reduce)};

static void reduce_as(const Reduction *r, DataType type, const void *x, void *y) {
  ((Reduce *)TYPED_LOOPS(kTypedReductions, type))(r, x, y);
}

/* The type that computes the reduction. */
static DataType wide_type(DataType type) {
  switch (type) {
    case DT_FLOAT:
    case DT_DOUBLE:
    case DT_INT32:
    case DT_INT64: return type;
    case DT_HALF:
    case DT_BFLOAT16: return DT_FLOAT;
    default: return DT_INT64;
  }
}

/* Conversions for types without their own reduction. Upper bits of integers are dropped, which equals
 * wrapping around. For uint64 the order is preserved by an offset: the lower half of its range becomes
 * negative. */
static void widen(const Tensor *tensor, void *wide) {
  int64_t n = tensor_num_elements(tensor);
  int64_t *w = wide;
  switch (tensor->dtype) {
    case DT_HALF:
    case DT_BFLOAT16: half_precision_widen(tensor->dtype, tensor->data, wide, n); break;
    case DT_UINT8:
    case DT_BOOL:
      for (int64_t i = 0; i < n; i++) w[i] = ((uint8_t *)tensor->data)[i];
      break;
    case DT_INT8:
      for (int64_t i = 0; i < n; i++) w[i] = ((int8_t *)tensor->data)[i];
      break;
    case DT_INT16:
      for (int64_t i = 0; i < n; i++) w[i] = ((int16_t *)tensor->data)[i];
      break;
    case DT_UINT16:
      for (int64_t i = 0; i < n; i++) w[i] = ((uint16_t *)tensor->data)[i];
      break;
    case DT_UINT64:
      for (int64_t i = 0; i < n; i++) w[i] = ((int64_t *)tensor->data)[i] ^ INT64_MIN;
      break;
    default:
      for (int64_t i = 0; i < n; i++) w[i] = ((uint32_t *)tensor->data)[i];
      break;
  }
}
static void narrow(const void *wide, const Tensor *tensor) {
  int64_t n = tensor_num_elements(tensor);
  const int64_t *w = wide;
  switch (tensor->dtype) {
    case DT_HALF:
    case DT_BFLOAT16: half_precision_narrow(tensor->dtype, wide, tensor->data, n); break;
    case DT_UINT8:
    case DT_INT8:
    case DT_BOOL:
      for (int64_t i = 0; i < n; i++) ((uint8_t *)tensor->data)[i] = (uint8_t)w[i];
      break;
    case DT_UINT16:
    case DT_INT16:
      for (int64_t i = 0; i < n; i++) ((uint16_t *)tensor->data)[i] = (uint16_t)w[i];
      break;
    case DT_UINT64:
      for (int64_t i = 0; i < n; i++) ((int64_t *)tensor->data)[i] = w[i] ^ INT64_MIN;
      break;
    default:
      for (int64_t i = 0; i < n; i++) ((uint32_t *)tensor->data)[i] = (uint32_t)w[i];
      break;
  }
}

/* Over no elements, the wide type's maximum or minimum would not survive narrowing. */
static void fill_extreme(ReduceKind kind, const Tensor *out) {
  bool highest = kind == REDUCE_MIN;
  for (int64_t i = 0; i < tensor_num_elements(out); i++) {
    switch (out->dtype) {
      case DT_UINT8: ((uint8_t *)out->data)[i] = highest ? UINT8_MAX : 0; break;
      case DT_BOOL: ((bool *)out->data)[i] = highest; break;
      case DT_INT8: ((int8_t *)out->data)[i] = highest ? INT8_MAX : INT8_MIN; break;
      case DT_INT16: ((int16_t *)out->data)[i] = highest ? INT16_MAX : INT16_MIN; break;
      case DT_UINT16: ((uint16_t *)out->data)[i] = highest ? UINT16_MAX : 0; break;
      case DT_UINT64: ((uint64_t *)out->data)[i] = highest ? UINT64_MAX : 0; break;
      default: ((uint32_t *)out->data)[i] = highest ? UINT32_MAX : 0; break;
    }
  }
}

static bool reduce_through_wide(KernelContext *context, Reduction *reduction, const Tensor *input,
                                Tensor *out, Status *status) {
  DataType wide = wide_type(input->dtype);
  if (wide == DT_INT64 && tensor_num_elements(input) == 0 &&
      (reduction->kind == REDUCE_MAX || reduction->kind == REDUCE_MIN)) {
    fill_extreme(reduction->kind, out);
    return true;
  }
  int64_t size = (int64_t)dtype_size(wide), inputs = tensor_num_elements(input),
          outputs = tensor_num_elements(out);
  if (inputs > (INT64_MAX - 64) / size - outputs) return status_oom(status, "a reduction");
  Buffer *buffer = kernel_scratch(context, (inputs + outputs + 1) * size, status);
  if (!buffer) return false;
  char *result = (char *)buffer->data + inputs * size;
  widen(input, buffer->data);
  reduce_as(reduction, wide, buffer->data, result);
  narrow(result, out);
  buffer_unref(buffer);
  return true;
}

/* Sums of complex numbers are sums of their parts, which form an additional dimension. */
static bool reduce_parts(KernelContext *context, ReduceKind kind, const Tensor *input, int rank,
                         const int64_t *dims, const bool *reduced, Tensor *out, Status *status) {
  int64_t part_dims[SHAPE_MAX_RANK + 1];
  bool part_reduced[SHAPE_MAX_RANK + 1];
  for (int i = 0; i < rank; i++) part_dims[i] = dims[i], part_reduced[i] = reduced[i];
  part_dims[rank] = 2;
  part_reduced[rank] = false;
  DataType type = input->dtype == DT_COMPLEX64 ? DT_FLOAT : DT_DOUBLE;
  Reduction reduction = {kind, rank + 1, part_dims, part_reduced, context->parallel, NULL};
  Buffer *workspace = NULL;
  int64_t size = reduce_workspace(rank + 1, part_dims, part_reduced, dtype_size(type));
  if (size > 0) {
    if (!(workspace = kernel_scratch(context, size, status))) return false;
    reduction.workspace = workspace->data;
  }
  reduce_as(&reduction, type, input->data, out->data);
  buffer_unref(workspace);
  return true;
}

/* Products of complex numbers, factor by factor. */
static void multiply_complex(const Tensor *input, int rank, const int64_t *dims, const bool *reduced,
                             const Tensor *out) {
  int64_t n = tensor_num_elements(out), index[SHAPE_MAX_RANK], stride[SHAPE_MAX_RANK];
  float _Complex *y64 = out->data;
  double _Complex *y128 = out->data;
  bool single = input->dtype == DT_COMPLEX64;
  for (int64_t i = 0; i < n; i++) {
    if (single) y64[i] = 1;
    else y128[i] = 1;
  }
  int64_t size = 1;
  for (int k = rank - 1; k >= 0; k--) {
    stride[k] = reduced[k] ? 0 : size;
    if (!reduced[k]) size *= dims[k];
  }
  int64_t elements = tensor_num_elements(input);
  if (elements == 0) return;
  Odometer o = {.rank = rank, .dims = dims, .strides = {stride}, .index = index};
  odometer_seek(&o, 1, 0);
  for (int64_t i = 0; i < elements; i++, odometer_advance(&o, 1, 1)) {
    if (single) y64[o.at[0]] *= ((const float _Complex *)input->data)[i];
    else y128[o.at[0]] *= ((const double _Complex *)input->data)[i];
  }
}

bool reduction_run(KernelContext *context, ReduceKind kind, const Tensor *input, int rank,
                   const int64_t *dims, const bool *reduced, Tensor *out, Status *status) {
  if (tensor_num_elements(out) == 0) return true;
  if (dtype_is_complex(input->dtype) && kind == REDUCE_PROD) {
    multiply_complex(input, rank, dims, reduced, out);
    return true;
  }
  if (dtype_is_complex(input->dtype))
    return reduce_parts(context, kind, input, rank, dims, reduced, out, status);
  Reduction reduction = {kind, rank, dims, reduced, context->parallel, NULL};
  Buffer *workspace = NULL;
  int64_t size = reduce_workspace(rank, dims, reduced, dtype_size(wide_type(input->dtype)));
  if (size > 0) {
    if (!(workspace = kernel_scratch(context, size, status))) return false;
    reduction.workspace = workspace->data;
  }
  bool ok = true, unsigned_sum = input->dtype == DT_UINT64 && kind != REDUCE_MAX && kind != REDUCE_MIN;
  if (unsigned_sum) {
    /* Sums and products have the same bits for signed and unsigned types; quotients do not. */
    uint64_t count = (uint64_t)(tensor_num_elements(input) / tensor_num_elements(out));
    reduction.kind = kind == REDUCE_MEAN ? REDUCE_SUM : kind;
    reduce_as(&reduction, DT_INT64, input->data, out->data);
    for (int64_t i = 0; kind == REDUCE_MEAN && count > 0 && i < tensor_num_elements(out); i++)
      ((uint64_t *)out->data)[i] /= count;
  } else if (wide_type(input->dtype) == input->dtype) {
    reduce_as(&reduction, input->dtype, input->data, out->data);
  } else {
    ok = reduce_through_wide(context, &reduction, input, out, status);
  }
  buffer_unref(workspace);
  return ok;
}
