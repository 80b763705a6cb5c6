/* Reductions of every number type with those of blas/reduce.h. Types without their own go through a wider
 * type, complex numbers through their parts. */
#include "ops/support/reduction.h"

#include <string.h>

#include "base/odometer.h"
#include "ops/support/element_types.h"
#include "ops/support/typed_loops.h"

typedef struct Reduction {
  ReduceKind kind;
  int rank;
  const int64_t *dims;
  const bool *reduced;
} Reduction;

/* --- elements with their own reduction --- */

typedef void Reduce(const Reduction *r, const void *x, void *y, const Parallel *parallel, void *workspace);
#define REDUCE(name)                                                                            \
  static void each_##name(const Reduction *r, const void *x, void *y, const Parallel *parallel, \
                          void *workspace) {                                                    \
    name(r->kind, r->rank, r->dims, r->reduced, x, y, parallel, workspace);                     \
  }
REDUCE(reduce_f32)
REDUCE(reduce_f64)
REDUCE(reduce_i32)
REDUCE(reduce_i64)
static const KernelEntry kTypedReductions[] = {TYPED_FLOAT_KERNELS(NULL, each_reduce),
                                               TYPED_INT_KERNELS(NULL, each_reduce)};

static bool reduce_elements(KernelContext *context, const Reduction *r, DataType type, const void *x, void *y,
                            Status *status) {
  Reduce *reduce = (Reduce *)TYPED_LOOPS(kTypedReductions, type);
  Buffer *workspace = NULL;
  int64_t size = reduce_workspace(r->rank, r->dims, r->reduced, dtype_size(type));
  if (size > 0) TRY((workspace = kernel_scratch(context, size, status)));
  reduce(r, x, y, context->parallel, workspace ? workspace->data : NULL);
  buffer_unref(workspace);
  return true;
}

/* --- tensors, by their type --- */

typedef bool ReduceTensor(KernelContext *context, const Reduction *r, const Tensor *input, Tensor *out,
                          Status *status);

static bool reduce_own(KernelContext *context, const Reduction *r, const Tensor *input, Tensor *out,
                       Status *status) {
  return reduce_elements(context, r, input->dtype, input->data, out->data, status);
}

typedef struct Widening {
  DataType type; /* that computes the reduction */
  void (*widen)(const void *from, void *to, int64_t n);
  void (*narrow)(const void *from, void *to, int64_t n);
  void (*fill)(void *to, int64_t n, bool highest); /* of integers */
} Widening;

#define TEMPLATE "ops/support/reduction_wide.inc"
#define TYPES (TYPES_HALF | TYPES_SMALL | TYPES_UNSIGNED)
#include "simd/each_type.inc"

static const KernelEntry kTypedWidenings[] = {
    {DT_HALF, NULL, &kWidening_f16},   {DT_BFLOAT16, NULL, &kWidening_bf16},
    {DT_UINT8, NULL, &kWidening_u8},   {DT_INT8, NULL, &kWidening_i8},
    {DT_INT16, NULL, &kWidening_i16},  {DT_UINT16, NULL, &kWidening_u16},
    {DT_UINT32, NULL, &kWidening_u32}, {DT_UINT64, NULL, &kWidening_u64},
};

static bool reduce_widened(KernelContext *context, const Reduction *r, const Tensor *input, Tensor *out,
                           Status *status) {
  const Widening *wide = TYPED_LOOPS(kTypedWidenings, input->dtype);
  int64_t size = (int64_t)dtype_size(wide->type), inputs = tensor_num_elements(input),
          outputs = tensor_num_elements(out);
  if (inputs == 0 && wide->fill && (r->kind == REDUCE_MAX || r->kind == REDUCE_MIN)) {
    wide->fill(out->data, outputs, r->kind == REDUCE_MIN); /* the wide type's would not survive narrowing */
    return true;
  }
  if (inputs > (INT64_MAX - 64) / size - outputs) return status_oom(status, "a reduction");
  Buffer *buffer = kernel_scratch(context, (inputs + outputs + 1) * size, status);
  if (!buffer) return false;
  char *result = (char *)buffer->data + inputs * size;
  wide->widen(input->data, buffer->data, inputs);
  bool ok = reduce_elements(context, r, wide->type, buffer->data, result, status);
  if (ok) wide->narrow(result, out->data, outputs);
  buffer_unref(buffer);
  return ok;
}

/* Sums and products have the same bits for signed and unsigned types; quotients do not. */
static bool reduce_unsigned(KernelContext *context, const Reduction *r, const Tensor *input, Tensor *out,
                            Status *status) {
  if (r->kind == REDUCE_MAX || r->kind == REDUCE_MIN) return reduce_widened(context, r, input, out, status);
  uint64_t count = (uint64_t)(tensor_num_elements(input) / tensor_num_elements(out));
  Reduction sums = *r;
  if (r->kind == REDUCE_MEAN) sums.kind = REDUCE_SUM;
  TRY(reduce_elements(context, &sums, DT_INT64, input->data, out->data, status));
  for (int64_t i = 0; r->kind == REDUCE_MEAN && count > 0 && i < tensor_num_elements(out); i++)
    ((uint64_t *)out->data)[i] /= count;
  return true;
}

/* The place in the result of each index; 0 for axes that are reduced. */
static void result_strides(const Reduction *r, int64_t stride[SHAPE_MAX_RANK]) {
  int64_t size = 1;
  for (int k = r->rank - 1; k >= 0; k--) {
    stride[k] = r->reduced[k] ? 0 : size;
    if (!r->reduced[k]) size *= r->dims[k];
  }
}

/* Products of complex numbers, factor by factor. */
static void multiply_complex(const Reduction *r, const Tensor *input, const Tensor *out) {
  int64_t n = tensor_num_elements(out), index[SHAPE_MAX_RANK], stride[SHAPE_MAX_RANK];
  float _Complex *y64 = out->data;
  double _Complex *y128 = out->data;
  bool single = input->dtype == DT_COMPLEX64;
  for (int64_t i = 0; i < n; i++) {
    if (single) y64[i] = 1;
    else y128[i] = 1;
  }
  result_strides(r, stride);
  int64_t elements = tensor_num_elements(input);
  if (elements == 0) return;
  Odometer o = {.rank = r->rank, .dims = r->dims, .strides = {stride}, .index = index};
  odometer_seek(&o, 1, 0);
  for (int64_t i = 0; i < elements; i++, odometer_advance(&o, 1, 1)) {
    if (single) y64[o.at[0]] *= ((const float _Complex *)input->data)[i];
    else y128[o.at[0]] *= ((const double _Complex *)input->data)[i];
  }
}

/* Sums of complex numbers are sums of their parts, which form an additional dimension. */
static bool reduce_complex(KernelContext *context, const Reduction *r, const Tensor *input, Tensor *out,
                           Status *status) {
  if (r->kind == REDUCE_PROD) {
    multiply_complex(r, input, out);
    return true;
  }
  int64_t dims[SHAPE_MAX_RANK + 1];
  bool reduced[SHAPE_MAX_RANK + 1];
  for (int i = 0; i < r->rank; i++) dims[i] = r->dims[i], reduced[i] = r->reduced[i];
  dims[r->rank] = 2;
  reduced[r->rank] = false;
  const Reduction parts = {r->kind, r->rank + 1, dims, reduced};
  DataType type = input->dtype == DT_COMPLEX64 ? DT_FLOAT : DT_DOUBLE;
  return reduce_elements(context, &parts, type, input->data, out->data, status);
}

/* The largest or the smallest of bools, by rows of the last axes that are all reduced or all not. All are
 * true if none is false: for the smallest, values and results are flipped. */
static bool reduce_bools(KernelContext *context, const Reduction *r, const Tensor *input, Tensor *out,
                         Status *status) {
  (void)context, (void)status;
  int64_t index[SHAPE_MAX_RANK], stride[SHAPE_MAX_RANK], length = 1, elements = tensor_num_elements(input),
                                                         results = tensor_num_elements(out);
  const uint8_t *x = input->data, flip = r->kind == REDUCE_MIN;
  uint8_t *y = out->data;
  int outer = r->rank;
  bool inner = false;
  for (; outer > 0 && (length == 1 || r->reduced[outer - 1] == inner); outer--) {
    if (length == 1) inner = r->reduced[outer - 1];
    length *= r->dims[outer - 1];
  }
  memset(y, 0, (size_t)results);
  result_strides(r, stride);
  Odometer o = {.rank = outer, .dims = r->dims, .strides = {stride}, .index = index};
  if (elements > 0) odometer_seek(&o, 1, 0);
  for (int64_t row = 0; row < elements; row += length, x += length, odometer_advance(&o, 1, 1)) {
    uint8_t *to = y + o.at[0], any = 0;
    for (int64_t i = 0; inner && i < length; i++) any |= x[i] ^ flip;
    for (int64_t i = 0; !inner && i < length; i++) to[i] |= x[i] ^ flip;
    if (inner) *to |= any;
  }
  for (int64_t i = 0; i < results; i++) y[i] ^= flip;
  return true;
}

static const KernelEntry kTypedTensors[] = {
    FLOAT_KERNELS(NULL, reduce_own),       INT_KERNELS(NULL, reduce_own),
    HALF_KERNELS(NULL, reduce_widened),    SMALL_KERNELS(NULL, reduce_widened),
    {DT_UINT32, NULL, reduce_widened},     {DT_UINT64, NULL, reduce_unsigned},
    COMPLEX_KERNELS(NULL, reduce_complex), {DT_BOOL, NULL, reduce_bools},
};

bool reduction_run(KernelContext *context, ReduceKind kind, const Tensor *input, int rank,
                   const int64_t *dims, const bool *reduced, Tensor *out, Status *status) {
  if (tensor_num_elements(out) == 0) return true;
  const Reduction r = {kind, rank, dims, reduced};
  return ((ReduceTensor *)TYPED_LOOPS(kTypedTensors, input->dtype))(context, &r, input, out, status);
}
