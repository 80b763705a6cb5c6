/* Optionals: a value of several tensors, or none, as an element of a DT_VARIANT scalar. Loops of TensorFlow 2
 * keep intermediates in them. */
#include "op/node_def.h"
#include "op/op_registry.h"
#include "ops/lists/tensor_list.h"
#include "ops/support/optional.h"

/* --- kernels --- */

static bool from_value_kernel(KernelContext *context, Status *status) {
  Optional *made = optional_new(true, context->num_inputs, status);
  bool ok = made != NULL;
  for (int i = 0; ok && i < made->count; i++) {
    ok = variant_check_depth(context->inputs[i], &made->depth, status) &&
         tensor_assign(&made->components[i], context->inputs[i], status);
  }
  if (ok) return optional_set_output(context, made, status);
  if (made) tensor_object_unref(&made->variant.object);
  return false;
}

static bool none_kernel(KernelContext *context, Status *status) {
  Optional *made = optional_new(false, 0, status);
  return made && optional_set_output(context, made, status);
}

static bool optional_of_input(KernelContext *context, const Optional **optional, Status *status) {
  const Tensor *input = context->inputs[0];
  if (!tensor_is_scalar(input)) {
    return status_invalid(status, "Input to %s must be a scalar tensor containing an OptionalVariant object.",
                          context->op_name);
  }
  VariantObject *object = *(VariantObject **)input->data;
  if (!object || object->methods != &kOptionalMethods)
    return status_invalid(status, "Input to %s must be an OptionalVariant object.", context->op_name);
  *optional = (const Optional *)object;
  return true;
}

static bool has_value_kernel(KernelContext *context, Status *status) {
  const Optional *optional = NULL;
  Tensor *out;
  TRY(optional_of_input(context, &optional, status));
  TRY(kernel_allocate_output_dims(context, 0, 0, NULL, &out, status));
  *tensor_bool(out) = optional->has_value;
  return true;
}

typedef struct GetValueState {
  const AttrListValue *shapes;
} GetValueState;

static bool get_value_construct(const KernelConstruction *construction, void *memory, Status *status) {
  GetValueState *state = memory;
  TRY(node_attr_list(construction->node, "output_shapes", ATTR_SHAPE, &state->shapes, status));
  if ((int)state->shapes->n_shape == construction->num_outputs) return true;
  return status_invalid(status,
                        "output_types and output_shapes must be same length, got:\noutput_types: "
                        "%d\noutput_shapes: %d",
                        construction->num_outputs, (int)state->shapes->n_shape);
}

static bool check_shape(const TensorShapeProto *want, const Tensor *component, int i, Status *status) {
  int64_t dims[SHAPE_MAX_RANK];
  const Shape *shape = &component->shape;
  char text[SHAPE_TEXT_CAPACITY];
  if (want->unknown_rank) return true;
  bool fits = want->n_dim == (size_t)shape->rank;
  for (size_t d = 0; d < want->n_dim && d < SHAPE_MAX_RANK; d++) {
    dims[d] = want->dim[d]->size;
    fits = fits && (dims[d] < 0 || dims[d] == shape_dim(shape, (int)d));
  }
  if (fits) return true;
  StrBuf expected = {0};
  element_shape_print(want->n_dim < SHAPE_MAX_RANK ? (int)want->n_dim : SHAPE_MAX_RANK, dims, &expected);
  if (strbuf_ok(&expected, status)) {
    status_invalid(status,
                   "The given optional does not match the expected shape for component %d. Expected: %s. "
                   "Actual: %s.",
                   i, strbuf_text(&expected), shape_text(shape, text));
  }
  strbuf_free(&expected);
  return false;
}

static bool get_value_kernel(KernelContext *context, Status *status) {
  const GetValueState *state = context->state;
  const Optional *optional = NULL;
  TRY(optional_of_input(context, &optional, status));
  if (!optional->has_value) return status_invalid(status, "The given optional does not have a value.");
  if (optional->count != context->num_outputs) {
    return status_invalid(status, "The given optional has %d components, expected %d", optional->count,
                          context->num_outputs);
  }
  for (int i = 0; i < optional->count; i++) {
    const Tensor *component = &optional->components[i];
    if (component->dtype != context->output_types[i]) {
      return status_invalid(status,
                            "The given optional does not match the expected type for component %d. Expected: "
                            "%s. Actual: %s.",
                            i, dtype_name(context->output_types[i]), dtype_name(component->dtype));
    }
    TRY(check_shape(state->shapes->shape[i], component, i, status));
    TRY(kernel_set_output(context, i, component, NULL, status));
  }
  return true;
}

/* --- gradients --- */

/* The components of dy. Their shapes are those of the values, which only a run knows. */
static bool from_value_gradient(const GradientRequest *request, StrBuf *text, Status *status) {
  const AttrListValue *types;
  TRY(node_attr_list(request->node, "Toutput_types", ATTR_TYPE, &types, status));
  strbuf_append(text,
                "OptionalFromValueGradient[Toutput_types:list(type)](x:Toutput_types, dy:variant) -> "
                "(dx:Toutput_types) {\n"
                "  d = OptionalGetValue[output_types=$Toutput_types, output_shapes=[");
  for (size_t i = 0; i < types->n_type; i++) strbuf_append(text, i == 0 ? "<unknown>" : ", <unknown>");
  strbuf_append(text, "]](dy)\n  return dx = d:components\n}\n");
  return strbuf_ok(text, status);
}

const OpRegistration kOpOptionalFromValue = {
    .name = "OptionalFromValue",
    .inputs = {"components: Toutput_types"},
    .outputs = {"optional: variant"},
    .attrs = {"Toutput_types: list(type) >= 1"},
    .shape = shape_scalar_output,
    .gradient_fn = from_value_gradient,
    .kernels = {{DT_INVALID, from_value_kernel}},
};

const OpRegistration kOpOptionalNone = {
    .name = "OptionalNone",
    .outputs = {"optional: variant"},
    .shape = shape_scalar_output,
    .gradient = NO_GRADIENT,
    .kernels = {{DT_INVALID, none_kernel}},
};

const OpRegistration kOpOptionalHasValue = {
    .name = "OptionalHasValue",
    .inputs = {"optional: variant"},
    .outputs = {"has_value: bool"},
    .shape = shape_scalar_output,
    .gradient = NO_GRADIENT,
    .kernels = {{DT_INVALID, has_value_kernel}},
};

const OpRegistration kOpOptionalGetValue = {
    .name = "OptionalGetValue",
    .inputs = {"optional: variant"},
    .outputs = {"components: output_types"},
    .attrs = {"output_types: list(type) >= 1", "output_shapes: list(shape) >= 1"},
    .shape = shape_listed,
    .gradient =
        "OptionalGetValueGradient[output_types:list(type)](optional:variant, dy:output_types) -> "
        "(doptional:variant) {\n"
        "  d = OptionalFromValue[Toutput_types=$output_types](dy)\n"
        "  return doptional = d:optional\n}\n",
    .state_size = sizeof(GetValueState),
    .construct = get_value_construct,
    .kernels = {{DT_INVALID, get_value_kernel}},
};
