/* Shapes as a line of text, and running a shape function outside of any graph.
 *
 *   shapes ::= shape { ";" shape }
 *   shape  ::= "?" | "[" [ dim { "," dim } ] "]"
 *   dim    ::= "?" | digits
 *
 * Results are printed with identity: `in0` is the shape handle of input 0, `d0_1` the dimension handle 1 of
 * input 0 (of the last input, if several share it); a number, `?` or `[...]` is a new handle. For MatMul,
 * "[1,?];[?,2]" gives "[d0_0,d1_1]".
 */
#ifndef TFCORE_OP_SHAPE_LANGUAGE_H_
#define TFCORE_OP_SHAPE_LANGUAGE_H_

#include "op/op_registry.h"
#include "op/shape_inference.h"

/* Parses a list of shapes into the context's arena; all shapes and dimensions are distinct handles. "" is the
 * empty list. Blanks are ignored. */
MUST_CHECK bool shape_language_parse(InferenceContext *c, const char *text, ShapeHandle **shapes, int *count,
                                     Status *status);
/* Prints the context's outputs; an output that the function has not set prints "?". */
void shape_language_print_outputs(const InferenceContext *c, StrBuf *out);

/* Makes the context of a node whose inputs have these shapes. `node` gets the op's defaults; beyond them it
 * needs only the attrs that determine its number of inputs and outputs. All input values are unknown and
 * there is no handle data, unless the caller replaces the arrays `input_tensors` and `input_handles`. */
MUST_CHECK bool shape_trial_begin(InferenceContext *c, const Op *op, NodeDef *node, int graph_def_version,
                                  const char *input_shapes, Arena *arena, Status *status);
/* Runs the op's shape function; errors get the context of shape_attach_context. */
MUST_CHECK bool shape_trial_run(InferenceContext *c, const Op *op, Status *status);

#endif
