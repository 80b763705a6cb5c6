#include "wasm/wasm_function_body.h"

#include "base/alloc.h"
#include "c_api/c_api_internal.h"
#include "function/function_body.h"
#include "gradient/symbolic_gradient.h"
#include "op/engine_parts.h"
#include "runtime/function_runtime.h"
#include "runtime/thread_pool.h"

/* Shared by a body and the bodies derived from it. */
typedef struct BodyHome {
  int references;
  Graph *library;
  BufferPool *pool;
  ResourceManager *resources;
  FunctionRuntime *runtime;
} BodyHome;

struct TF_WasmFunctionBody {
  BodyHome *home;
  int64_t handle;
  const FunctionBody *body; /* owned by the runtime */
};

/* --- homes --- */

static void leave_home(BodyHome *home) {
  if (!home || --home->references > 0) return;
  function_runtime_free(home->runtime);
  resource_manager_free(home->resources);
  buffer_pool_release(home->pool);
  graph_free(home->library);
  mem_free(home);
}

static bool fill_home(BodyHome *home, const FunctionDef *function, const Graph *library, Status *status) {
  home->library = graph_new();
  home->pool = buffer_pool_new();
  home->resources = resource_manager_new();
  if (!home->library || !home->pool || !home->resources) return status_oom(status, "a function");
  graph_set_function_shapes(home->library, function_body_new_without_shapes);
  if (library) {
    TRY(function_library_add_library(graph_function_library(home->library), graph_function_library(library),
                                     status));
  }
  TRY(graph_add_function(home->library, function, status));
  ProgramEnvironment environment = {.pool = home->pool,
                                    .resources = home->resources,
                                    .parallel = thread_pool_default()};
  home->runtime = function_runtime_new(home->library, &environment, status);
  return home->runtime != NULL;
}

/* --- bodies --- */

static TF_WasmFunctionBody *new_handle(BodyHome *home, int64_t handle, Status *status) {
  TF_WasmFunctionBody *body = mem_calloc(1, sizeof *body);
  if (!body) {
    status_oom(status, "a function");
  } else if (!function_runtime_body(home->runtime, handle, &body->body, status)) {
    mem_free(body);
    body = NULL;
  }
  if (!body) {
    Status ignored;
    status_init(&ignored);
    reported(function_runtime_release(home->runtime, handle, &ignored));
    return NULL;
  }
  body->home = home;
  body->handle = handle;
  home->references++;
  return body;
}

/* A handle of a new body, which is consumed, and freed on error. */
static TF_WasmFunctionBody *new_sibling(BodyHome *home, FunctionBody *made, Status *status) {
  int64_t handle;
  if (function_runtime_add_body(home->runtime, made, &handle, status))
    return new_handle(home, handle, status);
  function_body_free(made);
  return NULL;
}

static bool read_attrs(const TF_WasmAttr *attrs, int count, Arena *arena, AttrEntry ***out, Status *status) {
  AttrEntry *entries = arena_calloc(arena, count, sizeof *entries);
  *out = arena_calloc(arena, count, sizeof **out);
  if (!entries || !*out) return status_oom(status, "a function");
  for (int i = 0; i < count; i++) {
    void *value;
    TRY(proto_parse(kAttrValue, attrs[i].proto, attrs[i].length, arena, &value, status));
    entries[i] = (AttrEntry)TENSORFLOW__NODE_DEF__ATTR_ENTRY__INIT;
    entries[i].key = (char *)attrs[i].name;
    entries[i].value = value;
    (*out)[i] = &entries[i];
  }
  return true;
}

static bool instantiate(BodyHome *home, const void *proto, size_t length, const TF_WasmAttr *attrs,
                        int num_attrs, const Graph *library, Arena *arena, int64_t *handle, Status *status) {
  if (!home || !arena) return status_oom(status, "a function");
  void *message;
  AttrEntry **entries;
  TRY(parse_given(kFunctionDef, proto, length, "Invalid FunctionDef", arena, &message, status));
  const FunctionDef *function = message;
  if (!function->signature) return status_invalid(status, "FunctionDef has no signature");
  TRY(fill_home(home, function, library, status));
  TRY(read_attrs(attrs, num_attrs, arena, &entries, status));
  return function_runtime_instantiate(home->runtime, function->signature->name,
                                      (const AttrEntry *const *)entries, num_attrs, NULL, handle, status);
}

TF_WasmFunctionBody *TF_WasmNewFunctionBody(const void *function, size_t length, const TF_WasmAttr *attrs,
                                            int num_attrs, TF_Graph *library, TF_Status *status) {
  start_status(status);
  TF_WasmFunctionBody *body = NULL;
  int64_t handle;
  Arena *arena = arena_new();
  BodyHome *home = mem_calloc(1, sizeof *home);
  if (home) home->references = 1;
  if (register_ops(&status->status) &&
      instantiate(home, function, length, attrs, num_attrs, library ? library->graph : NULL, arena, &handle,
                  &status->status))
    body = new_handle(home, handle, &status->status);
  leave_home(home);
  arena_free(arena);
  return body;
}

void TF_WasmDeleteFunctionBody(TF_WasmFunctionBody *body) {
  if (!body) return;
  Status ignored;
  status_init(&ignored);
  reported(function_runtime_release(body->home->runtime, body->handle, &ignored));
  leave_home(body->home);
  mem_free(body);
}

TF_WasmFunctionBody *TF_WasmFunctionBodyGradient(TF_WasmFunctionBody *body, TF_Status *status) {
  start_status(status);
  FunctionBody *gradient;
  if (!engine_part_need(PART_TRAINING, &status->status) ||
      !symbolic_gradient(body->body, &gradient, &status->status))
    return NULL;
  return new_sibling(body->home, gradient, &status->status);
}

/* --- optimising --- */

TF_WasmFunctionBody *TF_WasmFunctionBodyOptimize(TF_WasmFunctionBody *body, int inlines, int folds,
                                                 int merges, int fuses, TF_Status *status) {
  start_status(status);
  FunctionBody *copy;
  if (!function_body_copy(body->body, &copy, &status->status)) return NULL;
  const FuseOptions fuse = {NULL, NULL};
  const OptimizerOptions passes = {.opt_level = OPTIMIZER_L0,
                                   .do_common_subexpression_elimination = merges != 0,
                                   .do_constant_folding = folds != 0,
                                   .do_function_inlining = inlines != 0,
                                   .fuse = fuses ? &fuse : NULL};
  /* Prunes first, as TensorFlow does: otherwise nodes without readers keep their edge to sink, which the
   * passes treat as a use. */
  if (function_body_prune(copy, &status->status) &&
      function_runtime_optimize_body(body->home->runtime, copy, &passes, &status->status))
    return new_sibling(body->home, copy, &status->status);
  function_body_free(copy);
  return NULL;
}

/* --- queries --- */

void TF_WasmFunctionBodyText(TF_WasmFunctionBody *body, TF_Buffer *text, TF_Status *status) {
  start_status(status);
  StrBuf out = {0};
  reported(function_body_print(body->body, &out, &status->status) &&
           fill_buffer(&out, text, &status->status));
  strbuf_free(&out);
}

int TF_WasmFunctionBodyNumArgs(TF_WasmFunctionBody *body) { return body->body->num_args; }
int TF_WasmFunctionBodyNumRets(TF_WasmFunctionBody *body) { return body->body->num_rets; }

TF_DataType TF_WasmFunctionBodyArgType(TF_WasmFunctionBody *body, int index) {
  return (TF_DataType)body->body->arg_types[index];
}

TF_DataType TF_WasmFunctionBodyRetType(TF_WasmFunctionBody *body, int index) {
  return (TF_DataType)body->body->ret_types[index];
}

/* --- running --- */

struct TF_WasmFunctionCall {
  BodyHome *home;
  int64_t handle;
  int num_args, num_rets;
  Step step;
  bool begun;
  FunctionCall *paused;
  Tensor args[]; /* empty once the call has begun */
};

TF_WasmFunctionCall *TF_WasmNewFunctionCall(TF_WasmFunctionBody *body, TF_Tensor *const *args, int num_args,
                                            int timeout_ms, TF_Status *status) {
  start_status(status);
  TF_WasmFunctionCall *call = mem_calloc(1, (int64_t)sizeof *call + num_args * (int64_t)sizeof *call->args);
  if (!call) {
    status_oom(&status->status, "the call of a function");
    return NULL;
  }
  *call = (TF_WasmFunctionCall){.home = body->home,
                                .handle = body->handle,
                                .num_args = num_args,
                                .num_rets = body->body->num_rets};
  call->home->references++;
  step_begin(&call->step, timeout_ms, NULL);
  for (int i = 0; i < num_args; i++) {
    if (tensor_assign(&call->args[i], &args[i]->tensor, &status->status)) continue;
    TF_WasmDeleteFunctionCall(call);
    return NULL;
  }
  return call;
}

static bool give_results(Tensor *values, int count, TF_Tensor **rets, Status *status) {
  for (int i = 0; i < count; i++) {
    rets[i] = take_tensor(&values[i], status);
    if (rets[i]) continue;
    for (int k = 0; k < i; k++) TF_DeleteTensor(rets[k]);
    for (int k = 0; k < i; k++) rets[k] = NULL;
    return false;
  }
  return true;
}

static RunState advance(TF_WasmFunctionCall *call, Tensor *results, Status *status) {
  const FunctionCaller *caller = function_runtime_caller(call->home->runtime);
  if (call->begun && !call->paused) {
    status_set(status, CODE_FAILED_PRECONDITION, "The call of the function has ended.");
    return RUN_FAILED;
  }
  call->begun = true;
  RunState state = caller->run(caller->owner, call->handle, &call->paused, &call->step, call->args,
                               call->num_args, results, call->num_rets, status);
  if (state != RUN_WAITING) resource_manager_end_step(call->home->resources, call->step.id);
  return state;
}

int TF_WasmAdvanceFunctionCall(TF_WasmFunctionCall *call, int slice_ms, TF_Tensor **rets, TF_Status *status) {
  start_status(status);
  for (int i = 0; i < call->num_rets; i++) rets[i] = NULL;
  Tensor *results = mem_calloc(call->num_rets + 1, sizeof *results);
  if (!results) {
    status_oom(&status->status, "the results of a function");
    return 0;
  }
  step_set_slice(&call->step, slice_ms);
  RunState state = advance(call, results, &status->status);
  if (state == RUN_DONE) reported(give_results(results, call->num_rets, rets, &status->status));
  for (int i = 0; i < call->num_rets; i++) tensor_clear(&results[i]);
  mem_free(results);
  return state == RUN_WAITING;
}

int TF_WasmFunctionCallIsBlocked(const TF_WasmFunctionCall *call) { return call->step.blocked; }

void TF_WasmDeleteFunctionCall(TF_WasmFunctionCall *call) {
  if (!call) return;
  if (call->paused) {
    const FunctionCaller *caller = function_runtime_caller(call->home->runtime);
    caller->abandon(caller->owner, call->paused);
    resource_manager_end_step(call->home->resources, call->step.id);
  }
  for (int i = 0; i < call->num_args; i++) tensor_clear(&call->args[i]);
  leave_home(call->home);
  mem_free(call);
}
