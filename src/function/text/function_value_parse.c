/* Attr values in function texts: parsing. */
#include <string.h>

#include "function/text/function_text_internal.h"

static bool oom(Cursor *c) { return status_oom(c->status, "function text"); }

static bool take_value(Cursor *c, AttrValue *made, AttrValue **value) {
  *value = made;
  return made || oom(c);
}

/* "float", "DT_FLOAT", "float_ref"; DT_INVALID for other texts. */
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
    if (!entry) return oom(c);
    TRY(cursor_name(c, NODE_NAME_CHARS, "the name of an attr", &entry->key));
    for (size_t i = 0; i < func->n_attr; i++) {
      if (strcmp(func->attr[i]->key, entry->key) == 0)
        return cursor_error(c, "attr '%s' is given twice", entry->key);
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
  if (cursor_take(c, "?") || cursor_take(c, "<unknown>"))
    return take_value(c, attr_value_shape(c->arena, -1, NULL), value);
  int64_t dims[SHAPE_MAX_RANK];
  int rank = 0;
  TRY(cursor_expect(c, "[", "a shape"));
  while (!cursor_take(c, "]")) {
    if (rank > 0) TRY(cursor_expect(c, ",", "a size"));
    if (rank == SHAPE_MAX_RANK) return cursor_error(c, "a shape of more than %d dimensions", SHAPE_MAX_RANK);
    Number size = {.i = -1};
    if (!cursor_take(c, "?")) TRY(number_parse(c, &size));
    if (size.is_float || size.i < -1)
      return cursor_error(c, "a size must be an integer that is not negative, or ?");
    dims[rank++] = size.i;
  }
  return take_value(c, attr_value_shape(c->arena, rank, dims), value);
}

static bool parse_shape_in_angles(Cursor *c, AttrValue **value) {
  TRY(cursor_expect(c, "<", "Shape"));
  TRY(parse_shape(c, value));
  return cursor_expect(c, ">", "a shape");
}

/* The values of "Tensor<type: int32 shape: [2,2] values: [1 2][3 4]>": brackets only mark rows. */
static bool parse_tensor_values(Cursor *c, Number **numbers, int64_t *count) {
  int64_t capacity = 0;
  *numbers = NULL;
  *count = 0;
  while (!cursor_take(c, ">")) {
    if (cursor_take(c, "[") || cursor_take(c, "]")) continue;
    if (cursor_take(c, "..."))
      return cursor_error(c, "the values of this tensor were cut when it was printed");
    if (*count == capacity) {
      int64_t size = (int64_t)sizeof(Number), larger = capacity == 0 ? 8 : 2 * capacity;
      *numbers = arena_grow(c->arena, *numbers, capacity * size, larger * size);
      if (!*numbers) return oom(c);
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

/* Appends a value to a list whose elements must all be of one kind; ints become floats next to floats. */
static bool list_add(Cursor *c, AttrListValue *list, const AttrValue *element, size_t index) {
  size_t before = list->n_s + list->n_i + list->n_f + list->n_b + list->n_type + list->n_shape +
                  list->n_tensor + list->n_func;
  void *array = NULL;
  switch ((AttrKind)element->value_case) {
    case ATTR_SHAPE:
      TRY(proto_append(c->arena, (void ***)&list->shape, &list->n_shape, element->shape, c->status));
      break;
    case ATTR_TENSOR:
      TRY(proto_append(c->arena, (void ***)&list->tensor, &list->n_tensor, element->tensor, c->status));
      break;
    case ATTR_FUNC:
      TRY(proto_append(c->arena, (void ***)&list->func, &list->n_func, element->func, c->status));
      break;
#define GROW(field, type)                                                                \
  if ((list->n_##field & (list->n_##field - 1)) == 0) {                                  \
    size_t larger = list->n_##field == 0 ? 1 : 2 * list->n_##field;                      \
    array = arena_grow(c->arena, list->field, (int64_t)(list->n_##field * sizeof(type)), \
                       (int64_t)(larger * sizeof(type)));                                \
    if (!array) return oom(c);                                                           \
    list->field = array;                                                                 \
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
  if (before != index || same != index + 1)
    return cursor_error(c, "the values of a list must be of one kind");
  return true;
}

/* A list of numbers: ints, or floats when one of them is not an integer. */
static bool parse_number_list(Cursor *c, AttrValue **value) {
  Cursor begin = *c;
  Literal literal;
  TRY(literal_parse(c, &literal));
  if (literal.shape->n_dim != 1)
    return cursor_error(&begin,
                        "a list of lists of numbers is no attr value, except as the value of a Const");
  size_t count = (size_t)literal.count;
  if (literal.kind == DT_INT64) {
    int64_t *ints = arena_calloc(c->arena, literal.count + 1, sizeof(int64_t));
    if (!ints) return oom(c);
    for (size_t i = 0; i < count; i++) ints[i] = literal.numbers[i].i;
    return take_value(c, attr_value_int_list(c->arena, ints, count), value);
  }
  if (literal.kind == DT_BOOL) {
    bool *bools = arena_calloc(c->arena, literal.count + 1, sizeof(bool));
    if (!bools) return oom(c);
    for (size_t i = 0; i < count; i++) bools[i] = literal.numbers[i].i != 0;
    return take_value(c, attr_value_bool_list(c->arena, bools, count), value);
  }
  float *floats = arena_calloc(c->arena, literal.count + 1, sizeof(float));
  if (!floats) return oom(c);
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
    if (p != c->at && !strchr("0123456789?,- ", *p)) return false;
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
  if (!*value) return oom(c);
  size_t index = 0;
  do {
    if (cursor_take(c, "...")) return cursor_error(c, "the values of this list were cut when it was printed");
    AttrValue *element;
    if (cursor_peek(c) == '[') {
      TRY(parse_shape(c, &element)); /* lists do not nest: a nested one is a shape */
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
  return take_value(c,
                    number.is_float ? attr_value_float(c->arena, (float)number.f)
                                    : attr_value_int(c->arena, number.i),
                    value);
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
  if (cursor_take(c, "<Unknown AttrValue type>"))
    return take_value(c, proto_new(kAttrValue, c->arena), value);
  if (ch == '?' || ch == '<') return parse_shape(c, value);
  return parse_word(c, value);
}

bool value_parse(Cursor *c, AttrValue **value) {
  if (c->depth == FUNCTION_TEXT_MAX_DEPTH)
    return cursor_error(c, "values nested more than %d deep", FUNCTION_TEXT_MAX_DEPTH);
  c->depth++;
  bool ok = parse_value(c, value);
  c->depth--;
  return ok;
}
