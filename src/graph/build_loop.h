/* Building a loop of Enter, Merge, Switch, NextIteration and Exit from graphs of its condition and its body,
 * as TensorFlow's BuildWhileLoop does. */
#ifndef TFCORE_GRAPH_BUILD_LOOP_H_
#define TFCORE_GRAPH_BUILD_LOOP_H_

#include "graph/graph.h"

/* The condition or the body. Values are named as in the GraphDef: "n:0". */
typedef struct LoopPart {
  GraphDef *def;             /* is only read */
  const char *const *inputs; /* per variable what stands for its value */
  const char *const *outputs;
} LoopPart;

typedef struct LoopPlan {
  const char *name; /* of the frame; new nodes are named name/... */
  const NodeOutput *inputs;
  int num_variables;
  LoopPart condition; /* one output, a scalar bool */
  LoopPart body;      /* an output for each variable */
} LoopPlan;

/* Sets outputs[i] to the value of variable i behind the loop, and remembers the loop
 * (graph_add_while_context). INVALID_ARGUMENT when a part has no such value, the condition is no bool, the
 * body gives another type than the variable has, or there is a loop with that name. On error no node is left
 * in the graph. */
MUST_CHECK bool graph_build_loop(Graph *graph, const LoopPlan *plan, Arena *arena, NodeOutput *outputs,
                                 Status *status);

#endif
