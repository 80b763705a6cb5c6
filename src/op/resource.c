#include "op/resource.h"

#include <sched.h>
#include <stdatomic.h>
#include <string.h>

#include "base/alloc.h"

static const char kVariable[] = "Variable";

/* --- variables --- */

static void destroy_variable(TensorObject *object) {
  Variable *variable = (Variable *)object;
  tensor_clear(&variable->value);
  shape_clear(&variable->declared);
  mem_free(variable);
}

Variable *variable_new(DataType dtype) {
  Variable *variable = mem_calloc(1, sizeof *variable);
  if (!variable) return NULL;
  atomic_init(&variable->resource.object.references, 1);
  variable->resource.object.destroy = destroy_variable;
  variable->resource.type_name = kVariable;
  variable->dtype = dtype;
  return variable;
}

static bool refuse_uninitialized(const char *name, Status *status) {
  return status_set(status, CODE_FAILED_PRECONDITION, "Attempting to use uninitialized value %s", name);
}

/* Copies the value if it is shared. */
static bool own_value(Variable *variable, BufferPool *pool, Status *status) {
  return buffer_is_unshared(variable->value.buffer) ||
         tensor_copy(&variable->value, &variable->value, pool, status);
}

static bool has_read(const Variable *variable, int64_t step_id) {
  return step_id != 0 && variable->read_in == step_id;
}

bool variable_prepare_update(Variable *variable, const char *name, int64_t step_id, BufferPool *pool,
                             Status *status) {
  if (tensor_is_empty(&variable->value)) return refuse_uninitialized(name, status);
  return has_read(variable, step_id) || own_value(variable, pool, status);
}

bool reference_assign(Variable *variable, const Tensor *value, bool may_take, int64_t step_id,
                      BufferPool *pool, Status *status) {
  Tensor *own = &variable->value;
  if (has_read(variable, step_id) && dtype_is_pod((int)value->dtype) &&
      shape_equal(&own->shape, &value->shape)) {
    if (own->data != value->data) memcpy(own->data, value->data, (size_t)tensor_bytes(value));
    return true;
  }
  TRY(may_take ? tensor_assign(own, value, status) : tensor_copy(own, value, pool, status));
  variable->read_in = 0;
  return true;
}

/* --- handles --- */

static void destroy_handle(TensorObject *object) {
  ResourceHandle *handle = (ResourceHandle *)object;
  if (handle->resource) tensor_object_unref(&handle->resource->object);
  mem_free(handle->container);
  mem_free(handle->name);
  mem_free(handle);
}

bool resource_handle_new(Str container, Str name, Resource *resource, ResourceHandle **handle,
                         Status *status) {
  *handle = NULL;
  ResourceHandle *made = mem_calloc(1, sizeof *made);
  if (!made) return status_oom(status, "a resource handle");
  atomic_init(&made->object.references, 1);
  made->object.destroy = destroy_handle;
  made->container = mem_strdup(container.data, container.length);
  made->name = mem_strdup(name.data, name.length);
  if (!made->container || !made->name) {
    tensor_object_unref(&made->object);
    return status_oom(status, "a resource handle");
  }
  made->resource = resource;
  if (resource) tensor_object_ref(&resource->object);
  *handle = made;
  return true;
}

bool resource_handle_tensor(Str container, Str name, Resource *resource, Tensor *tensor, Status *status) {
  Tensor made = {0};
  TRY(tensor_allocate_dims(&made, DT_RESOURCE, 0, NULL, NULL, status));
  ResourceHandle *handle;
  if (!resource_handle_new(container, name, resource, &handle, status)) {
    tensor_clear(&made);
    return false;
  }
  ((ResourceHandle **)made.data)[0] = handle; /* the tensor owns the reference now */
  tensor_clear(tensor);
  tensor_move(tensor, &made);
  return true;
}

static bool check_type(const Resource *resource, const char *type_name, Status *status) {
  return strcmp(resource->type_name, type_name) == 0 ||
         status_invalid(status, "Trying to access resource using the wrong type. Expected %s got %s",
                        type_name, resource->type_name);
}

bool tensor_resource(const Tensor *handle, const char *type_name, Resource **resource, Status *status) {
  *resource = NULL;
  if (handle->dtype != DT_RESOURCE) {
    return status_invalid(status, "Expected a resource handle, but got a tensor of type %s",
                          dtype_name((int)handle->dtype));
  }
  if (tensor_num_elements(handle) != 1) {
    char text[SHAPE_TEXT_CAPACITY];
    return status_invalid(status, "Resource handle must have 1 element, but has shape: %s",
                          shape_text(&handle->shape, text));
  }
  const ResourceHandle *element = ((ResourceHandle *const *)handle->data)[0];
  if (!element) {
    return status_set(status, CODE_FAILED_PRECONDITION, "The resource handle is uninitialized");
  }
  if (!element->resource) {
    return status_set(status, CODE_FAILED_PRECONDITION,
                      "Error while reading resource variable %s from Container: %s. This could mean that the "
                      "variable was "
                      "uninitialized.",
                      element->name, element->container);
  }
  TRY(check_type(element->resource, type_name, status));
  *resource = element->resource;
  return true;
}

bool tensor_variable(const Tensor *handle, Variable **variable, Status *status) {
  Resource *resource;
  *variable = NULL;
  TRY(tensor_resource(handle, kVariable, &resource, status));
  *variable = (Variable *)resource;
  return true;
}

bool reference_variable(const Tensor *reference, const char *name, Variable **variable, Status *status) {
  TRY(tensor_variable(reference, variable, status));
  return !tensor_is_empty(&(*variable)->value) || refuse_uninitialized(name, status);
}

bool reference_check(const Tensor *reference, const char *name, Status *status) {
  const ResourceHandle *element = ((ResourceHandle *const *)reference->data)[0];
  Variable *variable;
  if (element && element->resource && strcmp(element->resource->type_name, kVariable) != 0) return true;
  return reference_variable(reference, name, &variable, status);
}

bool reference_read(const Tensor *reference, const char *name, int64_t step_id, Tensor *value,
                    Status *status) {
  Variable *variable;
  TRY(reference_variable(reference, name, &variable, status));
  if (!has_read(variable, step_id)) {
    TRY(own_value(variable, NULL, status)); /* values that earlier steps have read stay as they are */
    variable->read_in = step_id;
  }
  return tensor_assign(value, &variable->value, status);
}

/* --- the manager --- */

/* A resource variable, a reference variable and a queue may have the same name: keys end with one of these,
 * or with the name of a type. */
static const char kResources[] = "", kReferences[] = "reference";

/* A named resource, followed by its key in the map. */
typedef struct Entry {
  Resource *resource; /* one reference */
  char key[];         /* the container, a zero byte, the name, a zero byte, the name space */
} Entry;

/* A resource of a step; those without a name are found through their handles alone. */
typedef struct Temporary {
  struct Temporary *next;
  int64_t step_id;
  Resource *resource; /* one reference */
  size_t length;
  char name[];
} Temporary;

struct ResourceManager {
  atomic_flag lock; /* kernels look up resources concurrently, but rarely: when they first run */
  StringMap entries;
  char *container;            /* the default one */
  Temporary *temporaries;     /* newest first; few exist at the same time */
  atomic_int num_temporaries; /* lets most steps end without locking */
};

static void lock_manager(ResourceManager *manager) {
  while (atomic_flag_test_and_set_explicit(&manager->lock, memory_order_acquire)) sched_yield();
}

static void unlock_manager(ResourceManager *manager) {
  atomic_flag_clear_explicit(&manager->lock, memory_order_release);
}

ResourceManager *resource_manager_new(void) { return resource_manager_new_with(str_of(LOCAL_CONTAINER)); }

ResourceManager *resource_manager_new_with(Str container) {
  ResourceManager *manager = mem_calloc(1, sizeof *manager);
  if (!manager) return NULL;
  atomic_flag_clear(&manager->lock);
  manager->container = mem_strdup(container.data, container.length);
  if (manager->container) return manager;
  mem_free(manager);
  return NULL;
}

Str resource_manager_container(const ResourceManager *manager, Str container) {
  return container.length > 0 ? container : str_of(manager->container);
}

static bool is_made(const Entry *entry) {
  bool is_variable = strcmp(entry->resource->type_name, kVariable) == 0;
  return !is_variable || !tensor_is_empty(&((const Variable *)entry->resource)->value);
}

bool resource_manager_has_container(ResourceManager *manager, Str container) {
  bool found = false;
  container = resource_manager_container(manager, container);
  lock_manager(manager);
  for (int64_t i = 0; !found && i < manager->entries.num_entries; i++) {
    const StringMapEntry *at = &manager->entries.entries[i];
    found = at->key && str_equal(str_of(at->key), container) && is_made(at->value);
  }
  unlock_manager(manager);
  return found;
}

static void close_and_free(Entry *entry) {
  Variable *variable =
      strcmp(entry->resource->type_name, kVariable) == 0 ? (Variable *)entry->resource : NULL;
  if (variable && variable->dtype == DT_VARIANT) tensor_clear(&variable->value);
  if (entry->resource->close) entry->resource->close(entry->resource);
  tensor_object_unref(&entry->resource->object);
  mem_free(entry);
}

/* What resource_manager_clear and resource_manager_end_caller forget. */
typedef struct Selection {
  Str container;
  const struct FunctionCaller *caller; /* NULL: all of the container */
} Selection;

static bool is_selected(const Entry *entry, const Selection *selection) {
  if (selection->caller) return entry->resource->caller == selection->caller;
  return str_equal(str_of(entry->key), selection->container);
}

/* Takes an entry out of the table; NULL when no other one is selected. Closing may call the manager, so that
 * the lock is not held then. */
static Entry *take_selected(ResourceManager *manager, const Selection *selection) {
  Entry *found = NULL;
  lock_manager(manager);
  for (int64_t i = 0; !found && i < manager->entries.num_entries; i++) {
    const StringMapEntry *at = &manager->entries.entries[i];
    if (at->key && is_selected(at->value, selection))
      found = string_map_remove_bytes(&manager->entries, at->key, at->key_length);
  }
  unlock_manager(manager);
  return found;
}

static void forget(ResourceManager *manager, const Selection *selection) {
  for (Entry *entry; (entry = take_selected(manager, selection));) close_and_free(entry);
}

void resource_manager_clear(ResourceManager *manager, Str container) {
  forget(manager, &(Selection){.container = resource_manager_container(manager, container)});
}

void resource_manager_end_caller(ResourceManager *manager, const struct FunctionCaller *caller) {
  if (caller) forget(manager, &(Selection){.caller = caller});
}

void resource_manager_free(ResourceManager *manager) {
  if (!manager) return;
  for (int64_t i = 0; i < manager->entries.num_entries; i++) {
    if (manager->entries.entries[i].key) close_and_free(manager->entries.entries[i].value);
  }
  while (manager->temporaries) resource_manager_end_step(manager, manager->temporaries->step_id);
  string_map_free(&manager->entries);
  mem_free(manager->container);
  mem_free(manager);
}

/* Keys of ordinary length are built on the stack, so that a look-up allocates nothing. */
typedef struct Key {
  char *bytes;
  size_t length;
  char small[256];
} Key;

static bool make_key(const ResourceManager *manager, Key *key, const char *space, Str container, Str name,
                     Status *status) {
  container = resource_manager_container(manager, container);
  size_t space_length = strlen(space);
  key->length = container.length + 1 + name.length + 1 + space_length;
  key->bytes = key->length <= sizeof key->small ? key->small : mem_alloc((int64_t)key->length);
  if (!key->bytes) return status_oom(status, "a resource");
  if (container.length > 0) memcpy(key->bytes, container.data, container.length);
  key->bytes[container.length] = '\0';
  if (name.length > 0) memcpy(key->bytes + container.length + 1, name.data, name.length);
  key->bytes[container.length + 1 + name.length] = '\0';
  memcpy(key->bytes + key->length - space_length, space, space_length);
  return true;
}

static void free_key(Key *key) {
  if (key->bytes != key->small) mem_free(key->bytes);
}

static Resource *find(const ResourceManager *manager, const Key *key) {
  const Entry *entry = string_map_find_bytes(&manager->entries, key->bytes, key->length);
  return !entry ? NULL : entry->resource;
}

/* Consumes the caller's reference on success. */
static bool insert(ResourceManager *manager, const Key *key, Resource *resource, Status *status) {
  Entry *entry = mem_alloc((int64_t)sizeof *entry + (int64_t)key->length);
  if (!entry) return status_oom(status, "a resource");
  entry->resource = resource;
  memcpy(entry->key, key->bytes, key->length);
  if (string_map_set_bytes(&manager->entries, entry->key, key->length, entry, status)) return true;
  mem_free(entry);
  return false;
}

bool resource_manager_add(ResourceManager *manager, Str container, Str name, Resource *resource,
                          Status *status) {
  Key key;
  TRY(make_key(manager, &key, kResources, container, name, status));
  lock_manager(manager);
  const Resource *existing = find(manager, &key);
  bool ok = false;
  if (existing) {
    status_set(status, CODE_ALREADY_EXISTS, "Resource %.*s/%.*s/%s", (int)container.length, container.data,
               (int)name.length, name.data, existing->type_name);
  } else if (insert(manager, &key, resource, status)) {
    tensor_object_ref(&resource->object);
    ok = true;
  }
  unlock_manager(manager);
  free_key(&key);
  return ok;
}

/* A variable whose shape has no elements is initialised from the start. */
static bool declare(Variable *variable, const Shape *declared, Status *status) {
  if (!declared) return true;
  TRY(shape_copy(&variable->declared, declared, status));
  return declared->rank == 0 || shape_num_elements(declared) != 0 ||
         tensor_allocate(&variable->value, variable->dtype, declared, NULL, status);
}

/* The lock must be held. */
static bool find_or_make(ResourceManager *manager, const Key *key, DataType dtype, const Shape *declared,
                         Resource **resource, Status *status) {
  *resource = find(manager, key);
  if (*resource) return true;
  Variable *made = variable_new(dtype);
  if (!made) return status_oom(status, "a variable");
  if (!declare(made, declared, status) || !insert(manager, key, &made->resource, status)) {
    tensor_object_unref(&made->resource.object);
    return false;
  }
  *resource = &made->resource;
  return true;
}

static bool find_variable(ResourceManager *manager, const char *space, Str container, Str name,
                          DataType dtype, const Shape *declared, Variable **variable, Status *status) {
  *variable = NULL;
  /* A variable of handles could form chains and cycles of references. */
  if (!dtype_is_valid((int)dtype) || dtype_is_ref((int)dtype) || dtype == DT_RESOURCE) {
    return status_invalid(status, "Variable %.*s cannot have dtype %s", (int)name.length, name.data,
                          dtype_name((int)dtype));
  }
  Key key;
  TRY(make_key(manager, &key, space, container, name, status));
  Resource *found;
  lock_manager(manager);
  bool ok = find_or_make(manager, &key, dtype, declared, &found, status);
  unlock_manager(manager);
  free_key(&key);
  if (!ok) return false;
  TRY(check_type(found, kVariable, status));
  Variable *holder = (Variable *)found;
  if (holder->dtype != dtype) {
    return status_invalid(status, "Trying to access variable %.*s with dtype %s, but it has dtype %s",
                          (int)name.length, name.data, dtype_name((int)dtype),
                          dtype_name((int)holder->dtype));
  }
  *variable = holder;
  return true;
}

bool resource_manager_variable(ResourceManager *manager, Str container, Str name, DataType dtype,
                               Variable **variable, Status *status) {
  return find_variable(manager, kResources, container, name, dtype, NULL, variable, status);
}

bool resource_manager_reference(ResourceManager *manager, Str container, Str name, DataType dtype,
                                const Shape *declared, Variable **variable, Status *status) {
  return find_variable(manager, kReferences, container, name, dtype, declared, variable, status);
}

/* The lock must be held. */
static Resource *add_made(ResourceManager *manager, const Key *key, Resource *made, Status *status) {
  if (!made || insert(manager, key, made, status)) return made;
  tensor_object_unref(&made->object);
  return NULL;
}

bool resource_manager_find_or_make(ResourceManager *manager, Str container, Str name, const char *type_name,
                                   Resource *(*make)(void *argument, Status *status), void *argument,
                                   Resource **resource, Status *status) {
  Key key;
  TRY(make_key(manager, &key, type_name, container, name, status));
  lock_manager(manager);
  *resource = find(manager, &key);
  if (!*resource) *resource = add_made(manager, &key, make(argument, status), status);
  unlock_manager(manager);
  free_key(&key);
  return *resource;
}

/* --- resources of one step --- */

static bool report_temporary(Code code, int64_t step_id, Str name, const char *what, Status *status) {
  return status_set(status, code, "Resource __per_step_%lld/%.*s/TmpVar%s", (long long)step_id,
                    (int)name.length, name.data, what);
}

/* The link to the step's variable of that name; under the lock. */
static Temporary **find_temporary(ResourceManager *manager, int64_t step_id, Str name) {
  Temporary **link = &manager->temporaries;
  for (; *link; link = &(*link)->next) {
    const Temporary *at = *link;
    if (at->step_id == step_id && at->length > 0 && str_equal((Str){at->name, at->length}, name)) break;
  }
  return link;
}

/* What is behind a link; under the lock. */
static Temporary *take_temporary(ResourceManager *manager, Temporary **link) {
  Temporary *found = *link;
  if (!found) return NULL;
  *link = found->next;
  atomic_fetch_sub_explicit(&manager->num_temporaries, 1, memory_order_relaxed);
  return found;
}

/* Without the lock: what its value holds may be large. */
static void free_temporary(Temporary *temporary) {
  tensor_object_unref(&temporary->resource->object);
  mem_free(temporary);
}

/* An empty name is always free. */
static bool keep(ResourceManager *manager, int64_t step_id, Str name, Resource *resource, Status *status) {
  Temporary *made = mem_alloc((int64_t)(sizeof *made + name.length));
  if (!made) return status_oom(status, "a resource of a step");
  *made = (Temporary){.step_id = step_id, .resource = resource, .length = name.length};
  if (name.length > 0) memcpy(made->name, name.data, name.length);
  lock_manager(manager);
  bool is_free = name.length == 0 || !*find_temporary(manager, step_id, name);
  if (is_free) {
    tensor_object_ref(&resource->object);
    made->next = manager->temporaries;
    manager->temporaries = made;
    atomic_fetch_add_explicit(&manager->num_temporaries, 1, memory_order_relaxed);
  }
  unlock_manager(manager);
  if (is_free) return true;
  mem_free(made);
  return report_temporary(CODE_ALREADY_EXISTS, step_id, name, "", status);
}

bool resource_manager_add_temporary(ResourceManager *manager, int64_t step_id, Str name, Variable *variable,
                                    Status *status) {
  return keep(manager, step_id, name, &variable->resource, status);
}

bool resource_manager_keep_for_step(ResourceManager *manager, int64_t step_id, Resource *resource,
                                    Status *status) {
  return keep(manager, step_id, str_of(""), resource, status);
}

bool resource_manager_remove_temporary(ResourceManager *manager, int64_t step_id, Str name, Status *status) {
  lock_manager(manager);
  Temporary *found = take_temporary(manager, find_temporary(manager, step_id, name));
  unlock_manager(manager);
  if (!found) return report_temporary(CODE_NOT_FOUND, step_id, name, " does not exist.", status);
  free_temporary(found);
  return true;
}

/* The resources of a step, the oldest first. */
static Temporary *take_all(ResourceManager *manager, int64_t step_id) {
  Temporary *all = NULL;
  lock_manager(manager);
  for (Temporary **link = &manager->temporaries; *link;) {
    if ((*link)->step_id != step_id) {
      link = &(*link)->next;
      continue;
    }
    Temporary *found = take_temporary(manager, link);
    found->next = all;
    all = found;
  }
  unlock_manager(manager);
  return all;
}

void resource_manager_end_step(ResourceManager *manager, int64_t step_id) {
  if (!manager || atomic_load_explicit(&manager->num_temporaries, memory_order_relaxed) == 0) return;
  Temporary *all = take_all(manager, step_id);
  /* All of them are still referred to: closing one frees no other, however long a chain they form. */
  for (const Temporary *at = all; at; at = at->next) {
    if (at->resource->close) at->resource->close(at->resource);
  }
  for (Temporary *next; all; all = next) {
    next = all->next;
    free_temporary(all);
  }
}
