/* Half and bfloat16 tensors as float: kernels without loops for 16-bit floats compute in float and round
 * once. */
#ifndef TFCORE_OPS_SUPPORT_HALF_PRECISION_H_
#define TFCORE_OPS_SUPPORT_HALF_PRECISION_H_

#include "op/kernel.h"

static inline bool half_precision(DataType type) { return type == DT_HALF || type == DT_BFLOAT16; }
/* `count` elements of DT_HALF or DT_BFLOAT16 at `from`, as float. */
void half_precision_widen(DataType type, const void *from, float *to, int64_t count);
void half_precision_narrow(DataType type, const float *from, void *to, int64_t count);

#endif
