/* Resource variables: handles, reads, assignments, updates in place and by copy. */
#include "gradient/graph_gradients.h"
#include "runtime/session.h"
#include "ops/variable_fixture.h"

TEST(a_variable_is_assigned_and_read) {
  Status status;
  status_init(&status);
  VariableFixture f;
  REQUIRE(fixture_begin(&f));
  Tensor flag = {0};
  CHECK_OK(fixture_declare(&f, 0, "float", &status), status);
  if (CHECK_OK(fixture_run(&f, "VarIsInitializedOp", "0", "", &flag, &status), status))
    CHECK(!tensor_bool(&flag)[0]);
  CHECK_ERROR(fixture_run(&f, "ReadVariableOp[dtype=float]", "0", "", NULL, &status), status,
              CODE_FAILED_PRECONDITION,
              "Could not find variable v0. This could mean that the variable has been deleted. In TF1, it "
              "can also mean "
              "the variable is uninitialized. Debug info: container=localhost, status error "
              "message=Container "
              "localhost does not exist. (Could not find resource: localhost/v0)");
  CHECK_OK(fixture_run(&f, "AssignVariableOp[dtype=float]", "0", "float[2] 1 2", NULL, &status), status);
  fixture_holds(&f, 0, "float[2] 1 2", 0);
  if (CHECK_OK(fixture_run(&f, "VarIsInitializedOp", "0", "", &flag, &status), status))
    CHECK(tensor_bool(&flag)[0]);
  /* A new value may have another shape. */
  CHECK_OK(fixture_run(&f, "AssignVariableOp[dtype=float]", "0", "float[3] 5", NULL, &status), status);
  fixture_holds(&f, 0, "float[3] 5 5 5", 0);
  tensor_clear(&flag);
  fixture_end(&f);
}

TEST(handles_of_one_name_lead_to_one_variable) {
  Status status;
  status_init(&status);
  VariableFixture f;
  REQUIRE(fixture_begin(&f));
  CHECK_OK(fixture_set(&f, 0, "int32[] 7", &status), status);
  Tensor again = {0};
  CHECK_OK(fixture_run(&f, "VarHandleOp[dtype=int32, shape=[], shared_name=v0]", "", "", &again, &status),
           status);
  tensor_move(&f.handles[1], &again);
  fixture_holds(&f, 1, "int32[] 7", 0);
  CHECK_OK(fixture_run(&f, "VarHandleOp[dtype=int32, shape=[], shared_name=v0, container=other]", "", "",
                       &f.handles[2], &status),
           status);
  CHECK_ERROR(fixture_run(&f, "ReadVariableOp[dtype=int32]", "2", "", NULL, &status), status,
              CODE_FAILED_PRECONDITION,
              "container=other, status error message=Container other does not exist. (Could not find "
              "resource: "
              "other/v0)");
  CHECK_ERROR(fixture_declare(&f, 0, "float", &status), status, CODE_INVALID_ARGUMENT, "float");
  fixture_end(&f);
}

TEST(updates_add_and_subtract) {
  static const char *const kTypes[] = {"float",  "double", "half",      "bfloat16",  "int32",
                                       "int64",  "uint8",  "int8",      "int16",     "uint16",
                                       "uint32", "uint64", "complex64", "complex128"};
  Status status;
  status_init(&status);
  VariableFixture f;
  REQUIRE(fixture_begin(&f));
  for (int i = 0; i < 14; i++) {
    char text[64], op[64];
    VariableFixture g;
    CHECK_CONTEXT("%s", kTypes[i]);
    if (!fixture_begin(&g)) break;
    snprintf(text, sizeof text, "%s[3] 1 2 3", kTypes[i]);
    CHECK_OK(fixture_set(&g, 0, text, &status), status);
    snprintf(op, sizeof op, "AssignAddVariableOp[dtype=%s]", kTypes[i]);
    snprintf(text, sizeof text, "%s[3] 10 20 30", kTypes[i]);
    CHECK_OK(fixture_run(&g, op, "0", text, NULL, &status), status);
    snprintf(text, sizeof text, "%s[3] 11 22 33", kTypes[i]);
    fixture_holds(&g, 0, text, 0);
    snprintf(op, sizeof op, "AssignSubVariableOp[dtype=%s]", kTypes[i]);
    snprintf(text, sizeof text, "%s[3] 1 20 3", kTypes[i]);
    CHECK_OK(fixture_run(&g, op, "0", text, NULL, &status), status);
    snprintf(text, sizeof text, "%s[3] 10 2 30", kTypes[i]);
    fixture_holds(&g, 0, text, 0);
    fixture_end(&g);
  }
  CHECK_CONTEXT("%s", "");
  CHECK_OK(fixture_set(&f, 0, "int32[] 2147483647", &status), status);
  CHECK_OK(fixture_run(&f, "AssignAddVariableOp[dtype=int32]", "0", "int32[] 1", NULL, &status), status);
  fixture_holds(&f, 0, "int32[] -2147483648", 0);
  fixture_end(&f);
}

/* A value that was read stays the same; without such a reader nothing is copied. */
TEST(updates_copy_only_what_is_shared) {
  Status status;
  status_init(&status);
  VariableFixture f;
  REQUIRE(fixture_begin(&f));
  Tensor before = {0}, after = {0};
  CHECK_OK(fixture_set(&f, 0, "float[2] 1 2", &status), status);
  CHECK_OK(fixture_run(&f, "ReadVariableOp[dtype=float]", "0", "", &before, &status), status);
  CHECK_OK(fixture_run(&f, "AssignAddVariableOp[dtype=float]", "0", "float[2] 10", NULL, &status), status);
  CHECK_OK(fixture_run(&f, "ReadVariableOp[dtype=float]", "0", "", &after, &status), status);
  if (!tensor_is_empty(&before) && !tensor_is_empty(&after)) {
    CHECK(before.data != after.data);
    CHECK_NEAR(tensor_f32(&before)[0], 1, 0);
    CHECK_NEAR(tensor_f32(&after)[1], 12, 0);
  }
  tensor_clear(&before);
  const void *memory = after.data;
  tensor_clear(&after);
  CHECK_OK(fixture_run(&f, "AssignSubVariableOp[dtype=float]", "0", "float[2] 1", NULL, &status), status);
  CHECK_OK(fixture_run(&f, "ReadVariableOp[dtype=float]", "0", "", &after, &status), status);
  CHECK(after.data == memory);
  tensor_clear(&after);
  fixture_holds(&f, 0, "float[2] 10 11", 0);
  fixture_end(&f);
}

TEST(wrong_uses_of_variables_are_refused) {
  Status status;
  status_init(&status);
  VariableFixture f;
  REQUIRE(fixture_begin(&f));
  CHECK_OK(fixture_set(&f, 0, "float[2] 1 2", &status), status);
  CHECK_OK(fixture_declare(&f, 1, "float", &status), status);
  CHECK_ERROR(fixture_run(&f, "ReadVariableOp[dtype=double]", "0", "", NULL, &status), status,
              CODE_INVALID_ARGUMENT, "Trying to read variable with wrong dtype. Expected double got float");
  CHECK_ERROR(fixture_run(&f, "AssignVariableOp[dtype=int32]", "0", "int32[2] 1", NULL, &status), status,
              CODE_INVALID_ARGUMENT, "Trying to assign variable with wrong dtype. Expected float got int32");
  CHECK_ERROR(fixture_run(&f, "AssignAddVariableOp[dtype=float]", "0", "float[3] 1", NULL, &status), status,
              CODE_INVALID_ARGUMENT,
              "Cannot update variable with shape [2] using a Tensor with shape [3], shapes must be equal.");
  CHECK_ERROR(fixture_run(&f, "AssignAddVariableOp[dtype=float]", "1", "float[2] 1", NULL, &status), status,
              CODE_NOT_FOUND, "Resource localhost/v1/N10tensorflow3VarE does not exist.");
  fixture_holds(&f, 0, "float[2] 1 2", 0);
  fixture_end(&f);
}

/* y = v * v, by two reads of v: the gradient of the handle sums those of both ReadVariableOps, 2 v. */
TEST(gradients_flow_into_variables) {
  Status status;
  status_init(&status);
  Graph *graph = graph_new();
  Session *session = session_new(graph, &status);
  NodeOutput handle, value, assign, reads[2], y, dx = {NULL, 0};
  Tensor v = {0}, got = {0}, want = {0};
  const Tensor *fed = &v;
  int count;
  if (CHECK_OK(op_add_node(graph, "v", "VarHandleOp[dtype=double, shape=[]]", NULL, 0, &handle, &status),
               status) &&
      CHECK_OK(op_add_node(graph, "value", "Placeholder[dtype=double]", NULL, 0, &value, &status), status) &&
      CHECK_OK(op_add_node(graph, "assign", "AssignVariableOp[dtype=double]", (NodeOutput[]){handle, value},
                           2, &assign, &status),
               status) &&
      CHECK_OK(op_add_node(graph, "read", "ReadVariableOp[dtype=double]", &handle, 1, &reads[0], &status),
               status) &&
      CHECK_OK(op_add_node(graph, "again", "ReadVariableOp[dtype=double]", &handle, 1, &reads[1], &status),
               status) &&
      CHECK_OK(op_add_node(graph, "y", "Mul[T=double]", reads, 2, &y, &status), status) &&
      CHECK_OK(graph_add_gradients(graph, &y, 1, &handle, 1, NULL, NULL, &dx, &status), status) &&
      CHECK(dx.node) && CHECK_OK(tensors_parse("double[] 3.5", &v, 1, &count, &status), status) &&
      CHECK_OK(tensors_parse("double[] 7", &want, 1, &count, &status), status) &&
      CHECK_OK(session_run(session, &value, &fed, 1, NULL, NULL, 0, &assign.node, 1, &status), status) &&
      CHECK_OK(session_run(session, NULL, NULL, 0, &dx, &got, 1, NULL, 0, &status), status)) {
    tensor_is_about(&got, &want, 0);
  }
  tensor_clear(&v);
  tensor_clear(&got);
  tensor_clear(&want);
  session_free(session);
  graph_free(graph);
}

/* y = w * gathered: the gradient of the handle has, at each position, the weights of the elements gathered
 * from there. */
static void gathered_weights_arrive(const char *handle_op, const char *op, const char *variable,
                                    const char *indices, const char *weights, const char *taken,
                                    const char *expected) {
  Status status;
  status_init(&status);
  Graph *graph = graph_new();
  Session *session = session_new(graph, &status);
  NodeOutput handle, value, index, weight, assign, gathered, y, dx = {NULL, 0};
  Tensor v = {0}, fed[2] = {{0}, {0}}, got[2] = {{0}, {0}}, want[2] = {{0}, {0}};
  const Tensor *assigned = &v, *given[2] = {&fed[0], &fed[1]};
  int count;
  if (CHECK_OK(op_add_node(graph, "v", handle_op, NULL, 0, &handle, &status), status) &&
      CHECK_OK(op_add_node(graph, "value", "Placeholder[dtype=double]", NULL, 0, &value, &status), status) &&
      CHECK_OK(op_add_node(graph, "index", "Placeholder[dtype=int32]", NULL, 0, &index, &status), status) &&
      CHECK_OK(op_add_node(graph, "weight", "Placeholder[dtype=double]", NULL, 0, &weight, &status),
               status) &&
      CHECK_OK(op_add_node(graph, "assign", "AssignVariableOp[dtype=double]", (NodeOutput[]){handle, value},
                           2, &assign, &status),
               status) &&
      CHECK_OK(op_add_node(graph, "gathered", op, (NodeOutput[]){handle, index}, 2, &gathered, &status),
               status) &&
      CHECK_OK(op_add_node(graph, "y", "Mul[T=double]", (NodeOutput[]){gathered, weight}, 2, &y, &status),
               status) &&
      CHECK_OK(graph_add_gradients(graph, &y, 1, &handle, 1, NULL, NULL, &dx, &status), status) &&
      CHECK(dx.node) && CHECK_OK(tensors_parse(variable, &v, 1, &count, &status), status) &&
      CHECK_OK(tensors_parse(indices, &fed[0], 1, &count, &status), status) &&
      CHECK_OK(tensors_parse(weights, &fed[1], 1, &count, &status), status) &&
      CHECK_OK(tensors_parse(taken, &want[0], 1, &count, &status), status) &&
      CHECK_OK(tensors_parse(expected, &want[1], 1, &count, &status), status) &&
      CHECK_OK(session_run(session, &value, &assigned, 1, NULL, NULL, 0, &assign.node, 1, &status), status) &&
      CHECK_OK(session_run(session, (NodeOutput[]){index, weight}, given, 2, (NodeOutput[]){gathered, dx},
                           got, 2, NULL, 0, &status),
               status)) {
    tensor_is_about(&got[0], &want[0], 0);
    tensor_is_about(&got[1], &want[1], 0);
  }
  tensor_clear(&v);
  for (int i = 0; i < 2; i++) {
    tensor_clear(&fed[i]);
    tensor_clear(&got[i]);
    tensor_clear(&want[i]);
  }
  session_free(session);
  graph_free(graph);
}

TEST(gradients_flow_into_gathered_variables) {
  gathered_weights_arrive("VarHandleOp[dtype=double, shape=[3, 1]]",
                          "ResourceGather[dtype=double, Tindices=int32]", "double[3,1] 1 2 3",
                          "int32[3] 2 0 2", "double[3,1] 10 20 30", "double[3,1] 3 1 3",
                          "double[3,1] 20 0 40");
  gathered_weights_arrive("VarHandleOp[dtype=double, shape=[2, 2]]",
                          "ResourceGather[batch_dims=1, dtype=double, Tindices=int32]", "double[2,2] 1 2 3 4",
                          "int32[2,1] 1 0", "double[2,1] 10 20", "double[2,1] 2 3", "double[2,2] 0 10 20 0");
  gathered_weights_arrive("VarHandleOp[dtype=double, shape=[2]]",
                          "ResourceGather[dtype=double, Tindices=int32]", "double[2] 1 2", "int32[] 1",
                          "double[] 5", "double[] 2", "double[2] 0 5");
}

TEST(gathering_from_a_variable_is_checked) {
  Status status;
  status_init(&status);
  VariableFixture f;
  REQUIRE(fixture_begin(&f));
  const char *op = "ResourceGather[dtype=float, Tindices=int64]";
  CHECK_OK(fixture_set(&f, 0, "float[2] 1 2", &status), status);
  CHECK_OK(fixture_declare(&f, 1, "float", &status), status);
  CHECK_OK(fixture_set(&f, 2, "float[] 1", &status), status);
  CHECK_ERROR(fixture_run(&f, op, "0", "int64[2] 0 2", NULL, &status), status, CODE_INVALID_ARGUMENT,
              "indices[1] = 2 is not in [0, 2)");
  CHECK_ERROR(fixture_run(&f, op, "1", "int64[2] 0", NULL, &status), status, CODE_NOT_FOUND,
              "Resource localhost/v1/N10tensorflow3VarE does not exist.");
  CHECK_ERROR(fixture_run(&f, op, "2", "int64[2] 0", NULL, &status), status, CODE_INVALID_ARGUMENT,
              "params must be at least 1 dimensional");
  CHECK_ERROR(fixture_run(&f, "ResourceGather[batch_dims=1, dtype=float, Tindices=int64]", "0", "int64[2] 0",
                          NULL, &status),
              status, CODE_INVALID_ARGUMENT, "batch_dims (1) must be less than rank(params) (1).");
  fixture_end(&f);
}
