#include <string.h>

#include "harness.h"
#include "op/op_def_builder.h"

static OpDef *parse_op(const char *text, Arena *arena) {
  Status status;
  status_init(&status);
  void *op_def = NULL;
  CHECK_OK(proto_parse_text(kOpDef, str_of(text), arena, &op_def, &status), status);
  return op_def;
}

static AttrValue *parse_value(const char *text, Arena *arena) {
  Status status;
  status_init(&status);
  void *value = NULL;
  CHECK_OK(proto_parse_text(kAttrValue, str_of(text), arena, &value, &status), status);
  return value;
}

typedef struct ValidateCase {
  const char *op_def, *error; /* NULL: valid */
} ValidateCase;

TEST(op_defs_are_validated) {
  static const ValidateCase cases[] = {
      {"name: 'A'", NULL},
      {"name: 'Abc_9'", NULL},
      {"name: 'A>B>C9'", NULL},
      {"name: '_anything goes'", NULL},
      {"", "Invalid name:  (Did you use CamelCase?); in OpDef: "},
      {"name: 'lower'", "Invalid name: lower (Did you use CamelCase?); in OpDef: name: \"lower\""},
      {"name: 'A-B'", "Invalid name: A-B (Did you use CamelCase?)"},
      {"name: 'A>'", "Invalid name: A> (Did you use CamelCase?)"},
      {"name: 'X' attr { name: 'a' type: 'list(int' }", "'list(' is missing ')' in attr a's type list(int"},
      {"name: 'X' attr { name: 'a' type: 'int8' }", "Extra '8' at the end of attr a's type int8"},
      {"name: 'X' attr { name: 'a' type: 'any' }", "Unrecognized type 'any' in attr 'a'"},
      {"name: 'X' attr { name: 'a' type: 'list(int)' has_minimum: true minimum: -1 }",
       "Attr 'a' with list type must have a non-negative minimum, not -1"},
      {"name: 'X' attr { name: 'a' type: 'int' has_minimum: true minimum: -1 }", NULL},
      {"name: 'X' attr { name: 'a' type: 'int' allowed_values { list { s: 'x' } } }",
       "AttrValue had value with type 'list(string)' when 'list(int)' expected\n\t for attr 'a' in Op 'X'"},
      {"name: 'X' attr { name: 'a' type: 'int' default_value { i: 1 } has_minimum: true minimum: 2 }",
       "Value for attr 'a' of 1 must be at least minimum 2\n\t in Op 'X'"},
      {"name: 'X' input_arg { name: 'a' type: DT_FLOAT } output_arg { name: 'a' type: DT_FLOAT }",
       "Duplicate name: a; in OpDef: name: \"X\" input_arg"},
      {"name: 'X' input_arg { name: 'a' type: DT_FLOAT number_attr: 'n' }",
       "No attr with name 'n' for input 'a'; in OpDef"},
      {"name: 'X' output_arg { name: 'a' type: DT_FLOAT number_attr: 'n' } attr { name: 'n' type: 'int' }",
       "Attr 'n' used as length for output 'a' must have minimum; in OpDef"},
      {"name: 'X' output_arg { name: 'a' number_attr: 'n' type_list_attr: 't' } attr { name: 'n' type: 'int' "
       "has_minimum: true } "
       "attr { name: 't' type: 'list(type)' }",
       "Can't have both number_attr and type_list_attr for output 'a'"},
      {"name: 'X' output_arg { name: 'a' number_attr: 'n' type: DT_FLOAT type_attr: 't' } attr { name: 'n' "
       "type: 'int' "
       "has_minimum: true } attr { name: 't' type: 'type' }",
       "Exactly one of type, type_attr must be set for output 'a'"},
      {"name: 'X' output_arg { name: 'a' type_list_attr: 't' } attr { name: 't' type: 'type' }",
       "Attr 't' used as type_list_attr for output 'a' has type type != list(type)"},
      {"name: 'X' output_arg { name: 'a' }", "Missing type for output 'a'; in OpDef:"},
  };
  Status status;
  status_init(&status);
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    Arena *arena = arena_new();
    CHECK_CONTEXT("%s", cases[i].op_def);
    OpDef *op_def = parse_op(cases[i].op_def, arena);
    if (!cases[i].error) {
      CHECK_OK(op_def_validate(op_def, &status), status);
    } else {
      CHECK_ERROR(op_def_validate(op_def, &status), status, CODE_INVALID_ARGUMENT, cases[i].error);
      CHECK(strncmp(status.message, cases[i].error, strlen(cases[i].error)) == 0);
    }
    arena_free(arena);
  }
}

typedef struct ValueCase {
  const char *value, *attr, *error;
} ValueCase;

TEST(attr_values_are_held_against_their_attr) {
  static const ValueCase cases[] = {
      {"i: 3", "name: 'a' type: 'int'", NULL},
      {"i: 3", "name: 'a' type: 'int' has_minimum: true minimum: 3", NULL},
      {"s: 'x'", "name: 'a' type: 'string' allowed_values { list { s: 'y' s: 'x' } }", NULL},
      {"list { }", "name: 'a' type: 'list(int)'", NULL},
      {"", "name: 'a' type: 'list(int)'", NULL},
      {"", "name: 'a' type: 'int'", "AttrValue missing value with expected type 'int'\n\t for attr 'a'"},
      {"list { }", "name: 'a' type: 'int'",
       "AttrValue missing value with expected type 'int'\n\t for attr 'a'"},
      {"list { i: 1 }", "name: 'a' type: 'int'",
       "AttrValue had value with type 'list(int)' when 'int' expected\n\t for attr 'a'"},
      {"i: 1", "name: 'a' type: 'list(int)'",
       "AttrValue had value with type 'int' when 'list(int)' expected\n\t for attr 'a'"},
      {"list { i: 1 f: 2 }", "name: 'a' type: 'list(int)'",
       "AttrValue had value with type 'list(float)' when 'list(int)' expected\n\t for attr 'a'"},
      {"placeholder: 'T'", "name: 'a' type: 'type'",
       "AttrValue had value with unexpected type 'placeholder'\n\t for attr 'a'"},
      {"type: 1000", "name: 'a' type: 'type'", "AttrValue has invalid DataType enum: 1000\n\t for attr 'a'"},
      {"type: DT_FLOAT_REF", "name: 'a' type: 'type'",
       "AttrValue must not have reference type value of float_ref\n\t for attr 'a'"},
      {"type: DT_INVALID", "name: 'a' type: 'type'", "AttrValue has invalid DataType\n\t for attr 'a'"},
      {"list { type: DT_FLOAT type: DT_INVALID }", "name: 'a' type: 'list(type)'",
       "AttrValue contains invalid DataType\n\t for attr 'a'"},
      {"i: 0", "name: 'N' type: 'int' has_minimum: true minimum: 1",
       "Value for attr 'N' of 0 must be at least minimum 1"},
      {"list { b: true }", "name: 'L' type: 'list(bool)' has_minimum: true minimum: 2",
       "Length for attr 'L' of 1 must be at least minimum 2"},
      {"", "name: 'L' type: 'list(bool)' has_minimum: true minimum: 1",
       "Length for attr 'L' of 0 must be at least minimum 1"},
      {"type: DT_FLOAT", "name: 'T' type: 'type' allowed_values { list { type: DT_INT32 type: DT_STRING } }",
       "Value for attr 'T' of float is not in the list of allowed values: int32, string"},
      {"list { type: DT_INT32 type: DT_HALF }",
       "name: 'T' type: 'list(type)' allowed_values { list { type: DT_INT32 } }",
       "Value for attr 'T' of half is not in the list of allowed values: int32"},
      {"s: 'bar'", "name: 's' type: 'string' allowed_values { list { s: 'foo' } }",
       "Value for attr 's' of \"bar\" is not in the list of allowed values: \"foo\""},
      {"list { s: 'foo' s: '' }", "name: 's' type: 'list(string)' allowed_values { list { s: 'foo' } }",
       "Value for attr 's' of \"\" is not in the list of allowed values: \"foo\""},
      {"s: 'x'", "name: 's' type: 'string' allowed_values { }",
       "Value for attr 's' of \"x\" is not in the list of allowed values: "},
  };
  Status status;
  status_init(&status);
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    Arena *arena = arena_new();
    CHECK_CONTEXT("%s for %s", cases[i].value, cases[i].attr);
    void *attr = NULL;
    CHECK_OK(proto_parse_text(&tensorflow__op_def__attr_def__descriptor, str_of(cases[i].attr), arena, &attr,
                              &status),
             status);
    bool ok = attr_value_validate(parse_value(cases[i].value, arena), attr, &status);
    CHECK_INT_EQ(ok, !cases[i].error);
    if (!ok) CHECK_STR_EQ(status.message, cases[i].error);
    arena_free(arena);
  }
}

TEST(allowed_values_of_other_kinds_are_not_supported) {
  Status status;
  status_init(&status);
  Arena *arena = arena_new();
  AttrDef attr;
  tensorflow__op_def__attr_def__init(&attr);
  attr.name = "a";
  attr.type = "int";
  attr.allowed_values = parse_value("list { i: 1 }", arena);
  CHECK_ERROR(attr_value_validate(parse_value("i: 1", arena), &attr, &status), status, CODE_UNIMPLEMENTED,
              "Support for allowed_values not implemented for type int");
  arena_free(arena);
}

TEST(deprecated_ops_are_refused_from_their_version_on) {
  Status status;
  status_init(&status);
  Arena *arena = arena_new();
  OpDef *op_def = parse_op("name: 'Old' deprecation { version: 8 explanation: 'Use New' }", arena);
  CHECK_OK(op_def_check_deprecation(op_def, 7, &status), status);
  CHECK(!op_def_check_deprecation(op_def, 8, &status));
  CHECK_INT_EQ(status.code, CODE_UNIMPLEMENTED);
  CHECK_STR_EQ(status.message,
               "Op Old is not available in GraphDef version 8. It has been removed in version 8. Use New.");
  CHECK(!op_def_check_deprecation(op_def, 1000, &status));
  CHECK_OK(op_def_check_deprecation(parse_op("name: 'New'", arena), 1000, &status), status);
  arena_free(arena);
}

typedef struct SummaryCase {
  const char *op_def, *want;
} SummaryCase;

TEST(op_defs_are_summarised_on_one_line) {
  static const SummaryCase cases[] = {
      {"name: 'N'", "Op<name=N; signature= -> >"},
      {"name: 'N' input_arg { name: 'a' type: DT_INT32 } input_arg { name: 'b' type_attr: 'T' number_attr: "
       "'N' } input_arg { name: "
       "'c' type_list_attr: 'L' } output_arg { name: 'y' type_attr: 'T' is_ref: true } output_arg { name: "
       "'z' type: DT_HALF } attr "
       "{ name: 'T' type: 'type' default_value { type: DT_FLOAT } has_minimum: true minimum: 1 "
       "allowed_values { list { type: "
       "DT_FLOAT type: DT_INT32 } } } attr { name: 's' type: 'string' default_value { s: 'a\"b' } } "
       "is_commutative: true "
       "is_aggregate: true is_stateful: true allows_uninitialized_input: true is_distributed_communication: "
       "true",
       "Op<name=N; signature=a:int32, b:N*T, c: -> y:Ref(T), z:half; "
       "attr=T:type,default=DT_FLOAT,min=1,allowed=[DT_FLOAT, DT_INT32]; attr=s:string,default=\"a\\\"b\"; "
       "is_commutative=true; "
       "is_aggregate=true; is_stateful=true; allows_uninitialized_input=true; "
       "is_distributed_communication=true>"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    Arena *arena = arena_new();
    StrBuf text = {0};
    op_def_summarize(parse_op(cases[i].op_def, arena), &text);
    CHECK_STR_EQ(strbuf_text(&text), cases[i].want);
    strbuf_free(&text);
    arena_free(arena);
  }
}

TEST(op_defs_are_equal_whatever_the_order_of_attrs) {
  Arena *arena = arena_new();
  const char *ab =
      "name: 'X' attr { name: 'a' type: 'int' } attr { name: 'b' type: 'tensor' default_value { tensor { "
      "dtype: DT_INT32 "
      "tensor_shape { dim { size: 2 } } int_val: 7 } } }";
  const char *ba =
      "name: 'X' attr { name: 'b' type: 'tensor' default_value { tensor { dtype: DT_INT32 tensor_shape { dim "
      "{ size: 2 } "
      "} tensor_content: '\\007\\000\\000\\000\\007\\000\\000\\000' } } } attr { name: 'a' type: 'int' }";
  CHECK(op_def_equal(parse_op(ab, arena), parse_op(ba, arena)));
  CHECK(op_def_equal(parse_op(ba, arena), parse_op(ab, arena)));
  CHECK(!op_def_equal(parse_op(ab, arena), parse_op("name: 'X' attr { name: 'a' type: 'int' }", arena)));
  CHECK(!op_def_equal(parse_op("name: 'X' summary: 'x'", arena), parse_op("name: 'X'", arena)));
  CHECK(!op_def_equal(parse_op("name: 'X' input_arg { name: 'a' type: DT_INT32 }", arena),
                      parse_op("name: 'X' input_arg { name: 'a' type: DT_FLOAT }", arena)));
  arena_free(arena);
}
