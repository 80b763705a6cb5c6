/* Replaces rows of variables or combines them with updates, by reference and by resource. */
#include <string.h>

#include "base/copy.h"
#include "ops/support/array_box.h"
#include "ops/support/complex_quotient.h"
#include "ops/support/element_types.h"
#include "ops/support/elementwise.h"
#include "ops/support/variable_access.h"

enum { VARIABLE, INDICES, UPDATES };

/* Combines a row of `count` elements with as many updates, or with one update if `step` is 0. */
typedef void ScatterRow(void *row, const void *updates, int64_t count, int64_t step);

static bool refuse_shapes(const Tensor *params, const KernelContext *context, Status *status) {
  char a[SHAPE_TEXT_CAPACITY], b[SHAPE_TEXT_CAPACITY], c[SHAPE_TEXT_CAPACITY];
  return status_invalid(status,
                        "Must have updates.shape = indices.shape + params.shape[1:] or updates.shape = [], "
                        "got updates.shape %s, "
                        "indices.shape %s, params.shape %s",
                        shape_text(&context->inputs[UPDATES]->shape, a),
                        shape_text(&context->inputs[INDICES]->shape, b), shape_text(&params->shape, c));
}

static bool check_shapes(const Tensor *params, const KernelContext *context, Status *status) {
  const Shape *indices = &context->inputs[INDICES]->shape, *updates = &context->inputs[UPDATES]->shape;
  if (params->shape.rank < 1) {
    char text[SHAPE_TEXT_CAPACITY];
    return status_invalid(status, "params must be at least 1-D, got shape %s",
                          shape_text(&params->shape, text));
  }
  if (updates->rank == 0) return true;
  if (updates->rank != indices->rank + params->shape.rank - 1) return refuse_shapes(params, context, status);
  for (int i = 0; i < updates->rank; i++) {
    int64_t want =
        i < indices->rank ? shape_dim(indices, i) : shape_dim(&params->shape, i - indices->rank + 1);
    if (shape_dim(updates, i) != want) return refuse_shapes(params, context, status);
  }
  return true;
}

static bool check_indices(const KernelContext *context, int64_t rows, Status *status) {
  const Tensor *indices = context->inputs[INDICES];
  for (int64_t i = 0, n = tensor_num_elements(indices); i < n; i++) {
    int64_t row = tensor_int_at(indices, i);
    if (row >= 0 && row < rows) continue;
    return array_refuse_index(indices, i, rows, status);
  }
  return true;
}

/* The variable, made writable, if all checks pass. */
static bool begin(KernelContext *context, Variable **variable, Status *status) {
  TRY(changed_variable(context, VARIABLE, context->inputs[UPDATES]->dtype, variable, status));
  TRY(check_shapes(&(*variable)->value, context, status));
  TRY(check_indices(context, shape_dim(&(*variable)->value.shape, 0), status));
  return variable_prepare_update(*variable, variable_name(context, VARIABLE), kernel_step_id(context),
                                 context->pool, status);
}

static int64_t row_elements(const Tensor *params) {
  int64_t rows = shape_dim(&params->shape, 0);
  return rows == 0 ? 0 : tensor_num_elements(params) / rows;
}

/* Its data is a ScatterRow. */
static bool scatter_rows(KernelContext *context, Status *status) {
  ScatterRow *combine = (ScatterRow *)context->data;
  Variable *variable;
  TRY(begin(context, &variable, status));
  const Tensor *indices = context->inputs[INDICES], *updates = context->inputs[UPDATES];
  int64_t row = row_elements(&variable->value), size = (int64_t)dtype_size((int)variable->dtype),
          step = updates->shape.rank > 0;
  for (int64_t i = 0, n = tensor_num_elements(indices); i < n; i++) {
    combine((char *)variable->value.data + tensor_int_at(indices, i) * row * size,
            (const char *)updates->data + i * row * size * step, row, step);
  }
  return variable_changed(context, status);
}

/* For division of rows: checks that no integer divisor is zero. */
static bool divide_rows(KernelContext *context, Status *status) {
  const Tensor *by = context->inputs[UPDATES];
  if (dtype_is_integer(by->dtype) && elementwise_has_zero(by))
    return status_invalid(status, "Integer division by zero");
  return scatter_rows(context, status);
}

/* For the template: the loop NAME(scatter_op), which computes NAME(op_one)(C, C). */
#define SCATTER_LOOP(op)                                                                        \
  static void NAME(scatter_##op)(void *row, const void *updates, int64_t count, int64_t step) { \
    if (step == 0) {                                                                            \
      NAME(each)(NAME(op##_one), row, updates, count, 0);                                       \
    } else {                                                                                    \
      NAME(each)(NAME(op##_one), row, updates, count, 1);                                       \
    }                                                                                           \
  }
#define TEMPLATE "ops/state/scatter_update.inc"
#define TYPES (TYPES_FLOAT | TYPES_HALF | TYPES_INT | TYPES_SMALL | TYPES_UNSIGNED | TYPES_COMPLEX)
#include "simd/each_type.inc"

static bool copy_strings(TString *row, const TString *updates, int64_t count, int64_t step, Status *status) {
  for (int64_t i = 0; i < count; i++) TRY(tstring_copy(&row[i], &updates[i * step], status));
  return true;
}

static bool scatter_update(KernelContext *context, Status *status) {
  Variable *variable;
  TRY(begin(context, &variable, status));
  const Tensor *indices = context->inputs[INDICES], *updates = context->inputs[UPDATES];
  int64_t row = row_elements(&variable->value), size = (int64_t)dtype_size((int)variable->dtype),
          step = updates->shape.rank > 0;
  for (int64_t i = 0, n = tensor_num_elements(indices); i < n; i++) {
    char *to = (char *)variable->value.data + tensor_int_at(indices, i) * row * size;
    const char *from = (const char *)updates->data + i * row * size * step;
    if (variable->dtype == DT_STRING) {
      TRY(copy_strings((TString *)(void *)to, (const TString *)(const void *)from, row, step, status));
    } else if (step) {
      copy_bytes(to, from, row * size);
    } else {
      array_spread(size, row, from, to);
    }
  }
  return variable_changed(context, status);
}

/* --- shapes --- */

static bool merge_updates(InferenceContext *c, ShapeHandle params, Status *status) {
  ShapeHandle rest, want, merged;
  if (shape_rank_known(shape_input(c, UPDATES)) && shape_rank(shape_input(c, UPDATES)) == 0) return true;
  TRY(shape_subshape(c, params, 1, INT64_MAX, 1, &rest, status));
  TRY(shape_concatenate(c, shape_input(c, INDICES), rest, &want, status));
  return shape_merge(c, shape_input(c, UPDATES), want, &merged, status);
}

static bool reference_shape(InferenceContext *c, Status *status) {
  TRY(merge_updates(c, shape_input(c, VARIABLE), status));
  shape_set_output(c, 0, shape_input(c, VARIABLE));
  return true;
}

static bool resource_shape(InferenceContext *c, Status *status) {
  ShapeAndType variable;
  TRY(variable_shape_and_type(c, VARIABLE, &variable, status));
  return merge_updates(c, variable.shape, status);
}

#define ON_REFERENCE(types, locking)                                                               \
  .inputs = {"ref: Ref(T)", "indices: Tindices", "updates: T"}, .outputs = {"output_ref: Ref(T)"}, \
  .attrs = {"T: " types, "Tindices: {int32, int64}", "use_locking: bool = " locking},              \
  .shape = reference_shape, .gradient = NO_GRADIENT
#define ON_RESOURCE(types)                                                                              \
  .inputs = {"resource: resource", "indices: Tindices", "updates: dtype"},                              \
  .attrs = {"dtype: " types, "Tindices: {int32, int64}"}, .is_stateful = true, .shape = resource_shape, \
  .gradient = NO_GRADIENT
#define ORDERED "{half, bfloat16, float, double, int32, int64}"

const OpRegistration kOpScatterUpdate = {
    .name = "ScatterUpdate",
    ON_REFERENCE("type", "true"),
    .kernels = {{DT_INVALID, scatter_update}},
};
const OpRegistration kOpScatterAdd = {
    .name = "ScatterAdd",
    ON_REFERENCE("{" NUMBER_TYPES "}", "false"),
    .kernels = {TYPED_NUMBER_KERNELS(scatter_rows, scatter_add)},
};
const OpRegistration kOpScatterSub = {
    .name = "ScatterSub",
    ON_REFERENCE("{" NUMBER_TYPES "}", "false"),
    .kernels = {TYPED_NUMBER_KERNELS(scatter_rows, scatter_sub)},
};
const OpRegistration kOpScatterMul = {
    .name = "ScatterMul",
    ON_REFERENCE("{" NUMBER_TYPES "}", "false"),
    .kernels = {TYPED_NUMBER_KERNELS(scatter_rows, scatter_mul)},
};
const OpRegistration kOpScatterDiv = {
    .name = "ScatterDiv",
    ON_REFERENCE("{" NUMBER_TYPES "}", "false"),
    .kernels = {TYPED_NUMBER_KERNELS(divide_rows, scatter_div)},
};
const OpRegistration kOpScatterMin = {
    .name = "ScatterMin",
    ON_REFERENCE(ORDERED, "false"),
    .kernels = {TYPED_FLOAT_AND_HALF_KERNELS(scatter_rows, scatter_min),
                TYPED_INT_KERNELS(scatter_rows, scatter_min)},
};
const OpRegistration kOpScatterMax = {
    .name = "ScatterMax",
    ON_REFERENCE(ORDERED, "false"),
    .kernels = {TYPED_FLOAT_AND_HALF_KERNELS(scatter_rows, scatter_max),
                TYPED_INT_KERNELS(scatter_rows, scatter_max)},
};
const OpRegistration kOpResourceScatterUpdate = {
    .name = "ResourceScatterUpdate",
    ON_RESOURCE("type"),
    .kernels = {{DT_INVALID, scatter_update}},
};
const OpRegistration kOpResourceScatterAdd = {
    .name = "ResourceScatterAdd",
    ON_RESOURCE("{" NUMBER_TYPES "}"),
    .kernels = {TYPED_NUMBER_KERNELS(scatter_rows, scatter_add)},
};
const OpRegistration kOpResourceScatterSub = {
    .name = "ResourceScatterSub",
    ON_RESOURCE("{" NUMBER_TYPES "}"),
    .kernels = {TYPED_NUMBER_KERNELS(scatter_rows, scatter_sub)},
};
const OpRegistration kOpResourceScatterMul = {
    .name = "ResourceScatterMul",
    ON_RESOURCE("{" NUMBER_TYPES "}"),
    .kernels = {TYPED_NUMBER_KERNELS(scatter_rows, scatter_mul)},
};
const OpRegistration kOpResourceScatterDiv = {
    .name = "ResourceScatterDiv",
    ON_RESOURCE("{" NUMBER_TYPES "}"),
    .kernels = {TYPED_NUMBER_KERNELS(divide_rows, scatter_div)},
};
const OpRegistration kOpResourceScatterMin = {
    .name = "ResourceScatterMin",
    ON_RESOURCE("{" NUMBER_TYPES "}"),
    .kernels = {TYPED_REAL_KERNELS(scatter_rows, scatter_min)},
};
const OpRegistration kOpResourceScatterMax = {
    .name = "ResourceScatterMax",
    ON_RESOURCE("{" NUMBER_TYPES "}"),
    .kernels = {TYPED_REAL_KERNELS(scatter_rows, scatter_max)},
};
