/* TensorFlow's hash of a FunctionDef, which it appends to the names of functions. */
#ifndef TFCORE_FUNCTION_FUNCTION_HASH_H_
#define TFCORE_FUNCTION_FUNCTION_HASH_H_

#include "proto/proto.h"

/* Of the signature, the function's attrs, its nodes whatever their order, and its results. The order of
 * map entries, attrs of nodes that begin with '_', arg_attr and how a tensor is encoded do not count.
 * Takes memory in `arena`. */
MUST_CHECK bool function_def_hash(const FunctionDef *function, Arena *arena, uint64_t *hash, Status *status);

#endif
