/* Fused nodes that run again: their plans follow the shapes of the inputs. And integers, in conditions of
 * loops. */
#include "graph/graph_walk.h"
#include "op/fused_op.h"
#include "ops/support/fused_run.h"
#include "optimizer/fuse_elementwise.h"
#include "runtime/control_flow_text.h"
#include "runtime/fused_steps.h"

static void set_value(Tensor *value, int rank, const int64_t *dims, Random *random) {
  Status status;
  status_init(&status);
  REQUIRE_OK(tensor_allocate_dims(value, DT_FLOAT, rank, dims, NULL, &status), &status);
  for (int64_t i = 0; i < tensor_num_elements(value); i++)
    tensor_f32(value)[i] = (float)(random_below(random, 2001) - 1000) / 256;
}

/* y = Tanh(x * scale) + offset, and its product with w, whose shapes differ from step to step. */
TEST(every_step_is_planned_for_its_shapes) {
  static const int64_t kX[][2] = {{4, 3},   {4, 3},   {2, 130}, {4, 3}, {1, 3},
                                  {1, 700}, {1, 700}, {3, 4},   {0, 3}};
  static const char kLines[] =
      "x Placeholder ; dtype=DT_FLOAT shape=unknown\nscale Placeholder ; dtype=DT_FLOAT shape=unknown\n"
      "offset Placeholder ; dtype=DT_FLOAT shape=unknown\n"
      "a Mul x scale ; T=DT_FLOAT\nb Tanh a ; T=DT_FLOAT\ny AddV2 b offset ; T=DT_FLOAT\n";
  Random random = {7};
  Fixture f;
  REQUIRE(begin(&f));
  REQUIRE_OK(import_lines(f.graph, kLines, &f.status), f.status);
  Session *plain = plain_session(&f);
  REQUIRE(plain);
  for (int i = 0; i < COUNT(kX); i++) {
    TestStep step = {.num_feeds = 3, .num_fetches = 1, .fetches = {out(graph_find_node(f.graph, "y"))}};
    static const char *const kNames[] = {"x", "scale", "offset"};
    for (int k = 0; k < 3; k++) step.feeds[k] = out(graph_find_node(f.graph, kNames[k]));
    set_value(&step.values[0], 2, kX[i], &random);
    set_value(&step.values[1], 1, &kX[i][1], &random);
    set_value(&step.values[2], i % 3 == 0 ? 0 : 2, (int64_t[]){kX[i][0], 1}, &random);
    TestStep other = step;
    char what[32];
    snprintf(what, sizeof what, "step %d", i);
    if (CHECK_OK(run_step(f.session, &step, &f.status), f.status) &&
        CHECK_OK(run_step(plain, &other, &f.status), f.status))
      check_same(&step.results[0], &other.results[0], what);
    clear_results(&step);
    clear_results(&other);
    clear_values(&step);
  }
  session_free(plain);
  end(&f);
}

/* --- integers --- */

#define CONDITION                                                                                  \
  "a Placeholder ; dtype=DT_INT32 shape=unknown\nb Placeholder ; dtype=DT_INT32 shape=unknown\n"   \
  "sum AddV2 a b ; T=DT_INT32\nless Less a b ; T=DT_INT32\nmore GreaterEqual sum a ; T=DT_INT32\n" \
  "y LogicalAnd less more\nend Identity y ; T=DT_BOOL\n"

TEST(integers_are_compared_in_one_node) {
  Fixture f;
  bool changed = false;
  REQUIRE(begin(&f));
  REQUIRE_OK(import_lines(f.graph, CONDITION, &f.status), f.status);
  CHECK_OK(graph_fixup_source_and_sink_edges(f.graph, NULL, &f.status), f.status);
  CHECK_OK(graph_fuse_elementwise(f.graph, NULL, &(FuseOptions){NULL, NULL}, &changed, &f.status), f.status);
  const Node *fused = graph_find_node(f.graph, "end")->inputs[0]->src;
  CHECK_STR_EQ(fused->def->op, FUSED_OP);
  CHECK(fused->num_inputs == 2);
  end(&f);
}

/* Sums wrap around. */
TEST(fused_integers_give_what_integers_give) {
  static const int32_t kA[] = {0, 5, INT32_MAX, -3, INT32_MAX - 1}, kB[] = {1, 5, 1, 7, INT32_MAX};
  enum { PAIRS = 5 };
  Fixture f;
  REQUIRE(begin(&f));
  REQUIRE_OK(import_lines(f.graph, CONDITION, &f.status), f.status);
  TestStep step = {.num_feeds = 2, .num_fetches = 1, .fetches = {out(graph_find_node(f.graph, "end"))}};
  for (int k = 0; k < 2; k++) {
    step.feeds[k] = out(graph_find_node(f.graph, k == 0 ? "a" : "b"));
    REQUIRE_OK(tensor_allocate_dims(&step.values[k], DT_INT32, 1, (int64_t[]){PAIRS}, NULL, &f.status),
               f.status);
    memcpy(step.values[k].data, k == 0 ? kA : kB, sizeof kA);
  }
  if (CHECK_OK(run_step(f.session, &step, &f.status), f.status)) {
    for (int i = 0; i < PAIRS; i++) {
      int32_t sum = (int32_t)((uint32_t)kA[i] + (uint32_t)kB[i]);
      CHECK(tensor_bool(&step.results[0])[i] == (kA[i] < kB[i] && sum >= kA[i]));
    }
  }
  clear_results(&step);
  clear_values(&step);
  end(&f);
}

TEST(the_largest_program_has_room_on_the_stack) {
  const int64_t parts[2 * FUSED_MOST_INPUTS] = {0};
  FusedProgram program = {.num_inputs = FUSED_MOST_INPUTS, .num_nodes = FUSED_MOST_NODES, .parts = parts};
  CHECK(fused_run_size(&program) <= FUSED_MOST_RUN);
  CHECK(fused_run_size(&program) > FUSED_MOST_RUN / 2);
}
