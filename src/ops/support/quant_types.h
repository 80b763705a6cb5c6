/* Quantised numbers: integers that stand for the floats of a range [min, max]. */
#ifndef TFCORE_OPS_SUPPORT_QUANT_TYPES_H_
#define TFCORE_OPS_SUPPORT_QUANT_TYPES_H_

#include <math.h>

#include "op/kernel.h"
#include "op/shape_inference.h"

typedef struct QuantType {
  int bits;
  int64_t lowest, highest;
} QuantType;
/* Of qint8, quint8, qint16, quint16 and qint32. */
QuantType quant_type(DataType type);

/* Element `i` of a tensor of such a type. */
int64_t quant_at(const Tensor *tensor, int64_t i);
/* The `count` elements from `at` on as int32, and back; these fit. Kernels compute in pieces of elements, in
 * loops that become vectors. */
enum { QUANT_PIECE = 256 };
static inline int64_t quant_piece(int64_t left) { return left < QUANT_PIECE ? left : QUANT_PIECE; }
void quant_read(const Tensor *tensor, int64_t at, int64_t count, int32_t *numbers);
void quant_write(Tensor *tensor, int64_t at, int64_t count, const int32_t *numbers);
/* The nearest numbers of the type, cut to integers; NaN becomes the lowest. */
void quant_nearest(const QuantType *type, int64_t count, const float *values, int32_t *numbers);
/* roundf, but that it becomes vector instructions, and its zero has no sign. */
static inline float quant_round(float x) {
  float whole = truncf(x);
  return whole + (fabsf(x - whole) >= 0.5f ? copysignf(1, x) : 0);
}

/* The number that stands for a float in the range, which may be outside of the type; and the nearest one of
 * the type. */
int64_t quant_from_float_unclamped(const QuantType *type, float value, float min, float max);
int64_t quant_from_float(const QuantType *type, float value, float min, float max);
/* The float for which a number stands. */
float quant_to_float(const QuantType *type, int64_t value, float min, float max);
/* The distance of two neighbouring numbers. */
float quant_level(const QuantType *type, float min, float max);
/* How numbers of one range become numbers of another: through floats, as TensorFlow computes it for whole
 * tensors. */
typedef struct QuantMap {
  float first, level;    /* the float of number n is first + n * level */
  float scale, offset;   /* the number of float x is round(x * scale) - offset */
  float lowest, highest; /* bounds on that number */
} QuantMap;
QuantMap quant_map(DataType from, float min, float max, DataType to, float to_min, float to_max);
void quant_map_floats(const QuantMap *map, int64_t count, const float *values, int32_t *numbers);
void quant_map_numbers(const QuantMap *map, int64_t count, int32_t *numbers); /* in place */

/* The range of products of numbers of two ranges, as numbers of `to`. */
void quant_product_range(const QuantType *a, float min_a, float max_a, const QuantType *b, float min_b,
                         float max_b, const QuantType *to, float *min, float *max);

/* NOT_FOUND unless output 0 has that dtype. The tables of kernels only tell the first dtype of an op. */
MUST_CHECK bool quant_check_output(const KernelConstruction *construction, DataType type, Status *status);
/* Input `i`, which must be a float scalar: INVALID_ARGUMENT "`min_a` must be rank 0 but is rank 1". */
MUST_CHECK bool quant_scalar(const KernelContext *context, int i, const char *name, float *value,
                             Status *status);
/* Allocates scalar output `i` with that value. */
MUST_CHECK bool quant_put_range(KernelContext *context, int i, float value, Status *status);
/* Checks that inputs [first, end) are scalars, and makes outputs 1 and 2 scalars. */
MUST_CHECK bool quant_scalar_shapes(InferenceContext *c, int first, int end, Status *status);

#endif
