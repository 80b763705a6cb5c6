#include "proto/random_message.h"

static Arena *arena;

static void check_value(const AttrValue *value, const char *want_text, const char *want_kind) {
  CHECK_CONTEXT("%s", want_text);
  REQUIRE(CHECK(value));
  StrBuf out = {0};
  proto_print_text(value, PROTO_TEXT_SHORT, &out);
  CHECK_STR_EQ(strbuf_text(&out), want_text);
  CHECK_STR_EQ(attr_value_kind_name(value), want_kind);
  strbuf_free(&out);
}

TEST(every_kind_of_value) {
  arena = arena_new();
  static const int64_t dims[] = {2, -1};
  check_value(attr_value_string(arena, "a\0b", 3), "s: \"a\\000b\"", "string");
  check_value(attr_value_string(arena, "", 0), "s: \"\"", "string");
  check_value(attr_value_int(arena, INT64_MIN), "i: -9223372036854775808", "int");
  check_value(attr_value_float(arena, 0.5f), "f: 0.5", "float");
  check_value(attr_value_bool(arena, true), "b: true", "bool");
  check_value(attr_value_type(arena, 3), "type: DT_INT32", "type");
  check_value(attr_value_shape(arena, 2, dims), "shape { dim { size: 2 } dim { size: -1 } }", "shape");
  check_value(attr_value_shape(arena, 0, NULL), "shape { }", "shape");
  check_value(attr_value_shape(arena, -1, NULL), "shape { unknown_rank: true }", "shape");
  check_value(attr_value_tensor(arena, proto_new(kTensorProto, arena)), "tensor { }", "tensor");
  check_value(attr_value_placeholder(arena, "T"), "placeholder: \"T\"", "placeholder");
  AttrValue *func = attr_value_func(arena, "f", NULL);
  check_value(func, "func { name: \"f\" }", "func");
  FuncAttrEntry *entry = proto_new(&tensorflow__name_attr_list__attr_entry__descriptor, arena);
  entry->key = "k";
  entry->value = attr_value_int(arena, 1);
  Status status;
  status_init(&status);
  CHECK_OK(proto_append(arena, (void ***)&func->func->attr, &func->func->n_attr, entry, &status), status);
  AttrValue *other = attr_value_func(arena, "g", func->func);
  entry->value->i = 2;
  check_value(other, "func { name: \"g\" attr { key: \"k\" value { i: 1 } } }", "func");
  check_value(proto_new(kAttrValue, arena), "", "any");
  arena_free(arena);
}

TEST(every_kind_of_list) {
  arena = arena_new();
  static const int64_t ints[] = {1, -2};
  static const float floats[] = {1.5f};
  static const bool bools[] = {true, false};
  static const int types[] = {1, 103};
  const Str strings[] = {str_of("a"), str_of("")};
  TensorShapeProto *shape = proto_new(kTensorShapeProto, arena);
  shape->unknown_rank = true;
  const TensorShapeProto *shapes[] = {shape, shape};
  TensorProto *tensors[] = {proto_new(kTensorProto, arena)};
  check_value(attr_value_int_list(arena, ints, 2), "list { i: 1 i: -2 }", "list(int)");
  check_value(attr_value_float_list(arena, floats, 1), "list { f: 1.5 }", "list(float)");
  check_value(attr_value_bool_list(arena, bools, 2), "list { b: true b: false }", "list(bool)");
  check_value(attr_value_type_list(arena, types, 2), "list { type: DT_FLOAT type: DT_INT32_REF }",
              "list(type)");
  check_value(attr_value_string_list(arena, strings, 2), "list { s: \"a\" s: \"\" }", "list(string)");
  AttrValue *of_shapes = attr_value_shape_list(arena, shapes, 2);
  shape->unknown_rank = false;
  check_value(of_shapes, "list { shape { unknown_rank: true } shape { unknown_rank: true } }", "list(shape)");
  check_value(attr_value_tensor_list(arena, tensors, 1), "list { tensor { } }", "list(tensor)");
  const NameAttrList *funcs[] = {attr_value_func(arena, "f", NULL)->func};
  check_value(attr_value_func_list(arena, funcs, 1), "list { func { name: \"f\" } }", "list(func)");
  check_value(attr_value_int_list(arena, NULL, 0), "list { }", "list(any)");
  check_value(attr_value_shape_list(arena, NULL, 0), "list { }", "list(any)");
  arena_free(arena);
}

TEST(node_defs_are_built_step_by_step) {
  arena = arena_new();
  Status status;
  status_init(&status);
  NodeDef *node = node_def_new(arena, "n", "Op");
  char name[] = "T";
  CHECK_OK(node_def_add_input(node, arena, "a:1", &status), status);
  CHECK_OK(node_def_add_input(node, arena, "^c", &status), status);
  CHECK_OK(node_def_set_attr(node, arena, name, attr_value_type(arena, 1), &status), status);
  name[0] = 'N';
  CHECK_OK(node_def_set_attr(node, arena, name, attr_value_int(arena, 2), &status), status);
  CHECK_OK(node_def_set_attr(node, arena, "T", attr_value_type(arena, 3), &status), status);
  CHECK_INT_EQ(node->n_attr, 2);
  CHECK_INT_EQ(node_def_attr(node, "T")->type, 3);
  CHECK(!node_def_attr(node, "x"));
  StrBuf out = {0};
  proto_print_text(node, PROTO_TEXT_SHORT, &out);
  CHECK_STR_EQ(strbuf_text(&out),
               "name: \"n\" op: \"Op\" input: \"a:1\" input: \"^c\" attr { key: \"N\" value { i: 2 } } "
               "attr { key: \"T\" value { type: DT_INT32 } }");
  strbuf_free(&out);
  arena_free(arena);
}

/* Any number of attrs, so that the array of the copy is full, or is not. */
TEST(attrs_are_added_to_a_copy_that_shares_others) {
  for (int count = 0; count <= 9; count++) {
    arena = arena_new();
    Status status;
    status_init(&status);
    char name[2] = "a";
    NodeDef *node = node_def_new(arena, "n", "Op");
    for (int i = 0; i < count; i++, name[0]++)
      CHECK_OK(node_def_set_attr(node, arena, name, attr_value_int(arena, i), &status), status);
    NodeDef *copy = node_def_share(arena, node);
    for (int i = count; i < count + 9; i++, name[0]++)
      CHECK_OK(node_def_set_attr(copy, arena, name, attr_value_int(arena, i), &status), status);
    CHECK_INT_EQ(node->n_attr, count);
    CHECK_INT_EQ(copy->n_attr, count + 9);
    NodeDef *whole = proto_copy(copy, arena);
    if (!CHECK(whole)) continue;
    CHECK(proto_equal(whole, copy));
    for (int i = 0; i < count + 9; i++) {
      name[0] = (char)('a' + i);
      CHECK_INT_EQ(node_def_attr(whole, name)->i, i);
    }
    arena_free(arena);
  }
}

static bool build_all(void *unused, Status *status) {
  (void)unused;
  static const int64_t dims[] = {1, 2, 3};
  const Str strings[] = {str_of("abc"), str_of("d")};
  Arena *own = arena_new();
  if (!own) return status_oom(status, "arena");
  bool ok = true;
  for (int i = 0; ok && i < 40; i++) {
    NodeDef *node = node_def_new(own, "a name that takes some room in the arena", "Op");
    AttrValue *shape = attr_value_shape(own, 3, dims), *list = attr_value_string_list(own, strings, 2);
    AttrValue *func = attr_value_func(own, "f", NULL);
    if (!node || !shape || !list || !func) {
      ok = status_oom(status, "node");
      break;
    }
    ok = node_def_add_input(node, own, "x", status) && node_def_set_attr(node, own, "s", shape, status) &&
         node_def_set_attr(node, own, "l", list, status) && node_def_set_attr(node, own, "f", func, status);
  }
  arena_free(own);
  return ok;
}

TEST(building_survives_every_allocation_failure) { check_every_allocation_failure(build_all, NULL); }
