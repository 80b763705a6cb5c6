#include "base/alloc.h"
#include "base/string_map.h"
#include "proto/proto_internal.h"

const ProtoDescriptor *const kGraphDef = &tensorflow__graph_def__descriptor;
const ProtoDescriptor *const kNodeDef = &tensorflow__node_def__descriptor;
const ProtoDescriptor *const kOpDef = &tensorflow__op_def__descriptor;
const ProtoDescriptor *const kOpList = &tensorflow__op_list__descriptor;
const ProtoDescriptor *const kKernelDef = &tensorflow__kernel_def__descriptor;
const ProtoDescriptor *const kKernelConstraint = &tensorflow__kernel_def__attr_constraint__descriptor;
const ProtoDescriptor *const kKernelList = &tensorflow__kernel_list__descriptor;
const ProtoDescriptor *const kAttrValue = &tensorflow__attr_value__descriptor;
const ProtoDescriptor *const kFunctionDef = &tensorflow__function_def__descriptor;
const ProtoDescriptor *const kFunctionDefLibrary = &tensorflow__function_def_library__descriptor;
const ProtoDescriptor *const kTensorProto = &tensorflow__tensor_proto__descriptor;
const ProtoDescriptor *const kTensorShapeProto = &tensorflow__tensor_shape_proto__descriptor;
const ProtoDescriptor *const kVersionDef = &tensorflow__version_def__descriptor;
const ProtoDescriptor *const kConfigProto = &tensorflow__config_proto__descriptor;
const ProtoDescriptor *const kRunOptions = &tensorflow__run_options__descriptor;

size_t field_element_size(const Field *field) {
  switch (field->type) {
    case PROTOBUF_C_TYPE_INT64:
    case PROTOBUF_C_TYPE_SINT64:
    case PROTOBUF_C_TYPE_SFIXED64:
    case PROTOBUF_C_TYPE_UINT64:
    case PROTOBUF_C_TYPE_FIXED64:
    case PROTOBUF_C_TYPE_DOUBLE: return 8;
    case PROTOBUF_C_TYPE_BOOL: return sizeof(protobuf_c_boolean);
    case PROTOBUF_C_TYPE_STRING:
    case PROTOBUF_C_TYPE_MESSAGE: return sizeof(void *);
    case PROTOBUF_C_TYPE_BYTES: return sizeof(ProtobufCBinaryData);
    default: return 4;
  }
}

bool field_is_present(const ProtoMessage *message, const Field *field) {
  if (field_is_repeated(field)) return *field_count(message, field) > 0;
  if (field_is_oneof(field)) return *field_oneof_case(message, field) == field->id;
  if (descriptor_is_map_entry(message->descriptor)) return true;
  const void *member = field_member(message, field);
  switch (field->type) {
    case PROTOBUF_C_TYPE_MESSAGE: return *(void *const *)member;
    case PROTOBUF_C_TYPE_STRING: return *(const char *const *)member && **(const char *const *)member;
    case PROTOBUF_C_TYPE_BYTES: return ((const ProtobufCBinaryData *)member)->len > 0;
    default: {
      static const char zeros[8];
      return memcmp(member, zeros, field_element_size(field)) != 0;
    }
  }
}

ProtoMessage *field_submessage(const ProtoMessage *message, const Field *field) {
  if (field_is_oneof(field) && *field_oneof_case(message, field) != field->id) return NULL;
  return *(ProtoMessage **)field_member(message, field);
}

/* Numeric map keys are unsigned, of 32 or 64 bits. */
static uint64_t number_key(const ProtoMessage *entry, const Field *key) {
  const void *member = field_member(entry, key);
  return field_element_size(key) == 8 ? *(const uint64_t *)member : *(const uint32_t *)member;
}

int map_entry_compare_keys(const ProtoMessage *a, const ProtoMessage *b) {
  const Field *key = &a->descriptor->fields[0];
  if (key->type == PROTOBUF_C_TYPE_STRING) {
    return strcmp(*(char **)field_member(a, key), *(char **)field_member(b, key));
  }
  uint64_t x = number_key(a, key), y = number_key(b, key);
  return (x > y) - (x < y);
}

/* --- construction --- */

static void *new_message(const ProtoDescriptor *descriptor, Arena *arena) {
  ProtoMessage *message = arena_alloc(arena, (int64_t)descriptor->sizeof_message);
  if (message) descriptor->message_init(message);
  return message;
}

void *proto_new(const ProtoDescriptor *descriptor, Arena *arena) { return new_message(descriptor, arena); }

int64_t repeated_capacity(size_t count) {
  if (count == 0) return 0;
  int64_t capacity = 1;
  while (capacity < (int64_t)count) capacity *= 2;
  return capacity;
}

bool repeated_reserve(Arena *arena, void **array, size_t count, size_t more, size_t element_size) {
  if (more > (size_t)PTRDIFF_MAX - count) return false;
  int64_t capacity = repeated_capacity(count + more), bytes;
  if (capacity == repeated_capacity(count)) return true;
  if (__builtin_mul_overflow(capacity, (int64_t)element_size, &bytes)) return false;
  void *grown = arena_grow(arena, *array, (int64_t)(count * element_size), bytes);
  if (!grown) return false;
  *array = grown;
  return true;
}

void *repeated_add(Arena *arena, ProtoMessage *message, const Field *field) {
  size_t *count = field_count(message, field), size = field_element_size(field);
  void **array = field_member(message, field);
  if (!repeated_reserve(arena, array, *count, 1, size)) return NULL;
  char *slot = (char *)*array + *count * size;
  memset(slot, 0, size);
  ++*count;
  return slot;
}

bool proto_append(Arena *arena, void ***array, size_t *count, void *element, Status *status) {
  void *raw = *array;
  if (!repeated_reserve(arena, &raw, *count, 1, sizeof(void *))) return status_oom(status, "repeated field");
  *array = raw;
  (*array)[(*count)++] = element;
  return true;
}

bool map_entry_complete(ProtoMessage *entry, Arena *arena) {
  const Field *value = &entry->descriptor->fields[1];
  if (value->type != PROTOBUF_C_TYPE_MESSAGE) return true;
  ProtoMessage **member = field_member(entry, value);
  if (!*member) *member = new_message(field_message(value), arena);
  return *member != NULL;
}

/* --- maps --- */

static const void *map_key(const ProtoMessage *entry, size_t *length) {
  const Field *key = &entry->descriptor->fields[0];
  const void *member = field_member(entry, key);
  if (key->type != PROTOBUF_C_TYPE_STRING) {
    *length = field_element_size(key);
    return member;
  }
  const char *text = *(char *const *)member;
  *length = strlen(text);
  return text;
}

/* A few entries are compared pairwise, many through a hash map, which keeps the time linear. */
enum { MAP_SCAN_LIMIT = 16 };

static bool unify_map(ProtoMessage *message, const Field *field) {
  ProtoMessage **entries = *(ProtoMessage ***)field_member(message, field);
  size_t *count = field_count(message, field), kept = 0;
  StringMap index = {0};
  Status ignored;
  status_init(&ignored);
  bool hashed = *count > MAP_SCAN_LIMIT;
  for (size_t i = 0; i < *count; i++) {
    size_t length, at = kept;
    const void *key = map_key(entries[i], &length);
    if (hashed) {
      ProtoMessage **earlier = string_map_find_bytes(&index, key, length);
      if (earlier) {
        at = (size_t)(earlier - entries);
      } else if (!string_map_set_bytes(&index, key, length, &entries[kept], &ignored)) {
        string_map_free(&index);
        return false;
      }
    } else {
      for (at = 0; at < kept && map_entry_compare_keys(entries[at], entries[i]) != 0;) at++;
    }
    entries[at] = entries[i];
    if (at == kept) kept++;
  }
  *count = kept;
  string_map_free(&index);
  return true;
}

bool maps_unify(ProtoMessage *message, bool deep, int depth) {
  if (depth > PROTO_MAX_WALK_DEPTH) return true;
  const ProtoDescriptor *descriptor = message->descriptor;
  for (unsigned i = 0; i < descriptor->n_fields; i++) {
    const Field *field = &descriptor->fields[i];
    if (field->type != PROTOBUF_C_TYPE_MESSAGE) continue;
    if (!field_is_repeated(field)) {
      ProtoMessage *child = field_submessage(message, field);
      if (deep && child) TRY(maps_unify(child, deep, depth + 1));
      continue;
    }
    if (*field_count(message, field) > 1 && field_is_map(field)) TRY(unify_map(message, field));
    ProtoMessage **children = *(ProtoMessage ***)field_member(message, field);
    for (size_t k = 0; deep && k < *field_count(message, field); k++) {
      TRY(maps_unify(children[k], deep, depth + 1));
    }
  }
  return true;
}

/* --- deep copies --- */

static ProtoMessage *copy_message(const ProtoMessage *from, Arena *arena, int depth);

/* Copies the targets of the element at `to`, which is a bitwise copy of the original. */
static bool copy_element(const Field *field, void *to, Arena *arena, int depth) {
  if (field->type == PROTOBUF_C_TYPE_STRING) {
    char **text = to;
    if (!*text || !**text) {
      *text = (char *)protobuf_c_empty_string;
      return true;
    }
    *text = arena_strdup(arena, *text);
    return *text != NULL;
  }
  if (field->type == PROTOBUF_C_TYPE_BYTES) {
    ProtobufCBinaryData *bytes = to;
    bytes->data = bytes->len == 0 ? NULL : arena_copy_bytes(arena, bytes->data, bytes->len);
    return bytes->data || bytes->len == 0;
  }
  if (field->type == PROTOBUF_C_TYPE_MESSAGE) {
    ProtoMessage **message = to;
    if (!*message) return true;
    *message = copy_message(*message, arena, depth + 1);
    return *message != NULL;
  }
  return true;
}

static bool copy_repeated(const ProtoMessage *from, ProtoMessage *to, const Field *field, Arena *arena,
                          int depth) {
  size_t count = *field_count(from, field), size = field_element_size(field);
  void **array = field_member(to, field);
  *array = NULL;
  if (count == 0) return true;
  TRY(repeated_reserve(arena, array, 0, count, size));
  memcpy(*array, *(void **)field_member(from, field), count * size);
  for (size_t i = 0; i < count; i++) TRY(copy_element(field, (char *)*array + i * size, arena, depth));
  return true;
}

static bool copy_unknown_fields(ProtoMessage *to, Arena *arena) {
  size_t count = to->n_unknown_fields;
  const ProtobufCMessageUnknownField *from = to->unknown_fields;
  to->unknown_fields = NULL;
  if (count == 0) return true;
  void *array = NULL;
  TRY(repeated_reserve(arena, &array, 0, count, sizeof *from));
  to->unknown_fields = array;
  for (size_t i = 0; i < count; i++) {
    to->unknown_fields[i] = from[i];
    to->unknown_fields[i].data = arena_alloc(arena, (int64_t)from[i].len);
    if (!to->unknown_fields[i].data) return false;
    memcpy(to->unknown_fields[i].data, from[i].data, from[i].len);
  }
  return true;
}

static ProtoMessage *copy_message(const ProtoMessage *from, Arena *arena, int depth) {
  if (depth > PROTO_MAX_WALK_DEPTH) return NULL;
  const ProtoDescriptor *descriptor = from->descriptor;
  ProtoMessage *to = arena_alloc(arena, (int64_t)descriptor->sizeof_message);
  if (!to) return NULL;
  memcpy(to, from, descriptor->sizeof_message);
  for (unsigned i = 0; i < descriptor->n_fields; i++) {
    const Field *field = &descriptor->fields[i];
    if (field_is_repeated(field)) {
      if (!copy_repeated(from, to, field, arena, depth)) return NULL;
    } else if (!field_is_oneof(field) || *field_oneof_case(from, field) == field->id) {
      if (!copy_element(field, field_member(to, field), arena, depth)) return NULL;
    }
  }
  return copy_unknown_fields(to, arena) ? to : NULL;
}

void *proto_copy(const void *message, Arena *arena) { return copy_message(message, arena, 0); }

/* --- equality --- */

static bool equal_messages(const ProtoMessage *a, const ProtoMessage *b, int depth);

static bool equal_elements(const Field *field, const void *a, const void *b, int depth) {
  switch (field->type) {
    case PROTOBUF_C_TYPE_STRING: {
      const char *x = *(char *const *)a, *y = *(char *const *)b;
      return strcmp(x ? x : "", y ? y : "") == 0;
    }
    case PROTOBUF_C_TYPE_BYTES: {
      const ProtobufCBinaryData *x = a, *y = b;
      return x->len == y->len && (x->len == 0 || memcmp(x->data, y->data, x->len) == 0);
    }
    case PROTOBUF_C_TYPE_MESSAGE: {
      const ProtoMessage *x = *(ProtoMessage *const *)a, *y = *(ProtoMessage *const *)b;
      if (!x || !y) return x == y;
      return equal_messages(x, y, depth + 1);
    }
    case PROTOBUF_C_TYPE_BOOL: return !*(const protobuf_c_boolean *)a == !*(const protobuf_c_boolean *)b;
    default: return memcmp(a, b, field_element_size(field)) == 0;
  }
}

/* Same keys with equal values; the order does not matter. */
static bool equal_maps(const Field *field, const ProtoMessage *a, const ProtoMessage *b, int depth) {
  ProtoMessage **x = *(ProtoMessage ***)field_member(a, field),
               **y = *(ProtoMessage ***)field_member(b, field);
  size_t count = *field_count(a, field);
  StringMap index = {0};
  Status ignored;
  status_init(&ignored);
  bool hashed = count > MAP_SCAN_LIMIT, equal = true;
  for (size_t i = 0; hashed && i < count; i++) {
    size_t length;
    const void *key = map_key(y[i], &length);
    if (!string_map_set_bytes(&index, key, length, y[i], &ignored)) hashed = false;
  }
  for (size_t i = 0; equal && i < count; i++) {
    const ProtoMessage *match = NULL;
    size_t length;
    const void *key = map_key(x[i], &length);
    if (map_entry_compare_keys(x[i], y[i]) == 0) {
      match = y[i];
    } else if (hashed) {
      match = string_map_find_bytes(&index, key, length);
    } else {
      for (size_t k = 0; !match && k < count; k++) {
        if (map_entry_compare_keys(x[i], y[k]) == 0) match = y[k];
      }
    }
    equal = match && equal_messages(x[i], match, depth + 1);
  }
  string_map_free(&index);
  return equal;
}

static bool equal_fields(const Field *field, const ProtoMessage *a, const ProtoMessage *b, int depth) {
  if (field_is_oneof(field)) {
    if (*field_oneof_case(a, field) != *field_oneof_case(b, field)) return false;
    if (*field_oneof_case(a, field) != field->id) return true;
  }
  if (!field_is_repeated(field))
    return equal_elements(field, field_member(a, field), field_member(b, field), depth);
  size_t count = *field_count(a, field), size = field_element_size(field);
  if (count != *field_count(b, field)) return false;
  if (count > 0 && field_is_map(field)) return equal_maps(field, a, b, depth);
  const char *x = *(char **)field_member(a, field), *y = *(char **)field_member(b, field);
  for (size_t i = 0; i < count; i++) {
    if (!equal_elements(field, x + i * size, y + i * size, depth)) return false;
  }
  return true;
}

static bool equal_messages(const ProtoMessage *a, const ProtoMessage *b, int depth) {
  if (a->descriptor != b->descriptor || depth > PROTO_MAX_WALK_DEPTH) return false;
  for (unsigned i = 0; i < a->descriptor->n_fields; i++) {
    if (!equal_fields(&a->descriptor->fields[i], a, b, depth)) return false;
  }
  return true;
}

bool proto_equal(const void *a, const void *b) { return a == b || equal_messages(a, b, 0); }
