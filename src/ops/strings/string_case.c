/* StringLower, StringUpper, StringStrip. */
#include <string.h>

#include "op/node_def.h"
#include "op/op_registry.h"
#include "ops/strings/string_elements.h"
#include "ops/strings/unicode.h"

typedef struct CaseState {
  bool utf8; /* otherwise only ASCII letters change */
} CaseState;

static bool case_construct(const KernelConstruction *construction, void *memory, Status *status) {
  Str encoding;
  TRY(node_attr_string(construction->node, "encoding", &encoding, status));
  ((CaseState *)memory)->utf8 = str_equal_text(encoding, "utf-8");
  return encoding.length == 0 || ((CaseState *)memory)->utf8 ||
         status_invalid(status, "only utf-8 or '' (no encoding) is supported, received %.*s",
                        (int)encoding.length, encoding.data);
}

/* ICU reads a C string. */
static Str until_nul(Str text) { return (Str){text.data, strnlen(text.data, text.length)}; }

static bool lower(const void *state, Str text, StrBuf *out, Status *status) {
  (void)status;
  if (((const CaseState *)state)->utf8) {
    unicode_lower(until_nul(text), out);
    return true;
  }
  for (size_t i = 0; i < text.length; i++) {
    char c = text.data[i];
    strbuf_append_char(out, c >= 'A' && c <= 'Z' ? (char)(c + 32) : c);
  }
  return true;
}

static bool upper(const void *state, Str text, StrBuf *out, Status *status) {
  (void)status;
  if (((const CaseState *)state)->utf8) {
    unicode_upper(until_nul(text), out);
    return true;
  }
  for (size_t i = 0; i < text.length; i++) {
    char c = text.data[i];
    strbuf_append_char(out, c >= 'a' && c <= 'z' ? (char)(c - 32) : c);
  }
  return true;
}

static bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

static bool strip(const void *state, Str text, StrBuf *out, Status *status) {
  (void)state, (void)status;
  while (text.length > 0 && is_space(text.data[0])) text.data++, text.length--;
  while (text.length > 0 && is_space(text.data[text.length - 1])) text.length--;
  strbuf_append_bytes(out, text.data, text.length);
  return true;
}

const OpRegistration kOpStringLower = {
    .name = "StringLower",
    .inputs = {"input: string"},
    .outputs = {"output: string"},
    .attrs = {"encoding: string = ''"},
    .shape = shape_unchanged,
    .gradient = NO_GRADIENT,
    .state_size = sizeof(CaseState),
    .construct = case_construct,
    .kernels = {{DT_INVALID, change_strings_kernel, lower}},
};

const OpRegistration kOpStringUpper = {
    .name = "StringUpper",
    .inputs = {"input: string"},
    .outputs = {"output: string"},
    .attrs = {"encoding: string = ''"},
    .shape = shape_unchanged,
    .gradient = NO_GRADIENT,
    .state_size = sizeof(CaseState),
    .construct = case_construct,
    .kernels = {{DT_INVALID, change_strings_kernel, upper}},
};

const OpRegistration kOpStringStrip = {
    .name = "StringStrip",
    .inputs = {"input: string"},
    .outputs = {"output: string"},
    .shape = shape_unchanged,
    .gradient = NO_GRADIENT,
    .kernels = {{DT_INVALID, change_strings_kernel, strip}},
};
