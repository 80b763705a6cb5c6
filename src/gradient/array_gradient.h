/* Arrays of gradients. The gradients of a TensorArray's elements are an array, too, which all nodes of one
 * gradient find by its source (ops/lists/tensor_array.h). TensorFlow refuses to make an array of gradients of
 * such an array. Therefore a second derivative belongs to the first array as well, under a source that begins
 * with that of the first derivative:
 *
 *   TensorArrayV3                                                        the elements
 *   TensorArrayGradV3[source='gradients/gradients']                      first derivatives
 *   TensorArrayGradV3[source='gradients/gradients:gradients_1/gradients']  derivatives of these
 *
 * The values that were written to one element of an array of gradients are added up, so each of them has the
 * derivative of the sum: the array of second derivatives is read once for each, and keeps its elements. */
#ifndef TFCORE_GRADIENT_ARRAY_GRADIENT_H_
#define TFCORE_GRADIENT_ARRAY_GRADIENT_H_

#include "graph/graph.h"

/* Whether the edge leads a handle to an op of arrays. Gradients do not flow through handles: they flow
 * through the values and flows of the nodes. */
bool array_gradient_is_handle(const Edge *edge);

/* The array that a handle refers to directly. For an array of gradients that is the array which it belongs
 * to, and *source becomes its source; otherwise *source is NULL. UNIMPLEMENTED for an array of gradients of
 * other shapes (TensorArrayGradWithShape). */
MUST_CHECK bool array_gradient_origin(NodeOutput handle, NodeOutput *origin, const char **source,
                                      Arena *arena, Status *status);

/* Renames the sources in the gradient function of an op, in `arena`. `call` is that of one call of gradients,
 * and `array` that of the array of gradients which is differentiated; NULL: none. */
MUST_CHECK bool array_gradient_rename(FunctionDef *function, const char *call, const char *array,
                                      Arena *arena, Status *status);

#endif
