/* TensorArrays of loops that become lists (optimizer/list_arrays.h). Steps compute the same, and fail in the
 * same way, as in a session without the optimizer. */
#include "optimizer/list_arrays.h"

#include "op/fused_op.h"
#include "optimizer/graph_checker.h"
#include "optimizer/graph_optimizer.h"
#include "runtime/client_graph.h"
#include "runtime/fused_steps.h"
#include "runtime/loop_text.h"

enum { ROUNDS = 5, UNITS = 6 };

/* A loop as TensorFlow 1 writes it over time: it reads the rows of x, and writes those of the result. */
/* clang-format off */
#define INT(name, value) name " Const ; int=" value "\n"
#define FED(name, shape) name " Placeholder ; dtype=DT_FLOAT shape=" shape "\n"
#define OUTSIDE                                                                                    \
  INT("zero", "0") INT("once", "1") INT("five", "5") "all Const ; ints=[0,1,2,3,4]\n"              \
  FED("h", "[1,6]") FED("w", "[6,6]") "top Placeholder ; dtype=DT_INT32 shape=[]\n"
#define ARRAY(name, size, shape, attrs) \
  name " TensorArrayV3 " size " ; dtype=DT_FLOAT element_shape=" shape " tensor_array_name='" name "' " attrs "\n"
#define FIXED "dynamic_size=false clear_after_read=true identical_element_shapes=true"
#define GROWING "dynamic_size=true clear_after_read=true identical_element_shapes=true"
#define SCATTER(indices) "rows TensorArrayScatterV3 a " indices " x a:1 ; T=DT_FLOAT\n"
#define READ(index)                                                                                \
  CONSTANT("a", "DT_RESOURCE", "a") CONSTANT("rows", "DT_FLOAT", "rows")                           \
  "item TensorArrayReadV3 ae " index " rowse ; dtype=DT_FLOAT\n"
#define WRITE(index, value)                                                                        \
  CONSTANT("o", "DT_RESOURCE", "o") VARIABLE("f", "DT_FLOAT", "o:1", "write")                      \
  "fi Identity fs:1 ; T=DT_FLOAT\nwrite TensorArrayWriteV3 oe " index " " value " fi ; T=DT_FLOAT\n" \
  "fout Exit fs ; T=DT_FLOAT\n"
#define GATHER(indices, shape) \
  "all_rows TensorArrayGatherV3 o " indices " fout ; dtype=DT_FLOAT element_shape=" shape "\n"         \
  "stack Identity all_rows ; T=DT_FLOAT\n"
/* Rounds as long as the counter is less than the limit. `step` is what it counts by. */
#define COUNTER(limit, step)                                                                       \
  VARIABLE("i", "DT_INT32", "zero", "inc") CONSTANT("limit", "DT_INT32", limit)                    \
  "less Less im limite ; T=DT_INT32\nc LoopCond less\n"                                            \
  "one Const ^is ; int=" step "\ninc AddV2 is:1 one ; T=DT_INT32\n"
#define CELL(item)                                                                                 \
  CONSTANT("w", "DT_FLOAT", "w") VARIABLE("h", "DT_FLOAT", "h", "t")                               \
  "y MatMul hs:1 we ; T=DT_FLOAT transpose_a=false transpose_b=false\nz AddV2 y " item " ; T=DT_FLOAT\n" \
  "t Tanh z ; T=DT_FLOAT\nhexit Exit hs ; T=DT_FLOAT\nlast Identity hexit ; T=DT_FLOAT\n"
#define X FED("x", "[5,1,6]")
#define A ARRAY("a", "five", "[1,6]", FIXED)
#define O ARRAY("o", "five", "[1,6]", FIXED)
/* clang-format on */

typedef struct Case {
  const char *lines, *fetches[2];
  int recurrences; /* that the loop becomes */
} Case;

static const Case kListed[] = {
    {OUTSIDE X A O SCATTER("all") READ("is:1") WRITE("is:1", "t") GATHER("all", "[1,6]") COUNTER("five", "1")
         CELL("item"),
     {"stack", "last"},
     1},
    /* Shapes that only the values say, and indices and sizes that nodes compute. */
    {OUTSIDE X ARRAY("a", "five", "unknown", FIXED) ARRAY("o", "five", "unknown", FIXED) SCATTER("range")
         READ("is:1") WRITE("is:1", "t") GATHER("places", "unknown") COUNTER("five", "1")
             CELL("item") "range Range zero five once ; Tidx=DT_INT32\nsize TensorArraySizeV3 o fout\n"
                          "places Range zero size once ; Tidx=DT_INT32\n",
     {"stack", "last"},
     1},
    /* Two conditions, as TensorFlow writes them for a maximum of rounds. */
    {OUTSIDE X A O SCATTER("all") READ(
         "is:1") WRITE("ks:1", "t") GATHER("all", "[1,6]") VARIABLE("i", "DT_INT32",
                                                                    "zero", "inc") VARIABLE("k", "DT_INT32",
                                                                                            "zero", "kinc")
         CONSTANT("limit", "DT_INT32",
                  "five") "less Less im limite ; T=DT_INT32\n"
                          "kless Less km limite ; T=DT_INT32\nboth LogicalAnd less kless\nc LoopCond both\n"
                          "one Const ^is ; int=1\ninc AddV2 is:1 one ; T=DT_INT32\nkinc AddV2 ks:1 one ; "
                          "T=DT_INT32\n" CELL("item"),
     {"stack", "last"},
     1},
    /* One of the arrays. */
    {OUTSIDE X A SCATTER("all") READ("is:1") COUNTER("five", "1") CELL("item"), {"last"}, 1},
    {OUTSIDE FED("b", "[1,6]") O CONSTANT("b", "DT_FLOAT", "b") WRITE("is:1", "t") GATHER("all", "[1,6]")
         COUNTER("five", "1") CELL("be"),
     {"stack", "last"},
     1},
};

/* Arrays that grow; elements that are handled in another order, or in part; arrays that other nodes read,
 * too; more or fewer rounds than elements, or of unknown number. */
static const Case kOthers[] = {
    {OUTSIDE X A O SCATTER("all") READ("is:1") WRITE("is:1", "t") GATHER("all", "unknown")
         COUNTER("least", "1") CELL("item") "least Minimum top five ; T=DT_INT32\n",
     {"stack", "last"}},
    {OUTSIDE X A O SCATTER("all") READ("is:1") WRITE("is:1", "t") GATHER("all", "[1,6]") COUNTER("three", "1")
         CELL("item") INT("three", "3"),
     {"stack", "last"}},
    {OUTSIDE X ARRAY("a", "five", "[1,6]", GROWING) ARRAY("o", "five", "[1,6]", GROWING) SCATTER("all")
         READ("is:1") WRITE("is:1", "t") GATHER("all", "[1,6]") COUNTER("five", "1") CELL("item"),
     {"stack", "last"}},
    {OUTSIDE X A O SCATTER("back") READ("from") WRITE("from", "t") GATHER("back", "[1,6]")
         COUNTER("five", "1") CELL("item") "back Const ; ints=[4,3,2,1,0]\nfour Const ^is ; int=4\nfrom Sub "
                                           "four is:1 ; T=DT_INT32\n",
     {"stack", "last"}},
    {OUTSIDE X A O SCATTER("all") READ("is:1") WRITE("is:1", "t") GATHER("some", "[1,6]") COUNTER("five", "1")
         CELL("other") "some Const ; ints=[0,2,4]\n"
                       "twice TensorArrayReadV3 ae is:1 rowse ; dtype=DT_FLOAT\n"
                       "other AddV2 item twice ; T=DT_FLOAT\n",
     {"stack", "last"}},
    {OUTSIDE X A O SCATTER("all") READ("zs:1") WRITE("is:1", "t") GATHER("all", "[1,6]") COUNTER("top", "1")
         VARIABLE("z", "DT_INT32", "zero", "zs:1") CELL("item"),
     {"stack", "last"}},
    {OUTSIDE X A O SCATTER("all") READ("is:1") WRITE("is:1", "t") GATHER("all", "[1,6]") COUNTER("six", "1")
         CELL("item") INT("six", "6"),
     {"stack", "last"}},
    {OUTSIDE FED("b", "[1,6]") ARRAY("o", "five", "unknown", FIXED) CONSTANT("b", "DT_FLOAT", "b")
         WRITE("is:1", "t") GATHER("all", "unknown") COUNTER("three", "1") CELL("be") INT("three", "3"),
     {"stack", "last"}},
    {OUTSIDE FED("b", "[1,6]") O CONSTANT("b", "DT_FLOAT", "b") WRITE("is:1", "t") GATHER("all", "[1,6]")
         COUNTER("five", "2") CELL("be") "first TensorArrayReadV3 o zero fout ; dtype=DT_FLOAT\n",
     {"first", "last"}},
};

static NodeOutput named(const Graph *graph, const char *name) {
  return (NodeOutput){graph_find_node(graph, name), 0};
}

static void feed(TestStep *step, const Graph *graph, const char *name, Random *random) {
  Status status;
  status_init(&status);
  const Node *node = graph_find_node(graph, name);
  int64_t dims[3];
  if (!node) return;
  ShapeHandle shape = node->output_shapes[0];
  Tensor *value = &step->values[step->num_feeds];
  step->feeds[step->num_feeds++] = named(graph, name);
  DataType type = node->output_types[0];
  int rank = type == DT_INT32 ? 0 : shape_rank(shape);
  for (int d = 0; d < rank; d++) dims[d] = dim_value(shape->dims[d]);
  REQUIRE_OK(tensor_allocate_dims(value, type, rank, dims, NULL, &status), status);
  if (type == DT_INT32) *tensor_i32(value) = 4; /* rounds */
  for (int64_t i = 0; type == DT_FLOAT && i < tensor_num_elements(value); i++)
    tensor_f32(value)[i] = (float)(random_below(random, 257) - 128) / 256;
}

static TestStep step_of(const Graph *graph, const Case *of, Random *random) {
  static const char *const kFed[] = {"x", "h", "w", "b", "top"};
  TestStep step = {0};
  for (int i = 0; i < COUNT(kFed); i++) feed(&step, graph, kFed[i], random);
  for (int i = 0; i < 2 && of->fetches[i]; i++)
    step.fetches[step.num_fetches++] = named(graph, of->fetches[i]);
  return step;
}

static int count_ops(const Graph *graph, const char *prefix) {
  int count = 0;
  for (int64_t id = SINK_ID + 1; id < graph_num_node_ids(graph); id++) {
    const Node *node = graph_node(graph, id);
    count += node && strncmp(node->def->op, prefix, strlen(prefix)) == 0;
  }
  return count;
}

/* Both sessions give the same values, up to the order of sums, or fail with the same code. */
static void compare_steps(Fixture *f, const Case *of, Random *random) {
  TestStep step = step_of(f->graph, of, random), plain = step;
  Session *session = plain_session(f);
  Status status, plain_status;
  status_init(&status);
  status_init(&plain_status);
  REQUIRE(session);
  bool ok = run_step(f->session, &step, &status), plain_ok = run_step(session, &plain, &plain_status);
  CHECK_INT_EQ(status.code, plain_status.code);
  for (int i = 0; ok && plain_ok && i < step.num_fetches; i++) {
    if (!CHECK(shape_equal(&step.results[i].shape, &plain.results[i].shape))) continue;
    for (int64_t k = 0; k < tensor_num_elements(&plain.results[i]); k++)
      CHECK_NEAR(tensor_f32(&step.results[i])[k], tensor_f32(&plain.results[i])[k], 1e-6);
  }
  clear_results(&step);
  clear_results(&plain);
  clear_values(&step);
  session_free(session);
}

/* Optimizes the graph for the fetches, as a session does. */
static bool optimize(Fixture *f, const Case *of) {
  NodeSet keep;
  Arena *arena = arena_new();
  if (!CHECK(arena) || !CHECK_OK(node_set_new(f->graph, arena, &keep, &f->status), f->status)) return false;
  for (int i = 0; i < 2 && of->fetches[i]; i++) keep.member[named(f->graph, of->fetches[i]).node->id] = 1;
  const FuseOptions fuse = {NULL, NULL};
  OptimizerOptions options = optimizer_options_all(NULL);
  options.keep = &keep;
  options.fuse = &fuse;
  bool ok = CHECK_OK(graph_optimize(f->graph, &options, NULL, &f->status), f->status);
  CHECK(graph_is_whole(f->graph));
  arena_free(arena);
  return ok;
}

static void check_case(const Case *of, int number, bool is_listed, Random *random) {
  Fixture f;
  CHECK_CONTEXT("case %d", number);
  REQUIRE(begin(&f));
  REQUIRE_OK(import_lines(f.graph, of->lines, &f.status), f.status);
  compare_steps(&f, of, random);
  if (optimize(&f, of)) {
    CHECK_INT_EQ(count_ops(f.graph, "TensorArray") == 0, is_listed);
    CHECK_INT_EQ(count_ops(f.graph, FUSED_RECURRENCE), of->recurrences);
  }
  CHECK_CONTEXT("%s", "");
  end(&f);
}

TEST(arrays_of_loops_become_lists) {
  Random random = {1};
  for (int i = 0; i < COUNT(kListed); i++) check_case(&kListed[i], i, true, &random);
}

TEST(other_arrays_stay) {
  Random random = {2};
  for (int i = 0; i < COUNT(kOthers); i++) check_case(&kOthers[i], i, false, &random);
}

/* A loop over a list whose items are of any batch, as graphs have them that were made for any batch. */
#define ANY_BATCH \
  OUTSIDE FED("x", "[5,1,6]") "any Const ; ints=[-1,6]\nrow Const ^is ; ints=[-1,6]\n"             \
  "rows TensorListFromTensor x any ; element_dtype=DT_FLOAT shape_type=DT_INT32\n"                 \
  CONSTANT("rows", "DT_VARIANT", "rows")                                                           \
  "item TensorListGetItem rowse is:1 row ; element_dtype=DT_FLOAT Tshape=DT_INT32\n"               \
  COUNTER("five", "1") CELL("item")

TEST(items_state_their_whole_shapes) {
  const Case any = {ANY_BATCH, {"last"}, 1};
  Random random = {3};
  check_case(&any, 0, true, &random);
}

/* Nodes with effects stay in a step, and passes may not replace them. Arrays have none outside of the step.
 */
TEST(steps_need_not_keep_arrays) {
  Fixture f;
  FunctionBody *body;
  REQUIRE(begin(&f));
  REQUIRE_OK(import_lines(f.graph, kListed[0].lines, &f.status), f.status);
  const NodeOutput fetch = named(f.graph, "stack");
  const StepSignature signature = {.fetches = &fetch, .num_fetches = 1};
  if (CHECK_OK(client_graph_of_step(f.graph, &signature, &body, &f.status), f.status)) {
    CHECK_INT_EQ(body->num_control_rets, 0);
    function_body_free(body);
  }
  end(&f);
}
