#include "runtime/local_rendezvous.h"

#include <string.h>

#include "base/alloc.h"
#include "base/string_map.h"
#include "base/sync.h"

/* A value that waits for a receive, or a receive that waits for a value. */
typedef struct Item {
  struct Item *next; /* of the same bucket, in the order in which they came */
  Tensor value;
  bool dead;
  ReceivedFn received; /* NULL: a value */
  void *argument;
  size_t key_length;
  char key[]; /* not NUL-terminated */
} Item;

enum { NUM_BUCKETS = 64 };

struct LocalRendezvous {
  Rendezvous interface;
  Mutex mutex;
  Item *buckets[NUM_BUCKETS];
  int64_t num_events;
  bool has_had_items; /* since the last restart */
  Status aborted;     /* OK while it is not */
};

/* --- items --- */

static Item *item_new(Str key, Status *status) {
  Item *item = mem_calloc(1, (int64_t)(sizeof *item + key.length));
  if (!item) {
    status_oom(status, "a value between devices");
    return NULL;
  }
  item->key_length = key.length;
  if (key.length > 0) memcpy(item->key, key.data, key.length);
  return item;
}

static void item_free(Item *item) {
  if (!item) return;
  tensor_clear(&item->value);
  mem_free(item);
}

/* Where the first item under the key hangs, or the end of the bucket. */
static Item **find(LocalRendezvous *local, Str key) {
  Item **at = &local->buckets[hash_bytes(key.data, key.length) % NUM_BUCKETS];
  while (*at && !str_equal((Str){(*at)->key, (*at)->key_length}, key)) at = &(*at)->next;
  return at;
}

static Item *take(Item **at) {
  Item *item = *at;
  *at = item->next;
  item->next = NULL;
  return item;
}

static void append(LocalRendezvous *local, Str key, Item *item) {
  Item **at = find(local, key);
  while (*at) at = &(*at)->next;
  *at = item;
  local->has_had_items = true;
}

/* Calls who waited, if the item is a receive, and frees it. The mutex is not held. */
static void finish(Item *item, const Status *status, Tensor *value, bool dead) {
  Tensor none = {0};
  if (item->received) item->received(item->argument, status, value ? value : &none, dead);
  item_free(item);
}

static bool check_open(const LocalRendezvous *local, Status *status) {
  if (local->aborted.code == CODE_OK) return true;
  *status = local->aborted;
  return false;
}

/* --- the interface --- */

static bool send_value(void *owner, Str key, const Tensor *value, bool dead, Status *status) {
  LocalRendezvous *local = owner;
  Item *item = item_new(key, status), *receive = NULL;
  bool ok = item && (dead || tensor_assign(&item->value, value, status));
  if (ok) {
    item->dead = dead;
    mutex_lock(&local->mutex);
    ok = check_open(local, status);
    if (ok) {
      Item **first = find(local, key);
      if (*first && (*first)->received) {
        receive = take(first);
      } else {
        append(local, key, item);
      }
      local->num_events++;
    }
    mutex_unlock(&local->mutex);
  }
  if (receive) {
    Status fine;
    status_init(&fine);
    finish(receive, &fine, &item->value, dead);
  }
  if (!ok || receive) item_free(item);
  return ok;
}

static RunState take_value(void *owner, Str key, Tensor *value, bool *dead, Status *status) {
  LocalRendezvous *local = owner;
  Item *item = NULL;
  mutex_lock(&local->mutex);
  bool ok = check_open(local, status);
  if (ok) {
    Item **first = find(local, key);
    if (*first && !(*first)->received) item = take(first);
  }
  mutex_unlock(&local->mutex);
  if (!item) return ok ? RUN_WAITING : RUN_FAILED;
  *dead = item->dead;
  if (!item->dead) tensor_move(value, &item->value);
  item_free(item);
  return RUN_DONE;
}

bool local_rendezvous_receive_async(LocalRendezvous *local, Str key, ReceivedFn received, void *argument,
                                    Status *status) {
  Item *receive = item_new(key, status), *item = NULL;
  if (!receive) return false;
  receive->received = received;
  receive->argument = argument;
  Status outcome;
  status_init(&outcome);
  mutex_lock(&local->mutex);
  bool open = check_open(local, &outcome);
  Item **first = find(local, key);
  if (open && *first && !(*first)->received) item = take(first);
  bool waits = open && !item;
  if (waits) append(local, key, receive);
  mutex_unlock(&local->mutex);
  if (!waits) finish(receive, &outcome, item ? &item->value : NULL, item && item->dead);
  item_free(item);
  return true;
}

/* --- its life --- */

LocalRendezvous *local_rendezvous_new(Status *status) {
  LocalRendezvous *local = mem_calloc(1, sizeof *local);
  if (!local || !mutex_init(&local->mutex)) {
    mem_free(local);
    status_oom(status, "a rendezvous");
    return NULL;
  }
  status_init(&local->aborted);
  local->interface = (Rendezvous){.owner = local, .send = send_value, .receive = take_value};
  return local;
}

const Rendezvous *local_rendezvous_interface(LocalRendezvous *local) { return &local->interface; }

/* Empties the buckets. What waits fails with the status. */
static void drop_items(Item **buckets, const Status *status) {
  for (int i = 0; i < NUM_BUCKETS; i++) {
    while (buckets[i]) finish(take(&buckets[i]), status, NULL, false);
  }
}

static void take_items(LocalRendezvous *local, Item **buckets) {
  memcpy(buckets, local->buckets, sizeof local->buckets);
  memset(local->buckets, 0, sizeof local->buckets);
}

void local_rendezvous_abort(LocalRendezvous *local, const Status *reason) {
  Item *buckets[NUM_BUCKETS];
  mutex_lock(&local->mutex);
  take_items(local, buckets);
  if (local->aborted.code == CODE_OK) local->aborted = *reason;
  Status status = local->aborted;
  local->num_events++;
  mutex_unlock(&local->mutex);
  drop_items(buckets, &status);
}

void local_rendezvous_restart(LocalRendezvous *local) {
  if (local->num_events == 0 && !local->has_had_items) return; /* as new: every step calls this */
  Status deleted;
  status_init(&deleted);
  status_set(&deleted, CODE_CANCELLED, "LocalRendezvous deleted");
  local_rendezvous_abort(local, &deleted);
  status_init(&local->aborted);
  local->num_events = 0;
  local->has_had_items = false;
}

bool local_rendezvous_aborted(LocalRendezvous *local, Status *status) {
  mutex_lock(&local->mutex);
  bool aborted = !check_open(local, status);
  mutex_unlock(&local->mutex);
  return aborted;
}

void local_rendezvous_free(LocalRendezvous *local) {
  if (!local) return;
  local_rendezvous_restart(local);
  mutex_destroy(&local->mutex);
  mem_free(local);
}

int64_t local_rendezvous_num_events(LocalRendezvous *local) {
  mutex_lock(&local->mutex);
  int64_t count = local->num_events;
  mutex_unlock(&local->mutex);
  return count;
}
