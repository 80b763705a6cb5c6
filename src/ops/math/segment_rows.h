/* Combining rows of a tensor into rows of another: what the families of segment ops have in common. A row is
 * what stands under one index of the first dimension; rows are combined in the order in which they come,
 * whatever the number of threads. */
#ifndef TFCORE_OPS_MATH_SEGMENT_ROWS_H_
#define TFCORE_OPS_MATH_SEGMENT_ROWS_H_

#include "op/kernel.h"
#include "op/shape_inference.h"

typedef enum SegmentKind {
  SEGMENT_SUM,
  SEGMENT_MEAN,
  SEGMENT_SQRT_N,
  SEGMENT_PROD,
  SEGMENT_MIN,
  SEGMENT_MAX
} SegmentKind;

/* Element `i` of an int16, int32 or int64 array. */
typedef struct SegmentIds {
  const void *data;
  DataType dtype;
} SegmentIds;
static inline SegmentIds segment_ids(const Tensor *tensor) {
  return (SegmentIds){tensor->data, tensor->dtype};
}
static inline int64_t segment_id(SegmentIds ids, int64_t i) {
  if (ids.dtype == DT_INT32) return ((const int32_t *)ids.data)[i];
  return ids.dtype == DT_INT64 ? ((const int64_t *)ids.data)[i] : ((const int16_t *)ids.data)[i];
}

/* Sorted ids: entry i puts row rows[i] of the data (row i when rows.data is NULL) into segment ids[i]. What
 * is sorted lies together, so a segment is computed at once, 16-bit floats without rounding in between. The
 * caller has checked ids and rows. */
typedef struct SegmentRuns {
  SegmentKind kind;
  const void *data;
  void *out;
  int64_t columns, num_segments, count;
  SegmentIds ids, rows;
  const int64_t *begins; /* of each run of equal ids, and the end: segment_combine_sorted fills it in */
} SegmentRuns;
/* Segments without entries become 1 (SEGMENT_PROD) or 0. */
MUST_CHECK bool segment_combine_sorted(KernelContext *context, SegmentRuns *runs, DataType type,
                                       Status *status);

/* Ids in any order: the output is filled with what is neutral (for SEGMENT_MIN the highest and for
 * SEGMENT_MAX the lowest finite value), and entry i combines row rows[i] (i when rows.data is NULL), times
 * weights[rows[i]] where there are weights, into segment ids[i]. Negative ids are passed over; others were
 * checked. Of the kinds those without a division. Weights: of real floating types. */
typedef struct SegmentScatter {
  SegmentKind kind;
  const void *data;
  void *out;
  int64_t columns, num_segments, count;
  SegmentIds ids, rows;
  const double *weights;
  const void *neutral; /* an element: segment_scatter fills it in */
} SegmentScatter;
void segment_scatter(KernelContext *context, SegmentScatter *scatter, DataType type);

/* "segment ids are not increasing" and the like: what TensorFlow says of ids that are not sorted or not in
 * [0, num_segments). */
MUST_CHECK bool segment_check_sorted(SegmentIds ids, int64_t count, int64_t num_segments, Status *status);

/* Output 0 in the shape of `data`, whose first `covered` dimensions become one of size `rows`; and how many
 * elements a row has. */
MUST_CHECK bool segment_allocate(KernelContext *context, const Tensor *data, int covered, int64_t rows,
                                 Tensor **out, int64_t *columns, Status *status);

/* Shapes: dimension 0 becomes `rows` (NULL: it is unknown) in place of those that `covered` stands for. */
MUST_CHECK bool segment_set_shape(InferenceContext *c, ShapeHandle data, int64_t covered, DimHandle rows,
                                  Status *status);

#endif
