#include "ops/math/string_add.h"

#include "base/odometer.h"

bool add_string(KernelContext *context, Status *status) {
  const Tensor *a = context->inputs[0], *b = context->inputs[1];
  Shape shape = {0};
  Tensor *out;
  StrBuf text = {0};
  bool ok = false;
  int64_t index[BROADCAST_MAX_RANK];
  Broadcast plan;
  TRY_DONE(broadcast_shapes(&a->shape, &b->shape, &shape, status));
  TRY_DONE(kernel_allocate_output(context, 0, &shape, &out, status));
  broadcast_plan(&a->shape, &b->shape, &plan);
  Odometer o = {.rank = plan.rank,
                .dims = plan.dims,
                .strides = {plan.stride_a, plan.stride_b},
                .index = index};
  if (plan.elements > 0) odometer_seek(&o, 2, 0);
  for (int64_t i = 0; i < plan.elements; i++, odometer_advance(&o, 2, 1)) {
    Str x = tstring_view(&tensor_strings(a)[o.at[0]]), y = tstring_view(&tensor_strings(b)[o.at[1]]);
    strbuf_clear(&text);
    strbuf_append_bytes(&text, x.data, x.length);
    strbuf_append_bytes(&text, y.data, y.length);
    TRY_DONE(strbuf_ok(&text, status));
    TRY_DONE(tstring_set(&tensor_strings(out)[i], strbuf_text(&text), (size_t)text.length, status));
  }
  ok = true;
done:
  strbuf_free(&text);
  shape_clear(&shape);
  return ok;
}
