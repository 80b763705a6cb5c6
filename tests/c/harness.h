/* The harness of the C tests. A test file is a list of
 *
 *   TEST(add_node_rejects_a_duplicate_name) {
 *     Status status;
 *     status_init(&status);
 *     CHECK_OK(graph_add_node(graph, def, &node, &status), status);
 *     CHECK_ERROR(graph_add_node(graph, def, &node, &status), status, CODE_INVALID_ARGUMENT, "already has");
 *     CHECK_INT_EQ(graph_num_nodes(graph), 1);
 *   }
 *
 * Tests register themselves. All files of a room make one executable:
 *
 *   test_graph [--filter part] [--file part] [--except part] [--list] [--verbose]
 *
 * `--filter` selects tests by a part of their names, `--file` by a part of the paths of their files;
 * `--except` leaves out files by a part of their paths. After a failed CHECK, which is reported with both
 * values, the test continues; a failed REQUIRE returns from the (void) function. After each test the live
 * bytes of base/alloc.h must be the same as before it. The last line is "N passed, N failed".
 *
 * The argument order is always (actual, expected). In loops over a table of cases, `CHECK_CONTEXT` names the
 * case for later failures of the test.
 */
#ifndef TFCORE_TESTS_HARNESS_H_
#define TFCORE_TESTS_HARNESS_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

typedef struct TestCase {
  const char *name, *file;
  void (*run)(void);
  struct TestCase *next;
} TestCase;

#define TEST(name)                                                      \
  static void test_##name(void);                                        \
  __attribute__((constructor)) static void register_test_##name(void) { \
    static TestCase test_case = {#name, __FILE__, test_##name, NULL};   \
    harness_add(&test_case);                                            \
  }                                                                     \
  static void test_##name(void)

/* At most one of each in an executable: code to run before and after every test, outside of the comparison of
 * live bytes. For state that outlives a test, such as the op registry and the thread pool. */
#define BEFORE_EACH()                                                                                  \
  static void before_each(void);                                                                       \
  __attribute__((constructor)) static void register_before_each(void) { harness_before(before_each); } \
  static void before_each(void)
#define AFTER_EACH()                                                                                \
  static void after_each(void);                                                                     \
  __attribute__((constructor)) static void register_after_each(void) { harness_after(after_each); } \
  static void after_each(void)

/* The checks are expressions with the value true if they pass, so `if (!CHECK(p)) continue;` works. */
#define CHECK(condition) harness_check((condition) ? true : false, __FILE__, __LINE__, #condition)
#define CHECK_INT_EQ(got, want) harness_check_int((int64_t)(got), (int64_t)(want), __FILE__, __LINE__, #got)
/* Strings; NULL equals only NULL. */
#define CHECK_STR_EQ(got, want) harness_check_str((got), (want), __FILE__, __LINE__, #got)
#define CHECK_STR_CONTAINS(got, part) harness_check_contains((got), (part), __FILE__, __LINE__, #got)
/* |got - want| <= tolerance. Infinities equal themselves and NaN equals NaN. */
#define CHECK_NEAR(got, want, tolerance) \
  harness_check_near((got), (want), (tolerance), __FILE__, __LINE__, #got)
#define CHECK_MEM_EQ(got, want, size) harness_check_memory((got), (want), (size), __FILE__, __LINE__, #got)

/* `call` returns bool, or a pointer that is not NULL on success, and takes the Status; `status` is that
 * Status or a pointer to it. A Status may be used again for the next call. */
#define CHECK_OK(call, status)                                                        \
  ({                                                                                  \
    bool ok_of_call_ = (call) ? true : false;                                         \
    harness_check_ok(ok_of_call_, HARNESS_STATUS(status), __FILE__, __LINE__, #call); \
  })
#define CHECK_ERROR(call, status, want_code, message_part)                                          \
  ({                                                                                                \
    bool ok_of_call_ = (call) ? true : false;                                                       \
    harness_check_error(ok_of_call_, HARNESS_STATUS(status), (want_code), (message_part), __FILE__, \
                        __LINE__, #call);                                                           \
  })

#define REQUIRE(condition)         \
  do {                             \
    if (!CHECK(condition)) return; \
  } while (0)
#define REQUIRE_OK(call, status)         \
  do {                                   \
    if (!CHECK_OK(call, status)) return; \
  } while (0)

/* Later failures of this test print "(in <text>)"; printf-style, truncated at 200 bytes. An empty text ends
 * it. */
#define CHECK_CONTEXT(...) harness_context(__VA_ARGS__)

/* A pseudo-random number from 1 to `limit`, which is positive; the same sequence in every run. */
static inline int random_to(unsigned *seed, int limit) {
  *seed = *seed * 1664525u + 1013904223u;
  return 1 + (int)((*seed >> 12) % (unsigned)limit);
}

/* --- implementation of the macros --- */

#define HARNESS_STATUS(status) \
  _Generic((status), Status: harness_status_value, Status *: harness_status_pointer, const Status *: harness_status_pointer)(status)

const Status *harness_status_value(Status status);
const Status *harness_status_pointer(const Status *status);
void harness_add(TestCase *test_case);
void harness_before(void (*run)(void));
void harness_after(void (*run)(void));
bool harness_check(bool holds, const char *file, int line, const char *what);
bool harness_check_int(int64_t got, int64_t want, const char *file, int line, const char *what);
bool harness_check_str(const char *got, const char *want, const char *file, int line, const char *what);
bool harness_check_contains(const char *got, const char *part, const char *file, int line, const char *what);
bool harness_check_near(double got, double want, double tolerance, const char *file, int line,
                        const char *what);
bool harness_check_memory(const void *got, const void *want, size_t size, const char *file, int line,
                          const char *what);
bool harness_check_ok(bool ok, const Status *status, const char *file, int line, const char *what);
bool harness_check_error(bool ok, const Status *status, Code want_code, const char *part, const char *file,
                         int line, const char *what);
void harness_context(const char *format, ...) PRINTF_LIKE(1, 2);
/* Reports a failure of the current test with a message. Returns false. */
bool harness_fail(const char *file, int line, const char *format, ...) PRINTF_LIKE(3, 4);
/* The running test; NULL outside of tests. */
const TestCase *harness_running(void);

#endif
