#include "ops/nn/channel_groups.h"

#include <string.h>

ChannelGroups channel_groups(const Tensor *tensor, void *data, int64_t groups) {
  int64_t channels = shape_dim(&tensor->shape, tensor->shape.rank - 1);
  int64_t element = tensor->dtype == DT_DOUBLE ? (int64_t)sizeof(double) : (int64_t)sizeof(float);
  return (ChannelGroups){.data = data,
                         .rows = tensor_num_elements(tensor) / channels,
                         .stride = channels * element,
                         .width = channels / groups * element};
}

void channel_group_take(const ChannelGroups *groups, int64_t group, void *part) {
  const char *from = groups->data + group * groups->width;
  char *to = part;
  for (int64_t row = 0; row < groups->rows; row++)
    memcpy(to + row * groups->width, from + row * groups->stride, (size_t)groups->width);
}

void channel_group_put(const ChannelGroups *groups, int64_t group, const void *part) {
  const char *from = part;
  char *to = groups->data + group * groups->width;
  for (int64_t row = 0; row < groups->rows; row++)
    memcpy(to + row * groups->stride, from + row * groups->width, (size_t)groups->width);
}
