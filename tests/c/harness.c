#include "harness.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"

/* AddressSanitizer calls this function for its options. Tests provoke refused allocations. */
__attribute__((visibility("default"))) const char *__asan_default_options(void);
const char *__asan_default_options(void) {
  return "allocator_may_return_null=1:detect_stack_use_after_return=1:strict_string_checks=1";
}
__attribute__((visibility("default"))) const char *__tsan_default_options(void);
const char *__tsan_default_options(void) { return "allocator_may_return_null=1:second_deadlock_stack=1"; }
__attribute__((visibility("default"))) const char *__ubsan_default_options(void);
const char *__ubsan_default_options(void) { return "print_stacktrace=1"; }

/* Paths of data are relative to the source folder. This runs before files of data become tests. */
__attribute__((constructor(101))) static void enter_source_folder(void) {
  if (chdir(TFCORE_SOURCE_DIR) == 0) return;
  perror(TFCORE_SOURCE_DIR);
  exit(2);
}

/* An endless loop of failing checks must not hide the first ones. */
enum { MAX_REPORTS_PER_TEST = 20, MAX_STATUS_CHARS = 600, MAX_EXCEPT = 8 };

static TestCase *first_test, **last_test = &first_test;
static void (*run_before)(void), (*run_after)(void);
static const TestCase *current_test;
static int failures_of_test;
static char context[200];

void harness_add(TestCase *test_case) {
  *last_test = test_case;
  last_test = &test_case->next;
}

void harness_before(void (*run)(void)) { run_before = run; }
void harness_after(void (*run)(void)) { run_after = run; }

const TestCase *harness_running(void) { return current_test; }

void harness_context(const char *format, ...) {
  va_list args;
  va_start(args, format);
  vsnprintf(context, sizeof context, format, args);
  va_end(args);
}

bool harness_fail(const char *file, int line, const char *format, ...) {
  if (failures_of_test++ == 0) printf("FAILED %s\n", current_test ? current_test->name : "outside of a test");
  if (failures_of_test == MAX_REPORTS_PER_TEST + 1)
    printf("  ... more failures of this test are not shown\n");
  if (failures_of_test > MAX_REPORTS_PER_TEST) return false;
  printf("  %s:%d: ", file, line);
  va_list args;
  va_start(args, format);
  vprintf(format, args);
  va_end(args);
  if (context[0]) printf(" (in %s)", context);
  printf("\n");
  fflush(stdout);
  return false;
}

bool harness_check(bool holds, const char *file, int line, const char *what) {
  return holds || harness_fail(file, line, "%s does not hold", what);
}

bool harness_check_int(int64_t got, int64_t want, const char *file, int line, const char *what) {
  return got == want || harness_fail(file, line, "%s is %" PRId64 ", not %" PRId64, what, got, want);
}

static const char *quote(const char *text) { return text ? text : "(NULL)"; }

bool harness_check_str(const char *got, const char *want, const char *file, int line, const char *what) {
  bool equal = got && want ? strcmp(got, want) == 0 : got == want;
  return equal ||
         harness_fail(file, line, "%s is\n    \"%s\", not\n    \"%s\"", what, quote(got), quote(want));
}

bool harness_check_contains(const char *got, const char *part, const char *file, int line, const char *what) {
  return (got && strstr(got, part)) ||
         harness_fail(file, line, "%s is\n    \"%s\", which does not contain\n    \"%s\"", what, quote(got),
                      part);
}

bool harness_check_near(double got, double want, double tolerance, const char *file, int line,
                        const char *what) {
  bool near = isnan(want)   ? isnan(got)
              : isinf(want) ? got == want
                            : fabs(got - want) <= tolerance; /* false when got is NaN */
  return near || harness_fail(file, line, "%s is %.17g, not %.17g (off by %.3g, allowed %.3g)", what, got,
                              want, got - want, tolerance);
}

bool harness_check_memory(const void *got, const void *want, size_t size, const char *file, int line,
                          const char *what) {
  const unsigned char *a = got, *b = want;
  for (size_t i = 0; i < size; i++) {
    if (a[i] != b[i]) {
      return harness_fail(file, line, "byte %zu of %s is 0x%02x, not 0x%02x (%zu bytes compared)", i, what,
                          a[i], b[i], size);
    }
  }
  return true;
}

const Status *harness_status_value(Status status) {
  static Status copy;
  copy = status;
  return &copy;
}

const Status *harness_status_pointer(const Status *status) { return status; }

bool harness_check_ok(bool ok, const Status *status, const char *file, int line, const char *what) {
  return ok || harness_fail(file, line, "%s failed: %s: %.*s", what, code_name(status->code),
                            MAX_STATUS_CHARS, status->message);
}

bool harness_check_error(bool ok, const Status *status, Code want_code, const char *part, const char *file,
                         int line, const char *what) {
  if (ok)
    return harness_fail(file, line, "%s succeeded, but %s \"%s\" was expected", what, code_name(want_code),
                        part);
  if (status->code == want_code && strstr(status->message, part)) return true;
  return harness_fail(file, line, "%s gave %s\n    \"%.*s\", not %s\n    \"%s\"", what,
                      code_name(status->code), MAX_STATUS_CHARS, status->message, code_name(want_code), part);
}

/* Runs one test; true when it passed. */
static bool run_test(const TestCase *test_case) {
  current_test = test_case;
  failures_of_test = 0;
  context[0] = '\0';
  int64_t bytes_before = mem_live_bytes();
  if (run_before) run_before();
  test_case->run();
  if (run_after) run_after();
  context[0] = '\0';
  int64_t leaked = mem_live_bytes() - bytes_before;
  if (leaked != 0)
    harness_fail(test_case->file, 0, "%" PRId64 " more live bytes after the test than before it", leaked);
  current_test = NULL;
  return failures_of_test == 0;
}

static int usage(const char *program) {
  fprintf(stderr,
          "usage: %s [--filter part-of-a-name] [--file part-of-a-path] [--except part-of-a-path]... [--list] "
          "[--verbose]\n",
          program);
  return 2;
}

typedef struct Choice {
  const char *filter, *file, *except[MAX_EXCEPT];
  int num_except;
} Choice;

static bool is_chosen(const TestCase *test_case, const Choice *choice) {
  if (!strstr(test_case->name, choice->filter) || !strstr(test_case->file, choice->file)) return false;
  for (int i = 0; i < choice->num_except; i++) {
    if (strstr(test_case->file, choice->except[i])) return false;
  }
  return true;
}

int main(int argc, char **argv) {
  Choice choice = {.filter = "", .file = ""};
  bool list = false, verbose = false;
  for (int i = 1; i < argc; i++) {
    if (strcmp(argv[i], "--list") == 0) {
      list = true;
    } else if (strcmp(argv[i], "--verbose") == 0) {
      verbose = true;
    } else if (strcmp(argv[i], "--filter") == 0 && i + 1 < argc) {
      choice.filter = argv[++i];
    } else if (strcmp(argv[i], "--file") == 0 && i + 1 < argc) {
      choice.file = argv[++i];
    } else if (strcmp(argv[i], "--except") == 0 && i + 1 < argc && choice.num_except < MAX_EXCEPT) {
      choice.except[choice.num_except++] = argv[++i];
    } else {
      return usage(argv[0]);
    }
  }

  int passed = 0, failed = 0;
  for (const TestCase *test_case = first_test; test_case; test_case = test_case->next) {
    if (!is_chosen(test_case, &choice)) continue;
    if (list) {
      printf("%s\n", test_case->name);
      continue;
    }
    if (verbose) {
      printf("running %s\n", test_case->name);
      fflush(stdout);
    }
    if (run_test(test_case)) {
      passed++;
    } else {
      failed++;
    }
  }
  if (list) return 0;
  if (passed + failed == 0)
    fprintf(stderr, "no test matches \"%s\" in files that match \"%s\"\n", choice.filter, choice.file);
  printf("%d passed, %d failed\n", passed, failed);
  return failed == 0 && passed > 0 ? 0 : 1;
}
