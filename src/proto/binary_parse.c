/* The parser of the binary format. It replaces protobuf-c's unpack: it walks the bytes once, guided by the
 * descriptors, bounds the nesting, allocates everything in the arena, merges as protobuf does and reports the
 * position of errors. */
#include <inttypes.h>

#include "base/alloc.h"
#include "base/string_map.h"
#include "proto/proto_internal.h"

/* Graphs are repetitive: names of ops, keys, whole attrs, and inputs that name the previous node. A recently
 * parsed element is shared instead of parsed again. Each slot has one candidate, which is compared by its
 * bytes in the input. */
enum { NUM_SHARED = 256, LONGEST_SHARED = 48, SHARING_BEGINS = 1024 /* bytes of input */ };

typedef struct Shared {
  const uint8_t *bytes; /* in the input */
  size_t length;
  const ProtoDescriptor *descriptor; /* of a map entry; NULL for a text */
  void *made;
} Shared;

typedef struct Reader {
  const uint8_t *begin; /* of the whole input, for offsets in errors */
  const ProtoDescriptor *root;
  Arena *arena;
  Status *status;
  bool unify_all; /* a message with maps was merged: unify all maps at the end */
  Shared *shared; /* NULL for short inputs */
} Reader;

static bool malformed(Reader *reader, const uint8_t *at, const char *what) {
  status_invalid(reader->status, "Cannot parse %s: %s at byte %" PRId64, reader->root->name, what,
                 (int64_t)(at - reader->begin));
  return false; /* explicit, so that the compiler knows what a successful read has set */
}

static bool out_of_memory(Reader *reader) { return status_oom(reader->status, reader->root->name); }

static bool read_varint(Reader *reader, const uint8_t **cursor, const uint8_t *end, uint64_t *value) {
  const uint8_t *p = *cursor;
  uint64_t result = 0;
  for (int shift = 0; shift < 70 && p < end; shift += 7) {
    uint8_t byte = *p++;
    result |= (uint64_t)(byte & 0x7f) << shift;
    if (byte < 0x80) {
      *cursor = p;
      *value = result;
      return true;
    }
  }
  return malformed(reader, *cursor, p < end ? "overlong number" : "truncated number");
}

/* Checks a length-delimited field's length against the bytes that are there. */
static bool read_length(Reader *reader, const uint8_t **cursor, const uint8_t *end, size_t *length) {
  const uint8_t *start = *cursor;
  uint64_t value;
  TRY(read_varint(reader, cursor, end, &value));
  if (value > (uint64_t)(end - *cursor)) return malformed(reader, start, "length beyond the end");
  *length = (size_t)value;
  return true;
}

/* Reads a number of wire type `wire` into the element at `to`. */
static bool read_number(Reader *reader, const Field *field, int wire, const uint8_t **cursor,
                        const uint8_t *end, void *to) {
  if (wire != WIRE_VARINT) {
    size_t size = wire == WIRE_32BIT ? 4 : 8;
    if ((size_t)(end - *cursor) < size) return malformed(reader, *cursor, "truncated number");
    memcpy(to, *cursor, size); /* little-endian, like the hosts */
    *cursor += size;
    return true;
  }
  uint64_t value;
  TRY(read_varint(reader, cursor, end, &value));
  switch (field->type) {
    case PROTOBUF_C_TYPE_BOOL: *(protobuf_c_boolean *)to = value != 0; break;
    case PROTOBUF_C_TYPE_SINT32: *(uint32_t *)to = (uint32_t)value >> 1 ^ (0 - ((uint32_t)value & 1)); break;
    case PROTOBUF_C_TYPE_SINT64: *(uint64_t *)to = value >> 1 ^ (0 - (value & 1)); break;
    case PROTOBUF_C_TYPE_INT64:
    case PROTOBUF_C_TYPE_UINT64: *(uint64_t *)to = value; break;
    default: *(uint32_t *)to = (uint32_t)value;
  }
  return true;
}

static bool read_packed(Reader *reader, const Field *field, const uint8_t *p, const uint8_t *end,
                        ProtoMessage *message) {
  int wire = field_wire_type(field);
  size_t bytes = (size_t)(end - p), added = 0, size = field_element_size(field);
  if (wire == WIRE_VARINT) {
    for (const uint8_t *q = p; q < end; q++) added += *q < 0x80;
  } else {
    size_t width = wire == WIRE_32BIT ? 4 : 8;
    if (bytes % width != 0) return malformed(reader, p, "packed numbers of a wrong length");
    added = bytes / width;
  }
  size_t *count = field_count(message, field);
  void **array = field_member(message, field);
  if (!repeated_reserve(reader->arena, array, *count, added, size)) return out_of_memory(reader);
  if (wire != WIRE_VARINT) {
    if (bytes > 0) memcpy((char *)*array + *count * size, p, bytes);
    *count += added;
    return true;
  }
  for (size_t i = 0; i < added; i++) {
    TRY(read_number(reader, field, wire, &p, end, (char *)*array + *count * size));
    ++*count;
  }
  return p == end || malformed(reader, p, "truncated number");
}

/* The slot for `length` bytes; *found is the element parsed from equal bytes before, or NULL. NULL for
 * elements that are too long to share. */
static Shared *find_shared(const Reader *reader, const uint8_t *bytes, size_t length,
                           const ProtoDescriptor *descriptor, void **found) {
  *found = NULL;
  if (!reader->shared || length > LONGEST_SHARED) return NULL;
  Shared *slot = &reader->shared[hash_bytes(bytes, length) % NUM_SHARED];
  if (slot->made && slot->descriptor == descriptor && slot->length == length &&
      memcmp(slot->bytes, bytes, length) == 0) {
    *found = slot->made;
  }
  return slot;
}

static bool read_message(Reader *reader, const uint8_t *p, const uint8_t *end, int depth, bool merging,
                         ProtoMessage *message);

static bool read_submessage(Reader *reader, const Field *field, const uint8_t *p, const uint8_t *end,
                            int depth, ProtoMessage **slot) {
  bool merging = *slot != NULL;
  if (!merging) *slot = proto_new(field_message(field), reader->arena);
  if (!*slot) return out_of_memory(reader);
  if (depth >= PROTO_MAX_DEPTH) return malformed(reader, p, "messages nested deeper than 100 levels");
  return read_message(reader, p, end, depth + 1, merging, *slot);
}

static bool read_map_entry(Reader *reader, const Field *field, const uint8_t *p, size_t length, int depth,
                           ProtoMessage **entry) {
  void *found = NULL;
  /* Only at a depth where the nesting of a short entry stays far below the limit. */
  Shared *shared =
      depth > PROTO_MAX_DEPTH / 2 ? NULL : find_shared(reader, p, length, field_message(field), &found);
  if (found) {
    *entry = found;
    return true;
  }
  TRY(read_submessage(reader, field, p, p + length, depth, entry));
  if (shared) *shared = (Shared){p, length, field_message(field), *entry};
  return true;
}

static bool read_text(Reader *reader, const Field *field, const uint8_t *p, size_t length, char **text) {
  void *found;
  Shared *shared = find_shared(reader, p, length, NULL, &found);
  *text = length == 0 ? (char *)protobuf_c_empty_string : found;
  if (*text) return true;
  if (!text_is_valid((const char *)p, length)) {
    return status_invalid(reader->status,
                          "Cannot parse %s: string field '%s' contains invalid UTF-8 data or NUL at byte "
                          "%" PRId64,
                          reader->root->name, field->name, (int64_t)(p - reader->begin));
  }
  *text = arena_strndup(reader->arena, (const char *)p, length);
  if (!*text) return out_of_memory(reader);
  if (shared) *shared = (Shared){p, length, NULL, *text};
  return true;
}

/* Reads `length` bytes of a string, bytes or message field into the element at `to`. */
static bool read_delimited(Reader *reader, const Field *field, const uint8_t *p, size_t length, int depth,
                           void *to) {
  if (field->type == PROTOBUF_C_TYPE_MESSAGE && field_is_repeated(field) && field_is_map(field)) {
    return read_map_entry(reader, field, p, length, depth, to);
  }
  if (field->type == PROTOBUF_C_TYPE_MESSAGE) return read_submessage(reader, field, p, p + length, depth, to);
  if (field->type == PROTOBUF_C_TYPE_STRING) return read_text(reader, field, p, length, to);
  ProtobufCBinaryData *bytes = to;
  *bytes = (ProtobufCBinaryData){0};
  if (length == 0) return true;
  bytes->data = arena_copy_bytes(reader->arena, p, length);
  if (!bytes->data) return out_of_memory(reader);
  bytes->len = length;
  return true;
}

/* Steps over the value of a field with that wire type. */
static bool skip_value(Reader *reader, int wire, const uint8_t **cursor, const uint8_t *end) {
  uint64_t value;
  size_t length;
  switch (wire) {
    case WIRE_VARINT: return read_varint(reader, cursor, end, &value);
    case WIRE_32BIT: length = 4; break;
    case WIRE_64BIT: length = 8; break;
    case WIRE_LENGTH: TRY(read_length(reader, cursor, end, &length)); break;
    default: return malformed(reader, *cursor, "unknown wire type");
  }
  if ((size_t)(end - *cursor) < length) return malformed(reader, *cursor, "truncated number");
  *cursor += length;
  return true;
}

static bool keep_unknown(Reader *reader, uint32_t id, int wire, const uint8_t **cursor, const uint8_t *end,
                         ProtoMessage *message) {
  const uint8_t *start = *cursor;
  TRY(skip_value(reader, wire, cursor, end));
  size_t length = (size_t)(*cursor - start), count = message->n_unknown_fields;
  void *array = message->unknown_fields;
  uint8_t *data = arena_alloc(reader->arena, (int64_t)length);
  if (!data || !repeated_reserve(reader->arena, &array, count, 1, sizeof *message->unknown_fields)) {
    return out_of_memory(reader);
  }
  memcpy(data, start, length);
  message->unknown_fields = array;
  message->unknown_fields[count] = (ProtobufCMessageUnknownField){id, (ProtobufCWireType)wire, length, data};
  message->n_unknown_fields++;
  return true;
}

static bool read_field(Reader *reader, const Field *field, int wire, const uint8_t **cursor,
                       const uint8_t *end, int depth, ProtoMessage *message) {
  size_t length = 0;
  if (wire == WIRE_LENGTH) TRY(read_length(reader, cursor, end, &length));
  bool delimited = field_wire_type(field) == WIRE_LENGTH;
  const uint8_t *start = *cursor;
  *cursor += length;
  if (wire == WIRE_LENGTH && !delimited) return read_packed(reader, field, start, *cursor, message);
  void *to = field_member(message, field);
  if (field_is_repeated(field)) {
    to = repeated_add(reader->arena, message, field);
    if (!to) return out_of_memory(reader);
  } else if (field_is_oneof(field)) {
    uint32_t *set = field_oneof_case(message, field);
    if (*set != field->id) memset(to, 0, field_element_size(field));
    *set = field->id;
  }
  if (!delimited) return read_number(reader, field, wire, cursor, end, to);
  return read_delimited(reader, field, start, length, depth, to);
}

static bool read_message(Reader *reader, const uint8_t *p, const uint8_t *end, int depth, bool merging,
                         ProtoMessage *message) {
  const ProtoDescriptor *descriptor = message->descriptor;
  const Field *field = NULL;
  bool unify = false;
  while (p < end) {
    const uint8_t *start = p;
    uint64_t tag;
    TRY(read_varint(reader, &p, end, &tag));
    if (tag > UINT32_MAX || tag >> 3 == 0) return malformed(reader, start, "invalid field number");
    uint32_t id = (uint32_t)(tag >> 3);
    int wire = (int)(tag & 7);
    if (!field || field->id != id) field = protobuf_c_message_descriptor_get_field(descriptor, id);
    bool known =
        field && (wire == field_wire_type(field) || (wire == WIRE_LENGTH && field_is_repeated(field)));
    if (!known) {
      TRY(keep_unknown(reader, id, wire, &p, end, message));
      continue;
    }
    TRY(read_field(reader, field, wire, &p, end, depth, message));
    unify = unify || (field->type == PROTOBUF_C_TYPE_MESSAGE && field_is_repeated(field) &&
                      *field_count(message, field) == 2 && field_is_map(field));
  }
  if (descriptor_is_map_entry(descriptor) && !map_entry_complete(message, reader->arena))
    return out_of_memory(reader);
  /* A message that arrives in many pieces would be unified once per piece; one walk at the end does it for
   * all. */
  if (merging) {
    reader->unify_all = true;
  } else if (unify && !maps_unify(message, false, 0)) {
    return out_of_memory(reader);
  }
  return true;
}

static bool parse(Reader *reader, const uint8_t *end, ProtoMessage *message) {
  if (reader->begin < end) TRY(read_message(reader, reader->begin, end, 0, false, message));
  return !reader->unify_all || maps_unify(message, true, 0) || out_of_memory(reader);
}

bool proto_parse(const ProtoDescriptor *descriptor, const void *bytes, size_t length, Arena *arena,
                 void **message, Status *status) {
  static const uint8_t kNothing[1];
  Reader reader = {.begin = bytes ? bytes : kNothing, .root = descriptor, .arena = arena, .status = status};
  ProtoMessage *result = proto_new(descriptor, arena);
  if (!result) return out_of_memory(&reader);
  if (length >= SHARING_BEGINS) {
    reader.shared = mem_calloc(NUM_SHARED, sizeof *reader.shared);
    if (!reader.shared) return out_of_memory(&reader);
  }
  bool ok = parse(&reader, reader.begin + length, result);
  mem_free(reader.shared);
  if (ok) *message = result;
  return ok;
}
