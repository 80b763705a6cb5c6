/* Ops that print tensors. */
#include <stdatomic.h>
#include <string.h>

#include "base/log.h"
#include "op/node_def.h"
#include "op/op_registry.h"

/* "[1 2 3...]": tensor_print without type and shape. As in TensorFlow, bools have no "..." when no element is
 * shown. */
static void append_values(const Tensor *tensor, int64_t summarize, StrBuf *out) {
  static const char before[] = "values: ";
  StrBuf text = {0};
  tensor_print(tensor, summarize, &text);
  const char *values = strstr(strbuf_text(&text), before);
  strbuf_append_char(out, '[');
  if (values && (summarize != 0 || tensor->dtype != DT_BOOL)) {
    values += sizeof before - 1;
    size_t length = strlen(values);
    strbuf_append_bytes(out, values, length > 0 ? length - 1 : 0); /* without the final '>' */
  }
  strbuf_append_char(out, ']');
  out->failed |= text.failed;
  strbuf_free(&text);
}

/* --- Assert --- */

typedef struct AssertState {
  int64_t summarize;
} AssertState;

static bool assert_construct(const KernelConstruction *construction, void *state, Status *status) {
  return node_attr_int(construction->node, "summarize", &((AssertState *)state)->summarize, status);
}

static bool assert_true(KernelContext *context, Status *status) {
  const AssertState *state = context->state;
  const Tensor *condition = context->inputs[0];
  StrBuf text = {0};
  if (!tensor_is_scalar(condition)) {
    char shape[SHAPE_TEXT_CAPACITY];
    return status_invalid(status, "In[0] should be a scalar: %s", shape_text(&condition->shape, shape));
  }
  if (*tensor_bool(condition)) return true;
  for (int i = 1; i < context->num_inputs; i++) {
    if (i > 1) strbuf_append_char(&text, ' ');
    append_values(context->inputs[i], state->summarize, &text);
  }
  if (strbuf_ok(&text, status)) status_invalid(status, "assertion failed: %s", strbuf_text(&text));
  strbuf_free(&text);
  return false;
}

const OpRegistration kOpAssert = {
    .name = "Assert",
    .inputs = {"condition: bool", "data: T"},
    .attrs = {"T: list(type) >= 1", "summarize: int = 3"},
    .is_stateful = true,
    .shape = shape_no_outputs,
    .gradient = NO_GRADIENT,
    .state_size = sizeof(AssertState),
    .construct = assert_construct,
    .kernels = {{DT_INVALID, assert_true}},
};

/* --- Print --- */

typedef struct PrintState {
  Str message;
  int64_t summarize, first_n; /* first_n < 0: always */
  atomic_llong printed;
} PrintState;

static bool print_construct(const KernelConstruction *construction, void *memory, Status *status) {
  PrintState *state = memory;
  atomic_init(&state->printed, 0);
  TRY(node_attr_string(construction->node, "message", &state->message, status));
  TRY(node_attr_int(construction->node, "first_n", &state->first_n, status));
  return node_attr_int(construction->node, "summarize", &state->summarize, status);
}

static bool print(KernelContext *context, Status *status) {
  PrintState *state = context->state;
  if (state->first_n < 0 || atomic_fetch_add(&state->printed, 1) < state->first_n) {
    StrBuf text = {0};
    strbuf_append_bytes(&text, state->message.data, state->message.length);
    for (int i = 1; i < context->num_inputs; i++) append_values(context->inputs[i], state->summarize, &text);
    bool ok = strbuf_ok(&text, status);
    if (ok) log_line(strbuf_text(&text));
    strbuf_free(&text);
    if (!ok) return false;
  }
  return kernel_set_output(context, 0, context->inputs[0], NULL, status);
}

/* The printed tensors do not influence the result: their gradients are zero. */
static bool print_gradient(const GradientRequest *request, StrBuf *text, Status *status) {
  const AttrListValue *types;
  TRY(node_attr_list(request->node, "U", ATTR_TYPE, &types, status));
  strbuf_append(text,
                "PrintGradient[T:type, U:list(type)](input:T, data:U, dy:T) -> (dinput:T, ddata:U) {\n  d = "
                "Identity[T=$T](dy)\n");
  for (size_t i = 0; i < types->n_type; i++) {
    strbuf_printf(text, "  z%zu = ZerosLike[T=%s](data:%zu)\n", i, dtype_name((int)types->type[i]), i);
  }
  if (types->n_type > 0) strbuf_append(text, "  zeros = IdentityN[T=$U](");
  for (size_t i = 0; i < types->n_type; i++) strbuf_printf(text, "%sz%zu:y:0", i > 0 ? ", " : "", i);
  strbuf_append(text, types->n_type > 0 ? ")\n  return dinput = d:output:0, ddata = zeros:output\n}\n"
                                        : "  return dinput = d:output:0, ddata = data\n}\n");
  return strbuf_ok(text, status);
}

const OpRegistration kOpPrint = {
    .name = "Print",
    .inputs = {"input: T", "data: U"},
    .outputs = {"output: T"},
    .attrs = {"T: type", "U: list(type) >= 0", "message: string = ''", "first_n: int = -1",
              "summarize: int = 3"},
    .is_stateful = true,
    .shape = shape_unchanged,
    .gradient_fn = print_gradient,
    .state_size = sizeof(PrintState),
    .construct = print_construct,
    .kernels = {{DT_INVALID, print}},
};
