/* ApiDefs when memory runs out, and texts that end anywhere. The rest is in api_defs_transcript.c. */
#include <string.h>

#include "c_api/c_api_internal.h"
#include "harness.h"
#include "shortage.h"

static const char kChanges[] =
    "op {\n graph_op_name: 'MatMul'\n summary: <<END\nthe `a`\nEND\n in_arg { name: 'a' rename_to: 'x' }\n"
    " arg_order: 'b' arg_order: 'a' description_prefix: 'p' description_suffix: 's' endpoint { name: 'E' }\n"
    " attr { name: 'transpose_a' default_value { b: true } }\n}\n";

static TF_Buffer *ops(void) {
  static const char list[] =
      "\012\054\012\006MatMul\022\003\012\001a\022\003\012\001b\042\023\012\013transpose_a"
      "\022\004bool\052\003of ";
  return TF_NewBufferFromString(list, sizeof list - 1);
}

/* The length of the ApiDef of MatMul after the changes; 0 on error. */
static size_t changed(TF_Buffer *list, size_t text_length, TF_Status *status) {
  size_t length = 0;
  TF_ApiDefMap *map = TF_NewApiDefMap(list, status);
  if (map) TF_ApiDefMapPut(map, kChanges, text_length, status);
  if (TF_GetCode(status) == TF_OK) {
    TF_Buffer *def = TF_ApiDefMapGet(map, "MatMul", 6, status);
    if (def) length = def->length;
    TF_DeleteBuffer(def);
  }
  TF_DeleteApiDefMap(map);
  return length;
}

TEST(calls_for_api_defs_report_that_memory_ran_out) {
  TF_Buffer *list = ops();
  TF_Status *status = TF_NewStatus();
  size_t length = changed(list, strlen(kChanges), status);
  CHECK(length > 0);
  Shortage shortage = {.what = "ApiDefs"};
  do {
    shortage_begin(&shortage);
    size_t now = changed(list, strlen(kChanges), status);
    shortage_end(&shortage, TF_GetCode(status) == TF_OK, (Code)TF_GetCode(status));
    if (TF_GetCode(status) == TF_OK) CHECK_INT_EQ(now, length);
  } while (shortage_next(&shortage));
  TF_DeleteStatus(status);
  TF_DeleteBuffer(list);
}

TEST(a_text_of_api_defs_that_ends_inside_an_op_is_refused) {
  TF_Buffer *list = ops();
  TF_Status *status = TF_NewStatus();
  size_t end = strlen(kChanges) - 1; /* the last line end */
  for (size_t length = 0; length <= end; length++) {
    CHECK_CONTEXT("%zu", length);
    changed(list, length, status);
    CHECK_INT_EQ(TF_GetCode(status), length == 0 || length == end ? TF_OK : TF_INVALID_ARGUMENT);
  }
  TF_DeleteStatus(status);
  TF_DeleteBuffer(list);
}
