/* The devices that a session computes on: the CPUs of this process, as many as its ConfigProto says. All have
 * the same cores and the same memory. They exist so that a graph can be told apart into parts that run
 * independently, as in TensorFlow with device_count { CPU: n }.
 *
 *   DeviceSet *devices = device_set_new(LOCAL_TASK, 2, &status);
 *   devices->devices[1].name      "/job:localhost/replica:0/task:0/device:CPU:1"
 *   device_set_unref(devices);
 */
#ifndef TFCORE_DEVICE_DEVICE_H_
#define TFCORE_DEVICE_DEVICE_H_

#include <stdatomic.h>

#include "device/device_name.h"
#include "op/kernel_registry.h"

/* The device of sessions that ask for no more, and of whatever runs outside of sessions. */
#define DEFAULT_DEVICE_NAME LOCAL_TASK "/device:" KERNEL_DEVICE_TYPE ":0"
/* The task of a process that is no part of a cluster. */
#define LOCAL_TASK "/job:localhost/replica:0/task:0"

enum { MAX_DEVICES = 4096 };

typedef struct Device {
  const char *name;                 /* full */
  const char *type;                 /* for which kernels are registered */
  DeviceName parsed;                /* borrows from `name` */
  int64_t memory_limit;             /* bytes; what TensorFlow says of a CPU, not a limit that is kept */
  _Atomic uint64_t incarnation;     /* 0: not drawn; read it by device_incarnation */
  const char *physical_description; /* "" for a CPU */
} Device;

/* A number drawn at random that no two devices share, not 0. It is drawn when it is first asked for: sessions
 * seldom ask, and the first random number of a process can take milliseconds in Node. Thread-safe. */
uint64_t device_incarnation(const Device *device);

/* Immutable and counted by references. */
typedef struct DeviceSet {
  Device *devices; /* by their ids */
  int count;       /* at least 1 */
} DeviceSet;

/* CPUs 0 to num_cpus - 1 of a task ("/job:worker/replica:0/task:1"), with one reference. INVALID_ARGUMENT
 * unless 1 <= num_cpus <= MAX_DEVICES and the task has a job, a replica and a number. */
MUST_CHECK bool device_set_new(const char *task, int num_cpus, DeviceSet **set, Status *status);
/* The devices of a set, in front of `count` CPUs of other tasks with these full names and incarnations. The
 * texts are copied. INVALID_ARGUMENT for a malformed name or one that there is already. */
MUST_CHECK bool device_set_join(const DeviceSet *local, const char *const *names,
                                const uint64_t *incarnations, int count, DeviceSet **set, Status *status);
DeviceSet *device_set_ref(DeviceSet *set); /* gives the set back */
void device_set_unref(DeviceSet *set);     /* NULL is fine */

/* The device of the lowest id that has all parts of the pattern; NULL when there is none. */
const Device *device_set_match(const DeviceSet *set, const DeviceName *pattern);
/* The names of all devices, sorted as texts, with ", " between them: as messages list them. */
void device_set_print(const DeviceSet *set, StrBuf *out);

/* Whether a full or local name, whole or not, means the default device when it is asked for from there; ""
 * does. */
bool device_is_default(Str name);

#endif
