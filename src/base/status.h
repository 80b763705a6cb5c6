/* Status: the outcome of an operation, with TensorFlow's canonical codes.
 *
 * Every function that can fail returns bool (true = success) and takes a `Status *status` as its last
 * argument. The message lives in a fixed buffer inside the Status, so running out of memory can always be
 * reported and a Status never owns memory: it may be declared on the stack, copied with `=` and dropped.
 *
 *   Status status;
 *   status_init(&status);
 *   if (!graph_add_node(graph, def, &node, &status)) report(status.code, status.message);
 */
#ifndef TFCORE_BASE_STATUS_H_
#define TFCORE_BASE_STATUS_H_

#include <stdarg.h>
#include <stdbool.h>

/* Numbers equal google.rpc.Code and TensorFlow's TF_Code. */
typedef enum Code {
  CODE_OK = 0,
  CODE_CANCELLED = 1,
  CODE_UNKNOWN = 2,
  CODE_INVALID_ARGUMENT = 3,
  CODE_DEADLINE_EXCEEDED = 4,
  CODE_NOT_FOUND = 5,
  CODE_ALREADY_EXISTS = 6,
  CODE_PERMISSION_DENIED = 7,
  CODE_RESOURCE_EXHAUSTED = 8,
  CODE_FAILED_PRECONDITION = 9,
  CODE_ABORTED = 10,
  CODE_OUT_OF_RANGE = 11,
  CODE_UNIMPLEMENTED = 12,
  CODE_INTERNAL = 13,
  CODE_UNAVAILABLE = 14,
  CODE_DATA_LOSS = 15,
  CODE_UNAUTHENTICATED = 16,
} Code;

enum { STATUS_MESSAGE_CAPACITY = 4096 };

typedef struct Status {
  Code code;
  char message[STATUS_MESSAGE_CAPACITY]; /* NUL-terminated UTF-8, truncated at the capacity; empty when code
                                          * is CODE_OK */
} Status;

/* The result of a function that can fail must be checked. */
#define MUST_CHECK __attribute__((warn_unused_result))
/* Passes an error on to the caller. */
#define TRY(call)              \
  do {                         \
    if (!(call)) return false; \
  } while (0)
/* Passes an error on through the function's single cleanup label `done:` (which returns a local `bool
 * ok`). */
#define TRY_DONE(call)      \
  do {                      \
    if (!(call)) goto done; \
  } while (0)

#define PRINTF_LIKE(format_index, first_arg) __attribute__((format(printf, format_index, first_arg)))

void status_init(Status *status);
/* Sets code and message, replacing an earlier message. Returns false, for use in `return status_set(...)`. */
bool status_set(Status *status, Code code, const char *format, ...) PRINTF_LIKE(3, 4);
bool status_setv(Status *status, Code code, const char *format, va_list args) PRINTF_LIKE(3, 0);
/* Appends context such as "\n\t [[{{node n}}]]" to an error message; does nothing when OK. Returns false. */
bool status_append(Status *status, const char *format, ...) PRINTF_LIKE(2, 3);
/* INVALID_ARGUMENT, the most frequent code. */
bool status_invalid(Status *status, const char *format, ...) PRINTF_LIKE(2, 3);
/* Replaces the message of a failed function by the caller's. RESOURCE_EXHAUSTED is kept, because it does not
 * mean that the input is invalid. Returns false. */
bool status_reword(Status *status, Code code, const char *format, ...) PRINTF_LIKE(3, 4);
/* RESOURCE_EXHAUSTED for a failed allocation. */
bool status_oom(Status *status, const char *what);
/* "INVALID_ARGUMENT"; "UNKNOWN" for an invalid code. */
const char *code_name(Code code);

#endif
