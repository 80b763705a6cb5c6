/* Sessions. */
#include <string.h>

#include "base/alloc.h"
#include "c_api/c_api_internal.h"

struct TF_SessionOptions {
  char *target; /* NULL: this process */
  bool failed;  /* memory ran out while options were set; TF_NewSession reports it */
};

TF_SessionOptions *TF_NewSessionOptions(void) { return mem_calloc(1, sizeof(TF_SessionOptions)); }

void TF_SetTarget(TF_SessionOptions *options, const char *target) {
  mem_free(options->target);
  options->target = mem_strdup(target, strlen(target));
  options->failed = !options->target;
}

void TF_DeleteSessionOptions(TF_SessionOptions *options) {
  if (!options) return;
  mem_free(options->target);
  mem_free(options);
}

TF_Session *TF_NewSession(TF_Graph *graph, const TF_SessionOptions *opts, TF_Status *status) {
  status_init(&status->status);
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
  session->session = session_new(graph->graph, &status->status);
  if (!session->session) {
    mem_free(session);
    return NULL;
  }
  session->graph = graph;
  graph_reference(graph);
  return session;
}

void TF_CloseSession(TF_Session *session, TF_Status *status) {
  status_init(&status->status);
  session_close(session->session);
}

void TF_DeleteSession(TF_Session *session, TF_Status *status) {
  status_init(&status->status);
  if (!session) return;
  session_free(session->session);
  TF_DeleteGraph(session->graph);
  mem_free(session);
}

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

static bool run(TF_Session *session, const TF_Output *inputs, TF_Tensor *const *input_values, int ninputs,
                const TF_Output *outputs, TF_Tensor **output_values, int noutputs,
                const TF_Operation *const *target_opers, int ntargets, RunArrays *arrays, Status *status) {
  for (int i = 0; i < ninputs; i++) {
    if (!input_values[i]) return status_invalid(status, "The value of input %d is null", i);
    arrays->feeds[i] = to_node_output(inputs[i]);
    arrays->feed_values[i] = &input_values[i]->tensor;
  }
  for (int i = 0; i < noutputs; i++) arrays->fetches[i] = to_node_output(outputs[i]);
  /* A TF_Operation pointer is a Node pointer, so the array of targets is passed as it is. */
  TRY(session_run(session->session, arrays->feeds, arrays->feed_values, ninputs, arrays->fetches,
                  arrays->fetch_values, noutputs, (Node *const *)target_opers, ntargets, status));
  return give_results(arrays->fetch_values, output_values, noutputs, status);
}

void TF_SessionRun(TF_Session *session, const TF_Buffer *run_options, const TF_Output *inputs,
                   TF_Tensor *const *input_values, int ninputs, const TF_Output *outputs,
                   TF_Tensor **output_values, int noutputs, const TF_Operation *const *target_opers,
                   int ntargets, TF_Buffer *run_metadata, TF_Status *status) {
  (void)run_options;
  (void)run_metadata;
  status_init(&status->status);
  for (int i = 0; i < noutputs; i++) output_values[i] = NULL;
  RunArrays arrays;
  if (make_room(&arrays, ninputs, noutputs, ntargets, &status->status)) {
    reported(run(session, inputs, input_values, ninputs, outputs, output_values, noutputs, target_opers,
                 ntargets, &arrays, &status->status));
  }
  arena_free(arrays.arena);
}
