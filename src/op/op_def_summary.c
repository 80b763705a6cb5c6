/* Prints an OpDef in one line, as TensorFlow does. */
#include <inttypes.h>

#include "op/node_def.h"
#include "op/op_def_builder.h"

/* An arg whose type is a list attr prints no type, as in TensorFlow. */
static void append_args(ArgDef *const *args, size_t count, StrBuf *out) {
  for (size_t i = 0; i < count; i++) {
    const ArgDef *arg = args[i];
    if (i > 0) strbuf_append(out, ", ");
    strbuf_append(out, arg->name);
    strbuf_append_char(out, ':');
    if (arg->is_ref) strbuf_append(out, "Ref(");
    if (arg->number_attr[0]) {
      strbuf_append(out, arg->number_attr);
      strbuf_append_char(out, '*');
    }
    strbuf_append(out, (int)arg->type != DT_INVALID ? dtype_name((int)arg->type) : arg->type_attr);
    if (arg->is_ref) strbuf_append_char(out, ')');
  }
}

static void append_attr(const AttrDef *attr, StrBuf *out) {
  strbuf_append(out, "; attr=");
  strbuf_append(out, attr->name);
  strbuf_append_char(out, ':');
  strbuf_append(out, attr->type);
  if (attr->default_value) {
    strbuf_append(out, ",default=");
    attr_value_summarize(attr->default_value, out);
  }
  if (attr->has_minimum) strbuf_printf(out, ",min=%" PRId64, attr->minimum);
  if (attr->allowed_values) {
    strbuf_append(out, ",allowed=");
    attr_value_summarize(attr->allowed_values, out);
  }
}

void op_def_summarize(const OpDef *op_def, StrBuf *out) {
  strbuf_append(out, "Op<name=");
  strbuf_append(out, op_def->name);
  strbuf_append(out, "; signature=");
  append_args(op_def->input_arg, op_def->n_input_arg, out);
  strbuf_append(out, " -> ");
  append_args(op_def->output_arg, op_def->n_output_arg, out);
  for (size_t i = 0; i < op_def->n_attr; i++) append_attr(op_def->attr[i], out);
  if (op_def->is_commutative) strbuf_append(out, "; is_commutative=true");
  if (op_def->is_aggregate) strbuf_append(out, "; is_aggregate=true");
  if (op_def->is_stateful) strbuf_append(out, "; is_stateful=true");
  if (op_def->allows_uninitialized_input) strbuf_append(out, "; allows_uninitialized_input=true");
  if (op_def->is_distributed_communication) strbuf_append(out, "; is_distributed_communication=true");
  strbuf_append_char(out, '>');
}
