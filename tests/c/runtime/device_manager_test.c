/* Sessions that share the devices of a server: what one leaves on them, and what ends with it. */
#include "runtime/device_manager.h"

#include "ops/data/iterator_resource.h"
#include "runtime/session_fixture.h"

static const char kTask[] = "/job:worker/replica:0/task:1";

/* A client of the server: a graph of its own with a variable of the common name. */
typedef struct Client {
  Graph *graph;
  Session *session;
  NodeOutput handle;
  Node *initializer, *increment;
} Client;

static Client client_of(DeviceManager *manager, const char *container, Status *status) {
  Client client = {.graph = graph_new()};
  Attr variable[] = {{"dtype", "type: DT_FLOAT"}, {"shape", "shape { }"}, {"container", container}};
  Attr dtype[] = {{"dtype", "type: DT_FLOAT"}};
  client.session = session_new(client.graph, status);
  const PlacerOptions options = {.devices = device_manager_devices(manager)};
  session_place(client.session, &options);
  session_share(client.session, manager);
  client.handle = out(add_node(client.graph, "VarHandleOp", "v", NULL, 0, variable, 3));
  NodeOutput assigned[] = {client.handle, scalar(client.graph, "three", 3)};
  NodeOutput added[] = {client.handle, scalar(client.graph, "one", 1)};
  client.initializer = add_node(client.graph, "AssignVariableOp", "init", assigned, 2, dtype, 1);
  client.increment = add_node(client.graph, "AssignAddVariableOp", "add", added, 2, dtype, 1);
  add_node(client.graph, "ReadVariableOp", "read", &client.handle, 1, dtype, 1);
  return client;
}

static void client_end(Client *client) {
  session_free(client->session);
  graph_free(client->graph);
}

static bool run_client(Client *client, Node *target, Status *status) {
  return session_run(client->session, NULL, NULL, 0, NULL, NULL, 0, &target, 1, status);
}

/* The variable's value; -1 when it has none. */
static float value_of(Client *client) {
  Status status;
  status_init(&status);
  NodeOutput read = out(graph_find_node(client->graph, "read"));
  Tensor value = {0};
  if (!session_run(client->session, NULL, NULL, 0, &read, &value, 1, NULL, 0, &status)) {
    CHECK_INT_EQ(status.code, CODE_FAILED_PRECONDITION);
    return -1;
  }
  float result = *tensor_f32(&value);
  tensor_clear(&value);
  return result;
}

TEST(a_variable_is_there_for_the_next_session) {
  Status status;
  status_init(&status);
  DeviceManager *manager = device_manager_new(kTask, 1, &status);
  REQUIRE(manager);
  CHECK_STR_EQ(device_manager_devices(manager)->devices[0].name, "/job:worker/replica:0/task:1/device:CPU:0");
  Client first = client_of(manager, "s: ''", &status), second = client_of(manager, "s: ''", &status);
  Client elsewhere = client_of(manager, "s: 'mine'", &status);
  CHECK(value_of(&second) == -1);
  CHECK_OK(run_client(&first, first.initializer, &status), status);
  CHECK(value_of(&second) == 3);
  CHECK_OK(run_client(&second, second.increment, &status), status);
  CHECK(value_of(&first) == 4);
  CHECK(value_of(&elsewhere) == -1);
  client_end(&first);
  CHECK(value_of(&second) == 4);
  client_end(&second);
  Client third = client_of(manager, "s: ''", &status);
  CHECK(value_of(&third) == 4);
  client_end(&elsewhere);
  device_manager_unref(manager);
  CHECK(value_of(&third) == 4);
  client_end(&third);
}

TEST(containers_are_cleared_one_by_one) {
  Status status;
  status_init(&status);
  /* The default container has the name of the job. */
  static const char *const kCleared[] = {"", "worker", "mine", "nothing", "localhost"};
  for (int i = 0; i < 5; i++) {
    DeviceManager *manager = device_manager_new(kTask, 1, &status);
    REQUIRE(manager);
    Client unnamed = client_of(manager, "s: ''", &status), named = client_of(manager, "s: 'mine'", &status);
    CHECK_OK(run_client(&unnamed, unnamed.initializer, &status), status);
    CHECK_OK(run_client(&named, named.initializer, &status), status);
    client_end(&unnamed);
    client_end(&named);
    device_manager_clear(manager, kCleared[i]);
    unnamed = client_of(manager, "s: ''", &status);
    named = client_of(manager, "s: 'mine'", &status);
    CHECK(value_of(&unnamed) == (i < 2 ? -1 : 3));
    CHECK(value_of(&named) == (i == 2 ? -1 : 3));
    client_end(&unnamed);
    client_end(&named);
    device_manager_unref(manager);
  }
}

TEST(a_default_container_has_the_name_of_the_job) {
  Status status;
  status_init(&status);
  DeviceManager *manager = device_manager_new(kTask, 1, &status);
  REQUIRE(manager);
  Client unnamed = client_of(manager, "s: ''", &status), job = client_of(manager, "s: 'worker'", &status);
  Client local = client_of(manager, "s: 'localhost'", &status);
  CHECK_OK(run_client(&unnamed, unnamed.initializer, &status), status);
  CHECK(value_of(&job) == 3);
  CHECK(value_of(&local) == -1);
  client_end(&unnamed);
  client_end(&job);
  client_end(&local);
  device_manager_unref(manager);
}

/* The functions of an iterator's dataset belong to the session that made it. */
TEST(an_iterator_ends_with_the_session_whose_dataset_it_has) {
  Status status;
  status_init(&status);
  static const FunctionCaller kOurs, kTheirs;
  ResourceManager *manager = resource_manager_new();
  static const DataType kTypes[] = {DT_FLOAT};
  const TensorShapeProto shape = TENSORFLOW__TENSOR_SHAPE_PROTO__INIT, *shapes[] = {&shape};
  const FunctionCaller *callers[] = {&kOurs, &kTheirs, NULL};
  static const char *const kNames[] = {"ours", "theirs", "nobody's"};
  for (int i = 0; i < 3; i++) {
    IteratorResource *iterator = iterator_resource_new(str_of(kNames[i]), kTypes, shapes, 1, &status);
    REQUIRE(iterator);
    iterator->resource.caller = callers[i];
    CHECK_OK(resource_manager_add(manager, str_of(""), str_of(kNames[i]), &iterator->resource, &status),
             status);
    tensor_object_unref(&iterator->resource.object);
  }
  resource_manager_end_caller(manager, NULL);
  resource_manager_end_caller(manager, &kOurs);
  for (int i = 0; i < 3; i++) {
    Variable *variable;
    bool is_free =
        resource_manager_variable(manager, str_of(""), str_of(kNames[i]), DT_FLOAT, &variable, &status);
    CHECK(is_free == (i == 0));
    status_init(&status);
  }
  resource_manager_free(manager);
}

TEST(a_task_has_a_job_a_replica_and_a_number) {
  Status status;
  static const char *const kTasks[] = {"", "/job:worker", "/job:worker/replica:0", "worker",
                                       "/job:a/replica:0/task:x"};
  for (size_t i = 0; i < sizeof kTasks / sizeof kTasks[0]; i++) {
    status_init(&status);
    CHECK(!device_manager_new(kTasks[i], 1, &status));
    CHECK_INT_EQ(status.code, CODE_INVALID_ARGUMENT);
  }
  status_init(&status);
  CHECK(!device_manager_new(kTask, 0, &status));
  CHECK_INT_EQ(status.code, CODE_INVALID_ARGUMENT);
}

TEST(making_devices_survives_lack_of_memory) {
  DeviceManager *manager = NULL;
  for (int64_t after = 0; !manager; after++) {
    Status status;
    status_init(&status);
    mem_fail_after(after);
    manager = device_manager_new(kTask, 2, &status);
    mem_fail_after(-1);
    if (!manager) CHECK_INT_EQ(status.code, CODE_RESOURCE_EXHAUSTED);
  }
  device_manager_unref(manager);
}
