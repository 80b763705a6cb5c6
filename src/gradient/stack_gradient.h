/* Stacks, in which the gradient loops of TensorFlow 1.x find the values of the forward loops. A value that is
 * popped depends on what was pushed, although no edge says so. TensorFlow has no gradients of StackPushV2 and
 * StackPopV2. A path that leads through a stack is refused, where otherwise a part of the gradient would be
 * missing. */
#ifndef TFCORE_GRADIENT_STACK_GRADIENT_H_
#define TFCORE_GRADIENT_STACK_GRADIENT_H_

#include "graph/graph.h"

bool stack_gradient_is_push(const Node *node);
bool stack_gradient_is_pop(const Node *node);

/* Finds the nodes that may pop what `push` pushes: those whose handles are connected with its handle, also by
 * a stack of handles. Calls `found` for each. `seen` has a byte per id; it is 0 at first, and the same in all
 * calls of one search, so that no node is found twice. */
MUST_CHECK bool stack_gradient_find_pops(Node *push, uint8_t *seen, void (*found)(void *argument, Node *pop),
                                         void *argument, Status *status);

#endif
