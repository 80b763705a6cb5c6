#include "runtime/task_rendezvous.h"

#include <string.h>

#include "base/alloc.h"
#include "base/sync.h"
#include "device/rendezvous_key.h"

/* A key that was noted. */
typedef struct WantedKey {
  struct WantedKey *next;
  bool told;
  size_t length;
  char text[];
} WantedKey;

struct TaskRendezvous {
  Rendezvous interface;
  LocalRendezvous *local;
  const char *task; /* the memory of this object */
  size_t task_length;
  Mutex mutex;
  WantedKey *wanted; /* in the order in which they were noted */
};

/* "/job:worker/replica:0/task:1" is no task of "/job:worker/replica:0/task:12". */
static bool is_own(const TaskRendezvous *r, Str device) {
  return device.length > r->task_length && memcmp(device.data, r->task, r->task_length) == 0 &&
         device.data[r->task_length] == '/';
}

static WantedKey **find(TaskRendezvous *r, Str key) {
  WantedKey **at = &r->wanted;
  while (*at && !str_equal((Str){(*at)->text, (*at)->length}, key)) at = &(*at)->next;
  return at;
}

static bool note(TaskRendezvous *r, Str key, Status *status) {
  mutex_lock(&r->mutex);
  WantedKey **at = find(r, key);
  bool ok = *at;
  if (!ok) {
    WantedKey *added = mem_calloc(1, (int64_t)(sizeof *added + key.length));
    ok = added || status_oom(status, "a value from another task");
    if (ok) {
      added->length = key.length;
      memcpy(added->text, key.data, key.length);
      *at = added;
    }
  }
  mutex_unlock(&r->mutex);
  return ok;
}

static void forget(TaskRendezvous *r, Str key) {
  mutex_lock(&r->mutex);
  WantedKey **at = find(r, key), *found = *at;
  if (found) *at = found->next;
  mem_free(found);
  mutex_unlock(&r->mutex);
}

static bool send_value(void *owner, Str key, const Tensor *value, bool dead, Status *status) {
  const Rendezvous *local = local_rendezvous_interface(((TaskRendezvous *)owner)->local);
  return local->send(local->owner, key, value, dead, status);
}

static RunState receive_value(void *owner, Str key, Tensor *value, bool *dead, Status *status) {
  TaskRendezvous *r = owner;
  const Rendezvous *local = local_rendezvous_interface(r->local);
  RendezvousKey parsed;
  RunState state = local->receive(local->owner, key, value, dead, status);
  if (state == RUN_FAILED || !rendezvous_key_parse(key, &parsed, status)) return RUN_FAILED;
  if (is_own(r, parsed.source_text)) return state;
  if (state == RUN_DONE) forget(r, key);
  else if (!note(r, key, status)) state = RUN_FAILED;
  return state;
}

TaskRendezvous *task_rendezvous_new(const char *task, Status *status) {
  size_t length = strlen(task);
  TaskRendezvous *r = mem_calloc(1, (int64_t)(sizeof *r + length + 1));
  if (!r || !mutex_init(&r->mutex)) {
    mem_free(r);
    status_oom(status, "a rendezvous");
    return NULL;
  }
  memcpy(r + 1, task, length);
  r->task = (const char *)(r + 1);
  r->task_length = length;
  r->interface = (Rendezvous){.owner = r, .send = send_value, .receive = receive_value};
  r->local = local_rendezvous_new(status);
  if (r->local) return r;
  task_rendezvous_free(r);
  return NULL;
}

void task_rendezvous_free(TaskRendezvous *r) {
  if (!r) return;
  local_rendezvous_free(r->local);
  for (WantedKey *next; r->wanted; r->wanted = next) {
    next = r->wanted->next;
    mem_free(r->wanted);
  }
  mutex_destroy(&r->mutex);
  mem_free(r);
}

LocalRendezvous *task_rendezvous_local(TaskRendezvous *r) { return r->local; }

const Rendezvous *task_rendezvous_interface(TaskRendezvous *r) { return &r->interface; }

bool task_rendezvous_next_wanted(TaskRendezvous *r, StrBuf *key, Status *status) {
  mutex_lock(&r->mutex);
  WantedKey *at = r->wanted;
  while (at && at->told) at = at->next;
  if (at) {
    at->told = true;
    strbuf_append_bytes(key, at->text, at->length);
  }
  mutex_unlock(&r->mutex);
  return strbuf_ok(key, status);
}
