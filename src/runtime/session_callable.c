/* Steps that are looked up, checked and compiled once. */
#include <string.h>

#include "base/arena.h"
#include "runtime/session_internal.h"

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
  bool ok = session_lock(session, status);
  if (ok) {
    graph_lock(session->graph);
    ok = step_signature_check(signature, session->graph, status) &&
         prepare_call(*callable, false, &prepared, status);
    graph_unlock(session->graph);
    session_unlock(session);
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
  TRY(session_lock(session, status));
  graph_lock(session->graph);
  bool ok =
      step_signature_check(signature, session->graph, status) &&
      prepare_call(callable, session_accepts_other_shapes(session, signature->feeds, num_feeds, feed_values),
                   &prepared, status) &&
      session_begin_prepared(session, session->cache, prepared, options, feed_values, step, status);
  graph_unlock(session->graph);
  session_unlock(session);
  return ok;
}

void session_release_callable(SessionCallable *callable) {
  if (callable) arena_free(callable->arena);
}
