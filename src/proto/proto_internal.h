/* What the files of proto/ share: walking a message by its descriptor. */
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

/* The type that protoc makes of a map: { key = 1; value = 2 }. */
static inline bool descriptor_is_map_entry(const ProtoDescriptor *descriptor) {
  return descriptor->n_fields == 2 && strcmp(descriptor->fields[0].name, "key") == 0 &&
         strcmp(descriptor->fields[1].name, "value") == 0;
}
static inline bool field_is_map(const Field *field) {
  return field->type == PROTOBUF_C_TYPE_MESSAGE && field_is_repeated(field) &&
         descriptor_is_map_entry(field_message(field));
}

/* Bytes an element takes in memory. */
size_t field_element_size(const Field *field);
/* True when a writer has to write the field: a repeated one with elements, the oneof's set one, a message
 * that is there, a scalar that is not the default. Keys and values of map entries count as present always. */
bool field_is_present(const ProtoMessage *message, const Field *field);
/* The message of a singular field or NULL; for a oneof only when it is the set one. */
ProtoMessage *field_submessage(const ProtoMessage *message, const Field *field);

/* Orders keys of map entries, which are texts (by bytes) or uint32 in all our messages. */
int map_entry_compare_keys(const ProtoMessage *a, const ProtoMessage *b);

/* Makes room in the arena for `more` further elements behind the `count` of a repeated field. Arrays have a
 * capacity of the next power of two, so that no capacity need be stored. False when out of memory. */
bool repeated_reserve(Arena *arena, void **array, size_t count, size_t more, size_t element_size);
/* The slot of a new zeroed element at the end of a repeated field, NULL when out of memory. */
void *repeated_add(Arena *arena, ProtoMessage *message, const Field *field);

/* Later map entries replace earlier ones with the same key, in this message and, when `deep`, in all below
 * it. False when out of memory. */
bool maps_unify(ProtoMessage *message, bool deep, int depth);
/* Gives a map entry its value message when it has none. False when out of memory. */
bool map_entry_complete(ProtoMessage *entry, Arena *arena);

#endif
