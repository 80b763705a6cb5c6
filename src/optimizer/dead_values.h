/* Which values are dead together: those that need the same outputs of Switches. A pass that drops an operand
 * of a node must leave a value that is dead whenever the operand is, or the node would run in a branch that
 * is not taken. */
#ifndef TFCORE_OPTIMIZER_DEAD_VALUES_H_
#define TFCORE_OPTIMIZER_DEAD_VALUES_H_

#include "graph/node_builder.h"

/* Whether `value` certainly is dead whenever `other` is, so that a node that reads both may read `value`
 * alone. Looks at a few nodes in front of each. */
bool dead_values_include(NodeOutput value, NodeOutput other);

/* As optimizer_constant, for a Const that a pass drops: *known is false, too, if the Const may be dead
 * although `left` is not. */
MUST_CHECK bool dead_values_constant(const Node *node, NodeOutput left, Tensor *value, bool *known,
                                     Status *status);

/* When a value is alive: always; in all rounds of a loop, and in them only, or also when the loop has ended;
 * or at other times, which includes values that may have to be waited for. */
typedef enum Aliveness { ALIVE_ALWAYS, ALIVE_IN_LOOP, ALIVE_IN_ROUNDS, ALIVE_SOMETIMES } Aliveness;

typedef struct AliveWhen {
  Aliveness kind;
  int64_t loop; /* the id of its LoopCond, or 0 */
} AliveWhen;

/* Sets when[id] for all nodes of `order`, which is topological. Takes linear time. */
void dead_values_find_times(Node *const *order, int64_t count, AliveWhen *when);
/* Sets branches[id] for all nodes of `order`, which is topological: how many conditions inside of each other
 * the values of a node depend on. A value is alive if it is 0, where Merges join both sides of a Switch.
 * Takes linear time. */
void dead_values_find_branches(Node *const *order, int64_t count, int32_t *branches);
/* When the value of an edge is alive, or its source has run. */
AliveWhen dead_values_edge_time(const Edge *edge, const AliveWhen *when);

#endif
