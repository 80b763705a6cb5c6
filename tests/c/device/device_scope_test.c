/* Nested scopes against those of TensorFlow's Python (tests/oracle/devices/device_scopes.py). */
#include "device/device_scope.h"

#include <string.h>

#include "harness.h"
#include "json.h"

static void check_line(const Json *line, void *argument) {
  (void)argument;
  Status status;
  status_init(&status);
  const Json *scopes = json_get(line, "scopes");
  StrBuf device = {0};
  for (int i = 0; i < scopes->count; i++) {
    StrBuf merged = {0};
    if (scopes->items[i].kind != JSON_NULL) {
      CHECK_OK(device_scope_merge(str_of(strbuf_text(&device)), str_of(scopes->items[i].string), &merged,
                                  &status),
               status);
    }
    strbuf_free(&device);
    device = merged;
  }
  /* Python writes "*" for parts that are open, where the library leaves them out. */
  DeviceName got, want;
  CHECK(device_name_parse(str_of(strbuf_text(&device)), &got));
  CHECK(device_name_parse(str_of(json_get(line, "device")->string), &want));
  CHECK(device_name_equal(&got, &want));
  if (!strchr(json_get(line, "device")->string, '*'))
    CHECK_STR_EQ(strbuf_text(&device), json_get(line, "device")->string);
  strbuf_free(&device);
}

TEST(scopes_nest_as_those_of_tensorflows_python) {
  CHECK_INT_EQ(json_read_lines("tests/data/oracle/device_scopes.jsonl", check_line, NULL), 23);
}

TEST(a_scope_of_no_device_is_refused) {
  Status status;
  status_init(&status);
  StrBuf device = {0};
  CHECK_ERROR(device_scope_merge(str_of("/cpu:0"), str_of("/cpu"), &device, &status), status,
              CODE_INVALID_ARGUMENT, "Could not parse /cpu into a device specification.");
  strbuf_free(&device);
}
