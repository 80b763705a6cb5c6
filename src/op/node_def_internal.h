/* Of NodeDefs what only op/ itself needs. */
#ifndef TFCORE_OP_NODE_DEF_INTERNAL_H_
#define TFCORE_OP_NODE_DEF_INTERNAL_H_

#include "op/node_def.h"

/* The part of node_def_validate that is about attrs: all that the op declares are there, of its types and
 * among the values that it allows. A placeholder for an attr of a function passes. */
MUST_CHECK bool node_def_validate_attrs(const NodeDef *node, const OpDef *op_def, Status *status);

#endif
