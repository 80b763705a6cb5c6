#include <inttypes.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "proto/proto_internal.h"

typedef struct Printer {
  ProtoTextStyle style;
  StrBuf *out;
  bool started; /* short style: print a blank before the next token */
} Printer;

static void begin_token(Printer *printer, int depth) {
  if (printer->style == PROTO_TEXT_MULTI_LINE) {
    for (int i = 0; i < depth; i++) strbuf_append_bytes(printer->out, "  ", 2);
  } else if (printer->started) {
    strbuf_append_char(printer->out, ' ');
  }
  printer->started = true;
}

static void end_token(Printer *printer) {
  if (printer->style == PROTO_TEXT_MULTI_LINE) strbuf_append_char(printer->out, '\n');
}

static void print_enum(const Field *field, int number, StrBuf *out) {
  const ProtobufCEnumValue *value = protobuf_c_enum_descriptor_get_value(field->descriptor, number);
  if (value) {
    strbuf_append(out, value->name);
  } else {
    strbuf_printf(out, "%d", number);
  }
}

static void print_quoted(const void *bytes, size_t length, StrBuf *out) {
  strbuf_append_char(out, '"');
  strbuf_append_c_escaped(out, bytes, length);
  strbuf_append_char(out, '"');
}

static void print_scalar(const Field *field, const void *element, StrBuf *out) {
  char text[NUMBER_TEXT_CAPACITY];
  switch (field->type) {
    case PROTOBUF_C_TYPE_INT32:
    case PROTOBUF_C_TYPE_SINT32:
    case PROTOBUF_C_TYPE_SFIXED32: strbuf_printf(out, "%" PRId32, *(const int32_t *)element); break;
    case PROTOBUF_C_TYPE_UINT32:
    case PROTOBUF_C_TYPE_FIXED32: strbuf_printf(out, "%" PRIu32, *(const uint32_t *)element); break;
    case PROTOBUF_C_TYPE_INT64:
    case PROTOBUF_C_TYPE_SINT64:
    case PROTOBUF_C_TYPE_SFIXED64: strbuf_printf(out, "%" PRId64, *(const int64_t *)element); break;
    case PROTOBUF_C_TYPE_UINT64:
    case PROTOBUF_C_TYPE_FIXED64: strbuf_printf(out, "%" PRIu64, *(const uint64_t *)element); break;
    case PROTOBUF_C_TYPE_FLOAT: strbuf_append(out, proto_float_text(*(const float *)element, text)); break;
    case PROTOBUF_C_TYPE_DOUBLE: strbuf_append(out, proto_double_text(*(const double *)element, text)); break;
    case PROTOBUF_C_TYPE_BOOL:
      strbuf_append(out, *(const protobuf_c_boolean *)element ? "true" : "false");
      break;
    case PROTOBUF_C_TYPE_ENUM: print_enum(field, *(const int *)element, out); break;
    case PROTOBUF_C_TYPE_STRING: {
      const char *string = *(char *const *)element;
      print_quoted(string, string ? strlen(string) : 0, out);
      break;
    }
    case PROTOBUF_C_TYPE_BYTES: {
      const ProtobufCBinaryData *bytes = element;
      print_quoted(bytes->data, bytes->len, out);
      break;
    }
    case PROTOBUF_C_TYPE_MESSAGE: break; /* printed by print_element */
  }
}

static void print_fields(Printer *printer, const ProtoMessage *message, int depth);

static void print_element(Printer *printer, const Field *field, const void *element, int depth) {
  begin_token(printer, depth);
  strbuf_append(printer->out, field->name);
  if (field->type != PROTOBUF_C_TYPE_MESSAGE) {
    strbuf_append(printer->out, ": ");
    print_scalar(field, element, printer->out);
    end_token(printer);
    return;
  }
  strbuf_append(printer->out, " {");
  end_token(printer);
  const ProtoMessage *child = *(ProtoMessage *const *)element;
  if (depth >= PROTO_MAX_WALK_DEPTH) {
    begin_token(printer, depth + 1);
    strbuf_append(printer->out, "...");
    end_token(printer);
  } else if (child) {
    print_fields(printer, child, depth + 1);
  }
  begin_token(printer, depth);
  strbuf_append_char(printer->out, '}');
  end_token(printer);
}

static int compare_entries(const void *a, const void *b) {
  return map_entry_compare_keys(*(ProtoMessage *const *)a, *(ProtoMessage *const *)b);
}

static void print_map(Printer *printer, const Field *field, ProtoMessage *const *entries, size_t count,
                      int depth) {
  ProtoMessage **sorted = mem_alloc((int64_t)(count * sizeof *sorted));
  if (!sorted) {
    printer->out->failed = true;
    return;
  }
  memcpy(sorted, entries, count * sizeof *sorted);
  qsort(sorted, count, sizeof *sorted, compare_entries);
  for (size_t i = 0; i < count; i++) print_element(printer, field, &sorted[i], depth);
  mem_free(sorted);
}

static void print_fields(Printer *printer, const ProtoMessage *message, int depth) {
  const ProtoDescriptor *descriptor = message->descriptor;
  for (unsigned i = 0; i < descriptor->n_fields; i++) {
    const Field *field = &descriptor->fields[i];
    if (!field_is_present(message, field)) continue;
    if (!field_is_repeated(field)) {
      print_element(printer, field, field_member(message, field), depth);
      continue;
    }
    const char *array = *(char **)field_member(message, field);
    size_t count = *field_count(message, field), stride = field_element_size(field);
    if (count > 1 && field_is_map(field)) {
      print_map(printer, field, (ProtoMessage *const *)(const void *)array, count, depth);
      continue;
    }
    for (size_t k = 0; k < count; k++) print_element(printer, field, array + k * stride, depth);
  }
}

void proto_print_text(const void *message, ProtoTextStyle style, StrBuf *out) {
  Printer printer = {.style = style, .out = out};
  print_fields(&printer, message, 0);
}
