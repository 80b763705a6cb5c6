/* SessionDevices: what the programs of each device of a session share: variables and other resources,
 * functions, and kernels with state. As in TensorFlow each device has its own, so that devices can compute at
 * the same time: the same name on two devices means two variables. The sessions of a server share the
 * resources of its devices (runtime/device_manager.h).
 */
#ifndef TFCORE_RUNTIME_SESSION_DEVICES_H_
#define TFCORE_RUNTIME_SESSION_DEVICES_H_

#include "device/device.h"
#include "op/resource.h"
#include "runtime/device_manager.h"
#include "runtime/function_runtime.h"
#include "runtime/kernel_table.h"

typedef struct SessionDevice {
  ResourceManager *resources;
  FunctionRuntime *functions;
  KernelTable *kernels;
} SessionDevice;

typedef struct SessionDevices SessionDevices;

/* One device, which needs no name. `library` has the functions; it and `pool` are borrowed. */
MUST_CHECK bool session_devices_new(Graph *library, BufferPool *pool, SessionDevices **devices,
                                    Status *status);
/* Programs of the devices must be freed first. NULL is fine. */
void session_devices_free(SessionDevices *devices);
/* Uses these devices from now on, instead of one without a name. Borrowed. */
void session_devices_set(SessionDevices *devices, const DeviceSet *set);
/* Uses the devices of a manager, and the resources on them, from now on. Takes a reference. Nothing has run
 * on the devices yet. */
void session_devices_share(SessionDevices *devices, DeviceManager *manager);
/* Nodes may be on devices of other tasks from now on: those of `all` (borrowed) behind the session's own. */
void session_devices_join(SessionDevices *devices, const DeviceSet *all);
/* Whether the device with this index belongs to another task. */
bool session_devices_is_remote(const SessionDevices *devices, int index);
/* NULL when there is one device without a name. */
const DeviceSet *session_devices_names(const SessionDevices *devices);
/* Whether functions and steps are optimised; see function_runtime_optimize. */
void session_devices_optimize(SessionDevices *devices, bool optimize);

/* The state of the device with this index in the set, made at its first use. */
MUST_CHECK bool session_devices_get(SessionDevices *devices, int index, SessionDevice **device,
                                    Status *status);
/* Drops the resources that live as long as the step. */
void session_devices_end_step(const SessionDevices *devices, int64_t step_id);

/* Session's threads; NULL: one. */
const Parallel *session_devices_parallel(const SessionDevices *devices);

#endif
