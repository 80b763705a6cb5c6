/* Properties of a tensor other than its elements: sizes, rank, number of elements. */
#include "ops/support/variable_access.h"

/* Refuses sizes and counts that exceed the output's type. */
static bool representable(DataType type, int64_t value) { return type != DT_INT32 || value < INT32_MAX; }

static void set_int(const Tensor *out, int64_t i, int64_t value) {
  if (out->dtype == DT_INT32) {
    tensor_i32(out)[i] = (int32_t)value;
  } else {
    tensor_i64(out)[i] = value;
  }
}

static bool write_shape(KernelContext *context, int i, const Shape *shape, const char *what, Status *status) {
  int64_t rank = shape->rank;
  Tensor *out;
  TRY(kernel_allocate_output_dims(context, i, 1, &rank, &out, status));
  for (int d = 0; d < shape->rank; d++) {
    int64_t size = shape_dim(shape, d);
    if (!representable(out->dtype, size)) {
      return status_invalid(status, "%s output type is 32-bit  but dim %d is %lld", what, d, (long long)size);
    }
    set_int(out, d, size);
  }
  return true;
}

static bool shape_kernel(KernelContext *context, Status *status) {
  return write_shape(context, 0, &context->inputs[0]->shape, "Shape", status);
}

static bool shape_n_kernel(KernelContext *context, Status *status) {
  for (int i = 0; i < context->num_inputs; i++)
    TRY(write_shape(context, i, &context->inputs[i]->shape, "ShapeN", status));
  return true;
}

static bool variable_shape_kernel(KernelContext *context, Status *status) {
  Variable *variable;
  TRY(tensor_variable(context->inputs[0], &variable, status));
  TRY(initialized_variable(context, 0, variable->dtype, &variable, status));
  return write_shape(context, 0, &variable->value.shape, "VariableShape", status);
}

static bool rank_kernel(KernelContext *context, Status *status) {
  Tensor *out;
  TRY(kernel_allocate_output_dims(context, 0, 0, NULL, &out, status));
  tensor_i32(out)[0] = context->inputs[0]->shape.rank;
  return true;
}

static bool size_kernel(KernelContext *context, Status *status) {
  int64_t count = tensor_num_elements(context->inputs[0]);
  Tensor *out;
  TRY(kernel_allocate_output_dims(context, 0, 0, NULL, &out, status));
  if (!representable(out->dtype, count)) {
    return status_invalid(status, "Number of elements was larger than representable by 32-bit output type");
  }
  set_int(out, 0, count);
  return true;
}

static bool set_shape_of_shape(InferenceContext *c, int i, ShapeHandle shape, Status *status) {
  ShapeHandle vector;
  DimHandle rank;
  TRY(dim_ok(shape_rank_known(shape) ? dim_make(c, shape_rank(shape)) : dim_unknown(c), &rank, status));
  TRY(shape_ok(shape_vector(c, rank), &vector, status));
  shape_set_output(c, i, vector);
  return true;
}

static bool shape_of_shapes(InferenceContext *c, Status *status) {
  for (int i = 0; i < c->num_inputs; i++) TRY(set_shape_of_shape(c, i, shape_input(c, i), status));
  return true;
}

static bool shape_of_variable(InferenceContext *c, Status *status) {
  ShapeAndType variable;
  TRY(variable_shape_and_type(c, 0, &variable, status));
  return set_shape_of_shape(c, 0, variable.shape, status);
}

const OpRegistration kOpShape = {
    .name = "Shape",
    .inputs = {"input: T"},
    .outputs = {"output: out_type"},
    .attrs = {"T: type", "out_type: {int32, int64} = DT_INT32"},
    .shape = shape_of_shapes,
    .gradient = NO_GRADIENT,
    .kernels = {{DT_INVALID, shape_kernel}},
};

const OpRegistration kOpShapeN = {
    .name = "ShapeN",
    .inputs = {"input: N * T"},
    .outputs = {"output: N * out_type"},
    .attrs = {"N: int >= 1", "T: type", "out_type: {int32, int64} = DT_INT32"},
    .shape = shape_of_shapes,
    .gradient = NO_GRADIENT,
    .kernels = {{DT_INVALID, shape_n_kernel}},
};

const OpRegistration kOpVariableShape = {
    .name = "VariableShape",
    .inputs = {"input: resource"},
    .outputs = {"output: out_type"},
    .attrs = {"out_type: {int32, int64} = DT_INT32"},
    .is_stateful = true,
    .shape = shape_of_variable,
    .gradient = NO_GRADIENT,
    .kernels = {{DT_INVALID, variable_shape_kernel}},
};

const OpRegistration kOpRank = {
    .name = "Rank",
    .inputs = {"input: T"},
    .outputs = {"output: int32"},
    .attrs = {"T: type"},
    .shape = shape_scalar_output,
    .gradient = NO_GRADIENT,
    .kernels = {{DT_INVALID, rank_kernel}},
};

const OpRegistration kOpSize = {
    .name = "Size",
    .inputs = {"input: T"},
    .outputs = {"output: out_type"},
    .attrs = {"T: type", "out_type: {int32, int64} = DT_INT32"},
    .shape = shape_scalar_output,
    .gradient = NO_GRADIENT,
    .kernels = {{DT_INVALID, size_kernel}},
};
