/* Reading the wire format of messages from bytes of unknown origin. A reader is a Str: functions take what
 * they read from its front and return false when it is not there. No function reads behind the end.
 *
 * As in TensorFlow's reader of Examples, a section that claims more bytes than there are ends with the bytes.
 */
#ifndef TFCORE_OPS_PARSING_WIRE_H_
#define TFCORE_OPS_PARSING_WIRE_H_

#include "base/str.h"

/* Number and wire type of a field in one byte. */
#define WIRE_VARINT(field) ((unsigned char)((field) << 3))
#define WIRE_BYTES(field) ((unsigned char)((field) << 3 | 2))
#define WIRE_FIXED32(field) ((unsigned char)((field) << 3 | 5))

/* Whether the next byte is this tag. */
static inline bool wire_next_is(const Str *bytes, unsigned char tag) {
  return bytes->length > 0 && (unsigned char)bytes->data[0] == tag;
}
/* The tag, if it is the next byte. */
bool wire_take_tag(Str *bytes, unsigned char tag);
/* A length. */
bool wire_take_length(Str *bytes, uint32_t *length);
/* A length, and the bytes of a message, as far as they are there. */
bool wire_take_section(Str *bytes, Str *section);
/* A length, and as many bytes. */
bool wire_take_text(Str *bytes, Str *text);
/* A field of any number and of any wire type except groups. */
bool wire_skip_field(Str *bytes);

#endif
