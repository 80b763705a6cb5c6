/* Constants of a round, which are dead when the loop has ended. What the optimizer makes of them must be dead
 * then, too, or the loop would go on. */
#include "runtime/fused_steps.h"
#include "runtime/loop_text.h"

/* clang-format off */
/* Three rounds, each of which hands on what `next` computes of w, a value that is the same in all rounds. */
#define LOOP(next)                                                          \
  "zero Const ; int=0\nlimit Const ; int=3\n"                               \
  "w Placeholder ; dtype=DT_FLOAT shape=[3]\n"                              \
  VARIABLE("i", "DT_INT32", "zero", "inc") CONSTANT("limit", "DT_INT32", "limit") \
  VARIABLE("h", "DT_FLOAT", "w", "next") CONSTANT("w", "DT_FLOAT", "w")     \
  "less Less im limite ; T=DT_INT32\nc LoopCond less\n"                     \
  "round Identity is:1 ; T=DT_INT32\n"                                      \
  "step Const ^round ; int=1\ninc AddV2 is:1 step ; T=DT_INT32\n"           \
  next                                                                      \
  "exit Exit hs ; T=DT_FLOAT\nout Identity exit ; T=DT_FLOAT\n"
#define FLOAT(name, value) name " Const ^round ; float=" value "\n"
#define INTS(name, value) name " Const ^round ; ints=" value "\n"
/* clang-format on */

static const char *const kLoops[] = {
    LOOP(FLOAT("one", "1") "next Mul we one ; T=DT_FLOAT\n"),
    LOOP(FLOAT("one", "1") "next RealDiv we one ; T=DT_FLOAT\n"),
    LOOP(FLOAT("none", "0") "next AddV2 none we ; T=DT_FLOAT\n"),
    LOOP(INTS("once", "[1]") "next Tile we once ; T=DT_FLOAT Tmultiples=DT_INT32\n"),
    LOOP(INTS("same", "[3]") "next Reshape we same ; T=DT_FLOAT Tshape=DT_INT32\n"),
    LOOP(INTS("same", "[3]") "next BroadcastTo we same ; T=DT_FLOAT Tidx=DT_INT32\n"),
    LOOP(INTS("from", "[0]")
             INTS("size", "[3]") "part Slice we from size ; T=DT_FLOAT Index=DT_INT32\n"
                                 "twice AddV2 part part ; T=DT_FLOAT\nnext Sub twice part ; T=DT_FLOAT\n"),
    LOOP(FLOAT("root", "1.4142135") FLOAT("half", "0.5")
             FLOAT("one", "1") "x RealDiv we root ; T=DT_FLOAT\nerf Erf x ; T=DT_FLOAT\nsum AddV2 erf one ; "
                               "T=DT_FLOAT\n"
                               "halved Mul we half ; T=DT_FLOAT\nnext Mul halved sum ; T=DT_FLOAT\n"),
};

TEST(what_waits_for_a_round_ends_with_the_loop) {
  for (int i = 0; i < COUNT(kLoops); i++) {
    const int64_t three = 3;
    Fixture f;
    CHECK_CONTEXT("loop %d", i);
    REQUIRE(begin(&f));
    REQUIRE_OK(import_lines(f.graph, kLoops[i], &f.status), f.status);
    TestStep step = {.feeds = {out(graph_find_node(f.graph, "w"))},
                     .num_feeds = 1,
                     .fetches = {out(graph_find_node(f.graph, "out"))},
                     .num_fetches = 1},
             plain;
    REQUIRE_OK(tensor_allocate_dims(&step.values[0], DT_FLOAT, 1, &three, NULL, &f.status), f.status);
    for (int k = 0; k < 3; k++) tensor_f32(&step.values[0])[k] = (float)k - 0.75f;
    plain = step;
    Session *session = plain_session(&f);
    REQUIRE(session);
    if (CHECK_OK(run_step(f.session, &step, &f.status), f.status) &&
        CHECK_OK(run_step(session, &plain, &f.status), f.status)) {
      for (int k = 0; k < 3; k++)
        CHECK_NEAR(tensor_f32(&step.results[0])[k], tensor_f32(&plain.results[0])[k], 1e-6);
    }
    clear_results(&step);
    clear_results(&plain);
    clear_values(&step);
    session_free(session);
    end(&f);
  }
  CHECK_CONTEXT("%s", "");
}
