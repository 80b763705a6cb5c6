/* Products of loops that are computed in front of them (optimizer/hoist_products.h), and weights that enter
 * loops as constants (optimizer/loop_values.h). Expected values are sums in double. */
#include "optimizer/hoist_products.h"

#include "optimizer/loop_values.h"
#include "runtime/fused_steps.h"
#include "runtime/loop_text.h"

enum { ROUNDS = 5, ROWS = 2, DEPTH = 3, COLUMNS = 4 };

/* A loop of `limit` rounds, which adds the products of the rows of x with w to `start`. `list` and `w` name
 * them in the loop. */
/* clang-format off */
#define OUTSIDE                                                             \
  "zero Const ; int=0\nany Const ; int=-1\n"                                \
  "limit Placeholder ; dtype=DT_INT32 shape=[]\n"                           \
  "w Placeholder ; dtype=DT_FLOAT shape=[3,4]\n"                            \
  "start Placeholder ; dtype=DT_FLOAT shape=[2,4]\n"                        \
  "list TensorListFromTensor x anything ; element_dtype=DT_FLOAT shape_type=DT_INT32\n"
#define X "x Placeholder ; dtype=DT_FLOAT shape=[5,2,3]\n"
#define ROUND(list, index, w, transposed)                                                              \
  VARIABLE("i", "DT_INT32", "first", "inc") VARIABLE("a", "DT_FLOAT", "from", "sum")                   \
  CONSTANT("limit", "DT_INT32", "bound") CONSTANT("any", "DT_INT32", "anything")                            \
  "less Less im limite ; T=DT_INT32\nc LoopCond less\n"                                                \
  "one Const ^is ; int=1\ninc AddV2 is:1 one ; T=DT_INT32\n"                                           \
  "item TensorListGetItem " list " " index " anye ; element_dtype=DT_FLOAT Tshape=DT_INT32\n"          \
  "y MatMul item " w " ; T=DT_FLOAT transpose_a=false transpose_b=" transposed "\n"                    \
  "sum AddV2 as:1 y ; T=DT_FLOAT\nout Exit as ; T=DT_FLOAT\n"
#define ALIVE(name, type, value) name " Identity " value " ; T=" type "\n"
#define DEAD(name, type, value) name "d Switch " value " never ; T=" type "\n" name " Identity " name "d:1 ; T=" type "\n"
#define PASS(HOW)                                                                                   \
  HOW("first", "DT_INT32", "zero") HOW("from", "DT_FLOAT", "start") HOW("bound", "DT_INT32", "limit") \
  HOW("anything", "DT_INT32", "any") HOW("weights", "DT_FLOAT", "w")
#define LIST_VARIABLE VARIABLE("l", "DT_VARIANT", "list", "ls:1")
#define LIST_CONSTANT CONSTANT("l", "DT_VARIANT", "list")
#define W_VARIABLE VARIABLE("v", "DT_FLOAT", "weights", "vs:1")
#define W_CONSTANT CONSTANT("v", "DT_FLOAT", "weights")
/* clang-format on */

static const char *const kHoisted[] = {
    OUTSIDE PASS(ALIVE) X LIST_CONSTANT W_CONSTANT ROUND("le", "is:1", "ve", "false"),
    OUTSIDE PASS(ALIVE) X LIST_VARIABLE W_VARIABLE ROUND("ls:1", "is:1", "vs:1", "false"),
};
/* Weights that change, a list that changes, the same row in every round, rows of unknown shape. */
static const char *const kOthers[] = {
    OUTSIDE PASS(ALIVE)
        X LIST_CONSTANT VARIABLE("v", "DT_FLOAT", "weights",
                                 "twice") "twice AddV2 vs:1 vs:1 ; T=DT_FLOAT\n" ROUND("le", "is:1", "vs:1",
                                                                                       "false"),
    OUTSIDE PASS(ALIVE) X W_CONSTANT VARIABLE(
        "l", "DT_VARIANT", "list",
        "other") "other TensorListSetItem ls:1 zeroe rowe ; element_dtype=DT_FLOAT\n" CONSTANT("zero",
                                                                                               "DT_INT32",
                                                                                               "zero")
        CONSTANT("row", "DT_FLOAT",
                 "row") "row Placeholder ; dtype=DT_FLOAT shape=[2,3]\n" ROUND("ls:1", "is:1", "ve", "false"),
    OUTSIDE PASS(ALIVE) X LIST_CONSTANT W_CONSTANT CONSTANT("zero", "DT_INT32", "zero")
        ROUND("le", "zeroe", "ve", "false"),
    OUTSIDE PASS(ALIVE) "x Placeholder ; dtype=DT_FLOAT shape=unknown\n" LIST_CONSTANT W_CONSTANT
        ROUND("le", "is:1", "ve", "false"),
};

static NodeOutput named(const Graph *graph, const char *name) { return out(graph_find_node(graph, name)); }

static bool hoists(Graph *graph, const NodeSet *keep) {
  Status status;
  status_init(&status);
  bool changed = false;
  CHECK_OK(graph_infer_loops(graph, &status), status);
  CHECK_OK(graph_hoist_products(graph, keep, &changed, &status), status);
  return changed;
}

/* --- steps --- */

static void set_floats(Tensor *tensor, int rank, const int64_t *dims, Random *random) {
  Status status;
  status_init(&status);
  REQUIRE_OK(tensor_allocate_dims(tensor, DT_FLOAT, rank, dims, NULL, &status), status);
  for (int64_t i = 0; i < tensor_num_elements(tensor); i++)
    tensor_f32(tensor)[i] = (float)(random_below(random, 257) - 128) / 64;
}

static void feed(TestStep *step, NodeOutput to, int rank, const int64_t *dims, Random *random) {
  step->feeds[step->num_feeds] = to;
  set_floats(&step->values[step->num_feeds++], rank, dims, random);
}

/* Feeds `rounds` rounds, x, w, start; fetches the result. */
static TestStep step_of(const Graph *graph, int32_t rounds, Random *random) {
  static const int64_t kX[] = {ROUNDS, ROWS, DEPTH}, kStart[] = {ROWS, COLUMNS};
  TestStep step = {.fetches = {named(graph, "out")}, .num_fetches = 1};
  Status status;
  status_init(&status);
  CHECK_OK(tensor_allocate_dims(&step.values[0], DT_INT32, 0, NULL, NULL, &status), status);
  *tensor_i32(&step.values[0]) = rounds;
  step.feeds[step.num_feeds++] = named(graph, "limit");
  feed(&step, named(graph, "x"), 3, kX, random);
  feed(&step, named(graph, "w"), 2, (int64_t[]){DEPTH, COLUMNS}, random);
  feed(&step, named(graph, "start"), 2, kStart, random);
  if (named(graph, "row").node) feed(&step, named(graph, "row"), 2, kX + 1, random);
  return step;
}

static void check_sum(const TestStep *step) {
  const float *x = tensor_f32(&step->values[1]), *w = tensor_f32(&step->values[2]),
              *start = tensor_f32(&step->values[3]);
  for (int i = 0; i < ROWS; i++) {
    for (int j = 0; j < COLUMNS; j++) {
      double sum = start[i * COLUMNS + j];
      for (int t = 0; t < *tensor_i32(&step->values[0]); t++) {
        for (int k = 0; k < DEPTH; k++) sum += (double)x[(t * ROWS + i) * DEPTH + k] * w[k * COLUMNS + j];
      }
      CHECK_NEAR(tensor_f32(&step->results[0])[i * COLUMNS + j], sum, 1e-5);
    }
  }
}

TEST(products_of_rows_are_computed_in_front_of_the_loop) {
  Random random = {1};
  for (int i = 0; i < COUNT(kHoisted); i++) {
    for (int rounds = 0; rounds <= ROUNDS; rounds += ROUNDS) {
      CHECK_CONTEXT("case %d, %d rounds", i, rounds);
      Fixture f;
      REQUIRE(begin(&f));
      REQUIRE_OK(import_lines(f.graph, kHoisted[i], &f.status), f.status);
      TestStep step = step_of(f.graph, rounds, &random);
      if (CHECK_OK(run_step(f.session, &step, &f.status), f.status)) check_sum(&step);
      clear_results(&step);
      clear_values(&step);
      CHECK(hoists(f.graph, NULL));
      CHECK(!graph_find_node(f.graph, "y"));
      CHECK_STR_EQ(named(f.graph, "y_1").node->def->op, "BatchMatMulV2");
      CHECK(!hoists(f.graph, NULL));
      end(&f);
    }
  }
  CHECK_CONTEXT("%s", "");
}

TEST(other_products_of_loops_stay) {
  Random random = {2};
  for (int i = 0; i < COUNT(kOthers); i++) {
    CHECK_CONTEXT("case %d", i);
    Fixture f;
    REQUIRE(begin(&f));
    REQUIRE_OK(import_lines(f.graph, kOthers[i], &f.status), f.status);
    TestStep step = step_of(f.graph, ROUNDS, &random), plain = step;
    Session *session = plain_session(&f);
    REQUIRE(session);
    if (CHECK_OK(run_step(f.session, &step, &f.status), f.status) &&
        CHECK_OK(run_step(session, &plain, &f.status), f.status))
      check_same(&step.results[0], &plain.results[0], "the sum");
    clear_results(&step);
    clear_results(&plain);
    clear_values(&step);
    session_free(session);
    CHECK(!hoists(f.graph, NULL));
    end(&f);
  }
  CHECK_CONTEXT("%s", "");
}

TEST(a_product_that_is_fetched_stays) {
  Fixture f;
  NodeSet keep;
  Arena *arena = arena_new();
  REQUIRE(arena && begin(&f));
  REQUIRE_OK(import_lines(f.graph, kHoisted[0], &f.status), f.status);
  REQUIRE_OK(node_set_new(f.graph, arena, &keep, &f.status), f.status);
  keep.member[named(f.graph, "y").node->id] = 1;
  CHECK(!hoists(f.graph, &keep));
  arena_free(arena);
  end(&f);
}

/* A row behind the last one, and weights that do not fit, fail with the same words. */
TEST(loops_fail_as_without_the_optimizer) {
  Random random = {3};
  for (int i = 0; i < 2; i++) {
    Fixture f;
    REQUIRE(begin(&f));
    REQUIRE_OK(import_lines(f.graph, kHoisted[i], &f.status), f.status);
    Session *session = plain_session(&f);
    REQUIRE(session);
    TestStep step = step_of(f.graph, ROUNDS + 1, &random);
    Status plain;
    status_init(&plain);
    CHECK(!run_step(f.session, &step, &f.status));
    CHECK(!run_step(session, &step, &plain));
    CHECK_INT_EQ(f.status.code, CODE_INVALID_ARGUMENT);
    CHECK_INT_EQ(plain.code, f.status.code);
    CHECK_STR_EQ(f.status.message, plain.message);
    clear_values(&step);
    session_free(session);
    end(&f);
  }
}

/* The loop stands in a branch that is not taken: nothing of it, and nothing in front of it, may run. */
TEST(loops_in_dead_branches_stay_dead) {
  static const char kLines[] = OUTSIDE PASS(
      DEAD) "fed Placeholder ; dtype=DT_FLOAT shape=[5,2,3]\nnever Const ; bool=false\n" DEAD("x", "DT_FLOAT",
                                                                                              "fed")
      LIST_CONSTANT W_CONSTANT ROUND("le", "is:1", "ve", "false") "end Merge fromd out ; T=DT_FLOAT N=2\n";
  Random random = {4};
  Fixture f;
  REQUIRE(begin(&f));
  REQUIRE_OK(import_lines(f.graph, kLines, &f.status), f.status);
  static const int64_t kX[] = {ROUNDS, ROWS, DEPTH}, kStart[] = {ROWS, COLUMNS};
  TestStep step = {.fetches = {named(f.graph, "end")}, .num_fetches = 1};
  feed(&step, named(f.graph, "fed"), 3, kX, &random);
  feed(&step, named(f.graph, "w"), 2, (int64_t[]){DEPTH, COLUMNS}, &random);
  feed(&step, named(f.graph, "start"), 2, kStart, &random);
  CHECK_OK(tensor_allocate_dims(&step.values[3], DT_INT32, 0, NULL, NULL, &f.status), f.status);
  *tensor_i32(&step.values[3]) = ROUNDS;
  step.feeds[step.num_feeds++] = named(f.graph, "limit");
  if (CHECK_OK(run_step(f.session, &step, &f.status), f.status))
    check_same(&step.results[0], &step.values[2], "the start");
  clear_results(&step);
  clear_values(&step);
  end(&f);
}

/* The weights of a product whose left-hand side changes enter the loop as a constant. */
TEST(weights_that_are_passed_on_enter_as_constants) {
  Fixture f;
  REQUIRE(begin(&f));
  static const char kLines[] = OUTSIDE PASS(
      ALIVE) "x Placeholder ; dtype=DT_FLOAT shape=unknown\n" LIST_VARIABLE W_VARIABLE ROUND("ls:1", "is:1",
                                                                                             "vs:1", "false");
  REQUIRE_OK(import_lines(f.graph, kLines, &f.status), f.status);
  bool changed = false;
  CHECK(!hoists(f.graph, NULL));
  CHECK_OK(graph_enter_weights(f.graph, NULL, &changed, &f.status), f.status);
  CHECK(changed);
  const Node *weights = named(f.graph, "y").node->inputs[1]->src;
  CHECK_STR_EQ(weights->def->op, "Enter");
  CHECK_STR_EQ(weights->inputs[0]->src->name, "weights");
  CHECK_OK(graph_enter_weights(f.graph, NULL, &changed, &f.status), f.status);
  CHECK(!changed);
  end(&f);
}

/* --- biases --- */

#define BIAS(op, type) \
  OUTSIDE PASS(ALIVE)  \
  X LIST_CONSTANT W_CONSTANT "bias Placeholder ; dtype=DT_FLOAT shape=[4]\n" CONSTANT( \
      "bias", "DT_FLOAT", "bias") VARIABLE("i", "DT_INT32", "first", "inc")                                   \
      VARIABLE("a", "DT_FLOAT", "from", "sum") CONSTANT("limit", "DT_INT32", "bound")                         \
          CONSTANT("any", "DT_INT32", "anything") "less Less im limite ; T=DT_INT32\nc LoopCond less\n"     \
                                                  "one Const ^is ; int=1\ninc AddV2 is:1 one ; T=DT_INT32\n" \
                                                  "item TensorListGetItem le is:1 anye ; "                   \
                                                  "element_dtype=DT_FLOAT Tshape=DT_INT32\n"                 \
                                                  "y MatMul item ve ; T=DT_FLOAT transpose_a=false "         \
                                                  "transpose_b=false\n"                                      \
                                                  "z " op " y biase ; T=DT_FLOAT" type                       \
                                                  "\nsum AddV2 as:1 z ; T=DT_FLOAT\nout Exit as ; T=DT_FLOAT\n"

TEST(a_bias_moves_with_its_product) {
  static const char *const kLines[] = {BIAS("AddV2", ""), BIAS("BiasAdd", " data_format='NHWC'")};
  Random random = {5};
  for (int i = 0; i < COUNT(kLines); i++) {
    Fixture f;
    REQUIRE(begin(&f));
    REQUIRE_OK(import_lines(f.graph, kLines[i], &f.status), f.status);
    TestStep step = step_of(f.graph, ROUNDS, &random);
    feed(&step, named(f.graph, "bias"), 1, (int64_t[]){COLUMNS}, &random);
    TestStep plain = step;
    Session *session = plain_session(&f);
    REQUIRE(session);
    if (CHECK_OK(run_step(f.session, &step, &f.status), f.status) &&
        CHECK_OK(run_step(session, &plain, &f.status), f.status))
      check_same(&step.results[0], &plain.results[0], "the sum");
    clear_results(&step);
    clear_results(&plain);
    clear_values(&step);
    session_free(session);
    CHECK(hoists(f.graph, NULL));
    CHECK(!graph_find_node(f.graph, "y") && !graph_find_node(f.graph, "z"));
    const Node *sum = named(f.graph, "z_1").node;
    REQUIRE(sum);
    CHECK_STR_EQ(sum->def->op, "AddV2");
    CHECK_STR_EQ(sum->inputs[0]->src->def->op, "BatchMatMulV2");
    end(&f);
  }
}
