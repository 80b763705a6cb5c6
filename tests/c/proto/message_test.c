#include "proto/random_message.h"

static GraphDef *parse_sample(Arena *arena) {
  Status status;
  status_init(&status);
  void *graph = NULL;
  CHECK_OK(proto_parse_text(kGraphDef, str_of(kSampleGraph), arena, &graph, &status), status);
  return graph;
}

TEST(new_messages_have_no_null_strings) {
  Arena *arena = arena_new();
  NodeDef *node = proto_new(kNodeDef, arena);
  CHECK_STR_EQ(node->name, "");
  CHECK_STR_EQ(node->device, "");
  CHECK_INT_EQ(node->n_input, 0);
  AttrValue *value = proto_new(kAttrValue, arena);
  CHECK_INT_EQ(value->value_case, ATTR_NOT_SET);
  arena_free(arena);
}

TEST(append_keeps_every_element_through_growth_and_after_parse_and_copy) {
  Arena *arena = arena_new();
  Status status;
  status_init(&status);
  NodeDef *node = proto_new(kNodeDef, arena);
  for (int i = 0; i < 1000; i++) {
    REQUIRE_OK(proto_append(arena, (void ***)&node->input, &node->n_input, arena_printf(arena, "n%d", i),
                            &status),
               status);
    if (i % 97 == 5) node = proto_copy(node, arena);
    if (i % 89 == 7) {
      StrBuf bytes = {0};
      void *parsed = NULL;
      REQUIRE_OK(proto_serialize(node, &bytes, &status), status);
      REQUIRE_OK(proto_parse(kNodeDef, bytes.data, (size_t)bytes.length, arena, &parsed, &status), status);
      node = parsed;
      strbuf_free(&bytes);
    }
  }
  REQUIRE(CHECK_INT_EQ(node->n_input, 1000));
  for (int i = 0; i < 1000; i++) CHECK_STR_EQ(node->input[i], arena_printf(arena, "n%d", i));
  arena_free(arena);
}

TEST(a_copy_outlives_the_original) {
  Arena *first = arena_new(), *second = arena_new(), *third = arena_new();
  GraphDef *graph = parse_sample(first), *copy = proto_copy(graph, second);
  CHECK(copy != graph && proto_equal(graph, copy));
  arena_free(first);
  CHECK(proto_equal(copy, parse_sample(third)));
  arena_free(second);
  arena_free(third);
}

TEST(random_messages_equal_their_copies_and_differ_from_changed_ones) {
  Random random = {.state = 77, .nans = true};
  for (int i = 0; i < 100; i++) {
    random.arena = arena_new();
    GraphDef *graph = (GraphDef *)random_message(&random, kGraphDef, 0);
    GraphDef *copy = proto_copy(graph, random.arena);
    CHECK(proto_equal(graph, copy));
    copy->version ^= 1;
    CHECK(!proto_equal(graph, copy));
    arena_free(random.arena);
  }
}

static bool same(const char *a, const char *b, const ProtoDescriptor *descriptor) {
  Arena *arena = arena_new();
  Status status;
  status_init(&status);
  void *x = NULL, *y = NULL;
  CHECK_OK(proto_parse_text(descriptor, str_of(a), arena, &x, &status), status);
  CHECK_OK(proto_parse_text(descriptor, str_of(b), arena, &y, &status), status);
  bool equal = x && y && proto_equal(x, y);
  CHECK(proto_equal(y, x) == equal);
  arena_free(arena);
  return equal;
}

TEST(equality_knows_what_matters) {
  CHECK(same("attr { key: 'a' value { i: 1 } } attr { key: 'b' value { i: 2 } }",
             "attr { key: 'b' value { i: 2 } } attr { key: 'a' value { i: 1 } }", kNodeDef));
  CHECK(!same("attr { key: 'a' value { i: 1 } } attr { key: 'b' value { i: 2 } }",
              "attr { key: 'a' value { i: 2 } } attr { key: 'b' value { i: 1 } }", kNodeDef));
  CHECK(!same("attr { key: 'a' value { i: 1 } }", "attr { key: 'b' value { i: 1 } }", kNodeDef));
  CHECK(same("attr { key: 'a' }", "attr { key: 'a' value { } }", kNodeDef));
  CHECK(!same("input: ['a', 'b']", "input: ['b', 'a']", kNodeDef));
  CHECK(!same("i: 0", "b: false", kAttrValue));
  CHECK(!same("i: 0", "", kAttrValue));
  CHECK(!same("f: 0", "f: -0.0", kAttrValue));
  CHECK(same("f: nan", "f: nan", kAttrValue));
  CHECK(!same("s: 'ab'", "s: 'a'", kAttrValue));
  CHECK(!same("tensor { }", "tensor { tensor_shape { } }", kAttrValue));
  CHECK(same("", "name: ''", kNodeDef));
}

TEST(maps_with_many_entries_compare_as_sets) {
  Arena *arena = arena_new();
  Status status;
  status_init(&status);
  NodeDef *a = proto_new(kNodeDef, arena), *b = proto_new(kNodeDef, arena);
  for (int i = 0; i < 500; i++) {
    CHECK_OK(node_def_set_attr(a, arena, arena_printf(arena, "k%d", i), attr_value_int(arena, i), &status),
             status);
    CHECK_OK(node_def_set_attr(b, arena, arena_printf(arena, "k%d", 499 - i), attr_value_int(arena, 499 - i),
                               &status),
             status);
  }
  CHECK(proto_equal(a, b));
  CHECK_OK(node_def_set_attr(b, arena, "k250", attr_value_int(arena, -1), &status), status);
  CHECK(!proto_equal(a, b));
  arena_free(arena);
}

TEST(walks_over_endless_nesting_come_back) {
  Arena *arena = arena_new();
  Status status;
  status_init(&status);
  AttrValue *value = attr_value_int(arena, 1);
  for (int i = 0; i < 300; i++) {
    NodeDef *holder = node_def_new(arena, "x", "y");
    REQUIRE_OK(node_def_set_attr(holder, arena, "a", value, &status), status);
    value = attr_value_func(arena, "f", NULL);
    FuncAttrEntry *entry = proto_new(&tensorflow__name_attr_list__attr_entry__descriptor, arena);
    entry->value = holder->attr[0]->value;
    REQUIRE_OK(proto_append(arena, (void ***)&value->func->attr, &value->func->n_attr, entry, &status),
               status);
  }
  StrBuf out = {0};
  CHECK(!proto_copy(value, arena));
  CHECK_ERROR(proto_serialize(value, &out, &status), status, CODE_INVALID_ARGUMENT, "nested deeper");
  proto_print_text(value, PROTO_TEXT_SHORT, &out);
  CHECK_STR_CONTAINS(strbuf_text(&out), "{ ... }");
  strbuf_free(&out);
  arena_free(arena);
}

static bool copy_all(void *message, Status *status) {
  Arena *arena = arena_new();
  if (!arena) return status_oom(status, "arena");
  bool ok = proto_copy(message, arena) || status_oom(status, "copy");
  arena_free(arena);
  return ok;
}

TEST(copying_survives_every_allocation_failure) {
  Random random = {.state = 5, .nans = true, .arena = arena_new()};
  check_every_allocation_failure(copy_all, random_message(&random, kGraphDef, 0));
  arena_free(random.arena);
}
