#include "op_facts.h"

#include <stdlib.h>

/* --- build --- */

static bool no_shape(InferenceContext *c, Status *status) {
  (void)c;
  (void)status;
  return true;
}

static void make_call(OpDefBuilder *builder, const Json *call) {
  const char *what = call->items[0].string, *text = call->count > 1 ? call->items[1].string : "";
  if (strcmp(what, "Attr") == 0) {
    op_def_builder_attr(builder, text);
  } else if (strcmp(what, "Input") == 0) {
    op_def_builder_input(builder, text);
  } else if (strcmp(what, "Output") == 0) {
    op_def_builder_output(builder, text);
  } else if (strcmp(what, "Doc") == 0) {
    op_def_builder_doc(builder, text);
  } else if (strcmp(what, "SetIsStateful") == 0) {
    op_def_builder_is_stateful(builder);
  } else if (strcmp(what, "SetShapeFn") == 0) {
    op_def_builder_shape(builder, no_shape);
  } else {
    CHECK_STR_EQ(what, "a call that the test knows");
  }
}

static bool build(const Json *fact, Arena *arena, OpDef **op_def, Status *status) {
  OpDefBuilder *builder = op_def_builder_new(arena, fact_text(fact, "name"));
  const Json *calls = json_get(fact, "calls");
  for (int i = 0; i < calls->count; i++) make_call(builder, &calls->items[i]);
  return op_def_builder_finalize(builder, op_def, NULL, status);
}

static int compare_types(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

/* Aspects that the facts do not determine: the order of allowed types, and an empty list of allowed values
 * instead of no list. */
static void normalise(OpDef *op_def, bool ordered) {
  for (size_t i = 0; i < op_def->n_attr; i++) {
    AttrDef *attr = op_def->attr[i];
    AttrListValue *list = attr->allowed_values ? attr->allowed_values->list : NULL;
    if (list && list->n_type > 1 && !ordered)
      qsort(list->type, list->n_type, sizeof *list->type, compare_types);
    if (list && list->n_type == 0 && list->n_s == 0) attr->allowed_values = NULL;
  }
}

static bool same_op(const OpDef *got, const OpDef *want, StrBuf *why) {
  if (proto_equal(got, want)) return true;
  StrBuf a = {0}, b = {0};
  proto_print_text(got, PROTO_TEXT_SHORT, &a);
  proto_print_text(want, PROTO_TEXT_SHORT, &b);
  fact_differs(why, "the OpDef", strbuf_text(&a), strbuf_text(&b));
  strbuf_free(&a);
  strbuf_free(&b);
  return false;
}

static bool holds_build(const Json *fact, const Json *answer, Arena *arena, StrBuf *why) {
  Status status;
  status_init(&status);
  OpDef *op_def = NULL;
  bool ok = build(fact, arena, &op_def, &status);
  if (fact_wants_error(answer)) return fact_check_error(ok, &status, answer, why);
  if (!fact_check_ok(ok, &status, why)) return false;
  bool ordered = json_get(fact, "ordered")->boolean;
  normalise(op_def, ordered);
  OpDef *want = fact_parse(kOpDef, fact_text(answer, "expect_text"), arena);
  if (!want) return false;
  normalise(want, ordered);
  return same_op(op_def, want, why);
}

/* --- the other kinds --- */

static bool holds_validate(const Json *fact, const Json *answer, Arena *arena, StrBuf *why) {
  Status status;
  status_init(&status);
  OpDef *op_def = NULL;
  const char *text = fact_text(fact, "opdef_text");
  if (text) {
    op_def = fact_parse(kOpDef, text, arena);
    if (!op_def) return false;
  } else if (!build(fact, arena, &op_def, &status)) {
    return fact_differs(why, "the op", status.message, "built");
  }
  bool ok = op_def_validate(op_def, &status);
  return fact_wants_error(answer) ? fact_check_error(ok, &status, answer, why)
                                  : fact_check_ok(ok, &status, why);
}

static bool holds_equal(bool got, const Json *fact, StrBuf *why) {
  bool want = json_get(fact, "equal")->boolean;
  return got == want || fact_differs(why, "equality", got ? "true" : "false", want ? "true" : "false");
}

static const ProtoDescriptor *const kAttrDef = &tensorflow__op_def__attr_def__descriptor;

static bool holds_attr_def_equal(const Json *fact, Arena *arena, StrBuf *why) {
  AttrDef *a = fact_parse(kAttrDef, fact_text(fact, "a"), arena),
          *b = fact_parse(kAttrDef, fact_text(fact, "b"), arena);
  return a && b && holds_equal(attr_def_equal(a, b), fact, why) &&
         holds_equal(attr_def_equal(b, a), fact, why);
}

static bool holds_attr_defs_equal(const Json *fact, Arena *arena, StrBuf *why) {
  AttrDef *lists[2][8];
  const Json *texts[2] = {json_get(fact, "a"), json_get(fact, "b")};
  for (int k = 0; k < 2; k++) {
    for (int i = 0; i < texts[k]->count; i++) {
      lists[k][i] = fact_parse(kAttrDef, texts[k]->items[i].string, arena);
      if (!lists[k][i]) return false;
    }
  }
  size_t num_a = (size_t)texts[0]->count, num_b = (size_t)texts[1]->count;
  return holds_equal(attr_defs_equal(lists[0], num_a, lists[1], num_b), fact, why) &&
         holds_equal(attr_defs_equal(lists[1], num_b, lists[0], num_a), fact, why);
}

static bool holds_op_def_equal(const Json *fact, Arena *arena, StrBuf *why) {
  OpDef *a = fact_parse(kOpDef, fact_text(fact, "a"), arena),
        *b = fact_parse(kOpDef, fact_text(fact, "b"), arena);
  return a && b && holds_equal(op_def_equal(a, b), fact, why);
}

static bool holds_defaults_unchanged(const Json *fact, const Json *answer, Arena *arena, StrBuf *why) {
  Status status;
  status_init(&status);
  OpDef *old_op = fact_parse(kOpDef, fact_text(fact, "old_text"), arena);
  OpDef *new_op = fact_parse(kOpDef, fact_text(fact, "new_text"), arena);
  if (!old_op || !new_op) return false;
  bool ok = op_def_defaults_unchanged(old_op, new_op, &status);
  return fact_wants_error(answer) ? fact_check_error(ok, &status, answer, why)
                                  : fact_check_ok(ok, &status, why);
}

static bool holds(const Json *fact, const Json *answer, Arena *arena, StrBuf *why) {
  const char *kind = fact_text(fact, "kind");
  if (strcmp(kind, "build") == 0) return holds_build(fact, answer, arena, why);
  if (strcmp(kind, "validate") == 0) return holds_validate(fact, answer, arena, why);
  if (strcmp(kind, "attrdef_equal") == 0) return holds_attr_def_equal(fact, arena, why);
  if (strcmp(kind, "attrdefs_equal") == 0) return holds_attr_defs_equal(fact, arena, why);
  if (strcmp(kind, "opdef_equal") == 0) return holds_op_def_equal(fact, arena, why);
  if (strcmp(kind, "defaults_unchanged") == 0) return holds_defaults_unchanged(fact, answer, arena, why);
  return fact_differs(why, "the kind", kind, "one that the test knows");
}

TEST(recorded_facts_about_op_defs_hold) { facts_run("tests/data/facts/opdef.jsonl", 111, holds); }
