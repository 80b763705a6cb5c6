/* Parts of the NodeDef code that only op/ uses. */
#ifndef TFCORE_OP_NODE_DEF_INTERNAL_H_
#define TFCORE_OP_NODE_DEF_INTERNAL_H_

#include "op/node_def.h"

/* The part of node_def_validate that checks attrs: every attr that the op declares must be present, with its
 * type and an allowed value. A placeholder for a function's attr is valid. */
MUST_CHECK bool node_def_validate_attrs(const NodeDef *node, const OpDef *op_def, Status *status);

#endif
