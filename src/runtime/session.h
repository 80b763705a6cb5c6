/* Session: runs parts of a graph, and owns what lives longer than a step: variables, the state of random
 * generators, the programs made so far, and the pool of buffers.
 *
 *   Session *session = session_new(graph, &status);
 *   session_run(session, &x, &x_value, 1, &y, &y_value, 1, NULL, 0, &status);
 *
 * The graph may grow between runs; programs are made again when it changed under them. A step can pause
 * between two kernels and go on later, so that one thread can do other things meanwhile, other steps of the
 * session included. A step can have a deadline; and closing the session ends it.
 */
#ifndef TFCORE_RUNTIME_SESSION_H_
#define TFCORE_RUNTIME_SESSION_H_

#include "op/step.h"
#include "placement/placer.h"
#include "runtime/client_graph.h"

typedef struct Session Session;

/* The graph is borrowed and must outlive the session. NULL with RESOURCE_EXHAUSTED when out of memory. */
Session *session_new(Graph *graph, Status *status);
/* When off, steps run every node that they need unchanged, and calls are not inlined. On by default; set it
 * before the first run. */
void session_optimize(Session *session, bool optimize);
/* Whether feeds are refused when their shape is incompatible with the inferred one. Off by default: a step
 * with such a feed has a program that assumes nothing about shapes. */
void session_require_shapes(Session *session, bool required);
/* The devices that nodes are placed on; borrowed, and immutable. Without them the devices that nodes ask for
 * are ignored. Set it before the first run. */
void session_place(Session *session, const PlacerOptions *options);
/* Abandons the steps that are under way. NULL is fine. */
void session_free(Session *session);
/* The default deadline of steps, in milliseconds; 0: none. Set it before the first run. */
void session_set_timeout(Session *session, int64_t timeout_ms);
/* Frees programs, variables and cached memory; later runs fail with CANCELLED "Session has been closed.", and
 * so do steps that have paused. A step that another thread runs ends first, with CANCELLED "Run call was
 * cancelled" after its current kernel.
 * Called by a kernel that the session runs, it returns at once: the session is closed when the step has
 * ended. */
void session_close(Session *session);

/* Runs one step. `feed_values[i]` is the value of `feeds[i]` (borrowed). `fetch_values` (num_fetches, empty
 * at entry) get references to the results. Errors leave the session usable, the fetch values empty, and name
 * the node. */
MUST_CHECK bool session_run(Session *session, const NodeOutput *feeds, const Tensor *const *feed_values,
                            int num_feeds, const NodeOutput *fetches, Tensor *fetch_values, int num_fetches,
                            Node *const *targets, int num_targets, Status *status);

/* --- steps that pause --- */

typedef struct SessionRunOptions {
  int64_t timeout_ms; /* the step then ends with DEADLINE_EXCEEDED; 0: the session's timeout */
} SessionRunOptions;

/* One step under way. Several steps of a session may be under way; each call of session_advance lets one of
 * them go on, and others wait meanwhile. */
typedef struct SessionStep SessionStep;

/* Begins what session_run does, with options (NULL for none), without running a kernel. */
MUST_CHECK bool session_begin(Session *session, const SessionRunOptions *options,
                              const StepSignature *signature, const Tensor *const *feed_values,
                              SessionStep **step, Status *status);
/* Runs kernels for `slice_ms`, or (0) to the end. On RUN_WAITING the step has paused between two kernels.
 * Else the step is gone; on RUN_DONE `fetch_values` (one per fetch, empty at entry) hold references to the
 * results. CANCELLED when the session was closed meanwhile. */
RunState session_advance(SessionStep *step, int64_t slice_ms, Tensor *fetch_values, Status *status);
/* Ends a step: what it computed is dropped, what it assigned stays. NULL is fine. */
void session_abandon(SessionStep *step);

/* --- callables --- */

/* A step that was looked up, checked and compiled once. */
typedef struct SessionCallable SessionCallable;

MUST_CHECK bool session_make_callable(Session *session, const StepSignature *signature,
                                      SessionCallable **callable, Status *status);
/* As session_begin. The values are in the order of the signature's feeds. */
MUST_CHECK bool session_begin_call(SessionCallable *callable, const SessionRunOptions *options,
                                   const Tensor *const *feed_values, int num_feeds, SessionStep **step,
                                   Status *status);
/* Before the session is freed. Steps of it that are under way go on. NULL is fine. */
void session_release_callable(SessionCallable *callable);

/* From then on only callables, and requests that have been served, can run; others fail with
 * FAILED_PRECONDITION. */
void session_finalize(Session *session);

/* The number of cached programs, and the bytes that the pool holds for reuse. For tests and memory
 * reports. */
int64_t session_num_programs(const Session *session);
int64_t session_cached_bytes(const Session *session);

#endif
