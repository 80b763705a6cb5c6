#include "ops/math/einsum_equation.h"

#include <string.h>

#include "op/node_def.h"

enum { MAX_SHOWN = 200 }; /* of an equation in a message */

static int shown(Str text) { return text.length < MAX_SHOWN ? (int)text.length : MAX_SHOWN; }

bool einsum_term_has(const EinsumTerm *term, int label) {
  for (int i = 0; i < term->count; i++) {
    if (term->labels[i] == label) return true;
  }
  return false;
}

static bool refuse_periods(Str text, Status *status) {
  int periods = 0;
  for (size_t i = 0; i < text.length; i++) periods += text.data[i] == '.';
  return status_invalid(status,
                        "Expected at most one ellipsis (...), but found %d periods (.) in the input "
                        "subscript: %.*s",
                        periods, shown(text), text.data);
}

static bool parse_term(Str text, EinsumTerm *term, Status *status) {
  *term = (EinsumTerm){.ellipsis = -1};
  for (size_t i = 0; i < text.length; i++) {
    if (term->count > SHAPE_MAX_RANK) return status_invalid(status, "Too many dimensions in tensor");
    if (text.data[i] != '.') {
      term->labels[term->count++] = (unsigned char)text.data[i];
      continue;
    }
    if (term->ellipsis >= 0 || text.length - i < 3 || memcmp(text.data + i, "...", 3) != 0)
      return refuse_periods(text, status);
    term->ellipsis = term->count;
    term->labels[term->count++] = EINSUM_ELLIPSIS;
    i += 2;
  }
  return true;
}

/* Where "->" is in the text; its length when it is not. */
static size_t find_arrow(Str text) {
  size_t i = 0;
  while (i < text.length && (text.length - i < 2 || memcmp(text.data + i, "->", 2) != 0)) i++;
  return i;
}

static bool parse_inputs(Str all, Str inputs, int num_inputs, EinsumEquation *equation, Status *status) {
  int count = 1;
  for (size_t i = 0; i < inputs.length; i++) count += inputs.data[i] == ',';
  if (count > 2) {
    return status_invalid(status, "Expecting 1 or 2 input subscripts in equation '%.*s' but got: %d",
                          shown(all), all.data, count);
  }
  if (count != num_inputs) {
    return status_invalid(status, "Expected %d inputs for equation %.*s but got: %d", count, shown(all),
                          all.data, num_inputs);
  }
  equation->num_inputs = count;
  for (int i = 0; i < count; i++) {
    size_t length = 0;
    while (length < inputs.length && inputs.data[length] != ',') length++;
    TRY(parse_term((Str){inputs.data, length}, &equation->inputs[i], status));
    if (i + 1 < count) inputs = (Str){inputs.data + length + 1, inputs.length - length - 1};
  }
  return true;
}

static bool check_output(Str all, const EinsumEquation *equation, Status *status) {
  for (int i = 0; i < equation->output.count; i++) {
    int label = equation->output.labels[i];
    bool known = label == EINSUM_ELLIPSIS;
    for (int k = 0; k < equation->num_inputs; k++)
      known = known || einsum_term_has(&equation->inputs[k], label);
    if (known) continue;
    return status_invalid(status,
                          "Einsum output subscripts for equation '%.*s' has label '%c' which is not present "
                          "in the input subscripts",
                          shown(all), all.data, label);
  }
  return true;
}

bool einsum_read_equation(const NodeDef *node, int num_inputs, EinsumEquation *equation, Status *status) {
  Str all;
  TRY(node_attr_string(node, "equation", &all, status));
  size_t arrow = find_arrow(all);
  Str output = arrow < all.length ? (Str){all.data + arrow + 2, all.length - arrow - 2} : (Str){"", 0};
  if (arrow == all.length || find_arrow(output) < output.length) {
    return status_invalid(status, "Expecting exactly one '->' in einsum equation: %.*s", shown(all),
                          all.data);
  }
  TRY(parse_inputs(all, (Str){all.data, arrow}, num_inputs, equation, status));
  TRY(parse_term(output, &equation->output, status));
  return check_output(all, equation, status);
}
