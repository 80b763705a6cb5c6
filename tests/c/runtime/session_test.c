#include "runtime/session.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "runtime/session_fixture.h"
#include "shortage.h"

static bool run_one(Fixture *f, NodeOutput feed, const Tensor *value, NodeOutput fetch, Tensor *result) {
  return session_run(f->session, &feed, &value, feed.node ? 1 : 0, &fetch, result, 1, NULL, 0, &f->status);
}

static const NodeOutput kNothing = {NULL, 0};
static const int64_t kThree[] = {3};

TEST(feeds_flow_to_fetches) {
  Fixture f;
  REQUIRE(begin(&f));
  NodeOutput x = placeholder(f.graph, "x", "shape { dim { size: 3 } }");
  NodeOutput c = scalar(f.graph, "c", 10);
  NodeOutput y = binary(f.graph, "Add", "y", unary(f.graph, "Square", "s", x), c);
  Tensor value, result = {0};
  if (float_tensor(&value, 1, kThree, (float[]){1, 2, 3}) &&
      CHECK_OK(run_one(&f, x, &value, y, &result), f.status)) {
    const float want[] = {11, 14, 19};
    CHECK_MEM_EQ(result.data, want, sizeof want);
    tensor_clear(&result);
  }
  tensor_clear(&value);
  end(&f);
}

TEST(what_depends_on_constants_alone_is_computed_once) {
  Fixture f;
  REQUIRE(begin(&f));
  NodeOutput c = constant(f.graph, "c", "tensor_shape { dim { size: 2 } } float_val: 3 float_val: 4");
  NodeOutput y = binary(f.graph, "Mul", "y", unary(f.graph, "Square", "s", c), c);
  Tensor result = {0};
  if (CHECK_OK(run_one(&f, kNothing, NULL, y, &result), f.status)) {
    const float want[] = {27, 64};
    CHECK_MEM_EQ(result.data, want, sizeof want);
    tensor_clear(&result);
  }
  end(&f);
}

/* A Const with more bytes than the address space, as one line of a graph: it can be imported, its shape read,
 * and the node left out; only a step that needs its elements fails. */
TEST(giant_constants_stay_compact_until_they_are_needed) {
  Fixture f;
  REQUIRE(begin(&f));
  int64_t before = mem_live_bytes();
  NodeOutput giant =
      constant(f.graph, "giant",
               "tensor_shape { dim { size: 1099511627776 } dim { size: 524288 } } float_val: 2");
  NodeOutput same = unary(f.graph, "Identity", "same", giant);
  Node *shape = add_node(f.graph, "Shape", "shape", &same, 1, (Attr[]){{"out_type", "type: DT_INT64"}}, 1);
  NodeOutput small = constant(f.graph, "small", "tensor_shape { dim { size: 3 } } float_val: 3");
  CHECK(mem_live_bytes() - before < 1 << 20);
  Tensor result = {0};
  if (CHECK_OK(run_one(&f, kNothing, NULL, out(shape), &result), f.status)) {
    const int64_t want[] = {1099511627776, 524288};
    CHECK_MEM_EQ(result.data, want, sizeof want);
    tensor_clear(&result);
  }
  if (CHECK_OK(run_one(&f, kNothing, NULL, small, &result), f.status)) tensor_clear(&result);
  CHECK_ERROR(run_one(&f, kNothing, NULL, giant, &result), f.status, CODE_RESOURCE_EXHAUSTED,
              "OOM when allocating tensor with shape[1099511627776,524288] and type float");
  CHECK_ERROR(run_one(&f, kNothing, NULL, same, &result), f.status, CODE_RESOURCE_EXHAUSTED,
              "OOM when allocating");
  CHECK_STR_CONTAINS(f.status.message, "[[{{node giant}}]]");
  CHECK(mem_live_bytes() - before < 1 << 20);
  end(&f);
}

TEST(a_value_may_be_fed_in_place_of_any_node) {
  Fixture f;
  REQUIRE(begin(&f));
  NodeOutput c = constant(f.graph, "c", "tensor_shape { dim { size: 3 } } float_val: 1");
  NodeOutput s = unary(f.graph, "Square", "s", c);
  NodeOutput y = binary(f.graph, "Add", "y", s, c);
  Tensor value, result = {0};
  if (float_tensor(&value, 1, kThree, (float[]){5, 6, 7}) &&
      CHECK_OK(run_one(&f, s, &value, y, &result), f.status)) {
    const float want[] = {6, 7, 8};
    CHECK_MEM_EQ(result.data, want, sizeof want);
    tensor_clear(&result);
  }
  if (CHECK_OK(run_one(&f, c, &value, y, &result), f.status)) {
    const float want[] = {30, 42, 56};
    CHECK_MEM_EQ(result.data, want, sizeof want);
    tensor_clear(&result);
  }
  tensor_clear(&value);
  end(&f);
}

TEST(the_order_of_feeds_and_fetches_makes_no_new_plan) {
  Fixture f;
  REQUIRE(begin(&f));
  NodeOutput x = placeholder(f.graph, "x", "shape { }"), y = placeholder(f.graph, "y", "shape { }");
  NodeOutput d = binary(f.graph, "Sub", "d", x, y), n = unary(f.graph, "Neg", "n", x);
  Tensor one, two, results[2] = {{0}, {0}};
  REQUIRE(float_tensor(&one, 0, NULL, (float[]){1}) && float_tensor(&two, 0, NULL, (float[]){2}));
  const Tensor *values[] = {&one, &two}, *swapped[] = {&two, &one};
  CHECK_OK(session_run(f.session, (NodeOutput[]){x, y}, values, 2, (NodeOutput[]){d, n}, results, 2, NULL, 0,
                       &f.status),
           f.status);
  CHECK_NEAR(tensor_f32(&results[0])[0], -1, 0);
  CHECK_NEAR(tensor_f32(&results[1])[0], -1, 0);
  tensor_clear(&results[0]);
  tensor_clear(&results[1]);
  CHECK_OK(session_run(f.session, (NodeOutput[]){y, x}, swapped, 2, (NodeOutput[]){n, d}, results, 2, NULL, 0,
                       &f.status),
           f.status);
  CHECK_NEAR(tensor_f32(&results[0])[0], -1, 0);
  CHECK_NEAR(tensor_f32(&results[1])[0], -1, 0);
  CHECK_INT_EQ(session_num_programs(f.session), 1);
  tensor_clear(&results[0]);
  tensor_clear(&results[1]);
  /* The same value may be fetched twice. */
  CHECK_OK(session_run(f.session, (NodeOutput[]){x, y}, values, 2, (NodeOutput[]){d, d}, results, 2, NULL, 0,
                       &f.status),
           f.status);
  CHECK_NEAR(tensor_f32(&results[0])[0] - tensor_f32(&results[1])[0], 0, 0);
  CHECK_INT_EQ(session_num_programs(f.session), 2);
  tensor_clear(&results[0]);
  tensor_clear(&results[1]);
  tensor_clear(&one);
  tensor_clear(&two);
  end(&f);
}

TEST(errors_are_tensorflows_and_leave_the_session_usable) {
  Fixture f;
  REQUIRE(begin(&f));
  NodeOutput x = placeholder(f.graph, "x", "shape { dim { size: -1 } dim { size: 3 } }");
  NodeOutput y = unary(f.graph, "Square", "y", x);
  Tensor value, wrong_shape, wrong_type = {0}, result = {0};
  REQUIRE(float_tensor(&value, 2, (int64_t[]){1, 3}, (float[]){1, 2, 3}));
  REQUIRE(float_tensor(&wrong_shape, 1, kThree, (float[]){1, 2, 3}));
  REQUIRE_OK(tensor_allocate_dims(&wrong_type, DT_INT32, 2, (int64_t[]){1, 3}, NULL, &f.status), f.status);
  CHECK_ERROR(run_one(&f, kNothing, NULL, y, &result), f.status, CODE_INVALID_ARGUMENT,
              "You must feed a value for placeholder tensor 'x' with dtype float and shape [?,3]\n\t "
              "[[{{node x}}]]");
  CHECK_ERROR(run_one(&f, x, &wrong_type, y, &result), f.status, CODE_INVALID_ARGUMENT,
              "Expects arg[0] to be float but int32 is provided");
  session_require_shapes(f.session, true);
  CHECK_ERROR(run_one(&f, x, &wrong_shape, y, &result), f.status, CODE_INVALID_ARGUMENT,
              "Cannot feed value of shape [3] for Tensor 'x:0', which has shape '[?,3]'");
  const Tensor *twice[] = {&value, &value};
  CHECK_ERROR(session_run(f.session, (NodeOutput[]){x, x}, twice, 2, &y, &result, 1, NULL, 0, &f.status),
              f.status, CODE_INVALID_ARGUMENT, "Endpoint \"x:0\" fed more than once.");
  CHECK_ERROR(run_one(&f, x, &value, x, &result), f.status, CODE_INVALID_ARGUMENT,
              "x:0 is both fed and fetched.");
  CHECK_ERROR(run_one(&f, (NodeOutput){x.node, 3}, &value, y, &result), f.status, CODE_INVALID_ARGUMENT,
              "FeedInputs: x:3 should have output index < 1");
  CHECK_ERROR(run_one(&f, x, &value, (NodeOutput){y.node, -1}, &result), f.status, CODE_INVALID_ARGUMENT,
              "y:-1");
  CHECK_ERROR(session_run(f.session, NULL, NULL, 0, NULL, NULL, 0, NULL, 0, &f.status), f.status,
              CODE_INVALID_ARGUMENT, "Must specify at least one target to fetch or execute.");
  CHECK_ERROR(run_one(&f, x, &value, kNothing, &result), f.status, CODE_INVALID_ARGUMENT, "");
  CHECK(tensor_is_empty(&result));
  CHECK_OK(run_one(&f, x, &value, y, &result), f.status);
  tensor_clear(&result);
  session_close(f.session);
  CHECK_ERROR(run_one(&f, x, &value, y, &result), f.status, CODE_CANCELLED, "Session has been closed.");
  tensor_clear(&value);
  tensor_clear(&wrong_shape);
  tensor_clear(&wrong_type);
  end(&f);
}

/* A layer, its loss, and their gradient by hand. */
static NodeOutput build_layers(Graph *graph, NodeOutput x) {
  NodeOutput w = constant(graph, "w", "tensor_shape { dim { size: 3 } dim { size: 4 } } float_val: 0.5");
  NodeOutput b = constant(graph, "b", "tensor_shape { dim { size: 4 } } float_val: 0.25");
  NodeOutput z = binary(graph, "BiasAdd", "z", binary(graph, "MatMul", "xw", x, w), b);
  NodeOutput a = unary(graph, "Relu", "a", z);
  NodeOutput t =
      binary(graph, "Mul", "t", unary(graph, "Tanh", "tanh", a), unary(graph, "Sigmoid", "sigmoid", z));
  return unary(graph, "Softmax", "softmax", binary(graph, "Sub", "d", t, b));
}

TEST(the_second_run_allocates_nothing) {
  Fixture f;
  REQUIRE(begin(&f));
  NodeOutput x = placeholder(f.graph, "x", "shape { dim { size: -1 } dim { size: 3 } }");
  NodeOutput y = build_layers(f.graph, x);
  Tensor value, result = {0};
  float values[15];
  for (int i = 0; i < 15; i++) values[i] = (float)(i - 7) / 4;
  REQUIRE(float_tensor(&value, 2, (int64_t[]){5, 3}, values));
  for (int run = 0; run < 2; run++) {
    REQUIRE_OK(run_one(&f, x, &value, y, &result), f.status);
    tensor_clear(&result);
  }
  int64_t before = mem_allocation_count();
  for (int run = 0; run < 10; run++) {
    REQUIRE_OK(run_one(&f, x, &value, y, &result), f.status);
    tensor_clear(&result);
  }
  CHECK_INT_EQ(mem_allocation_count() - before, 0);
  tensor_clear(&value);
  end(&f);
}

TEST(a_chain_of_elementwise_ops_works_in_one_buffer) {
  Fixture f;
  REQUIRE(begin(&f));
  NodeOutput x = placeholder(f.graph, "x", "shape { dim { size: 1000 } }"), y = x;
  for (int i = 0; i < 20; i++) {
    char name[16];
    snprintf(name, sizeof name, "n%d", i);
    y = unary(f.graph, i % 2 ? "Square" : "Neg", name, y);
  }
  float values[1000];
  for (int i = 0; i < 1000; i++) values[i] = (float)(i % 3 - 1);
  Tensor value, result = {0};
  REQUIRE(float_tensor(&value, 1, (int64_t[]){1000}, values));
  REQUIRE_OK(run_one(&f, x, &value, y, &result), f.status);
  CHECK_NEAR(tensor_f32(&result)[0], 1, 0);
  CHECK_NEAR(tensor_f32(&value)[0], -1, 0); /* feeds are never overwritten */
  tensor_clear(&result);
  /* Everything between was one buffer of 4000 bytes (and the pool's rounding). */
  CHECK(session_cached_bytes(f.session) < 2 * 4000);
  tensor_clear(&value);
  end(&f);
}

/* x + 1 in the shape of x, which has an unknown number of rows. */
static NodeOutput rows_and_one(Fixture *f, NodeOutput *x) {
  *x = placeholder(f->graph, "x", "shape { dim { size: -1 } dim { size: 3 } }");
  NodeOutput sum = binary(f->graph, "Add", "sum", *x, scalar(f->graph, "one", 1));
  NodeOutput inputs[] = {sum, out(add_node(f->graph, "Shape", "shape", x, 1, NULL, 0))};
  return out(add_node(f->graph, "Reshape", "y", inputs, 2, NULL, 0));
}

static void check_rows(const Tensor *result, int rows, const float *values) {
  CHECK_INT_EQ(shape_dim(&result->shape, 0), rows);
  for (int i = 0; i < 3 * rows; i++) CHECK_NEAR(tensor_f32(result)[i], values[i] + 1, 1e-6);
}

/* The first shapes get programs that are optimized for them, and all others share one. */
TEST(shapes_may_change_from_run_to_run) {
  Fixture f;
  REQUIRE(begin(&f));
  NodeOutput x = placeholder(f.graph, "x", "shape { dim { size: -1 } dim { size: 3 } }");
  NodeOutput y = build_layers(f.graph, x);
  float values[60];
  for (int i = 0; i < 60; i++) values[i] = (float)i / 60;
  for (int rows = 0; rows <= 20; rows += 4) {
    Tensor value, result = {0};
    REQUIRE(float_tensor(&value, 2, (int64_t[]){rows, 3}, values));
    REQUIRE_OK(run_one(&f, x, &value, y, &result), f.status);
    CHECK_INT_EQ(shape_dim(&result.shape, 0), rows);
    double sum = 0;
    for (int64_t i = 0; i < tensor_num_elements(&result); i++) sum += tensor_f32(&result)[i];
    CHECK_NEAR(sum, rows, 1e-5 * (rows + 1));
    tensor_clear(&result);
    tensor_clear(&value);
  }
  CHECK_INT_EQ(session_num_programs(f.session), 4);
  end(&f);
}

TEST(shapes_find_their_programs_again) {
  Fixture f;
  NodeOutput x, y;
  REQUIRE(begin(&f));
  y = rows_and_one(&f, &x);
  float values[60];
  for (int i = 0; i < 60; i++) values[i] = (float)i / 60;
  for (int round = 0; round < 2; round++) {
    for (int rows = 0; rows <= 20; rows += 4) {
      Tensor value, result = {0};
      REQUIRE(float_tensor(&value, 2, (int64_t[]){rows, 3}, values));
      REQUIRE_OK(run_one(&f, x, &value, y, &result), f.status);
      check_rows(&result, rows, values);
      tensor_clear(&result);
      tensor_clear(&value);
    }
  }
  CHECK_INT_EQ(session_num_programs(f.session), 4);
  end(&f);
}

/* Two feeds of unknown sizes in another order than that of their names. */
TEST(the_sizes_of_feeds_belong_to_their_outputs) {
  Fixture f;
  REQUIRE(begin(&f));
  NodeOutput a = placeholder(f.graph, "a", "shape { dim { size: -1 } }"),
             b = placeholder(f.graph, "b", "shape { unknown_rank: true }");
  NodeOutput sizes[2] = {out(add_node(f.graph, "Shape", "sa", &a, 1, NULL, 0)),
                         out(add_node(f.graph, "Shape", "sb", &b, 1, NULL, 0))};
  const NodeOutput feeds[] = {b, a};
  Tensor values[2], results[2] = {{0}};
  const Tensor *given[] = {&values[0], &values[1]};
  REQUIRE(float_tensor(&values[0], 2, (int64_t[]){1, 2}, (float[]){1, 2}));
  REQUIRE(float_tensor(&values[1], 1, (int64_t[]){3}, (float[]){1, 2, 3}));
  if (CHECK_OK(session_run(f.session, feeds, given, 2, sizes, results, 2, NULL, 0, &f.status), f.status)) {
    CHECK_MEM_EQ(results[0].data, ((int32_t[]){3}), 4);
    CHECK_MEM_EQ(results[1].data, ((int32_t[]){1, 2}), 8);
  }
  for (int i = 0; i < 2; i++) tensor_clear(&values[i]), tensor_clear(&results[i]);
  end(&f);
}

TEST(values_of_a_callable_may_change_their_shapes) {
  Fixture f;
  NodeOutput x, y;
  SessionCallable *callable;
  REQUIRE(begin(&f));
  y = rows_and_one(&f, &x);
  const StepSignature signature = {.feeds = &x, .num_feeds = 1, .fetches = &y, .num_fetches = 1};
  float values[30];
  for (int i = 0; i < 30; i++) values[i] = (float)i / 30;
  REQUIRE_OK(session_make_callable(f.session, &signature, &callable, &f.status), f.status);
  for (int call = 0; call < 20; call++) {
    int rows = call / 2 * 3 % 10;
    Tensor value, result = {0};
    const Tensor *given = &value;
    SessionStep *step;
    REQUIRE(float_tensor(&value, 2, (int64_t[]){rows, 3}, values));
    REQUIRE_OK(session_begin_call(callable, NULL, &given, 1, &step, &f.status), f.status);
    REQUIRE_OK(session_finish(step, &result, &f.status), f.status);
    check_rows(&result, rows, values);
    tensor_clear(&result);
    tensor_clear(&value);
  }
  CHECK_INT_EQ(session_num_programs(f.session), 4);
  session_release_callable(callable);
  end(&f);
}

/* A finalized session runs the requests that it knows, with any sizes. */
TEST(a_finalized_session_takes_other_sizes) {
  Fixture f;
  NodeOutput x, y;
  REQUIRE(begin(&f));
  y = rows_and_one(&f, &x);
  const float values[30] = {0};
  for (int rows = 1; rows <= 10; rows++) {
    Tensor value, result = {0};
    REQUIRE(float_tensor(&value, 2, (int64_t[]){rows, 3}, values));
    REQUIRE_OK(run_one(&f, x, &value, y, &result), f.status);
    check_rows(&result, rows, values);
    tensor_clear(&result);
    if (rows == 10) {
      NodeOutput sum = out(graph_find_node(f.graph, "sum"));
      CHECK(!run_one(&f, x, &value, sum, &result));
      CHECK_INT_EQ(f.status.code, CODE_FAILED_PRECONDITION);
    }
    tensor_clear(&value);
    session_finalize(f.session);
  }
  end(&f);
}

TEST(variables_keep_their_values_between_runs) {
  Fixture f;
  REQUIRE(begin(&f));
  Attr attrs[] = {{"dtype", "type: DT_FLOAT"}, {"shape", "shape { dim { size: 3 } }"}};
  Node *handle = add_node(f.graph, "VarHandleOp", "v", NULL, 0, attrs, 2);
  NodeOutput start = constant(f.graph, "start", "tensor_shape { dim { size: 3 } } float_val: 1");
  NodeOutput inputs[] = {out(handle), start};
  Node *assign = add_node(f.graph, "AssignVariableOp", "assign", inputs, 2, NULL, 0);
  Node *add = add_node(f.graph, "AssignAddVariableOp", "add", inputs, 2, NULL, 0);
  NodeOutput read = out(add_node(f.graph, "ReadVariableOp", "read", inputs, 1, attrs, 1));
  REQUIRE(assign && add && read.node);
  Tensor first = {0}, second = {0};
  CHECK_ERROR(run_one(&f, kNothing, NULL, read, &first), f.status, CODE_FAILED_PRECONDITION,
              "Could not find variable v. This could mean that the variable has been deleted. In TF1, it can "
              "also mean "
              "the variable is uninitialized. Debug info: container=localhost, status error "
              "message=Container "
              "localhost does not exist. (Could not find resource: localhost/v)");
  REQUIRE_OK(run_target(&f, assign), f.status);
  REQUIRE_OK(run_one(&f, kNothing, NULL, read, &first), f.status);
  REQUIRE_OK(run_target(&f, add), f.status);
  REQUIRE_OK(run_one(&f, kNothing, NULL, read, &second), f.status);
  CHECK_NEAR(tensor_f32(&first)[2], 1, 0); /* earlier results do not change */
  CHECK_NEAR(tensor_f32(&second)[2], 2, 0);
  tensor_clear(&first);
  tensor_clear(&second);
  Session *other = session_new(f.graph, &f.status);
  REQUIRE(other);
  CHECK_ERROR(session_run(other, NULL, NULL, 0, &read, &first, 1, NULL, 0, &f.status), f.status,
              CODE_FAILED_PRECONDITION, "");
  session_free(other);
  end(&f);
}

TEST(running_out_of_memory_is_an_error_and_nothing_more) {
  Fixture f;
  REQUIRE(begin(&f));
  NodeOutput x = placeholder(f.graph, "x", "shape { dim { size: -1 } dim { size: 3 } }");
  NodeOutput y = build_layers(f.graph, x);
  Tensor value, result = {0};
  float values[15] = {0};
  REQUIRE(float_tensor(&value, 2, (int64_t[]){5, 3}, values));
  thread_pool_default();
  bool ok = false;
  int failures = 0;
  for (int64_t successes = 0; !ok && successes < 100000; successes += shortage_stride(successes)) {
    mem_fail_after(successes);
    ok = run_one(&f, x, &value, y, &result);
    mem_fail_after(-1);
    if (!ok) {
      failures++;
      CHECK_INT_EQ(f.status.code, CODE_RESOURCE_EXHAUSTED);
      CHECK(tensor_is_empty(&result));
    }
  }
  CHECK(ok);
  CHECK(failures > 10);
  tensor_clear(&result);
  tensor_clear(&value);
  end(&f);
}
