/* Gradients of loops, branches, maps and calls with too little memory: in graphs, of functions, as nodes, and
 * second gradients. */
#include <string.h>

#include "gradient/function_gradient.h"
#include "gradient/graph_gradients.h"
#include "gradient/symbolic_gradient.h"
#include "gradient/run/functional_library.h"
#include "splice_function.h"
#include "runtime/session_fixture.h"
#include "shortage.h"

enum { MOST_ARGS = 8, FEW_FAULTS = 8, MANY_FAULTS = 1200 };

static const char *const kFunctions[] = {"Power",   "StatelessPower", "Recurrent",     "Escape",
                                         "Series",  "Nested",         "Branch",        "StatelessBranch",
                                         "Number",  "Turns",          "StatefulCalls", "Elsewhere",
                                         "Perhaps", "Accumulated",    "Slope",         "Curve"};
enum { NUM_FUNCTIONS = sizeof kFunctions / sizeof kFunctions[0] };

/* Most of the code is shared, so one case of each kind is tested closely; maps, whose gradients are nodes, at
 * the second order. */
static int most_faults(const char *name, bool again) {
  bool closely =
      again ? strcmp(name, "Accumulated") == 0 : strcmp(name, "Branch") == 0 || strcmp(name, "Power") == 0;
  return closely ? MANY_FAULTS : FEW_FAULTS;
}

/* All functions, and a graph with the functions that one of them reaches. */
typedef struct World {
  Arena *arena;
  Graph *all, *graph;
  FunctionDefLibrary *library; /* of the graph */
  Status status;
} World;

static bool open_world(World *world) {
  FunctionDefLibrary *parsed;
  *world = (World){.arena = arena_new(), .all = graph_new()};
  status_init(&world->status);
  return CHECK_OK(function_parse_library(str_of(kFunctionalLibrary), world->arena, &parsed, &world->status),
                  world->status) &&
         CHECK_OK(graph_add_function_library(world->all, parsed, &world->status), world->status);
}

static void close_world(World *world) {
  graph_free(world->all);
  arena_free(world->arena);
}

static bool choose(World *world, const char *name) {
  const FunctionDef *function = graph_find_function(world->all, name);
  FunctionLibraryDefinition *reachable = NULL;
  bool ok = CHECK(function) &&
            CHECK_OK(function_library_reachable_from_function(graph_function_library(world->all), function,
                                                              &reachable, &world->status),
                     world->status) &&
            CHECK_OK(function_library_add_function(reachable, function, &world->status), world->status) &&
            CHECK_OK(function_library_to_proto(reachable, world->arena, &world->library, &world->status),
                     world->status);
  if (ok) world->library = proto_copy(world->library, world->arena); /* it points into the other */
  function_library_free(reachable);
  return ok && CHECK(world->library);
}

static bool new_graph(World *world) {
  status_init(&world->status);
  world->graph = graph_new();
  return CHECK(world->graph) &&
         CHECK_OK(graph_add_function_library(world->graph, world->library, &world->status), world->status);
}

static GraphDef *describe(const World *world, Arena *arena) {
  Status status;
  GraphDef *def = NULL;
  status_init(&status);
  CHECK_OK(graph_to_def(world->graph, arena, &def, &status), status);
  return def;
}

/* The state after a round: after success that of the first round, after failure the previous one. */
static void check_left(World *world, bool ok, const GraphDef *before, GraphDef **answer, Arena *arena) {
  GraphDef *now = describe(world, arena);
  if (!ok) CHECK(proto_equal(now, before));
  else if (!*answer) *answer = proto_copy(now, world->arena);
  else CHECK(proto_equal(now, *answer));
}

/* --- in graphs --- */

/* y = f(x...) with the function's nodes in the graph; `xs` are the arguments. */
static bool add_body(World *world, const char *name, NodeOutput *xs, int *num_xs, NodeOutput *y) {
  const FunctionDef *function = graph_find_function(world->graph, name);
  *num_xs = (int)function->signature->n_input_arg;
  for (int i = 0; i < *num_xs; i++) {
    const ArgDef *arg = function->signature->input_arg[i];
    Attr attrs[] = {{"dtype", (int)arg->type == DT_INT32 ? "type: DT_INT32" : "type: DT_DOUBLE"},
                    {"shape", "shape { }"}};
    xs[i] = out(add_node(world->graph, "Placeholder", arg->name, NULL, 0, attrs, 2));
  }
  return CHECK_OK(splice_function(world->graph, function, xs, "", y, &world->status), world->status);
}

/* The gradient of y, or with `again` that of dy / dx for the last x. */
static void starve_graph(World *world, const char *name, bool again) {
  Shortage shortage = {.what = name, .most = again ? FEW_FAULTS : most_faults(name, false)};
  GraphDef *answer = NULL;
  do {
    NodeOutput xs[MOST_ARGS], dxs[MOST_ARGS], y;
    int num_xs = 0;
    Arena *arena = arena_new();
    bool ready = new_graph(world) && add_body(world, name, xs, &num_xs, &y);
    if (ready && again) {
      ready = CHECK_OK(graph_add_gradients(world->graph, &y, 1, xs, num_xs, NULL, NULL, dxs, &world->status),
                       world->status);
      y = dxs[num_xs - 1];
    }
    const GraphDef *before = describe(world, arena);
    shortage_begin(&shortage);
    bool ok = ready && graph_add_gradients(world->graph, &y, 1, xs, num_xs, NULL, NULL, dxs, &world->status);
    shortage_end(&shortage, ok, world->status.code);
    check_left(world, ok, before, &answer, arena);
    graph_free(world->graph);
    arena_free(arena);
  } while (shortage_next(&shortage));
}

TEST(gradients_in_graphs_short_of_memory_leave_no_trace) {
  World world;
  bool ready = open_world(&world);
  for (int i = 0; ready && i < NUM_FUNCTIONS; i++) {
    if (choose(&world, kFunctions[i])) starve_graph(&world, kFunctions[i], false);
  }
  close_world(&world);
}

TEST(gradients_of_gradients_in_graphs_short_of_memory_leave_no_trace) {
  World world;
  bool ready = open_world(&world);
  for (int i = 0; ready && i < NUM_FUNCTIONS; i++) {
    if (choose(&world, kFunctions[i])) starve_graph(&world, kFunctions[i], true);
  }
  close_world(&world);
}

/* --- of functions --- */

static bool differentiate(World *world, const char *name, const char *gradient_name, Arena *arena,
                          FunctionDef **gradient) {
  const FunctionDef *function = graph_find_function(world->graph, name);
  return function_gradient(world->graph, function, NULL, 0, gradient_name, arena, gradient, &world->status);
}

static void starve_function(World *world, const char *name, bool again) {
  Shortage shortage = {.what = name, .most = most_faults(name, again)};
  FunctionDef *answer = NULL;
  do {
    Arena *arena = arena_new();
    FunctionDef *gradient = NULL;
    bool ready = new_graph(world);
    if (ready && again) {
      ready = CHECK_OK(differentiate(world, name, "First", arena, &gradient), world->status) &&
              CHECK_OK(graph_add_function(world->graph, gradient, &world->status), world->status);
    }
    int64_t functions = graph_num_functions(world->graph);
    shortage_begin(&shortage);
    bool ok = ready && differentiate(world, again ? "First" : name, "Wanted", arena, &gradient);
    shortage_end(&shortage, ok, world->status.code);
    if (!ok) CHECK_INT_EQ(graph_num_functions(world->graph), functions);
    else if (!answer) answer = proto_copy(gradient, world->arena);
    else CHECK(proto_equal(gradient, answer));
    graph_free(world->graph);
    arena_free(arena);
  } while (shortage_next(&shortage));
}

TEST(gradients_of_functions_short_of_memory_leave_no_trace) {
  World world;
  bool ready = open_world(&world);
  for (int i = 0; ready && i < NUM_FUNCTIONS; i++) {
    if (choose(&world, kFunctions[i])) starve_function(&world, kFunctions[i], false);
  }
  close_world(&world);
}

TEST(gradients_of_gradients_of_functions_short_of_memory_leave_no_trace) {
  World world;
  bool ready = open_world(&world);
  for (int i = 0; ready && i < NUM_FUNCTIONS; i++) {
    if (choose(&world, kFunctions[i])) starve_function(&world, kFunctions[i], true);
  }
  close_world(&world);
}

/* --- as nodes --- */

/* The attrs of SymbolicGradient[f=name], or of the gradient of that. */
static const NodeDef *symbolic_node(World *world, const char *name, bool again) {
  FunctionDef *holder = NULL;
  const char *format =
      again ? "H() -> () { n = N[f=SymbolicGradient[f=%s]]() }" : "H() -> () { n = N[f=%s]() }";
  char text[128];
  snprintf(text, sizeof text, format, name);
  CHECK_OK(function_parse(str_of(text), world->arena, &holder, &world->status), world->status);
  return !holder ? NULL : holder->node_def[0];
}

static void starve_node(World *world, const char *name, bool again) {
  Shortage shortage = {.what = name, .most = most_faults(name, again)};
  const NodeDef *node = symbolic_node(world, name, again);
  int64_t answer = -1;
  do {
    FunctionBody *body = NULL;
    bool ready = node && new_graph(world);
    int64_t functions = graph_num_functions(world->graph);
    shortage_begin(&shortage);
    bool ok = ready && gradient_instantiate(world->graph, (const AttrEntry *const *)node->attr,
                                            (int)node->n_attr, &body, &world->status);
    shortage_end(&shortage, ok, world->status.code);
    if (ok && answer < 0) answer = graph_num_edges(body->graph);
    if (ok) CHECK_INT_EQ(graph_num_edges(body->graph), answer);
    else CHECK_INT_EQ(graph_num_functions(world->graph), functions);
    function_body_free(body);
    graph_free(world->graph);
  } while (shortage_next(&shortage));
}

TEST(symbolic_gradients_short_of_memory_leave_no_trace) {
  World world;
  bool ready = open_world(&world);
  for (int i = 0; ready && i < NUM_FUNCTIONS; i++) {
    if (!choose(&world, kFunctions[i])) continue;
    starve_node(&world, kFunctions[i], false);
    starve_node(&world, kFunctions[i], true);
  }
  close_world(&world);
}
