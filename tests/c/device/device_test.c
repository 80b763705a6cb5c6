#include "device/device.h"

#include <string.h>

#include "harness.h"
#include "shortage.h"

TEST(a_session_has_as_many_cpus_as_it_asks_for) {
  Status status;
  status_init(&status);
  DeviceSet *set, *other;
  REQUIRE_OK(device_set_new(LOCAL_TASK, 3, &set, &status), status);
  REQUIRE_OK(device_set_new(LOCAL_TASK, 1, &other, &status), status);
  CHECK_INT_EQ(set->count, 3);
  CHECK_STR_EQ(set->devices[0].name, DEFAULT_DEVICE_NAME);
  CHECK_STR_EQ(set->devices[2].name, "/job:localhost/replica:0/task:0/device:CPU:2");
  CHECK_STR_EQ(set->devices[2].type, "CPU");
  CHECK_STR_EQ(set->devices[2].physical_description, "");
  CHECK_INT_EQ(set->devices[2].memory_limit, 268435456);
  CHECK_INT_EQ(set->devices[2].parsed.id, 2);
  CHECK(device_incarnation(&other->devices[0]) > 0);
  for (int i = 0; i < 3; i++) {
    CHECK(device_incarnation(&set->devices[i]) == device_incarnation(&set->devices[i]));
    CHECK(device_incarnation(&set->devices[i]) != device_incarnation(&other->devices[0]));
    CHECK(device_incarnation(&set->devices[i]) != device_incarnation(&set->devices[(i + 1) % 3]));
  }
  device_set_unref(other);
  device_set_unref(device_set_ref(set));
  device_set_unref(set);
  device_set_unref(NULL);
}

TEST(there_is_at_least_one_device_and_not_more_than_the_most) {
  Status status;
  DeviceSet *set;
  static const int kCounts[] = {0, -1, MAX_DEVICES + 1, INT32_MAX};
  for (size_t i = 0; i < sizeof kCounts / sizeof kCounts[0]; i++) {
    status_init(&status);
    CHECK_ERROR(device_set_new(LOCAL_TASK, kCounts[i], &set, &status), status, CODE_INVALID_ARGUMENT,
                "1 to 4096");
  }
}

TEST(devices_of_other_tasks_are_behind_the_own_ones) {
  static const char *const kNames[] = {"/job:ps/replica:0/task:0/device:CPU:0",
                                       "/job:ps/replica:0/task:1/device:CPU:0"};
  static const char *const kTwice[] = {"/job:ps/replica:0/task:0/device:CPU:0",
                                       "/job:ps/replica:0/task:0/device:CPU:0"};
  static const char *const kMalformed[] = {"/job:ps/device:CPU:0", "ps"};
  static const uint64_t kIncarnations[] = {7, UINT64_MAX};
  Status status;
  status_init(&status);
  DeviceSet *own, *all;
  REQUIRE_OK(device_set_new("/job:worker/replica:0/task:0", 2, &own, &status), status);
  if (CHECK_OK(device_set_join(own, kNames, kIncarnations, 2, &all, &status), status)) {
    CHECK_INT_EQ(all->count, 4);
    for (int i = 0; i < 2; i++) {
      CHECK_STR_EQ(all->devices[i].name, own->devices[i].name);
      CHECK(device_incarnation(&all->devices[i]) == device_incarnation(&own->devices[i]));
      CHECK_STR_EQ(all->devices[2 + i].name, kNames[i]);
      CHECK(device_incarnation(&all->devices[2 + i]) == kIncarnations[i]);
    }
    device_set_unref(all);
  }
  CHECK_ERROR(device_set_join(own, kTwice, kIncarnations, 2, &all, &status), status, CODE_INVALID_ARGUMENT,
              "Two devices of the cluster are called /job:ps/replica:0/task:0/device:CPU:0");
  for (int i = 0; i < 2; i++) {
    status_init(&status);
    CHECK_ERROR(device_set_join(own, kMalformed + i, kIncarnations, 1, &all, &status), status,
                CODE_INVALID_ARGUMENT, "Malformed device name");
  }
  status_init(&status);
  CHECK_ERROR(device_set_join(own, kNames, kIncarnations, -1, &all, &status), status, CODE_INVALID_ARGUMENT,
              "at most 4096 devices");
  device_set_unref(own);
}

/* As TensorFlow lists them in messages about placement. */
TEST(devices_are_listed_in_the_order_of_their_texts) {
  Status status;
  status_init(&status);
  DeviceSet *set;
  REQUIRE_OK(device_set_new(LOCAL_TASK, 11, &set, &status), status);
  StrBuf text = {0};
  device_set_print(set, &text);
  const char *one = strstr(strbuf_text(&text), "CPU:1,"), *ten = strstr(strbuf_text(&text), "CPU:10,"),
             *two = strstr(strbuf_text(&text), "CPU:2,");
  CHECK(one && ten && two && one < ten && ten < two);
  strbuf_free(&text);
  device_set_unref(set);
}

TEST(a_pattern_finds_the_device_of_the_lowest_id) {
  static const struct {
    const char *pattern;
    int id; /* -1: no device */
  } kCases[] = {{"", 0},
                {"/cpu:1", 1},
                {"/cpu:*", 0},
                {"/device:CPU", 0},
                {"/device:*:1", 1},
                {"/device:cpu:0", -1},
                {"/gpu:0", -1},
                {"/cpu:2", -1},
                {"/job:localhost/cpu:1", 1},
                {"/job:other", -1},
                {"/task:1", -1},
                {"/replica:0/task:0", 0}};
  Status status;
  status_init(&status);
  DeviceSet *set;
  REQUIRE_OK(device_set_new(LOCAL_TASK, 2, &set, &status), status);
  for (size_t i = 0; i < sizeof kCases / sizeof kCases[0]; i++) {
    CHECK_CONTEXT("%s", kCases[i].pattern);
    DeviceName pattern;
    if (!CHECK(device_name_parse(str_of(kCases[i].pattern), &pattern))) continue;
    const Device *device = device_set_match(set, &pattern);
    CHECK_INT_EQ(device ? device->parsed.id : -1, kCases[i].id);
  }
  device_set_unref(set);
}

TEST(the_default_device_has_many_names) {
  static const char *const kNames[] =
      {"",       "/",       "/cpu:0",         "/CPU:0",           "CPU:0", "/device:CPU:0",
       "/cpu:*", "/task:0", "/job:localhost", DEFAULT_DEVICE_NAME};
  static const char *const kOthers[] = {"/cpu:1", "/gpu:0",   "cpu:0",  "/device:cpu:0",
                                        "/job:x", "nonsense", "/task:1"};
  for (size_t i = 0; i < sizeof kNames / sizeof kNames[0]; i++) CHECK(device_is_default(str_of(kNames[i])));
  for (size_t i = 0; i < sizeof kOthers / sizeof kOthers[0]; i++)
    CHECK(!device_is_default(str_of(kOthers[i])));
}

TEST(making_devices_says_that_memory_ran_out) {
  Shortage shortage = {.what = "making devices"};
  do {
    Status status;
    status_init(&status);
    DeviceSet *set = NULL;
    shortage_begin(&shortage);
    bool ok = device_set_new(LOCAL_TASK, 300, &set, &status);
    shortage_end(&shortage, ok, status.code);
    if (ok) device_set_unref(set);
  } while (shortage_next(&shortage));
}
