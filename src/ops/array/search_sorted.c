/* LowerBound and UpperBound: where values would be inserted into sorted rows, before or behind equal
 * elements. */
#include <inttypes.h>

#include "op/op_registry.h"
#include "ops/support/element_types.h"

typedef struct SortedSearch {
  const void *rows, *values;
  int64_t row, values_per_row; /* elements; not 0 where there are values */
  bool upper, wide;            /* behind equal elements; the result is int64 */
  void *result;
} SortedSearch;

#define TEMPLATE "ops/array/search_sorted.inc"
#define TYPES (TYPES_FLOAT | TYPES_HALF | TYPES_INT | TYPES_SMALL | TYPES_UNSIGNED)
#include "simd/each_type.inc"

static bool check_inputs(const Tensor *rows, const Tensor *values, Status *status) {
  if (rows->shape.rank != 2) {
    return status_invalid(status, "Shape must be rank 2 but is rank %d for `sorted_inputs` argument",
                          rows->shape.rank);
  }
  if (values->shape.rank != 2) {
    return status_invalid(status, "Shape must be rank 2 but is rank %d for `values` argument",
                          values->shape.rank);
  }
  if (shape_dim(&rows->shape, 0) != shape_dim(&values->shape, 0))
    return status_invalid(status, "Leading dim_size of both tensors must match.");
  return tensor_num_elements(values) < INT32_MAX ||
         status_invalid(status, "values tensor size must less than INT_MAX");
}

static bool search(KernelContext *context, bool upper, Status *status) {
  const Tensor *rows = context->inputs[0], *values = context->inputs[1];
  Tensor *out;
  TRY(check_inputs(rows, values, status));
  TRY(kernel_allocate_output(context, 0, &values->shape, &out, status));
  SortedSearch job = {.rows = rows->data,
                      .values = values->data,
                      .row = shape_dim(&rows->shape, 1),
                      .values_per_row = shape_dim(&values->shape, 1),
                      .upper = upper,
                      .wide = out->dtype == DT_INT64,
                      .result = out->data};
  if (!job.wide && job.row >= INT32_MAX) {
    return status_invalid(status,
                          "trailing dim_size must less than INT_MAX for int32 output type, was %" PRId64,
                          job.row);
  }
  parallel_work(context->parallel, tensor_num_elements(out), 60, (ParallelBody *)context->data, &job);
  return true;
}
static bool lower_bound(KernelContext *context, Status *status) { return search(context, false, status); }
static bool upper_bound(KernelContext *context, Status *status) { return search(context, true, status); }

static bool shape_search(InferenceContext *c, Status *status) {
  ShapeHandle rows, values;
  TRY(shape_with_rank(c, shape_input(c, 0), 2, &rows, status));
  TRY(shape_with_rank(c, shape_input(c, 1), 2, &values, status));
  shape_set_output(c, 0, values);
  return true;
}

#define SEARCH                                                                        \
  .inputs = {"sorted_inputs: T", "values: T"}, .outputs = {"output: out_type"},       \
  .attrs = {"T: type", "out_type: {int32, int64} = DT_INT32"}, .shape = shape_search, \
  .gradient = NO_GRADIENT

const OpRegistration kOpLowerBound = {
    .name = "LowerBound",
    SEARCH,
    .kernels = {TYPED_REAL_KERNELS(lower_bound, search)},
};

const OpRegistration kOpUpperBound = {
    .name = "UpperBound",
    SEARCH,
    .kernels = {TYPED_REAL_KERNELS(upper_bound, search)},
};
