/* Values of golden cases: out of their protos, and compared. */
#ifndef TFCORE_TESTS_GOLDEN_GOLDEN_VALUE_H_
#define TFCORE_TESTS_GOLDEN_GOLDEN_VALUE_H_

#include "golden.pb-c.h"
#include "tensor/tensor.h"

/* Whether `got` is the tensor of `want` within its tolerances. The first element that is not is reported by a
 * failing CHECK. */
bool golden_value_is(const Tensor *got, const Tfcore__GoldenValue *want);

#endif
