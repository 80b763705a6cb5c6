#include "ops/strings/string_elements.h"

bool string_put(const Tensor *tensor, int64_t i, const StrBuf *text, Status *status) {
  return strbuf_ok(text, status) &&
         tstring_set(&tensor_strings(tensor)[i], strbuf_text(text), (size_t)text->length, status);
}

bool change_strings(KernelContext *context, StringChange *change, const void *state, Status *status) {
  const Tensor *in = context->inputs[0];
  StrBuf text = {0};
  Tensor *out;
  bool ok = false;
  TRY(kernel_allocate_output(context, 0, &in->shape, &out, status));
  for (int64_t i = 0; i < tensor_num_elements(in); i++) {
    strbuf_clear(&text);
    TRY_DONE(change(state, string_at(in, i), &text, status));
    TRY_DONE(string_put(out, i, &text, status));
  }
  ok = true;
done:
  strbuf_free(&text);
  return ok;
}

bool change_strings_kernel(KernelContext *context, Status *status) {
  return change_strings(context, (StringChange *)context->data, context->state, status);
}
