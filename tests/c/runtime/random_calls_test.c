/* Random graphs with variables, failing checks, all kinds of function calls and control edges, run with and
 * without the optimizer: values, errors and final variables must be the same. All effects of a graph, and of
 * a function, are in one chain of control and data edges, so that the result is unique. For more and other
 * graphs:
 *
 *   TFCORE_CALLS_SEED=7 TFCORE_CALLS_ROUNDS=1000 TFCORE_CALLS_TRACE=1 test_runtime --filter random_calls
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "c_api/random_values.h"
#include "function/function_body.h"
#include "runtime/session_fixture.h"

enum { MOST_VALUES = 64, MOST_NODES = 48, MOST_FUNCTIONS = 4, NAME = 32 };

/* A float that nodes of a scope can read: "n3:z:0", output 0 of n3. */
typedef struct Value {
  char text[NAME], node[NAME];
  int index;
} Value;

/* The nodes of the function or graph under construction. */
typedef struct Scope {
  Random *random;
  StrBuf *text;
  const char *variables[2];
  Value values[MOST_VALUES];
  int num_values;
  char nodes[MOST_NODES][NAME];
  int num_nodes, serial;
  int num_pure, num_effects; /* P0 ... and E0 ... can be called */
  char end[NAME];            /* the last node with an effect, or "" */
  char end_value[NAME];      /* a float that it gives, or "" */
} Scope;

static int below(Scope *s, int count) { return random_below(s->random, count); }
static const char *any(Scope *s) { return s->values[below(s, s->num_values)].text; }

static const char *new_node(Scope *s, const char *prefix) {
  char *name = s->nodes[s->num_nodes++ % MOST_NODES];
  snprintf(name, NAME, "%s%d", prefix, s->serial++);
  return name;
}

static const char *add_value(Scope *s, const char *node, const char *output, int index) {
  Value *value = &s->values[s->num_values < MOST_VALUES ? s->num_values++ : below(s, MOST_VALUES)];
  char name[NAME]; /* `node` is in the scope itself */
  snprintf(name, NAME, "%s", node);
  snprintf(value->text, sizeof value->text, "%.20s:%.10s", name, output);
  snprintf(value->node, sizeof value->node, "%s", name);
  value->index = index;
  return value->text;
}

/* Ends a node, which may wait for another one. */
static void finish(Scope *s, const char *waits_for) {
  strbuf_printf(s->text, waits_for[0] ? " @ %s\n" : "\n", waits_for);
}

/* --- nodes without effects --- */

/* A call with results a and b. `types` and `inputs` begin with those of the variables, if it takes any. */
static const char *write_call(Scope *s, char kind, int functions, const char *types, const char *inputs,
                              const char *waits_for) {
  const char *stateless = kind == 'P' && one_in(s->random, 2) ? "Stateless" : "";
  int f = below(s, functions), g = below(s, functions), how = below(s, 4);
  const char *node;
  if (how == 0) {
    node = new_node(s, "call");
    strbuf_printf(s->text, "  %s = %c%d(%s)", node, kind, f, inputs);
  } else if (how == 1) {
    char condition[NAME], number[NAME];
    snprintf(condition, NAME, "%s", new_node(s, "less"));
    snprintf(number, NAME, "%s", new_node(s, "half"));
    strbuf_printf(s->text, "  %s = Const[dtype=float, value=0.5]()\n", number);
    strbuf_printf(s->text, "  %s = Less[T=float](%s, %s:output:0)\n", condition, any(s), number);
    node = new_node(s, "if");
    strbuf_printf(s->text,
                  "  %s = %sIf[Tcond=bool, Tin={%s}, Tout={float, float}, then_branch=%c%d, "
                  "else_branch=%c%d](%s:z:0, %s)",
                  node, stateless, types, kind, f, kind, g, condition, inputs);
  } else {
    node = new_node(s, "part");
    strbuf_printf(s->text, "  %s = %sPartitionedCall[Tin={%s}, Tout={float, float}, f=%c%d](%s)", node,
                  how == 2 ? "Stateful" : "", types, kind, f, inputs);
  }
  finish(s, waits_for);
  add_value(s, node, how == 0 ? "b:0" : "output:1", 1);
  add_value(s, node, how == 0 ? "a:0" : "output:0", 0);
  return node;
}

static const char *write_pure_call(Scope *s, const char *x, const char *y, const char *waits_for) {
  char inputs[4 * NAME];
  snprintf(inputs, sizeof inputs, "%s, %s", x, y);
  return write_call(s, 'P', s->num_pure, "float, float", inputs, waits_for);
}

static const char *write_gradient(Scope *s, const char *x, const char *y, const char *waits_for) {
  const char *node = new_node(s, "grad");
  strbuf_printf(s->text,
                "  %s = SymbolicGradient[Tin={float, float, float, float}, Tout={float, float}, f=P%d](%s, "
                "%s, %s, %s)",
                node, below(s, s->num_pure), x, y, any(s), any(s));
  finish(s, waits_for);
  add_value(s, node, "output:1", 1);
  add_value(s, node, "output:0", 0);
  return node;
}

/* A float that depends only on the shape of x. */
static const char *write_shape(Scope *s, const char *x, const char *waits_for) {
  char rank[NAME];
  snprintf(rank, NAME, "%s", new_node(s, "shape"));
  strbuf_printf(s->text, "  %s = %s[T=float](%s)", rank, one_in(s->random, 2) ? "Rank" : "Size", x);
  finish(s, waits_for);
  const char *node = new_node(s, "cast");
  strbuf_printf(s->text, "  %s = Cast[SrcT=int32, DstT=float](%s:output:0)\n", node, rank);
  add_value(s, node, "y:0", 0);
  return node;
}

static const char *write_pure(Scope *s, const char *x, const char *waits_for) {
  static const char *const kBinary[] = {"Add", "Sub", "Mul", "Maximum"};
  char first[NAME], second[NAME];
  snprintf(first, NAME, "%s", x);
  snprintf(second, NAME, "%s", any(s));
  if (s->num_pure > 0 && one_in(s->random, 3)) {
    if (one_in(s->random, 5)) return write_gradient(s, first, second, waits_for);
    return one_in(s->random, 2) ? write_pure_call(s, first, second, waits_for)
                                : write_pure_call(s, second, first, waits_for);
  }
  int kind = below(s, 6);
  if (kind == 0) return write_shape(s, first, waits_for);
  const char *node = new_node(s, kind == 1 ? "constant" : "n");
  if (kind == 1) {
    strbuf_printf(s->text, "  %s = Const[dtype=float, value=%.2f]()", node, 0.25 * below(s, 9) - 1);
  } else if (kind < 4) {
    strbuf_printf(s->text, "  %s = %s[T=float](%s, %s)", node, kBinary[below(s, 4)], first, second);
  } else {
    strbuf_printf(s->text, "  %s = %s[T=float](%s)", node, kind == 4 ? "Neg" : "Identity", first);
  }
  finish(s, waits_for);
  add_value(s, node, kind == 1 || kind == 5 ? "output:0" : kind == 4 ? "y:0" : "z:0", 0);
  return node;
}

/* --- effects --- */

/* The control input of the next effect, and its data input: one of them follows from the last effect. */
static void link_effects(Scope *s, char *waits_for, char *reads) {
  char end[NAME], value[NAME];
  snprintf(end, NAME, "%s", s->end);
  snprintf(value, NAME, "%s", s->end_value);
  waits_for[0] = 0;
  snprintf(reads, NAME, "%s", any(s));
  if (!end[0]) return;
  int way = below(s, 4);
  bool by_value = value[0] && one_in(s->random, 2);
  if (way == 0) {
    snprintf(waits_for, NAME, "%s", end);
  } else if (way == 1 && value[0]) {
    snprintf(reads, NAME, "%s", value);
  } else {
    const char *node = by_value ? write_pure(s, value, "") : write_pure(s, any(s), end);
    /* A Const has no inputs, so it cannot have waited. */
    bool cut = by_value && strncmp(node, "constant", 8) == 0;
    if (way == 2 && !cut) {
      snprintf(reads, NAME, "%s", s->values[s->num_values - 1].text);
      if (strcmp(s->values[s->num_values - 1].node, node) != 0) snprintf(waits_for, NAME, "%s", node);
    } else {
      snprintf(waits_for, NAME, "%s", cut ? end : node);
    }
  }
}

static void write_effect(Scope *s) {
  char waits_for[NAME], reads[NAME];
  link_effects(s, waits_for, reads);
  int kind = below(s, s->num_effects > 0 ? 9 : 6);
  const char *variable = s->variables[below(s, 2)], *node, *value = "";
  if (kind < 3) {
    node = new_node(s, "set");
    strbuf_printf(s->text, "  %s = %s[dtype=float](%s, %s)", node,
                  kind < 2 ? "AssignAddVariableOp" : "AssignVariableOp", variable, reads);
    finish(s, waits_for);
  } else if (kind == 3) {
    char wait[NAME];
    snprintf(wait, NAME, "%s", waits_for);
    if (!wait[0]) { /* it reads no float */
      snprintf(wait, NAME, "%s", new_node(s, "wait"));
      strbuf_printf(s->text, "  %s = Identity[T=float](%s)\n", wait, reads);
    }
    node = new_node(s, "read");
    strbuf_printf(s->text, "  %s = ReadVariableOp[dtype=float](%s)", node, variable);
    finish(s, wait);
    value = add_value(s, node, "value:0", 0);
  } else if (kind == 4) {
    node = new_node(s, "check");
    strbuf_printf(s->text, "  %s = CheckNumerics[T=float, message=\"%s\"](%s)", node, node, reads);
    finish(s, waits_for);
    value = add_value(s, node, "output:0", 0);
  } else if (kind == 5) {
    char below_limit[NAME], limit[NAME];
    snprintf(limit, NAME, "%s", new_node(s, "limit"));
    snprintf(below_limit, NAME, "%s", new_node(s, "below"));
    strbuf_printf(s->text, "  %s = Const[dtype=float, value=%d]()\n", limit, 20 * below(s, 5));
    strbuf_printf(s->text, "  %s = LessEqual[T=float](%s, %s:output:0)\n", below_limit, reads, limit);
    node = new_node(s, "assert");
    strbuf_printf(s->text, "  %s = Assert[T={float}](%s:z:0, %s)", node, below_limit, reads);
    finish(s, waits_for);
  } else {
    char inputs[6 * NAME];
    const char *other = any(s);
    bool swap = one_in(s->random, 2);
    snprintf(inputs, sizeof inputs, "%s, %s, %s, %s", s->variables[0], s->variables[1], swap ? other : reads,
             swap ? reads : other);
    node = write_call(s, 'E', s->num_effects, "resource, resource, float, float", inputs, waits_for);
    value = s->values[s->num_values - 1 - below(s, 2)].text;
    if (strncmp(value, node, strlen(node)) != 0) value = "";
  }
  snprintf(s->end, NAME, "%s", node);
  snprintf(s->end_value, NAME, "%s", value);
}

/* --- functions and the graph --- */

static void give(Scope *s, const char *name) {
  s->num_values = 0;
  snprintf(s->values[0].text, NAME, "%s", name);
  snprintf(s->values[0].node, NAME, "%s", name);
  s->values[s->num_values++].index = 0;
}

static void write_function(Random *random, StrBuf *text, char kind, int number, int num_pure,
                           int num_effects) {
  Scope s = {.random = random,
             .text = text,
             .variables = {"v", "w"},
             .num_pure = num_pure,
             .num_effects = num_effects};
  strbuf_printf(text, "%c%d(%sx:float, y:float) -> (a:float, b:float) {\n", kind, number,
                kind == 'E' ? "v:resource, w:resource, " : "");
  give(&s, "x");
  snprintf(s.values[1].text, NAME, "y");
  s.num_values = 2;
  int count = 1 + random_below(random, 4);
  for (int i = 0; i < count; i++) {
    if (kind == 'E' && (i == 0 || one_in(random, 2))) {
      write_effect(&s);
    } else {
      write_pure(&s, any(&s), "");
    }
  }
  if (s.num_nodes > 0 && one_in(random, 3))
    strbuf_printf(text, "  @return r = %s\n", s.nodes[(s.num_nodes - 1) % MOST_NODES]);
  strbuf_printf(text, "  return a = %s, b = %s\n}\n", any(&s), any(&s));
}

static int write_library(Random *random, StrBuf *text, int *num_effects) {
  int num_pure = 1 + random_below(random, MOST_FUNCTIONS);
  *num_effects = 1 + random_below(random, MOST_FUNCTIONS);
  for (int i = 0; i < num_pure; i++) write_function(random, text, 'P', i, i, 0);
  for (int i = 0; i < *num_effects; i++) write_function(random, text, 'E', i, num_pure, i);
  return num_pure;
}

/* The graph as a function without results. */
static void write_graph(Scope *s) {
  strbuf_append(s->text, "Main(x:float) -> () {\n");
  for (int i = 0; i < 2; i++) {
    strbuf_printf(s->text, "  v%d = VarHandleOp[dtype=float, shape=[], shared_name=\"v%d\"]()\n", i, i);
    strbuf_printf(s->text, "  start%d = Const[dtype=float, value=%d]()\n", i, 1 + i);
    strbuf_printf(s->text, "  init%d = AssignVariableOp[dtype=float](v%d:resource:0, start%d:output:0)\n", i,
                  i, i);
    strbuf_printf(s->text, "  now%d = ReadVariableOp[dtype=float](v%d:resource:0)\n", i, i);
  }
  give(s, "x");
  int count = 3 + below(s, 8);
  for (int i = 0; i < count; i++) {
    if (one_in(s->random, 2)) {
      write_effect(s);
    } else {
      write_pure(s, any(s), "");
    }
  }
  strbuf_append(s->text, "}\n");
}

/* --- running --- */

typedef struct Pair {
  Graph *graph;
  Session *sessions[2]; /* with and without the optimizer */
  NodeOutput x;
} Pair;

/* The graph of a function: its argument becomes a placeholder. */
static bool take_graph(Graph *graph, const FunctionBody *body, Status *status) {
  Arena *arena = arena_new();
  GraphDef *def;
  bool ok = graph_to_def(body->graph, arena, &def, status);
  for (size_t i = 0; ok && i < def->n_node; i++) {
    NodeDef *node = def->node[i];
    if (strcmp(node->op, "_Arg") != 0) continue;
    def->node[i] = node_def_new(arena, node->name, "Placeholder");
    ok = node_def_set_attr(def->node[i], arena, "dtype", attr_value_type(arena, DT_FLOAT), status);
  }
  if (ok) def->library = NULL;
  ok = ok && graph_import(graph, def, false, NULL, arena, NULL, status);
  arena_free(arena);
  return ok;
}

static bool begin_pair(Pair *p, const char *library, Status *status) {
  *p = (Pair){.graph = graph_new()};
  FunctionBody *body = NULL;
  bool ok =
      define(p->graph, library) &&
      CHECK_OK(function_body_new(p->graph, graph_find_function(p->graph, "Main"), NULL, 0, &body, status),
               *status) &&
      CHECK_OK(take_graph(p->graph, body, status), *status);
  function_body_free(body);
  for (int i = 0; ok && i < 2; i++) {
    p->sessions[i] = session_new(p->graph, status);
    ok = CHECK(p->sessions[i]);
    if (ok) session_optimize(p->sessions[i], i == 0);
    Node *inits[] = {graph_find_node(p->graph, "init0"), graph_find_node(p->graph, "init1")};
    ok = ok && CHECK_OK(session_run(p->sessions[i], NULL, NULL, 0, NULL, NULL, 0, inits, 2, status), *status);
  }
  if (ok) p->x = out(graph_find_node(p->graph, "x"));
  return ok && CHECK(p->x.node);
}

static void end_pair(Pair *p) {
  for (int i = 0; i < 2; i++) session_free(p->sessions[i]);
  graph_free(p->graph);
}

enum { MOST_FETCHES = 3, NUM_VARIABLES = 2 };

typedef struct Request {
  NodeOutput fetches[MOST_FETCHES];
  Node *targets[MOST_FETCHES];
  int num_fetches, num_targets;
  float x;
} Request;

typedef struct Answer {
  float values[MOST_FETCHES], variables[NUM_VARIABLES];
  Status status;
} Answer;

static void choose(Scope *s, const Pair *p, Request *request) {
  *request = (Request){.x = one_in(s->random, 4) ? NAN : (float)below(s, 5) / 2};
  request->num_fetches = s->num_values > 1 ? below(s, MOST_FETCHES + 1) : 0;
  for (int i = 0; i < request->num_fetches; i++) {
    const Value *value = &s->values[1 + below(s, s->num_values - 1)];
    request->fetches[i] = (NodeOutput){graph_find_node(p->graph, value->node), value->index};
    CHECK(request->fetches[i].node);
  }
  request->num_targets = request->num_fetches == 0 ? 1 : below(s, 2);
  for (int i = 0; i < request->num_targets; i++)
    request->targets[i] =
        graph_find_node(p->graph, s->nodes[s->num_nodes - 1 - below(s, s->num_nodes > 4 ? 4 : s->num_nodes)]);
}

static bool ask(Pair *p, int which, const Request *request, Answer *answer) {
  Tensor x = {0}, values[MOST_FETCHES] = {{0}};
  const Tensor *fed = &x;
  status_init(&answer->status);
  if (!float_tensor(&x, 0, NULL, &request->x)) return false;
  bool ran = session_run(p->sessions[which], &p->x, &fed, 1, request->fetches, values, request->num_fetches,
                         request->targets, request->num_targets, &answer->status);
  for (int i = 0; i < MOST_FETCHES; i++) {
    answer->values[i] = ran && i < request->num_fetches ? tensor_f32(&values[i])[0] : 0;
    tensor_clear(&values[i]);
  }
  tensor_clear(&x);
  Status status;
  status_init(&status);
  const NodeOutput now[] = {out(graph_find_node(p->graph, "now0")), out(graph_find_node(p->graph, "now1"))};
  bool ok =
      CHECK_OK(session_run(p->sessions[which], NULL, NULL, 0, now, values, NUM_VARIABLES, NULL, 0, &status),
               status);
  for (int i = 0; i < NUM_VARIABLES; i++) {
    answer->variables[i] = ok ? tensor_f32(&values[i])[0] : 0;
    tensor_clear(&values[i]);
  }
  return ok;
}

static bool same(float a, float b) { return a == b || (isnan(a) && isnan(b)); }

static bool agree(Pair *p, const Request *request, int *failures) {
  Answer with, without;
  if (!ask(p, 0, request, &with) || !ask(p, 1, request, &without)) return false;
  *failures += without.status.code != CODE_OK;
  bool ok = CHECK_STR_EQ(with.status.message, without.status.message) &&
            CHECK_INT_EQ(with.status.code, without.status.code);
  for (int i = 0; i < request->num_fetches; i++) ok = CHECK(same(with.values[i], without.values[i])) && ok;
  for (int i = 0; i < NUM_VARIABLES; i++) ok = CHECK(same(with.variables[i], without.variables[i])) && ok;
  return ok;
}

static void trace(const Request *request) {
  printf("x = %g, fetches", request->x);
  for (int i = 0; i < request->num_fetches; i++)
    printf(" %s:%d", request->fetches[i].node->name, request->fetches[i].index);
  for (int i = 0; i < request->num_targets; i++) printf(" ^%s", request->targets[i]->name);
  printf("\n");
}

TEST(random_calls_do_the_same_without_the_optimizer) {
  const uint64_t seed = setting("TFCORE_CALLS_SEED", 1);
  const int rounds = (int)setting("TFCORE_CALLS_ROUNDS", 300);
  int failures = 0, runs = 0;
  bool ok = true;
  for (int round = (int)setting("TFCORE_CALLS_FIRST", 0); ok && round < rounds; round++) {
    CHECK_CONTEXT("TFCORE_CALLS_SEED=%" PRIu64 " round %d", seed, round);
    Random random = {seed * 1000003 + (uint64_t)round};
    StrBuf text = {0};
    Pair p;
    Status status;
    status_init(&status);
    Scope s = {.random = &random, .text = &text, .variables = {"v0:resource:0", "v1:resource:0"}};
    s.num_pure = write_library(&random, &text, &s.num_effects);
    write_graph(&s);
    bool traced = setting("TFCORE_CALLS_TRACE", 0) != 0;
    if (traced) printf("--- round %d\n%s", round, strbuf_text(&text));
    ok = begin_pair(&p, strbuf_text(&text), &status);
    for (int i = 0; ok && i < 5; i++, runs++) {
      Request request;
      choose(&s, &p, &request);
      if (traced) trace(&request);
      ok = agree(&p, &request, &failures);
    }
    end_pair(&p);
    strbuf_free(&text);
  }
  CHECK(failures > runs / 20 && failures < runs / 2); /* the graphs are useful */
}
