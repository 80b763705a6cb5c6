/* HistogramFixedWidth: the number of values in each of several bins of equal width. */
#include "op/op_registry.h"
#include "ops/support/array_box.h"
#include "ops/support/element_types.h"

typedef struct Histogram {
  const void *values, *range;
  int64_t count, bins;
  bool wide; /* counts are int64 */
  void *counts;
} Histogram;
typedef bool CountBins(const Histogram *h);

enum { BINNED = 256 }; /* values whose bins are found before they are counted */

#define TEMPLATE "ops/math/histogram.inc"
#define TYPES (TYPES_FLOAT | TYPES_INT)
#include "simd/each_type.inc"

static bool check_range(const Tensor *range, Status *status) {
  double low = 0, high = 0;
  if (!tensor_is_vector(range)) return status_invalid(status, "value_range should be a vector.");
  if (tensor_num_elements(range) != 2)
    return status_invalid(status, "value_range should be a vector of 2 elements.");
  bool ordered = false;
  switch (range->dtype) {
    case DT_FLOAT: low = (double)tensor_f32(range)[0], high = (double)tensor_f32(range)[1]; break;
    case DT_DOUBLE: low = tensor_f64(range)[0], high = tensor_f64(range)[1]; break;
    default:
      low = (double)tensor_int_at(range, 0), high = (double)tensor_int_at(range, 1);
      ordered = tensor_int_at(range, 0) < tensor_int_at(range, 1);
      break;
  }
  return ordered || low < high ||
         status_invalid(status,
                        "value_range should satisfy value_range[0] < value_range[1], but got '[%g, %g]'", low,
                        high);
}

static bool histogram(KernelContext *context, Status *status) {
  const Tensor *values = context->inputs[0], *range = context->inputs[1], *bins = context->inputs[2];
  Tensor *out;
  if (!tensor_is_vector(range) || tensor_num_elements(range) != 2) return check_range(range, status);
  if (bins->shape.rank != 0) return status_invalid(status, "nbins should be a scalar.");
  TRY(check_range(range, status));
  int64_t count = tensor_i32(bins)[0];
  if (count <= 0)
    return status_invalid(status, "nbins should be a positive number, but got '%lld'", (long long)count);
  TRY(kernel_allocate_output_dims(context, 0, 1, &count, &out, status));
  array_clear(out);
  Histogram job = {.values = values->data,
                   .range = range->data,
                   .count = tensor_num_elements(values),
                   .bins = count,
                   .wide = out->dtype == DT_INT64,
                   .counts = out->data};
  return ((CountBins *)context->data)(&job) ||
         status_invalid(status, "Histogram values must not contain NaN");
}

static bool histogram_shape(InferenceContext *c, Status *status) {
  ShapeHandle range, scalar, out;
  DimHandle two, bins;
  TRY(shape_with_rank(c, shape_input(c, 1), 1, &range, status));
  TRY(dim_with_value(c, shape_dim_of(c, range, 0), 2, &two, status));
  TRY(shape_with_rank(c, shape_input(c, 2), 0, &scalar, status));
  const Tensor *value = shape_input_tensor(c, 2);
  int64_t count = value ? tensor_int_at(value, 0) : UNKNOWN_DIM;
  if (value && count <= 0) return status_invalid(status, "Requires nbins > 0: %lld", (long long)count);
  TRY(dim_ok(dim_make(c, count), &bins, status));
  TRY(shape_ok(shape_vector(c, bins), &out, status));
  shape_set_output(c, 0, out);
  return true;
}

const OpRegistration kOpHistogramFixedWidth = {
    .name = "HistogramFixedWidth",
    .inputs = {"values: T", "value_range: T", "nbins: int32"},
    .outputs = {"out: dtype"},
    .attrs = {"T: {int32, int64, float, double}", "dtype: {int32, int64} = DT_INT32"},
    .shape = histogram_shape,
    .gradient = NO_GRADIENT,
    .kernels = {TYPED_FLOAT_KERNELS(histogram, count_bins), TYPED_INT_KERNELS(histogram, count_bins)},
};
