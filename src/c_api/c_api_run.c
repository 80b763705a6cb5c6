/* Steps of sessions. */
#include <string.h>

#include "base/alloc.h"
#include "c_api/c_api_internal.h"
#include "op/engine_parts.h"

/* The arrays of one run. Short ones are on the stack, so that a step only allocates its results. */
enum { FEW = 16 };

typedef struct RunArrays {
  NodeOutput *feeds, *fetches;
  const Tensor **feed_values;
  Tensor *fetch_values;
  Arena *arena; /* NULL while all arrays are on the stack */
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

static bool read_values(TF_Tensor *const *values, int count, RunArrays *arrays, Status *status) {
  for (int i = 0; i < count; i++) {
    if (!values[i]) return status_invalid(status, "The value of input %d is null", i);
    arrays->feed_values[i] = &values[i]->tensor;
  }
  return true;
}

/* Fills the arrays from the arguments of the call. `input_values` is NULL if the call has no values. */
static bool read_request(const TF_Output *inputs, TF_Tensor *const *input_values, int ninputs,
                         const TF_Output *outputs, int noutputs, const TF_Operation *const *target_opers,
                         int ntargets, RunArrays *arrays, StepSignature *signature, Status *status) {
  TRY(make_room(arrays, ninputs, noutputs, ntargets, status));
  if (input_values) TRY(read_values(input_values, ninputs, arrays, status));
  for (int i = 0; i < ninputs; i++) arrays->feeds[i] = to_node_output(inputs[i]);
  for (int i = 0; i < noutputs; i++) arrays->fetches[i] = to_node_output(outputs[i]);
  *signature = (StepSignature){.feeds = arrays->feeds,
                               .num_feeds = ninputs,
                               .fetches = arrays->fetches,
                               .num_fetches = noutputs,
                               /* A TF_Operation pointer is a Node pointer. */
                               .targets = (Node *const *)target_opers,
                               .num_targets = ntargets};
  return true;
}

bool begin_session_step(TF_Session *session, const SessionRunOptions *options, const TF_Output *inputs,
                        TF_Tensor *const *input_values, int ninputs, const TF_Output *outputs, int noutputs,
                        const TF_Operation *const *target_opers, int ntargets, SessionStep **step,
                        Status *status) {
  RunArrays arrays;
  StepSignature signature;
  bool ok = read_request(inputs, input_values, ninputs, outputs, noutputs, target_opers, ntargets, &arrays,
                         &signature, status) &&
            session_begin(session->session, options, &signature, arrays.feed_values, step, status);
  arena_free(arrays.arena);
  return ok;
}

enum { TO_THE_END = -1 }; /* as a slice: also while the step is blocked */

static RunState run_slice(SessionStep *step, int64_t slice_ms, Tensor *values, Status *status) {
  if (slice_ms != TO_THE_END) return session_advance(step, slice_ms, values, status);
  return session_finish(step, values, status) ? RUN_DONE : RUN_FAILED;
}

RunState advance_session_step(SessionStep *step, int64_t slice_ms, TF_Tensor **output_values, int noutputs,
                              Status *status) {
  RunArrays arrays;
  RunState state = RUN_FAILED;
  for (int i = 0; i < noutputs; i++) output_values[i] = NULL;
  if (make_room(&arrays, 0, noutputs, 0, status)) {
    state = run_slice(step, slice_ms, arrays.fetch_values, status);
    if (state == RUN_DONE && !give_results(arrays.fetch_values, output_values, noutputs, status))
      state = RUN_FAILED;
  } else {
    session_abandon(step);
  }
  arena_free(arrays.arena);
  return state;
}

/* What a step with options reports besides its results. */
typedef struct StepReport {
  Arena *arena;
  StepTrace *trace; /* NULL: not traced */
  GraphDef **graphs;
  int num_graphs;
} StepReport;

bool parse_run_options(const TF_Buffer *bytes, Arena *arena, SessionRunOptions *options, bool *is_traced,
                       Status *status) {
  void *message;
  TRY(parse_given(kRunOptions, bytes->data, bytes->length, "Unparseable RunOptions proto", arena, &message,
                  status));
  const Tensorflow__RunOptions *given = message;
  options->timeout_ms = given->timeout_in_ms;
  options->inter_op_thread_pool = given->inter_op_thread_pool;
  options->output_partition_graphs = given->output_partition_graphs;
  *is_traced = given->trace_level > TENSORFLOW__RUN_OPTIONS__TRACE_LEVEL__NO_TRACE;
  return true;
}

static bool read_run_options(const TF_Buffer *bytes, SessionRunOptions *options, StepReport *report,
                             Status *status) {
  bool is_traced;
  TRY(parse_run_options(bytes, report->arena, options, &is_traced, status));
  if (!is_traced) return true;
  options->trace = report->trace = step_trace_new();
  return report->trace || status_oom(status, "a trace");
}

bool fill_buffer_with_run_metadata(StepTrace *trace, GraphDef **graphs, int num_graphs, TF_Buffer *buffer,
                                   Status *status) {
  RunMetadata metadata = TENSORFLOW__RUN_METADATA__INIT;
  const StepStats *stats = NULL;
  if (trace) TRY(step_trace_stats(trace, &stats, status));
  metadata.step_stats = (StepStats *)stats;
  metadata.partition_graphs = graphs;
  metadata.n_partition_graphs = (size_t)num_graphs;
  return fill_buffer_with_message(&metadata, buffer, status);
}

/* A step's own error takes precedence. A step that failed reports no graphs. */
static void give_metadata(const StepReport *report, TF_Buffer *metadata, Status *status) {
  Status failure;
  status_init(&failure);
  if (!fill_buffer_with_run_metadata(report->trace, report->graphs, report->num_graphs, metadata, &failure) &&
      status->code == CODE_OK)
    *status = failure;
}

static bool run_step(TF_Session *session, const SessionRunOptions *options, const TF_Output *inputs,
                     TF_Tensor *const *input_values, int ninputs, const TF_Output *outputs,
                     TF_Tensor **output_values, int noutputs, const TF_Operation *const *target_opers,
                     int ntargets, StepReport *report, Status *status) {
  SessionStep *step;
  TRY(begin_session_step(session, options, inputs, input_values, ninputs, outputs, noutputs, target_opers,
                         ntargets, &step, status));
  if (options->output_partition_graphs &&
      !session_step_graphs(step, report->arena, &report->graphs, &report->num_graphs, status)) {
    session_abandon(step);
    return false;
  }
  return advance_session_step(step, TO_THE_END, output_values, noutputs, status) == RUN_DONE;
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
  StepReport report = {0};
  bool ok = true;
  if (run_options || run_metadata) {
    report.arena = arena_new();
    ok = report.arena || status_oom(&status->status, "a step's options");
  }
  if (ok && run_options) ok = read_run_options(run_options, &options, &report, &status->status);
  if (ok) {
    reported(run_step(session, &options, inputs, input_values, ninputs, outputs, output_values, noutputs,
                      target_opers, ntargets, &report, &status->status));
    if (run_metadata) give_metadata(&report, run_metadata, &status->status);
  }
  step_trace_free(report.trace);
  arena_free(report.arena);
}

/* ---- partial runs ---- */

void TF_SessionPRunSetup(TF_Session *session, const TF_Output *inputs, int ninputs, const TF_Output *outputs,
                         int noutputs, const TF_Operation *const *target_opers, int ntargets,
                         const char **handle, TF_Status *status) {
  RunArrays arrays;
  StepSignature signature;
  const char *kept;
  start_status(status);
  *handle = NULL;
  bool ok = read_request(inputs, NULL, ninputs, outputs, noutputs, target_opers, ntargets, &arrays,
                         &signature, &status->status) &&
            engine_part_need(PART_TRAINING, &status->status) &&
            session_setup_partial_run(session->session, &signature, &kept, &status->status);
  if (ok) *handle = mem_strdup(kept, strlen(kept));
  if (ok && !*handle) status_oom(&status->status, "a partial run");
  arena_free(arrays.arena);
}

bool begin_session_piece(TF_Session *session, const char *handle, const SessionRunOptions *options,
                         const TF_Output *inputs, TF_Tensor *const *input_values, int ninputs,
                         const TF_Output *outputs, TF_Tensor **output_values, int noutputs,
                         SessionStep **step, Status *status) {
  RunArrays arrays;
  StepSignature signature;
  *step = NULL;
  for (int i = 0; i < noutputs; i++) output_values[i] = NULL;
  bool ok =
      read_request(inputs, input_values, ninputs, outputs, noutputs, NULL, 0, &arrays, &signature, status) &&
      engine_part_need(PART_TRAINING, status) &&
      session_begin_piece(session->session, handle, options, signature.feeds, arrays.feed_values, ninputs,
                          signature.fetches, noutputs, arrays.fetch_values, step, status);
  if (ok && !*step) ok = give_results(arrays.fetch_values, output_values, noutputs, status);
  arena_free(arrays.arena);
  return ok;
}

void TF_SessionPRun(TF_Session *session, const char *handle, const TF_Output *inputs,
                    TF_Tensor *const *input_values, int ninputs, const TF_Output *outputs,
                    TF_Tensor **output_values, int noutputs, const TF_Operation *const *target_opers,
                    int ntargets, TF_Status *status) {
  SessionStep *step;
  (void)target_opers; /* the targets of the setup run */
  (void)ntargets;
  start_status(status);
  bool ok = begin_session_piece(session, handle, NULL, inputs, input_values, ninputs, outputs, output_values,
                                noutputs, &step, &status->status);
  if (ok && step)
    reported(advance_session_step(step, TO_THE_END, output_values, noutputs, &status->status) == RUN_DONE);
}

void TF_DeletePRunHandle(const char *handle) { mem_free((char *)handle); }

/* ---- callables ---- */

bool make_session_callable(TF_Session *session, const TF_Output *inputs, int ninputs,
                           const TF_Output *outputs, int noutputs, const TF_Operation *const *target_opers,
                           int ntargets, const TF_Output *connected, int nconnections,
                           SessionCallable **callable, Status *status) {
  RunArrays arrays;
  StepSignature signature;
  bool ok = read_request(inputs, NULL, ninputs, outputs, noutputs, target_opers, ntargets, &arrays,
                         &signature, status);
  TensorConnection *connections = ok ? mem_calloc(nconnections + 1, sizeof *connections) : NULL;
  ok = ok && (connections || status_oom(status, "a callable"));
  for (int i = 0; ok && i < nconnections; i++)
    connections[i] =
        (TensorConnection){to_node_output(connected[2 * i]), to_node_output(connected[2 * i + 1])};
  signature.connections = connections;
  signature.num_connections = nconnections;
  ok = ok && session_make_callable(session->session, &signature, callable, status);
  mem_free(connections);
  arena_free(arrays.arena);
  return ok;
}

bool begin_callable_step(SessionCallable *callable, const SessionRunOptions *options,
                         TF_Tensor *const *input_values, int ninputs, SessionStep **step, Status *status) {
  RunArrays arrays;
  bool ok = make_room(&arrays, ninputs, 0, 0, status) &&
            read_values(input_values, ninputs, &arrays, status) &&
            session_begin_call(callable, options, arrays.feed_values, ninputs, step, status);
  arena_free(arrays.arena);
  return ok;
}
