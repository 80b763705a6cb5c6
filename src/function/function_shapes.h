/* Bodies of functions for shape inference. */
#ifndef TFCORE_FUNCTION_FUNCTION_SHAPES_H_
#define TFCORE_FUNCTION_FUNCTION_SHAPES_H_

#include "graph/graph.h"

/* For graph_set_function_shapes: the graph of the function's FunctionBody. Errors are those of
 * function_body_new. */
MUST_CHECK bool function_make_shape_body(Graph *library, const FunctionDef *function,
                                         const AttrEntry *const *attrs, int num_attrs, GraphBody *body,
                                         Status *status);

#endif
