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
