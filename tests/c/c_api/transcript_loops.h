/* The part of transcript.c about TF_NewWhile, TF_FinishWhile and TF_AbortWhile. */

/* A parent graph with two values, and a loop over them that is being built. */
typedef struct Loop {
  TF_Graph *graph;
  TF_Output starts[2], outputs[2];
  TF_WhileParams params;
} Loop;

static TF_Operation *binary(TF_Graph *graph, const char *op, const char *name, TF_Output x, TF_Output y) {
  TF_OperationDescription *desc = TF_NewOperation(graph, op, name);
  TF_AddInput(desc, x);
  TF_AddInput(desc, y);
  return TF_FinishOperation(desc, status);
}

/* while (i < 3) { i = i + 1; x = x * x; } */
static Loop *new_loop(TF_Graph *graph, TF_Output i, TF_Output x, const char *name) {
  Loop *loop = calloc(1, sizeof *loop);
  TF_WhileParams *p = &loop->params;
  loop->graph = graph;
  loop->starts[0] = i; /* TensorFlow does not copy them */
  loop->starts[1] = x;
  TF_WhileParams params = TF_NewWhile(graph, loop->starts, 2, status);
  memcpy(p, &params, sizeof params);
  p->name = name;
  TF_Output three = first(constant(p->cond_graph, "three", 3)),
            one = first(constant(p->body_graph, "one", 1));
  p->cond_output = first(binary(p->cond_graph, "Less", "less", p->cond_inputs[0], three));
  p->body_outputs[0] = first(binary(p->body_graph, "Add", "next", p->body_inputs[0], one));
  p->body_outputs[1] = first(binary(p->body_graph, "Mul", "square", p->body_inputs[1], p->body_inputs[1]));
  return loop;
}

static Loop *new_graph_and_loop(const char *name) {
  TF_Graph *graph = TF_NewGraph();
  TF_Output i = first(placeholder(graph, "i", TF_INT32));
  return new_loop(graph, i, first(placeholder(graph, "x", TF_FLOAT)), name);
}

static void finish(const char *name, Loop *loop) {
  TF_FinishWhile(&loop->params, status, loop->outputs);
  int ok = TF_GetCode(status) == TF_OK;
  say_status(name);
  for (int k = 0; ok && k < 2; k++) {
    if (loop->outputs[k].oper) say(name, TF_OperationName(loop->outputs[k].oper));
  }
}

static void free_loop(Loop *loop) {
  TF_DeleteGraph(loop->graph);
  free(loop);
}

static void finish_bad(const char *name, Loop *loop) {
  finish(name, loop);
  free_loop(loop);
}

static void loops_that_are_refused(void) {
  Loop *loop = new_graph_and_loop(NULL);
  finish_bad("a loop without name", loop);
  loop = new_graph_and_loop("loop");
  loop->params.cond_output = kNothing;
  finish_bad("a loop without condition", loop);
  loop = new_graph_and_loop("loop");
  loop->params.body_outputs[1] = kNothing;
  finish_bad("a loop without a next value", loop);
  loop = new_graph_and_loop("loop");
  loop->params.cond_output = loop->params.cond_inputs[0];
  finish_bad("a condition that is no bool", loop);
  loop = new_graph_and_loop("loop");
  loop->params.cond_output = loop->starts[0];
  finish_bad("a condition of another graph", loop);
  loop = new_graph_and_loop("loop");
  loop->params.body_outputs[0] = loop->params.cond_inputs[0];
  finish_bad("a next value of another graph", loop);
  loop = new_graph_and_loop("loop");
  loop->params.cond_output.index = 7;
  finish_bad("a condition that is no output", loop);
  loop = new_graph_and_loop("loop");
  loop->params.body_outputs[0].index = 7;
  finish_bad("a next value that is no output", loop);
  loop = new_graph_and_loop("");
  finish_bad("a loop with an empty name", loop);
  loop = new_graph_and_loop("not a name");
  finish_bad("a loop with a bad name", loop);
  loop = new_graph_and_loop("x");
  finish_bad("a loop named as a node", loop);

  TF_Graph *graph = TF_NewGraph();
  TF_Output i = first(placeholder(graph, "i", TF_INT32));
  TF_WhileParams params = TF_NewWhile(graph, NULL, 0, status);
  say_status("a loop without variables");
  say("a loop without variables", params.cond_graph || params.body_graph ? "graphs" : "no graphs");
  TF_WhileParams none = {0};
  TF_FinishWhile(&none, status, &i);
  say_status("a loop that was not begun");
  TF_DeleteGraph(graph);
}

static void loops_that_are_built(void) {
  Loop *loop = new_graph_and_loop("loop");
  say("an input of a condition", TF_OperationName(loop->params.cond_inputs[1].oper));
  say("an input of a body", TF_OperationName(loop->params.body_inputs[1].oper));
  say_graph("a condition's graph", loop->params.cond_graph);
  finish("a loop", loop);
  say_graph("a loop", loop->graph);
  Loop *second = new_loop(loop->graph, loop->outputs[0], loop->outputs[1], "second");
  finish("a loop after a loop", second);
  free(second);
  second = new_loop(loop->graph, loop->outputs[0], loop->outputs[1], "loop");
  finish("a loop with a name that is taken", second);
  free(second);
  second = new_loop(loop->graph, loop->outputs[0], loop->outputs[1], "given/up");
  TF_AbortWhile(&second->params);
  free(second);
  free_loop(loop);

  loop = new_graph_and_loop("scope/loop");
  loop->params.body_outputs[1] = loop->params.body_inputs[1];
  finish("a loop in a scope", loop);
  say_graph("a loop in a scope", loop->graph);
  free_loop(loop);
}

static void loops(void) {
  loops_that_are_built();
  loops_that_are_refused();
}
