/* TF_Status, TF_Buffer. */
#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "c_api/c_api_internal.h"

/* ---- TF_Status ---- */

TF_Status *TF_NewStatus(void) {
  TF_Status *status = mem_calloc(1, sizeof *status);
  if (status) status_init(&status->status);
  return status;
}

void start_status(TF_Status *status) {
  while (status->payloads) {
    Payload *payload = status->payloads;
    status->payloads = payload->next;
    mem_free(payload->key);
    mem_free(payload->value);
    mem_free(payload);
  }
  status_init(&status->status);
}

void TF_DeleteStatus(TF_Status *status) {
  if (!status) return;
  start_status(status);
  mem_free(status);
}

void TF_SetStatus(TF_Status *status, TF_Code code, const char *message) {
  start_status(status);
  if (code != TF_OK) status_set(&status->status, (Code)code, "%s", message ? message : "");
}

TF_Code TF_GetCode(const TF_Status *status) { return (TF_Code)status->status.code; }

const char *TF_Message(const TF_Status *status) { return status->status.message; }

/* The call has no way to report an error: without memory the status is unchanged. */
void TF_SetPayload(TF_Status *status, const char *key, const char *value) {
  if (status->status.code == CODE_OK) return;
  char *copy = mem_strdup(value, strlen(value));
  if (!copy) return;
  Payload **at = &status->payloads;
  while (*at && strcmp((*at)->key, key) != 0) at = &(*at)->next;
  if (*at) {
    mem_free((*at)->value);
    (*at)->value = copy;
    return;
  }
  Payload *payload = mem_calloc(1, sizeof *payload);
  char *name = mem_strdup(key, strlen(key));
  if (!payload || !name) {
    mem_free(payload);
    mem_free(name);
    mem_free(copy);
    return;
  }
  *payload = (Payload){NULL, name, copy};
  *at = payload;
}

void TF_ForEachPayload(const TF_Status *status, TF_PayloadVisitor visitor, void *capture) {
  for (const Payload *p = status->payloads; p; p = p->next) visitor(p->key, p->value, capture);
}

/* TensorFlow's list, ended by 0. Not every system has all of these errors. */
static const int kInvalidArgument[] = {EINVAL, ENAMETOOLONG, E2BIG,    EDESTADDRREQ, EDOM,       EFAULT,
                                       EILSEQ, ENOPROTOOPT,  ENOTSOCK, ENOTTY,       EPROTOTYPE, ESPIPE,
#ifdef ENOSTR
                                       ENOSTR,
#endif
                                       0};
static const int kDeadlineExceeded[] = {ETIMEDOUT,
#ifdef ETIME
                                        ETIME,
#endif
                                        0};
static const int kNotFound[] = {ENODEV, ENOENT, ENXIO, ESRCH, 0};
static const int kAlreadyExists[] = {EEXIST, EADDRNOTAVAIL, EALREADY, 0};
static const int kPermissionDenied[] = {EPERM, EACCES, EROFS, 0};
static const int kFailedPrecondition[] = {ENOTEMPTY, EISDIR,  ENOTDIR,  EADDRINUSE, EBADF,   EBUSY,
                                          ECHILD,    EISCONN, ENOTCONN, EPIPE,      ETXTBSY,
#ifdef ENOTBLK
                                          ENOTBLK,
#endif
#ifdef ESHUTDOWN
                                          ESHUTDOWN,
#endif
                                          0};
static const int kResourceExhausted[] = {ENOSPC,  EDQUOT, EMFILE, EMLINK, ENFILE, ENOBUFS, ENOMEM,
#ifdef ENODATA
                                         ENODATA,
#endif
#ifdef ENOSR
                                         ENOSR,
#endif
#ifdef EUSERS
                                         EUSERS,
#endif
                                         0};
static const int kOutOfRange[] = {EFBIG, EOVERFLOW, ERANGE, 0};
static const int kUnimplemented[] = {ENOSYS,
                                     ENOTSUP,
                                     EOPNOTSUPP,
                                     EAFNOSUPPORT,
                                     EPROTONOSUPPORT,
                                     EXDEV,
#ifdef EPFNOSUPPORT
                                     EPFNOSUPPORT,
#endif
#ifdef ESOCKTNOSUPPORT
                                     ESOCKTNOSUPPORT,
#endif
                                     0};
static const int kUnavailable[] = {EAGAIN,    ECONNREFUSED, ECONNABORTED, ECONNRESET, EINTR,   EHOSTUNREACH,
                                   ENETDOWN,  ENETRESET,    ENETUNREACH,  ENOLCK,     ENOLINK,
#ifdef EHOSTDOWN
                                   EHOSTDOWN,
#endif
#ifdef ENONET
                                   ENONET,
#endif
                                   0};
static const int kAborted[] = {EDEADLK, ESTALE, 0};
static const int kCancelled[] = {ECANCELED, 0};

static const struct {
  Code code;
  const int *errors;
} kIoErrors[] = {
    {CODE_INVALID_ARGUMENT, kInvalidArgument},
    {CODE_DEADLINE_EXCEEDED, kDeadlineExceeded},
    {CODE_NOT_FOUND, kNotFound},
    {CODE_ALREADY_EXISTS, kAlreadyExists},
    {CODE_PERMISSION_DENIED, kPermissionDenied},
    {CODE_FAILED_PRECONDITION, kFailedPrecondition},
    {CODE_RESOURCE_EXHAUSTED, kResourceExhausted},
    {CODE_OUT_OF_RANGE, kOutOfRange},
    {CODE_UNIMPLEMENTED, kUnimplemented},
    {CODE_UNAVAILABLE, kUnavailable},
    {CODE_ABORTED, kAborted},
    {CODE_CANCELLED, kCancelled},
};

void TF_SetStatusFromIOError(TF_Status *status, int error_code, const char *context) {
  start_status(status);
  if (error_code == 0) return;
  Code code = CODE_UNKNOWN;
  for (size_t i = 0; i < sizeof kIoErrors / sizeof *kIoErrors; i++) {
    for (const int *error = kIoErrors[i].errors; *error; error++) {
      if (*error == error_code) code = kIoErrors[i].code;
    }
  }
  status_set(&status->status, code, "%s; %s", context, strerror(error_code));
}

/* ---- TF_Buffer ---- */

static void free_data(void *data, size_t length) {
  (void)length;
  mem_free(data);
}

TF_Buffer *TF_NewBuffer(void) { return mem_calloc(1, sizeof(TF_Buffer)); }

TF_Buffer *TF_NewBufferFromString(const void *proto, size_t proto_len) {
  TF_Buffer *buffer = TF_NewBuffer();
  char *copy = buffer ? mem_strdup(proto, proto_len) : NULL;
  if (!copy) {
    mem_free(buffer);
    return NULL;
  }
  *buffer = (TF_Buffer){copy, proto_len, free_data};
  return buffer;
}

void TF_DeleteBuffer(TF_Buffer *buffer) {
  if (!buffer) return;
  if (buffer->data_deallocator) buffer->data_deallocator((void *)buffer->data, buffer->length);
  mem_free(buffer);
}

TF_Buffer TF_GetBuffer(TF_Buffer *buffer) { return *buffer; }

bool fill_buffer(StrBuf *text, TF_Buffer *buffer, Status *status) {
  if (buffer->data) {
    strbuf_free(text);
    return status_invalid(status, "Passing non-empty TF_Buffer is invalid.");
  }
  if (!strbuf_ok(text, status)) {
    strbuf_free(text);
    return false;
  }
  *buffer = (TF_Buffer){text->data, (size_t)text->length, free_data};
  *text = (StrBuf){0};
  return true;
}

bool fill_buffer_with_message(const void *message, TF_Buffer *buffer, Status *status) {
  StrBuf bytes = {0};
  if (proto_serialize(message, &bytes, status)) return fill_buffer(&bytes, buffer, status);
  strbuf_free(&bytes);
  return false;
}

bool parse_given(const ProtoDescriptor *descriptor, const void *bytes, size_t length, const char *problem,
                 Arena *arena, void **message, Status *status) {
  if (!arena) return status_oom(status, "a message");
  if (proto_parse(descriptor, bytes, length, arena, message, status)) return true;
  if (status->code != CODE_INVALID_ARGUMENT) return false;
  const char *reason = arena_strdup(arena, status->message);
  return status_invalid(status, "%s: %s", problem, reason ? reason : "");
}
