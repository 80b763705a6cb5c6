#include "runtime/update_order.h"

#include <string.h>

#include "runtime/session_fixture.h"

#define FLOAT_VARIABLE \
  { "dtype", "type: DT_FLOAT" }

static NodeOutput read_of(Graph *graph, const char *name, NodeOutput handle) {
  return out(add_node(graph, "ReadVariableOp", name, &handle, 1, (Attr[]){FLOAT_VARIABLE}, 1));
}

static Node *assign(Graph *graph, const char *op, const char *name, NodeOutput handle, NodeOutput value) {
  NodeOutput inputs[] = {handle, value};
  return add_node(graph, op, name, inputs, 2, (Attr[]){FLOAT_VARIABLE}, 1);
}

/* The names of all nodes in the order, after its updates were delayed. */
static const char *delayed_order(Graph *graph, char *text, size_t capacity) {
  Status status;
  status_init(&status);
  Arena *arena = arena_new();
  Node **order;
  int64_t count;
  text[0] = '\0';
  if (CHECK_OK(graph_topological_order(graph, NULL, NULL, 0, arena, &order, &count, &status), status) &&
      CHECK_OK(delay_updates(graph, order, count, arena, &status), status)) {
    for (int64_t i = 0; i < count; i++) {
      size_t length = strlen(text);
      snprintf(text + length, capacity - length, "%s%s", i > 0 ? " " : "", order[i]->name);
    }
  }
  arena_free(arena);
  return text;
}

TEST(an_update_comes_after_the_readers_of_the_old_value) {
  Graph *graph = graph_new();
  char text[200];
  NodeOutput v = scalar_variable(graph, "v"), x = scalar(graph, "x", 2), old = read_of(graph, "old", v);
  assign(graph, "AssignSubVariableOp", "update", v, x);
  binary(graph, "Mul", "early", old, x);
  unary(graph, "Neg", "late", old);
  unary(graph, "Neg", "other", x);
  CHECK_STR_EQ(delayed_order(graph, text, sizeof text), "v x old early late update other");
  graph_free(graph);
}

TEST(an_update_of_a_reference_comes_after_the_readers_of_the_value) {
  Graph *graph = graph_new();
  char text[200];
  Attr attrs[] = {{"dtype", "type: DT_FLOAT"}, {"shape", "shape { }"}};
  NodeOutput v = out(add_node(graph, "VariableV2", "v", NULL, 0, attrs, 2)), x = scalar(graph, "x", 2);
  NodeOutput update = binary(graph, "AssignSub", "update", v, x);
  binary(graph, "Mul", "early", v, x);
  unary(graph, "Neg", "late", v);
  unary(graph, "Neg", "after", update);
  CHECK_STR_EQ(delayed_order(graph, text, sizeof text), "v x early late update after");
  graph_free(graph);
}

TEST(an_update_precedes_what_waits_for_it) {
  Graph *graph = graph_new();
  char text[200];
  Status status;
  Edge *edge;
  status_init(&status);
  NodeOutput v = scalar_variable(graph, "v"), x = scalar(graph, "x", 2), old = read_of(graph, "old", v);
  Node *update = assign(graph, "AssignSubVariableOp", "update", v, x);
  NodeOutput late = unary(graph, "Neg", "late", old);
  unary(graph, "Neg", "later", old);
  REQUIRE_OK(graph_add_control_edge(graph, update, late.node, &edge, &status), status);
  CHECK_STR_EQ(delayed_order(graph, text, sizeof text), "v x old update late later");
  graph_free(graph);
}

/* Each of them waits for the other: the exchange of two values. */
TEST(updates_that_read_each_others_values_keep_their_order) {
  Graph *graph = graph_new();
  char text[200];
  NodeOutput a = scalar_variable(graph, "a"), b = scalar_variable(graph, "b");
  NodeOutput of_a = read_of(graph, "of_a", a), of_b = read_of(graph, "of_b", b);
  assign(graph, "AssignVariableOp", "set_a", a, of_b);
  assign(graph, "AssignVariableOp", "set_b", b, of_a);
  CHECK_STR_EQ(delayed_order(graph, text, sizeof text), "a b of_a of_b set_a set_b");
  graph_free(graph);
}

/* Each update lets the next one go; there are more than fit a stack. */
TEST(updates_of_many_variables_wait_in_a_row) {
  enum { COUNT = 20000 };
  Graph *graph = graph_new();
  Status status;
  status_init(&status);
  char name[32];
  NodeOutput *handles = mem_alloc(COUNT * (int64_t)sizeof *handles),
             *reads = mem_alloc(COUNT * (int64_t)sizeof *reads);
  REQUIRE(handles && reads);
  for (int i = 0; i < COUNT; i++) {
    snprintf(name, sizeof name, "v%d", i);
    handles[i] = scalar_variable(graph, name);
    snprintf(name, sizeof name, "r%d", i);
    reads[i] = read_of(graph, name, handles[i]);
  }
  for (int i = 0; i + 1 < COUNT; i++) {
    snprintf(name, sizeof name, "set%d", i);
    assign(graph, "AssignVariableOp", name, handles[i + 1], reads[i]);
  }
  unary(graph, "Neg", "last", reads[COUNT - 1]);
  Arena *arena = arena_new();
  Node **order;
  int64_t count;
  REQUIRE_OK(graph_topological_order(graph, NULL, NULL, 0, arena, &order, &count, &status), status);
  REQUIRE_OK(delay_updates(graph, order, count, arena, &status), status);
  CHECK_STR_EQ(order[count - 1]->name, "set0");
  CHECK_STR_EQ(order[count - COUNT]->name, "last");
  arena_free(arena);
  mem_free(handles);
  mem_free(reads);
  graph_free(graph);
}

/* Otherwise the update would need a copy of the variable. */
TEST(a_step_updates_a_variable_in_its_own_memory) {
  enum { COUNT = 1 << 18, BYTES = 4 * COUNT };
  Fixture f;
  REQUIRE(begin(&f));
  Attr attrs[] = {FLOAT_VARIABLE, {"shape", "shape { dim { size: 262144 } }"}};
  Attr axis[] = {{"dtype", "type: DT_INT32"},
                 {"value", "tensor { dtype: DT_INT32 tensor_shape { } int_val: 0 }"}};
  NodeOutput v = out(add_node(f.graph, "VarHandleOp", "v", NULL, 0, attrs, 2));
  NodeOutput x = placeholder(f.graph, "x", "shape { dim { size: 262144 } }"),
             old = read_of(f.graph, "old", v);
  Node *set = assign(f.graph, "AssignVariableOp", "set", v, x);
  Node *update = assign(f.graph, "AssignSubVariableOp", "update", v, x);
  NodeOutput sum =
      binary(f.graph, "Sum", "sum", old, out(add_node(f.graph, "Const", "axis", NULL, 0, axis, 2)));
  Tensor value = {0}, result = {0};
  REQUIRE(tensor_allocate_dims(&value, DT_FLOAT, 1, (int64_t[]){COUNT}, NULL, &f.status));
  for (int i = 0; i < COUNT; i++) tensor_f32(&value)[i] = 1;
  const Tensor *fed = &value;
  REQUIRE_OK(session_run(f.session, &x, &fed, 1, NULL, NULL, 0, &set, 1, &f.status), f.status);
  int64_t before = 0;
  for (int step = 0; step < 4; step++) { /* the first one leaves the memory that was fed */
    if (step == 1) before = mem_live_bytes();
    mem_reset_peak();
    REQUIRE_OK(session_run(f.session, &x, &fed, 1, &sum, &result, 1, &update, 1, &f.status), f.status);
    CHECK(tensor_f32(&result)[0] == (float)(COUNT * (1 - step)));
    tensor_clear(&result);
    if (step > 0) CHECK(mem_peak_bytes() - before < BYTES / 2);
  }
  tensor_clear(&value);
  end(&f);
}
