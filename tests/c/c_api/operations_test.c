/* Building and querying operations. */
#include "c_api/c_api_fixture.h"
#include "proto/proto.h"

TEST(an_operation_tells_what_it_is) {
  Fixture f = {0};
  REQUIRE(begin(&f));
  TF_Output x = placeholder(&f, "x"), y = placeholder(&f, "y");
  TF_OperationDescription *desc = TF_NewOperation(f.graph, "Add", "sum");
  TF_SetDevice(desc, "/device:CPU:0");
  TF_AddInput(desc, x);
  TF_AddInput(desc, y);
  TF_Operation *sum = finish(&f, desc).oper;
  REQUIRE(sum);
  CHECK_STR_EQ(TF_OperationName(sum), "sum");
  CHECK_STR_EQ(TF_OperationOpType(sum), "Add");
  CHECK_STR_EQ(TF_OperationDevice(sum), "/device:CPU:0");
  CHECK_STR_EQ(TF_OperationDevice(x.oper), "");
  CHECK_INT_EQ(TF_OperationNumInputs(sum), 2);
  CHECK_INT_EQ(TF_OperationNumOutputs(sum), 1);
  CHECK_INT_EQ(TF_OperationInputType((TF_Input){sum, 1}), TF_FLOAT);
  CHECK_INT_EQ(TF_OperationOutputType((TF_Output){sum, 0}), TF_FLOAT);
  /* A missing attr has no type, a missing input no source. */
  CHECK_INT_EQ(TF_OperationInputType((TF_Input){sum, 2}), 0);
  CHECK_INT_EQ(TF_OperationInputType((TF_Input){sum, -1}), 0);
  CHECK_INT_EQ(TF_OperationOutputType((TF_Output){sum, 1}), 0);
  CHECK_INT_EQ(TF_OperationOutputType((TF_Output){sum, -1}), 0);
  CHECK(TF_OperationInput((TF_Input){sum, 0}).oper == x.oper);
  CHECK(TF_OperationInput((TF_Input){sum, 1}).oper == y.oper);
  CHECK(!TF_OperationInput((TF_Input){sum, 2}).oper);
  CHECK_INT_EQ(TF_OperationInput((TF_Input){sum, 2}).index, -1);
  CHECK(TF_GraphOperationByName(f.graph, "sum") == sum);
  CHECK(!TF_GraphOperationByName(f.graph, "Sum"));
  CHECK(!TF_GraphOperationByName(f.graph, ""));
  CHECK(!TF_GraphOperationByName(f.graph, "_SOURCE"));
  end(&f);
}

TEST(consumers_are_listed_up_to_what_fits) {
  Fixture f = {0};
  REQUIRE(begin(&f));
  TF_Output x = placeholder(&f, "x");
  TF_Output square = unary(&f, "Square", "square", x), twice = binary(&f, "Add", "twice", x, x);
  TF_OperationDescription *desc = TF_NewOperation(f.graph, "NoOp", "after");
  TF_AddControlInput(desc, x.oper); /* not a consumer of the value */
  finish(&f, desc);
  CHECK_INT_EQ(TF_OperationOutputNumConsumers(x), 3);
  CHECK_INT_EQ(TF_OperationOutputNumConsumers(twice), 0);
  CHECK_INT_EQ(TF_OperationOutputNumConsumers((TF_Output){x.oper, 1}), 0);
  TF_Input consumers[4] = {{NULL, -7}, {NULL, -7}, {NULL, -7}, {NULL, -7}};
  CHECK_INT_EQ(TF_OperationOutputConsumers(x, consumers, 4), 3);
  CHECK(consumers[0].oper == square.oper && consumers[0].index == 0);
  CHECK(consumers[1].oper == twice.oper && consumers[1].index == 0);
  CHECK(consumers[2].oper == twice.oper && consumers[2].index == 1);
  CHECK_INT_EQ(consumers[3].index, -7);
  consumers[1].index = -7;
  CHECK_INT_EQ(TF_OperationOutputConsumers(x, consumers, 1), 1);
  CHECK_INT_EQ(consumers[1].index, -7);
  CHECK_INT_EQ(TF_OperationOutputConsumers(x, NULL, 0), 0);
  end(&f);
}

TEST(control_inputs_and_outputs) {
  Fixture f = {0};
  REQUIRE(begin(&f));
  TF_Output x = placeholder(&f, "x"), a = constant(&f, "a", 1), b = constant(&f, "b", 2);
  TF_OperationDescription *desc = TF_NewOperation(f.graph, "Neg", "neg");
  TF_AddInput(desc, x);
  TF_AddControlInput(desc, b.oper);
  TF_AddControlInput(desc, a.oper);
  TF_AddControlInput(desc, b.oper); /* added only once */
  TF_Operation *neg = finish(&f, desc).oper;
  CHECK_INT_EQ(TF_OperationNumInputs(neg), 1);
  CHECK_INT_EQ(TF_OperationNumControlInputs(neg), 2);
  CHECK_INT_EQ(TF_OperationNumControlOutputs(neg), 0);
  CHECK_INT_EQ(TF_OperationNumControlOutputs(a.oper), 1);
  CHECK_INT_EQ(TF_OperationNumControlOutputs(x.oper), 0);
  TF_Operation *found[3] = {NULL, NULL, NULL};
  CHECK_INT_EQ(TF_OperationGetControlInputs(neg, found, 3), 2);
  CHECK(found[0] != found[1] && (found[0] == a.oper || found[1] == a.oper) &&
        (found[0] == b.oper || found[1] == b.oper));
  CHECK(!found[2]);
  CHECK_INT_EQ(TF_OperationGetControlInputs(neg, found, 1), 1);
  CHECK_INT_EQ(TF_OperationGetControlOutputs(a.oper, found, 3), 1);
  CHECK(found[0] == neg);
  CHECK_INT_EQ(TF_OperationGetControlOutputs(a.oper, found, 0), 0);
  end(&f);
}

TEST(lists_of_inputs_and_outputs) {
  Fixture f = {0};
  REQUIRE(begin(&f));
  TF_Output x = placeholder(&f, "x"), y = placeholder(&f, "y"),
            n = placeholder_of(&f, "n", TF_INT32, 0, NULL);
  TF_OperationDescription *desc = TF_NewOperation(f.graph, "AddN", "sum");
  TF_AddInputList(desc, (TF_Output[]){x, y, x}, 3);
  TF_Operation *sum = finish(&f, desc).oper;
  CHECK_INT_EQ(TF_OperationNumInputs(sum), 3);
  CHECK_INT_EQ(TF_OperationInputListLength(sum, "inputs", f.status), 3);
  CHECK_TF_OK(f.status);
  CHECK_INT_EQ(TF_OperationOutputListLength(sum, "sum", f.status), 1);
  CHECK_TF_OK(f.status);
  CHECK_INT_EQ(TF_OperationInputListLength(sum, "sum", f.status), -1);
  CHECK_TF_ERROR(f.status, TF_INVALID_ARGUMENT, "Input arg 'sum' not found");
  CHECK_INT_EQ(TF_OperationOutputListLength(sum, "inputs", f.status), -1);
  CHECK_TF_ERROR(f.status, TF_INVALID_ARGUMENT, "Output arg 'inputs' not found");
  desc = TF_NewOperation(f.graph, "IdentityN", "all");
  TF_AddInputList(desc, (TF_Output[]){x, n}, 2);
  TF_Operation *all = finish(&f, desc).oper;
  CHECK_INT_EQ(TF_OperationNumOutputs(all), 2);
  CHECK_INT_EQ(TF_OperationOutputType((TF_Output){all, 1}), TF_INT32);
  CHECK_INT_EQ(TF_OperationInputListLength(all, "input", f.status), 2);
  CHECK_INT_EQ(TF_OperationOutputListLength(all, "output", f.status), 2);
  CHECK_TF_OK(f.status);
  end(&f);
}

/* After every failure the graph is unchanged, the name is free, and the next operation can be added. */
typedef void BuildFn(Fixture *f, TF_OperationDescription *desc, TF_Output x, TF_Output n);

static void add_nothing(Fixture *f, TF_OperationDescription *desc, TF_Output x, TF_Output n) {
  (void)f, (void)desc, (void)x, (void)n;
}
static void add_one(Fixture *f, TF_OperationDescription *desc, TF_Output x, TF_Output n) {
  (void)f, (void)n;
  TF_AddInput(desc, x);
}
static void add_three(Fixture *f, TF_OperationDescription *desc, TF_Output x, TF_Output n) {
  (void)f, (void)n;
  for (int i = 0; i < 3; i++) TF_AddInput(desc, x);
}
static void add_mixed(Fixture *f, TF_OperationDescription *desc, TF_Output x, TF_Output n) {
  (void)f;
  TF_AddInput(desc, x);
  TF_AddInput(desc, n);
}
static void add_list(Fixture *f, TF_OperationDescription *desc, TF_Output x, TF_Output n) {
  (void)f, (void)n;
  TF_AddInputList(desc, (TF_Output[]){x, x}, 2);
}
static void add_missing_output(Fixture *f, TF_OperationDescription *desc, TF_Output x, TF_Output n) {
  (void)f, (void)n;
  TF_AddInput(desc, (TF_Output){x.oper, 1});
  TF_AddInput(desc, x);
}
static void add_negative_output(Fixture *f, TF_OperationDescription *desc, TF_Output x, TF_Output n) {
  (void)f, (void)n;
  TF_AddInput(desc, (TF_Output){x.oper, -1});
}
static void add_null(Fixture *f, TF_OperationDescription *desc, TF_Output x, TF_Output n) {
  (void)f, (void)x, (void)n;
  TF_AddInput(desc, kNone);
}
static void add_null_in_list(Fixture *f, TF_OperationDescription *desc, TF_Output x, TF_Output n) {
  (void)f, (void)n;
  TF_AddInputList(desc, (TF_Output[]){x, kNone}, 2);
}
static void add_null_control(Fixture *f, TF_OperationDescription *desc, TF_Output x, TF_Output n) {
  (void)f, (void)n;
  TF_AddInput(desc, x);
  TF_AddInput(desc, x);
  TF_AddControlInput(desc, NULL);
}
static void set_wrong_type(Fixture *f, TF_OperationDescription *desc, TF_Output x, TF_Output n) {
  (void)f, (void)n;
  TF_AddInput(desc, x);
  TF_AddInput(desc, x);
  TF_SetAttrType(desc, "T", TF_INT32);
}
static void set_wrong_kind(Fixture *f, TF_OperationDescription *desc, TF_Output x, TF_Output n) {
  (void)f, (void)n;
  TF_AddInput(desc, x);
  TF_AddInput(desc, x);
  TF_SetAttrInt(desc, "T", 1);
}

TEST(a_failed_operation_leaves_the_graph_as_it_was) {
  static const struct {
    const char *op, *name;
    BuildFn *build;
    TF_Code code;
    const char *message;
  } cases[] = {
      {"NoSuchOp", "bad", add_nothing, TF_INVALID_ARGUMENT, "Op type not registered 'NoSuchOp' in binary"},
      {"Add", "bad", add_nothing, TF_INVALID_ARGUMENT, "0 inputs specified of 2 inputs in Op"},
      {"Add", "bad", add_one, TF_INVALID_ARGUMENT, "1 inputs specified of 2 inputs in Op"},
      {"Add", "bad", add_three, TF_INVALID_ARGUMENT, "More Input() calls than the 2 input_args"},
      {"Add", "bad", add_mixed, TF_INVALID_ARGUMENT,
       "Inconsistent values for attr 'T' DT_FLOAT vs. DT_INT32"},
      {"Add", "bad", add_list, TF_INVALID_ARGUMENT, "List provided to input 'x' when single Tensor expected"},
      {"AddN", "bad", add_one, TF_INVALID_ARGUMENT, "Single tensor passed to 'inputs', expected list"},
      {"Add", "bad", add_missing_output, TF_OUT_OF_RANGE,
       "Node 'x' (type: 'Placeholder', num of outputs: 1) does not have output 1"},
      {"Add", "bad", add_negative_output, TF_OUT_OF_RANGE, "does not have output -1"},
      {"Add", "bad", add_null, TF_INVALID_ARGUMENT, "Node is null"},
      {"AddN", "bad", add_null_in_list, TF_INVALID_ARGUMENT, "Node is null"},
      {"Add", "bad", add_null_control, TF_INVALID_ARGUMENT, "Node is null"},
      {"Add", "bad", set_wrong_type, TF_INVALID_ARGUMENT,
       "Inconsistent values for attr 'T' DT_FLOAT vs. DT_INT32"},
      {"Add", "bad", set_wrong_kind, TF_INVALID_ARGUMENT, "'T'"},
      {"Square", "x", add_one, TF_INVALID_ARGUMENT, "Duplicate node name in graph: 'x'"},
  };
  Fixture f = {0};
  REQUIRE(begin(&f));
  TF_Output x = placeholder(&f, "x"), n = placeholder_of(&f, "n", TF_INT32, 0, NULL);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    CHECK_CONTEXT("case %d, %s", (int)i, cases[i].op);
    TF_Buffer *before = graph_bytes(&f, f.graph);
    TF_OperationDescription *desc = TF_NewOperation(f.graph, cases[i].op, cases[i].name);
    cases[i].build(&f, desc, x, n);
    CHECK(!TF_FinishOperation(desc, f.status));
    CHECK_TF_ERROR(f.status, cases[i].code, cases[i].message);
    TF_Buffer *after = graph_bytes(&f, f.graph);
    if (CHECK_INT_EQ(after->length, before->length)) CHECK_MEM_EQ(after->data, before->data, before->length);
    TF_DeleteBuffer(before);
    TF_DeleteBuffer(after);
  }
  CHECK_CONTEXT("%s", "");
  CHECK(binary(&f, "Add", "bad", x, x).oper);
  CHECK_INT_EQ(TF_OperationOutputNumConsumers(x), 2);
  end(&f);
}

TEST(an_operation_of_another_graph_is_refused) {
  Fixture f = {0}, other = {0};
  REQUIRE(begin(&f) && begin(&other));
  TF_Output x = placeholder(&f, "x"), foreign = placeholder(&other, "y");
  TF_OperationDescription *desc = TF_NewOperation(f.graph, "Add", "sum");
  TF_AddInput(desc, x);
  TF_AddInput(desc, foreign);
  CHECK(!TF_FinishOperation(desc, f.status));
  CHECK_TF_ERROR(f.status, TF_INVALID_ARGUMENT, "different graph");
  desc = TF_NewOperation(f.graph, "NoOp", "after");
  TF_AddControlInput(desc, foreign.oper);
  CHECK(!TF_FinishOperation(desc, f.status));
  CHECK_TF_ERROR(f.status, TF_INVALID_ARGUMENT, "different graph");
  CHECK_INT_EQ(TF_GraphGetTensorNumDims(f.graph, foreign, f.status), -1);
  CHECK_TF_ERROR(f.status, TF_INVALID_ARGUMENT, "different graph");
  TF_GraphSetTensorShape(f.graph, foreign, (int64_t[]){1}, 1, f.status);
  CHECK_TF_ERROR(f.status, TF_INVALID_ARGUMENT, "different graph");
  end(&f);
  end(&other);
}

TEST(operations_can_be_walked_while_more_are_added) {
  Fixture f = {0};
  REQUIRE(begin(&f));
  size_t pos = 0;
  CHECK(!TF_GraphNextOperation(f.graph, &pos));
  TF_Output a = constant(&f, "a", 1);
  CHECK(TF_GraphNextOperation(f.graph, &pos) == a.oper);
  TF_OperationDescription *desc = TF_NewOperation(f.graph, "Neg", "b");
  CHECK(!TF_GraphNextOperation(f.graph, &pos)); /* it is not in the graph yet */
  CHECK(!TF_GraphOperationByName(f.graph, "b"));
  TF_AddInput(desc, a);
  TF_Operation *b = finish(&f, desc).oper;
  CHECK(TF_GraphNextOperation(f.graph, &pos) == b);
  CHECK(!TF_GraphNextOperation(f.graph, &pos));
  CHECK(!TF_GraphNextOperation(f.graph, &pos));
  constant(&f, "c", 1);
  CHECK(TF_GraphNextOperation(f.graph, &pos) == TF_GraphOperationByName(f.graph, "c"));
  pos = 0;
  CHECK(TF_GraphNextOperation(f.graph, &pos) == a.oper);
  pos = SIZE_MAX;
  CHECK(!TF_GraphNextOperation(f.graph, &pos));
  end(&f);
}

TEST(two_operations_may_be_begun_at_the_same_time) {
  Fixture f = {0};
  REQUIRE(begin(&f));
  TF_Output x = placeholder(&f, "x");
  TF_OperationDescription *first = TF_NewOperation(f.graph, "Neg", "same"),
                          *second = TF_NewOperation(f.graph, "Exp", "same");
  TF_AddInput(first, x);
  TF_AddInput(second, x);
  CHECK_STR_EQ(TF_OperationOpType(finish(&f, second).oper), "Exp");
  CHECK(!TF_FinishOperation(first, f.status));
  CHECK_TF_ERROR(f.status, TF_INVALID_ARGUMENT, "Duplicate node name in graph: 'same'");
  end(&f);
}

TEST(shapes_can_be_asked_and_told) {
  Fixture f = {0};
  REQUIRE(begin(&f));
  int64_t dims[4] = {7, 7, 7, 7};
  TF_Output x = placeholder(&f, "x");
  CHECK_INT_EQ(TF_GraphGetTensorNumDims(f.graph, x, f.status), -1);
  CHECK_TF_OK(f.status);
  TF_GraphGetTensorShape(f.graph, x, dims, -1, f.status);
  CHECK_TF_OK(f.status);
  TF_GraphSetTensorShape(f.graph, x, NULL, -1, f.status); /* adds nothing */
  CHECK_TF_OK(f.status);
  CHECK_INT_EQ(TF_GraphGetTensorNumDims(f.graph, x, f.status), -1);
  TF_GraphSetTensorShape(f.graph, x, (int64_t[]){2, -1}, 2, f.status);
  CHECK_TF_OK(f.status);
  CHECK_INT_EQ(TF_GraphGetTensorNumDims(f.graph, x, f.status), 2);
  TF_GraphGetTensorShape(f.graph, x, dims, 2, f.status);
  CHECK_TF_OK(f.status);
  CHECK(dims[0] == 2 && dims[1] == -1 && dims[2] == 7);
  /* The second call merges with the first. */
  TF_GraphSetTensorShape(f.graph, x, (int64_t[]){-1, 3}, 2, f.status);
  CHECK_TF_OK(f.status);
  TF_GraphGetTensorShape(f.graph, x, dims, 2, f.status);
  CHECK(dims[0] == 2 && dims[1] == 3);
  TF_GraphSetTensorShape(f.graph, x, (int64_t[]){2, 5}, 2, f.status);
  CHECK_TF_ERROR(f.status, TF_INVALID_ARGUMENT,
                 "Dimension 1 in both shapes must be equal, but are 3 and 5. Shapes are [2,3] and [2,5].");
  TF_GraphSetTensorShape(f.graph, x, NULL, 0, f.status);
  CHECK_TF_ERROR(f.status, TF_INVALID_ARGUMENT, "Shapes must be equal rank, but are 2 and 0");
  TF_GraphSetTensorShape(f.graph, x, (int64_t[]){2, -2}, 2, f.status);
  CHECK_TF_ERROR(f.status, TF_INVALID_ARGUMENT, "");
  TF_GraphGetTensorShape(f.graph, x, dims, 2, f.status);
  CHECK(dims[0] == 2 && dims[1] == 3);
  TF_GraphGetTensorShape(f.graph, x, dims, 3, f.status);
  CHECK_TF_ERROR(f.status, TF_INVALID_ARGUMENT, "Expected rank is 3 but actual rank is 2");
  TF_GraphSetTensorShape(f.graph, (TF_Output){x.oper, 1}, NULL, -1, f.status);
  CHECK_TF_ERROR(f.status, TF_OUT_OF_RANGE, "does not have output 1");
  CHECK_INT_EQ(TF_GraphGetTensorNumDims(f.graph, (TF_Output){x.oper, -1}, f.status), -1);
  CHECK_TF_ERROR(f.status, TF_OUT_OF_RANGE, "does not have output -1");
  CHECK_INT_EQ(TF_GraphGetTensorNumDims(f.graph, kNone, f.status), -1);
  CHECK_TF_ERROR(f.status, TF_INVALID_ARGUMENT, "Node is null");
  end(&f);
}

TEST(shapes_that_do_not_fit_are_found_while_building) {
  Fixture f = {0};
  REQUIRE(begin(&f));
  TF_Output a = placeholder_of(&f, "a", TF_FLOAT, 2, (int64_t[]){2, 3});
  TF_Output b = placeholder_of(&f, "b", TF_FLOAT, 2, (int64_t[]){4, 5});
  TF_OperationDescription *desc = TF_NewOperation(f.graph, "MatMul", "product");
  TF_AddInput(desc, a);
  TF_AddInput(desc, b);
  CHECK(!TF_FinishOperation(desc, f.status));
  CHECK_TF_ERROR(f.status, TF_INVALID_ARGUMENT, "Dimensions must be equal, but are 3 and 4 for ");
  CHECK_STR_CONTAINS(TF_Message(f.status), "with input shapes: [2,3], [4,5].");
  CHECK(!TF_GraphOperationByName(f.graph, "product"));
  end(&f);
}

TEST(an_operation_can_be_had_as_a_node_def) {
  Fixture f = {0};
  REQUIRE(begin(&f));
  TF_Output x = placeholder(&f, "x"), c = constant(&f, "c", 1);
  TF_OperationDescription *desc = TF_NewOperation(f.graph, "Identity", "y");
  TF_AddInput(desc, x);
  TF_AddControlInput(desc, c.oper);
  TF_Operation *y = finish(&f, desc).oper;
  TF_Buffer *bytes = TF_NewBuffer();
  TF_OperationToNodeDef(y, bytes, f.status);
  CHECK_TF_OK(f.status);
  Arena *arena = arena_new();
  Status status;
  status_init(&status);
  void *message;
  if (CHECK_OK(proto_parse(kNodeDef, bytes->data, bytes->length, arena, &message, &status), status)) {
    const NodeDef *def = message;
    CHECK_STR_EQ(def->name, "y");
    CHECK_STR_EQ(def->op, "Identity");
    if (CHECK_INT_EQ(def->n_input, 2)) {
      CHECK_STR_EQ(def->input[0], "x");
      CHECK_STR_EQ(def->input[1], "^c");
    }
    CHECK_INT_EQ(node_def_attr(def, "T")->type, TF_FLOAT);
  }
  arena_free(arena);
  TF_DeleteBuffer(bytes);
  end(&f);
}

TEST(deleting_nothing_is_fine) {
  TF_DeleteGraph(NULL);
  TF_DeleteImportGraphDefOptions(NULL);
  TF_DeleteImportGraphDefResults(NULL);
  TF_DeleteFunction(NULL);
  TF_DeleteSessionOptions(NULL);
  TF_Status *status = TF_NewStatus();
  TF_DeleteSession(NULL, status);
  CHECK_TF_OK(status);
  TF_DeleteStatus(status);
}
