/* Printing instantiated functions. */
#include <string.h>

#include "function/function_internal.h"
#include "function/instantiate.h"

static void print_boundary(const InstantiationResult *body, int first, int count, bool rets, StrBuf *out) {
  strbuf_append_char(out, '(');
  for (int i = 0; i < count; i++) {
    const NodeDef *def = body->nodes[first + i].def;
    const char *name = !rets ? def->name : def->n_input > 0 ? def->input[0] : "";
    strbuf_printf(out, "%s%s:%s", i == 0 ? "" : ", ", name,
                  dtype_name(rets ? body->ret_types[i] : body->arg_types[i]));
  }
  strbuf_append_char(out, ')');
}

static void print_node(const NodeDef *def, StrBuf *out) {
  Status status;
  status_init(&status);
  strbuf_printf(out, "  %s = ", def->name);
  if (!op_print(def, false, out, &status)) out->failed = true;
  strbuf_append_char(out, '(');
  size_t i = 0;
  for (; i < def->n_input && def->input[i][0] != '^'; i++)
    strbuf_printf(out, "%s%s", i == 0 ? "" : ", ", def->input[i]);
  strbuf_append_char(out, ')');
  for (size_t first = i; i < def->n_input; i++)
    strbuf_printf(out, "%s%s", i == first ? " @ " : ", ", def->input[i] + 1);
  strbuf_append_char(out, '\n');
}

void instantiation_print(const InstantiationResult *body, StrBuf *out) {
  int ret = body->num_nodes - body->num_rets;
  strbuf_append_char(out, '\n');
  print_boundary(body, 0, body->num_args, false, out);
  strbuf_append(out, " -> ");
  print_boundary(body, ret, body->num_rets, true, out);
  strbuf_append(out, " {\n");
  for (int i = body->num_args; i < ret; i++) print_node(body->nodes[i].def, out);
  strbuf_append(out, "}\n");
}
