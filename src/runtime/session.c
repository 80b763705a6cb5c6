#include "runtime/session.h"

#include <stdatomic.h>
#include <string.h>

#include "base/alloc.h"
#include "base/sync.h"
#include "runtime/step_cache.h"
#include "runtime/thread_pool.h"

struct Session {
  Graph *graph;
  Mutex mutex; /* checked: a kernel from outside may run, or close, the session that runs it */
  bool closed;
  bool require_shapes;
  BufferPool *pool;
  ResourceManager *resources;
  FunctionRuntime *functions;
  KernelTable *kernels;
  StepCache *cache;
  SessionStep *under_way, *idle; /* idle: to be used again, so that a repeated step allocates nothing */
  const Tensor **feed_values;    /* scratch: in the order of a program's arguments */
  int64_t feed_capacity;
  atomic_bool closing; /* ends the step that is being advanced */
  int64_t timeout_ms;  /* of steps that name none; 0: none */
};

struct SessionStep {
  Session *session;
  const PreparedStep *prepared;
  ProgramInUse *program;
  ProgramRun *run; /* NULL: the session was closed */
  Step step;
  Tensor *results; /* in the program's order */
  int64_t result_capacity;
  SessionStep *previous, *next;
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
  session->kernels = kernel_table_new();
  const ProgramEnvironment environment = {.pool = session->pool,
                                          .resources = session->resources,
                                          .parallel = thread_pool_default()};
  session->functions = function_runtime_new(graph, &environment, status);
  session->cache = step_cache_new(graph, session->functions, session->kernels);
  if (session->pool && session->resources && session->functions && session->kernels && session->cache)
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

void session_finalize(Session *session) {
  if (!mutex_lock_unless_held(&session->mutex)) return;
  if (!session->closed) step_cache_finalize(session->cache);
  mutex_unlock(&session->mutex);
}

/* --- steps under way --- */

static bool take_step(Session *session, int num_results, SessionStep **step, Status *status) {
  *step = session->idle ? session->idle : mem_calloc(1, sizeof **step);
  if (!*step) return status_oom(status, "a step");
  (*step)->session = session;
  session->idle = (*step)->next;
  if (mem_grow((void **)&(*step)->results, &(*step)->result_capacity, (int64_t)num_results + 1,
               sizeof(Tensor))) {
    memset((*step)->results, 0, (size_t)num_results * sizeof(Tensor));
    (*step)->previous = NULL;
    (*step)->next = session->under_way;
    if (session->under_way) session->under_way->previous = *step;
    session->under_way = *step;
    return true;
  }
  (*step)->next = session->idle;
  session->idle = *step;
  return status_oom(status, "a step");
}

/* Its run is over. */
static void end_run(SessionStep *step) {
  if (!step->run) return;
  step->run = NULL;
  program_not_used(step->program);
  resource_manager_end_step(step->session->resources, step->step.id);
}

static void abandon_run(SessionStep *step) {
  if (step->run) program_abandon(step->run);
  end_run(step);
}

static void return_step(SessionStep *step) {
  Session *session = step->session;
  if (step->previous) {
    step->previous->next = step->next;
  } else {
    session->under_way = step->next;
  }
  if (step->next) step->next->previous = step->previous;
  step->next = session->idle;
  session->idle = step;
}

static void free_steps(SessionStep *step) {
  for (SessionStep *next; step; step = next) {
    next = step->next;
    mem_free(step->results);
    mem_free(step);
  }
}

/* --- the end of a session --- */

static void free_state(Session *session) {
  for (SessionStep *step = session->under_way; step; step = step->next) abandon_run(step);
  step_cache_free(session->cache);
  session->cache = NULL;
  kernel_table_free(session->kernels);
  session->kernels = NULL;
  function_runtime_free(session->functions);
  session->functions = NULL;
  resource_manager_free(session->resources);
  session->resources = NULL;
  buffer_pool_release(session->pool);
  session->pool = NULL;
  mem_free(session->feed_values);
  session->feed_values = NULL;
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
  free_steps(session->under_way);
  free_steps(session->idle);
  mutex_destroy(&session->mutex);
  mem_free(session);
}

int64_t session_num_programs(const Session *session) {
  return session->cache ? step_cache_num_programs(session->cache) : 0;
}

int64_t session_cached_bytes(const Session *session) {
  return session->pool ? buffer_pool_cached_bytes(session->pool) : 0;
}

/* --- what is fed --- */

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

/* Whether the values have shapes that the graph does not know, and the session takes them. Outputs that do
 * not exist are refused later. */
static bool accepts_other_shapes(const Session *session, const NodeOutput *feeds, int num_feeds,
                                 const Tensor *const *values) {
  bool known = true;
  for (int i = 0; known && i < num_feeds; i++) {
    NodeOutput feed = feeds[i];
    known = feed.index < 0 || feed.index >= feed.node->num_outputs || has_known_shape(feed, values[i]);
  }
  return !known && !session->require_shapes;
}

/* What is fed has the dtype of the output, and its shape where the session wants that. */
static bool check_feeds(const Session *session, const PreparedStep *prepared, const Tensor *const *values,
                        Status *status) {
  for (int i = 0; i < prepared->num_feeds; i++) {
    DataType expected = (DataType)dtype_base(node_output_type(prepared->feeds[i]));
    if (values[i]->dtype != expected) {
      return status_invalid(status, "Expects arg[%d] to be %s but %s is provided", i, dtype_name(expected),
                            dtype_name(values[i]->dtype));
    }
    if (session->require_shapes && !has_known_shape(prepared->feeds[i], values[i]))
      return refuse_shape(prepared->feeds[i], values[i], status);
  }
  return true;
}

/* --- steps --- */

static bool lock(Session *session, Status *status) {
  if (!mutex_lock_unless_held(&session->mutex))
    return status_set(status, CODE_FAILED_PRECONDITION, "A kernel cannot run the session in which it runs.");
  if (!session->closed) return true;
  mutex_unlock(&session->mutex);
  return status_set(status, CODE_CANCELLED, "Session has been closed.");
}

/* The graph is locked. */
static bool begin_prepared(Session *session, const PreparedStep *prepared, const Tensor *const *feed_values,
                           SessionStep *step, Status *status) {
  TRY(check_feeds(session, prepared, feed_values, status));
  if (!mem_grow((void **)&session->feed_values, &session->feed_capacity, (int64_t)prepared->num_feeds + 1,
                sizeof *session->feed_values))
    return status_oom(status, "a step");
  TRY(step_cache_use(session->cache, prepared, &step->program, status));
  for (int i = 0; i < prepared->num_feeds; i++)
    session->feed_values[i] = feed_values[prepared->feed_order[i]];
  if (program_begin(program_in_use(step->program), session->feed_values, &step->run, status)) return true;
  step->run = NULL;
  program_not_used(step->program);
  return false;
}

static bool begin_step(Session *session, const PreparedStep *prepared, const SessionRunOptions *options,
                       const Tensor *const *feed_values, SessionStep **step, Status *status) {
  TRY(take_step(session, prepared->num_fetches, step, status));
  (*step)->prepared = prepared;
  if (!begin_prepared(session, prepared, feed_values, *step, status)) {
    return_step(*step);
    return false;
  }
  int64_t timeout = options && options->timeout_ms > 0 ? options->timeout_ms : session->timeout_ms;
  step_begin(&(*step)->step, timeout, &session->closing);
  return true;
}

bool session_begin(Session *session, const SessionRunOptions *options, const StepSignature *signature,
                   const Tensor *const *feed_values, SessionStep **step, Status *status) {
  const PreparedStep *prepared;
  StepSignature asked = *signature;
  TRY(lock(session, status));
  graph_lock(session->graph);
  bool ok = step_signature_check(&asked, session->graph, status);
  if (ok) asked.any_shapes = accepts_other_shapes(session, asked.feeds, asked.num_feeds, feed_values);
  ok = ok && step_cache_prepare(session->cache, &asked, &prepared, status) &&
       begin_step(session, prepared, options, feed_values, step, status);
  graph_unlock(session->graph);
  unlock(session);
  return ok;
}

RunState session_advance(SessionStep *step, int64_t slice_ms, Tensor *fetch_values, Status *status) {
  Session *session = step->session;
  if (!mutex_lock_unless_held(&session->mutex)) {
    status_set(status, CODE_FAILED_PRECONDITION, "A kernel cannot run the session in which it runs.");
    return RUN_FAILED;
  }
  RunState state = RUN_FAILED;
  if (step->run) {
    step_set_slice(&step->step, slice_ms);
    state = program_advance(step->run, &step->step, step->results, status);
  } else {
    status_set(status, CODE_CANCELLED, "Session has been closed.");
  }
  /* What is an internal error of a call is the caller's own doing in a step: a fetch that Switch left dead.
   */
  if (state == RUN_FAILED && status->code == CODE_INTERNAL && strncmp(status->message, "Retval[", 7) == 0 &&
      strstr(status->message, "] does not have value"))
    status->code = CODE_INVALID_ARGUMENT;
  if (state != RUN_WAITING) {
    for (int i = 0; state == RUN_DONE && i < step->prepared->num_fetches; i++)
      tensor_move(&fetch_values[step->prepared->fetch_order[i]], &step->results[i]);
    end_run(step);
    return_step(step);
  }
  unlock(session);
  return state;
}

void session_abandon(SessionStep *step) {
  if (!step || !mutex_lock_unless_held(&step->session->mutex)) return;
  Session *session = step->session;
  abandon_run(step);
  return_step(step);
  unlock(session);
}

bool session_run(Session *session, const NodeOutput *feeds, const Tensor *const *feed_values, int num_feeds,
                 const NodeOutput *fetches, Tensor *fetch_values, int num_fetches, Node *const *targets,
                 int num_targets, Status *status) {
  const StepSignature signature = {.feeds = feeds,
                                   .num_feeds = num_feeds,
                                   .fetches = fetches,
                                   .num_fetches = num_fetches,
                                   .targets = targets,
                                   .num_targets = num_targets};
  SessionStep *step;
  return session_begin(session, NULL, &signature, feed_values, &step, status) &&
         session_advance(step, 0, fetch_values, status) == RUN_DONE;
}

/* --- callables --- */

struct SessionCallable {
  Session *session;
  Arena *arena;
  StepSignature signature;
  const PreparedStep *prepared[2]; /* for shapes that the graph knows, and for others; NULL: not yet made */
};

static const void *copy(Arena *arena, const void *items, int count, size_t size) {
  void *copied = arena_calloc(arena, count, size);
  if (copied && count > 0) memcpy(copied, items, (size_t)count * size);
  return copied;
}

static SessionCallable *new_callable(Session *session, const StepSignature *from) {
  Arena *arena = arena_new();
  SessionCallable *callable = arena ? arena_calloc(arena, 1, sizeof *callable) : NULL;
  if (!callable) {
    arena_free(arena);
    return NULL;
  }
  *callable = (SessionCallable){.session = session, .arena = arena, .signature = *from};
  StepSignature *to = &callable->signature;
  to->feeds = copy(arena, from->feeds, from->num_feeds, sizeof *from->feeds);
  to->fetches = copy(arena, from->fetches, from->num_fetches, sizeof *from->fetches);
  to->targets = copy(arena, from->targets, from->num_targets, sizeof(Node *));
  to->connections = copy(arena, from->connections, from->num_connections, sizeof *from->connections);
  if (to->feeds && to->fetches && to->targets && to->connections) return callable;
  arena_free(arena);
  return NULL;
}

/* The session and the graph are locked. */
static bool prepare_call(SessionCallable *callable, bool any_shapes, const PreparedStep **prepared,
                         Status *status) {
  *prepared = callable->prepared[any_shapes];
  if (*prepared) return true;
  callable->signature.any_shapes = any_shapes;
  TRY(step_cache_prepare(callable->session->cache, &callable->signature, prepared, status));
  callable->prepared[any_shapes] = *prepared;
  return true;
}

bool session_make_callable(Session *session, const StepSignature *signature, SessionCallable **callable,
                           Status *status) {
  const PreparedStep *prepared;
  *callable = new_callable(session, signature);
  if (!*callable) return status_oom(status, "a callable");
  bool ok = lock(session, status);
  if (ok) {
    graph_lock(session->graph);
    ok = step_signature_check(signature, session->graph, status) &&
         prepare_call(*callable, false, &prepared, status);
    graph_unlock(session->graph);
    unlock(session);
  }
  if (ok) return true;
  session_release_callable(*callable);
  *callable = NULL;
  return false;
}

bool session_begin_call(SessionCallable *callable, const SessionRunOptions *options,
                        const Tensor *const *feed_values, int num_feeds, SessionStep **step, Status *status) {
  Session *session = callable->session;
  const StepSignature *signature = &callable->signature;
  const PreparedStep *prepared;
  if (num_feeds != signature->num_feeds)
    return status_invalid(status, "Expected %d feed tensors, but got %d", signature->num_feeds, num_feeds);
  TRY(lock(session, status));
  graph_lock(session->graph);
  bool ok = step_signature_check(signature, session->graph, status) &&
            prepare_call(callable, accepts_other_shapes(session, signature->feeds, num_feeds, feed_values),
                         &prepared, status) &&
            begin_step(session, prepared, options, feed_values, step, status);
  graph_unlock(session->graph);
  unlock(session);
  return ok;
}

void session_release_callable(SessionCallable *callable) {
  if (callable) arena_free(callable->arena);
}
