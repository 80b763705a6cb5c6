/* Names of devices: "/job:worker/replica:0/task:1/device:CPU:0", whole or with parts left out.
 *
 *   DeviceName name;
 *   if (!device_name_parse("/task:1/cpu:*", &name)) ...;   task 1, type CPU, everything else is open
 *
 * A name with open parts is a pattern: it asks for any device that agrees in the others. The parts may come
 * in any order, and of a part that is named twice the last one counts. "/cpu:0", "/CPU:0", "/gpu:0" and
 * "/GPU:0" are the older way to write "/device:CPU:0" and "/device:GPU:0". The type behind "/device:" keeps
 * its letters: "/device:cpu:0" is no CPU. "*" leaves a part open.
 */
#ifndef TFCORE_DEVICE_DEVICE_NAME_H_
#define TFCORE_DEVICE_DEVICE_NAME_H_

#include "base/str.h"

enum { DEVICE_PART_OPEN = -1 };

/* Borrows its texts from what was parsed. */
typedef struct DeviceName {
  Str job, type;             /* `data` is NULL while the part is open */
  int32_t replica, task, id; /* DEVICE_PART_OPEN, or at least 0 */
} DeviceName;

/* All parts are open: any device. */
DeviceName device_name_any(void);

/* --- texts --- */

/* A full name; "" and "/" leave everything open. False when it is malformed, or a number is above
 * INT32_MAX. */
MUST_CHECK bool device_name_parse(Str text, DeviceName *name);
/* A local name, "CPU:0": type and id, and nothing else. */
MUST_CHECK bool device_name_parse_local(Str text, DeviceName *name);
/* A full name, else a local one. */
MUST_CHECK bool device_name_parse_any(Str text, DeviceName *name);
/* "/job:x/replica:0/task:1/device:CPU:0"; open parts are left out, but for the id of a known type:
 * "/device:CPU:*". An id whose type is open is left out as well. */
void device_name_print(const DeviceName *name, StrBuf *out);
/* The text of a whole name as it was written before "device" belonged to it: ".../task:1/cpu:0". */
void device_name_print_legacy(const DeviceName *name, StrBuf *out);
/* `text`, a full or local name, with open parts taken from `base`, as a full name. INVALID_ARGUMENT
 * "Basename: b should be fully specified." or "Could not parse n into a device specification.". */
MUST_CHECK bool device_name_canonicalize(Str text, Str base, StrBuf *out, Status *status);

/* --- relations --- */

bool device_name_equal(const DeviceName *a, const DeviceName *b);
/* Some part is not open. */
bool device_name_has_details(const DeviceName *name);
/* No part is open. */
bool device_name_is_complete(const DeviceName *name);
/* `name` has every part that `pattern` has. */
bool device_name_matches(const DeviceName *name, const DeviceName *pattern);
/* There may be a device that matches both. */
bool device_name_compatible(const DeviceName *a, const DeviceName *b);
/* The same job, replica and task: both are parts of one process. */
bool device_name_same_address_space(const DeviceName *a, const DeviceName *b);

/* What becomes of types, and of ids, that differ. */
typedef enum DeviceMerge {
  DEVICE_MERGE_STRICT,  /* an error */
  DEVICE_MERGE_SOFT,    /* the part is open afterwards; with the type its id */
  DEVICE_MERGE_OVERRIDE /* the part of `other` */
} DeviceMerge;

/* The parts of `other` join those of `target`. INVALID_ARGUMENT "Cannot merge devices with incompatible jobs:
 * '/job:a' and '/job:b'", and so for replicas, tasks, types and ids; the first name has the parts that were
 * joined before. Jobs, replicas and tasks that differ are always an error. */
MUST_CHECK bool device_name_merge(DeviceName *target, const DeviceName *other, DeviceMerge how,
                                  Status *status);
/* What is open in `target` becomes what it is in `other`. */
void device_name_fill(DeviceName *target, const DeviceName *other);
/* Every part that `other` has becomes the part of `target`. */
void device_name_override(DeviceName *target, const DeviceName *other);

#endif
