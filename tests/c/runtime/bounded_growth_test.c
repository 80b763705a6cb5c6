/* Small graphs with large demands: functions that call each other twice, gradients of gradients, recursive
 * functions. They give a result or an error quickly, and with little memory. */
#include <string.h>
#include <time.h>

#include "runtime/session_fixture.h"

enum { LEVELS = 40, SLOW_SECONDS = 20 };

BEFORE_EACH() {
  Status status;
  status_init(&status);
  CHECK_OK(op_registry_add_table(op_registry_global(), kOpTable, kOpTableSize, &status), &status);
}
AFTER_EACH() { op_registry_clear(op_registry_global()); }

/* A node whose inputs are all `x`. */
static NodeOutput node_on(Graph *graph, const char *op, NodeOutput x, int num_inputs, const Attr *attrs,
                          int num_attrs) {
  Status status;
  status_init(&status);
  Arena *arena = arena_new();
  StrBuf text = {0};
  NodeOutput inputs[64];
  void *def;
  Node *node = NULL;
  for (int i = 0; i < num_inputs; i++) inputs[i] = x;
  strbuf_printf(&text, "name: \"y\" op: \"%s\"", op);
  for (int i = 0; i < num_attrs; i++)
    strbuf_printf(&text, " attr { key: \"%s\" value { %s } }", attrs[i].name, attrs[i].text);
  if (CHECK_OK(proto_parse_text(kNodeDef, str_of(strbuf_text(&text)), arena, &def, &status), &status))
    CHECK_OK(graph_add_operation(graph, def, inputs, num_inputs, NULL, 0, &node, &status), &status);
  strbuf_free(&text);
  arena_free(arena);
  return out(node);
}

/* Runs `op` on x = 0.5 (each of its inputs), and checks that it took little time. */
static bool run_call(const char *library, const char *op, int num_inputs, const Attr *attrs, int num_attrs,
                     float *value, Status *status) {
  Fixture f;
  bool ok = false;
  if (!begin(&f)) return false;
  clock_t start = clock();
  if (define(f.graph, library)) {
    NodeOutput y = node_on(f.graph, op, scalar(f.graph, "x", 0.5f), num_inputs, attrs, num_attrs);
    Tensor result = {0};
    ok = y.node && session_run(f.session, NULL, NULL, 0, &y, &result, 1, NULL, 0, status);
    if (ok) *value = tensor_f32(&result)[0];
    tensor_clear(&result);
  }
  end(&f);
  CHECK((clock() - start) / CLOCKS_PER_SEC < SLOW_SECONDS);
  return ok;
}

static void append_nested(StrBuf *text, int depth) {
  for (int i = 0; i < depth; i++)
    strbuf_append(text, "name: \"SymbolicGradient\" attr { key: \"f\" value { func { ");
  strbuf_append(text, "name: \"F\"");
  for (int i = 0; i < depth; i++) {
    strbuf_printf(text, " } } } attr { key: \"Tin\" value { list { ");
    for (int k = 0; k < i + 2; k++) strbuf_append(text, "type: DT_FLOAT ");
    strbuf_append(text, "} } } attr { key: \"Tout\" value { list { ");
    for (int k = 0; k < i + 1; k++) strbuf_append(text, "type: DT_FLOAT ");
    strbuf_append(text, "} } }");
  }
}

TEST(nested_symbolic_gradients_answer_at_once) {
  static const char *const kBodies[] = {
      "F(x:float) -> (y:float) {\n  y = Tanh[T=float](x)\n  return y = y:y:0\n}\n",
      "F(x:float) -> (y:float) {\n  y = Mul[T=float](x, x)\n  return y = y:z:0\n}\n",
      ("F(x:float) -> (y:float) {\n  a = Sigmoid[T=float](x)\n  b = Exp[T=float](a:y:0)\n  y = "
       "Div[T=float](b:y:0, x)\n  return y = y:z:0\n}\n"),
  };
  for (size_t b = 0; b < sizeof kBodies / sizeof *kBodies; b++) {
    for (int depth = 1; depth <= 30; depth += depth < 6 ? 1 : 8) {
      Status status;
      status_init(&status);
      StrBuf f = {0}, in = {0}, outs = {0};
      strbuf_append(&f, "func { ");
      append_nested(&f, depth - 1);
      strbuf_append(&f, " }");
      strbuf_append(&in, "list { ");
      /* A gradient has the arguments and results of its function as arguments, and the arguments as results:
       * Fibonacci's numbers. */
      int num_inputs = 2, num_outputs = 1;
      for (int i = 1; i < depth && num_inputs < 30; i++)
        num_inputs += num_outputs, num_outputs = num_inputs - num_outputs;
      for (int i = 0; i < num_inputs; i++) strbuf_append(&in, "type: DT_FLOAT ");
      strbuf_append(&in, "}");
      strbuf_append(&outs, "list { ");
      for (int i = 0; i < num_outputs; i++) strbuf_append(&outs, "type: DT_FLOAT ");
      strbuf_append(&outs, "}");
      Attr attrs[] = {{"f", strbuf_text(&f)}, {"Tin", strbuf_text(&in)}, {"Tout", strbuf_text(&outs)}};
      float value;
      CHECK_CONTEXT("body %d, %d deep", (int)b, depth);
      bool ok = run_call(kBodies[b], "SymbolicGradient", num_inputs, attrs, 3, &value, &status);
      CHECK(ok == (depth <= 4));
      if (!ok)
        CHECK_STR_CONTAINS(status.message, "SymbolicGradient is nested more than 4 deep in its attr f");
      strbuf_free(&f);
      strbuf_free(&in);
      strbuf_free(&outs);
    }
  }
}

/* Each function calls the previous one twice: 2^40 ops if everything is inlined. */
static void double_levels(StrBuf *library, const char *call) {
  strbuf_append(library, "F0(x:float) -> (y:float) {\n  y = Neg[T=float](x)\n  return y = y:y:0\n}\n");
  for (int i = 1; i <= LEVELS; i++) {
    strbuf_printf(library, "F%d(x:float) -> (y:float) {\n  a = ", i);
    strbuf_printf(library, call, i - 1);
    strbuf_append(library, "(x)\n  b = ");
    strbuf_printf(library, call, i - 1);
    const char *output = strchr(call, '[') ? "output" : "y";
    strbuf_printf(library, "(a:%s:0)\n  return y = b:%s:0\n}\n", output, output);
  }
}

TEST(functions_that_double_are_refused_or_bounded) {
  static const char *const kCalls[] = {"F%d", "PartitionedCall[Tin={float}, Tout={float}, f=F%d]",
                                       "StatefulPartitionedCall[Tin={float}, Tout={float}, f=F%d]"};
  for (size_t i = 0; i < sizeof kCalls / sizeof *kCalls; i++) {
    for (int which = 0; which < 2; which++) {
      Status status;
      status_init(&status);
      StrBuf library = {0};
      double_levels(&library, kCalls[i]);
      float value;
      char name[16], f[48];
      snprintf(name, sizeof name, "F%d", LEVELS);
      snprintf(f, sizeof f, "func { name: \"F%d\" }", LEVELS);
      Attr attrs[] = {{"f", f},
                      {"Tin", "list { type: DT_FLOAT type: DT_FLOAT }"},
                      {"Tout", "list { type: DT_FLOAT }"}};
      CHECK_CONTEXT("%s %d", kCalls[i], which);
      bool ok = which == 0
                    ? run_call(strbuf_text(&library), name, 1, NULL, 0, &value, &status)
                    : run_call(strbuf_text(&library), "SymbolicGradient", 2, attrs, 3, &value, &status);
      CHECK(!ok && status.message[0] != 0);
      strbuf_free(&library);
    }
  }
}
