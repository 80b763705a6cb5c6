/* The hash of a function: equal for functions that differ only in the order of unordered parts, different for
 * all others. */
#include "function/function_hash.h"

#include "base/str.h"
#include "harness.h"
#include "proto/proto.h"

static uint64_t hash_of(const char *text) {
  Status status;
  status_init(&status);
  Arena *arena = arena_new();
  void *function;
  uint64_t hash = 0;
  CHECK_OK(proto_parse_text(kFunctionDef, str_of(text), arena, &function, &status) &&
               function_def_hash(function, arena, &hash, &status),
           status);
  arena_free(arena);
  return hash;
}

#define SIGNATURE \
  "signature { name: 'F' input_arg { name: 'x' type: DT_FLOAT } output_arg { name: 'y' type: DT_FLOAT } "
#define NODE(attrs) \
  SIGNATURE "} node_def { name: 'n' op: 'Call' input: 'x' " attrs " } ret { key: 'y' value: 'n:y:0' }"

/* Neighbours in a group are equal, groups are different from each other. */
static const char *const kGroups[][3] = {
    {NODE("")},
    /* Attrs of functions that are attrs. */
    {NODE("attr { key: 'f' value { func { name: 'G' attr { key: 'a' value { i: 1 } } attr { key: 'b' value { "
          "i: 2 } } } } }"),
     NODE("attr { key: 'f' value { func { name: 'G' attr { key: 'b' value { i: 2 } } attr { key: 'a' value { "
          "i: 1 } } } } }")},
    {NODE("attr { key: 'f' value { func { name: 'G' attr { key: 'a' value { i: 2 } } attr { key: 'b' value { "
          "i: 1 } } } } }")},
    {NODE("attr { key: 'f' value { func { name: 'H' attr { key: 'a' value { i: 1 } } attr { key: 'b' value { "
          "i: 2 } } } } }")},
    /* Lists of them, and lists in them. */
    {NODE("attr { key: 'l' value { list { func { name: 'G' attr { key: 'a' value { i: 1 } } attr { key: 'b' "
          "value { func { name: 'I' } } } } "
          "func { name: 'H' } } } }"),
     NODE("attr { key: 'l' value { list { func { name: 'G' attr { key: 'b' value { func { name: 'I' } } } "
          "attr { key: 'a' value { i: 1 } } } "
          "func { name: 'H' } } } }")},
    {NODE(
        "attr { key: 'l' value { list { func { name: 'H' } func { name: 'G' attr { key: 'a' value { i: 1 } } "
        "attr { key: 'b' value { func { name: 'I' } } } } } } }")},
    {NODE("attr { key: 'l' value { list { func { name: 'G' attr { key: 'b' value { list { func { name: 'I' "
          "attr { key: 'c' value { b: true } } "
          "attr { key: 'd' value { b: false } } } } } } } } } }"),
     NODE("attr { key: 'l' value { list { func { name: 'G' attr { key: 'b' value { list { func { name: 'I' "
          "attr { key: 'd' value { b: false } } "
          "attr { key: 'c' value { b: true } } } } } } } } } }")},
    /* Tensors in every encoding. */
    {NODE("attr { key: 't' value { tensor { dtype: DT_STRING tensor_shape { dim { size: 2 } } string_val: "
          "'ab' string_val: 'c' } } }")},
    {NODE("attr { key: 't' value { tensor { dtype: DT_STRING tensor_shape { dim { size: 2 } } string_val: "
          "'a' string_val: 'bc' } } }")},
    {NODE("attr { key: 't' value { tensor { dtype: DT_INT32 tensor_shape { dim { size: 2 } } int_val: 3 "
          "int_val: 3 } } }"),
     NODE("attr { key: 't' value { tensor { dtype: DT_INT32 tensor_shape { dim { size: 2 } } int_val: 3 } } "
          "}"),
     NODE("attr { key: 't' value { tensor { dtype: DT_INT32 tensor_shape { dim { size: 2 } } "
          "tensor_content: '\\003\\000\\000\\000\\003\\000\\000\\000' } } }")},
    {NODE("attr { key: 't' value { tensor { dtype: DT_INT32 int_val: 3 } } }"),
     NODE("attr { key: 't' value { tensor { dtype: DT_INT32 tensor_shape { } int_val: 3 } } }")},
    {NODE("attr { key: 't' value { tensor { dtype: DT_UINT32 uint32_val: 3 } } }")},
    /* The signature. */
    {SIGNATURE "attr { name: 'a' type: 'int' } attr { name: 'b' type: 'int' } }",
     SIGNATURE "attr { name: 'b' type: 'int' } attr { name: 'a' type: 'int' } }"},
    {SIGNATURE "attr { name: 'a' type: 'int' has_minimum: true } attr { name: 'b' type: 'int' } }"},
    {SIGNATURE
     "attr { name: 'a' type: 'int' has_minimum: true minimum: 2 } attr { name: 'b' type: 'int' } }"},
    {SIGNATURE "control_output: 'c' control_output: 'd' }",
     SIGNATURE "control_output: 'd' control_output: 'c' }"},
    {SIGNATURE "control_output: 'c' }"},
    /* Attrs of the function itself, and its control results. */
    {SIGNATURE "} attr { key: 'k' value { s: 'v' } } attr { key: 'm' value { i: 1 } }",
     SIGNATURE "} attr { key: 'm' value { i: 1 } } attr { key: 'k' value { s: 'v' } }"},
    {SIGNATURE "} attr { key: 'k' value { s: 'w' } } attr { key: 'm' value { i: 1 } }"},
    {SIGNATURE "} control_ret { key: 'c' value: 'n' } control_ret { key: 'd' value: 'm' }",
     SIGNATURE "} control_ret { key: 'd' value: 'm' } control_ret { key: 'c' value: 'n' }"},
    {SIGNATURE "} control_ret { key: 'c' value: 'm' } control_ret { key: 'd' value: 'n' }"},
    /* The order of nodes and of control inputs does not matter, that of data inputs does. */
    {SIGNATURE "} node_def { name: 'a' op: 'A' input: 'x' input: 'w' input: '^b' input: '^c' } node_def { "
               "name: 'b' op: 'B' }",
     SIGNATURE "} node_def { name: 'b' op: 'B' } node_def { name: 'a' op: 'A' input: 'x' input: 'w' input: "
               "'^c' input: '^b' }"},
    {SIGNATURE "} node_def { name: 'b' op: 'B' } node_def { name: 'a' op: 'A' input: 'w' input: 'x' input: "
               "'^c' input: '^b' }"},
};

TEST(hashes_are_equal_where_only_the_order_of_sets_differs) {
  enum { GROUPS = sizeof kGroups / sizeof *kGroups };
  uint64_t hashes[GROUPS];
  for (int i = 0; i < GROUPS; i++) {
    hashes[i] = hash_of(kGroups[i][0]);
    for (int k = 1; k < 3 && kGroups[i][k]; k++) {
      CHECK_CONTEXT("%.190s", kGroups[i][k]);
      CHECK(hash_of(kGroups[i][k]) == hashes[i]);
    }
    for (int k = 0; k < i; k++) {
      CHECK_CONTEXT("%.90s and %.90s", kGroups[i][0] + 100, kGroups[k][0] + 100);
      CHECK(hashes[k] != hashes[i]);
    }
  }
  CHECK_CONTEXT("%s", "");
}
