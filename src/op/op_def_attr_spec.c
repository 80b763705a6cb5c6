/* Attr specs: "T: {float, int32} = DT_FLOAT", "N: int >= 1", "names: list(string) = []". */
#include "base/alloc.h"
#include "op/op_def_internal.h"

/* The attr types. `field` is the field of AttrValue that a default in text format is parsed into. */
typedef struct BaseType {
  const char *name, *list_name, *field;
} BaseType;

/* Types are recognised by their prefix, in this order. */
static const BaseType kBaseTypes[] = {
    {"string", "list(string)", "s"},      {"int", "list(int)", "i"},      {"float", "list(float)", "f"},
    {"bool", "list(bool)", "b"},          {"type", "list(type)", "type"}, {"shape", "list(shape)", "shape"},
    {"tensor", "list(tensor)", "tensor"}, {"func", "list(func)", "func"},
};
enum { NUM_BASE_TYPES = sizeof kBaseTypes / sizeof kBaseTypes[0], BASE_STRING = 0, BASE_TYPE = 4 };
/* Any type; has no default because it has no field. */
static const BaseType kAnyType = {"any", "list(any)", NULL};

/* Named sets of types, in the order in which TensorFlow 1.x lists them in its OpDefs. */
static const int kNumberTypes[] = {
    DT_FLOAT,  DT_DOUBLE, DT_INT32,    DT_UINT8,  DT_INT16,      DT_INT8, DT_COMPLEX64, DT_INT64,  DT_QINT8,
    DT_QUINT8, DT_QINT32, DT_BFLOAT16, DT_UINT16, DT_COMPLEX128, DT_HALF, DT_UINT32,    DT_UINT64,
};
static const int kRealNumberTypes[] = {
    DT_FLOAT, DT_DOUBLE,   DT_INT32,  DT_UINT8, DT_INT16,  DT_INT8,
    DT_INT64, DT_BFLOAT16, DT_UINT16, DT_HALF,  DT_UINT32, DT_UINT64,
};
static const int kQuantizedTypes[] = {DT_QINT8, DT_QUINT8, DT_QINT32, DT_QINT16, DT_QUINT16};

typedef struct TypeSet {
  const char *name;
  const int *types;
  size_t count;
} TypeSet;

#define TYPE_SET(name, types) \
  { name, types, sizeof types / sizeof types[0] }
static const TypeSet kTypeSets[] = {
    TYPE_SET("numbertype", kNumberTypes),
    TYPE_SET("numerictype", kNumberTypes),
    TYPE_SET("quantizedtype", kQuantizedTypes),
    TYPE_SET("realnumbertype", kRealNumberTypes),
    TYPE_SET("realnumerictype", kRealNumberTypes),
    TYPE_SET("realnumberictype", kRealNumberTypes), /* TensorFlow's spelling outside of braces */
};
enum { NUM_TYPE_SETS = sizeof kTypeSets / sizeof kTypeSets[0] };

/* A growing array of ints. */
typedef struct TypeList {
  int *types;
  int64_t count, capacity;
} TypeList;

static bool add_types(SpecParser *parser, TypeList *list, const int *types, size_t count) {
  if (!mem_grow((void **)&list->types, &list->capacity, list->count + (int64_t)count, sizeof *types)) {
    parser->out_of_memory = true;
    return false;
  }
  memcpy(list->types + list->count, types, count * sizeof *types);
  list->count += (int64_t)count;
  return true;
}

static void set_allowed(SpecParser *parser, AttrDef *attr, AttrValue *allowed) {
  attr->allowed_values = allowed;
  if (!allowed) parser->out_of_memory = true;
}

/* After an element of a list in braces: true if another one follows, false at the end or (with *ok false) at
 * an error. */
static bool take_separator(SpecParser *parser, const char **at, const char *elements, bool *ok) {
  if (spec_take(at, ",")) {
    spec_skip_blanks(at);
    return !spec_take(at, "}");
  }
  if (!spec_take(at, "}")) {
    spec_error(parser, "Expected , or } after %s in list, not: '%s'", elements, *at);
    *ok = false;
  }
  return false;
}

/* 'text' or "text" with C escapes, then blanks. `quoted` includes the quotes. */
static bool take_quoted(const char **at, Str *quoted) {
  const char quote = **at, *end = *at + 1;
  if (quote != '"' && quote != '\'') return false;
  for (; *end != quote; end++) {
    if (*end == '\\') end++;
    if (*end == '\0') return false;
  }
  *quoted = (Str){*at, (size_t)(end + 1 - *at)};
  *at = end + 1;
  spec_skip_blanks(at);
  return true;
}

/* A growing array of strings in the parser's arena. */
typedef struct StringList {
  Str *strings;
  int64_t count, capacity;
} StringList;

static bool add_unescaped(SpecParser *parser, StringList *list, Str quoted) {
  Str value;
  if (!spec_unescape(parser, (Str){quoted.data + 1, quoted.length - 2}, &value)) return false;
  if (!mem_grow((void **)&list->strings, &list->capacity, list->count + 1, sizeof *list->strings)) {
    parser->out_of_memory = true;
    return false;
  }
  list->strings[list->count++] = value;
  return true;
}

/* After "{": quoted strings up to and including "}". */
static bool parse_allowed_strings(SpecParser *parser, const char **at, AttrDef *attr) {
  StringList list = {0};
  bool ok = true;
  do {
    Str quoted;
    if (!take_quoted(at, &quoted)) {
      spec_error(parser, "Trouble parsing allowed string at '%s'", *at);
      ok = false;
      break;
    }
    ok = add_unescaped(parser, &list, quoted);
  } while (ok && take_separator(parser, at, "strings", &ok));
  if (ok) set_allowed(parser, attr, attr_value_string_list(parser->arena, list.strings, (size_t)list.count));
  mem_free(list.strings);
  return ok;
}

static bool add_named_types(SpecParser *parser, TypeList *list, Str name) {
  for (int i = 0; i < NUM_TYPE_SETS; i++) {
    if (str_equal_text(name, kTypeSets[i].name))
      return add_types(parser, list, kTypeSets[i].types, kTypeSets[i].count);
  }
  int type = dtype_from_name(name);
  if (type != DT_INVALID) return add_types(parser, list, &type, 1);
  spec_error(parser, "Unrecognized type string '%.*s'", (int)name.length, name.data);
  return false;
}

/* After "{": names of types and of sets of types up to and including "}". */
static bool parse_allowed_types(SpecParser *parser, const char **at, AttrDef *attr) {
  TypeList list = {0};
  bool ok = true;
  do {
    Str name = {*at, 0};
    while (spec_is_lower(name.data[name.length]) || spec_is_digit(name.data[name.length])) name.length++;
    if (name.length == 0) {
      spec_error(parser, "Trouble parsing type string at '%s'", *at);
      ok = false;
      break;
    }
    *at += name.length;
    spec_skip_blanks(at);
    ok = add_named_types(parser, &list, name);
  } while (ok && take_separator(parser, at, "types", &ok));
  if (ok) set_allowed(parser, attr, attr_value_type_list(parser->arena, list.types, (size_t)list.count));
  mem_free(list.types);
  return ok;
}

/* The type, without "list(". NULL after an error. */
static const BaseType *parse_base_type(SpecParser *parser, const char **at, AttrDef *attr) {
  for (int i = 0; i < NUM_BASE_TYPES; i++) {
    if (spec_take(at, kBaseTypes[i].name)) return &kBaseTypes[i];
  }
  if (parser->allow_attr_type_any && spec_take(at, "any")) return &kAnyType;
  for (int i = 0; i < NUM_TYPE_SETS; i++) {
    const TypeSet *set = &kTypeSets[i];
    if (!spec_take(at, set->name)) continue;
    set_allowed(parser, attr, attr_value_type_list(parser->arena, set->types, set->count));
    return &kBaseTypes[BASE_TYPE];
  }
  if (!spec_take(at, "{")) {
    spec_error(parser, "Trouble parsing type string at '%s'", *at);
    return NULL;
  }
  spec_skip_blanks(at);
  if (**at == '"' || **at == '\'')
    return parse_allowed_strings(parser, at, attr) ? &kBaseTypes[BASE_STRING] : NULL;
  return parse_allowed_types(parser, at, attr) ? &kBaseTypes[BASE_TYPE] : NULL;
}

/* Parses blanks, an int64, blanks. */
static bool take_int64(const char **at, int64_t *value) {
  const char *p = *at;
  spec_skip_blanks(&p);
  bool negative = *p == '-';
  if (negative) p++;
  if (!spec_is_digit(*p)) return false;
  int64_t sum = 0;
  for (; spec_is_digit(*p); p++) {
    int digit = *p - '0';
    if (__builtin_mul_overflow(sum, 10, &sum)) return false;
    if (__builtin_add_overflow(sum, negative ? -digit : digit, &sum)) return false;
  }
  spec_skip_blanks(&p);
  *at = p;
  *value = sum;
  return true;
}

/* Rewrites "[a, b]" as the text of a list message. The text format has no "[]", so an empty list is handled
 * here. */
static bool parse_list_default(SpecParser *parser, const BaseType *base, Str text, AttrValue *value) {
  while (text.length > 0 && spec_is_blank(text.data[text.length - 1])) text.length--;
  if (text.length < 2 || text.data[0] != '[' || text.data[text.length - 1] != ']') return false;
  size_t inside = 1;
  while (spec_is_blank(text.data[inside])) inside++;
  if (inside == text.length - 1) {
    AttrValue *empty = attr_value_int_list(parser->arena, NULL, 0);
    if (empty) *value = *empty;
    parser->out_of_memory |= !empty;
    return true;
  }
  char *message = arena_printf(parser->arena, "{ %s: %.*s }", base->field, (int)text.length, text.data);
  if (!message) {
    parser->out_of_memory = true;
    return true;
  }
  return proto_parse_field_text("list", str_of(message), parser->arena, value);
}

static void parse_default(SpecParser *parser, const BaseType *base, bool is_list, const char *text,
                          AttrDef *attr) {
  AttrValue *value = proto_new(kAttrValue, parser->arena);
  if (!value) {
    parser->out_of_memory = true;
    return;
  }
  Str span = str_of(text);
  bool ok = base->field && (is_list ? parse_list_default(parser, base, span, value)
                                    : proto_parse_field_text(base->field, span, parser->arena, value));
  if (ok) {
    attr->default_value = value;
  } else {
    spec_error(parser, "Could not parse default value '%s'", text);
  }
}

static bool take_list_prefix(const char **at) {
  const char *p = *at;
  if (!spec_take(&p, "list")) return false;
  spec_skip_blanks(&p);
  if (!spec_take(&p, "(")) return false;
  spec_skip_blanks(&p);
  *at = p;
  return true;
}

void spec_parse_attr(SpecParser *parser, const char *spec) {
  parser->call = "Attr";
  parser->spec = spec;
  OpDef *op_def = parser->op_def;
  AttrDef *attr = proto_new(&tensorflow__op_def__attr_def__descriptor, parser->arena);
  Status ignored;
  status_init(&ignored);
  if (!attr || !proto_append(parser->arena, (void ***)&op_def->attr, &op_def->n_attr, attr, &ignored)) {
    parser->out_of_memory = true;
    return;
  }

  const char *at = spec;
  Str name;
  if (!spec_take_name_and_colon(&at, false, &name)) {
    spec_error(parser, "Trouble parsing '<name>:'");
    return;
  }
  attr->name = spec_copy(parser, name);

  bool is_list = take_list_prefix(&at);
  const BaseType *base = parse_base_type(parser, &at, attr);
  if (!base) return;
  spec_skip_blanks(&at);
  if (is_list) {
    if (!spec_take(&at, ")")) {
      spec_error(parser, "Expected ) to close 'list(', not: '%s'", at);
      return;
    }
    spec_skip_blanks(&at);
  }
  /* Immutable and never freed alone, so the message may point to static text. */
  attr->type = (char *)(is_list ? base->list_name : base->name);

  if ((is_list || strcmp(base->name, "int") == 0) && spec_take(&at, ">=")) {
    if (!take_int64(&at, &attr->minimum)) {
      spec_error(parser, "Could not parse integer lower limit after '>=', found '%s' instead", at);
      return;
    }
    attr->has_minimum = true;
  }

  if (spec_take(&at, "=")) {
    spec_skip_blanks(&at);
    parse_default(parser, base, is_list, at, attr);
  } else if (*at != '\0') {
    spec_error(parser, "Extra '%s' unparsed at the end", at);
  }
}
