/* A GraphDef in protobuf text format. */
#include "fuzz/graph_mutation.h"
#include "fuzz/graph_runner.h"

static void run(const uint8_t *bytes, size_t size) {
  Status status;
  status_init(&status);
  Arena *arena = arena_new();
  void *def;
  if (arena && proto_parse_text(kGraphDef, (Str){(const char *)bytes, size}, arena, &def, &status)) {
    Random random = fuzz_random(bytes, size);
    fuzz_check_text(def, PROTO_TEXT_MULTI_LINE, arena);
    fuzz_check_text(def, PROTO_TEXT_SHORT, arena);
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
