/* Prints shapes, and describes the node whose shape function failed. */
#include <string.h>

#include "op/node_def.h"
#include "op/shape_inference.h"

void shape_handle_print(ShapeHandle s, StrBuf *out) {
  if (!s || !shape_rank_known(s)) {
    strbuf_append_char(out, '?');
    return;
  }
  strbuf_append_char(out, '[');
  for (int32_t i = 0; i < s->rank; i++) {
    if (i > 0) strbuf_append_char(out, ',');
    if (dim_known(s->dims[i])) {
      strbuf_printf(out, "%lld", (long long)s->dims[i]->value);
    } else {
      strbuf_append_char(out, '?');
    }
  }
  strbuf_append_char(out, ']');
}

/* The values alone: the text after "values: " in a printed tensor. */
static void print_values(const Tensor *tensor, StrBuf *out) {
  StrBuf text = {0};
  tensor_print(tensor, 256, &text);
  const char *values = strstr(strbuf_text(&text), "values: ");
  if (values && text.length > 0) {
    values += strlen("values: ");
    strbuf_append_bytes(out, values, (size_t)(text.data + text.length - 1 - values));
  }
  out->failed |= text.failed;
  strbuf_free(&text);
}

bool shape_attach_context(const InferenceContext *c, Status *status) {
  if (status->code == CODE_RESOURCE_EXHAUSTED) return false;
  StrBuf text = {0}, tensors = {0}, shapes = {0};
  strbuf_append(&text, " for '");
  node_def_summarize(c->node, &text);
  strbuf_append(&text, "' with input shapes: ");
  for (int i = 0; i < c->num_inputs; i++) {
    ShapeHandle as_shape = c->requested_tensor_as_shape[i] ? c->input_tensors_as_shapes[i] : NULL;
    if (i > 0) strbuf_append(&text, ", ");
    shape_handle_print(c->inputs[i], &text);
    if (as_shape && shape_rank_known(as_shape)) {
      strbuf_printf(&shapes, "%sinput[%d] = ", shapes.length > 0 ? "," : "", i);
      shape_handle_print(as_shape, &shapes);
    } else if (c->input_tensors[i]) {
      strbuf_printf(&tensors, "%sinput[%d] = <", tensors.length > 0 ? ", " : "", i);
      print_values(c->input_tensors[i], &tensors);
      strbuf_append_char(&tensors, '>');
    }
  }
  if (tensors.length > 0) strbuf_printf(&text, " and with computed input tensors: %s", strbuf_text(&tensors));
  if (shapes.length > 0)
    strbuf_printf(&text, " and with input tensors computed as partial shapes: %s", strbuf_text(&shapes));
  if (!(text.failed || tensors.failed || shapes.failed)) status_append(status, "%s.", strbuf_text(&text));
  strbuf_free(&text);
  strbuf_free(&tensors);
  strbuf_free(&shapes);
  return false;
}
