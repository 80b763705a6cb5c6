#include "ops/parsing/wire.h"

#include "checkpoint/coding.h"

bool wire_take_tag(Str *bytes, unsigned char tag) {
  Str taken;
  return wire_next_is(bytes, tag) && take_bytes(bytes, 1, &taken);
}

bool wire_take_length(Str *bytes, uint32_t *length) {
  uint64_t value;
  if (!take_varint(bytes, &value)) return false;
  *length = (uint32_t)value;
  return true;
}

bool wire_take_section(Str *bytes, Str *section) {
  uint32_t length;
  if (!wire_take_length(bytes, &length)) return false;
  return take_bytes(bytes, length < bytes->length ? length : bytes->length, section);
}

bool wire_take_text(Str *bytes, Str *text) {
  uint32_t length;
  return wire_take_length(bytes, &length) && take_bytes(bytes, length, text);
}

bool wire_skip_field(Str *bytes) {
  uint32_t tag, number;
  Str skipped;
  if (!wire_take_length(bytes, &tag)) return false;
  switch (tag & 7) {
    case 0: return wire_take_length(bytes, &number);
    case 1: return take_bytes(bytes, 8, &skipped);
    case 2: return wire_take_section(bytes, &skipped);
    case 5: return take_bytes(bytes, 4, &skipped);
    default: return false;
  }
}
