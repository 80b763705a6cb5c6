#include "ops/support/index_text.h"

#include <string.h>

#include "op/node_def.h"

bool index_text(const GradientRequest *request, const char *indices, const char *text, StrBuf *out,
                Status *status) {
  DataType type;
  TRY(node_attr_type(request->node, "Tindices", &type, status));
  bool narrow = type != DT_INT32 && type != DT_INT64;
  const char *body = strchr(text, '\n') + 1;
  strbuf_append_bytes(out, text, (size_t)(body - text));
  if (narrow) strbuf_printf(out, "  wide_indices = Cast[SrcT=$Tindices, DstT=int64](%s)\n", indices);
  for (size_t length; body[length = strcspn(body, "@#")] != '\0'; body += length + 1) {
    strbuf_append_bytes(out, body, length);
    if (body[length] == '@') strbuf_append(out, narrow ? "int64" : "$Tindices");
    else strbuf_append(out, narrow ? "wide_indices:y:0" : indices);
  }
  strbuf_append(out, body);
  return strbuf_ok(out, status);
}
