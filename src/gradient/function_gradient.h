/* Gradients of functions: from y = f(x) to dx = g(x, dy), as a FunctionDef that can be printed, called and
 * differentiated again. */
#ifndef TFCORE_GRADIENT_FUNCTION_GRADIENT_H_
#define TFCORE_GRADIENT_FUNCTION_GRADIENT_H_

#include "graph/graph.h"

/* The gradient of `function` with these attrs. Its arguments are those of the function (lists expanded,
 * types concrete) and one gradient per result; its results are one gradient per argument. Arguments that
 * no gradient reaches get zeros of their shape. Resource arguments get the gradient of the variable's
 * value, or a float 0. The body computes the function again and includes the gradients of its ops. `name`
 * NULL: the function's name followed by "Grad". `library` may be NULL; gradients of functions that
 * branches and loops call are added to it. Everything else is in `arena`. */
MUST_CHECK bool function_gradient(Graph *library, const FunctionDef *function, const AttrEntry *const *attrs,
                                  int num_attrs, const char *name, Arena *arena, FunctionDef **gradient,
                                  Status *status);

/* The gradient of one op as used for `node`: its function text, bound and parsed. *gradient is NULL when
 * the op has none by definition. NOT_FOUND "No gradient defined for op: X" when none is known.
 * GradientDefs of the library come first. `node` has complete attrs. */
MUST_CHECK bool op_gradient(Graph *library, const Op *op, const NodeDef *node, Arena *arena,
                            const FunctionDef **gradient, Status *status);

#endif
