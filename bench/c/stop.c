/* How long kernels go on after the deadline of their step. Each kernel runs once to its end, and then with a
 * deadline at several moments of that time; the longest delay counts.
 *
 *   bench_stop [part of an op's name]     a table, in milliseconds; sessions use all processors
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "graph/graph.h"
#include "ops/op_table.h"
#include "runtime/session.h"

enum { MOMENTS = 8 };

/* A graph whose node "y" has inputs that are made by other nodes, and fed. */
typedef struct Case {
  const char *op, *inputs[3], *attrs;
} Case;

/* An input: random floats or integers of these dimensions, or a constant. append_input reads these texts. */
#define FLOATS(dims) "o|" dims
#define INTS(dims, limit) "ints " limit "|" dims
#define VECTOR(values) "vector|" values
#define SCALAR(value) "scalar|" value
#define ATTR(name, value) " attr { key: '" name "' value { " value " } }"
#define T ATTR("T", "type: DT_FLOAT")
#define TIDX ATTR("Tidx", "type: DT_INT32")
#define WINDOW ATTR("strides", "list { i: [1, 1, 1, 1] }") ATTR("padding", "s: 'SAME'")
#define DTYPE ATTR("dtype", "type: DT_FLOAT") ATTR("T", "type: DT_INT32")

static const Case kCases[] = {
    {"MatMul", {FLOATS("4096, 4096"), FLOATS("4096, 4096")}, T},
    {"MatMul", {FLOATS("6000000, 8"), FLOATS("8, 8")}, T},
    {"MatMul", {FLOATS("8, 6000000"), FLOATS("6000000, 8")}, T},
    {"BatchMatMulV2", {FLOATS("60000, 16, 32"), FLOATS("60000, 32, 16")}, T},
    {"Conv2D", {FLOATS("16, 112, 112, 64"), FLOATS("5, 5, 64, 96")}, T WINDOW},
    {"Conv2DBackpropInput",
     {VECTOR("16, 112, 112, 64"), FLOATS("5, 5, 64, 96"), FLOATS("16, 112, 112, 96")},
     T WINDOW},
    {"Conv2DBackpropFilter",
     {FLOATS("16, 112, 112, 64"), VECTOR("5, 5, 64, 96"), FLOATS("16, 112, 112, 96")},
     T WINDOW},
    {"DepthwiseConv2dNative", {FLOATS("32, 112, 112, 64"), FLOATS("9, 9, 64, 1")}, T WINDOW},
    {"MaxPool", {FLOATS("32, 160, 160, 32")}, T WINDOW ATTR("ksize", "list { i: [1, 7, 7, 1] }")},
    {"TopKV2", {FLOATS("1, 20000000"), SCALAR("1000000")}, T},
    {"TopKV2", {FLOATS("2000, 10000"), SCALAR("5000")}, T},
    {"Sum", {FLOATS("50000000"), VECTOR("0")}, T TIDX},
    {"Sum", {FLOATS("7000, 7000"), VECTOR("0")}, T TIDX},
    {"Max", {FLOATS("7000, 7000"), VECTOR("1")}, T TIDX},
    {"ArgMax", {FLOATS("50000000"), SCALAR("0")}, T TIDX},
    {"Cumsum", {FLOATS("50000000"), SCALAR("0")}, T TIDX},
    {"Softmax", {FLOATS("7000, 7000")}, T},
    {"Add", {FLOATS("50000000"), FLOATS("50000000")}, T},
    {"Add", {FLOATS("7000, 7000"), FLOATS("7000")}, T},
    {"Exp", {FLOATS("50000000")}, T},
    {"Transpose", {FLOATS("7000, 7000"), VECTOR("1, 0")}, T ATTR("Tperm", "type: DT_INT32")},
    {"GatherV2",
     {FLOATS("1000000, 16"), INTS("3000000", "1000000"), SCALAR("0")},
     ATTR("Tparams", "type: DT_FLOAT") ATTR("Tindices", "type: DT_INT32") ATTR("Taxis", "type: DT_INT32")},
    {"Unique", {INTS("10000000", "1000000")}, ATTR("T", "type: DT_INT32")},
    {"RandomUniform", {VECTOR("50000000")}, DTYPE},
    {"RandomStandardNormal", {VECTOR("50000000")}, DTYPE},
    {"TruncatedNormal", {VECTOR("50000000")}, DTYPE},
    {"RandomShuffle", {FLOATS("20000000")}, T},
    {"Cast", {FLOATS("50000000")}, ATTR("SrcT", "type: DT_FLOAT") ATTR("DstT", "type: DT_INT64")},
};

static void append_const(StrBuf *text, const char *name, bool is_vector, const char *values) {
  int count = 1;
  for (const char *at = values; *at; at++) count += *at == ',';
  strbuf_printf(text, "node { name: '%s' op: 'Const'" ATTR("dtype", "type: DT_INT32"), name);
  strbuf_append(text, " attr { key: 'value' value { tensor { dtype: DT_INT32 tensor_shape { ");
  if (is_vector) strbuf_printf(text, "dim { size: %d }", count);
  strbuf_printf(text, " } int_val: [%s] } } } }\n", values);
}

static void append_input(StrBuf *text, int i, const char *input) {
  char name[8], other[8];
  const char *values = strchr(input, '|') + 1;
  snprintf(name, sizeof name, "x%d", i);
  snprintf(other, sizeof other, "s%d", i);
  bool ints = strncmp(input, "ints", 4) == 0, floats = input[0] == 'o';
  append_const(text, ints || floats ? other : name, input[0] != 's', values);
  if (floats)
    strbuf_printf(text, "node { name: '%s' op: 'RandomUniform' input: '%s'" DTYPE " }\n", name, other);
  if (!ints) return;
  append_const(text, i == 0 ? "low0" : "low1", false, "0");
  char limit[16];
  snprintf(limit, sizeof limit, "%.*s", (int)(values - input - 6), input + 5);
  append_const(text, i == 0 ? "high0" : "high1", false, limit);
  strbuf_printf(text,
                "node { name: '%s' op: 'RandomUniformInt' input: ['%s', 'low%d', 'high%d']" ATTR(
                    "Tout", "type: DT_INT32") ATTR("T", "type: DT_INT32") " }\n",
                name, other, i, i);
}

static bool make_graph(const Case *c, Graph *graph, Status *status) {
  StrBuf text = {0};
  void *def;
  int count = 0;
  while (count < 3 && c->inputs[count]) append_input(&text, count, c->inputs[count]), count++;
  strbuf_printf(&text, "node { name: 'y' op: '%s'", c->op);
  for (int i = 0; i < count; i++) strbuf_printf(&text, " input: 'x%d'", i);
  strbuf_printf(&text, "%s }\n", c->attrs);
  Arena *arena = arena_new();
  bool ok = arena && strbuf_ok(&text, status) &&
            proto_parse_text(kGraphDef, str_of(strbuf_text(&text)), arena, &def, status) &&
            graph_import(graph, def, false, NULL, arena, NULL, status);
  strbuf_free(&text);
  arena_free(arena);
  return ok;
}

/* Milliseconds of a step; `timeout` 0: none. */
static double run(Session *session, Node *y, const NodeOutput *feeds, const Tensor *values, int64_t timeout,
                  Status *status) {
  NodeOutput fetch = {y, 0};
  const Tensor *given[3] = {&values[0], &values[1], &values[2]};
  const SessionRunOptions options = {.timeout_ms = timeout};
  const StepSignature signature = {.feeds = feeds,
                                   .num_feeds = y->num_inputs,
                                   .fetches = &fetch,
                                   .num_fetches = 1};
  SessionStep *step;
  Tensor result = {0};
  status_init(status);
  int64_t begin = clock_nanoseconds();
  bool ok = session_begin(session, &options, &signature, given, &step, status) &&
            session_finish(step, &result, status);
  double spent = (double)(clock_nanoseconds() - begin) / 1e6;
  tensor_clear(&result);
  if (!ok && status->code != CODE_DEADLINE_EXCEEDED) printf("%s\n", status->message);
  return spent;
}

static bool measure(const Case *c, Graph *graph, Session *session, Status *status) {
  NodeOutput feeds[3];
  Tensor values[3] = {{0}};
  bool ok = make_graph(c, graph, status);
  Node *y = ok ? graph_find_node(graph, "y") : NULL;
  for (int i = 0; ok && i < y->num_inputs; i++) {
    feeds[i] = (NodeOutput){y->inputs[i]->src, 0};
    ok = session_run(session, NULL, NULL, 0, &feeds[i], &values[i], 1, NULL, 0, status);
  }
  if (ok) {
    run(session, y, feeds, values, 0, status);
    double whole = run(session, y, feeds, values, 0, status), delay = 0;
    for (int i = 1; i <= MOMENTS; i++) {
      int64_t timeout = (int64_t)(whole * i / (MOMENTS + 1));
      if (timeout == 0) continue;
      double late = run(session, y, feeds, values, timeout, status) - (double)timeout;
      if (late > delay) delay = late;
    }
    printf("%-24s %-24s %10.1f %10.1f\n", c->op, strchr(c->inputs[0], '|') + 1, whole, delay);
    fflush(stdout);
  }
  for (int i = 0; i < 3; i++) tensor_clear(&values[i]);
  return ok;
}

int main(int argc, char **argv) {
  Status registered;
  status_init(&registered);
  if (!op_registry_add_table(op_registry_global(), kOpTable, kOpTableSize, &registered)) return 1;
  printf("%-24s %-24s %10s %10s\n", "kernel", "input", "whole", "delay");
  for (size_t i = 0; i < sizeof kCases / sizeof *kCases; i++) {
    Status status;
    if (argc > 1 && !strstr(kCases[i].op, argv[1])) continue;
    status_init(&status);
    Graph *graph = graph_new();
    Session *session = graph ? session_new(graph, &status) : NULL;
    if (!session || !measure(&kCases[i], graph, session, &status))
      printf("%s: %s\n", kCases[i].op, status.message);
    session_free(session);
    graph_free(graph);
  }
  return 0;
}
