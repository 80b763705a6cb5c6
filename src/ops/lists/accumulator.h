/* Accumulator: the resource of ConditionalAccumulator and its relatives. It sums gradients that were computed
 * at the present time step or later, and gives their mean or sum when there are enough. A gradient is a
 * tensor, or rows with indices.
 *
 * Who takes before there are enough gradients waits: the kernel pauses (op/kernel.h), and the first that
 * waits goes on first.
 */
#ifndef TFCORE_OPS_LISTS_ACCUMULATOR_H_
#define TFCORE_OPS_LISTS_ACCUMULATOR_H_

#include "base/sync.h"
#include "op/kernel.h"

extern const char kAccumulator[]; /* the type name of the resource */

enum { ACCUMULATOR_TENSORS = 3 };

typedef struct AccumulatorSpec {
  DataType dtype; /* half, float or double */
  bool sparse, mean;
  int rank;                     /* of a gradient; -1: any */
  int64_t dims[SHAPE_MAX_RANK]; /* -1: any */
} AccumulatorSpec;

typedef struct GradientTaking GradientTaking;

typedef struct Accumulator {
  Resource resource; /* first */
  Mutex mutex;
  AccumulatorSpec spec; /* immutable */
  int64_t step;         /* gradients of earlier time steps are dropped */
  int32_t count;        /* of the gradients in the sum */
  Tensor sum;           /* of rows: their values */
  Tensor indices;       /* int64; of rows, as the following */
  Tensor counts;        /* int32: how many gradients have the row */
  GradientTaking *line; /* of those who wait */
} Accumulator;

/* An accumulator with one reference; the spec is copied. NULL with status when out of memory. */
Accumulator *accumulator_new(const AccumulatorSpec *spec, Status *status);

void accumulator_set_step(Accumulator *accumulator, int64_t step);
int32_t accumulator_count(Accumulator *accumulator);

/* Adds a gradient of time step `step`, unless that is past. INVALID_ARGUMENT if its shape is wrong. */
MUST_CHECK bool accumulator_add(Accumulator *accumulator, KernelContext *context, int64_t step,
                                const Tensor *gradient, Status *status);

/* Rows of a gradient; their indices should be in order. */
typedef struct GradientRows {
  const Tensor *indices, *values;
  const Tensor *shape; /* of the gradient; NULL: not known */
} GradientRows;
MUST_CHECK bool accumulator_add_rows(Accumulator *accumulator, int64_t step, const GradientRows *rows,
                                     Status *status);

/* Gives to those who wait what they wait for, in turn. The mutex is held. */
void accumulator_advance(Accumulator *accumulator);
/* Sets the outputs to the mean or sum (of rows: indices, values and shape) of at least `required` gradients,
 * and begins the next time step; or pauses the kernel until there are that many. */
MUST_CHECK bool accumulator_take(Accumulator *accumulator, KernelContext *context, int64_t required,
                                 Status *status);

#endif
