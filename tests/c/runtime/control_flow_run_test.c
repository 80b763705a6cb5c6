/* Steps of graphs with Switch, Merge and loops, and their errors. Expected values are closed forms. */
#include <string.h>

#include "runtime/control_flow_text.h"
#include "shortage.h"

/* A loop that counts `i` from `start` up to `limit` (exclusive). Its names begin with `p`; p "x" is its
 * result. */
/* clang-format off */
#define COUNTER(p, start, limit, frame)                                  \
  p "e Enter " start " ; T=DT_INT32 frame_name='" frame "'\n"            \
  p "m Merge " p "e " p "n ; T=DT_INT32 N=2\n"                           \
  p "lc Enter " limit " ; T=DT_INT32 frame_name='" frame "' is_constant=true\n" \
  p "l Less " p "m " p "lc ; T=DT_INT32\n"                               \
  p "c LoopCond " p "l\n"                                                \
  p "s Switch " p "m " p "c ; T=DT_INT32\n"                              \
  p "k Const ^" p "s ; int=1\n"                                          \
  p "a Add " p "s:1 " p "k ; T=DT_INT32\n"                               \
  p "n NextIteration " p "a ; T=DT_INT32\n"                              \
  p "x Exit " p "s ; T=DT_INT32\n"
/* clang-format on */
#define NUMBERS                                                                                   \
  "zero Const ; int=0\none Const ; int=1\nthree Const ; int=3\nfive Const ; int=5\nmany Const ; " \
  "int=100000\n"

static bool begin_lines(Fixture *f, const char *lines) {
  return begin(f) && CHECK_OK(import_lines(f->graph, lines, &f->status), f->status);
}

static NodeOutput named(const Fixture *f, const char *name) { return out(graph_find_node(f->graph, name)); }

static bool fetch(Fixture *f, NodeOutput output, Tensor *value) {
  *value = (Tensor){0};
  return CHECK(output.node) && session_run(f->session, NULL, NULL, 0, &output, value, 1, NULL, 0, &f->status);
}

static void check_int(Fixture *f, const char *name, int32_t want) {
  Tensor value;
  CHECK_CONTEXT("%s", name);
  if (CHECK_OK(fetch(f, named(f, name), &value), f->status)) CHECK_INT_EQ(*tensor_i32(&value), want);
  tensor_clear(&value);
  CHECK_CONTEXT("%s", "");
}

static void gives_int(const char *lines, const char *name, int32_t want) {
  Fixture f;
  if (begin_lines(&f, lines)) {
    check_int(&f, name, want);
    check_int(&f, name, want); /* a second run gives the same result */
  }
  end(&f);
}

static void fails(const char *lines, const char *name, Code code, const char *message) {
  Fixture f;
  Tensor value;
  if (begin_lines(&f, lines)) {
    CHECK_ERROR(fetch(&f, named(&f, name), &value), f.status, code, message);
    status_init(&f.status);
    Node *other = graph_find_node(f.graph, "five");
    if (other) check_int(&f, "five", 5); /* the session still works */
  }
  end(&f);
}

TEST(a_loop_runs_its_rounds) {
  gives_int(NUMBERS COUNTER("", "zero", "five", "f"), "x", 5);
  gives_int(NUMBERS COUNTER("", "five", "three", "f"), "x", 5);
  gives_int(NUMBERS COUNTER("", "zero", "many", "f"), "x", 100000);
}

/* TensorFlow allows a second condition in a frame only for the counters that its gradients add. */
TEST(loops_of_one_frame_name_run_one_behind_the_other) {
  gives_int(NUMBERS COUNTER("a", "zero", "three", "f")
                COUNTER("LoopCounter", "ax", "five", "f") "s Add LoopCounterx ax ; T=DT_INT32\n",
            "s", 8);
}

/* sum over i < 3 of (5 iterations from i * i) */
TEST(a_loop_inside_a_loop_runs_in_every_round) {
  gives_int(NUMBERS COUNTER("o", "zero", "three", "outer")
                "te Enter zero ; T=DT_INT32 frame_name='outer'\n"
                "tm Merge te tn ; T=DT_INT32 N=2\n"
                "ts Switch tm oc ; T=DT_INT32\n"
                "limit Enter five ; T=DT_INT32 frame_name='outer' is_constant=true\n"
                "from Mul os:1 os:1 ; T=DT_INT32\n" COUNTER("i", "from", "limit", "inner")
                    "ta Add ts:1 ix ; T=DT_INT32\n"
                    "tn NextIteration ta ; T=DT_INT32\n"
                    "tx Exit ts ; T=DT_INT32\n",
            "tx", 15);
}

TEST(what_comes_out_of_a_round_is_read_in_the_next_one) {
  /* Fibonacci: (a, b) becomes (b, a + b); the Merge of b comes after its NextIteration's inputs. */
  gives_int(NUMBERS COUNTER("", "zero", "five", "f")
                "ae Enter zero ; T=DT_INT32 frame_name='f'\n"
                "am Merge ae an ; T=DT_INT32 N=2\n"
                "as Switch am c ; T=DT_INT32\n"
                "be Enter one ; T=DT_INT32 frame_name='f'\n"
                "bm Merge be bn ; T=DT_INT32 N=2\n"
                "bs Switch bm c ; T=DT_INT32\n"
                "sum Add as:1 bs:1 ; T=DT_INT32\n"
                "an NextIteration bs:1 ; T=DT_INT32\n"
                "bn NextIteration sum ; T=DT_INT32\n"
                "bx Exit bs ; T=DT_INT32\n",
            "bx", 8);
}

#define BRANCHES(truth)                     \
  NUMBERS "p Const ; bool=" truth           \
          "\n"                              \
          "s Switch three p ; T=DT_INT32\n" \
          "t Add s:1 five ; T=DT_INT32\n"   \
          "f Sub s five ; T=DT_INT32\n"     \
          "m Merge f t ; T=DT_INT32 N=2\n"  \
          "after Add m m:1 ; T=DT_INT32\n"

TEST(merge_takes_what_is_alive_and_says_which) {
  gives_int(BRANCHES("true"), "after", 9);
  gives_int(BRANCHES("false"), "after", -2);
}

TEST(what_switch_left_out_has_no_value) {
  fails(BRANCHES("true"), "f", CODE_INVALID_ARGUMENT, "Retval[0] does not have value");
  fails(BRANCHES("true") "late Mul f m ; T=DT_INT32\n", "late", CODE_INVALID_ARGUMENT,
        "Retval[0] does not have value");
  fails(NUMBERS "p Const ; bool=false\ns Switch three p ; T=DT_INT32\n" COUNTER("l", "s:1", "five", "f"),
        "lx", CODE_INVALID_ARGUMENT, "Retval[0] does not have value");
}

TEST(control_edges_out_of_a_dead_branch_are_dead_but_not_for_a_trigger) {
  fails(BRANCHES("true") "n Add one one ^f ; T=DT_INT32\n", "n", CODE_INVALID_ARGUMENT,
        "Retval[0] does not have value");
  gives_int(BRANCHES("true") "g ControlTrigger ^f ^t\nn Add one one ^g ; T=DT_INT32\n", "n", 2);
}

TEST(a_branch_that_is_not_taken_does_not_run) {
  gives_int(BRANCHES("true") "bad FloorDiv s zero ; T=DT_INT32\nr Merge bad t ; T=DT_INT32 N=2\n", "r", 8);
  fails(BRANCHES("false") "bad FloorDiv s zero ; T=DT_INT32\nr Merge bad t ; T=DT_INT32 N=2\n", "r",
        CODE_INVALID_ARGUMENT, "Integer division by zero");
}

TEST(a_predicate_is_a_scalar) {
  fails(NUMBERS
        "p Const ; bool=true\npp Pack p p ; T=DT_BOOL N=2\n"
        "u PlaceholderWithDefault pp ; dtype=DT_BOOL shape=unknown\ns Switch three u ; T=DT_INT32\n",
        "s", CODE_INVALID_ARGUMENT, "The second input must be a scalar, but it has shape [2]");
}

TEST(a_value_inside_of_a_loop_cannot_be_fetched_from_several_rounds) {
  fails(NUMBERS COUNTER("", "zero", "five", "f"), "m", CODE_INTERNAL, "Retval[0] has already been set.");
  gives_int(NUMBERS COUNTER("", "zero", "one", "f"), "a", 1); /* a single iteration */
}

/* A ControlTrigger runs although what it waits for is dead. So who needs it does not need the branch. */
TEST(what_a_control_trigger_waits_for_may_be_dead) {
#define BRANCH                                                                                          \
  "five Const ; int=5\nx Const ; float=1\nnever Const ; bool=false\nfork Switch x never ; T=DT_FLOAT\n" \
  "branch Identity fork:1 ; T=DT_FLOAT\ntrigger ControlTrigger ^branch\n"                               \
  "y PlaceholderWithDefault x ; dtype=DT_FLOAT shape=unknown\nones Const ; ints=[1]\n"                  \
  "row Reshape y ones ; T=DT_FLOAT Tshape=DT_INT32\nafter Tan row ^trigger ; T=DT_FLOAT\n"
  static const char kMessage[] = "does not have value";
  fails(BRANCH "waits Tan after ^branch ; T=DT_FLOAT\n", "waits", CODE_INVALID_ARGUMENT, kMessage);
  fails(BRANCH "zero Const ^branch ; float=0\nsum AddV2 after zero ; T=DT_FLOAT\n", "sum",
        CODE_INVALID_ARGUMENT, kMessage);
  gives_int(BRANCH "int Cast after ; SrcT=DT_FLOAT DstT=DT_INT32\n", "int", 1);
#undef BRANCH
}

TEST(frames_that_do_not_fit_are_refused) {
  fails(NUMBERS COUNTER("a", "zero", "five", "f") "e Enter one ; T=DT_INT32 frame_name='g'\n"
                                                   "b Add e aa ; T=DT_INT32\n",
        "b", CODE_INVALID_ARGUMENT, "has inputs from different frames");
  fails(NUMBERS COUNTER("a", "zero", "five", "f") "b Add aa five ; T=DT_INT32\n", "b", CODE_INVALID_ARGUMENT,
        "has inputs from different frames");
  /* Both are constants, which would become one. */
  fails(NUMBERS COUNTER("a", "zero", "five", "f") "k Const ^aa ; int=2\nb Add k five ; T=DT_INT32\n", "b",
        CODE_INVALID_ARGUMENT, "has inputs from different frames");
}

/* The constant of the function runs in the frame of the call, also where it feeds a loop inside. */
TEST(functions_are_called_inside_of_loops) {
  static const char kFunctions[] =
      "More(x:int32) -> (y:int32) {\n"
      "  two = Const[dtype=int32, value=2]()\n"
      "  y = Add[T=int32](x, two:output:0)\n"
      "  return y = y:z:0\n"
      "}\n"
      "Three(x:int32) -> (y:int32) {\n"
      "  three = Const[dtype=int32, value=3]()\n"
      "  e = Enter[T=int32, frame_name=\"inner\"](three:output:0)\n"
      "  z = Exit[T=int32](e:output:0)\n"
      "  y = Add[T=int32](x, z:output:0)\n"
      "  return y = y:z:0\n"
      "}\n";
  static const char *const kCalled[] = {"More", "Three"};
  for (int i = 0; i < 2; i++) {
    Fixture f;
    StrBuf lines = {0};
    strbuf_printf(&lines,
                  NUMBERS
                  "e Enter zero ; T=DT_INT32 frame_name='f'\nm Merge e n ; T=DT_INT32 N=2\n"
                  "le Enter five ; T=DT_INT32 frame_name='f' is_constant=true\nl Less m le ; T=DT_INT32\n"
                  "c LoopCond l\ns Switch m c ; T=DT_INT32\na %s s:1\nn NextIteration a ; T=DT_INT32\n"
                  "x Exit s ; T=DT_INT32\n",
                  kCalled[i]);
    if (begin(&f) && define(f.graph, kFunctions) &&
        CHECK_OK(import_lines(f.graph, strbuf_text(&lines), &f.status), f.status))
      check_int(&f, "x", 6); /* by twos and by threes */
    end(&f);
    strbuf_free(&lines);
  }
}

TEST(a_merge_of_different_frames_is_refused) {
  fails(NUMBERS
        "e Enter three ; T=DT_INT32 frame_name='f'\nd Enter one ; T=DT_INT32 frame_name='g'\n"
        "m Merge e d ; T=DT_INT32 N=2\nx Exit m ; T=DT_INT32\n",
        "x", CODE_INVALID_ARGUMENT, "{{node m}} has inputs from different frames");
  fails(NUMBERS
        "e Enter three ; T=DT_INT32 frame_name='f'\nm Merge e one ; T=DT_INT32 N=2\n"
        "x Exit m ; T=DT_INT32\n",
        "x", CODE_INVALID_ARGUMENT, "{{node m}} has inputs from different frames");
}

TEST(a_frame_inside_of_a_frame_of_the_same_name_is_refused) {
  fails(NUMBERS
        "e Enter three ; T=DT_INT32 frame_name='f'\nd Enter e ; T=DT_INT32 frame_name='f'\n"
        "a Add d d ; T=DT_INT32\nx Exit a ; T=DT_INT32\ny Exit x ; T=DT_INT32\n",
        "y", CODE_INTERNAL, "Invalid loop structure: Mismatched parent frames for \"f\": \"f\" vs \"\"");
}

TEST(an_enter_needs_no_exit_and_an_exit_needs_no_condition) {
  gives_int(NUMBERS "e Enter three ; T=DT_INT32 frame_name='f'\na Add e e ; T=DT_INT32\n", "a", 6);
  gives_int(NUMBERS "e Enter three ; T=DT_INT32 frame_name='f'\nx Exit e ; T=DT_INT32\n", "x", 3);
}

TEST(a_next_iteration_without_an_enter_passes_its_value_on) {
  gives_int(NUMBERS "n NextIteration three ; T=DT_INT32\na Add n n ; T=DT_INT32\n", "a", 6);
  gives_int(NUMBERS
            "n NextIteration three ; T=DT_INT32\ni Identity n ; T=DT_INT32\nl NextIteration i ; T=DT_INT32\n"
            "a Add l n ; T=DT_INT32\n",
            "a", 6);
}

TEST(a_cycle_without_a_merge_cannot_be_imported) {
  static const char *const kCycles[] = {
      "k Const ; int=1\na Add b k ; T=DT_INT32\nb Add a k ; T=DT_INT32\n",
      "k Const ; int=1\na Add n k ; T=DT_INT32\nn NextIteration a ; T=DT_INT32\n",
      "k Const ; int=1\na Add k k ^b ; T=DT_INT32\nb Add a k ; T=DT_INT32\n",
      "m Merge n n ; T=DT_INT32 N=2\nn NextIteration m ; T=DT_INT32\n",
  };
  for (size_t i = 0; i < sizeof kCycles / sizeof *kCycles; i++) {
    Fixture f;
    CHECK_CONTEXT("%s", kCycles[i]);
    if (begin_lines(&f, NUMBERS)) {
      CHECK_ERROR(import_lines(f.graph, kCycles[i], &f.status), f.status, CODE_INVALID_ARGUMENT,
                  "2 nodes in a cycle");
      status_init(&f.status);
      check_int(&f, "five", 5);
    }
    end(&f);
  }
}

TEST(feeds_inside_of_a_loop_take_it_apart) {
  static const struct {
    const char *fed, *message; /* NULL: the result is that of the fed value */
  } kFeeds[] = {
      {"a", "has inputs from different frames"},
      {"m", "has inputs from different frames"},
      {"e", "has inputs from different frames"},
      {"n", "has inputs from different frames"},
      {"s", "Invalid Exit op: Cannot find a corresponding Enter op."},
      {"x", NULL},
  };
  for (size_t i = 0; i < sizeof kFeeds / sizeof *kFeeds; i++) {
    Fixture f;
    Tensor nine = {0}, value = {0};
    CHECK_CONTEXT("%s", kFeeds[i].fed);
    if (begin_lines(&f, NUMBERS COUNTER("", "zero", "five", "f") "y Add x one ; T=DT_INT32\n") &&
        CHECK_OK(tensor_allocate_dims(&nine, DT_INT32, 0, NULL, NULL, &f.status), f.status)) {
      NodeOutput feed = named(&f, kFeeds[i].fed), y = named(&f, "y");
      const Tensor *given = &nine;
      *tensor_i32(&nine) = 9;
      bool ok = session_run(f.session, &feed, &given, 1, &y, &value, 1, NULL, 0, &f.status);
      if (kFeeds[i].message) {
        CHECK_ERROR(ok, f.status, CODE_INVALID_ARGUMENT, kFeeds[i].message);
      } else if (CHECK_OK(ok, f.status)) {
        CHECK_INT_EQ(*tensor_i32(&value), 10);
      }
      status_init(&f.status);
      check_int(&f, "y", 6);
    }
    tensor_clear(&nine);
    tensor_clear(&value);
    end(&f);
  }
}

TEST(a_kernel_that_fails_in_a_round_ends_the_step) {
  fails(NUMBERS COUNTER("", "zero", "five", "f") "z Enter zero ; T=DT_INT32 frame_name='f' is_constant=true\n"
                                                 "d FloorDiv s:1 z ; T=DT_INT32\nr NextIteration d ; T=DT_INT32\n",
        "r", CODE_INVALID_ARGUMENT, "Integer division by zero");
}

TEST(an_exit_without_a_loop_is_refused) {
  fails(NUMBERS "x Exit three ; T=DT_INT32\n", "x", CODE_INVALID_ARGUMENT,
        "Invalid Exit op: Cannot find a corresponding Enter op.");
}

TEST(a_loop_that_waits_for_its_own_result_is_refused) {
  fails(NUMBERS COUNTER("a", "zero", "five", "f") "b Enter ax ; T=DT_INT32 frame_name='f'\n"
                                                   "c Add b am ; T=DT_INT32\nd Exit c ; T=DT_INT32\n",
        "d", CODE_INVALID_ARGUMENT, "waits for its own result");
}

TEST(a_loop_without_end_ends_at_the_deadline) {
  Fixture f;
  Tensor value;
  const char *lines = NUMBERS
      "t Const ; bool=true\ne Enter zero ; T=DT_INT32 frame_name='f'\nm Merge e n ; T=DT_INT32 N=2\n"
      "te Enter t ; T=DT_BOOL frame_name='f' is_constant=true\nc LoopCond te\n"
      "s Switch m c ; T=DT_INT32\nn NextIteration s:1 ; T=DT_INT32\nx Exit s ; T=DT_INT32\n";
  if (begin_lines(&f, lines)) {
    session_set_timeout(f.session, 30);
    CHECK_ERROR(fetch(&f, named(&f, "x"), &value), f.status, CODE_DEADLINE_EXCEEDED, "");
    status_init(&f.status);
    check_int(&f, "five", 5);
  }
  end(&f);
}

TEST(a_step_can_pause_between_rounds) {
  Fixture f;
  Tensor value = {0};
  if (begin_lines(&f, NUMBERS COUNTER("", "zero", "many", "f"))) {
    SessionStep *step;
    NodeOutput x = named(&f, "x");
    int pauses = 0;
    RunState state = start_step(f.session, NULL, NULL, NULL, x, 1, &value, &step, &f.status);
    for (; state == RUN_WAITING; pauses++) state = session_advance(step, 1, &value, &f.status);
    if (CHECK_OK(state == RUN_DONE, f.status)) CHECK_INT_EQ(*tensor_i32(&value), 100000);
    CHECK(pauses > 0);
    tensor_clear(&value);
    state = start_step(f.session, NULL, NULL, NULL, x, 1, &value, &step, &f.status);
    CHECK(state == RUN_WAITING);
    session_abandon(step);
    check_int(&f, "five", 5);
  }
  end(&f);
}

/* 10,000 Enters, each in the frame of the previous one, and 10,000 Exits. */
TEST(frames_nest_deep) {
  enum { DEPTH = 10000 };
  Fixture f;
  StrBuf lines = {0};
  strbuf_append(&lines, NUMBERS "e0 Enter three ; T=DT_INT32 frame_name='f0'\n");
  for (int i = 1; i < DEPTH; i++)
    strbuf_printf(&lines, "e%d Enter e%d ; T=DT_INT32 frame_name='f%d'\n", i, i - 1, i);
  strbuf_printf(&lines, "x%d Exit e%d ; T=DT_INT32\n", DEPTH - 1, DEPTH - 1);
  for (int i = DEPTH - 2; i >= 0; i--) strbuf_printf(&lines, "x%d Exit x%d ; T=DT_INT32\n", i, i + 1);
  if (begin_lines(&f, strbuf_text(&lines))) check_int(&f, "x0", 3);
  end(&f);
  strbuf_free(&lines);
}

TEST(programs_of_loops_say_that_memory_ran_out) {
  Shortage shortage = {.what = "a loop with branches"};
  do {
    Fixture f;
    Tensor value = {0};
    if (begin_lines(&f, NUMBERS COUNTER("l", "zero", "three",
                                        "f") "p Const ; bool=true\ns Switch lx p ; T=DT_INT32\n"
                                             "t Add s:1 five ; T=DT_INT32\nm Merge s t ; T=DT_INT32 N=2\n")) {
      shortage_begin(&shortage);
      bool ok = fetch(&f, named(&f, "m"), &value);
      shortage_end(&shortage, ok, f.status.code);
      if (ok) CHECK_INT_EQ(*tensor_i32(&value), 8);
      tensor_clear(&value);
    }
    end(&f);
  } while (shortage_next(&shortage));
}
