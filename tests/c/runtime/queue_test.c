/* Queues between steps of one session. What is expected was observed in TensorFlow 2.21. */
#include <string.h>

#include "base/clock.h"
#include "base/sync.h"
#include "graph/node_builder.h"
#include "runtime/session_fixture.h"

#if SYNC_HAS_THREADS
#include <pthread.h>
#endif

enum { MOST = 8 };

/* A queue of (int32 scalar, float vector of two). */
typedef struct Queues {
  Fixture f;
  bool v2;
  int64_t timeout_ms; /* of the steps */
  NodeOutput queue, number, pair, count;
  Node *enqueue, *enqueue_many, *close, *cancel;
  Node *dequeue, *dequeue_many, *up_to, *size, *is_closed;
  Tensor results[2];
} Queues;

static const char *op_name(const Queues *q, const char *op) {
  static char text[64];
  snprintf(text, sizeof text, "%s%s", op, q->v2 ? "V2" : "");
  return text;
}

static NodeOutput placeholder_of_type(Graph *graph, const char *name, const char *type) {
  Attr attrs[] = {{"dtype", type}, {"shape", "shape { unknown_rank: true }"}};
  return out(add_node(graph, "Placeholder", name, NULL, 0, attrs, 2));
}

static const char kTypes[] = "list { type: DT_INT32 type: DT_FLOAT }";

/* QueueEnqueue of one or two components. */
static Node *add_enqueue(Graph *graph, const char *op, const char *name, const NodeOutput *inputs,
                         int num_inputs) {
  Status status;
  NodeBuilder b;
  Node *node = NULL;
  DataType types[2];
  status_init(&status);
  node_builder(&b, graph, op, name);
  node_builder_inputs(&b, inputs, num_inputs);
  for (int i = 1; i < num_inputs; i++) types[i - 1] = node_output_type(inputs[i]);
  node_builder_types(&b, "Tcomponents", types, num_inputs - 1);
  CHECK_OK(node_builder_finish(&b, &node, &status), status);
  return node;
}

static Node *queue_op(Queues *q, const char *op, const char *name, const NodeOutput *inputs, int num_inputs,
                      const Attr *attrs, int num_attrs) {
  return add_node(q->f.graph, op_name(q, op), name, inputs, num_inputs, attrs, num_attrs);
}

/* `extra`: one more attr of the op that makes the queue; may be NULL. */
static bool begin_queues_of(Queues *q, const char *op, bool v2, const char *capacity, const char *shapes,
                            const Attr *extra) {
  *q = (Queues){.v2 = v2, .timeout_ms = 30};
  if (!begin(&q->f)) return false;
  Attr attrs[] = {{"component_types", kTypes}, {"shapes", shapes}, {"capacity", capacity}, {0}};
  if (extra) attrs[3] = *extra;
  q->queue = out(queue_op(q, op, "q", NULL, 0, attrs, extra ? 4 : 3));
  q->number = placeholder_of_type(q->f.graph, "number", "type: DT_INT32");
  q->pair = placeholder_of_type(q->f.graph, "pair", "type: DT_FLOAT");
  q->count = placeholder_of_type(q->f.graph, "count", "type: DT_INT32");
  NodeOutput added[] = {q->queue, q->number, q->pair}, taken[] = {q->queue, q->count};
  Attr out_types[] = {{"component_types", kTypes}}, cancels[] = {{"cancel_pending_enqueues", "b: true"}};
  q->enqueue = add_enqueue(q->f.graph, op_name(q, "QueueEnqueue"), "enqueue", added, 3);
  q->enqueue_many = add_enqueue(q->f.graph, op_name(q, "QueueEnqueueMany"), "enqueue_many", added, 3);
  q->dequeue = queue_op(q, "QueueDequeue", "dequeue", taken, 1, out_types, 1);
  q->dequeue_many = queue_op(q, "QueueDequeueMany", "dequeue_many", taken, 2, out_types, 1);
  q->up_to = queue_op(q, "QueueDequeueUpTo", "up_to", taken, 2, out_types, 1);
  q->close = queue_op(q, "QueueClose", "close", taken, 1, NULL, 0);
  q->cancel = queue_op(q, "QueueClose", "cancel", taken, 1, cancels, 1);
  q->size = queue_op(q, "QueueSize", "size", taken, 1, NULL, 0);
  q->is_closed = queue_op(q, "QueueIsClosed", "is_closed", taken, 1, NULL, 0);
  return true;
}

static bool begin_queues(Queues *q, bool v2, const char *capacity, const char *shapes) {
  return begin_queues_of(q, "FIFOQueue", v2, capacity, shapes, NULL);
}

static const char kBothShapes[] = "list { shape { } shape { dim { size: 2 } } }";

static void drop_results(Queues *q) {
  for (int i = 0; i < 2; i++) tensor_clear(&q->results[i]);
}

static void end_queues(Queues *q) {
  drop_results(q);
  end(&q->f);
}

/* Runs the node with these feeds, and keeps its outputs. */
static bool run_node(Queues *q, Node *node, const NodeOutput *feeds, const Tensor *const *values,
                     int num_feeds, Status *status) {
  NodeOutput fetches[2] = {{node, 0}, {node, 1}};
  const SessionRunOptions options = {.timeout_ms = q->timeout_ms};
  const StepSignature signature = {.feeds = feeds,
                                   .num_feeds = num_feeds,
                                   .fetches = fetches,
                                   .num_fetches = node->num_outputs,
                                   .targets = &node,
                                   .num_targets = 1};
  SessionStep *step;
  drop_results(q);
  status_init(status);
  return session_begin(q->f.session, &options, &signature, values, &step, status) &&
         session_finish(step, q->results, status);
}

static bool run(Queues *q, Node *node) { return run_node(q, node, NULL, NULL, 0, &q->f.status); }

/* Adds `rows` elements (n, {n, n}), (n + 1, {n + 1, n + 1}), ...; 0: one element by QueueEnqueue. */
static bool add_numbers(Queues *q, int n, int rows, Status *status) {
  Tensor number = {0}, pair = {0};
  const Tensor *values[] = {&number, &pair};
  const NodeOutput feeds[] = {q->number, q->pair};
  int count = rows > 0 ? rows : 1;
  const int64_t dims[] = {count, 2};
  status_init(status);
  bool ok = tensor_allocate_dims(&number, DT_INT32, rows > 0, dims, NULL, status) &&
            tensor_allocate_dims(&pair, DT_FLOAT, rows > 0 ? 2 : 1, rows > 0 ? dims : dims + 1, NULL, status);
  for (int i = 0; ok && i < count; i++) {
    tensor_i32(&number)[i] = n + i;
    tensor_f32(&pair)[2 * i] = tensor_f32(&pair)[2 * i + 1] = (float)(n + i);
  }
  ok = ok && run_node(q, rows > 0 ? q->enqueue_many : q->enqueue, feeds, values, 2, status);
  tensor_clear(&number);
  tensor_clear(&pair);
  return ok;
}

static bool add(Queues *q, int n, int rows) { return add_numbers(q, n, rows, &q->f.status); }

static bool take(Queues *q, Node *node, int count) {
  Tensor value = {0};
  const Tensor *values = &value;
  bool ok = tensor_allocate_dims(&value, DT_INT32, 0, NULL, NULL, &q->f.status);
  if (ok) *tensor_i32(&value) = count;
  ok = ok && run_node(q, node, &q->count, &values, 1, &q->f.status);
  tensor_clear(&value);
  return ok;
}

static void check_taken(Queues *q, int n, int rows) {
  const Tensor *number = &q->results[0], *pair = &q->results[1];
  if (!CHECK_INT_EQ(tensor_num_elements(number), rows > 0 ? rows : 1) || tensor_is_empty(pair)) return;
  CHECK_INT_EQ(number->shape.rank, rows > 0);
  CHECK_INT_EQ(pair->shape.rank, rows > 0 ? 2 : 1);
  for (int i = 0; i < (rows > 0 ? rows : 1); i++) {
    CHECK_INT_EQ(tensor_i32(number)[i], n + i);
    CHECK(tensor_f32(pair)[2 * i] == (float)(n + i) && tensor_f32(pair)[2 * i + 1] == (float)(n + i));
  }
}

static void check_size(Queues *q, int size) {
  if (CHECK_OK(run(q, q->size), q->f.status)) CHECK_INT_EQ(*tensor_i32(&q->results[0]), size);
}

static void check_fails(Queues *q, bool ok, Code code, const char *part) {
  CHECK(!ok);
  CHECK_INT_EQ(q->f.status.code, code);
  CHECK_STR_CONTAINS(q->f.status.message, part);
}

/* The step is late, and not the node at which it waits. */
static void check_late(Queues *q, bool ok) {
  check_fails(q, ok, CODE_DEADLINE_EXCEEDED, "");
  CHECK_STR_EQ(q->f.status.message, "Timed out waiting for notification");
}

TEST(queues_give_elements_in_the_order_in_which_they_came) {
  for (int v2 = 0; v2 < 2; v2++) {
    Queues q;
    REQUIRE(begin_queues(&q, v2, "i: 4", kBothShapes));
    CHECK_OK(add(&q, 1, 0), q.f.status);
    CHECK_OK(add(&q, 2, 3), q.f.status);
    check_size(&q, 4);
    CHECK_OK(run(&q, q.dequeue), q.f.status);
    check_taken(&q, 1, 0);
    CHECK_OK(take(&q, q.dequeue_many, 2), q.f.status);
    check_taken(&q, 2, 2);
    CHECK_OK(take(&q, q.dequeue_many, 0), q.f.status);
    CHECK_INT_EQ(tensor_num_elements(&q.results[0]), 0);
    CHECK_OK(take(&q, q.up_to, 1), q.f.status);
    check_taken(&q, 4, 1);
    check_size(&q, 0);
    end_queues(&q);
  }
}

TEST(queues_that_are_full_or_empty_wait_until_the_deadline) {
  Queues q;
  REQUIRE(begin_queues(&q, true, "i: 3", kBothShapes));
  check_late(&q, run(&q, q.dequeue));
  CHECK_OK(add(&q, 1, 3), q.f.status);
  check_late(&q, add(&q, 4, 0));
  check_size(&q, 3);
  CHECK_OK(run(&q, q.dequeue), q.f.status);
  /* What a step adds before its deadline stays, and what it takes is lost, as in TensorFlow. */
  check_late(&q, add(&q, 7, 2));
  check_size(&q, 3);
  check_late(&q, take(&q, q.dequeue_many, 4));
  check_size(&q, 0);
  end_queues(&q);
}

TEST(closed_queues_give_what_they_have) {
  Queues q;
  REQUIRE(begin_queues(&q, true, "i: -1", kBothShapes));
  CHECK_OK(add(&q, 1, 3), q.f.status);
  CHECK_OK(run(&q, q.is_closed) && !*tensor_bool(&q.results[0]), q.f.status);
  CHECK_OK(run(&q, q.close), q.f.status);
  CHECK_OK(run(&q, q.is_closed) && *tensor_bool(&q.results[0]), q.f.status);
  check_fails(&q, run(&q, q.close), CODE_CANCELLED, "is already closed.");
  check_fails(&q, add(&q, 1, 0), CODE_CANCELLED, "is closed.");
  check_fails(&q, take(&q, q.dequeue_many, 5), CODE_OUT_OF_RANGE,
              "is closed and has insufficient elements (requested 5, current size 3)");
  CHECK_OK(take(&q, q.up_to, 5), q.f.status);
  check_taken(&q, 1, 3);
  check_fails(&q, take(&q, q.up_to, 5), CODE_OUT_OF_RANGE, "(requested 5, current size 0)");
  check_fails(&q, run(&q, q.dequeue), CODE_OUT_OF_RANGE, "(requested 1, current size 0)");
  CHECK_OK(run(&q, q.cancel), q.f.status);
  end_queues(&q);
}

TEST(queues_refuse_components_of_other_shapes) {
  Queues q;
  REQUIRE(begin_queues(&q, true, "i: 3", kBothShapes));
  Tensor number = {0}, pair = {0};
  const Tensor *values[] = {&number, &pair};
  const NodeOutput feeds[] = {q.number, q.pair};
  REQUIRE(tensor_allocate_dims(&number, DT_INT32, 0, NULL, NULL, &q.f.status) &&
          tensor_allocate_dims(&pair, DT_FLOAT, 1, (int64_t[]){3}, NULL, &q.f.status));
  *tensor_i32(&number) = 0;
  for (int i = 0; i < 3; i++) tensor_f32(&pair)[i] = 0;
  check_fails(&q, run_node(&q, q.enqueue, feeds, values, 2, &q.f.status), CODE_INVALID_ARGUMENT,
              "Shape mismatch in tuple component 1. Expected [2], got [3]\n\t [[{{node enqueue}}]]");
  tensor_clear(&number);
  tensor_clear(&pair);
  REQUIRE(tensor_allocate_dims(&number, DT_INT32, 1, (int64_t[]){2}, NULL, &q.f.status) &&
          tensor_allocate_dims(&pair, DT_FLOAT, 2, (int64_t[]){1, 2}, NULL, &q.f.status));
  memset(number.data, 0, 8);
  memset(pair.data, 0, 8);
  check_fails(&q, run_node(&q, q.enqueue_many, feeds, values, 2, &q.f.status), CODE_INVALID_ARGUMENT,
              "Shape mismatch in tuple component 1. Expected [2,2], got [1,2]");
  check_fails(&q, take(&q, q.dequeue_many, -1), CODE_INVALID_ARGUMENT,
              "DequeueManyOp requested -1 < 0 elements");
  tensor_clear(&number);
  tensor_clear(&pair);
  end_queues(&q);
  REQUIRE(begin_queues(&q, true, "i: 3", "list { }"));
  CHECK_OK(add(&q, 1, 0), q.f.status);
  check_fails(&q, take(&q, q.dequeue_many, 1), CODE_INVALID_ARGUMENT,
              "FIFOQueue's DequeueMany and DequeueUpTo require the components to have specified shapes.");
  end_queues(&q);
}

/* Another queue with the attr shared_name: "shared" and `attr`; its node. */
static Node *shared(Queues *q, const char *name, Attr attr) {
  Attr attrs[] = {{"component_types", "list { type: DT_FLOAT }"}, {"shared_name", "s: 'shared'"}, attr};
  return add_node(q->f.graph, "FIFOQueueV2", name, NULL, 0, attrs, 3);
}

TEST(queues_are_shared_by_container_and_name) {
  Queues q;
  REQUIRE(begin_queues(&q, true, "i: 3", kBothShapes));
  Attr any = {"capacity", "i: 3"};
  NodeOutput first = out(shared(&q, "first", any)), second = out(shared(&q, "second", any)),
             other = out(shared(&q, "other", (Attr){"capacity", "i: 4"})), one = scalar(q.f.graph, "one", 1);
  Attr contained[] = {{"component_types", "list { type: DT_FLOAT }"},
                      {"shared_name", "s: 'shared'"},
                      {"container", "s: 'elsewhere'"}};
  NodeOutput elsewhere = out(add_node(q.f.graph, "FIFOQueueV2", "elsewhere", NULL, 0, contained, 3));
  Node *enqueue = add_enqueue(q.f.graph, "QueueEnqueueV2", "put", (NodeOutput[]){first, one}, 2);
  CHECK_OK(run(&q, enqueue), q.f.status);
  const NodeOutput queues[] = {second, elsewhere};
  for (int i = 0; i < 2; i++) {
    Node *size = add_node(q.f.graph, "QueueSizeV2", i == 0 ? "size_of_second" : "size_elsewhere", &queues[i],
                          1, NULL, 0);
    CHECK_OK(run(&q, size), q.f.status);
    CHECK_INT_EQ(*tensor_i32(&q.results[0]), i == 0);
  }
  check_fails(&q, run(&q, other.node), CODE_INVALID_ARGUMENT,
              "Shared queue 'shared' has capacity 3 but requested capacity was 4");
  end_queues(&q);
}

TEST(a_random_queue_waits_while_it_has_no_more_than_it_keeps) {
  Queues q;
  Attr least = {"min_after_dequeue", "i: 2"};
  REQUIRE(begin_queues_of(&q, "RandomShuffleQueue", true, "i: 5", kBothShapes, &least));
  CHECK_OK(add(&q, 1, 4), q.f.status);
  CHECK_OK(take(&q, q.dequeue_many, 2), q.f.status);
  check_late(&q, run(&q, q.dequeue));
  check_late(&q, take(&q, q.up_to, 1));
  check_size(&q, 2);
  CHECK_OK(add(&q, 5, 1), q.f.status);
  check_late(&q, take(&q, q.dequeue_many, 2)); /* takes one, which is lost, as in TensorFlow */
  check_size(&q, 2);
  CHECK_OK(run(&q, q.close), q.f.status);
  CHECK_OK(take(&q, q.up_to, 3), q.f.status);
  CHECK_INT_EQ(tensor_num_elements(&q.results[0]), 2);
  end_queues(&q);
}

/* --- steps that wait for each other --- */

/* In slices, as JavaScript runs steps: a blocked step returns at once and can be continued. */
TEST(a_blocked_step_pauses_and_other_steps_run) {
  Queues q;
  REQUIRE(begin_queues(&q, true, "i: 3", kBothShapes));
  SessionStep *step;
  Tensor result = {0};
  NodeOutput fetch = {q.dequeue, 0};
  REQUIRE(start_step(q.f.session, NULL, NULL, NULL, fetch, 1000, &result, &step, &q.f.status) == RUN_WAITING);
  CHECK(session_step_is_blocked(step));
  CHECK_INT_EQ(session_advance(step, 1000, &result, &q.f.status), RUN_WAITING);
  CHECK_OK(add(&q, 3, 0), q.f.status);
  CHECK_INT_EQ(session_advance(step, 1000, &result, &q.f.status), RUN_DONE);
  CHECK_INT_EQ(*tensor_i32(&result), 3);
  tensor_clear(&result);
  REQUIRE(start_step(q.f.session, NULL, NULL, NULL, fetch, 1000, &result, &step, &q.f.status) == RUN_WAITING);
  session_abandon(step);
  CHECK_OK(add(&q, 4, 0), q.f.status);
  check_size(&q, 1);
  end_queues(&q);
}

#if SYNC_HAS_THREADS
typedef struct Waiting {
  Queues *q;
  Node *node;
  Status status;
  bool ok;
  Tensor results[2];
} Waiting;

static void *wait_in_thread(void *argument) {
  Waiting *w = argument;
  NodeOutput fetches[2] = {{w->node, 0}, {w->node, 1}};
  const StepSignature signature = {.fetches = fetches,
                                   .num_fetches = w->node->num_outputs,
                                   .targets = &w->node,
                                   .num_targets = 1};
  SessionStep *step;
  status_init(&w->status);
  w->ok = session_begin(w->q->f.session, NULL, &signature, NULL, &step, &w->status) &&
          session_finish(step, w->results, &w->status);
  return NULL;
}

static void sleep_ms(int64_t milliseconds) {
  int64_t until = clock_nanoseconds() + milliseconds * 1000000;
  while (clock_nanoseconds() < until) sched_yield();
}

TEST(a_step_that_waits_goes_on_when_another_adds_or_closes) {
  for (int closes = 0; closes < 3; closes++) {
    Queues q;
    pthread_t thread;
    REQUIRE(begin_queues(&q, true, "i: 3", kBothShapes));
    Waiting waiting = {.q = &q, .node = q.dequeue};
    REQUIRE(pthread_create(&thread, NULL, wait_in_thread, &waiting) == 0);
    sleep_ms(20);
    if (closes == 0) CHECK_OK(add(&q, 5, 0), q.f.status);
    if (closes == 1) CHECK_OK(run(&q, q.cancel), q.f.status);
    if (closes == 2) session_close(q.f.session);
    pthread_join(thread, NULL);
    CHECK_INT_EQ(waiting.ok, closes == 0);
    if (closes == 0 && waiting.ok) CHECK_INT_EQ(*tensor_i32(&waiting.results[0]), 5);
    if (closes == 1) CHECK_INT_EQ(waiting.status.code, CODE_OUT_OF_RANGE);
    if (closes == 2) CHECK_INT_EQ(waiting.status.code, CODE_CANCELLED);
    for (int i = 0; i < 2; i++) tensor_clear(&waiting.results[i]);
    end_queues(&q);
  }
}

TEST(closing_waits_for_those_who_add_before_or_cancels_them) {
  for (int cancels = 0; cancels < 2; cancels++) {
    Queues q;
    pthread_t adder, closer;
    REQUIRE(begin_queues(&q, true, "i: 1", kBothShapes));
    Attr number[] = {{"dtype", "type: DT_INT32"},
                     {"value", "tensor { dtype: DT_INT32 tensor_shape { } int_val: 9 }"}};
    NodeOutput nine = out(add_node(q.f.graph, "Const", "nine", NULL, 0, number, 2)),
               nines = constant(q.f.graph, "nines", "tensor_shape { dim { size: 2 } } float_val: 9");
    Node *enqueue =
        add_enqueue(q.f.graph, "QueueEnqueueV2", "enqueue_nine", (NodeOutput[]){q.queue, nine, nines}, 3);
    CHECK_OK(add(&q, 1, 0), q.f.status);
    Waiting adding = {.q = &q, .node = enqueue}, closing = {.q = &q, .node = cancels ? q.cancel : q.close};
    REQUIRE(pthread_create(&adder, NULL, wait_in_thread, &adding) == 0);
    sleep_ms(20);
    REQUIRE(pthread_create(&closer, NULL, wait_in_thread, &closing) == 0);
    sleep_ms(20);
    CHECK_OK(run(&q, q.is_closed), q.f.status);
    CHECK_INT_EQ(*tensor_bool(&q.results[0]), cancels);
    CHECK_OK(run(&q, q.dequeue), q.f.status);
    check_taken(&q, 1, 0);
    pthread_join(adder, NULL);
    pthread_join(closer, NULL);
    CHECK(closing.ok);
    CHECK_INT_EQ(adding.ok, !cancels);
    if (cancels) {
      CHECK_INT_EQ(adding.status.code, CODE_CANCELLED);
      CHECK_STR_CONTAINS(adding.status.message, "Enqueue operation was cancelled");
    } else if (CHECK_OK(run(&q, q.dequeue), q.f.status)) {
      check_taken(&q, 9, 0);
    }
    end_queues(&q);
  }
}
#endif

TEST(elements_of_queues_may_hold_handles_of_their_queue) {
  Fixture f;
  REQUIRE(begin(&f));
  Attr attrs[] = {{"component_types", "list { type: DT_RESOURCE }"}};
  NodeOutput queue = out(add_node(f.graph, "FIFOQueueV2", "q", NULL, 0, attrs, 1));
  Node *enqueue = add_enqueue(f.graph, "QueueEnqueueV2", "put", (NodeOutput[]){queue, queue}, 2);
  CHECK_OK(session_run(f.session, NULL, NULL, 0, NULL, NULL, 0, &enqueue, 1, &f.status), f.status);
  end(&f); /* the leak checker looks for the queue */
}
