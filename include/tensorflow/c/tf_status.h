/* TF_Status: the outcome of a call, TensorFlow's C API. */
#ifndef TENSORFLOW_C_TF_STATUS_H_
#define TENSORFLOW_C_TF_STATUS_H_

#include "tensorflow/c/tf_export.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct TF_Status TF_Status;

typedef enum TF_Code {
  TF_OK = 0,
  TF_CANCELLED = 1,
  TF_UNKNOWN = 2,
  TF_INVALID_ARGUMENT = 3,
  TF_DEADLINE_EXCEEDED = 4,
  TF_NOT_FOUND = 5,
  TF_ALREADY_EXISTS = 6,
  TF_PERMISSION_DENIED = 7,
  TF_RESOURCE_EXHAUSTED = 8,
  TF_FAILED_PRECONDITION = 9,
  TF_ABORTED = 10,
  TF_OUT_OF_RANGE = 11,
  TF_UNIMPLEMENTED = 12,
  TF_INTERNAL = 13,
  TF_UNAVAILABLE = 14,
  TF_DATA_LOSS = 15,
  TF_UNAUTHENTICATED = 16,
} TF_Code;

/* A new status, OK. NULL when out of memory. The caller deletes it. */
TF_CAPI_EXPORT extern TF_Status *TF_NewStatus(void);
TF_CAPI_EXPORT extern void TF_DeleteStatus(TF_Status *status);
TF_CAPI_EXPORT extern void TF_SetStatus(TF_Status *status, TF_Code code, const char *message);
TF_CAPI_EXPORT extern TF_Code TF_GetCode(const TF_Status *status);
/* Attaches a text to an error under a key, replacing an earlier one; does nothing if the status is OK.
 * Copied. Setting the status again removes payloads. */
TF_CAPI_EXPORT extern void TF_SetPayload(TF_Status *status, const char *key, const char *value);
typedef void (*TSL_PayloadVisitor)(const char *key, const char *value, void *capture);
#define TF_PayloadVisitor TSL_PayloadVisitor
/* Calls `visitor` for each payload, in the order in which their keys were first set. */
TF_CAPI_EXPORT extern void TF_ForEachPayload(const TF_Status *status, TF_PayloadVisitor visitor,
                                             void *capture);
/* Sets the status for an errno: "context; No such file or directory" with the corresponding code. 0 is OK. */
TF_CAPI_EXPORT extern void TF_SetStatusFromIOError(TF_Status *status, int error_code, const char *context);
/* Valid until the status changes; "" when OK. */
TF_CAPI_EXPORT extern const char *TF_Message(const TF_Status *status);

#ifdef __cplusplus
}
#endif

#endif
