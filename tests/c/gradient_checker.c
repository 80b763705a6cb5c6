#include "gradient_checker.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "gradient/graph_gradients.h"
#include "harness.h"
#include "op/node_def.h"
#include "op_runner.h"
#include "runtime/session.h"

enum { MAX_VALUES = 32, MAX_OP_TEXT = 512 };

/* The step of differences, and the tolerances. */
typedef struct Precision {
  double step, tolerance;
} Precision;
static const Precision kDouble = {1e-5, 1e-6}, kSingle = {1.0 / 64, 2e-3};
static const double kFloatTolerance = 1e-4; /* of float gradients against double ones */

static bool has_gradient(DataType type) {
  return dtype_is_floating((int)type) || dtype_is_complex((int)type);
}
static bool is_single(DataType type) { return type == DT_FLOAT || type == DT_COMPLEX64; }

/* Fed values, outputs, and the derivative of the real part of the sum of conj(dys) * ys by each x that is
 * floating or complex. */
typedef struct Setup {
  Graph *graph;
  Session *session;
  NodeOutput feeds[MAX_VALUES];
  Tensor values[MAX_VALUES];
  int num_feeds;
  NodeOutput ys[MAX_VALUES], dys[MAX_VALUES], xs[MAX_VALUES], dxs[MAX_VALUES];
  Tensor weights[MAX_VALUES]; /* of the dys */
  int num_ys, num_xs;
  int x_feed[MAX_VALUES]; /* the feed of each x */
} Setup;

static bool add_placeholder(Setup *s, const Tensor *value, bool known_shape, NodeOutput *output,
                            Status *status) {
  char name[32];
  snprintf(name, sizeof name, "p%lld", (long long)graph_num_node_ids(s->graph));
  Arena *arena = arena_new();
  NodeDef *def = node_def_new(arena, name, "Placeholder");
  bool ok =
      node_def_set_attr(def, arena, "dtype", attr_value_type(arena, (int)value->dtype), status) &&
      (!known_shape ||
       node_def_set_attr(def, arena, "shape",
                         attr_value_shape(arena, value->shape.rank, shape_dims(&value->shape)), status)) &&
      graph_add_operation(s->graph, def, NULL, 0, NULL, 0, &output->node, status);
  output->index = 0;
  arena_free(arena);
  return ok;
}

static bool add_feed(Setup *s, const Tensor *value, bool known_shape, Status *status) {
  int i = s->num_feeds;
  TRY(add_placeholder(s, value, known_shape, &s->feeds[i], status));
  TRY(tensor_copy(&s->values[i], value, NULL, status));
  if (has_gradient(value->dtype)) {
    s->xs[s->num_xs] = s->feeds[i];
    s->x_feed[s->num_xs++] = i;
  }
  s->num_feeds++;
  return true;
}

static bool run(Setup *s, const NodeOutput *fetches, int num_fetches, Tensor *results, Status *status) {
  const Tensor *values[MAX_VALUES];
  for (int i = 0; i < s->num_feeds; i++) values[i] = &s->values[i];
  return session_run(s->session, s->feeds, values, s->num_feeds, fetches, results, num_fetches, NULL, 0,
                     status);
}

/* An Identity of a feed, because a fed output cannot be fetched, and a gradient may be dy itself. */
static bool add_identity(Setup *s, NodeOutput from, NodeOutput *output, Status *status) {
  char name[32];
  snprintf(name, sizeof name, "p%lld", (long long)graph_num_node_ids(s->graph));
  Arena *arena = arena_new();
  NodeDef *def = node_def_new(arena, name, "Identity");
  bool ok = node_def_set_attr(def, arena, "T", attr_value_type(arena, (int)node_output_type(from)), status) &&
            graph_add_operation(s->graph, def, &from, 1, NULL, 0, &output->node, status);
  output->index = 0;
  arena_free(arena);
  return ok;
}

/* Placeholders for dys and the gradients. The dys become feeds of the run too, and xs with `and_dys`. They
 * are `dys`, generated weights, or ones. */
static bool differentiate(Setup *s, const Tensor *dys, bool ones, bool known_shape, bool and_dys,
                          Status *status) {
  Tensor ys[MAX_VALUES] = {0};
  bool ok = run(s, s->ys, s->num_ys, ys, status);
  int xs = s->num_xs;
  for (int i = 0; i < s->num_ys && ok; i++) {
    ok = dys ? tensor_assign(&s->weights[i], &dys[i], status)
             : tensor_allocate(&s->weights[i], ys[i].dtype, &ys[i].shape, NULL, status);
    for (int64_t k = 0; ok && !dys && k < tensor_num_elements(&ys[i]); k++) {
      tensor_put(&s->weights[i], k, ones ? 1 : 0.25 * (double)((k * 7 + i * 3) % 11) - 1.1);
      tensor_put_imaginary(&s->weights[i], k, ones ? 0 : 0.3 * (double)((k * 5 + i) % 7) - 0.8);
    }
    ok = ok && add_feed(s, &s->weights[i], known_shape, status) &&
         add_identity(s, s->feeds[s->num_feeds - 1], &s->dys[i], status);
  }
  ok = ok && graph_add_gradients(s->graph, s->ys, s->num_ys, s->xs, xs, s->dys, NULL, s->dxs, status);
  if (!and_dys) s->num_xs = xs;
  for (int i = 0; i < s->num_ys; i++) tensor_clear(&ys[i]);
  return ok;
}

static bool add_op(Setup *s, const NodeDef *def, int num_inputs, Status *status) {
  Node *node;
  TRY(graph_add_operation(s->graph, def, s->feeds, num_inputs, NULL, 0, &node, status));
  for (int i = 0; i < node->num_outputs; i++) {
    if (has_gradient(node->output_types[i])) s->ys[s->num_ys++] = (NodeOutput){node, i};
  }
  return (s->session = session_new(s->graph, status)) != NULL;
}

/* Replaces each `from` by a shorter word. */
static void shorten(char *text, const char *from, const char *to) {
  for (char *p; (p = strstr(text, from));) {
    memcpy(p, to, strlen(to));
    memmove(p + strlen(to), p + strlen(from), strlen(p + strlen(from)) + 1);
  }
}

/* The same numbers in half the precision. */
static bool narrow(const Tensor *wide, Tensor *single, Status *status) {
  TRY(tensor_allocate(single, wide->dtype == DT_DOUBLE ? DT_FLOAT : DT_COMPLEX64, &wide->shape, NULL,
                      status));
  for (int64_t k = 0; k < tensor_num_elements(wide); k++) {
    tensor_put(single, k, tensor_get(wide, k));
    tensor_put_imaginary(single, k, tensor_get_imaginary(wide, k));
  }
  return true;
}

/* The op on placeholders. `as_float` makes float of double and complex64 of complex128, in attrs and
 * values. */
static bool build(Setup *s, const char *op, const char *inputs, bool as_float, bool known_shape,
                  Status *status) {
  char text[MAX_OP_TEXT];
  snprintf(text, sizeof text, "%s", op);
  if (as_float) {
    shorten(text, "double", "float");
    shorten(text, "complex128", "complex64");
  }
  *s = (Setup){.graph = graph_new()};
  Tensor parsed[MAX_VALUES] = {0};
  int count = 0;
  OpRun spec;
  bool ok = op_run_begin(&spec, text, status) && tensors_parse(inputs, parsed, MAX_VALUES, &count, status);
  for (int i = 0; i < count && ok; i++) {
    if (as_float && (parsed[i].dtype == DT_DOUBLE || parsed[i].dtype == DT_COMPLEX128)) {
      Tensor single = {0};
      ok = narrow(&parsed[i], &single, status) && add_feed(s, &single, known_shape, status);
      tensor_clear(&single);
    } else {
      ok = add_feed(s, &parsed[i], known_shape, status);
    }
  }
  ok = ok && add_op(s, spec.node, count, status);
  for (int i = 0; i < count; i++) tensor_clear(&parsed[i]);
  op_run_end(&spec);
  return ok;
}

static void drop(Setup *s) {
  session_free(s->session);
  for (int i = 0; i < MAX_VALUES; i++) {
    tensor_clear(&s->values[i]);
    tensor_clear(&s->weights[i]);
  }
  graph_free(s->graph);
}

/* The real part of the sum of conj(dys) * ys, because TensorFlow's gradient of a complex x holds its
 * derivatives by the two parts of x. */
static bool weighted(Setup *s, double *total, Status *status) {
  Tensor ys[MAX_VALUES] = {0};
  bool ok = run(s, s->ys, s->num_ys, ys, status);
  *total = 0;
  for (int i = 0; i < s->num_ys && ok; i++) {
    const Tensor *y = &ys[i], *dy = &s->weights[i];
    for (int64_t k = 0; k < tensor_num_elements(y); k++) {
      *total +=
          tensor_get(y, k) * tensor_get(dy, k) + tensor_get_imaginary(y, k) * tensor_get_imaginary(dy, k);
    }
  }
  for (int i = 0; i < s->num_ys; i++) tensor_clear(&ys[i]);
  return ok;
}

/* The existing gradients, by x; for others the tensor stays empty. */
static bool gradients(Setup *s, Tensor *dxs, Status *status) {
  NodeOutput fetches[MAX_VALUES];
  Tensor results[MAX_VALUES] = {0};
  int count = 0, which[MAX_VALUES];
  for (int i = 0; i < s->num_xs; i++) {
    if (!s->dxs[i].node) continue;
    which[count] = i;
    fetches[count++] = s->dxs[i];
  }
  if (count == 0) return true;
  TRY(run(s, fetches, count, results, status));
  for (int i = 0; i < count; i++) tensor_move(&dxs[which[i]], &results[i]);
  return true;
}

/* (f(x + h) - f(x - h)) / 2h by the real or the imaginary part of element `k`. The step is rounded to the
 * dtype. */
static bool difference(Setup *s, Tensor *x, int64_t k, bool imaginary, double step, double *result,
                       Status *status) {
  double real = tensor_get(x, k), other = tensor_get_imaginary(x, k), at[2], f[2];
  for (int side = 0; side < 2; side++) {
    double moved = side == 0 ? step : -step;
    tensor_put(x, k, imaginary ? real : real + moved);
    tensor_put_imaginary(x, k, imaginary ? other + moved : other);
    at[side] = imaginary ? tensor_get_imaginary(x, k) : tensor_get(x, k);
    TRY(weighted(s, &f[side], status));
  }
  tensor_put(x, k, real);
  tensor_put_imaginary(x, k, other);
  *result = (f[0] - f[1]) / (at[0] - at[1]);
  return true;
}

/* One x: compares each element's derivative with the central difference. */
static bool check_x(Setup *s, int i, const Tensor *dx) {
  Status status;
  status_init(&status);
  Tensor *x = &s->values[s->x_feed[i]];
  if (!tensor_is_empty(dx) && !CHECK(shape_equal(&dx->shape, &x->shape) && dx->dtype == x->dtype))
    return false;
  Precision precision = is_single(x->dtype) ? kSingle : kDouble;
  for (int64_t k = 0; k < tensor_num_elements(x); k++) {
    for (int imaginary = 0; imaginary <= (int)dtype_is_complex((int)x->dtype); imaginary++) {
      double want = 0, got = 0;
      if (!tensor_is_empty(dx)) got = imaginary ? tensor_get_imaginary(dx, k) : tensor_get(dx, k);
      if (!CHECK_OK(difference(s, x, k, imaginary, precision.step, &want, &status), status) ||
          !CHECK_NEAR(got, want, precision.tolerance * fmax(1, fabs(want)))) {
        return false;
      }
    }
  }
  return true;
}

static bool check_differences(Setup *s) {
  Status status;
  status_init(&status);
  Tensor dxs[MAX_VALUES] = {0};
  bool ok = CHECK_OK(gradients(s, dxs, &status), status);
  for (int i = 0; i < s->num_xs && ok; i++) ok = check_x(s, i, &dxs[i]);
  for (int i = 0; i < s->num_xs; i++) tensor_clear(&dxs[i]);
  return ok;
}

/* Continues from y = f(x) and dx = g(x, dy): checks the gradient of dx with respect to x and dy. */
static bool check_second(Setup *s, bool known_shape) {
  Status status;
  status_init(&status);
  int outputs = 0;
  for (int i = 0; i < s->num_ys; i++) tensor_clear(&s->weights[i]);
  for (int i = 0; i < s->num_xs - s->num_ys; i++) {
    if (s->dxs[i].node) s->ys[outputs++] = s->dxs[i];
  }
  s->num_ys = outputs;
  return CHECK_OK(differentiate(s, NULL, false, known_shape, false, &status), status) && check_differences(s);
}

/* Compares the float graph's gradients with those of the double graph. */
static bool check_float(Setup *wide, const char *op, const char *inputs, bool known_shape) {
  Status status;
  status_init(&status);
  Setup narrow;
  Tensor want[MAX_VALUES] = {0}, got[MAX_VALUES] = {0};
  bool ok = CHECK_OK(build(&narrow, op, inputs, true, known_shape, &status), status) &&
            CHECK_OK(differentiate(&narrow, NULL, false, known_shape, false, &status), status) &&
            CHECK_OK(gradients(&narrow, got, &status), status) &&
            CHECK_OK(gradients(wide, want, &status), status);
  for (int i = 0; ok && i < narrow.num_xs; i++) {
    if (tensor_is_empty(&want[i])) {
      CHECK(tensor_is_empty(&got[i]));
      continue;
    }
    CHECK(is_single(got[i].dtype));
    ok = CHECK(shape_equal(&got[i].shape, &want[i].shape));
    for (int64_t k = 0; ok && k < tensor_num_elements(&want[i]); k++) {
      double real = tensor_get(&want[i], k), imaginary = tensor_get_imaginary(&want[i], k);
      double allowed = kFloatTolerance * fmax(1, hypot(real, imaginary));
      ok = CHECK_NEAR(tensor_get(&got[i], k), real, allowed) &&
           CHECK_NEAR(tensor_get_imaginary(&got[i], k), imaginary, allowed);
    }
  }
  for (int i = 0; i < MAX_VALUES; i++) {
    tensor_clear(&want[i]);
    tensor_clear(&got[i]);
  }
  drop(&narrow);
  return ok;
}

static bool check(const char *op, const char *inputs, bool twice) {
  bool ok = true;
  for (int known = 0; known < 2 && ok; known++) {
    CHECK_CONTEXT("gradient of %s(%s), shapes %sknown", op, inputs, known ? "" : "un");
    Status status;
    status_init(&status);
    Setup s;
    ok = CHECK_OK(build(&s, op, inputs, false, known, &status), status) &&
         CHECK_OK(differentiate(&s, NULL, false, known, false, &status), status) && CHECK(s.num_xs > 0) &&
         check_differences(&s) &&
         (is_single(s.xs[0].node->output_types[0]) || check_float(&s, op, inputs, known));
    drop(&s);
    if (ok && twice) {
      CHECK_CONTEXT("second gradient of %s(%s), shapes %sknown", op, inputs, known ? "" : "un");
      ok = CHECK_OK(build(&s, op, inputs, false, known, &status), status) &&
           CHECK_OK(differentiate(&s, NULL, false, known, true, &status), status) && check_second(&s, known);
      drop(&s);
    }
  }
  CHECK_CONTEXT("%s", "");
  return ok;
}

bool gradient_holds(const char *op, const char *inputs) { return check(op, inputs, false); }
bool gradient_holds_twice(const char *op, const char *inputs) { return check(op, inputs, true); }

bool gradient_is(const char *op, const char *inputs, const char *want) {
  CHECK_CONTEXT("gradient of %s(%s)", op, inputs);
  Status status;
  status_init(&status);
  Setup s;
  Tensor dxs[MAX_VALUES] = {0}, expected[MAX_VALUES] = {0};
  int count = 0;
  bool ok = CHECK_OK(build(&s, op, inputs, false, false, &status), status) &&
            CHECK_OK(differentiate(&s, NULL, true, false, false, &status), status) &&
            CHECK_OK(gradients(&s, dxs, &status), status);
  if (ok && strcmp(want, "none") == 0) {
    for (int i = 0; i < s.num_xs; i++) ok = CHECK(tensor_is_empty(&dxs[i])) && ok;
  } else if (ok) {
    ok = CHECK_OK(tensors_parse(want, expected, MAX_VALUES, &count, &status), status) &&
         CHECK_INT_EQ(count, s.num_xs);
    for (int i = 0; ok && i < count; i++) ok = tensor_is_about(&dxs[i], &expected[i], 1e-6);
  }
  for (int i = 0; i < MAX_VALUES; i++) {
    tensor_clear(&dxs[i]);
    tensor_clear(&expected[i]);
  }
  drop(&s);
  CHECK_CONTEXT("%s", "");
  return ok;
}

bool gradient_gives(const NodeDef *node, const Tensor *inputs, int num_inputs, const Tensor *dys,
                    const Tensor *want, double tolerance) {
  Status status;
  status_init(&status);
  Setup s = {.graph = graph_new()};
  Tensor dxs[MAX_VALUES] = {0};
  bool ok = true;
  for (int i = 0; i < num_inputs && ok; i++) ok = CHECK_OK(add_feed(&s, &inputs[i], false, &status), status);
  ok = ok && CHECK_OK(add_op(&s, node, num_inputs, &status), status) &&
       CHECK_OK(differentiate(&s, dys, false, false, false, &status), status) &&
       CHECK_OK(gradients(&s, dxs, &status), status);
  for (int i = 0; i < s.num_xs && ok; i++) {
    const Tensor *expected = &want[s.x_feed[i]];
    ok = tensor_is_empty(expected) || tensor_is_about(&dxs[i], expected, tolerance);
  }
  for (int i = 0; i < MAX_VALUES; i++) tensor_clear(&dxs[i]);
  drop(&s);
  return ok;
}

bool gradient_fails(const NodeDef *node, const Tensor *inputs, int num_inputs, Code code,
                    const char *message_part) {
  Status status;
  status_init(&status);
  Setup s = {.graph = graph_new()};
  bool ok = true;
  for (int i = 0; i < num_inputs && ok; i++) ok = CHECK_OK(add_feed(&s, &inputs[i], false, &status), status);
  ok = ok && CHECK_OK(add_op(&s, node, num_inputs, &status), status) &&
       CHECK_ERROR(graph_add_gradients(s.graph, s.ys, s.num_ys, s.xs, s.num_xs, NULL, NULL, s.dxs, &status),
                   status, code, message_part);
  drop(&s);
  return ok;
}

/* --- the functional form --- */

/* Feeds for inputs and dys, and a node SymbolicGradient[f=op of `node`] on them. */
static bool build_symbolic(Setup *s, const NodeDef *node, const Tensor *inputs, int num_inputs,
                           const Tensor *dys, Arena *arena, Node **gradient, Status *status) {
  const Op *op;
  DataType *input_types, *output_types;
  int count, num_outputs;
  *s = (Setup){.graph = graph_new()};
  NodeDef *complete = proto_copy(node, arena);
  TRY(op_registry_look_up(op_registry_global(), node->op, &op, status));
  TRY(node_def_add_defaults(complete, op->def, arena, status));
  TRY(node_def_types(complete, op->def, arena, &input_types, &count, &output_types, &num_outputs, status));
  if (count != num_inputs || count + num_outputs > MAX_VALUES)
    return status_invalid(status, "%d inputs, %d outputs", count, num_outputs);
  int types[MAX_VALUES];
  for (int i = 0; i < count; i++) types[i] = (int)input_types[i];
  for (int i = 0; i < num_outputs; i++) types[count + i] = (int)output_types[i];
  for (int i = 0; i < count; i++) TRY(add_feed(s, &inputs[i], false, status));
  for (int i = 0; i < num_outputs; i++) TRY(add_feed(s, &dys[i], false, status));
  NameAttrList attrs = TENSORFLOW__NAME_ATTR_LIST__INIT;
  attrs.n_attr = complete->n_attr;
  attrs.attr = (void *)complete->attr; /* all map entries have the same layout */
  NodeDef *def = node_def_new(arena, "gradient", "SymbolicGradient");
  TRY(node_def_set_attr(def, arena, "Tin", attr_value_type_list(arena, types, (size_t)(count + num_outputs)),
                        status));
  TRY(node_def_set_attr(def, arena, "Tout", attr_value_type_list(arena, types, (size_t)count), status));
  TRY(node_def_set_attr(def, arena, "f", attr_value_func(arena, node->op, &attrs), status));
  TRY(graph_add_operation(s->graph, def, s->feeds, count + num_outputs, NULL, 0, gradient, status));
  return (s->session = session_new(s->graph, status)) != NULL;
}

static bool run_symbolic(Setup *s, const Node *gradient, Tensor *results, Status *status) {
  NodeOutput fetches[MAX_VALUES];
  for (int i = 0; i < gradient->num_outputs; i++) fetches[i] = (NodeOutput){(Node *)gradient, i};
  return run(s, fetches, gradient->num_outputs, results, status);
}

bool symbolic_gradient_gives(const NodeDef *node, const Tensor *inputs, int num_inputs, const Tensor *dys,
                             const Tensor *want, double tolerance) {
  Status status;
  status_init(&status);
  Setup s;
  Node *gradient;
  Tensor results[MAX_VALUES] = {0};
  Arena *arena = arena_new();
  bool ok = CHECK_OK(build_symbolic(&s, node, inputs, num_inputs, dys, arena, &gradient, &status), status) &&
            CHECK_OK(run_symbolic(&s, gradient, results, &status), status);
  for (int i = 0; i < num_inputs && ok; i++)
    ok = tensor_is_empty(&want[i]) || tensor_is_about(&results[i], &want[i], tolerance);
  for (int i = 0; i < MAX_VALUES; i++) tensor_clear(&results[i]);
  drop(&s);
  arena_free(arena);
  return ok;
}

bool symbolic_gradient_fails(const NodeDef *node, const Tensor *inputs, int num_inputs, const Tensor *dys,
                             Code code, const char *message_part) {
  Status status;
  status_init(&status);
  Setup s;
  Node *gradient;
  Tensor results[MAX_VALUES] = {0};
  Arena *arena = arena_new();
  bool ok = CHECK_OK(build_symbolic(&s, node, inputs, num_inputs, dys, arena, &gradient, &status), status) &&
            CHECK_ERROR(run_symbolic(&s, gradient, results, &status), status, code, message_part);
  for (int i = 0; i < MAX_VALUES; i++) tensor_clear(&results[i]);
  drop(&s);
  arena_free(arena);
  return ok;
}
