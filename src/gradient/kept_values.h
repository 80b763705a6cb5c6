/* Which values of a function its gradient looks at, so that a call of the function can keep them for the
 * gradient instead of computing them again.
 *
 * Kept is only what the gradient reads. Of an argument that the gradient is given as it is, nothing is kept,
 * nor of what is cheap to compute from such arguments alone; and where the gradient asks for no more than the
 * shape of a value, the shape is kept. */
#ifndef TFCORE_GRADIENT_KEPT_VALUES_H_
#define TFCORE_GRADIENT_KEPT_VALUES_H_

#include "gradient/body_work.h"

typedef struct KeptValues {
  NodeOutput *values; /* in the graph of the body */
  int count;
  bool *used;      /* per argument that is given: the gradient looks at it */
  int64_t num_ids; /* of the graph; nodes that are added later are none of these */
  uint8_t *kind;   /* per id */
  int **places;    /* per id, per output: 1 + the index among the values; NULL: no output is kept */
} KeptValues;

typedef enum RecomputePolicy {
  RECOMPUTE_CHEAP, /* constants and shapes, of what is given */
  RECOMPUTE_ALL    /* whatever follows from what is given and has no state */
} RecomputePolicy;

/* Looks at what the `dxs` of a function that was differentiated need. `given` is per argument. All memory is
 * the work's. */
MUST_CHECK bool kept_values_find(BodyWork *work, const SplicedFunction *function, const bool *given,
                                 RecomputePolicy policy, KeptValues *kept);
/* Lets the gradient look at items[i] instead of values[i], the `dxs` of the function included. What the
 * function computes stays as it is. */
MUST_CHECK bool kept_values_replace(const KeptValues *kept, BodyWork *work, SplicedFunction *function,
                                    const NodeOutput *items);

#endif
