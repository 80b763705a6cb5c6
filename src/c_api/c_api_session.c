/* Sessions. */
#include <string.h>

#include "base/alloc.h"
#include "c_api/c_api_internal.h"
#include "op/local_device.h"
#include "runtime/thread_pool.h"

struct TF_SessionOptions {
  char *target;     /* NULL: this process */
  int threads;      /* 0: not said */
  int64_t timeout;  /* of steps, in milliseconds; 0: none */
  bool unoptimized; /* graph_options.optimizer_options.opt_level is L0 */
  bool failed;      /* memory ran out while options were set; TF_NewSession reports it */
};

TF_SessionOptions *TF_NewSessionOptions(void) { return mem_calloc(1, sizeof(TF_SessionOptions)); }

void TF_SetTarget(TF_SessionOptions *options, const char *target) {
  mem_free(options->target);
  options->target = mem_strdup(target, strlen(target));
  options->failed = !options->target;
}

void TF_SetConfig(TF_SessionOptions *options, const void *proto, size_t proto_len, TF_Status *status) {
  start_status(status);
  Arena *arena = arena_new();
  void *message;
  if (parse_given(kConfigProto, proto, proto_len, "Unparseable ConfigProto", arena, &message,
                  &status->status)) {
    const ConfigProto *config = message;
    const Tensorflow__GraphOptions *graph = config->graph_options;
    options->timeout = config->operation_timeout_in_ms;
    options->threads = config->intra_op_parallelism_threads;
    options->unoptimized = graph && graph->optimizer_options &&
                           graph->optimizer_options->opt_level == TENSORFLOW__OPTIMIZER_OPTIONS__LEVEL__L0;
  }
  arena_free(arena);
}

void TF_DeleteSessionOptions(TF_SessionOptions *options) {
  if (!options) return;
  mem_free(options->target);
  mem_free(options);
}

TF_Session *TF_NewSession(TF_Graph *graph, const TF_SessionOptions *opts, TF_Status *status) {
  start_status(status);
  if (opts && opts->failed) {
    status_oom(&status->status, "session options");
    return NULL;
  }
  if (opts && opts->target && opts->target[0] != '\0') {
    status_set(&status->status, CODE_NOT_FOUND,
               "No session factory registered for the given session options: {target: \"%s\" config: } "
               "Registered factories are "
               "{DIRECT_SESSION}.",
               opts->target);
    return NULL;
  }
  TF_Session *session = mem_calloc(1, sizeof *session);
  if (!session) {
    status_oom(&status->status, "a session");
    return NULL;
  }
  lock_graph(graph);
  session->session = session_new(graph->graph, &status->status);
  unlock_graph(graph);
  if (session->session && opts) {
    session_optimize(session->session, !opts->unoptimized);
    session_set_timeout(session->session, opts->timeout);
  }
  if (!session->session) {
    mem_free(session);
    return NULL;
  }
  if (opts && opts->threads > 0) thread_pool_set_default_size(opts->threads);
  session->graph = graph;
  graph_reference(graph);
  return session;
}

void TF_CloseSession(TF_Session *session, TF_Status *status) {
  start_status(status);
  session_close(session->session);
}

void TF_DeleteSession(TF_Session *session, TF_Status *status) {
  start_status(status);
  if (!session) return;
  session_free(session->session);
  TF_DeleteGraph(session->graph);
  mem_free(session);
}

void TF_ExtendSession(TF_Session *session, TF_Status *status) {
  (void)session;
  start_status(status);
}

/* ---- devices ---- */

struct TF_DeviceList {
  const char *name, *type;
  int64_t memory_bytes;
  uint64_t incarnation;
};

/* There is one device, and it is always the same one. */
static TF_DeviceList the_cpu = {LOCAL_DEVICE_NAME, LOCAL_DEVICE_TYPE, LOCAL_DEVICE_MEMORY_BYTES, 1};

TF_DeviceList *TF_SessionListDevices(TF_Session *session, TF_Status *status) {
  (void)session;
  start_status(status);
  return &the_cpu;
}

void TF_DeleteDeviceList(TF_DeviceList *list) { (void)list; }

int TF_DeviceListCount(const TF_DeviceList *list) {
  (void)list;
  return 1;
}

static bool check_device(int index, TF_Status *status) {
  start_status(status);
  return index == 0 || status_invalid(&status->status, "index out of bounds");
}

const char *TF_DeviceListName(const TF_DeviceList *list, int index, TF_Status *status) {
  return check_device(index, status) ? list->name : NULL;
}

const char *TF_DeviceListType(const TF_DeviceList *list, int index, TF_Status *status) {
  return check_device(index, status) ? list->type : NULL;
}

int64_t TF_DeviceListMemoryBytes(const TF_DeviceList *list, int index, TF_Status *status) {
  return check_device(index, status) ? list->memory_bytes : -1;
}

uint64_t TF_DeviceListIncarnation(const TF_DeviceList *list, int index, TF_Status *status) {
  return check_device(index, status) ? list->incarnation : 0;
}

/* ---- steps ---- */

/* The arrays of one run; on the stack as long as they are short, so that a step allocates nothing but its
 * results. */
enum { FEW = 16 };

typedef struct RunArrays {
  NodeOutput *feeds, *fetches;
  const Tensor **feed_values;
  Tensor *fetch_values;
  Arena *arena; /* NULL while the arrays are short */
  NodeOutput few_outputs[2 * FEW];
  const Tensor *few_feeds[FEW];
  Tensor few_fetches[FEW];
} RunArrays;

static bool make_room(RunArrays *arrays, int ninputs, int noutputs, int ntargets, Status *status) {
  arrays->arena = NULL;
  if (ninputs < 0 || noutputs < 0 || ntargets < 0)
    return status_invalid(status, "The number of inputs, outputs or targets is negative");
  if (ninputs <= FEW && noutputs <= FEW) {
    arrays->feeds = arrays->few_outputs;
    arrays->fetches = arrays->few_outputs + FEW;
    arrays->feed_values = arrays->few_feeds;
    arrays->fetch_values = arrays->few_fetches;
    memset(arrays->few_fetches, 0, (size_t)noutputs * sizeof(Tensor));
    return true;
  }
  arrays->arena = arena_new();
  if (!arrays->arena) return status_oom(status, "a run");
  arrays->feeds = arena_calloc(arrays->arena, ninputs, sizeof(NodeOutput));
  arrays->fetches = arena_calloc(arrays->arena, noutputs, sizeof(NodeOutput));
  arrays->feed_values = arena_calloc(arrays->arena, ninputs, sizeof(Tensor *));
  arrays->fetch_values = arena_calloc(arrays->arena, noutputs, sizeof(Tensor));
  return (arrays->feeds && arrays->fetches && arrays->feed_values && arrays->fetch_values) ||
         status_oom(status, "a run");
}

static bool give_results(Tensor *values, TF_Tensor **output_values, int noutputs, Status *status) {
  for (int i = 0; i < noutputs; i++) {
    output_values[i] = mem_calloc(1, sizeof(TF_Tensor));
    if (!output_values[i]) {
      for (int k = 0; k < i; k++) {
        TF_DeleteTensor(output_values[k]);
        output_values[k] = NULL;
      }
      for (int k = i; k < noutputs; k++) tensor_clear(&values[k]);
      return status_oom(status, "results");
    }
    tensor_move(&output_values[i]->tensor, &values[i]);
  }
  return true;
}

static RunState run(TF_Session *session, const SessionRunOptions *options, const TF_Output *inputs,
                    TF_Tensor *const *input_values, int ninputs, const TF_Output *outputs,
                    TF_Tensor **output_values, int noutputs, const TF_Operation *const *target_opers,
                    int ntargets, RunArrays *arrays, Status *status) {
  for (int i = 0; i < ninputs; i++) {
    if (!input_values[i]) {
      status_invalid(status, "The value of input %d is null", i);
      return RUN_FAILED;
    }
    arrays->feeds[i] = to_node_output(inputs[i]);
    arrays->feed_values[i] = &input_values[i]->tensor;
  }
  for (int i = 0; i < noutputs; i++) arrays->fetches[i] = to_node_output(outputs[i]);
  /* A TF_Operation pointer is a Node pointer, so the array of targets is passed as it is. */
  RunState state =
      session_start(session->session, options, arrays->feeds, arrays->feed_values, ninputs, arrays->fetches,
                    arrays->fetch_values, noutputs, (Node *const *)target_opers, ntargets, status);
  if (state == RUN_DONE && !give_results(arrays->fetch_values, output_values, noutputs, status))
    return RUN_FAILED;
  return state;
}

RunState start_session_run(TF_Session *session, const SessionRunOptions *options, const TF_Output *inputs,
                           TF_Tensor *const *input_values, int ninputs, const TF_Output *outputs,
                           TF_Tensor **output_values, int noutputs, const TF_Operation *const *target_opers,
                           int ntargets, TF_Status *status) {
  start_status(status);
  for (int i = 0; i < noutputs; i++) output_values[i] = NULL;
  RunArrays arrays;
  RunState state = RUN_FAILED;
  if (make_room(&arrays, ninputs, noutputs, ntargets, &status->status)) {
    state = run(session, options, inputs, input_values, ninputs, outputs, output_values, noutputs,
                target_opers, ntargets, &arrays, &status->status);
  }
  arena_free(arrays.arena);
  return state;
}

RunState resume_session_run(TF_Session *session, int64_t slice_ms, TF_Tensor **output_values, int noutputs,
                            TF_Status *status) {
  start_status(status);
  for (int i = 0; i < noutputs; i++) output_values[i] = NULL;
  RunArrays arrays;
  RunState state = RUN_FAILED;
  if (make_room(&arrays, 0, noutputs, 0, &status->status)) {
    state = session_resume(session->session, slice_ms, arrays.fetch_values, noutputs, &status->status);
    if (state == RUN_DONE && !give_results(arrays.fetch_values, output_values, noutputs, &status->status))
      state = RUN_FAILED;
  }
  arena_free(arrays.arena);
  return state;
}

static bool read_run_options(const TF_Buffer *bytes, SessionRunOptions *options, Status *status) {
  Arena *arena = arena_new();
  void *message;
  bool ok = parse_given(kRunOptions, bytes->data, bytes->length, "Unparseable RunOptions proto", arena,
                        &message, status);
  if (ok) options->timeout_ms = ((const Tensorflow__RunOptions *)message)->timeout_in_ms;
  arena_free(arena);
  return ok;
}

/* A RunMetadata without fields: nothing of what it can tell was asked for. A step's own error goes first. */
static void give_metadata(TF_Buffer *metadata, Status *status) {
  Status failure;
  StrBuf empty = {0};
  status_init(&failure);
  strbuf_append(&empty, "");
  if (!fill_buffer(&empty, metadata, &failure) && status->code == CODE_OK) *status = failure;
}

void TF_SessionRun(TF_Session *session, const TF_Buffer *run_options, const TF_Output *inputs,
                   TF_Tensor *const *input_values, int ninputs, const TF_Output *outputs,
                   TF_Tensor **output_values, int noutputs, const TF_Operation *const *target_opers,
                   int ntargets, TF_Buffer *run_metadata, TF_Status *status) {
  start_status(status);
  for (int i = 0; i < noutputs; i++) output_values[i] = NULL;
  if (run_metadata && run_metadata->data) {
    status_invalid(&status->status, "Passing non-empty run_metadata is invalid.");
    return;
  }
  SessionRunOptions options = {0};
  if (run_options && !read_run_options(run_options, &options, &status->status)) return;
  reported(start_session_run(session, &options, inputs, input_values, ninputs, outputs, output_values,
                             noutputs, target_opers, ntargets, status) == RUN_DONE);
  if (run_metadata) give_metadata(run_metadata, &status->status);
}
