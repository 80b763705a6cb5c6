/* Gather, scatter, concat and split of lists: their gradients, and what they refuse where TensorFlow reads
 * memory that is not the list's. */
#include "gradient/gradient_fixture.h"
#include "op_runner.h"

static NodeOutput vector(Graph *graph, const char *name, const char *attrs) {
  return graph_op(graph, name, "Const", attrs, 0);
}

static NodeOutput sum(Graph *graph, NodeOutput x) {
  return graph_op(graph, "sum", "Sum", "T=double, Tidx=int32", 2, x,
                  vector(graph, "axes", "dtype=int32, value=[0]"));
}

static NodeOutput sum_of_cubes(Graph *graph, NodeOutput x) {
  return sum(graph, binary(graph, "cubes", "Mul", x, unary(graph, "squares", "Square", x)));
}

static void derivatives_hold(Graph *graph, NodeOutput y, const NodeOutput xs[2]) {
  const double at[] = {0.7, -1.2};
  Status status;
  status_init(&status);
  NodeOutput dxs[2], ddxs[2];
  REQUIRE_OK(graph_add_gradients(graph, &y, 1, xs, 2, NULL, NULL, dxs, &status), &status);
  check_central(graph, y, xs, dxs, at, 2);
  for (int i = 0; i < 2; i++) {
    REQUIRE_OK(graph_add_gradients(graph, &dxs[i], 1, xs, 2, NULL, NULL, ddxs, &status), &status);
    check_central(graph, dxs[i], xs, ddxs, at, 2);
  }
}

static Graph *graph_of_all_ops(NodeOutput xs[2], NodeOutput *rows) {
  Status status;
  status_init(&status);
  OpRun all_ops;
  CHECK_OK(op_run_begin(&all_ops, "TensorListLength", &status), &status);
  op_run_end(&all_ops);
  Graph *graph = graph_new();
  xs[0] = placeholder(graph, "x");
  xs[1] = placeholder(graph, "w");
  *rows = graph_op(graph, "rows", "Pack", "T=double, N=3", 3, xs[0], xs[1],
                   binary(graph, "xw", "Mul", xs[0], xs[1]));
  return graph;
}

#define ELEMENT "element_dtype=double"
#define MADE "element_dtype=double, shape_type=int32"

/* An item that is gathered twice counts twice. */
TEST(gradients_of_gathered_items) {
  NodeOutput xs[2], rows, any;
  Graph *graph = graph_of_all_ops(xs, &rows);
  any = vector(graph, "any", "dtype=int32, value=-1");
  NodeOutput list = graph_op(graph, "list", "TensorListFromTensor", MADE, 2, rows, any);
  NodeOutput got = graph_op(graph, "got", "TensorListGather", ELEMENT, 3, list,
                            vector(graph, "i", "dtype=int32, value=[2, 0, 2]"), any);
  derivatives_hold(graph, sum_of_cubes(graph, got), xs);
  graph_free(graph);
}

/* The list grows, and the gradient of the list before has its length. */
TEST(gradients_of_scattered_rows) {
  NodeOutput xs[2], rows, any;
  Graph *graph = graph_of_all_ops(xs, &rows);
  any = vector(graph, "any", "dtype=int32, value=-1");
  NodeOutput four = vector(graph, "four", "dtype=int32, value=4");
  NodeOutput i = vector(graph, "i", "dtype=int32, value=[3, 0, 1]"),
             j = vector(graph, "j", "dtype=int32, value=[1, 2, 5]"),
             k = vector(graph, "k", "dtype=int32, value=[0, 1, 3, 5]");
  NodeOutput first = graph_op(graph, "first", "TensorListScatter", MADE, 3, rows, i, any);
  NodeOutput second = graph_op(graph, "second", "TensorListScatterV2", MADE, 4, rows, i, any, four);
  NodeOutput grown =
      graph_op(graph, "grown", "TensorListScatterIntoExistingList", ELEMENT, 3, first, rows, j);
  NodeOutput longer =
      graph_op(graph, "longer", "TensorListScatterIntoExistingList", ELEMENT, 3, second, rows, j);
  NodeOutput a = graph_op(graph, "a", "TensorListGather", ELEMENT, 3, grown, k, any);
  NodeOutput b = graph_op(graph, "b", "TensorListGather", ELEMENT, 3, longer, k, any);
  derivatives_hold(graph, sum(graph, binary(graph, "ab", "Mul", a, b)), xs);
  graph_free(graph);
}

TEST(gradients_of_concatenated_and_split_items) {
  NodeOutput xs[2], rows, any;
  Graph *graph = graph_of_all_ops(xs, &rows);
  any = vector(graph, "any", "dtype=int32, value=-1");
  NodeOutput lengths = vector(graph, "lengths", "dtype=int64, value=[1, 0, 2]");
  NodeOutput list = graph_op(graph, "list", "TensorListSplit", MADE, 3, rows, any, lengths);
  NodeOutput resized = graph_op(graph, "resized", "TensorListResize", "", 2, list,
                                vector(graph, "size", "dtype=int32, value=4"));
  NodeOutput leading = vector(graph, "leading", "dtype=int64, value=[0, 0, 0, 1]");
  NodeOutput a = graph_op(graph, "a", "TensorListConcat", ELEMENT, 1, list);
  NodeOutput b = graph_op(graph, "b", "TensorListConcatV2", MADE, 3, resized, any, leading);
  NodeOutput both = graph_op(graph, "both", "ConcatV2", "T=double, N=2, Tidx=int32", 3, a, b,
                             vector(graph, "axis", "dtype=int32, value=0"));
  derivatives_hold(graph, sum_of_cubes(graph, both), xs);
  graph_free(graph);
}

/* Runs an op on a list of two rows of two numbers, made with this element shape, and `text`. */
static bool run_on_list(const char *op, const char *shape, const char *text, Status *status) {
  OpRun maker, run;
  char inputs[64];
  snprintf(inputs, sizeof inputs, "float[2,2] 1 2 3 4; int32%s", shape);
  bool ok = op_run_begin(&maker, "TensorListFromTensor[element_dtype=float, shape_type=int32]", status) &&
            op_run_inputs(&maker, inputs, status) && op_run_compute(&maker, status) &&
            op_run_begin(&run, op, status);
  if (ok) {
    tensor_move(&run.inputs[run.num_inputs++], &maker.outputs[0]);
    ok = op_run_inputs(&run, text, status) && op_run_compute(&run, status);
    op_run_end(&run);
  }
  op_run_end(&maker);
  return ok;
}

TEST(lists_refuse_indices_and_sizes_outside_of_memory) {
  const struct {
    const char *op, *shape, *inputs, *message;
  } cases[] = {
      {"TensorListScatterIntoExistingList[element_dtype=float]", "[] -1", "float[1,2] 0; int32[1] -1",
       "Indices in TensorListScatter must all be non-negative."},
      {"TensorListScatterIntoExistingList[element_dtype=float]", "[1] 2", "float[1,3] 0; int32[1] 0",
       "Specified a list with shape [2] from a tensor with shape [3]"},
      {"TensorListGather[element_dtype=float]", "[1] 2", "int32[1] -1; int32[] -1",
       "Index -1 out o range; list only has 2 elements."},
      {"TensorListConcatV2[element_dtype=float, shape_type=int32]", "[] -1", "int32[] -1; int64[] 1",
       "leading_dims must be a vector"},
      {"TensorListResize", "[] -1", "int32[1] 1", "size must be a scalar"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    Status status;
    status_init(&status);
    CHECK_CONTEXT("%s", cases[i].message);
    CHECK_ERROR(run_on_list(cases[i].op, cases[i].shape, cases[i].inputs, &status), &status,
                CODE_INVALID_ARGUMENT, cases[i].message);
  }
}
