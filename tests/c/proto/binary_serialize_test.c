#include "proto/random_message.h"

static void check_bytes(const ProtoDescriptor *descriptor, const char *text, const void *want,
                        size_t length) {
  CHECK_CONTEXT("%s", text);
  Arena *arena = arena_new();
  Status status;
  status_init(&status);
  void *message = NULL;
  StrBuf out = {0};
  if (CHECK_OK(proto_parse_text(descriptor, str_of(text), arena, &message, &status), status) &&
      CHECK_OK(proto_serialize(message, &out, &status), status) && CHECK_INT_EQ(out.length, length)) {
    CHECK_MEM_EQ(strbuf_text(&out), want, length);
  }
  strbuf_free(&out);
  arena_free(arena);
}

#define CHECK_BYTES(descriptor, text, bytes) check_bytes(descriptor, text, bytes, sizeof(bytes) - 1)

TEST(the_wire_format_is_protobufs) {
  CHECK_BYTES(kNodeDef, "", "");
  CHECK_BYTES(kNodeDef, "op: 'Op' name: 'n' input: ['a', '']",
              "\x0a\x01n\x12\x02Op\x1a\x01"
              "a\x1a\x00");
  CHECK_BYTES(kAttrValue, "i: 300", "\x18\xac\x02");
  CHECK_BYTES(kAttrValue, "i: -1", "\x18\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01");
  CHECK_BYTES(kAttrValue, "i: 0", "\x18\x00");
  CHECK_BYTES(kAttrValue, "b: false", "\x28\x00");
  CHECK_BYTES(kAttrValue, "f: -2.5", "\x25\x00\x00\x20\xc0");
  CHECK_BYTES(kAttrValue, "s: ''", "\x12\x00");
  CHECK_BYTES(kAttrValue, "type: -1", "\x30\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01");
  CHECK_BYTES(kAttrValue, "placeholder: 'T'", "\x4a\x01T");
  CHECK_BYTES(kAttrValue, "list { }", "\x0a\x00");
  CHECK_BYTES(kAttrValue, "list { i: [1, 300] type: [DT_FLOAT] }",
              "\x0a\x08\x1a\x03\x01\xac\x02\x32\x01\x01");
  CHECK_BYTES(kAttrValue, "shape { dim { size: 2 } dim { } unknown_rank: true }",
              "\x3a\x08\x12\x02\x08\x02\x12\x00\x18\x01");
  CHECK_BYTES(kTensorProto, "uint32_val: [4294967295] uint64_val: 1",
              "\x82\x01\x05\xff\xff\xff\xff\x0f\x8a\x01\x01\x01");
  /* Keys and values of maps are written even when they are defaults. */
  CHECK_BYTES(kNodeDef, "attr { }", "\x2a\x04\x0a\x00\x12\x00");
  CHECK_BYTES(kFunctionDef, "resource_arg_unique_id { }", "\x42\x04\x08\x00\x10\x00");
  CHECK_BYTES(kVersionDef, "producer: -2", "\x08\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01");
}

static void check_round_trip(const ProtoDescriptor *descriptor, Random *random) {
  random->arena = arena_new();
  Status status;
  status_init(&status);
  const ProtoMessage *message = random_message(random, descriptor, 0);
  StrBuf bytes = {0}, again = {0};
  void *parsed = NULL;
  REQUIRE_OK(proto_serialize(message, &bytes, &status), status);
  REQUIRE_OK(proto_parse(descriptor, bytes.data, (size_t)bytes.length, random->arena, &parsed, &status),
             status);
  CHECK(proto_equal(message, parsed));
  REQUIRE_OK(proto_serialize(parsed, &again, &status), status);
  CHECK_INT_EQ(again.length, bytes.length);
  CHECK(bytes.length == 0 || memcmp(again.data, bytes.data, (size_t)bytes.length) == 0);

  /* protobuf-c as the independent reader and writer. */
  ProtoMessage *theirs =
      protobuf_c_message_unpack(descriptor, NULL, (size_t)bytes.length, (const uint8_t *)bytes.data);
  if (CHECK(theirs)) {
    size_t size = protobuf_c_message_get_packed_size(theirs);
    uint8_t *packed = mem_alloc((int64_t)size);
    protobuf_c_message_pack(theirs, packed);
    REQUIRE_OK(proto_parse(descriptor, packed, size, random->arena, &parsed, &status), status);
    CHECK(proto_equal(message, parsed));
    mem_free(packed);
    protobuf_c_message_free_unpacked(theirs, NULL);
  }
  strbuf_free(&bytes);
  strbuf_free(&again);
  arena_free(random->arena);
}

TEST(random_messages_survive_the_round_trip_and_protobuf_c_agrees) {
  Random random = {.state = 2026, .nans = true};
  const ProtoDescriptor *const types[] = {kGraphDef,    kNodeDef,     kAttrValue,
                                          kTensorProto, kFunctionDef, kOpDef};
  for (int i = 0; i < 600; i++) {
    CHECK_CONTEXT("message %d", i);
    check_round_trip(types[i % 6], &random);
  }
}

TEST(serialising_appends) {
  Arena *arena = arena_new();
  Status status;
  status_init(&status);
  StrBuf out = {0};
  strbuf_append(&out, "head");
  CHECK_OK(proto_serialize(node_def_new(arena, "n", ""), &out, &status), status);
  CHECK_INT_EQ(out.length, 7);
  CHECK_MEM_EQ(out.data, "head\x0a\x01n", 8);
  strbuf_free(&out);
  arena_free(arena);
}

TEST(more_than_two_gigabytes_are_refused) {
  Arena *arena = arena_new();
  Status status;
  status_init(&status);
  /* The same 64 MiB of content 33 times: big on the wire only. */
  enum { MEGABYTES = 64, TIMES = 33 };
  AttrValue *value = proto_new(kAttrValue, arena);
  AttrListValue *list = proto_new(&tensorflow__attr_value__list_value__descriptor, arena);
  value->value_case = TENSORFLOW__ATTR_VALUE__VALUE_LIST;
  value->list = list;
  list->n_s = TIMES;
  list->s = arena_calloc(arena, TIMES, sizeof *list->s);
  uint8_t *content = arena_calloc(arena, MEGABYTES, 1 << 20);
  REQUIRE(list->s && content);
  for (int i = 0; i < TIMES; i++) list->s[i] = (ProtobufCBinaryData){(size_t)MEGABYTES << 20, content};
  StrBuf out = {0};
  CHECK_ERROR(proto_serialize(value, &out, &status), status, CODE_INVALID_ARGUMENT,
              "tensorflow.AttrValue exceeded maximum protobuf size of 2GB: 2214592");
  CHECK_INT_EQ(out.length, 0);
  strbuf_free(&out);
  arena_free(arena);
}

static bool serialize_all(void *message, Status *status) {
  StrBuf out = {0};
  bool ok = proto_serialize(message, &out, status);
  strbuf_free(&out);
  return ok;
}

TEST(serialising_survives_every_allocation_failure) {
  Random random = {.state = 6, .arena = arena_new()};
  check_every_allocation_failure(serialize_all, random_message(&random, kGraphDef, 0));
  arena_free(random.arena);
}
