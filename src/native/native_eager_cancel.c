/* Executors and cancellation managers of eager execution. */
#include "base/alloc.h"
#include "base/sync.h"
#include "native/native_eager.h"
#include "tensorflow/c/eager/c_api_experimental.h"

/* ---- executors ---- */

struct TFE_Executor {
  bool is_async;
};

TFE_Executor *TFE_NewExecutor(bool is_async, bool enable_streaming_enqueue, int in_flight_nodes_limit) {
  (void)enable_streaming_enqueue;
  (void)in_flight_nodes_limit;
  TFE_Executor *executor = mem_calloc(1, sizeof *executor);
  if (executor) executor->is_async = is_async;
  return executor;
}

void TFE_DeleteExecutor(TFE_Executor *executor) { mem_free(executor); }

bool TFE_ExecutorIsAsync(TFE_Executor *executor) { return executor->is_async; }

void TFE_ExecutorWaitForAllPendingNodes(TFE_Executor *executor, TF_Status *status) {
  (void)executor;
  start_status(status);
}

void TFE_ExecutorClearError(TFE_Executor *executor) { (void)executor; }

void TFE_ContextSetExecutorForThread(TFE_Context *ctx, TFE_Executor *executor) {
  atomic_store(&ctx->is_async, executor->is_async);
}

TFE_Executor *TFE_ContextGetExecutorForThread(TFE_Context *ctx) {
  return TFE_NewExecutor(atomic_load(&ctx->is_async), false, 0);
}

/* ---- cancelling ---- */

typedef struct Registration {
  TFE_CancellationToken token;
  TFE_CancelCallback callback;
} Registration;

struct TFE_CancellationManager {
  Mutex lock; /* protects the fields below */
  Cond ended; /* is_cancelled is set */
  bool is_cancelling, is_cancelled;
  TFE_CancellationToken next_token;
  Registration *registrations;
  int64_t count, capacity;
};

TFE_CancellationManager *TFE_NewCancellationManager(void) {
  TFE_CancellationManager *manager = mem_calloc(1, sizeof *manager);
  if (!manager) return NULL;
  if (mutex_init(&manager->lock)) {
    if (cond_init(&manager->ended)) return manager;
    mutex_destroy(&manager->lock);
  }
  mem_free(manager);
  return NULL;
}

void TFE_DeleteCancellationManager(TFE_CancellationManager *manager) {
  if (!manager) return;
  TFE_CancellationManagerStartCancel(manager);
  mem_free(manager->registrations);
  cond_destroy(&manager->ended);
  mutex_destroy(&manager->lock);
  mem_free(manager);
}

bool TFE_CancellationManagerIsCancelled(TFE_CancellationManager *manager) {
  mutex_lock(&manager->lock);
  bool result = manager->is_cancelled;
  mutex_unlock(&manager->lock);
  return result;
}

bool TFE_CancellationManagerIsCancelling(TFE_CancellationManager *manager) {
  mutex_lock(&manager->lock);
  bool result = manager->is_cancelling;
  mutex_unlock(&manager->lock);
  return result;
}

/* The lock must be held. */
static bool has_begun(const TFE_CancellationManager *manager) {
  return manager->is_cancelling || manager->is_cancelled;
}

void TFE_CancellationManagerStartCancel(TFE_CancellationManager *manager) {
  mutex_lock(&manager->lock);
  bool is_first = !has_begun(manager);
  if (is_first) manager->is_cancelling = true;
  mutex_unlock(&manager->lock);
  if (!is_first) return;
  /* Nothing is registered or removed any more. Callbacks may call the manager. */
  for (int64_t i = 0; i < manager->count; i++)
    manager->registrations[i].callback.callback(manager->registrations[i].callback.context);
  mutex_lock(&manager->lock);
  manager->is_cancelling = false;
  manager->is_cancelled = true;
  cond_broadcast(&manager->ended);
  mutex_unlock(&manager->lock);
}

TFE_CancellationToken TFE_CancellationManagerGetToken(TFE_CancellationManager *manager) {
  mutex_lock(&manager->lock);
  TFE_CancellationToken token = manager->next_token++;
  mutex_unlock(&manager->lock);
  return token;
}

bool TFE_CancellationManagerRegisterCallback(TFE_CancellationManager *manager, TFE_CancellationToken token,
                                             const TFE_CancelCallback *c_callback,
                                             const char *callback_name) {
  (void)callback_name;
  mutex_lock(&manager->lock);
  bool ok = !has_begun(manager) && mem_grow((void **)&manager->registrations, &manager->capacity,
                                            manager->count + 1, sizeof *manager->registrations);
  if (ok) manager->registrations[manager->count++] = (Registration){token, *c_callback};
  mutex_unlock(&manager->lock);
  return ok;
}

/* The lock must be held. */
static void remove_token(TFE_CancellationManager *manager, TFE_CancellationToken token) {
  int64_t kept = 0;
  for (int64_t i = 0; i < manager->count; i++) {
    if (manager->registrations[i].token != token) manager->registrations[kept++] = manager->registrations[i];
  }
  manager->count = kept;
}

static bool deregister(TFE_CancellationManager *manager, TFE_CancellationToken token, bool waits) {
  mutex_lock(&manager->lock);
  bool ok = !has_begun(manager);
  if (ok) remove_token(manager, token);
  while (waits && manager->is_cancelling) cond_wait(&manager->ended, &manager->lock);
  mutex_unlock(&manager->lock);
  return ok;
}

bool TFE_CancellationManagerDeregisterCallback(TFE_CancellationManager *manager,
                                               TFE_CancellationToken token) {
  return deregister(manager, token, true);
}

bool TFE_CancellationManagerTryDeregisterCallback(TFE_CancellationManager *manager,
                                                  TFE_CancellationToken token) {
  return deregister(manager, token, false);
}

void TFE_OpSetCancellationManager(TFE_Op *op, TFE_CancellationManager *cancellation_manager,
                                  TF_Status *status) {
  (void)op;
  (void)cancellation_manager;
  start_status(status);
}
