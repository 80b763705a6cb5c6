/* What the ops share that resize images [batch, rows, columns, channels]: attrs, sizes, and where a row or a
 * column of one image lies in the other. */
#ifndef TFCORE_OPS_IMAGE_RESIZE_IMAGE_H_
#define TFCORE_OPS_IMAGE_RESIZE_IMAGE_H_

#include "op/op_registry.h"

typedef struct ResizeAttrs {
  bool align_corners, half_pixel_centers;
} ResizeAttrs;

/* Reads both; `exclusive`: they may not both be true. */
MUST_CHECK bool resize_read_attrs(const NodeDef *node, bool exclusive, ResizeAttrs *attrs, Status *status);
/* Is the construct function of ops that forbid both. */
bool resize_construct(const KernelConstruction *construction, void *memory, Status *status);

enum { RESIZE_ROWS, RESIZE_COLUMNS, RESIZE_AXES };

/* A vector of two sizes, above zero, or the message `not_positive`; as the ops' input "size". */
MUST_CHECK bool resize_read_size(const Tensor *size, const char *not_positive, int64_t sizes[RESIZE_AXES],
                                 Status *status);
/* Input 0, an image, and input 1, a size, of an op that resizes: checks both, and allocates output 0 of that
 * size. */
MUST_CHECK bool resize_begin(KernelContext *context, int64_t sizes[RESIZE_AXES], Tensor **out,
                             Status *status);

/* Of position `i` of the resized axis: between which two elements of the original one it lies, and how far
 * behind the first. */
typedef struct ResizeBetween {
  int64_t lower, upper;
  float lerp;
} ResizeBetween;

/* `resized` entries; both are non-decreasing, and upper is lower or lower + 1. */
void resize_between(const ResizeAttrs *attrs, int64_t original, int64_t resized, ResizeBetween *axis);
/* Which element of the original axis is nearest, non-decreasing. */
void resize_nearest(const ResizeAttrs *attrs, int64_t original, int64_t resized, int64_t *axis);

/* Shape functions: of an image and a size; `size` is input 1. */
bool shape_resize(InferenceContext *c, Status *status);

#endif
