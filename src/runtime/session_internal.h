/* Declarations shared by the files of a session: session.c, session_callable.c, partial_run.c. */
#ifndef TFCORE_RUNTIME_SESSION_INTERNAL_H_
#define TFCORE_RUNTIME_SESSION_INTERNAL_H_

#include <stdatomic.h>

#include "base/sync.h"
#include "runtime/partial_run.h"
#include "runtime/placed_graph.h"
#include "runtime/session.h"
#include "runtime/step_cache.h"

struct Session {
  Graph *graph;
  Mutex mutex; /* error-checking: a registered kernel may try to run or close the session that runs it */
  bool closed;
  bool require_shapes;
  SessionConfig config;
  char *executor_type;  /* the memory of config.executor_type */
  int64_t num_node_ids; /* of the graph, at the last request; 0: there was none */
  BufferPool *pool;
  SessionDevices *devices;
  PlacedGraph placed;
  StepCache *cache;
  PartialRun *partial_runs;      /* a list of those that have not ended */
  int64_t num_partial_runs;      /* how many have been set up; handles contain this number */
  SessionStep *under_way, *idle; /* idle steps are reused, so that a repeated step allocates nothing */
  const Tensor **feed_values;    /* scratch: in the order of a program's arguments */
  int64_t feed_capacity;
  int64_t *feed_dims; /* scratch: of a signature */
  int64_t dims_capacity;
  bool keeps_nodes;    /* steps are not optimized */
  atomic_bool closing; /* ends the step that is being advanced */
  int64_t timeout_ms;  /* the default for steps without a timeout; 0: none */
};

struct SessionStep {
  Session *session;
  const PreparedStep *prepared;
  StepProgram *program;
  StepRun *run; /* NULL: the session was closed */
  Step step;
  PartialRun *partial_run; /* whose piece it is; NULL for other steps */
  Tensor *results;         /* in the program's order */
  int64_t result_capacity;
  SessionStep *previous, *next;
};

/* CANCELLED when the session is closed; FAILED_PRECONDITION when called by a kernel that the session runs. */
MUST_CHECK bool session_lock(Session *session, Status *status);
/* Unlocks the mutex. Closes the session if a kernel requested that while the mutex was locked. */
void session_unlock(Session *session);

/* The caller of the following functions has locked the session and its graph. */

/* Each request begins with this: calls session_extend when the graph has grown, and checks the executor type.
 */
MUST_CHECK bool session_take_graph(Session *session, Status *status);

enum { MOST_FED_RANK = 8 }; /* of values whose sizes are in a signature */

/* Describes the shapes of the values that are fed: `any_shapes`, if one is incompatible with the inferred
 * shape, and the session accepts it; `feed_dims`, which point into the session, if the graph does not know
 * all sizes, so that steps can be optimized for them. */
MUST_CHECK bool session_take_shapes(Session *session, StepSignature *asked, const Tensor *const *values,
                                    Status *status);
/* INVALID_ARGUMENT unless the value has the dtype of the output that it replaces and, if the session requires
 * it, a compatible shape. */
MUST_CHECK bool session_check_value(const Session *session, NodeOutput feed, int position,
                                    const Tensor *value, Status *status);
/* Begins a step that runs a program of `cache`. */
MUST_CHECK bool session_begin_prepared(Session *session, StepCache *cache, const PreparedStep *prepared,
                                       const SessionRunOptions *options, const Tensor *const *feed_values,
                                       SessionStep **step, Status *status);

/* What a session does with a partial run. A run begins with a pointer to its functions, because partial_run.c
 * is in a part of the engine that is only there when a run has been set up (op/engine_parts.h). */
typedef struct PartialRunFunctions {
  /* Takes over the results of a piece, which are in the program's order, and sets the fetch values. On
   * failure the caller ends the partial run. */
  bool (*take)(PartialRun *run, const PreparedStep *prepared, Tensor *results, Tensor *fetch_values,
               Status *status);
  /* Whether everything has been fed and fetched. */
  bool (*has_ended)(const PartialRun *run);
  /* Ends a partial run. None of its pieces may be running. */
  void (*end)(PartialRun *run);
} PartialRunFunctions;

static inline const PartialRunFunctions *partial_run_functions(const PartialRun *run) {
  return *(const PartialRunFunctions *const *)run;
}

#endif
