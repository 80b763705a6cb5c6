#include "c_api/c_api_fixture.h"
#include "proto/proto.h"
#include "tensorflow/c/c_api_experimental.h"

/* y = -x * k in its own graph. */
typedef struct Body {
  Fixture f;
  TF_Output x, k, neg, y;
} Body;

static bool begin_body(Body *b) {
  if (!begin(&b->f)) return false;
  b->x = placeholder(&b->f, "x");
  b->k = constant(&b->f, "k", 3);
  b->neg = unary(&b->f, "Neg", "neg", b->x);
  b->y = binary(&b->f, "Mul", "y", b->neg, b->k);
  return b->y.oper != NULL;
}

static TF_Function *make(Body *b, const char *name) {
  return TF_GraphToFunction(b->f.graph, name, 0, -1, NULL, 1, &b->x, 1, &b->y, NULL, NULL, NULL, b->f.status);
}

/* The function's definition in `arena`; never NULL. */
static const FunctionDef *definition(Fixture *f, TF_Function *function, Arena *arena) {
  static const FunctionDef nothing = TENSORFLOW__FUNCTION_DEF__INIT;
  Status status;
  status_init(&status);
  void *def;
  TF_Buffer *bytes = TF_NewBuffer();
  TF_FunctionToFunctionDef(function, bytes, f->status);
  bool ok = CHECK_TF_OK(f->status) &&
            CHECK_OK(proto_parse(kFunctionDef, bytes->data, bytes->length, arena, &def, &status), status);
  TF_DeleteBuffer(bytes);
  return ok ? def : &nothing;
}

static const NodeDef *find_node(const FunctionDef *def, const char *name) {
  static const NodeDef nothing = TENSORFLOW__NODE_DEF__INIT;
  for (size_t i = 0; i < def->n_node_def; i++) {
    if (strcmp(def->node_def[i]->name, name) == 0) return def->node_def[i];
  }
  CHECK(false);
  return &nothing;
}

TEST(a_function_is_made_of_what_its_outputs_need) {
  Body b;
  REQUIRE(begin_body(&b));
  unary(&b.f, "Exp", "unused", b.x);
  Arena *arena = arena_new();
  TF_Function *function = TF_GraphToFunction(b.f.graph, "MulNeg", 0, -2, NULL, 1, &b.x, 1, &b.y,
                                             (const char *[]){"product"}, NULL, "what it does", b.f.status);
  CHECK_TF_OK(b.f.status);
  REQUIRE(function);
  CHECK_STR_EQ(TF_FunctionName(function), "MulNeg");
  const FunctionDef *def = definition(&b.f, function, arena);
  CHECK_STR_EQ(def->signature->description, "what it does");
  if (CHECK_INT_EQ(def->signature->n_input_arg, 1)) {
    CHECK_STR_EQ(def->signature->input_arg[0]->name, "x");
    CHECK_INT_EQ(def->signature->input_arg[0]->type, TF_FLOAT);
  }
  if (CHECK_INT_EQ(def->signature->n_output_arg, 1))
    CHECK_STR_EQ(def->signature->output_arg[0]->name, "product");
  CHECK_INT_EQ(def->n_node_def, 3);
  if (CHECK_INT_EQ(find_node(def, "y")->n_input, 2)) {
    CHECK_STR_EQ(find_node(def, "y")->input[0], "neg:y:0");
    CHECK_STR_EQ(find_node(def, "y")->input[1], "k:output:0");
  }
  if (CHECK_INT_EQ(find_node(def, "neg")->n_input, 1)) CHECK_STR_EQ(find_node(def, "neg")->input[0], "x");
  if (CHECK_INT_EQ(def->n_ret, 1)) {
    CHECK_STR_EQ(def->ret[0]->key, "product");
    CHECK_STR_EQ(def->ret[0]->value, "y:z:0");
  }
  TF_DeleteFunction(function);
  arena_free(arena);
  end(&b.f);
}

TEST(a_function_may_be_made_of_all_that_the_graph_has) {
  Body b;
  REQUIRE(begin_body(&b));
  TF_Output unused = unary(&b.f, "Exp", "unused", b.x);
  Arena *arena = arena_new();
  TF_Function *function =
      TF_GraphToFunction(b.f.graph, "All", 0, -1, NULL, 1, &b.x, 1, &b.y, NULL, NULL, NULL, b.f.status);
  CHECK_TF_OK(b.f.status);
  REQUIRE(function);
  const FunctionDef *def = definition(&b.f, function, arena);
  CHECK_INT_EQ(def->n_node_def, 4);
  CHECK_STR_EQ(find_node(def, "unused")->op, "Exp");
  TF_DeleteFunction(function);
  arena_free(arena);

  TF_OperationDescription *desc = TF_NewOperation(b.f.graph, "IdentityN", "two");
  TF_AddInputList(desc, (TF_Output[]){b.x, unused}, 2);
  TF_Output two = finish(&b.f, desc);
  CHECK(!TF_GraphToFunction(b.f.graph, "All", 0, -1, NULL, 1, &two, 1, &two, NULL, NULL, NULL, b.f.status));
  CHECK_TF_ERROR(b.f.status, TF_INVALID_ARGUMENT,
                 "When `num_opers` is set to -1, nodes referenced in `inputs` must have a single output. "
                 "Node two has 2 outputs. "
                 "Encountered while creating function 'All'");
  end(&b.f);
}

/* A function of two unused nodes, one of which always runs. */
TEST(control_outputs_are_part_of_a_function) {
  Body b;
  REQUIRE(begin_body(&b));
  TF_Output first = unary(&b.f, "Exp", "First", b.x);
  TF_Output second = unary(&b.f, "Log", "second", first);
  const TF_Operation *both[] = {second.oper, first.oper};
  Arena *arena = arena_new();
  TF_Function *function =
      TF_GraphToFunctionWithControlOutputs(b.f.graph, "F", 0, -2, NULL, 1, &b.x, 1, &b.y, NULL, 2, both,
                                           (const char *[]){"b", "a"}, NULL, NULL, b.f.status);
  CHECK_TF_OK(b.f.status);
  REQUIRE(function);
  const FunctionDef *def = definition(&b.f, function, arena);
  CHECK_INT_EQ(def->n_node_def, 5);
  if (CHECK_INT_EQ(def->signature->n_control_output, 2) && CHECK_INT_EQ(def->n_control_ret, 2)) {
    CHECK_STR_EQ(def->signature->control_output[0], "a");
    CHECK_STR_EQ(def->signature->control_output[1], "b");
    CHECK_STR_EQ(def->control_ret[0]->key, "a");
    CHECK_STR_EQ(def->control_ret[0]->value, "First");
    CHECK_STR_EQ(def->control_ret[1]->value, "second");
  }
  TF_GraphCopyFunction(b.f.graph, function, NULL, b.f.status);
  CHECK_TF_OK(b.f.status);
  TF_DeleteFunction(function);

  /* Without names they have those of the nodes. */
  function = TF_GraphToFunctionWithControlOutputs(b.f.graph, "G", 0, -1, NULL, 1, &b.x, 0, NULL, NULL, 1,
                                                  both, NULL, NULL, NULL, b.f.status);
  CHECK_TF_OK(b.f.status);
  REQUIRE(function);
  def = definition(&b.f, function, arena);
  if (CHECK_INT_EQ(def->n_control_ret, 1)) CHECK_STR_EQ(def->control_ret[0]->key, "second");
  TF_DeleteFunction(function);
  arena_free(arena);

  const struct {
    int num_opers;
    const TF_Operation *outputs[2];
    const char *names[2];
    const char *message;
  } cases[] = {
      {-2, {first.oper, second.oper}, {"x", "x"}, "Repeated control output name: x"},
      {-2, {first.oper, first.oper}, {NULL, NULL}, "Repeated control output name: First"},
      {-2, {first.oper, NULL}, {NULL, NULL}, "Control output 1 of function 'F' is null"},
      {-2, {first.oper, second.oper}, {"x", ""}, "Control output name must be not empty"},
      {0, {first.oper, second.oper}, {NULL, NULL}, "Control output node name must be not empty"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    CHECK_CONTEXT("case %d", (int)i);
    CHECK(!TF_GraphToFunctionWithControlOutputs(b.f.graph, "F", 0, cases[i].num_opers, NULL, 1, &b.x, 0, NULL,
                                                NULL, 2, cases[i].outputs, cases[i].names, NULL, NULL,
                                                b.f.status));
    CHECK_TF_ERROR(b.f.status, TF_INVALID_ARGUMENT, cases[i].message);
  }
  end(&b.f);
}

TEST(attrs_of_functions_are_set_and_read) {
  Body b;
  REQUIRE(begin_body(&b));
  TF_Function *function =
      TF_GraphToFunction(b.f.graph, "F", 0, -1, NULL, 1, &b.x, 1, &b.y, NULL, NULL, NULL, b.f.status);
  REQUIRE(function);
  TF_FunctionSetAttrValueProto(function, "five", "\x18\x04", 2, b.f.status);
  CHECK_TF_OK(b.f.status);
  TF_FunctionSetAttrValueProto(function, "five", "\x18\x05", 2, b.f.status);
  CHECK_TF_OK(b.f.status);
  TF_FunctionSetAttrValueProto(function, "yes", "\x28\x01", 2, b.f.status);
  CHECK_TF_OK(b.f.status);
  TF_FunctionSetAttrValueProto(function, "no", "\xff\xff", 2, b.f.status);
  CHECK_TF_ERROR(b.f.status, TF_INVALID_ARGUMENT,
                 "Unparseable AttrValue proto passed to TF_FunctionSetAttrValueProto");
  TF_Buffer *value = TF_NewBuffer();
  TF_FunctionGetAttrValueProto(function, "five", value, b.f.status);
  CHECK_TF_OK(b.f.status);
  if (CHECK_INT_EQ(value->length, 2)) CHECK_MEM_EQ(value->data, "\x18\x05", 2);
  TF_FunctionGetAttrValueProto(function, "yes", value, b.f.status);
  CHECK_TF_ERROR(b.f.status, TF_INVALID_ARGUMENT, "Passing non-empty TF_Buffer is invalid.");
  TF_FunctionGetAttrValueProto(function, "no", value, b.f.status);
  CHECK_TF_ERROR(b.f.status, TF_INVALID_ARGUMENT, "Function 'F' has no attr named 'no'.");
  TF_DeleteBuffer(value);
  TF_DeleteFunction(function);
  end(&b.f);
}

TEST(an_inner_value_may_be_an_argument_and_an_argument_a_result) {
  Body b;
  REQUIRE(begin_body(&b));
  Arena *arena = arena_new();
  TF_Output inputs[] = {b.neg, b.k}, outputs[] = {b.y, b.neg, b.y};
  TF_Function *function =
      TF_GraphToFunction(b.f.graph, "F", 0, -2, NULL, 2, inputs, 3, outputs, NULL, NULL, NULL, b.f.status);
  CHECK_TF_OK(b.f.status);
  REQUIRE(function);
  const FunctionDef *def = definition(&b.f, function, arena);
  CHECK_INT_EQ(def->n_node_def, 1);
  CHECK_INT_EQ(def->signature->n_input_arg, 2);
  CHECK_INT_EQ(def->signature->n_output_arg, 3);
  CHECK_INT_EQ(def->n_ret, 3);
  for (size_t i = 0; i < def->signature->n_output_arg; i++) {
    for (size_t k = 0; k < i; k++)
      CHECK(strcmp(def->signature->output_arg[i]->name, def->signature->output_arg[k]->name) != 0);
  }
  TF_DeleteFunction(function);
  arena_free(arena);
  end(&b.f);
}

TEST(a_hash_makes_names_differ_where_functions_do) {
  Body b;
  REQUIRE(begin_body(&b));
  TF_Function *first =
      TF_GraphToFunction(b.f.graph, "F", 1, -1, NULL, 1, &b.x, 1, &b.y, NULL, NULL, NULL, b.f.status);
  TF_Function *same =
      TF_GraphToFunction(b.f.graph, "F", 1, -1, NULL, 1, &b.x, 1, &b.y, NULL, NULL, NULL, b.f.status);
  TF_Function *other =
      TF_GraphToFunction(b.f.graph, "F", 1, -1, NULL, 1, &b.x, 1, &b.neg, NULL, NULL, NULL, b.f.status);
  REQUIRE(first && same && other);
  CHECK(strncmp(TF_FunctionName(first), "F_", 2) == 0 && strlen(TF_FunctionName(first)) > 2);
  CHECK_STR_EQ(TF_FunctionName(same), TF_FunctionName(first));
  CHECK(strcmp(TF_FunctionName(other), TF_FunctionName(first)) != 0);
  TF_DeleteFunction(first);
  TF_DeleteFunction(same);
  TF_DeleteFunction(other);
  end(&b.f);
}

TEST(what_makes_no_function_is_refused) {
  Body b;
  Fixture other = {0};
  REQUIRE(begin_body(&b) && begin(&other));
  TF_Output foreign = placeholder(&other, "foreign"), twice[] = {b.x, b.x}, missing = {b.x.oper, 1};
  const TF_Operation *only_y[] = {b.y.oper}, *foreign_body[] = {foreign.oper}, *null_body[] = {NULL};
  const struct {
    int num_opers;
    const TF_Operation *const *opers;
    int ninputs;
    const TF_Output *inputs;
    int noutputs;
    const TF_Output *outputs;
    TF_Code code;
    const char *message;
  } cases[] = {
      {-1, NULL, 2, twice, 1, &b.y, TF_INVALID_ARGUMENT,
       "TF_Output x:0 appears more than once in the input list"},
      {-1, NULL, 1, &kNone, 1, &b.y, TF_INVALID_ARGUMENT, "null"},
      {-1, NULL, 1, &b.x, 1, &kNone, TF_INVALID_ARGUMENT, "null"},
      {-1, NULL, 1, &foreign, 1, &b.y, TF_INVALID_ARGUMENT, "different graph"},
      {-1, NULL, 1, &b.x, 1, &foreign, TF_INVALID_ARGUMENT, "different graph"},
      {-1, NULL, 1, &missing, 1, &b.y, TF_OUT_OF_RANGE, "does not have output 1"},
      {-1, NULL, 1, &b.x, 1, &missing, TF_OUT_OF_RANGE, "does not have output 1"},
      {1, only_y, 1, &b.x, 1, &b.y, TF_INVALID_ARGUMENT, "neg:0"},
      {1, foreign_body, 1, &b.x, 1, &b.y, TF_INVALID_ARGUMENT, "different graph"},
      {1, null_body, 1, &b.x, 1, &b.y, TF_INVALID_ARGUMENT, "null"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    CHECK_CONTEXT("case %d", (int)i);
    CHECK(!TF_GraphToFunction(b.f.graph, "F", 0, cases[i].num_opers, cases[i].opers, cases[i].ninputs,
                              cases[i].inputs, cases[i].noutputs, cases[i].outputs, NULL, NULL, NULL,
                              b.f.status));
    CHECK_TF_ERROR(b.f.status, cases[i].code, cases[i].message);
  }
  CHECK_CONTEXT("%s", "");
  TF_Output both[] = {b.y, b.neg};
  CHECK(!TF_GraphToFunction(b.f.graph, "F", 0, -1, NULL, 1, &b.x, 2, both, (const char *[]){"a", "a"}, NULL,
                            NULL, b.f.status));
  CHECK_TF_ERROR(b.f.status, TF_INVALID_ARGUMENT, "a");
  end(&other);
  end(&b.f);
}

TEST(a_function_outlives_its_graph_and_moves_as_bytes) {
  Body b;
  REQUIRE(begin_body(&b));
  TF_Function *function = make(&b, "F");
  REQUIRE(function);
  TF_DeleteGraph(b.f.graph);
  TF_Buffer *first = TF_NewBuffer(), *second = TF_NewBuffer();
  TF_FunctionToFunctionDef(function, first, b.f.status);
  TF_Function *copy = TF_FunctionImportFunctionDef(first->data, first->length, b.f.status);
  CHECK_TF_OK(b.f.status);
  REQUIRE(copy);
  TF_DeleteFunction(function);
  CHECK_STR_EQ(TF_FunctionName(copy), "F");
  TF_FunctionToFunctionDef(copy, second, b.f.status);
  CHECK_TF_OK(b.f.status);
  if (CHECK_INT_EQ(second->length, first->length)) CHECK_MEM_EQ(second->data, first->data, first->length);
  CHECK(!TF_FunctionImportFunctionDef(first->data, first->length - 1, b.f.status));
  CHECK_TF_ERROR(b.f.status, TF_INVALID_ARGUMENT, "FunctionDef");
  CHECK(!TF_FunctionImportFunctionDef(NULL, 0, b.f.status));
  CHECK_TF_ERROR(b.f.status, TF_INVALID_ARGUMENT, "FunctionDef has no signature");
  TF_DeleteFunction(copy);
  TF_DeleteBuffer(first);
  TF_DeleteBuffer(second);
  TF_DeleteStatus(b.f.status);
}

TEST(a_graph_takes_copies_of_functions) {
  Body b;
  Fixture g = {0};
  REQUIRE(begin_body(&b) && begin(&g));
  TF_Function *function = make(&b, "F"), *gradient = make(&b, "FGrad");
  TF_Function *clash =
      TF_GraphToFunction(b.f.graph, "F", 0, -1, NULL, 1, &b.x, 1, &b.neg, NULL, NULL, NULL, b.f.status);
  TF_Function *like_an_op = make(&b, "Neg");
  REQUIRE(function && gradient && clash && like_an_op);
  CHECK_INT_EQ(TF_GraphNumFunctions(g.graph), 0);
  TF_GraphCopyFunction(g.graph, NULL, NULL, g.status);
  CHECK_TF_ERROR(g.status, TF_INVALID_ARGUMENT, "'func' argument to TF_GraphCopyFunction cannot be null");
  TF_GraphCopyFunction(g.graph, function, NULL, g.status);
  CHECK_TF_OK(g.status);
  TF_GraphCopyFunction(g.graph, function, NULL, g.status); /* the same again changes nothing */
  CHECK_TF_OK(g.status);
  CHECK_INT_EQ(TF_GraphNumFunctions(g.graph), 1);
  TF_GraphCopyFunction(g.graph, clash, NULL, g.status);
  CHECK_TF_ERROR(g.status, TF_INVALID_ARGUMENT,
                 "Cannot add function 'F' because a different function with the same name already exists.");
  TF_GraphCopyFunction(g.graph, like_an_op, NULL, g.status);
  CHECK_TF_ERROR(g.status, TF_INVALID_ARGUMENT,
                 "Cannot add function 'Neg' because an op with the same name already exists.");
  /* All or nothing: the gradient cannot be added, so the function is not. */
  TF_GraphCopyFunction(g.graph, gradient, clash, g.status);
  CHECK_INT_EQ(TF_GetCode(g.status), TF_INVALID_ARGUMENT);
  CHECK_INT_EQ(TF_GraphNumFunctions(g.graph), 1);
  TF_GraphCopyFunction(g.graph, function, gradient, g.status);
  CHECK_TF_OK(g.status);
  CHECK_INT_EQ(TF_GraphNumFunctions(g.graph), 2);
  TF_GraphCopyFunction(g.graph, function, function, g.status);
  CHECK_TF_ERROR(g.status, TF_INVALID_ARGUMENT,
                 "Cannot assign gradient function 'F' to 'F' because it already has gradient function "
                 "'FGrad'");
  TF_DeleteFunction(function);
  TF_DeleteFunction(gradient);
  TF_DeleteFunction(clash);
  TF_DeleteFunction(like_an_op);

  TF_Function *functions[3] = {NULL, NULL, NULL};
  CHECK_INT_EQ(TF_GraphGetFunctions(g.graph, functions, 0, g.status), 0);
  CHECK_INT_EQ(TF_GraphGetFunctions(g.graph, functions, 1, g.status), 1);
  CHECK(!functions[1]);
  TF_DeleteFunction(functions[0]);
  CHECK_INT_EQ(TF_GraphGetFunctions(g.graph, functions, 3, g.status), 2);
  CHECK_TF_OK(g.status);
  CHECK_STR_EQ(TF_FunctionName(functions[0]), "F");
  CHECK_STR_EQ(TF_FunctionName(functions[1]), "FGrad");
  TF_DeleteFunction(functions[0]);
  TF_DeleteFunction(functions[1]);
  end(&g);
  end(&b.f);
}

TEST(a_function_is_taken_out_of_a_graph) {
  Body b;
  Fixture g = {0};
  REQUIRE(begin_body(&b) && begin(&g));
  TF_Function *function = make(&b, "F");
  TF_Function *other =
      TF_GraphToFunction(b.f.graph, "F", 0, -1, NULL, 1, &b.x, 1, &b.neg, NULL, NULL, NULL, b.f.status);
  REQUIRE(function && other);
  TF_GraphRemoveFunction(g.graph, "F", g.status);
  CHECK_TF_ERROR(g.status, TF_INVALID_ARGUMENT, "Tried to remove non-existent function 'F'.");
  TF_GraphCopyFunction(g.graph, function, NULL, g.status);
  CHECK_TF_OK(g.status);
  TF_Output call = unary(&g, "F", "call", placeholder(&g, "x"));
  TF_GraphRemoveFunction(g.graph, "F", g.status);
  CHECK_TF_OK(g.status);
  CHECK_INT_EQ(TF_GraphNumFunctions(g.graph), 0);
  /* The operation stays, and its description still follows the op that it was made with. */
  CHECK_STR_EQ(TF_OperationOpType(call.oper), "F");
  CHECK_INT_EQ(TF_OperationOutputType(call), TF_FLOAT);
  TF_OperationDescription *desc = TF_NewOperation(g.graph, "F", "again");
  TF_AddInput(desc, call);
  CHECK(!TF_FinishOperation(desc, g.status));
  CHECK_TF_ERROR(g.status, TF_INVALID_ARGUMENT, "Op type not registered 'F'");
  /* The name is free for another function. */
  TF_GraphCopyFunction(g.graph, other, NULL, g.status);
  CHECK_TF_OK(g.status);
  CHECK_INT_EQ(TF_GraphNumFunctions(g.graph), 1);
  TF_DeleteFunction(function);
  TF_DeleteFunction(other);
  end(&g);
  end(&b.f);
}

TEST(functions_travel_with_the_graph_and_name_operations) {
  Body b;
  Fixture g = {0}, h = {0};
  REQUIRE(begin_body(&b) && begin(&g) && begin(&h));
  TF_Function *function = make(&b, "F");
  TF_Output x = placeholder(&g, "x");
  TF_OperationDescription *desc = TF_NewOperation(g.graph, "F", "call");
  TF_AddInput(desc, x);
  CHECK(!TF_FinishOperation(desc, g.status));
  CHECK_TF_ERROR(g.status, TF_INVALID_ARGUMENT, "Op type not registered 'F'");
  TF_GraphCopyFunction(g.graph, function, function, g.status);
  CHECK_TF_OK(g.status);
  TF_DeleteFunction(function);
  TF_Output call = unary(&g, "F", "call", x);
  CHECK_INT_EQ(TF_OperationNumOutputs(call.oper), 1);
  CHECK_INT_EQ(TF_OperationOutputType(call), TF_FLOAT);
  TF_Buffer *bytes = graph_bytes(&g, g.graph);
  TF_GraphImportGraphDef(h.graph, bytes, NULL, h.status);
  CHECK_TF_OK(h.status);
  CHECK_INT_EQ(TF_GraphNumFunctions(h.graph), 1);
  TF_Buffer *again = graph_bytes(&h, h.graph);
  if (CHECK_INT_EQ(again->length, bytes->length)) CHECK_MEM_EQ(again->data, bytes->data, bytes->length);
  TF_DeleteBuffer(bytes);
  TF_DeleteBuffer(again);
  end(&g);
  end(&h);
  end(&b.f);
}
