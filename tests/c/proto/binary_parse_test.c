#include "proto/random_message.h"

#define BYTES(...) ((const uint8_t[]){__VA_ARGS__}), sizeof((const uint8_t[]){__VA_ARGS__})

static Arena *arena;
static Status status;

static void *parse(const ProtoDescriptor *descriptor, const uint8_t *bytes, size_t length) {
  void *message = NULL;
  status_init(&status);
  /* A copy of exactly that length, so that reading one byte too far is detected. */
  uint8_t *exact = mem_alloc((int64_t)length);
  memcpy(exact, bytes, length);
  bool ok = proto_parse(descriptor, exact, length, arena, &message, &status);
  mem_free(exact);
  CHECK(ok == (message != NULL));
  CHECK_INT_EQ(status.code, ok ? CODE_OK : CODE_INVALID_ARGUMENT);
  return message;
}

static void sample_bytes(StrBuf *bytes) {
  void *graph = NULL;
  status_init(&status);
  CHECK_OK(proto_parse_text(kGraphDef, str_of(kSampleGraph), arena, &graph, &status), status);
  CHECK_OK(proto_serialize(graph, bytes, &status), status);
}

TEST(fields_of_every_wire_type_are_read) {
  arena = arena_new();
  NodeDef *node = parse(kNodeDef, BYTES(0x0a, 1, 'n', 0x12, 2, 'O', 'p', 0x1a, 1, 'x', 0x1a, 2, '^', 'y'));
  REQUIRE(node);
  CHECK_STR_EQ(node->name, "n");
  CHECK_STR_EQ(node->op, "Op");
  CHECK_STR_EQ(node->device, "");
  CHECK_INT_EQ(node->n_input, 2);
  CHECK_STR_EQ(node->input[1], "^y");
  AttrValue *value = parse(kAttrValue, BYTES(0x18, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1));
  REQUIRE(value);
  CHECK_INT_EQ(value->value_case, ATTR_INT);
  CHECK_INT_EQ(value->i, -1);
  value = parse(kAttrValue, BYTES(0x25, 0, 0, 0x20, 0xc0));
  REQUIRE(value);
  CHECK_NEAR(value->f, -2.5, 0);
  value = parse(kAttrValue, BYTES(0x12, 3, 0, 0xff, 'a'));
  REQUIRE(value);
  CHECK_MEM_EQ(value->s.data,
               "\0\xff"
               "a",
               3);
  TensorProto *tensor = parse(kTensorProto, BYTES(0x08, 2, 0x31, 0, 0, 0, 0, 0, 0, 0xf8, 0x3f));
  REQUIRE(tensor);
  CHECK_INT_EQ(tensor->n_double_val, 1);
  CHECK_NEAR(tensor->double_val[0], 1.5, 0);
  arena_free(arena);
}

TEST(repeated_numbers_are_read_packed_and_unpacked_and_mixed) {
  arena = arena_new();
  TensorProto *tensor = parse(kTensorProto, BYTES(0x38, 5, 0x3a, 3, 6, 0x80, 1, 0x38, 7, 0x3a, 0));
  REQUIRE(tensor);
  CHECK_INT_EQ(tensor->n_int_val, 4);
  static const int32_t want[] = {5, 6, 128, 7};
  CHECK_MEM_EQ(tensor->int_val, want, sizeof want);
  arena_free(arena);
}

TEST(of_a_oneof_the_last_field_counts_and_messages_merge) {
  arena = arena_new();
  AttrValue *value = parse(kAttrValue, BYTES(0x18, 7, 0x28, 1));
  REQUIRE(value);
  CHECK_INT_EQ(value->value_case, ATTR_BOOL);
  CHECK(value->b);
  value = parse(kAttrValue, BYTES(0x3a, 4, 0x12, 2, 8, 1, 0x3a, 4, 0x12, 2, 8, 2, 0x3a, 2, 0x18, 1));
  REQUIRE(value);
  CHECK_INT_EQ(value->shape->n_dim, 2);
  CHECK_INT_EQ(value->shape->dim[1]->size, 2);
  CHECK(value->shape->unknown_rank);
  value = parse(kAttrValue, BYTES(0x3a, 4, 0x12, 2, 8, 1, 0x18, 7, 0x3a, 0));
  REQUIRE(value);
  CHECK_INT_EQ(value->shape->n_dim, 0);
  arena_free(arena);
}

TEST(of_equal_map_keys_the_last_counts_and_missing_values_are_empty) {
  arena = arena_new();
  static const uint8_t twice[] = {0x2a, 7,   0x0a, 1, 'k',  0x12, 2,   0x18, 1, 0x2a, 3, 0x0a,
                                  1,    'j', 0x2a, 7, 0x0a, 1,    'k', 0x12, 2, 0x18, 2};
  NodeDef *node = parse(kNodeDef, twice, sizeof twice);
  REQUIRE(node);
  CHECK_INT_EQ(node->n_attr, 2);
  CHECK_INT_EQ(node_def_attr(node, "k")->i, 2);
  REQUIRE(node_def_attr(node, "j"));
  CHECK_INT_EQ(node_def_attr(node, "j")->value_case, ATTR_NOT_SET);
  /* The same through a message that arrives in two pieces: FunctionDef.signature's default value, a func with
   * attrs. */
  static const uint8_t pieces[] = {0x52, 9, 0x12, 7, 0x0a, 1, 'k', 0x12, 2, 0x18, 1,
                                   0x52, 9, 0x12, 7, 0x0a, 1, 'k', 0x12, 2, 0x18, 2};
  AttrValue *value = parse(kAttrValue, pieces, sizeof pieces);
  REQUIRE(value);
  CHECK_INT_EQ(value->func->n_attr, 1);
  CHECK_INT_EQ(value->func->attr[0]->value->i, 2);
  arena_free(arena);
}

TEST(a_map_with_many_equal_keys_is_read_in_linear_time) {
  arena = arena_new();
  enum { ENTRIES = 200000 };
  StrBuf bytes = {0};
  for (int i = 0; i < ENTRIES; i++) {
    char key[8];
    snprintf(key, sizeof key, "%05d", i % (ENTRIES / 2));
    strbuf_append_bytes(&bytes, "\x2a\x0b\x0a\x05", 4);
    strbuf_append(&bytes, key);
    strbuf_append_bytes(&bytes, "\x12\x02\x18", 3);
    strbuf_append_char(&bytes, i < ENTRIES / 2 ? 1 : 2);
  }
  NodeDef *node = parse(kNodeDef, (const uint8_t *)bytes.data, (size_t)bytes.length);
  REQUIRE(node);
  CHECK_INT_EQ(node->n_attr, ENTRIES / 2);
  for (size_t i = 0; i < node->n_attr; i += 999) CHECK_INT_EQ(node->attr[i]->value->i, 2);
  strbuf_free(&bytes);
  arena_free(arena);
}

TEST(unknown_fields_stay) {
  arena = arena_new();
  /* NodeDef with field 8 (a message), field 1000 (varint) and the known field 1 with a foreign wire type. */
  static const uint8_t bytes[] = {0x0a, 1, 'n', 0x42, 2, 8, 1, 0xc0, 0x3e, 5, 0x0d, 1, 2, 3, 4};
  NodeDef *node = parse(kNodeDef, bytes, sizeof bytes);
  REQUIRE(node);
  CHECK_STR_EQ(node->name, "n");
  CHECK_INT_EQ(node->base.n_unknown_fields, 3);
  StrBuf out = {0};
  CHECK_OK(proto_serialize(proto_copy(node, arena), &out, &status), status);
  CHECK_INT_EQ(out.length, sizeof bytes);
  CHECK_MEM_EQ(out.data, bytes, sizeof bytes);
  strbuf_free(&out);
  arena_free(arena);
}

TEST(strings_must_be_utf8_without_nul) {
  arena = arena_new();
  static const struct {
    const char *text;
    size_t length;
    bool valid;
  } cases[] = {
      {"", 0, true},
      {"ab\x7f", 3, true},
      {"\xc2\x80\xdf\xbf", 4, true},
      {"\xe0\xa0\x80\xed\x9f\xbf\xee\x80\x80\xef\xbf\xbf", 12, true},
      {"\xf0\x90\x80\x80\xf4\x8f\xbf\xbf", 8, true},
      {"a\0b", 3, false},
      {"\x80", 1, false},
      {"\xc1\xbf", 2, false}, /* overlong */
      {"\xc2", 1, false},     /* cut */
      {"\xc2\x41", 2, false},
      {"\xe0\x9f\xbf", 3, false}, /* overlong */
      {"\xed\xa0\x80", 3, false}, /* surrogate */
      {"\xe2\x82", 2, false},
      {"\xf0\x8f\xbf\xbf", 4, false}, /* overlong */
      {"\xf4\x90\x80\x80", 4, false}, /* above U+10FFFF */
      {"\xf0\x90\x80\x41", 4, false},
      {"\xff", 1, false},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    CHECK_CONTEXT("case %d", (int)i);
    uint8_t bytes[32] = {0x0a, (uint8_t)cases[i].length};
    memcpy(bytes + 2, cases[i].text, cases[i].length);
    NodeDef *node = parse(kNodeDef, bytes, cases[i].length + 2);
    CHECK((node != NULL) == cases[i].valid);
    if (node) CHECK_MEM_EQ(node->name, cases[i].text, cases[i].length);
    if (!node)
      CHECK_STR_CONTAINS(status.message, "string field 'name' contains invalid UTF-8 data or NUL at byte 2");
  }
  arena_free(arena);
}

TEST(errors_name_message_and_offset) {
  arena = arena_new();
  const struct {
    const uint8_t *bytes;
    size_t length;
    const char *message;
  } cases[] = {
      {BYTES(0x0a, 5, 'n'), "Cannot parse tensorflow.NodeDef: length beyond the end at byte 1"},
      {BYTES(0x0a), "Cannot parse tensorflow.NodeDef: truncated number at byte 1"},
      {BYTES(0x80), "Cannot parse tensorflow.NodeDef: truncated number at byte 0"},
      {BYTES(0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0),
       "overlong number at byte 0"},
      {BYTES(0x02, 0), "invalid field number at byte 0"},
      {BYTES(0x0a, 0, 0x80, 0x80, 0x80, 0x80, 0x10, 0), "invalid field number at byte 2"},
      {BYTES(0x3b), "unknown wire type at byte 1"},
      {BYTES(0x3f, 0), "unknown wire type at byte 1"},
      {BYTES(0x3d, 1, 2, 3), "truncated number at byte 1"},
      {BYTES(0x2a, 4, 0x12, 2, 0x18, 0x80), "Cannot parse tensorflow.NodeDef: truncated number at byte 5"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    CHECK_CONTEXT("case %d", (int)i);
    CHECK(!parse(kNodeDef, cases[i].bytes, cases[i].length));
    CHECK_STR_CONTAINS(status.message, cases[i].message);
  }
  CHECK(!parse(kTensorProto, BYTES(0x2a, 3, 0, 0, 0)));
  CHECK_STR_CONTAINS(status.message, "packed numbers of a wrong length at byte 2");
  CHECK(!parse(kTensorProto, BYTES(0x3a, 2, 1, 0x80)));
  arena_free(arena);
}

TEST(hostile_lengths_take_no_memory) {
  arena = arena_new();
  int64_t before = arena_bytes(arena);
  /* Fields of TensorProto: content, packed floats, ints, bools, doubles, strings, messages; lengths of 2^31,
   * 2^32 and 2^63. */
  static const uint8_t tags[] = {0x22, 0x2a, 0x3a, 0x5a, 0x32, 0x42, 0x12};
  static const uint8_t lengths[][10] = {{0x80, 0x80, 0x80, 0x80, 0x08},
                                        {0x80, 0x80, 0x80, 0x80, 0x10},
                                        {0xff, 0xff, 0xff, 0xff, 0x0f},
                                        {0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01}};
  for (size_t i = 0; i < sizeof tags; i++) {
    for (size_t k = 0; k < 4; k++) {
      uint8_t bytes[64] = {tags[i]};
      memcpy(bytes + 1, lengths[k], 10);
      CHECK(!parse(kTensorProto, bytes, sizeof bytes));
      CHECK_STR_CONTAINS(status.message, "length beyond the end");
    }
  }
  CHECK(arena_bytes(arena) - before < 64 * 1024);
  arena_free(arena);
}

TEST(nesting_ends_at_100_levels) {
  enum { CAPACITY = 600000 };
  uint8_t *buffer = mem_alloc(CAPACITY);
  static const struct {
    int levels;
    bool valid;
  } cases[] = {{1, true},    {99, true},    {100, true},    {101, false},
               {102, false}, {5000, false}, {100000, false}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    CHECK_CONTEXT("%d levels", cases[i].levels);
    arena = arena_new();
    size_t length;
    const uint8_t *bytes = nested_bytes(buffer, CAPACITY, cases[i].levels, &length);
    CHECK((parse(kTensorProto, bytes, length) != NULL) == cases[i].valid);
    if (!cases[i].valid) CHECK_STR_CONTAINS(status.message, "messages nested deeper than 100 levels");
    arena_free(arena);
  }
  mem_free(buffer);
}

/* The ends of a message's fields, found without the parser under test. */
static bool is_field_boundary(const uint8_t *bytes, size_t length, size_t position) {
  size_t at = 0;
  while (at < position && at < length) {
    int wire = bytes[at] & 7;
    while (bytes[at++] & 0x80) {
    }
    uint64_t value = 0;
    int shift = 0;
    do value |= (uint64_t)(bytes[at] & 0x7f) << shift, shift += 7;
    while (bytes[at++] & 0x80);
    if (wire == 2) at += value;
  }
  return at == position;
}

TEST(every_truncation_is_refused_unless_it_ends_between_fields) {
  arena = arena_new();
  StrBuf bytes = {0};
  sample_bytes(&bytes);
  const uint8_t *data = (const uint8_t *)bytes.data;
  size_t accepted = 0;
  for (size_t length = 0; length <= (size_t)bytes.length; length++) {
    CHECK_CONTEXT("%d bytes", (int)length);
    bool ok = parse(kGraphDef, data, length) != NULL;
    CHECK(ok == is_field_boundary(data, (size_t)bytes.length, length));
    accepted += ok;
  }
  CHECK_INT_EQ(accepted, 5); /* nothing, two nodes, library, versions */
  strbuf_free(&bytes);
  arena_free(arena);
}

TEST(every_bit_flip_is_refused_or_gives_a_sound_message) {
  arena = arena_new();
  StrBuf bytes = {0};
  sample_bytes(&bytes);
  int accepted = 0;
  for (int64_t bit = 0; bit < bytes.length * 8; bit++) {
    CHECK_CONTEXT("bit %d", (int)bit);
    bytes.data[bit / 8] = (char)(bytes.data[bit / 8] ^ 1 << bit % 8);
    Arena *outer = arena;
    arena = arena_new();
    void *message = parse(kGraphDef, (const uint8_t *)bytes.data, (size_t)bytes.length), *again = NULL;
    if (message) {
      StrBuf out = {0}, text = {0};
      accepted++;
      CHECK_OK(proto_serialize(message, &out, &status), status);
      CHECK_OK(proto_parse(kGraphDef, out.data, (size_t)out.length, arena, &again, &status), status);
      CHECK(again && proto_equal(message, again));
      proto_print_text(message, PROTO_TEXT_MULTI_LINE, &text);
      CHECK_OK(strbuf_ok(&text, &status), status);
      strbuf_free(&out);
      strbuf_free(&text);
    }
    arena_free(arena);
    arena = outer;
    bytes.data[bit / 8] = (char)(bytes.data[bit / 8] ^ 1 << bit % 8);
  }
  CHECK(accepted > 100);
  strbuf_free(&bytes);
  arena_free(arena);
}

TEST(random_bytes_never_harm) {
  Random random = {.state = 99};
  const ProtoDescriptor *const types[] = {kGraphDef,    kNodeDef,     kAttrValue,
                                          kTensorProto, kFunctionDef, kOpDef};
  for (int i = 0; i < 20000; i++) {
    arena = arena_new();
    uint8_t bytes[64];
    size_t length = random_below(&random, sizeof bytes);
    for (size_t k = 0; k < length; k++)
      bytes[k] = (uint8_t)(random_next(&random) >> random_below(&random, 8) & 0x7f);
    parse(types[i % 6], bytes, length);
    arena_free(arena);
  }
}

static bool parse_all(void *context, Status *result) {
  const StrBuf *bytes = context;
  Arena *own = arena_new();
  if (!own) return status_oom(result, "arena");
  void *message = NULL;
  bool ok = proto_parse(kGraphDef, bytes->data, (size_t)bytes->length, own, &message, result);
  arena_free(own);
  return ok;
}

TEST(parsing_survives_every_allocation_failure) {
  arena = arena_new();
  StrBuf bytes = {0};
  sample_bytes(&bytes);
  NodeDef *node = node_def_new(arena, "many", "Attrs");
  for (int i = 0; i < 40; i++) {
    CHECK_OK(node_def_set_attr(node, arena, arena_printf(arena, "k%d", i), attr_value_int(arena, i), &status),
             status);
  }
  GraphDef *graph = proto_new(kGraphDef, arena);
  CHECK_OK(proto_append(arena, (void ***)&graph->node, &graph->n_node, node, &status), status);
  CHECK_OK(proto_serialize(graph, &bytes, &status), status);
  check_every_allocation_failure(parse_all, &bytes);
  strbuf_free(&bytes);
  arena_free(arena);
}
