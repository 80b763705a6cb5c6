/* Loops that do not depend on each other become one node (optimizer/join_recurrences.h). */
#include "base/sync.h"
#include "graph/node_class.h"
#include "op/fused_op.h"
#include "op/node_def.h"
#include "optimizer/fuse_recurrences.h"
#include "optimizer/graph_checker.h"
#include "optimizer/graph_optimizer.h"
#include "optimizer/join_recurrences.h"
#include "runtime/fused_steps.h"
#include "runtime/loop_text.h"
#include "runtime/thread_pool.h"

/* A loop h = Tanh(row of `rows` + h w). In its text % stands for its name, $ for its rows, & for their
 * number, ~ for the batch, ! for the units, and @ for the start. */
typedef struct Loop {
  const char *name, *rows;
  const char *rounds, *batch, *units; /* NULL: 5, 1, 20 */
  const char *start;                  /* NULL: a placeholder */
} Loop;

static const char kLoop[] =
    "%h Placeholder ; dtype=DT_FLOAT shape=[~,!]\n%w Placeholder ; dtype=DT_FLOAT shape=[!,!]\n"
    "%zero Const ; int=0\n%any Const ; int=-1\n%limit Const ; int=&\n%full Const ; ints=[~,!]\n"
    "%list TensorListFromTensor $ %any ; element_dtype=DT_FLOAT shape_type=DT_INT32\n"
    "%room TensorListReserve %full %limit ; element_dtype=DT_FLOAT shape_type=DT_INT32\n"
    "%ie Enter %zero ; T=DT_INT32 frame_name='%loop'\n%im Merge %ie %in ; T=DT_INT32 N=2\n"
    "%is Switch %im %c ; T=DT_INT32\n%in NextIteration %inc ; T=DT_INT32\n"
    "%limite Enter %limit ; T=DT_INT32 frame_name='%loop' is_constant=true\n"
    "%less Less %im %limite ; T=DT_INT32\n%c LoopCond %less\n%one Const ^%is ; int=1\n"
    "%inc AddV2 %is:1 %one ; T=DT_INT32\n%row Const ^%is ; ints=[~,!]\n"
    "%liste Enter %list ; T=DT_VARIANT frame_name='%loop' is_constant=true\n"
    "%item TensorListGetItem %liste %is:1 %row ; element_dtype=DT_FLOAT Tshape=DT_INT32\n"
    "%we Enter %w ; T=DT_FLOAT frame_name='%loop' is_constant=true\n"
    "%he Enter @ ; T=DT_FLOAT frame_name='%loop'\n%hm Merge %he %hn ; T=DT_FLOAT N=2\n"
    "%hs Switch %hm %c ; T=DT_FLOAT\n%hn NextIteration %t ; T=DT_FLOAT\n"
    "%y MatMul %hs:1 %we ; T=DT_FLOAT transpose_a=false transpose_b=false\n"
    "%z AddV2 %y %item ; T=DT_FLOAT\n%t Tanh %z ; T=DT_FLOAT\n"
    "%oe Enter %room ; T=DT_VARIANT frame_name='%loop'\n%om Merge %oe %on ; T=DT_VARIANT N=2\n"
    "%os Switch %om %c ; T=DT_VARIANT\n%on NextIteration %set ; T=DT_VARIANT\n"
    "%set TensorListSetItem %os:1 %is:1 %t ; element_dtype=DT_FLOAT\n"
    "%hexit Exit %hs ; T=DT_FLOAT\n%hout Identity %hexit ; T=DT_FLOAT\n%oout Exit %os ; T=DT_VARIANT\n"
    "%stack TensorListStack %oout %full ; element_dtype=DT_FLOAT num_elements=&\n"
    "%all Identity %stack ; T=DT_FLOAT\n";

static void write_loop(StrBuf *text, const Loop *loop) {
  for (const char *at = kLoop; *at; at++) {
    const char *word = *at == '%'   ? loop->name
                       : *at == '$' ? loop->rows
                       : *at == '&' ? (loop->rounds ? loop->rounds : "5")
                       : *at == '~' ? (loop->batch ? loop->batch : "1")
                       : *at == '!' ? (loop->units ? loop->units : "20")
                                    : NULL;
    if (word) strbuf_append(text, word);
    else if (*at == '@')
      strbuf_printf(text, "%s%s", loop->start ? "" : loop->name, loop->start ? loop->start : "h");
    else strbuf_append_bytes(text, at, 1);
  }
}

enum { MOST = 4 };

typedef struct Case {
  const char *what, *lines;
  Loop loops[MOST];
  int nodes;          /* that are left */
  const char *groups; /* of the nodes together, as "2+1" */
} Case;

#define X "x Placeholder ; dtype=DT_FLOAT shape=[5,1,20]\n"
#define BACKWARDS(name, of) \
  name "axis Const ; ints=[0]\n" name " ReverseV2 " of " " name "axis ; T=DT_FLOAT Tidx=DT_INT32\n"
/* 7 rows of x and its first two, and 5 rows of a result of 7. */
#define SEVEN(name, of)                                                                                    \
  name "begin Const ; ints=[0,0,0]\n" name "size Const ; ints=[2,1,20]\n" name "two Slice " of " " name    \
       "begin " name "size ; T=DT_FLOAT Index=DT_INT32\n" name "axis Const ; int=0\n" name " ConcatV2 " of \
       " " name "two " name "axis ; T=DT_FLOAT N=2\n"
#define FIVE(name, of)                                                                               \
  name "begin Const ; ints=[0,0,0]\n" name "size Const ; ints=[5,1,20]\n" name " Slice " of " " name \
       "begin " name "size ; T=DT_FLOAT Index=DT_INT32\n"

static const Case kCases[] = {
    {"both ways", X BACKWARDS("y", "x"), {{"a", "x"}, {"b", "y"}}, 1, "2"},
    {"one after another", X, {{"a", "x"}, {"b", "astack"}}, 2, "1+1"},
    {"a decoder", X, {{"a", "x"}, {"b", "x", .start = "ahout"}}, 2, "1+1"},
    {"two layers both ways",
     X BACKWARDS("y", "x") "s AddV2 astack bstack ; T=DT_FLOAT\n" BACKWARDS("r", "s"),
     {{"a", "x"}, {"b", "y"}, {"c", "s"}, {"d", "r"}},
     2,
     "2+2"},
    {"two towers", X, {{"a", "x"}, {"c", "astack"}, {"b", "x"}, {"d", "bstack"}}, 2, "2+2"},
    {"four", X, {{"a", "x"}, {"b", "x"}, {"c", "x"}, {"d", "x"}}, 1, "4"},
    {"other rounds", X SEVEN("y", "x"), {{"a", "x"}, {"b", "y", "7"}}, 2, "1+1"},
    /* When a and d are one node, c depends on b. */
    {"crossed towers",
     X SEVEN("s", "astack") SEVEN("y", "x") FIVE("r", "bstack"),
     {{"a", "x"}, {"c", "s", "7"}, {"b", "y", "7"}, {"d", "r"}},
     3,
     "2+1+1"},
    {"a value that is waited for",
     X
     "dims Const ; ints=[5,1,20]\nr RandomUniform dims ; dtype=DT_FLOAT T=DT_INT32\ny Sub r r ; T=DT_FLOAT\n",
     {{"a", "x"}, {"b", "y"}},
     2,
     "1+1"},
    {"a branch",
     X "yes Const ; bool=true\nfork Switch x yes ; T=DT_FLOAT\ny Identity fork:1 ; T=DT_FLOAT\n",
     {{"a", "x"}, {"b", "y"}},
     2,
     "1+1"},
    {"a variable",
     X "v VarHandleOp ; dtype=DT_FLOAT shape=[5,1,20] container='' shared_name='v'\n"
       "y ReadVariableOp v ; dtype=DT_FLOAT\n",
     {{"a", "x"}, {"b", "y"}},
     1,
     "2"},
};

static bool import(Graph *graph, const Case *of, Status *status) {
  StrBuf text = {0};
  strbuf_append(&text, of->lines);
  for (int i = 0; i < MOST && of->loops[i].name; i++) write_loop(&text, &of->loops[i]);
  bool ok = import_lines(graph, strbuf_text(&text), status);
  strbuf_free(&text);
  return ok;
}

/* --- steps --- */

static NodeOutput named(const Graph *graph, const char *loop, const char *name) {
  char text[16];
  snprintf(text, sizeof text, "%s%s", loop, name);
  return out(graph_find_node(graph, text));
}

static void feed(TestStep *step, NodeOutput to, Random *random) {
  Status status;
  status_init(&status);
  ShapeHandle shape = to.node->output_shapes[0];
  Tensor *value = &step->values[step->num_feeds];
  int64_t dims[3];
  for (int32_t i = 0; i < shape_rank(shape); i++) dims[i] = dim_value(shape->dims[i]);
  step->feeds[step->num_feeds++] = to;
  REQUIRE_OK(tensor_allocate_dims(value, DT_FLOAT, shape_rank(shape), dims, NULL, &status), status);
  for (int64_t i = 0; i < tensor_num_elements(value); i++)
    tensor_f32(value)[i] = (float)(random_below(random, 257) - 128) / 512;
}

static TestStep step_of(const Graph *graph, const Case *of) {
  TestStep step = {0};
  Random random = {7};
  feed(&step, named(graph, "x", ""), &random);
  for (int i = 0; i < MOST && of->loops[i].name; i++) {
    const char *name = of->loops[i].name;
    feed(&step, named(graph, name, "h"), &random);
    feed(&step, named(graph, name, "w"), &random);
    step.fetches[step.num_fetches++] = named(graph, name, "all");
    step.fetches[step.num_fetches++] = named(graph, name, "hout");
  }
  return step;
}

static void check_near(const Tensor *joined, const Tensor *plain) {
  if (!CHECK(shape_equal(&joined->shape, &plain->shape))) return;
  for (int64_t i = 0; i < tensor_num_elements(plain); i++)
    CHECK_NEAR(tensor_f32(joined)[i], tensor_f32(plain)[i], 1e-5);
}

/* The results of all numbers of threads have the same bits. */
static void check_steps(const Case *of) {
  Tensor first[MOST_FETCHES] = {{0}};
  for (int threads = 1; threads <= 4; threads++) {
    Fixture f;
    thread_pool_set_size(threads);
    REQUIRE(begin(&f));
    CHECK_CONTEXT("%s, %d threads", of->what, threads);
    REQUIRE_OK(import(f.graph, of, &f.status), f.status);
    TestStep step = step_of(f.graph, of), plain = step;
    Session *session = plain_session(&f);
    for (int run = 0; run < 5; run++) {
      if (CHECK_OK(run_step(f.session, &step, &f.status), f.status) &&
          CHECK_OK(run_step(session, &plain, &f.status), f.status)) {
        for (int i = 0; i < step.num_fetches; i++) {
          check_near(&step.results[i], &plain.results[i]);
          if (first[i].data) check_same(&step.results[i], &first[i], of->what);
          else tensor_move(&first[i], &step.results[i]);
        }
      }
      clear_results(&step);
      clear_results(&plain);
    }
    clear_values(&step);
    session_free(session);
    end(&f);
  }
  for (int i = 0; i < MOST_FETCHES; i++) tensor_clear(&first[i]);
  thread_pool_set_size(1);
}

TEST(joined_loops_compute_the_same_on_any_number_of_threads) {
  for (int i = 0; i < COUNT(kCases); i++) {
    if (!strstr(kCases[i].lines, "VarHandleOp")) check_steps(&kCases[i]);
  }
  CHECK_CONTEXT("%s", "");
}

/* Large cells, so that more threads than loops share them. */
TEST(threads_share_joined_loops) {
  static const Case large = {"large",
                             "x Placeholder ; dtype=DT_FLOAT shape=[30,2,200]\n",
                             {{"a", "x", "30", "2", "200"}, {"b", "x", "30", "2", "200"}},
                             1,
                             "2"};
  check_steps(&large);
  CHECK_CONTEXT("%s", "");
}

/* --- nodes --- */

#if SYNC_HAS_THREADS

static bool optimize(Graph *graph, Status *status) {
  OptimizerOptions options = optimizer_options_all(NULL);
  const FuseOptions fuse = {NULL, NULL};
  NodeSet keep;
  Arena *arena = arena_new();
  bool ok = CHECK(arena) && CHECK_OK(node_set_new(graph, arena, &keep, status), status);
  for (int64_t id = SINK_ID + 1; ok && id < graph_num_node_ids(graph); id++) {
    const Node *node = graph_node(graph, id);
    keep.member[id] = node_is_placeholder(node) || strstr(node->name, "all") || strstr(node->name, "hout");
  }
  options.keep = &keep;
  options.fuse = &fuse;
  ok = ok && CHECK_OK(graph_optimize(graph, &options, NULL, status), status);
  arena_free(arena);
  return ok && CHECK(graph_is_whole(graph));
}

/* The numbers of groups of all nodes, in any order. */
static void check_groups(const Graph *graph, const Case *of) {
  int nodes = 0, groups = 0, wanted = 0;
  for (int64_t id = SINK_ID + 1; id < graph_num_node_ids(graph); id++) {
    const Node *node = graph_node(graph, id);
    if (!node || strcmp(node->def->op, FUSED_RECURRENCE) != 0) continue;
    size_t count = node_def_attr(node->def, "groups")->list->n_i;
    char digit = (char)('0' + count);
    nodes++, groups += (int)count;
    CHECK(strchr(of->groups, digit));
  }
  for (const char *at = of->groups; *at; at += at[1] ? 2 : 1) wanted += *at - '0';
  CHECK_INT_EQ(nodes, of->nodes);
  CHECK_INT_EQ(groups, wanted);
}

TEST(loops_that_are_independent_become_one_node) {
  for (int i = 0; i < COUNT(kCases); i++) {
    Fixture f;
    REQUIRE(begin(&f));
    CHECK_CONTEXT("%s", kCases[i].what);
    if (CHECK_OK(import(f.graph, &kCases[i], &f.status), f.status) && optimize(f.graph, &f.status))
      check_groups(f.graph, &kCases[i]);
    end(&f);
  }
  CHECK_CONTEXT("%s", "");
}

/* 5 * 32 * 1024 * 1024 multiply-adds each. */
TEST(loops_with_too_much_work_stay_apart) {
  for (int few = 0; few < 2; few++) {
    const char *batch = few ? "8" : "32";
    StrBuf lines = {0};
    strbuf_printf(&lines, "x Placeholder ; dtype=DT_FLOAT shape=[5,%s,1024]\n", batch);
    const Case of = {"large",
                     strbuf_text(&lines),
                     {{"a", "x", "5", batch, "1024"}, {"b", "x", "5", batch, "1024"}},
                     few ? 1 : 2,
                     few ? "2" : "1+1"};
    Fixture f;
    REQUIRE(begin(&f));
    if (CHECK_OK(import(f.graph, &of, &f.status), f.status) && optimize(f.graph, &f.status))
      check_groups(f.graph, &of);
    end(&f);
    strbuf_free(&lines);
  }
}

#endif
