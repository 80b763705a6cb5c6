/* NodeDefs and attr values as one line of text. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "op/node_def.h"

enum {
  LONGEST_STRING = 79, /* of longer ones, 10 characters at each end are printed */
  KEPT_CHARACTERS = 10,
  LONGEST_LIST = 14, /* of longer ones, 5 elements at each end are printed */
  KEPT_ELEMENTS = 5,
  TENSOR_ELEMENTS = 3,
  MANY_ATTRS = 16,
};

/* --- attr values --- */

static void append_value(const AttrValue *value, int depth, StrBuf *out);

/* An invalid dtype prints nothing, as in TensorFlow. */
static void append_type(int type, StrBuf *out) {
  if (type == DT_INVALID || dtype_is_valid(type)) strbuf_append(out, dtype_enum_name(type));
}

static void append_string(const ProtobufCBinaryData *bytes, StrBuf *out) {
  StrBuf escaped = {0};
  strbuf_append_c_escaped(&escaped, bytes->data, bytes->len);
  strbuf_append_char(out, '"');
  if (escaped.length > LONGEST_STRING) {
    strbuf_append_bytes(out, escaped.data, KEPT_CHARACTERS);
    strbuf_append(out, "...");
    strbuf_append_bytes(out, escaped.data + escaped.length - KEPT_CHARACTERS, KEPT_CHARACTERS);
  } else {
    strbuf_append(out, strbuf_text(&escaped));
  }
  strbuf_append_char(out, '"');
  out->failed |= escaped.failed;
  strbuf_free(&escaped);
}

static void append_float(float f, StrBuf *out) {
  if (isnan(f)) {
    strbuf_append(out, "nan");
  } else if (isinf(f)) {
    strbuf_append(out, f > 0 ? "inf" : "-inf");
  } else {
    strbuf_printf(out, "%g", (double)f);
  }
}

static void append_shape(const TensorShapeProto *shape, StrBuf *out) {
  if (shape->unknown_rank) {
    strbuf_append(out, "<unknown>");
    return;
  }
  strbuf_append_char(out, '[');
  for (size_t i = 0; i < shape->n_dim; i++) {
    if (i > 0) strbuf_append_char(out, ',');
    if (shape->dim[i]->size < 0) {
      strbuf_append_char(out, '?');
    } else {
      strbuf_printf(out, "%" PRId64, shape->dim[i]->size);
    }
  }
  strbuf_append_char(out, ']');
}

typedef struct NamedValue {
  const char *name;
  const AttrValue *value;
} NamedValue;

static int compare_names(const void *a, const void *b) {
  return strcmp(((const NamedValue *)a)->name, ((const NamedValue *)b)->name);
}

/* "a=1, b=2", sorted by name. Sorts `values`. */
static void append_named(NamedValue *values, size_t count, int depth, StrBuf *out) {
  qsort(values, count, sizeof *values, compare_names);
  for (size_t i = 0; i < count; i++) {
    if (i > 0) strbuf_append(out, ", ");
    strbuf_append(out, values[i].name);
    strbuf_append_char(out, '=');
    append_value(values[i].value, depth, out);
  }
}

/* Returns `few`, or allocated memory if that is too small; NULL (and the buffer fails) when out of memory. */
static NamedValue *named_values(NamedValue few[MANY_ATTRS], size_t count, StrBuf *out) {
  if (count <= MANY_ATTRS) return few;
  NamedValue *many = mem_alloc((int64_t)(count * sizeof *many));
  out->failed |= !many;
  return many;
}

static void append_func(const NameAttrList *func, int depth, StrBuf *out) {
  NamedValue few[MANY_ATTRS], *values = named_values(few, func->n_attr, out);
  if (!values) return;
  for (size_t i = 0; i < func->n_attr; i++)
    values[i] = (NamedValue){func->attr[i]->key, func->attr[i]->value};
  strbuf_append(out, func->name);
  strbuf_append_char(out, '[');
  append_named(values, func->n_attr, depth + 1, out);
  strbuf_append_char(out, ']');
  if (values != few) mem_free(values);
}

/* Prints element `i` of the field that is set. */
static void append_element(const AttrListValue *list, size_t i, int depth, StrBuf *out) {
  if (list->n_s > 0) {
    append_string(&list->s[i], out);
  } else if (list->n_i > 0) {
    strbuf_printf(out, "%" PRId64, list->i[i]);
  } else if (list->n_f > 0) {
    append_float(list->f[i], out);
  } else if (list->n_b > 0) {
    strbuf_append(out, list->b[i] ? "true" : "false");
  } else if (list->n_type > 0) {
    append_type((int)list->type[i], out);
  } else if (list->n_shape > 0) {
    append_shape(list->shape[i], out);
  } else if (list->n_tensor > 0) {
    tensor_proto_print(list->tensor[i], TENSOR_ELEMENTS, out);
  } else {
    append_func(list->func[i], depth, out);
  }
}

static size_t list_length(const AttrListValue *list) {
  const size_t counts[] = {list->n_s,    list->n_i,     list->n_f,      list->n_b,
                           list->n_type, list->n_shape, list->n_tensor, list->n_func};
  for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
    if (counts[i] > 0) return counts[i];
  }
  return 0;
}

static void append_list(const AttrListValue *list, int depth, StrBuf *out) {
  size_t length = list_length(list);
  strbuf_append_char(out, '[');
  for (size_t i = 0; i < length; i++) {
    if (i > 0) strbuf_append(out, ", ");
    if (i == KEPT_ELEMENTS && length > LONGEST_LIST) {
      strbuf_append(out, "..., ");
      i = length - KEPT_ELEMENTS;
    }
    append_element(list, i, depth, out);
  }
  strbuf_append_char(out, ']');
}

static void append_value(const AttrValue *value, int depth, StrBuf *out) {
  if (depth > PROTO_MAX_DEPTH) {
    strbuf_append(out, "...");
    return;
  }
  switch ((AttrKind)value->value_case) {
    case ATTR_STRING: append_string(&value->s, out); return;
    case ATTR_INT: strbuf_printf(out, "%" PRId64, value->i); return;
    case ATTR_FLOAT: append_float(value->f, out); return;
    case ATTR_BOOL: strbuf_append(out, value->b ? "true" : "false"); return;
    case ATTR_TYPE: append_type((int)value->type, out); return;
    case ATTR_SHAPE: append_shape(value->shape, out); return;
    case ATTR_TENSOR: tensor_proto_print(value->tensor, TENSOR_ELEMENTS, out); return;
    case ATTR_LIST: append_list(value->list, depth, out); return;
    case ATTR_FUNC: append_func(value->func, depth, out); return;
    case ATTR_PLACEHOLDER:
      strbuf_append_char(out, '$');
      strbuf_append(out, value->placeholder);
      return;
    case ATTR_NOT_SET: break;
  }
  strbuf_append(out, "<Unknown AttrValue type>");
}

void attr_value_summarize(const AttrValue *value, StrBuf *out) { append_value(value, 0, out); }

/* --- nodes --- */

void node_def_format_for_error(const NodeDef *node, StrBuf *out) {
  const Tensorflow__NodeDef__ExperimentalDebugInfo *info = node->experimental_debug_info;
  if (!info || info->n_original_node_names == 0) {
    strbuf_printf(out, "{{node %s}}", node->name);
    return;
  }
  for (size_t i = 0; i < info->n_original_node_names; i++) {
    if (i > 0) strbuf_append(out, ", ");
    if (i < info->n_original_func_names)
      strbuf_printf(out, "{{function_node %s}}", info->original_func_names[i]);
    strbuf_printf(out, "{{node %s}}", info->original_node_names[i]);
  }
}

void node_def_summarize(const NodeDef *node, StrBuf *out) {
  NamedValue few[MANY_ATTRS], *values = named_values(few, node->n_attr, out);
  if (!values) return;
  for (size_t i = 0; i < node->n_attr; i++)
    values[i] = (NamedValue){node->attr[i]->key, node->attr[i]->value};
  node_def_format_for_error(node, out);
  strbuf_append(out, " = ");
  strbuf_append(out, node->op);
  strbuf_append_char(out, '[');
  append_named(values, node->n_attr, 0, out);
  if (node->device[0]) {
    strbuf_append(out, node->n_attr > 0 ? ", _device=\"" : "_device=\"");
    strbuf_append(out, node->device);
    strbuf_append_char(out, '"');
  }
  strbuf_append(out, "](");
  for (size_t i = 0; i < node->n_input; i++) {
    if (i > 0) strbuf_append(out, ", ");
    strbuf_append(out, node->input[i]);
  }
  strbuf_append_char(out, ')');
  if (values != few) mem_free(values);
}

/* --- nodes in error messages --- */

static bool has_node(const Status *status) { return strstr(status->message, "{{node ") != NULL; }

bool node_attach(const char *node_name, Status *status) {
  return has_node(status) ? false : status_append(status, "\n\t [[{{node %s}}]]", node_name);
}

bool node_attach_level(const char *node_name, Status *status) {
  return has_node(status) ? status_append(status, "\n\t [[%s]]", node_name) : node_attach(node_name, status);
}

bool node_def_attach(const NodeDef *node, bool even_if_attached, Status *status) {
  if (!even_if_attached && has_node(status)) return false;
  StrBuf text = {0};
  node_def_format_for_error(node, &text);
  if (!text.failed) status_append(status, "\n\t [[%s]]", strbuf_text(&text));
  strbuf_free(&text);
  return false;
}
