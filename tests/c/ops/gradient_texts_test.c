/* The function texts of gradients: full text is lossless. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "function/text/function_text.h"
#include "harness.h"
#include "op/op_registry.h"

/* parse(full text of f) equals f. */
static void check_full(const char *text) {
  Status status;
  status_init(&status);
  Arena *arena = arena_new();
  StrBuf full = {0};
  FunctionDef *function = NULL, *back = NULL;
  if (CHECK_OK(function_parse(str_of(text), arena, &function, &status), &status) &&
      CHECK_OK(function_print_full(function, &full, &status), &status) &&
      CHECK_OK(function_parse(str_of(strbuf_text(&full)), arena, &back, &status), &status)) {
    CHECK(proto_equal(function, back));
    CHECK(!strstr(strbuf_text(&full), "@node <")); /* written entirely in the language */
  }
  strbuf_free(&full);
  arena_free(arena);
}

TEST(full_texts_of_gradients_give_them_back) {
  OpRegistry *ops = op_registry_global();
  int texts = 0;
  for (int i = 0; i < op_registry_count(ops); i++) {
    const Op *op = op_registry_find(ops, op_registry_name(ops, i));
    const char *gradient = !op ? NULL : op->registration->gradient;
    if (!gradient || gradient == NO_GRADIENT || gradient == FUNCTIONAL_GRADIENT) continue;
    CHECK_CONTEXT("the gradient of %s", op->def->name);
    check_full(gradient);
    texts++;
  }
  CHECK_CONTEXT("%s", "");
  CHECK(texts > 50);
}
