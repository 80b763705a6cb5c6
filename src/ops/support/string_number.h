/* Numbers from text, as TensorFlow reads them. */
#ifndef TFCORE_OPS_SUPPORT_STRING_NUMBER_H_
#define TFCORE_OPS_SUPPORT_STRING_NUMBER_H_

#include "tensor/tensor.h"

/* Sets element `i` of a tensor of float, double, int32, int64, uint32 or uint64 to the number that is the
 * whole text, apart from spaces around it; or of a tensor of strings to the text. False if it is not a
 * number, or an integer that the type does not have. Floats are rounded correctly, hexadecimal ones too, and
 * become infinite when too large. */
bool string_to_element(Str text, Tensor *out, int64_t i);

#endif
