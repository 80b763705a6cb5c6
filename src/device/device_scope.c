#include "device/device_scope.h"

static bool is_type(Str word, const char *lower) {
  for (size_t i = 0; i < word.length; i++) {
    char c = word.data[i];
    if ((c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c) != lower[i]) return false;
  }
  return lower[word.length] == '\0';
}

static bool parse(Str text, DeviceName *name, Status *status) {
  if (!device_name_parse_any(text, name)) {
    return status_invalid(status, "Could not parse %.*s into a device specification.", (int)text.length,
                          text.data);
  }
  if (name->type.length == 3 && is_type(name->type, "cpu")) name->type = str_of("CPU");
  if (name->type.length == 3 && is_type(name->type, "gpu")) name->type = str_of("GPU");
  return true;
}

bool device_scope_merge(Str outer, Str inner, StrBuf *out, Status *status) {
  DeviceName around, name;
  TRY(parse(outer, &around, status) && parse(inner, &name, status));
  device_name_fill(&name, &around);
  device_name_print(&name, out);
  /* A type may come from a scope further in. */
  if (!name.type.data && name.id != DEVICE_PART_OPEN) strbuf_printf(out, "/device:*:%d", name.id);
  return strbuf_ok(out, status);
}
