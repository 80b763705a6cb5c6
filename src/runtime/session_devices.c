#include "runtime/session_devices.h"

#include "base/alloc.h"
#include "runtime/thread_pool.h"

struct SessionDevices {
  Graph *library;
  BufferPool *pool;
  const Parallel *parallel;
  const DeviceSet *set;
  int num_own;            /* of these devices, those of this task; 0: all */
  DeviceManager *manager; /* NULL: the devices have resources of their own; else a reference */
  bool optimize;
  SessionDevice **made; /* by index; NULL until the first use */
  int64_t num_made, capacity;
};

static void device_free(const SessionDevices *devices, SessionDevice *device) {
  if (!device) return;
  kernel_table_free(device->kernels);
  if (devices->manager && device->functions)
    resource_manager_end_caller(device->resources, function_runtime_caller(device->functions));
  function_runtime_free(device->functions);
  if (!devices->manager) resource_manager_free(device->resources);
  mem_free(device);
}

static void free_made(SessionDevices *devices) {
  for (int64_t i = 0; i < devices->num_made; i++) device_free(devices, devices->made[i]);
  devices->num_made = 0;
}

static bool device_new(const SessionDevices *devices, int index, SessionDevice **made, Status *status) {
  SessionDevice *device = mem_calloc(1, sizeof *device);
  if (!device) return status_oom(status, "a device");
  device->resources =
      devices->manager ? device_manager_resources(devices->manager, index) : resource_manager_new();
  device->kernels = kernel_table_new();
  const ProgramEnvironment environment = {.pool = devices->pool,
                                          .resources = device->resources,
                                          .parallel = devices->parallel};
  device->functions = function_runtime_new(devices->library, &environment, status);
  if (device->resources && device->kernels && device->functions) {
    function_runtime_optimize(device->functions, devices->optimize);
    *made = device;
    return true;
  }
  device_free(devices, device);
  return status_oom(status, "a device");
}

bool session_devices_get(SessionDevices *devices, int index, SessionDevice **device, Status *status) {
  if (index >= devices->num_made) {
    if (!mem_grow((void **)&devices->made, &devices->capacity, (int64_t)index + 1, sizeof *devices->made))
      return status_oom(status, "a device");
    while (devices->num_made <= index) devices->made[devices->num_made++] = NULL;
  }
  if (!devices->made[index]) TRY(device_new(devices, index, &devices->made[index], status));
  *device = devices->made[index];
  return true;
}

bool session_devices_new(Graph *library, BufferPool *pool, SessionDevices **devices, Status *status) {
  SessionDevice *first;
  *devices = mem_calloc(1, sizeof **devices);
  if (!*devices) return status_oom(status, "a device");
  **devices =
      (SessionDevices){.library = library, .pool = pool, .parallel = thread_pool_default(), .optimize = true};
  if (session_devices_get(*devices, 0, &first, status)) return true;
  session_devices_free(*devices);
  *devices = NULL;
  return false;
}

void session_devices_free(SessionDevices *devices) {
  if (!devices) return;
  free_made(devices);
  device_manager_unref(devices->manager);
  mem_free(devices->made);
  mem_free(devices);
}

void session_devices_set(SessionDevices *devices, const DeviceSet *set) { devices->set = set; }

void session_devices_share(SessionDevices *devices, DeviceManager *manager) {
  free_made(devices);
  devices->manager = device_manager_ref(manager);
  devices->set = device_manager_devices(manager);
}

void session_devices_join(SessionDevices *devices, const DeviceSet *all) {
  devices->num_own = devices->set->count;
  devices->set = all;
}

bool session_devices_is_remote(const SessionDevices *devices, int index) {
  return devices->num_own > 0 && index >= devices->num_own;
}

const DeviceSet *session_devices_names(const SessionDevices *devices) { return devices->set; }

void session_devices_optimize(SessionDevices *devices, bool optimize) {
  devices->optimize = optimize;
  for (int64_t i = 0; i < devices->num_made; i++) {
    if (devices->made[i]) function_runtime_optimize(devices->made[i]->functions, optimize);
  }
}

void session_devices_end_step(const SessionDevices *devices, int64_t step_id) {
  for (int64_t i = 0; i < devices->num_made; i++) {
    if (devices->made[i]) resource_manager_end_step(devices->made[i]->resources, step_id);
  }
}

const Parallel *session_devices_parallel(const SessionDevices *devices) { return devices->parallel; }
