#include "runtime/device_manager.h"

#include <stdatomic.h>

#include "base/alloc.h"

struct DeviceManager {
  DeviceSet *devices;
  ResourceManager **resources; /* one per device */
  atomic_int references;
};

static void free_manager(DeviceManager *manager) {
  for (int i = 0; manager->resources && i < manager->devices->count; i++)
    resource_manager_free(manager->resources[i]);
  mem_free(manager->resources);
  device_set_unref(manager->devices);
  mem_free(manager);
}

static bool make_resources(DeviceManager *manager, Status *status) {
  int count = manager->devices->count;
  manager->resources = mem_calloc(count, sizeof(ResourceManager *));
  bool ok = manager->resources;
  Str job = manager->devices->devices[0].parsed.job; /* its name is that of the default container */
  for (int i = 0; ok && i < count; i++) ok = (manager->resources[i] = resource_manager_new_with(job));
  return ok || status_oom(status, "devices");
}

/* Takes over the reference to the devices. NULL with RESOURCE_EXHAUSTED. */
static DeviceManager *manager_of(DeviceSet *devices, Status *status) {
  DeviceManager *manager = mem_calloc(1, sizeof *manager);
  if (!manager) {
    device_set_unref(devices);
    status_oom(status, "devices");
    return NULL;
  }
  atomic_init(&manager->references, 1);
  manager->devices = devices;
  if (make_resources(manager, status)) return manager;
  free_manager(manager);
  return NULL;
}

DeviceManager *device_manager_new(const char *task, int num_cpus, Status *status) {
  DeviceSet *devices;
  return device_set_new(task, num_cpus, &devices, status) ? manager_of(devices, status) : NULL;
}

DeviceManager *device_manager_isolated(const DeviceManager *manager, Status *status) {
  return manager_of(device_set_ref(manager->devices), status);
}

DeviceManager *device_manager_ref(DeviceManager *manager) {
  atomic_fetch_add(&manager->references, 1);
  return manager;
}

void device_manager_unref(DeviceManager *manager) {
  if (manager && atomic_fetch_sub(&manager->references, 1) == 1) free_manager(manager);
}

DeviceSet *device_manager_devices(const DeviceManager *manager) { return manager->devices; }

ResourceManager *device_manager_resources(const DeviceManager *manager, int device) {
  return manager->resources[device];
}

void device_manager_clear(DeviceManager *manager, const char *container) {
  for (int i = 0; i < manager->devices->count; i++)
    resource_manager_clear(manager->resources[i], str_of(container));
}
