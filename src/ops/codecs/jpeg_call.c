#include "ops/codecs/jpeg_call.h"

#include <jerror.h>

static _Noreturn void fail(j_common_ptr codec) { longjmp(((JpegCall *)(void *)codec->err)->on_error, 1); }

static void count_warning(j_common_ptr codec, int level) {
  if (level < 0) codec->err->num_warnings++;
}

static void print_nothing(j_common_ptr codec) { (void)codec; }

static void format_nothing(j_common_ptr codec, char *text) {
  (void)codec;
  text[0] = '\0';
}

static void reset(j_common_ptr codec) {
  codec->err->num_warnings = 0;
  codec->err->msg_code = 0;
}

struct jpeg_error_mgr *jpeg_call_begin(JpegCall *call) {
  call->errors = (struct jpeg_error_mgr){.error_exit = fail,
                                         .emit_message = count_warning,
                                         .output_message = print_nothing,
                                         .format_message = format_nothing,
                                         .reset_error_mgr = reset};
  return &call->errors;
}

bool jpeg_call_failed(const JpegCall *call, Code code, const char *words, Status *status) {
  if (call->errors.msg_code == JERR_OUT_OF_MEMORY) return status_oom(status, "a JPEG image");
  return status_set(status, code, "%s", words);
}
