/* Lists of the devices of sessions. */
#include "c_api/c_api_internal.h"

/* A list is the session's own set, which does not change: the list has a reference to it. */
static const DeviceSet *devices_of(const TF_DeviceList *list) { return (const DeviceSet *)list; }

TF_DeviceList *TF_SessionListDevices(TF_Session *session, TF_Status *status) {
  start_status(status);
  return (TF_DeviceList *)device_set_ref(session->devices);
}

void TF_DeleteDeviceList(TF_DeviceList *list) { device_set_unref((DeviceSet *)list); }

int TF_DeviceListCount(const TF_DeviceList *list) { return devices_of(list)->count; }

/* NULL, with an error, for a wrong index. */
static const Device *device_at(const TF_DeviceList *list, int index, TF_Status *status) {
  start_status(status);
  if (index >= 0 && index < devices_of(list)->count) return &devices_of(list)->devices[index];
  status_invalid(&status->status, "index out of bounds");
  return NULL;
}

const char *TF_DeviceListName(const TF_DeviceList *list, int index, TF_Status *status) {
  const Device *device = device_at(list, index, status);
  return device ? device->name : NULL;
}

const char *TF_DeviceListType(const TF_DeviceList *list, int index, TF_Status *status) {
  const Device *device = device_at(list, index, status);
  return device ? device->type : NULL;
}

int64_t TF_DeviceListMemoryBytes(const TF_DeviceList *list, int index, TF_Status *status) {
  const Device *device = device_at(list, index, status);
  return device ? device->memory_limit : -1;
}

uint64_t TF_DeviceListIncarnation(const TF_DeviceList *list, int index, TF_Status *status) {
  const Device *device = device_at(list, index, status);
  return device ? device_incarnation(device) : 0;
}
