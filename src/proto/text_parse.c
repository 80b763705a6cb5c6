#include <strings.h>

#include "base/decimal.h"
#include "proto/proto_internal.h"
#include "proto/saved_model_protos.h"
#include "proto/text_lexer.h"

typedef struct Parser {
  Lexer lexer;
  Arena *arena;
  StrBuf scratch; /* the current string or number */
} Parser;

static bool out_of_memory(Parser *parser, const char *what) { return status_oom(parser->lexer.status, what); }

/* The current token for "%.*s", truncated because tokens may be long. */
static int shown_length(const Parser *parser) {
  return parser->lexer.text.length < 200 ? (int)parser->lexer.text.length : 200;
}
#define TOKEN_ARGS(parser) shown_length(parser), (parser)->lexer.text.data

static bool expect(Parser *parser, char symbol) {
  if (!lexer_at(&parser->lexer, symbol)) {
    return lexer_error(&parser->lexer, "Expected \"%c\", found \"%.*s\".", symbol, TOKEN_ARGS(parser));
  }
  return lexer_next(&parser->lexer);
}

/* Skips the symbol if it is the current token. */
static bool accept(Parser *parser, char symbol, bool *accepted) {
  *accepted = lexer_at(&parser->lexer, symbol);
  return !*accepted || lexer_next(&parser->lexer);
}

static const Field *find_field(const ProtoDescriptor *descriptor, Str name) {
  for (unsigned i = 0; i < descriptor->n_fields; i++) {
    if (str_equal_text(name, descriptor->fields[i].name)) return &descriptor->fields[i];
  }
  return NULL;
}

/* --- scalars --- */

/* An integer between -(maximum + 1), or 0 if unsigned, and maximum; two's complement in `value`. */
static bool parse_integer(Parser *parser, uint64_t maximum, bool is_signed, uint64_t *value) {
  bool negative = false;
  if (is_signed) TRY(accept(parser, '-', &negative));
  if (parser->lexer.kind != TOKEN_INTEGER) {
    return lexer_error(&parser->lexer, "Expected integer, got: %.*s", TOKEN_ARGS(parser));
  }
  uint64_t magnitude;
  if (!lexer_integer(parser->lexer.text, &magnitude) || magnitude > maximum + (negative ? 1 : 0)) {
    return lexer_error(&parser->lexer, "Integer out of range (%.*s)", TOKEN_ARGS(parser));
  }
  *value = negative ? 0 - magnitude : magnitude;
  return lexer_next(&parser->lexer);
}

static bool parse_double(Parser *parser, double *value) {
  bool negative;
  TRY(accept(parser, '-', &negative));
  Lexer *lexer = &parser->lexer;
  Str text = lexer->text;
  bool decimal =
      lexer->kind == TOKEN_FLOAT || (lexer->kind == TOKEN_INTEGER && (text.length == 1 || *text.data != '0'));
  StrBuf *scratch = &parser->scratch;
  strbuf_clear(scratch);
  bool suffix = decimal && (text.data[text.length - 1] | 0x20) == 'f';
  strbuf_append_bytes(scratch, text.data, text.length - suffix);
  TRY(strbuf_ok(scratch, lexer->status));
  const char *word = strbuf_text(scratch);
  if (decimal) {
    *value = decimal_parse(word);
  } else if (lexer->kind == TOKEN_INTEGER) {
    return lexer_error(lexer, "Expect a decimal number, got: %.*s", TOKEN_ARGS(parser));
  } else if (lexer->kind == TOKEN_IDENTIFIER &&
             (strcasecmp(word, "inf") == 0 || strcasecmp(word, "infinity") == 0)) {
    *value = (double)__builtin_inff();
  } else if (lexer->kind == TOKEN_IDENTIFIER && strcasecmp(word, "nan") == 0) {
    *value = (double)__builtin_nanf("");
  } else {
    return lexer_error(lexer, "Expected double, got: %.*s", TOKEN_ARGS(parser));
  }
  if (negative) *value = -*value;
  return lexer_next(lexer);
}

static bool parse_bool(Parser *parser, const Field *field, protobuf_c_boolean *value) {
  Lexer *lexer = &parser->lexer;
  if (lexer->kind == TOKEN_INTEGER) {
    uint64_t number;
    TRY(parse_integer(parser, 1, false, &number));
    *value = number != 0;
    return true;
  }
  if (lexer->kind != TOKEN_IDENTIFIER) {
    return lexer_error(lexer, "Expected identifier, got: %.*s", TOKEN_ARGS(parser));
  }
  static const char *const words[] = {"true", "True", "t", "false", "False", "f"};
  for (int i = 0; i < 6; i++) {
    if (!str_equal_text(lexer->text, words[i])) continue;
    *value = i < 3;
    return lexer_next(lexer);
  }
  Str word = lexer->text;
  TRY(lexer_next(lexer)); /* protobuf reports the place after the word */
  return lexer_error(lexer, "Invalid value for boolean field \"%s\". Value: \"%.*s\".", field->name,
                     (int)word.length, word.data);
}

static bool parse_enum(Parser *parser, const Field *field, int *value) {
  Lexer *lexer = &parser->lexer;
  if (lexer->kind == TOKEN_INTEGER || lexer_at(lexer, '-')) {
    uint64_t number;
    TRY(parse_integer(parser, INT32_MAX, true, &number));
    *value = (int)(int64_t)number;
    return true;
  }
  if (lexer->kind != TOKEN_IDENTIFIER) {
    return lexer_error(lexer, "Expected integer or identifier, got: %.*s", TOKEN_ARGS(parser));
  }
  const ProtobufCEnumDescriptor *descriptor = field->descriptor;
  for (unsigned i = 0; i < descriptor->n_values; i++) {
    if (!str_equal_text(lexer->text, descriptor->values[i].name)) continue;
    *value = descriptor->values[i].value;
    return lexer_next(lexer);
  }
  Str word = lexer->text;
  TRY(lexer_next(lexer)); /* protobuf reports the place after the word */
  return lexer_error(lexer, "Unknown enumeration value of \"%.*s\" for field \"%s\".", (int)word.length,
                     word.data, field->name);
}

/* One or more adjacent literals, joined in the scratch buffer. */
static bool parse_literals(Parser *parser) {
  if (parser->lexer.kind != TOKEN_STRING) {
    return lexer_error(&parser->lexer, "Expected string, got: %.*s", TOKEN_ARGS(parser));
  }
  strbuf_clear(&parser->scratch);
  while (parser->lexer.kind == TOKEN_STRING) {
    lexer_unquote(parser->lexer.text, &parser->scratch);
    TRY(lexer_next(&parser->lexer));
  }
  return strbuf_ok(&parser->scratch, parser->lexer.status);
}

static bool parse_string(Parser *parser, const Field *field, char **value) {
  TRY(parse_literals(parser));
  const char *text = strbuf_text(&parser->scratch);
  size_t length = (size_t)parser->scratch.length;
  if (!text_is_valid(text, length)) {
    return lexer_error(&parser->lexer, "String field \"%s\" contains invalid UTF-8 data or NUL.",
                       field->name);
  }
  *value = length == 0 ? (char *)protobuf_c_empty_string : arena_strndup(parser->arena, text, length);
  return *value || out_of_memory(parser, field->name);
}

/* Copies the scratch buffer. */
static bool copy_bytes(Parser *parser, const char *what, ProtobufCBinaryData *value) {
  *value = (ProtobufCBinaryData){0};
  if (parser->scratch.length == 0) return true;
  value->data = arena_alloc(parser->arena, parser->scratch.length);
  if (!value->data) return out_of_memory(parser, what);
  value->len = (size_t)parser->scratch.length;
  memcpy(value->data, parser->scratch.data, value->len);
  return true;
}

static bool parse_bytes(Parser *parser, const Field *field, ProtobufCBinaryData *value) {
  return parse_literals(parser) && copy_bytes(parser, field->name, value);
}

static bool parse_scalar(Parser *parser, const Field *field, void *to) {
  uint64_t number;
  double real;
  switch (field->type) {
    case PROTOBUF_C_TYPE_INT32:
    case PROTOBUF_C_TYPE_SINT32:
    case PROTOBUF_C_TYPE_SFIXED32:
      TRY(parse_integer(parser, INT32_MAX, true, &number));
      *(uint32_t *)to = (uint32_t)number;
      return true;
    case PROTOBUF_C_TYPE_UINT32:
    case PROTOBUF_C_TYPE_FIXED32:
      TRY(parse_integer(parser, UINT32_MAX, false, &number));
      *(uint32_t *)to = (uint32_t)number;
      return true;
    case PROTOBUF_C_TYPE_INT64:
    case PROTOBUF_C_TYPE_SINT64:
    case PROTOBUF_C_TYPE_SFIXED64: return parse_integer(parser, INT64_MAX, true, to);
    case PROTOBUF_C_TYPE_UINT64:
    case PROTOBUF_C_TYPE_FIXED64: return parse_integer(parser, UINT64_MAX, false, to);
    case PROTOBUF_C_TYPE_FLOAT:
      TRY(parse_double(parser, &real));
      /* A double beyond float's range must not be cast: in C that is undefined. */
      *(float *)to = real >= 0x1.ffffffp127    ? __builtin_inff()
                     : real <= -0x1.ffffffp127 ? -__builtin_inff()
                                               : (float)real;
      return true;
    case PROTOBUF_C_TYPE_DOUBLE: return parse_double(parser, to);
    case PROTOBUF_C_TYPE_BOOL: return parse_bool(parser, field, to);
    case PROTOBUF_C_TYPE_ENUM: return parse_enum(parser, field, to);
    case PROTOBUF_C_TYPE_STRING: return parse_string(parser, field, to);
    case PROTOBUF_C_TYPE_BYTES: return parse_bytes(parser, field, to);
    case PROTOBUF_C_TYPE_MESSAGE: break;
  }
  return status_set(parser->lexer.status, CODE_INTERNAL, "field %s is no scalar", field->name);
}

/* --- messages --- */

static bool parse_fields(Parser *parser, ProtoMessage *message, int depth, char close);

static bool parse_braced(Parser *parser, const Field *field, int depth, ProtoMessage **slot) {
  if (depth >= PROTO_MAX_DEPTH) {
    return lexer_error(&parser->lexer,
                       "Message is too deep, the parser exceeded the configured recursion limit of %d.",
                       PROTO_MAX_DEPTH);
  }
  bool angle;
  TRY(accept(parser, '<', &angle));
  if (!angle) TRY(expect(parser, '{'));
  ProtoMessage *message = proto_new(field_message(field), parser->arena);
  if (!message) return out_of_memory(parser, field->name);
  *slot = message;
  return parse_fields(parser, message, depth + 1, angle ? '>' : '}');
}

static bool parse_element(Parser *parser, const Field *field, ProtoMessage *message, int depth) {
  void *to = field_member(message, field);
  if (field_is_repeated(field)) {
    to = repeated_add(parser->arena, message, field);
    if (!to) return out_of_memory(parser, field->name);
  } else if (field_is_oneof(field)) {
    memset(to, 0, field_element_size(field));
    *field_oneof_case(message, field) = field->id;
  }
  if (field->type != PROTOBUF_C_TYPE_MESSAGE) return parse_scalar(parser, field, to);
  return parse_braced(parser, field, depth, to);
}

/* Parses the part after a field's name and colon: one value or, for a repeated field, also a list. */
static bool parse_value(Parser *parser, const Field *field, ProtoMessage *message, int depth) {
  bool is_list = false, done;
  if (field_is_repeated(field)) TRY(accept(parser, '[', &is_list));
  if (!is_list) return parse_element(parser, field, message, depth);
  TRY(accept(parser, ']', &done));
  while (!done) {
    TRY(parse_element(parser, field, message, depth));
    TRY(accept(parser, ']', &done));
    if (!done) TRY(expect(parser, ','));
  }
  return true;
}

/* The message that an Any's URL names, of those that models keep in Anys; NULL for others. */
static const ProtoDescriptor *type_of_url(const char *url) {
  const char *name = strrchr(url, '/');
  return name && strcmp(name + 1, kAssetFileDef->name) == 0 ? kAssetFileDef : NULL;
}

/* The URL in brackets before the content of an Any. */
static bool parse_url(Parser *parser, char **url) {
  Lexer *lexer = &parser->lexer;
  StrBuf *scratch = &parser->scratch;
  TRY(expect(parser, '['));
  strbuf_clear(scratch);
  while (!lexer_at(lexer, ']') && lexer->kind != TOKEN_END) {
    strbuf_append_bytes(scratch, lexer->text.data, lexer->text.length);
    TRY(lexer_next(lexer));
  }
  TRY(strbuf_ok(scratch, lexer->status));
  *url = arena_strndup(parser->arena, strbuf_text(scratch), (size_t)scratch->length);
  if (!*url) return out_of_memory(parser, "type_url");
  return expect(parser, ']');
}

/* The expanded form of an Any, "[type.googleapis.com/tensorflow.AssetFileDef] { ... }". */
static bool parse_any(Parser *parser, Any *any, int depth) {
  Field content = {.name = "value"};
  ProtoMessage *message = NULL;
  StrBuf *scratch = &parser->scratch;
  bool accepted;
  TRY(parse_url(parser, &any->type_url));
  content.descriptor = type_of_url(any->type_url);
  if (!content.descriptor) {
    return lexer_error(&parser->lexer, "Could not find type \"%s\" stored in google.protobuf.Any.",
                       any->type_url);
  }
  TRY(accept(parser, ':', &accepted));
  TRY(parse_braced(parser, &content, depth, &message));
  strbuf_clear(scratch);
  TRY(proto_serialize(message, scratch, parser->lexer.status));
  return copy_bytes(parser, "value", &any->value);
}

static bool parse_field(Parser *parser, ProtoMessage *message, int depth, uint64_t *seen) {
  Lexer *lexer = &parser->lexer;
  if (lexer_at(lexer, '[') && message->descriptor == kAny) return parse_any(parser, (Any *)message, depth);
  if (lexer->kind != TOKEN_IDENTIFIER) {
    return lexer_error(lexer, "Expected identifier, got: %.*s", TOKEN_ARGS(parser));
  }
  Str name = lexer->text;
  const Field *field = find_field(message->descriptor, name);
  TRY(lexer_next(lexer));
  if (!field) {
    return lexer_error(lexer, "Message type \"%s\" has no field named \"%.*s\".", message->descriptor->name,
                       name.length < 200 ? (int)name.length : 200, name.data);
  }
  uint64_t bit = (uint64_t)1 << ((field - message->descriptor->fields) & 63);
  if (!field_is_repeated(field) && (*seen & bit)) {
    return lexer_error(lexer, "Non-repeated field \"%s\" is specified multiple times.", field->name);
  }
  *seen |= bit;
  if (field_is_oneof(field) && *field_oneof_case(message, field) != 0) {
    const Field *other =
        protobuf_c_message_descriptor_get_field(message->descriptor, *field_oneof_case(message, field));
    return lexer_error(lexer,
                       "Field \"%s\" is specified along with field \"%s\", another member of the same oneof.",
                       field->name, other->name);
  }
  bool accepted;
  if (field->type == PROTOBUF_C_TYPE_MESSAGE) {
    TRY(accept(parser, ':', &accepted));
  } else {
    TRY(expect(parser, ':'));
  }
  TRY(parse_value(parser, field, message, depth));
  TRY(accept(parser, ';', &accepted));
  return accepted || accept(parser, ',', &accepted);
}

/* Fields up to `close`, which is consumed, or to the end of the text when `close` is NUL. */
static bool parse_fields(Parser *parser, ProtoMessage *message, int depth, char close) {
  uint64_t seen = 0;
  while (close ? !lexer_at(&parser->lexer, close) : parser->lexer.kind != TOKEN_END) {
    TRY(parse_field(parser, message, depth, &seen));
  }
  if (descriptor_is_map_entry(message->descriptor) && !map_entry_complete(message, parser->arena)) {
    return out_of_memory(parser, message->descriptor->name);
  }
  if (!maps_unify(message, false, 0)) return out_of_memory(parser, message->descriptor->name);
  return close ? lexer_next(&parser->lexer) : true;
}

bool proto_parse_text(const ProtoDescriptor *descriptor, Str text, Arena *arena, void **message,
                      Status *status) {
  Parser parser = {.arena = arena};
  bool ok = false;
  ProtoMessage *result = proto_new(descriptor, arena);
  if (!result) return status_oom(status, descriptor->name);
  TRY_DONE(lexer_start(&parser.lexer, text, status));
  TRY_DONE(parse_fields(&parser, result, 0, '\0'));
  *message = result;
  ok = true;
done:
  strbuf_free(&parser.scratch);
  return ok;
}

bool proto_parse_field_text(const char *field_name, Str text, Arena *arena, AttrValue *value) {
  const Field *field = find_field(kAttrValue, str_of(field_name));
  if (!field) return false;
  AttrValue result;
  tensorflow__attr_value__init(&result);
  Parser parser = {.arena = arena};
  Status status;
  status_init(&status);
  bool ok = lexer_start(&parser.lexer, text, &status) && parse_value(&parser, field, &result.base, 0) &&
            parser.lexer.kind == TOKEN_END;
  strbuf_free(&parser.scratch);
  if (ok) *value = result;
  return ok;
}
