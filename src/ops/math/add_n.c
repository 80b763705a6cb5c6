/* The sum of N tensors of one shape: combines the gradients of a value. */
#include "op/node_def.h"
#include "op/op_registry.h"
#include "ops/support/element_types.h"
#include "ops/support/elementwise.h"
#include "ops/support/number_sum.h"
#include "ops/support/variant.h"

static bool add_n(KernelContext *context, Status *status) {
  const Tensor *first = context->inputs[0];
  TRY(elementwise_check_shapes(context, status));
  if (context->num_inputs == 1) return kernel_set_output(context, 0, first, NULL, status);
  Tensor *out;
  TRY(kernel_forward_or_allocate(context, 0, 0, &first->shape, &out, status));
  return number_sum(context->inputs, context->num_inputs, out, context->parallel, status);
}

static bool add_n_variant(KernelContext *context, Status *status) {
  Tensor total = {0};
  bool ok = tensor_assign(&total, context->inputs[0], status);
  for (int i = 1; ok && i < context->num_inputs; i++) {
    Tensor next = {0};
    ok = tensor_sum(context, &total, context->inputs[i], 0, &next, status);
    tensor_clear(&total);
    tensor_move(&total, &next);
  }
  ok = ok && kernel_set_output(context, 0, &total, NULL, status);
  tensor_clear(&total);
  return ok;
}

/* The merged shape of all inputs. */
static bool add_n_shape(InferenceContext *c, Status *status) {
  ShapeHandle merged = shape_input(c, c->num_inputs - 1);
  for (int i = c->num_inputs - 2; i >= 0; i--) {
    if (!shape_merge(c, shape_input(c, i), merged, &merged, status)) {
      return status_append(status, "\n\tFrom merging shape %d with other shapes.", i);
    }
  }
  shape_set_output(c, 0, merged);
  return true;
}

/* Every input gets dy. */
static bool add_n_gradient(const GradientRequest *request, StrBuf *text, Status *status) {
  int64_t n;
  TRY(node_attr_int(request->node, "N", &n, status));
  strbuf_append(text, "AddNGradient[T:type](");
  for (int64_t i = 0; i < n; i++) strbuf_printf(text, "x%lld:T, ", (long long)i);
  strbuf_append(text, "dy:T) -> (");
  for (int64_t i = 0; i < n; i++) strbuf_printf(text, "%sdx%lld:T", i == 0 ? "" : ", ", (long long)i);
  strbuf_append(text, ") {\n  return ");
  for (int64_t i = 0; i < n; i++) strbuf_printf(text, "%sdx%lld = dy", i == 0 ? "" : ", ", (long long)i);
  strbuf_append(text, "\n}\n");
  return strbuf_ok(text, status);
}

const OpRegistration kOpAddN = {
    .name = "AddN",
    .inputs = {"inputs: N * T"},
    .outputs = {"sum: T"},
    .attrs = {"N: int >= 1", "T: {" NUMBER_TYPES ", variant}"},
    .is_commutative = true,
    .is_aggregate = true,
    .shape = add_n_shape,
    .gradient_fn = add_n_gradient,
    .kernels = {NUMBER_KERNELS(add_n), {DT_VARIANT, add_n_variant}},
};
