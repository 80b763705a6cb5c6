/* Versions of ops. The allowed changes and the errors are TensorFlow's answers for the same pairs. */
#include <string.h>

#include "base/alloc.h"
#include "harness.h"
#include "op/op_def_builder.h"

/* "Name|a:attr spec|i:input spec|o:output spec|s:|c:|d:": the last three make the op stateful, commutative
 * and deprecated. */
static OpDef *build_op(Arena *arena, const char *text) {
  Status status;
  status_init(&status);
  OpDefBuilder *builder = NULL;
  for (const char *at = text; *at;) {
    size_t length = strcspn(at, "|");
    const char *part = arena_strndup(arena, at, length);
    at += length + (at[length] == '|');
    if (!builder) {
      builder = op_def_builder_new(arena, part);
      continue;
    }
    switch (part[0]) {
      case 'a': op_def_builder_attr(builder, part + 2); break;
      case 'i': op_def_builder_input(builder, part + 2); break;
      case 'o': op_def_builder_output(builder, part + 2); break;
      case 's': op_def_builder_is_stateful(builder); break;
      case 'c': op_def_builder_is_commutative(builder); break;
      case 'd': op_def_builder_deprecated(builder, 1, "x"); break;
      default: CHECK_STR_EQ(part, "a part of an op");
    }
  }
  OpDef *op_def = NULL;
  CHECK_OK(op_def_builder_finalize(builder, &op_def, NULL, &status), status);
  return op_def;
}

typedef struct Change {
  const char *from, *to, *error; /* NULL: allowed */
} Change;

static const Change kChanges[] = {
    {"Same", "Same", NULL},
    {"Old", "New", "Name mismatch"},
    {"AddAttr", "AddAttr|a:n: int", "Attr 'n' added without default"},
    {"AddAttr", "AddAttr|a:n: int = 1", NULL},
    {"DropAttr|a:n: int = 1", "DropAttr", "Attr 'n' removed"},
    {"AddDefault|a:n: int", "AddDefault|a:n: int = 1", NULL},
    {"DropDefault|a:n: int = 1", "DropDefault|a:n: int", NULL},
    {"Default|a:n: int = 1", "Default|a:n: int = 2", NULL},
    {"Kind|a:n: int", "Kind|a:n: string", "Attr 'n' changed type 'int' -> 'string'"},
    {"Kind|a:n: int", "Kind|a:n: list(int)", "Attr 'n' changed type 'int' -> 'list(int)'"},
    {"Reorder|a:n: int|a:s: string", "Reorder|a:s: string|a:n: int", NULL},
    {"Allow|a:s: {'x', 'y'}", "Allow|a:s: {'x', 'y', 'z'}", NULL},
    {"Allow|a:s: {'x', 'y'}", "Allow|a:s: {'x', 'z', 'w'}",
     "Attr 's' has a stricter set of allowed values; from [\"x\", \"y\"] to [\"x\", \"z\", \"w\"]"},
    {"Allow|a:s: {'x', 'y'}", "Allow|a:s: string", NULL},
    {"Allow|a:s: string", "Allow|a:s: {'x', 'y'}",
     "Attr 's' has a stricter set of allowed values; from no restriction to [\"x\", \"y\"]"},
    {"Types|a:T: {float, int32}", "Types|a:T: {int32, float, double}", NULL},
    {"Types|a:T: {float, int32}", "Types|a:T: {float}",
     "Attr 'T' has a stricter set of allowed values; from [DT_FLOAT, DT_INT32] to [DT_FLOAT]"},
    {"Types|a:T: {float, int32}", "Types|a:T: type", NULL},
    {"Types|a:T: type", "Types|a:T: {float, int32}",
     "Attr 'T' has a stricter set of allowed values; from no restriction to [DT_FLOAT, DT_INT32]"},
    {"Types|a:T: list({float, int32})", "Types|a:T: list({int32})",
     "Attr 'T' has a stricter set of allowed values; from [DT_FLOAT, DT_INT32] to [DT_INT32]"},
    {"Min|a:n: int >= 2", "Min|a:n: int >= 1", NULL},
    {"Min|a:n: int >= 2", "Min|a:n: int", NULL},
    {"Min|a:n: int >= 2", "Min|a:n: int >= 3", "Attr 'n' has a higher minimum; from 2 to 3"},
    {"Min|a:n: int", "Min|a:n: int >= -7", "Attr 'n' has a higher minimum; from no minimum to -7"},
    {"Min|a:l: list(int) >= 1", "Min|a:l: list(int) >= 2", "Attr 'l' has a higher minimum; from 1 to 2"},
    {"In", "In|i:x: int32", "Input signature mismatch '' vs. 'int32'"},
    {"In|i:x: int32", "In", "Input signature mismatch 'int32' vs. ''"},
    {"In|i:x: int32", "In|i:y: int32", NULL},
    {"In|i:x: int32", "In|i:x: float", "Input signature mismatch 'int32' vs. 'float'"},
    {"In|i:x: int32|i:y: float", "In|i:x: float|i:y: int32",
     "Input signature mismatch 'int32, float' vs. 'float, int32'"},
    {"In|i:x: T|a:T: type", "In|i:x: U|a:T: type|a:U: type = DT_FLOAT",
     "Input signature mismatch 'T' vs. 'float'"},
    {"In|i:x: float", "In|i:x: T|a:T: type = DT_FLOAT", NULL},
    {"In|i:x: float", "In|i:x: T|a:T: type = DT_INT32", "Input signature mismatch 'float' vs. 'int32'"},
    {"In|i:x: float|i:y: float", "In|i:x: N * float|a:N: int = 2", NULL},
    {"In|i:x: float|i:y: float", "In|i:x: N * float|a:N: int = 3",
     "Input signature mismatch 'float, float' vs. 'float, float, float'"},
    {"In|i:x: float|i:y: float", "In|i:x: N * T|a:N: int = 2|a:T: type = DT_FLOAT", NULL},
    {"In|i:x: N * float|a:N: int", "In|i:x: N * T|a:N: int|a:T: type = DT_FLOAT", NULL},
    {"In|i:x: N * T|a:N: int|a:T: type", "In|i:x: N * T|a:N: int|a:T: type", NULL},
    {"In|i:x: N * T|a:N: int|a:T: type", "In|i:x: T|a:N: int|a:T: type",
     "Input signature mismatch 'N * T' vs. 'T'"},
    {"In|i:x: float|i:y: int32", "In|i:x: L|a:L: list(type) = [DT_FLOAT, DT_INT32]", NULL},
    {"In|i:x: float|i:y: int32", "In|i:x: L|a:L: list(type) = [DT_INT32, DT_FLOAT]",
     "Input signature mismatch 'float, int32' vs. 'int32, float'"},
    {"In", "In|i:x: L|a:L: list(type) >= 0 = []", NULL},
    {"In|i:x: L|a:L: list(type)", "In|i:x: L|i:y: M|a:L: list(type)|a:M: list(type) >= 0 = []", NULL},
    {"In|i:x: L|a:L: list(type)", "In|i:x: L|i:y: M|a:L: list(type)|a:M: list(type) = [DT_BOOL, DT_HALF]",
     "Input signature mismatch 'L' vs. 'L, bool, half'"},
    {"In|i:x: T|i:y: T|a:T: type", "In|i:x: N * T|a:T: type|a:N: int = 2", NULL},
    {"In|i:x: N * T|a:N: int|a:T: type", "In|i:x: L|a:N: int|a:T: type|a:L: list(type) = [DT_FLOAT]",
     "Input signature mismatch 'N * T' vs. 'float'"},
    {"Ref|i:x: Ref(float)", "Ref|i:x: float", NULL},
    {"Ref|i:x: float", "Ref|i:x: Ref(float)", "Input 0 changed from non-ref to ref"},
    {"Ref|i:x: float|i:y: float", "Ref|i:x: float|i:y: Ref(float)", "Input 1 changed from non-ref to ref"},
    {"Ref|i:x: Ref(N * float)|a:N: int", "Ref|i:x: N * float|a:N: int", NULL},
    {"Ref|i:x: N * float|a:N: int", "Ref|i:x: Ref(N * float)|a:N: int",
     "Input 0 changed from non-ref to ref"},
    {"Ref|i:x: float|i:y: float", "Ref|i:x: Ref(N * float)|a:N: int = 2",
     "Input 0 changed from non-ref to ref"},
    {"Ref|o:x: float", "Ref|o:x: Ref(float)", NULL},
    {"Ref|o:x: Ref(float)", "Ref|o:x: float", "Output 0 changed from ref to non-ref"},
    {"Ref|o:x: Ref(L)|a:L: list(type)", "Ref|o:x: L|a:L: list(type)", "Output 0 changed from ref to non-ref"},
    {"Out", "Out|o:x: int32", "Output signature mismatch '' vs. 'x:int32'"},
    {"Out|o:x: int32", "Out", "Output signature mismatch 'x:int32' vs. ''"},
    {"Out|o:x: int32", "Out|o:y: int32", "Output signature mismatch 'x:int32' vs. 'y:int32'"},
    {"Out|o:x: int32|o:y: int32", "Out|o:x: N * int32|a:N: int = 2",
     "Output signature mismatch 'x:int32, y:int32' vs. 'x:int32, x:int32'"},
    {"Out|o:x: int32|o:x2: int32", "Out|o:x: L|a:L: list(type) = [DT_INT32, DT_INT32]",
     "Output signature mismatch 'x:int32, x2:int32' vs. 'x:int32, x:int32'"},
    {"Out|o:x: int32", "Out|o:x: N * int32|a:N: int = 1", NULL},
    {"Out|o:x: int32", "Out|o:x: L|a:L: list(type) = [DT_INT32]", NULL},
    {"Out|o:x: int32", "Out|o:x: T|a:T: type = DT_INT32", NULL},
    {"Out|o:x: L|a:L: list(type)", "Out|o:y: L|a:L: list(type)", "Output signature mismatch 'x:L' vs. 'y:L'"},
    {"Flags", "Flags|s:|c:", NULL},
    {"Flags|s:|c:", "Flags", NULL},
    {"Flags", "Flags|d:", NULL},
    {"Resource|i:x: resource", "Resource|i:x: variant", "Input signature mismatch 'resource' vs. 'variant'"},
};

static void check_answer(bool ok, const Status *status, const char *error) {
  if (!error) {
    CHECK_OK(ok, status);
  } else if (CHECK(!ok)) {
    CHECK_INT_EQ(status->code, CODE_INVALID_ARGUMENT);
    CHECK_STR_EQ(status->message, error);
  }
}

TEST(ops_change_only_so_that_their_nodes_stay_valid) {
  for (size_t i = 0; i < sizeof kChanges / sizeof kChanges[0]; i++) {
    const Change *change = &kChanges[i];
    CHECK_CONTEXT("%s -> %s", change->from, change->to);
    Arena *arena = arena_new();
    OpDef *from = build_op(arena, change->from), *to = build_op(arena, change->to);
    StrBuf error = {0};
    if (change->error) {
      strbuf_printf(&error, "Incompatible Op change: %s; old: ", change->error);
      op_def_summarize(from, &error);
      strbuf_append(&error, "; new: ");
      op_def_summarize(to, &error);
    }
    Status status;
    status_init(&status);
    bool ok = op_def_compatible(from, to, &status);
    check_answer(ok, &status, change->error ? strbuf_text(&error) : NULL);
    strbuf_free(&error);
    arena_free(arena);
  }
}

TEST(an_incompatible_change_shows_both_ops) {
  Arena *arena = arena_new();
  Status status;
  status_init(&status);
  bool ok = op_def_compatible(build_op(arena, "Min|a:l: list(int) >= 1"),
                              build_op(arena, "Min|a:l: list(int) >= 2"), &status);
  check_answer(ok, &status,
               "Incompatible Op change: Attr 'l' has a higher minimum; from 1 to 2; old: Op<name=Min; "
               "signature= -> ; "
               "attr=l:list(int),min=1>; new: Op<name=Min; signature= -> ; attr=l:list(int),min=2>");
  arena_free(arena);
}

TEST(attrs_are_compared_alone) {
  Arena *arena = arena_new();
  Status status;
  status_init(&status);
  const OpDef *any = build_op(arena, "Any|a:n: int|a:T: type"),
              *some = build_op(arena, "Some|a:n: int >= 1|a:T: {float}");
  for (int i = 0; i < 2; i++) {
    CHECK_OK(attr_def_compatible(some->attr[i], any->attr[i], &status), status);
    CHECK_OK(attr_def_compatible(some->attr[i], some->attr[i], &status), status);
  }
  bool ok = attr_def_compatible(any->attr[0], some->attr[0], &status);
  check_answer(ok, &status, "Attr 'n' has a higher minimum; from no minimum to 1");
  ok = attr_def_compatible(any->attr[1], some->attr[1], &status);
  check_answer(ok, &status,
               "Attr 'T' has a stricter set of allowed values; from no restriction to [DT_FLOAT]");
  arena_free(arena);
}

/* OpDefs also come from files: ones that no builder makes must be handled, and an excessive number is not
 * expanded. */
TEST(malformed_ops_are_compared) {
  static const struct {
    const char *from, *to;
    const char *error; /* NULL: compatible */
  } kCases[] = {
      {"name: 'X' input_arg { name: 'a' type_attr: 'T' }", "name: 'X' input_arg { name: 'a' type_attr: 'T' }",
       NULL},
      {"name: 'X' input_arg { name: 'a' type_attr: 'T' }", "name: 'X' input_arg { name: 'a' type_attr: 'U' }",
       "mismatch 'T' vs. 'U'"},
      {"name: 'X'", "name: 'X' input_arg { name: 'a' type_list_attr: 'L' }", NULL},
      {"name: 'X'", "name: 'X' input_arg { name: 'a' number_attr: 'N' type: DT_INT32 }", NULL},
      {"name: 'X'",
       "name: 'X' input_arg { name: 'a' number_attr: 'N' type: DT_INT32 } attr { name: 'N' type: 'int' "
       "default_value { i: -3 } }",
       NULL},
      {"name: 'X'",
       "name: 'X' input_arg { name: 'a' number_attr: 'N' type: DT_INT32 } attr { name: 'N' type: 'int' "
       "default_value { i: "
       "9223372036854775807 } }",
       "The default of attr 'N', 9223372036854775807, is too large"},
      {"name: 'X' attr { name: 's' type: 'string' allowed_values { i: 1 } }",
       "name: 'X' attr { name: 's' type: 'string' allowed_values { list { s: '' } } }", NULL},
      {"name: 'X' attr { name: 's' type: 'string' allowed_values { list { s: '' } } }",
       "name: 'X' attr { name: 's' type: 'string' allowed_values { i: 1 } }",
       "a stricter set of allowed values; from [\"\"] to 1"},
  };
  for (size_t i = 0; i < sizeof kCases / sizeof kCases[0]; i++) {
    CHECK_CONTEXT("case %d", (int)i);
    Arena *arena = arena_new();
    Status status;
    status_init(&status);
    void *from, *to;
    if (CHECK_OK(proto_parse_text(kOpDef, str_of(kCases[i].from), arena, &from, &status), status) &&
        CHECK_OK(proto_parse_text(kOpDef, str_of(kCases[i].to), arena, &to, &status), status)) {
      if (kCases[i].error) {
        CHECK_ERROR(op_def_compatible(from, to, &status), status, CODE_INVALID_ARGUMENT, kCases[i].error);
      } else {
        CHECK_OK(op_def_compatible(from, to, &status), status);
      }
    }
    arena_free(arena);
  }
}

TEST(added_attrs_keep_their_defaults) {
  static const struct {
    const char *old_op, *penultimate_op, *new_op, *error;
  } kCases[] = {
      {"A", "A|a:n: int = 1", "A|a:n: int = 1", NULL},
      {"A", "A|a:n: int = 1", "A|a:n: int = 2",
       "Can't change default value for attr 'n' from 1 in op: Op<name=A; signature= -> ; "
       "attr=n:int,default=2>"},
      {"A|a:n: int = 1", "A|a:n: int = 1", "A|a:n: int = 2", NULL},
      {"A", "A|a:n: int = 1", "A", "Missing attr 'n' in op: Op<name=A; signature= -> >"},
      {"A", "A|a:n: int = 1", "A|a:n: int",
       "Missing default for attr 'n' in op: Op<name=A; signature= -> ; attr=n:int>"},
      {"A", "A|a:n: int", "A|a:n: int = 1",
       "Missing default for attr 'n' in op: Op<name=A; signature= -> ; attr=n:int,default=1>"},
      {"A", "A", "A|a:n: int = 1", NULL},
      {"A|a:n: int", "A|a:n: int|a:s: string = 'x'|a:L: list(int) = [1, 2]",
       "A|a:n: int|a:s: string = 'x'|a:L: list(int) = [1, 3]",
       "Can't change default value for attr 'L' from [1, 2] in op: Op<name=A; signature= -> ; attr=n:int; "
       "attr=s:string,default=\"x\"; attr=L:list(int),default=[1, 3]>"},
  };
  for (size_t i = 0; i < sizeof kCases / sizeof kCases[0]; i++) {
    CHECK_CONTEXT("%s, %s, %s", kCases[i].old_op, kCases[i].penultimate_op, kCases[i].new_op);
    Arena *arena = arena_new();
    Status status;
    status_init(&status);
    bool ok = op_def_added_defaults_unchanged(build_op(arena, kCases[i].old_op),
                                              build_op(arena, kCases[i].penultimate_op),
                                              build_op(arena, kCases[i].new_op), &status);
    check_answer(ok, &status, kCases[i].error);
    arena_free(arena);
  }
}

TEST(defaults_stay_as_they_were) {
  static const Change kCases[] = {
      {"D|a:n: int", "D|a:n: int", NULL},
      {"D|a:n: int = 1", "D|a:n: int = 1", NULL},
      {"D|a:n: int", "D|a:n: int = 1", "Attr 'n' has added/removed it's default; from no default to 1"},
      {"D|a:n: int = 1", "D|a:n: int", "Attr 'n' has added/removed it's default; from 1 to no default"},
      {"D|a:n: int = 1", "D|a:n: int = 2", "Attr 'n' has changed it's default value; from 1 to 2"},
      {"D|a:n: int = 1", "D", NULL},
      {"D", "D|a:n: int = 1", NULL},
      {"D|a:n: int = 1", "D|a:n: string = \"a\"", "Attr 'n' has changed it's default value; from 1 to \"a\""},
      {"D|a:t: tensor = { dtype: DT_INT32 tensor_shape {} int_val: 1 }",
       "D|a:t: tensor = { dtype: DT_INT32 tensor_shape {} tensor_content: \"\\001\\000\\000\\000\" }", NULL},
  };
  for (size_t i = 0; i < sizeof kCases / sizeof kCases[0]; i++) {
    CHECK_CONTEXT("%s -> %s", kCases[i].from, kCases[i].to);
    Arena *arena = arena_new();
    Status status;
    status_init(&status);
    bool ok =
        op_def_defaults_unchanged(build_op(arena, kCases[i].from), build_op(arena, kCases[i].to), &status);
    check_answer(ok, &status, kCases[i].error);
    arena_free(arena);
  }
}

TEST(descriptions_are_removed) {
  static const char kText[] =
      "name: 'X' input_arg { name: 'a' description: 'i' type: DT_INT32 } output_arg { name: 'b' description: "
      "'o' type: DT_INT32 } "
      "attr { name: 'n' type: 'int' description: 'n' } deprecation { version: 3 explanation: 'why' } "
      "summary: 's' description: 'd'";
  static const char kBare[] =
      "name: \"X\" input_arg { name: \"a\" type: DT_INT32 } output_arg { name: \"b\" type: DT_INT32 } "
      "attr { name: \"n\" type: \"int\" } ";
  Arena *arena = arena_new();
  Status status;
  status_init(&status);
  void *op_def = NULL;
  REQUIRE_OK(proto_parse_text(kOpDef, str_of(kText), arena, &op_def, &status), status);
  StrBuf text = {0}, want = {0};
  op_def_remove_non_deprecation_descriptions(op_def);
  proto_print_text(op_def, PROTO_TEXT_SHORT, &text);
  strbuf_printf(&want, "%sdeprecation { version: 3 explanation: \"why\" }", kBare);
  CHECK_STR_EQ(strbuf_text(&text), strbuf_text(&want));
  strbuf_clear(&text);
  strbuf_clear(&want);
  op_def_remove_descriptions(op_def);
  proto_print_text(op_def, PROTO_TEXT_SHORT, &text);
  strbuf_printf(&want, "%sdeprecation { version: 3 }", kBare);
  CHECK_STR_EQ(strbuf_text(&text), strbuf_text(&want));
  strbuf_free(&text);
  strbuf_free(&want);
  arena_free(arena);
}
