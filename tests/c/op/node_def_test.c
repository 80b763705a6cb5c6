#include "op/node_def.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "harness.h"
#include "op/op_def_builder.h"

static NodeDef *parse_node(const char *text, Arena *arena) {
  Status status;
  status_init(&status);
  void *node = NULL;
  CHECK_OK(proto_parse_text(kNodeDef, str_of(text), arena, &node, &status), status);
  return node;
}

static AttrValue *parse_value(const char *text, Arena *arena) {
  Status status;
  status_init(&status);
  void *value = NULL;
  CHECK_OK(proto_parse_text(kAttrValue, str_of(text), arena, &value, &status), status);
  return value;
}

static OpDef *build_op(OpDefSpec spec, Arena *arena) {
  Status status;
  status_init(&status);
  OpDef *op_def = NULL;
  CHECK_OK(op_def_build(&spec, arena, &op_def, &status), status);
  return op_def;
}

/* --- attrs --- */

TEST(attrs_are_read_by_type) {
  Status status;
  status_init(&status);
  Arena *arena = arena_new();
  NodeDef *node = parse_node(
      "name: 'n' attr { key: 's' value { s: 'a\\000b' } } attr { key: 'i' value { i: 2147483648 } } attr { "
      "key: 'j' value { i: "
      "-2147483648 } } attr { key: 'f' value { f: 0.5 } } attr { key: 'b' value { b: true } } attr { key: "
      "'t' value { type: DT_HALF } "
      "} attr { key: 'h' value { shape { dim { size: -1 } dim { size: 0 } } } } attr { key: 'x' value { "
      "tensor { dtype: DT_INT32 } } "
      "} attr { key: 'g' value { func { name: 'F' } } } attr { key: 'l' value { list { i: 4 i: 5 } } } attr "
      "{ key: 'u' value { } } "
      "attr { key: 'p' value { placeholder: 'T' } } attr { key: 'r' value { type: DT_FLOAT_REF } } attr { "
      "key: 'y' value { shape { dim "
      "{ size: -2 } } } }",
      arena);
  Str s;
  int64_t i;
  int32_t j;
  float f;
  bool b;
  DataType t;
  const TensorShapeProto *shape;
  const TensorProto *tensor;
  const NameAttrList *func;
  const AttrListValue *list;
  CHECK(CHECK_OK(node_attr_string(node, "s", &s, &status), status) && s.length == 3 &&
        memcmp(s.data, "a\0b", 3) == 0);
  CHECK(CHECK_OK(node_attr_int(node, "i", &i, &status), status) && i == 2147483648);
  CHECK(CHECK_OK(node_attr_int32(node, "j", &j, &status), status) && j == INT32_MIN);
  CHECK(CHECK_OK(node_attr_float(node, "f", &f, &status), status) && f == 0.5f);
  CHECK(CHECK_OK(node_attr_bool(node, "b", &b, &status), status) && b);
  CHECK(CHECK_OK(node_attr_type(node, "t", &t, &status), status) && t == DT_HALF);
  CHECK(CHECK_OK(node_attr_shape(node, "h", &shape, &status), status) && shape->n_dim == 2);
  CHECK(CHECK_OK(node_attr_tensor(node, "x", &tensor, &status), status) && (int)tensor->dtype == DT_INT32);
  CHECK(CHECK_OK(node_attr_func(node, "g", &func, &status), status) && strcmp(func->name, "F") == 0);
  CHECK(CHECK_OK(node_attr_list(node, "l", ATTR_INT, &list, &status), status) && list->n_i == 2 &&
        list->i[1] == 5);
  CHECK(CHECK_OK(node_attr_list(node, "u", ATTR_TYPE, &list, &status), status) && !list);

  CHECK(!node_attr_int(node, "zz", &i, &status));
  CHECK_INT_EQ(status.code, CODE_NOT_FOUND);
  CHECK_STR_EQ(status.message, "No attr named 'zz' in NodeDef:\n\t [[{{node n}}]]");
  CHECK(!node_attr_int(node, "_zz", &i, &status));
  CHECK_STR_EQ(status.message, "No attr named '_zz' in NodeDef:");
  CHECK_ERROR(node_attr_string(node, "i", &s, &status), status, CODE_INVALID_ARGUMENT,
              "AttrValue had value with type 'int' when 'string' expected\n\t [[{{node n}}]]");
  CHECK_ERROR(node_attr_list(node, "l", ATTR_FLOAT, &list, &status), status, CODE_INVALID_ARGUMENT,
              "AttrValue had value with type 'list(int)' when 'list(float)' expected");
  CHECK_ERROR(node_attr_list(node, "i", ATTR_INT, &list, &status), status, CODE_INVALID_ARGUMENT,
              "AttrValue had value with type 'int' when 'list(int)' expected");
  CHECK_ERROR(node_attr_int(node, "u", &i, &status), status, CODE_INVALID_ARGUMENT,
              "AttrValue missing value with expected type 'int'");
  CHECK_ERROR(node_attr_float(node, "p", &f, &status), status, CODE_INVALID_ARGUMENT,
              "AttrValue had value with unexpected type 'placeholder'");
  CHECK_ERROR(node_attr_type(node, "r", &t, &status), status, CODE_INVALID_ARGUMENT,
              "AttrValue must not have reference type value of float_ref");
  CHECK_ERROR(node_attr_int32(node, "i", &j, &status), status, CODE_INVALID_ARGUMENT,
              "Attr i has value 2147483648 out of range for an int32");
  CHECK_ERROR(node_attr_shape(node, "y", &shape, &status), status, CODE_INVALID_ARGUMENT,
              "Attr y has invalid shape value dim { size: -2 }");
  arena_free(arena);
}

TEST(impossible_shapes_are_refused) {
  Status status;
  status_init(&status);
  static const struct {
    const char *shape;
    bool valid;
  } cases[] = {
      {"unknown_rank: true", true},
      {"", true},
      {"dim { size: 0 } dim { size: 4294967296 } dim { size: 4294967296 }", true},
      {"dim { size: -1 } dim { size: 4294967296 } dim { size: 4294967296 }", true},
      {"unknown_rank: true dim { size: 1 }", false},
      {"dim { size: 4294967296 } dim { size: 4294967296 }", false},
      {"dim { size: -2 }", false},
  };
  const TensorShapeProto *shape;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    Arena *arena = arena_new();
    CHECK_CONTEXT("%s", cases[i].shape);
    NodeDef *node =
        parse_node(arena_printf(arena, "name: 'n' attr { key: 'a' value { shape { %s } } }", cases[i].shape),
                   arena);
    CHECK_INT_EQ(node_attr_shape(node, "a", &shape, &status), cases[i].valid);
    arena_free(arena);
  }
}

/* --- types --- */

TEST(types_follow_from_attrs) {
  Status status;
  status_init(&status);
  Arena *arena = arena_new();
  OpDef *op_def =
      build_op((OpDefSpec){.name = "X",
                           .attrs = (const char *[]){"T: type", "N: int >= 0", "L: list(type) >= 0", NULL},
                           .inputs = (const char *[]){"a: N * T", "b: Ref(T)", "c: L", "d: bool", NULL},
                           .outputs = (const char *[]){"e: Ref(L)", "f: N * int64", NULL}},
               arena);
  NodeDef *node = parse_node(
      "name: 'n' op: 'X' attr { key: 'T' value { type: DT_FLOAT } } attr { key: 'N' value { i: 2 } } attr { "
      "key: "
      "'L' value { list { type: DT_STRING type: DT_HALF } } }",
      arena);
  static const DataType want_inputs[] = {DT_FLOAT,  DT_FLOAT, (DataType)(DT_REF + DT_FLOAT),
                                         DT_STRING, DT_HALF,  DT_BOOL};
  static const DataType want_outputs[] = {(DataType)(DT_REF + DT_STRING), (DataType)(DT_REF + DT_HALF),
                                          DT_INT64, DT_INT64};
  DataType *inputs, *outputs;
  int num_inputs, num_outputs, alone, *starts;
  if (CHECK_OK(node_def_types(node, op_def, arena, &inputs, &num_inputs, &outputs, &num_outputs, &status),
               status)) {
    CHECK_INT_EQ(num_inputs, 6);
    CHECK_INT_EQ(num_outputs, 4);
    CHECK_MEM_EQ(inputs, want_inputs, sizeof want_inputs);
    CHECK_MEM_EQ(outputs, want_outputs, sizeof want_outputs);
  }
  CHECK(CHECK_OK(node_def_num_inputs(node, op_def, &alone, &status), status) && alone == 6);
  static const int want_in[] = {0, 2, 3, 5, 6}, want_out[] = {0, 2, 4};
  if (CHECK_OK(node_def_arg_ranges(node, op_def, false, arena, &starts, &status), status))
    CHECK_MEM_EQ(starts, want_in, sizeof want_in);
  if (CHECK_OK(node_def_arg_ranges(node, op_def, true, arena, &starts, &status), status))
    CHECK_MEM_EQ(starts, want_out, sizeof want_out);
  arena_free(arena);
}

typedef struct TypesCase {
  const char *op_def, *attrs, *error;
} TypesCase;

TEST(types_that_cannot_be_made) {
  static const TypesCase cases[] = {
      {"output_arg { name: 'a' type: DT_INT32 number_attr: 'N' }",
       "attr { key: 'N' value { i: 1000000000000 } }", "Number of outputs is too big: 1000000000000"},
      {"output_arg { name: 'a' type: DT_INT32 number_attr: 'N' }",
       "attr { key: 'N' value { i: 2000000000 } }", "Number of outputs is too big: 2000000000"},
      {"output_arg { name: 'a' type: DT_INT32 number_attr: 'N' }", "attr { key: 'N' value { i: -1 } }",
       "Value for number_attr() -1 < 0"},
      {"output_arg { name: 'a' type: DT_INT32 number_attr: 'N' }", "", "No attr named 'N' in NodeDef:"},
      {"output_arg { name: 'a' number_attr: 'N' }", "attr { key: 'N' value { i: 1 } }",
       "Missing type or type_attr field in name: \"a\" number_attr: \"N\""},
      {"input_arg { name: 'a' }", "", "No type fields in name: \"a\""},
      {"input_arg { name: 'a' type: DT_INT32_REF is_ref: true }", "",
       "Requested reference to a reference type: name: \"a\" type: DT_INT32_REF is_ref: true"},
      {"input_arg { name: 'a' type_attr: 'T' }", "attr { key: 'T' value { type: DT_INT32_REF } }",
       "AttrValue must not have reference type value of int32_ref"},
      {"input_arg { name: 'a' type_attr: 'T' }", "attr { key: 'T' value { placeholder: 'T' } }",
       "AttrValue had value with unexpected type 'placeholder'"},
      {"input_arg { name: 'a' type_list_attr: 'L' }", "attr { key: 'L' value { type: DT_INT32 } }",
       "AttrValue had value with type 'type' when 'list(type)' expected"},
  };
  Status status;
  status_init(&status);
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    Arena *arena = arena_new();
    CHECK_CONTEXT("%s", cases[i].error);
    void *op_def = NULL;
    CHECK_OK(proto_parse_text(kOpDef, str_of(cases[i].op_def), arena, &op_def, &status), status);
    NodeDef *node = parse_node(arena_printf(arena, "name: 'n' %s", cases[i].attrs), arena);
    DataType *inputs, *outputs;
    int num_inputs, num_outputs;
    CHECK(!node_def_types(node, op_def, arena, &inputs, &num_inputs, &outputs, &num_outputs, &status));
    CHECK(strncmp(status.message, cases[i].error, strlen(cases[i].error)) == 0);
    arena_free(arena);
  }
}

/* --- names --- */

TEST(node_names_have_a_syntax) {
  static const char *const good[] = {"n", "9", ".", "a/b-c_d.e", "A>b", "a>9/x>.", "."};
  static const char *const bad[] = {"",   "-a", "/a",   "a b",  "a:0",      "^a",
                                    "a>", ">a", "a>>b", "a>_b", "\xc3\xa4", "a\n"};
  for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
    CHECK_CONTEXT("%s", good[i]);
    CHECK(node_name_is_valid(good[i]) && node_name_is_valid_internal(good[i]));
  }
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    CHECK_CONTEXT("%s", bad[i]);
    CHECK(!node_name_is_valid(bad[i]));
  }
  CHECK(!node_name_is_valid("_n") && node_name_is_valid_internal("_n"));
  CHECK(!node_name_is_valid_internal("_n:0"));
}

TEST(inputs_are_split) {
  static const struct {
    const char *input, *name;
    int index;
  } cases[] = {
      {"n", "n", 0},   {"n:0", "n", 0},   {"a/b:12", "a/b", 12},
      {"^n", "n", -1}, {"_n:1", "_n", 1}, {"n:2147483647", "n", 2147483647},
  };
  static const char *const bad[] = {"",     "^",   ":0",   "n:",           "n:00", "n:01",
                                    "n:-1", "n:x", "n:1x", "n:2147483648", "^n:0", "n:1:2"};
  Str name;
  int index;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    CHECK_CONTEXT("%s", cases[i].input);
    if (!CHECK(node_parse_input(cases[i].input, &name, &index))) continue;
    CHECK(str_equal_text(name, cases[i].name));
    CHECK_INT_EQ(index, cases[i].index);
  }
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    CHECK_CONTEXT("%s", bad[i]);
    CHECK(!node_parse_input(bad[i], &name, &index));
  }
}

TEST(control_inputs_come_last) {
  Status status;
  status_init(&status);
  Arena *arena = arena_new();
  CHECK_OK(node_def_validate_syntax(parse_node("name: 'n' input: 'a:1' input: '^b' input: '^c'", arena),
                                    &status),
           status);
  CHECK_ERROR(node_def_validate_syntax(parse_node("name: 'n' input: '^b' input: 'a'", arena), &status),
              status, CODE_INVALID_ARGUMENT,
              "All control inputs must follow all data inputs\n\t [[{{node n}}]]");
  CHECK_ERROR(node_def_validate_syntax(parse_node("name: 'n' input: 'a:01'", arena), &status), status,
              CODE_INVALID_ARGUMENT, "Illegal op input name 'a:01'");
  arena_free(arena);
}

/* --- validation and defaults --- */

TEST(node_defs_are_validated_against_their_op) {
  Status status;
  status_init(&status);
  Arena *arena = arena_new();
  OpDef *op_def = build_op((OpDefSpec){.name = "X",
                                       .attrs = (const char *[]){"T: {float, int32}", "a: int >= 1", NULL},
                                       .inputs = (const char *[]){"x: T", "y: int32", NULL}},
                           arena);
  static const char kOp[] =
      "Op<name=X; signature=x:T, y:int32 -> ; attr=T:type,allowed=[DT_FLOAT, DT_INT32]; attr=a:int,min=1>";
#define NODE(inputs, attrs) "name: 'n' op: 'X' " inputs " " attrs
#define GOOD_ATTRS "attr { key: 'T' value { type: DT_FLOAT } } attr { key: 'a' value { i: 1 } }"
#define GOOD_INPUTS "input: 'p' input: 'q:1'"
  static const struct {
    const char *node, *error;
  } cases[] = {
      {NODE(GOOD_INPUTS " input: '^r'", GOOD_ATTRS), NULL},
      {NODE(GOOD_INPUTS, GOOD_ATTRS " attr { key: '_class' value { } } attr { key: 'newer' value { } }"),
       NULL},
      {"name: 'n' op: 'Y'", "NodeDef op 'Y' does not match %s; NodeDef: {{node n}}"},
      {NODE("input: 'p' input: '^q:1'", GOOD_ATTRS),
       "Control input '^q:1' must not have ':' in NodeDef: {{node n}}"},
      {NODE("input: '^p' input: 'q'", GOOD_ATTRS),
       "Non-control input 'q' after control input in NodeDef: {{node n}}"},
      {NODE(GOOD_INPUTS, ""), "NodeDef missing attrs 'T', 'a' from %s; NodeDef: {{node n}}"},
      {NODE(GOOD_INPUTS, "attr { key: 'T' value { type: DT_FLOAT } }"),
       "NodeDef missing attr 'a' from %s; NodeDef: {{node n}}"},
      {NODE(GOOD_INPUTS, "attr { key: 'T' value { type: DT_HALF } } attr { key: 'a' value { i: 1 } }"),
       "Value for attr 'T' of half is not in the list of allowed values: float, int32\n\t; NodeDef: {{node "
       "n}}; %s"},
      {NODE(GOOD_INPUTS, "attr { key: 'T' value { type: DT_FLOAT } } attr { key: 'a' value { i: 0 } }"),
       "Value for attr 'a' of 0 must be at least minimum 1\n\t; NodeDef: {{node n}}; %s"},
      {NODE("input: 'p'", GOOD_ATTRS),
       "NodeDef expected inputs 'float, int32' do not match 1 inputs specified; %s; NodeDef: {{node n}}"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    CHECK_CONTEXT("%s", cases[i].node);
    NodeDef *node = parse_node(cases[i].node, arena);
    if (!cases[i].error) {
      CHECK_OK(node_def_validate(node, op_def, &status), status);
      continue;
    }
    char want[1024];
    const char *percent = strstr(cases[i].error, "%s");
    size_t before = percent ? (size_t)(percent - cases[i].error) : strlen(cases[i].error);
    snprintf(want, sizeof want, "%.*s%s%s", (int)before, cases[i].error, percent ? kOp : "",
             percent ? percent + 2 : "");
    CHECK_INT_EQ(node_def_validate(node, op_def, &status), false);
    CHECK_INT_EQ(status.code, CODE_INVALID_ARGUMENT);
    CHECK_STR_EQ(status.message, want);
  }
  arena_free(arena);
}

TEST(validation_of_a_good_node_allocates_nothing) {
  Status status;
  status_init(&status);
  Arena *arena = arena_new();
  OpDef *op_def = build_op((OpDefSpec){.name = "X",
                                       .attrs = (const char *[]){"T: {float, int32}", "N: int", NULL},
                                       .inputs = (const char *[]){"x: N * T", NULL}},
                           arena);
  NodeDef *node = parse_node(
      "name: 'n' op: 'X' input: 'a' input: 'b' attr { key: 'T' value { type: DT_FLOAT } } attr { key: 'N' "
      "value { i: 2 } }",
      arena);
  int64_t before = mem_allocation_count();
  CHECK_OK(node_def_validate(node, op_def, &status), status);
  CHECK_INT_EQ(mem_allocation_count(), before);
  arena_free(arena);
}

TEST(defaults_are_added_and_stripped) {
  Status status;
  status_init(&status);
  Arena *arena = arena_new();
  OpDef *op_def = build_op((OpDefSpec){.name = "X",
                                       .attrs = (const char *[]){"a: int = 1", "b: list(int) = []",
                                                                 "c: string", "d: float = 0.5", NULL}},
                           arena);
  NodeDef *node =
      parse_node("name: 'n' op: 'X' attr { key: 'd' value { f: 2 } } attr { key: '_x' value { i: 1 } }",
                 arena);
  CHECK_OK(node_def_add_defaults(node, op_def, arena, &status), status);
  CHECK(proto_equal(node, parse_node("name: 'n' op: 'X' attr { key: 'a' value { i: 1 } } attr { key: 'b' "
                                     "value { list { } } } attr { key: "
                                     "'d' value { f: 2 } } attr { key: '_x' value { i: 1 } }",
                                     arena)));
  CHECK(node_def_attr(node, "a") == op_def->attr[0]->default_value);
  node_def_strip_defaults(node, op_def);
  CHECK(proto_equal(node, parse_node("name: 'n' op: 'X' attr { key: 'd' value { f: 2 } } attr { key: '_x' "
                                     "value { i: 1 } }",
                                     arena)));
  arena_free(arena);
}

TEST(nodes_with_very_many_attrs_stay_fast_and_right) {
  Status status;
  status_init(&status);
  Arena *arena = arena_new();
  OpDef *op_def = proto_new(kOpDef, arena);
  NodeDef *node = node_def_new(arena, "n", "Wide");
  op_def->name = "Wide";
  for (int i = 0; i < 3000; i++) {
    Status ignored;
    status_init(&ignored);
    CHECK_OK(op_def_parse_attr(arena_printf(arena, "a%d: int%s", i, i == 7 ? " = 7" : ""), false, op_def,
                               arena, &status),
             status);
    AttrEntry *entry = proto_new(&tensorflow__node_def__attr_entry__descriptor, arena);
    entry->key = arena_printf(arena, "a%d", 2999 - i);
    entry->value = attr_value_int(arena, i);
    bool ok = i == 2992 || proto_append(arena, (void ***)&node->attr, &node->n_attr, entry, &ignored);
    CHECK(ok);
  }
  CHECK_ERROR(node_def_validate(node, op_def, &status), status, CODE_INVALID_ARGUMENT,
              "NodeDef missing attr 'a7' from Op<name=Wide;");
  CHECK_OK(node_def_add_defaults(node, op_def, arena, &status), status);
  CHECK_INT_EQ(node->n_attr, 3000);
  CHECK_OK(node_def_validate(node, op_def, &status), status);
  arena_free(arena);
}

/* --- text --- */

TEST(attr_values_are_summarised) {
  static const struct {
    const char *value, *want;
  } cases[] = {
      {"", "<Unknown AttrValue type>"},
      {"s: 'a\"\\n\\001'", "\"a\\\"\\n\\001\""},
      {"s: '1234567890123456789012345678901234567890123456789012345678901234567890123456789'",
       "\"1234567890123456789012345678901234567890123456789012345678901234567890123456789\""},
      {"s: '12345678901234567890123456789012345678901234567890123456789012345678901234567890'",
       "\"1234567890...1234567890\""},
      {"i: -9223372036854775808", "-9223372036854775808"},
      {"f: 1", "1"},
      {"f: 0.3", "0.3"},
      {"f: 3.14159274", "3.14159"},
      {"f: 1e10", "1e+10"},
      {"f: nan", "nan"},
      {"f: -inf", "-inf"},
      {"b: false", "false"},
      {"type: DT_BFLOAT16", "DT_BFLOAT16"},
      {"type: DT_FLOAT_REF", "DT_FLOAT_REF"},
      {"type: DT_INVALID", "DT_INVALID"},
      {"type: -5", ""},
      {"list { type: DT_HALF type: 99 }", "[DT_HALF, ]"},
      {"shape { }", "[]"},
      {"shape { dim { size: 1 } dim { size: 0 } }", "[1,0]"},
      {"shape { dim { size: -1 } dim { size: 3 } }", "[?,3]"},
      {"shape { unknown_rank: true }", "<unknown>"},
      {"tensor { dtype: DT_INT32 tensor_shape { } int_val: 0 }", "Tensor<type: int32 shape: [] values: 0>"},
      {"list { }", "[]"},
      {"list { s: 'a' s: 'b' }", "[\"a\", \"b\"]"},
      {"list { f: 1.5 f: 2 }", "[1.5, 2]"},
      {"list { b: true b: false }", "[true, false]"},
      {"list { type: DT_FLOAT }", "[DT_FLOAT]"},
      {"list { shape { } shape { unknown_rank: true } }", "[[], <unknown>]"},
      {"list { func { name: 'F' } func { name: 'G' } }", "[F[], G[]]"},
      {"list { tensor { dtype: DT_BOOL tensor_shape { } bool_val: true } }",
       "[Tensor<type: bool shape: [] values: 1>]"},
      {"list { i: 1 i: 2 i: 3 i: 4 i: 5 i: 6 i: 7 i: 8 i: 9 i: 10 i: 11 i: 12 i: 13 i: 14 }",
       "[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14]"},
      {"list { i: 1 i: 2 i: 3 i: 4 i: 5 i: 6 i: 7 i: 8 i: 9 i: 10 i: 11 i: 12 i: 13 i: 14 i: 15 }",
       "[1, 2, 3, 4, 5, ..., 11, 12, 13, 14, 15]"},
      {"func { name: 'F' }", "F[]"},
      {"func { name: 'F' attr { key: 'b' value { i: 1 } } attr { key: 'a' value { func { name: 'G' } } } }",
       "F[a=G[], b=1]"},
      {"placeholder: 'T'", "$T"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    Arena *arena = arena_new();
    StrBuf text = {0};
    attr_value_summarize(parse_value(cases[i].value, arena), &text);
    CHECK_CONTEXT("%s", cases[i].value);
    CHECK_STR_EQ(strbuf_text(&text), cases[i].want);
    strbuf_free(&text);
    arena_free(arena);
  }
}

TEST(nodes_are_summarised) {
  Arena *arena = arena_new();
  StrBuf text = {0};
  node_def_summarize(parse_node("name: 'n' op: 'Op' device: '/cpu:0' input: 'in0' input: 'in1:2' input: '^c' "
                                "attr { key: 'b' value { s: 'x' } "
                                "} attr { key: 'a' value { i: 1 } }",
                                arena),
                     &text);
  CHECK_STR_EQ(strbuf_text(&text), "{{node n}} = Op[a=1, b=\"x\", _device=\"/cpu:0\"](in0, in1:2, ^c)");
  strbuf_clear(&text);
  node_def_summarize(parse_node("name: 'n' op: 'Op' device: 'd'", arena), &text);
  CHECK_STR_EQ(strbuf_text(&text), "{{node n}} = Op[_device=\"d\"]()");
  strbuf_clear(&text);
  NodeDef *many = node_def_new(arena, "n", "Op");
  StrBuf want = {0};
  strbuf_append(&want, "{{node n}} = Op[");
  Status status;
  status_init(&status);
  for (int i = 39; i >= 0; i--) {
    CHECK_OK(node_def_set_attr(many, arena, arena_printf(arena, "a%02d", i), attr_value_int(arena, i),
                               &status),
             status);
    strbuf_printf(&want, "%sa%02d=%d", i == 39 ? "" : ", ", 39 - i, 39 - i);
  }
  strbuf_append(&want, "]()");
  node_def_summarize(many, &text);
  CHECK_STR_EQ(strbuf_text(&text), strbuf_text(&want));
  strbuf_free(&want);
  strbuf_free(&text);
  arena_free(arena);
}

TEST(a_node_is_attached_once) {
  Status status;
  status_init(&status);
  status_invalid(&status, "Bad");
  CHECK(!node_attach("a", &status));
  CHECK(!node_attach("b", &status));
  CHECK_STR_EQ(status.message, "Bad\n\t [[{{node a}}]]");
  NodeDef node;
  tensorflow__node_def__init(&node);
  node.name = "c";
  CHECK(!node_def_attach(&node, false, &status));
  CHECK_STR_EQ(status.message, "Bad\n\t [[{{node a}}]]");
  CHECK(!node_def_attach(&node, true, &status));
  CHECK_STR_EQ(status.message, "Bad\n\t [[{{node a}}]]\n\t [[{{node c}}]]");
}

/* --- comparing and substituting --- */

TEST(attr_values_are_compared_by_meaning) {
  static const struct {
    const char *a, *b;
    bool equal;
  } cases[] = {
      {"", "", true},
      {"", "list { }", false},
      {"i: 1", "i: 1", true},
      {"i: 1", "i: 2", false},
      {"i: 1", "f: 1", false},
      {"f: nan", "f: nan", true},
      {"f: 0", "f: -0.0", false},
      {"s: 'a\\000b'", "s: 'a\\000c'", false},
      {"b: true", "b: true", true},
      {"type: DT_INT32", "type: DT_INT64", false},
      {"shape { dim { size: 1 } }", "shape { dim { size: 1 } }", true},
      {"shape { dim { size: 1 } }", "shape { dim { size: 2 } }", false},
      {"placeholder: 'T'", "placeholder: 'U'", false},
      {"list { i: 1 i: 2 }", "list { i: 1 i: 2 }", true},
      {"list { i: 1 i: 2 }", "list { i: 1 }", false},
      {"list { f: 1 }", "list { f: 2 }", false},
      {"list { b: true }", "list { b: false }", false},
      {"list { s: 'a' }", "list { s: 'b' }", false},
      {"list { type: DT_INT8 }", "list { type: DT_INT16 }", false},
      {"list { shape { } }", "list { shape { unknown_rank: true } }", false},
      {"list { func { name: 'F' } }", "list { func { name: 'G' } }", false},
      {"func { name: 'F' attr { key: 'a' value { i: 1 } } attr { key: 'b' value { i: 2 } } }",
       "func { name: 'F' attr { key: 'b' value { i: 2 } } attr { key: 'a' value { i: 1 } } }", true},
      {"func { name: 'F' attr { key: 'a' value { i: 1 } } }",
       "func { name: 'F' attr { key: 'b' value { i: 1 } } }", false},
      {"tensor { dtype: DT_INT32 tensor_shape { dim { size: 2 } } int_val: 7 }",
       "tensor { dtype: DT_INT32 tensor_shape { dim { size: 2 } } tensor_content: "
       "'\\007\\000\\000\\000\\007\\000\\000\\000' }",
       true},
      {"list { tensor { dtype: DT_INT32 tensor_shape { dim { size: 2 } } int_val: 7 int_val: 7 } }",
       "list { tensor { dtype: DT_INT32 tensor_shape { dim { size: 2 } } int_val: 7 } }", true},
      {"tensor { dtype: DT_INT32 tensor_shape { dim { size: 2 } } int_val: 7 }",
       "tensor { dtype: DT_INT32 tensor_shape { dim { size: 2 } } int_val: 7 int_val: 8 }", false},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    Arena *arena = arena_new();
    CHECK_CONTEXT("%s and %s", cases[i].a, cases[i].b);
    const AttrValue *a = parse_value(cases[i].a, arena), *b = parse_value(cases[i].b, arena);
    CHECK_INT_EQ(attr_value_equal(a, b), cases[i].equal);
    CHECK_INT_EQ(attr_value_equal(b, a), cases[i].equal);
    CHECK(attr_value_equal(a, a) && attr_value_equal(a, proto_copy(a, arena)));
    arena_free(arena);
  }
}

TEST(giant_splats_are_compared_without_memory) {
  Arena *arena = arena_new();
  const AttrValue *a =
      parse_value("tensor { dtype: DT_INT32 tensor_shape { dim { size: 1000000000000 } } int_val: 7 }",
                  arena);
  const AttrValue *b = parse_value(
      "tensor { dtype: DT_INT32 tensor_shape { dim { size: 1000000000000 } } int_val: 7 int_val: 7 }", arena);
  const AttrValue *c =
      parse_value("tensor { dtype: DT_INT32 tensor_shape { dim { size: 1000000000000 } } int_val: 8 }",
                  arena);
  int64_t before = mem_allocation_count();
  CHECK(attr_value_equal(a, b));
  CHECK(!attr_value_equal(a, c));
  CHECK_INT_EQ(mem_allocation_count(), before);
  arena_free(arena);
}

TEST(functions_with_many_attrs_are_equal_in_any_order) {
  Arena *arena = arena_new();
  StrBuf forward = {0}, backward = {0};
  strbuf_append(&forward, "func { name: 'F' ");
  strbuf_append(&backward, "func { name: 'F' ");
  for (int i = 0; i < 200; i++) {
    strbuf_printf(&forward, "attr { key: 'a%d' value { i: %d } } ", i, i);
    strbuf_printf(&backward, "attr { key: 'a%d' value { i: %d } } ", 199 - i, 199 - i);
  }
  strbuf_append(&forward, "}");
  strbuf_append(&backward, "}");
  AttrValue *a = parse_value(strbuf_text(&forward), arena), *b = parse_value(strbuf_text(&backward), arena);
  CHECK(attr_value_equal(a, b));
  b->func->attr[100]->value->i = -1;
  CHECK(!attr_value_equal(a, b));
  strbuf_free(&forward);
  strbuf_free(&backward);
  arena_free(arena);
}

static const AttrValue *find_t(void *arg, const char *name) { return strcmp(name, "T") == 0 ? arg : NULL; }

TEST(placeholders_are_replaced) {
  Status status;
  status_init(&status);
  Arena *arena = arena_new();
  AttrValue *half = parse_value("type: DT_HALF", arena);
  const AttrValue *out = NULL;
  const AttrValue *plain = parse_value("list { i: 1 }", arena);
  CHECK(CHECK_OK(attr_value_substitute(plain, find_t, half, arena, &out, &status), status) && out == plain);
  CHECK(CHECK_OK(attr_value_substitute(parse_value("placeholder: 'T'", arena), find_t, half, arena, &out,
                                       &status),
                 status) &&
        out == half);
  const AttrValue *nested = parse_value(
      "list { func { name: 'F' attr { key: 'k' value { func { name: 'G' attr { key: 'j' value { placeholder: "
      "'T' } } } } } } }",
      arena);
  const AttrValue *before = proto_copy(nested, arena);
  CHECK(attr_value_has_placeholder(nested));
  CHECK_OK(attr_value_substitute(nested, find_t, half, arena, &out, &status), status);
  CHECK(proto_equal(nested, before));
  CHECK(!attr_value_has_placeholder(out));
  CHECK(proto_equal(out, parse_value("list { func { name: 'F' attr { key: 'k' value { func { name: 'G' attr "
                                     "{ key: 'j' value { type: "
                                     "DT_HALF } } } } } } }",
                                     arena)));
  CHECK_ERROR(attr_value_substitute(parse_value("placeholder: 'U'", arena), find_t, half, arena, &out,
                                    &status),
              status, CODE_INVALID_ARGUMENT, "Failed to bind all placeholders in $U");
  arena_free(arena);
}

/* --- renaming --- */

TEST(frames_are_renamed_with_their_enter_nodes) {
  Status status;
  status_init(&status);
  Arena *arena = arena_new();
  NodeDef *plain = parse_node("name: 'n' op: 'Op' attr { key: 'frame_name' value { s: 'f' } }", arena);
  CHECK_OK(node_def_add_prefix_and_suffix(plain, arena, "p/", "", &status), status);
  CHECK(proto_equal(plain,
                    parse_node("name: 'p/n' op: 'Op' attr { key: 'frame_name' value { s: 'f' } }", arena)));
  NodeDef *no_frame = parse_node("name: 'n' op: 'RefEnter'", arena);
  CHECK_ERROR(node_def_add_prefix_and_suffix(no_frame, arena, "p/", "", &status), status, CODE_NOT_FOUND,
              "No attr named 'frame_name'");
  CHECK_STR_EQ(no_frame->name, "n");
  arena_free(arena);
}
