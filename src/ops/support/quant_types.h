/* Quantised numbers: integers that stand for the floats of a range [min, max]. */
#ifndef TFCORE_OPS_SUPPORT_QUANT_TYPES_H_
#define TFCORE_OPS_SUPPORT_QUANT_TYPES_H_

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
void quant_put(Tensor *tensor, int64_t i, int64_t value); /* the value fits */
/* The same, for values that may not fit: the nearest number that does. */
void quant_put_nearest(Tensor *tensor, int64_t i, double value);

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
int64_t quant_map_number(const QuantMap *map, int64_t number);
int64_t quant_map_float(const QuantMap *map, float value);

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
