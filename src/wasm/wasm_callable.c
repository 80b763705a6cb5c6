#include "wasm/wasm_callable.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "wasm/wasm_step_internal.h"

/* Larger input values are not kept between calls: their memory is worth more than the time to allocate it. */
enum { LARGEST_KEPT = 4096 };

struct TF_WasmCallable {
  SessionCallable *callable;
  Arena *arena; /* holds the callable itself, and its arrays */
  int ninputs, noutputs;
  TF_WasmCallFrame frame;
  const Tensor **feed_values;
  Tensor *fetch_values; /* empty between calls */
};

SessionCallable *wasm_session_callable(TF_WasmCallable *callable) { return callable->callable; }

static bool add_frame(TF_WasmCallable *made, int ninputs, int noutputs) {
  made->ninputs = ninputs;
  made->noutputs = noutputs;
  made->frame.input_values = arena_calloc(made->arena, ninputs, sizeof(TF_Tensor *));
  made->frame.results = arena_calloc(made->arena, noutputs, sizeof(TF_WasmResult));
  made->feed_values = arena_calloc(made->arena, ninputs, sizeof(Tensor *));
  made->fetch_values = arena_calloc(made->arena, noutputs, sizeof(Tensor));
  return made->frame.input_values && made->frame.results && made->feed_values && made->fetch_values;
}

/* Owns the callable, also when it fails. */
static TF_WasmCallable *with_frame(SessionCallable *callable, int ninputs, int noutputs, Status *status) {
  Arena *arena = arena_new();
  TF_WasmCallable *made = arena ? arena_calloc(arena, 1, sizeof *made) : NULL;
  if (made) {
    made->arena = arena;
    made->callable = callable;
    if (add_frame(made, ninputs, noutputs)) return made;
  }
  session_release_callable(callable);
  arena_free(arena);
  status_oom(status, "a callable");
  return NULL;
}

TF_WasmCallable *TF_WasmMakeCallable(TF_Session *session, const TF_Output *inputs, int ninputs,
                                     const TF_Output *outputs, int noutputs,
                                     const TF_Operation *const *target_opers, int ntargets,
                                     const TF_Output *connected, int nconnections, TF_Status *status) {
  SessionCallable *callable;
  start_status(status);
  return make_session_callable(session, inputs, ninputs, outputs, noutputs, target_opers, ntargets, connected,
                               nconnections, &callable, &status->status)
             ? with_frame(callable, ninputs, noutputs, &status->status)
             : NULL;
}

TF_WasmStep *TF_WasmStartCall(TF_WasmCallable *callable, const TF_WasmStepOptions *options,
                              TF_Tensor *const *input_values, int ninputs, TF_Tensor **output_values,
                              int noutputs, TF_Status *status) {
  const SessionRunOptions run = wasm_run_options(options);
  SessionStep *step;
  start_status(status);
  bool begun = begin_callable_step(callable->callable, &run, input_values, ninputs, &step, &status->status);
  return wasm_first_slice(begun, step, options, output_values, noutputs, status);
}

/* ---- calls with a frame ---- */

TF_WasmCallFrame *TF_WasmFrameOfCallable(TF_WasmCallable *callable) { return &callable->frame; }

static bool read_inputs(TF_WasmCallable *callable, Status *status) {
  for (int i = 0; i < callable->ninputs; i++) {
    const TF_Tensor *value = callable->frame.input_values[i];
    if (!value) return status_invalid(status, "The value of input %d is null", i);
    callable->feed_values[i] = &value->tensor;
  }
  return true;
}

/* Whether its memory may be written for the next call. */
static bool may_stay(const Tensor *value) {
  return value->buffer->size <= LARGEST_KEPT && dtype_is_pod((int)value->dtype) &&
         buffer_is_unshared(value->buffer);
}

static void drop_inputs(const TF_WasmCallable *callable) {
  for (int i = 0; i < callable->ninputs; i++) {
    TF_Tensor *value = callable->frame.input_values[i];
    if (!value || may_stay(&value->tensor)) continue;
    TF_DeleteTensor(value);
    callable->frame.input_values[i] = NULL;
  }
}

/* Drops the last results, and makes the handles of the next ones, before the step changes anything. */
static bool make_results(TF_WasmCallable *callable, Status *status) {
  TF_WasmResult *results = callable->frame.results;
  for (int i = 0; i < callable->noutputs; i++) {
    if (!results[i].tensor) results[i].tensor = mem_calloc(1, sizeof(TF_Tensor));
    if (!results[i].tensor) return status_oom(status, "results");
    tensor_clear(&results[i].tensor->tensor);
  }
  return true;
}

static void give_results(TF_WasmCallable *callable) {
  for (int i = 0; i < callable->noutputs; i++) {
    TF_WasmResult *result = &callable->frame.results[i];
    Tensor *to = &result->tensor->tensor;
    tensor_move(to, &callable->fetch_values[i]);
    *result = (TF_WasmResult){result->tensor, (int)to->dtype, to->shape.rank, to->data};
  }
}

TF_WasmCallState TF_WasmRunCall(TF_WasmCallable *callable, int timeout_ms, TF_Status *status) {
  const SessionRunOptions run = {.timeout_ms = timeout_ms};
  SessionStep *step;
  start_status(status);
  RunState state = RUN_FAILED;
  if (read_inputs(callable, &status->status) && make_results(callable, &status->status) &&
      session_begin_call(callable->callable, &run, callable->feed_values, callable->ninputs, &step,
                         &status->status))
    state = session_advance(step, 0, callable->fetch_values, &status->status);
  if (state == RUN_DONE) give_results(callable);
  callable->frame.paused = state == RUN_WAITING ? (TF_WasmStep *)step : NULL;
  drop_inputs(callable);
  return state == RUN_DONE      ? TF_WASM_CALL_ENDED
         : state == RUN_WAITING ? TF_WASM_CALL_PAUSED
                                : TF_WASM_CALL_FAILED;
}

void TF_WasmReleaseCallable(TF_WasmCallable *callable) {
  for (int i = 0; i < callable->ninputs; i++) TF_DeleteTensor(callable->frame.input_values[i]);
  for (int i = 0; i < callable->noutputs; i++) TF_DeleteTensor(callable->frame.results[i].tensor);
  session_release_callable(callable->callable);
  arena_free(callable->arena);
}
