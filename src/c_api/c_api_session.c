/* Sessions. */
#include <string.h>

#include "base/alloc.h"
#include "base/sync.h"
#include "c_api/c_api_internal.h"
#include "runtime/thread_pool.h"

struct TF_SessionOptions {
  char *target;    /* NULL: this process */
  int threads;     /* 0: not set */
  int64_t timeout; /* of steps, in milliseconds; 0: none */
  int cpus;        /* how many devices; 1 unless device_count says otherwise */
  bool soft_placement, log_placement;
  bool isolated;    /* with its own resources on shared devices */
  bool unoptimized; /* graph_options.optimizer_options.opt_level is L0 */
  SessionConfig config;
  char *executor_type; /* NULL: none given; else the memory of config.executor_type */
  bool failed;         /* out of memory while options were set; TF_NewSession reports it */
};

TF_SessionOptions *TF_NewSessionOptions(void) {
  TF_SessionOptions *options = mem_calloc(1, sizeof *options);
  if (!options) return NULL;
  options->cpus = 1;
  options->config = (SessionConfig){.num_thread_pools = 1, .executor_type = ""};
  return options;
}

void TF_SetTarget(TF_SessionOptions *options, const char *target) {
  mem_free(options->target);
  options->target = mem_strdup(target, strlen(target));
  options->failed = !options->target;
}

/* Other types have no devices here, however many are asked for; so it is in a TensorFlow without them. */
static int count_cpus(const ConfigProto *config) {
  int count = 1;
  for (size_t i = 0; i < config->n_device_count; i++) {
    if (strcmp(config->device_count[i]->key, KERNEL_DEVICE_TYPE) == 0) count = config->device_count[i]->value;
  }
  return count;
}

static bool read_experimental(const ConfigProto *config, TF_SessionOptions *options, Status *status) {
  const Tensorflow__ConfigProto__Experimental *experimental = config->experimental;
  size_t pools = config->n_session_inter_op_thread_pool;
  options->config = (SessionConfig){.num_thread_pools = pools > 0 ? (int)pools : 1, .executor_type = ""};
  if (!experimental) return true;
  options->config.static_graph =
      experimental->optimize_for_static_graph && !experimental->disable_optimize_for_static_graph;
  options->config.no_partition_graphs = experimental->disable_output_partition_graphs;
  mem_free(options->executor_type);
  options->executor_type = mem_strdup(experimental->executor_type, strlen(experimental->executor_type));
  if (!options->executor_type) return status_oom(status, "session options");
  options->config.executor_type = options->executor_type;
  return true;
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
    options->cpus = count_cpus(config);
    options->soft_placement = config->allow_soft_placement;
    options->log_placement = config->log_device_placement;
    options->isolated = config->isolate_session_state;
    options->threads = config->intra_op_parallelism_threads;
    options->unoptimized = graph && graph->optimizer_options &&
                           graph->optimizer_options->opt_level == TENSORFLOW__OPTIMIZER_OPTIONS__LEVEL__L0;
    reported(read_experimental(config, options, &status->status));
  }
  arena_free(arena);
}

void TF_DeleteSessionOptions(TF_SessionOptions *options) {
  if (!options) return;
  mem_free(options->target);
  mem_free(options->executor_type);
  mem_free(options);
}

static bool check_options(const TF_SessionOptions *options, Status *status) {
  if (options->failed) return status_oom(status, "session options");
  if (options->target && options->target[0] != '\0') {
    return status_set(status, CODE_NOT_FOUND,
                      "No session factory registered for the given session options: {target: \"%s\" config: "
                      "} "
                      "Registered factories are "
                      "{DIRECT_SESSION}.",
                      options->target);
  }
  if (options->cpus > 0) return true;
  return status_set(status, CODE_NOT_FOUND, "No %s devices are available in this process",
                    KERNEL_DEVICE_TYPE);
}

/* The devices of the manager (NULL: new ones). */
static bool get_devices(const TF_SessionOptions *options, const DeviceManager *manager, DeviceSet **devices,
                        Status *status) {
  if (!manager) return device_set_new(LOCAL_TASK, options ? options->cpus : 1, devices, status);
  *devices = device_set_ref(device_manager_devices(manager));
  return true;
}

static bool open_session(TF_Session *session, TF_Graph *graph, const TF_SessionOptions *options,
                         DeviceManager *manager, Status *status) {
  TRY(get_devices(options, manager, &session->devices, status));
  lock_graph(graph);
  session->session = session_new(graph->graph, status);
  unlock_graph(graph);
  if (!session->session) return false;
  PlacerOptions placer = {.devices = session->devices};
  if (options) {
    placer.allow_soft_placement = options->soft_placement;
    placer.log_device_placement = options->log_placement;

    session_optimize(session->session, !options->unoptimized);
    session_set_timeout(session->session, options->timeout);
    if (options->threads > 0) thread_pool_set_default_size(options->threads);
    if (!session_configure(session->session, &options->config, status)) {
      session_free(session->session);
      return false;
    }
  }
  session_place(session->session, &placer);
  if (manager && !(options && options->isolated)) session_share(session->session, manager);
  session->graph = graph;
  graph_reference(graph);
  return true;
}

/* --- all sessions, for TF_Reset --- */

static Mutex sessions_mutex = MUTEX_INIT;
static TF_Session *all_sessions;

static void list_session(TF_Session *session) {
  mutex_lock(&sessions_mutex);
  session->next = all_sessions;
  if (all_sessions) all_sessions->previous = session;
  all_sessions = session;
  mutex_unlock(&sessions_mutex);
}

static void unlist_session(TF_Session *session) {
  mutex_lock(&sessions_mutex);
  if (session->previous) session->previous->next = session->next;
  else all_sessions = session->next;
  if (session->next) session->next->previous = session->previous;
  mutex_unlock(&sessions_mutex);
}

/* Each session has its own resources, which closing it frees; so the containers make no difference. */
void TF_Reset(const TF_SessionOptions *opt, const char **containers, int ncontainers, TF_Status *status) {
  (void)containers;
  (void)ncontainers;
  start_status(status);
  if (opt && !check_options(opt, &status->status)) return;
  mutex_lock(&sessions_mutex);
  for (TF_Session *session = all_sessions; session; session = session->next) session_close(session->session);
  mutex_unlock(&sessions_mutex);
}

/* --- one session --- */

TF_Session *new_session(TF_Graph *graph, const TF_SessionOptions *opts, DeviceManager *manager,
                        TF_Status *status) {
  start_status(status);
  if (opts && !check_options(opts, &status->status)) return NULL;
  TF_Session *session = mem_calloc(1, sizeof *session);
  if (!session) {
    status_oom(&status->status, "a session");
    return NULL;
  }
  if (open_session(session, graph, opts, manager, &status->status)) {
    list_session(session);
    return session;
  }
  device_set_unref(session->devices);
  mem_free(session);
  return NULL;
}

TF_Session *TF_NewSession(TF_Graph *graph, const TF_SessionOptions *opts, TF_Status *status) {
  return new_session(graph, opts, NULL, status);
}

void TF_CloseSession(TF_Session *session, TF_Status *status) {
  start_status(status);
  session_close(session->session);
}

void TF_DeleteSession(TF_Session *session, TF_Status *status) {
  start_status(status);
  if (!session) return;
  unlist_session(session);
  session_free(session->session);
  device_set_unref(session->devices);
  TF_DeleteGraph(session->graph);
  mem_free(session);
}

void TF_ExtendSession(TF_Session *session, TF_Status *status) {
  start_status(status);
  reported(session_update(session->session, &status->status));
}
