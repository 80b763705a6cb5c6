/* Partial runs: which nodes each piece runs, which values it keeps for later pieces, and errors. The messages
 * are TensorFlow's. */
#include <string.h>

#include "base/alloc.h"
#include "runtime/control_flow_text.h"
#include "runtime/partial_run.h"
#include "shortage.h"

enum { MOST = 8 };

typedef struct Partial {
  Fixture f;
  const char *handle;
} Partial;

static NodeOutput named(const Fixture *f, const char *name) {
  NodeOutput output = {0};
  Status status;
  status_init(&status);
  CHECK_OK(graph_find_output(f->graph, name, &output, &status), status);
  return output;
}

/* Finds the outputs with these names, which are separated by blanks. */
static int outputs_of(const Fixture *f, const char *names, NodeOutput *outputs) {
  int count = 0;
  char copy[128], *rest;
  snprintf(copy, sizeof copy, "%s", names);
  for (char *name = strtok_r(copy, " ", &rest); name; name = strtok_r(NULL, " ", &rest))
    outputs[count++] = named(f, name);
  return count;
}

static bool set_up(Partial *p, const char *feeds, const char *fetches) {
  NodeOutput inputs[MOST], outputs[MOST];
  StepSignature signature = {.feeds = inputs, .fetches = outputs};
  signature.num_feeds = outputs_of(&p->f, feeds, inputs);
  signature.num_fetches = outputs_of(&p->f, fetches, outputs);
  return session_setup_partial_run(p->f.session, &signature, &p->handle, &p->f.status);
}

/* Runs a piece with int32 scalars as feeds, and sets *sum to the sum of its fetches. */
static bool piece(Partial *p, const char *feeds, const int32_t *numbers, const char *fetches, int32_t *sum) {
  NodeOutput inputs[MOST], outputs[MOST];
  Tensor values[MOST] = {{0}}, results[MOST] = {{0}};
  const Tensor *given[MOST];
  SessionStep *step;
  int num_feeds = outputs_of(&p->f, feeds, inputs), num_fetches = outputs_of(&p->f, fetches, outputs);
  bool ok = true;
  for (int i = 0; ok && i < num_feeds; i++) {
    ok = tensor_allocate_dims(&values[i], DT_INT32, 0, NULL, NULL, &p->f.status);
    if (ok) *tensor_i32(&values[i]) = numbers[i];
    given[i] = &values[i];
  }
  ok = ok &&
       session_begin_piece(p->f.session, p->handle, NULL, inputs, given, num_feeds, outputs, num_fetches,
                           results, &step, &p->f.status) &&
       (!step || session_advance(step, 0, results, &p->f.status) == RUN_DONE);
  *sum = 0;
  for (int i = 0; i < num_fetches; i++) {
    if (ok) *sum += *tensor_i32(&results[i]);
    tensor_clear(&results[i]);
  }
  for (int i = 0; i < num_feeds; i++) tensor_clear(&values[i]);
  return ok;
}

static void gives(Partial *p, const char *feeds, int32_t number, const char *fetches, int32_t want) {
  int32_t sum;
  CHECK_CONTEXT("%s -> %s", feeds, fetches);
  if (CHECK_OK(piece(p, feeds, &number, fetches, &sum), p->f.status)) CHECK_INT_EQ(sum, want);
  CHECK_CONTEXT("%s", "");
}

static void refuses(Partial *p, const char *feeds, const char *fetches, const char *message) {
  int32_t sum;
  const int32_t numbers[MOST] = {0};
  status_init(&p->f.status);
  CHECK_ERROR(piece(p, feeds, numbers, fetches, &sum), p->f.status, CODE_INVALID_ARGUMENT, message);
  status_init(&p->f.status);
}

/* a = 2 x, b = a + y, c = b z */
static const char kChain[] =
    "x Placeholder ; dtype=DT_INT32 shape=unknown\ny Placeholder ; dtype=DT_INT32 shape=unknown\n"
    "z Placeholder ; dtype=DT_INT32 shape=unknown\ntwo Const ; int=2\n"
    "a Mul x two ; T=DT_INT32\nb Add a y ; T=DT_INT32\nc Mul b z ; T=DT_INT32\n";

static bool begin_partial(Partial *p, const char *lines, const char *feeds, const char *fetches) {
  return begin(&p->f) && CHECK_OK(import_lines(p->f.graph, lines, &p->f.status), p->f.status) &&
         CHECK_OK(set_up(p, feeds, fetches), p->f.status);
}

TEST(pieces_go_on_where_the_last_one_ended) {
  Partial p;
  if (begin_partial(&p, kChain, "x y z", "a b c")) {
    gives(&p, "x", 5, "a", 10);
    gives(&p, "y", 1, "b", 11);
    gives(&p, "z", 3, "c", 33);
    refuses(&p, "", "a", "Must run 'setup' before performing partial runs!");
  }
  end(&p.f);
}

TEST(fetches_can_come_later_than_their_feeds) {
  Partial p;
  if (begin_partial(&p, kChain, "x y z", "a b c")) {
    gives(&p, "y", 1, "", 0);
    gives(&p, "x", 5, "", 0);
    gives(&p, "", 0, "b a", 21);
    gives(&p, "z", 2, "c", 22);
  }
  end(&p.f);
}

TEST(pieces_say_what_is_wrong_and_leave_the_partial_run_as_it_was) {
  Partial p;
  if (begin_partial(&p, kChain, "x z", "a")) {
    refuses(&p, "x", "b", "The fetch b:0 was not specified in partial_run_setup.");
    refuses(&p, "y", "a", "The feed y:0 was not specified in partial_run_setup.");
    refuses(&p, "z", "a", "Fetch x:0 can't be computed from the feeds that have been fed so far.");
    refuses(&p, "x x", "", "The feed x:0 has already been fed.");
    gives(&p, "x", 4, "a", 8);
    refuses(&p, "x", "", "The feed x:0 has already been fed.");
    refuses(&p, "", "a", "The fetch a:0 has already been fetched.");
    CHECK(!set_up(&p, "x b", "b"));
    CHECK_STR_EQ(p.f.status.message, "b:0 is both fed and fetched.");
  }
  end(&p.f);
}

/* The nodes before a fed output do not run. */
TEST(a_fed_value_in_the_middle_needs_nothing_before_it) {
  Partial p;
  if (begin_partial(&p, kChain, "a y", "b")) {
    gives(&p, "y", 7, "", 0);
    gives(&p, "a", 30, "b", 37);
  }
  end(&p.f);
}

TEST(several_partial_runs_are_under_way_at_the_same_time) {
  Partial p;
  if (begin_partial(&p, kChain, "x y", "a b")) {
    const char *first = p.handle;
    gives(&p, "x", 1, "a", 2);
    CHECK_OK(set_up(&p, "x y", "a b"), p.f.status);
    const char *second = p.handle;
    gives(&p, "x", 10, "a", 20);
    p.handle = first;
    gives(&p, "y", 5, "b", 7);
    p.handle = second;
    gives(&p, "y", 6, "b", 26);
  }
  end(&p.f);
}

/* Every node runs once: only the first piece increments the counter, and both pieces read it. */
TEST(effects_happen_once) {
  Partial p;
  static const char kLines[] =
      "x Placeholder ; dtype=DT_INT32 shape=unknown\ny Placeholder ; dtype=DT_INT32 shape=unknown\n"
      "v VariableV2 ; dtype=DT_INT32 shape=unknown\nzero Const ; int=0\none Const ; int=1\n"
      "init Assign v zero ; T=DT_INT32 validate_shape=false\n"
      "more AssignAdd v one ; T=DT_INT32\nread Identity more ; T=DT_INT32\n"
      "a Add read x ; T=DT_INT32\nb Add a y ; T=DT_INT32\nsum Identity v ^b ; T=DT_INT32\n";
  if (begin(&p.f) && CHECK_OK(import_lines(p.f.graph, kLines, &p.f.status), p.f.status) &&
      CHECK_OK(run_target(&p.f, graph_find_node(p.f.graph, "init")), p.f.status) &&
      CHECK_OK(set_up(&p, "x y", "a b sum"), p.f.status)) {
    gives(&p, "x", 10, "a", 11);
    gives(&p, "y", 100, "b", 111);
    gives(&p, "", 0, "sum", 1);
  }
  end(&p.f);
}

/* The branches need both feeds, so a piece that feeds only y runs neither of them. */
TEST(a_conditional_runs_in_one_piece) {
  static const char kLines[] =
      "x Placeholder ; dtype=DT_INT32 shape=unknown\ny Placeholder ; dtype=DT_INT32 shape=unknown\n"
      "w Placeholder ; dtype=DT_INT32 shape=unknown\n"
      "p Less x y ; T=DT_INT32\ns Switch x p ; T=DT_INT32\nt Add s:1 w ; T=DT_INT32\n"
      "f Neg s ; T=DT_INT32\nm Merge f t ; T=DT_INT32 N=2\nd Add m y ; T=DT_INT32\n";
  for (int32_t x = 1; x < 6; x += 3) {
    Partial p;
    if (begin_partial(&p, kLines, "x y w", "m d")) {
      gives(&p, "x", x, "", 0);
      gives(&p, "y", 3, "", 0);
      refuses(&p, "", "m", "Fetch w:0 can't be computed from the feeds that have been fed so far.");
      gives(&p, "w", 10, "m", x < 3 ? x + 10 : -x);
      gives(&p, "", 0, "d", (x < 3 ? x + 10 : -x) + 3);
    }
    end(&p.f);
  }
}

TEST(a_loop_runs_in_one_piece) {
  static const char kLines[] =
      "x Placeholder ; dtype=DT_INT32 shape=unknown\nlimit Placeholder ; dtype=DT_INT32 shape=unknown\n"
      "step Placeholder ; dtype=DT_INT32 shape=unknown\nh Neg x ; T=DT_INT32\n"
      "e Enter x ; T=DT_INT32 frame_name='f'\nm Merge e n ; T=DT_INT32 N=2\n"
      "le Enter limit ; T=DT_INT32 frame_name='f' is_constant=true\nl Less m le ; T=DT_INT32\nc LoopCond l\n"
      "s Switch m c ; T=DT_INT32\nse Enter step ; T=DT_INT32 frame_name='f' is_constant=true\n"
      "a Add s:1 se ; T=DT_INT32\nn NextIteration a ; T=DT_INT32\nr Exit s ; T=DT_INT32\n";
  Partial p;
  if (begin_partial(&p, kLines, "x limit step", "r h")) {
    gives(&p, "x", 0, "h", 0);
    gives(&p, "step", 4, "", 0);
    gives(&p, "limit", 10, "r", 12);
  }
  end(&p.f);
}

TEST(a_piece_that_fails_ends_the_partial_run) {
  static const char kLines[] =
      "x Placeholder ; dtype=DT_INT32 shape=unknown\ny Placeholder ; dtype=DT_INT32 shape=unknown\n"
      "q FloorDiv x y ; T=DT_INT32\nr Add q x ; T=DT_INT32\n";
  Partial p;
  if (begin_partial(&p, kLines, "x y", "q r")) {
    gives(&p, "x", 3, "", 0);
    refuses(&p, "y", "q", "Integer division by zero");
    refuses(&p, "", "r", "Must run 'setup' before performing partial runs!");
  }
  end(&p.f);
}

TEST(partial_runs_end_with_their_session) {
  Partial p;
  if (begin_partial(&p, kChain, "x y", "b")) {
    int32_t sum, five = 5;
    gives(&p, "x", 3, "", 0);
    session_close(p.f.session);
    CHECK_ERROR(piece(&p, "y", &five, "b", &sum), p.f.status, CODE_CANCELLED, "Session has been closed.");
  }
  end(&p.f);
}

TEST(partial_runs_say_that_memory_ran_out) {
  Shortage shortage = {.what = "a partial run"};
  do {
    Partial p;
    if (begin(&p.f) && CHECK_OK(import_lines(p.f.graph, kChain, &p.f.status), p.f.status)) {
      int32_t sum = 0, one = 1;
      shortage_begin(&shortage);
      bool ok =
          set_up(&p, "x y", "a b") && piece(&p, "x", &one, "a", &sum) && piece(&p, "y", &one, "b", &sum);
      shortage_end(&shortage, ok, p.f.status.code);
      if (ok) CHECK_INT_EQ(sum, 3);
    }
    end(&p.f);
  } while (shortage_next(&shortage));
}
