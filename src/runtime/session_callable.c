/* Steps that are looked up, checked and compiled once. */
#include <string.h>

#include "base/arena.h"
#include "runtime/remote_graphs.h"
#include "runtime/session_internal.h"

struct SessionCallable {
  Session *session;
  Arena *arena;
  StepSignature signature;
  const PreparedStep *prepared[2]; /* [0]: for the inferred shapes, [1]: for any shapes; NULL: not made yet */
  /* For the shapes of the values of the last call, if it had its own; NULL: no call had. */
  const PreparedStep *shaped;
  int64_t *dims; /* room for feed_dims of a signature */
  int num_dims;
};

static bool new_callable(Session *session, const StepSignature *signature, SessionCallable **callable,
                         Status *status) {
  Arena *arena = arena_new();
  *callable = arena ? arena_calloc(arena, 1, sizeof **callable) : NULL;
  if (*callable) {
    int64_t words = (int64_t)signature->num_feeds * (1 + MOST_FED_RANK);
    (*callable)->dims = arena_calloc(arena, words, sizeof *(*callable)->dims);
    if ((*callable)->dims && step_signature_copy(signature, arena, &(*callable)->signature, status)) {
      (*callable)->session = session;
      (*callable)->arena = arena;
      return true;
    }
  }
  arena_free(arena);
  *callable = NULL;
  return status_oom(status, "a callable");
}

/* The caller has locked the session and the graph. */
static bool prepare_call(SessionCallable *callable, bool any_shapes, const PreparedStep **prepared,
                         Status *status) {
  *prepared = callable->prepared[any_shapes];
  if (*prepared) return true;
  callable->signature.any_shapes = any_shapes;
  TRY(step_cache_prepare(callable->session->cache, &callable->signature, prepared, status));
  callable->prepared[any_shapes] = *prepared;
  return true;
}

/* The same for the values of a call. */
static bool prepare_values(SessionCallable *callable, const Tensor *const *values,
                           const PreparedStep **prepared, Status *status) {
  StepSignature asked = callable->signature;
  TRY(session_take_shapes(callable->session, &asked, values, status));
  if (!asked.feed_dims) return prepare_call(callable, asked.any_shapes, prepared, status);
  size_t size = (size_t)asked.num_feed_dims * sizeof *asked.feed_dims;
  *prepared = callable->shaped;
  if (*prepared && callable->num_dims == asked.num_feed_dims &&
      memcmp(callable->dims, asked.feed_dims, size) == 0)
    return true;
  TRY(step_cache_prepare(callable->session->cache, &asked, prepared, status));
  callable->shaped = *prepared;
  callable->num_dims = asked.num_feed_dims;
  memcpy(callable->dims, asked.feed_dims, size);
  return true;
}

bool session_make_callable(Session *session, const StepSignature *signature, SessionCallable **callable,
                           Status *status) {
  const PreparedStep *prepared;
  TRY(new_callable(session, signature, callable, status));
  bool ok = session_lock(session, status);
  if (ok) {
    graph_lock(session->graph);
    ok = session_take_graph(session, status) && step_signature_check(signature, session->graph, status) &&
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
  bool ok = session_take_graph(session, status) && step_signature_check(signature, session->graph, status) &&
            prepare_values(callable, feed_values, &prepared, status) &&
            session_begin_prepared(session, session->cache, prepared, options, feed_values, step, status);
  graph_unlock(session->graph);
  session_unlock(session);
  return ok;
}

bool session_remote_graphs(SessionCallable *callable, Arena *arena, GraphDef ***graphs, const char ***devices,
                           int *count, Status *status) {
  Session *session = callable->session;
  const PreparedStep *prepared;
  StepProgram *program = NULL;
  TRY(session_lock(session, status));
  graph_lock(session->graph);
  bool ok = session_take_graph(session, status) && prepare_call(callable, false, &prepared, status) &&
            step_cache_use(session->cache, prepared, &program, status) &&
            remote_graphs_export(program, session->graph, arena, graphs, devices, count, status);
  step_program_unref(program);
  graph_unlock(session->graph);
  session_unlock(session);
  return ok;
}

void session_release_callable(SessionCallable *callable) {
  if (callable) arena_free(callable->arena);
}
