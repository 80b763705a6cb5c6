/* Session: runs parts of a graph, and owns what lives longer than a step: variables, the state of random
 * generators, the programs made so far, and the pool of buffers.
 *
 *   Session *session = session_new(graph, &status);
 *   session_run(session, &x, &x_value, 1, &y, &y_value, 1, NULL, 0, &status);
 *
 * The graph may grow between runs; programs are made again when it changed under them. One step at a time: a
 * second thread waits. A step can pause between two kernels and go on later, so that one thread can do other
 * things meanwhile; it can have a deadline; and closing the session ends it.
 */
#ifndef TFCORE_RUNTIME_SESSION_H_
#define TFCORE_RUNTIME_SESSION_H_

#include "graph/graph.h"
#include "op/step.h"

typedef struct Session Session;

/* The graph is borrowed and must outlive the session. NULL with RESOURCE_EXHAUSTED when out of memory. */
Session *session_new(Graph *graph, Status *status);
/* Without optimising, steps run every node that they need as it stands, and calls are calls. Sessions
 * optimise at first; to be set before the first run. */
void session_optimize(Session *session, bool optimize);
/* Whether values of other shapes than inference knows of the outputs that they are fed for are refused. At
 * first they are not: a step with such a value has a program that knows nothing of the shapes. */
void session_require_shapes(Session *session, bool required);
void session_free(Session *session); /* NULL is fine */
/* A deadline for steps that have none of their own, in milliseconds; 0: none. To be set before the
 * first run. */
void session_set_timeout(Session *session, int64_t timeout_ms);
/* Frees programs, variables and cached memory; later runs fail with CANCELLED "Session has been closed.". A
 * step that another thread runs ends first, with CANCELLED "Run call was cancelled" after its current kernel.
 * Called by a kernel that the session runs, it returns at once: the session is closed when the step has
 * ended. */
void session_close(Session *session);

/* Runs one step. `feed_values[i]` is the value of `feeds[i]` (borrowed). `fetch_values` (num_fetches, empty
 * at entry) get references to the results. Errors leave the session usable, the fetch values empty, and name
 * the node. */
MUST_CHECK bool session_run(Session *session, const NodeOutput *feeds, const Tensor *const *feed_values,
                            int num_feeds, const NodeOutput *fetches, Tensor *fetch_values, int num_fetches,
                            Node *const *targets, int num_targets, Status *status);

typedef struct SessionRunOptions {
  int64_t timeout_ms; /* the step ends then with DEADLINE_EXCEEDED; 0: the session's */
  int64_t slice_ms;   /* the step pauses then; 0: it runs to its end */
} SessionRunOptions;

/* As session_run, with options (NULL: none). RUN_WAITING: the step paused. Its fetch values come from
 * session_resume; until then no other step of the session can start (FAILED_PRECONDITION). */
RunState session_start(Session *session, const SessionRunOptions *options, const NodeOutput *feeds,
                       const Tensor *const *feed_values, int num_feeds, const NodeOutput *fetches,
                       Tensor *fetch_values, int num_fetches, Node *const *targets, int num_targets,
                       Status *status);
/* Goes on with the step that paused, for `slice_ms` or (0) to its end. `num_fetches` as it was started.
 * CANCELLED when the session was closed meanwhile, FAILED_PRECONDITION when no step has paused. */
RunState session_resume(Session *session, int64_t slice_ms, Tensor *fetch_values, int num_fetches,
                        Status *status);
/* Ends the step that paused, if any: what it computed is dropped, what it assigned stays. */
void session_abandon(Session *session);

/* Number of programs in the cache; bytes that the pool holds ready. For tests and memory reports. */
int64_t session_num_programs(const Session *session);
int64_t session_cached_bytes(const Session *session);

#endif
