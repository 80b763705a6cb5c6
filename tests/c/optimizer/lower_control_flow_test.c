/* Which While and If become Switch, Merge and loops, and what they become. */
#include <string.h>

#include "function/text/function_text.h"
#include "graph/node_class.h"
#include "optimizer/body_source.h"
#include "optimizer/graph_checker.h"
#include "optimizer/inline_functions.h"
#include "ops/op_table.h"
#include "shortage.h"

/* Main is the body of which the nodes are lowered. */
typedef struct Lowered {
  Graph *library;
  FunctionBody *body;
  TestBodies bodies;
  Status status;
} Lowered;

static bool add_functions(Graph *graph, const char *text, Status *status) {
  Arena *arena = arena_new();
  FunctionDefLibrary *library;
  bool ok = CHECK_OK(function_parse_library(str_of(text), arena, &library, status), status);
  for (size_t i = 0; ok && i < library->n_function; i++)
    ok = CHECK_OK(graph_add_function(graph, library->function[i], status), status);
  arena_free(arena);
  return ok;
}

static bool expand(Lowered *l, int64_t max_nodes, Status *status) {
  FunctionBodySource source = test_bodies_source(&l->bodies);
  ExpandOptions options = expand_options_default();
  bool changed;
  options.native.as_one_step = options.multi_device.as_one_step = true;
  options.lower_control_flow = true;
  options.max_rounds = 16;
  options.max_nodes = max_nodes;
  return graph_expand_inline_functions(l->body->graph, &source, &options, &changed, status);
}

static bool begin(Lowered *l, const char *library) {
  *l = (Lowered){.library = graph_new()};
  status_init(&l->status);
  l->bodies.library = l->library;
  return add_functions(l->library, library, &l->status) &&
         CHECK_OK(function_body_new(l->library, graph_find_function(l->library, "Main"), NULL, 0, &l->body,
                                    &l->status),
                  &l->status);
}

static void end(Lowered *l) {
  function_body_free(l->body);
  test_bodies_free(&l->bodies);
  graph_free(l->library);
}

static int count(const Lowered *l, const char *op) {
  int found = 0;
  for (int64_t id = SINK_ID + 1; id < graph_num_node_ids(l->body->graph); id++) {
    const Node *node = graph_node(l->body->graph, id);
    found += node && strcmp(node->def->op, op) == 0;
  }
  return found;
}

/* How many of the nodes there are after lowering. */
static void check_count(const char *library, int64_t max_nodes, const char *op, int want) {
  Lowered l;
  if (begin(&l, library) && CHECK_OK(expand(&l, max_nodes, &l.status), &l.status)) {
    CHECK_CONTEXT("%s", op);
    CHECK_INT_EQ(count(&l, op), want);
    CHECK(graph_is_whole(l.body->graph));
  }
  end(&l);
}

enum { MANY = 10000 };

static const char kLoop[] =
    "Below(i:int32, limit:int32) -> (b:bool) {\n"
    "  b = Less[T=int32](i, limit)\n  return b = b:z:0\n}\n"
    "Next(i:int32, limit:int32) -> (j:int32, same:int32) {\n"
    "  one = Const[dtype=int32, value=1]()\n  j = Add[T=int32](i, one:output:0)\n"
    "  s = Identity[T=int32](limit)\n  return j = j:z:0, same = s:output:0\n}\n"
    "Main(i:int32, limit:int32) -> (j:int32, l:int32) {\n"
    "  w = While[T={int32, int32}, cond=Below, body=Next](i, limit)\n"
    "  return j = w:output:0, l = w:output:1\n}\n";

TEST(a_loop_has_a_merge_for_each_variable_that_changes) {
  check_count(kLoop, MANY, "While", 0);
  check_count(kLoop, MANY, "PartitionedCall", 0);
  check_count(kLoop, MANY, "Merge", 1);
  check_count(kLoop, MANY, "Enter", 2);
  check_count(kLoop, MANY, "Exit", 1);
  check_count(kLoop, MANY, "Less", 1);
  check_count(kLoop, MANY, "ToBool", 1); /* i is a vector, for all that is known */
}

TEST(lowering_respects_the_limit_of_nodes) {
  check_count(kLoop, 8, "While", 1);
  check_count(kLoop, 8, "Merge", 0);
}

#define IF_LIBRARY(then_text)                                                                   \
  "Then(x:float) -> (y:float) {\n" then_text                                                    \
  "}\n"                                                                                         \
  "Else(x:float) -> (y:float) {\n  n = Neg[T=float](x)\n  return y = n:y:0\n}\n"                \
  "Main(c:bool, x:float) -> (y:float) {\n"                                                      \
  "  y = If[Tcond=bool, Tin={float}, Tout={float}, then_branch=Then, else_branch=Else](c, x)\n" \
  "  return y = y:output:0\n}\n"

TEST(branches_become_switches) {
  static const char kIf[] = IF_LIBRARY("  s = Square[T=float](x)\n  return y = s:y:0\n");
  check_count(kIf, MANY, "If", 0);
  check_count(kIf, MANY, "Merge", 1);
  check_count(kIf, MANY, "Square", 1);
  check_count(kIf, MANY, "Neg", 1);
}

/* All callers of a function share its generators. */
TEST(functions_whose_kernels_hold_state_stay_calls) {
  check_count(IF_LIBRARY("  s = Shape[T=float, out_type=int32](x)\n"
                         "  r = RandomUniform[dtype=float, T=int32](s:output:0)\n"
                         "  return y = r:output:0\n"),
              MANY, "If", 1);
}

TEST(functions_that_check_and_change_variables_become_switches) {
  check_count(IF_LIBRARY("  s = CheckNumerics[T=float, message=\"no\"](x)\n  return y = s:output:0\n"), MANY,
              "If", 0);
  check_count(
      "Set(v:resource) -> (y:float) {\n  y = Const[dtype=float, value=1.0]()\n"
      "  a = AssignVariableOp[dtype=float](v, y:output:0)\n  return y = y:output:0\n}\n"
      "Main(c:bool, v:resource) -> (y:float) {\n"
      "  y = If[Tcond=bool, Tin={resource}, Tout={float}, then_branch=Set, else_branch=Set](c, v)\n"
      "  return y = y:output:0\n}\n",
      MANY, "If", 0);
}

/* In TensorFlow the index is the input of a _SwitchN. */
TEST(a_case_becomes_switches_if_its_index_is_a_scalar) {
#define CASE_LIBRARY(index)                                                       \
  "Same(x:float) -> (y:float) {\n  return y = x\n}\n"                             \
  "Minus(x:float) -> (y:float) {\n  n = Neg[T=float](x)\n  return y = n:y:0\n}\n" \
  "Main(i:int32, x:float) -> (y:float) {\n  size = Size[T=int32](i)\n"            \
  "  y = Case[Tin={float}, Tout={float}, branches=[Minus, Same, Minus]](" index   \
  ", x)\n"                                                                        \
  "  return y = y:output:0\n}\n"
  check_count(CASE_LIBRARY("size:output:0"), MANY, "Case", 0);
  check_count(CASE_LIBRARY("size:output:0"), MANY, "_SwitchN", 2); /* of x and of the index */
  check_count(CASE_LIBRARY("size:output:0"), MANY, "Merge", 1);
  check_count(CASE_LIBRARY("i"), MANY, "Case", 1);
}

TEST(functions_that_call_themselves_stay_calls) {
  check_count(IF_LIBRARY("  c = Const[dtype=bool, value=false]()\n"
                         "  s = If[Tcond=bool, Tin={float}, Tout={float}, then_branch=Then, "
                         "else_branch=Else](c:output:0, x)\n  return y = s:output:0\n"),
              MANY, "If", 1);
}

/* The error is that of the kernel, when it runs. */
TEST(functions_of_other_types_stay_calls) {
  check_count(
      "Below(i:float) -> (b:bool) {\n  z = ZerosLike[T=float](i)\n  b = Less[T=float](i, z:y:0)\n"
      "  return b = b:z:0\n}\n"
      "Next(i:int32) -> (j:int32) {\n  j = Neg[T=int32](i)\n  return j = j:y:0\n}\n"
      "Main(i:int32) -> (j:int32) {\n  w = While[T={int32}, cond=Below, body=Next](i)\n"
      "  return j = w:output:0\n}\n",
      MANY, "While", 1);
}

/* 2^40 nodes, were they lowered. */
TEST(nests_that_double_at_every_level_stay_calls) {
  StrBuf text = {0};
  strbuf_append(&text, "F0(x:float) -> (y:float) {\n  n = Neg[T=float](x)\n  return y = n:y:0\n}\n");
  for (int i = 1; i <= 40; i++)
    strbuf_printf(&text,
                  "F%d(x:float) -> (y:float) {\n  c = Const[dtype=bool, value=false]()\n"
                  "  s = If[Tcond=bool, Tin={float}, Tout={float}, then_branch=F%d, "
                  "else_branch=F%d](c:output:0, x)\n  return y = s:output:0\n}\n",
                  i, i - 1, i - 1);
  strbuf_append(&text,
                "Main(c:bool, x:float) -> (y:float) {\n"
                "  y = If[Tcond=bool, Tin={float}, Tout={float}, then_branch=F40, else_branch=F40](c, x)\n"
                "  return y = y:output:0\n}\n");
  check_count(strbuf_text(&text), MANY, "If", 1);
  strbuf_free(&text);
}

TEST(lowering_says_that_memory_ran_out) {
  Shortage shortage = {.what = "lowering"};
  do {
    Lowered l;
    if (!begin(&l, kLoop)) break;
    shortage_begin(&shortage);
    bool ok = expand(&l, MANY, &l.status);
    shortage_end(&shortage, ok, l.status.code);
    CHECK(graph_is_whole(l.body->graph));
    if (ok) CHECK_INT_EQ(count(&l, "While"), 0);
    end(&l);
  } while (shortage_next(&shortage));
}
