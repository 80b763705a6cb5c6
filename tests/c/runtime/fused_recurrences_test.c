/* Loops that become one node (optimizer/fuse_recurrences.h, ops/nn/fused_recurrence.c). They compute the same
 * as in a session without the optimizer, up to the order of sums, and as loops in double. */
#include "optimizer/fuse_recurrences.h"

#include <math.h>

#include "graph/node_class.h"
#include "op/fused_op.h"
#include "optimizer/fuse_elementwise.h"
#include "optimizer/fuse_epilogues.h"
#include "optimizer/fuse_parts.h"
#include "optimizer/fuse_products.h"
#include "optimizer/graph_checker.h"
#include "optimizer/hoist_products.h"
#include "optimizer/list_arrays.h"
#include "optimizer/neutral_operands.h"
#include "optimizer/split_products.h"
#include "runtime/fused_steps.h"
#include "runtime/loop_text.h"
#include "runtime/thread_pool.h"

enum { ROUNDS = 5, UNITS = 20, GATES = 2 * UNITS };

/* clang-format off */
#define INT(name, value) name " Const ; int=" value "\n"
#define FED(name, shape) name " Placeholder ; dtype=DT_FLOAT shape=" shape "\n"
#define ROW(shape) "row Const ^is ; ints=" shape "\n"
#define FULL(shape) "full Const ; ints=" shape "\n"
#define LIST(rows) "list TensorListFromTensor " rows " any ; element_dtype=DT_FLOAT shape_type=DT_INT32\n"
#define RESERVE(count) "room TensorListReserve full " count " ; element_dtype=DT_FLOAT shape_type=DT_INT32\n"
#define STACK(count) \
  "stack TensorListStack oout full ; element_dtype=DT_FLOAT num_elements=" count "\noout Exit os ; T=DT_VARIANT\n"
#define EXIT(name) \
  name "exit Exit " name "s ; T=DT_FLOAT\n" name "out Identity " name "exit ; T=DT_FLOAT\n"
#define OUTSIDE INT("zero", "0") INT("any", "-1") INT("limit", "5")
/* `step` counts the rounds, and `at` is where a result is written. */
#define COUNTER(step, at) ROUND_NUMBER(step, at) ITEM
#define ROUND_NUMBER(step, at)                                                                     \
  VARIABLE("i", "DT_INT32", "zero", "inc") CONSTANT("limit", "DT_INT32", "limit")                  \
  "less Less im limite ; T=DT_INT32\nc LoopCond less\n"                                            \
  "one Const ^is ; int=" step "\ninc AddV2 is:1 one ; T=DT_INT32\n"                                \
  "index Const ^is ; int=" at "\n"
#define ITEM                                                                                       \
  CONSTANT("list", "DT_VARIANT", "list")                                                           \
  "item TensorListGetItem liste is:1 row ; element_dtype=DT_FLOAT Tshape=DT_INT32\n"
/* The same with TensorArrays (optimizer/list_arrays.h). */
#define ARRAY(name) name " TensorArrayV3 limit ; dtype=DT_FLOAT element_shape=unknown tensor_array_name='" name "'\n"
#define ARRAY_ITEM                                                                                 \
  ARRAY("array") "places Const ; ints=[0,1,2,3,4]\nrows TensorArrayScatterV3 array places x array:1 ; T=DT_FLOAT\n" \
  CONSTANT("array", "DT_RESOURCE", "array") CONSTANT("rows", "DT_FLOAT", "rows")                   \
  "item TensorArrayReadV3 arraye is:1 rowse ; dtype=DT_FLOAT\n"
#define ARRAY_WRITE(value)                                                                         \
  ARRAY("room") CONSTANT("room", "DT_RESOURCE", "room") VARIABLE("o", "DT_FLOAT", "room:1", "set") \
  "set TensorArrayWriteV3 roome is:1 " value " os:1 ; T=DT_FLOAT\noout Exit os ; T=DT_FLOAT\n"     \
  "all TensorArrayGatherV3 room places oout ; dtype=DT_FLOAT element_shape=unknown\n"               \
  "stack Identity all ; T=DT_FLOAT\n"
#define WRITE(index, value)                                                                        \
  VARIABLE("o", "DT_VARIANT", "room", "set")                                                       \
  "set TensorListSetItem os:1 " index " " value " ; element_dtype=DT_FLOAT\n"
#define WEIGHTS(name) CONSTANT(name, "DT_FLOAT", name)
#define MATMUL(name, a, b, transposed) \
  name " MatMul " a " " b " ; T=DT_FLOAT transpose_a=false transpose_b=" transposed "\n"
#define OP(name, op, inputs) name " " op " " inputs " ; T=DT_FLOAT\n"

/* h = Tanh(x + h w) */
#define RNN_OF(step, at, index, x_shape, h_shape, transposed)                                      \
  OUTSIDE ROW(h_shape) FULL(h_shape) FED("x", x_shape) FED("h", h_shape) FED("w", "[20,20]") LIST("x") COUNTER(step, at)      \
  WEIGHTS("w") VARIABLE("h", "DT_FLOAT", "h", "t") MATMUL("y", "hs:1", "we", transposed)           \
  OP("z", "AddV2", "y item") OP("t", "Tanh", "z") WRITE(index, "t") EXIT("h")
#define RNN RNN_OF("1", "0", "is:1", "[5,1,20]", "[1,20]", "false") RESERVE("limit") STACK("-1")
/* f, g = Split(x + h w); c = Sigmoid(f) c + Tanh(g); h = c Sigmoid(f) */
#define GATED GATED_OF("1")
#define GATED_OF(batch)                                                                            \
  OUTSIDE ROW("[" batch ",40]") FULL("[" batch ",20]") FED("x", "[5," batch ",40]") FED("h", "[" batch ",20]") \
  FED("w", "[20,40]") FED("c0", "[" batch ",20]") LIST("x") \
  COUNTER("1", "0") WEIGHTS("w") VARIABLE("h", "DT_FLOAT", "h", "h2")                              \
  VARIABLE("k", "DT_FLOAT", "c0", "k2") MATMUL("y", "hs:1", "we", "false") OP("z", "AddV2", "y item") \
  "axis Const ^is ; int=1\np Split axis z ; T=DT_FLOAT num_split=2\n"                              \
  OP("f", "Sigmoid", "p") OP("g", "Tanh", "p:1") OP("fk", "Mul", "f ks:1") OP("k2", "AddV2", "fk g") \
  OP("h2", "Mul", "k2 f") EXIT("h") EXIT("k")
/* Two products, a Const of the loop, and a row that is added in front of the activation. */
#define TWO_PRODUCTS TWO_PRODUCTS_OF("1")
#define TWO_PRODUCTS_OF(batch)                                                                     \
  OUTSIDE ROW("[" batch ",20]") FULL("[" batch ",20]") FED("x", "[5," batch ",20]") FED("h", "[" batch ",20]") \
  FED("w", "[20,20]") FED("v", "[20,20]") FED("b", "[20]") \
  LIST("x") COUNTER("1", "0") WEIGHTS("w") WEIGHTS("v") WEIGHTS("b") VARIABLE("h", "DT_FLOAT", "h", "h2") \
  MATMUL("y", "hs:1", "we", "false") OP("yb", "BiasAdd", "y be") OP("r", "Relu", "yb")            \
  MATMUL("u", "r", "ve", "true") "half Const ^is ; float=0.5\n" OP("s", "Mul", "u half")           \
  OP("z", "AddV2", "s item") OP("h2", "Tanh", "z") EXIT("h") WRITE("is:1", "h2") RESERVE("limit") STACK("5")
/* h = Tanh([x, h] w + b), of joined values. */
#define JOINED(along, batch, first, second, w, transposed)                                        \
  OUTSIDE ROW("[" batch ",20]") FULL("[" batch ",20]") FED("x", "[5," batch ",20]") FED("h", "[" batch ",20]") \
  FED("w", w) FED("b", "[20]") LIST("x") COUNTER("1", "0") WEIGHTS("w") WEIGHTS("b")               \
  VARIABLE("h", "DT_FLOAT", "h", "t") "along Const ^is ; int=" along "\n"                          \
  "xh ConcatV2 " first " " second " along ; T=DT_FLOAT N=2\n" MATMUL("y", "xh", "we", transposed)  \
  OP("z", "BiasAdd", "y be") OP("t", "Tanh", "z") EXIT("h")                                        \
  WRITE("is:1", "t") RESERVE("limit") STACK("-1")
/* h = the largest rows of [x; h] w, of joined rows. */
#define JOINED_ROWS                                                                                \
  OUTSIDE ROW("[1,20]") FED("x", "[5,1,20]") FED("h", "[1,20]") FED("w", "[20,20]") LIST("x")      \
  COUNTER("1", "0") WEIGHTS("w") VARIABLE("h", "DT_FLOAT", "h", "t") "along Const ^is ; int=0\n"   \
  "xh ConcatV2 item hs:1 along ; T=DT_FLOAT N=2\n" MATMUL("y", "xh", "we", "false")                \
  "rows Const ^is ; int=0\n" OP("most", "Max", "y rows") "same Const ^is ; ints=[1,20]\n"          \
  "t Reshape most same ; T=DT_FLOAT\n" EXIT("h")
/* h = Tanh([x0, h0] w): only the axis is dead when the loop has ended. */
#define JOINED_IN_ROUNDS                                                                           \
  OUTSIDE ROW("[1,20]") FED("x", "[5,1,20]") FED("h", "[1,20]") FED("w", "[40,20]") LIST("x")      \
  COUNTER("1", "0") WEIGHTS("w") CONSTANT("zero", "DT_INT32", "zero") CONSTANT("first", "DT_FLOAT", "h") \
  VARIABLE("h", "DT_FLOAT", "h", "t") "along Const ^is ; int=1\nsize Const ^liste ; ints=[1,20]\n" \
  "x0 TensorListGetItem liste zeroe size ; element_dtype=DT_FLOAT Tshape=DT_INT32\n"               \
  "xh ConcatV2 x0 firste along ; T=DT_FLOAT N=2\n" MATMUL("y", "xh", "we", "false")                \
  OP("t", "Tanh", "y") EXIT("h")
/* h = Tanh(x + h w) where the mask of a round is true, as Keras writes it: with a Tile that repeats it once. */
#define MASKED(batch, columns) \
  MASKED_OF(batch, columns, OP("z", "AddV2", "y item") OP("t", "Tanh", "z") OP("h2", "SelectV2", "tile t hs:1"))
#define MASKED_OF(batch, columns, CHOICE)                                                      \
  OUTSIDE ROW("[" batch ",20]") FULL("[" batch ",20]") FED("x", "[5," batch ",20]") FED("h", "[" batch ",20]") \
  FED("w", "[20,20]") FED("m", "[5," batch "," columns "]") "zeros Const ; float=0\n" LIST("x") COUNTER("1", "0") \
  MASKS("m") CONSTANT("masks", "DT_VARIANT", "masks") "once Const ^is ; ints=[1,1]\n"            \
  "part Const ^is ; ints=[" batch "," columns "]\n"                                                \
  "mask TensorListGetItem maskse is:1 part ; element_dtype=DT_BOOL Tshape=DT_INT32\n"              \
  "tile Tile mask once ; T=DT_BOOL Tmultiples=DT_INT32\n"                                          \
  WEIGHTS("w") VARIABLE("h", "DT_FLOAT", "h", "h2") MATMUL("y", "hs:1", "we", "false")             \
  CHOICE EXIT("h")                                                                                 \
  WRITE("is:1", "h2") RESERVE("limit") STACK("-1")
/* Values of a branch that is not taken: a size, and a shape. */
#define NOT_TAKEN                                                                                  \
  "never Const ; bool=false\nfork Switch h never ; T=DT_FLOAT\nbranch Identity fork:1 ; T=DT_FLOAT\n" \
  "wait NoOp ^branch\ndead_size Const ^wait ; int=5\ndead_shape Const ^wait ; ints=[1,20]\n"
#define MASKS(rows)                                                                                \
  "greater Greater " rows " zeros ; T=DT_FLOAT\n"                                                  \
  "masks TensorListFromTensor greater any ; element_dtype=DT_BOOL shape_type=DT_INT32\n"
/* clang-format on */

typedef struct Case {
  const char *lines, *fetches[3];
} Case;

static const Case kFused[] = {
    {RNN, {"hout", "stack"}},
    {RNN, {"stack"}},
    {RNN_OF("1", "0", "is:1", "[5,1,20]", "[1,20]", "true") RESERVE("limit") STACK("5"), {"stack", "hout"}},
    {RNN_OF("1", "0", "index", "[5,1,20]", "[1,20]", "false") INT("single", "1") RESERVE("single") STACK("1"),
     {"stack"}},
    {RNN_OF("1", "0", "is:1", "[9,1,20]", "[1,20]", "false") RESERVE("limit") STACK("-1"), {"hout", "stack"}},
    {GATED, {"hout", "kout"}},
    {GATED WRITE("is:1", "h2") RESERVE("limit") STACK("-1"), {"stack", "kout"}},
    {TWO_PRODUCTS, {"stack", "hout"}},
    {RNN_OF("1", "0", "is:1", "[5,2,20]", "[2,20]", "false") RESERVE("limit") STACK("-1"), {"hout", "stack"}},
    {RNN_OF("1", "0", "is:1", "[5,32,20]", "[32,20]", "true") RESERVE("limit") STACK("-1"),
     {"hout", "stack"}},
    {GATED_OF("3"), {"hout", "kout"}},
    {GATED_OF("8") WRITE("is:1", "h2") RESERVE("limit") STACK("-1"), {"stack", "kout"}},
    {TWO_PRODUCTS_OF("7"), {"stack", "hout"}},
    {MASKED("1", "1"), {"stack", "hout"}},
    {MASKED("3", "1"), {"stack", "hout"}},
    {MASKED("3", "20"), {"stack", "hout"}},
    {MASKED_OF("3", "1", OP("h2", "SelectV2", "tile y item")), {"stack", "hout"}}, /* a choice alone */
    {JOINED("1", "1", "item", "hs:1", "[40,20]", "false"), {"stack", "hout"}},
    {JOINED("1", "3", "hs:1", "item", "[20,40]", "true"), {"stack", "hout"}},
    {JOINED("-1", "2", "item", "hs:1", "[40,20]", "false"), {"stack", "hout"}},
};
/* Too many rows, an index that is not the first, another step of the counter, a list with more room, values
 * that leave otherwise, weights that change, rounds of another number than a constant, joined values that
 * something else reads, too, joined rows, and values that are joined in the rounds only. */
static const Case kOthers[] = {
    {RNN_OF("1", "0", "is:1", "[5,33,20]", "[33,20]", "false") RESERVE("limit") STACK("-1"),
     {"hout", "stack"}},
    {RNN_OF("1", "1", "index", "[5,1,20]", "[1,20]", "false") INT("two", "2") RESERVE("two") STACK("-1"),
     {"hout", "stack"}},
    {RNN_OF("2", "0", "is:1", "[5,1,20]", "[1,20]", "false") RESERVE("limit"), {"hout"}},
    {RNN_OF("1", "0", "is:1", "[5,1,20]", "[1,20]", "false") INT("six", "6") RESERVE("six") STACK("-1"),
     {"hout", "stack"}},
    {RNN "iout Exit is ; T=DT_INT32\ncopy Identity iout ; T=DT_INT32\n", {"hout", "copy"}},
    {RNN "count TensorListLength oout\n", {"hout", "count"}},
    {OUTSIDE ROW("[1,20]") FED("x", "[5,1,20]") FED("h", "[1,20]") FED("w", "[20,20]") LIST("x")
         COUNTER("1", "0") VARIABLE("v", "DT_FLOAT", "w", "v2") OP("v2", "Neg", "vs:1")
             VARIABLE("h", "DT_FLOAT", "h", "t") MATMUL("y", "hs:1", "vs:1", "false")
                 OP("z", "AddV2", "y item") OP("t", "Tanh", "z") EXIT("h"),
     {"hout"}},
    {JOINED("1", "1", "item", "hs:1", "[40,20]", "false") VARIABLE("k", "DT_FLOAT", "c0", "xh") EXIT("k")
         FED("c0", "[1,40]"),
     {"hout", "kout"}},
    {JOINED_ROWS, {"hout"}},
    {JOINED_IN_ROUNDS, {"hout"}},
    /* The list that is written is dead, and h is not; the shape of the stacked rows is dead, and they are
       not. */
    {NOT_TAKEN RNN_OF("1", "0", "is:1", "[5,1,20]", "[1,20]", "false") RESERVE("dead_size")
         STACK("-1") "end Merge stack x ; T=DT_FLOAT N=2\n",
     {"hout", "end"}},
    {NOT_TAKEN RNN_OF("1", "0", "is:1", "[5,1,20]", "[1,20]", "false")
         RESERVE("limit") "oout Exit os ; T=DT_VARIANT\nstack TensorListStack oout dead_shape ; "
                          "element_dtype=DT_FLOAT "
                          "num_elements=5\nend Merge stack x ; T=DT_FLOAT N=2\n",
     {"hout", "end"}},
};

static NodeOutput named(const Graph *graph, const char *name) { return out(graph_find_node(graph, name)); }

static void feed(TestStep *step, const Graph *graph, const char *name, int rank, const int64_t *dims,
                 Random *random) {
  Status status;
  status_init(&status);
  if (!graph_find_node(graph, name)) return;
  Tensor *value = &step->values[step->num_feeds];
  step->feeds[step->num_feeds++] = named(graph, name);
  REQUIRE_OK(tensor_allocate_dims(value, DT_FLOAT, rank, dims, NULL, &status), status);
  for (int64_t i = 0; i < tensor_num_elements(value); i++)
    tensor_f32(value)[i] = (float)(random_below(random, 257) - 128) / 256;
}

/* Feeds all placeholders with values of their shapes. */
static TestStep step_of(const Graph *graph, const Case *of, Random *random) {
  static const char *const kNames[] = {"x", "h", "w", "c0", "v", "b", "m"};
  TestStep step = {0};
  for (int i = 0; i < COUNT(kNames); i++) {
    const Node *node = graph_find_node(graph, kNames[i]);
    int64_t dims[3];
    if (!node) continue;
    ShapeHandle shape = node->output_shapes[0];
    for (int32_t d = 0; d < shape_rank(shape); d++) dims[d] = dim_value(shape->dims[d]);
    feed(&step, graph, kNames[i], shape_rank(shape), dims, random);
  }
  for (int i = 0; i < 3 && of->fetches[i]; i++)
    step.fetches[step.num_fetches++] = named(graph, of->fetches[i]);
  return step;
}

/* As graph_optimize does it. */
static bool fuses(Graph *graph, const NodeSet *keep) {
  Status status;
  status_init(&status);
  bool changed = false;
  const FuseOptions options = {NULL, NULL};
  CHECK_OK(graph_fixup_source_and_sink_edges(graph, NULL, &status), status);
  CHECK_OK(graph_list_read_arrays(graph, keep, &changed, &status), status);
  CHECK_OK(graph_infer_loops(graph, &status), status);
  CHECK_OK(graph_list_written_arrays(graph, keep, &changed, &status), status);
  CHECK_OK(graph_split_products(graph, keep, &changed, &status), status);
  CHECK_OK(graph_hoist_products(graph, keep, &changed, &status), status);
  CHECK_OK(graph_remove_neutral_operands(graph, keep, &changed, &status), status);
  CHECK_OK(graph_fuse_products(graph, keep, &changed, &status), status);
  CHECK_OK(graph_fuse_elementwise(graph, keep, &options, &changed, &status), status);
  CHECK_OK(graph_fuse_epilogues(graph, keep, &changed, &status), status);
  CHECK_OK(graph_fuse_parts(graph, keep, &changed, &status), status);
  CHECK_OK(graph_fuse_recurrences(graph, keep, &changed, &status), status);
  CHECK_OK(graph_fixup_source_and_sink_edges(graph, NULL, &status), status);
  CHECK(graph_is_whole(graph));
  return changed;
}

static int count_ops(const Graph *graph, const char *op) {
  int count = 0;
  for (int64_t id = SINK_ID + 1; id < graph_num_node_ids(graph); id++) {
    const Node *node = graph_node(graph, id);
    count += node && strcmp(node->def->op, op) == 0;
  }
  return count;
}

/* Enters that products leave behind, which move in front of the loop. Other cases must leave none. */
static int unread_enters(const Graph *graph) {
  int count = 0;
  if (count_ops(graph, "BatchMatMulV2") == 0) return 0;
  for (int64_t id = SINK_ID + 1; id < graph_num_node_ids(graph); id++) {
    const Node *node = graph_node(graph, id);
    count += node && node_is_enter(node) && node->num_out_edges == 0;
  }
  return count;
}

static void check_near(const Tensor *fused, const Tensor *plain, const char *what) {
  if (!CHECK(fused->dtype == plain->dtype && shape_equal(&fused->shape, &plain->shape))) return;
  for (int64_t i = 0; i < tensor_num_elements(plain); i++) {
    CHECK_CONTEXT("%s, element %d", what, (int)i);
    CHECK_NEAR(tensor_double_at(fused, i), tensor_double_at(plain, i), 1e-6);
  }
}

/* Up to the order of sums, which products of products make larger. */
static void check_close(const Tensor *fused, const Tensor *plain) {
  if (!CHECK(shape_equal(&fused->shape, &plain->shape))) return;
  for (int64_t i = 0; i < tensor_num_elements(plain); i++) {
    double want = tensor_double_at(plain, i);
    CHECK_NEAR(tensor_double_at(fused, i), want, 1e-4 * (1 + fabs(want)));
  }
}

static void check_case(const Case *of, int number, bool fused, Random *random) {
  Fixture f;
  REQUIRE(begin(&f));
  REQUIRE_OK(import_lines(f.graph, of->lines, &f.status), f.status);
  TestStep step = step_of(f.graph, of, random), plain = step;
  Session *session = plain_session(&f);
  REQUIRE(session);
  for (int run = 0; run < 3; run++) { /* the second run finds its plans */
    CHECK_CONTEXT("case %d, run %d", number, run);
    if (CHECK_OK(run_step(f.session, &step, &f.status), f.status) &&
        CHECK_OK(run_step(session, &plain, &f.status), f.status)) {
      for (int i = 0; i < step.num_fetches; i++)
        check_near(&step.results[i], &plain.results[i], of->fetches[i]);
    }
    clear_results(&step);
    clear_results(&plain);
  }
  CHECK_CONTEXT("case %d", number);
  clear_values(&step);
  session_free(session);
  CHECK_INT_EQ(fuses(f.graph, NULL), fused);
  CHECK_INT_EQ(count_ops(f.graph, FUSED_RECURRENCE), fused);
  if (fused)
    CHECK_INT_EQ(count_ops(f.graph, "Enter") - unread_enters(f.graph) + count_ops(f.graph, "LoopCond"), 0);
  end(&f);
}

TEST(loops_over_rows_become_one_node) {
  Random random = {1};
  for (int i = 0; i < COUNT(kFused); i++) check_case(&kFused[i], i, true, &random);
  CHECK_CONTEXT("%s", "");
}

TEST(other_loops_stay) {
  Random random = {2};
  for (int i = 0; i < COUNT(kOthers); i++) check_case(&kOthers[i], i, false, &random);
  CHECK_CONTEXT("%s", "");
}

/* The stack of a recurrent cell, by loops in double. */
TEST(a_recurrence_is_what_its_formula_says) {
  Random random = {3};
  Fixture f;
  REQUIRE(begin(&f));
  REQUIRE_OK(import_lines(f.graph, kFused[0].lines, &f.status), f.status);
  TestStep step = step_of(f.graph, &kFused[0], &random);
  const float *x = tensor_f32(&step.values[0]), *w = tensor_f32(&step.values[2]);
  double h[UNITS], next[UNITS];
  for (int j = 0; j < UNITS; j++) h[j] = tensor_f32(&step.values[1])[j];
  if (CHECK_OK(run_step(f.session, &step, &f.status), f.status)) {
    const float *last = tensor_f32(&step.results[0]), *all = tensor_f32(&step.results[1]);
    for (int t = 0; t < ROUNDS; t++) {
      for (int j = 0; j < UNITS; j++) {
        double sum = x[t * UNITS + j];
        for (int k = 0; k < UNITS; k++) sum += h[k] * w[k * UNITS + j];
        next[j] = tanh(sum);
        CHECK_NEAR(all[t * UNITS + j], next[j], 1e-6);
      }
      memcpy(h, next, sizeof h);
    }
    for (int j = 0; j < UNITS; j++) CHECK_NEAR(last[j], h[j], 1e-6);
  }
  clear_results(&step);
  clear_values(&step);
  end(&f);
}

/* The counter begins in a branch that is not taken, so that the loop is dead, although its rows are not. */
TEST(a_loop_in_a_dead_branch_stays_dead) {
  static const char kLines[] =
      "never Const ; bool=false\nfork Switch h never ; T=DT_FLOAT\n"
      "taken Identity fork ; T=DT_FLOAT\nbranch Identity fork:1 ; T=DT_FLOAT\nwait NoOp ^branch\n"
      "zero Const ^wait ; int=0\n" INT("any", "-1") INT("limit", "5") ROW("[1,20]") FED("x", "[5,1,20]")
          FED("h", "[1,20]") FED("w", "[20,20]") LIST("x") COUNTER("1", "0") WEIGHTS("w")
              VARIABLE("h", "DT_FLOAT", "h", "t") MATMUL("y", "hs:1", "we", "false")
                  OP("z", "AddV2", "y item") OP("t", "Tanh", "z")
                      EXIT("h") "end Merge hout taken ; T=DT_FLOAT N=2\n";
  const Case dead = {kLines, {"end"}};
  Random random = {5};
  Fixture f;
  REQUIRE(begin(&f));
  REQUIRE_OK(import_lines(f.graph, kLines, &f.status), f.status);
  TestStep step = step_of(f.graph, &dead, &random);
  if (CHECK_OK(run_step(f.session, &step, &f.status), f.status))
    check_same(&step.results[0], &step.values[1], "the start");
  clear_results(&step);
  clear_values(&step);
  CHECK(fuses(f.graph, NULL));
  CHECK_INT_EQ(count_ops(f.graph, FUSED_RECURRENCE), 1);
  end(&f);
}

/* A page waits for a node, and rounds take time however small their matrices are. */
TEST(long_loops_stay) {
  static const struct {
    const char *rounds;
    bool fused;
  } kCases[] = {{"10000", true}, {"40000", false}};
  for (int i = 0; i < COUNT(kCases); i++) {
    CHECK_CONTEXT("%s rounds", kCases[i].rounds);
    char lines[2048];
    snprintf(lines, sizeof lines, "limit Const ; int=%s\n%s", kCases[i].rounds,
             INT("zero", "0") FED("h", "[1,1]") FED("w", "[1,1]") ROUND_NUMBER("1", "0") WEIGHTS("w")
                 VARIABLE("h", "DT_FLOAT", "h", "t") MATMUL("y", "hs:1", "we", "false") OP("z", "Neg", "y")
                     OP("t", "Tanh", "z") EXIT("h"));
    Fixture f;
    REQUIRE(begin(&f));
    REQUIRE_OK(import_lines(f.graph, lines, &f.status), f.status);
    CHECK_INT_EQ(fuses(f.graph, NULL), kCases[i].fused);
    CHECK_INT_EQ(count_ops(f.graph, FUSED_RECURRENCE), kCases[i].fused);
    end(&f);
  }
  CHECK_CONTEXT("%s", "");
}

TEST(a_loop_with_a_node_that_is_kept_stays) {
  Fixture f;
  NodeSet keep;
  Arena *arena = arena_new();
  REQUIRE(arena && begin(&f));
  REQUIRE_OK(import_lines(f.graph, kFused[0].lines, &f.status), f.status);
  REQUIRE_OK(node_set_new(f.graph, arena, &keep, &f.status), f.status);
  keep.member[named(f.graph, "item").node->id] = 1;
  fuses(f.graph, &keep);
  CHECK_INT_EQ(count_ops(f.graph, FUSED_RECURRENCE), 0);
  CHECK(graph_find_node(f.graph, "item"));
  arena_free(arena);
  end(&f);
}

#define LARGE(batch)                  \
  INT("zero", "0")                    \
  INT("any", "-1")                    \
  INT("limit", "40")                  \
  ROW("[" batch ",256]")              \
  FED("x", "[40," batch ",256]")      \
  FED("h", "[" batch ",256]")         \
  FED("w", "[256,256]")               \
  LIST("x")                           \
  COUNTER("1", "0")                   \
  WEIGHTS("w")                        \
  VARIABLE("h", "DT_FLOAT", "h", "t") \
  MATMUL("y", "hs:1", "we", "false") OP("z", "AddV2", "y item") OP("t", "Tanh", "z") EXIT("h")

/* Threads share large cells; the results are the same bits. */
TEST(threads_share_a_recurrence) {
  enum { SIZE = 256 };
  static const Case kLarge[] = {{LARGE("1"), {"hout"}}, {LARGE("5"), {"hout"}}};
  for (int of = 0; of < COUNT(kLarge); of++) {
    Tensor first = {0};
    for (int threads = 1; threads <= 4; threads++) {
      Random random = {4};
      Fixture f;
      thread_pool_set_size(threads);
      REQUIRE(begin(&f));
      REQUIRE_OK(import_lines(f.graph, kLarge[of].lines, &f.status), f.status);
      TestStep step = step_of(f.graph, &kLarge[of], &random);
      for (int i = 0; i < SIZE * SIZE; i++) tensor_f32(&step.values[2])[i] /= 16; /* so that no tanh is one */
      for (int run = 0; run < 10; run++) {
        if (!CHECK_OK(run_step(f.session, &step, &f.status), f.status)) break;
        if (!first.data) tensor_move(&first, &step.results[0]);
        else check_same(&step.results[0], &first, "the last rows");
        clear_results(&step);
      }
      clear_values(&step);
      end(&f);
    }
    tensor_clear(&first);
  }
  thread_pool_set_size(1);
}

/* --- random cells --- */

enum { MOST_ROWS = 48, MOST_STATES = 3 };

/* A loop whose rounds compute matrices of `batch` rows and `units` columns, as text. */
typedef struct Cell {
  Random *random;
  StrBuf text;
  int batch, units, num_states, num_rows;
  bool has_arrays;          /* else lists */
  char rows[MOST_ROWS][16]; /* the names of rows so far */
  bool read[MOST_ROWS];
} Cell;

static const char *row_name(Cell *cell) {
  int i = random_below(cell->random, cell->num_rows);
  cell->read[i] = true;
  return cell->rows[i];
}

static void add_row(Cell *cell, const char *name) {
  snprintf(cell->rows[cell->num_rows++], sizeof *cell->rows, "%s", name);
}

static void add_computed(Cell *cell, int number) {
  static const char *const kUnary[] = {"Tanh", "Sigmoid", "Relu", "Neg", "Square"},
                           *const kBinary[] = {"AddV2", "Sub", "Mul", "Maximum"},
                           *const kRepeated[] = {"b0e", "b1e", "b2e"}, *const kMasks[] = {"mask", "fixede"};
  char name[16];
  snprintf(name, sizeof name, "r%d", number);
  strbuf_printf(&cell->text, "%s ", name);
  if (one_in(cell->random, 12))
    strbuf_printf(&cell->text,
                  "MatMul joined%d w2e ; T=DT_FLOAT transpose_a=false transpose_b=false\n"
                  "joined%d ConcatV2 item %s along ; T=DT_FLOAT N=2\n",
                  number, number, row_name(cell));
  else if (one_in(cell->random, 4))
    strbuf_printf(&cell->text, "MatMul %s w%de ; T=DT_FLOAT transpose_a=false transpose_b=%s\n",
                  row_name(cell), (int)random_below(cell->random, 2),
                  one_in(cell->random, 2) ? "true" : "false");
  else if (one_in(cell->random, 2))
    strbuf_printf(&cell->text, "%s %s ; T=DT_FLOAT\n", pick(cell->random, kUnary, COUNT(kUnary)),
                  row_name(cell));
  else if (one_in(cell->random, 5))
    strbuf_printf(&cell->text, "SelectV2 %s %s %s ; T=DT_FLOAT\n", pick(cell->random, kMasks, COUNT(kMasks)),
                  row_name(cell), row_name(cell));
  else if (one_in(cell->random, 3))
    strbuf_printf(&cell->text, "%s %s %s ; T=DT_FLOAT\n", pick(cell->random, kBinary, COUNT(kBinary)),
                  row_name(cell), pick(cell->random, kRepeated, COUNT(kRepeated)));
  else
    strbuf_printf(&cell->text, "%s %s %s ; T=DT_FLOAT\n", pick(cell->random, kBinary, COUNT(kBinary)),
                  row_name(cell), row_name(cell));
  add_row(cell, name);
}

/* Adds what no other row reads. */
static void join_rows(Cell *cell) {
  const char *sum = cell->rows[cell->num_rows - 1];
  char name[16];
  for (int i = 0, count = cell->num_rows; i < count - 1; i++) {
    if (cell->read[i]) continue;
    snprintf(name, sizeof name, "j%d", i);
    strbuf_printf(&cell->text, "%s AddV2 %s %s ; T=DT_FLOAT\n", name, sum, cell->rows[i]);
    add_row(cell, name);
    sum = cell->rows[cell->num_rows - 1];
  }
}

/* Tanh bounds what states become. The first one becomes the last row. */
static void add_states(Cell *cell) {
  for (int i = 0; i < cell->num_states; i++) {
    const char *next = i == 0 ? cell->rows[cell->num_rows - 1] : row_name(cell);
    strbuf_printf(&cell->text,
                  "s%dnext Tanh %s ; T=DT_FLOAT\ns%de Enter s%d ; T=DT_FLOAT frame_name='loop'\n"
                  "s%dm Merge s%de s%dn ; T=DT_FLOAT N=2\ns%ds Switch s%dm c ; T=DT_FLOAT\n"
                  "s%dn NextIteration s%dnext ; T=DT_FLOAT\ns%dexit Exit s%ds ; T=DT_FLOAT\n"
                  "s%dout Identity s%dexit ; T=DT_FLOAT\n",
                  i, next, i, i, i, i, i, i, i, i, i, i, i, i, i);
  }
}

static void write_cell(Cell *cell) {
  char name[16];
  int computed = 1 + (int)random_below(cell->random, 12);
  strbuf_append(&cell->text, INT("zero", "0") INT("any", "-1") INT("limit", "5") ROUND_NUMBER("1", "0"));
  strbuf_append(&cell->text, cell->has_arrays ? ARRAY_ITEM : LIST("x") ITEM);
  strbuf_printf(&cell->text,
                "row Const ^is ; ints=[%d,%d]\nfull Const ; ints=[%d,%d]\n"
                "x Placeholder ; dtype=DT_FLOAT shape=[5,%d,%d]\n",
                cell->batch, cell->units, cell->batch, cell->units, cell->batch, cell->units);
  for (int i = 0; i < cell->num_states; i++) {
    strbuf_printf(&cell->text, "s%d Placeholder ; dtype=DT_FLOAT shape=[%d,%d]\n", i, cell->batch,
                  cell->units);
    snprintf(name, sizeof name, "s%ds:1", i);
    add_row(cell, name);
  }
  for (int i = 0; i < 2; i++)
    strbuf_printf(&cell->text,
                  "w%d Placeholder ; dtype=DT_FLOAT shape=[%d,%d]\n"
                  "w%de Enter w%d ; T=DT_FLOAT frame_name='loop' is_constant=true\n",
                  i, cell->units, cell->units, i, i);
  strbuf_printf(&cell->text,
                "w2 Placeholder ; dtype=DT_FLOAT shape=[%d,%d]\n"
                "w2e Enter w2 ; T=DT_FLOAT frame_name='loop' is_constant=true\nalong Const ^is ; int=1\n",
                2 * cell->units, cell->units);
  strbuf_printf(&cell->text,
                "b0 Placeholder ; dtype=DT_FLOAT shape=[%d]\nb1 Placeholder ; dtype=DT_FLOAT shape=[%d,1]\n"
                "b2 Placeholder ; dtype=DT_FLOAT shape=[1,%d]\n",
                cell->units, cell->batch, cell->units);
  /* A mask of each round, and one of all. */
  strbuf_printf(&cell->text,
                MASKS("m") "zeros Const ; float=0\nm Placeholder ; dtype=DT_FLOAT shape=[5,%d,1]\n"
                           "part Const ^is ; ints=[%d,1]\nfixed Greater b2 zeros ; T=DT_FLOAT\n",
                cell->batch, cell->batch);
  strbuf_append(
      &cell->text,
      CONSTANT("masks", "DT_VARIANT", "masks") CONSTANT(
          "fixed", "DT_BOOL",
          "fixed") "mask TensorListGetItem maskse is:1 part ; element_dtype=DT_BOOL Tshape=DT_INT32\n");
  for (int i = 0; i < 3; i++)
    strbuf_printf(&cell->text, "b%de Enter b%d ; T=DT_FLOAT frame_name='loop' is_constant=true\n", i, i);
  add_row(cell, "item");
  for (int i = 0; i < computed; i++) add_computed(cell, i);
  join_rows(cell);
  add_states(cell);
  strbuf_printf(&cell->text,
                cell->has_arrays ? ARRAY_WRITE("r%d") : WRITE("is:1", "r%d") RESERVE("limit") STACK("-1"),
                (int)random_below(cell->random, computed));
}

static TestStep step_of_cell(const Graph *graph, const Cell *cell, Random *random) {
  static const char *const kStates[] = {"s0", "s1", "s2"}, *const kLast[] = {"s0out", "s1out", "s2out"},
                           *const kWeights[] = {"w0", "w1", "w2"};
  TestStep step = {.fetches = {named(graph, "stack")}, .num_fetches = 1};
  const int64_t dims[] = {ROUNDS, cell->batch, cell->units}, square[] = {cell->units, cell->units},
                joined[] = {2 * cell->units, cell->units}, column[] = {cell->batch, 1},
                row[] = {1, cell->units}, masks[] = {ROUNDS, cell->batch, 1};
  feed(&step, graph, "x", 3, dims, random);
  feed(&step, graph, "b0", 1, dims + 2, random);
  feed(&step, graph, "b1", 2, column, random);
  feed(&step, graph, "b2", 2, row, random);
  feed(&step, graph, "m", 3, masks, random);
  /* Products of large weights would enlarge errors from round to round. */
  for (int i = 0; i < 3; i++) {
    feed(&step, graph, kWeights[i], 2, i < 2 ? square : joined, random);
    float *weights = tensor_f32(&step.values[step.num_feeds - 1]);
    for (int k = 0; k < tensor_num_elements(&step.values[step.num_feeds - 1]); k++)
      weights[k] /= 1 + (float)cell->units / 8;
  }
  for (int i = 0; i < cell->num_states; i++) {
    feed(&step, graph, kStates[i], 2, dims + 1, random);
    step.fetches[step.num_fetches++] = named(graph, kLast[i]);
  }
  return step;
}

/* Returns whether the loop became one node. */
static bool check_cell(Cell *cell) {
  Fixture f;
  if (!CHECK(begin(&f))) return false;
  write_cell(cell);
  if (!CHECK_OK(import_lines(f.graph, strbuf_text(&cell->text), &f.status), f.status)) return false;
  TestStep step = step_of_cell(f.graph, cell, cell->random), plain = step;
  Session *session = plain_session(&f);
  if (CHECK(session) && CHECK_OK(run_step(f.session, &step, &f.status), f.status) &&
      CHECK_OK(run_step(session, &plain, &f.status), f.status)) {
    for (int i = 0; i < step.num_fetches; i++) check_close(&step.results[i], &plain.results[i]);
  }
  clear_results(&step);
  clear_results(&plain);
  clear_values(&step);
  session_free(session);
  bool fused = fuses(f.graph, NULL) && count_ops(f.graph, FUSED_RECURRENCE) == 1;
  end(&f);
  return fused;
}

TEST(random_cells_compute_the_same_in_one_node) {
  static const int kUnits[] = {1, 3, 8, 17, 64, 150}, kBatches[] = {1, 1, 2, 5, 12};
  Random random = {6};
  int fused = 0, several = 0, of_arrays = 0;
  for (int seed = 0; seed < 500; seed++) {
    Cell cell = {.random = &random,
                 .batch = kBatches[random_below(&random, COUNT(kBatches))],
                 .units = kUnits[random_below(&random, COUNT(kUnits))],
                 .num_states = 1 + (int)random_below(&random, MOST_STATES),
                 .has_arrays = one_in(&random, 3)};
    CHECK_CONTEXT("cell %d", seed);
    bool is_fused = check_cell(&cell);
    fused += is_fused;
    several += is_fused && cell.batch > 1;
    of_arrays += is_fused && cell.has_arrays;
    strbuf_free(&cell.text);
  }
  CHECK_CONTEXT("%s", "");
  CHECK(fused > 60 && several > 20 && of_arrays > 20);
}
