/* Steps with other tasks, as JavaScript carries their values. */
#include "wasm/wasm_cluster.h"

#include "c_api/c_api_fixture.h"
#include "wasm/wasm_exports.h"

#define OWN "/job:worker/replica:0/task:0"
#define FAR "/job:ps/replica:0/task:0"

static const char kKey[] = OWN "/device:CPU:0;0000000000000007;" FAR "/device:CPU:0;x;0:0";

TEST(values_are_taken_in_the_order_in_which_they_were_left) {
  Fixture f;
  REQUIRE(begin(&f));
  TF_WasmRendezvous *rendezvous = TF_WasmNewRendezvous(OWN, f.status);
  REQUIRE(rendezvous);
  TF_Tensor *value = NULL;
  CHECK_INT_EQ(TF_WasmTakeValue(rendezvous, kKey, &value, f.status), 0);
  CHECK_TF_OK(f.status);
  for (float number = 1; number <= 2; number++) {
    TF_Tensor *left = tensor_of(TF_FLOAT, 0, NULL, &number, sizeof number);
    TF_WasmLeaveValue(rendezvous, kKey, left, f.status);
    CHECK_TF_OK(f.status);
    TF_DeleteTensor(left);
  }
  TF_WasmLeaveValue(rendezvous, kKey, NULL, f.status);
  for (float number = 1; number <= 2; number++) {
    if (!CHECK_INT_EQ(TF_WasmTakeValue(rendezvous, kKey, &value, f.status), 1) || !CHECK(value)) continue;
    CHECK(*(float *)TF_TensorData(value) == number);
    TF_DeleteTensor(value);
  }
  CHECK_INT_EQ(TF_WasmTakeValue(rendezvous, kKey, &value, f.status), 1);
  CHECK(!value);
  CHECK_INT_EQ(TF_WasmTakeValue(rendezvous, kKey, &value, f.status), 0);
  TF_WasmAbortRendezvous(rendezvous, TF_ABORTED, "100%s given up");
  CHECK_INT_EQ(TF_WasmTakeValue(rendezvous, kKey, &value, f.status), 0);
  CHECK_TF_ERROR(f.status, TF_ABORTED, "100%s given up");
  TF_WasmLeaveValue(rendezvous, kKey, NULL, f.status);
  CHECK_TF_ERROR(f.status, TF_ABORTED, "100%s given up");
  TF_WasmDeleteRendezvous(rendezvous);
  end(&f);
}

/* A session of a task whose graph computes Neg of a placeholder on another task. */
typedef struct Joined {
  Fixture f;
  TF_WasmDeviceManager *devices;
  TF_Session *session;
  TF_Output x, y;
} Joined;

static bool begin_joined(Joined *j) {
  static const char *const kNames[] = {FAR "/device:CPU:0"};
  static const int64_t kIncarnations[] = {-1};
  if (!begin(&j->f)) return false;
  j->x = placeholder_of(&j->f, "x", TF_FLOAT, 0, NULL);
  TF_OperationDescription *neg = TF_NewOperation(j->f.graph, "Neg", "y");
  TF_AddInput(neg, j->x);
  TF_SetDevice(neg, "/job:ps");
  j->y = (TF_Output){TF_FinishOperation(neg, j->f.status), 0};
  CHECK_TF_OK(j->f.status);
  j->devices = TF_WasmNewDeviceManager(OWN, 1, j->f.status);
  TF_SessionOptions *options = TF_NewSessionOptions();
  j->session = TF_WasmNewSession(j->f.graph, options, j->devices, j->f.status);
  TF_DeleteSessionOptions(options);
  if (!CHECK(j->session)) return false;
  TF_WasmJoinDevices(j->session, kNames, kIncarnations, 1, j->f.status);
  return CHECK_TF_OK(j->f.status);
}

static void end_joined(Joined *j) {
  TF_DeleteSession(j->session, j->f.status);
  TF_WasmDeleteDeviceManager(j->devices);
  end(&j->f);
}

TEST(a_session_gives_the_graphs_of_other_tasks) {
  Joined j;
  REQUIRE(begin_joined(&j));
  TF_WasmCallable *callable = TF_WasmMakeCallable(j.session, &j.x, 1, &j.y, 1, NULL, 0, NULL, 0, j.f.status);
  REQUIRE(callable);
  TF_WasmRemoteGraphs *graphs = TF_WasmNewRemoteGraphs(callable, j.f.status);
  REQUIRE(graphs);
  CHECK_INT_EQ(TF_WasmRemoteGraphCount(graphs), 1);
  CHECK_STR_EQ(TF_WasmRemoteGraphDevice(graphs, 0), FAR "/device:CPU:0");
  TF_Buffer *graph_def = TF_NewBuffer();
  TF_WasmRemoteGraphDef(graphs, 0, graph_def, j.f.status);
  CHECK_TF_OK(j.f.status);
  TF_Graph *part = TF_NewGraph();
  TF_WasmImportPart(part, graph_def->data, graph_def->length, j.f.status);
  CHECK_TF_OK(j.f.status);
  CHECK(TF_GraphOperationByName(part, "y") && !TF_GraphOperationByName(part, "x"));
  TF_DeleteGraph(part);
  TF_DeleteBuffer(graph_def);
  TF_WasmDeleteRemoteGraphs(graphs);
  TF_WasmDeleteRemoteGraphs(NULL);
  TF_WasmReleaseCallable(callable);
  end_joined(&j);
}

TEST(a_step_with_another_task_asks_for_its_value) {
  Joined j;
  REQUIRE(begin_joined(&j));
  float two = 2;
  TF_Tensor *value = tensor_of(TF_FLOAT, 0, NULL, &two, sizeof two), *result = NULL;
  TF_WasmStepOptions options = {0};
  CHECK(!TF_WasmStartStep(j.session, &options, &j.x, &value, 1, &j.y, &result, 1, NULL, 0, j.f.status));
  CHECK_TF_ERROR(j.f.status, TF_FAILED_PRECONDITION, FAR);
  options.rendezvous = TF_WasmNewRendezvous(OWN, j.f.status);
  TF_WasmStep *step =
      TF_WasmStartStep(j.session, &options, &j.x, &value, 1, &j.y, &result, 1, NULL, 0, j.f.status);
  REQUIRE(step);
  CHECK(TF_WasmStepIsBlocked(step));
  TF_Buffer *key = TF_NewBuffer(), *none = TF_NewBuffer();
  TF_WasmWantedKey(options.rendezvous, key, j.f.status);
  TF_WasmWantedKey(options.rendezvous, none, j.f.status);
  CHECK(key->length > 0 && none->length == 0);
  char text[256] = "";
  if (CHECK(key->length < sizeof text)) memcpy(text, key->data, key->length);
  CHECK_INT_EQ(strncmp(text, FAR "/device:CPU:0;ffffffffffffffff;" OWN, strlen(FAR OWN) + 30), 0);
  TF_WasmLeaveValue(options.rendezvous, text, value, j.f.status);
  CHECK_INT_EQ(TF_WasmResumeStep(step, 0, &result, 1, j.f.status), 0);
  CHECK_TF_OK(j.f.status);
  if (CHECK(result)) CHECK(*(float *)TF_TensorData(result) == 2);
  TF_DeleteTensor(result);
  TF_DeleteTensor(value);
  TF_DeleteBuffer(key);
  TF_DeleteBuffer(none);
  TF_WasmDeleteRendezvous(options.rendezvous);
  end_joined(&j);
}
