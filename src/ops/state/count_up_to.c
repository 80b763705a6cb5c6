/* CountUpTo: returns the value of a scalar variable and increments it, until it reaches a limit. */
#include "op/node_def.h"
#include "ops/support/element_types.h"
#include "ops/support/variable_access.h"

typedef struct CountState {
  int64_t limit;
} CountState;

static bool count_construct(const KernelConstruction *construction, void *memory, Status *status) {
  return node_attr_int(construction->node, "limit", &((CountState *)memory)->limit, status);
}

static bool find_counter(KernelContext *context, Variable **variable, Status *status) {
  DataType dtype = context->output_types[0];
  char text[SHAPE_TEXT_CAPACITY];
  TRY(initialized_variable(context, 0, dtype, variable, status));
  if (tensor_is_scalar(&(*variable)->value)) return true;
  return status_invalid(status, "input is not a scalar: %s", shape_text(&(*variable)->value.shape, text));
}

static bool count_up_to(KernelContext *context, Status *status) {
  const CountState *state = context->state;
  Variable *variable;
  TRY(find_counter(context, &variable, status));
  int64_t count = tensor_int_at(&variable->value, 0);
  if (count >= state->limit)
    return status_set(status, CODE_OUT_OF_RANGE, "Reached limit of %lld", (long long)state->limit);
  Tensor *before;
  TRY(kernel_allocate_output_dims(context, 0, 0, NULL, &before, status));
  TRY(variable_prepare_update(variable, variable_name(context, 0), kernel_step_id(context), context->pool,
                              status));
  if (variable->dtype == DT_INT32) {
    *tensor_i32(before) = (int32_t)count;
    *tensor_i32(&variable->value) =
        (int32_t)((uint32_t)count + 1); /* the limit may be larger than an int32 */
  } else {
    *tensor_i64(before) = count;
    *tensor_i64(&variable->value) = count + 1;
  }
  return true;
}

static bool count_shape(InferenceContext *c, Status *status) {
  ShapeHandle scalar;
  TRY(shape_with_rank(c, shape_input(c, 0), 0, &scalar, status));
  shape_set_output(c, 0, scalar);
  return true;
}

static bool resource_count_shape(InferenceContext *c, Status *status) {
  ShapeAndType known;
  ShapeHandle scalar;
  DataType dtype;
  TRY(variable_shape_and_type(c, 0, &known, status));
  TRY(node_attr_type(c->node, "T", &dtype, status));
  if (known.dtype != DT_INVALID && known.dtype != dtype) {
    return status_invalid(status, "Data types do not match: %s and %s", dtype_name((int)dtype),
                          dtype_name((int)known.dtype));
  }
  TRY(shape_with_rank(c, known.shape, 0, &scalar, status));
  shape_set_output(c, 0, scalar);
  return true;
}

const OpRegistration kOpCountUpTo = {
    .name = "CountUpTo",
    .inputs = {"ref: Ref(T)"},
    .outputs = {"output: T"},
    .attrs = {"limit: int", "T: {int32, int64}"},
    .shape = count_shape,
    .gradient = NO_GRADIENT,
    .state_size = sizeof(CountState),
    .construct = count_construct,
    .kernels = {{DT_INT32, count_up_to}, {DT_INT64, count_up_to}},
};

const OpRegistration kOpResourceCountUpTo = {
    .name = "ResourceCountUpTo",
    .inputs = {"resource: resource"},
    .outputs = {"output: T"},
    .attrs = {"limit: int", "T: {int32, int64}"},
    .is_stateful = true,
    .shape = resource_count_shape,
    .gradient = NO_GRADIENT,
    .state_size = sizeof(CountState),
    .construct = count_construct,
    .kernels = {{DT_INT32, count_up_to}, {DT_INT64, count_up_to}},
};
