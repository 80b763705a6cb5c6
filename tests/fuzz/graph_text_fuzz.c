/* A GraphDef in protobuf text format. */
#include <string.h>

#include "fuzz/graph_mutation.h"
#include "fuzz/graph_runner.h"

/* What is printed is read back equal. */
static void print_and_read(const GraphDef *def, Arena *arena, ProtoTextStyle style) {
  Status status;
  status_init(&status);
  StrBuf text = {0};
  void *again;
  proto_print_text(def, style, &text);
  if (strbuf_ok(&text, &status)) {
    Str printed = {strbuf_text(&text), (size_t)text.length};
    bool ok = proto_parse_text(kGraphDef, printed, arena, &again, &status);
    FUZZ_CHECK(ok || status.code == CODE_RESOURCE_EXHAUSTED, "printed text is not read: %s", status.message);
    FUZZ_CHECK(!ok || proto_equal(def, again), "printed text is read as something else");
  }
  strbuf_free(&text);
}

static void run(const uint8_t *bytes, size_t size) {
  Status status;
  status_init(&status);
  Arena *arena = arena_new();
  void *def;
  if (arena && proto_parse_text(kGraphDef, (Str){(const char *)bytes, size}, arena, &def, &status)) {
    Random random = fuzz_random(bytes, size);
    print_and_read(def, arena, PROTO_TEXT_MULTI_LINE);
    print_and_read(def, arena, PROTO_TEXT_SHORT);
    fuzz_graph_message(def, &random);
  } else {
    fuzz_check_code(status.code, status.message);
  }
  arena_free(arena);
}

static size_t mutate(uint8_t *bytes, size_t size, size_t capacity, Random *random) {
  size_t changed = one_in(random, 3) ? 0 : mutate_graph_input(kGraphAsText, bytes, size, capacity, random);
  return changed > 0 ? changed : mutate_words(bytes, size, capacity, random);
}

const FuzzTarget k_graph_text_fuzz = {"graph_text", run, mutate};
