/* TF_Reset, and what sessions share. */
#include "c_api/c_api_fixture.h"

/* A float variable, its assignment of 1, and its value. */
typedef struct Variables {
  Fixture f;
  TF_Operation *assign;
  TF_Output value;
} Variables;

static bool begin_variables(Variables *v) {
  if (!begin(&v->f)) return false;
  TF_OperationDescription *desc = TF_NewOperation(v->f.graph, "VarHandleOp", "v");
  TF_SetAttrType(desc, "dtype", TF_FLOAT);
  TF_SetAttrShape(desc, "shape", NULL, 0);
  TF_SetAttrString(desc, "container", "box", 3);
  TF_Output handle = finish(&v->f, desc);
  desc = TF_NewOperation(v->f.graph, "Const", "one");
  TF_Tensor *one = tensor_of(TF_FLOAT, 0, NULL, &(float){1}, sizeof(float));
  TF_SetAttrTensor(desc, "value", one, v->f.status);
  TF_SetAttrType(desc, "dtype", TF_FLOAT);
  TF_Output constant = finish(&v->f, desc);
  TF_DeleteTensor(one);
  desc = TF_NewOperation(v->f.graph, "AssignVariableOp", "assign");
  TF_AddInput(desc, handle);
  TF_AddInput(desc, constant);
  v->assign = finish(&v->f, desc).oper;
  desc = TF_NewOperation(v->f.graph, "ReadVariableOp", "value");
  TF_AddInput(desc, handle);
  TF_SetAttrType(desc, "dtype", TF_FLOAT);
  v->value = finish(&v->f, desc);
  return true;
}

static void assign(Variables *v, TF_Session *session) {
  TF_SessionRun(session, NULL, NULL, NULL, 0, NULL, NULL, 0, (const TF_Operation *const *)&v->assign, 1, NULL,
                v->f.status);
}

static void read_value(Variables *v, TF_Session *session) {
  TF_Tensor *result = NULL;
  TF_SessionRun(session, NULL, NULL, NULL, 0, &v->value, &result, 1, NULL, 0, NULL, v->f.status);
  TF_DeleteTensor(result);
}

TEST(sessions_of_a_graph_have_variables_of_their_own) {
  Variables v;
  REQUIRE(begin_variables(&v));
  TF_Session *a = TF_NewSession(v.f.graph, NULL, v.f.status), *b = TF_NewSession(v.f.graph, NULL, v.f.status);
  assign(&v, a);
  read_value(&v, a);
  CHECK_TF_OK(v.f.status);
  read_value(&v, b);
  CHECK_TF_ERROR(v.f.status, TF_FAILED_PRECONDITION, "v");
  TF_DeleteSession(a, v.f.status);
  TF_DeleteSession(b, v.f.status);
  end(&v.f);
}

/* As TensorFlow does, whatever containers are named. */
TEST(reset_closes_all_sessions) {
  Variables v;
  REQUIRE(begin_variables(&v));
  TF_SessionOptions *options = TF_NewSessionOptions();
  const char *containers[] = {"other"};
  TF_Session *sessions[2];
  for (int i = 0; i < 2; i++) {
    sessions[i] = TF_NewSession(v.f.graph, NULL, v.f.status);
    assign(&v, sessions[i]);
    CHECK_TF_OK(v.f.status);
  }
  TF_SetTarget(options, "nowhere");
  TF_Reset(options, containers, 1, v.f.status);
  CHECK_TF_ERROR(v.f.status, TF_NOT_FOUND, "No session factory registered for the given session options");
  read_value(&v, sessions[0]);
  CHECK_TF_OK(v.f.status);
  TF_SetTarget(options, "");
  TF_Reset(options, containers, 1, v.f.status);
  CHECK_TF_OK(v.f.status);
  for (int i = 0; i < 2; i++) {
    read_value(&v, sessions[i]);
    CHECK_TF_ERROR(v.f.status, TF_CANCELLED, "Session has been closed.");
    TF_CloseSession(sessions[i], v.f.status);
    CHECK_TF_OK(v.f.status);
  }
  TF_Session *later = TF_NewSession(v.f.graph, NULL, v.f.status);
  assign(&v, later);
  read_value(&v, later);
  CHECK_TF_OK(v.f.status);
  TF_DeleteSession(later, v.f.status);
  for (int i = 0; i < 2; i++) TF_DeleteSession(sessions[i], v.f.status);
  TF_DeleteSessionOptions(options);
  end(&v.f);
}
