/* Half and bfloat16 tensors as float: kernels without loops for 16-bit floats compute in float and round
 * once. */
#ifndef TFCORE_OPS_SUPPORT_HALF_PRECISION_H_
#define TFCORE_OPS_SUPPORT_HALF_PRECISION_H_

#include <stdbool.h>
#include <stdint.h>

#include "tensor/dtype.h"

static inline bool half_precision(DataType type) { return type == DT_HALF || type == DT_BFLOAT16; }
/* `count` elements of DT_HALF or DT_BFLOAT16 at `from`, as float. */
void half_precision_widen(DataType type, const void *from, float *to, int64_t count);
void half_precision_narrow(DataType type, const float *from, void *to, int64_t count);

/* Loops of templates (simd/templates.h) compute in pieces of floats, which the conversions above make and
 * take: conversions of single elements take longer than most operations. */
enum { HALF_PIECE = 256 };
static inline int64_t half_piece(int64_t left) { return left < HALF_PIECE ? left : HALF_PIECE; }
/* The piece of an operand at element `at`. One that is a single number (`still`) is repeated, for all pieces
 * at the first. */
void half_precision_operand(DataType type, const void *from, bool still, int64_t at, int64_t count,
                            float *wide);

#endif
