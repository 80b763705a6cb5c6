/* Deadlines and closing inside kernels that run for a long time. */
#include <pthread.h>

#include "base/clock.h"
#include "runtime/session_fixture.h"

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

/* Nodes whose kernels compute for several seconds under the sanitizers. */
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

typedef struct Measured {
  Session *session;
  NodeOutput fetch;
  int64_t timeout_ms, milliseconds;
  Status status;
  bool ok;
} Measured;

static void *measure(void *argument) {
  Measured *m = argument;
  Tensor result = {0};
  SessionStep *step;
  const SessionRunOptions options = {.timeout_ms = m->timeout_ms};
  status_init(&m->status);
  int64_t began = clock_nanoseconds();
  m->ok = start_step(m->session, &options, NULL, NULL, m->fetch, 0, &result, &step, &m->status) == RUN_DONE;
  m->milliseconds = (clock_nanoseconds() - began) / 1000000;
  CHECK_INT_EQ(tensor_is_empty(&result), !m->ok);
  tensor_clear(&result);
  return NULL;
}

/* The inputs alone, which are made before. */
static int64_t time_of_inputs(Fixture *f, NodeOutput y) {
  int64_t all = 0;
  for (int i = 0; i < 2; i++) {
    Measured m = {.session = f->session, .fetch = {y.node->inputs[i]->src, y.node->inputs[i]->src_output}};
    measure(&m);
    CHECK_OK(m.ok, m.status);
    all += m.milliseconds;
  }
  return all;
}

/* Well below the seconds that the kernels take, and far above the chunks of milliseconds, because the machine
 * may be busy. */
enum { SOON_MS = 3000 };

TEST(deadlines_end_long_kernels) {
  for (size_t i = 0; i < sizeof kLong / sizeof *kLong; i++) {
    Fixture f;
    REQUIRE(begin(&f));
    CHECK_CONTEXT("kernel %zu", i);
    NodeOutput y = kLong[i](f.graph), other = scalar(f.graph, "other", 1);
    int64_t inputs = time_of_inputs(&f, y);
    Measured m = {.session = f.session, .fetch = y, .timeout_ms = 2 * inputs + 100};
    measure(&m);
    CHECK(!m.ok);
    CHECK_INT_EQ(m.status.code, CODE_DEADLINE_EXCEEDED);
    CHECK_STR_EQ(m.status.message, "Timed out waiting for notification");
    CHECK(m.milliseconds >= m.timeout_ms && m.milliseconds < m.timeout_ms + SOON_MS);
    m = (Measured){.session = f.session, .fetch = other};
    measure(&m);
    CHECK_OK(m.ok, m.status);
    end(&f);
  }
  CHECK_CONTEXT("%s", "");
}

TEST(closing_a_session_ends_a_long_kernel) {
  Fixture f;
  pthread_t thread;
  REQUIRE(begin(&f));
  Measured m = {.session = f.session, .fetch = long_product(f.graph)};
  int64_t inputs = time_of_inputs(&f, m.fetch);
  REQUIRE(pthread_create(&thread, NULL, measure, &m) == 0);
  int64_t until = clock_nanoseconds() + (2 * inputs + 100) * 1000000;
  while (clock_nanoseconds() < until) sched_yield();
  int64_t began = clock_nanoseconds();
  session_close(f.session);
  int64_t milliseconds = (clock_nanoseconds() - began) / 1000000;
  pthread_join(thread, NULL);
  CHECK(!m.ok);
  CHECK_INT_EQ(m.status.code, CODE_CANCELLED);
  CHECK(milliseconds < SOON_MS);
  end(&f);
}
