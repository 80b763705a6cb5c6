/* Calls of libjpeg that can fail: its error handler returns to the caller and prints nothing. */
#ifndef TFCORE_OPS_CODECS_JPEG_CALL_H_
#define TFCORE_OPS_CODECS_JPEG_CALL_H_

#include <setjmp.h>
#include <stdio.h> /* libjpeg's header needs FILE and size_t */

#include <jpeglib.h>

#include "base/status.h"

/* The jpeg_error_mgr of a reader or writer. After jpeg_call_begin, the caller does
 * `if (setjmp(call->on_error)) return false;` and calls libjpeg. */
typedef struct JpegCall {
  struct jpeg_error_mgr errors; /* first, so that libjpeg's pointer to it is one to this struct */
  jmp_buf on_error;
} JpegCall;

struct jpeg_error_mgr *jpeg_call_begin(JpegCall *call);
/* After a failure: RESOURCE_EXHAUSTED if memory ran out, else `code` and `words`. Returns false. */
bool jpeg_call_failed(const JpegCall *call, Code code, const char *words, Status *status);

#endif
