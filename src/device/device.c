#include "device/device.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/arena.h"

enum { CPU_MEMORY_LIMIT = 256 << 20 };

typedef struct CountedSet {
  DeviceSet set; /* first: a pointer to it is a pointer to this */
  Arena *arena;
  atomic_int references;
} CountedSet;

static _Atomic uint64_t num_incarnations; /* without a source of random numbers */

/* Other processes that are asked for their devices draw numbers, too: a restarted server has other ones. */
static uint64_t draw_incarnation(void) {
  uint64_t drawn = 0;
  while (drawn == 0) {
    if (getentropy(&drawn, sizeof drawn) != 0) drawn = atomic_fetch_add(&num_incarnations, 1) + 1;
  }
  return drawn;
}

uint64_t device_incarnation(const Device *device) {
  _Atomic uint64_t *incarnation = (_Atomic uint64_t *)&device->incarnation;
  uint64_t known = atomic_load(incarnation);
  if (known != 0) return known;
  uint64_t drawn = draw_incarnation();
  return atomic_compare_exchange_strong(incarnation, &known, drawn) ? drawn : known;
}

/* `incarnation` is 0 for one to be drawn. */
static bool make_device(Arena *arena, const char *name, uint64_t incarnation, Device *device,
                        Status *status) {
  device->name = arena_strdup(arena, name);
  if (!device->name) return status_oom(status, "a device");
  device->type = KERNEL_DEVICE_TYPE;
  device->memory_limit = CPU_MEMORY_LIMIT;
  atomic_init(&device->incarnation, incarnation);
  device->physical_description = "";
  return device_name_parse(str_of(device->name), &device->parsed) && device_name_is_complete(&device->parsed);
}

static bool make_cpus(CountedSet *set, const char *task, int count, Status *status) {
  for (; set->set.count < count; set->set.count++) {
    const char *name = arena_printf(set->arena, "%s/device:%s:%d", task, KERNEL_DEVICE_TYPE, set->set.count);
    if (!name) return status_oom(status, "a device");
    if (!make_device(set->arena, name, 0, &set->set.devices[set->set.count], status))
      return status->code != CODE_OK ? false : status_invalid(status, "Malformed task name: %s", task);
  }
  return true;
}

/* An empty set with room for devices. */
static bool new_set(int capacity, CountedSet **set, Status *status) {
  Arena *arena = arena_new();
  *set = arena ? arena_calloc(arena, 1, sizeof **set) : NULL;
  if (*set) (*set)->set.devices = arena_calloc(arena, capacity, sizeof(Device));
  if (!*set || !(*set)->set.devices) {
    arena_free(arena);
    return status_oom(status, "devices");
  }
  (*set)->arena = arena;
  atomic_init(&(*set)->references, 1);
  return true;
}

bool device_set_new(const char *task, int num_cpus, DeviceSet **set, Status *status) {
  CountedSet *made;
  if (num_cpus < 1 || num_cpus > MAX_DEVICES) {
    return status_invalid(status, "A session has 1 to %d devices of type %s, not %d", MAX_DEVICES,
                          KERNEL_DEVICE_TYPE, num_cpus);
  }
  TRY(new_set(num_cpus, &made, status));
  if (!make_cpus(made, task, num_cpus, status)) {
    arena_free(made->arena);
    return false;
  }
  *set = &made->set;
  return true;
}

static bool join(CountedSet *made, const char *const *names, const uint64_t *incarnations, int count,
                 Status *status) {
  for (int i = 0; i < count; i++) {
    Device *device = &made->set.devices[made->set.count];
    if (!make_device(made->arena, names[i], incarnations[i], device, status))
      return status->code != CODE_OK ? false : status_invalid(status, "Malformed device name: %s", names[i]);
    if (device_set_match(&made->set, &device->parsed))
      return status_invalid(status, "Two devices of the cluster are called %s", names[i]);
    made->set.count++;
  }
  return true;
}

bool device_set_join(const DeviceSet *local, const char *const *names, const uint64_t *incarnations,
                     int count, DeviceSet **set, Status *status) {
  CountedSet *made;
  if (count < 0 || count > MAX_DEVICES)
    return status_invalid(status, "A cluster has at most %d devices, not %d", MAX_DEVICES, count);
  TRY(new_set(local->count + count, &made, status));
  bool ok = true;
  for (int i = 0; ok && i < local->count; i++) {
    const Device *device = &local->devices[i];
    ok = make_device(made->arena, device->name, device_incarnation(device), &made->set.devices[i], status);
    if (ok) made->set.count++;
  }
  if (!ok || !join(made, names, incarnations, count, status)) {
    arena_free(made->arena);
    return false;
  }
  *set = &made->set;
  return true;
}

DeviceSet *device_set_ref(DeviceSet *set) {
  atomic_fetch_add(&((CountedSet *)set)->references, 1);
  return set;
}

void device_set_unref(DeviceSet *set) {
  CountedSet *counted = (CountedSet *)set;
  if (counted && atomic_fetch_sub(&counted->references, 1) == 1) arena_free(counted->arena);
}

const Device *device_set_match(const DeviceSet *set, const DeviceName *pattern) {
  for (int i = 0; i < set->count; i++) {
    if (device_name_matches(&set->devices[i].parsed, pattern)) return &set->devices[i];
  }
  return NULL;
}

static int compare_names(const void *a, const void *b) {
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

void device_set_print(const DeviceSet *set, StrBuf *out) {
  const char **names = mem_alloc(set->count * (int64_t)sizeof *names);
  if (!names) {
    out->failed = true;
    return;
  }
  for (int i = 0; i < set->count; i++) names[i] = set->devices[i].name;
  qsort(names, (size_t)set->count, sizeof *names, compare_names);
  for (int i = 0; i < set->count; i++) strbuf_printf(out, "%s%s", i > 0 ? ", " : "", names[i]);
  mem_free(names);
}

bool device_is_default(Str name) {
  DeviceName asked, own;
  if (!device_name_parse_any(name, &asked) || !device_name_parse(str_of(DEFAULT_DEVICE_NAME), &own))
    return false;
  return device_name_matches(&own, &asked);
}
