/* Keys of values that are sent from one device to another:
 *
 *   /job:localhost/replica:0/task:0/device:CPU:0;0000000000000001;/job:localhost/.../device:CPU:1;edge_5_x;0:0
 *
 * are the sending device, its incarnation in 16 hexadecimal digits, the receiving device, the name of the
 * value, and the frame and iteration of the loop that sends it, both 0 outside of loops.
 */
#ifndef TFCORE_DEVICE_RENDEZVOUS_KEY_H_
#define TFCORE_DEVICE_RENDEZVOUS_KEY_H_

#include "device/device_name.h"

/* Borrows its texts from the key that was parsed. */
typedef struct RendezvousKey {
  DeviceName source, destination;
  Str source_text, destination_text;
  uint64_t incarnation; /* of the source */
  Str name;
} RendezvousKey;

void rendezvous_key_print(const char *source, uint64_t incarnation, const char *destination, const char *name,
                          uint64_t frame, int64_t iteration, StrBuf *out);
/* INVALID_ARGUMENT "Invalid  rendezvous key: ..." unless there are five parts, two full names of devices and
 * a hexadecimal number. */
MUST_CHECK bool rendezvous_key_parse(Str text, RendezvousKey *key, Status *status);

#endif
