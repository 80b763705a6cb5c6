/* Variables of one step. Beyond TensorFlow's documentation: a name is unique within a step and free again
 * once destroyed; the reference stays valid; the next step starts anew. */
#include "runtime/session_fixture.h"

BEFORE_EACH() {
  Status status;
  status_init(&status);
  CHECK_OK(op_registry_add_table(op_registry_global(), kOpTable, kOpTableSize, &status), &status);
}
AFTER_EACH() { op_registry_clear(op_registry_global()); }

static NodeOutput temporary(Graph *graph, const char *node, const char *name) {
  char text[64];
  snprintf(text, sizeof text, "s: \"%s\"", name);
  Attr attrs[] = {{"shape", "shape { }"}, {"dtype", "type: DT_FLOAT"}, {"var_name", text}};
  return out(add_node(graph, "TemporaryVariable", node, NULL, 0, attrs, 3));
}

static NodeOutput assigned(Graph *graph, const char *node, NodeOutput reference, float value) {
  char name[32];
  snprintf(name, sizeof name, "%s_value", node);
  NodeOutput inputs[] = {reference, scalar(graph, name, value)};
  return out(add_node(graph, "Assign", node, inputs, 2, NULL, 0));
}

static NodeOutput destroyed(Graph *graph, const char *node, NodeOutput reference, const char *name) {
  char text[64];
  snprintf(text, sizeof text, "s: \"%s\"", name);
  Attr attr = {"var_name", text};
  return out(add_node(graph, "DestroyTemporaryVariable", node, &reference, 1, &attr, 1));
}

static void after(Fixture *f, NodeOutput second, NodeOutput first) {
  Edge *edge;
  CHECK_OK(graph_add_control_edge(f->graph, first.node, second.node, &edge, &f->status), f->status);
}

/* Twice: the state of one step must not affect the next. */
static void gives(Fixture *f, NodeOutput fetch, float want) {
  for (int i = 0; i < 2; i++) {
    Tensor value = {0};
    if (CHECK_OK(session_run(f->session, NULL, NULL, 0, &fetch, &value, 1, NULL, 0, &f->status), f->status))
      CHECK(tensor_f32(&value)[0] == want);
    tensor_clear(&value);
    status_init(&f->status);
  }
}

static void fails(Fixture *f, NodeOutput fetch, Code code, const char *words) {
  for (int i = 0; i < 2; i++) {
    Tensor value = {0};
    CHECK_ERROR(session_run(f->session, NULL, NULL, 0, &fetch, &value, 1, NULL, 0, &f->status), f->status,
                code, words);
    status_init(&f->status);
  }
}

TEST(temporary_variables_are_destroyed_once) {
  Fixture f;
  REQUIRE(begin(&f));
  NodeOutput t = temporary(f.graph, "t", "name"), a = assigned(f.graph, "a", t, 3);
  NodeOutput first = destroyed(f.graph, "d1", a, "name"), second = destroyed(f.graph, "d2", t, "name");
  NodeOutput late = assigned(f.graph, "late", t, 5), read = unary(f.graph, "Identity", "read", late);
  after(&f, second, first);
  after(&f, late, first);
  gives(&f, first, 3);
  gives(&f, read, 5); /* its memory exists as long as there are references */
  fails(&f, second, CODE_NOT_FOUND, "/name/TmpVar does not exist.");
  gives(&f, first, 3);
  end(&f);
}

TEST(temporary_variables_have_names_of_their_own_in_a_step) {
  Fixture f;
  REQUIRE(begin(&f));
  NodeOutput t = temporary(f.graph, "t", "name"), a = assigned(f.graph, "a", t, 3);
  NodeOutput same = temporary(f.graph, "same", "name"), other = temporary(f.graph, "other", "other");
  after(&f, same, a);
  after(&f, other, a);
  fails(&f, unary(f.graph, "Identity", "read", same), CODE_ALREADY_EXISTS, "/name/TmpVar");
  gives(&f, destroyed(f.graph, "d", assigned(f.graph, "b", other, 4), "other"), 4);
  /* A name is free again once it is destroyed. */
  NodeOutput again = temporary(f.graph, "again", "name");
  after(&f, again, destroyed(f.graph, "d1", a, "name"));
  gives(&f, destroyed(f.graph, "d2", assigned(f.graph, "c", again, 6), "name"), 6);
  end(&f);
}

TEST(only_a_temporary_variable_of_that_name_is_destroyed) {
  Fixture f;
  REQUIRE(begin(&f));
  NodeOutput t = assigned(f.graph, "a", temporary(f.graph, "t", "name"), 3);
  fails(&f, destroyed(f.graph, "d1", t, "other"), CODE_NOT_FOUND, "/other/TmpVar does not exist.");
  fails(&f, destroyed(f.graph, "d2", t, ""), CODE_INVALID_ARGUMENT, "Missing var_name attribute");
  Attr attrs[] = {{"dtype", "type: DT_FLOAT"}, {"shape", "shape { }"}};
  NodeOutput variable =
      assigned(f.graph, "b", out(add_node(f.graph, "VariableV2", "v", NULL, 0, attrs, 2)), 4);
  fails(&f, destroyed(f.graph, "d3", variable, "v"), CODE_NOT_FOUND, "/v/TmpVar does not exist.");
  gives(&f, unary(f.graph, "Identity", "read", t), 3); /* never destroyed: removed with the step */
  end(&f);
}

/* A list in a variable may hold the variable's own handle: closing the session frees both. */
TEST(a_variable_that_holds_its_own_handle_is_freed) {
  Fixture f;
  REQUIRE(begin(&f));
  Attr variant[] = {{"dtype", "type: DT_VARIANT"}, {"shape", "shape { }"}};
  Attr list[] = {{"element_dtype", "type: DT_RESOURCE"}};
  NodeOutput handle = out(add_node(f.graph, "VarHandleOp", "v", NULL, 0, variant, 2));
  Attr any[] = {{"dtype", "type: DT_INT32"},
                {"value", "tensor { dtype: DT_INT32 tensor_shape { } int_val: -1 }"}};
  NodeOutput minus_one = out(add_node(f.graph, "Const", "any", NULL, 0, any, 2)),
             sizes[] = {minus_one, minus_one};
  NodeOutput empty = out(add_node(f.graph, "EmptyTensorList", "empty", sizes, 2, list, 1)),
             pair[] = {empty, handle};
  NodeOutput full = out(add_node(f.graph, "TensorListPushBack", "push", pair, 2, list, 1)),
             kept[] = {handle, full};
  Node *assign = add_node(f.graph, "AssignVariableOp", "assign", kept, 2, NULL, 0);
  if (CHECK(assign)) CHECK_OK(run_target(&f, assign), f.status);
  end(&f);
}
