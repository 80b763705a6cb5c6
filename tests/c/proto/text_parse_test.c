#include <math.h>

#include "proto/random_message.h"
#include "proto/saved_model_protos.h"

static Arena *arena;
static Status status;

static void *parse_length(const ProtoDescriptor *descriptor, const char *text, size_t length) {
  void *message = NULL;
  status_init(&status);
  char *exact = mem_alloc((int64_t)length);
  memcpy(exact, text, length);
  bool ok = proto_parse_text(descriptor, (Str){exact, length}, arena, &message, &status);
  mem_free(exact);
  CHECK(ok == (message != NULL));
  CHECK_INT_EQ(status.code, ok ? CODE_OK : CODE_INVALID_ARGUMENT);
  return message;
}

static void *parse(const ProtoDescriptor *descriptor, const char *text) {
  return parse_length(descriptor, text, strlen(text));
}

/* Both texts must parse to the same message. */
static void check_same(const ProtoDescriptor *descriptor, const char *text, const char *plain) {
  CHECK_CONTEXT("%s", text);
  arena = arena_new();
  void *a = parse(descriptor, text), *b = parse(descriptor, plain);
  CHECK_STR_EQ(status.message, "");
  CHECK(a && b && proto_equal(a, b));
  arena_free(arena);
}

TEST(all_spellings_of_a_message) {
  static const char plain[] =
      "name: \"n\" op: \"Op\" input: \"a\" input: \"b\" attr { key: \"k\" value { i: 3 } }";
  check_same(kNodeDef, "name:'n'op:'Op'input:['a','b']attr{key:'k'value{i:3}}", plain);
  check_same(kNodeDef,
             "# a comment\nname: 'n', op: 'Op'; input: 'a' # and another\n input: ['b'], attr < key: 'k' "
             "value < i: 3 > >;",
             plain);
  check_same(kNodeDef,
             "name\n:\t'n' op : 'O' 'p' attr: { key: 'k', value: { i: 0x3; }, } input: [] input: ['a', 'b']",
             plain);
  check_same(kNodeDef,
             "\r\n\v\f attr: [{ key: 'k' value { i: 03 } }] name: '' 'n' '' op: \"Op\" input: 'a' input: "
             "\"b\" #",
             plain);
  check_same(kAttrValue, "list { shape [{ dim { size: 1 } }, < unknown_rank: true >] }",
             "list { shape { dim { size: 1 } } shape { unknown_rank: true } }");
}

TEST(booleans_and_enums) {
  check_same(kTensorProto, "bool_val: [true, True, t, 1, false, False, f, 0]",
             "bool_val: true bool_val: true bool_val: true bool_val: true bool_val: false bool_val: false "
             "bool_val: false bool_val: false");
  check_same(kAttrValue, "type: 3", "type: DT_INT32");
  check_same(kAttrValue, "list { type: [1, DT_INT32, -5] }", "list { type: DT_FLOAT type: 3 type: -5 }");
}

TEST(numbers) {
  arena = arena_new();
  static const struct {
    const char *text;
    double value;
  } cases[] = {{"1", 1},
               {"1.", 1},
               {".5", 0.5},
               {"1e3", 1000},
               {"1E+2", 100},
               {"25e-2", 0.25},
               {"1.5f", 1.5},
               {"2F", 2},
               {"-1.5", -1.5},
               {"- 7", -7},
               {"inf", INFINITY},
               {"-inf", -INFINITY},
               {"Infinity", INFINITY},
               {"nan", NAN},
               {"NaN", NAN},
               {"1e40", INFINITY},
               {"-1e40", -INFINITY},
               {"1e-60", 0},
               {"3.4028235e38", 0x1.fffffep127},
               {"3.4028235677e38", 0x1.fffffep127},
               {"3.402823568e38", INFINITY},
               {"0.000000000000000000000000000000000000000000000000000000000000000000001e69", 1}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    CHECK_CONTEXT("%s", cases[i].text);
    AttrValue *value = parse(kAttrValue, arena_printf(arena, "f: %s", cases[i].text));
    if (CHECK(value)) CHECK_NEAR(value->f, cases[i].value, 0);
  }
  AttrValue *value = parse(kAttrValue, "i: 0x7fffffffffffffff");
  CHECK(value && value->i == INT64_MAX);
  value = parse(kAttrValue, "i: -9223372036854775808");
  CHECK(value && value->i == INT64_MIN);
  value = parse(kAttrValue, "i: -0777");
  CHECK(value && value->i == -511);
  TensorProto *tensor =
      parse(kTensorProto,
            "uint64_val: 0xffffffffffffffff double_val: 1e300 uint32_val: 4294967295 int_val: -2147483648");
  REQUIRE(tensor);
  CHECK(tensor->uint64_val[0] == UINT64_MAX && tensor->double_val[0] == 1e300 &&
        tensor->uint32_val[0] == UINT32_MAX);
  CHECK_INT_EQ(tensor->int_val[0], INT32_MIN);
  arena_free(arena);
}

TEST(strings_and_their_escapes) {
  arena = arena_new();
  static const struct {
    const char *text, *bytes;
    size_t length;
  } cases[] = {
      {"''", "", 0},
      {"'\\a\\b\\f\\n\\r\\t\\v\\\\\\?\\'\\\"'", "\a\b\f\n\r\t\v\\?'\"", 11},
      {"'\\0\\7\\12\\377\\1234'", "\0\7\n\xffS4", 6},
      {"'\\x41\\xf\\Xffz'", "A\xf\xffz", 4},
      {"'\\u00e9\\u20AC\\U0001F600'", "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", 9},
      {"'\\ud83d\\ude00'", "\xf0\x9f\x98\x80", 4},
      {"'a' \"b\"\n# between\n'c'", "abc", 3},
      {"\"it's\"", "it's", 4},
      {"'\xff\xfe'", "\xff\xfe", 2},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    CHECK_CONTEXT("%s", cases[i].text);
    AttrValue *value = parse(kAttrValue, arena_printf(arena, "s: %s", cases[i].text));
    if (CHECK(value) && CHECK_INT_EQ(value->s.len, cases[i].length))
      CHECK(memcmp(value->s.data ? (char *)value->s.data : "", cases[i].bytes, cases[i].length) == 0);
  }
  arena_free(arena);
}

TEST(of_equal_map_keys_the_last_counts_in_text_too) {
  check_same(kNodeDef, "attr { key: 'a' value { i: 1 } } attr { key: 'b' } attr { key: 'a' value { i: 2 } }",
             "attr { key: 'a' value { i: 2 } } attr { key: 'b' value { } }");
}

TEST(anys_of_assets_may_be_expanded) {
  check_same(kAny, "[type.googleapis.com/tensorflow.AssetFileDef] { filename: 'a' }",
             "type_url: 'type.googleapis.com/tensorflow.AssetFileDef' value: '\\022\\001a'");
  check_same(kAny, "[x/tensorflow.AssetFileDef]: < >", "type_url: 'x/tensorflow.AssetFileDef'");
  static const char *const refused[] = {
      "[x/tensorflow.NodeDef] { }",  "[AssetFileDef] { }",
      "[x/tensorflow.AssetFileDef",  "[",
      "[x/tensorflow.AssetFileDef]", "[x/tensorflow.AssetFileDef] { name: 'a' }",
  };
  arena = arena_new();
  for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) CHECK(!parse(kAny, refused[i]));
  CHECK(!parse(kNodeDef, "[x/tensorflow.AssetFileDef] { }"));
  arena_free(arena);
}

TEST(errors_name_line_and_column) {
  static const struct {
    const ProtoDescriptor *const *descriptor;
    const char *text, *message;
  } cases[] = {
      {&kNodeDef, "x: 1", "1:2: Message type \"tensorflow.NodeDef\" has no field named \"x\"."},
      {&kNodeDef, "name: 'n'\n  attr {\n\tkey 5\n}", "3:13: Expected \":\", found \"5\"."},
      {&kNodeDef, "name 'n'", "1:6: Expected \":\", found \"'n'\"."},
      {&kNodeDef, "name: 'n' name: 'm'", "1:15: Non-repeated field \"name\" is specified multiple times."},
      {&kNodeDef, "name: n", "1:7: Expected string, got: n"},
      {&kNodeDef, "name: ['n']", "1:7: Expected string, got: ["},
      {&kNodeDef, "5: 1", "1:1: Expected identifier, got: 5"},
      {&kNodeDef, "attr { key: 'a'", "1:16: Expected identifier, got: "},
      {&kNodeDef, "attr: 5", "1:7: Expected \"{\", found \"5\"."},
      {&kNodeDef, "}", "1:1: Expected identifier, got: }"},
      {&kNodeDef, "attr < key: 'a' }", "1:17: Expected identifier, got: }"},
      {&kNodeDef, "input: ['a' 'b',]", "1:17: Expected string, got: ]"},
      {&kNodeDef, "input: ['a'; 'b']", "1:12: Expected \",\", found \";\"."},
      {&kNodeDef, "name: 'a", "1:9: Unexpected end of string."},
      {&kNodeDef, "name: 'a\nb'", "1:9: Multiline strings are not allowed. Did you miss a \"?."},
      {&kNodeDef, "name: '\\q'", "1:9: Invalid escape sequence in string literal."},
      {&kNodeDef, "name: '\\", "1:9: Invalid escape sequence in string literal."},
      {&kNodeDef, "name: '\\xg'", "1:10: Expected hex digits for escape sequence."},
      {&kNodeDef, "name: '\\u12'", "1:12: Expected four hex digits for \\u escape sequence."},
      {&kNodeDef, "name: '\\U00110000'", "Expected eight hex digits up to 10ffff for \\U escape sequence"},
      {&kNodeDef, "name: '\\400'", "1:9: Invalid escape sequence in string literal."},
      {&kNodeDef, "name: '\\377'", "String field \"name\" contains invalid UTF-8 data or NUL."},
      {&kNodeDef, "name: '\\ud83d'", "contains invalid UTF-8"},
      {&kNodeDef, "name: '\\000'", "contains invalid UTF-8 data or NUL"},
      {&kNodeDef, "\x01", "1:1: Invalid control characters encountered in text."},
      {&kAttrValue, "i: 9223372036854775808", "1:4: Integer out of range (9223372036854775808)"},
      {&kAttrValue, "i: -9223372036854775809", "1:5: Integer out of range (9223372036854775809)"},
      {&kAttrValue, "i: 99999999999999999999999", "Integer out of range"},
      {&kAttrValue, "i: 1.5", "1:4: Expected integer, got: 1.5"},
      {&kAttrValue, "i: 08", "1:5: Numbers starting with leading zero must be in octal."},
      {&kAttrValue, "i: 0x", "1:6: \"0x\" must be followed by hex digits."},
      {&kAttrValue, "i: 1a", "1:5: Need space between number and identifier."},
      {&kAttrValue, "f: 1e", "1:6: \"e\" must be followed by exponent."},
      {&kAttrValue, "f: 1.2.3", "can't have another one."},
      {&kAttrValue, "f: 0x1", "1:4: Expect a decimal number, got: 0x1"},
      {&kAttrValue, "f: x", "1:4: Expected double, got: x"},
      {&kAttrValue, "f: 'inf'", "1:4: Expected double, got: 'inf'"},
      {&kAttrValue, "b: yes", "1:7: Invalid value for boolean field \"b\". Value: \"yes\"."},
      {&kAttrValue, "b: 2", "1:4: Integer out of range (2)"},
      {&kAttrValue, "b: 'true'", "1:4: Expected identifier, got: 'true'"},
      {&kAttrValue, "type: DT_NONE", "1:14: Unknown enumeration value of \"DT_NONE\" for field \"type\"."},
      {&kAttrValue, "type: 'x'", "1:7: Expected integer or identifier, got: 'x'"},
      {&kAttrValue, "type: 2147483648", "1:7: Integer out of range (2147483648)"},
      {&kAttrValue, "i: 1 s: 'a'",
       "1:7: Field \"s\" is specified along with field \"i\", another member of the same oneof."},
      {&kTensorProto, "uint32_val: -1", "1:13: Expected integer, got: -"},
      {&kTensorProto, "uint32_val: 4294967296", "1:13: Integer out of range (4294967296)"},
      {&kTensorProto, "int_val: -2147483649", "1:11: Integer out of range (2147483649)"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    CHECK_CONTEXT("%s", cases[i].text);
    arena = arena_new();
    CHECK(!parse(*cases[i].descriptor, cases[i].text));
    CHECK_STR_CONTAINS(status.message, cases[i].message);
    arena_free(arena);
  }
}

static char *nested_text(int levels) {
  StrBuf text = {0};
  for (int i = 1; i <= levels; i++) strbuf_append(&text, i % 2 ? "variant_val{" : "tensors<");
  for (int i = levels; i >= 1; i--) strbuf_append_char(&text, i % 2 ? '}' : '>');
  return text.data;
}

TEST(text_nesting_ends_at_100_levels) {
  static const struct {
    int levels;
    bool valid;
  } cases[] = {{1, true}, {99, true}, {100, true}, {101, false}, {102, false}, {100000, false}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    CHECK_CONTEXT("%d levels", cases[i].levels);
    arena = arena_new();
    char *text = nested_text(cases[i].levels);
    CHECK((parse(kTensorProto, text) != NULL) == cases[i].valid);
    if (!cases[i].valid) {
      CHECK_STR_CONTAINS(status.message,
                         "Message is too deep, the parser exceeded the configured recursion limit of 100.");
    }
    mem_free(text);
    arena_free(arena);
  }
}

TEST(every_truncation_and_every_changed_character_is_survived) {
  char text[sizeof kSampleGraph];
  memcpy(text, kSampleGraph, sizeof text);
  size_t length = sizeof text - 1;
  for (size_t i = 0; i < length; i++) {
    arena = arena_new();
    parse_length(kGraphDef, text, i);
    static const char replacements[] = "'\\{}[]:x0.\n-#<";
    for (const char *c = replacements; *c; c++) {
      text[i] = *c;
      parse_length(kGraphDef, text, length);
    }
    text[i] = kSampleGraph[i];
    arena_free(arena);
  }
}

TEST(the_text_of_one_field) {
  arena = arena_new();
  AttrValue value;
  tensorflow__attr_value__init(&value);
  CHECK(proto_parse_field_text("i", str_of(" -3 "), arena, &value) && value.i == -3);
  CHECK_INT_EQ(value.value_case, ATTR_INT);
  CHECK(proto_parse_field_text("s", str_of("'a' \"b\""), arena, &value) && value.s.len == 2);
  CHECK(proto_parse_field_text("type", str_of("DT_HALF"), arena, &value) &&
        value.type == TENSORFLOW__DATA_TYPE__DT_HALF);
  CHECK(proto_parse_field_text("b", str_of("true"), arena, &value) && value.b);
  CHECK(proto_parse_field_text("f", str_of("1e-4"), arena, &value) && value.f == 1e-4f);
  CHECK(proto_parse_field_text("shape", str_of("{ dim { size: 2 } }"), arena, &value) &&
        value.shape->n_dim == 1);
  CHECK(proto_parse_field_text("tensor", str_of("{ dtype: DT_INT32 int_val: 5 }"), arena, &value) &&
        value.tensor->int_val[0] == 5);
  CHECK(proto_parse_field_text("func", str_of("{ name: 'f' }"), arena, &value));
  CHECK_STR_EQ(value.func->name, "f");
  CHECK(proto_parse_field_text("list", str_of("{ i: [1, 2] }"), arena, &value) && value.list->n_i == 2);
  CHECK(proto_parse_field_text("list", str_of("{ }"), arena, &value) && value.list);
  static const char *const refused[][2] = {{"i", ""},        {"i", "a"},
                                           {"i", "1 2"},     {"i", "1 s: 'x'"},
                                           {"i", "[1]"},     {"s", "x"},
                                           {"shape", "{"},   {"list", "{ i: 1 } }"},
                                           {"nothing", "1"}, {"value", "1"},
                                           {"i", "1,"}};
  for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
    CHECK_CONTEXT("%s: %s", refused[i][0], refused[i][1]);
    CHECK(!proto_parse_field_text(refused[i][0], str_of(refused[i][1]), arena, &value));
  }
  arena_free(arena);
}

static bool parse_all(void *text, Status *result) {
  Arena *own = arena_new();
  if (!own) return status_oom(result, "arena");
  void *message = NULL;
  bool ok = proto_parse_text(kGraphDef, str_of(text), own, &message, result);
  arena_free(own);
  return ok;
}

TEST(text_parsing_survives_every_allocation_failure) {
  char text[sizeof kSampleGraph];
  memcpy(text, kSampleGraph, sizeof text);
  check_every_allocation_failure(parse_all, text);
}
