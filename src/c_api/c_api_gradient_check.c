/* The gradient checker: computes two Jacobians of a part of a graph, one from its gradients and one from
 * differences.
 *
 * Tensors are treated as lists of real numbers; a complex number is its two parts. For a loss L = the real
 * part of sum(conj(dy) * y), the gradient of x holds the derivatives of L by those numbers. dy = 1 at one
 * element makes L the element's real part, dy = i its imaginary part.
 */
#include <math.h>

#include "base/alloc.h"
#include "c_api/c_api_internal.h"
#include "gradient/graph_gradients.h"
#include "graph/node_builder.h"

/* A tensor that the check modifies number by number: an x, or a dy. */
typedef struct Numbers {
  Tensor tensor;
  int64_t count;
} Numbers;

typedef struct GradientCheck {
  Graph *graph;
  Session *session;
  Arena *arena;
  Status *status;
  const TF_GradientCheckOptions *options;
  int ny, nx, num_feeds; /* of all feeds: xs, dys, then the caller's */
  NodeOutput *ys, *xs, *dys, *dxs, *feeds;
  Numbers **x_numbers; /* the xs by their position */
  Numbers *dy_numbers;
  const Tensor **feed_values;
  Tensor *y_values, *dx_values; /* of the latest run */
  double *jacobian;             /* from the gradients: one row for each number of the ys */
  int64_t rows, columns;
  double max_error;
} GradientCheck;

static bool oom(GradientCheck *check) { return status_oom(check->status, "a check of gradients"); }

/* --- numbers of tensors --- */

static bool is_single(DataType type) { return type == DT_FLOAT || type == DT_COMPLEX64; }

static bool check_type(DataType type, const char *what, int i, Status *status) {
  int base = dtype_base(type);
  return base == DT_FLOAT || base == DT_DOUBLE || base == DT_COMPLEX64 || base == DT_COMPLEX128 ||
         status_invalid(status,
                        "%s %d is %s; gradients are checked of float, double, complex64 and complex128", what,
                        i, dtype_name(type));
}

static int64_t count_numbers(const Tensor *tensor) {
  return tensor_num_elements(tensor) * (dtype_is_complex((int)tensor->dtype) ? 2 : 1);
}

static double number(const Tensor *tensor, int64_t i) {
  return is_single(tensor->dtype) ? (double)tensor_f32(tensor)[i] : tensor_f64(tensor)[i];
}

static void set_number(Tensor *tensor, int64_t i, double value) {
  if (is_single(tensor->dtype)) {
    tensor_f32(tensor)[i] = (float)value;
  } else {
    tensor_f64(tensor)[i] = value;
  }
}

/* --- running --- */

static void drop_values(Tensor *values, int count) {
  for (int i = 0; values && i < count; i++) tensor_clear(&values[i]);
}

/* Computes the ys, or the existing gradients. */
static bool run(GradientCheck *check, const NodeOutput *fetches, int num_fetches, Tensor *values) {
  drop_values(values, num_fetches);
  return session_run(check->session, check->feeds, check->feed_values, check->num_feeds, fetches, values,
                     num_fetches, NULL, 0, check->status);
}

static bool run_ys(GradientCheck *check) {
  TRY(run(check, check->ys, check->ny, check->y_values));
  for (int i = 0; i < check->ny; i++) {
    if (check->dy_numbers[i].count == count_numbers(&check->y_values[i])) continue;
    return status_invalid(check->status, "Output %d has other shapes in different runs", i);
  }
  return true;
}

/* --- the graph of the check --- */

static bool add_node(GradientCheck *check, const char *op, const char *type_attr, DataType type,
                     const NodeOutput *input, NodeOutput *output) {
  NodeBuilder b;
  node_builder(&b, check->graph, op, graph_unique_name(check->graph, "gradient_check"));
  node_builder_type(&b, type_attr, type);
  if (input) node_builder_input(&b, *input);
  output->index = 0;
  return node_builder_finish(&b, &output->node, check->status);
}

/* Computes the ys at x, and allocates a dy of the shape of each. */
static bool measure_ys(GradientCheck *check) {
  TRY(run(check, check->ys, check->ny, check->y_values));
  for (int i = 0; i < check->ny; i++) {
    const Tensor *y = &check->y_values[i];
    Numbers *dy = &check->dy_numbers[i];
    TRY(tensor_allocate(&dy->tensor, y->dtype, &y->shape, NULL, check->status));
    dy->count = count_numbers(y);
    for (int64_t k = 0; k < dy->count; k++) set_number(&dy->tensor, k, 0);
    check->rows += dy->count;
  }
  return true;
}

/* A fed output cannot be fetched, and a gradient may be dy itself, so each dy passes through an Identity. */
static bool add_gradients_of_ys(GradientCheck *check) {
  int num_feeds = check->num_feeds;
  for (int i = 0; i < check->ny; i++) {
    NodeOutput *fed = &check->feeds[num_feeds + i];
    DataType type = check->dy_numbers[i].tensor.dtype;
    TRY(add_node(check, "Placeholder", "dtype", type, NULL, fed));
    TRY(add_node(check, "Identity", "T", type, fed, &check->dys[i]));
    check->feed_values[num_feeds + i] = &check->dy_numbers[i].tensor;
  }
  check->num_feeds += check->ny;
  return graph_add_gradients(check->graph, check->ys, check->ny, check->xs, check->nx, check->dys, NULL,
                             check->dxs, check->status);
}

/* --- the two Jacobians --- */

/* Writes the gradients into a row. */
static bool fill_row(GradientCheck *check, double *row, const NodeOutput *fetches, const int *which,
                     int num_fetches) {
  if (num_fetches > 0) TRY(run(check, fetches, num_fetches, check->dx_values));
  for (int i = 0, next = 0; i < check->nx; i++) {
    int64_t count = check->x_numbers[i]->count;
    if (next < num_fetches && which[next] == i) {
      const Tensor *dx = &check->dx_values[next++];
      if (count_numbers(dx) != count || dx->dtype != check->x_numbers[i]->tensor.dtype) {
        char got[SHAPE_TEXT_CAPACITY], want[SHAPE_TEXT_CAPACITY];
        return status_invalid(check->status, "The gradient of input %d is %s %s, but the input %s %s", i,
                              dtype_name(dx->dtype), shape_text(&dx->shape, got),
                              dtype_name(check->x_numbers[i]->tensor.dtype),
                              shape_text(&check->x_numbers[i]->tensor.shape, want));
      }
      for (int64_t k = 0; k < count; k++) row[k] = number(dx, k);
    }
    row += count;
  }
  return true;
}

static bool fill_jacobian(GradientCheck *check) {
  if (check->columns > 0 && check->rows > INT64_MAX / (int64_t)sizeof(double) / check->columns)
    return oom(check);
  check->jacobian = mem_calloc(check->rows * check->columns + 1, sizeof(double));
  int *which = arena_calloc(check->arena, check->nx + 1, sizeof(int));
  NodeOutput *fetches = arena_calloc(check->arena, check->nx + 1, sizeof(NodeOutput));
  if (!check->jacobian || !which || !fetches) return oom(check);
  int num_fetches = 0;
  for (int i = 0; i < check->nx; i++) {
    if (!check->dxs[i].node) continue;
    fetches[num_fetches] = check->dxs[i];
    which[num_fetches++] = i;
  }
  double *row = check->jacobian;
  for (int i = 0; i < check->ny; i++) {
    Numbers *dy = &check->dy_numbers[i];
    for (int64_t k = 0; k < dy->count; k++, row += check->columns) {
      set_number(&dy->tensor, k, 1);
      TRY(fill_row(check, row, fetches, which, num_fetches));
      set_number(&dy->tensor, k, 0);
    }
  }
  return true;
}

/* A NaN is kept, whatever follows. */
static void note_error(GradientCheck *check, double gradient, double difference) {
  double error = fabs(gradient - difference) / fmax(1, fabs(difference));
  if (!(error <= check->max_error) && !isnan(check->max_error)) check->max_error = error;
}

/* Varies one number of an x, and compares the difference of the ys with a column of the Jacobian. */
static bool compare_column(GradientCheck *check, Tensor *x, int64_t k, double *above, int64_t column) {
  double middle = number(x, k), delta = check->options->delta;
  if (delta == 0) delta = is_single(x->dtype) ? 0x1p-7 : 0x1p-17;
  set_number(x, k, middle + delta);
  double upper = number(x, k);
  TRY(run_ys(check));
  double *next = above;
  for (int i = 0; i < check->ny; i++) {
    for (int64_t j = 0; j < check->dy_numbers[i].count; j++) *next++ = number(&check->y_values[i], j);
  }
  set_number(x, k, middle - delta);
  double lower = number(x, k);
  TRY(run_ys(check));
  int64_t row = 0;
  for (int i = 0; i < check->ny; i++) {
    for (int64_t j = 0; j < check->dy_numbers[i].count; j++, row++) {
      double difference = (above[row] - number(&check->y_values[i], j)) / (upper - lower);
      note_error(check, check->jacobian[row * check->columns + column], difference);
    }
  }
  set_number(x, k, middle); /* not earlier, because a y may share its memory with x */
  return true;
}

static bool compare(GradientCheck *check) {
  double *above = mem_calloc(check->rows + 1, sizeof(double));
  bool ok = above || oom(check);
  int64_t column = 0;
  for (int i = 0; ok && i < check->nx; i++) {
    Numbers *x = check->x_numbers[i];
    for (int64_t k = 0; ok && k < x->count; k++) ok = compare_column(check, &x->tensor, k, above, column++);
  }
  mem_free(above);
  return ok;
}

static bool check_order(GradientCheck *check) {
  return measure_ys(check) && add_gradients_of_ys(check) && fill_jacobian(check) && compare(check);
}

/* --- the call --- */

/* Allocates for `room_for_feeds` feeds besides the dys. */
static bool allocate(GradientCheck *check, int room_for_feeds) {
  int feeds = room_for_feeds + check->ny;
  check->dy_numbers = arena_calloc(check->arena, check->ny + 1, sizeof(Numbers));
  check->dys = arena_calloc(check->arena, check->ny + 1, sizeof(NodeOutput));
  check->dxs = arena_calloc(check->arena, check->nx + 1, sizeof(NodeOutput));
  check->x_numbers = arena_calloc(check->arena, check->nx + 1, sizeof(Numbers *));
  check->feeds = arena_calloc(check->arena, feeds + 1, sizeof(NodeOutput));
  check->feed_values = arena_calloc(check->arena, feeds + 1, sizeof(Tensor *));
  check->y_values = arena_calloc(check->arena, check->ny + 1, sizeof(Tensor));
  check->dx_values = arena_calloc(check->arena, check->nx + 1, sizeof(Tensor));
  return (check->dy_numbers && check->dys && check->dxs && check->x_numbers && check->feeds &&
          check->feed_values && check->y_values && check->dx_values) ||
         oom(check);
}

static void drop(GradientCheck *check) {
  drop_values(check->y_values, check->ny);
  drop_values(check->dx_values, check->nx);
  for (int i = 0; check->dy_numbers && i < check->ny; i++) tensor_clear(&check->dy_numbers[i].tensor);
  mem_free(check->jacobian);
}

/* The next order: derivatives of the dxs by the xs and the dys. The dys get irregular values. */
static bool begin_next_order(GradientCheck *check, GradientCheck *next) {
  *next = (GradientCheck){.graph = check->graph,
                          .session = check->session,
                          .arena = check->arena,
                          .status = check->status,
                          .options = check->options,
                          .nx = check->nx + check->ny,
                          .max_error = check->max_error};
  next->ys = arena_calloc(check->arena, check->nx + 1, sizeof(NodeOutput));
  next->xs = arena_calloc(check->arena, next->nx + 1, sizeof(NodeOutput));
  if (!next->ys || !next->xs) return oom(check);
  for (int i = 0; i < check->nx; i++) {
    if (check->dxs[i].node) next->ys[next->ny++] = check->dxs[i];
  }
  TRY(allocate(next, check->num_feeds));
  for (int i = 0; i < check->num_feeds; i++) {
    next->feeds[i] = check->feeds[i];
    next->feed_values[i] = check->feed_values[i];
  }
  next->num_feeds = check->num_feeds;
  for (int i = 0; i < next->nx; i++) {
    bool is_dy = i >= check->nx;
    next->xs[i] = is_dy ? check->feeds[check->num_feeds - check->ny + i - check->nx] : check->xs[i];
    next->x_numbers[i] = is_dy ? &check->dy_numbers[i - check->nx] : check->x_numbers[i];
    next->columns += next->x_numbers[i]->count;
    for (int64_t k = 0; is_dy && k < next->x_numbers[i]->count; k++)
      set_number(&next->x_numbers[i]->tensor, k, 0.25 * (double)((k * 7 + i * 3) % 11) - 1.1);
  }
  return true;
}

/* Checks this order and the remaining higher ones. */
static bool check_orders(GradientCheck *check, int orders) {
  TRY(check_order(check));
  if (orders <= 1) return true;
  GradientCheck next;
  bool ok = begin_next_order(check, &next) && check_orders(&next, orders - 1);
  check->max_error = next.max_error;
  drop(&next);
  return ok;
}

static bool check_options(const GradientCheck *check) {
  const TF_GradientCheckOptions *options = check->options;
  if (check->ny < 0 || check->nx < 0 || options->num_feeds < 0)
    return status_invalid(check->status, "The number of outputs, inputs or feeds is negative");
  if (!(options->delta >= 0) || isinf(options->delta))
    return status_invalid(check->status, "The step of differences is %g", options->delta);
  return (options->order >= 0 && options->order <= TF_MAX_GRADIENT_CHECK_ORDER) ||
         status_invalid(check->status, "Derivatives of order %d cannot be checked; at most %d",
                        options->order, TF_MAX_GRADIENT_CHECK_ORDER);
}

static bool take_x(GradientCheck *check, int i, const TF_Tensor *value, Numbers *numbers) {
  DataType type = node_output_type(check->xs[i]);
  TRY(check_type(type, "Input", i, check->status));
  if (!value) return status_invalid(check->status, "The value of input %d is null", i);
  if ((int)value->tensor.dtype != dtype_base(type)) {
    return status_invalid(check->status, "The value of input %d is %s, but the input %s", i,
                          dtype_name(value->tensor.dtype), dtype_name(type));
  }
  TRY(tensor_copy(&numbers->tensor, &value->tensor, NULL, check->status));
  numbers->count = count_numbers(&numbers->tensor);
  check->x_numbers[i] = numbers;
  check->columns += numbers->count;
  check->feeds[i] = check->xs[i];
  check->feed_values[i] = &numbers->tensor;
  return true;
}

static bool take_inputs(GradientCheck *check, const TF_Output *y, const TF_Output *x,
                        TF_Tensor *const *x_values, Numbers **x_numbers) {
  const TF_GradientCheckOptions *options = check->options;
  for (int i = 0; i < check->ny; i++) TRY(check_output_index(y[i], check->status));
  for (int i = 0; i < check->nx; i++) TRY(check_output_index(x[i], check->status));
  TRY(to_node_outputs(y, check->ny, check->arena, &check->ys, check->status));
  TRY(to_node_outputs(x, check->nx, check->arena, &check->xs, check->status));
  TRY(allocate(check, check->nx + options->num_feeds));
  *x_numbers = arena_calloc(check->arena, check->nx + 1, sizeof(Numbers));
  if (!*x_numbers) return oom(check);
  for (int i = 0; i < check->ny; i++)
    TRY(check_type(node_output_type(check->ys[i]), "Output", i, check->status));
  for (int i = 0; i < check->nx; i++) TRY(take_x(check, i, x_values[i], &(*x_numbers)[i]));
  check->num_feeds = check->nx;
  for (int i = 0; i < options->num_feeds; i++) {
    TRY(check_output_index(options->feeds[i], check->status));
    if (!options->feed_values[i]) return status_invalid(check->status, "The value of feed %d is null", i);
    check->feeds[check->num_feeds] = to_node_output(options->feeds[i]);
    check->feed_values[check->num_feeds++] = &options->feed_values[i]->tensor;
  }
  return true;
}

static bool check_gradients(GradientCheck *check, const TF_Output *y, const TF_Output *x,
                            TF_Tensor *const *x_values, Numbers **x_numbers) {
  if (!check->arena) return oom(check);
  TRY(check_options(check));
  TRY(take_inputs(check, y, x, x_values, x_numbers));
  Session *own = !check->session ? session_new(check->graph, check->status) : NULL;
  if (!check->session && !own) return false;
  if (own) check->session = own;
  bool ok = check_orders(check, check->options->order);
  session_free(own);
  return ok;
}

void compute_gradient_error(TF_Graph *graph, const TF_Output *y, int ny, const TF_Output *x, int nx,
                            TF_Tensor *const *x_values, const TF_GradientCheckOptions *options,
                            double *max_error, TF_Status *status) {
  static const TF_GradientCheckOptions kDefaults = {0};
  GradientCheck check = {.graph = graph->graph,
                         .session = options && options->session ? options->session->session : NULL,
                         .arena = arena_new(),
                         .status = &status->status,
                         .options = options ? options : &kDefaults,
                         .ny = ny,
                         .nx = nx};
  Numbers *x_numbers = NULL;
  int64_t ids = graph_num_node_ids(check.graph);
  if (check_gradients(&check, y, x, x_values, &x_numbers)) *max_error = check.max_error;
  for (int64_t id = graph_num_node_ids(check.graph); id > ids; id--) {
    Node *node = graph_node(check.graph, id - 1);
    if (node) graph_remove_node(check.graph, node);
  }
  drop(&check);
  for (int i = 0; x_numbers && i < nx; i++) tensor_clear(&x_numbers[i].tensor);
  arena_free(check.arena);
}
