/* Declarations shared by the files of proto/: walking a message by its descriptor. */
#ifndef TFCORE_PROTO_PROTO_INTERNAL_H_
#define TFCORE_PROTO_PROTO_INTERNAL_H_

#include <string.h>

#include "proto/proto.h"

typedef ProtobufCFieldDescriptor Field;

static inline void *field_member(const ProtoMessage *message, const Field *field) {
  return (char *)message + field->offset;
}

/* The element count of a repeated field. */
static inline size_t *field_count(const ProtoMessage *message, const Field *field) {
  return (size_t *)(void *)((char *)message + field->quantifier_offset);
}

static inline bool field_is_repeated(const Field *field) { return field->label == PROTOBUF_C_LABEL_REPEATED; }
static inline bool field_is_oneof(const Field *field) {
  return (field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) != 0;
}

/* The number of the oneof's field that is set; 0 when none is. */
static inline uint32_t *field_oneof_case(const ProtoMessage *message, const Field *field) {
  return (uint32_t *)(void *)((char *)message + field->quantifier_offset);
}

static inline const ProtoDescriptor *field_message(const Field *field) { return field->descriptor; }

/* protoc's type for a map: { key = 1; value = 2 }. */
static inline bool descriptor_is_map_entry(const ProtoDescriptor *descriptor) {
  return descriptor->n_fields == 2 && strcmp(descriptor->fields[0].name, "key") == 0 &&
         strcmp(descriptor->fields[1].name, "value") == 0;
}
static inline bool field_is_map(const Field *field) {
  return field->type == PROTOBUF_C_TYPE_MESSAGE && field_is_repeated(field) &&
         descriptor_is_map_entry(field_message(field));
}

/* The wire types of the binary format. */
enum { WIRE_VARINT = 0, WIRE_64BIT = 1, WIRE_LENGTH = 2, WIRE_32BIT = 5 };

static inline int field_wire_type(const Field *field) {
  switch (field->type) {
    case PROTOBUF_C_TYPE_SFIXED32:
    case PROTOBUF_C_TYPE_FIXED32:
    case PROTOBUF_C_TYPE_FLOAT: return WIRE_32BIT;
    case PROTOBUF_C_TYPE_SFIXED64:
    case PROTOBUF_C_TYPE_FIXED64:
    case PROTOBUF_C_TYPE_DOUBLE: return WIRE_64BIT;
    case PROTOBUF_C_TYPE_STRING:
    case PROTOBUF_C_TYPE_BYTES:
    case PROTOBUF_C_TYPE_MESSAGE: return WIRE_LENGTH;
    default: return WIRE_VARINT;
  }
}

/* The size of an element in memory. */
size_t field_element_size(const Field *field);
/* Whether the field must be written: a repeated field with elements, the oneof's set field, an existing
 * message, or a scalar other than the default. Keys and values of map entries are always written. */
bool field_is_present(const ProtoMessage *message, const Field *field);
/* The message of a singular field or NULL; for a oneof only if the field is set. */
ProtoMessage *field_submessage(const ProtoMessage *message, const Field *field);

/* Compares keys of map entries, which are texts (by bytes) or uint32 in all messages here. */
int map_entry_compare_keys(const ProtoMessage *a, const ProtoMessage *b);

/* The capacity of such an array with `count` elements, for those that allocate one themselves and let it
 * grow. */
int64_t repeated_capacity(size_t count);
/* Gives the array of a repeated field space for `more` elements after the `count` existing ones. The capacity
 * is always the next power of two, so it is not stored. False when out of memory. */
bool repeated_reserve(Arena *arena, void **array, size_t count, size_t more, size_t element_size);
/* Appends a zeroed element to a repeated field; NULL when out of memory. */
void *repeated_add(Arena *arena, ProtoMessage *message, const Field *field);

/* Removes map entries that a later entry with the same key replaces, in this message and, if `deep`, in all
 * submessages. False when out of memory. */
bool maps_unify(ProtoMessage *message, bool deep, int depth);
/* Adds a missing value message to a map entry. False when out of memory. */
bool map_entry_complete(ProtoMessage *entry, Arena *arena);

#endif
