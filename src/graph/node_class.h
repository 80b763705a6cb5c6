/* The class of a node. `node->node_class` is set together with the node's op; source and sink are NODE_OTHER.
 *
 *   if (node_is_enter(node)) open_frame(frames, node);
 *   switch (node->node_class) { case NODE_SHAPE: ...; case NODE_RANK: ...; }
 *
 * The classes and their ops: op/op_class.h.
 */
#ifndef TFCORE_GRAPH_NODE_CLASS_H_
#define TFCORE_GRAPH_NODE_CLASS_H_

#include "graph/graph.h"

/* --- control flow --- */

static inline bool node_is_switch(const Node *node) { return node->node_class == NODE_SWITCH; }
static inline bool node_is_merge(const Node *node) { return node->node_class == NODE_MERGE; }
static inline bool node_is_enter(const Node *node) { return node->node_class == NODE_ENTER; }
static inline bool node_is_exit(const Node *node) { return node->node_class == NODE_EXIT; }
static inline bool node_is_next_iteration(const Node *node) {
  return node->node_class == NODE_NEXT_ITERATION;
}
/* It runs even if what it waits for is dead. */
static inline bool node_is_control_trigger(const Node *node) {
  return node->node_class == NODE_CONTROL_TRIGGER;
}
static inline bool node_is_loop_cond(const Node *node) { return node->node_class == NODE_LOOP_COND; }
/* Switch, Merge, Enter, Exit, NextIteration. */
static inline bool node_is_control_flow(const Node *node) {
  return node->node_class >= NODE_SWITCH && node->node_class <= NODE_NEXT_ITERATION;
}

/* --- placeholders, sends and receives --- */

static inline bool node_is_send(const Node *node) {
  return node->node_class == NODE_SEND || node->node_class == NODE_HOST_SEND;
}
static inline bool node_is_recv(const Node *node) {
  return node->node_class == NODE_RECV || node->node_class == NODE_HOST_RECV;
}
/* Placeholder, PlaceholderV2, PlaceholderWithDefault. */
static inline bool node_is_placeholder(const Node *node) {
  return node->node_class == NODE_PLACEHOLDER || node->node_class == NODE_PLACEHOLDER_WITH_DEFAULT;
}
/* Whether the value is not a function of inputs and attrs, although the op may be stateless: control flow,
 * placeholders, sends and receives. Such a node is never folded. */
static inline bool node_is_never_constant(const Node *node) {
  return node_is_control_flow(node) || node_is_loop_cond(node) ||
         (node->node_class >= NODE_SEND && node->node_class <= NODE_FAKE_PARAM);
}

/* --- arguments and results of a function's body --- */

static inline bool node_is_arg(const Node *node) { return node->node_class == NODE_ARG; }
static inline bool node_is_retval(const Node *node) { return node->node_class == NODE_RETVAL; }
static inline bool node_is_boundary(const Node *node) { return node_is_arg(node) || node_is_retval(node); }

/* --- constants and identities --- */

static inline bool node_is_const(const Node *node) { return node->node_class == NODE_CONSTANT; }
static inline bool node_is_identity(const Node *node) { return node->node_class == NODE_IDENTITY; }
static inline bool node_is_list_array_converter(const Node *node) {
  return node->node_class == NODE_LIST_ARRAY_CONVERTER;
}
/* Shape, ShapeN, Size, Rank: nodes that depend only on the shapes of their inputs. */
static inline bool node_is_shape_query(const Node *node) {
  return node->node_class >= NODE_SHAPE && node->node_class <= NODE_RANK;
}

/* --- calls --- */

/* The op is a function. */
static inline bool node_is_function(const Node *node) { return node->node_class == NODE_FUNCTION; }
/* PartitionedCall, StatefulPartitionedCall: attr `f` names the function. */
static inline bool node_is_partitioned_call(const Node *node) {
  return node->node_class == NODE_PARTITIONED_CALL;
}
static inline bool node_is_symbolic_gradient(const Node *node) {
  return node->node_class == NODE_SYMBOLIC_GRADIENT;
}
/* If, StatelessIf. */
static inline bool node_is_if(const Node *node) { return node->node_class == NODE_IF; }
/* Case, StatelessCase. */
static inline bool node_is_case(const Node *node) { return node->node_class == NODE_CASE; }
static inline bool node_is_while(const Node *node) { return node->node_class == NODE_WHILE; }

#endif
