#include "ops/nn/volume_window.h"

#include <inttypes.h>

#include "op/node_def.h"

bool volume_read_list(const NodeDef *node, const char *name, const char *noun, int64_t values[VOLUME_RANK],
                      Status *status) {
  const AttrListValue *list;
  TRY(node_attr_list(node, name, ATTR_INT, &list, status));
  if (!list || list->n_i != VOLUME_RANK)
    return status_invalid(status, "Sliding window %s field must specify 5 dimensions", noun);
  for (int i = 0; i < VOLUME_RANK; i++) {
    values[i] = list->i[i];
    if (values[i] < INT32_MIN || values[i] > INT32_MAX) {
      return status_invalid(status, "Attr %s has value %" PRId64 " out of range for an int32", name,
                            values[i]);
    }
  }
  return true;
}

bool volume_read_attrs(const NodeDef *node, VolumeAttrs *attrs, Status *status) {
  Str text;
  *attrs = (VolumeAttrs){0};
  if (node_def_attr(node, "data_format")) {
    TRY(node_attr_string(node, "data_format", &text, status));
    attrs->channels_first = str_equal_text(text, "NCDHW");
  }
  TRY(node_attr_string(node, "padding", &text, status));
  attrs->padding = str_equal_text(text, "SAME") ? PADDING_SAME : PADDING_VALID;
  return volume_read_list(node, "strides", "stride", attrs->strides, status);
}
