#include "base/status.h"

#include <string.h>

#include "base/text_format.h"

void status_init(Status *status) {
  status->code = CODE_OK;
  status->message[0] = '\0';
}

bool status_setv(Status *status, Code code, const char *format, va_list args) {
  status->code = code;
  text_format_args(status->message, sizeof status->message, format, args);
  return false;
}

bool status_set(Status *status, Code code, const char *format, ...) {
  va_list args;
  va_start(args, format);
  status_setv(status, code, format, args);
  va_end(args);
  return false;
}

bool status_reword(Status *status, Code code, const char *format, ...) {
  if (status->code == CODE_RESOURCE_EXHAUSTED) return false;
  va_list args;
  va_start(args, format);
  status_setv(status, code, format, args);
  va_end(args);
  return false;
}

bool status_invalid(Status *status, const char *format, ...) {
  va_list args;
  va_start(args, format);
  status_setv(status, CODE_INVALID_ARGUMENT, format, args);
  va_end(args);
  return false;
}

bool status_append(Status *status, const char *format, ...) {
  if (status->code == CODE_OK) return false;
  size_t used = strlen(status->message);
  va_list args;
  va_start(args, format);
  text_format_args(status->message + used, sizeof status->message - used, format, args);
  va_end(args);
  return false;
}

bool status_oom(Status *status, const char *what) {
  return status_set(status, CODE_RESOURCE_EXHAUSTED, "OOM when allocating %s", what);
}

const char *code_name(Code code) {
  static const char *const kNames[] = {
      "OK",        "CANCELLED",       "UNKNOWN",           "INVALID_ARGUMENT",   "DEADLINE_EXCEEDED",
      "NOT_FOUND", "ALREADY_EXISTS",  "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION",
      "ABORTED",   "OUT_OF_RANGE",    "UNIMPLEMENTED",     "INTERNAL",           "UNAVAILABLE",
      "DATA_LOSS", "UNAUTHENTICATED",
  };
  return (unsigned)code < sizeof kNames / sizeof kNames[0] ? kNames[code] : "UNKNOWN";
}
