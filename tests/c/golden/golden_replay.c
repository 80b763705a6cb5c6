#include "golden_replay.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file_store.h"
#include "base/string_map.h"
#include "c_api/c_api_internal.h"
#include "golden_value.h"
#include "harness.h"
#include "proto/proto.h"

/* --- calls that may run out of memory --- */

/* More than any call requests. */
static const int64_t PLENTY = INT64_MAX / 2;

static bool is_short(const Replay *replay, ReplayCall call) {
  return replay->shortage.on && replay->shortage.call == call;
}

static void begin_call(Replay *replay, ReplayCall call) {
  replay->starved = false;
  if (!is_short(replay, call)) mem_fail_after(PLENTY);
  else if (replay->shortage.once) mem_fail_once(replay->shortage.successes);
  else mem_fail_after(replay->shortage.successes);
}

static void end_call(Replay *replay, ReplayCall call) {
  int64_t left = mem_successes_left();
  mem_fail_after(-1);
  if (is_short(replay, call)) replay->starved = TF_GetCode(replay->status) == TF_RESOURCE_EXHAUSTED;
  else replay->requests[call] = PLENTY - left;
}

/* --- --- */

static bool check_ok(const Replay *replay) {
  return TF_GetCode(replay->status) == TF_OK ||
         harness_fail(__FILE__, __LINE__, "code %d: %.300s", TF_GetCode(replay->status),
                      TF_Message(replay->status));
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
  return output->oper || harness_fail(__FILE__, __LINE__, "no output \"%s\" in the graph", name);
}

enum { NUM_DEVICES = 3 };

static bool has_state(const OpDef *op) {
  bool state = op->is_stateful;
  for (size_t i = 0; i < op->n_input_arg; i++)
    state |= op->input_arg[i]->is_ref || op->input_arg[i]->type == TENSORFLOW__DATA_TYPE__DT_RESOURCE;
  for (size_t i = 0; i < op->n_output_arg; i++)
    state |= op->output_arg[i]->is_ref || op->output_arg[i]->type == TENSORFLOW__DATA_TYPE__DT_RESOURCE;
  return state;
}

/* Variables and their users have to be on one device: they ask for none. */
static bool can_be_anywhere(const NodeDef *node) {
  const Op *op = op_registry_find(op_registry_global(), node->op);
  const AttrValue *type = node_def_attr(node, "T");
  return op && !has_state(op->def) && !node_def_attr(node, "_class") &&
         !(type && type->value_case == TENSORFLOW__ATTR_VALUE__VALUE_TYPE &&
           (DataType)type->type == DT_RESOURCE);
}

/* Lets each node ask for a device that depends on its name. */
static bool scatter(Arena *arena, NodeDef **nodes, size_t count) {
  static char devices[NUM_DEVICES][16] = {"/cpu:0", "/cpu:1", "/cpu:2"};
  for (size_t i = 0; i < count; i++) {
    if (!can_be_anywhere(nodes[i])) continue;
    NodeDef *copy = arena_alloc(arena, sizeof *copy);
    if (!CHECK(copy)) return false;
    *copy = *nodes[i];
    copy->device = devices[hash_bytes(copy->name, strlen(copy->name)) % NUM_DEVICES];
    nodes[i] = copy;
  }
  return true;
}

/* A copy of the case's graph for importing, with constants instead of the placeholders that a single step
 * feeds. */
static bool serialize_graph(const Replay *replay, TF_Buffer **buffer) {
  const Tfcore__GoldenCase *golden = replay->golden;
  Arena *arena = arena_new();
  StrBuf bytes = {0};
  Status status;
  status_init(&status);
  GraphDef graph = *golden->graph;
  NodeDef **nodes = arena ? arena_alloc(arena, (int64_t)((graph.n_node + 1) * sizeof(NodeDef *))) : NULL;
  bool ok = CHECK(nodes);
  for (size_t i = 0; ok && i < graph.n_node; i++) {
    nodes[i] = graph.node[i];
    for (size_t j = 0; replay->constant && j < golden->steps[0]->n_feeds; j++) {
      const Tfcore__GoldenValue *feed = golden->steps[0]->feeds[j];
      if (strcmp(feed->name, nodes[i]->name) != 0 || strcmp(nodes[i]->op, "Placeholder") != 0) continue;
      NodeDef *constant = node_def_new(arena, nodes[i]->name, "Const");
      AttrValue *dtype = attr_value_type(arena, (int)feed->tensor->dtype),
                *value = attr_value_tensor(arena, feed->tensor);
      ok = CHECK(constant && dtype && value) &&
           CHECK_OK(node_def_set_attr(constant, arena, "dtype", dtype, &status), status) &&
           CHECK_OK(node_def_set_attr(constant, arena, "value", value, &status), status);
      nodes[i] = constant;
    }
  }
  if (ok && replay->scattered) ok = scatter(arena, nodes, graph.n_node);
  graph.node = nodes;
  ok = ok && CHECK_OK(proto_serialize(&graph, &bytes, &status), status);
  *buffer = ok ? TF_NewBufferFromString(strbuf_text(&bytes), (size_t)bytes.length) : NULL;
  strbuf_free(&bytes);
  arena_free(arena);
  return ok && CHECK(*buffer);
}

static bool find_outputs(const Replay *replay, char **names, size_t count, TF_Output *outputs) {
  if (!CHECK(count <= REPLAY_MOST_VALUES)) return false;
  for (size_t i = 0; i < count; i++) {
    if (!find_output(replay, names[i], &outputs[i])) return false;
  }
  return true;
}

bool replay_begin(Replay *replay, const Tfcore__GoldenCase *golden, bool constant) {
  *replay =
      (Replay){.golden = golden, .graph = TF_NewGraph(), .status = TF_NewStatus(), .constant = constant};
  replay->training = (Training){.f = {replay->graph, replay->status}, .golden = golden};
  file_memory_clear();
  return CHECK(replay->graph && replay->status);
}

static bool check_import_failure(const Replay *replay) {
  return CHECK_INT_EQ(TF_GetCode(replay->status), replay->golden->import_code);
}

bool replay_import(Replay *replay) {
  TF_Buffer *buffer = NULL;
  bool ok = serialize_graph(replay, &buffer);
  TF_ImportGraphDefOptions *options = TF_NewImportGraphDefOptions();
  bool trains = replay->golden->training && replay->training.num_initializers == 0;
  ok = ok && (!trains || training_make_variables(&replay->training, options));
  if (ok) {
    begin_call(replay, REPLAY_IMPORT);
    TF_GraphImportGraphDef(replay->graph, buffer, options, replay->status);
    end_call(replay, REPLAY_IMPORT);
  }
  TF_DeleteImportGraphDefOptions(options);
  TF_DeleteBuffer(buffer);
  if (!ok || replay->starved) return false;
  return replay->golden->import_code ? check_import_failure(replay) : check_ok(replay);
}

/* The gradient of a round goes to a node of the round. */
static bool connect_readers(Replay *replay) {
  const Tfcore__GoldenGradients *gradients = replay->golden->gradients;
  Status status;
  status_init(&status);
  for (size_t i = 0; i < gradients->n_readers; i++) {
    TF_Output reader;
    NodeOutput dx = to_node_output(replay->dx[i]);
    if (!find_output(replay, gradients->readers[i], &reader) ||
        !CHECK_OK(graph_update_edge(replay->graph->graph, dx.node, dx.index, operation_node(reader.oper), 0,
                                    &status),
                  &status))
      return false;
  }
  return true;
}

bool replay_add_gradients(Replay *replay) {
  const Tfcore__GoldenGradients *gradients = replay->golden->gradients;
  TF_Output ys[REPLAY_MOST_VALUES], xs[REPLAY_MOST_VALUES], grad_ys[REPLAY_MOST_VALUES];
  if (!gradients) return true;
  if (!find_outputs(replay, gradients->ys, gradients->n_ys, ys) ||
      !find_outputs(replay, gradients->xs, gradients->n_xs, xs) ||
      !CHECK(gradients->n_grad_ys == 0 || gradients->n_grad_ys == gradients->n_ys) ||
      !find_outputs(replay, gradients->grad_ys, gradients->n_grad_ys, grad_ys))
    return false;
  begin_call(replay, REPLAY_GRADIENTS);
  TF_AddGradients(replay->graph, ys, (int)gradients->n_ys, xs, (int)gradients->n_xs,
                  gradients->n_grad_ys ? grad_ys : NULL, replay->status, replay->dx);
  end_call(replay, REPLAY_GRADIENTS);
  if (replay->starved || !check_ok(replay)) return false;
  /* A gradient may equal a fed output, which cannot be fetched. */
  Fixture f = {replay->graph, replay->status};
  for (size_t i = 0; i < gradients->n_xs; i++) {
    char name[32];
    snprintf(name, sizeof name, "dx%zu", i);
    replay->dx[i] = unary(&f, "Identity", name, replay->dx[i]);
  }
  return connect_readers(replay);
}

bool replay_add_training(Replay *replay) {
  const Tfcore__GoldenTraining *training = replay->golden->training;
  TF_Output loss;
  return !training ||
         (find_output(replay, training->loss, &loss) && training_make_updates(&replay->training, loss));
}

bool replay_open(Replay *replay) {
  /* device_count { key: "CPU" value: 3 } allow_soft_placement: true */
  static const unsigned char kConfig[] = {0x0a, 7, 0x0a, 3, 'C', 'P', 'U', 0x10, NUM_DEVICES, 0x38, 1};
  TF_SessionOptions *options = TF_NewSessionOptions();
  if (replay->scattered) TF_SetConfig(options, kConfig, sizeof kConfig, replay->status);
  if (!check_ok(replay)) return false;
  begin_call(replay, REPLAY_SESSION);
  replay->session = TF_NewSession(replay->graph, options, replay->status);
  end_call(replay, REPLAY_SESSION);
  TF_DeleteSessionOptions(options);
  return !replay->starved && check_ok(replay) &&
         (!replay->golden->training || training_initialize(&replay->training, replay->session));
}

void replay_close(Replay *replay) {
  if (replay->session) TF_DeleteSession(replay->session, replay->status);
  replay->session = NULL;
}

void replay_end(Replay *replay) {
  replay_close(replay);
  TF_DeleteGraph(replay->graph);
  TF_DeleteStatus(replay->status);
}

/* TensorFlow's code, and its words. */
static bool check_failure(const Replay *replay, const Tfcore__GoldenStep *step) {
  if (step->timeout_ms && TF_GetCode(replay->status) == TF_DEADLINE_EXCEEDED) return true;
  bool same_code = CHECK_INT_EQ(TF_GetCode(replay->status), step->code);
  return CHECK_STR_CONTAINS(TF_Message(replay->status), step->message) && same_code;
}

/* Checks the results of a step, or that a failed one has no results. */
static bool check_step(const Replay *replay, const Tfcore__GoldenStep *step, TF_Tensor **fetched) {
  bool ok = true;
  if (replay->starved) {
    for (size_t i = 0; i < step->n_fetches; i++) ok = CHECK(!fetched[i]) && ok;
    return ok;
  }
  if (step->any_end) return true;
  if (step->code != TF_OK) return check_failure(replay, step);
  ok = check_ok(replay);
  for (size_t i = 0; ok && i < step->n_fetches; i++)
    ok = golden_value_is(&fetched[i]->tensor, step->fetches[i]);
  return ok;
}

/* RunOptions with the step's timeout; NULL without one. */
static TF_Buffer *run_options_of(const Tfcore__GoldenStep *step) {
  uint8_t bytes[12] = {2 << 3}; /* timeout_in_ms, a varint */
  size_t size = 1;
  for (uint64_t rest = (uint64_t)step->timeout_ms; rest > 0; rest >>= 7)
    bytes[size++] = (uint8_t)((rest & 127) | (rest > 127 ? 128 : 0));
  return step->timeout_ms ? TF_NewBufferFromString(bytes, size) : NULL;
}

bool replay_step(Replay *replay, size_t index) {
  const Tfcore__GoldenStep *step = replay->golden->steps[index];
  TF_Output feeds[REPLAY_MOST_VALUES], fetches[REPLAY_MOST_VALUES];
  TF_Tensor *feed_values[REPLAY_MOST_VALUES] = {NULL}, *fetch_values[REPLAY_MOST_VALUES] = {NULL};
  const TF_Operation *targets[REPLAY_MOST_VALUES];
  size_t num_feeds = replay->constant ? 0 : step->n_feeds;
  bool ok = CHECK(step->n_feeds < REPLAY_MOST_VALUES && step->n_fetches <= REPLAY_MOST_VALUES &&
                  step->n_targets <= REPLAY_MOST_VALUES);
  for (size_t i = 0; ok && i < num_feeds; i++) {
    Tensor value = {0};
    Status status;
    status_init(&status);
    ok = find_output(replay, step->feeds[i]->name, &feeds[i]) &&
         CHECK_OK(tensor_from_proto(step->feeds[i]->tensor, &value, &status), status) &&
         CHECK((feed_values[i] = take_tensor(&value, &status)));
  }
  const Tfcore__GoldenTraining *training = replay->golden->training;
  size_t num_targets = training ? training->n_variables : step->n_targets;
  if (ok && training) {
    feeds[num_feeds] = replay->training.step;
    feed_values[num_feeds++] = float_scalar((float)(index + 1));
  }
  for (size_t i = 0; ok && i < step->n_fetches; i++)
    ok = find_output(replay, step->fetches[i]->name, &fetches[i]);
  for (size_t i = 0; ok && i < num_targets; i++)
    ok = CHECK((targets[i] = training ? replay->training.updates[i]
                                      : TF_GraphOperationByName(replay->graph, step->targets[i])));
  if (ok) {
    TF_Buffer *options = run_options_of(step);
    begin_call(replay, REPLAY_STEP);
    TF_SessionRun(replay->session, options, feeds, feed_values, (int)num_feeds, fetches, fetch_values,
                  (int)step->n_fetches, targets, (int)num_targets, NULL, replay->status);
    end_call(replay, REPLAY_STEP);
    TF_DeleteBuffer(options);
    ok = check_step(replay, step, fetch_values) && !replay->starved;
  }
  for (size_t i = 0; i < REPLAY_MOST_VALUES; i++) {
    TF_DeleteTensor(feed_values[i]);
    TF_DeleteTensor(fetch_values[i]);
  }
  TF_SetStatus(replay->status, TF_OK, "");
  return ok;
}
