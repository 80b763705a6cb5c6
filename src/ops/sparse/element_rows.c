#include "ops/sparse/element_rows.h"

#include <string.h>

bool copy_elements(const Tensor *from, int64_t from_at, Tensor *to, int64_t to_at, int64_t length,
                   Status *status) {
  size_t size = dtype_size((int)from->dtype);
  if (from->dtype != DT_STRING && !dtype_is_pod((int)from->dtype))
    return status_set(status, CODE_UNIMPLEMENTED, "Elements of type %s cannot be copied one by one",
                      dtype_name((int)from->dtype));
  if (from->dtype != DT_STRING && length > 0)
    memcpy((char *)to->data + (size_t)to_at * size, (const char *)from->data + (size_t)from_at * size,
           (size_t)length * size);
  for (int64_t i = 0; from->dtype == DT_STRING && i < length; i++)
    TRY(tstring_copy(&tensor_strings(to)[to_at + i], &tensor_strings(from)[from_at + i], status));
  return true;
}

void print_index(const Tensor *indices, int64_t i, StrBuf *text) {
  int64_t length = indices->shape.rank == 2 ? shape_dim(&indices->shape, 1) : 1;
  strbuf_append_char(text, '[');
  for (int64_t k = 0; k < length; k++)
    strbuf_printf(text, "%s%lld", k > 0 ? "," : "", (long long)tensor_int_at(indices, i * length + k));
  strbuf_append_char(text, ']');
}
