#include "ops/nn/pool_window.h"

#include <inttypes.h>
#include <string.h>

#include "op/node_def.h"

static bool read_four(const NodeDef *node, const char *attr, const char *noun, int64_t values[4],
                      Status *status) {
  const AttrListValue *list;
  TRY(node_attr_list(node, attr, ATTR_INT, &list, status));
  if (!list || list->n_i != 4)
    return status_invalid(status, "Sliding window %s field must specify 4 dimensions", noun);
  for (int i = 0; i < 4; i++) {
    values[i] = list->i[i];
    if (values[i] < INT32_MIN || values[i] > INT32_MAX) {
      return status_invalid(status, "Attr %s has value %" PRId64 " out of range for an int32", attr,
                            values[i]);
    }
  }
  return true;
}

bool pool_construct(const KernelConstruction *construction, void *memory, Status *status) {
  PoolState *state = memory;
  TRY(window_read_format(construction->node, &state->attrs, status));
  if (state->attrs.padding == PADDING_EXPLICIT)
    TRY(window_read_pads(construction->node, &state->attrs, status));
  if (!node_def_attr(construction->node, "ksize")) {
    state->by_inputs = true;
    return true;
  }
  return read_four(construction->node, "ksize", "ksize", state->ksize, status) &&
         read_four(construction->node, "strides", "stride", state->strides, status);
}

static bool input_four(const Tensor *tensor, const char *noun, int64_t values[4], Status *status) {
  if (tensor_num_elements(tensor) != 4)
    return status_invalid(status, "Sliding window %s field must specify 4 dimensions", noun);
  for (int i = 0; i < 4; i++) values[i] = tensor_i32(tensor)[i];
  return true;
}

/* Every window overlaps the image. */
static bool check_pads(const PoolRun *run, const int64_t window[WINDOW_AXES], Status *status) {
  static const char *const kSides[WINDOW_AXES][2] = {{"Top", "Bottom"}, {"Left", "Right"}};
  for (int k = 0; k < WINDOW_AXES; k++) {
    for (int side = 0; side < 2; side++) {
      if (run->attrs.pads[k][side] < window[k]) continue;
      return status_invalid(status,
                            "%s padding %" PRId64 " needs to be smaller than the window size %" PRId64,
                            kSides[k][side], run->attrs.pads[k][side], window[k]);
    }
  }
  return true;
}

bool pool_begin(KernelContext *context, const int64_t *dims, PoolRun *run, Status *status) {
  const PoolState *state = context->state;
  *run = (PoolRun){.attrs = state->attrs};
  memcpy(run->ksize, state->ksize, sizeof run->ksize);
  memcpy(run->strides, state->strides, sizeof run->strides);
  if (state->by_inputs) {
    TRY(input_four(context->inputs[context->num_inputs - 2], "ksize", run->ksize, status));
    TRY(input_four(context->inputs[context->num_inputs - 1], "stride", run->strides, status));
  }
  const int64_t *k = run->ksize, *s = run->strides;
  for (int i = 0; i < 4; i++) {
    if (k[i] <= 0) {
      return status_invalid(status,
                            "Sliding window ksize must be positive. The specified or inferred ksize is: "
                            "%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64,
                            k[0], k[1], k[2], k[3]);
    }
    if (s[i] <= 0) return status_invalid(status, "Stride must be > 0, but got %" PRId64, s[i]);
  }
  if (k[0] != 1 || s[0] != 1)
    return status_set(status, CODE_UNIMPLEMENTED, "Pooling is not yet supported on the batch dimension.");
  int space = run->attrs.channels_first ? 2 : 1, channel = run->attrs.channels_first ? 1 : 3;
  run->input = image_sizes(dims, run->attrs.channels_first);
  run->depth = k[channel];
  for (int i = 0; i < WINDOW_AXES; i++) run->attrs.strides[i] = s[space + i];
  TRY(check_pads(run, k + space, status));
  if (run->depth != 1) {
    if (run->attrs.padding == PADDING_EXPLICIT) {
      return status_set(status, CODE_UNIMPLEMENTED,
                        "Depthwise max pooling does not support explicit padding.");
    }
    if (k[space] != 1 || k[space + 1] != 1) {
      return status_set(status, CODE_UNIMPLEMENTED,
                        "MaxPooling supports exactly one of pooling across depth or pooling across "
                        "width/height.");
    }
    if (run->input.channels % run->depth != 0) {
      return status_set(status, CODE_UNIMPLEMENTED,
                        "Depthwise max pooling requires the depth window to evenly divide the input depth");
    }
    if (run->depth != s[channel]) {
      return status_set(status, CODE_UNIMPLEMENTED,
                        "Depthwise max pooling requires the depth window to equal the depth stride");
    }
  } else if (s[channel] != 1) {
    return status_set(status, CODE_UNIMPLEMENTED,
                      "Depthwise max pooling requires the depth window to equal the depth stride");
  }
  TRY(window_place(&run->attrs, &run->input, k + space, run->axis, status));
  run->out =
      (ImageSizes){run->input.batch, {run->axis[0].out, run->axis[1].out}, run->input.channels / run->depth};
  return true;
}

bool pool_check_shape(const Tensor *tensor, const char *name, const ImageSizes *sizes, bool channels_first,
                      Status *status) {
  int64_t want[4];
  char text[SHAPE_TEXT_CAPACITY];
  image_dims(sizes, channels_first, want);
  if (tensor->shape.rank == 4 && memcmp(shape_dims(&tensor->shape), want, sizeof want) == 0) return true;
  return status_invalid(status,
                        "Expected %s shape to be [%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64
                        "], but got %s",
                        name, want[0], want[1], want[2], want[3], shape_text(&tensor->shape, text));
}
