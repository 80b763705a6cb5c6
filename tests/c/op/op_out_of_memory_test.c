/* Every allocation of every path fails once: nothing crashes or leaks, and the error is
 * RESOURCE_EXHAUSTED. */
#include <stdio.h>

#include "base/alloc.h"
#include "harness.h"
#include "op/node_def.h"
#include "op/op_def_builder.h"
#include "op/op_registry.h"

/* Runs with 0, 1, 2, ... successful allocations until the path succeeds. */
static void fail_everywhere(bool (*path)(Arena *arena, Status *status)) {
  Status status;
  for (int64_t successes = 0; successes < 10000; successes++) {
    status_init(&status);
    CHECK_CONTEXT("after %d allocations", (int)successes);
    mem_fail_after(successes);
    Arena *arena = arena_new();
    bool ok = arena ? path(arena, &status) : status_oom(&status, "arena");
    mem_fail_after(-1);
    arena_free(arena);
    op_registry_clear(op_registry_global());
    if (ok) return;
    if (!CHECK_INT_EQ(status.code, CODE_RESOURCE_EXHAUSTED)) return;
  }
  CHECK(false);
}

/* Long enough for several blocks of an arena. */
#define LONG_TEXT                                                                                          \
  "A long text that takes memory of its own wherever it goes. A long text that takes memory of its own "   \
  "wherever it goes. A long "                                                                              \
  "text that takes memory of its own wherever it goes. A long text that takes memory of its own wherever " \
  "it goes."

static const OpDefSpec kSpec = {
    .name = "Spec",
    .attrs = (const char *[]){"T: {float, int32, numbertype, variant} = DT_FLOAT", "N: int >= 2 = 3",
                              "s: {'a', \"b\", 'c\\n'} = 'a'", "L: list(type) = [DT_FLOAT, DT_HALF]",
                              "e: list(int) = []", "x: tensor = { dtype: DT_INT32 int_val: 1 }",
                              "f: func = { name: 'F' }", "r: list({'q','w'})", NULL},
    .inputs = (const char *[]){"a: N * T", "b: Ref(T)", "c: L", NULL},
    .outputs = (const char *[]){"y: T", "z: resource", NULL},
    .control_outputs = (const char *[]){"done", NULL},
    .doc = "Sum\n" LONG_TEXT "\n" LONG_TEXT "\n\na: " LONG_TEXT "\n  " LONG_TEXT "\n   " LONG_TEXT
           "\nT: " LONG_TEXT,
    .deprecated_version = 9,
    .deprecation_explanation = LONG_TEXT,
};

static bool build_and_validate(Arena *arena, Status *status) {
  OpDef *op_def;
  return op_def_build(&kSpec, arena, &op_def, status) && op_def_validate(op_def, status);
}

TEST(building_an_op_survives_want_of_memory) { fail_everywhere(build_and_validate); }

static bool build_in_steps(Arena *arena, Status *status) {
  OpDefBuilder *builder = op_def_builder_new(arena, "Steps");
  if (!builder) return status_oom(status, "builder");
  for (int i = 0; i < 40; i++) {
    char spec[32];
    snprintf(spec, sizeof spec, "attr%d: int", i);
    op_def_builder_attr(builder, spec);
  }
  op_def_builder_doc(builder, LONG_TEXT);
  op_def_builder_deprecated(builder, 2, LONG_TEXT);
  OpDef *op_def;
  return op_def_builder_finalize(builder, &op_def, NULL, status);
}

TEST(building_an_op_in_steps_survives_want_of_memory) { fail_everywhere(build_in_steps); }

/* The error is reported, or that memory ran out for its message. */
static bool report_errors(Arena *arena, Status *status) {
  OpDef *op_def;
  OpDefSpec spec = {.name = "Bad",
                    .attrs = (const char *[]){"a: what", "b: {'x' 'y'}", "c: {float int}",
                                              "d: list({'x', 9})", NULL},
                    .inputs = (const char *[]){"x: " LONG_TEXT, NULL}};
  if (op_def_build(&spec, arena, &op_def, status)) return CHECK(false);
  return status->code == CODE_INVALID_ARGUMENT;
}

TEST(errors_of_specs_survive_want_of_memory) { fail_everywhere(report_errors); }

const OpRegistration kOpOomFirst = {
    .name = "OomFirst",
    .inputs = {"x: T", "y: T"},
    .outputs = {"z: T"},
    .attrs = {"T: {float, int32} = DT_FLOAT", "s: string = '" LONG_TEXT "'"},
};
const OpRegistration kOpOomSecond = {
    .name = "OomSecond",
    .inputs = {"x: resource"},
    .attrs = {"s: string = '" LONG_TEXT LONG_TEXT "'", "l: list({'a', 'b'}) >= 1"},
};
const OpRegistration kOpOomThird = {
    .name = "OomThird",

};

static bool use_registry(Arena *arena, Status *status) {
  static const OpTableRow kTable[] = {{"OomFirst", &kOpOomFirst}, {"OomSecond", &kOpOomSecond}};
  const Op *op;
  OpList *list;
  TRY(op_registry_add_table(op_registry_global(), kTable, 2, status));
  TRY(op_registry_look_up(op_registry_global(), "OomFirst", &op, status));
  TRY(op_registry_add(op_registry_global(), &kOpOomThird, status));
  return op_registry_export(op_registry_global(), true, arena, &list, status);
}

TEST(the_registry_survives_want_of_memory) { fail_everywhere(use_registry); }

/* A look-up that failed for lack of memory succeeds when there is memory again. */
TEST(a_look_up_can_be_tried_again) {
  static const OpTableRow kTable[] = {{"OomFirst", &kOpOomFirst}, {"OomSecond", &kOpOomSecond}};
  Status status;
  status_init(&status);
  REQUIRE_OK(op_registry_add_table(op_registry_global(), kTable, 2, &status), status);
  const Op *op = NULL;
  int failures = 0;
  for (int64_t successes = 0; !op && successes < 1000; successes++) {
    mem_fail_after(successes);
    if (!op_registry_look_up(op_registry_global(), "OomSecond", &op, &status))
      failures += CHECK_INT_EQ(status.code, CODE_RESOURCE_EXHAUSTED);
    mem_fail_after(-1);
  }
  CHECK(failures > 0);
  if (CHECK(op)) CHECK(op->def->is_stateful);
  op_registry_clear(op_registry_global());
}

/* An allowed change and two others: the error is reported, or that memory ran out for its message. */
static bool compare_versions(Arena *arena, Status *status) {
  OpDefSpec from = {.name = "Changed",
                    .attrs = (const char *[]){"s: {'a', '" LONG_TEXT "'} = 'a'", NULL},
                    .inputs = (const char *[]){"x: float", "y: float", NULL}};
  OpDefSpec to = {.name = "Changed",
                  .attrs =
                      (const char *[]){"s: {'a', '" LONG_TEXT "'} = '" LONG_TEXT "'", "N: int = 2", NULL},
                  .inputs = (const char *[]){"x: N * float", NULL}};
  OpDefSpec narrow = {.name = "Changed", .attrs = (const char *[]){"s: {'" LONG_TEXT "'}", NULL}};
  OpDef *old_op, *new_op, *narrow_op;
  TRY(op_def_build(&from, arena, &old_op, status) && op_def_build(&to, arena, &new_op, status));
  TRY(op_def_build(&narrow, arena, &narrow_op, status) && op_def_compatible(old_op, new_op, status));
  if (op_def_compatible(old_op, narrow_op, status)) return CHECK(false);
  TRY(status->code == CODE_INVALID_ARGUMENT);
  status_init(status);
  if (op_def_defaults_unchanged(old_op, new_op, status)) return CHECK(false);
  return status->code == CODE_INVALID_ARGUMENT;
}

TEST(comparing_versions_of_an_op_survives_want_of_memory) { fail_everywhere(compare_versions); }

static const OpDef *simple_op(Arena *arena, Status *status) {
  OpDefSpec spec = {.name = "X",
                    .attrs = (const char *[]){"T: type", "N: int", "a: string = '" LONG_TEXT "'", NULL},
                    .inputs = (const char *[]){"x: N * T", NULL},
                    .outputs = (const char *[]){"y: T", NULL}};
  OpDef *op_def;
  return op_def_build(&spec, arena, &op_def, status) ? op_def : NULL;
}

static bool build_node(Arena *arena, Status *status) {
  const OpDef *op_def = simple_op(arena, status);
  if (!op_def) return false;
  NodeDefBuilder *builder = node_def_builder_new(arena, LONG_TEXT, op_def);
  if (!builder) return status_oom(status, "builder");
  const char *nodes[] = {LONG_TEXT, LONG_TEXT "2"};
  node_def_builder_input_list(builder, nodes, (int[]){0, 1}, (DataType[]){DT_FLOAT, DT_FLOAT}, 2);
  for (int i = 0; i < 10; i++) node_def_builder_control_input(builder, LONG_TEXT);
  NodeDef *node;
  TRY(node_def_builder_finalize(builder, &node, status));
  TRY(node_def_validate(node, op_def, status));
  DataType *inputs, *outputs;
  int num_inputs, num_outputs, *starts;
  TRY(node_def_types(node, op_def, arena, &inputs, &num_inputs, &outputs, &num_outputs, status));
  TRY(node_def_arg_ranges(node, op_def, false, arena, &starts, status));
  for (int i = 0; i < 100; i++) {
    char name[16];
    snprintf(name, sizeof name, "a%d", i);
    AttrValue *value = attr_value_int(arena, i);
    if (!value) return status_oom(status, "attr");
    TRY(node_def_set_attr(node, arena, name, value, status));
  }
  TRY(node_def_validate(node, op_def, status));
  return node_def_add_prefix_and_suffix(node, arena, LONG_TEXT, LONG_TEXT, status);
}

TEST(building_a_node_survives_want_of_memory) { fail_everywhere(build_node); }

static bool node_errors(Arena *arena, Status *status) {
  const OpDef *op_def = simple_op(arena, status);
  if (!op_def) return false;
  NodeDefBuilder *builder = node_def_builder_new(arena, "n", op_def);
  if (!builder) return status_oom(status, "builder");
  node_def_builder_input(builder, "p", 0, DT_FLOAT);
  node_def_builder_input(builder, "p", 0, DT_FLOAT);
  for (int i = 0; i < 2; i++) {
    AttrValue *value = attr_value_int(arena, i);
    if (!value) return status_oom(status, "attr");
    node_def_builder_attr(builder, "z", value);
  }
  NodeDef *node;
  if (node_def_builder_finalize(builder, &node, status)) return CHECK(false);
  return status->code == CODE_INVALID_ARGUMENT;
}

TEST(errors_of_nodes_survive_want_of_memory) { fail_everywhere(node_errors); }

static const AttrValue *find_placeholder(void *arg, const char *name) {
  (void)name;
  return arg;
}

static bool work_on_values(Arena *arena, Status *status) {
  void *value;
  AttrValue *half = attr_value_type(arena, DT_HALF);
  if (!half) return status_oom(status, "attr");
  StrBuf text = {0};
  strbuf_append(&text, "func { name: 'F' ");
  for (int i = 0; i < 40; i++) strbuf_printf(&text, "attr { key: 'a%d' value { placeholder: 'T' } } ", i);
  strbuf_append(&text, "}");
  bool ok = strbuf_ok(&text, status) &&
            proto_parse_text(kAttrValue, str_of(strbuf_text(&text)), arena, &value, status);
  strbuf_free(&text);
  TRY(ok);
  const AttrValue *out;
  TRY(attr_value_substitute(value, find_placeholder, half, arena, &out, status));
  CHECK(attr_value_equal(out, out) && !attr_value_equal(value, out));
  attr_value_summarize(out, &text);
  ok = strbuf_ok(&text, status);
  strbuf_free(&text);
  return ok;
}

TEST(work_on_attr_values_survives_want_of_memory) { fail_everywhere(work_on_values); }
