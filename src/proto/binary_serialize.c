/* The serializer of the binary format. One walk computes the size; a second one writes backward from the end,
 * where the length of every submessage is known when its prefix is written, so nothing is measured twice or
 * moved. */
#include <inttypes.h>

#include "base/alloc.h"
#include "proto/proto_internal.h"

static int varint_size(uint64_t value) {
  int size = 1;
  for (; value >= 0x80; value >>= 7) size++;
  return size;
}

static int tag_size(const Field *field) { return varint_size((uint64_t)field->id << 3); }

/* The value written for a varint field: negative int32 and enums are sign-extended to 64 bits. */
static uint64_t varint_value(const Field *field, const void *element) {
  switch (field->type) {
    case PROTOBUF_C_TYPE_BOOL: return *(const protobuf_c_boolean *)element != 0;
    case PROTOBUF_C_TYPE_UINT32: return *(const uint32_t *)element;
    case PROTOBUF_C_TYPE_SINT32: {
      int32_t value = *(const int32_t *)element;
      return (uint32_t)value << 1 ^ (value < 0 ? UINT32_MAX : 0);
    }
    case PROTOBUF_C_TYPE_SINT64: {
      int64_t value = *(const int64_t *)element;
      return (uint64_t)value << 1 ^ (value < 0 ? UINT64_MAX : 0);
    }
    case PROTOBUF_C_TYPE_INT64:
    case PROTOBUF_C_TYPE_UINT64: return *(const uint64_t *)element;
    default: return (uint64_t)(int64_t) * (const int32_t *)element;
  }
}

/* The size of a number without its tag. */
static int number_size(const Field *field, int wire, const void *element) {
  if (wire == WIRE_VARINT) return varint_size(varint_value(field, element));
  return wire == WIRE_32BIT ? 4 : 8;
}

static bool is_packed(const Field *field) {
  return field_is_repeated(field) && (field->flags & PROTOBUF_C_FIELD_FLAG_PACKED) != 0;
}

/* A string's or bytes field's content. */
static Str content_of(const Field *field, const void *element) {
  if (field->type == PROTOBUF_C_TYPE_STRING) {
    const char *text = *(char *const *)element;
    return str_of(text ? text : "");
  }
  const ProtobufCBinaryData *bytes = element;
  return (Str){(const char *)bytes->data, bytes->len};
}

/* --- sizes --- */

static bool message_size(const ProtoMessage *message, int depth, int64_t *size);

/* The size of an element with its tag or, inside a packed field, without. */
static bool element_size(const Field *field, const void *element, bool packed, int depth, int64_t *size) {
  int wire = field_wire_type(field);
  int64_t length = 0;
  if (wire != WIRE_LENGTH) {
    *size = number_size(field, wire, element) + (packed ? 0 : tag_size(field));
    return true;
  }
  if (field->type == PROTOBUF_C_TYPE_MESSAGE) {
    const ProtoMessage *child = *(ProtoMessage *const *)element;
    if (child) TRY(message_size(child, depth + 1, &length));
  } else {
    length = (int64_t)content_of(field, element).length;
  }
  *size = tag_size(field) + varint_size((uint64_t)length) + length;
  return true;
}

static bool field_size(const ProtoMessage *message, const Field *field, int depth, int64_t *size) {
  if (!field_is_repeated(field)) return element_size(field, field_member(message, field), false, depth, size);
  const char *array = *(char **)field_member(message, field);
  size_t count = *field_count(message, field), stride = field_element_size(field);
  bool packed = is_packed(field);
  int64_t total = 0, one;
  for (size_t i = 0; i < count; i++) {
    TRY(element_size(field, array + i * stride, packed, depth, &one));
    total += one;
  }
  if (packed) total += tag_size(field) + varint_size((uint64_t)total);
  *size = total;
  return true;
}

static bool message_size(const ProtoMessage *message, int depth, int64_t *size) {
  if (depth > PROTO_MAX_WALK_DEPTH) return false;
  int64_t total = 0, one;
  for (unsigned i = 0; i < message->descriptor->n_fields; i++) {
    const Field *field = &message->descriptor->fields[i];
    if (!field_is_present(message, field)) continue;
    TRY(field_size(message, field, depth, &one));
    total += one;
  }
  for (unsigned i = 0; i < message->n_unknown_fields; i++) {
    const ProtobufCMessageUnknownField *unknown = &message->unknown_fields[i];
    total += varint_size((uint64_t)unknown->tag << 3) + (int64_t)unknown->len;
  }
  *size = total;
  return true;
}

/* --- writing backward: every function takes the end of its output and returns the beginning --- */

static uint8_t *write_varint(uint8_t *end, uint64_t value) {
  uint8_t *begin = end - varint_size(value), *p = begin;
  for (; value >= 0x80; value >>= 7) *p++ = (uint8_t)(value | 0x80);
  *p = (uint8_t)value;
  return begin;
}

static uint8_t *write_tag(uint8_t *end, uint32_t id, int wire) {
  return write_varint(end, (uint64_t)id << 3 | (uint64_t)wire);
}

static uint8_t *write_bytes(uint8_t *end, const void *bytes, size_t length) {
  end -= length;
  if (length > 0) memcpy(end, bytes, length);
  return end;
}

static uint8_t *write_message(uint8_t *end, const ProtoMessage *message);

static uint8_t *write_element(uint8_t *end, const Field *field, const void *element, bool packed) {
  int wire = field_wire_type(field);
  if (wire == WIRE_VARINT) {
    end = write_varint(end, varint_value(field, element));
  } else if (wire != WIRE_LENGTH) {
    end = write_bytes(end, element, wire == WIRE_32BIT ? 4 : 8);
  } else {
    uint8_t *behind = end;
    if (field->type == PROTOBUF_C_TYPE_MESSAGE) {
      const ProtoMessage *child = *(ProtoMessage *const *)element;
      if (child) end = write_message(end, child);
    } else {
      Str content = content_of(field, element);
      end = write_bytes(end, content.data, content.length);
    }
    end = write_varint(end, (uint64_t)(behind - end));
  }
  return packed ? end : write_tag(end, field->id, wire);
}

static uint8_t *write_field(uint8_t *end, const ProtoMessage *message, const Field *field) {
  if (!field_is_repeated(field)) return write_element(end, field, field_member(message, field), false);
  const char *array = *(char **)field_member(message, field);
  size_t stride = field_element_size(field);
  bool packed = is_packed(field);
  uint8_t *behind = end;
  for (size_t i = *field_count(message, field); i > 0; i--) {
    end = write_element(end, field, array + (i - 1) * stride, packed);
  }
  if (!packed) return end;
  end = write_varint(end, (uint64_t)(behind - end));
  return write_tag(end, field->id, WIRE_LENGTH);
}

static uint8_t *write_message(uint8_t *end, const ProtoMessage *message) {
  for (unsigned i = message->n_unknown_fields; i > 0; i--) {
    const ProtobufCMessageUnknownField *unknown = &message->unknown_fields[i - 1];
    end = write_bytes(end, unknown->data, unknown->len);
    end = write_tag(end, unknown->tag, (int)unknown->wire_type);
  }
  for (unsigned i = message->descriptor->n_fields; i > 0; i--) {
    const Field *field = &message->descriptor->fields[i - 1];
    if (field_is_present(message, field)) end = write_field(end, message, field);
  }
  return end;
}

bool proto_serialize(const void *message, StrBuf *out, Status *status) {
  const char *name = ((const ProtoMessage *)message)->descriptor->name;
  int64_t size;
  if (!message_size(message, 0, &size)) {
    return status_invalid(status, "Cannot serialize %s: messages nested deeper than %d levels", name,
                          PROTO_MAX_WALK_DEPTH);
  }
  if (size > INT32_MAX) {
    return status_invalid(status, "%s exceeded maximum protobuf size of 2GB: %" PRId64, name, size);
  }
  TRY(strbuf_ok(out, status));
  if (!mem_grow((void **)&out->data, &out->capacity, out->length + size + 1, 1))
    return status_oom(status, name);
  out->length += size;
  out->data[out->length] = '\0';
  write_message((uint8_t *)out->data + out->length, message);
  return true;
}
