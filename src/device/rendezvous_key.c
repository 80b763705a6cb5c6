#include "device/rendezvous_key.h"

#include <inttypes.h>
#include <string.h>

void rendezvous_key_print(const char *source, uint64_t incarnation, const char *destination, const char *name,
                          uint64_t frame, int64_t iteration, StrBuf *out) {
  strbuf_printf(out, "%s;%016" PRIx64 ";%s;%s;%" PRIu64 ":%" PRId64, source, incarnation, destination, name,
                frame, iteration);
}

/* The text in front of the next ';', or all that is left. False when nothing is. */
static bool take_field(Str *text, Str *field) {
  if (text->length == 0) return false;
  const char *end = memchr(text->data, ';', text->length);
  size_t length = end ? (size_t)(end - text->data) : text->length;
  *field = (Str){text->data, length};
  size_t used = end ? length + 1 : length;
  *text = (Str){text->data + used, text->length - used};
  return true;
}

static bool parse_hex(Str text, uint64_t *number) {
  *number = 0;
  if (text.length == 0 || text.length > 16) return false;
  for (size_t i = 0; i < text.length; i++) {
    char c = text.data[i];
    int digit = c >= '0' && c <= '9'   ? c - '0'
                : c >= 'a' && c <= 'f' ? c - 'a' + 10
                : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                       : -1;
    if (digit < 0) return false;
    *number = *number << 4 | (uint64_t)digit;
  }
  return true;
}

bool rendezvous_key_parse(Str text, RendezvousKey *key, Status *status) {
  Str rest = text, fields[5];
  int count = 0;
  while (count < 5 && take_field(&rest, &fields[count])) count++;
  if (count == 5 && rest.length == 0 && device_name_parse(fields[0], &key->source) &&
      parse_hex(fields[1], &key->incarnation) && device_name_parse(fields[2], &key->destination) &&
      fields[3].length > 0) {
    key->source_text = fields[0];
    key->destination_text = fields[2];
    key->name = fields[3];
    return true;
  }
  return status_invalid(status, "Invalid  rendezvous key: %.*s", (int)text.length, text.data);
}
