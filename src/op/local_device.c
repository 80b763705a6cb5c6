#include "op/local_device.h"

bool local_device_has_name(Str name) {
  static const char *const kNames[] = {"", "/device:CPU:0", "/cpu:0", LOCAL_DEVICE_NAME,
                                       "/job:localhost/replica:0/task:0/cpu:0"};
  for (size_t i = 0; i < sizeof kNames / sizeof kNames[0]; i++) {
    if (str_equal(name, str_of(kNames[i]))) return true;
  }
  return false;
}
