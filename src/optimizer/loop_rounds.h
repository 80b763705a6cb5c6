/* How many rounds a loop runs (graph/frame_loop.h), as its condition says by comparing the number of the
 * round with constants:
 *
 *   LogicalAnd(Less(i, 20), Less(k, 30))    i = k = 0, then i + 1, k + 1
 *
 * runs 20 rounds.
 */
#ifndef TFCORE_OPTIMIZER_LOOP_ROUNDS_H_
#define TFCORE_OPTIMIZER_LOOP_ROUNDS_H_

#include "graph/graph.h"

/* The functions return false when out of memory, RESOURCE_EXHAUSTED. */

/* The constant scalar integer that an edge carries, inside or outside of a loop. */
MUST_CHECK bool loop_number(const Edge *edge, int64_t *number, bool *is_known, Status *status);

/* Whether the edge (may be NULL) carries a variable into the round that is the number of the round: it enters
 * as 0, and each round adds 1. */
MUST_CHECK bool loop_value_counts(const Edge *edge, bool *counts, Status *status);

/* The rounds of the loop whose LoopCond is `condition`, unless a node fails. */
MUST_CHECK bool loop_find_rounds(const Node *condition, int64_t *rounds, bool *is_known, Status *status);

#endif
