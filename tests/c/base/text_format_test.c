#include "base/text_format.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "harness.h"

enum { CAPACITY = 96 };

/* Checks against the C library, for buffers of all sizes up to that of the text, and for one that is larger.
 */
#define CHECK_FORMAT(...)                                                       \
  do {                                                                          \
    char wanted[CAPACITY], got[CAPACITY];                                       \
    int length = snprintf(wanted, sizeof wanted, __VA_ARGS__);                  \
    REQUIRE(length >= 0 && length < CAPACITY);                                  \
    CHECK_INT_EQ(text_format(NULL, 0, __VA_ARGS__), length);                    \
    for (size_t size = 1; size <= (size_t)length + 2; size++) {                 \
      memset(got, '#', sizeof got);                                             \
      CHECK_INT_EQ(text_format(got, size, __VA_ARGS__), length);                \
      int written = size <= (size_t)length ? (int)size - 1 : length;            \
      CHECK(memcmp(got, wanted, (size_t)written) == 0 && got[written] == '\0'); \
      CHECK(got[size] == '#');                                                  \
    }                                                                           \
  } while (0)

TEST(texts_are_formatted_as_by_the_c_library) {
  CHECK_FORMAT("plain");
  CHECK_FORMAT("%s", "");
  CHECK_FORMAT("%s:%d", "node", 3);
  CHECK_FORMAT("^%s, %.*s and %.*s|%.*s", "control", 3, "abcdef", 9, "short", -1, "whole");
  CHECK_FORMAT("100%% of %c%c", 'x', 'y');
  CHECK_FORMAT("%d %d %d %d", 0, -1, INT_MAX, INT_MIN);
  CHECK_FORMAT("%u %u", 0u, UINT_MAX);
  CHECK_FORMAT("%ld %ld %lu", LONG_MIN, LONG_MAX, ULONG_MAX);
  CHECK_FORMAT("%lld %lld %llu", LLONG_MIN, LLONG_MAX, ULLONG_MAX);
  CHECK_FORMAT("%zu %zd", SIZE_MAX, (ptrdiff_t)-5);
  CHECK_FORMAT("%" PRId64 " %" PRIu64, INT64_MIN, UINT64_MAX);
}

TEST(other_formats_are_left_to_the_c_library) {
  CHECK_FORMAT("%g, %.3f", 0.1, 2.0);
  CHECK_FORMAT("%s %5d|%-5d|%05d|%+d", "width", 7, 7, 7, 7);
  CHECK_FORMAT("%x %X %o %016" PRIx64, 255u, 255u, 8u, UINT64_MAX);
  CHECK_FORMAT("%.4s", "precision");
  CHECK_FORMAT("%hhd %hd", (signed char)1, (short)2);
}

TEST(texts_that_a_precision_ends_need_no_nul) {
  char got[CAPACITY];
  CHECK_INT_EQ(text_format(got, sizeof got, "%.*s", 3, (const char[]){'a', 'b', 'c'}), 3);
  CHECK_STR_EQ(got, "abc");
  const char *volatile none = NULL; /* as in an empty Str */
  CHECK_INT_EQ(text_format(got, sizeof got, "<%.*s>", 0, none), 2);
  CHECK_STR_EQ(got, "<>");
}
