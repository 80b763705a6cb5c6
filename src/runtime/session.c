#include "runtime/session.h"

#include <string.h>

#include "base/alloc.h"
#include "runtime/session_internal.h"

Session *session_new(Graph *graph, Status *status) {
  Session *session = mem_calloc(1, sizeof *session);
  if (!session) {
    status_oom(status, "a session");
    return NULL;
  }
  session->graph = graph;
  session->config = (SessionConfig){.num_thread_pools = 1, .executor_type = ""};
  if (!mutex_init_checked(&session->mutex)) {
    mem_free(session);
    status_oom(status, "a session");
    return NULL;
  }
  session->pool = buffer_pool_new();
  if (session->pool && session_devices_new(graph, session->pool, &session->devices, status))
    session->cache = step_cache_new(graph, session->devices, &session->placed);
  if (session->cache) return session;
  session_free(session);
  status_oom(status, "a session");
  return NULL;
}

void session_optimize(Session *session, bool optimize) {
  session_devices_optimize(session->devices, optimize);
  session->keeps_nodes = !optimize;
}

void session_require_shapes(Session *session, bool required) { session->require_shapes = required; }

void session_place(Session *session, const PlacerOptions *options) {
  session->placed.options = *options;
  session_devices_set(session->devices, options->devices);
}

void session_share(Session *session, DeviceManager *manager) {
  session_devices_share(session->devices, manager);
}

void session_join(Session *session, const DeviceSet *devices) {
  session->placed.options.devices = devices;
  session_devices_join(session->devices, devices);
}

void session_set_timeout(Session *session, int64_t timeout_ms) { session->timeout_ms = timeout_ms; }

bool session_configure(Session *session, const SessionConfig *config, Status *status) {
  char *type = mem_strdup(config->executor_type, strlen(config->executor_type));
  if (!type) return status_oom(status, "a session");
  mem_free(session->executor_type);
  session->executor_type = type;
  session->config = *config;
  session->config.executor_type = type;
  return true;
}

/* --- the graph --- */

bool session_extend(Session *session, Status *status) {
  if (session->config.static_graph && session->num_node_ids > 0)
    return status_set(status, CODE_FAILED_PRECONDITION,
                      "Extending the graph is not supported when `optimize_for_static_graph` is true.");
  session->num_node_ids = graph_num_node_ids(session->graph);
  return true;
}

bool session_take_graph(Session *session, Status *status) {
  const char *type = session->config.executor_type;
  if (session->num_node_ids != graph_num_node_ids(session->graph)) TRY(session_extend(session, status));
  if (!type[0] || strcmp(type, "DEFAULT") == 0 || strcmp(type, "SINGLE_THREADED_EXECUTOR") == 0) return true;
  return status_set(status, CODE_NOT_FOUND,
                    "No executor factory registered for the given executor type: %s Registered factories are "
                    "{DEFAULT, , SINGLE_THREADED_EXECUTOR}.",
                    type);
}

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
  step_program_unref(step->program);
  session_devices_end_step(step->session->devices, step->step.id);
}

static void abandon_run(SessionStep *step) {
  step_run_abandon(step->run);
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
  for (SessionStep *step = session->under_way; step; step = step->next) {
    abandon_run(step);
    step->partial_run = NULL;
  }
  while (session->partial_runs) partial_run_functions(session->partial_runs)->end(session->partial_runs);
  step_cache_free(session->cache);
  session->cache = NULL;
  session_devices_free(session->devices);
  session->devices = NULL;
  placed_graph_free(&session->placed);
  buffer_pool_release(session->pool);
  session->pool = NULL;
  mem_free(session->feed_values);
  session->feed_values = NULL;
  mem_free(session->feed_dims);
  session->feed_dims = NULL;
}

void session_unlock(Session *session) {
  if (atomic_load(&session->closing) && !session->closed) {
    free_state(session);
    session->closed = true;
  }
  mutex_unlock(&session->mutex);
}

void session_close(Session *session) {
  atomic_store(&session->closing, true);
  if (mutex_lock_unless_held(&session->mutex))
    session_unlock(session); /* otherwise the step that is running closes it at its end */
}

void session_free(Session *session) {
  if (!session) return;
  session_close(session);
  free_steps(session->under_way);
  free_steps(session->idle);
  mutex_destroy(&session->mutex);
  mem_free(session->executor_type);
  mem_free(session);
}

int64_t session_num_programs(const Session *session) {
  return session->cache ? step_cache_num_programs(session->cache) : 0;
}

int64_t session_cached_bytes(const Session *session) {
  return session->pool ? buffer_pool_cached_bytes(session->pool) : 0;
}

/* --- feeds --- */

/* Whether the shape is compatible with the inferred shape of the output. */
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

static bool exists(NodeOutput output) { return output.index >= 0 && output.index < output.node->num_outputs; }

static bool knows_all(NodeOutput output) {
  ShapeHandle known = graph_output_shape(output);
  return known && shape_fully_defined(known);
}

static bool write_dims(Session *session, StepSignature *asked, const Tensor *const *values, Status *status) {
  int64_t count = asked->num_feeds;
  for (int i = 0; i < asked->num_feeds; i++) {
    if (values[i]->shape.rank > MOST_FED_RANK) return true;
    count += values[i]->shape.rank;
  }
  if (!mem_grow((void **)&session->feed_dims, &session->dims_capacity, count, sizeof *session->feed_dims))
    return status_oom(status, "a step");
  int64_t *to = session->feed_dims;
  for (int i = 0; i < asked->num_feeds; i++) {
    const Shape *shape = &values[i]->shape;
    *to++ = shape->rank;
    for (int d = 0; d < shape->rank; d++) *to++ = shape_dim(shape, d);
  }
  asked->feed_dims = session->feed_dims;
  asked->num_feed_dims = (int)count;
  return true;
}

/* Outputs that do not exist are refused later, as are shapes that the session does not accept. */
bool session_take_shapes(Session *session, StepSignature *asked, const Tensor *const *values,
                         Status *status) {
  bool fit = true, all_known = true;
  for (int i = 0; i < asked->num_feeds; i++) {
    if (!exists(asked->feeds[i])) continue;
    fit = fit && has_known_shape(asked->feeds[i], values[i]);
    all_known = all_known && knows_all(asked->feeds[i]);
  }
  asked->any_shapes = !fit && !session->require_shapes;
  asked->feed_dims = NULL;
  asked->num_feed_dims = 0;
  return !fit || all_known || session->keeps_nodes || write_dims(session, asked, values, status);
}

bool session_check_value(const Session *session, NodeOutput feed, int position, const Tensor *value,
                         Status *status) {
  DataType expected = (DataType)dtype_base(node_output_type(feed));
  if (value->dtype != expected) {
    return status_invalid(status, "Expects arg[%d] to be %s but %s is provided", position,
                          dtype_name(expected), dtype_name(value->dtype));
  }
  return !session->require_shapes || has_known_shape(feed, value) || refuse_shape(feed, value, status);
}

/* --- steps --- */

/* The session may be closed. */
static bool lock_any(Session *session, Status *status) {
  return mutex_lock_unless_held(&session->mutex) ||
         status_set(status, CODE_FAILED_PRECONDITION, "A kernel cannot run the session in which it runs.");
}

bool session_lock(Session *session, Status *status) {
  TRY(lock_any(session, status));
  if (!session->closed) return true;
  mutex_unlock(&session->mutex);
  return status_set(status, CODE_CANCELLED, "Session has been closed.");
}

bool session_update(Session *session, Status *status) {
  graph_lock(session->graph);
  bool grown = session->num_node_ids != graph_num_node_ids(session->graph);
  graph_unlock(session->graph);
  if (!grown) return true;
  TRY(session_lock(session, status));
  graph_lock(session->graph);
  bool ok = session_take_graph(session, status);
  graph_unlock(session->graph);
  session_unlock(session);
  return ok;
}

static bool begin_run(Session *session, StepCache *cache, const PreparedStep *prepared,
                      const Tensor *const *feed_values, TaskRendezvous *rendezvous, SessionStep *step,
                      Status *status) {
  for (int i = 0; i < prepared->num_feeds; i++)
    TRY(session_check_value(session, prepared->feeds[i], i, feed_values[i], status));
  if (!mem_grow((void **)&session->feed_values, &session->feed_capacity, (int64_t)prepared->num_feeds + 1,
                sizeof *session->feed_values))
    return status_oom(status, "a step");
  TRY(step_cache_use(cache, prepared, &step->program, status));
  for (int i = 0; i < prepared->num_feeds; i++)
    session->feed_values[i] = feed_values[prepared->feed_order[i]];
  if (step_program_begin(step->program, session->feed_values, rendezvous, &step->run, status)) return true;
  step->run = NULL;
  step_program_unref(step->program);
  return false;
}

static bool check_options(const Session *session, const SessionRunOptions *options, Status *status) {
  if (!options) return true;
  if (options->output_partition_graphs && session->config.no_partition_graphs)
    return status_invalid(status,
                          "RunOptions.output_partition_graphs() is not supported when "
                          "disable_output_partition_graphs is true.");
  int pool = options->inter_op_thread_pool;
  if (pool >= -1 && pool < session->config.num_thread_pools) return true;
  return status_invalid(status, "Invalid inter_op_thread_pool: %d", pool);
}

bool session_begin_prepared(Session *session, StepCache *cache, const PreparedStep *prepared,
                            const SessionRunOptions *options, const Tensor *const *feed_values,
                            SessionStep **step, Status *status) {
  TRY(check_options(session, options, status));
  TRY(take_step(session, prepared->num_fetches, step, status));
  if (!(*step)->next) buffer_pool_settle(session->pool); /* no other step is under way */
  (*step)->prepared = prepared;
  (*step)->partial_run = NULL;
  TaskRendezvous *rendezvous = options ? options->rendezvous : NULL;
  if (!begin_run(session, cache, prepared, feed_values, rendezvous, *step, status)) {
    return_step(*step);
    return false;
  }
  int64_t timeout = options && options->timeout_ms > 0 ? options->timeout_ms : session->timeout_ms;
  step_begin(&(*step)->step, timeout, &session->closing);
  (*step)->step.trace = options ? options->trace : NULL;
  return true;
}

bool session_begin(Session *session, const SessionRunOptions *options, const StepSignature *signature,
                   const Tensor *const *feed_values, SessionStep **step, Status *status) {
  const PreparedStep *prepared;
  StepSignature asked = *signature;
  TRY(session_lock(session, status));
  graph_lock(session->graph);
  bool ok = session_take_graph(session, status) && step_signature_check(&asked, session->graph, status);
  ok = ok && session_take_shapes(session, &asked, feed_values, status) &&
       step_cache_prepare(session->cache, &asked, &prepared, status) &&
       session_begin_prepared(session, session->cache, prepared, options, feed_values, step, status);
  graph_unlock(session->graph);
  session_unlock(session);
  return ok;
}

bool session_step_graphs(const SessionStep *step, Arena *arena, GraphDef ***graphs, int *count,
                         Status *status) {
  *count = step_program_num_parts(step->program);
  *graphs = arena_calloc(arena, *count, sizeof **graphs);
  if (!*graphs) return status_oom(status, "a GraphDef");
  for (int i = 0; i < *count; i++)
    TRY(program_to_def(step_program_part(step->program, i), step_program_device(step->program), arena,
                       &(*graphs)[i], status));
  return true;
}

static bool give_results(SessionStep *step, Tensor *fetch_values, Status *status) {
  const PreparedStep *prepared = step->prepared;
  PartialRun *run = step->partial_run;
  if (run) return partial_run_functions(run)->take(run, prepared, step->results, fetch_values, status);
  for (int i = 0; i < prepared->num_fetches; i++)
    tensor_move(&fetch_values[prepared->fetch_order[i]], &step->results[i]);
  return true;
}

/* A partial run continues unless its piece failed or was the last one. */
static void end_step(SessionStep *step, bool succeeded) {
  PartialRun *run = step->partial_run;
  end_run(step);
  if (run && (!succeeded || partial_run_functions(run)->has_ended(run))) partial_run_functions(run)->end(run);
  return_step(step);
}

RunState session_advance(SessionStep *step, int64_t slice_ms, Tensor *fetch_values, Status *status) {
  Session *session = step->session;
  RunState state = RUN_FAILED;
  if (!lock_any(session, status)) return state;
  if (step->run) {
    step_set_slice(&step->step, slice_ms);
    state = step_run_advance(step->run, &step->step, step->results, status);
  } else {
    status_set(status, CODE_CANCELLED, "Session has been closed.");
  }
  /* INTERNAL from a function call becomes INVALID_ARGUMENT for a step, because the caller caused it by
   * fetching a dead output. */
  if (state == RUN_FAILED && status->code == CODE_INTERNAL && strncmp(status->message, "Retval[", 7) == 0 &&
      strstr(status->message, "] does not have value"))
    status->code = CODE_INVALID_ARGUMENT;
  if (state == RUN_DONE && !give_results(step, fetch_values, status)) state = RUN_FAILED;
  if (state != RUN_WAITING) end_step(step, state == RUN_DONE);
  session_unlock(session);
  return state;
}

bool session_finish(SessionStep *step, Tensor *fetch_values, Status *status) {
  RunState state = session_advance(step, 0, fetch_values, status);
#if SYNC_HAS_THREADS
  while (state == RUN_WAITING) {
    thread_nap();
    state = session_advance(step, 0, fetch_values, status);
  }
#else
  /* Nothing else can run before this call returns, so the step would wait until its deadline. */
  if (state == RUN_WAITING) {
    bool has_deadline = step->step.stop.deadline != INT64_MAX;
    session_abandon(step);
    if (has_deadline) status_set(status, CODE_DEADLINE_EXCEEDED, "Timed out waiting for notification");
    else
      status_set(status, CODE_FAILED_PRECONDITION,
                 "The step waits for another step, and there is one thread");
  }
#endif
  return state == RUN_DONE;
}

bool session_step_is_blocked(const SessionStep *step) { return step->step.blocked; }

void session_abandon(SessionStep *step) {
  if (!step || !mutex_lock_unless_held(&step->session->mutex)) return;
  Session *session = step->session;
  abandon_run(step);
  end_step(step, false);
  session_unlock(session);
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
         session_finish(step, fetch_values, status);
}
