/* NextIteration outside of loops. TensorFlow's outermost frame has rounds, too: a Merge that gets the value
 * of a NextIteration runs in the next round, and so does what follows from it alone. What reads anything else
 * waits for values that come in the first round only. This engine runs the first round. A value of a later
 * one would be a second result, which is an error. */
#ifndef TFCORE_RUNTIME_ROOT_ROUNDS_H_
#define TFCORE_RUNTIME_ROOT_ROUNDS_H_

#include "function/function_body.h"

/* The first result of the body that gets another value when the value of the NextIteration, which is outside
 * of loops, reaches a Merge; -1 without one. Memory comes from `arena`. */
MUST_CHECK bool root_round_result(const FunctionBody *body, const Node *next_iteration, Arena *arena,
                                  int *result, Status *status);

#endif
