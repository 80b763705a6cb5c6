/* Sessions. */
#include <string.h>

#include "base/alloc.h"
#include "c_api/c_api_internal.h"
#include "op/local_device.h"
#include "runtime/thread_pool.h"

struct TF_SessionOptions {
  char *target;     /* NULL: this process */
  int threads;      /* 0: not set */
  int64_t timeout;  /* of steps, in milliseconds; 0: none */
  bool unoptimized; /* graph_options.optimizer_options.opt_level is L0 */
  bool failed;      /* out of memory while options were set; TF_NewSession reports it */
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

/* There is exactly one device. */
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
