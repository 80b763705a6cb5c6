/* Outputs that do not exist, and NULL where TensorFlow accepts it: results or errors, but no harm. */
#include "c_api/c_api_fixture.h"

/* Invalid outputs, by their defect. */
static void get_strange_outputs(TF_Output x, TF_Output strange[3]) {
  strange[0] = kNone;
  strange[1] = (TF_Output){x.oper, 1};
  strange[2] = (TF_Output){x.oper, -1};
}

TEST(outputs_that_nothing_has_are_not_looked_at) {
  Fixture f;
  REQUIRE(begin(&f));
  TF_Output x = placeholder(&f, "x"), strange[3];
  get_strange_outputs(x, strange);
  for (int i = 0; i < 3; i++) {
    CHECK_CONTEXT("output %d", i);
    TF_Code code = i == 0 ? TF_INVALID_ARGUMENT : TF_OUT_OF_RANGE;
    int64_t dims[2] = {1, 2};
    TF_Tensor *value = NULL;
    TF_GraphSetTensorShape(f.graph, strange[i], dims, 2, f.status);
    CHECK_TF_ERROR(f.status, code, "");
    CHECK_INT_EQ(TF_GraphGetTensorNumDims(f.graph, strange[i], f.status), -1);
    CHECK_TF_ERROR(f.status, code, "");
    TF_GraphGetTensorShape(f.graph, strange[i], dims, 2, f.status);
    CHECK_TF_ERROR(f.status, code, "");
    CHECK(!TF_TryEvaluateConstant(f.graph, strange[i], &value, f.status));
    CHECK(!value);
    TF_OperationDescription *desc = TF_NewOperation(f.graph, "Square", "y");
    TF_AddInput(desc, strange[i]);
    CHECK(!TF_FinishOperation(desc, f.status));
    CHECK_TF_ERROR(f.status, code, "");
    desc = TF_NewOperation(f.graph, "AddN", "y");
    TF_AddInputList(desc, (TF_Output[]){x, strange[i]}, 2);
    CHECK(!TF_FinishOperation(desc, f.status));
    CHECK_TF_ERROR(f.status, code, "");
  }
  end(&f);
}

TEST(sessions_run_nothing_and_refuse_what_is_not_there) {
  Fixture f;
  REQUIRE(begin(&f));
  TF_Output x = placeholder(&f, "x"), y = unary(&f, "Square", "y", x), strange[3];
  TF_Session *session = TF_NewSession(f.graph, NULL, f.status);
  REQUIRE(CHECK_TF_OK(f.status));
  TF_SessionRun(session, NULL, NULL, NULL, 0, NULL, NULL, 0, NULL, 0, NULL, f.status);
  CHECK_TF_ERROR(f.status, TF_INVALID_ARGUMENT, "Must specify at least one target to fetch or execute.");
  const float three = 3;
  TF_Tensor *value = tensor_of(TF_FLOAT, 0, NULL, &three, sizeof three), *result, *missing = NULL;
  const TF_Operation *no_target = NULL;
  get_strange_outputs(x, strange);
  for (int i = 0; i < 3; i++) {
    CHECK_CONTEXT("output %d", i);
    result = NULL;
    TF_SessionRun(session, NULL, &x, &value, 1, &strange[i], &result, 1, NULL, 0, NULL, f.status);
    CHECK(TF_GetCode(f.status) != TF_OK && !result);
    TF_SessionRun(session, NULL, &strange[i], &value, 1, &y, &result, 1, NULL, 0, NULL, f.status);
    CHECK(TF_GetCode(f.status) != TF_OK && !result);
  }
  CHECK_CONTEXT("%s", "");
  TF_SessionRun(session, NULL, &x, &missing, 1, &y, &result, 1, NULL, 0, NULL, f.status);
  CHECK(TF_GetCode(f.status) != TF_OK && !result);
  TF_SessionRun(session, NULL, &x, &value, 1, NULL, NULL, 0, &no_target, 1, NULL, f.status);
  CHECK(TF_GetCode(f.status) != TF_OK);
  TF_SessionRun(session, NULL, &x, &value, 1, &y, &result, 1, NULL, 0, NULL, f.status);
  CHECK_TF_OK(f.status);
  if (CHECK(result)) CHECK_NEAR(*(float *)TF_TensorData(result), 9, 0);
  TF_DeleteTensor(result);
  TF_DeleteTensor(value);
  TF_DeleteSession(session, f.status);
  end(&f);
}

TEST(functions_of_a_whole_graph_need_neither_names_nor_options) {
  Fixture f;
  REQUIRE(begin(&f));
  TF_Output x = placeholder(&f, "x"), y = unary(&f, "Square", "y", x), strange[3];
  TF_Function *function =
      TF_GraphToFunction(f.graph, "F", 0, -1, NULL, 1, &x, 1, &y, NULL, NULL, NULL, f.status);
  CHECK_TF_OK(f.status);
  TF_Graph *other = TF_NewGraph();
  TF_GraphCopyFunction(other, NULL, NULL, f.status);
  CHECK_TF_ERROR(f.status, TF_INVALID_ARGUMENT, "'func' argument to TF_GraphCopyFunction cannot be null");
  TF_GraphCopyFunction(other, function, NULL, f.status);
  CHECK_TF_OK(f.status);
  CHECK_INT_EQ(TF_GraphGetFunctions(other, NULL, 0, f.status), 0);
  CHECK_TF_OK(f.status);
  get_strange_outputs(x, strange);
  for (int i = 0; i < 3; i++) {
    CHECK_CONTEXT("output %d", i);
    CHECK(!TF_GraphToFunction(f.graph, "G", 0, -1, NULL, 1, &strange[i], 1, &y, NULL, NULL, NULL, f.status));
    CHECK(TF_GetCode(f.status) != TF_OK);
    CHECK(!TF_GraphToFunction(f.graph, "G", 0, -1, NULL, 1, &x, 1, &strange[i], NULL, NULL, NULL, f.status));
    CHECK(TF_GetCode(f.status) != TF_OK);
  }
  TF_DeleteGraph(other);
  TF_DeleteFunction(function);
  end(&f);
}
