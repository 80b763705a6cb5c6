/* Shared by convolutions and pooling of volumes: [batch, planes, rows, columns, channels]. */
#ifndef TFCORE_OPS_NN_VOLUME_WINDOW_H_
#define TFCORE_OPS_NN_VOLUME_WINDOW_H_

#include "ops/support/window_attrs.h"

enum { VOLUME_AXES = 3, VOLUME_RANK = 5 };

typedef struct VolumeAttrs {
  bool channels_first; /* TensorFlow's kernels for the CPU refuse it when they run */
  WindowPadding padding;
  int64_t strides[VOLUME_RANK];
} VolumeAttrs;

/* Attr `name`, a list of five sizes, which fit into 32 bits; messages call it `noun`. */
MUST_CHECK bool volume_read_list(const NodeDef *node, const char *name, const char *noun,
                                 int64_t values[VOLUME_RANK], Status *status);
/* data_format, padding and strides. */
MUST_CHECK bool volume_read_attrs(const NodeDef *node, VolumeAttrs *attrs, Status *status);

#endif
