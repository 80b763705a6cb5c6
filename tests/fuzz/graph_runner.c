#include "fuzz/graph_runner.h"

#include <string.h>

#include "c_api/c_api_internal.h"
#include "gradient/graph_gradients.h"

enum { MAX_RUNS = 24, MAX_FEEDS = 8, MAX_GRADIENTS = 4 };

typedef struct Runner {
  Random *random;
  TF_Graph *graph;
  TF_Status *status;
  TF_Output feeds[MAX_FEEDS];
  TF_Tensor *values[MAX_FEEDS];
  int num_feeds;
} Runner;

static void check(const Runner *r) { fuzz_check_code((Code)TF_GetCode(r->status), TF_Message(r->status)); }
static bool succeeded(const Runner *r) { return TF_GetCode(r->status) == TF_OK; }
static bool out_of_memory(const Runner *r) { return TF_GetCode(r->status) == TF_RESOURCE_EXHAUSTED; }

/* --- feeds --- */

static TF_Tensor *value_of(Runner *r, TF_Output output) {
  DataType type = (DataType)TF_OperationOutputType(output);
  if (!dtype_is_valid((int)type) || dtype_is_ref((int)type)) return NULL;
  int64_t dims[RANDOM_MAX_RANK], known[RANDOM_MAX_RANK];
  int known_rank = TF_GraphGetTensorNumDims(r->graph, output, r->status);
  int rank = known_rank < 0 || known_rank > RANDOM_MAX_RANK || one_in(r->random, 20) ? random_rank(r->random)
                                                                                     : known_rank;
  random_dims(r->random, rank, dims);
  if (rank == known_rank) {
    TF_GraphGetTensorShape(r->graph, output, known, rank, r->status);
    for (int i = 0; i < rank; i++) dims[i] = known[i] >= 0 && known[i] < 40 ? known[i] : dims[i];
  }
  Tensor value = {0};
  TF_Tensor *taken = NULL;
  if (fill_random_tensor(r->random, type, rank, dims, &value, &r->status->status))
    taken = take_tensor(&value, &r->status->status);
  tensor_clear(&value);
  return taken;
}

static void feed_placeholders(Runner *r) {
  TF_Operation *oper;
  for (size_t pos = 0; r->num_feeds < MAX_FEEDS && (oper = TF_GraphNextOperation(r->graph, &pos));) {
    if (strcmp(TF_OperationOpType(oper), "Placeholder") != 0) continue;
    r->feeds[r->num_feeds] = (TF_Output){oper, 0};
    r->values[r->num_feeds] = value_of(r, (TF_Output){oper, 0});
    r->num_feeds += r->values[r->num_feeds] != NULL;
  }
}

/* --- gradients --- */

static bool is_floating(TF_Output output) {
  TF_DataType type = TF_OperationOutputType(output);
  return type == TF_FLOAT || type == TF_DOUBLE || type == TF_HALF || type == TF_BFLOAT16 ||
         type == TF_COMPLEX64 || type == TF_COMPLEX128 || type == TF_RESOURCE;
}

/* The `n`-th floating output from the front or the back of the graph. */
static TF_Output floating_output(const Runner *r, int n, bool from_back) {
  TF_Output found = {NULL, 0};
  TF_Operation *oper;
  for (size_t pos = 0; (oper = TF_GraphNextOperation(r->graph, &pos));) {
    for (int i = 0; i < TF_OperationNumOutputs(oper) && i < 4; i++) {
      if (!is_floating((TF_Output){oper, i})) continue;
      if (from_back || n-- == 0) found = (TF_Output){oper, i};
      if (!from_back && n < 0) return found;
    }
  }
  return found;
}

static void differentiate(Runner *r) {
  for (int i = 0; i < MAX_GRADIENTS; i++) {
    TF_Output y = floating_output(r, random_below(r->random, 16), i % 2 == 0), dx;
    TF_Output x = i < 2 && r->num_feeds > 0 ? r->feeds[random_below(r->random, r->num_feeds)]
                                            : floating_output(r, random_below(r->random, 6), false);
    if (!x.oper || !y.oper) return;
    TF_AddGradients(r->graph, &y, 1, &x, 1, NULL, r->status, &dx);
    check(r);
  }
}

/* --- steps --- */

/* Endless loops cannot be recognised, so graphs with loops are not run. */
static bool may_loop(NodeDef *const *nodes, size_t count) {
  for (size_t i = 0; i < count; i++) {
    const char *op = nodes[i]->op;
    if (strcmp(op, "While") == 0 || strcmp(op, "StatelessWhile") == 0 || strcmp(op, "For") == 0) return true;
  }
  return false;
}

static bool def_may_loop(const GraphDef *def) {
  if (may_loop(def->node, def->n_node)) return true;
  for (size_t i = 0; def->library && i < def->library->n_function; i++) {
    if (may_loop(def->library->function[i]->node_def, def->library->function[i]->n_node_def)) return true;
  }
  return false;
}

static void run_one(Runner *r, TF_Session *session, TF_Operation *oper) {
  TF_Output output = {oper, 0};
  TF_Tensor *result = NULL;
  const TF_Operation *target = oper;
  bool fetches = TF_OperationNumOutputs(oper) > 0;
  TF_SessionRun(session, NULL, r->feeds, r->values, r->num_feeds, &output, &result, fetches ? 1 : 0, &target,
                fetches ? 0 : 1, NULL, r->status);
  check(r);
  FUZZ_CHECK(!fetches || (result != NULL) == succeeded(r), "a step gave %s: %s", result ? "a value" : "none",
             TF_Message(r->status));
  TF_DeleteTensor(result);
}

/* The last operations, which reach most of the others, and some of the rest. */
static void run_steps(Runner *r) {
  TF_Session *session = TF_NewSession(r->graph, NULL, r->status);
  check(r);
  int count = 0, index = 0;
  TF_Operation *oper;
  for (size_t pos = 0; TF_GraphNextOperation(r->graph, &pos);) count++;
  for (size_t pos = 0; session && (oper = TF_GraphNextOperation(r->graph, &pos)); index++) {
    if (count - index > MAX_RUNS / 2 && random_below(r->random, count) >= MAX_RUNS / 2) continue;
    run_one(r, session, oper);
  }
  TF_DeleteSession(session, r->status);
}

/* --- export --- */

/* An imported graph is exported, and imported again byte for byte. */
static void export_again(Runner *r) {
  TF_Graph *again = TF_NewGraph();
  TF_Buffer *first = TF_NewBuffer(), *second = TF_NewBuffer();
  if (again && first && second) {
    TF_GraphToGraphDef(r->graph, first, r->status);
    check(r);
    if (succeeded(r)) TF_GraphImportGraphDef(again, first, NULL, r->status);
    FUZZ_CHECK(succeeded(r) || out_of_memory(r), "what was exported is not imported: %s",
               TF_Message(r->status));
    if (succeeded(r)) TF_GraphToGraphDef(again, second, r->status);
    if (succeeded(r)) {
      FUZZ_CHECK(first->length == second->length && memcmp(first->data, second->data, first->length) == 0,
                 "the second export differs from the first");
    }
  }
  TF_DeleteBuffer(first);
  TF_DeleteBuffer(second);
  TF_DeleteGraph(again);
}

static void use_graph(Runner *r, bool runs) {
  export_again(r);
  feed_placeholders(r);
  if (!one_in(r->random, 4)) differentiate(r);
  if (runs) run_steps(r);
  for (int i = 0; i < r->num_feeds; i++) TF_DeleteTensor(r->values[i]);
}

static bool import(Runner *r, const void *bytes, size_t length, bool runs) {
  TF_Buffer buffer = {bytes, length, NULL};
  TF_GraphImportGraphDef(r->graph, &buffer, NULL, r->status);
  check(r);
  bool imported = succeeded(r);
  size_t pos = 0;
  if (imported) {
    use_graph(r, runs);
  } else {
    FUZZ_CHECK(!TF_GraphNextOperation(r->graph, &pos), "an import that failed left nodes: %s",
               TF_Message(r->status));
  }
  return imported;
}

static bool with_graph(const void *bytes, size_t length, bool runs, Random *random) {
  Runner r = {.random = random, .graph = TF_NewGraph(), .status = TF_NewStatus()};
  bool imported = r.graph && r.status && import(&r, bytes, length, runs);
  TF_DeleteGraph(r.graph);
  TF_DeleteStatus(r.status);
  return imported;
}

bool fuzz_graph_bytes(const void *bytes, size_t length, Random *random) {
  Status status;
  status_init(&status);
  Arena *arena = arena_new();
  void *def;
  bool runs = arena && proto_parse(kGraphDef, bytes, length, arena, &def, &status) && !def_may_loop(def);
  arena_free(arena);
  return with_graph(bytes, length, runs, random);
}

bool fuzz_graph_message(const GraphDef *def, Random *random) {
  Status status;
  status_init(&status);
  StrBuf bytes = {0};
  bool imported = proto_serialize(def, &bytes, &status) &&
                  with_graph(strbuf_text(&bytes), (size_t)bytes.length, !def_may_loop(def), random);
  strbuf_free(&bytes);
  return imported;
}
