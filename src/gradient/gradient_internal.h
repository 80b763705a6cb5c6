/* Shared by the gradients of graphs and of functions, which need each other. */
#ifndef TFCORE_GRADIENT_GRADIENT_INTERNAL_H_
#define TFCORE_GRADIENT_GRADIENT_INTERNAL_H_

#include "function/function_body.h"
#include "gradient/gradient_site.h"
#include "gradient/graph_gradients.h"
#include "graph/node_class.h"

/* The gradients of ops and functions found so far, by op and attrs. One library serves a whole call of
 * graph_add_gradients or function_gradient, so that nothing is differentiated twice. */
typedef struct GradientLibrary {
  Graph *functions;    /* has the functions and GradientDefs, and gets helper functions; may be NULL */
  Arena *arena;        /* of the gradients */
  StringMap gradients; /* to GradientEntry */
  StringMap texts;     /* by op: the FunctionDef of the text in its registration */
  /* Begins the sources of arrays of gradients, so that two gradients of an array do not share one; NULL: the
   * sources are those in the texts. */
  const char *source;
  int depth;            /* how deep functions that are being differentiated are nested */
  int64_t nodes_left;   /* how many more may be added inside functions */
  const char **helpers; /* names of the functions that were added */
  size_t num_helpers;
} GradientLibrary;

/* The gradients of nested calls grow fast: more nodes than this are RESOURCE_EXHAUSTED. */
enum { GRADIENT_MAX_FUNCTION_NODES = 1 << 17 };

MUST_CHECK bool gradient_library_init(GradientLibrary *library, Graph *functions, Status *status);
/* With `keep` the helper functions stay. */
void gradient_library_clear(GradientLibrary *library, bool keep);
MUST_CHECK bool gradient_library_remember(GradientLibrary *library, const char *helper, Status *status);

/* A node, its op, and the outputs at which gradients arrive (NULL: all). */
typedef struct GradientQuery {
  const Op *op;
  const NodeDef *node;
  const bool *flows;
  int num_outputs;   /* entries of flows */
  bool keeps;        /* the node is in a graph and may be changed to keep intermediates */
  const char *array; /* NULL, or the source of the array of gradients that the node uses; it gets the array
                        that this one belongs to (gradient/array_gradient.h) */
} GradientQuery;

/* How a node that calls functions changes when its gradient is added: it gets outputs for intermediates
 * after those that it has. */
typedef struct ForwardChange {
  const NodeDef *def; /* op and attrs */
  bool counts;        /* an additional input, the constant 0 */
  const DataType *lists;
  int num_lists; /* as many additional inputs, empty lists */
} ForwardChange;

/* The gradient for a node; `function` is NULL when no gradient flows. Lives as long as the library. It is
 * instantiated with the attrs of the node, or without attrs where a function was differentiated. */
typedef struct GradientEntry {
  const FunctionDef *function;
  const AttrEntry *const *attrs;
  int num_attrs;
  const bool *no_flow; /* NULL, or per input: no gradient flows, and the function gives zeros */
  bool keeps; /* the function also takes all outputs of the node (after `forward`), between the node's
                 original inputs and the gradients */
  const ForwardChange *forward; /* NULL: the node does not change */
  FunctionBody *body;           /* of the function, without shapes; owned, made on demand */
} GradientEntry;
MUST_CHECK bool gradient_look_up(GradientLibrary *library, const GradientQuery *query, GradientEntry **entry,
                                 Status *status);
/* True when no gradient flows through nodes of this op by definition. Does not search for gradients. */
bool gradient_is_none(const GradientLibrary *library, const Op *op, const NodeDef *node);
/* NOT_FOUND "No gradient defined for op: X", with the name of the node. */
bool gradient_not_defined(const NodeDef *node, Status *status);
/* Whether the library has a function or a GradientDef for the node's callee. */
bool gradient_is_given(const GradientLibrary *library, const NodeDef *node);

/* graph_add_gradients for the graph of a site. */
MUST_CHECK bool gradients_add(GradientLibrary *library, GradientSite *site, const NodeOutput *ys, int num_ys,
                              const NodeOutput *xs, int num_xs, const NodeOutput *dys,
                              const GradientOptions *options, NodeOutput *dxs, Status *status);
MUST_CHECK bool gradient_of_function(GradientLibrary *library, const FunctionDef *function,
                                     const AttrEntry *const *attrs, int num_attrs, const char *name,
                                     Arena *arena, FunctionDef **gradient, const bool **no_flow,
                                     Status *status);

/* INVALID_ARGUMENT: the gradients of functions are nested deeper than GRADIENT_MAX_FUNCTION_DEPTH. */
bool gradient_too_deep(const char *function, Status *status);

/* Gradients of ops that call functions: If, StatelessIf, Case, and calls of functions with state
 * (branch_gradient.c), While, StatelessWhile, For (loop_gradient.c). These keep intermediates. */
bool gradient_is_branch(const Op *op);
/* Whether the node calls, directly or by a PartitionedCall, a function that contains state. */
MUST_CHECK bool gradient_is_stateful_call(const GradientLibrary *library, const NodeDef *node, bool *stateful,
                                          Status *status);
bool gradient_is_loop(const Op *op);
MUST_CHECK bool branch_gradient(GradientLibrary *library, const GradientQuery *query, GradientEntry *entry,
                                Status *status);
MUST_CHECK bool loop_gradient(GradientLibrary *library, const GradientQuery *query, GradientEntry *entry,
                              Status *status);

/* The gradient of such a node without changing it: (inputs, gradients) -> (gradients). It computes the
 * node again. */
MUST_CHECK bool gradient_of_node(GradientLibrary *library, const GradientQuery *query, GradientEntry *entry,
                                 Status *status);

/* Of MapAccumulateGrad (map_gradient.c). */
bool gradient_is_map(const Op *op);
MUST_CHECK bool map_gradient(GradientLibrary *library, const GradientQuery *query, GradientEntry *entry,
                             Status *status);

/* A node with the op and all attrs of a function reference, without name and inputs. */
MUST_CHECK bool gradient_node_of(const Op *op, const NameAttrList *f, Arena *arena, NodeDef **node,
                                 Status *status);
/* Adds a node with attrs T = dtype of inputs[0] and, when there are several inputs, N. */
MUST_CHECK bool gradient_add_op(Graph *graph, const char *op, const char *scope, const NodeOutput *inputs,
                                int num_inputs, NodeOutput *output, Status *status);

#endif
