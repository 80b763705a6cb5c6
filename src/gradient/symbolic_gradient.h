/* Functional gradients: from a body y = f(x) to a body dx = g(x, dy). It consists of SymbolicGradient
 * nodes, one for each op that a gradient flows through. What such a node computes is looked up when it
 * runs, with gradient_instantiate. */
#ifndef TFCORE_GRADIENT_SYMBOLIC_GRADIENT_H_
#define TFCORE_GRADIENT_SYMBOLIC_GRADIENT_H_

#include "function/function_body.h"

/* TensorFlow's SymbolicGradient(body), node for node: the nodes of the body keep their names, the new ones
 * are Func/_0, Func/_1, ... Arguments are those of the body and one gradient per result. Results are one
 * gradient per argument: the sum of the gradients that arrive, or zeros of its shape if there are none.
 * The gradient of a resource has the dtype of the variable as far as that is known, else float; if no
 * gradient arrives it is a scalar 0.
 *
 * An op without a known gradient is an error when the node runs, not here. The time is linear in the body.
 * The caller frees *gradient; it knows the functions of the same library, which must outlive it. */
MUST_CHECK bool symbolic_gradient(const FunctionBody *body, FunctionBody **gradient, Status *status);

/* The body that a SymbolicGradient node runs, or a reference to SymbolicGradient with attrs: of the function
 * or op in the attr `f`
 *   - the function that the library names as its gradient, with the attrs of `f`;
 *   - for a function of the library symbolic_gradient of its body;
 *   - for SymbolicGradient itself symbolic_gradient of the body that such a node runs (TensorFlow refuses
 *     this where no optimiser has inlined the inner one before), nested 4 deep at most;
 *   - for an op the function of its registration (and for an op that calls functions, the gradient through
 *     their bodies, which computes them again).
 * INVALID_ARGUMENT "SymbolicGradient is missing attr: f", "No gradient is defined for X" when it is known
 * that none flows through X; NOT_FOUND "No gradient defined for op: X".
 *
 * The gradients of ops that loop or branch are functions that get into the library, unless they are there
 * from an earlier call: threads that use the library hold graph_lock. On error it is as before. */
MUST_CHECK bool gradient_instantiate(Graph *library, const AttrEntry *const *attrs, int num_attrs,
                                     FunctionBody **body, Status *status);

#endif
