/* Shapes as text. */
#include "op/shape_inference.h"

void shape_handle_print(ShapeHandle s, StrBuf *out) {
  if (s == NULL || !shape_rank_known(s)) {
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
