/* Values inside of loops of Enter, Merge, Switch and NextIteration (graph/frame_loop.h), for passes. */
#ifndef TFCORE_OPTIMIZER_LOOP_VALUES_H_
#define TFCORE_OPTIMIZER_LOOP_VALUES_H_

#include "graph/graph_walk.h"
#include "graph/node_builder.h"

/* The Enter and the NextIteration that the Merge of a variable reads; false if it does not read one of each.
 */
bool loop_value_ends(const Node *merge, Node **enter, Node **next);
/* Behind Identities: the edge from another node; NULL for a missing input. */
const Edge *loop_value_source(const Edge *edge);
/* The Enter of a value that is the same in every round of the loop in which it is read: a constant Enter, or
 * a variable that each round passes on unchanged. NULL for other values, and for references. */
const Node *loop_value_entered(const Edge *edge);
/* The Enter of a variable that each round passes on unchanged, of which the edge carries the value, from its
 * Merge or into the round; else NULL. */
const Node *loop_value_unchanged(const Edge *edge);
/* Whether the value certainly is dead when the loop has ended: it is a variable of the loop, or computed from
 * one. Nodes that only read constant Enters are not. */
bool loop_value_is_of_round(const Edge *edge);
/* The same for a value that the condition may use: it may come from the Merge of a variable. */
bool loop_value_is_of_condition(const Edge *edge);

/* The node behind Identities and a value that enters the loop, where a constant would come from; or NULL. */
const Node *loop_value_origin(const Edge *edge);
/* Whether the edge carries a constant element shape, inside or outside of the loop, and axes `first` and
 * following of `shape` certainly fit it. RESOURCE_EXHAUSTED when out of memory. */
MUST_CHECK bool loop_value_fits_shape(const Edge *edge, ShapeHandle shape, int first, bool *fits,
                                      Status *status);

/* The element shape of known dimensions as a constant states it, a vector of int32, to be cleared; and
 * whether all of them are such numbers. */
bool loop_value_has_sizes(const DimHandle *dims, int rank);
MUST_CHECK bool loop_value_sizes(const DimHandle *dims, int rank, Tensor *sizes, Status *status);

/* Whether the node is a MatMul of float or double rows that a pass may replace. */
bool loop_value_is_product(const NodeSet *keep, const Node *node);

/* Begins a node of an op, with a name like that of `like`, and placed as it. */
void loop_value_begin_node(NodeBuilder *b, Graph *graph, const char *op, const Node *like);
/* Adds it, with the shapes that its inputs give it. */
MUST_CHECK bool loop_value_finish_node(NodeBuilder *b, Node **made, Status *status);
/* Gives the node that is built the control inputs of another one. */
void loop_value_copy_controls(NodeBuilder *b, const Node *like);
/* Adds an Enter of `value`, into the loop of the Enter `like`: of a variable, or of a value that is the same
 * in every round. */
MUST_CHECK bool loop_value_enter(Graph *graph, NodeOutput value, const Node *like, bool is_constant,
                                 Node **made, Status *status);

/* Lets products in loops read their right-hand sides from constant Enters, where a variable is passed on
 * unchanged. So kernels can pack constants once (op/kernel.h). Nodes that are not float or double products,
 * or would not end with the loop, stay. */
MUST_CHECK bool graph_enter_weights(Graph *graph, const NodeSet *keep, bool *changed, Status *status);

#endif
