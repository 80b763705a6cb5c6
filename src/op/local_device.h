/* The one device of this process, a CPU, and its names. */
#ifndef TFCORE_OP_LOCAL_DEVICE_H_
#define TFCORE_OP_LOCAL_DEVICE_H_

#include "base/str.h"

#define LOCAL_DEVICE_NAME "/job:localhost/replica:0/task:0/device:CPU:0"
#define LOCAL_DEVICE_TYPE "CPU"
enum { LOCAL_DEVICE_MEMORY_BYTES = 256 << 20 };

/* Whether a name, full or abbreviated, means this device; "" does. */
bool local_device_has_name(Str name);

#endif
