#include "op/resource.h"

#include <string.h>

#include "base/alloc.h"
#include "harness.h"

/* A resource that is not a variable. */
typedef struct Table {
  Resource resource;
  bool *destroyed;
} Table;

static void destroy_table(TensorObject *object) {
  *((Table *)object)->destroyed = true;
  mem_free(object);
}

static Table *new_table(bool *destroyed) {
  Table *table = mem_calloc(1, sizeof *table);
  atomic_init(&table->resource.object.references, 1);
  table->resource.object.destroy = destroy_table;
  table->resource.type_name = "Table";
  table->destroyed = destroyed;
  *destroyed = false;
  return table;
}

/* A DT_RESOURCE scalar with a handle to the resource (NULL: one that does not exist yet). */
static bool handle_tensor(Resource *resource, Tensor *tensor, Status *status) {
  ResourceHandle *handle;
  TRY(tensor_allocate_dims(tensor, DT_RESOURCE, 0, NULL, NULL, status));
  TRY(resource_handle_new(str_of("c"), str_of("v"), resource, &handle, status));
  ((ResourceHandle **)tensor->data)[0] = handle;
  return true;
}

static bool assign(Variable *variable, float value, Status *status) {
  TRY(tensor_allocate_dims(&variable->value, DT_FLOAT, 0, NULL, NULL, status));
  *tensor_f32(&variable->value) = value;
  return true;
}

TEST(variables_are_found_by_container_and_name) {
  Status status;
  status_init(&status);
  ResourceManager *manager = resource_manager_new();
  Variable *a, *again, *other, *elsewhere;
  CHECK_OK(resource_manager_variable(manager, str_of("c"), str_of("v"), DT_FLOAT, &a, &status), status);
  CHECK(tensor_is_empty(&a->value));
  CHECK_INT_EQ(a->dtype, DT_FLOAT);
  CHECK_STR_EQ(a->resource.type_name, "Variable");
  CHECK_OK(resource_manager_variable(manager, str_of("c"), str_of("v"), DT_FLOAT, &again, &status), status);
  CHECK(again == a);
  CHECK_OK(resource_manager_variable(manager, str_of("c"), str_of("w"), DT_FLOAT, &other, &status), status);
  CHECK_OK(resource_manager_variable(manager, str_of(""), str_of("cv"), DT_FLOAT, &elsewhere, &status),
           status);
  CHECK(other != a && elsewhere != a && elsewhere != other);
  char longer[400];
  memset(longer, 'x', sizeof longer);
  CHECK_OK(resource_manager_variable(manager, str_of("c"), (Str){longer, 399}, DT_FLOAT, &a, &status),
           status);
  CHECK_OK(resource_manager_variable(manager, str_of("c"), (Str){longer, 400}, DT_FLOAT, &other, &status),
           status);
  CHECK_OK(resource_manager_variable(manager, str_of("c"), (Str){longer, 399}, DT_FLOAT, &again, &status),
           status);
  CHECK(a != other && a == again);
  resource_manager_free(manager);
  resource_manager_free(NULL);
}

TEST(finding_a_variable_allocates_nothing) {
  Status status;
  status_init(&status);
  ResourceManager *manager = resource_manager_new();
  Variable *variable;
  CHECK_OK(resource_manager_variable(manager, str_of("c"), str_of("v"), DT_FLOAT, &variable, &status),
           status);
  int64_t before = mem_allocation_count();
  CHECK_OK(resource_manager_variable(manager, str_of("c"), str_of("v"), DT_FLOAT, &variable, &status),
           status);
  CHECK_INT_EQ(mem_allocation_count() - before, 0);
  resource_manager_free(manager);
}

TEST(names_that_hold_something_else) {
  Status status;
  status_init(&status);
  bool destroyed;
  ResourceManager *manager = resource_manager_new();
  Table *table = new_table(&destroyed), *second = new_table(&destroyed);
  Variable *variable;
  CHECK_OK(resource_manager_add(manager, str_of("c"), str_of("t"), &table->resource, &status), status);
  CHECK_ERROR(resource_manager_variable(manager, str_of("c"), str_of("t"), DT_FLOAT, &variable, &status),
              status, CODE_INVALID_ARGUMENT,
              "Trying to access resource using the wrong type. Expected Variable got Table");
  CHECK(!variable);
  CHECK_ERROR(resource_manager_add(manager, str_of("c"), str_of("t"), &second->resource, &status), status,
              CODE_ALREADY_EXISTS, "Resource c/t/Table");
  CHECK_OK(resource_manager_variable(manager, str_of("c"), str_of("v"), DT_FLOAT, &variable, &status),
           status);
  CHECK_ERROR(resource_manager_variable(manager, str_of("c"), str_of("v"), DT_INT32, &variable, &status),
              status, CODE_INVALID_ARGUMENT,
              "Trying to access variable v with dtype int32, but it has dtype float");
  CHECK_ERROR(resource_manager_variable(manager, str_of("c"), str_of("r"), DT_RESOURCE, &variable, &status),
              status, CODE_INVALID_ARGUMENT, "Variable r cannot have dtype resource");
  CHECK_ERROR(resource_manager_variable(manager, str_of("c"), str_of("r"), (DataType)(DT_FLOAT + DT_REF),
                                        &variable, &status),
              status, CODE_INVALID_ARGUMENT, "Variable r cannot have dtype float_ref");
  tensor_object_unref(&second->resource.object);
  CHECK(destroyed);
  destroyed = false;
  tensor_object_unref(&table->resource.object);
  CHECK(!destroyed); /* the manager holds it */
  resource_manager_free(manager);
  CHECK(destroyed);
}

TEST(handles_lead_to_their_variable) {
  Status status;
  status_init(&status);
  ResourceManager *manager = resource_manager_new();
  Variable *variable, *found;
  Tensor handle = {0};
  CHECK_OK(resource_manager_variable(manager, str_of("c"), str_of("v"), DT_FLOAT, &variable, &status),
           status);
  REQUIRE_OK(handle_tensor(&variable->resource, &handle, &status), status);
  CHECK_OK(tensor_variable(&handle, &found, &status), status);
  CHECK(found == variable);
  CHECK_STR_EQ((*(ResourceHandle **)handle.data)->container, "c");
  CHECK_STR_EQ((*(ResourceHandle **)handle.data)->name, "v");
  tensor_clear(&handle);
  resource_manager_free(manager);
}

TEST(tensors_that_lead_to_no_variable) {
  Status status;
  status_init(&status);
  Variable *variable;
  Tensor tensor = {0};
  CHECK_OK(tensor_allocate_dims(&tensor, DT_FLOAT, 0, NULL, NULL, &status), status);
  CHECK_ERROR(tensor_variable(&tensor, &variable, &status), status, CODE_INVALID_ARGUMENT,
              "Expected a resource handle, but got a tensor of type float");
  CHECK_OK(tensor_allocate_dims(&tensor, DT_RESOURCE, 1, (int64_t[]){0}, NULL, &status), status);
  CHECK_ERROR(tensor_variable(&tensor, &variable, &status), status, CODE_INVALID_ARGUMENT, "has shape: [0]");
  CHECK_OK(tensor_allocate_dims(&tensor, DT_RESOURCE, 0, NULL, NULL, &status), status);
  CHECK_ERROR(tensor_variable(&tensor, &variable, &status), status, CODE_FAILED_PRECONDITION,
              "uninitialized");
  REQUIRE_OK(handle_tensor(NULL, &tensor, &status), status);
  CHECK_ERROR(tensor_variable(&tensor, &variable, &status), status, CODE_FAILED_PRECONDITION,
              "Error while reading resource variable v from Container: c.");
  bool destroyed;
  Table *table = new_table(&destroyed);
  REQUIRE_OK(handle_tensor(&table->resource, &tensor, &status), status);
  tensor_object_unref(&table->resource.object);
  CHECK_ERROR(tensor_variable(&tensor, &variable, &status), status, CODE_INVALID_ARGUMENT,
              "Trying to access resource using the wrong type. Expected Variable got Table");
  CHECK(!variable);
  tensor_clear(&tensor);
  CHECK(destroyed);
}

/* Handles and manager may be freed in any order. */
TEST(variables_live_as_long_as_somebody_holds_them) {
  for (int order = 0; order < 2; order++) {
    Status status;
    status_init(&status);
    ResourceManager *manager = resource_manager_new();
    Variable *variable;
    Tensor handle = {0}, shared = {0};
    CHECK_OK(resource_manager_variable(manager, str_of("c"), str_of("v"), DT_FLOAT, &variable, &status),
             status);
    CHECK_OK(assign(variable, 4.5f, &status), status);
    REQUIRE_OK(handle_tensor(&variable->resource, &handle, &status), status);
    CHECK_OK(tensor_assign(&shared, &handle, &status), status);
    tensor_clear(&handle);
    if (order == 0) {
      resource_manager_free(manager);
      CHECK_OK(tensor_variable(&shared, &variable, &status), status);
      CHECK_NEAR(*tensor_f32(&variable->value), 4.5, 0);
      tensor_clear(&shared);
    } else {
      tensor_clear(&shared);
      CHECK_NEAR(*tensor_f32(&variable->value), 4.5, 0);
      resource_manager_free(manager);
    }
  }
}

TEST(updates_copy_only_what_is_shared) {
  Status status;
  status_init(&status);
  ResourceManager *manager = resource_manager_new();
  Variable *variable;
  Tensor read = {0};
  CHECK_OK(resource_manager_variable(manager, str_of("c"), str_of("v"), DT_FLOAT, &variable, &status),
           status);
  CHECK_ERROR(variable_prepare_update(variable, "v", 7, NULL, &status), status, CODE_FAILED_PRECONDITION,
              "Attempting to use uninitialized value v");
  CHECK_OK(assign(variable, 1, &status), status);
  void *data = variable->value.data;
  CHECK_OK(variable_prepare_update(variable, "v", 7, NULL, &status), status);
  CHECK(variable->value.data == data);
  CHECK_OK(tensor_assign(&read, &variable->value, &status), status);
  CHECK_OK(variable_prepare_update(variable, "v", 7, NULL, &status), status);
  CHECK(variable->value.data != data && read.data == data);
  *tensor_f32(&variable->value) = 2;
  CHECK_NEAR(*tensor_f32(&read), 1, 0);
  tensor_clear(&read);
  resource_manager_free(manager);
}

TEST(resources_survive_want_of_memory) {
  Status status;
  status_init(&status);
  int failures = 0;
  for (int64_t successes = 0;; successes++) {
    CHECK_CONTEXT("after %d allocations", (int)successes);
    char name[300];
    memset(name, 'n', sizeof name);
    Variable *variable = NULL;
    Tensor handle = {0};
    mem_fail_after(successes);
    ResourceManager *manager = resource_manager_new();
    bool ok = manager || status_oom(&status, "test");
    ok = ok && resource_manager_variable(manager, str_of("c"), (Str){name, sizeof name}, DT_FLOAT, &variable,
                                         &status);
    ok = ok && assign(variable, 1, &status) && handle_tensor(&variable->resource, &handle, &status);
    mem_fail_after(-1);
    if (!ok) CHECK_INT_EQ(status.code, CODE_RESOURCE_EXHAUSTED);
    if (ok) CHECK(variable && handle.data);
    failures += !ok;
    resource_manager_free(manager);
    tensor_clear(&handle);
    if (ok || !CHECK(successes < 1000)) break;
  }
  CHECK(failures > 0);
}

TEST(a_manager_that_is_not_there_is_freed_all_the_same) { resource_manager_free(NULL); }

/* --- resources of one step --- */

/* A resource that holds another one, or itself, until it is closed. */
typedef struct Holder {
  Resource resource;
  TensorObject *held;
  int *closed, *destroyed;
} Holder;

static void close_holder(Resource *resource) {
  Holder *holder = (Holder *)resource;
  ++*holder->closed;
  if (holder->held) tensor_object_unref(holder->held);
  holder->held = NULL;
}

static void destroy_holder(TensorObject *object) {
  ++*((Holder *)object)->destroyed;
  mem_free(object);
}

static Holder *new_holder(int *closed, int *destroyed) {
  Holder *holder = mem_calloc(1, sizeof *holder);
  atomic_init(&holder->resource.object.references, 1);
  holder->resource.object.destroy = destroy_holder;
  holder->resource.type_name = "Holder";
  holder->resource.close = close_holder;
  holder->closed = closed;
  holder->destroyed = destroyed;
  return holder;
}

TEST(resources_that_hold_each_other_end_with_their_step) {
  enum { COUNT = 100000 };
  Status status;
  status_init(&status);
  int closed = 0, destroyed = 0, other_closed = 0, other_destroyed = 0;
  ResourceManager *manager = resource_manager_new();
  TensorObject *first = NULL, *last = NULL;
  Holder *other = new_holder(&other_closed, &other_destroyed);
  REQUIRE_OK(resource_manager_keep_for_step(manager, 8, &other->resource, &status), &status);
  tensor_object_unref(&other->resource.object);
  for (int i = 0; i < COUNT; i++) {
    Holder *holder = new_holder(&closed, &destroyed);
    REQUIRE_OK(resource_manager_keep_for_step(manager, 7, &holder->resource, &status), &status);
    holder->held = last; /* takes the reference over */
    last = &holder->resource.object;
    if (!first) first = last;
  }
  ((Holder *)first)->held = last; /* a ring */
  resource_manager_end_step(manager, 7);
  CHECK_INT_EQ(closed, COUNT);
  CHECK_INT_EQ(destroyed, COUNT);
  CHECK_INT_EQ(other_closed, 0);
  resource_manager_end_step(manager, 8);
  CHECK_INT_EQ(other_destroyed, 1);
  resource_manager_free(manager);
}

TEST(handles_of_other_resources_are_refused) {
  Status status;
  status_init(&status);
  bool destroyed;
  Table *table = new_table(&destroyed);
  Tensor handle = {0};
  Resource *found;
  REQUIRE_OK(handle_tensor(&table->resource, &handle, &status), &status);
  CHECK_OK(tensor_resource(&handle, "Table", &found, &status), &status);
  CHECK(found == &table->resource);
  CHECK_ERROR(tensor_resource(&handle, "Stack", &found, &status), status, CODE_INVALID_ARGUMENT,
              "Trying to access resource using the wrong type. Expected Stack got Table");
  CHECK(!found);
  status_init(&status);
  CHECK_OK(reference_check(&handle, "table", &status), &status);
  tensor_clear(&handle);
  tensor_object_unref(&table->resource.object);
}
