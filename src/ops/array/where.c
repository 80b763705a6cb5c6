/* Where: the indices of the elements that are true, or not zero, in row-major order. */
#include "base/odometer.h"
#include "op/op_registry.h"
#include "ops/support/array_box.h"
#include "ops/support/element_types.h"
#include "ops/support/half_precision.h"

enum { WHERE_MAX_RANK = 8 };

/* Count the nonzero elements, and list them: there are `set`. */
typedef struct WhereLoops {
  int64_t (*count_set)(const void *data, int64_t count);
  void (*list_set)(const void *data, int64_t set, int64_t *found);
} WhereLoops;

/* Converts `set` element numbers at the front of `index`, which ascend, to indices in place, from the last to
 * the first. */
static void make_indices(const Shape *shape, int64_t set, int64_t *index) {
  int rank = shape->rank, last = rank - 1;
  int64_t row[WHERE_MAX_RANK], size = shape_dim(shape, last),
                               start = INT64_MAX; /* of the row of the last axis */
  for (int64_t i = set - 1; i >= 0; i--) {
    int64_t at = index[i], *to = index + i * rank;
    if (at < start) {
      Odometer o = {.rank = last, .dims = shape_dims(shape), .index = row};
      odometer_seek(&o, 0, at / size);
      start = at / size * size;
    }
    for (int d = 0; d < last; d++) to[d] = row[d];
    to[last] = at - start;
  }
}

/* Its data is a WhereLoops. */
static bool where_kernel(KernelContext *context, Status *status) {
  const WhereLoops *loops = context->data;
  const Tensor *input = context->inputs[0];
  int rank = input->shape.rank;
  if (rank < 1 || rank > WHERE_MAX_RANK) {
    return status_invalid(status, "WhereOp : Unhandled input dimensions: %d", rank);
  }
  int64_t count = tensor_num_elements(input), set = loops->count_set(input->data, count),
          dims[2] = {set, rank};
  Tensor *out;
  TRY(kernel_allocate_output_dims(context, 0, 2, dims, &out, status));
  if (set == 0) return true;
  loops->list_set(input->data, set, tensor_i64(out));
  make_indices(&input->shape, set, tensor_i64(out));
  return true;
}

#define TEMPLATE "ops/array/where_each.inc"
#define TYPES \
  (TYPES_FLOAT | TYPES_HALF | TYPES_INT | TYPES_SMALL | TYPES_UNSIGNED | TYPES_BOOL | TYPES_COMPLEX)
#include "simd/each_type.inc"

static bool where_shape(InferenceContext *c, Status *status) {
  ShapeHandle input = shape_input(c, 0), output;
  DimHandle rank = shape_rank_known(input) ? dim_make(c, shape_rank(input)) : dim_unknown(c);
  TRY(shape_ok(shape_matrix(c, dim_unknown(c), rank), &output, status));
  shape_set_output(c, 0, output);
  return true;
}

const OpRegistration kOpWhere = {
    .name = "Where",
    .inputs = {"input: T"},
    .outputs = {"index: int64"},
    .attrs = {"T: {" NUMBER_TYPES ", bool} = DT_BOOL"},
    .shape = where_shape,
    .gradient = NO_GRADIENT,
    .kernels = {TYPED_NUMBER_KERNELS(where_kernel, &where), {DT_BOOL, where_kernel, &where_bool}},
};
