/* Parsers on damaged texts: every prefix of every text, and texts with one byte changed. Each is in memory of
 * exactly its length, so that the sanitizer sees a read after the end. A parser returns a result or an error
 * with a message. */
#include <stdlib.h>
#include <string.h>

#include "checkpoint/tensor_slice.h"
#include "function/text/function_text.h"
#include "harness.h"
#include "op/node_def.h"
#include "op/op_def_builder.h"
#include "op/shape_inference.h"
#include "op/shape_language.h"
#include "ops/op_table.h"

/* Parses `text`; parsers of C strings get a zero byte after its length. */
typedef bool (*Reader)(Str text, Arena *arena, Status *status);

static bool read_function(Str text, Arena *arena, Status *status) {
  FunctionDef *function;
  return function_parse(text, arena, &function, status);
}

static bool read_library(Str text, Arena *arena, Status *status) {
  FunctionDefLibrary *library;
  return function_parse_library(text, arena, &library, status);
}

static bool read_op_def(Str text, Arena *arena, Status *status) {
  void *message;
  return proto_parse_text(kOpDef, text, arena, &message, status);
}

static bool read_graph_def(Str text, Arena *arena, Status *status) {
  void *message;
  return proto_parse_text(kGraphDef, text, arena, &message, status);
}

static bool read_attr_value(Str text, Arena *arena, Status *status) {
  void *message;
  return proto_parse_text(kAttrValue, text, arena, &message, status);
}

static bool read_slice(Str text, Arena *arena, Status *status) {
  (void)arena;
  Shape shape = {0}, part = {0};
  TensorSlice slice;
  bool ok = slice_parse(text, &shape, &slice, &part, status);
  shape_clear(&shape);
  shape_clear(&part);
  return ok;
}

static OpDef *op_with_attrs(Arena *arena, Status *status) {
  OpDef *def = proto_new(kOpDef, arena);
  bool ok = def && op_def_parse_attr("T: type", false, def, arena, status) &&
            op_def_parse_attr("N: int", false, def, arena, status);
  return ok ? def : NULL;
}

static bool read_attr_spec(Str text, Arena *arena, Status *status) {
  OpDef *def = op_with_attrs(arena, status);
  return def && op_def_parse_attr(text.data, false, def, arena, status);
}

static bool read_arg_spec(Str text, Arena *arena, Status *status) {
  OpDef *def = op_with_attrs(arena, status);
  return def && op_def_parse_arg(text.data, false, def, arena, status);
}

static bool read_shapes(Str text, Arena *arena, Status *status) {
  InferenceContext context = {.arena = arena};
  ShapeHandle *shapes;
  int count;
  return shape_language_parse(&context, text.data, &shapes, &count, status);
}

static bool read_input(Str text, Arena *arena, Status *status) {
  (void)arena;
  Str name;
  int index;
  return node_parse_input(text.data, &name, &index) || status_invalid(status, "no input");
}

/* `terminated`: the parser takes a C string. */
typedef struct Target {
  Reader read;
  bool terminated;
  bool whole_is_good;
} Target;

static bool try_text(const Target *target, const char *text, size_t length) {
  Status status;
  status_init(&status);
  Arena *arena = arena_new();
  char *copy = malloc(length + target->terminated + (length == 0));
  bool ok = false;
  if (CHECK(arena && copy)) {
    memcpy(copy, text, length);
    if (target->terminated) copy[length] = 0;
    ok = target->read((Str){copy, length}, arena, &status);
    CHECK(ok || (status.code != CODE_OK && status.message[0] != 0));
  }
  free(copy);
  arena_free(arena);
  return ok;
}

/* Replaces each byte by `tries` others, chosen from those that are significant for a parser. */
static void damage(const Target *target, const char *text, int tries) {
  static const char kBytes[] = "<>[]{}()\"'`$#@=:;,.\\-+9zex0?*^/ \n\t\1\x7f\xc3\xff";
  const int num_bytes = (int)sizeof kBytes - 1;
  size_t length = strlen(text);
  CHECK_CONTEXT("%.60s", text);
  CHECK(try_text(target, text, length) == target->whole_is_good);
  for (size_t i = 0; i < length; i++) try_text(target, text, i);
  char *changed = malloc(length + 1);
  uint32_t dice = (uint32_t)length;
  for (size_t i = 0; CHECK(changed) && i < length; i++) {
    for (int k = 0; k < tries && k < num_bytes; k++) {
      memcpy(changed, text, length + 1);
      dice = dice * 1664525u + 1013904223u;
      changed[i] = tries >= num_bytes ? kBytes[k] : kBytes[(int)(dice >> 8) % num_bytes];
      try_text(target, changed, length);
      if (!target->terminated && tries > 3) { /* also with memory that ends after the text */
        try_text(target, changed, i + 1);
      }
    }
  }
  free(changed);
}

enum { ALL_BYTES = 64 };

BEFORE_EACH() {
  Status status;
  status_init(&status);
  CHECK_OK(op_registry_add_table(op_registry_global(), kOpTable, kOpTableSize, &status), &status);
}
AFTER_EACH() { op_registry_clear(op_registry_global()); }

TEST(damaged_function_texts_are_read_within_bounds) {
  static const char *const kTexts[] = {
      "F() -> () {",
      "F() -> () {\n}",
      "F[T:{float}, N:int = 2](x:N*T) -> (y:T) {\n  c = Const[dtype=$T, value=[1, 2.5]]()\n  y = "
      "A[s=\"a\\n\", l=[1,?], f=G[T=$T], t=Tensor<type: int8 shape: [2] values: 1 2>, v=Attr<i: 3>](x, "
      "c:output:0) @ c\n"
      "  @return d = c\n  return y = y:z:0\n}",
      "`a\\tb`(x:float) -> (y:float) { # nothing\n  n = Neg[T=float, device=/device:CPU:0](x)\n  return y = "
      "n:y:0\n}",
      ("F(x:float) -> (y:float) {\n  @stateful true\n  @attr a = {1, -2.5e3, nan}\n  @node <name: \"n\" op: "
       "\"Neg\" input: \"x\">\n"
       "  c = Const[dtype=int32, value=-0x]()\n  return y = n:y:0\n}"),
      "F() -> () { @def <signature { name: \"G\" }> }",
      "F() -> () { c = Const[dtype=half, value=[[1, 2], [3, inf]]]() d = Const[value=[true, false]]() "
      "@return c = c, d = d }",
  };
  for (size_t i = 0; i < sizeof kTexts / sizeof *kTexts; i++) {
    Status status;
    status_init(&status);
    Arena *arena = arena_new();
    FunctionDef *function;
    bool good = function_parse(str_of(kTexts[i]), arena, &function, &status);
    arena_free(arena);
    damage(&(Target){read_function, false, good}, kTexts[i], ALL_BYTES);
    damage(&(Target){read_library, false, good}, kTexts[i], ALL_BYTES);
  }
}

TEST(damaged_gradient_texts_are_read_within_bounds) {
  for (int i = 0; i < kOpTableSize; i++) {
    const char *text = kOpTable[i].registration->gradient;
    if (text && strchr(text, '{')) damage(&(Target){read_function, false, true}, text, 1);
  }
}

TEST(damaged_op_specs_are_read_within_bounds) {
  for (int i = 0; i < kOpTableSize; i++) {
    const OpRegistration *op = kOpTable[i].registration;
    for (int k = 0; k < OP_MAX_ATTRS && op->attrs[k]; k++) {
      bool new_name = strncmp(op->attrs[k], "T:", 2) != 0 && strncmp(op->attrs[k], "N:", 2) != 0;
      if (new_name) damage(&(Target){read_attr_spec, true, true}, op->attrs[k], 3);
    }
  }
  static const char *const kArgs[] = {"x: float", "x: T", "x: Ref(T)", "x: N * T", "x: N*int32"};
  static const char *const kAttrs[] = {"a: {float, int32} = DT_INT32",
                                       "a: list({'x', \"y\\n\"}) >= 2 = ['x']",
                                       "a: int >= -3 = 7",
                                       "a: shape = { dim { size: -1 } }",
                                       "a: list(float) = [1.5, nan]",
                                       "a: func = { name: 'f' }"};
  for (size_t i = 0; i < sizeof kArgs / sizeof *kArgs; i++)
    damage(&(Target){read_arg_spec, true, true}, kArgs[i], ALL_BYTES);
  for (size_t i = 0; i < sizeof kAttrs / sizeof *kAttrs; i++) {
    Status status;
    status_init(&status);
    Arena *arena = arena_new();
    bool good = read_attr_spec(str_of(kAttrs[i]), arena, &status);
    arena_free(arena);
    damage(&(Target){read_attr_spec, true, good}, kAttrs[i], ALL_BYTES);
  }
}

TEST(damaged_protos_in_text_are_read_within_bounds) {
  for (int i = 0; i < kOpTableSize; i += 20) {
    const Op *op = op_registry_find(op_registry_global(), kOpTable[i].name);
    StrBuf text = {0};
    if (CHECK(op)) proto_print_text(op->def, PROTO_TEXT_MULTI_LINE, &text);
    damage(&(Target){read_op_def, false, true}, strbuf_text(&text), 1);
    strbuf_free(&text);
  }
  static const char *const kValues[] = {("tensor { dtype: DT_STRING tensor_shape { dim { size: 2 } } "
                                         "string_val: \"a\\377\\n\" string_val: 'b' "
                                         "\"c\" }"),
                                        "list { f: [1.5, -inf, nan, 2f] }",
                                        "func { name: \"f\" attr { key: \"T\" value { type: DT_FLOAT } } }",
                                        "shape { unknown_rank: true }",
                                        "i: -0x7f",
                                        "i: 0777",
                                        "f: .5e-3",
                                        "s: \"\\u00e4\\U0001F600\\x41\\101\""};
  for (size_t i = 0; i < sizeof kValues / sizeof *kValues; i++) {
    damage(&(Target){read_attr_value, false, true}, kValues[i], ALL_BYTES);
  }
  damage(&(Target){read_graph_def, false, true},
         "node { name: \"a\" op: \"Const\" attr { key: \"dtype\" value { type: 3 } } } # end\nversions < "
         "producer: 24; >",
         ALL_BYTES);
}

TEST(damaged_shapes_slices_and_inputs_are_read_within_bounds) {
  damage(&(Target){read_shapes, true, true}, "[1,?,3];?;[];[ 12 , ? ]", ALL_BYTES);
  damage(&(Target){read_shapes, true, false}, "[99999999999999999999]", ALL_BYTES);
  damage(&(Target){read_slice, false, true}, "10 20 5,5:-", ALL_BYTES);
  damage(&(Target){read_slice, false, false}, "10 20 0,9223372036854775807:1,1", ALL_BYTES);
  damage(&(Target){read_input, true, true}, "scope/name.a-b:12", ALL_BYTES);
  damage(&(Target){read_input, true, true}, "^scope/name", ALL_BYTES);
}
