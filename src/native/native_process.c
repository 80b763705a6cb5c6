/* What concerns the process: the log, a compiler's settings, ports, and servers, which there are none of. */
#include <netinet/in.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/log.h"
#include "c_api/c_api_internal.h"
#include "tensorflow/c/c_api_experimental.h"

/* ---- the log ---- */

typedef struct Listener {
  void (*listen)(const char *line);
  struct Listener *next;
} Listener;

static _Atomic(Listener *)
    listeners; /* the latest first; as in TensorFlow they stay until the process ends */

static void tell_listeners(void *arg, const char *line) {
  (void)arg;
  for (const Listener *listener = atomic_load(&listeners); listener; listener = listener->next)
    listener->listen(line);
}

void TF_RegisterLogListener(void (*listener)(const char *)) {
  Listener *added = malloc(sizeof *added); /* not from the engine, which counts what it has not freed */
  if (!added) return;
  *added = (Listener){listener, atomic_load(&listeners)};
  while (!atomic_compare_exchange_weak(&listeners, &added->next, added)) continue;
  log_set_sink(tell_listeners, NULL);
}

/* ---- a compiler ---- */

static atomic_bool is_lazy = true, is_cpu_jit, is_auto_jit, folds_no_constants;

unsigned char TF_SetXlaEnableLazyCompilation(unsigned char enable) {
  return atomic_exchange(&is_lazy, enable != 0);
}

unsigned char TF_SetTfXlaCpuGlobalJit(unsigned char enable) {
  return atomic_exchange(&is_cpu_jit, enable != 0);
}

void TF_SetXlaAutoJitMode(const char *mode) {
  static const char single[] = "single-gpu(";
  const char *level = text_starts_with(mode, single) ? mode + strlen(single) : mode;
  char *end;
  long number = strtol(level, &end, 10);
  if (strcmp(mode, "fusible") == 0) atomic_store(&is_auto_jit, true);
  else if (end != level && strcmp(end, level == mode ? "" : ")") == 0) atomic_store(&is_auto_jit, number > 0);
}

unsigned char TF_GetXlaAutoJitEnabled(void) { return atomic_load(&is_auto_jit); }

void TF_SetXlaMinClusterSize(int size) { (void)size; }

unsigned char TF_GetXlaConstantFoldingDisabled(void) { return atomic_load(&folds_no_constants); }

void TF_SetXlaConstantFoldingDisabled(unsigned char should_enable) {
  atomic_store(&folds_no_constants, should_enable != 0);
}

/* ---- the process ---- */

void TF_MakeInternalErrorStatus(TF_Status *status, const char *errMsg) {
  TF_SetStatus(status, TF_INTERNAL, errMsg);
}

void TF_InitMain(const char *usage, int *argc, char ***argv) {
  (void)usage;
  (void)argc;
  (void)argv;
}

int TF_PickUnusedPortOrDie(void) {
  struct sockaddr_in address = {.sin_family = AF_INET};
  socklen_t length = sizeof address;
  int port = 0, handle = socket(AF_INET, SOCK_STREAM, 0);
  if (handle < 0) return 0;
  if (bind(handle, (struct sockaddr *)&address, sizeof address) == 0 &&
      getsockname(handle, (struct sockaddr *)&address, &length) == 0)
    port = ntohs(address.sin_port);
  close(handle);
  return port;
}

/* ---- other processes ---- */

static void refuse(const char *what, TF_Status *status) {
  start_status(status);
  status_set(&status->status, CODE_UNIMPLEMENTED, "%s not supported", what);
}

TF_Server *TF_NewServer(const void *proto, size_t proto_len, TF_Status *status) {
  (void)proto;
  (void)proto_len;
  refuse("Server functionality is", status);
  return NULL;
}

void TF_ServerStart(TF_Server *server, TF_Status *status) {
  (void)server;
  refuse("Server functionality is", status);
}

void TF_ServerStop(TF_Server *server, TF_Status *status) {
  (void)server;
  refuse("Server functionality is", status);
}

void TF_ServerJoin(TF_Server *server, TF_Status *status) {
  (void)server;
  refuse("Server functionality is", status);
}

const char *TF_ServerTarget(TF_Server *server) {
  (void)server;
  return NULL;
}

void TF_DeleteServer(TF_Server *server) { (void)server; }

void TF_RegisterFilesystemPlugin(const char *plugin_filename, TF_Status *status) {
  (void)plugin_filename;
  refuse("FileSystem plugin functionality is", status);
}

TF_Buffer *TFE_GetServerDef(const char *text_proto, TF_Status *status) {
  (void)text_proto;
  refuse("Server functionality is", status);
  return NULL;
}

void TFE_ContextSetServerDef(TFE_Context *ctx, int keep_alive_secs, const void *proto, size_t proto_len,
                             TF_Status *status) {
  (void)ctx;
  (void)keep_alive_secs;
  (void)proto;
  (void)proto_len;
  refuse("TFE_ContextSetServerDef is", status);
}

void TFE_EnableCollectiveOps(TFE_Context *ctx, const void *proto, size_t proto_len, TF_Status *status) {
  (void)ctx;
  (void)proto;
  (void)proto_len;
  refuse("Collective operations are", status);
}

void TFE_AbortCollectiveOps(TFE_Context *ctx, TF_Status *status) {
  (void)ctx;
  refuse("Collective operations are", status);
}

void TFE_CollectiveOpsCheckPeerHealth(TFE_Context *ctx, const char *task, int64_t timeout_in_ms,
                                      TF_Status *status) {
  (void)ctx;
  (void)task;
  (void)timeout_in_ms;
  refuse("Collective operations are", status);
}
