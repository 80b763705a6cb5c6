/* Updates of variables after the readers of their values.
 *
 * A kernel that updates a variable copies it first if a value that was read from it is still in use: another
 * tensor shares the memory. The gradient of a product is an example: both the update of its weights and the
 * gradient by its other operand are ready at the same time, and the latter reads the weights.
 */
#ifndef TFCORE_RUNTIME_UPDATE_ORDER_H_
#define TFCORE_RUNTIME_UPDATE_ORDER_H_

#include "graph/graph.h"

/* Moves each node that uses a variable's handle, other than to read the value, behind the nodes that use
 * values read before it, unless one of them waits for it. With references, on which readers of the value
 * depend directly, updates come after all readers: gradients are those of the old values. `order` is a
 * topological order and stays one. Scratch memory comes from `arena`. */
MUST_CHECK bool delay_updates(const Graph *graph, Node **order, int64_t count, Arena *arena, Status *status);

#endif
