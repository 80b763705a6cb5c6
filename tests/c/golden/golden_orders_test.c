/* Second and third derivatives through the control flow and arrays of flow_gradients.pb and
 * array_gradients.pb, against central differences of
 * the derivatives one order lower. First derivatives are compared with TensorFlow's in golden_test.c. */
#include <math.h>
#include <string.h>

#include "c_api/c_api_internal.h"
#include "golden_file.h"
#include "golden_replay.h"

enum { HIGHEST = 3, MOST = 8 };

/* The derivatives of one order are those of the sum of all elements of the order before. */
typedef struct Orders {
  Replay replay;
  const Tfcore__GoldenStep *step;
  TF_Output xs[MOST], feeds[MOST];
  TF_Tensor *values[MOST]; /* of the feeds */
  TF_Output dx[HIGHEST + 1][MOST];
  int num_xs, num_feeds, lowest; /* the order that the others are compared with */
} Orders;

static TF_Output named(const Orders *o, const char *name) {
  char node[64] = "";
  strncpy(node, name, strcspn(name, ":"));
  return (TF_Output){TF_GraphOperationByName(o->replay.graph, node), 0};
}

static bool is_ok(const Orders *o) {
  return CHECK_INT_EQ(TF_GetCode(o->replay.status), TF_OK) ||
         harness_fail(__FILE__, __LINE__, "%.300s", TF_Message(o->replay.status));
}

/* Only values that some x has an effect on have derivatives. */
static bool add_order(Orders *o, int order) {
  TF_Output ys[MOST];
  GradientStops none = {NULL, 0};
  int count = 0;
  for (int i = 0; i < o->num_xs; i++) {
    if (o->dx[order - 1][i].oper) ys[count++] = o->dx[order - 1][i];
  }
  if (count == 0) return true;
  add_gradients_to(o->replay.graph, NULL, ys, count, o->xs, o->num_xs, NULL, &none, o->dx[order],
                   o->replay.status);
  return is_ok(o);
}

static bool add_orders(Orders *o) {
  const Tfcore__GoldenGradients *gradients = o->replay.golden->gradients;
  o->num_xs = (int)gradients->n_xs;
  for (int i = 0; i < o->num_xs; i++) {
    o->xs[i] = named(o, gradients->xs[i]);
    o->dx[1][i] = o->replay.dx[i];
  }
  o->lowest = 1;
  for (int order = 2; order <= HIGHEST; order++) {
    if (!add_order(o, order)) return false;
  }
  return true;
}

/* A case whose gradients are those of a round: the results of the loop are differentiated. */
static bool add_orders_of_loop(Orders *o) {
  const Tfcore__GoldenStep *step = o->replay.golden->steps[0];
  for (size_t i = 0; i < step->n_feeds; i++) {
    if (step->feeds[i]->tensor->dtype == TENSORFLOW__DATA_TYPE__DT_DOUBLE)
      o->xs[o->num_xs++] = named(o, step->feeds[i]->name);
  }
  o->dx[0][0] = named(o, step->fetches[0]->name);
  return add_order(o, 1) && add_order(o, 2);
}

static bool read_feeds(Orders *o) {
  Status status;
  status_init(&status);
  o->num_feeds = (int)o->step->n_feeds;
  for (int i = 0; i < o->num_feeds; i++) {
    Tensor value = {0}, copy = {0};
    o->feeds[i] = named(o, o->step->feeds[i]->name);
    if (!CHECK_OK(tensor_from_proto(o->step->feeds[i]->tensor, &value, &status), &status)) return false;
    bool ok = CHECK_OK(tensor_copy(&copy, &value, NULL, &status), &status); /* its elements are moved */
    tensor_clear(&value);
    if (!ok) return false;
    o->values[i] = take_tensor(&copy, &status);
    if (!CHECK(o->values[i])) return false;
  }
  return true;
}

static TF_Tensor *fetch_value(Orders *o, TF_Output output) {
  TF_Tensor *value = NULL;
  TF_SessionRun(o->replay.session, NULL, o->feeds, o->values, o->num_feeds, &output, &value, 1, NULL, 0, NULL,
                o->replay.status);
  return is_ok(o) ? value : NULL;
}

static double sum_of(Orders *o, int order) {
  double sum = 0;
  for (int i = 0; i < o->num_xs; i++) {
    if (!o->dx[order][i].oper) continue;
    TF_Tensor *value = fetch_value(o, o->dx[order][i]);
    for (int64_t k = 0; value && k < tensor_num_elements(&value->tensor); k++)
      sum += tensor_f64(&value->tensor)[k];
    TF_DeleteTensor(value);
  }
  return sum;
}

static double difference(Orders *o, int order, double *x) {
  double at = *x, h = 1e-5;
  *x = at + h;
  double above = sum_of(o, order);
  *x = at - h;
  double below = sum_of(o, order);
  *x = at;
  return (above - below) / (2 * h);
}

static void check_order(Orders *o, int order) {
  for (int i = 0; i < o->num_xs; i++) {
    int feed = 0;
    while (feed < o->num_feeds && o->feeds[feed].oper != o->xs[i].oper) feed++;
    if (!CHECK(feed < o->num_feeds)) return;
    TF_Tensor *got = o->dx[order][i].oper ? fetch_value(o, o->dx[order][i]) : NULL;
    double *x = TF_TensorData(o->values[feed]);
    int64_t count = TF_TensorElementCount(o->values[feed]);
    for (int64_t k = 0; k < count; k++) {
      double want = difference(o, order - 1, &x[k]);
      double is = got ? tensor_f64(&got->tensor)[k] : 0;
      CHECK_NEAR(is, want, 1e-6 * fmax(1, fabs(want)));
    }
    TF_DeleteTensor(got);
  }
}

static void check_case(const Tfcore__GoldenCase *golden) {
  Orders o = {0};
  harness_context("%s", golden->name);
  bool ok =
      replay_begin(&o.replay, golden, false) && replay_import(&o.replay) && replay_add_gradients(&o.replay) &&
      (golden->gradients->n_readers > 0 ? add_orders_of_loop(&o) : add_orders(&o)) && replay_open(&o.replay);
  for (size_t s = 0; ok && s < golden->n_steps; s++) {
    o.step = golden->steps[s];
    ok = read_feeds(&o);
    for (int order = o.lowest + 1; ok && order <= o.lowest + 2; order++) {
      harness_context("%s, step %zu, order %d", golden->name, s, order);
      check_order(&o, order);
    }
    for (int i = 0; i < o.num_feeds; i++) TF_DeleteTensor(o.values[i]);
  }
  replay_end(&o.replay);
}

static void check_file(const char *name) {
  Tfcore__GoldenFile *file = golden_file_read(name, NULL);
  if (!file) return;
  for (size_t i = 0; i < file->n_cases; i++) {
    const Tfcore__GoldenCase *golden = file->cases[i];
    if (golden->steps[0]->fetches[0]->tensor->dtype == TENSORFLOW__DATA_TYPE__DT_DOUBLE) check_case(golden);
  }
  tfcore__golden_file__free_unpacked(file, NULL);
}

TEST(higher_derivatives_through_control_flow_are_those_of_lower_ones) { check_file("flow_gradients"); }

TEST(higher_derivatives_through_arrays_are_those_of_lower_ones) { check_file("array_gradients"); }

/* A loop whose rounds compute gradients is differentiated, as where what a model learns is optimised. */
TEST(derivatives_of_loops_that_compute_gradients_are_those_of_their_results) {
  check_file("round_gradients");
}

static const Tfcore__GoldenCase *case_named(const Tfcore__GoldenFile *file, const char *name) {
  for (size_t i = 0; i < file->n_cases; i++) {
    if (strcmp(file->cases[i]->name, name) == 0) return file->cases[i];
  }
  harness_fail(__FILE__, __LINE__, "no case \"%s\"", name);
  return NULL;
}

/* Adds the gradient of the second value that the case fetches, which is a gradient. */
static bool begin_again(Orders *o, const Tfcore__GoldenFile *file, const char *name, const char *x) {
  const Tfcore__GoldenCase *golden = case_named(file, name);
  GradientStops none = {NULL, 0};
  if (!golden || !replay_begin(&o->replay, golden, false) || !replay_import(&o->replay)) return false;
  o->step = golden->steps[0];
  o->xs[0] = named(o, x);
  o->dx[1][0] = named(o, o->step->fetches[1]->name);
  add_gradients_to(o->replay.graph, NULL, o->dx[1], 1, o->xs, 1, NULL, &none, o->dx[2], o->replay.status);
  return true;
}

/* A loop that pops the values of TensorFlow's forward loop; they depend on x. */
TEST(gradients_through_stacks_are_refused) {
  Tfcore__GoldenFile *file = golden_file_read("v1_gradients", NULL);
  Orders o = {0};
  if (file && begin_again(&o, file, "the gradient of a power", "x"))
    CHECK_TF_ERROR(o.replay.status, TF_NOT_FOUND, "No gradient defined for op: StackPopV2");
  replay_end(&o.replay);
  if (file) tfcore__golden_file__free_unpacked(file, NULL);
}

/* dx is linear in dy, and each of its elements depends on one of dy. */
TEST(gradients_of_imported_gradients_flow_beside_their_stacks) {
  Tfcore__GoldenFile *file = golden_file_read("v1_gradients", NULL);
  Orders o = {0};
  if (file && begin_again(&o, file, "the gradient of a loop with a given gradient of its result", "dy") &&
      is_ok(&o) && replay_open(&o.replay) && read_feeds(&o)) {
    TF_Tensor *dx = fetch_value(&o, o.dx[1][0]), *again = fetch_value(&o, o.dx[2][0]);
    int dy = 0;
    while (dy < o.num_feeds - 1 && o.feeds[dy].oper != o.xs[0].oper) dy++;
    for (int i = 0; dx && again && i < 3; i++) {
      float want = tensor_f32(&dx->tensor)[i] / tensor_f32(&o.values[dy]->tensor)[i];
      CHECK_NEAR(tensor_f32(&again->tensor)[i], want, 1e-5 * fabsf(want));
    }
    TF_DeleteTensor(dx);
    TF_DeleteTensor(again);
  }
  for (int i = 0; i < o.num_feeds; i++) TF_DeleteTensor(o.values[i]);
  replay_end(&o.replay);
  if (file) tfcore__golden_file__free_unpacked(file, NULL);
}

/* Adds the gradients of the case once more, and fetches both in one run. */
static void check_twice(const Tfcore__GoldenCase *golden) {
  Orders o = {.step = golden->steps[0]};
  GradientStops none = {NULL, 0};
  harness_context("%s", golden->name);
  if (replay_begin(&o.replay, golden, false) && replay_import(&o.replay) && replay_add_gradients(&o.replay)) {
    TF_Output y = named(&o, golden->gradients->ys[0]), dy = named(&o, golden->gradients->grad_ys[0]);
    TF_Output x = named(&o, golden->gradients->xs[0]), both[2] = {o.replay.dx[0]};
    TF_Tensor *values[2] = {NULL, NULL};
    add_gradients_to(o.replay.graph, NULL, &y, 1, &x, 1, &dy, &none, &both[1], o.replay.status);
    if (is_ok(&o) && replay_open(&o.replay) && read_feeds(&o)) {
      TF_SessionRun(o.replay.session, NULL, o.feeds, o.values, o.num_feeds, both, values, 2, NULL, 0, NULL,
                    o.replay.status);
      if (is_ok(&o))
        CHECK(memcmp(TF_TensorData(values[0]), TF_TensorData(values[1]), TF_TensorByteSize(values[0])) == 0);
    }
    for (int i = 0; i < 2; i++) TF_DeleteTensor(values[i]);
  }
  for (int i = 0; i < o.num_feeds; i++) TF_DeleteTensor(o.values[i]);
  replay_end(&o.replay);
}

TEST(two_gradients_of_arrays_in_loops_do_not_add_up) {
  Tfcore__GoldenFile *file = golden_file_read("array_gradients", NULL);
  for (size_t i = 0; file && i < file->n_cases; i++) check_twice(file->cases[i]);
  if (file) tfcore__golden_file__free_unpacked(file, NULL);
}
