/* Names of devices and rendezvous keys against what TensorFlow's own library makes of them
 * (tests/oracle/devices/device_names.py). */
#include <stdlib.h>
#include <string.h>

#include "device/device_name.h"
#include "device/rendezvous_key.h"
#include "harness.h"
#include "json.h"

static const char *text_of(const Json *line, const char *key) { return json_get(line, key)->string; }

static int32_t number_of(const Json *json) {
  return json->kind == JSON_NULL ? DEVICE_PART_OPEN : (int32_t)json->integer;
}

static Str word_of(const Json *json) { return json->kind == JSON_NULL ? (Str){0} : str_of(json->string); }

/* `fields` is [job, replica, task, type, id]. */
static DeviceName name_of(const Json *fields) {
  const Json *parts = fields->items;
  return (DeviceName){.job = word_of(&parts[0]),
                      .replica = number_of(&parts[1]),
                      .task = number_of(&parts[2]),
                      .type = word_of(&parts[3]),
                      .id = number_of(&parts[4])};
}

static void check_name(const DeviceName *got, const Json *want) {
  DeviceName name = name_of(want);
  StrBuf got_text = {0}, want_text = {0};
  device_name_print(got, &got_text);
  device_name_print(&name, &want_text);
  if (!CHECK(device_name_equal(got, &name)))
    harness_fail(__FILE__, __LINE__, "%s, not %s", strbuf_text(&got_text), strbuf_text(&want_text));
  strbuf_free(&got_text);
  strbuf_free(&want_text);
}

/* `want` is null where TensorFlow does not parse the name. */
static void check_parse(bool ok, const DeviceName *got, const Json *want) {
  if (CHECK_INT_EQ(ok, want->kind != JSON_NULL) && ok) check_name(got, want);
}

static void check_text(StrBuf *got, const char *want) {
  CHECK_STR_EQ(strbuf_text(got), want);
  strbuf_free(got);
}

/* `want` is a value, or an object with an error. True when the value is to be looked at. */
static bool check_outcome(bool ok, const Status *status, const Json *want) {
  const Json *error = json_get(want, "error");
  if (!error) return CHECK_OK(ok, status);
  CHECK_ERROR(ok, status, (Code)json_get(want, "code")->integer, "");
  if (!ok) CHECK_STR_EQ(status->message, error->string);
  return false;
}

static void check_canonical(const char *name, const char *base, const Json *want) {
  Status status;
  status_init(&status);
  StrBuf text = {0};
  bool ok = device_name_canonicalize(str_of(name), str_of(base), &text, &status);
  if (check_outcome(ok, &status, want)) CHECK_STR_EQ(strbuf_text(&text), want->string);
  strbuf_free(&text);
}

static void check_names(const Json *line) {
  DeviceName name;
  Str text = str_of(text_of(line, "name"));
  check_parse(device_name_parse(text, &name), &name, json_get(line, "full"));
  check_parse(device_name_parse_local(text, &name), &name, json_get(line, "local"));
  const Json *canonical = json_get(line, "text"), *mappings = json_get(line, "mappings");
  check_canonical(text.data, "/job:foo/replica:10/task:0/device:CPU:0", json_get(line, "canonical"));
  bool ok = device_name_parse_any(text, &name);
  if (!CHECK_INT_EQ(ok, canonical->kind != JSON_NULL) || !ok) return;
  StrBuf printed = {0}, legacy = {0};
  device_name_print(&name, &printed);
  check_text(&printed, canonical->string);
  CHECK_INT_EQ(device_name_is_complete(&name), mappings->count > 0);
  if (mappings->count == 0) return;
  device_name_print_legacy(&name, &legacy);
  check_text(&legacy, mappings->items[1].string);
}

static void check_merge(const DeviceName *a, const DeviceName *b, DeviceMerge how, const Json *want) {
  Status status;
  status_init(&status);
  DeviceName merged = *a;
  bool ok = device_name_merge(&merged, b, how, &status);
  if (check_outcome(ok, &status, want)) check_name(&merged, want);
}

static void check_pair(const Json *line) {
  DeviceName a, b;
  REQUIRE(device_name_parse(str_of(text_of(line, "a")), &a));
  REQUIRE(device_name_parse(str_of(text_of(line, "b")), &b));
  CHECK_INT_EQ(device_name_matches(&b, &a), json_get(line, "is_specification")->boolean);
  const Json *complete = json_get(line, "is_complete");
  CHECK_INT_EQ(device_name_is_complete(&b), complete->kind != JSON_NULL);
  if (complete->kind != JSON_NULL) CHECK_INT_EQ(device_name_matches(&b, &a), complete->boolean);
  CHECK_INT_EQ(device_name_compatible(&a, &b), json_get(line, "compatible")->boolean);
  check_merge(&a, &b, DEVICE_MERGE_STRICT, json_get(line, "merge"));
  check_merge(&a, &b, DEVICE_MERGE_SOFT, json_get(line, "soft"));
  check_merge(&a, &b, DEVICE_MERGE_OVERRIDE, json_get(line, "override"));
  DeviceName filled = a, overridden = a;
  device_name_fill(&filled, &b);
  check_name(&filled, json_get(line, "unset"));
  device_name_override(&overridden, &b);
  check_name(&overridden, json_get(line, "ensured"));
}

static void check_key(const Json *line) {
  Status status;
  status_init(&status);
  RendezvousKey key;
  const Json *want = json_get(line, "parsed");
  bool ok = rendezvous_key_parse(str_of(text_of(line, "key")), &key, &status);
  if (!check_outcome(ok, &status, want) || !ok) return;
  check_name(&key.source, json_get(want, "src"));
  check_name(&key.destination, json_get(want, "dst"));
  CHECK(key.incarnation == strtoull(text_of(want, "incarnation"), NULL, 10));
  CHECK(str_equal_text(key.name, text_of(want, "edge")));
}

static void check_new_key(const Json *line) {
  StrBuf key = {0};
  rendezvous_key_print(text_of(line, "src"), strtoull(text_of(line, "incarnation"), NULL, 10),
                       text_of(line, "dst"), text_of(line, "name"),
                       strtoull(text_of(line, "frame"), NULL, 10), strtoll(text_of(line, "iter"), NULL, 10),
                       &key);
  check_text(&key, text_of(line, "key"));
}

static void check_line(const Json *line, void *argument) {
  (void)argument;
  const char *kind = text_of(line, "kind");
  if (strcmp(kind, "parse") == 0) check_names(line);
  if (strcmp(kind, "pair") == 0) check_pair(line);
  if (strcmp(kind, "canonical") == 0)
    check_canonical(text_of(line, "name"), text_of(line, "base"), json_get(line, "canonical"));
  if (strcmp(kind, "key") == 0) check_key(line);
  if (strcmp(kind, "create_key") == 0) check_new_key(line);
}

TEST(names_of_devices_and_keys_are_what_tensorflow_makes_of_them) {
  CHECK_INT_EQ(json_read_lines("tests/data/oracle/device_names.jsonl", check_line, NULL), 630);
}

/* TensorFlow's numbers wrap around: "/task:4294967297" is task 1 there. */
TEST(numbers_that_do_not_fit_are_malformed) {
  static const char *const kNames[] = {"/task:2147483648", "/replica:4294967297", "/cpu:99999999999999999999",
                                       "/device:CPU:2147483648"};
  DeviceName name;
  for (size_t i = 0; i < sizeof kNames / sizeof kNames[0]; i++)
    CHECK(!device_name_parse(str_of(kNames[i]), &name));
  CHECK(!device_name_parse_local(str_of("CPU:2147483648"), &name));
  CHECK(device_name_parse(str_of("/task:2147483647"), &name));
  CHECK_INT_EQ(name.task, INT32_MAX);
}

TEST(an_address_space_is_a_job_with_replica_and_task) {
  DeviceName a, b, other, open;
  REQUIRE(device_name_parse(str_of("/job:a/replica:0/task:1/cpu:0"), &a));
  REQUIRE(device_name_parse(str_of("/job:a/replica:0/task:1/gpu:3"), &b));
  REQUIRE(device_name_parse(str_of("/job:a/replica:0/task:2/cpu:0"), &other));
  REQUIRE(device_name_parse(str_of("/job:a/task:1"), &open));
  CHECK(device_name_same_address_space(&a, &b));
  CHECK(!device_name_same_address_space(&a, &other));
  CHECK(!device_name_same_address_space(&open, &open));
}
