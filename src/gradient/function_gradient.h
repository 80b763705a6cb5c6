/* Gradients of functions: from y = f(x) to dx = g(x, dy), as a FunctionDef that can be printed, called and
 * differentiated again. */
#ifndef TFCORE_GRADIENT_FUNCTION_GRADIENT_H_
#define TFCORE_GRADIENT_FUNCTION_GRADIENT_H_

#include "graph/graph.h"

/* The gradient of `function` with these attrs: arguments are those of the function (lists expanded, types
 * concrete) and one gradient per result, results are one gradient per argument. Arguments that no gradient
 * reaches get zeros of their shape; resource arguments get the gradient of what they hold, or a float 0.
 * The body computes the function again and has the gradients of its ops inlined. `name` NULL: the
 * function's name with "Grad" behind it. `library` may be NULL; where the function calls others from branches
 * and loops, their gradients get into it. Everything else in `arena`. */
MUST_CHECK bool function_gradient(Graph *library, const FunctionDef *function, const AttrEntry *const *attrs,
                                  int num_attrs, const char *name, Arena *arena, FunctionDef **gradient,
                                  Status *status);

/* The gradient of one op as a node would need it: its function text, bound and parsed. *gradient is NULL
 * when the op says that no gradient flows. NOT_FOUND "No gradient defined for op: X" when nothing is known.
 * Looks at the library's GradientDefs first. `node` has complete attrs. */
MUST_CHECK bool op_gradient(Graph *library, const Op *op, const NodeDef *node, Arena *arena,
                            const FunctionDef **gradient, Status *status);

#endif
