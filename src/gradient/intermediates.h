/* Intermediates: the values of a function that its gradient reads. A call of the function keeps them for
 * the gradient instead of computing them again.
 *
 * Only what the gradient reads is kept. Arguments that the gradient gets too are not kept, nor is what is
 * cheap to compute from such arguments alone. Where the gradient reads only the shape of a value, the
 * shape is kept. */
#ifndef TFCORE_GRADIENT_INTERMEDIATES_H_
#define TFCORE_GRADIENT_INTERMEDIATES_H_

#include "gradient/body_work.h"

typedef struct Intermediates {
  NodeOutput *values; /* in the graph of the body */
  int count;
  bool *used;      /* per argument that is given: the gradient reads it */
  int64_t num_ids; /* nodes of the graph; nodes that are added later are not counted */
  uint8_t *kind;   /* per id */
  int **positions; /* per id, per output: 1 + the index among the values; NULL: no output is kept */
} Intermediates;

typedef enum RecomputePolicy {
  RECOMPUTE_CHEAP, /* constants and shapes of given values */
  RECOMPUTE_ALL    /* all that follows from given values and has no state */
} RecomputePolicy;

/* Finds the values that the `dxs` of a differentiated function need. `given` says per argument whether the
 * gradient gets it. All memory is the work's. */
MUST_CHECK bool intermediates_find(BodyWork *work, const SplicedFunction *function, const bool *given,
                                   RecomputePolicy policy, Intermediates *kept);
/* Lets the gradient read items[i] instead of values[i], including the function's `dxs`. What the function
 * computes does not change. */
MUST_CHECK bool intermediates_replace(const Intermediates *kept, BodyWork *work, SplicedFunction *function,
                                      const NodeOutput *items);

#endif
