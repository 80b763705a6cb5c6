#include "ops/io/saved_slice.h"

Str saved_string(const Tensor *tensor, int64_t i) { return tstring_view(&tensor_strings(tensor)[i]); }

bool saved_slice_parse(Str text, const Tensor *tensor, Shape *whole, TensorSlice *slice, Status *status) {
  Shape part = {0};
  bool ok = slice_parse(text, whole, slice, &part, status);
  if (ok && !shape_equal(&part, &tensor->shape)) {
    char shape[SHAPE_TEXT_CAPACITY];
    ok = status_invalid(status,
                        "Slice in shape_and_slice specification does not match the shape of the tensor to  "
                        "save: %.*s, tensor: %s",
                        (int)text.length, text.data, shape_text(&tensor->shape, shape));
  }
  shape_clear(&part);
  return ok;
}
