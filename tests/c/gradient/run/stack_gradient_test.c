/* Stacks in the way of gradients: TensorFlow has none for them. */
#include "gradient/gradient_fixture.h"
#include "graph/node_builder.h"
#include "op_runner.h"

/* y is pushed, and popped behind that; the handle may pass through a stack of handles. */
typedef struct Stacked {
  Graph *graph;
  Status status;
  NodeOutput x, other, pushed, popped;
} Stacked;

static NodeOutput behind(Graph *graph, const char *name, NodeOutput stack, DataType type, NodeOutput push) {
  NodeBuilder b;
  NodeOutput popped = {NULL, 0};
  Status status;
  status_init(&status);
  node_builder(&b, graph, "StackPopV2", name);
  node_builder_type(&b, "elem_type", type);
  node_builder_input(&b, stack);
  node_builder_control(&b, push.node);
  CHECK_OK(node_builder_finish(&b, &popped.node, &status), &status);
  return popped;
}

static bool begin(Stacked *s, bool through_handles) {
  *s = (Stacked){.graph = graph_new()};
  status_init(&s->status);
  if (!CHECK(s->graph)) return false;
  Graph *g = s->graph;
  s->x = graph_op(g, "x", "Placeholder", "dtype=double", 0);
  s->other = graph_op(g, "other", "Placeholder", "dtype=double", 0);
  NodeOutput size = graph_op(g, "size", "Placeholder", "dtype=int32", 0), reader;
  NodeOutput stack = reader = graph_op(g, "stack", "StackV2", "elem_type=double", 1, size);
  if (through_handles) {
    NodeOutput handles = graph_op(g, "handles", "StackV2", "elem_type=resource", 1, size);
    NodeOutput kept = graph_op(g, "keep", "StackPushV2", "T=resource", 2, handles, stack);
    reader = behind(g, "again", handles, DT_RESOURCE, kept);
  }
  s->pushed = graph_op(g, "push", "StackPushV2", "T=double", 2, stack, unary(g, "sin", "Sin", s->x));
  s->popped = behind(g, "pop", reader, DT_DOUBLE, s->pushed);
  return true;
}

static bool add(Stacked *s, NodeOutput y, NodeOutput x) {
  NodeOutput dx;
  return graph_add_gradients(s->graph, &y, 1, &x, 1, NULL, NULL, &dx, &s->status);
}

TEST(no_gradient_leads_through_a_stack) {
  for (int handles = 0; handles < 2; handles++) {
    Stacked s;
    CHECK_CONTEXT("%d", handles);
    if (begin(&s, handles)) {
      NodeOutput y = binary(s.graph, "y", "Mul", s.popped, s.x);
      CHECK_ERROR(add(&s, s.pushed, s.x), &s.status, CODE_NOT_FOUND,
                  "No gradient defined for op: StackPushV2");
      CHECK_ERROR(add(&s, y, s.x), &s.status, CODE_NOT_FOUND, "No gradient defined for op: StackPopV2");
    }
    graph_free(s.graph);
  }
}

TEST(what_does_not_depend_on_a_stack_has_gradients) {
  Stacked s;
  if (begin(&s, true)) {
    NodeOutput y = binary(s.graph, "y", "Mul", s.popped, s.other);
    CHECK_OK(add(&s, y, s.other), &s.status);
    CHECK_OK(add(&s, unary(s.graph, "z", "Exp", s.x), s.x), &s.status);
  }
  graph_free(s.graph);
}
