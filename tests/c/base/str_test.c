#include "base/str.h"

#include <string.h>

#include "base/alloc.h"
#include "harness.h"

TEST(strs_compare_by_content) {
  CHECK(str_equal_text((Str){"abcdef", 3}, "abc"));
  CHECK(!str_equal_text((Str){"abcdef", 3}, "abcd"));
  CHECK(str_equal((Str){NULL, 0}, str_of("")));
  CHECK(str_starts_with(str_of("_class"), "_"));
  CHECK(!str_starts_with(str_of(""), "_"));
  CHECK(text_starts_with("Placeholder", "Place"));
  CHECK(!text_starts_with("Pl", "Place"));
}

TEST(buffers_grow_and_print) {
  StrBuf buffer = {0};
  Status status;
  status_init(&status);
  CHECK_STR_EQ(strbuf_text(&buffer), "");
  for (int i = 0; i < 300; i++) strbuf_printf(&buffer, "%d,", i % 10);
  CHECK_INT_EQ(buffer.length, 600);
  CHECK_INT_EQ(strlen(strbuf_text(&buffer)), 600);
  strbuf_clear(&buffer);
  strbuf_append_char(&buffer, 'x');
  strbuf_append(&buffer, "yz");
  CHECK_STR_EQ(strbuf_text(&buffer), "xyz");
  CHECK_OK(strbuf_ok(&buffer, &status), status);
  strbuf_free(&buffer);
}

TEST(c_escapes) {
  StrBuf buffer = {0};
  strbuf_append_c_escaped(&buffer, "a\n\t\r\"'\\\001\377z", 10);
  CHECK_STR_EQ(strbuf_text(&buffer), "a\\n\\t\\r\\\"\\'\\\\\\001\\377z");
  strbuf_free(&buffer);
}

TEST(a_failed_append_shows_at_the_end) {
  StrBuf buffer = {0};
  Status status;
  status_init(&status);
  mem_fail_after(0);
  strbuf_append(&buffer, "lost");
  mem_fail_after(-1);
  strbuf_append(&buffer, "also lost");
  CHECK_STR_EQ(strbuf_text(&buffer), "");
  CHECK_ERROR(strbuf_ok(&buffer, &status), status, CODE_RESOURCE_EXHAUSTED, "OOM");
  strbuf_free(&buffer);
}

TEST(messages_are_cut_at_the_capacity) {
  Status status;
  status_init(&status);
  char *text = mem_alloc(10000);
  REQUIRE(text);
  memset(text, 'm', 9999);
  text[9999] = '\0';
  status_invalid(&status, "%s", text);
  CHECK_INT_EQ(strlen(status.message), STATUS_MESSAGE_CAPACITY - 1);
  status_append(&status, "more");
  CHECK_INT_EQ(strlen(status.message), STATUS_MESSAGE_CAPACITY - 1);
  status_init(&status);
  status_append(&status, "context of no error");
  CHECK_STR_EQ(status.message, "");
  status_set(&status, CODE_NOT_FOUND, "no %s", "node");
  status_append(&status, "\n\t [[{{node %s}}]]", "n");
  CHECK_STR_EQ(status.message, "no node\n\t [[{{node n}}]]");
  CHECK_STR_EQ(code_name(status.code), "NOT_FOUND");
  CHECK_STR_EQ(code_name((Code)99), "UNKNOWN");
  mem_free(text);
}
