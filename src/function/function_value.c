/* Attr values in function texts. */
#include <stdlib.h>
#include <string.h>

#include "function/function_internal.h"
#include "op/node_def.h"

static bool oom(Cursor *c) { return status_oom(c->status, "function text"); }

static bool take_value(Cursor *c, AttrValue *made, AttrValue **value) {
  *value = made;
  return made != NULL || oom(c);
}

/* --- parsing --- */

/* "float", "DT_FLOAT", "float_ref"; DT_INVALID when it is no type. */
static int type_of_word(const char *word) {
  int dtype = dtype_from_name(str_of(word));
  if (dtype != DT_INVALID || !text_starts_with(word, "DT_")) return dtype;
  for (int i = 1; i < NUM_DTYPES; i++) {
    if (strcmp(word, dtype_enum_name(i)) == 0) return i;
    if (strcmp(word, dtype_enum_name(dtype_ref(i))) == 0) return dtype_ref(i);
  }
  return DT_INVALID;
}

static bool parse_func(Cursor *c, char *name, AttrValue **value) {
  TRY(take_value(c, attr_value_func(c->arena, name, NULL), value));
  if (!cursor_take(c, "[") || cursor_take(c, "]")) return true;
  NameAttrList *func = (*value)->func;
  do {
    FuncAttrEntry *entry = proto_new(&tensorflow__name_attr_list__attr_entry__descriptor, c->arena);
    if (entry == NULL) return oom(c);
    TRY(cursor_name(c, NODE_NAME_CHARS, "the name of an attr", &entry->key));
    for (size_t i = 0; i < func->n_attr; i++) {
      if (strcmp(func->attr[i]->key, entry->key) == 0) return cursor_error(c, "attr '%s' is given twice", entry->key);
    }
    TRY(cursor_expect(c, "=", "the name of an attr"));
    TRY(value_parse(c, &entry->value));
    TRY(proto_append(c->arena, (void ***)&func->attr, &func->n_attr, entry, c->status));
  } while (cursor_take(c, ","));
  return cursor_expect(c, "]", "the attrs of a function");
}

static bool parse_types(Cursor *c, AttrValue **value) {
  int types[256];
  size_t count = 0;
  while (!cursor_take(c, "}")) {
    if (count > 0) TRY(cursor_expect(c, ",", "a type"));
    char *word;
    TRY(cursor_name(c, "", "a type", &word));
    if (count == sizeof types / sizeof types[0]) {
      return cursor_error(c, "a list of more than %d types: write it as Attr<...>", (int)count);
    }
    types[count] = type_of_word(word);
    if (types[count++] == DT_INVALID) return cursor_error(c, "'%s' is no type", word);
  }
  return take_value(c, attr_value_type_list(c->arena, types, count), value);
}

/* "[1,?]", "?" or "<unknown>". */
static bool parse_shape(Cursor *c, AttrValue **value) {
  if (cursor_take(c, "?") || cursor_take(c, "<unknown>")) return take_value(c, attr_value_shape(c->arena, -1, NULL), value);
  int64_t dims[SHAPE_MAX_RANK];
  int rank = 0;
  TRY(cursor_expect(c, "[", "a shape"));
  while (!cursor_take(c, "]")) {
    if (rank > 0) TRY(cursor_expect(c, ",", "a size"));
    if (rank == SHAPE_MAX_RANK) return cursor_error(c, "a shape of more than %d dimensions", SHAPE_MAX_RANK);
    Number size = {.i = -1};
    if (!cursor_take(c, "?")) TRY(number_parse(c, &size));
    if (size.is_float || size.i < -1) return cursor_error(c, "a size must be an integer that is not negative, or ?");
    dims[rank++] = size.i;
  }
  return take_value(c, attr_value_shape(c->arena, rank, dims), value);
}

static bool parse_shape_in_angles(Cursor *c, AttrValue **value) {
  TRY(cursor_expect(c, "<", "Shape"));
  TRY(parse_shape(c, value));
  return cursor_expect(c, ">", "a shape");
}

/* The values of "Tensor<type: int32 shape: [2,2] values: [1 2][3 4]>": brackets only show the rows. */
static bool parse_tensor_values(Cursor *c, Number **numbers, int64_t *count) {
  int64_t capacity = 0;
  *numbers = NULL;
  *count = 0;
  while (!cursor_take(c, ">")) {
    if (cursor_take(c, "[") || cursor_take(c, "]")) continue;
    if (cursor_take(c, "...")) return cursor_error(c, "the values of this tensor were cut when it was printed");
    if (*count == capacity) {
      int64_t size = (int64_t)sizeof(Number), larger = capacity == 0 ? 8 : 2 * capacity;
      *numbers = arena_grow(c->arena, *numbers, capacity * size, larger * size);
      if (*numbers == NULL) return oom(c);
      capacity = larger;
    }
    Number *number = &(*numbers)[(*count)++];
    *number = (Number){0};
    if (cursor_take(c, "true")) {
      number->i = 1;
    } else if (!cursor_take(c, "false")) {
      if (!number_starts(c)) return cursor_error(c, "expected a number or '>' in the values of a tensor");
      TRY(number_parse(c, number));
    }
  }
  return true;
}

static bool parse_tensor(Cursor *c, AttrValue **value) {
  Cursor begin = *c;
  TRY(cursor_expect(c, "<", "Tensor"));
  TRY(cursor_expect(c, "type:", "Tensor<"));
  char *word;
  TRY(cursor_name(c, "", "a type", &word));
  int dtype = type_of_word(word);
  if (dtype == DT_INVALID) return cursor_error(c, "'%s' is no type", word);
  TRY(cursor_expect(c, "shape:", "the type of a tensor"));
  AttrValue *shape;
  TRY(parse_shape(c, &shape));
  TRY(cursor_expect(c, "values:", "the shape of a tensor"));
  Number *numbers;
  int64_t count;
  TRY(parse_tensor_values(c, &numbers, &count));
  Status inner;
  status_init(&inner);
  TensorProto *tensor;
  if (number_tensor(dtype, shape->shape, numbers, count, c->arena, &tensor, &inner)) {
    return take_value(c, attr_value_tensor(c->arena, tensor), value);
  }
  if (inner.code != CODE_INVALID_ARGUMENT) {
    *c->status = inner;
    return false;
  }
  return cursor_error(&begin, "%s", inner.message);
}

static bool parse_word(Cursor *c, AttrValue **value) {
  bool quoted = cursor_peek(c) == '`';
  char *word;
  TRY(cursor_name(c, NODE_NAME_CHARS, "a value", &word));
  bool angle = c->at < c->end && *c->at == '<';
  if (!quoted && angle && strcmp(word, "Tensor") == 0) return parse_tensor(c, value);
  if (!quoted && angle && strcmp(word, "Shape") == 0) return parse_shape_in_angles(c, value);
  if (!quoted && angle && strcmp(word, "Attr") == 0) {
    void *message;
    TRY(cursor_message(c, kAttrValue, &message));
    *value = message;
    return true;
  }
  bool brackets = c->at < c->end && *c->at == '[';
  if (quoted || brackets) return parse_func(c, word, value);
  if (strcmp(word, "true") == 0) return take_value(c, attr_value_bool(c->arena, true), value);
  if (strcmp(word, "false") == 0) return take_value(c, attr_value_bool(c->arena, false), value);
  int dtype = type_of_word(word);
  if (dtype != DT_INVALID) return take_value(c, attr_value_type(c->arena, dtype), value);
  return parse_func(c, word, value);
}

/* Appends one more value to a list whose elements must all be of one kind; ints become floats beside floats. */
static bool list_add(Cursor *c, AttrListValue *list, const AttrValue *element, size_t index) {
  size_t before = list->n_s + list->n_i + list->n_f + list->n_b + list->n_type + list->n_shape + list->n_tensor + list->n_func;
  void *array = NULL;
  switch ((AttrKind)element->value_case) {
    case ATTR_SHAPE: TRY(proto_append(c->arena, (void ***)&list->shape, &list->n_shape, element->shape, c->status)); break;
    case ATTR_TENSOR: TRY(proto_append(c->arena, (void ***)&list->tensor, &list->n_tensor, element->tensor, c->status)); break;
    case ATTR_FUNC: TRY(proto_append(c->arena, (void ***)&list->func, &list->n_func, element->func, c->status)); break;
#define GROW(field, type)                                                                                     \
  if ((list->n_##field & (list->n_##field - 1)) == 0) {                                                       \
    size_t larger = list->n_##field == 0 ? 1 : 2 * list->n_##field;                                           \
    array = arena_grow(c->arena, list->field, (int64_t)(list->n_##field * sizeof(type)),                      \
                       (int64_t)(larger * sizeof(type)));                                                     \
    if (array == NULL) return oom(c);                                                                         \
    list->field = array;                                                                                      \
  }
    case ATTR_STRING: GROW(s, ProtobufCBinaryData) list->s[list->n_s++] = element->s; break;
    case ATTR_INT: GROW(i, int64_t) list->i[list->n_i++] = element->i; break;
    case ATTR_FLOAT: GROW(f, float) list->f[list->n_f++] = element->f; break;
    case ATTR_BOOL: GROW(b, protobuf_c_boolean) list->b[list->n_b++] = element->b; break;
    case ATTR_TYPE: GROW(type, Tensorflow__DataType) list->type[list->n_type++] = element->type; break;
#undef GROW
    default: return cursor_error(c, "a list cannot hold such a value");
  }
  size_t same = 0;
  switch ((AttrKind)element->value_case) {
    case ATTR_STRING: same = list->n_s; break;
    case ATTR_INT: same = list->n_i; break;
    case ATTR_FLOAT: same = list->n_f; break;
    case ATTR_BOOL: same = list->n_b; break;
    case ATTR_TYPE: same = list->n_type; break;
    case ATTR_SHAPE: same = list->n_shape; break;
    case ATTR_TENSOR: same = list->n_tensor; break;
    default: same = list->n_func; break;
  }
  if (before != index || same != index + 1) return cursor_error(c, "the values of a list must be of one kind");
  return true;
}

/* A list in numbers: ints, or floats when one of them is no integer. */
static bool parse_number_list(Cursor *c, AttrValue **value) {
  Cursor begin = *c;
  Literal literal;
  TRY(literal_parse(c, &literal));
  if (literal.shape->n_dim != 1) return cursor_error(&begin, "a list of lists of numbers is no attr value, except as the value of a Const");
  size_t count = (size_t)literal.count;
  if (literal.kind == DT_INT64) {
    int64_t *ints = arena_calloc(c->arena, literal.count + 1, sizeof(int64_t));
    if (ints == NULL) return oom(c);
    for (size_t i = 0; i < count; i++) ints[i] = literal.numbers[i].i;
    return take_value(c, attr_value_int_list(c->arena, ints, count), value);
  }
  if (literal.kind == DT_BOOL) {
    bool *bools = arena_calloc(c->arena, literal.count + 1, sizeof(bool));
    if (bools == NULL) return oom(c);
    for (size_t i = 0; i < count; i++) bools[i] = literal.numbers[i].i != 0;
    return take_value(c, attr_value_bool_list(c->arena, bools, count), value);
  }
  float *floats = arena_calloc(c->arena, literal.count + 1, sizeof(float));
  if (floats == NULL) return oom(c);
  for (size_t i = 0; i < count; i++) {
    floats[i] = literal.numbers[i].is_float ? (float)literal.numbers[i].f : (float)literal.numbers[i].i;
  }
  return take_value(c, attr_value_float_list(c->arena, floats, count), value);
}

/* "[1,?]" is a shape; "[1, 2]" a list of ints. */
static bool bracket_is_shape(Cursor *c) {
  const char *p = c->at;
  bool unknown = false;
  for (; p < c->end && *p != ']'; p++) {
    if (*p == '?') unknown = true;
    if (p != c->at && strchr("0123456789?,- ", *p) == NULL) return false;
  }
  return unknown;
}

static bool bracket_is_numbers(Cursor *c) {
  Cursor ahead = *c;
  ahead.at++;
  return cursor_peek(&ahead) != '[' && literal_starts(c);
}

static bool parse_list(Cursor *c, AttrValue **value) {
  if (bracket_is_shape(c)) return parse_shape(c, value);
  if (bracket_is_numbers(c)) return parse_number_list(c, value);
  c->at++;
  *value = attr_value_type_list(c->arena, NULL, 0);
  if (*value == NULL) return oom(c);
  size_t index = 0;
  do {
    if (cursor_take(c, "...")) return cursor_error(c, "the values of this list were cut when it was printed");
    AttrValue *element;
    if (cursor_peek(c) == '[') {
      TRY(parse_shape(c, &element)); /* lists do not nest: what looks like one is a shape */
    } else {
      TRY(value_parse(c, &element));
    }
    TRY(list_add(c, (*value)->list, element, index++));
  } while (cursor_take(c, ","));
  return cursor_expect(c, "]", "the values of a list");
}

static bool parse_number(Cursor *c, AttrValue **value) {
  Number number;
  TRY(number_parse(c, &number));
  return take_value(c, number.is_float ? attr_value_float(c->arena, (float)number.f) : attr_value_int(c->arena, number.i), value);
}

static bool parse_value(Cursor *c, AttrValue **value) {
  char ch = cursor_peek(c);
  if (number_starts(c)) return parse_number(c, value);
  if (ch == '"' || ch == '\'') {
    char *bytes;
    size_t length;
    TRY(cursor_quoted(c, &bytes, &length));
    return take_value(c, attr_value_string(c->arena, bytes, length), value);
  }
  if (ch == '$') {
    c->at++;
    char *name;
    TRY(cursor_name(c, "", "the name of an attr after '$'", &name));
    return take_value(c, attr_value_placeholder(c->arena, name), value);
  }
  if (ch == '{') {
    c->at++;
    return parse_types(c, value);
  }
  if (ch == '[') return parse_list(c, value);
  if (cursor_take(c, "<Unknown AttrValue type>")) return take_value(c, proto_new(kAttrValue, c->arena), value);
  if (ch == '?' || ch == '<') return parse_shape(c, value);
  return parse_word(c, value);
}

bool value_parse(Cursor *c, AttrValue **value) {
  if (c->depth == FUNCTION_TEXT_MAX_DEPTH) return cursor_error(c, "values nested more than %d deep", FUNCTION_TEXT_MAX_DEPTH);
  c->depth++;
  bool ok = parse_value(c, value);
  c->depth--;
  return ok;
}

/* --- printing --- */

static void print_types(const AttrListValue *list, StrBuf *out) {
  strbuf_append_char(out, '{');
  for (size_t i = 0; i < list->n_type; i++) strbuf_printf(out, "%s%s", i == 0 ? "" : ", ", dtype_name((int)list->type[i]));
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
      if (!attrs_print((const AttrEntry *const *)value->func->attr, value->func->n_attr, false, ", ", "", out, &ignored)) {
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
  enum { MOST = 64 }; /* longer ones are no pleasure to read anyway */
  bool readable = tensor_proto_validate(proto, &status) && tensor_from_proto(proto, &tensor, &status) && tensor_num_elements(&tensor) <= MOST;
  for (int64_t i = 0; readable && i < tensor_num_elements(&tensor); i++) readable = number_of_tensor(&tensor, i, &number);
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
  tensor_clear(&tensor);
}

/* `i` is printed as the element of a list with one element would be, without the list's brackets. */
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
  size_t count = list->n_s + list->n_i + list->n_f + list->n_b + list->n_shape + list->n_tensor + list->n_func;
  size_t most = list->n_s;
  if (list->n_i > most) most = list->n_i;
  if (list->n_f > most) most = list->n_f;
  if (list->n_b > most) most = list->n_b;
  if (list->n_shape > most) most = list->n_shape;
  if (list->n_tensor > most) most = list->n_tensor;
  if (list->n_func > most) most = list->n_func;
  if (most != count) return true; /* of several kinds: the caller will see that this does not read back */
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
      TRY(attrs_print((const AttrEntry *const *)value->func->attr, value->func->n_attr, true, ", ", "", out, status));
      strbuf_append_char(out, ']');
      return true;
  }
  return true;
}

/* Whether `text` is one value, and that value. */
static bool reads_back(const AttrValue *value, const StrBuf *text) {
  Status status;
  status_init(&status);
  Arena *arena = arena_new();
  if (arena == NULL) return false;
  Cursor c = {strbuf_text(text), strbuf_text(text), strbuf_text(text) + text->length, arena, &status, 0};
  AttrValue *back;
  bool same = value_parse(&c, &back) && cursor_peek(&c) == 0 && proto_equal(value, back);
  arena_free(arena);
  return same;
}

bool value_print_full(const AttrValue *value, StrBuf *out, Status *status) {
  StrBuf text = {0};
  bool ok = print_readable(value, &text, status) && strbuf_ok(&text, status);
  if (ok && reads_back(value, &text)) {
    strbuf_append(out, strbuf_text(&text));
  } else if (ok) {
    print_escaped(value, out);
  }
  strbuf_free(&text);
  return ok;
}

/* --- sorted entries --- */

void entry_list_add(EntryList *list, StrBuf *entry) {
  bool room = !entry->failed && mem_grow((void **)&list->entries, &list->capacity, list->count + 1, sizeof(char *));
  char *text = room ? mem_strdup(strbuf_text(entry), (size_t)entry->length) : NULL;
  if (text == NULL) {
    list->failed = true;
  } else {
    list->entries[list->count++] = text;
  }
  strbuf_free(entry);
  *entry = (StrBuf){0};
}

static int compare_entries(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

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

bool attrs_print(const AttrEntry *const *attrs, size_t count, bool full, const char *separator, const char *tail, StrBuf *out,
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
    if (attrs[i]->value == NULL) {
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
    entry_list_write(&list, separator, out);
    if (tail[0] != 0) strbuf_printf(out, "%s%s", list.count > 0 ? separator : "", tail);
  }
  entry_list_free(&list);
  return ok;
}
