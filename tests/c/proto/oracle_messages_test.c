/* TensorFlow's messages with every field set, from tests/data/oracle/messages.txt, which
 * tests/oracle/messages.py wrote. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "proto/proto.h"

typedef struct Kind {
  const char *name;
  const ProtoDescriptor *const *descriptor;
} Kind;
static const Kind kKinds[] = {
    {"GraphDef", &kGraphDef},
    {"NodeDef", &kNodeDef},
    {"OpDef", &kOpDef},
    {"OpList", &kOpList},
    {"AttrValue", &kAttrValue},
    {"FunctionDef", &kFunctionDef},
    {"FunctionDefLibrary", &kFunctionDefLibrary},
    {"KernelDef", &kKernelDef},
    {"KernelList", &kKernelList},
    {"TensorProto", &kTensorProto},
    {"TensorShapeProto", &kTensorShapeProto},
    {"VersionDef", &kVersionDef},
};
enum { NUM_KINDS = sizeof kKinds / sizeof *kKinds };

static const ProtoDescriptor *descriptor_of(const char *name) {
  for (int i = 0; i < NUM_KINDS; i++) {
    if (strcmp(kKinds[i].name, name) == 0) return *kKinds[i].descriptor;
  }
  return NULL;
}

/* In place: two digits become one byte. */
static size_t unhex(char *digits) {
  size_t length = 0;
  for (const char *at = digits; *at != '\0'; at += 2) {
    char pair[3] = {at[0], at[1], '\0'};
    digits[length++] = (char)strtoul(pair, NULL, 16);
  }
  return length;
}

static void check_sample(const ProtoDescriptor *descriptor, const char *bytes, size_t length,
                         const char *text, Arena *arena) {
  Status status;
  status_init(&status);
  void *from_bytes = NULL, *from_text = NULL, *again = NULL;
  StrBuf out = {0};
  if (!CHECK_OK(proto_parse(descriptor, bytes, length, arena, &from_bytes, &status), status)) return;
  if (!CHECK_OK(proto_parse_text(descriptor, str_of(text), arena, &from_text, &status), status)) return;
  CHECK(proto_equal(from_bytes, from_text));
  CHECK(proto_equal(from_bytes, proto_copy(from_text, arena)));
  /* Map entries have another order in the text, which otherwise has everything that is in the bytes. */
  CHECK_OK(proto_serialize(from_bytes, &out, &status), status);
  CHECK((size_t)out.length == length && memcmp(out.data, bytes, length) == 0);
  strbuf_clear(&out);
  proto_print_text(from_bytes, PROTO_TEXT_SHORT, &out);
  if (CHECK_OK(proto_parse_text(descriptor, str_of(strbuf_text(&out)), arena, &again, &status), status))
    CHECK(proto_equal(again, from_text));
  strbuf_free(&out);
}

TEST(messages_with_every_field_are_read_and_written_as_tensorflow_does) {
  FILE *file = fopen("tests/data/oracle/messages.txt", "rb");
  REQUIRE(file);
  enum { LINE = 1 << 20 };
  char *line = malloc(LINE);
  int seen[NUM_KINDS] = {0}, count = 0;
  while (CHECK(line) && fgets(line, LINE, file)) {
    char *digits = strchr(line, '\t'), *text = digits ? strchr(digits + 1, '\t') : NULL;
    if (!CHECK(text)) break;
    *digits++ = *text++ = '\0';
    const ProtoDescriptor *descriptor = descriptor_of(line);
    CHECK_CONTEXT("%s, line %d", line, ++count);
    if (!CHECK(descriptor)) continue;
    for (int i = 0; i < NUM_KINDS; i++) seen[i] += *kKinds[i].descriptor == descriptor;
    Arena *arena = arena_new();
    check_sample(descriptor, digits, unhex(digits), text, arena);
    arena_free(arena);
  }
  for (int i = 0; i < NUM_KINDS; i++) CHECK_CONTEXT("%s", kKinds[i].name), CHECK(seen[i] > 0);
  CHECK_CONTEXT("%s", "");
  free(line);
  fclose(file);
}
