/* Gradients of graphs: adds nodes that compute the derivatives of some values with respect to others.
 *
 * Each op has one gradient: function text in its registration (op/op_registry.h), or a function that
 * writes that text. A GradientDef in the graph's library for the op's or function's name takes precedence.
 * A call of a function (a node whose op is a function of the library, or PartitionedCall) is
 * differentiated through its body. The text is instantiated and spliced in, pruned to what leads to the
 * xs. Where it computes the forward op again, the forward node itself is used.
 *
 * If, Case, While, For and RemoteCall keep the intermediates that their gradient reads, as in TensorFlow's
 * second version of control flow: the node in the graph gets additional outputs, its function becomes
 * `Branch_forward` (`Body_forward`, `Cond_forward`), and the gradient, an If or Case of `Branch_grad` or a
 * For over `Body_grad`, reads them. A loop counts its rounds and pushes the values of each round onto
 * tensor lists: time and memory are linear in the number of rounds. The node keeps its name, id and
 * original outputs. A graph without gradients keeps no intermediates, and a second gradient uses those of
 * the first. Constants, and shapes of values that the gradient has, are computed again instead. So the
 * forward and the backward pass see the same random numbers when one run fetches both.
 *
 * A loop of Enter, Merge, Switch, NextIteration and Exit keeps intermediates in the same way: it gets
 * variables that count its rounds and hold the lists. Its nodes stay as they are. A gradient of a Merge goes
 * to the input that is alive, and that of a Switch is zero where the other side was chosen. When the ys are
 * values in a round of such a loop, their gradients are values of the same round: with respect to others of
 * that round, or to what is the same in all rounds, as TensorFlow's Python gives them in the body of a loop.
 * The nodes read what is around the loop through constant Enters.
 *
 * A call of a function (PartitionedCall, StatefulPartitionedCall, or a node whose op is the function)
 * keeps intermediates in the same way when its body has state (random numbers, variables). Otherwise the
 * gradient computes the function again, with the same result. SymbolicGradient and functional gradients
 * always compute it again, as in TensorFlow: they draw new random numbers. */
#ifndef TFCORE_GRADIENT_GRAPH_GRADIENTS_H_
#define TFCORE_GRADIENT_GRAPH_GRADIENTS_H_

#include "graph/graph.h"

typedef struct GradientOptions {
  const char *scope; /* the new nodes are named scope/...; NULL: "gradients", made unique */
  const NodeOutput
      *stops; /* taken as constants: their gradients do not continue to the inputs of their nodes */
  int num_stops;
} GradientOptions;

/* Sets dxs[i] to the value that holds d(sum over ys of dy * y) / dx_i, with x_i's shape and dtype.
 *
 * `dys` has the incoming gradients, one per y, of y's dtype; NULL, or an entry with a NULL node, means
 * ones. `xs` may be any values, also inner ones of the graph (their gradient is the total one), and
 * resource handles of variables: their gradient has the variable's dtype. dxs[i].node is NULL when no
 * gradient flows from the ys to x_i: there is no path, or every path ends at an op without gradient or at
 * values that are not floating point or complex. graph_check_differentiable distinguishes the first case.
 *
 * `options` may be NULL. A scope that is in use as a name or prefix is INVALID_ARGUMENT. NOT_FOUND "No
 * gradient defined for op: X" when a path leads through an op without a known gradient.
 *
 * The time is linear in the nodes between xs and ys, plus a few bytes for every node of the graph; there
 * is no recursion over the graph. On error the graph has the same nodes and functions as before (removed
 * ids are not used again). INVALID_ARGUMENT for an x in the rounds of a loop that the ys are not in, for a y
 * that ends a round, for a path from the value that a variable of a loop begins with to ys in its rounds, and
 * for a loop whose nodes are not connected as one; UNIMPLEMENTED when it is not clear which input of a Merge
 * is alive. */
MUST_CHECK bool graph_add_gradients(Graph *graph, const NodeOutput *ys, int num_ys, const NodeOutput *xs,
                                    int num_xs, const NodeOutput *dys, const GradientOptions *options,
                                    NodeOutput *dxs, Status *status);

/* TF_AddGradients' first check: INVALID_ARGUMENT "Cannot compute the partial derivative for node 'z' as
 * it's unreachable from the output node(s)." when no data path leads from the node of an x to a y. */
MUST_CHECK bool graph_check_differentiable(const Graph *graph, const NodeOutput *ys, int num_ys,
                                           const NodeOutput *xs, int num_xs, Status *status);

/* Gradients of functions that need gradients of other functions may be nested this deep: recursive
 * functions are refused with INVALID_ARGUMENT. */
enum { GRADIENT_MAX_FUNCTION_DEPTH = 32 };

#endif
