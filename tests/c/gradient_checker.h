/* Checks the gradient of an op against central differences.
 *
 *   gradient_holds("Mul[T=double]", "double[2,3] 1 2 3 4 5 6; double[3] 0.5 -1 2");
 *
 * A graph is made with a placeholder for each input, the op, and its gradient for given dys
 * (graph_add_gradients). In float64 the gradient with respect to every element of every floating input must
 * agree with (f(x + h) - f(x - h)) / 2h, where f is the sum of dys * ys, to 1e-6 * max(1, |difference|); the
 * same graph in float32 must agree with float64 to 1e-4 in the same measure. Everything is done twice, with
 * the shapes of the placeholders unknown and known, since the optimiser works differently then.
 *
 * Complex inputs (complex128) are varied in both parts. f is the real part of the sum of conj(dys) * ys, so
 * that the parts of TensorFlow's gradient are the derivatives by the parts of x: conj(f'(x)) * dy if f has a
 * complex derivative.
 *
 * For ops without float64 the inputs are given in float: the differences are then taken in float32, with a
 * tolerance of 2e-3.
 */
#ifndef TFCORE_TESTS_GRADIENT_CHECKER_H_
#define TFCORE_TESTS_GRADIENT_CHECKER_H_

#include "proto/proto.h"
#include "tensor/tensor.h"

/* `op` and `inputs` as in op_runner.h. */
bool gradient_holds(const char *op, const char *inputs);
/* Also the gradient of the gradient, with respect to the inputs and to dy. */
bool gradient_holds_twice(const char *op, const char *inputs);
/* Checks that the gradient, for dys of one, is the expected value: "none" if no gradient flows; for kinks and
 * integers. */
bool gradient_is(const char *op, const char *inputs, const char *want);
/* The same for a NodeDef and given tensors: one dy per floating output, one expected value per input (an
 * empty tensor: anything), with a tolerance as in tensor_is_about. Inputs that are neither floating nor
 * complex are ignored. */
bool gradient_gives(const NodeDef *node, const Tensor *inputs, int num_inputs, const Tensor *dys,
                    const Tensor *want, double tolerance);
/* Checks that the gradient cannot be added to the graph. */
bool gradient_fails(const NodeDef *node, const Tensor *inputs, int num_inputs, Code code,
                    const char *message_part);

/* The same for the functional form: a SymbolicGradient node whose function is the op of `node`, with one dy
 * per output. It gives zeros where no gradient flows, and fails when it runs. */
bool symbolic_gradient_gives(const NodeDef *node, const Tensor *inputs, int num_inputs, const Tensor *dys,
                             const Tensor *want, double tolerance);
bool symbolic_gradient_fails(const NodeDef *node, const Tensor *inputs, int num_inputs, const Tensor *dys,
                             Code code, const char *message_part);

#endif
