/* Gradients of graphs: adds nodes that compute the derivatives of some values with respect to others.
 *
 * Each op has one gradient: function text in its registration (op/op_registry.h), or a function that writes
 * that text. A GradientDef in the graph's library for the op's or function's name wins. A call of a
 * function (a node whose op is a function of the library, or PartitionedCall) is differentiated through its
 * body. The text is instantiated and inlined, pruned to what leads to the xs; where it computes the forward
 * op again, the forward node itself is used.
 *
 * The gradient of If and Case is an If or Case of the gradients of the branches, which get into the graph's
 * library (`Branch_grad`). That of While and For is the loop once more, keeping the values that matter in
 * tensor lists (`Body_forward`, `Cond_forward`), and a For that takes them out again (`Body_grad`): time and
 * memory are linear in the number of rounds. Functions are computed again by their gradients, without what
 * they do besides: random numbers are drawn anew there.
 */
#ifndef TFCORE_GRADIENT_GRAPH_GRADIENTS_H_
#define TFCORE_GRADIENT_GRAPH_GRADIENTS_H_

#include "graph/graph.h"

/* Sets dxs[i] to the value that holds d(sum over ys of dy * y) / dx_i, of x_i's shape and dtype.
 *
 * `dys` has the incoming gradients, one a y, of y's dtype; NULL, or an entry with a NULL node: ones. `xs`
 * may be any values, also inner ones of the graph (their gradient is the total one), and resource handles
 * of variables: their gradient has the variable's dtype. dxs[i].node is NULL when no gradient flows from
 * the ys to x_i: there is no path, or every path ends at an op without gradient or at values that are not
 * floating point or complex. graph_check_differentiable tells the first of these from the others.
 *
 * `scope`: the new nodes are named scope/...; NULL: "gradients", made unique. A scope that is in use as a
 * name or prefix is INVALID_ARGUMENT. NOT_FOUND "No gradient defined for op: X" when a path leads through
 * an op of which none is known.
 *
 * Work is linear in the nodes between xs and ys, plus a few bytes for every node of the graph; no recursion
 * over the graph. On error the graph has the nodes and functions it had before (removed ids are not used
 * again).
 * UNIMPLEMENTED when the way leads through a cycle of nodes (Switch and Merge). */
MUST_CHECK bool graph_add_gradients(Graph *graph, const NodeOutput *ys, int num_ys, const NodeOutput *xs,
                                    int num_xs, const NodeOutput *dys, const char *scope, NodeOutput *dxs,
                                    Status *status);

/* TF_AddGradients' first check: INVALID_ARGUMENT "Cannot compute the partial derivative for node 'z' as
 * it's unreachable from the output node(s)." when no data path leads from the node of an x to a y. */
MUST_CHECK bool graph_check_differentiable(const Graph *graph, const NodeOutput *ys, int num_ys,
                                           const NodeOutput *xs, int num_xs, Status *status);

/* Functions whose gradient needs the gradient of another function, this deep at most: recursive functions
 * are refused with INVALID_ARGUMENT. */
enum { GRADIENT_MAX_FUNCTION_DEPTH = 32 };

#endif
