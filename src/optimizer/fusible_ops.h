/* The ops that the pass fuses (optimizer/fuse_elementwise.h). */
#ifndef TFCORE_OPTIMIZER_FUSIBLE_OPS_H_
#define TFCORE_OPTIMIZER_FUSIBLE_OPS_H_

#include <string.h>

#include "graph/graph.h"

/* The op with which a fused node computes the same as the node, which has an op of the list with its own
 * kernel, on float, double or bool; NULL if there is none. It is the op of the node, or AddV2 for a BiasAdd
 * whose shapes are known to fit, or SelectV2 for a Select between elements. */
const char *node_fused_op(const Node *node);
/* Whether the node reduces the last dimension of its first input, which is then its only operand. */
bool node_reduces_rows(const Node *node);
/* Whether the node runs the kernel of its op's registration, not one that was registered at run time. */
bool node_selects_own_kernel(const Node *node);
/* The same for a kernel whose code is loaded. */
bool node_has_own_kernel(const Node *node);
/* The same for a node of that op. */
static inline bool node_is_own(const Node *node, const char *op) {
  return node->op && strcmp(node->def->op, op) == 0 && node_has_own_kernel(node);
}

#endif
