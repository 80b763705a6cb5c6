#include "runtime/program.h"

#include <stdio.h>

#include "op/fused_op.h"
#include "runtime/graph_fixture.h"
#include "runtime/program_fixture.h"

/* The shared kernels, as kept by a session. */
static KernelTable *shared;

static void free_shared(void) {
  kernel_table_free(shared);
  shared = NULL;
}

static Program *compile(Graph *graph, const NodeOutput *feeds, int num_feeds, NodeOutput fetch,
                        Status *status) {
  const StepSignature signature = {.feeds = feeds,
                                   .num_feeds = num_feeds,
                                   .fetches = &fetch,
                                   .num_fetches = 1};
  if (!shared) shared = kernel_table_new();
  return compile_step(graph, &signature, shared, status);
}

static bool run_program(Program *program, const Tensor *const *feeds, Tensor *result, Status *status) {
  Step step;
  ProgramRun *run;
  step_begin(&step, 0, NULL);
  return program_begin(program, feeds, &run, status) &&
         program_advance(run, &step, result, status) == RUN_DONE;
}

static int64_t steps_for(Graph *graph, const NodeOutput *feeds, int num_feeds, NodeOutput fetch) {
  const StepSignature signature = {.feeds = feeds,
                                   .num_feeds = num_feeds,
                                   .fetches = &fetch,
                                   .num_fetches = 1};
  if (!shared) shared = kernel_table_new();
  return steps_of(graph, &signature, shared);
}

TEST(only_what_is_needed_runs) {
  Graph *graph = graph_new();
  REQUIRE(graph);
  NodeOutput x = placeholder(graph, "x", "shape { dim { size: 2 } }");
  /* Ops that are not fused. */
  NodeOutput a = unary(graph, "Asinh", "a", x);
  NodeOutput b = unary(graph, "Atan", "b", a);
  NodeOutput c = unary(graph, "Tan", "c", b);
  CHECK_INT_EQ(steps_for(graph, &x, 1, c), 3);
  CHECK_INT_EQ(steps_for(graph, &x, 1, a), 1);
  CHECK_INT_EQ(steps_for(graph, &b, 1, c), 1);
  free_shared();
  graph_free(graph);
}

TEST(constants_and_known_shapes_take_no_step) {
  Graph *graph = graph_new();
  REQUIRE(graph);
  NodeOutput x = placeholder(graph, "x", "shape { dim { size: 2 } dim { size: 3 } }");
  NodeOutput open = placeholder(graph, "open", "shape { dim { size: -1 } }");
  NodeOutput c = constant(graph, "c", "tensor_shape { } float_val: 2");
  NodeOutput folded = unary(graph, "Exp", "folded", c);
  NodeOutput shape = unary(graph, "Shape", "shape", unary(graph, "Tanh", "t", x));
  CHECK_INT_EQ(steps_for(graph, &x, 1, binary(graph, "Mul", "y", x, folded)), 1);
  CHECK_INT_EQ(steps_for(graph, &x, 1, shape), 0);
  CHECK_INT_EQ(steps_for(graph, &x, 1, folded), 0);
  CHECK_INT_EQ(steps_for(graph, &open, 1, unary(graph, "Shape", "open_shape", open)), 1);
  /* A fed constant does not count as constant, and shapes inferred from its value do not hold. */
  CHECK_INT_EQ(steps_for(graph, &c, 1, folded), 1);
  free_shared();
  graph_free(graph);
}

TEST(nothing_is_computed_twice) {
  Graph *graph = graph_new();
  Status status;
  status_init(&status);
  REQUIRE(graph);
  NodeOutput x = placeholder(graph, "x", "shape { dim { size: 2 } }"),
             y = placeholder(graph, "y", "shape { dim { size: 2 } }");
  NodeOutput a = binary(graph, "Mul", "a", x, y),
             b = binary(graph, "Mul", "b", y, x); /* the order makes no difference */
  NodeOutput rest =
      binary(graph, "FloorMod", "rest", unary(graph, "Atan", "aa", a), unary(graph, "Atan", "ab", b));
  NodeOutput feeds[] = {x, y}, fed_too[] = {x, y, b};
  CHECK_INT_EQ(steps_for(graph, feeds, 2, rest), 3);
  /* Unless one of the two is fed with another value. */
  CHECK_INT_EQ(steps_for(graph, fed_too, 3, rest), 4);
  Program *program = compile(graph, feeds, 2, rest, &status);
  REQUIRE(program);
  Tensor value, result = {0};
  REQUIRE(float_tensor(&value, 1, (int64_t[]){2}, (float[]){3, 4}));
  const Tensor *values[] = {&value, &value};
  CHECK_OK(run_program(program, values, &result, &status), status);
  CHECK_NEAR(tensor_f32(&result)[1], 0, 0);
  tensor_clear(&result);
  tensor_clear(&value);
  program_free(program);
  program = compile(graph, feeds, 2, b, &status); /* the removed one may be fetched alone */
  CHECK_OK(program, status);
  program_free(program);
  free_shared();
  graph_free(graph);
}

TEST(a_node_that_cannot_be_computed_fails_when_it_runs) {
  Graph *graph = graph_new();
  Status status;
  status_init(&status);
  REQUIRE(graph);
  NodeOutput a = constant(graph, "a", "tensor_shape { dim { size: 2 } } float_val: 1");
  NodeOutput x = placeholder(graph, "x", "shape { unknown_rank: true }");
  NodeOutput sum = binary(graph, "Add", "sum", a, x);
  Program *program = compile(graph, &x, 1, sum, &status);
  REQUIRE(program);
  Tensor value, result = {0};
  REQUIRE(float_tensor(&value, 1, (int64_t[]){3}, (float[]){1, 2, 3}));
  const Tensor *values[] = {&value};
  CHECK_ERROR(run_program(program, values, &result, &status), status, CODE_INVALID_ARGUMENT,
              "Incompatible shapes: [2] vs. [3]\n\t [[{{node sum}}]]");
  CHECK(tensor_is_empty(&result));
  tensor_clear(&value);
  REQUIRE(float_tensor(&value, 1, (int64_t[]){2}, (float[]){1, 2}));
  CHECK_OK(run_program(program, values, &result, &status), status);
  tensor_clear(&value);
  tensor_clear(&result);
  program_free(program);
  free_shared();
  graph_free(graph);
}

TEST(programs_share_the_memory_of_constants) {
  Graph *graph = graph_new();
  Status status;
  status_init(&status);
  REQUIRE(graph);
  NodeOutput c = constant(graph, "c", "tensor_shape { dim { size: 1000 } } float_val: 2");
  Program *first = compile(graph, NULL, 0, c, &status), *second = compile(graph, NULL, 0, c, &status);
  REQUIRE(first && second);
  Tensor a = {0}, b = {0};
  CHECK_OK(run_program(first, NULL, &a, &status), status);
  CHECK_OK(run_program(second, NULL, &b, &status), status);
  CHECK(a.data == b.data);
  tensor_clear(&a);
  tensor_clear(&b);
  program_free(first);
  program_free(second);
  free_shared();
  graph_free(graph);
}

TEST(a_long_chain_needs_no_stack) {
  Graph *graph = graph_new();
  REQUIRE(graph);
  NodeOutput x = placeholder(graph, "x", "shape { }"), y = x;
  for (int i = 0; i < 20000 && y.node; i++) {
    char name[16];
    snprintf(name, sizeof name, "n%d", i);
    y = unary(graph, "Neg", name, y);
  }
  REQUIRE(y.node);
  CHECK_INT_EQ(steps_for(graph, &x, 1, y), (20000 + FUSED_MOST_NODES - 1) / FUSED_MOST_NODES);
  free_shared();
  graph_free(graph);
}
