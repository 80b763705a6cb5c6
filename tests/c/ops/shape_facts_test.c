/* Every recorded fact about the shape function of an op that this build has must hold. */
#include "shape_facts.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "harness.h"
#include "op/op_registry.h"
#include "ops/op_table.h"

static char *read_file(const char *path, size_t *length) {
  FILE *file = fopen(path, "rb");
  if (file == NULL) return NULL;
  char *text = NULL;
  if (fseek(file, 0, SEEK_END) == 0) {
    long size = ftell(file);
    rewind(file);
    text = size < 0 ? NULL : mem_alloc((int64_t)size + 1);
    *length = text == NULL ? 0 : fread(text, 1, (size_t)size, file);
  }
  fclose(file);
  return text;
}

/* One record a line. */
static void run_line(const char *line, size_t length, int number, int counts[3]) {
  Arena *arena = arena_new();
  const Json *fact = json_parse(arena, line, length);
  CHECK_CONTEXT("line %d: %s %s", number, fact == NULL ? "?" : json_get(fact, "op")->string,
                fact == NULL ? "?" : json_get(fact, "in")->string);
  if (CHECK(fact != NULL)) {
    StrBuf why = {0};
    ShapeFactResult result = shape_fact_run(fact, &why);
    counts[result]++;
    CHECK_STR_EQ(result == SHAPE_FACT_FAILS ? strbuf_text(&why) : "", "");
    strbuf_free(&why);
  }
  arena_free(arena);
}

TEST(shape_facts_of_registered_ops_hold) {
  Status status;
  status_init(&status);
  size_t length = 0;
  char *text = read_file(TFCORE_SOURCE_DIR "/tests/data/shape-facts.jsonl", &length);
  REQUIRE(text != NULL);
  CHECK_OK(op_registry_add_table(op_registry_global(), kOpTable, kOpTableSize, &status), status);
  int counts[3] = {0}, number = 0;
  for (const char *line = text, *end = text + length; line < end;) {
    const char *stop = memchr(line, '\n', (size_t)(end - line));
    if (stop == NULL) stop = end;
    if (stop > line) run_line(line, (size_t)(stop - line), ++number, counts);
    line = stop + 1;
  }
  CHECK_CONTEXT("%s", "");
  printf("shape facts: %d hold, %d fail, %d skipped\n", counts[SHAPE_FACT_HOLDS], counts[SHAPE_FACT_FAILS],
         counts[SHAPE_FACT_SKIPPED]);
  CHECK(number > 0);
  mem_free(text);
  op_registry_clear(op_registry_global());
}
