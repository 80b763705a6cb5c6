/* Accumulators between steps of one session: who takes waits until there are enough gradients. */
#include "runtime/session_fixture.h"

typedef struct Accumulators {
  Fixture f;
  Node *apply, *take, *number, *wrong;
} Accumulators;

static Node *make_constant(Graph *graph, const char *name, const char *type, const char *value) {
  Attr attrs[] = {{"dtype", type}, {"value", value}};
  return add_node(graph, "Const", name, NULL, 0, attrs, 2);
}

/* An accumulator of floats, gradients of 3, and two that are taken at once. */
static bool begin_accumulators(Accumulators *a) {
  *a = (Accumulators){0};
  if (!begin(&a->f)) return false;
  Graph *graph = a->f.graph;
  Attr attrs[] = {{"dtype", "type: DT_FLOAT"}, {"shape", "shape { }"}, {"reduction_type", "s: \"SUM\""}};
  NodeOutput handle = out(add_node(graph, "ResourceConditionalAccumulator", "sum", NULL, 0, attrs, 3));
  NodeOutput step = out(make_constant(graph, "step", "type: DT_INT64",
                                      "tensor { dtype: DT_INT64 tensor_shape { } int64_val: 0 }"));
  NodeOutput three = out(make_constant(graph, "three", "type: DT_FLOAT",
                                       "tensor { dtype: DT_FLOAT tensor_shape { } float_val: 3 }"));
  NodeOutput two = out(make_constant(graph, "two", "type: DT_INT32",
                                     "tensor { dtype: DT_INT32 tensor_shape { } int_val: 2 }"));
  Attr of_double[] = {{"dtype", "type: DT_DOUBLE"}};
  NodeOutput applied[] = {handle, step, three}, taken[] = {handle, two};
  a->apply = add_node(graph, "ResourceAccumulatorApplyGradient", "apply", applied, 3, attrs, 1);
  a->take = add_node(graph, "ResourceAccumulatorTakeGradient", "take", taken, 2, attrs, 1);
  a->wrong = add_node(graph, "ResourceAccumulatorTakeGradient", "wrong", taken, 2, of_double, 1);
  a->number = add_node(graph, "ResourceAccumulatorNumAccumulated", "number", &handle, 1, NULL, 0);
  return true;
}

/* Runs the node; its output, if it has one, goes to `result`. */
static bool run_node(Accumulators *a, Node *node, Tensor *result) {
  NodeOutput fetch = {node, 0};
  const SessionRunOptions options = {.timeout_ms = 30};
  const StepSignature signature = {.fetches = &fetch,
                                   .num_fetches = node->num_outputs,
                                   .targets = &node,
                                   .num_targets = 1};
  SessionStep *step;
  status_init(&a->f.status);
  return session_begin(a->f.session, &options, &signature, NULL, &step, &a->f.status) &&
         session_finish(step, result, &a->f.status);
}

static void has_gradients(Accumulators *a, int count) {
  Tensor number = {0};
  if (CHECK_OK(run_node(a, a->number, &number), a->f.status)) CHECK_INT_EQ(*tensor_i32(&number), count);
  tensor_clear(&number);
}

TEST(who_takes_gradients_waits_until_there_are_enough) {
  Accumulators a;
  REQUIRE(begin_accumulators(&a));
  SessionStep *step, *second;
  Tensor sum = {0}, later = {0};
  NodeOutput fetch = {a.take, 0};
  Status *status = &a.f.status;
  REQUIRE(start_step(a.f.session, NULL, NULL, NULL, fetch, 1000, &sum, &step, status) == RUN_WAITING);
  CHECK(session_step_is_blocked(step));
  REQUIRE(start_step(a.f.session, NULL, NULL, NULL, fetch, 1000, &later, &second, status) == RUN_WAITING);
  CHECK_OK(run_node(&a, a.apply, NULL), *status);
  CHECK_INT_EQ(session_advance(step, 1000, &sum, status), RUN_WAITING);
  CHECK_OK(run_node(&a, a.apply, NULL), *status);
  CHECK_INT_EQ(session_advance(second, 1000, &later, status), RUN_WAITING);
  CHECK_INT_EQ(session_advance(step, 1000, &sum, status), RUN_DONE);
  if (!tensor_is_empty(&sum)) CHECK(*tensor_f32(&sum) == 6);
  session_abandon(second);
  has_gradients(&a, 0);
  CHECK_OK(run_node(&a, a.apply, NULL), *status); /* of a past time step: it is dropped */
  has_gradients(&a, 0);
  tensor_clear(&sum);
  end(&a.f);
}

TEST(a_step_that_takes_too_few_gradients_is_late) {
  Accumulators a;
  REQUIRE(begin_accumulators(&a));
  Tensor sum = {0};
  CHECK_OK(run_node(&a, a.apply, NULL), a.f.status);
  CHECK(!run_node(&a, a.take, &sum));
  CHECK_INT_EQ(a.f.status.code, CODE_DEADLINE_EXCEEDED);
  has_gradients(&a, 1);
  CHECK(!run_node(&a, a.wrong, &sum));
  CHECK_INT_EQ(a.f.status.code, CODE_INVALID_ARGUMENT);
  CHECK_STR_CONTAINS(a.f.status.message,
                     "The accumulator is for dense gradients of float, not for dense gradients of double");
  end(&a.f);
}
