/* Shared by the ops that resize images [batch, rows, columns, channels]: attrs, sizes, and the correspondence
 * of rows and columns. */
#ifndef TFCORE_OPS_IMAGE_RESIZE_IMAGE_H_
#define TFCORE_OPS_IMAGE_RESIZE_IMAGE_H_

#include "op/op_registry.h"

typedef struct ResizeAttrs {
  bool align_corners, half_pixel_centers;
} ResizeAttrs;

/* Reads both attrs; with `exclusive` they must not both be true. */
MUST_CHECK bool resize_read_attrs(const NodeDef *node, bool exclusive, ResizeAttrs *attrs, Status *status);
/* A construct function for ops that forbid both. */
bool resize_construct(const KernelConstruction *construction, void *memory, Status *status);

enum { RESIZE_ROWS, RESIZE_COLUMNS, RESIZE_AXES };

/* Reads a vector of two sizes above zero; otherwise the message is `not_positive`. The ops' input "size". */
MUST_CHECK bool resize_read_size(const Tensor *size, const char *not_positive, int64_t sizes[RESIZE_AXES],
                                 Status *status);
/* Checks input 0, an image, and input 1, a size, and allocates output 0 of that size. */
MUST_CHECK bool resize_begin(KernelContext *context, int64_t sizes[RESIZE_AXES], Tensor **out,
                             Status *status);

/* Checks input 0, an incoming gradient, and input 1, the original image, and allocates output 0 in the shape
 * of the latter. */
MUST_CHECK bool resize_begin_grad(KernelContext *context, Tensor **out, Status *status);

/* The distance between elements of the result, in elements of the original axis. */
float resize_step(const ResizeAttrs *attrs, int64_t original, int64_t resized);

/* For position `i` of the resized axis: the two elements of the original axis around it, and the distance
 * from the first. */
typedef struct ResizeBetween {
  int64_t lower, upper;
  float lerp;
} ResizeBetween;

/* `resized` entries; lower and upper are non-decreasing, and upper is lower or lower + 1. */
void resize_between(const ResizeAttrs *attrs, int64_t original, int64_t resized, ResizeBetween *axis);
/* The nearest element of the original axis, non-decreasing. */
void resize_nearest(const ResizeAttrs *attrs, int64_t original, int64_t resized, int64_t *axis);

/* Shape functions for an image and a size, which is input 1. */
bool shape_resize(InferenceContext *c, Status *status);
/* The shape function of their gradients: the shape of input 1. */
bool shape_resize_grad(InferenceContext *c, Status *status);

#endif
