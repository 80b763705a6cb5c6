/* Attr values in function texts: printing. */
#include <stdlib.h>
#include <string.h>

#include "function/text/function_text_internal.h"
#include "op/node_def.h"

/* --- as TensorFlow prints them --- */

static void print_types(const AttrListValue *list, StrBuf *out) {
  strbuf_append_char(out, '{');
  for (size_t i = 0; i < list->n_type; i++)
    strbuf_printf(out, "%s%s", i == 0 ? "" : ", ", dtype_name((int)list->type[i]));
  strbuf_append_char(out, '}');
}

void value_print(const AttrValue *value, StrBuf *out) {
  Status ignored;
  status_init(&ignored);
  switch ((AttrKind)value->value_case) {
    case ATTR_TYPE: strbuf_append(out, dtype_name((int)value->type)); return;
    case ATTR_FUNC:
      strbuf_append(out, value->func->name);
      if (value->func->n_attr == 0) return;
      strbuf_append_char(out, '[');
      if (!attrs_print((const AttrEntry *const *)value->func->attr, value->func->n_attr, false, "", out,
                       &ignored)) {
        out->failed = true;
      }
      strbuf_append_char(out, ']');
      return;
    case ATTR_LIST:
      if (value->list->n_type > 0) {
        print_types(value->list, out);
        return;
      }
      break;
    default: break;
  }
  attr_value_summarize(value, out);
}

/* --- in full --- */

/* Any value, in protobuf text format. */
static void print_escaped(const AttrValue *value, StrBuf *out) {
  strbuf_append(out, "Attr<");
  proto_print_text(value, PROTO_TEXT_SHORT, out);
  strbuf_append_char(out, '>');
}

static void print_quoted(ProtobufCBinaryData bytes, StrBuf *out) {
  strbuf_append_char(out, '"');
  strbuf_append_c_escaped(out, bytes.data, bytes.len);
  strbuf_append_char(out, '"');
}

static void print_shape(const TensorShapeProto *shape, StrBuf *out) {
  strbuf_append(out, "Shape<");
  if (shape->unknown_rank) {
    strbuf_append_char(out, '?');
  } else {
    for (size_t i = 0; i < shape->n_dim; i++) {
      strbuf_append_char(out, i == 0 ? '[' : ',');
      if (shape->dim[i]->size < 0) {
        strbuf_append_char(out, '?');
      } else {
        strbuf_printf(out, "%lld", (long long)shape->dim[i]->size);
      }
    }
    strbuf_append(out, shape->n_dim == 0 ? "[]" : "]");
  }
  strbuf_append_char(out, '>');
}

static void print_tensor(const TensorProto *proto, StrBuf *out) {
  Status status;
  status_init(&status);
  Tensor tensor = {0};
  Number number;
  enum { MOST = 64 }; /* longer tensors are written in protobuf text format */
  int64_t count;
  bool readable = shape_check_proto(proto->tensor_shape, &count, &status) && count <= MOST &&
                  tensor_from_proto(proto, &tensor, &status);
  for (int64_t i = 0; readable && i < tensor_num_elements(&tensor); i++)
    readable = number_of_tensor(&tensor, i, &number);
  if (readable) {
    strbuf_printf(out, "Tensor<type: %s shape: ", dtype_name(tensor.dtype));
    shape_print(&tensor.shape, out);
    strbuf_append(out, " values:");
    for (int64_t i = 0; i < tensor_num_elements(&tensor); i++) {
      strbuf_append_char(out, ' ');
      (void)number_of_tensor(&tensor, i, &number);
      number_print(&number, tensor.dtype != DT_DOUBLE, out);
    }
    strbuf_append_char(out, '>');
  }
  out->failed |= status.code == CODE_RESOURCE_EXHAUSTED;
  tensor_clear(&tensor);
}

/* `i` is printed like the element of a list with one element, without the list's brackets. */
static bool print_element(const AttrListValue *list, size_t i, StrBuf *out, Status *status) {
  AttrValue element;
  tensorflow__attr_value__init(&element);
  if (list->n_s > 0) {
    print_quoted(list->s[i], out);
  } else if (list->n_i > 0) {
    strbuf_printf(out, "%lld", (long long)list->i[i]);
  } else if (list->n_f > 0) {
    number_print(&(Number){.is_float = true, .f = list->f[i]}, true, out);
  } else if (list->n_b > 0) {
    strbuf_append(out, list->b[i] ? "true" : "false");
  } else if (list->n_shape > 0) {
    print_shape(list->shape[i], out);
  } else if (list->n_tensor > 0) {
    print_tensor(list->tensor[i], out);
  } else {
    element.value_case = (int)ATTR_FUNC;
    element.func = list->func[i];
    return value_print_full(&element, out, status);
  }
  return true;
}

static bool print_list(const AttrListValue *list, StrBuf *out, Status *status) {
  if (list->n_type > 0) {
    print_types(list, out);
    return true;
  }
  size_t count =
      list->n_s + list->n_i + list->n_f + list->n_b + list->n_shape + list->n_tensor + list->n_func;
  size_t most = list->n_s;
  if (list->n_i > most) most = list->n_i;
  if (list->n_f > most) most = list->n_f;
  if (list->n_b > most) most = list->n_b;
  if (list->n_shape > most) most = list->n_shape;
  if (list->n_tensor > most) most = list->n_tensor;
  if (list->n_func > most) most = list->n_func;
  if (most != count) return true; /* of several kinds: the caller will find that this does not read back */
  strbuf_append_char(out, '[');
  for (size_t i = 0; i < count; i++) {
    if (i > 0) strbuf_append(out, ", ");
    TRY(print_element(list, i, out, status));
  }
  strbuf_append_char(out, ']');
  return true;
}

static bool print_readable(const AttrValue *value, StrBuf *out, Status *status) {
  switch ((AttrKind)value->value_case) {
    case ATTR_STRING: print_quoted(value->s, out); return true;
    case ATTR_INT: strbuf_printf(out, "%lld", (long long)value->i); return true;
    case ATTR_FLOAT: number_print(&(Number){.is_float = true, .f = value->f}, true, out); return true;
    case ATTR_BOOL: strbuf_append(out, value->b ? "true" : "false"); return true;
    case ATTR_TYPE: strbuf_append(out, dtype_name((int)value->type)); return true;
    case ATTR_SHAPE: print_shape(value->shape, out); return true;
    case ATTR_TENSOR: print_tensor(value->tensor, out); return true;
    case ATTR_PLACEHOLDER: strbuf_printf(out, "$%s", value->placeholder); return true;
    case ATTR_LIST: return print_list(value->list, out, status);
    case ATTR_NOT_SET: strbuf_append(out, "<Unknown AttrValue type>"); return true;
    case ATTR_FUNC:
      print_name(value->func->name, NODE_NAME_CHARS, out);
      strbuf_append_char(out, '[');
      TRY(attrs_print((const AttrEntry *const *)value->func->attr, value->func->n_attr, true, "", out,
                      status));
      strbuf_append_char(out, ']');
      return true;
  }
  return true;
}

/* *same: `text` is one value, and that value. False only when out of memory. */
static bool reads_back(const AttrValue *value, const StrBuf *text, bool *same, Status *status) {
  Status refused;
  status_init(&refused);
  Arena *arena = arena_new();
  if (!arena) return status_oom(status, "the text of a value");
  Cursor c = {strbuf_text(text), strbuf_text(text), strbuf_text(text) + text->length, arena, &refused, 0};
  AttrValue *back;
  *same = value_parse(&c, &back) && cursor_peek(&c) == 0 && proto_equal(value, back);
  arena_free(arena);
  if (refused.code == CODE_RESOURCE_EXHAUSTED) *status = refused;
  return refused.code != CODE_RESOURCE_EXHAUSTED;
}

bool value_print_full(const AttrValue *value, StrBuf *out, Status *status) {
  StrBuf text = {0};
  bool same = false;
  bool ok = print_readable(value, &text, status) && strbuf_ok(&text, status) &&
            reads_back(value, &text, &same, status);
  if (ok && same) {
    strbuf_append(out, strbuf_text(&text));
  } else if (ok) {
    print_escaped(value, out);
  }
  strbuf_free(&text);
  return ok;
}

/* --- sorted entries --- */

void entry_list_add(EntryList *list, StrBuf *entry) {
  bool room =
      !entry->failed && mem_grow((void **)&list->entries, &list->capacity, list->count + 1, sizeof(char *));
  char *text = room ? mem_strdup(strbuf_text(entry), (size_t)entry->length) : NULL;
  if (!text) {
    list->failed = true;
  } else {
    list->entries[list->count++] = text;
  }
  strbuf_free(entry);
  *entry = (StrBuf){0};
}

static int compare_entries(const void *a, const void *b) {
  return strcmp(*(char *const *)a, *(char *const *)b);
}

void entry_list_write(EntryList *list, const char *separator, StrBuf *out) {
  if (list->failed) out->failed = true;
  if (list->count > 1) qsort(list->entries, (size_t)list->count, sizeof(char *), compare_entries);
  for (int64_t i = 0; i < list->count; i++) {
    if (i > 0) strbuf_append(out, separator);
    strbuf_append(out, list->entries[i]);
  }
}

void entry_list_free(EntryList *list) {
  for (int64_t i = 0; i < list->count; i++) mem_free(list->entries[i]);
  mem_free(list->entries);
  *list = (EntryList){0};
}

bool attrs_print(const AttrEntry *const *attrs, size_t count, bool full, const char *tail, StrBuf *out,
                 Status *status) {
  bool ok = true;
  EntryList list = {0};
  for (size_t i = 0; ok && i < count; i++) {
    StrBuf entry = {0};
    if (full) {
      print_name(attrs[i]->key, NODE_NAME_CHARS, &entry);
    } else {
      strbuf_append(&entry, attrs[i]->key);
    }
    strbuf_append_char(&entry, '=');
    if (!attrs[i]->value) {
      strbuf_append(&entry, "<Unknown AttrValue type>");
    } else if (full) {
      ok = value_print_full(attrs[i]->value, &entry, status);
    } else {
      value_print(attrs[i]->value, &entry);
    }
    entry_list_add(&list, &entry);
  }
  if (list.failed && ok) ok = status_oom(status, "printing a function");
  if (ok) {
    entry_list_write(&list, ", ", out);
    if (tail[0] != 0) strbuf_printf(out, "%s%s", list.count > 0 ? ", " : "", tail);
  }
  entry_list_free(&list);
  return ok;
}

bool op_print(const NodeDef *node, bool full, StrBuf *out, Status *status) {
  if (full) {
    print_name(node->op, NODE_NAME_CHARS, out);
  } else {
    strbuf_append(out, node->op);
  }
  if (node->n_attr == 0 && node->device[0] == 0) return true;
  StrBuf device = {0};
  if (node->device[0] != 0) strbuf_printf(&device, "device=%s", node->device);
  strbuf_append_char(out, '[');
  bool ok = strbuf_ok(&device, status) && attrs_print((const AttrEntry *const *)node->attr, node->n_attr,
                                                      full, strbuf_text(&device), out, status);
  strbuf_append_char(out, ']');
  strbuf_free(&device);
  return ok;
}
