/* Shared by the pooling kernels: their attrs, and the positions of windows on an image. */
#ifndef TFCORE_OPS_NN_POOL_WINDOW_H_
#define TFCORE_OPS_NN_POOL_WINDOW_H_

#include "ops/support/window_attrs.h"

typedef struct PoolState {
  WindowAttrs attrs;
  int64_t ksize[4], strides[4];
  bool by_inputs; /* the last two inputs are ksize and strides */
} PoolState;

/* A construct function for kernels whose state is or begins with a PoolState. */
bool pool_construct(const KernelConstruction *construction, void *memory, Status *status);

typedef struct PoolRun {
  WindowAttrs attrs;
  int64_t ksize[4], strides[4];
  int64_t depth; /* channels pooled together */
  ImageSizes input, out;
  WindowAxis axis[WINDOW_AXES];
} PoolRun;

/* Reads sizes and strides, and places the windows on an image of `dims`. */
MUST_CHECK bool pool_begin(KernelContext *context, const int64_t *dims, PoolRun *run, Status *status);
/* INVALID_ARGUMENT unless the tensor, `name` in the message, has that shape. */
MUST_CHECK bool pool_check_shape(const Tensor *tensor, const char *name, const ImageSizes *sizes,
                                 bool channels_first, Status *status);

/* The elements of the image in one window. */
typedef struct PoolWindow {
  int64_t row_begin, row_end, column_begin, column_end, count;
} PoolWindow;

static inline PoolWindow pool_window(const WindowView *rows, const WindowView *columns, int64_t row,
                                     int64_t column) {
  PoolWindow w;
  int64_t y = row * rows->step + rows->offset, x = column * columns->step + columns->offset;
  window_inside(rows, row, &w.row_begin, &w.row_end);
  window_inside(columns, column, &w.column_begin, &w.column_end);
  w.row_begin += y, w.row_end += y, w.column_begin += x, w.column_end += x;
  w.count = (w.row_end - w.row_begin) * (w.column_end - w.column_begin);
  return w;
}

#endif
