#include "op/op_registry.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/string_map.h"
#include "base/sync.h"
#include "op/op_def_builder.h"
#include "op/op_registration.h"
#include "op/side_kernels.h"

const char NO_GRADIENT[] = "NO_GRADIENT";
const char FUNCTIONAL_GRADIENT[] = "FUNCTIONAL_GRADIENT";

typedef struct Deferred {
  OpFactory factory;
  void *arg;
  void (*free_arg)(void *arg);
} Deferred;

/* A deferred registration that failed. */
typedef struct Failure {
  struct Failure *next;
  const char *name; /* NULL: unknown */
  Code code;
  const char *message;
} Failure;

/* An op of a table is parsed on demand (`op.def` is NULL before), and, separately, registered on demand. */
typedef struct Entry {
  Op op; /* first: an Op is its Entry */
  EnginePart part;
  bool is_pending;
} Entry;

/* Everything is guarded by `lock`. An Op that was returned does not change or move until the registry is
 * cleared. */
struct OpRegistry {
  Mutex lock;
  Arena *arena;  /* of entries, OpDefs and failures; NULL while it is not needed */
  StringMap map; /* name -> Entry; iterates in order of registration */
  int64_t num_pending;
  Deferred *deferred;
  int64_t num_deferred, deferred_capacity;
  bool is_initialized; /* registrations are no longer deferred */
  Failure *failures, **last_failure;
  bool failure_was_lost; /* out of memory while remembering one */
  OpWatcher watcher;
  void *watcher_arg;
  OpValidator validator;
  void *validator_arg;
};

static OpRegistry global_registry = {.lock = MUTEX_INIT};

static void lock(OpRegistry *registry) { mutex_lock(&registry->lock); }
static void unlock(OpRegistry *registry) { mutex_unlock(&registry->lock); }

/* --- creating and freeing --- */

OpRegistry *op_registry_global(void) { return &global_registry; }

OpRegistry *op_registry_new(void) {
  OpRegistry *registry = mem_calloc(1, sizeof *registry);
  if (!registry) return NULL;
  if (mutex_init(&registry->lock)) return registry;
  mem_free(registry);
  return NULL;
}

static void drop(const Deferred *what) {
  if (what->free_arg) what->free_arg(what->arg);
}

static void drop_deferred(OpRegistry *registry) {
  for (int64_t i = 0; i < registry->num_deferred; i++) drop(&registry->deferred[i]);
  mem_free(registry->deferred);
  registry->deferred = NULL;
  registry->num_deferred = registry->deferred_capacity = 0;
}

static void forget_failures(OpRegistry *registry) {
  registry->failures = NULL;
  registry->last_failure = NULL;
  registry->failure_was_lost = false;
}

void op_registry_clear(OpRegistry *registry) {
  lock(registry);
  drop_deferred(registry);
  forget_failures(registry);
  string_map_free(&registry->map);
  registry->map = (StringMap){0};
  arena_free(registry->arena);
  registry->arena = NULL;
  registry->num_pending = 0;
  registry->is_initialized = false;
  registry->watcher = NULL;
  registry->validator = NULL;
  unlock(registry);
}

void op_registry_free(OpRegistry *registry) {
  if (!registry) return;
  op_registry_clear(registry);
  mutex_destroy(&registry->lock);
  mem_free(registry);
}

/* --- entries --- */

static bool has_arena(OpRegistry *registry, Status *status) {
  if (!registry->arena) registry->arena = arena_new();
  return registry->arena || status_oom(status, "the op registry");
}

/* Adds a new op to the map. After an error, its memory stays in the arena. */
static bool insert(OpRegistry *registry, const OpTableRow *row, const OpDef *op_def, Entry **out,
                   Status *status) {
  TRY(has_arena(registry, status));
  Entry *entry = arena_calloc(registry->arena, 1, sizeof *entry);
  if (!entry) return status_oom(status, "the op registry");
  entry->op = (Op){op_def, row->registration, node_class_of_op(row->name), row->integers_aside};
  entry->part = row->part;
  TRY(string_map_set(&registry->map, row->name, entry, status));
  *out = entry;
  return true;
}

static bool refuse_known_name(const OpRegistry *registry, const char *name, Status *status) {
  return !string_map_contains(&registry->map, name) ||
         status_set(status, CODE_ALREADY_EXISTS, "Op with name %s", name);
}

/* Parses an op's specs unless that was done. A failure changes nothing and is repeated by the next call. */
static bool complete(OpRegistry *registry, Entry *entry, Status *status) {
  if (entry->op.def) return true;
  TRY(engine_part_need(entry->part, status));
  ArenaMark mark = arena_mark(registry->arena);
  OpDef *op_def = NULL;
  if (!op_registration_parse(entry->op.registration, registry->arena, &op_def, status)) {
    arena_rollback(registry->arena, mark);
    return false;
  }
  entry->op.def = op_def;
  return true;
}

/* --- registration --- */

/* The final outcome of a registration. */
static bool tell_watcher(const OpRegistry *registry, bool ok, const OpDef *op_def, Status *status) {
  if (!registry->watcher) return ok;
  Status outcome;
  if (ok) {
    status_init(&outcome);
  } else {
    outcome = *status;
  }
  status_init(status);
  return registry->watcher(registry->watcher_arg, &outcome, op_def, status);
}

static bool make(OpRegistry *registry, const Deferred *what, OpRegistrationData *data, Status *status) {
  TRY(what->factory(what->arg, registry->arena, data, status));
  TRY(op_def_validate(data->op_def, status));
  TRY(refuse_known_name(registry, data->op_def->name, status));
  const OpRegistration *registration = op_registration_describe(data, registry->arena, status);
  Entry *entry;
  return registration &&
         insert(registry, &(OpTableRow){registration->name, registration}, data->op_def, &entry, status);
}

/* TensorFlow's RegisterAlreadyLocked. After a failure, the caller rolls back the arena. */
static bool run_factory(OpRegistry *registry, const Deferred *what, OpRegistrationData *data,
                        Status *status) {
  *data = (OpRegistrationData){0};
  bool ok = has_arena(registry, status) && make(registry, what, data, status);
  return tell_watcher(registry, ok, data->op_def, status);
}

/* `name` may be NULL. */
static void remember_failure(OpRegistry *registry, const char *name, const Status *status) {
  Failure *failure = registry->arena ? arena_alloc(registry->arena, sizeof *failure) : NULL;
  const char *message = failure ? arena_strdup(registry->arena, status->message) : NULL;
  const char *copy = name && message ? arena_strdup(registry->arena, name) : NULL;
  if (!message || (name && !copy)) {
    registry->failure_was_lost = true;
    return;
  }
  *failure = (Failure){.name = copy, .code = status->code, .message = message};
  *(registry->failures ? registry->last_failure : &registry->failures) = failure;
  registry->last_failure = &failure->next;
}

static bool report_failure(const Failure *failure, Status *status) {
  return status_set(status, failure->code, "%s", failure->message);
}

/* Registers the ops of tables. Stops only when out of memory, or at an op whose part cannot be loaded, and
 * then continues there the next time. */
static bool register_tables(OpRegistry *registry, Status *status) {
  for (int64_t i = 0; registry->num_pending > 0 && i < registry->map.num_entries; i++) {
    Entry *entry = registry->map.entries[i].key ? registry->map.entries[i].value : NULL;
    if (!entry || !entry->is_pending) continue;
    bool ok = complete(registry, entry, status);
    if (!ok && (status->code == CODE_RESOURCE_EXHAUSTED || status->code == CODE_UNAVAILABLE)) return false;
    entry->is_pending = false;
    registry->num_pending--;
    if (!tell_watcher(registry, ok, entry->op.def, status))
      remember_failure(registry, entry->op.registration->name, status);
  }
  return true;
}

/* True for the call that ended the deferral. */
static bool end_deferral(OpRegistry *registry) {
  if (registry->is_initialized) return false;
  registry->is_initialized = true;
  Status status;
  status_init(&status);
  if (registry->watcher && !register_tables(registry, &status)) registry->failure_was_lost = true;
  for (int64_t i = 0; i < registry->num_deferred; i++) {
    OpRegistrationData data;
    status_init(&status);
    if (!run_factory(registry, &registry->deferred[i], &data, &status)) {
      remember_failure(registry, data.op_def ? data.op_def->name : data.name, &status);
    }
    drop(&registry->deferred[i]);
  }
  registry->num_deferred = 0; /* their arguments were freed */
  drop_deferred(registry);
  return true;
}

bool op_registry_register(OpRegistry *registry, OpFactory factory, void *arg, void (*free_arg)(void *arg),
                          Status *status) {
  Deferred what = {factory, arg, free_arg};
  bool ok;
  lock(registry);
  if (registry->is_initialized) {
    OpRegistrationData data;
    ok = has_arena(registry, status);
    if (ok) {
      ArenaMark mark = arena_mark(registry->arena);
      int64_t count_before = registry->map.count;
      ok = run_factory(registry, &what, &data, status);
      if (registry->map.count == count_before) arena_rollback(registry->arena, mark);
    }
    drop(&what);
  } else {
    ok = mem_grow((void **)&registry->deferred, &registry->deferred_capacity, registry->num_deferred + 1,
                  sizeof what);
    if (ok) {
      registry->deferred[registry->num_deferred++] = what;
    } else {
      status_oom(status, "the op registry");
      drop(&what);
    }
  }
  unlock(registry);
  return ok;
}

void op_registry_end_deferral(OpRegistry *registry) {
  lock(registry);
  end_deferral(registry);
  unlock(registry);
}

bool op_registry_process_registrations(OpRegistry *registry, Status *status) {
  lock(registry);
  end_deferral(registry);
  bool ok = register_tables(registry, status);
  if (ok && registry->failures) {
    ok = report_failure(registry->failures, status);
  } else if (ok && registry->failure_was_lost) {
    ok = status_oom(status, "the op registry");
  }
  unlock(registry);
  return ok;
}

void op_registry_defer_registrations(OpRegistry *registry) {
  lock(registry);
  registry->is_initialized = false;
  unlock(registry);
}

void op_registry_clear_deferred(OpRegistry *registry) {
  lock(registry);
  drop_deferred(registry);
  forget_failures(registry);
  unlock(registry);
}

static bool find_same(const OpRegistry *registry, const OpTableRow *row, bool *same, Status *status) {
  const Entry *known = string_map_find(&registry->map, row->name);
  *same = known && known->op.registration == row->registration;
  return *same || refuse_known_name(registry, row->name, status);
}

bool op_registry_add_table(OpRegistry *registry, const OpTableRow *table, int count, Status *status) {
  lock(registry);
  int64_t count_before = registry->map.count;
  bool ok = true;
  for (int i = 0; ok && i < count; i++) {
    bool same;
    Entry *entry;
    ok = find_same(registry, &table[i], &same, status);
    if (!ok || same) continue;
    ok = insert(registry, &table[i], NULL, &entry, status);
    if (!ok) continue;
    entry->is_pending = true;
    registry->num_pending++;
  }
  /* All or nothing: the added entries are the last ones. */
  for (int64_t i = registry->map.num_entries; !ok && registry->map.count > count_before;) {
    const char *name = registry->map.entries[--i].key;
    if (!name) continue;
    string_map_remove(&registry->map, name);
    registry->num_pending--;
  }
  if (ok && registry->watcher && registry->is_initialized) ok = register_tables(registry, status);
  unlock(registry);
  return ok;
}

bool op_registry_add(OpRegistry *registry, const OpRegistration *registration, Status *status) {
  lock(registry);
  OpDef *op_def = NULL;
  Entry *entry;
  bool ok = has_arena(registry, status);
  if (ok) {
    ArenaMark mark = arena_mark(registry->arena);
    ok = refuse_known_name(registry, registration->name, status) &&
         op_registration_parse(registration, registry->arena, &op_def, status) &&
         insert(registry, &(OpTableRow){registration->name, registration}, op_def, &entry, status);
    bool is_in = ok;
    ok = tell_watcher(registry, ok, op_def, status);
    if (!is_in) arena_rollback(registry->arena, mark);
  }
  unlock(registry);
  return ok;
}

bool op_registry_set_watcher(OpRegistry *registry, OpWatcher watcher, void *arg, Status *status) {
  lock(registry);
  bool ok = !watcher || !registry->watcher;
  if (ok) {
    registry->watcher = watcher;
    registry->watcher_arg = arg;
  } else {
    status_set(status, CODE_ALREADY_EXISTS, "Cannot over-write a valid watcher with another.");
  }
  unlock(registry);
  return ok;
}

void op_registry_set_validator(OpRegistry *registry, OpValidator validator, void *arg) {
  lock(registry);
  registry->validator = validator;
  registry->validator_arg = arg;
  unlock(registry);
}

/* --- look-up --- */

static bool not_found(const OpRegistry *registry, const char *name, Status *status) {
  for (const Failure *failure = registry->failures; failure; failure = failure->next) {
    if (failure->name && strcmp(failure->name, name) == 0) return report_failure(failure, status);
  }
  return status_set(status, CODE_NOT_FOUND,
                    "Op type not registered '%s' in binary running on localhost. Make sure the Op and Kernel "
                    "are registered in the "
                    "binary running in this process. Note that if you are loading a saved graph which used "
                    "ops from tf.contrib "
                    "(e.g. `tf.contrib.resampler`), accessing should be done before importing the graph, as "
                    "contrib ops are lazily "
                    "registered when the module is first accessed.",
                    name);
}

/* Without the lock, because the validator may look up ops. */
static bool validate(OpRegistry *registry, OpValidator validator, void *arg, Status *status) {
  if (!validator || validator(arg, registry, status)) return true;
  lock(registry);
  remember_failure(registry, NULL, status);
  unlock(registry);
  return false;
}

bool op_kernel_missing(const Op *op, DataType type) {
  bool is_integer = type == DT_INT32 || type == DT_INT64 || type == DT_BOOL;
  return engine_part_missing(PART_SIDE) &&
         ((op->integers_aside && is_integer) || side_kernels_have_type(type));
}

bool op_registry_look_up(OpRegistry *registry, const char *name, const Op **op, Status *status) {
  lock(registry);
  OpValidator validator = end_deferral(registry) ? registry->validator : NULL;
  void *validator_arg = registry->validator_arg;
  Entry *found = string_map_find(&registry->map, name);
  bool ok = found ? complete(registry, found, status) : not_found(registry, name, status);
  unlock(registry);
  TRY(validate(registry, validator, validator_arg, status));
  if (ok) *op = &found->op;
  return ok;
}

const Op *op_registry_find(OpRegistry *registry, const char *name) {
  Status ignored;
  status_init(&ignored);
  lock(registry);
  OpValidator validator = end_deferral(registry) ? registry->validator : NULL;
  void *validator_arg = registry->validator_arg;
  Entry *found = string_map_find(&registry->map, name);
  bool ok = found && complete(registry, found, &ignored);
  unlock(registry);
  return validate(registry, validator, validator_arg, &ignored) && ok ? &found->op : NULL;
}

static int compare_names(const void *a, const void *b) {
  return strcmp((*(OpDef *const *)a)->name, (*(OpDef *const *)b)->name);
}

static bool collect(OpRegistry *registry, bool include_internal, Arena *arena, OpList **list,
                    Status *status) {
  OpList *result = proto_new(kOpList, arena);
  if (!result) return status_oom(status, "the list of ops");
  bool ok = true;
  lock(registry);
  end_deferral(registry);
  for (int64_t i = 0; ok && i < registry->map.num_entries; i++) {
    const StringMapEntry *slot = &registry->map.entries[i];
    if (!slot->key || (slot->key[0] == '_' && !include_internal)) continue;
    Entry *entry = slot->value;
    ok = complete(registry, entry, status) &&
         proto_append(arena, (void ***)&result->op, &result->n_op, (void *)entry->op.def, status);
  }
  unlock(registry);
  *list = result;
  return ok;
}

bool op_registry_registered_ops(OpRegistry *registry, Arena *arena, OpList **list, Status *status) {
  return collect(registry, true, arena, list, status);
}

bool op_registry_export(OpRegistry *registry, bool include_internal, Arena *arena, OpList **list,
                        Status *status) {
  TRY(collect(registry, include_internal, arena, list, status));
  if ((*list)->n_op > 0) qsort((*list)->op, (*list)->n_op, sizeof *(*list)->op, compare_names);
  return true;
}

bool op_registry_print(OpRegistry *registry, bool include_internal, StrBuf *out, Status *status) {
  Arena *arena = arena_new();
  OpList *list;
  bool ok = (arena || status_oom(status, "the list of ops")) &&
            op_registry_export(registry, include_internal, arena, &list, status);
  for (size_t i = 0; ok && i < list->n_op; i++) {
    op_def_summarize(list->op[i], out);
    strbuf_append_char(out, '\n');
  }
  arena_free(arena);
  return ok && strbuf_ok(out, status);
}

bool op_registry_find_part(OpRegistry *registry, Str name, EnginePart *part) {
  lock(registry);
  const Entry *found = string_map_find_bytes(&registry->map, name.data, name.length);
  if (found) *part = found->part;
  unlock(registry);
  return found;
}

int op_registry_count(OpRegistry *registry) {
  lock(registry);
  end_deferral(registry);
  int count = (int)registry->map.count;
  unlock(registry);
  return count;
}

const char *op_registry_name(OpRegistry *registry, int i) {
  const char *name = NULL;
  lock(registry);
  end_deferral(registry);
  const StringMap *map = &registry->map;
  bool dense = map->count == map->num_entries;
  if (dense && i >= 0 && i < map->num_entries) name = map->entries[i].key;
  for (int64_t k = 0; !dense && k < map->num_entries; k++) {
    if (map->entries[k].key && i-- == 0) name = map->entries[k].key;
  }
  unlock(registry);
  return name;
}
