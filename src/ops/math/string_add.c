#include "ops/math/string_add.h"

bool add_string(KernelContext *context, Status *status) {
  const Tensor *a = context->inputs[0], *b = context->inputs[1];
  Shape shape = {0};
  Tensor *out;
  StrBuf text = {0};
  bool ok = false;
  int64_t at[SHAPE_MAX_RANK] = {0};
  TRY_DONE(broadcast_shapes(&a->shape, &b->shape, &shape, status));
  TRY_DONE(kernel_allocate_output(context, 0, &shape, &out, status));
  int64_t count = tensor_num_elements(out);
  for (int64_t i = 0; i < count; i++) {
    int64_t index[2] = {0, 0};
    for (int side = 0; side < 2; side++) {
      const Shape *own = side == 0 ? &a->shape : &b->shape;
      for (int d = 0; d < own->rank; d++) {
        int64_t size = shape_dim(own, d);
        index[side] = index[side] * size + (size == 1 ? 0 : at[shape.rank - own->rank + d]);
      }
    }
    Str x = tstring_view(&tensor_strings(a)[index[0]]), y = tstring_view(&tensor_strings(b)[index[1]]);
    strbuf_clear(&text);
    strbuf_append_bytes(&text, x.data, x.length);
    strbuf_append_bytes(&text, y.data, y.length);
    TRY_DONE(strbuf_ok(&text, status));
    TRY_DONE(tstring_set(&tensor_strings(out)[i], strbuf_text(&text), (size_t)text.length, status));
    for (int d = shape.rank - 1; d >= 0 && ++at[d] == shape_dim(&shape, d); d--) at[d] = 0;
  }
  ok = true;
done:
  strbuf_free(&text);
  shape_clear(&shape);
  return ok;
}
