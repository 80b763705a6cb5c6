/* The devices of sessions, as ConfigProto asks for them. */
#include <string.h>

#include "c_api/c_api_fixture.h"

/* NULL when the session cannot be made. */
static TF_Session *session_with(Fixture *f, const char *config, size_t length) {
  TF_SessionOptions *options = TF_NewSessionOptions();
  TF_SetConfig(options, config, length, f->status);
  CHECK_TF_OK(f->status);
  TF_Session *session = TF_NewSession(f->graph, options, f->status);
  TF_DeleteSessionOptions(options);
  return session;
}

#define SESSION_WITH(f, config) session_with(f, config, sizeof config - 1)

TEST(a_session_lists_as_many_cpus_as_device_count_says) {
  Fixture f;
  REQUIRE(begin(&f));
  /* device_count { "CPU": 2, "GPU": 3 } */
  TF_Session *session = SESSION_WITH(&f, "\x0a\x07\x0a\x03GPU\x10\x03\x0a\x07\x0a\x03\x43PU\x10\x02");
  CHECK_TF_OK(f.status);
  TF_DeviceList *list = TF_SessionListDevices(session, f.status);
  CHECK_TF_OK(f.status);
  TF_DeleteSession(session, f.status);
  CHECK_INT_EQ(TF_DeviceListCount(list), 2);
  CHECK_STR_EQ(TF_DeviceListName(list, 1, f.status), "/job:localhost/replica:0/task:0/device:CPU:1");
  CHECK_STR_EQ(TF_DeviceListType(list, 1, f.status), "CPU");
  CHECK_INT_EQ(TF_DeviceListMemoryBytes(list, 1, f.status), 268435456);
  CHECK(TF_DeviceListIncarnation(list, 0, f.status) != TF_DeviceListIncarnation(list, 1, f.status));
  CHECK_TF_OK(f.status);
  CHECK(!TF_DeviceListName(list, 2, f.status));
  CHECK_TF_ERROR(f.status, TF_INVALID_ARGUMENT, "index out of bounds");
  TF_DeleteDeviceList(list);
  end(&f);
}

TEST(device_count_of_other_types_leaves_one_cpu) {
  Fixture f;
  REQUIRE(begin(&f));
  /* device_count { "cpu": 3 } */
  TF_Session *session = SESSION_WITH(&f, "\x0a\x07\x0a\x03\x63pu\x10\x03");
  CHECK_TF_OK(f.status);
  TF_DeviceList *list = TF_SessionListDevices(session, f.status);
  CHECK_INT_EQ(TF_DeviceListCount(list), 1);
  TF_DeleteDeviceList(list);
  TF_DeleteSession(session, f.status);
  end(&f);
}

/* TensorFlow's words. */
TEST(a_session_without_devices_is_refused) {
  Fixture f;
  REQUIRE(begin(&f));
  CHECK(!SESSION_WITH(&f, "\x0a\x07\x0a\x03\x43PU\x10\x00"));
  CHECK_TF_ERROR(f.status, TF_NOT_FOUND, "No CPU devices are available in this process");
  /* -1 */
  CHECK(!SESSION_WITH(&f, "\x0a\x10\x0a\x03\x43PU\x10\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"));
  CHECK_TF_ERROR(f.status, TF_NOT_FOUND, "No CPU devices are available in this process");
  /* 2147483647 */
  CHECK(!SESSION_WITH(&f, "\x0a\x0b\x0a\x03\x43PU\x10\xff\xff\xff\xff\x07"));
  CHECK_TF_ERROR(f.status, TF_INVALID_ARGUMENT, "1 to 4096 devices");
  end(&f);
}

/* --- placement --- */

/* CODE of a run of a NoOp that asks for a device, in a session with this ConfigProto. */
static void run_on(Fixture *f, const char *device, const char *config, size_t length, TF_Code code,
                   const char *message) {
  CHECK_CONTEXT("%s", device);
  TF_Graph *graph = TF_NewGraph(), *own = f->graph;
  f->graph = graph;
  TF_OperationDescription *desc = TF_NewOperation(graph, "NoOp", "a");
  TF_SetDevice(desc, device);
  const TF_Operation *target = TF_FinishOperation(desc, f->status);
  CHECK_TF_OK(f->status);
  TF_Session *session = session_with(f, config, length);
  TF_SessionRun(session, NULL, NULL, NULL, 0, NULL, NULL, 0, &target, 1, NULL, f->status);
  if (code == TF_OK) {
    CHECK_TF_OK(f->status);
  } else {
    CHECK_TF_ERROR(f->status, code, message);
  }
  TF_DeleteSession(session, f->status);
  TF_DeleteGraph(graph);
  f->graph = own;
}

TEST(a_step_refuses_nodes_whose_device_there_is_not) {
  static const char kTwo[] = "\x0a\x07\x0a\x03\x43PU\x10\x02", kSoft[] = "\x38\x01";
  static const char kAssign[] =
      "Cannot assign a device for operation a: {{node a}} was explicitly assigned to ";
  Fixture f;
  REQUIRE(begin(&f));
  run_on(&f, "/cpu:0", "", 0, TF_OK, "");
  run_on(&f, "/cpu:1", "", 0, TF_INVALID_ARGUMENT, kAssign);
  run_on(&f, "/gpu:0", "", 0, TF_INVALID_ARGUMENT, kAssign);
  run_on(&f, "nowhere", "", 0, TF_INVALID_ARGUMENT,
         "Malformed device specification 'nowhere' in node: {name:'a'");
  run_on(&f, "/cpu:1", kTwo, sizeof kTwo - 1, TF_OK, "");
  run_on(&f, "/cpu:2", kTwo, sizeof kTwo - 1, TF_INVALID_ARGUMENT, kAssign);
  run_on(&f, "/cpu:2", kSoft, sizeof kSoft - 1, TF_OK, "");
  run_on(&f, "/gpu:0", kSoft, sizeof kSoft - 1, TF_OK, "");
  run_on(&f, "/job:other", kSoft, sizeof kSoft - 1, TF_INVALID_ARGUMENT, kAssign);
  end(&f);
}

/* As TensorFlow, which places the whole graph; and when the graph grows, it looks again. */
TEST(a_node_that_cannot_be_placed_stops_steps_that_do_not_need_it) {
  Fixture f;
  REQUIRE(begin(&f));
  TF_Session *session = SESSION_WITH(&f, "");
  const TF_Operation *a = TF_FinishOperation(TF_NewOperation(f.graph, "NoOp", "a"), f.status);
  TF_SessionRun(session, NULL, NULL, NULL, 0, NULL, NULL, 0, &a, 1, NULL, f.status);
  CHECK_TF_OK(f.status);
  TF_OperationDescription *desc = TF_NewOperation(f.graph, "NoOp", "b");
  TF_SetDevice(desc, "/cpu:9");
  TF_FinishOperation(desc, f.status);
  const TF_Operation *c = TF_FinishOperation(TF_NewOperation(f.graph, "NoOp", "c"), f.status);
  TF_SessionRun(session, NULL, NULL, NULL, 0, NULL, NULL, 0, &c, 1, NULL, f.status);
  CHECK_TF_ERROR(f.status, TF_INVALID_ARGUMENT, "Cannot assign a device for operation b");
  TF_DeleteSession(session, f.status);
  end(&f);
}
