#include "ops/support/conjugate.h"

#include <string.h>

#include "op/node_def.h"

enum { MAX_CONJUGATES = 4 };

static size_t name_length(const char *name) { return strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_"); }

/* Adds a node for each name that is marked in `body`. */
static void append_conjugates(const char *body, StrBuf *out) {
  Str seen[MAX_CONJUGATES];
  int count = 0;
  for (const char *p = body; (p = strchr(p, '~'));) {
    p++;
    Str name = {p, name_length(p)};
    bool known = count == MAX_CONJUGATES;
    for (int i = 0; i < count; i++) known = known || str_equal(seen[i], name);
    if (known) continue;
    seen[count++] = name;
    strbuf_printf(out, "  conj_%.*s = Conj[T=$T](%.*s)\n", (int)name.length, name.data, (int)name.length,
                  name.data);
  }
}

bool conjugate_text(const GradientRequest *request, const char *text, StrBuf *out, Status *status) {
  DataType type;
  TRY(node_attr_type(request->node, "T", &type, status));
  bool is_complex = dtype_is_complex((int)type);
  const char *body = strchr(text, '\n') + 1;
  strbuf_append_bytes(out, text, (size_t)(body - text));
  if (is_complex) append_conjugates(body, out);
  for (const char *mark; (mark = strchr(body, '~'));) {
    size_t length = name_length(mark + 1);
    strbuf_append_bytes(out, body, (size_t)(mark - body));
    if (is_complex) strbuf_append(out, "conj_");
    strbuf_append_bytes(out, mark + 1, length);
    if (is_complex) strbuf_append(out, ":output:0");
    body = mark + 1 + length;
  }
  strbuf_append(out, body);
  return strbuf_ok(out, status);
}
