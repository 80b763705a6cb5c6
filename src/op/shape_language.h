/* Shapes as people write them in a line of text, and one run of a shape function outside of any graph.
 *
 *   shapes ::= shape { ";" shape }
 *   shape  ::= "?" | "[" [ dim { "," dim } ] "]"
 *   dim    ::= "?" | digits
 *
 * What a function answers is written with identity: `in0` is the shape object of input 0 passed on, `d0_1`
 * the dimension object 1 of input 0 (the last one where several inputs share it); a plain number, `?` or
 * `[...]` is an object that no input has. "[1,?];[?,2]" into MatMul gives "[d0_0,d1_1]".
 */
#ifndef TFCORE_OP_SHAPE_LANGUAGE_H_
#define TFCORE_OP_SHAPE_LANGUAGE_H_

#include "op/op_registry.h"
#include "op/shape_inference.h"

/* The shapes of a list, in the context's arena, each and each of its dimensions an object of its own; "" has
 * none. Blanks mean nothing. */
MUST_CHECK bool shape_language_parse(InferenceContext *c, const char *text, ShapeHandle **shapes, int *count,
                                     Status *status);
/* The context's outputs; one that the function has not set is "?". */
void shape_language_print_outputs(const InferenceContext *c, StrBuf *out);

/* Makes the context of a node whose inputs have these shapes. `node` gets the op's defaults; beyond
 * them it needs only the attrs that its number of inputs and outputs hangs on. No value of an input is
 * known and there is no handle data until the caller replaces `input_tensors` and `input_handles` by
 * arrays of its own. */
MUST_CHECK bool shape_trial_begin(InferenceContext *c, const Op *op, NodeDef *node, int graph_def_version,
                                  const char *input_shapes, Arena *arena, Status *status);
/* Runs the op's shape function; an error has the context that shape_attach_context gives. */
MUST_CHECK bool shape_trial_run(InferenceContext *c, const Op *op, Status *status);

#endif
