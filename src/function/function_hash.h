/* TensorFlow's hash of a FunctionDef, which it appends to the names of functions. */
#ifndef TFCORE_FUNCTION_FUNCTION_HASH_H_
#define TFCORE_FUNCTION_FUNCTION_HASH_H_

#include "proto/proto.h"

/* Covers the signature, the function's attrs, its nodes in any order, and its results. It does not depend
 * on the order of map entries, attrs of nodes that begin with '_', arg_attr and the encoding of tensors.
 * Allocates in `arena`. */
MUST_CHECK bool function_def_hash(const FunctionDef *function, Arena *arena, uint64_t *hash, Status *status);

#endif
