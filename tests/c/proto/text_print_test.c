#include <math.h>

#include "proto/random_message.h"

static Arena *arena;
static Status status;

static void *parse(const ProtoDescriptor *descriptor, const char *text) {
  void *message = NULL;
  status_init(&status);
  CHECK_OK(proto_parse_text(descriptor, str_of(text), arena, &message, &status), status);
  return message;
}

static const char *print(const void *message, ProtoTextStyle style) {
  StrBuf out = {0};
  proto_print_text(message, style, &out);
  const char *text = arena_strdup(arena, strbuf_text(&out));
  strbuf_free(&out);
  return text;
}

TEST(debug_string_has_one_field_a_line) {
  arena = arena_new();
  NodeDef *node =
      parse(kNodeDef, "name: 'n' op: 'Op' input: ['a', '^b'] attr { key: 'T' value { type: DT_FLOAT } }");
  REQUIRE(node);
  CHECK_STR_EQ(print(node, PROTO_TEXT_MULTI_LINE),
               "name: \"n\"\nop: \"Op\"\ninput: \"a\"\ninput: \"^b\"\nattr {\n  key: \"T\"\n  value {\n    "
               "type: DT_FLOAT\n  }\n}\n");
  CHECK_STR_EQ(print(node, PROTO_TEXT_SHORT),
               "name: \"n\" op: \"Op\" input: \"a\" input: \"^b\" attr { key: \"T\" value { type: DT_FLOAT } "
               "}");
  arena_free(arena);
}

TEST(empty_messages_and_defaults) {
  arena = arena_new();
  CHECK_STR_EQ(print(parse(kNodeDef, ""), PROTO_TEXT_MULTI_LINE), "");
  CHECK_STR_EQ(print(parse(kNodeDef, ""), PROTO_TEXT_SHORT), "");
  CHECK_STR_EQ(print(parse(kAttrValue, "list { }"), PROTO_TEXT_MULTI_LINE), "list {\n}\n");
  CHECK_STR_EQ(print(parse(kAttrValue, "list { }"), PROTO_TEXT_SHORT), "list { }");
  CHECK_STR_EQ(print(parse(kAttrValue, "i: 0"), PROTO_TEXT_SHORT), "i: 0");
  CHECK_STR_EQ(print(parse(kAttrValue, "b: false"), PROTO_TEXT_SHORT), "b: false");
  CHECK_STR_EQ(print(parse(kVersionDef, "producer: 0"), PROTO_TEXT_SHORT), "");
  /* Map entries always show key and value. */
  CHECK_STR_EQ(print(parse(kNodeDef, "attr { }"), PROTO_TEXT_SHORT), "attr { key: \"\" value { } }");
  CHECK_STR_EQ(print(parse(kFunctionDef, "resource_arg_unique_id { }"), PROTO_TEXT_SHORT),
               "resource_arg_unique_id { key: 0 value: 0 }");
  arena_free(arena);
}

TEST(map_entries_are_sorted_by_key) {
  arena = arena_new();
  CHECK_STR_EQ(
      print(parse(kFunctionDef,
                  "ret { key: 'b' value: '1' } ret { key: 'B' value: '2' } ret { key: 'a' value: '3' }"),
            PROTO_TEXT_SHORT),
      "ret { key: \"B\" value: \"2\" } ret { key: \"a\" value: \"3\" } ret { key: \"b\" value: \"1\" }");
  CHECK_STR_EQ(print(parse(kFunctionDef,
                           "resource_arg_unique_id { key: 10 } resource_arg_unique_id { key: 9 }"),
                     PROTO_TEXT_SHORT),
               "resource_arg_unique_id { key: 9 value: 0 } resource_arg_unique_id { key: 10 value: 0 }");
  arena_free(arena);
}

TEST(scalars) {
  arena = arena_new();
  CHECK_STR_EQ(print(parse(kAttrValue, "s: 'a\\n\\r\\t\\\"\\'\\\\\\001\\377\\303\\251z'"), PROTO_TEXT_SHORT),
               "s: \"a\\n\\r\\t\\\"\\'\\\\\\001\\377\\303\\251z\"");
  CHECK_STR_EQ(print(parse(kAttrValue, "i: -9223372036854775808"), PROTO_TEXT_SHORT),
               "i: -9223372036854775808");
  CHECK_STR_EQ(print(parse(kTensorProto, "uint64_val: 18446744073709551615"), PROTO_TEXT_SHORT),
               "uint64_val: 18446744073709551615");
  CHECK_STR_EQ(print(parse(kTensorProto, "bool_val: [true, false] int_val: [-1]"), PROTO_TEXT_SHORT),
               "int_val: -1 bool_val: true bool_val: false");
  CHECK_STR_EQ(print(parse(kAttrValue, "type: 77"), PROTO_TEXT_SHORT), "type: 77");
  CHECK_STR_EQ(print(parse(kAttrValue, "type: 101"), PROTO_TEXT_SHORT), "type: DT_FLOAT_REF");
  arena_free(arena);
}

TEST(floats_have_six_digits_or_nine_when_six_do_not_read_back) {
  char text[NUMBER_TEXT_CAPACITY];
  CHECK_STR_EQ(proto_float_text(0.1f, text), "0.1");
  CHECK_STR_EQ(proto_float_text(1.0f, text), "1");
  CHECK_STR_EQ(proto_float_text(-0.0f, text), "-0");
  CHECK_STR_EQ(proto_float_text(1e-5f, text), "1e-05");
  CHECK_STR_EQ(proto_float_text(1e10f, text), "1e+10");
  CHECK_STR_EQ(proto_float_text(16777216.0f, text), "16777216");
  CHECK_STR_EQ(proto_float_text(1.0f / 3, text), "0.333333343");
  CHECK_STR_EQ(proto_float_text(0x1.fffffep127f, text), "3.40282347e+38");
  CHECK_STR_EQ(proto_float_text(INFINITY, text), "inf");
  CHECK_STR_EQ(proto_float_text(-INFINITY, text), "-inf");
  CHECK_STR_EQ(proto_float_text(NAN, text), "nan");
  CHECK_STR_EQ(proto_double_text(0.1, text), "0.1");
  CHECK_STR_EQ(proto_double_text(1.0 / 3, text), "0.33333333333333331");
  CHECK_STR_EQ(proto_double_text(-INFINITY, text), "-inf");
  CHECK_STR_EQ(proto_double_text(NAN, text), "nan");
}

TEST(random_messages_survive_the_round_trip_through_text) {
  Random random = {.state = 4711};
  const ProtoDescriptor *const types[] = {kGraphDef,    kNodeDef,     kAttrValue,
                                          kTensorProto, kFunctionDef, kOpDef};
  for (int i = 0; i < 400; i++) {
    CHECK_CONTEXT("message %d", i);
    arena = random.arena = arena_new();
    ProtoMessage *message = random_message(&random, types[i % 6], 0);
    for (int style = PROTO_TEXT_MULTI_LINE; style <= PROTO_TEXT_SHORT; style++) {
      const char *text = print(message, (ProtoTextStyle)style);
      ProtoMessage *again = parse(types[i % 6], text);
      if (!again) continue;
      CHECK(proto_equal(message, again));
      CHECK_STR_EQ(print(again, (ProtoTextStyle)style), text);
      if (style == PROTO_TEXT_SHORT) CHECK(!strchr(text, '\n'));
    }
    arena_free(arena);
  }
}

/* The file was written by TensorFlow's own text printer. */
TEST(tensorflows_op_list_is_read_and_printed_unchanged) {
  FILE *file = fopen("tests/data/ops.pbtxt", "rb");
  REQUIRE(CHECK(file));
  StrBuf text = {0}, out = {0};
  char chunk[4096];
  for (size_t n; (n = fread(chunk, 1, sizeof chunk, file)) > 0;) strbuf_append_bytes(&text, chunk, n);
  fclose(file);
  arena = arena_new();
  OpList *list = parse(kOpList, strbuf_text(&text));
  if (list) {
    CHECK(list->n_op > 500);
    proto_print_text(list, PROTO_TEXT_MULTI_LINE, &out);
    CHECK_INT_EQ(out.length, text.length);
    CHECK(strcmp(strbuf_text(&out), strbuf_text(&text)) == 0);
    /* And through the binary format. */
    StrBuf bytes = {0}, again = {0};
    void *parsed = NULL;
    CHECK_OK(proto_serialize(list, &bytes, &status), status);
    CHECK_OK(proto_parse(kOpList, bytes.data, (size_t)bytes.length, arena, &parsed, &status), status);
    if (parsed) proto_print_text(parsed, PROTO_TEXT_MULTI_LINE, &again);
    CHECK(strcmp(strbuf_text(&again), strbuf_text(&text)) == 0);
    strbuf_free(&bytes);
    strbuf_free(&again);
  }
  strbuf_free(&text);
  strbuf_free(&out);
  arena_free(arena);
}

static bool print_all(void *message, Status *result) {
  StrBuf out = {0};
  proto_print_text(message, PROTO_TEXT_MULTI_LINE, &out);
  bool ok = strbuf_ok(&out, result);
  strbuf_free(&out);
  return ok;
}

TEST(printing_survives_every_allocation_failure) {
  arena = arena_new();
  GraphDef *graph = parse(kGraphDef, kSampleGraph);
  if (graph) check_every_allocation_failure(print_all, graph);
  arena_free(arena);
}
