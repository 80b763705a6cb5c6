#include "base/string_map.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "harness.h"

enum { COUNT = 5000 };
static char keys[COUNT][24];

static void fill_keys(void) {
  for (int i = 0; i < COUNT; i++) snprintf(keys[i], sizeof keys[i], "node_%d", i);
}

TEST(map_finds_what_was_set) {
  StringMap map = {0};
  Status status;
  status_init(&status);
  fill_keys();
  CHECK(!string_map_find(&map, "nothing"));
  for (int i = 0; i < COUNT; i++) REQUIRE_OK(string_map_set(&map, keys[i], &keys[i], &status), status);
  CHECK_INT_EQ(map.count, COUNT);
  for (int i = 0; i < COUNT; i++) CHECK(string_map_find(&map, keys[i]) == &keys[i]);
  CHECK(!string_map_contains(&map, "node_5000"));
  REQUIRE_OK(string_map_set(&map, "node_7", keys[8], &status), status);
  CHECK(string_map_find(&map, keys[7]) == keys[8]);
  CHECK_INT_EQ(map.count, COUNT);
  string_map_free(&map);
}

TEST(map_removes_and_adds_again) {
  StringMap map = {0};
  Status status;
  status_init(&status);
  fill_keys();
  for (int round = 0; round < 20; round++) {
    for (int i = 0; i < 500; i++) REQUIRE_OK(string_map_set(&map, keys[i], &keys[i], &status), status);
    for (int i = 0; i < 500; i += 2) CHECK(string_map_remove(&map, keys[i]) == &keys[i]);
    CHECK(!string_map_remove(&map, keys[0]));
    CHECK_INT_EQ(map.count, 250);
    for (int i = 0; i < 500; i++) CHECK_INT_EQ(string_map_contains(&map, keys[i]), i % 2);
  }
  CHECK(map.num_slots < 8192); /* removed entries do not accumulate */
  string_map_free(&map);
}

TEST(map_keys_are_bytes) {
  StringMap map = {0};
  Status status;
  status_init(&status);
  REQUIRE_OK(string_map_set_bytes(&map, "a\0b", 3, keys[0], &status), status);
  REQUIRE_OK(string_map_set_bytes(&map, "a\0c", 3, keys[1], &status), status);
  REQUIRE_OK(string_map_set_bytes(&map, "", 0, keys[2], &status), status);
  CHECK(string_map_find_bytes(&map, "a\0b", 3) == keys[0]);
  CHECK(string_map_find_bytes(&map, "a\0c", 3) == keys[1]);
  CHECK(string_map_find(&map, "") == keys[2]);
  CHECK(!string_map_find(&map, "a"));
  string_map_free(&map);
}

TEST(map_out_of_memory_changes_nothing) {
  StringMap map = {0};
  Status status;
  status_init(&status);
  fill_keys();
  for (int i = 0; i < 100; i++) {
    bool ok = false;
    for (int successes = 0; !ok; successes++) {
      int64_t count = map.count;
      mem_fail_after(successes);
      ok = string_map_set(&map, keys[i], &keys[i], &status);
      mem_fail_after(-1);
      if (!ok) CHECK_INT_EQ(map.count, count);
    }
  }
  for (int i = 0; i < 100; i++) CHECK(string_map_find(&map, keys[i]) == &keys[i]);
  string_map_free(&map);
}

TEST(map_with_room_takes_no_memory) {
  StringMap map = {0};
  Status status;
  status_init(&status);
  fill_keys();
  CHECK_OK(string_map_set(&map, keys[0], &keys[0], &status), status);
  CHECK_OK(string_map_reserve(&map, 99, &status), status);
  mem_fail_after(0);
  for (int i = 1; i < 100; i++) CHECK_OK(string_map_set(&map, keys[i], &keys[i], &status), status);
  CHECK(!string_map_reserve(&map, 1000000, &status));
  mem_fail_after(-1);
  CHECK_INT_EQ(status.code, CODE_RESOURCE_EXHAUSTED);
  CHECK(!string_map_reserve(&map, INT64_MAX, &status));
  for (int i = 0; i < 100; i++) CHECK(string_map_find(&map, keys[i]) == &keys[i]);
  string_map_free(&map);
}

TEST(hashes_differ) {
  CHECK(hash_bytes("abc", 3) == hash_bytes("abc", 3));
  CHECK(hash_bytes("abc", 3) != hash_bytes("abd", 3));
  CHECK(hash_bytes("a", 1) != hash_bytes("a\0", 2));
}
