/* Values of golden cases: parses and compares them. */
#ifndef TFCORE_TESTS_GOLDEN_GOLDEN_VALUE_H_
#define TFCORE_TESTS_GOLDEN_GOLDEN_VALUE_H_

#include "golden.pb-c.h"
#include "tensor/tensor.h"

/* Whether `got` equals the tensor of `want` within its tolerances. Reports the first different element by a
 * failing CHECK. */
bool golden_value_is(const Tensor *got, const Tfcore__GoldenValue *want);

#endif
