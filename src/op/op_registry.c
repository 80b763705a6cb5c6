#include "op/op_registry.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/string_map.h"
#include "op/op_def_builder.h"

const char NO_GRADIENT[] = "NO_GRADIENT";

/* Guarded by `lock`, all of it. An Op's `def` is NULL until somebody looks it up; what was handed out does not change or move
 * until the registry is cleared. */
static struct {
  pthread_mutex_t lock;
  Arena *arena;  /* of Ops and OpDefs; NULL while the registry is empty */
  StringMap map; /* name -> Op; the order of its entries is the table order */
} registry = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void lock(void) { pthread_mutex_lock(&registry.lock); }
static void unlock(void) { pthread_mutex_unlock(&registry.lock); }

/* --- registration --- */

/* Adds an op that is not parsed yet. The same registration again is no error. */
static bool add_op(const OpRegistration *registration, Status *status) {
  const Op *known = string_map_find(&registry.map, registration->name);
  if (known) {
    return known->registration == registration ||
           status_set(status, CODE_ALREADY_EXISTS, "Op with name %s", registration->name);
  }
  if (!registry.arena) registry.arena = arena_new();
  Op *op = registry.arena ? arena_calloc(registry.arena, 1, sizeof *op) : NULL;
  if (!op) return status_oom(status, "the op registry");
  op->registration = registration;
  return string_map_set(&registry.map, registration->name, op, status);
}

bool op_registry_add_table(const OpRegistration *const *table, int count, Status *status) {
  lock();
  int64_t count_before = registry.map.count;
  bool ok = true;
  for (int i = 0; ok && i < count; i++) ok = add_op(table[i], status);
  /* All or nothing: what was added stands last. */
  for (int64_t i = registry.map.num_entries; !ok && registry.map.count > count_before;) {
    const char *name = registry.map.entries[--i].key;
    if (name) string_map_remove(&registry.map, name);
  }
  unlock();
  return ok;
}

/* The lists of a registration have a fixed size, those of a spec end with NULL: a full list has no room for it. */
typedef struct SpecLists {
  const char *inputs[OP_MAX_ARGS + 1], *outputs[OP_MAX_ARGS + 1], *attrs[OP_MAX_ATTRS + 1];
} SpecLists;

static bool parse(const OpRegistration *registration, Arena *arena, OpDef **op_def, Status *status) {
  SpecLists lists = {0};
  memcpy(lists.inputs, registration->inputs, sizeof registration->inputs);
  memcpy(lists.outputs, registration->outputs, sizeof registration->outputs);
  memcpy(lists.attrs, registration->attrs, sizeof registration->attrs);
  OpDefSpec spec = {
      .name = registration->name,
      .inputs = lists.inputs,
      .outputs = lists.outputs,
      .attrs = lists.attrs,
      .is_stateful = registration->is_stateful,
      .is_commutative = registration->is_commutative,
      .is_aggregate = registration->is_aggregate,
      .allows_uninitialized_input = registration->allows_uninitialized_input,
      .deprecated_version = registration->deprecated_version,
      .deprecation_explanation = registration->deprecation_explanation,
  };
  TRY(op_def_build(&spec, arena, op_def, status));
  return op_def_validate(*op_def, status);
}

/* Parses an op's specs unless that was done. A failure leaves nothing behind and is found again the next time. */
static bool complete(Op *op, Status *status) {
  if (op->def) return true;
  ArenaMark mark = arena_mark(registry.arena);
  OpDef *op_def = NULL;
  if (!parse(op->registration, registry.arena, &op_def, status)) {
    arena_rollback(registry.arena, mark);
    return false;
  }
  op->def = op_def;
  return true;
}

bool op_registry_add(const OpRegistration *registration, Status *status) {
  lock();
  bool ok = false;
  if (string_map_contains(&registry.map, registration->name)) {
    status_set(status, CODE_ALREADY_EXISTS, "Op with name %s", registration->name);
  } else if (add_op(registration, status)) {
    ok = complete(string_map_find(&registry.map, registration->name), status);
    if (!ok) string_map_remove(&registry.map, registration->name);
  }
  unlock();
  return ok;
}

/* --- look-up --- */

bool op_registry_look_up(const char *name, const Op **op, Status *status) {
  lock();
  Op *found = string_map_find(&registry.map, name);
  bool ok = found && complete(found, status);
  unlock();
  if (ok) {
    *op = found;
  } else if (!found) {
    status_set(status, CODE_NOT_FOUND,
               "Op type not registered '%s' in binary running on localhost. Make sure the Op and Kernel are registered in the "
               "binary running in this process.",
               name);
  }
  return ok;
}

const Op *op_registry_find(const char *name) {
  Status ignored;
  status_init(&ignored);
  lock();
  Op *found = string_map_find(&registry.map, name);
  bool ok = found && complete(found, &ignored);
  unlock();
  return ok ? found : NULL;
}

static int compare_names(const void *a, const void *b) {
  return strcmp((*(OpDef *const *)a)->name, (*(OpDef *const *)b)->name);
}

bool op_registry_export(bool include_internal, Arena *arena, OpList **list, Status *status) {
  OpList *result = proto_new(kOpList, arena);
  if (!result) return status_oom(status, "the list of ops");
  bool ok = true;
  lock();
  for (int64_t i = 0; ok && i < registry.map.num_entries; i++) {
    const StringMapEntry *slot = &registry.map.entries[i];
    if (!slot->key || (slot->key[0] == '_' && !include_internal)) continue;
    Op *op = slot->value;
    ok = complete(op, status) && proto_append(arena, (void ***)&result->op, &result->n_op, (void *)op->def, status);
  }
  unlock();
  TRY(ok);
  if (result->n_op > 0) qsort(result->op, result->n_op, sizeof *result->op, compare_names);
  *list = result;
  return true;
}

int op_registry_count(void) {
  lock();
  int count = (int)registry.map.count;
  unlock();
  return count;
}

const char *op_registry_name(int i) {
  const char *name = NULL;
  lock();
  bool dense = registry.map.count == registry.map.num_entries;
  if (dense && i >= 0 && i < registry.map.num_entries) name = registry.map.entries[i].key;
  for (int64_t k = 0; !dense && k < registry.map.num_entries; k++) {
    if (registry.map.entries[k].key && i-- == 0) name = registry.map.entries[k].key;
  }
  unlock();
  return name;
}

void op_registry_clear(void) {
  lock();
  string_map_free(&registry.map);
  registry.map = (StringMap){0};
  arena_free(registry.arena);
  registry.arena = NULL;
  unlock();
}

bool op_has_kernel(const Op *op, DataType type) {
  const KernelEntry *kernels = op->registration->kernels;
  for (int i = 0; i < OP_MAX_KERNELS && kernels[i].compute; i++) {
    if (type == DT_INVALID || kernels[i].type == DT_INVALID || kernels[i].type == type) return true;
  }
  return false;
}
