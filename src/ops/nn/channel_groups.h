/* Groups of channels: an image whose last dimension holds the channels of several groups side by side, as a
 * matrix with a row for each pixel.
 *
 *   ChannelGroups groups = channel_groups(tensor, tensor->data, 2);
 *   channel_group_take(&groups, 1, part);   // [..., 6] -> [..., 3]: the channels 3, 4 and 5
 *   channel_group_put(&groups, 1, part);    // and back
 */
#ifndef TFCORE_OPS_NN_CHANNEL_GROUPS_H_
#define TFCORE_OPS_NN_CHANNEL_GROUPS_H_

#include "tensor/tensor.h"

typedef struct ChannelGroups {
  char *data; /* borrowed */
  int64_t rows;
  int64_t stride, width; /* of a row, and of a group in it, in bytes */
} ChannelGroups;

/* `data` has the shape of `tensor`, of one dimension or more, and is not empty; 16-bit floats are floats
 * there (ops/support/window_attrs.h). The last dimension is a multiple of `groups`. */
ChannelGroups channel_groups(const Tensor *tensor, void *data, int64_t groups);
/* Copies the channels of a group to `part`, or from there; it has rows * width bytes. */
void channel_group_take(const ChannelGroups *groups, int64_t group, void *part);
void channel_group_put(const ChannelGroups *groups, int64_t group, const void *part);

#endif
