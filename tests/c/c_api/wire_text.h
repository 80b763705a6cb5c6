/* Prints serialised FunctionDefs, GraphDefs and NodeDefs as text, without a protocol buffer library: for
 * programs that use only the C API. One line, fields in order, map entries sorted by their text. */
#ifndef TFCORE_TESTS_C_API_WIRE_TEXT_H_
#define TFCORE_TESTS_C_API_WIRE_TEXT_H_

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Text {
  char *data;
  size_t length, capacity;
} Text;

static void text_add(Text *text, const char *bytes, size_t length) {
  if (text->length + length + 1 > text->capacity) {
    text->capacity = 2 * (text->length + length + 1);
    text->data = (char *)realloc(text->data, text->capacity);
    if (!text->data) abort();
  }
  memcpy(text->data + text->length, bytes, length);
  text->length += length;
  text->data[text->length] = 0;
}

static void text_print(Text *text, const char *piece) { text_add(text, piece, strlen(piece)); }

typedef enum WireMessage {
  WIRE_NONE,
  WIRE_GRAPH,
  WIRE_LIBRARY,
  WIRE_GRADIENT,
  WIRE_FUNCTION,
  WIRE_OP,
  WIRE_ARG,
  WIRE_ATTR_DEF,
  WIRE_NODE,
  WIRE_DEBUG_INFO,
  WIRE_ENTRY,
  WIRE_ARG_ENTRY,
  WIRE_ARG_ATTRS,
  WIRE_PAIR,
  WIRE_VALUE,
  WIRE_LIST,
  WIRE_SHAPE,
  WIRE_DIM,
  WIRE_TENSOR,
} WireMessage;

/* The type of a field: a number, text, a message, or an entry of a map. */
typedef enum WireKind { WIRE_NUMBER, WIRE_TEXT, WIRE_SUB, WIRE_MAP } WireKind;

static const struct WireField {
  WireMessage message;
  uint64_t number;
  const char *name;
  WireKind kind;
  WireMessage sub;
} kWireFields[] = {
    {WIRE_GRAPH, 1, "node", WIRE_SUB, WIRE_NODE},
    {WIRE_GRAPH, 2, "library", WIRE_SUB, WIRE_LIBRARY},
    {WIRE_LIBRARY, 1, "function", WIRE_SUB, WIRE_FUNCTION},
    {WIRE_LIBRARY, 2, "gradient", WIRE_SUB, WIRE_GRADIENT},
    {WIRE_GRADIENT, 1, "function_name", WIRE_TEXT, WIRE_NONE},
    {WIRE_GRADIENT, 2, "gradient_func", WIRE_TEXT, WIRE_NONE},
    {WIRE_FUNCTION, 1, "signature", WIRE_SUB, WIRE_OP},
    {WIRE_FUNCTION, 3, "node", WIRE_SUB, WIRE_NODE},
    {WIRE_FUNCTION, 4, "ret", WIRE_MAP, WIRE_PAIR},
    {WIRE_FUNCTION, 5, "attr", WIRE_MAP, WIRE_ENTRY},
    {WIRE_FUNCTION, 6, "control_ret", WIRE_MAP, WIRE_PAIR},
    {WIRE_FUNCTION, 7, "arg_attr", WIRE_MAP, WIRE_ARG_ENTRY},
    {WIRE_OP, 1, "name", WIRE_TEXT, WIRE_NONE},
    {WIRE_OP, 2, "input_arg", WIRE_SUB, WIRE_ARG},
    {WIRE_OP, 3, "output_arg", WIRE_SUB, WIRE_ARG},
    {WIRE_OP, 4, "attr", WIRE_SUB, WIRE_ATTR_DEF},
    {WIRE_OP, 6, "description", WIRE_TEXT, WIRE_NONE},
    {WIRE_OP, 17, "is_stateful", WIRE_NUMBER, WIRE_NONE},
    {WIRE_OP, 20, "control_output", WIRE_TEXT, WIRE_NONE},
    {WIRE_ARG, 1, "name", WIRE_TEXT, WIRE_NONE},
    {WIRE_ARG, 3, "type", WIRE_NUMBER, WIRE_NONE},
    {WIRE_ATTR_DEF, 1, "name", WIRE_TEXT, WIRE_NONE},
    {WIRE_ATTR_DEF, 2, "type", WIRE_TEXT, WIRE_NONE},
    {WIRE_NODE, 1, "name", WIRE_TEXT, WIRE_NONE},
    {WIRE_NODE, 2, "op", WIRE_TEXT, WIRE_NONE},
    {WIRE_NODE, 3, "input", WIRE_TEXT, WIRE_NONE},
    {WIRE_NODE, 4, "device", WIRE_TEXT, WIRE_NONE},
    {WIRE_NODE, 5, "attr", WIRE_MAP, WIRE_ENTRY},
    {WIRE_NODE, 6, "debug_info", WIRE_SUB, WIRE_DEBUG_INFO},
    {WIRE_DEBUG_INFO, 1, "original_node_names", WIRE_TEXT, WIRE_NONE},
    {WIRE_ENTRY, 1, "key", WIRE_TEXT, WIRE_NONE},
    {WIRE_ENTRY, 2, "value", WIRE_SUB, WIRE_VALUE},
    {WIRE_ARG_ENTRY, 1, "key", WIRE_NUMBER, WIRE_NONE},
    {WIRE_ARG_ENTRY, 2, "value", WIRE_SUB, WIRE_ARG_ATTRS},
    {WIRE_ARG_ATTRS, 1, "attr", WIRE_MAP, WIRE_ENTRY},
    {WIRE_PAIR, 1, "key", WIRE_TEXT, WIRE_NONE},
    {WIRE_PAIR, 2, "value", WIRE_TEXT, WIRE_NONE},
    {WIRE_VALUE, 1, "list", WIRE_SUB, WIRE_LIST},
    {WIRE_VALUE, 2, "s", WIRE_TEXT, WIRE_NONE},
    {WIRE_VALUE, 3, "i", WIRE_NUMBER, WIRE_NONE},
    {WIRE_VALUE, 4, "f", WIRE_NUMBER, WIRE_NONE},
    {WIRE_VALUE, 5, "b", WIRE_NUMBER, WIRE_NONE},
    {WIRE_VALUE, 6, "type", WIRE_NUMBER, WIRE_NONE},
    {WIRE_VALUE, 7, "shape", WIRE_SUB, WIRE_SHAPE},
    {WIRE_VALUE, 8, "tensor", WIRE_SUB, WIRE_TENSOR},
    {WIRE_VALUE, 9, "placeholder", WIRE_TEXT, WIRE_NONE},
    {WIRE_LIST, 2, "s", WIRE_TEXT, WIRE_NONE},
    {WIRE_LIST, 3, "i", WIRE_TEXT, WIRE_NONE},
    {WIRE_LIST, 6, "type", WIRE_TEXT, WIRE_NONE},
    {WIRE_LIST, 7, "shape", WIRE_SUB, WIRE_SHAPE},
    {WIRE_SHAPE, 2, "dim", WIRE_SUB, WIRE_DIM},
    {WIRE_SHAPE, 3, "unknown_rank", WIRE_NUMBER, WIRE_NONE},
    {WIRE_DIM, 1, "size", WIRE_NUMBER, WIRE_NONE},
    {WIRE_TENSOR, 1, "dtype", WIRE_NUMBER, WIRE_NONE},
    {WIRE_TENSOR, 2, "shape", WIRE_SUB, WIRE_SHAPE},
    {WIRE_TENSOR, 4, "content", WIRE_TEXT, WIRE_NONE},
    {WIRE_TENSOR, 5, "float_val", WIRE_TEXT, WIRE_NONE},
    {WIRE_TENSOR, 7, "int_val", WIRE_TEXT, WIRE_NONE},
};

typedef struct Wire {
  const uint8_t *at, *end;
} Wire;

static uint64_t wire_varint(Wire *wire) {
  uint64_t value = 0;
  for (int shift = 0; wire->at < wire->end; shift += 7) {
    uint8_t byte = *wire->at++;
    value |= (uint64_t)(byte & 127) << (shift & 63);
    if (byte < 128) break;
  }
  return value;
}

static const struct WireField *wire_field(WireMessage message, uint64_t number) {
  for (size_t i = 0; i < sizeof kWireFields / sizeof *kWireFields; i++) {
    if (kWireFields[i].message == message && kWireFields[i].number == number) return &kWireFields[i];
  }
  return NULL;
}

static void wire_quote(Text *out, const uint8_t *bytes, size_t length) {
  char piece[8];
  text_print(out, "\"");
  for (size_t i = 0; i < length; i++) {
    int plain = bytes[i] >= ' ' && bytes[i] < 127 && bytes[i] != '"' && bytes[i] != '\\';
    snprintf(piece, sizeof piece, plain ? "%c" : "\\%03o", bytes[i]);
    text_print(out, piece);
  }
  text_print(out, "\"");
}

static int wire_compare(const void *a, const void *b) {
  return strcmp(((const Text *)a)->data, ((const Text *)b)->data);
}

static void wire_print(WireMessage message, Wire wire, Text *out);

/* Prints one field; an entry of a map goes to `entries`. Unknown fields are printed by their number. */
static void wire_print_field(WireMessage message, Wire *wire, Text *out, Text *entries, int *num_entries) {
  char number[40];
  uint64_t tag = wire_varint(wire);
  const struct WireField *field = wire_field(message, tag >> 3);
  Text text = {0};
  if (field) {
    text_print(&text, field->name);
  } else {
    snprintf(number, sizeof number, "%d.%d", (int)message, (int)(tag >> 3));
    text_print(&text, number);
  }
  if ((tag & 7) == 2) {
    size_t length = (size_t)wire_varint(wire);
    Wire sub = {wire->at, wire->at + length};
    wire->at += length;
    if (field && field->kind >= WIRE_SUB) {
      text_print(&text, " {");
      wire_print(field->sub, sub, &text);
      text_print(&text, " }");
    } else {
      text_print(&text, ": ");
      wire_quote(&text, sub.at, length);
    }
  } else {
    uint64_t value = 0;
    size_t width = (tag & 7) == 5 ? 4 : 8;
    if ((tag & 7) == 0) {
      value = wire_varint(wire);
    } else {
      memcpy(&value, wire->at, width);
      wire->at += width;
    }
    snprintf(number, sizeof number, ": %lld", (long long)value);
    text_print(&text, number);
  }
  if (field && field->kind == WIRE_MAP && *num_entries < 64) {
    entries[(*num_entries)++] = text;
    return;
  }
  text_print(out, " ");
  text_add(out, text.data, text.length);
  free(text.data);
}

static void wire_print(WireMessage message, Wire wire, Text *out) {
  Text entries[64];
  int num_entries = 0;
  while (wire.at < wire.end) wire_print_field(message, &wire, out, entries, &num_entries);
  qsort(entries, (size_t)num_entries, sizeof *entries, wire_compare);
  for (int i = 0; i < num_entries; i++) {
    text_print(out, " ");
    text_add(out, entries[i].data, entries[i].length);
    free(entries[i].data);
  }
}

#endif
