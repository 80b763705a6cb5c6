/* Device scopes, as `with tf.device(...)` of TensorFlow's Python nests them. */
#ifndef TFCORE_DEVICE_DEVICE_SCOPE_H_
#define TFCORE_DEVICE_DEVICE_SCOPE_H_

#include "device/device_name.h"

/* Appends the device that nodes ask for in a scope `inner` within one whose device is `outer`: each part is
 * that of `inner`, or else that of `outer`. Both are full or local names, whole or not. In a scope, "cpu" and
 * "gpu" are the types CPU and GPU however they are written. INVALID_ARGUMENT "Could not parse n into a device
 * specification.". */
MUST_CHECK bool device_scope_merge(Str outer, Str inner, StrBuf *out, Status *status);

#endif
