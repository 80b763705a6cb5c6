/* StringJoin. */
#include "op/node_def.h"
#include "op/op_registry.h"

typedef struct JoinState {
  Str separator;
} JoinState;

static bool join_construct(const KernelConstruction *construction, void *state, Status *status) {
  return node_attr_string(construction->node, "separator", &((JoinState *)state)->separator, status);
}

/* Element `i` of an input; a scalar is repeated. */
static Str element(const Tensor *tensor, int64_t i) {
  return tstring_view(&tensor_strings(tensor)[tensor_is_scalar(tensor) ? 0 : i]);
}

/* The shape of the inputs that are not scalars. */
static bool common_shape(const KernelContext *context, const Shape **shape, Status *status) {
  static const Shape kScalar = {0};
  *shape = context->num_inputs == 0 ? &kScalar : &context->inputs[0]->shape;
  for (int i = 1; i < context->num_inputs; i++) {
    const Shape *next = &context->inputs[i]->shape;
    if (next->rank == 0 || shape_equal(*shape, next)) continue;
    if ((*shape)->rank != 0) {
      char a[SHAPE_TEXT_CAPACITY], b[SHAPE_TEXT_CAPACITY];
      return status_invalid(status, "Input shapes do not match: %s vs. %s", shape_text(*shape, a),
                            shape_text(next, b));
    }
    *shape = next;
  }
  return true;
}

static bool string_join(KernelContext *context, Status *status) {
  const JoinState *state = context->state;
  const Shape *shape;
  Tensor *out;
  StrBuf text = {0};
  bool ok = false;
  TRY(common_shape(context, &shape, status));
  TRY(kernel_allocate_output(context, 0, shape, &out, status));
  int64_t count = tensor_num_elements(out);
  for (int64_t i = 0; i < count; i++) {
    strbuf_clear(&text);
    for (int k = 0; k < context->num_inputs; k++) {
      Str part = element(context->inputs[k], i);
      if (k > 0) strbuf_append_bytes(&text, state->separator.data, state->separator.length);
      strbuf_append_bytes(&text, part.data, part.length);
    }
    TRY_DONE(strbuf_ok(&text, status));
    TRY_DONE(tstring_set(&tensor_strings(out)[i], strbuf_text(&text), (size_t)text.length, status));
  }
  ok = true;
done:
  strbuf_free(&text);
  return ok;
}

/* Scalars match every shape; an input of unknown rank may be a scalar. */
static bool string_join_shape(InferenceContext *c, Status *status) {
  bool all_scalar = true;
  ShapeHandle out;
  for (int i = 0; i < c->num_inputs; i++) {
    if (!shape_rank_known(shape_input(c, i)) || shape_rank(shape_input(c, i)) != 0) all_scalar = false;
  }
  if (all_scalar) return shape_scalar_output(c, status);
  TRY(shape_ok(shape_unknown(c), &out, status));
  for (int i = 0; i < c->num_inputs; i++) {
    ShapeHandle input = shape_input(c, i);
    if (shape_rank_known(input) && shape_rank(input) != 0) TRY(shape_merge(c, out, input, &out, status));
  }
  shape_set_output(c, 0, out);
  return true;
}

const OpRegistration kOpStringJoin = {
    .name = "StringJoin",
    .inputs = {"inputs: N * string"},
    .outputs = {"output: string"},
    .attrs = {"N: int >= 0", "separator: string = ''"},
    .shape = string_join_shape,
    .gradient = NO_GRADIENT,
    .state_size = sizeof(JoinState),
    .construct = join_construct,
    .kernels = {{DT_INVALID, string_join}},
};
