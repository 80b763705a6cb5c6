/* The syntax of node names and inputs. */
#include <string.h>

#include "op/node_def.h"

static bool is_letter_digit_dot(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.';
}

static bool is_name_char(char c) { return is_letter_digit_dot(c) || c == '_' || c == '-' || c == '/'; }

/* The end of the longest valid name at the start of `text`; NULL if there is none. */
static const char *name_end(const char *text, bool internal) {
  for (;;) {
    if (!is_letter_digit_dot(*text) && !(internal && *text == '_')) return NULL;
    while (is_name_char(*text)) text++;
    if (*text != '>') return text;
    text++;
  }
}

static bool is_name(const char *text, bool internal) {
  const char *end = name_end(text, internal);
  return end && *end == '\0';
}

bool node_name_is_valid(const char *name) { return is_name(name, false); }

bool node_name_is_valid_internal(const char *name) { return is_name(name, true); }

/* Parses the rest of the text as 0 or a number without leading zeros; -1 if it is not one, or does not fit
 * int. */
static int parse_index(const char *text) {
  if (text[0] == '0') return text[1] == '\0' ? 0 : -1;
  if (*text < '1' || *text > '9') return -1;
  int index = 0;
  for (; *text >= '0' && *text <= '9'; text++) {
    if (__builtin_mul_overflow(index, 10, &index) || __builtin_add_overflow(index, *text - '0', &index))
      return -1;
  }
  return *text == '\0' ? index : -1;
}

bool node_parse_input(const char *input, Str *name, int *index) {
  bool control = *input == '^';
  if (control) input++;
  const char *colon = strchr(input, ':');
  size_t length = colon ? (size_t)(colon - input) : strlen(input);
  if (length == 0 || (control && colon)) return false;
  *name = (Str){input, length};
  *index = control ? -1 : colon ? parse_index(colon + 1) : 0;
  return control || *index >= 0;
}

static bool input_is_valid(const char *input) {
  if (*input == '^') return is_name(input + 1, false);
  const char *end = name_end(input, false);
  return end && (*end == '\0' || (*end == ':' && parse_index(end + 1) >= 0));
}

bool node_def_validate_syntax(const NodeDef *node, Status *status) {
  bool control_seen = false;
  if (!node_name_is_valid(node->name)) {
    status_invalid(status, "Illegal op name '%s'", node->name);
    return node_def_attach(node, false, status);
  }
  for (size_t i = 0; i < node->n_input; i++) {
    const char *input = node->input[i];
    bool control = *input == '^';
    if (!input_is_valid(input)) {
      status_invalid(status, "Illegal op input name '%s'", input);
      return node_def_attach(node, false, status);
    }
    if (control_seen && !control) {
      status_invalid(status, "All control inputs must follow all data inputs");
      return node_def_attach(node, false, status);
    }
    control_seen = control;
  }
  return true;
}
