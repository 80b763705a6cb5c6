/* The ops of accumulators (ops/lists/accumulator.h). The older ops have a reference to the accumulator, the
 * others a resource; both have the same contents. */
#include "op/node_def.h"
#include "op/op_registry.h"
#include "ops/lists/accumulator.h"
#include "ops/lists/shared_resource.h"
#include "ops/lists/step_resource.h"
#include "ops/support/element_types.h"

/* --- making --- */

typedef struct MakerState {
  SharedResource shared;
  AccumulatorSpec spec;
} MakerState;

static bool read_shape(const NodeDef *node, AccumulatorSpec *spec, Status *status) {
  const TensorShapeProto *proto;
  TRY(node_attr_shape(node, "shape", &proto, status));
  spec->rank = -1;
  if (proto->unknown_rank) return true;
  if (proto->n_dim > SHAPE_MAX_RANK) return status_invalid(status, "Too many dimensions in tensor");
  spec->rank = (int)proto->n_dim;
  for (int d = 0; d < spec->rank; d++) spec->dims[d] = proto->dim[d]->size;
  return true;
}

static bool construct(const KernelConstruction *construction, MakerState *state, bool sparse,
                      Status *status) {
  Str reduction;
  state->spec.sparse = sparse;
  TRY(shared_resource_construct(construction, &state->shared, status));
  TRY(node_attr_type(construction->node, "dtype", &state->spec.dtype, status));
  TRY(node_attr_string(construction->node, "reduction_type", &reduction, status));
  state->spec.mean = str_equal(reduction, str_of("MEAN"));
  return read_shape(construction->node, &state->spec, status);
}

static bool construct_dense(const KernelConstruction *construction, void *state, Status *status) {
  return construct(construction, state, false, status);
}

static bool construct_sparse(const KernelConstruction *construction, void *state, Status *status) {
  return construct(construction, state, true, status);
}

static void destroy_maker(void *memory) { shared_resource_destroy(&((MakerState *)memory)->shared); }

typedef struct NewAccumulator {
  Str name;
  const AccumulatorSpec *spec;
} NewAccumulator;

static Resource *make_accumulator(void *argument, Status *status) {
  Accumulator *made = accumulator_new(((NewAccumulator *)argument)->spec, status);
  return made ? &made->resource : NULL;
}

static bool maker(KernelContext *context, Status *status) {
  MakerState *state = context->state;
  NewAccumulator wanted = {.spec = &state->spec};
  Resource *resource;
  if (tensor_is_empty(&state->shared.handle))
    TRY(shared_resource_find(context, &state->shared, kAccumulator, make_accumulator, &wanted.name, &wanted,
                             &resource, status));
  return kernel_set_output(context, 0, &state->shared.handle, NULL, status);
}

/* --- inputs --- */

static bool accumulator_of(const KernelContext *context, Accumulator **accumulator, Status *status) {
  Resource *resource;
  TRY(tensor_resource(context->inputs[0], kAccumulator, &resource, status));
  *accumulator = (Accumulator *)resource;
  return true;
}

/* The accumulator, which must be for such gradients. */
static bool accumulator_for(const KernelContext *context, bool sparse, DataType dtype,
                            Accumulator **accumulator, Status *status) {
  TRY(accumulator_of(context, accumulator, status));
  const AccumulatorSpec *spec = &(*accumulator)->spec;
  if (spec->sparse == sparse && spec->dtype == dtype) return true;
  return status_invalid(status, "The accumulator is for %s gradients of %s, not for %s gradients of %s",
                        spec->sparse ? "sparse" : "dense", dtype_name(spec->dtype),
                        sparse ? "sparse" : "dense", dtype_name(dtype));
}

static bool read_scalar(const Tensor *tensor, const char *name, int64_t *value, Status *status) {
  char text[SHAPE_TEXT_CAPACITY];
  if (!tensor_is_scalar(tensor)) {
    return status_invalid(status, "Argument %s must be scalar, but had bad shape %s", name,
                          shape_text(&tensor->shape, text));
  }
  *value = tensor_int_at(tensor, 0);
  return true;
}

/* --- kernels --- */

static bool apply(KernelContext *context, Status *status) {
  Accumulator *accumulator;
  const Tensor *gradient = context->inputs[2];
  int64_t step = 0;
  TRY(accumulator_for(context, false, gradient->dtype, &accumulator, status));
  TRY(read_scalar(context->inputs[1], "local_step", &step, status));
  return accumulator_add(accumulator, context, step, gradient, status);
}

typedef struct ApplyState {
  bool has_known_shape;
} ApplyState;

static bool construct_apply(const KernelConstruction *construction, void *memory, Status *status) {
  ApplyState *state = memory;
  return node_attr_bool(construction->node, "has_known_shape", &state->has_known_shape, status);
}

static bool apply_rows(KernelContext *context, Status *status) {
  Accumulator *accumulator;
  const ApplyState *state = context->state;
  GradientRows rows = {context->inputs[2], context->inputs[3],
                       state->has_known_shape ? context->inputs[4] : NULL};
  int64_t step = 0;
  TRY(accumulator_for(context, true, rows.values->dtype, &accumulator, status));
  TRY(read_scalar(context->inputs[1], "local_step", &step, status));
  return accumulator_add_rows(accumulator, step, &rows, status);
}

static bool take_from(KernelContext *context, bool sparse, Status *status) {
  Accumulator *accumulator;
  int64_t required = 0;
  TRY(accumulator_for(context, sparse, context->output_types[sparse ? 1 : 0], &accumulator, status));
  TRY(read_scalar(context->inputs[1], "num_required", &required, status));
  if (required <= 0) {
    return status_invalid(status, "Argument num_required must be positive, but was %lld",
                          (long long)required);
  }
  return accumulator_take(accumulator, context, required, status);
}

static bool take(KernelContext *context, Status *status) { return take_from(context, false, status); }

static bool take_rows(KernelContext *context, Status *status) { return take_from(context, true, status); }

static bool set_step(KernelContext *context, Status *status) {
  Accumulator *accumulator;
  int64_t step = 0;
  TRY(accumulator_of(context, &accumulator, status));
  TRY(read_scalar(context->inputs[1], "new_global_step", &step, status));
  accumulator_set_step(accumulator, step);
  return true;
}

static bool num_accumulated(KernelContext *context, Status *status) {
  Accumulator *accumulator;
  Tensor *out;
  TRY(accumulator_of(context, &accumulator, status));
  TRY(kernel_allocate_output_dims(context, 0, 0, NULL, &out, status));
  tensor_i32(out)[0] = accumulator_count(accumulator);
  return true;
}

/* --- shapes --- */

static bool handle_shape(InferenceContext *c, Status *status) {
  return step_resource_set_handle(c, 0, status);
}

/* Input 1, a time step or a number of gradients, is a scalar. */
static bool scalar_shape(InferenceContext *c, Status *status) {
  ShapeHandle scalar;
  return shape_with_rank(c, shape_input(c, 1), 0, &scalar, status) && shape_unknown_outputs(c, status);
}

/* --- ops --- */

#define MAKER                                                                                            \
  .is_stateful = true, .shape = handle_shape, .gradient = NO_GRADIENT, .state_size = sizeof(MakerState), \
  .destroy = destroy_maker, .kernels = {{DT_HALF, maker}, FLOAT_KERNELS(maker)},                         \
  .attrs = {"dtype: {" NUMBER_TYPES "}", "shape: shape", "container: string = ''",                       \
            "shared_name: string = ''", "reduction_type: {'MEAN', 'SUM'} = 'MEAN'"}

const OpRegistration kOpConditionalAccumulator = {
    .name = "ConditionalAccumulator",
    .outputs = {"handle: Ref(string)"},
    .construct = construct_dense,
    MAKER,
};

const OpRegistration kOpSparseConditionalAccumulator = {
    .name = "SparseConditionalAccumulator",
    .outputs = {"handle: Ref(string)"},
    .construct = construct_sparse,
    MAKER,
};

const OpRegistration kOpResourceConditionalAccumulator = {
    .name = "ResourceConditionalAccumulator",
    .outputs = {"handle: resource"},
    .construct = construct_dense,
    MAKER,
};

const OpRegistration kOpAccumulatorApplyGradient = {
    .name = "AccumulatorApplyGradient",
    .inputs = {"handle: Ref(string)", "local_step: int64", "gradient: dtype"},
    .attrs = {"dtype: {" NUMBER_TYPES "}"},
    .shape = scalar_shape,
    .gradient = NO_GRADIENT,
    .kernels = {{DT_HALF, apply}, FLOAT_KERNELS(apply)},
};

const OpRegistration kOpAccumulatorTakeGradient = {
    .name = "AccumulatorTakeGradient",
    .inputs = {"handle: Ref(string)", "num_required: int32"},
    .outputs = {"average: dtype"},
    .attrs = {"dtype: {" NUMBER_TYPES "}"},
    .shape = scalar_shape,
    .gradient = NO_GRADIENT,
    .kernels = {{DT_HALF, take}, FLOAT_KERNELS(take)},
};

const OpRegistration kOpAccumulatorSetGlobalStep = {
    .name = "AccumulatorSetGlobalStep",
    .inputs = {"handle: Ref(string)", "new_global_step: int64"},
    .shape = scalar_shape,
    .gradient = NO_GRADIENT,
    .kernels = {{DT_INVALID, set_step}},
};

const OpRegistration kOpAccumulatorNumAccumulated = {
    .name = "AccumulatorNumAccumulated",
    .inputs = {"handle: Ref(string)"},
    .outputs = {"num_accumulated: int32"},
    .shape = shape_scalar_output,
    .gradient = NO_GRADIENT,
    .kernels = {{DT_INVALID, num_accumulated}},
};

const OpRegistration kOpResourceAccumulatorApplyGradient = {
    .name = "ResourceAccumulatorApplyGradient",
    .inputs = {"handle: resource", "local_step: int64", "gradient: dtype"},
    .attrs = {"dtype: {" NUMBER_TYPES "}"},
    .is_stateful = true,
    .shape = scalar_shape,
    .gradient = NO_GRADIENT,
    .kernels = {{DT_HALF, apply}, FLOAT_KERNELS(apply)},
};

const OpRegistration kOpResourceAccumulatorTakeGradient = {
    .name = "ResourceAccumulatorTakeGradient",
    .inputs = {"handle: resource", "num_required: int32"},
    .outputs = {"average: dtype"},
    .attrs = {"dtype: {" NUMBER_TYPES "}"},
    .is_stateful = true,
    .shape = scalar_shape,
    .gradient = NO_GRADIENT,
    .kernels = {{DT_HALF, take}, FLOAT_KERNELS(take)},
};

const OpRegistration kOpResourceAccumulatorSetGlobalStep = {
    .name = "ResourceAccumulatorSetGlobalStep",
    .inputs = {"handle: resource", "new_global_step: int64"},
    .is_stateful = true,
    .shape = scalar_shape,
    .gradient = NO_GRADIENT,
    .kernels = {{DT_INVALID, set_step}},
};

const OpRegistration kOpResourceAccumulatorNumAccumulated = {
    .name = "ResourceAccumulatorNumAccumulated",
    .inputs = {"handle: resource"},
    .outputs = {"num_accumulated: int32"},
    .is_stateful = true,
    .shape = shape_scalar_output,
    .gradient = NO_GRADIENT,
    .kernels = {{DT_INVALID, num_accumulated}},
};

const OpRegistration kOpSparseAccumulatorApplyGradient = {
    .name = "SparseAccumulatorApplyGradient",
    .inputs = {"handle: Ref(string)", "local_step: int64", "gradient_indices: int64",
               "gradient_values: dtype", "gradient_shape: int64"},
    .attrs = {"dtype: {" NUMBER_TYPES "}", "has_known_shape: bool"},
    .shape = scalar_shape,
    .gradient = NO_GRADIENT,
    .state_size = sizeof(ApplyState),
    .construct = construct_apply,
    .kernels = {{DT_HALF, apply_rows}, FLOAT_KERNELS(apply_rows)},
};

const OpRegistration kOpSparseAccumulatorTakeGradient = {
    .name = "SparseAccumulatorTakeGradient",
    .inputs = {"handle: Ref(string)", "num_required: int32"},
    .outputs = {"indices: int64", "values: dtype", "shape: int64"},
    .attrs = {"dtype: {" NUMBER_TYPES "}"},
    .shape = scalar_shape,
    .gradient = NO_GRADIENT,
    .kernels = {{DT_HALF, take_rows}, FLOAT_KERNELS(take_rows)},
};
