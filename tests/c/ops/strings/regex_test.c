/* What golden cases of regular expressions cannot show: time, limits, and words that contain "[[". */
#include <string.h>

#include "base/alloc.h"
#include "harness.h"
#include "op_runner.h"
#include "ops/strings/regex.h"

static bool matches(const char *pattern, Str text) {
  Status status;
  status_init(&status);
  Regex *regex = regex_new(str_of(pattern), &status);
  RegexScratch *scratch = regex ? regex_scratch_new(regex, &status) : NULL;
  bool matched = CHECK_OK(scratch, status) && regex_matches(regex, scratch, text);
  regex_scratch_free(scratch);
  regex_free(regex);
  return matched;
}

static void refused(const char *pattern, size_t length, const char *words) {
  Status status;
  status_init(&status);
  Regex *regex = regex_new((Str){pattern, length}, &status);
  CHECK(!regex);
  CHECK(status.code == CODE_INVALID_ARGUMENT);
  CHECK_STR_EQ(status.message, words);
  regex_free(regex);
}

TEST(nested_repetitions_take_linear_time) {
  char text[4000];
  memset(text, 'a', sizeof text);
  CHECK(!matches("(a*)*(a|aa)+b", (Str){text, sizeof text}));
  CHECK(matches("(a?){30}a{30}", (Str){text, 30}));
  CHECK(matches("(?:(?:a*)*)*", (Str){text, sizeof text}));
}

TEST(patterns_that_are_too_large_are_refused) {
  char nested[5001];
  refused("((a{100}){10}){2}", 17, "invalid repetition size: {2}");
  refused(
      "(?:[ab]c[de]){1000}(?:[ab]c[de]){1000}(?:[ab]c[de]){1000}(?:[ab]c[de]){1000}(?:[ab]c[de]){1000}"
      "(?:[ab]c[de]){1000}(?:[ab]c[de]){1000}(?:[ab]c[de]){1000}(?:[ab]c[de]){1000}(?:[ab]c[de]){1000}"
      "(?:[ab]c[de]){1000}(?:[ab]c[de]){1000}(?:[ab]c[de]){1000}(?:[ab]c[de]){1000}(?:[ab]c[de]){1000}"
      "(?:[ab]c[de]){1000}(?:[ab]c[de]){1000}",
      17 * 19, "pattern too large - compile failed");
  memset(nested, '(', sizeof nested);
  refused(nested, 5000, "nesting is too deep");
}

TEST(patterns_that_are_not_utf8_and_unknown_classes_are_refused) {
  refused("a\xff", 2, "invalid UTF-8");
  refused("[[:foo:]]", 9, "invalid character class range: [:foo:]");
}

TEST(a_regex_reports_that_memory_ran_out) {
  for (int64_t successes = 0; successes < 20000; successes += 7) {
    Status status;
    status_init(&status);
    mem_fail_after(successes);
    Regex *regex = regex_new(str_of("(?i)a[b-d]|\\pL{2,3}"), &status);
    RegexScratch *scratch = regex ? regex_scratch_new(regex, &status) : NULL;
    mem_fail_after(-1);
    bool ok = scratch;
    regex_scratch_free(scratch);
    regex_free(regex);
    if (ok) return;
    CHECK(status.code == CODE_RESOURCE_EXHAUSTED);
  }
  CHECK(false);
}
