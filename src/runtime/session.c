#include "runtime/session.h"

#include <stdatomic.h>
#include <string.h>

#include "base/alloc.h"
#include "base/sync.h"
#include "runtime/client_graph.h"
#include "runtime/function_runtime.h"
#include "runtime/thread_pool.h"

/* A program and the state of the graph that it was made of. It is found by what it was made for: outputs as
 * (node id, index) pairs, sorted, so that the order of a caller's feeds and fetches makes no difference. */
typedef struct CachedProgram {
  Program *program;
  int64_t mutation_count; /* of the graph */
} CachedProgram;

struct Session {
  Graph *graph;
  Mutex mutex; /* checked: a kernel from outside may run, or close, the session that runs it */
  bool closed;
  bool require_shapes;
  BufferPool *pool;
  ResourceManager *resources;
  FunctionRuntime *functions;
  KernelTable *kernels;
  Arena *arena;       /* keys and entries of the cache */
  StringMap programs; /* by binary keys */
  /* The request being served; kept so that a repeated one allocates nothing. */
  struct Request {
    int64_t *key;
    int64_t key_capacity;
    NodeOutput *outputs;
    int64_t output_capacity;
    int *order;
    int64_t order_capacity;
    const Tensor **feed_values;
    int64_t feed_capacity;
    Tensor *fetch_values;
    int64_t fetch_capacity;
  } request;
  Step step;
  ProgramRun *waiting; /* the step that paused; its request is kept */
  atomic_bool closing; /* ends the step that is under way */
  int64_t timeout_ms;  /* of steps that name none; 0: none */
};

Session *session_new(Graph *graph, Status *status) {
  Session *session = mem_calloc(1, sizeof *session);
  if (!session) {
    status_oom(status, "a session");
    return NULL;
  }
  session->graph = graph;
  if (!mutex_init_checked(&session->mutex)) {
    mem_free(session);
    status_oom(status, "a session");
    return NULL;
  }
  session->pool = buffer_pool_new();
  session->resources = resource_manager_new();
  session->arena = arena_new();
  session->kernels = kernel_table_new();
  const ProgramEnvironment environment = {.pool = session->pool,
                                          .resources = session->resources,
                                          .parallel = thread_pool_default()};
  session->functions = function_runtime_new(graph, &environment, status);
  if (session->pool && session->resources && session->functions && session->kernels && session->arena)
    return session;
  session_free(session);
  status_oom(status, "a session");
  return NULL;
}

void session_optimize(Session *session, bool optimize) {
  function_runtime_optimize(session->functions, optimize);
}

void session_require_shapes(Session *session, bool required) { session->require_shapes = required; }

void session_set_timeout(Session *session, int64_t timeout_ms) { session->timeout_ms = timeout_ms; }

static void abandon_step(Session *session) {
  if (!session->waiting) return;
  program_abandon(session->waiting);
  session->waiting = NULL;
  resource_manager_end_step(session->resources, session->step.id);
}

static void free_programs(Session *session) {
  for (int64_t i = 0; i < session->programs.num_entries; i++) {
    CachedProgram *cached = session->programs.entries[i].value;
    program_free(cached->program);
  }
  string_map_free(&session->programs);
}

static void free_state(Session *session) {
  abandon_step(session);
  free_programs(session);
  kernel_table_free(session->kernels);
  session->kernels = NULL;
  function_runtime_free(session->functions);
  session->functions = NULL;
  resource_manager_free(session->resources);
  session->resources = NULL;
  buffer_pool_release(session->pool);
  session->pool = NULL;
  arena_free(session->arena);
  session->arena = NULL;
  mem_free(session->request.key);
  mem_free(session->request.outputs);
  mem_free(session->request.order);
  mem_free(session->request.feed_values);
  mem_free(session->request.fetch_values);
  session->request = (struct Request){0};
}

/* Gives the mutex back. A kernel may have asked for the session to be closed while it held it. */
static void unlock(Session *session) {
  if (atomic_load(&session->closing) && !session->closed) {
    free_state(session);
    session->closed = true;
  }
  mutex_unlock(&session->mutex);
}

void session_close(Session *session) {
  atomic_store(&session->closing, true);
  if (mutex_lock_unless_held(&session->mutex))
    unlock(session); /* else its kernel is running, and closes it at its end */
}

void session_free(Session *session) {
  if (!session) return;
  session_close(session);
  mutex_destroy(&session->mutex);
  mem_free(session);
}

int64_t session_num_programs(const Session *session) { return session->programs.count; }

int64_t session_cached_bytes(const Session *session) {
  return session->pool ? buffer_pool_cached_bytes(session->pool) : 0;
}

/* --- requests --- */

static int compare_outputs(NodeOutput a, NodeOutput b) {
  if (a.node->id != b.node->id) return a.node->id < b.node->id ? -1 : 1;
  return (a.index > b.index) - (a.index < b.index);
}

/* Insertion sort: there are few feeds and fetches, and mostly they come in the same order again. order[i] is
 * the caller's position of sorted[i]. */
static void sort_outputs(const NodeOutput *outputs, int count, NodeOutput *sorted, int *order) {
  for (int i = 0; i < count; i++) {
    int k = i;
    for (; k > 0 && compare_outputs(outputs[i], sorted[k - 1]) < 0; k--) {
      sorted[k] = sorted[k - 1];
      order[k] = order[k - 1];
    }
    sorted[k] = outputs[i];
    order[k] = i;
  }
}

static bool reserve_request(struct Request *request, int64_t num_feeds, int64_t num_fetches,
                            int64_t num_targets, Status *status) {
  int64_t outputs = num_feeds + num_fetches;
  bool ok =
      mem_grow((void **)&request->key, &request->key_capacity, 2 * outputs + num_targets + 3,
               sizeof(int64_t)) &&
      mem_grow((void **)&request->outputs, &request->output_capacity, outputs + 1, sizeof(NodeOutput)) &&
      mem_grow((void **)&request->order, &request->order_capacity, outputs + 1, sizeof(int)) &&
      mem_grow((void **)&request->feed_values, &request->feed_capacity, num_feeds + 1, sizeof(Tensor *)) &&
      mem_grow((void **)&request->fetch_values, &request->fetch_capacity, num_fetches + 1, sizeof(Tensor));
  return ok || status_oom(status, "a request");
}

static size_t write_key(const StepSignature *signature, int64_t *key) {
  int64_t n = 0;
  key[n++] = signature->num_feeds;
  key[n++] = signature->num_fetches;
  key[n++] = signature->num_targets * 2 + signature->any_shapes;
  for (int i = 0; i < signature->num_feeds; i++) {
    key[n++] = signature->feeds[i].node->id;
    key[n++] = signature->feeds[i].index;
  }
  for (int i = 0; i < signature->num_fetches; i++) {
    key[n++] = signature->fetches[i].node->id;
    key[n++] = signature->fetches[i].index;
  }
  for (int i = 0; i < signature->num_targets; i++) key[n++] = signature->targets[i]->id;
  return (size_t)n * sizeof *key;
}

static bool make_program(Session *session, const StepSignature *signature, Program **program,
                         Status *status) {
  FunctionBody *body;
  TRY(client_graph_of_step(session->graph, signature, &body, status));
  return function_runtime_compile(session->functions, body, session->kernels, program, status);
}

static bool find_program(Session *session, const StepSignature *signature, Program **program,
                         Status *status) {
  size_t key_size = write_key(signature, session->request.key);
  CachedProgram *cached =
      string_map_find_bytes(&session->programs, (const char *)session->request.key, key_size);
  int64_t mutation_count = graph_mutation_count(session->graph);
  if (cached && cached->mutation_count == mutation_count) {
    *program = cached->program;
    return true;
  }
  TRY(make_program(session, signature, program, status));
  if (cached) {
    program_free(cached->program);
    *cached = (CachedProgram){*program, mutation_count};
    return true;
  }
  cached = arena_alloc(session->arena, sizeof *cached);
  char *key = arena_strndup(session->arena, (const char *)session->request.key, key_size);
  if (!cached || !key) {
    program_free(*program);
    return status_oom(status, "a program");
  }
  *cached = (CachedProgram){*program, mutation_count};
  if (string_map_set_bytes(&session->programs, key, key_size, cached, status)) return true;
  program_free(*program);
  return false;
}

/* Whether the shape agrees with what inference knows of the output. */
static bool has_known_shape(NodeOutput output, const Tensor *value) {
  ShapeHandle known = graph_output_shape(output);
  if (!known || !shape_rank_known(known)) return true;
  bool compatible = shape_rank(known) == value->shape.rank;
  for (int d = 0; compatible && d < value->shape.rank; d++) {
    compatible = !dim_known(known->dims[d]) || dim_value(known->dims[d]) == shape_dim(&value->shape, d);
  }
  return compatible;
}

static bool refuse_shape(NodeOutput output, const Tensor *value, Status *status) {
  StrBuf wanted = {0};
  char got[SHAPE_TEXT_CAPACITY];
  shape_handle_print(graph_output_shape(output), &wanted);
  if (strbuf_ok(&wanted, status)) {
    status_invalid(status, "Cannot feed value of shape %s for Tensor '%s:%d', which has shape '%s'",
                   shape_text(&value->shape, got), output.node->name, output.index, strbuf_text(&wanted));
  }
  strbuf_free(&wanted);
  return false;
}

/* Whether what is fed has shapes that the graph does not know. Feeds that there are not are refused later. */
static bool has_other_shapes(const StepSignature *asked, const Tensor *const *values) {
  bool known = true;
  for (int i = 0; known && i < asked->num_feeds; i++) {
    NodeOutput feed = asked->feeds[i];
    known = feed.index < 0 || feed.index >= feed.node->num_outputs || has_known_shape(feed, values[i]);
  }
  return !known;
}

/* What is fed has the dtype of the output, and its shape where the session wants that. */
static bool check_feeds(const Session *session, const StepSignature *asked, const Tensor *const *values,
                        Status *status) {
  for (int i = 0; i < asked->num_feeds; i++) {
    DataType expected = (DataType)dtype_base(node_output_type(asked->feeds[i]));
    if (values[i]->dtype != expected) {
      return status_invalid(status, "Expects arg[%d] to be %s but %s is provided", i, dtype_name(expected),
                            dtype_name(values[i]->dtype));
    }
    if (session->require_shapes && !has_known_shape(asked->feeds[i], values[i]))
      return refuse_shape(asked->feeds[i], values[i], status);
  }
  return true;
}

/* Checks and sorts what is asked for, and begins the run of its program. */
static bool begin_locked(Session *session, const StepSignature *asked, const Tensor *const *feed_values,
                         ProgramRun **run, Status *status) {
  if (session->closed) return status_set(status, CODE_CANCELLED, "Session has been closed.");
  if (session->waiting)
    return status_set(status, CODE_FAILED_PRECONDITION,
                      "The session has a step that paused and has not ended.");
  for (int i = 0; i < asked->num_feeds; i++)
    TRY(graph_check_node(session->graph, asked->feeds[i].node, status));
  for (int i = 0; i < asked->num_fetches; i++)
    TRY(graph_check_node(session->graph, asked->fetches[i].node, status));
  for (int i = 0; i < asked->num_targets; i++)
    TRY(graph_check_node(session->graph, asked->targets[i], status));
  struct Request *request = &session->request;
  TRY(reserve_request(request, asked->num_feeds, asked->num_fetches, asked->num_targets, status));
  NodeOutput *feeds = request->outputs, *fetches = request->outputs + asked->num_feeds;
  int *feed_order = request->order + asked->num_fetches;
  sort_outputs(asked->feeds, asked->num_feeds, feeds, feed_order);
  sort_outputs(asked->fetches, asked->num_fetches, fetches, request->order);
  StepSignature sorted = *asked;
  sorted.feeds = feeds;
  sorted.fetches = fetches;
  sorted.any_shapes = !session->require_shapes && has_other_shapes(asked, feed_values);
  Program *program;
  TRY(find_program(session, &sorted, &program, status));
  TRY(check_feeds(session, asked, feed_values, status));
  for (int i = 0; i < asked->num_feeds; i++) request->feed_values[i] = feed_values[feed_order[i]];
  memset(request->fetch_values, 0, (size_t)asked->num_fetches * sizeof(Tensor));
  return program_begin(program, request->feed_values, run, status);
}

static bool begin(Session *session, const StepSignature *asked, const Tensor *const *feed_values,
                  ProgramRun **run, Status *status) {
  graph_lock(session->graph);
  bool ok = begin_locked(session, asked, feed_values, run, status);
  graph_unlock(session->graph);
  return ok;
}

/* Runs until the step ends or pauses. request.order[i] is the caller's position of result i of the
 * program. */
static RunState advance(Session *session, ProgramRun *run, Tensor *fetch_values, int num_fetches,
                        Status *status) {
  struct Request *request = &session->request;
  RunState state = program_advance(run, &session->step, request->fetch_values, status);
  /* What is an internal error of a call is the caller's own doing in a step: a fetch that Switch left dead.
   */
  if (state == RUN_FAILED && status->code == CODE_INTERNAL && strncmp(status->message, "Retval[", 7) == 0 &&
      strstr(status->message, "] does not have value"))
    status->code = CODE_INVALID_ARGUMENT;
  session->waiting = state == RUN_WAITING ? run : NULL;
  if (!session->waiting) resource_manager_end_step(session->resources, session->step.id);
  for (int i = 0; state == RUN_DONE && i < num_fetches; i++)
    tensor_move(&fetch_values[request->order[i]], &request->fetch_values[i]);
  return state;
}

static bool lock(Session *session, Status *status) {
  if (mutex_lock_unless_held(&session->mutex)) return true;
  return status_set(status, CODE_FAILED_PRECONDITION, "A kernel cannot run the session in which it runs.");
}

RunState session_start(Session *session, const SessionRunOptions *options, const NodeOutput *feeds,
                       const Tensor *const *feed_values, int num_feeds, const NodeOutput *fetches,
                       Tensor *fetch_values, int num_fetches, Node *const *targets, int num_targets,
                       Status *status) {
  StepSignature signature = {.feeds = feeds,
                             .num_feeds = num_feeds,
                             .fetches = fetches,
                             .num_fetches = num_fetches,
                             .targets = targets,
                             .num_targets = num_targets};
  ProgramRun *run;
  RunState state = RUN_FAILED;
  if (!lock(session, status)) return state;
  if (begin(session, &signature, feed_values, &run, status)) {
    int64_t timeout = options && options->timeout_ms > 0 ? options->timeout_ms : session->timeout_ms;
    step_begin(&session->step, timeout, &session->closing);
    if (options) step_set_slice(&session->step, options->slice_ms);
    state = advance(session, run, fetch_values, num_fetches, status);
  }
  unlock(session);
  return state;
}

RunState session_resume(Session *session, int64_t slice_ms, Tensor *fetch_values, int num_fetches,
                        Status *status) {
  RunState state = RUN_FAILED;
  if (!lock(session, status)) return state;
  if (session->waiting) {
    step_set_slice(&session->step, slice_ms);
    state = advance(session, session->waiting, fetch_values, num_fetches, status);
  } else {
    status_set(status, session->closed ? CODE_CANCELLED : CODE_FAILED_PRECONDITION,
               session->closed ? "Session has been closed." : "No step of the session has paused.");
  }
  unlock(session);
  return state;
}

void session_abandon(Session *session) {
  if (!mutex_lock_unless_held(&session->mutex)) return;
  abandon_step(session);
  unlock(session);
}

bool session_run(Session *session, const NodeOutput *feeds, const Tensor *const *feed_values, int num_feeds,
                 const NodeOutput *fetches, Tensor *fetch_values, int num_fetches, Node *const *targets,
                 int num_targets, Status *status) {
  return session_start(session, NULL, feeds, feed_values, num_feeds, fetches, fetch_values, num_fetches,
                       targets, num_targets, status) == RUN_DONE;
}
