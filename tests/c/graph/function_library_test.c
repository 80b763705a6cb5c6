/* Function libraries on their own. */
#include "graph/function_library.h"

#include "graph_test_ops.h"

static FunctionDef *parse(Arena *arena, const char *text) {
  Status status;
  status_init(&status);
  void *function = NULL;
  CHECK_OK(proto_parse_text(kFunctionDef, str_of(text), arena, &function, &status), status);
  return function;
}

static FunctionDef *named(Arena *arena, const char *name) {
  return parse(arena, arena_printf(arena, "signature { name: '%s' }", name));
}

/* A function of one node that calls `op`, with `attr` as the text of an attr's value ("": none). */
static FunctionDef *calling(Arena *arena, const char *name, const char *op, const char *attr) {
  const char *text = attr[0] ? arena_printf(arena, "attr { key: 'a' value { %s } }", attr) : "";
  return parse(arena, arena_printf(arena, "signature { name: '%s' } node_def { name: 'n' op: '%s' %s }", name,
                                   op, text));
}

static char *library_text(const FunctionLibraryDefinition *library, Arena *arena) {
  Status status;
  status_init(&status);
  FunctionDefLibrary *proto = NULL;
  CHECK_OK(function_library_to_proto(library, arena, &proto, &status), status);
  StrBuf text = {0};
  proto_print_text(proto, PROTO_TEXT_SHORT, &text);
  char *copy = arena_strdup(arena, strbuf_text(&text));
  strbuf_free(&text);
  return copy;
}

static char *function_names(const FunctionLibraryDefinition *library, Arena *arena) {
  char *text = arena_strdup(arena, "");
  for (int64_t i = 0; i < function_library_num_functions(library); i++) {
    text = arena_printf(arena, "%s%s%s", text, i ? " " : "",
                        function_library_function(library, i)->signature->name);
  }
  return text;
}

TEST(a_library_finds_functions_and_ops) {
  Status status;
  status_init(&status);
  Arena *arena = arena_new();
  FunctionLibraryDefinition *library = function_library_new(op_registry_global(), NULL);
  const Op *op = NULL, *function_op = NULL;
  CHECK_OK(function_library_look_up(library, "Identity", &op, &status), status);
  CHECK(op == op_registry_find(op_registry_global(), "Identity"));
  CHECK(!function_library_owns_op(op));
  CHECK_ERROR(function_library_look_up(library, "F", &op, &status), status, CODE_NOT_FOUND,
              "Op type not registered 'F'");
  CHECK(!function_library_contains(library, "F") && !function_library_find(library, "F"));
  CHECK_OK(function_library_add_function(library, named(arena, "F"), &status), status);
  CHECK(function_library_contains(library, "F"));
  CHECK_STR_EQ(function_library_find(library, "F")->signature->name, "F");
  CHECK_OK(function_library_look_up(library, "F", &function_op, &status), status);
  CHECK(function_library_owns_op(function_op));
  CHECK(function_op->def == function_library_find(library, "F")->signature);
  CHECK(function_library_ops(library) == op_registry_global());
  CHECK(!function_library_function(library, 1) && !function_library_function(library, -1));
  function_library_free(library);
  function_library_free(NULL);
  arena_free(arena);
}

TEST(removed_and_replaced_functions_are_gone_but_not_their_memory) {
  Status status;
  status_init(&status);
  Arena *arena = arena_new();
  FunctionLibraryDefinition *library = function_library_new(op_registry_global(), NULL);
  for (const char *name = "A\0B\0C\0"; *name; name += 2)
    CHECK_OK(function_library_add_function(library, named(arena, name), &status), status);
  const Op *b = NULL, *other = NULL;
  CHECK_OK(function_library_look_up(library, "B", &b, &status), status);
  int64_t generation = function_library_generation(library);
  CHECK_OK(function_library_remove_function(library, "B", &status), status);
  CHECK(function_library_generation(library) > generation);
  CHECK_STR_EQ(b->def->name, "B");
  CHECK_STR_EQ(function_names(library, arena), "A C");
  CHECK_ERROR(function_library_remove_function(library, "B", &status), status, CODE_INVALID_ARGUMENT,
              "Tried to remove non-existent function 'B'.");
  CHECK_ERROR(function_library_replace_function(library, "B", named(arena, "B"), &status), status,
              CODE_INVALID_ARGUMENT, "Tried to remove non-existent function 'B'.");
  /* A removed name is free. */
  CHECK_OK(function_library_add_function(library, calling(arena, "B", "A", ""), &status), status);
  CHECK_STR_EQ(function_names(library, arena), "A C B");
  generation = function_library_generation(library);
  CHECK_OK(function_library_replace_function(library, "A", calling(arena, "A", "C", ""), &status), status);
  CHECK(function_library_generation(library) > generation);
  CHECK_STR_EQ(function_library_find(library, "A")->node_def[0]->op, "C");
  CHECK_STR_EQ(function_names(library, arena), "A C B");
  CHECK_OK(function_library_replace_function(library, "C", named(arena, "D"), &status), status);
  CHECK_STR_EQ(function_names(library, arena), "A D B");
  CHECK(!function_library_contains(library, "C"));
  CHECK_ERROR(function_library_replace_function(library, "A", named(arena, "Identity"), &status), status,
              CODE_INVALID_ARGUMENT,
              "Cannot add function 'Identity' because an op with the same name already exists.");
  CHECK_ERROR(function_library_replace_function(library, "A", named(arena, "B"), &status), status,
              CODE_INVALID_ARGUMENT,
              "Cannot add function 'B' because a different function with the same name already exists.");
  CHECK_ERROR(function_library_replace_function(library, "A", parse(arena, ""), &status), status,
              CODE_INVALID_ARGUMENT, "must have a name");
  CHECK_STR_EQ(function_names(library, arena), "A D B");
  /* Replaced by an existing function. */
  CHECK_OK(function_library_replace_function(library, "A", named(arena, "D"), &status), status);
  CHECK_STR_EQ(function_names(library, arena), "D B");
  CHECK_OK(function_library_look_up(library, "B", &other, &status), status);
  CHECK(other != b);
  function_library_clear(library);
  CHECK_INT_EQ(function_library_num_functions(library), 0);
  CHECK(!function_library_contains(library, "D"));
  CHECK_STR_EQ(other->def->name, "B");
  function_library_free(library);
  arena_free(arena);
}

TEST(gradients_are_added_replaced_and_removed) {
  Status status;
  status_init(&status);
  FunctionLibraryDefinition *library = function_library_new(op_registry_global(), NULL);
  CHECK_OK(function_library_add_gradient(library, "F", "G", &status), status);
  CHECK_OK(function_library_add_gradient(library, "F", "G", &status), status);
  CHECK_ERROR(function_library_add_gradient(library, "F", "H", &status), status, CODE_INVALID_ARGUMENT,
              "Cannot assign gradient function 'H' to 'F' because it already has gradient function 'G'");
  CHECK_INT_EQ(function_library_num_gradients(library), 1);
  int64_t generation = function_library_generation(library);
  CHECK_OK(function_library_replace_gradient(library, "F", "G", &status), status);
  CHECK_INT_EQ(function_library_generation(library), generation);
  CHECK_OK(function_library_replace_gradient(library, "F", "H", &status), status);
  CHECK(function_library_generation(library) > generation);
  CHECK_STR_EQ(function_library_find_gradient(library, "F"), "H");
  CHECK_ERROR(function_library_replace_gradient(library, "X", "H", &status), status, CODE_INVALID_ARGUMENT,
              "Tried to remove non-existent gradient 'X'.");
  CHECK_OK(function_library_remove_gradient(library, "F", &status), status);
  CHECK(!function_library_find_gradient(library, "F"));
  CHECK_INT_EQ(function_library_num_gradients(library), 0);
  CHECK_ERROR(function_library_remove_gradient(library, "F", &status), status, CODE_INVALID_ARGUMENT,
              "Tried to remove non-existent gradient 'F'.");
  CHECK_OK(function_library_add_gradient(library, "F", "I", &status), status);
  CHECK_STR_EQ(function_library_find_gradient(library, "F"), "I");
  function_library_clear(library);
  CHECK_INT_EQ(function_library_num_gradients(library), 0);
  function_library_free(library);
}

TEST(unique_names_are_the_smallest_free_numbers) {
  Status status;
  status_init(&status);
  Arena *arena = arena_new();
  FunctionLibraryDefinition *library = function_library_new(op_registry_global(), NULL);
  CHECK_STR_EQ(function_library_unique_name(library, "F", arena), "F0");
  CHECK_OK(function_library_add_function(library, named(arena, "F0"), &status), status);
  CHECK_OK(function_library_add_function(library, named(arena, "F1"), &status), status);
  CHECK_OK(function_library_add_function(library, named(arena, "F3"), &status), status);
  CHECK_STR_EQ(function_library_unique_name(library, "F", arena), "F2");
  CHECK_STR_EQ(function_library_unique_name(library, "G", arena), "G0");
  function_library_free(library);
  arena_free(arena);
}

TEST(attrs_are_those_of_the_function_that_a_node_calls) {
  Status status;
  status_init(&status);
  Arena *arena = arena_new();
  FunctionLibraryDefinition *library = function_library_new(op_registry_global(), NULL);
  static const char kAttr[] = "signature { name: '%s' } attr { key: 'level' value { i: %d } }";
  CHECK_OK(function_library_add_function(library, parse(arena, arena_printf(arena, kAttr, "F", 1)), &status),
           status);
  CHECK_OK(function_library_add_function(library, parse(arena, arena_printf(arena, kAttr, "G", 2)), &status),
           status);
  CHECK_OK(function_library_add_function(library, parse(arena, arena_printf(arena, kAttr, "D", 3)), &status),
           status);
  CHECK_OK(function_library_add_gradient(library, "G", "D", &status), status);
  typedef struct Case {
    const char *node;
    int level; /* 0: not defined */
  } Case;
  static const Case kCases[] = {
      {"op: 'F'", 1},
      {"op: 'G'", 2},
      {"op: 'F' attr { key: 'level' value { i: 9 } }", 1},
      {"op: 'SymbolicGradient' attr { key: 'f' value { func { name: 'F' } } }", 1},
      {"op: 'SymbolicGradient' attr { key: 'f' value { func { name: 'G' } } }", 3},
      {"op: 'SymbolicGradient' attr { key: 'f' value { func { name: 'X' } } }", 0},
      {"op: 'SymbolicGradient' attr { key: 'f' value { i: 3 } }", 0},
      {"op: 'SymbolicGradient' attr { key: 'level' value { i: 3 } }", 0},
      {"op: 'Identity' attr { key: 'level' value { i: 3 } }", 0},
      {"op: 'X'", 0},
  };
  for (size_t i = 0; i < sizeof kCases / sizeof *kCases; i++) {
    CHECK_CONTEXT("%s", kCases[i].node);
    void *node = NULL;
    const AttrValue *value = NULL;
    REQUIRE_OK(proto_parse_text(kNodeDef, str_of(kCases[i].node), arena, &node, &status), status);
    bool ok = function_library_get_attr(library, node, "level", &value, &status);
    CHECK_INT_EQ(ok, kCases[i].level > 0);
    if (ok) CHECK_INT_EQ(value->i, kCases[i].level);
    if (!ok) CHECK_STR_EQ(status.message, "Attr level is not defined.");
    CHECK(!function_library_get_attr(library, node, "other", &value, &status));
    CHECK_INT_EQ(status.code, CODE_INVALID_ARGUMENT);
  }
  CHECK_CONTEXT("%s", "");
  function_library_free(library);
  arena_free(arena);
}

TEST(libraries_are_added_to_each_other_whole_or_not_at_all) {
  Status status;
  status_init(&status);
  Arena *arena = arena_new();
  FunctionLibraryDefinition *a = function_library_new(op_registry_global(), NULL),
                            *b = function_library_new(op_registry_global(), NULL), *clone = NULL;
  CHECK_OK(function_library_add_function(a, named(arena, "A"), &status), status);
  CHECK_OK(function_library_add_function(a, named(arena, "C"), &status), status);
  CHECK_OK(function_library_add_gradient(a, "A", "C", &status), status);
  CHECK_OK(function_library_add_function(b, named(arena, "B"), &status), status);
  CHECK_OK(function_library_add_function(b, named(arena, "A"), &status), status);
  REQUIRE_OK(function_library_clone(b, &clone, &status), status);
  CHECK_OK(function_library_add_library(clone, a, &status), status);
  CHECK_STR_EQ(function_names(clone, arena), "B A C");
  CHECK_STR_EQ(function_library_find_gradient(clone, "A"), "C");
  CHECK_STR_EQ(function_names(b, arena), "B A");
  function_library_free(clone);
  /* A conflict at the very end. */
  CHECK_OK(function_library_add_gradient(b, "A", "B", &status), status);
  char *before = library_text(b, arena);
  CHECK_ERROR(function_library_add_library(b, a, &status), status, CODE_INVALID_ARGUMENT,
              "Cannot assign gradient function 'C' to 'A' because it already has gradient function 'B'");
  CHECK_STR_EQ(library_text(b, arena), before);
  CHECK(!function_library_contains(b, "C"));
  /* To itself. */
  CHECK_OK(function_library_add_library(b, b, &status), status);
  CHECK_STR_EQ(library_text(b, arena), before);
  function_library_free(a);
  function_library_free(b);
  arena_free(arena);
}

TEST(single_functions_are_copied_between_libraries_of_the_same_ops) {
  Status status;
  status_init(&status);
  Arena *arena = arena_new();
  OpRegistry *ops = op_registry_new();
  FunctionLibraryDefinition *a = function_library_new(op_registry_global(), NULL),
                            *b = function_library_new(op_registry_global(), NULL),
                            *foreign = function_library_new(ops, NULL);
  CHECK_OK(function_library_add_function(a, named(arena, "A"), &status), status);
  CHECK_OK(function_library_copy_function(b, "A", a, &status), status);
  CHECK_OK(function_library_copy_function(b, "A", a, &status), status);
  CHECK_STR_EQ(function_names(b, arena), "A");
  CHECK_ERROR(function_library_copy_function(b, "B", a, &status), status, CODE_INVALID_ARGUMENT,
              "Cannot copy function 'B' because no function with that name exists in the other library.");
  CHECK_OK(function_library_replace_function(a, "A", calling(arena, "A", "NoOp", ""), &status), status);
  CHECK_ERROR(function_library_copy_function(b, "A", a, &status), status, CODE_INVALID_ARGUMENT,
              "Cannot copy function 'A' because a different function with the same name already exists");
  CHECK_ERROR(function_library_copy_function(foreign, "A", a, &status), status, CODE_INVALID_ARGUMENT,
              "requires that both libraries have the same default registry");
  function_library_free(a);
  function_library_free(b);
  function_library_free(foreign);
  op_registry_free(ops);
  arena_free(arena);
}

TEST(of_a_proto_the_last_definition_counts) {
  Status status;
  status_init(&status);
  Arena *arena = arena_new();
  void *proto = NULL;
  FunctionLibraryDefinition *library = NULL;
  static const char kText[] =
      "function { signature { name: 'A' } } function { signature { name: 'B' } } "
      "function { signature { name: 'A' is_stateful: true } } "
      "gradient { function_name: 'A' gradient_func: 'X' } gradient { function_name: 'A' gradient_func: 'Y' }";
  REQUIRE_OK(proto_parse_text(kFunctionDefLibrary, str_of(kText), arena, &proto, &status), status);
  REQUIRE_OK(function_library_from_proto(op_registry_global(), proto, &library, &status), status);
  CHECK_STR_EQ(function_names(library, arena), "A B");
  CHECK(function_library_find(library, "A")->signature->is_stateful);
  CHECK_STR_EQ(function_library_find_gradient(library, "A"), "Y");
  FunctionLibraryDefinition *same = function_library_new(op_registry_global(), NULL);
  CHECK_ERROR(function_library_add_proto(same, proto, &status), status, CODE_INVALID_ARGUMENT,
              "Cannot add function 'A' because a different function with the same name already exists.");
  CHECK_INT_EQ(function_library_num_functions(same), 0);
  function_library_free(same);
  function_library_free(library);
  REQUIRE_OK(proto_parse_text(kFunctionDefLibrary, str_of("function { }"), arena, &proto, &status), status);
  CHECK_ERROR(function_library_from_proto(op_registry_global(), proto, &library, &status), status,
              CODE_INVALID_ARGUMENT, "must have a name");
  CHECK(!library);
  arena_free(arena);
}

/* Several texts of one function, and of others. */
TEST(functions_are_compared_by_meaning) {
  static const char kA[] =
      "signature { name: 'F' attr { name: 'S' type: 'type' } attr { name: 'T' type: 'type' } } "
      "attr { key: 'a' value { i: 1 } } attr { key: 'b' value { tensor { dtype: DT_FLOAT tensor_shape { dim "
      "{ "
      "size: 2 } } float_val: 1 float_val: 1 } } } "
      "node_def { name: 'm' op: 'NoOp' } node_def { name: 'n' op: 'NoOp' input: '^m' input: '^x' } "
      "ret { key: 'y' value: 'z' } control_ret { key: 'c' value: 'm' }";
  typedef struct Case {
    bool equal;
    const char *text;
  } Case;
  static const Case kCases[] = {
      {true, kA},
      {true,
       "signature { name: 'F' attr { name: 'T' type: 'type' } attr { name: 'S' type: 'type' } } "
       "attr { key: 'b' value { tensor { dtype: DT_FLOAT tensor_shape { dim { size: 2 } } float_val: 1 } } } "
       "attr { key: 'a' value { i: 1 } } node_def { name: 'n' op: 'NoOp' input: '^x' input: '^m' } "
       "node_def { name: 'm' op: 'NoOp' } ret { key: 'y' value: 'z' } control_ret { key: 'c' value: 'm' }"},
      {false, "signature { name: 'F' attr { name: 'S' type: 'type' } attr { name: 'T' type: 'type' } }"},
      {false,
       "signature { name: 'F' attr { name: 'S' type: 'type' } attr { name: 'T' type: 'int' } } "
       "attr { key: 'a' value { i: 1 } } attr { key: 'b' value { tensor { dtype: DT_FLOAT tensor_shape { dim "
       "{ "
       "size: 2 } } float_val: 1 float_val: 1 } } } "
       "node_def { name: 'm' op: 'NoOp' } node_def { name: 'n' op: 'NoOp' input: '^m' input: '^x' } "
       "ret { key: 'y' value: 'z' } control_ret { key: 'c' value: 'm' }"},
      {false,
       "signature { name: 'F' attr { name: 'S' type: 'type' } attr { name: 'T' type: 'type' } } "
       "attr { key: 'a' value { i: 2 } } attr { key: 'b' value { tensor { dtype: DT_FLOAT tensor_shape { dim "
       "{ "
       "size: 2 } } float_val: 1 float_val: 1 } } } "
       "node_def { name: 'm' op: 'NoOp' } node_def { name: 'n' op: 'NoOp' input: '^m' input: '^x' } "
       "ret { key: 'y' value: 'z' } control_ret { key: 'c' value: 'm' }"},
      {false,
       "signature { name: 'F' attr { name: 'S' type: 'type' } attr { name: 'T' type: 'type' } } "
       "attr { key: 'a' value { i: 1 } } attr { key: 'b' value { tensor { dtype: DT_FLOAT tensor_shape { dim "
       "{ "
       "size: 2 } } float_val: 1 float_val: 1 } } } "
       "node_def { name: 'm' op: 'NoOp' } node_def { name: 'n' op: 'NoOp' input: '^m' input: '^x' } "
       "ret { key: 'y' value: 'm' } control_ret { key: 'c' value: 'm' }"},
      {false,
       "signature { name: 'F' attr { name: 'S' type: 'type' } attr { name: 'T' type: 'type' } } "
       "attr { key: 'a' value { i: 1 } } attr { key: 'b' value { tensor { dtype: DT_FLOAT tensor_shape { dim "
       "{ "
       "size: 2 } } float_val: 1 float_val: 1 } } } "
       "node_def { name: 'm' op: 'NoOp' } node_def { name: 'n' op: 'NoOp' input: '^m' input: '^x' } "
       "ret { key: 'y' value: 'z' } control_ret { key: 'c' value: 'n' }"},
      {false, ""},
  };
  Status status;
  status_init(&status);
  Arena *arena = arena_new();
  const FunctionDef *a = parse(arena, kA);
  for (size_t i = 0; i < sizeof kCases / sizeof *kCases; i++) {
    CHECK_CONTEXT("case %d", (int)i);
    const FunctionDef *b = parse(arena, kCases[i].text);
    bool equal = !kCases[i].equal, back = !kCases[i].equal;
    CHECK_OK(function_defs_equal(a, b, &equal, &status), status);
    CHECK_OK(function_defs_equal(b, a, &back, &status), status);
    CHECK_INT_EQ(equal, kCases[i].equal);
    CHECK_INT_EQ(back, kCases[i].equal);
  }
  CHECK_CONTEXT("%s", "");
  arena_free(arena);
}

TEST(what_is_reachable_follows_every_way_of_calling) {
  Status status;
  status_init(&status);
  Arena *arena = arena_new();
  FunctionLibraryDefinition *library = function_library_new(op_registry_global(), NULL), *reachable = NULL;
  FunctionDef *functions[] = {
      calling(arena, "Unused", "ByOp", ""),
      calling(arena, "Root", "ByOp", ""),
      calling(arena, "ByOp", "NoOp", "func { name: 'ByAttr' }"),
      calling(arena, "ByAttr", "NoOp", "list { func { name: 'ByList1' } func { name: 'ByList2' } }"),
      calling(arena, "ByList1", "ByList1", ""), /* itself */
      calling(arena, "ByList2", "NoOp",
              "func { name: 'Nested' attr { key: 'g' value { func { name: 'Inner' attr { key: 'h' value { "
              "list { "
              "func { name: 'Innermost' } } } } } } } }"),
      named(arena, "Nested"),
      named(arena, "Inner"),
      named(arena, "Innermost"),
      named(arena, "Gradient"),
      parse(arena, "signature { name: 'Impl1' } attr { key: 'api_implements' value { s: 'api' } }"),
      parse(arena,
            "signature { name: 'Impl2' } attr { key: 'api_implements' value { s: 'api' } } "
            "node_def { name: 'n' op: 'ByImpl' }"),
      parse(arena, "signature { name: 'Other' } attr { key: 'api_implements' value { s: 'other' } }"),
      named(arena, "ByImpl"),
  };
  for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
    REQUIRE_OK(function_library_add_function(library, functions[i], &status), status);
  CHECK_OK(function_library_add_gradient(library, "Inner", "Gradient", &status), status);
  CHECK_OK(function_library_add_gradient(library, "Gradient", "Impl1", &status), status);
  CHECK_OK(function_library_add_gradient(library, "Unused", "Root", &status), status);
  CHECK_OK(function_library_add_gradient(library, "Nested", "Missing", &status), status);
  void *graph = NULL;
  REQUIRE_OK(proto_parse_text(kGraphDef,
                              str_of("node { name: 'n' op: 'Root' } node { name: 'm' op: 'Elsewhere' }"),
                              arena, &graph, &status),
             status);
  REQUIRE_OK(function_library_reachable(library, graph, &reachable, &status), status);
  CHECK_STR_EQ(function_names(reachable, arena),
               "Root ByOp ByAttr ByList1 ByList2 Nested Inner Innermost Gradient Impl1 Impl2 ByImpl");
  CHECK_INT_EQ(function_library_num_gradients(reachable), 3);
  CHECK_STR_EQ(function_library_find_gradient(reachable, "Gradient"), "Impl1");
  function_library_free(reachable);
  REQUIRE_OK(function_library_reachable_from_function(library, functions[6], &reachable, &status), status);
  CHECK_INT_EQ(function_library_num_functions(reachable), 0);
  function_library_free(reachable);
  REQUIRE_OK(function_library_reachable_from_function(library, functions[11], &reachable, &status), status);
  CHECK_STR_EQ(function_names(reachable, arena), "ByImpl");
  function_library_free(reachable);
  function_library_free(library);
  arena_free(arena);
}

TEST(long_chains_of_functions_are_reachable) {
  enum { LENGTH = 20000 };
  Status status;
  status_init(&status);
  Arena *arena = arena_new();
  FunctionLibraryDefinition *library = function_library_new(op_registry_global(), NULL), *reachable = NULL;
  for (int i = 0; i < LENGTH; i++) {
    FunctionDef *function =
        calling(arena, arena_printf(arena, "F%d", i), arena_printf(arena, "F%d", (i + 1) % LENGTH), "");
    REQUIRE_OK(function_library_add_function(library, function, &status), status);
  }
  REQUIRE_OK(function_library_reachable_from_function(library, function_library_find(library, "F7"),
                                                      &reachable, &status),
             status);
  CHECK_INT_EQ(function_library_num_functions(reachable), LENGTH);
  function_library_free(reachable);
  function_library_free(library);
  arena_free(arena);
}

TEST(changing_a_library_survives_lack_of_memory) {
  Status status;
  Arena *arena = arena_new();
  FunctionDef *a = calling(arena, "A", "NoOp", "func { name: 'B' attr { key: 'x' value { i: 1 } } }"),
              *b = calling(arena, "B", "NoOp", ""), *other = named(arena, "A");
  bool ok = false;
  for (int64_t after = 0; !ok; after++) {
    status_init(&status);
    FunctionLibraryDefinition *library = function_library_new(op_registry_global(), NULL), *made = NULL,
                              *clone = NULL;
    REQUIRE_OK(function_library_add_function(library, a, &status), status);
    char *before = library_text(library, arena);
    mem_fail_after(after);
    bool added = function_library_add_function(library, b, &status),
         replaced = added && function_library_replace_function(library, "A", other, &status);
    ok = replaced && function_library_add_gradient(library, "A", "B", &status) &&
         function_library_reachable_from_function(library, a, &made, &status) &&
         function_library_clone(library, &clone, &status);
    mem_fail_after(-1);
    if (!ok) CHECK_INT_EQ(status.code, CODE_RESOURCE_EXHAUSTED);
    if (!added) CHECK_STR_EQ(library_text(library, arena), before);
    CHECK_INT_EQ(function_library_num_functions(library), added ? 2 : 1);
    CHECK_INT_EQ(function_library_find(library, "A")->n_node_def, replaced ? 0 : 1);
    if (ok) {
      CHECK_STR_EQ(function_names(made, arena), "B");
      CHECK_STR_EQ(library_text(clone, arena), library_text(library, arena));
    }
    function_library_free(made);
    function_library_free(clone);
    function_library_free(library);
    REQUIRE(after < 1000);
  }
  arena_free(arena);
}

TEST(a_library_that_is_not_there_is_freed_all_the_same) { function_library_free(NULL); }
