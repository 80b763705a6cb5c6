/* StringFormat: tensors printed in the places that a template marks. */
#include <string.h>

#include "op/node_def.h"
#include "op/op_registry.h"
#include "ops/strings/string_elements.h"

typedef struct TemplateState {
  Str text, placeholder;
  int64_t summarize; /* the first and last elements of each axis to print; negative: all */
} TemplateState;

/* The next placeholder at or after byte `at`, or the length. */
static size_t next_placeholder(const TemplateState *state, size_t at) {
  for (; at + state->placeholder.length <= state->text.length; at++) {
    if (memcmp(state->text.data + at, state->placeholder.data, state->placeholder.length) == 0) return at;
  }
  return state->text.length;
}

static int count_placeholders(const TemplateState *state) {
  int count = 0;
  if (state->placeholder.length == 0) return (int)state->text.length + 1;
  for (size_t at = 0; (at = next_placeholder(state, at)) < state->text.length;
       at += state->placeholder.length)
    count++;
  return count;
}

static bool read_template(const NodeDef *node, int num_inputs, TemplateState *state, Status *status) {
  TRY(node_attr_string(node, "template", &state->text, status));
  TRY(node_attr_string(node, "placeholder", &state->placeholder, status));
  int places = count_placeholders(state);
  return places == num_inputs ||
         status_invalid(status, "num placeholders in template and num inputs must match: %d vs. %d", places,
                        num_inputs);
}

static bool template_construct(const KernelConstruction *construction, void *memory, Status *status) {
  TemplateState *state = memory;
  return read_template(construction->node, construction->num_inputs, state, status) &&
         node_attr_int(construction->node, "summarize", &state->summarize, status);
}

static bool template_shape(InferenceContext *c, Status *status) {
  TemplateState state;
  return read_template(c->node, c->num_inputs, &state, status) && shape_scalar_output(c, status);
}

static bool string_format(KernelContext *context, Status *status) {
  const TemplateState *state = context->state;
  static const Shape kScalar = {0};
  StrBuf text = {0};
  size_t at = 0;
  Tensor *out;
  TRY(kernel_allocate_output(context, 0, &kScalar, &out, status));
  for (int i = 0; i < context->num_inputs; i++) {
    size_t next = next_placeholder(state, at);
    strbuf_append_bytes(&text, state->text.data + at, next - at);
    tensor_summarize(context->inputs[i], state->summarize, &text);
    at = next + state->placeholder.length;
  }
  strbuf_append_bytes(&text, state->text.data + at, state->text.length - at);
  bool ok = string_put(out, 0, &text, status);
  strbuf_free(&text);
  return ok;
}

const OpRegistration kOpStringFormat = {
    .name = "StringFormat",
    .inputs = {"inputs: T"},
    .outputs = {"output: string"},
    .attrs = {"T: list(type) >= 0", "template: string = '%s'", "placeholder: string = '%s'",
              "summarize: int = 3"},
    .shape = template_shape,
    .gradient = NO_GRADIENT,
    .state_size = sizeof(TemplateState),
    .construct = template_construct,
    .kernels = {{DT_INVALID, string_format}},
};
