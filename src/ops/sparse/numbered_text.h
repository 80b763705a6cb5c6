/* Parts of gradient texts that repeat for a number of arguments. */
#ifndef TFCORE_OPS_SPARSE_NUMBERED_TEXT_H_
#define TFCORE_OPS_SPARSE_NUMBERED_TEXT_H_

#include "base/str.h"

/* Appends the pattern `count` times, with the numbers from 0 on in place of "#". */
static inline void append_numbered(int64_t count, const char *pattern, StrBuf *text) {
  for (int64_t i = 0; i < count; i++) {
    for (const char *p = pattern; *p != '\0'; p++) {
      if (*p == '#') strbuf_printf(text, "%lld", (long long)i);
      else strbuf_append_char(text, *p);
    }
  }
}

#endif
