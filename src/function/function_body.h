/* Makes and changes FunctionBody (graph/graph.h): a function with bound attrs, as a graph. Bodies are
 * inferred, spliced (function/function_splice.h), inlined, differentiated, optimised, printed and
 * compiled. */
#ifndef TFCORE_FUNCTION_FUNCTION_BODY_H_
#define TFCORE_FUNCTION_FUNCTION_BODY_H_

#include "graph/graph.h"

/* No function may have more arguments, results or inputs of one node than this after lists are expanded. */
enum { FUNCTION_MAX_EXPANDED = 1 << 20 };

/* TensorFlow's InstantiateFunction: binds the attrs (extra ones are ignored; those with a default may be
 * missing), resolves names, builds the graph, and infers shapes as far as possible. Nodes keep the order
 * of the FunctionDef, after the `_Arg` nodes and before the `_Retval` nodes. Ops are looked up in
 * `library`, including its functions, or in the registry alone when it is NULL. The body does not point
 * into `function` or `attrs`; the library must outlive it. Errors are TensorFlow's. */
MUST_CHECK bool function_body_new(Graph *library, const FunctionDef *function, const AttrEntry *const *attrs,
                                  int num_attrs, FunctionBody **body, Status *status);
/* The same without shape inference: for graph_set_function_shapes, which infers the body for each call. */
MUST_CHECK bool function_body_new_without_shapes(Graph *library, const FunctionDef *function,
                                                 const AttrEntry *const *attrs, int num_attrs,
                                                 FunctionBody **body, Status *status);
/* The same for function_splice_body: the body shares values with `function` and `attrs`, which must
 * outlive it. */
MUST_CHECK bool function_body_new_to_splice(Graph *library, const FunctionDef *function,
                                            const AttrEntry *const *attrs, int num_attrs, FunctionBody **body,
                                            Status *status);
/* Makes a body of a graph that has `_Arg` and `_Retval` nodes. On success it owns the graph.
 * INVALID_ARGUMENT when their indexes are not 0, 1, 2, ... */
MUST_CHECK bool function_body_of_graph(const char *name, Graph *graph, Node *const *control_rets,
                                       int num_control_rets, FunctionBody **body, Status *status);
/* The same with the nodes given; other `_Arg` and `_Retval` nodes are not arguments or results. */
MUST_CHECK bool function_body_of_nodes(const char *name, Graph *graph, Node *const *args, int num_args,
                                       Node *const *rets, int num_rets, Node *const *control_rets,
                                       int num_control_rets, FunctionBody **body, Status *status);
MUST_CHECK bool function_body_copy(const FunctionBody *body, FunctionBody **copy, Status *status);
/* A pruned copy (function_body_prune) that shares attr values and shapes with `body`, which must
 * outlive it. */
MUST_CHECK bool function_body_share(const FunctionBody *body, FunctionBody **shared, Status *status);

/* TensorFlow's PruneFunctionBody: removes nodes that no result, control result or node with state needs.
 * Arguments stay. */
MUST_CHECK bool function_body_prune(FunctionBody *body, Status *status);

/* Prints the body as TensorFlow does: "\n(x:float) -> (y:float) {\n  y = Square[T=float](x)\n}\n". Nodes
 * are in the order of their ids. */
MUST_CHECK bool function_body_print(const FunctionBody *body, StrBuf *out, Status *status);

/* TensorFlow's DebugString of a graph: "(n2:float) -> (n3:float) {\n  n3 = Square[T=float](n2)\n}\n".
 * Nodes are printed by id, after their inputs. Nodes from which sink cannot be reached are left out
 * (graph_fixup_source_and_sink_edges). */
MUST_CHECK bool graph_debug_print(const Graph *graph, StrBuf *out, Status *status);

#endif
