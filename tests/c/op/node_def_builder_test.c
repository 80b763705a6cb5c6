#include <stdio.h>
#include <string.h>

#include "harness.h"
#include "op/node_def.h"
#include "op/op_def_builder.h"

#define FLOAT_REF ((DataType)(DT_REF + DT_FLOAT))

static OpDef *build_op(OpDefSpec spec, Arena *arena) {
  Status status;
  status_init(&status);
  OpDef *op_def = NULL;
  CHECK_OK(op_def_build(&spec, arena, &op_def, &status), status);
  return op_def;
}

static void check_node(NodeDefBuilder *builder, const char *want, Arena *arena) {
  Status status;
  status_init(&status);
  NodeDef *node = NULL;
  void *parsed = NULL;
  CHECK_OK(proto_parse_text(kNodeDef, str_of(want), arena, &parsed, &status), status);
  if (!CHECK_OK(node_def_builder_finalize(builder, &node, &status), status)) return;
  CHECK(proto_equal(node, parsed));
}

static void check_error(NodeDefBuilder *builder, const char *want) {
  Status status;
  status_init(&status);
  NodeDef *node = NULL;
  CHECK(!node_def_builder_finalize(builder, &node, &status));
  CHECK_INT_EQ(status.code, CODE_INVALID_ARGUMENT);
  CHECK_STR_EQ(status.message, want);
}

TEST(inputs_in_a_row_then_control_inputs_device_and_defaults) {
  Arena *arena = arena_new();
  OpDef *op_def = build_op((OpDefSpec){.name = "X",
                                       .attrs = (const char *[]){"T: type", "N: int", "a: int = 3",
                                                                 "L: list(type)", NULL},
                                       .inputs = (const char *[]){"x: T", "y: N * T", "z: L", NULL}},
                           arena);
  NodeDefBuilder *builder = node_def_builder_new(arena, "n", op_def);
  node_def_builder_control_input(builder, "c"); /* given first, comes last */
  node_def_builder_input(builder, "p", 0, DT_FLOAT);
  node_def_builder_input_list(builder, (const char *[]){"q", "q"}, (int[]){0, 1},
                              (DataType[]){DT_FLOAT, FLOAT_REF}, 2);
  node_def_builder_input_list(builder, (const char *[]){"r", "s"}, (int[]){2, 0},
                              (DataType[]){FLOAT_REF, DT_BOOL}, 2);
  node_def_builder_device(builder, "/cpu:0");
  check_node(builder,
             "name: 'n' op: 'X' input: 'p' input: 'q' input: 'q:1' input: 'r:2' input: 's' input: '^c' "
             "device: '/cpu:0' attr { key: 'T' "
             "value { type: DT_FLOAT } } attr { key: 'N' value { i: 2 } } attr { key: 'L' value { list { "
             "type: DT_FLOAT type: DT_BOOL "
             "} } } attr { key: 'a' value { i: 3 } }",
             arena);
  arena_free(arena);
}

TEST(a_reference_will_do_for_a_value_but_not_the_other_way_round) {
  Arena *arena = arena_new();
  OpDef *value = build_op((OpDefSpec){.name = "V", .inputs = (const char *[]){"x: float", NULL}}, arena);
  OpDef *ref = build_op((OpDefSpec){.name = "R",
                                    .inputs = (const char *[]){"x: Ref(T)", NULL},
                                    .attrs = (const char *[]){"T: type", NULL}},
                        arena);
  NodeDefBuilder *builder = node_def_builder_new(arena, "n", value);
  node_def_builder_input(builder, "p", 0, FLOAT_REF);
  check_node(builder, "name: 'n' op: 'V' input: 'p'", arena);
  builder = node_def_builder_new(arena, "n", ref);
  node_def_builder_input(builder, "p", 0, DT_FLOAT);
  check_error(builder,
              "Input 'x' passed float expected ref type while building NodeDef 'n' using Op<name=R; "
              "signature=x:Ref(T) -> ; attr=T:type>");
  arena_free(arena);
}

TEST(one_error_stands_alone_several_make_a_list) {
  Arena *arena = arena_new();
  OpDef *op_def = build_op((OpDefSpec){.name = "X", .inputs = (const char *[]){"x: float", NULL}}, arena);
#define OP "Op<name=X; signature=x:float -> >"
  NodeDefBuilder *builder = node_def_builder_new(arena, "n", op_def);
  check_error(builder, "0 inputs specified of 1 inputs in Op while building NodeDef 'n' using " OP);

  builder = node_def_builder_new(arena, "n", op_def);
  node_def_builder_input(builder, "p", 0, DT_FLOAT);
  node_def_builder_input(builder, "q", 0, DT_FLOAT);
  check_error(builder, "More Input() calls than the 1 input_args while building NodeDef 'n' using " OP);

  builder = node_def_builder_new(arena, "n", op_def);
  node_def_builder_input(builder, "", 0, DT_INT32);
  node_def_builder_input_list(builder, (const char *[]){"q"}, (int[]){0}, (DataType[]){DT_FLOAT}, 1);
  node_def_builder_attr(builder, "a", attr_value_int(arena, 1));
  node_def_builder_attr(builder, "a", attr_value_bool(arena, true));
  check_error(builder,
              "4 errors while building NodeDef 'n' using " OP
              ":\nEmpty input node name\nInput 'x' passed int32 expected float\n"
              "More Input() calls than the 1 input_args\nInconsistent values for attr 'a' 1 vs. true");
#undef OP
  arena_free(arena);
}

TEST(very_many_errors_fit_into_a_status) {
  Arena *arena = arena_new();
  OpDef *op_def = build_op((OpDefSpec){.name = "X"}, arena);
  NodeDefBuilder *builder = node_def_builder_new(arena, "n", op_def);
  for (int i = 0; i < 1000; i++) node_def_builder_input(builder, "p", 0, DT_FLOAT);
  Status status;
  status_init(&status);
  NodeDef *node;
  CHECK_ERROR(node_def_builder_finalize(builder, &node, &status), status, CODE_INVALID_ARGUMENT,
              "1000 errors while building NodeDef 'n' using Op<name=X; signature= -> >:\nMore Input() calls");
  arena_free(arena);
}

TEST(attr_values_are_copied) {
  Arena *arena = arena_new();
  OpDef *op_def = build_op((OpDefSpec){.name = "X", .attrs = (const char *[]){"s: string", NULL}}, arena);
  NodeDefBuilder *builder = node_def_builder_new(arena, "n", op_def);
  AttrValue *value = attr_value_string(arena, "old", 3);
  node_def_builder_attr(builder, "s", value);
  memcpy(value->s.data, "new", 3);
  check_node(builder, "name: 'n' op: 'X' attr { key: 's' value { s: 'old' } }", arena);
  arena_free(arena);
}
