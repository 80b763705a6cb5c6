/* Kernels that compute one element from one string. */
#ifndef TFCORE_OPS_STRINGS_STRING_ELEMENTS_H_
#define TFCORE_OPS_STRINGS_STRING_ELEMENTS_H_

#include "op/kernel.h"

/* Appends the result for one string to `out`, which is empty. `state` is the kernel's. */
typedef bool StringChange(const void *state, Str text, StrBuf *out, Status *status);

/* Output 0 has the shape of input 0, and each string is what `change` gives for the input's. */
MUST_CHECK bool change_strings(KernelContext *context, StringChange *change, const void *state,
                               Status *status);
/* The kernel that calls the StringChange in its data with the kernel's state. */
bool change_strings_kernel(KernelContext *context, Status *status);
/* Element `i` of a tensor of strings, borrowed. */
static inline Str string_at(const Tensor *tensor, int64_t i) {
  return tstring_view(&tensor_strings(tensor)[i]);
}
/* Sets element `i` to the text of a buffer. */
MUST_CHECK bool string_put(const Tensor *tensor, int64_t i, const StrBuf *text, Status *status);

#endif
