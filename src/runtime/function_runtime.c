#include "runtime/function_runtime.h"

#include <string.h>

#include "base/alloc.h"
#include "base/text_format.h"
#include "function/function_canonicalize.h"
#include "gradient/symbolic_gradient.h"
#include "graph/graph_walk.h"
#include "graph/node_builder.h"
#include "graph/node_class.h"
#include "op/engine_parts.h"
#include "runtime/client_graph.h"

/* A function with bound attrs. */
typedef struct Instance {
  int64_t handle;
  char *key;
  const FunctionDef *function; /* the source of the body; NULL for gradients */
  int64_t references;
  bool called;             /* by kernels, which keep the handle until they are destroyed */
  FunctionBody *body;      /* as instantiated */
  FunctionBody *inlinable; /* a pruned body for passes that inline it; NULL until it is needed */
  Program *program;        /* NULL until the first call */
  KernelTable *kernels;    /* the kernels with state of the program */
} Instance;

struct FunctionRuntime {
  Graph *library;
  ProgramEnvironment environment;
  FunctionCaller caller;
  FunctionBodySource bodies;
  CallSites *sites;     /* the call sites of the body that is being optimised for running; else NULL */
  bool inlines;         /* optimise and inline */
  StringMap keys;       /* from key to Instance */
  Instance **instances; /* by handle; NULL once released */
  int64_t num_handles, capacity;
  int depth;
};

/* Calls are inlined up to this depth; deeper ones stay calls. Inlining may add this many nodes to a body. */
enum { INLINE_MAX_DEPTH = 64, INLINE_MAX_NODES = 1 << 18 };

static bool oom(Status *status) { return status_oom(status, "a function"); }

/* --- instances --- */

static void free_instance(FunctionRuntime *runtime, Instance *instance) {
  if (instance->key) {
    if (string_map_find(&runtime->keys, instance->key) == instance)
      string_map_remove(&runtime->keys, instance->key);
    mem_free(instance->key);
  }
  program_free(instance->program);
  kernel_table_free(instance->kernels);
  function_body_free(instance->inlinable);
  function_body_free(instance->body);
  mem_free(instance);
}

static bool make_body(FunctionRuntime *runtime, const char *name, const FunctionDef *function,
                      const AttrEntry *const *attrs, int num_attrs, FunctionBody **body, Status *status) {
  if (function) return function_body_new(runtime->library, function, attrs, num_attrs, body, status);
  if (strcmp(name, "SymbolicGradient") == 0) {
    TRY(engine_part_need(PART_TRAINING, status));
    return gradient_instantiate(runtime->library, attrs, num_attrs, body, status);
  }
  return status_set(status, CODE_NOT_FOUND, "Function %s is not defined.", name);
}

static bool add_instance(FunctionRuntime *runtime, Instance *instance, const char *key, Status *status) {
  if (!mem_grow((void **)&runtime->instances, &runtime->capacity, runtime->num_handles + 1,
                sizeof *runtime->instances))
    return oom(status);
  instance->key = mem_strdup(key, strlen(key));
  if (!instance->key) return oom(status);
  TRY(string_map_set(&runtime->keys, instance->key, instance, status));
  instance->handle = runtime->num_handles++;
  runtime->instances[instance->handle] = instance;
  return true;
}

static bool find_or_make_locked(FunctionRuntime *runtime, const char *name, const AttrEntry *const *attrs,
                                int num_attrs, const FunctionInstantiateOptions *options, Instance **out,
                                Status *status) {
  StrBuf key = {0};
  bool ok = false;
  const InstantiateOptions names = {.state_handle = options ? options->state_handle : NULL};
  function_canonicalize_with(name, attrs, num_attrs, &names, &key);
  TRY_DONE(strbuf_ok(&key, status));
  const FunctionDef *function = graph_find_function(runtime->library, name);
  Instance *found = string_map_find(&runtime->keys, strbuf_text(&key));
  /* Another definition of the same name is another function. */
  if (found && found->function == function) {
    *out = found;
    ok = true;
    goto done;
  }
  if (found) string_map_remove(&runtime->keys, found->key);
  Instance *made = mem_calloc(1, sizeof *made);
  if (!made) {
    oom(status);
    goto done;
  }
  made->function = function;
  ok = make_body(runtime, name, function, attrs, num_attrs, &made->body, status) &&
       add_instance(runtime, made, strbuf_text(&key), status);
  if (ok) {
    *out = made;
  } else {
    free_instance(runtime, made);
  }
done:
  strbuf_free(&key);
  return ok;
}

static bool find_or_make(FunctionRuntime *runtime, const char *name, const AttrEntry *const *attrs,
                         int num_attrs, const FunctionInstantiateOptions *options, Instance **out,
                         Status *status) {
  graph_lock(runtime->library);
  bool ok = find_or_make_locked(runtime, name, attrs, num_attrs, options, out, status);
  graph_unlock(runtime->library);
  return ok;
}

static Instance *find_handle(const FunctionRuntime *runtime, int64_t handle, Status *status) {
  Instance *instance = handle >= 0 && handle < runtime->num_handles ? runtime->instances[handle] : NULL;
  if (!instance) status_set(status, CODE_NOT_FOUND, "Handle %lld not found.", (long long)handle);
  return instance;
}

bool function_runtime_instantiate(FunctionRuntime *runtime, const char *name, const AttrEntry *const *attrs,
                                  int num_attrs, const FunctionInstantiateOptions *options, int64_t *handle,
                                  Status *status) {
  Instance *instance;
  TRY(find_or_make(runtime, name, attrs, num_attrs, options, &instance, status));
  instance->references++;
  *handle = instance->handle;
  return true;
}

bool function_runtime_add_body(FunctionRuntime *runtime, FunctionBody *body, int64_t *handle,
                               Status *status) {
  Instance *made = mem_calloc(1, sizeof *made);
  if (!made) return oom(status);
  char key[32]; /* a key that no function name can equal */
  text_format(key, sizeof key, " body %lld", (long long)runtime->num_handles);
  if (!add_instance(runtime, made, key, status)) {
    free_instance(runtime, made);
    return false;
  }
  made->body = body;
  made->references = 1;
  *handle = made->handle;
  return true;
}

bool function_runtime_release(FunctionRuntime *runtime, int64_t handle, Status *status) {
  Instance *instance = find_handle(runtime, handle, status);
  if (!instance) return false;
  if (instance->references > 0) instance->references--;
  if (instance->references > 0 || instance->called) return true;
  runtime->instances[handle] = NULL;
  free_instance(runtime, instance);
  return true;
}

bool function_runtime_body(FunctionRuntime *runtime, int64_t handle, const FunctionBody **body,
                           Status *status) {
  const Instance *instance = find_handle(runtime, handle, status);
  if (!instance) return false;
  *body = instance->body;
  return true;
}

/* --- inlining --- */

static bool find_body(void *owner, const char *name, const AttrEntry *const *attrs, int num_attrs,
                      const FunctionBody **body, Status *status) {
  Instance *instance;
  TRY(find_or_make(owner, name, attrs, num_attrs, NULL, &instance, status));
  /* What a call runs is inlined, and nothing else. */
  if (!instance->inlinable) TRY(client_graph_of_function(instance->body, &instance->inlinable, status));
  instance->called = true; /* the graph shares attr values with the inlined body */
  *body = instance->inlinable;
  return true;
}

static void note_inlined(void *owner, const Node *caller, Node *added) {
  const FunctionRuntime *runtime = owner;
  if (runtime->sites) call_sites_note(runtime->sites, caller, added);
}

static void note_lowered(void *owner, const Node *replaced, Node *added) {
  const FunctionRuntime *runtime = owner;
  if (runtime->sites) call_sites_note_lowered(runtime->sites, replaced, added);
}

static ExpandOptions expand_options(void) {
  ExpandOptions options = expand_options_default();
  options.native.as_one_step = options.multi_device.as_one_step = true;
  options.native.share_attrs = options.multi_device.share_attrs = true;
  return options;
}

static bool keep_control_rets(const FunctionBody *body, Arena *arena, NodeSet *keep, Status *status) {
  TRY(node_set_new(body->graph, arena, keep, status));
  for (int i = 0; i < body->num_control_rets; i++) keep->member[body->control_ret_nodes[i]->id] = 1;
  return true;
}

bool function_runtime_optimize_body(FunctionRuntime *runtime, FunctionBody *body,
                                    const OptimizerOptions *passes, Status *status) {
  NodeSet keep = {0};
  ExpandOptions expand = expand_options();
  OptimizerOptions options = *passes;
  Arena *arena = arena_new();
  bool ok = (arena || oom(status)) && keep_control_rets(body, arena, &keep, status);
  if (ok) {
    options.keep = &keep;
    options.expand = &expand;
    options.source = options.do_function_inlining && runtime->inlines ? &runtime->bodies : NULL;
    ok = graph_optimize(body->graph, &options, NULL, status);
  }
  arena_free(arena);
  if (!ok) return false;
  int left = 0;
  for (int i = 0; i < body->num_control_rets; i++) {
    Node *node = body->control_ret_nodes[i];
    if (graph_node(body->graph, node->id) == node) body->control_ret_nodes[left++] = node;
  }
  body->num_control_rets = left;
  return true;
}

/* --- programs --- */

/* A NoOp that waits for it replaces each control result that can be expanded. */
static bool wait_for_calls(FunctionBody *body, Status *status) {
  for (int i = 0; i < body->num_control_rets; i++) {
    Node **ret = &body->control_ret_nodes[i];
    if ((*ret)->node_class < NODE_FUNCTION) continue;
    const char *name = graph_new_free_name(body->graph, (*ret)->name);
    NodeBuilder b;
    node_builder(&b, body->graph, "NoOp", name);
    node_builder_device(&b, (*ret)->def->device);
    node_builder_control(&b, *ret);
    TRY(node_builder_finish_bare(&b, ret, status));
  }
  return true;
}

/* Nodes of one call, or of none: errors of a fused node name the call of its last node. */
static bool same_call(const void *owner, const Node *a, const Node *b) {
  const CallSite *x = call_sites_find(owner, a->name), *y = call_sites_find(owner, b->name);
  return x == y || (x && y && strcmp(x->callers, y->callers) == 0);
}

/* Passes may remove what makes the frames of a graph wrong, so that its steps fail or not by chance. */
static bool check_control_flow(const FunctionBody *body, Status *status) {
  ControlFlowInfo *frames;
  Arena *scratch = arena_new();
  bool ok = (scratch || oom(status)) && graph_control_flow(body->graph, scratch, &frames, NULL, NULL, status);
  arena_free(scratch);
  return ok;
}

/* Inline all calls first, so that one round of the other passes sees all nodes. */
static bool optimize_to_run(FunctionRuntime *runtime, FunctionBody *body, Arena *scratch, Status *status) {
  NodeSet keep;
  bool changed;
  ExpandOptions expand = expand_options();
  TRY(wait_for_calls(body, status));
  expand.max_rounds = INLINE_MAX_DEPTH;
  expand.lower_control_flow = true;
  expand.max_nodes = INLINE_MAX_NODES + graph_num_nodes(body->graph);
  TRY(graph_expand_inline_functions(body->graph, &runtime->bodies, &expand, &changed, status));
  OptimizerOptions passes = optimizer_options_all(NULL);
  TRY(keep_control_rets(body, scratch, &keep, status));
  passes.keep = &keep;
  passes.max_rounds = 1;
  const FuseOptions fuse = {same_call, runtime->sites};
  passes.fuse = &fuse;
  return graph_optimize(body->graph, &passes, NULL, status);
}

bool function_runtime_compile(FunctionRuntime *runtime, FunctionBody *body, KernelTable *kernels,
                              Program **program, Status *status) {
  CallSites sites = {.arena = arena_new()};
  ProgramEnvironment environment = runtime->environment;
  environment.functions = &runtime->caller;
  bool ok = sites.arena || oom(status);
  if (ok && runtime->inlines) {
    runtime->sites = &sites;
    ok = check_control_flow(body, status) && optimize_to_run(runtime, body, sites.arena, status);
    runtime->sites = NULL;
    ok = ok && (!sites.failed || oom(status));
  }
  ok = ok && program_compile(body, kernels, &environment, &sites, program, status);
  if (!ok) function_body_free(body);
  call_sites_free(&sites);
  arena_free(sites.arena);
  return ok;
}

static bool compile_locked(FunctionRuntime *runtime, Instance *instance, Status *status) {
  FunctionBody *body;
  TRY(check_control_flow(instance->body, status));
  if (!instance->kernels) instance->kernels = kernel_table_new();
  if (!instance->kernels) return oom(status);
  TRY(client_graph_of_function(instance->body, &body, status));
  return function_runtime_compile(runtime, body, instance->kernels, &instance->program, status);
}

static bool compile(FunctionRuntime *runtime, Instance *instance, Status *status) {
  graph_lock(runtime->library);
  bool ok = compile_locked(runtime, instance, status);
  graph_unlock(runtime->library);
  return ok;
}

/* --- running --- */

static bool check_num_rets(const FunctionBody *body, int num_rets, Status *status) {
  if (num_rets == body->num_rets) return true;
  return status_invalid(status, "Function %s has %d results, not %d", body->name, body->num_rets, num_rets);
}

static bool check_call(const FunctionBody *body, const Tensor *args, int num_args, int num_rets,
                       Status *status) {
  TRY(call_frame_check_num_args(body->num_args, num_args, status));
  for (int i = 0; i < num_args; i++)
    TRY(call_frame_check_arg_type(i, body->arg_types[i], args[i].dtype, status));
  return check_num_rets(body, num_rets, status);
}

static bool enter(FunctionRuntime *runtime, Instance *instance, Status *status) {
  if (runtime->depth >= FUNCTION_MAX_CALL_DEPTH) {
    return status_invalid(status,
                          "Calls of functions are nested more than %d deep: function %s calls itself without "
                          "end, or nearly so",
                          FUNCTION_MAX_CALL_DEPTH, instance->body->name);
  }
  return instance->program || compile(runtime, instance, status);
}

static ProgramRun *begin_call(FunctionRuntime *runtime, int64_t handle, Tensor *args, int num_args,
                              int num_rets, Status *status) {
  ProgramRun *run = NULL;
  Instance *instance = find_handle(runtime, handle, status);
  bool ok = instance && check_call(instance->body, args, num_args, num_rets, status) &&
            enter(runtime, instance, status);
  if (ok && program_begin_call(instance->program, args, &run, status)) return run;
  for (int i = 0; i < num_args; i++) tensor_clear(&args[i]);
  return NULL;
}

/* FunctionCaller.run: a call runs the function's program. */
static RunState call(void *owner, int64_t handle, FunctionCall **under_way, Step *step, Tensor *args,
                     int num_args, Tensor *rets, int num_rets, Status *status) {
  FunctionRuntime *runtime = owner;
  ProgramRun *run = (ProgramRun *)*under_way;
  if (!run) run = begin_call(runtime, handle, args, num_args, num_rets, status);
  if (!run) return RUN_FAILED;
  runtime->depth++;
  RunState state = program_advance(run, step, rets, status);
  runtime->depth--;
  *under_way = state == RUN_WAITING ? (FunctionCall *)run : NULL;
  return state;
}

static void abandon(void *owner, FunctionCall *under_way) {
  (void)owner;
  program_abandon((ProgramRun *)under_way);
}

static bool check_cancelled(const FunctionRunOptions *options, Status *status) {
  if (!options || !options->cancelled || !atomic_load(options->cancelled)) return true;
  return status_set(status, CODE_CANCELLED, "Function was cancelled before it was started");
}

bool function_runtime_new_frame(FunctionRuntime *runtime, int64_t handle, FunctionCallFrame *frame,
                                Status *status) {
  const Instance *instance = find_handle(runtime, handle, status);
  if (!instance) return false;
  const FunctionBody *body = instance->body;
  return call_frame_init(frame, body->arg_types, body->num_args, body->ret_types, body->num_rets, status);
}

bool function_runtime_run_frame(FunctionRuntime *runtime, int64_t handle, const FunctionRunOptions *options,
                                FunctionCallFrame *frame, Status *status) {
  TRY(check_cancelled(options, status));
  call_frame_clear_retvals(frame);
  Step step;
  step_begin(&step, 0, options ? options->cancelled : NULL);
  bool ok = function_call_to_end(&runtime->caller, handle, &step, frame->args, frame->num_args, frame->rets,
                                 frame->num_rets, status);
  resource_manager_end_step(runtime->environment.resources, step.id);
  return ok;
}

bool function_runtime_run(FunctionRuntime *runtime, int64_t handle, const FunctionRunOptions *options,
                          const Tensor *const *args, int num_args, Tensor *rets, int num_rets,
                          Status *status) {
  FunctionCallFrame frame = {0};
  const Instance *instance = find_handle(runtime, handle, status);
  bool ok = instance && check_num_rets(instance->body, num_rets, status) &&
            function_runtime_new_frame(runtime, handle, &frame, status) &&
            call_frame_set_args(&frame, args, num_args, status) &&
            function_runtime_run_frame(runtime, handle, options, &frame, status) &&
            call_frame_consume_retvals(&frame, rets, status);
  call_frame_free(&frame);
  return ok;
}

/* --- for kernels --- */

static bool instantiate_for_kernel(void *owner, const char *name, const AttrEntry *const *attrs,
                                   int num_attrs, CalledFunction *function, Status *status) {
  Instance *instance;
  TRY(find_or_make(owner, name, attrs, num_attrs, NULL, &instance, status));
  instance->called = true;
  const FunctionBody *body = instance->body;
  *function =
      (CalledFunction){instance->handle, body->arg_types, body->ret_types, body->num_args, body->num_rets};
  return true;
}

bool function_runtime_create_kernel(FunctionRuntime *runtime, const NodeDef *node, OpKernel **kernel,
                                    Status *status) {
  const Op *op;
  TRY(graph_look_up_op(runtime->library, node->op, &op, status));
  return op_kernel_new(op, node, NULL, &runtime->caller, kernel, status);
}

bool function_runtime_is_stateful(const FunctionRuntime *runtime, const char *name) {
  const Op *op;
  Status ignored;
  status_init(&ignored);
  return graph_look_up_op(runtime->library, name, &op, &ignored) && op->def->is_stateful;
}

/* --- the runtime --- */

FunctionRuntime *function_runtime_new(Graph *library, const ProgramEnvironment *environment, Status *status) {
  FunctionRuntime *runtime = mem_calloc(1, sizeof *runtime);
  if (!runtime) {
    oom(status);
    return NULL;
  }
  runtime->library = library;
  runtime->environment = *environment;
  runtime->bodies = (FunctionBodySource){.body = find_body,
                                         .inlined = note_inlined,
                                         .lowered = note_lowered,
                                         .owner = runtime};
  runtime->inlines = true;
  runtime->caller = (FunctionCaller){runtime, instantiate_for_kernel, call, abandon};
  return runtime;
}

void function_runtime_free(FunctionRuntime *runtime) {
  if (!runtime) return;
  for (int64_t i = 0; i < runtime->num_handles; i++) {
    if (runtime->instances[i]) free_instance(runtime, runtime->instances[i]);
  }
  mem_free(runtime->instances);
  string_map_free(&runtime->keys);
  mem_free(runtime);
}

void function_runtime_optimize(FunctionRuntime *runtime, bool optimize) { runtime->inlines = optimize; }

const FunctionCaller *function_runtime_caller(const FunctionRuntime *runtime) { return &runtime->caller; }
