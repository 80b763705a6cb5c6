/* Gradients through TensorArrays, against central differences: TensorArrayScatterV3 and TensorArrayGatherV3,
 * TensorArraySplitV3 and TensorArrayConcatV3, TensorArrayWriteV3 and TensorArrayReadV3. TensorFlow's own
 * graphs of such gradients are golden cases; here graph_add_gradients writes them. */
#include <math.h>

#include "gradient/gradient_fixture.h"
#include "op_runner.h"
#include "runtime/session.h"

enum { NUM_FEEDS = 6, NUM_VALUES = 4 };

/* A graph with what all cases use: x, and constants as feeds. */
typedef struct Arrays {
  Graph *graph;
  Session *session;
  NodeOutput feeds[NUM_FEEDS]; /* x first */
  Tensor values[NUM_FEEDS];
  Status status;
} Arrays;

enum { X, ZERO, ONE, SIZE, INDICES, LENGTHS };

static bool begin(Arrays *a) {
  static const char *const kTypes[] = {"double", "int32", "int32", "int32", "int32", "int64"};
  char name[16], attrs[32];
  int count;
  *a = (Arrays){.graph = graph_new()};
  status_init(&a->status);
  a->session = a->graph ? session_new(a->graph, &a->status) : NULL;
  if (!CHECK(a->session)) return false;
  for (int i = 0; i < NUM_FEEDS; i++) {
    snprintf(name, sizeof name, "feed%d", i);
    snprintf(attrs, sizeof attrs, "dtype=%s", kTypes[i]);
    a->feeds[i] = graph_op(a->graph, name, "Placeholder", attrs, 0);
  }
  return CHECK_OK(tensors_parse("double[4] 0.5 -1.25 2 3; int32[] 0; int32[] 1; int32[] 4; int32[4] 3 0 2 1; "
                                "int64[4] 1 0 2 1",
                                a->values, NUM_FEEDS, &count, &a->status),
                  &a->status);
}

static void end(Arrays *a) {
  for (int i = 0; i < NUM_FEEDS; i++) tensor_clear(&a->values[i]);
  session_free(a->session);
  graph_free(a->graph);
}

static bool run(Arrays *a, NodeOutput fetch, Tensor *value) {
  const Tensor *values[NUM_FEEDS];
  for (int i = 0; i < NUM_FEEDS; i++) values[i] = &a->values[i];
  tensor_clear(value);
  return CHECK(fetch.node) &&
         CHECK_OK(session_run(a->session, a->feeds, values, NUM_FEEDS, &fetch, value, 1, NULL, 0, &a->status),
                  &a->status);
}

/* y as a double, with x[i] moved by `by`. */
static double moved(Arrays *a, NodeOutput y, int i, double by) {
  Tensor value = {0};
  double *x = &tensor_f64(&a->values[X])[i], before = *x, result = 0;
  *x += by;
  if (run(a, y, &value)) result = tensor_get(&value, 0);
  *x = before;
  tensor_clear(&value);
  return result;
}

static NodeOutput sum_of(Arrays *a, const char *name, NodeOutput y) {
  char axes_name[16];
  snprintf(axes_name, sizeof axes_name, "%s_axes", name);
  NodeOutput axes =
      graph_op(a->graph, axes_name, "Range", "Tidx=int32", 3, a->feeds[ZERO], a->feeds[ONE], a->feeds[ONE]);
  return graph_op(a->graph, name, "Sum", "T=double, Tidx=int32", 2, y, axes);
}

/* The derivatives of the sum of `y` with regard to x, each order against differences of the one before. */
static void check_gradient(Arrays *a, NodeOutput y) {
  static const char *const kSums[] = {"sum", "sum1", "sum2"};
  const double h = 1e-5;
  for (int order = 1; order <= 3; order++) {
    Tensor gradient = {0};
    NodeOutput dx;
    CHECK_CONTEXT("order %d", order);
    y = sum_of(a, kSums[order - 1], y);
    if (!CHECK_OK(graph_add_gradients(a->graph, &y, 1, &a->feeds[X], 1, NULL, NULL, &dx, &a->status),
                  &a->status) ||
        !run(a, dx, &gradient) || !CHECK_INT_EQ(tensor_num_elements(&gradient), NUM_VALUES))
      return;
    for (int i = 0; i < NUM_VALUES; i++) {
      double want = (moved(a, y, i, h) - moved(a, y, i, -h)) / (2 * h);
      CHECK_NEAR(tensor_get(&gradient, i), want, 1e-7 * fmax(1, fabs(want)));
    }
    tensor_clear(&gradient);
    y = dx;
  }
}

/* Outputs 0 and 1: handle and flow. */
static NodeOutput make_array(Arrays *a) {
  return graph_op(a->graph, "array", "TensorArrayV3", "dtype=double, clear_after_read=false", 1,
                  a->feeds[SIZE]);
}
static NodeOutput flow_of(NodeOutput array) { return (NodeOutput){array.node, 1}; }

TEST(gradients_flow_through_elements_of_arrays) {
  Arrays a;
  REQUIRE(begin(&a));
  NodeOutput x = a.feeds[X], array = make_array(&a);
  NodeOutput flow =
      graph_op(a.graph, "w0", "TensorArrayWriteV3", "T=double", 4, array, a.feeds[ZERO], x, flow_of(array));
  flow = graph_op(a.graph, "w1", "TensorArrayWriteV3", "T=double", 4, array, a.feeds[ONE],
                  unary(a.graph, "sin", "Sin", x), flow);
  NodeOutput first =
                 graph_op(a.graph, "r0", "TensorArrayReadV3", "dtype=double", 3, array, a.feeds[ZERO], flow),
             second =
                 graph_op(a.graph, "r1", "TensorArrayReadV3", "dtype=double", 3, array, a.feeds[ONE], flow),
             again =
                 graph_op(a.graph, "r2", "TensorArrayReadV3", "dtype=double", 3, array, a.feeds[ONE], flow);
  check_gradient(&a, binary(a.graph, "y", "Mul", binary(a.graph, "p", "Mul", first, second), again));
  end(&a);
}

/* y = x sin(x); the gradients of y and of 2 y. */
TEST(two_gradients_of_an_array_in_a_step_do_not_add_up) {
  Arrays a;
  REQUIRE(begin(&a));
  NodeOutput x = a.feeds[X], array = make_array(&a), dxs[2];
  NodeOutput flow = graph_op(a.graph, "w", "TensorArrayWriteV3", "T=double", 4, array, a.feeds[ZERO],
                             unary(a.graph, "sin", "Sin", x), flow_of(array));
  NodeOutput y =
      binary(a.graph, "y", "Mul", x,
             graph_op(a.graph, "r", "TensorArrayReadV3", "dtype=double", 3, array, a.feeds[ZERO], flow));
  NodeOutput ys[] = {y, binary(a.graph, "twice", "Add", y, y)};
  for (int i = 0; i < 2; i++)
    CHECK_OK(graph_add_gradients(a.graph, &ys[i], 1, &x, 1, NULL, NULL, &dxs[i], &a.status), &a.status);
  Tensor both = {0};
  if (run(&a, graph_op(a.graph, "both", "Pack", "T=double, N=2", 2, dxs[0], dxs[1]), &both)) {
    for (int i = 0; i < NUM_VALUES; i++) {
      double at = tensor_f64(&a.values[X])[i], want = sin(at) + at * cos(at);
      CHECK_NEAR(tensor_get(&both, i), want, 1e-12);
      CHECK_NEAR(tensor_get(&both, NUM_VALUES + i), 2 * want, 1e-12);
    }
  }
  tensor_clear(&both);
  end(&a);
}

TEST(gradients_flow_through_rows_of_arrays) {
  Arrays a;
  REQUIRE(begin(&a));
  NodeOutput x = a.feeds[X], array = make_array(&a);
  NodeOutput flow = graph_op(a.graph, "w", "TensorArrayScatterV3", "T=double", 4, array, a.feeds[INDICES], x,
                             flow_of(array));
  NodeOutput last = graph_op(a.graph, "r", "TensorArrayReadV3", "dtype=double", 3, array, a.feeds[ONE], flow),
             all = graph_op(a.graph, "g", "TensorArrayGatherV3", "dtype=double", 3, array, a.feeds[INDICES],
                            flow);
  check_gradient(&a, binary(a.graph, "y", "Mul", unary(a.graph, "cube", "Exp", all), last));
  end(&a);
}

TEST(gradients_flow_through_parts_of_arrays) {
  Arrays a;
  REQUIRE(begin(&a));
  NodeOutput x = a.feeds[X], array = make_array(&a);
  NodeOutput flow =
      graph_op(a.graph, "w", "TensorArraySplitV3", "T=double", 4, array, x, a.feeds[LENGTHS], flow_of(array));
  NodeOutput all = graph_op(a.graph, "c", "TensorArrayConcatV3", "dtype=double", 2, array, flow);
  check_gradient(&a, binary(a.graph, "y", "Mul", unary(a.graph, "exp", "Exp", all), all));
  end(&a);
}

/* The parts of one array are read twice; both gradients need the lengths of the parts. */
TEST(gradients_flow_through_parts_that_are_read_twice) {
  Arrays a;
  REQUIRE(begin(&a));
  NodeOutput x = a.feeds[X], array = make_array(&a);
  NodeOutput flow =
      graph_op(a.graph, "w", "TensorArraySplitV3", "T=double", 4, array, x, a.feeds[LENGTHS], flow_of(array));
  NodeOutput first = graph_op(a.graph, "c", "TensorArrayConcatV3", "dtype=double", 2, array, flow),
             again = graph_op(a.graph, "d", "TensorArrayConcatV3", "dtype=double", 2, array, flow);
  check_gradient(&a, binary(a.graph, "y", "Mul", unary(a.graph, "exp", "Exp", first), again));
  end(&a);
}

/* An array of gradients as TensorFlow's graphs contain it; it adds up what is written to it. */
TEST(gradients_flow_through_arrays_of_gradients) {
  Arrays a;
  REQUIRE(begin(&a));
  NodeOutput x = a.feeds[X], array = make_array(&a);
  NodeOutput flow =
      graph_op(a.graph, "w", "TensorArrayWriteV3", "T=double", 4, array, a.feeds[ONE], x, flow_of(array));
  NodeOutput grad = graph_op(a.graph, "g", "TensorArrayGradV3", "source='mine'", 2, array, flow);
  flow = graph_op(a.graph, "w0", "TensorArrayWriteV3", "T=double", 4, grad, a.feeds[ONE],
                  unary(a.graph, "sin", "Sin", x), flow_of(grad));
  flow = graph_op(a.graph, "w1", "TensorArrayWriteV3", "T=double", 4, grad, a.feeds[ONE],
                  unary(a.graph, "exp", "Exp", x), flow);
  NodeOutput sum = graph_op(a.graph, "r", "TensorArrayReadV3", "dtype=double", 3, grad, a.feeds[ONE], flow);
  check_gradient(&a, binary(a.graph, "y", "Mul", sum, x));
  end(&a);
}

TEST(gradients_of_arrays_of_gradients_of_other_shapes_are_refused) {
  Arrays a;
  REQUIRE(begin(&a));
  NodeOutput x = a.feeds[X], array = make_array(&a), dx;
  NodeOutput flow =
      graph_op(a.graph, "w", "TensorArrayWriteV3", "T=double", 4, array, a.feeds[ONE], x, flow_of(array));
  NodeOutput wide =
      graph_op(a.graph, "g", "TensorArrayGradWithShape", "source='wide'", 3, array, flow, a.feeds[INDICES]);
  NodeOutput y =
      graph_op(a.graph, "r", "TensorArrayReadV3", "dtype=double", 3, wide, a.feeds[ONE], flow_of(wide));
  CHECK_ERROR(graph_add_gradients(a.graph, &y, 1, &x, 1, NULL, NULL, &dx, &a.status), &a.status,
              CODE_UNIMPLEMENTED, "arrays of gradients that have a shape in front are not known");
  end(&a);
}
