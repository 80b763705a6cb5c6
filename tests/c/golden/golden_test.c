/* Replays what TensorFlow answered: every file of tests/data/golden is a test of the same name. Each case runs as a user runs a
 * graph: imported through the C API, with gradients added where the case has some, and its steps run in a session. A case of one
 * step runs a second time with constants in place of what was fed, so that shape inference and folding see the values.
 *
 *   test_golden --filter broadcast_binary
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file_store.h"
#include "c_api/c_api_internal.h"
#include "golden_file.h"
#include "golden_training.h"
#include "golden_value.h"
#include "harness.h"
#include "op/op_registry.h"
#include "proto/proto.h"
#include "runtime/thread_pool.h"

enum { MOST_VALUES = 512 };

BEFORE_EACH() {
  file_store_use(&kMemoryFiles);
  thread_pool_set_default_size(4); /* also where there are fewer processors */
}

AFTER_EACH() {
  file_memory_clear();
  op_registry_clear(op_registry_global());
  thread_pool_shut_down();
}

typedef struct Replay {
  const Tfcore__GoldenCase *golden;
  TF_Graph *graph;
  TF_Session *session;
  TF_Status *status;
  TF_Output dx[MOST_VALUES];
  Training training;
  bool constant; /* what is fed stands in the graph as constants */
} Replay;

static bool check_ok(const Replay *replay) {
  return TF_GetCode(replay->status) == TF_OK ||
         harness_fail(__FILE__, __LINE__, "code %d: %.300s", TF_GetCode(replay->status), TF_Message(replay->status));
}

/* "op", "op:1" or "dx:0". */
static bool find_output(const Replay *replay, const char *name, TF_Output *output) {
  char node[256];
  const char *colon = strrchr(name, ':');
  size_t length = colon ? (size_t)(colon - name) : strlen(name);
  if (!CHECK(length < sizeof node)) return false;
  memcpy(node, name, length);
  node[length] = '\0';
  *output = (TF_Output){TF_GraphOperationByName(replay->graph, node), colon ? atoi(colon + 1) : 0};
  if (replay->golden->gradients && strcmp(node, "dx") == 0) *output = replay->dx[output->index];
  return output->oper != NULL || harness_fail(__FILE__, __LINE__, "no output \"%s\" in the graph", name);
}

/* A copy of the case's graph for importing; with constants in place of the placeholders that the only step feeds. */
static bool serialize_graph(const Replay *replay, TF_Buffer **buffer) {
  const Tfcore__GoldenCase *golden = replay->golden;
  Arena *arena = arena_new();
  StrBuf bytes = {0};
  Status status;
  status_init(&status);
  GraphDef graph = *golden->graph;
  NodeDef **nodes = arena ? arena_alloc(arena, (int64_t)((graph.n_node + 1) * sizeof(NodeDef *))) : NULL;
  bool ok = CHECK(nodes != NULL);
  for (size_t i = 0; ok && i < graph.n_node; i++) {
    nodes[i] = graph.node[i];
    for (size_t j = 0; replay->constant && j < golden->steps[0]->n_feeds; j++) {
      const Tfcore__GoldenValue *feed = golden->steps[0]->feeds[j];
      if (strcmp(feed->name, nodes[i]->name) != 0 || strcmp(nodes[i]->op, "Placeholder") != 0) continue;
      NodeDef *constant = node_def_new(arena, nodes[i]->name, "Const");
      AttrValue *dtype = attr_value_type(arena, (int)feed->tensor->dtype), *value = attr_value_tensor(arena, feed->tensor);
      ok = CHECK(constant && dtype && value) && CHECK_OK(node_def_set_attr(constant, arena, "dtype", dtype, &status), status) &&
           CHECK_OK(node_def_set_attr(constant, arena, "value", value, &status), status);
      nodes[i] = constant;
    }
  }
  graph.node = nodes;
  ok = ok && CHECK_OK(proto_serialize(&graph, &bytes, &status), status);
  *buffer = ok ? TF_NewBufferFromString(strbuf_text(&bytes), (size_t)bytes.length) : NULL;
  strbuf_free(&bytes);
  arena_free(arena);
  return ok && CHECK(*buffer != NULL);
}

static bool find_outputs(const Replay *replay, char **names, size_t count, TF_Output *outputs) {
  if (!CHECK(count <= MOST_VALUES)) return false;
  for (size_t i = 0; i < count; i++) {
    if (!find_output(replay, names[i], &outputs[i])) return false;
  }
  return true;
}

static bool add_gradients(Replay *replay) {
  const Tfcore__GoldenGradients *gradients = replay->golden->gradients;
  TF_Output ys[MOST_VALUES], xs[MOST_VALUES], grad_ys[MOST_VALUES];
  if (!find_outputs(replay, gradients->ys, gradients->n_ys, ys) || !find_outputs(replay, gradients->xs, gradients->n_xs, xs) ||
      !CHECK(gradients->n_grad_ys == 0 || gradients->n_grad_ys == gradients->n_ys) ||
      !find_outputs(replay, gradients->grad_ys, gradients->n_grad_ys, grad_ys))
    return false;
  TF_AddGradients(replay->graph, ys, (int)gradients->n_ys, xs, (int)gradients->n_xs, gradients->n_grad_ys ? grad_ys : NULL,
                  replay->status, replay->dx);
  if (!check_ok(replay)) return false;
  /* A gradient may be what is fed itself, which cannot be fetched. */
  Fixture f = {replay->graph, replay->status};
  for (size_t i = 0; i < gradients->n_xs; i++) {
    char name[32];
    snprintf(name, sizeof name, "dx%zu", i);
    replay->dx[i] = unary(&f, "Identity", name, replay->dx[i]);
  }
  return true;
}

static bool import(Replay *replay) {
  TF_Buffer *buffer = NULL;
  bool ok = serialize_graph(replay, &buffer);
  TF_ImportGraphDefOptions *options = TF_NewImportGraphDefOptions();
  const Tfcore__GoldenTraining *training = replay->golden->training;
  ok = ok && (training == NULL || training_make_variables(&replay->training, options));
  if (ok) TF_GraphImportGraphDef(replay->graph, buffer, options, replay->status);
  TF_DeleteImportGraphDefOptions(options);
  TF_DeleteBuffer(buffer);
  TF_Output loss;
  return ok && check_ok(replay) && (replay->golden->gradients == NULL || add_gradients(replay)) &&
         (training == NULL || (find_output(replay, training->loss, &loss) && training_make_updates(&replay->training, loss)));
}

/* TensorFlow's code, and its words. */
static void check_failure(const Replay *replay, const Tfcore__GoldenStep *step) {
  CHECK_INT_EQ(TF_GetCode(replay->status), step->code);
  CHECK_STR_CONTAINS(TF_Message(replay->status), step->message);
}

static void run_step(Replay *replay, size_t index) {
  const Tfcore__GoldenStep *step = replay->golden->steps[index];
  TF_Output feeds[MOST_VALUES], fetches[MOST_VALUES];
  TF_Tensor *feed_values[MOST_VALUES] = {NULL}, *fetch_values[MOST_VALUES] = {NULL};
  const TF_Operation *targets[MOST_VALUES];
  size_t num_feeds = replay->constant ? 0 : step->n_feeds;
  bool ok = CHECK(step->n_feeds < MOST_VALUES && step->n_fetches <= MOST_VALUES && step->n_targets <= MOST_VALUES);
  for (size_t i = 0; ok && i < num_feeds; i++) {
    Tensor value = {0};
    Status status;
    status_init(&status);
    ok = find_output(replay, step->feeds[i]->name, &feeds[i]) &&
         CHECK_OK(tensor_from_proto(step->feeds[i]->tensor, &value, &status), status) &&
         CHECK((feed_values[i] = take_tensor(&value, &status)) != NULL);
  }
  const Tfcore__GoldenTraining *training = replay->golden->training;
  size_t num_targets = training ? training->n_variables : step->n_targets;
  if (ok && training) {
    feeds[num_feeds] = replay->training.step;
    feed_values[num_feeds++] = float_scalar((float)(index + 1));
  }
  for (size_t i = 0; ok && i < step->n_fetches; i++) ok = find_output(replay, step->fetches[i]->name, &fetches[i]);
  for (size_t i = 0; ok && i < num_targets; i++)
    ok = CHECK((targets[i] = training ? replay->training.updates[i]
                                      : TF_GraphOperationByName(replay->graph, step->targets[i])) != NULL);
  if (ok) {
    TF_SessionRun(replay->session, NULL, feeds, feed_values, (int)num_feeds, fetches, fetch_values, (int)step->n_fetches, targets,
                  (int)num_targets, NULL, replay->status);
    if (step->code != TF_OK) {
      check_failure(replay, step);
    } else if (check_ok(replay)) {
      for (size_t i = 0; i < step->n_fetches; i++) golden_value_is(&fetch_values[i]->tensor, step->fetches[i]);
    }
  }
  for (size_t i = 0; i < MOST_VALUES; i++) {
    TF_DeleteTensor(feed_values[i]);
    TF_DeleteTensor(fetch_values[i]);
  }
}

static void replay_case(const Tfcore__GoldenCase *golden, bool constant) {
  Replay replay = {.golden = golden, .graph = TF_NewGraph(), .status = TF_NewStatus(), .constant = constant};
  harness_context("%s%s", golden->name, constant ? ", constants" : "");
  file_memory_clear();
  replay.training = (Training){.f = {replay.graph, replay.status}, .golden = golden};
  if (CHECK(replay.graph != NULL && replay.status != NULL) && import(&replay)) {
    TF_SessionOptions *options = TF_NewSessionOptions();
    replay.session = TF_NewSession(replay.graph, options, replay.status);
    TF_DeleteSessionOptions(options);
    bool ok = check_ok(&replay) && (golden->training == NULL || training_initialize(&replay.training, replay.session));
    for (size_t i = 0; ok && i < golden->n_steps; i++) {
      run_step(&replay, i);
      TF_SetStatus(replay.status, TF_OK, "");
    }
    if (replay.session) TF_DeleteSession(replay.session, replay.status);
  }
  TF_DeleteGraph(replay.graph);
  TF_DeleteStatus(replay.status);
}

static void replay_file(void) {
  Tfcore__GoldenFile *file = golden_file_read(harness_running()->name, NULL);
  if (file == NULL) return;
  CHECK(file->n_cases > 0);
  for (size_t i = 0; i < file->n_cases; i++) {
    const Tfcore__GoldenCase *golden = file->cases[i];
    replay_case(golden, false);
    if (golden->n_steps == 1 && golden->steps[0]->code == TF_OK && golden->steps[0]->n_feeds > 0) replay_case(golden, true);
  }
  tfcore__golden_file__free_unpacked(file, NULL);
}

/* The tests are as many as there are files. */
__attribute__((constructor)) static void add_tests(void) {
  static TestCase tests[256];
  static char names[256][GOLDEN_NAME_CAPACITY];
  int count = golden_file_names(256, names);
  for (int i = 0; i < count; i++) {
    tests[i] = (TestCase){names[i], __FILE__, replay_file, NULL};
    harness_add(&tests[i]);
  }
}
