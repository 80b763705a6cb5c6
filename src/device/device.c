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

static bool make_cpu(Arena *arena, const char *task, int id, Device *device, Status *status) {
  device->name = arena_printf(arena, "%s/device:%s:%d", task, KERNEL_DEVICE_TYPE, id);
  if (!device->name) return status_oom(status, "a device");
  device->type = KERNEL_DEVICE_TYPE;
  device->memory_limit = CPU_MEMORY_LIMIT;
  device->incarnation = draw_incarnation();
  device->physical_description = "";
  return (device_name_parse(str_of(device->name), &device->parsed) &&
          device_name_is_complete(&device->parsed)) ||
         status_invalid(status, "Malformed task name: %s", task);
}

static bool make_cpus(CountedSet *set, const char *task, int count, Status *status) {
  set->set.devices = arena_calloc(set->arena, count, sizeof(Device));
  if (!set->set.devices) return status_oom(status, "devices");
  for (; set->set.count < count; set->set.count++)
    TRY(make_cpu(set->arena, task, set->set.count, &set->set.devices[set->set.count], status));
  return true;
}

bool device_set_new(const char *task, int num_cpus, DeviceSet **set, Status *status) {
  if (num_cpus < 1 || num_cpus > MAX_DEVICES) {
    return status_invalid(status, "A session has 1 to %d devices of type %s, not %d", MAX_DEVICES,
                          KERNEL_DEVICE_TYPE, num_cpus);
  }
  Arena *arena = arena_new();
  CountedSet *counted = arena ? arena_calloc(arena, 1, sizeof *counted) : NULL;
  bool ok = counted || status_oom(status, "devices");
  if (ok) {
    counted->arena = arena;
    atomic_init(&counted->references, 1);
    ok = make_cpus(counted, task, num_cpus, status);
  }
  if (ok) {
    *set = &counted->set;
  } else {
    arena_free(arena);
  }
  return ok;
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
