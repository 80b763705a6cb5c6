#include "device/device_name.h"

#include <string.h>

DeviceName device_name_any(void) {
  return (DeviceName){.replica = DEVICE_PART_OPEN, .task = DEVICE_PART_OPEN, .id = DEVICE_PART_OPEN};
}

/* --- parsing --- */

static bool take(Str *text, const char *prefix) {
  if (!str_starts_with(*text, prefix)) return false;
  size_t length = strlen(prefix);
  *text = (Str){text->data + length, text->length - length};
  return true;
}

static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
static bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* A letter, then letters, digits and underscores; "*" leaves the part open. */
static bool take_word(Str *text, Str *word) {
  *word = (Str){0};
  if (take(text, "*")) return true;
  size_t length = 0;
  if (text->length == 0 || !is_letter(text->data[0])) return false;
  while (length < text->length &&
         (is_letter(text->data[length]) || is_digit(text->data[length]) || text->data[length] == '_'))
    length++;
  *word = (Str){text->data, length};
  *text = (Str){text->data + length, text->length - length};
  return true;
}

static bool take_number(Str *text, int32_t *number) {
  *number = DEVICE_PART_OPEN;
  if (take(text, "*")) return true;
  int64_t value = 0;
  size_t length = 0;
  while (length < text->length && is_digit(text->data[length])) {
    value = 10 * value + (text->data[length++] - '0');
    if (value > INT32_MAX) return false;
  }
  if (length == 0) return false;
  *number = (int32_t)value;
  *text = (Str){text->data + length, text->length - length};
  return true;
}

static bool take_part(Str *text, DeviceName *name) {
  if (take(text, "/job:")) return take_word(text, &name->job);
  if (take(text, "/replica:")) return take_number(text, &name->replica);
  if (take(text, "/task:")) return take_number(text, &name->task);
  if (take(text, "/device:")) {
    if (!take_word(text, &name->type)) return false;
    name->id = DEVICE_PART_OPEN;
    return !take(text, ":") || take_number(text, &name->id);
  }
  static const char *const kOlder[][2] = {{"/cpu:", "CPU"},
                                          {"/CPU:", "CPU"},
                                          {"/gpu:", "GPU"},
                                          {"/GPU:", "GPU"}};
  for (int i = 0; i < 4; i++) {
    if (!take(text, kOlder[i][0])) continue;
    name->type = str_of(kOlder[i][1]);
    return take_number(text, &name->id);
  }
  return false;
}

bool device_name_parse(Str text, DeviceName *name) {
  *name = device_name_any();
  if (str_equal_text(text, "/")) return true;
  while (text.length > 0) {
    if (!take_part(&text, name)) return false;
  }
  return true;
}

bool device_name_parse_local(Str text, DeviceName *name) {
  *name = device_name_any();
  return take_word(&text, &name->type) && name->type.data && take(&text, ":") &&
         take_number(&text, &name->id) && name->id != DEVICE_PART_OPEN && text.length == 0;
}

bool device_name_parse_any(Str text, DeviceName *name) {
  return device_name_parse(text, name) || device_name_parse_local(text, name);
}

/* --- printing --- */

static void print_address(const DeviceName *name, StrBuf *out) {
  if (name->job.data) strbuf_printf(out, "/job:%.*s", (int)name->job.length, name->job.data);
  if (name->replica != DEVICE_PART_OPEN) strbuf_printf(out, "/replica:%d", name->replica);
  if (name->task != DEVICE_PART_OPEN) strbuf_printf(out, "/task:%d", name->task);
}

void device_name_print(const DeviceName *name, StrBuf *out) {
  print_address(name, out);
  if (!name->type.data) return;
  strbuf_printf(out, "/device:%.*s:", (int)name->type.length, name->type.data);
  if (name->id == DEVICE_PART_OPEN) {
    strbuf_append(out, "*");
  } else {
    strbuf_printf(out, "%d", name->id);
  }
}

void device_name_print_legacy(const DeviceName *name, StrBuf *out) {
  print_address(name, out);
  strbuf_append(out, "/");
  for (size_t i = 0; i < name->type.length; i++) {
    char c = name->type.data[i];
    strbuf_append_char(out, c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c);
  }
  strbuf_printf(out, ":%d", name->id);
}

bool device_name_canonicalize(Str text, Str base, StrBuf *out, Status *status) {
  DeviceName name, whole;
  if (!device_name_parse(base, &whole)) {
    return status_invalid(status, "Could not parse basename: %.*s into a device specification.",
                          (int)base.length, base.data);
  }
  if (!device_name_is_complete(&whole))
    return status_invalid(status, "Basename: %.*s should be fully specified.", (int)base.length, base.data);
  if (!device_name_parse_any(text, &name)) {
    return status_invalid(status, "Could not parse %.*s into a device specification.", (int)text.length,
                          text.data);
  }
  device_name_fill(&name, &whole);
  device_name_print(&name, out);
  return strbuf_ok(out, status);
}
