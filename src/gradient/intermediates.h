/* Intermediates: the values of a function that its gradient reads. A call of the function keeps them for
 * the gradient instead of computing them again.
 *
 * Only what the gradient reads is kept. Arguments that the gradient gets too are not kept, nor is what is
 * cheap to compute from such arguments alone. Where the gradient reads only the shape of a value, the
 * shape is kept. A Switch is computed again. A value that only one side of a Switch has is kept with
 * something else for the other sides, so that what is kept is always alive; the gradient reads it through a
 * Switch. */
#ifndef TFCORE_GRADIENT_INTERMEDIATES_H_
#define TFCORE_GRADIENT_INTERMEDIATES_H_

#include "gradient/body_work.h"

typedef struct Intermediates {
  NodeOutput *values; /* in the graph of the body */
  int count;
  Conditions *conditions; /* per value: where the gradient may read it; elsewhere it is something else */
  bool *used;             /* per argument that is given: the gradient reads it */
  int64_t num_ids;        /* the arrays that follow have as many entries */
  uint8_t *kind;          /* per id */
  int **positions;        /* per id, per output: 1 + the index among the values; NULL: no output is kept */
} Intermediates;

typedef enum RecomputePolicy {
  RECOMPUTE_CHEAP, /* constants and shapes of given values */
  RECOMPUTE_ALL    /* all that follows from given values and has no state */
} RecomputePolicy;

/* Finds the values that the `dxs` of a differentiated function need. `given` says per argument whether the
 * gradient gets it. All memory is the work's. */
MUST_CHECK bool intermediates_find(BodyWork *work, SplicedFunction *function, const bool *given,
                                   RecomputePolicy policy, Intermediates *kept);
/* Lets the gradient read items[i] instead of values[i], including the function's `dxs`. What the function
 * computes does not change. */
MUST_CHECK bool intermediates_replace(const Intermediates *kept, BodyWork *work, SplicedFunction *function,
                                      const NodeOutput *items);

#endif
