/* Fourier transforms along one axis of arrays: the lines of the axis are gathered into lanes, transformed
 * and stored. */
#ifndef TFCORE_OPS_SIGNAL_FFT_LINES_H_
#define TFCORE_OPS_SIGNAL_FFT_LINES_H_

#include "base/parallel.h"
#include "ops/signal/fft_plan.h"

typedef enum FftKind {
  FFT_COMPLEX,   /* n complex elements to n */
  FFT_FROM_REAL, /* n real elements to n / 2 + 1 complex ones */
  FFT_TO_REAL    /* n / 2 + 1 complex elements to n real ones; always inverse */
} FftKind;

/* A plan for lines of `n` elements. NULL when out of memory. */
FftPlan *fft_lines_plan(FftKind kind, int64_t n, bool wide, Status *status);

/* The lines of an axis. Strides count elements of the array, real or complex. */
typedef struct FftLines {
  FftKind kind;
  bool inverse;         /* with exp(+2 pi i ...), and divided by n */
  bool wide;            /* elements are of double, else of float */
  int64_t n, available; /* available: how many elements of a source line exist; others count as 0 */
  const FftPlan *plan;
  const void *from;
  void *to; /* may be `from`, if both have the same strides */
  int64_t from_stride, to_stride;
  /* the other axes */
  int rank;
  const int64_t *dims, *from_strides, *to_strides;
  int64_t count; /* the product of dims */
} FftLines;

/* Transforms all lines. RESOURCE_EXHAUSTED when there is no memory for lanes. */
MUST_CHECK bool fft_lines_run(const FftLines *lines, const Parallel *parallel, Status *status);

#endif
