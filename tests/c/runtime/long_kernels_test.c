/* Deadlines and closing inside kernels that run for a long time. */
#include <time.h>

#include "base/sync.h"
#include "runtime/session_fixture.h"

#if SYNC_HAS_THREADS
#include <pthread.h>
#endif

/* A float tensor of random numbers, which nothing folds. */
static NodeOutput random_tensor(Graph *graph, const char *name, const char *dims, int rank) {
  char shape_name[32], text[160];
  snprintf(shape_name, sizeof shape_name, "%s/shape", name);
  snprintf(text, sizeof text, "tensor { dtype: DT_INT32 tensor_shape { dim { size: %d } } %s }", rank, dims);
  Attr shape_attrs[] = {{"dtype", "type: DT_INT32"}, {"value", text}};
  NodeOutput shape = out(add_node(graph, "Const", shape_name, NULL, 0, shape_attrs, 2));
  Attr attrs[] = {{"dtype", "type: DT_FLOAT"}, {"T", "type: DT_INT32"}};
  return out(add_node(graph, "RandomUniform", name, &shape, 1, attrs, 2));
}

/* Nodes whose kernels compute for a tenth of a second or more on any processor of today. */
static NodeOutput long_product(Graph *graph) {
  return binary(graph, "MatMul", "y", random_tensor(graph, "a", "int_val: [3000, 3000]", 2),
                random_tensor(graph, "b", "int_val: [3000, 3000]", 2));
}

static NodeOutput long_convolution(Graph *graph) {
  Attr attrs[] = {{"strides", "list { i: [1, 1, 1, 1] }"}, {"padding", "s: 'SAME'"}};
  NodeOutput inputs[] = {random_tensor(graph, "x", "int_val: [16, 96, 96, 64]", 4),
                         random_tensor(graph, "filter", "int_val: [5, 5, 64, 96]", 4)};
  return out(add_node(graph, "Conv2D", "y", inputs, 2, attrs, 2));
}

static NodeOutput long_depthwise(Graph *graph) {
  Attr attrs[] = {{"strides", "list { i: [1, 1, 1, 1] }"}, {"padding", "s: 'SAME'"}};
  NodeOutput inputs[] = {random_tensor(graph, "x", "int_val: [64, 96, 96, 32]", 4),
                         random_tensor(graph, "filter", "int_val: [9, 9, 32, 1]", 4)};
  return out(add_node(graph, "DepthwiseConv2dNative", "y", inputs, 2, attrs, 2));
}

static NodeOutput long_generic_product(Graph *graph) {
  NodeOutput inputs[2];
  for (int i = 0; i < 2; i++) {
    Attr attrs[] = {{"SrcT", "type: DT_FLOAT"}, {"DstT", "type: DT_COMPLEX64"}};
    NodeOutput x = random_tensor(graph, i ? "a" : "b", "int_val: [1200, 1200]", 2);
    inputs[i] = out(add_node(graph, "Cast", i ? "ca" : "cb", &x, 1, attrs, 2));
  }
  return binary(graph, "MatMul", "y", inputs[0], inputs[1]);
}

static NodeOutput (*const kLong[])(Graph *) = {long_product, long_convolution, long_depthwise,
                                               long_generic_product};

/* A step of one long kernel, whose inputs are fed. */
typedef struct LongStep {
  NodeOutput fetch, feeds[2];
  Tensor values[2];
  SessionStep *step;
  Status status;
  RunState state;
} LongStep;

static bool make_inputs(Fixture *f, LongStep *s) {
  for (int i = 0; i < 2; i++) {
    s->feeds[i] = (NodeOutput){s->fetch.node->inputs[i]->src, s->fetch.node->inputs[i]->src_output};
    if (!CHECK_OK(session_run(f->session, NULL, NULL, 0, &s->feeds[i], &s->values[i], 1, NULL, 0, &f->status),
                  f->status))
      return false;
  }
  return true;
}

static bool begin_long(Fixture *f, LongStep *s, int64_t timeout_ms) {
  const SessionRunOptions options = {.timeout_ms = timeout_ms};
  const StepSignature signature = {.feeds = s->feeds, .num_feeds = 2, .fetches = &s->fetch, .num_fetches = 1};
  const Tensor *values[] = {&s->values[0], &s->values[1]};
  status_init(&s->status);
  return CHECK_OK(session_begin(f->session, &options, &signature, values, &s->step, &s->status), s->status);
}

static void *advance_long(void *argument) {
  LongStep *s = argument;
  Tensor result = {0};
  s->state = session_advance(s->step, 0, &result, &s->status);
  CHECK_INT_EQ(tensor_is_empty(&result), s->state != RUN_DONE);
  tensor_clear(&result);
  return NULL;
}

static void end_long(LongStep *s) {
  for (int i = 0; i < 2; i++) tensor_clear(&s->values[i]);
}

/* A step of one kernel looks at the clock nowhere else. */
TEST(deadlines_end_long_kernels) {
  for (size_t i = 0; i < sizeof kLong / sizeof *kLong; i++) {
    Fixture f;
    REQUIRE(begin(&f));
    CHECK_CONTEXT("kernel %zu", i);
    LongStep s = {.fetch = kLong[i](f.graph)};
    if (make_inputs(&f, &s) && begin_long(&f, &s, 1)) {
      advance_long(&s);
      CHECK_INT_EQ(s.state, RUN_FAILED);
      CHECK_INT_EQ(s.status.code, CODE_DEADLINE_EXCEEDED);
      CHECK_STR_EQ(s.status.message, "Timed out waiting for notification");
      NodeOutput other = scalar(f.graph, "other", 1);
      Tensor value = {0};
      CHECK_OK(session_run(f.session, NULL, NULL, 0, &other, &value, 1, NULL, 0, &f.status), f.status);
      tensor_clear(&value);
    }
    end_long(&s);
    end(&f);
  }
  CHECK_CONTEXT("%s", "");
}

/* A variable has all of an update or nothing of it, whenever the step ends. */
TEST(deadlines_do_not_end_updates_of_variables) {
  enum { SIZE = 1 << 24 };
  Fixture f;
  REQUIRE(begin(&f));
  Attr handle[] = {{"dtype", "type: DT_FLOAT"}, {"shape", "shape { dim { size: 16777216 } }"}},
       placeholder[] = {{"dtype", "type: DT_FLOAT"}}, type[] = {{"dtype", "type: DT_FLOAT"}};
  NodeOutput v = out(add_node(f.graph, "VarHandleOp", "v", NULL, 0, handle, 2)),
             x = out(add_node(f.graph, "Placeholder", "x", NULL, 0, placeholder, 1)), inputs[] = {v, x},
             read = out(add_node(f.graph, "ReadVariableOp", "read", &v, 1, type, 1));
  Node *assign = add_node(f.graph, "AssignVariableOp", "assign", inputs, 2, type, 1),
       *add = add_node(f.graph, "AssignAddVariableOp", "add", inputs, 2, type, 1);
  Tensor ones = {0}, value = {0};
  const Tensor *given = &ones;
  REQUIRE_OK(tensor_allocate_dims(&ones, DT_FLOAT, 1, (int64_t[]){SIZE}, NULL, &f.status), f.status);
  for (int64_t i = 0; i < SIZE; i++) tensor_f32(&ones)[i] = 1;
  CHECK_OK(session_run(f.session, &x, &given, 1, NULL, NULL, 0, &assign, 1, &f.status), f.status);
  for (int i = 0; i < 3; i++) {
    const SessionRunOptions options = {.timeout_ms = 1};
    const StepSignature signature = {.feeds = &x, .num_feeds = 1, .targets = &add, .num_targets = 1};
    SessionStep *step;
    if (!session_begin(f.session, &options, &signature, &given, &step, &f.status) ||
        !session_finish(step, NULL, &f.status))
      CHECK_INT_EQ(f.status.code, CODE_DEADLINE_EXCEEDED);
    status_init(&f.status);
    CHECK_OK(session_run(f.session, NULL, NULL, 0, &read, &value, 1, NULL, 0, &f.status), f.status);
    int64_t others = 0;
    for (int64_t k = 0; k < SIZE; k++) others += tensor_f32(&value)[k] != tensor_f32(&value)[0];
    CHECK_INT_EQ(others, 0);
    tensor_clear(&value);
  }
  tensor_clear(&ones);
  end(&f);
}

#if SYNC_HAS_THREADS
TEST(closing_a_session_ends_a_long_kernel) {
  Fixture f;
  pthread_t thread;
  REQUIRE(begin(&f));
  LongStep s = {.fetch = long_product(f.graph)};
  if (make_inputs(&f, &s) && begin_long(&f, &s, 0)) {
    REQUIRE(pthread_create(&thread, NULL, advance_long, &s) == 0);
    nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL); /* so that the kernel runs, as a rule */
    session_close(f.session);
    pthread_join(thread, NULL);
    CHECK_INT_EQ(s.state, RUN_FAILED);
    CHECK_INT_EQ(s.status.code, CODE_CANCELLED);
  }
  end_long(&s);
  end(&f);
}
#endif
