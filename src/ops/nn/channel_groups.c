#include "ops/nn/channel_groups.h"

#include "base/copy.h"

ChannelGroups channel_groups(const Tensor *tensor, void *data, int64_t groups) {
  int64_t channels = shape_dim(&tensor->shape, tensor->shape.rank - 1);
  int64_t element = tensor->dtype == DT_DOUBLE ? (int64_t)sizeof(double) : (int64_t)sizeof(float);
  return (ChannelGroups){.data = data,
                         .rows = tensor_num_elements(tensor) / channels,
                         .stride = channels * element,
                         .width = channels / groups * element};
}

void channel_group_take(const ChannelGroups *groups, int64_t group, void *part) {
  copy_rows(part, groups->width, groups->data + group * groups->width, groups->stride, groups->width,
            groups->rows);
}

void channel_group_put(const ChannelGroups *groups, int64_t group, const void *part) {
  copy_rows(groups->data + group * groups->width, groups->stride, part, groups->width, groups->width,
            groups->rows);
}
