#include "op/op_def_builder.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "harness.h"

/* The OpDef of a spec as one line of text format, or the error message. */
static void check_built(const OpDefSpec *spec, const char *want) {
  Status status;
  status_init(&status);
  Arena *arena = arena_new();
  OpDef *op_def = NULL;
  StrBuf text = {0};
  if (op_def_build(spec, arena, &op_def, &status)) {
    proto_print_text(op_def, PROTO_TEXT_SHORT, &text);
  } else {
    CHECK_INT_EQ(status.code, CODE_INVALID_ARGUMENT);
    strbuf_append(&text, status.message);
  }
  CHECK_STR_EQ(strbuf_text(&text), want);
  strbuf_free(&text);
  arena_free(arena);
}

typedef struct SpecCase {
  const char *spec, *want; /* `want` without the part common to all cases */
} SpecCase;

static void check_attrs(const SpecCase *cases, size_t count, const char *want_format) {
  for (size_t i = 0; i < count; i++) {
    char want[1024];
    CHECK_CONTEXT("%s", cases[i].spec);
    snprintf(want, sizeof want, want_format, cases[i].want, cases[i].spec);
    check_built(&(OpDefSpec){.name = "Test", .attrs = (const char *[]){cases[i].spec, NULL}}, want);
  }
}

#define CHECK_ATTRS(cases, format) check_attrs(cases, sizeof cases / sizeof cases[0], format)

TEST(attr_specs_give_attr_defs) {
  static const SpecCase cases[] = {
      {"a:string", "name: \"a\" type: \"string\""},
      {"a : int", "name: \"a\" type: \"int\""},
      {"A_b9:func", "name: \"A_b9\" type: \"func\""},
      {"a:list(int)", "name: \"a\" type: \"list(int)\""},
      {"a: list ( float ) ", "name: \"a\" type: \"list(float)\""},
      {"a: list(tensor) >= 0", "name: \"a\" type: \"list(tensor)\" has_minimum: true"},
      {"i: int >= 9223372036854775807",
       "name: \"i\" type: \"int\" has_minimum: true minimum: 9223372036854775807"},
      {"i: int >= -9223372036854775808",
       "name: \"i\" type: \"int\" has_minimum: true minimum: -9223372036854775808"},
      {"i: int>=007", "name: \"i\" type: \"int\" has_minimum: true minimum: 7"},
      {"a: {float}", "name: \"a\" type: \"type\" allowed_values { list { type: DT_FLOAT } }"},
      {"a: {float, }", "name: \"a\" type: \"type\" allowed_values { list { type: DT_FLOAT } }"},
      {"a: { half , int32,bool }",
       "name: \"a\" type: \"type\" allowed_values { list { type: DT_HALF type: DT_INT32 type: DT_BOOL } }"},
      {"a: quantizedtype",
       "name: \"a\" type: \"type\" allowed_values { list { type: DT_QINT8 type: DT_QUINT8 type: DT_QINT32 "
       "type: DT_QINT16 "
       "type: DT_QUINT16 } }"},
      {"a: {'x', \"y\",}", "name: \"a\" type: \"string\" allowed_values { list { s: \"x\" s: \"y\" } }"},
      {"a: list({'x'}) >= 1",
       "name: \"a\" type: \"list(string)\" has_minimum: true minimum: 1 allowed_values { list { s: \"x\" } "
       "}"},
      {"a: int = 5", "name: \"a\" type: \"int\" default_value { i: 5 }"},
      {"a: int >= -5 = -3",
       "name: \"a\" type: \"int\" default_value { i: -3 } has_minimum: true minimum: -5"},
      {"a: float = 1.25", "name: \"a\" type: \"float\" default_value { f: 1.25 }"},
      {"a: bool=true", "name: \"a\" type: \"bool\" default_value { b: true }"},
      {"a: type=DT_INT32", "name: \"a\" type: \"type\" default_value { type: DT_INT32 }"},
      {"a: string=''", "name: \"a\" type: \"string\" default_value { s: \"\" }"},
      {"a: shape = {}", "name: \"a\" type: \"shape\" default_value { shape { } }"},
      {"a: shape = { unknown_rank: true }",
       "name: \"a\" type: \"shape\" default_value { shape { unknown_rank: true } }"},
      {"a: func = { name: 'f' }", "name: \"a\" type: \"func\" default_value { func { name: \"f\" } }"},
      {"a: list(int) = [ ] ", "name: \"a\" type: \"list(int)\" default_value { list { } }"},
      {"a: list(int) = [1, -2]", "name: \"a\" type: \"list(int)\" default_value { list { i: 1 i: -2 } }"},
      {"a: list(bool)=[true, false]",
       "name: \"a\" type: \"list(bool)\" default_value { list { b: true b: false } }"},
      {"a: list(type)=[DT_INT32, DT_BOOL]",
       "name: \"a\" type: \"list(type)\" default_value { list { type: DT_INT32 type: DT_BOOL } }"},
      {"a: list(shape)=[{ dim { size: 4 } }, { }]",
       "name: \"a\" type: \"list(shape)\" default_value { list { shape { dim { size: 4 } } shape { } } }"},
      {"a: list(tensor)=[{ dtype: DT_INT32 int_val: 5 }]",
       "name: \"a\" type: \"list(tensor)\" default_value { list { tensor { dtype: DT_INT32 int_val: 5 } } }"},
      {"a: {int32, float} = DT_FLOAT",
       "name: \"a\" type: \"type\" default_value { type: DT_FLOAT } allowed_values { list { type: DT_INT32 "
       "type: DT_FLOAT } }"},
  };
  CHECK_ATTRS(cases, "name: \"Test\" attr { %s }");
}

TEST(bad_attr_specs_say_what_is_wrong) {
  static const SpecCase cases[] = {
      {"", "Trouble parsing '<name>:'"},
      {"_a:int", "Trouble parsing '<name>:'"},
      {"a b:int", "Trouble parsing '<name>:'"},
      {"a-b:int", "Trouble parsing '<name>:'"},
      {"a:int32", "Extra '32' unparsed at the end"},
      {"a:float64", "Extra '64' unparsed at the end"},
      {"a: list", "Trouble parsing type string at 'list'"},
      {"a: any", "Trouble parsing type string at 'any'"},
      {"a:list()", "Trouble parsing type string at ')'"},
      {"a: list(int", "Expected ) to close 'list(', not: ''"},
      {"a:list(list(int))", "Trouble parsing type string at 'list(int))'"},
      {"a: list(int32)", "Expected ) to close 'list(', not: '32)'"},
      {"a:{ float", "Expected , or } after types in list, not: ''"},
      {"a:{float bool}", "Expected , or } after types in list, not: 'bool}'"},
      {"a:{,}", "Trouble parsing type string at ',}'"},
      {"a:{float,,bool}", "Trouble parsing type string at ',bool}'"},
      {"a:{'a' 'b'}", "Expected , or } after strings in list, not: ''b'}'"},
      {"a:{'a',,'b'}", "Trouble parsing allowed string at ','b'}'"},
      {"a:{'a", "Trouble parsing allowed string at ''a'"},
      {"a:{'a\\'}", "Trouble parsing allowed string at ''a\\'}'"},
      {"a:{int}", "Unrecognized type string 'int'"},
      {"a:string >= 1", "Extra '>= 1' unparsed at the end"},
      {"a:{int32} >= 1", "Extra '>= 1' unparsed at the end"},
      {"i: int >= 9223372036854775808",
       "Could not parse integer lower limit after '>=', found ' 9223372036854775808' instead"},
      {"i: int >=", "Could not parse integer lower limit after '>=', found '' instead"},
      {"i: int >= - 5", "Could not parse integer lower limit after '>=', found ' - 5' instead"},
      {"i: int > 5", "Extra '> 5' unparsed at the end"},
      {"a: int = x", "Could not parse default value 'x'"},
      {"a: int =", "Could not parse default value ''"},
      {"a: int = 1 2", "Could not parse default value '1 2'"},
      {"a: int = 9223372036854775808", "Could not parse default value '9223372036854775808'"},
      {"a: bool = 'x'", "Could not parse default value ''x''"},
      {"a: string = foo", "Could not parse default value 'foo'"},
      {"a: type = DT_NONE", "Could not parse default value 'DT_NONE'"},
      {"a: list(int) = 7", "Could not parse default value '7'"},
      {"a: list(int) = [7", "Could not parse default value '[7'"},
      {"a: list(int) = 7]", "Could not parse default value '7]'"},
      {"a: list(int) = ]", "Could not parse default value ']'"},
      {"a: list(string)=['foo', bar]", "Could not parse default value '['foo', bar]'"},
      {"a: shape = { x: 1 }", "Could not parse default value '{ x: 1 }'"},
  };
  CHECK_ATTRS(cases, "%s from Attr(\"%s\") for Op Test");
}

TEST(a_default_nested_too_deeply_is_refused) {
  char spec[4096] = "a: func = ", want[8192];
  size_t used = strlen(spec), start = used;
  for (int i = 0; i < 60; i++)
    used += (size_t)snprintf(spec + used, sizeof spec - used, "{ name: 'f' attr { key: 'k' value { func ");
  used += (size_t)snprintf(spec + used, sizeof spec - used, "{ name: 'f' }");
  for (int i = 0; i < 60; i++) used += (size_t)snprintf(spec + used, sizeof spec - used, " } } }");
  snprintf(want, 60, "Could not parse default value '%s", spec + start);
  Status status;
  status_init(&status);
  Arena *arena = arena_new();
  OpDef *op_def;
  CHECK_ERROR(op_def_build(&(OpDefSpec){.name = "Test", .attrs = (const char *[]){spec, NULL}}, arena,
                           &op_def, &status),
              status, CODE_INVALID_ARGUMENT, want);
  arena_free(arena);
}

/* Attrs that the args of the cases refer to. */
static const char *const kAttrs[] = {"n: int",    "m: int >= 0", "t: type", "l: list(type)",
                                     "s: string", "T9_x: type",  NULL};
#define ATTRS_TEXT                                                                                          \
  "attr { name: \"n\" type: \"int\"%s } attr { name: \"m\" type: \"int\" has_minimum: true } attr { name: " \
  "\"t\" type: "                                                                                            \
  "\"type\" } attr { name: \"l\" type: \"list(type)\"%s } attr { name: \"s\" type: \"string\" } attr { "    \
  "name: \"T9_x\" type: "                                                                                   \
  "\"type\" }"

typedef struct ArgCase {
  const char *spec, *want;
  bool n_gets_minimum, l_gets_minimum, stateful;
} ArgCase;

TEST(arg_specs_give_arg_defs) {
  static const ArgCase cases[] = {
      {"a: int32", "name: \"a\" type: DT_INT32", false, false, false},
      {"a : float ", "name: \"a\" type: DT_FLOAT", false, false, false},
      {"a1_b:float16", "name: \"a1_b\" type: DT_HALF", false, false, false},
      {"a: float_ref", "name: \"a\" type: DT_FLOAT_REF", false, false, false},
      {"a: t", "name: \"a\" type_attr: \"t\"", false, false, false},
      {"a: T9_x", "name: \"a\" type_attr: \"T9_x\"", false, false, false},
      {"a: l", "name: \"a\" type_list_attr: \"l\"", false, true, false},
      {"a: n*int32", "name: \"a\" type: DT_INT32 number_attr: \"n\"", true, false, false},
      {"a: n * t", "name: \"a\" type_attr: \"t\" number_attr: \"n\"", true, false, false},
      {"a: m * t", "name: \"a\" type_attr: \"t\" number_attr: \"m\"", false, false, false},
      {"a: k * t", "name: \"a\" type_attr: \"t\" number_attr: \"k\"", false, false, false},
      {"a: n * l", "name: \"a\" number_attr: \"n\" type_list_attr: \"l\"", true, false, false},
      {"a: Ref(int32)", "name: \"a\" type: DT_INT32 is_ref: true", false, false, false},
      {"a: Ref  (  bool ) ", "name: \"a\" type: DT_BOOL is_ref: true", false, false, false},
      {"a: Ref(n * t)", "name: \"a\" type_attr: \"t\" number_attr: \"n\" is_ref: true", true, false, false},
      {"a: resource", "name: \"a\" type: DT_RESOURCE", false, false, true},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    for (int output = 0; output < 2; output++) {
      const ArgCase *c = &cases[i];
      CHECK_CONTEXT("%s", c->spec);
      const char *minimum = " has_minimum: true minimum: 1";
      char want[2048];
      snprintf(want, sizeof want, "name: \"Test\" %s { %s } " ATTRS_TEXT "%s",
               output ? "output_arg" : "input_arg", c->want, c->n_gets_minimum ? minimum : "",
               c->l_gets_minimum ? minimum : "", c->stateful ? " is_stateful: true" : "");
      const char *const args[] = {c->spec, NULL};
      OpDefSpec spec = {.name = "Test",
                        .attrs = kAttrs,
                        .inputs = output ? NULL : args,
                        .outputs = output ? args : NULL};
      check_built(&spec, want);
    }
  }
}

TEST(bad_arg_specs_say_what_is_wrong) {
  static const SpecCase cases[] = {
      {"", "Trouble parsing 'name:'"},
      {"A: int32", "Trouble parsing 'name:'"},
      {"aB: int32", "Trouble parsing 'name:'"},
      {"a int32", "Trouble parsing 'name:'"},
      {"a:", "Trouble parsing either a type or an attr name at ''"},
      {"a: 9", "Trouble parsing either a type or an attr name at '9'"},
      {"a: *t", "Trouble parsing either a type or an attr name at '*t'"},
      {"a: Ref()", "Trouble parsing either a type or an attr name at ')'"},
      {"a: int33", "Reference to unknown attr 'int33'"},
      {"a: n * x", "Reference to unknown attr 'x'"},
      {"a: n", "Reference to attr 'n' with type int that isn't type or list(type)"},
      {"a: n * s", "Reference to attr 's' with type string that isn't type or list(type)"},
      {"a: t extra", "Extra 'extra' unparsed at the end"},
      {"a: t *", "Extra '*' unparsed at the end"},
      {"a: n * t * t", "Extra '* t' unparsed at the end"},
      {"a: Ref(t", "Did not find closing ')' for 'Ref(', instead found: ''"},
      {"a: Ref(t x)", "Did not find closing ')' for 'Ref(', instead found: 'x)'"},
      {"a: Ref(t) x", "Extra 'x' unparsed at the end"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    char want[512];
    CHECK_CONTEXT("%s", cases[i].spec);
    const char *const args[] = {cases[i].spec, NULL};
    snprintf(want, sizeof want, "%s from Input(\"%s\") for Op Test", cases[i].want, cases[i].spec);
    check_built(&(OpDefSpec){.name = "Test", .attrs = kAttrs, .inputs = args}, want);
    snprintf(want, sizeof want, "%s from Output(\"%s\") for Op Test", cases[i].want, cases[i].spec);
    check_built(&(OpDefSpec){.name = "Test", .attrs = kAttrs, .outputs = args}, want);
  }
}

TEST(all_errors_are_reported_in_the_order_of_parsing) {
  check_built(&(OpDefSpec){.name = "Bad",
                           .outputs = (const char *[]){"y: nope", NULL},
                           .inputs = (const char *[]){"x: T", "9", NULL},
                           .attrs = (const char *[]){"T: type", "a:invalid", NULL},
                           .control_outputs = (const char *[]){"^c", NULL},
                           .doc = "Sum.\nz: what?"},
              "Trouble parsing type string at 'invalid' from Attr(\"a:invalid\") for Op Bad\n"
              "Trouble parsing 'name:' from Input(\"9\") for Op Bad\n"
              "Reference to unknown attr 'nope' from Output(\"y: nope\") for Op Bad\n"
              "Trouble parsing 'name:' from ControlOutput(\"^c\") for Op Bad\n"
              "No matching input/output/attr for name 'z' from Doc() for Op Bad");
}

TEST(flags_control_outputs_and_deprecation_are_kept) {
  check_built(&(OpDefSpec){.name = "All",
                           .control_outputs = (const char *[]){"c", "Done_1", NULL},
                           .is_stateful = true,
                           .is_commutative = true,
                           .is_aggregate = true,
                           .allows_uninitialized_input = true,
                           .deprecated_version = 8,
                           .deprecation_explanation = "Use New"},
              "name: \"All\" deprecation { version: 8 explanation: \"Use New\" } is_aggregate: true "
              "is_stateful: true "
              "is_commutative: true allows_uninitialized_input: true control_output: \"c\" control_output: "
              "\"Done_1\"");
  check_built(&(OpDefSpec){.name = "Any",
                           .attrs = (const char *[]){"a: any", "b: list(any)", NULL},
                           .allow_attr_type_any = true},
              "name: \"Any\" attr { name: \"a\" type: \"any\" } attr { name: \"b\" type: \"list(any)\" }");
}

TEST(control_outputs_begin_with_a_name) {
  check_built(&(OpDefSpec){.name = "Some", .control_outputs = (const char *[]){"a b", "c:", "d_1>x", NULL}},
              "name: \"Some\" control_output: \"a\" control_output: \"c\" control_output: \"d_1\"");
  check_built(&(OpDefSpec){.name = "None", .control_outputs = (const char *[]){"", " a", "_a", "1a", NULL}},
              "Trouble parsing 'name:' from ControlOutput(\"\") for Op None\n"
              "Trouble parsing 'name:' from ControlOutput(\" a\") for Op None\n"
              "Trouble parsing 'name:' from ControlOutput(\"_a\") for Op None\n"
              "Trouble parsing 'name:' from ControlOutput(\"1a\") for Op None");
}

TEST(an_explanation_deprecates_from_the_beginning) {
  check_built(&(OpDefSpec){.name = "Old", .deprecation_explanation = "why"},
              "name: \"Old\" deprecation { explanation: \"why\" }");
}

/* TensorFlow's answers. */
TEST(escapes_in_allowed_strings) {
  static const struct {
    const char *quoted, *printed, *problem; /* the value in text format, or the error */
  } kCases[] = {
      {"'\\a\\b\\f\\n\\r\\t\\v\\\\\\?'", "\\007\\010\\014\\n\\r\\t\\013\\\\?", NULL},
      {"'\\'\\\"'", "\\'\\\"", NULL},
      {"'\\101\\7\\0012\\377'", "A\\007\\0012\\377", NULL},
      {"'\\x41\\X7g\\x00041'", "A\\007gA", NULL},
      {"'\\u0041\\u00e9\\u20AC\\U0001F600!'", "A\\303\\251\\342\\202\\254\\360\\237\\230\\200!", NULL},
      {"'\\q'", NULL, "Unknown escape sequence: \\q"},
      {"'\\8'", NULL, "Unknown escape sequence: \\8"},
      {"'a\\777'", NULL, "Value of \\777 exceeds 0xff"},
      {"'\\x123'", NULL, "Value of \\x123 exceeds 0xff"},
      {"'\\xffffffffffffffffffff'", NULL, "Value of \\xffffffffffffffffffff exceeds 0xff"},
      {"'\\xg'", NULL, "\\x cannot be followed by a non-hex digit"},
      {"'\\x'", NULL, "String cannot end with \\x"},
      {"'\\u12'", NULL, "\\u must be followed by 4 hex digits"},
      {"'\\u12g4'", NULL, "\\u must be followed by 4 hex digits: \\u12"},
      {"'\\U0001F60'", NULL, "\\U must be followed by 8 hex digits"},
      {"'\\U00110000'", NULL, "Value of \\U00110000 exceeds Unicode limit (0x10FFFF)"},
      {"'\\UFFFFFFFF'", NULL, "Value of \\UFFFFFF exceeds Unicode limit (0x10FFFF)"},
      {"'\\udC00'", NULL, "invalid surrogate character (0xD800-DFFF): \\udC00"},
  };
  for (size_t i = 0; i < sizeof kCases / sizeof kCases[0]; i++) {
    const char *quoted = kCases[i].quoted;
    CHECK_CONTEXT("%s", quoted);
    StrBuf spec = {0}, want = {0};
    strbuf_printf(&spec, "s: {%s}", quoted);
    if (kCases[i].problem) {
      strbuf_printf(&want, "Trouble unescaping \"%.*s\", got error: %s from Attr(\"%s\") for Op E",
                    (int)strlen(quoted) - 2, quoted + 1, kCases[i].problem, strbuf_text(&spec));
    } else {
      strbuf_printf(&want,
                    "name: \"E\" attr { name: \"s\" type: \"string\" allowed_values { list { s: \"%s\" } } }",
                    kCases[i].printed);
    }
    check_built(&(OpDefSpec){.name = "E", .attrs = (const char *[]){strbuf_text(&spec), NULL}},
                strbuf_text(&want));
    strbuf_free(&spec);
    strbuf_free(&want);
  }
}

/* --- documentation --- */

typedef struct DocCase {
  const char *doc, *summary, *description, *x; /* of the op, of its input x */
} DocCase;

TEST(docs_are_split_into_summary_description_and_blocks) {
  static const DocCase cases[] = {
      {"", "", "", ""},
      {"\n \n", "", "", ""},
      {"Sum", "Sum", "", ""},
      {"\n\n  Sum  \n\n\n", "  Sum", "", ""},
      {"Sum\n\nOne\n\n  two  \n\n", "Sum", "One\n\n  two", ""},
      {"Sum\nx: an input", "Sum", "", "an input"},
      {"Sum\nDesc\n\nx:an input\n\n\n", "Sum", "Desc", "an input"},
      {"Sum\nx: one\n    two\n      three\n\n    four", "Sum", "", "one\ntwo\n  three\n\nfour"},
      {"Sum\nx: one\ntwo\n  three", "Sum", "", "one\ntwo\n  three"},
      {"Sum\nx:\n  indented", "Sum", "", "\nindented"},
      {"Sum\nx: first\ny: other\nx: again", "Sum", "", "again"},
      {"Sum\nx :=  suppressed", "Sum", "", "=  suppressed"},
      {"Sum\nx y: no block\nx: block", "Sum", "x y: no block", "block"},
      {"Sum\nx\n: no block\nx: block", "Sum", "x\n: no block", "block"},
      {"Sum\nx \n  : no block", "Sum", "x\n  : no block", ""},
      {"x: is the summary", "x: is the summary", "", ""},
  };
  Status status;
  status_init(&status);
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    Arena *arena = arena_new();
    CHECK_CONTEXT("doc %zu", i);
    OpDefSpec spec = {.name = "Test",
                      .inputs = (const char *[]){"x: int32", NULL},
                      .outputs = (const char *[]){"y: int32", NULL},
                      .doc = cases[i].doc};
    OpDef *op_def = NULL;
    if (CHECK_OK(op_def_build(&spec, arena, &op_def, &status), status)) {
      CHECK_STR_EQ(op_def->summary, cases[i].summary);
      CHECK_STR_EQ(op_def->description, cases[i].description);
      CHECK_STR_EQ(op_def->input_arg[0]->description, cases[i].x);
    }
    arena_free(arena);
  }
}

/* --- the builder, and single specs --- */

TEST(the_builder_collects_specs_in_any_order) {
  Status status;
  status_init(&status);
  Arena *arena = arena_new();
  char text[32] = "x: N * T"; /* copied: it may change before the end */
  OpDefBuilder *builder = op_def_builder_new(arena, "Late");
  op_def_builder_input(builder, text);
  memset(text, 0, sizeof text);
  op_def_builder_output(builder, "y: T");
  op_def_builder_doc(builder, "Sum\nT: the type");
  op_def_builder_attr(builder, "T: type");
  op_def_builder_attr(builder, "N: int");
  op_def_builder_is_commutative(builder);
  op_def_builder_deprecated(builder, 3, "Old");
  op_def_builder_shape(builder, shape_unchanged);
  OpDef *op_def = NULL;
  ShapeFn shape = NULL;
  if (CHECK_OK(op_def_builder_finalize(builder, &op_def, &shape, &status), status)) {
    StrBuf out = {0};
    proto_print_text(op_def, PROTO_TEXT_SHORT, &out);
    CHECK_STR_EQ(strbuf_text(&out),
                 "name: \"Late\" input_arg { name: \"x\" type_attr: \"T\" number_attr: \"N\" } output_arg { "
                 "name: \"y\" type_attr: "
                 "\"T\" } attr { name: \"T\" type: \"type\" description: \"the type\" } attr { name: \"N\" "
                 "type: \"int\" "
                 "has_minimum: true minimum: 1 } summary: \"Sum\" deprecation { version: 3 explanation: "
                 "\"Old\" } "
                 "is_commutative: true");
    CHECK(shape == shape_unchanged);
    strbuf_free(&out);
  }
  arena_free(arena);
}

TEST(calls_that_may_be_made_once_complain_the_second_time) {
  Status status;
  status_init(&status);
  Arena *arena = arena_new();
  OpDefBuilder *builder = op_def_builder_new(arena, "Twice");
  op_def_builder_doc(builder, "");
  for (int i = 0; i < 2; i++) {
    op_def_builder_doc(builder, "text"); /* an empty one may be followed by another */
    op_def_builder_deprecated(builder, 1, "");
    op_def_builder_shape(builder, shape_unchanged);
  }
  op_def_builder_attr(builder, "a: what");
  OpDef *op_def;
  CHECK(!op_def_builder_finalize(builder, &op_def, NULL, &status));
  CHECK_STR_EQ(status.message,
               "Extra call to Doc() for Op Twice\nDeprecated called twice for Op Twice\nSetShapeFn called "
               "twice for Op Twice\n"
               "Trouble parsing type string at 'what' from Attr(\"a: what\") for Op Twice");
  arena_free(arena);
}

/* An OpDef with such a text could be written, but not parsed again. */
TEST(texts_that_are_not_utf8_are_refused) {
  Status status;
  status_init(&status);
  Arena *arena = arena_new();
  OpDefBuilder *builder = op_def_builder_new(arena, "Bytes");
  op_def_builder_doc(builder, "Sum \x8a");
  op_def_builder_deprecated(builder, 1, "\xc3");
  OpDef *op_def;
  CHECK(!op_def_builder_finalize(builder, &op_def, NULL, &status));
  CHECK_STR_EQ(status.message,
               "Doc() was called with a text that is not UTF-8 for Op Bytes\n"
               "Deprecated was called with a text that is not UTF-8 for Op Bytes");
  builder = op_def_builder_new(arena, "Text");
  op_def_builder_doc(builder,
                     "Gr\xc3\xb6\xc3\x9f"
                     "e");
  status_init(&status);
  if (CHECK_OK(op_def_builder_finalize(builder, &op_def, NULL, &status), status))
    CHECK_STR_EQ(op_def->summary,
                 "Gr\xc3\xb6\xc3\x9f"
                 "e");
  arena_free(arena);
}

TEST(single_specs_extend_an_op_def) {
  Status status;
  status_init(&status);
  Arena *arena = arena_new();
  OpDef *op_def = proto_new(kOpDef, arena);
  op_def->name = "f";
  CHECK_OK(op_def_parse_attr("T: {float, int32}", false, op_def, arena, &status), status);
  CHECK_OK(op_def_parse_attr("a: any", true, op_def, arena, &status), status);
  CHECK_OK(op_def_parse_arg("x: T", false, op_def, arena, &status), status);
  CHECK_OK(op_def_parse_arg("y: T", true, op_def, arena, &status), status);
  CHECK_ERROR(op_def_parse_arg("z: U", true, op_def, arena, &status), status, CODE_INVALID_ARGUMENT,
              "Reference to unknown attr 'U' from Output(\"z: U\") for Op f");
  CHECK_INT_EQ(op_def->n_attr, 2);
  CHECK_STR_EQ(op_def->output_arg[0]->type_attr, "T");
  CHECK(op_def_attr(op_def, "T") == op_def->attr[0]);
  CHECK(!op_def_attr(op_def, "U"));
  arena_free(arena);
}
