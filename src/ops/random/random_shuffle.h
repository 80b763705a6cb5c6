/* Shuffling the rows of a tensor, as TensorFlow's random ops do for a given generator. */
#ifndef TFCORE_OPS_RANDOM_RANDOM_SHUFFLE_H_
#define TFCORE_OPS_RANDOM_RANDOM_SHUFFLE_H_

#include "op/kernel.h"
#include "ops/support/philox.h"

/* The number of groups of four words that shuffling input 0 takes; 0 if its order cannot change. */
uint64_t random_shuffle_groups(const KernelContext *context);
/* Output 0: the rows of input 0 in the order that the generator gives. */
MUST_CHECK bool random_shuffle(KernelContext *context, const Philox *start, Status *status);

#endif
