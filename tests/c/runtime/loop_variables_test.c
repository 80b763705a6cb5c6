/* Variables of loops that need not be variables (optimizer/loop_variables.h). */
#include "optimizer/loop_variables.h"

#include "graph/node_class.h"
#include "runtime/control_flow_text.h"
#include "runtime/fused_steps.h"

/* sum = limit * step, in a loop of `limit` rounds whose limit and step are variables that do not change.
 * `done` waits for Exits, and `spare` is a variable that nothing reads. */
/* clang-format off */
#define VARIABLE(name, type, value, next)                        \
  name "e Enter " value " ; T=" type " frame_name='loop'\n"      \
  name "m Merge " name "e " name "n ; T=" type " N=2\n"          \
  name "s Switch " name "m c ; T=" type "\n"                     \
  name "n NextIteration " next " ; T=" type "\n"
#define LOOP(start, waits)                                                                             \
  "zero Const ; int=0\nlimit Placeholder ; dtype=DT_INT32 shape=unknown\n"                                  \
  "step Placeholder ; dtype=DT_INT32 shape=unknown\n" start                                                  \
  VARIABLE("i", "DT_INT32", "from", "inc") VARIABLE("l", "DT_INT32", "limit", "ls:1")                  \
  VARIABLE("d", "DT_INT32", "step", "ds:1") VARIABLE("p", "DT_INT32", "step", "ps:1")                  \
  VARIABLE("a", "DT_INT32", "zero", "sum")                                                              \
  "less Less im lm ; T=DT_INT32\nc LoopCond less\none Const ^is ; int=1\n"                             \
  "inc AddV2 is:1 one ; T=DT_INT32\nsum AddV2 as:1 ds:1 ; T=DT_INT32\n"                                \
  "out Exit as ; T=DT_INT32\nlast Exit ls ; T=DT_INT32\nspare Exit ps ; T=DT_INT32\n"                  \
  "done NoOp " waits "\nend Identity out ^done ; T=DT_INT32\n"
#define ALIVE "from Identity zero ; T=DT_INT32\n"
/* clang-format on */

static bool drops(Graph *graph) {
  Status status;
  status_init(&status);
  bool changed = false;
  CHECK_OK(graph_drop_loop_variables(graph, NULL, &changed, &status), &status);
  return changed;
}

static void check_product(const char *lines, int32_t limit, int32_t step_size) {
  Fixture f;
  REQUIRE(begin(&f));
  REQUIRE_OK(import_lines(f.graph, lines, &f.status), f.status);
  TestStep step = {.num_feeds = 2, .num_fetches = 1, .fetches = {out(graph_find_node(f.graph, "end"))}};
  for (int k = 0; k < 2; k++) {
    step.feeds[k] = out(graph_find_node(f.graph, k == 0 ? "limit" : "step"));
    REQUIRE_OK(tensor_allocate_dims(&step.values[k], DT_INT32, 0, NULL, NULL, &f.status), f.status);
    *tensor_i32(&step.values[k]) = k == 0 ? limit : step_size;
  }
  if (CHECK_OK(run_step(f.session, &step, &f.status), f.status))
    CHECK_INT_EQ(*tensor_i32(&step.results[0]), limit * step_size);
  clear_results(&step);
  clear_values(&step);
  end(&f);
}

TEST(variables_that_do_not_change_are_dropped) {
  static const char kLines[] = LOOP(ALIVE, "^out ^last ^spare");
  for (int limit = 0; limit < 4; limit++) check_product(kLines, limit, 7);
  Fixture f;
  REQUIRE(begin(&f));
  REQUIRE_OK(import_lines(f.graph, kLines, &f.status), f.status);
  CHECK(drops(f.graph));
  static const char *const kGone[] = {"lm", "ls", "ln", "le", "dm",   "ds",   "dn",
                                      "pm", "ps", "pn", "pe", "last", "spare"};
  for (int i = 0; i < COUNT(kGone); i++) {
    CHECK_CONTEXT("%s", kGone[i]);
    CHECK(!graph_find_node(f.graph, kGone[i]));
  }
  CHECK_CONTEXT("%s", "");
  static const char *const kLeft[] = {"im", "am", "out", "done"};
  for (int i = 0; i < COUNT(kLeft); i++) CHECK(graph_find_node(f.graph, kLeft[i]));
  CHECK(node_is_enter(graph_find_node(f.graph, "less")->inputs[1]->src));
  CHECK(!drops(f.graph));
  end(&f);
}

/* A loop that nothing else of it is waited for: the only Exit stays. */
TEST(one_exit_is_waited_for) {
  static const char kLines[] = LOOP(ALIVE, "^last ^spare");
  check_product(kLines, 3, 5);
  Fixture f;
  REQUIRE(begin(&f));
  REQUIRE_OK(import_lines(f.graph, kLines, &f.status), f.status);
  CHECK(drops(f.graph));
  const Node *done = graph_find_node(f.graph, "done");
  CHECK_INT_EQ(done->num_control_inputs, 1);
  CHECK(node_is_exit(done->control_inputs[0]->src));
  end(&f);
}

/* The spare variable may be dead, and with it what waits for it. */
TEST(an_exit_that_may_be_dead_is_waited_for) {
  static const char kLines[] =
      "flag Placeholder ; dtype=DT_BOOL shape=unknown\n"
      "zero Const ; int=0\nlimit Const ; int=2\nstep Switch limit flag ; T=DT_INT32\n"
      "ie Enter zero ; T=DT_INT32 frame_name='loop'\nim Merge ie in ; T=DT_INT32 N=2\n"
      "is Switch im c ; T=DT_INT32\nin NextIteration inc ; T=DT_INT32\n"
      "pe Enter step:1 ; T=DT_INT32 frame_name='loop'\npm Merge pe pn ; T=DT_INT32 N=2\n"
      "ps Switch pm c ; T=DT_INT32\npn NextIteration ps:1 ; T=DT_INT32\n"
      "le Enter limit ; T=DT_INT32 frame_name='loop' is_constant=true\n"
      "less Less im le ; T=DT_INT32\nc LoopCond less\none Const ^is ; int=1\n"
      "inc AddV2 is:1 one ; T=DT_INT32\nout Exit is ; T=DT_INT32\nspare Exit ps ; T=DT_INT32\n"
      "done Identity out ^spare ; T=DT_INT32\nend Merge done step ; T=DT_INT32 N=2\n";
  for (int flag = 0; flag < 2; flag++) {
    Fixture f;
    REQUIRE(begin(&f));
    REQUIRE_OK(import_lines(f.graph, kLines, &f.status), f.status);
    TestStep step = {.num_feeds = 1, .num_fetches = 1, .fetches = {out(graph_find_node(f.graph, "end"))}};
    step.feeds[0] = out(graph_find_node(f.graph, "flag"));
    REQUIRE_OK(tensor_allocate_dims(&step.values[0], DT_BOOL, 0, NULL, NULL, &f.status), f.status);
    *tensor_bool(&step.values[0]) = flag;
    if (CHECK_OK(run_step(f.session, &step, &f.status), f.status))
      CHECK_INT_EQ(*tensor_i32(&step.results[0]), 2);
    clear_results(&step);
    clear_values(&step);
    CHECK(!drops(f.graph));
    end(&f);
  }
}
