/* The text of shapes, and running shape functions outside of graphs. */
#include "op/shape_language.h"

#include "op/op_registry.h"
#include "shape_fixture.h"
#include "shortage.h"

/* The error message for `text`. */
static void check_refused(const char *text, const char *want) {
  Fixture f;
  ShapeHandle *shapes;
  int count;
  fixture_begin(&f, "");
  CHECK_CONTEXT("%s", text);
  CHECK(!shape_language_parse(&f.c, text, &shapes, &count, &f.status));
  CHECK_INT_EQ(f.status.code, CODE_INVALID_ARGUMENT);
  CHECK_STR_EQ(f.status.message, want);
  fixture_end(&f);
}

static void check_parsed(const char *text, int want_count, const char *want_last) {
  Fixture f;
  ShapeHandle *shapes;
  int count;
  fixture_begin(&f, "");
  CHECK_CONTEXT("%s", text);
  if (CHECK_OK(shape_language_parse(&f.c, text, &shapes, &count, &f.status), f.status) &&
      CHECK_INT_EQ(count, want_count)) {
    if (count > 0) check_shape(shapes[count - 1], want_last);
  }
  fixture_end(&f);
}

TEST(shapes_are_read) {
  check_parsed("", 0, "");
  check_parsed(" ", 0, "");
  check_parsed("?", 1, "?");
  check_parsed("[]", 1, "[]");
  check_parsed("[];[?]", 2, "[?]");
  check_parsed("?;?;[1,?,3]", 3, "[1,?,3]");
  check_parsed(" [ 1 , ? ] ; [ ]; [ 07 ] ", 3, "[7]");
  check_parsed("[9223372036854775807]", 1, "[9223372036854775807]");
}

TEST(malformed_shapes_are_refused) {
  check_refused("1", "Malformed shape spec: did not start with '[': 1");
  check_refused(";", "Malformed shape spec: did not start with '[': ;");
  check_refused("[1];", "Malformed shape spec: did not start with '[': [1];");
  check_refused("[1,2", "Malformed shape spec: did not end in ']': [1,2");
  check_refused("[1]2", "Malformed shape spec: did not end in ']': [1]2");
  check_refused("?]", "Malformed shape spec: did not end in ']': ?]");
  check_refused("[-1]", "Could not parse number in [-1]");
  check_refused("[x]", "Could not parse number in [x]");
  check_refused("[1,]", "Could not parse number in [1,]");
  check_refused("[,1]", "Could not parse number in [,1]");
  check_refused("[9223372036854775808]", "Could not parse number in [9223372036854775808]");
  check_refused("[1 2]", "Invalid input spec (] not found in dim shape): [1 2]");
  check_refused("[1??]", "Invalid input spec (] not found in dim shape): [1??]");
}

TEST(long_lists_are_read) {
  enum { COUNT = 20000 };
  Fixture f;
  StrBuf text = {0};
  ShapeHandle *shapes;
  int count;
  fixture_begin(&f, "");
  strbuf_append_char(&text, '[');
  for (int i = 0; i < COUNT; i++) strbuf_append(&text, i == 0 ? "2" : ",2");
  strbuf_append_char(&text, ']');
  for (int i = 0; i < COUNT; i++) strbuf_append(&text, ";?");
  if (CHECK_OK(shape_language_parse(&f.c, strbuf_text(&text), &shapes, &count, &f.status), f.status)) {
    CHECK_INT_EQ(count, COUNT + 1);
    CHECK_INT_EQ(shape_rank(shapes[0]), COUNT);
  }
  strbuf_free(&text);
  fixture_end(&f);
}

/* --- runs --- */

/* Outputs: input 0 itself, a new shape of its first dimension and a known size, an unknown one, and an unset
 * one. */
static bool mixed_shape(InferenceContext *c, Status *status) {
  DimHandle size;
  ShapeHandle made;
  TRY(dim_ok(dim_make(c, 5), &size, status));
  TRY(shape_ok(shape_matrix(c, shape_dim_of(c, shape_input(c, 0), 0), size), &made, status));
  shape_set_output(c, 0, shape_input(c, 0));
  shape_set_output(c, 1, made);
  TRY(shape_ok(shape_unknown(c), &made, status));
  shape_set_output(c, 2, made);
  return true;
}

static bool picky_shape(InferenceContext *c, Status *status) {
  DimHandle size;
  TRY(dim_for_scalar_input(c, 1, &size, status));
  return status_invalid(status, "I do not like it");
}

static const OpRegistration kMixed = {.name = "Mixed",
                                      .inputs = {"x: T", "y: N * T"},
                                      .outputs = {"a: T", "b: T", "c: T", "d: T"},
                                      .attrs = {"T: type", "N: int = 1"},
                                      .shape = mixed_shape};
static const OpRegistration kPicky = {.name = "Picky",
                                      .inputs = {"x: float", "n: int32"},
                                      .outputs = {"y: float"},
                                      .shape = picky_shape};
static const OpRegistration kSilent = {.name = "Silent", .outputs = {"y: float"}};

typedef struct Trial {
  Arena *arena;
  OpRegistry *registry;
  InferenceContext c;
  const Op *op;
  NodeDef *node;
  Status status;
} Trial;

static bool begin_trial(Trial *t, const OpRegistration *registration) {
  *t = (Trial){.arena = arena_new(), .registry = op_registry_new()};
  CHECK_OK(op_registry_add(t->registry, registration, &t->status), t->status);
  t->op = op_registry_find(t->registry, registration->name);
  t->node = node_def_new(t->arena, "n", registration->name);
  return CHECK(t->op && t->node);
}

static void end_trial(Trial *t) {
  arena_free(t->arena);
  op_registry_free(t->registry);
}

TEST(outputs_are_printed_with_identity) {
  Trial t;
  if (begin_trial(&t, &kMixed)) {
    StrBuf text = {0};
    /* T is missing: no shape depends on it. */
    CHECK_OK(shape_trial_begin(&t.c, t.op, t.node, 134, "[?,2];?", t.arena, &t.status), t.status);
    CHECK_INT_EQ(t.c.num_outputs, 4);
    CHECK_OK(shape_trial_run(&t.c, t.op, &t.status), t.status);
    shape_language_print_outputs(&t.c, &text);
    CHECK_STR_EQ(strbuf_text(&text), "in0;[d0_0,5];?;?");
    strbuf_free(&text);
  }
  end_trial(&t);
}

TEST(a_run_needs_as_many_shapes_as_inputs) {
  Trial t;
  if (begin_trial(&t, &kMixed)) {
    CHECK(!shape_trial_begin(&t.c, t.op, t.node, 134, "[?,2]", t.arena, &t.status));
    CHECK_STR_EQ(t.status.message, "Wrong number of inputs passed: 1 while 2 expected based on NodeDef");
    AttrValue *many = attr_value_int(t.arena, INT64_C(1) << 30);
    CHECK_OK(node_def_set_attr(t.node, t.arena, "N", many, &t.status), t.status);
    CHECK(!shape_trial_begin(&t.c, t.op, t.node, 134, "[?,2]", t.arena, &t.status));
    CHECK_INT_EQ(t.status.code, CODE_INVALID_ARGUMENT);
  }
  end_trial(&t);
}

TEST(errors_of_a_run_have_their_context) {
  Trial t;
  if (begin_trial(&t, &kPicky)) {
    Tensor value = {0};
    CHECK_OK(tensor_allocate_dims(&value, DT_INT32, 0, NULL, NULL, &t.status), t.status);
    tensor_i32(&value)[0] = 7;
    const Tensor *values[] = {NULL, &value};
    CHECK_OK(shape_trial_begin(&t.c, t.op, t.node, 134, "[1,?];[]", t.arena, &t.status), t.status);
    CHECK(!shape_trial_run(&t.c, t.op, &t.status));
    CHECK(t.c.requested_tensor[1]);
    CHECK(strstr(t.status.message, " with input shapes: [1,?], []."));
    t.c.input_tensors = values;
    CHECK(!shape_trial_run(&t.c, t.op, &t.status));
    CHECK(strstr(t.status.message,
                 " with input shapes: [1,?], [] and with computed input tensors: input[1] = <7>."));
    tensor_clear(&value);
  }
  end_trial(&t);
}

TEST(an_op_without_shape_function_says_so) {
  Trial t;
  if (begin_trial(&t, &kSilent)) {
    CHECK_OK(shape_trial_begin(&t.c, t.op, t.node, 134, "", t.arena, &t.status), t.status);
    CHECK(!shape_trial_run(&t.c, t.op, &t.status));
    CHECK_STR_EQ(t.status.message,
                 "No shape inference function exists for op 'Silent', did you forget to define it?");
  }
  end_trial(&t);
}

TEST(runs_survive_want_of_memory) {
  Shortage shortage = {.what = "a run"};
  do {
    Trial t;
    if (!begin_trial(&t, &kMixed)) break;
    shortage_begin(&shortage);
    bool ok = shape_trial_begin(&t.c, t.op, t.node, 134, "[1,2,3];[4,5,6,?,?]", t.arena, &t.status) &&
              shape_trial_run(&t.c, t.op, &t.status);
    shortage_end(&shortage, ok, t.status.code);
    end_trial(&t);
  } while (shortage_next(&shortage));
}
