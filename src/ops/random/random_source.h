/* Where random ops of TensorFlow 2 get their generator from: inputs `key`, `counter` and `alg`, or a variable
 * that holds the state of a generator. Both have shape functions. */
#ifndef TFCORE_OPS_RANDOM_RANDOM_SOURCE_H_
#define TFCORE_OPS_RANDOM_RANDOM_SOURCE_H_

#include "ops/random/random_fill.h"

/* TensorFlow's numbers for algorithms. On a CPU only Philox exists, which is also the automatic choice. */
enum { RANDOM_PHILOX = 1, RANDOM_THREE_FRY = 2, RANDOM_AUTO = 3 };

/* The generator for inputs `first` (key, uint64[1]), `first` + 1 (counter, uint64[2] or longer) and `first` +
 * 2 (alg, a scalar). INVALID_ARGUMENT for other shapes and algorithms. */
MUST_CHECK bool random_keyed(const KernelContext *context, int first, Philox *generator, Status *status);
/* For shape functions: checks these inputs. */
MUST_CHECK bool random_shape_keyed(InferenceContext *c, int first, Status *status);
/* Writes a generator as key and counter. */
void random_write_key_counter(const Philox *generator, uint64_t *key, uint64_t counter[2]);

/* The state of a generator in a variable: an int64 vector of counter (two elements) and key, after `skipped`
 * elements. */
typedef struct RandomVariable {
  Variable *variable;
  int64_t skipped;
} RandomVariable;

/* The variable in input 0 and the algorithm in input `algorithm`, a scalar; -1: element 0 of the state is the
 * algorithm. INVALID_ARGUMENT when the variable cannot be such a state, UNIMPLEMENTED for ThreeFry. */
MUST_CHECK bool random_variable(const KernelContext *context, int algorithm, RandomVariable *state,
                                Status *status);
/* The generator's current position; moves the variable on by that many groups of four words. */
MUST_CHECK bool random_variable_reserve(const KernelContext *context, const RandomVariable *state,
                                        uint64_t groups, Philox *generator, Status *status);

#endif
