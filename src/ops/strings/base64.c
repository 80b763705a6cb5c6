/* EncodeBase64, DecodeBase64: the alphabet for URLs. */
#include "op/node_def.h"
#include "op/op_registry.h"
#include "ops/strings/string_elements.h"

static const char kAlphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

typedef struct EncodeState {
  bool pad;
} EncodeState;

static bool encode_construct(const KernelConstruction *construction, void *memory, Status *status) {
  return node_attr_bool(construction->node, "pad", &((EncodeState *)memory)->pad, status);
}

static bool encode(const void *state, Str text, StrBuf *out, Status *status) {
  (void)status;
  for (size_t i = 0; i < text.length; i += 3) {
    size_t count = text.length - i < 3 ? text.length - i : 3;
    uint32_t bits = 0;
    for (size_t k = 0; k < 3; k++) bits = bits << 8 | (k < count ? (unsigned char)text.data[i + k] : 0);
    for (size_t k = 0; k < 4; k++) {
      if (k <= count) strbuf_append_char(out, kAlphabet[bits >> (18 - 6 * k) & 0x3F]);
      else if (((const EncodeState *)state)->pad) strbuf_append_char(out, '=');
    }
  }
  return true;
}

/* The value of a digit, or -1. */
static int digit(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  return c == '-' ? 62 : c == '_' ? 63 : -1;
}

/* The digits without the padding, which fills the last group of four if there is any. */
static bool strip_padding(Str *text, Status *status) {
  size_t length = text->length;
  if (length % 4 == 0 && length > 0) {
    for (int i = 0; i < 2 && text->data[text->length - 1] == '='; i++) text->length--;
  }
  if (text->length % 4 == 1) return status_invalid(status, "Base64 string length cannot be 1 modulo 4.");
  return true;
}

static bool decode(const void *state, Str text, StrBuf *out, Status *status) {
  (void)state;
  uint32_t bits = 0;
  int count = 0;
  TRY(strip_padding(&text, status));
  for (size_t i = 0; i < text.length; i++) {
    int value = digit(text.data[i]);
    if (value < 0) return status_invalid(status, "Invalid character found in base64.");
    bits = bits << 6 | (uint32_t)value;
    count += 6;
    if (count < 8) continue;
    count -= 8;
    strbuf_append_char(out, (char)(bits >> count & 0xFF));
  }
  return true;
}

const OpRegistration kOpEncodeBase64 = {
    .name = "EncodeBase64",
    .inputs = {"input: string"},
    .outputs = {"output: string"},
    .attrs = {"pad: bool = false"},
    .shape = shape_unchanged,
    .gradient = NO_GRADIENT,
    .state_size = sizeof(EncodeState),
    .construct = encode_construct,
    .kernels = {{DT_INVALID, change_strings_kernel, encode}},
};

const OpRegistration kOpDecodeBase64 = {
    .name = "DecodeBase64",
    .inputs = {"input: string"},
    .outputs = {"output: string"},
    .shape = shape_unchanged,
    .gradient = NO_GRADIENT,
    .kernels = {{DT_INVALID, change_strings_kernel, decode}},
};
