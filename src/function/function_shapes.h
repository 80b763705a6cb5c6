/* Bodies of functions for shape inference. */
#ifndef TFCORE_FUNCTION_FUNCTION_SHAPES_H_
#define TFCORE_FUNCTION_FUNCTION_SHAPES_H_

#include "graph/graph.h"

/* For graph_set_function_shapes: instantiates the function and makes a graph of its nodes and data edges.
 * Errors are those of function_instantiate. */
MUST_CHECK bool function_make_shape_body(Graph *library, const FunctionDef *function,
                                         const AttrEntry *const *attrs, int num_attrs, GraphBody *body,
                                         Status *status);

#endif
