/* The ops that passes fuse with what follows them, and their fused forms. */
#ifndef TFCORE_OPTIMIZER_PRODUCT_OPS_H_
#define TFCORE_OPTIMIZER_PRODUCT_OPS_H_

#include "graph/node_builder.h"

typedef struct ProductOp {
  const char *op, *fused;
  const char *attrs[6]; /* that both have */
} ProductOp;

/* The entry whose op, or fused op, the node has; NULL: it is no product. */
const ProductOp *product_op_of(const Node *node);
bool product_is_fused(const ProductOp *op, const Node *node);
bool product_is_channels_first(const Node *node);
/* Gives the builder the attrs that both forms have, without those whose names contain `except`, or NULL. */
void product_copy_attrs(const ProductOp *op, const Node *node, const char *except, NodeBuilder *b);
/* Sets the attrs that only fused nodes have, for at most FUSED_MOST_ARGS inputs after the two factors. */
void product_set_fused_ops(const ProductOp *op, NodeBuilder *b, const Str *ops, size_t count, DataType type,
                           int num_args);
/* Whether `node` is an op that reshapes such products, which may have a rank for which they are not made: a
 * Reshape of a matrix, a Squeeze of images. */
bool product_is_reshaped_by(const Node *product, const Node *node);
/* Adds a copy of `reshape`, with its name, that reshapes output 0 of `product`. */
MUST_CHECK bool product_add_reshape(Graph *graph, Node *product, const Node *reshape, Node **made,
                                    Status *status);

#endif
