#include "tensor/tstring.h"

#include <string.h>

#include "base/alloc.h"
#include "harness.h"

static Status status;

/* The bytes of TensorFlow's TF_TString, field by field. */
TEST(strings_lie_in_memory_as_tensorflow_lays_them) {
  static const char text[] = "0123456789012345678901234567890123456789";
  TString string = {0};
  CHECK_INT_EQ(sizeof string, 24);
  REQUIRE_OK(tstring_set(&string, text, 22, &status), status);
  CHECK_INT_EQ(tstring_type(&string), TSTRING_SMALL);
  CHECK_INT_EQ(string.raw[0], 22 << 2);
  CHECK_MEM_EQ(string.raw + 1, text, 22);
  CHECK_INT_EQ(string.raw[23], 0);

  REQUIRE_OK(tstring_set(&string, text, 23, &status), status);
  CHECK_INT_EQ(tstring_type(&string), TSTRING_LARGE);
  size_t size, capacity;
  char *data;
  memcpy(&size, string.raw, sizeof size);
  memcpy(&capacity, string.raw + sizeof size, sizeof capacity);
  memcpy(&data, string.raw + 2 * sizeof size, sizeof data);
  CHECK_INT_EQ(size, 23 << 2 | 1);
  CHECK_INT_EQ(capacity, 31); /* with the NUL a multiple of 16 */
  CHECK_MEM_EQ(data, text, 23);
  CHECK_INT_EQ(data[23], 0);
  CHECK_INT_EQ(tstring_capacity(&string), 31);

  tstring_assign_view(&string, text, 40);
  CHECK_INT_EQ(tstring_type(&string), TSTRING_VIEW);
  memcpy(&size, string.raw, sizeof size);
  memcpy(&data, string.raw + sizeof size, sizeof data);
  CHECK_INT_EQ(size, 40 << 2 | 3);
  CHECK(data == text);
  CHECK_INT_EQ(tstring_capacity(&string), 0);
  tstring_free(&string);
  for (int i = 0; i < TSTRING_BYTES; i++) CHECK_INT_EQ(string.raw[i], 0);
}

TEST(strings_of_every_length_keep_their_bytes) {
  char text[100];
  for (int i = 0; i < 100; i++) text[i] = (char)(i * 37);
  TString string = {0}, copy = {0};
  CHECK_INT_EQ(tstring_view(&string).length, 0);
  CHECK(tstring_view(&string).data);
  for (size_t length = 0; length < 100; length += length < 30 ? 1 : 7) {
    CHECK_CONTEXT("%d bytes", (int)length);
    REQUIRE_OK(tstring_set(&string, text, length, &status), status);
    Str view = tstring_view(&string);
    CHECK_INT_EQ(view.length, length);
    CHECK_MEM_EQ(view.data, text, length);
    CHECK_INT_EQ(view.data[length], 0);
    CHECK(tstring_capacity(&string) >= length);
    CHECK(length == 0 || !tstring_equal(&string, &copy));
    REQUIRE_OK(tstring_copy(&copy, &string, &status), status);
    CHECK(tstring_equal(&string, &copy) && tstring_view(&copy).data != view.data);
  }
  /* Copies a part of itself, from the heap to inline, and the whole of itself. */
  Str view = tstring_view(&string);
  REQUIRE_OK(tstring_copy(&string, &string, &status), status);
  REQUIRE_OK(tstring_set(&string, view.data + 3, 50, &status), status);
  CHECK_MEM_EQ(tstring_view(&string).data, text + 3, 50);
  REQUIRE_OK(tstring_set(&string, tstring_view(&string).data + 1, 5, &status), status);
  CHECK_MEM_EQ(tstring_view(&string).data, text + 4, 5);
  tstring_free(&string);
  tstring_free(&copy);
}

TEST(a_string_that_gets_no_memory_stays_what_it_was) {
  char text[64] = "something longer than an element";
  TString string = {0};
  REQUIRE_OK(tstring_set(&string, "before", 6, &status), status);
  mem_fail_after(0);
  bool large = tstring_set(&string, text, sizeof text, &status);
  mem_fail_after(-1);
  CHECK_ERROR(large, status, CODE_RESOURCE_EXHAUSTED, "");
  CHECK_ERROR(tstring_set(&string, text, SIZE_MAX / 4 + 1, &status), status, CODE_RESOURCE_EXHAUSTED, "");
  CHECK_STR_EQ(tstring_view(&string).data, "before");
  tstring_free(&string);
}

/* A block of elements followed by their bytes, as TensorFlow maps them from a file. */
TEST(offset_strings_are_read_from_behind_the_element) {
  struct {
    TString strings[2];
    char bytes[40];
  } block;
  memset(&block, 0, sizeof block);
  memcpy(block.bytes, "one-and-two", 11);
  const uint32_t first[] = {3 << 2 | 2, (uint32_t)sizeof block.strings, 1};
  const uint32_t second[] = {7 << 2 | 2, (uint32_t)sizeof(TString) + 4, 1};
  memcpy(block.strings[0].raw, first, sizeof first);
  memcpy(block.strings[1].raw, second, sizeof second);
  CHECK_INT_EQ(tstring_type(&block.strings[0]), TSTRING_OFFSET);
  Str one = tstring_view(&block.strings[0]), two = tstring_view(&block.strings[1]);
  CHECK_INT_EQ(one.length, 3);
  CHECK_MEM_EQ(one.data, "one", 3);
  CHECK_INT_EQ(two.length, 7);
  CHECK_MEM_EQ(two.data, "and-two", 7);
  TString copy = {0};
  REQUIRE_OK(tstring_copy(&copy, &block.strings[1], &status), status);
  CHECK_INT_EQ(tstring_type(&copy), TSTRING_SMALL);
  CHECK_STR_EQ(tstring_view(&copy).data, "and-two");
  tstring_free(&block.strings[0]); /* owns nothing */
  CHECK_INT_EQ(tstring_view(&block.strings[0]).length, 0);
}

static int owner_references;
static void add_reference(TStringOwner *owner) { *(int *)owner->object += 1; }
static bool drop_reference(TStringOwner *owner) { return (*(int *)owner->object -= 1) == 0; }

TEST(views_release_their_owner) {
  static const char text[] = "held by somebody else, longer than an element";
  TStringOwner owner = {add_reference, drop_reference, &owner_references};
  TString string = {0}, copy = {0};
  owner_references = 2;
  tstring_assign_view(&string, text, sizeof text - 1);
  string.view.owner = &owner;
  REQUIRE_OK(tstring_copy(&copy, &string, &status), status);
  CHECK(tstring_view(&copy).data == text);
  CHECK_INT_EQ(owner_references, 3);
  REQUIRE_OK(tstring_set(&string, tstring_view(&string).data, 4, &status), status);
  CHECK_INT_EQ(owner_references, 2);
  CHECK_STR_EQ(tstring_view(&string).data, "held");
  tstring_assign_view(&string, NULL, 0);
  CHECK_STR_EQ(tstring_view(&string).data, "");
  tstring_free(&copy);
  CHECK_INT_EQ(owner_references, 1);
}

TEST(shared_bytes_go_with_the_last_string) {
  static const char text[] = "more than twenty-two bytes of text";
  TString first = {0}, second = {0}, third = {0};
  REQUIRE_OK(tstring_set_shared(&first, text, 10, &status), status);
  CHECK_INT_EQ(tstring_type(&first), TSTRING_SMALL);
  REQUIRE_OK(tstring_set_shared(&first, text, sizeof text - 1, &status), status);
  int64_t count = mem_allocation_count();
  REQUIRE_OK(tstring_copy(&second, &first, &status), status);
  REQUIRE_OK(tstring_copy(&third, &second, &status), status);
  CHECK_INT_EQ(mem_allocation_count(), count);
  tstring_free(&first);
  CHECK_STR_EQ(tstring_view(&third).data, text);
  tstring_assign_view(&third, "", 0);
  CHECK_STR_EQ(tstring_view(&second).data, text);
  mem_fail_after(0);
  bool ok = tstring_set_shared(&second, text, sizeof text, &status);
  mem_fail_after(-1);
  CHECK_ERROR(ok, status, CODE_RESOURCE_EXHAUSTED, "");
  CHECK_ERROR(tstring_set_shared(&second, text, SIZE_MAX / 4 + 1, &status), status, CODE_RESOURCE_EXHAUSTED,
              "");
  CHECK_STR_EQ(tstring_view(&second).data, text);
  tstring_free(&second);
}
