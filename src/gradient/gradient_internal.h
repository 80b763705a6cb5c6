/* What the gradients of graphs and of functions share, as each needs the other. */
#ifndef TFCORE_GRADIENT_GRADIENT_INTERNAL_H_
#define TFCORE_GRADIENT_GRADIENT_INTERNAL_H_

#include "function/function_body.h"
#include "gradient/graph_gradients.h"
#include "graph/node_class.h"

/* The gradients of ops and functions that were asked for so far, by op and attrs. One for everything that a
 * call of graph_add_gradients or function_gradient leads to, so that nothing is differentiated twice. */
typedef struct GradientLibrary {
  Graph *functions; /* whose functions and GradientDefs count, and that gets helper functions; may be NULL */
  Arena *arena;     /* of the gradients */
  StringMap gradients;  /* to GradientEntry */
  StringMap texts;      /* by op, to the FunctionDef of the text in its registration */
  int depth;            /* of functions within functions that are being differentiated */
  int64_t nodes_left;   /* that may still be added inside functions */
  const char **helpers; /* names of the functions that were added */
  size_t num_helpers;
} GradientLibrary;

/* Inlining the gradients of calls of calls grows fast: more nodes than this are refused with
 * RESOURCE_EXHAUSTED. */
enum { GRADIENT_MAX_FUNCTION_NODES = 1 << 17 };

MUST_CHECK bool gradient_library_init(GradientLibrary *library, Graph *functions, Status *status);
/* With `keep` the functions that were added stay. */
void gradient_library_clear(GradientLibrary *library, bool keep);
MUST_CHECK bool gradient_library_remember(GradientLibrary *library, const char *helper, Status *status);

/* A node, its op, and where gradients arrive (NULL: at all outputs). */
typedef struct GradientQuery {
  const Op *op;
  const NodeDef *node;
  const bool *flows;
  int num_outputs; /* entries of flows */
  bool keeps;      /* the node is one of a graph and may be made to keep what its gradient looks at */
} GradientQuery;

/* What a node that calls functions becomes when its gradient is added: it gives values from within behind the
 * outputs that it has. */
typedef struct ForwardChange {
  const NodeDef *def; /* op and attrs */
  bool counts;        /* an input more, that says 0 */
  const DataType *lists;
  int num_lists; /* as many inputs more, that are empty lists */
} ForwardChange;

/* The gradient for a node, NULL when none flows. Lives as long as the library. The attrs to instantiate it
 * with are those of the node, or none where a function was differentiated. */
typedef struct GradientEntry {
  const FunctionDef *function;
  const AttrEntry *const *attrs;
  int num_attrs;
  const bool *no_flow; /* NULL, or per input: no gradient flows there, what the function gives is zero */
  bool keeps; /* the function takes all outputs of the node, as `forward` makes it, behind the inputs that the
                 node has without it */
  const ForwardChange *forward; /* NULL: the node stays as it is */
  FunctionBody *body;           /* of the function, without shapes; owned, NULL until it is needed */
} GradientEntry;
MUST_CHECK bool gradient_look_up(GradientLibrary *library, const GradientQuery *query, GradientEntry **entry,
                                 Status *status);
/* Says without work that no gradient flows through nodes of this op. */
bool gradient_is_none(const GradientLibrary *library, const Op *op, const NodeDef *node);
/* The library has a function or a GradientDef for what the node calls. */
bool gradient_is_given(const GradientLibrary *library, const NodeDef *node);

MUST_CHECK bool gradients_add(GradientLibrary *library, Graph *graph, const NodeOutput *ys, int num_ys,
                              const NodeOutput *xs, int num_xs, const NodeOutput *dys,
                              const GradientOptions *options, NodeOutput *dxs, Status *status);
MUST_CHECK bool gradient_of_function(GradientLibrary *library, const FunctionDef *function,
                                     const AttrEntry *const *attrs, int num_attrs, const char *name,
                                     Arena *arena, FunctionDef **gradient, const bool **no_flow,
                                     Status *status);

/* INVALID_ARGUMENT: functions that need each other's gradients beyond GRADIENT_MAX_FUNCTION_DEPTH. */
bool gradient_too_deep(const char *function, Status *status);

/* Gradients of ops that call functions: If, StatelessIf, Case, and calls whose function has state
 * (branch_gradient.c), While, StatelessWhile, For (loop_gradient.c). They keep. */
bool gradient_is_branch(const Op *op);
/* The node calls, directly or by a PartitionedCall, a function in which something has state. */
MUST_CHECK bool gradient_is_stateful_call(const GradientLibrary *library, const NodeDef *node, bool *stateful,
                                          Status *status);
bool gradient_is_loop(const Op *op);
MUST_CHECK bool branch_gradient(GradientLibrary *library, const GradientQuery *query, GradientEntry *entry,
                                Status *status);
MUST_CHECK bool loop_gradient(GradientLibrary *library, const GradientQuery *query, GradientEntry *entry,
                              Status *status);

/* Of a node that keeps, without touching it: (inputs, gradients) -> (gradients), which computes the node
 * again.
 */
MUST_CHECK bool gradient_of_node(GradientLibrary *library, const GradientQuery *query, GradientEntry *entry,
                                 Status *status);

/* Of MapAccumulateGrad (map_gradient.c). */
bool gradient_is_map(const Op *op);
MUST_CHECK bool map_gradient(GradientLibrary *library, const GradientQuery *query, GradientEntry *entry,
                             Status *status);

/* The node that a reference to an op or function stands for: without name and inputs, with all attrs. */
MUST_CHECK bool gradient_node_of(const Op *op, const NameAttrList *f, Arena *arena, NodeDef **node,
                                 Status *status);
/* Adds a node with attrs T = dtype of inputs[0] and, when there are several inputs, N. */
MUST_CHECK bool gradient_add_op(Graph *graph, const char *op, const char *scope, const NodeOutput *inputs,
                                int num_inputs, NodeOutput *output, Status *status);

#endif
