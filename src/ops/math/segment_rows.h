/* Combines rows of a tensor into rows of another: shared by the families of segment ops. A row is the slice
 * at one index of the first dimension; rows are combined in order, whatever the number of threads. */
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

/* Sorted ids: entry i adds row rows[i] of the data (row i if rows.data is NULL) to segment ids[i]. The
 * entries of a segment are adjacent, so it is computed at once, without intermediate rounding of 16-bit
 * floats. The caller has checked ids and rows. */
typedef struct SegmentRuns {
  SegmentKind kind;
  const void *data;
  void *out;
  int64_t columns, num_segments, count;
  SegmentIds ids, rows;
  const int64_t *begins; /* of each run of equal ids, and the end: set by segment_combine_sorted */
} SegmentRuns;
/* Segments without entries become 1 (SEGMENT_PROD) or 0. */
MUST_CHECK bool segment_combine_sorted(KernelContext *context, SegmentRuns *runs, DataType type,
                                       Status *status);

/* Ids in any order: the output is filled with the neutral element (for SEGMENT_MIN the highest and for
 * SEGMENT_MAX the lowest finite value), and entry i adds row rows[i] (i if rows.data is NULL), times
 * weights[rows[i]] if there are weights, to segment ids[i]. Negative ids are ignored; the caller has checked
 * the others. Only for kinds without a division. Weights: of real floating types. */
typedef struct SegmentScatter {
  SegmentKind kind;
  const void *data;
  void *out;
  int64_t columns, num_segments, count;
  SegmentIds ids, rows;
  const double *weights;
  const void *neutral; /* an element: set by segment_scatter */
} SegmentScatter;
void segment_scatter(KernelContext *context, SegmentScatter *scatter, DataType type);

/* TensorFlow's errors for ids that are not sorted or not in [0, num_segments), such as "segment ids are not
 * increasing". */
MUST_CHECK bool segment_check_sorted(SegmentIds ids, int64_t count, int64_t num_segments, Status *status);

/* Allocates output 0 with the shape of `data`, whose first `covered` dimensions are replaced by one of size
 * `rows`, and computes the number of elements of a row. */
MUST_CHECK bool segment_allocate(KernelContext *context, const Tensor *data, int covered, int64_t rows,
                                 Tensor **out, int64_t *columns, Status *status);

/* Shapes: replaces the first dimensions, which `covered` represents, by `rows` (NULL: unknown). */
MUST_CHECK bool segment_set_shape(InferenceContext *c, ShapeHandle data, int64_t covered, DimHandle rows,
                                  Status *status);

#endif
