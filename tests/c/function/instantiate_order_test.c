/* Functions with two errors: the reported one is the one that TensorFlow finds first. */
#include <stdio.h>

#include "base/alloc.h"
#include "function/function_body.h"
#include "function/text/function_text.h"
#include "harness.h"
#include "ops/op_table.h"

/* In TensorFlow's order. Each error is at the end of a body, so that the order of nodes does not decide. */
typedef struct Defect {
  const char *attr, *nodes, *ret, *message;
} Defect;

static const Defect kDefects[] = {
    {"[T:type]", "", NULL, "Attr T is not found from"},
    {"", "open = Neg[T=$S](x)", NULL, "Failed to bind all placeholders in $S"},
    {"", "twice = Neg[T=float](x) twice = Neg[T=float](x)", NULL, "Duplicated ret name: twice:y"},
    {"", "lost = Neg[T=float](nobody)", NULL, "input nobody is not found"},
    {"", "", "missing:y:0", "Return r -> missing:y:0 is not found."},
};
enum { NUM_DEFECTS = sizeof kDefects / sizeof *kDefects };

static void check_pair(const Defect *first, const Defect *second, bool swap) {
  char text[512];
  const Defect *a = swap ? second : first, *b = swap ? first : second;
  const char *ret = first->ret ? first->ret : second->ret ? second->ret : "x";
  snprintf(text, sizeof text, "F%s(x:float) -> (r:float) { %s %s return r = %s }",
           first->attr[0] ? first->attr : second->attr, a->nodes, b->nodes, ret);
  CHECK_CONTEXT("%s", text);
  Status status;
  status_init(&status);
  Arena *arena = arena_new();
  Graph *library = graph_new();
  FunctionDef *function;
  FunctionBody *body = NULL;
  if (CHECK_OK(function_parse(str_of(text), arena, &function, &status), status)) {
    CHECK(!function_body_new(library, function, NULL, 0, &body, &status));
    CHECK_STR_CONTAINS(status.message, first->message);
  }
  graph_free(library);
  arena_free(arena);
}

TEST(of_two_defects_the_first_in_tensorflows_order_is_reported) {
  for (int i = 0; i < NUM_DEFECTS; i++) {
    for (int k = i + 1; k < NUM_DEFECTS; k++) {
      check_pair(&kDefects[i], &kDefects[k], false);
      check_pair(&kDefects[i], &kDefects[k], true);
    }
  }
}
