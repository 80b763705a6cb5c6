/* DeviceManager: the devices of a server, and the resources on each of them. The sessions of a server share
 * them, as in TensorFlow: a variable that one session has initialised is there for the next one with the same
 * name.
 *
 *   DeviceManager *manager = device_manager_new("/job:worker/replica:0/task:1", 1, &status);
 *   session_share(session, manager);
 *
 * Sessions that share a manager must not run on different threads at the same time.
 */
#ifndef TFCORE_RUNTIME_DEVICE_MANAGER_H_
#define TFCORE_RUNTIME_DEVICE_MANAGER_H_

#include "device/device.h"
#include "op/resource.h"

/* Counted by references. */
typedef struct DeviceManager DeviceManager;

/* With one reference. NULL with INVALID_ARGUMENT as of device_set_new, or RESOURCE_EXHAUSTED. */
DeviceManager *device_manager_new(const char *task, int num_cpus, Status *status);
/* The same devices, with resources of their own: for a session that shares none. */
DeviceManager *device_manager_isolated(const DeviceManager *manager, Status *status);
DeviceManager *device_manager_ref(DeviceManager *manager); /* gives the manager back */
void device_manager_unref(DeviceManager *manager);         /* NULL is fine */

/* Both are borrowed. */
DeviceSet *device_manager_devices(const DeviceManager *manager);
ResourceManager *device_manager_resources(const DeviceManager *manager, int device);

/* Forgets the resources of a container on all devices. "" names the default container, whose name is that of
 * the job. */
void device_manager_clear(DeviceManager *manager, const char *container);

#endif
