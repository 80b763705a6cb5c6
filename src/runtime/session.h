/* Session: runs parts of a graph. It owns everything that outlives a step: variables, the state of random
 * generators, cached programs, and the pool of buffers.
 *
 *   Session *session = session_new(graph, &status);
 *   session_run(session, &x, &x_value, 1, &y, &y_value, 1, NULL, 0, &status);
 *
 * The graph may grow between runs. A program is compiled again when its graph has changed. A step can pause
 * between two kernels and continue later, so that its thread can do other work in between, including other
 * steps of the session. A step can have a deadline. Closing the session ends its steps.
 */
#ifndef TFCORE_RUNTIME_SESSION_H_
#define TFCORE_RUNTIME_SESSION_H_

#include "op/step.h"
#include "placement/placer.h"
#include "runtime/client_graph.h"
#include "runtime/device_manager.h"
#include "runtime/step_trace.h"
#include "runtime/task_rendezvous.h"

typedef struct Session Session;

/* The graph is borrowed and must outlive the session. NULL with RESOURCE_EXHAUSTED when out of memory. */
Session *session_new(Graph *graph, Status *status);
/* Without optimization, a step runs every node that it needs unchanged, and calls are not inlined. On by
 * default; set it before the first run. */
void session_optimize(Session *session, bool optimize);
/* Whether the session refuses feeds whose shape is incompatible with the inferred one. Off by default: a step
 * with such a feed runs a program that assumes nothing about shapes. */
void session_require_shapes(Session *session, bool required);
/* The devices that nodes are placed on; borrowed, and immutable. Without them the devices that nodes ask for
 * are ignored. Set it before the first run. */
void session_place(Session *session, const PlacerOptions *options);
/* The session computes on the devices of a manager (which are to be those of session_place), and shares the
 * resources on them with other sessions. Takes a reference. Call it before the first run. */
void session_share(Session *session, DeviceManager *manager);
/* Nodes may be on devices of other tasks: `devices` (borrowed, and immutable) begins with those of the
 * session. The caller has these tasks run session_remote_graphs. Call it behind session_share. */
void session_join(Session *session, const DeviceSet *devices);
/* What a ConfigProto says besides. Set it before the first run. */
typedef struct SessionConfig {
  int num_thread_pools;      /* that steps may ask for, at least 1; they all run on the same threads */
  bool static_graph;         /* nodes that are added after the first request are refused */
  bool no_partition_graphs;  /* steps that ask for their graphs are refused */
  const char *executor_type; /* "", "DEFAULT" or "SINGLE_THREADED_EXECUTOR"; with others nothing runs */
} SessionConfig;
/* The texts are copied. */
MUST_CHECK bool session_configure(Session *session, const SessionConfig *config, Status *status);
/* Takes in nodes that were added to the graph. Requests call it when there are some. FAILED_PRECONDITION for
 * a static graph, unless this is the first call. */
MUST_CHECK bool session_extend(Session *session, Status *status);
/* Calls session_extend now if the graph has grown. CANCELLED when the session is closed. */
MUST_CHECK bool session_update(Session *session, Status *status);
/* Abandons the steps that are under way. NULL is fine. */
void session_free(Session *session);
/* The default deadline of steps, in milliseconds; 0: none. Set it before the first run. */
void session_set_timeout(Session *session, int64_t timeout_ms);
/* Frees programs, variables and cached memory. Later runs and paused steps fail with CANCELLED "Session has
 * been closed.". If another thread runs a step, that step ends first: after its current kernel, with
 * CANCELLED "Run call was cancelled".
 * When a kernel that the session runs calls this, it returns at once, and the session closes at the end of
 * the step. */
void session_close(Session *session);

/* Runs one step. `feed_values[i]` is the value of `feeds[i]` (borrowed). `fetch_values` (num_fetches, empty
 * at entry) get references to the results. An error names the node. It leaves the session usable and the
 * fetch values empty. */
MUST_CHECK bool session_run(Session *session, const NodeOutput *feeds, const Tensor *const *feed_values,
                            int num_feeds, const NodeOutput *fetches, Tensor *fetch_values, int num_fetches,
                            Node *const *targets, int num_targets, Status *status);

/* --- steps that pause --- */

typedef struct SessionRunOptions {
  int64_t timeout_ms;           /* a longer step ends with DEADLINE_EXCEEDED; 0: the session's timeout */
  int32_t inter_op_thread_pool; /* -1 (the calling thread) or one of the session's; else INVALID_ARGUMENT */
  bool output_partition_graphs; /* session_step_graphs will be called; INVALID_ARGUMENT if that is disabled */
  StepTrace *trace;             /* records the step, which it outlives; NULL: nothing is recorded */
  TaskRendezvous *rendezvous;   /* with other tasks, as for step_program_begin; it outlives the step */
} SessionRunOptions;

/* A step that has begun and has not ended. A session may have several of them. A call of session_advance
 * continues one step; the others wait until it returns. */
typedef struct SessionStep SessionStep;

/* Begins a step as session_run does, with options (NULL for none), but runs no kernel. */
MUST_CHECK bool session_begin(Session *session, const SessionRunOptions *options,
                              const StepSignature *signature, const Tensor *const *feed_values,
                              SessionStep **step, Status *status);
/* Runs kernels for `slice_ms`, or (0) to the end. On RUN_WAITING the step has paused between two kernels.
 * Otherwise the step has been freed; on RUN_DONE `fetch_values` (one per fetch, empty at entry) hold
 * references to the results. CANCELLED when the session was closed since the last call. */
RunState session_advance(SessionStep *step, int64_t slice_ms, Tensor *fetch_values, Status *status);
/* Runs the step to its end; while it is blocked, other threads have to run the step that it waits for.
 * Without threads a blocked step fails at once: DEADLINE_EXCEEDED if it has a deadline, otherwise
 * FAILED_PRECONDITION. False on failure. */
MUST_CHECK bool session_finish(SessionStep *step, Tensor *fetch_values, Status *status);
/* Whether a paused step is blocked (op/step.h): unless another step or thread acts, advancing it runs
 * nothing. With a slice of 0, session_advance pauses a blocked step, too. */
bool session_step_is_blocked(const SessionStep *step);
/* The graphs that the step runs, one for each device, as GraphDefs in `arena`. All nodes have a device. */
MUST_CHECK bool session_step_graphs(const SessionStep *step, Arena *arena, GraphDef ***graphs, int *count,
                                    Status *status);
/* Ends a step and drops its values. Variables keep what the step assigned to them. NULL is fine. */
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
/* What other tasks run of its steps while the session's graph does not change: a GraphDef for each of their
 * devices, in `arena`, and the names of these devices. */
MUST_CHECK bool session_remote_graphs(SessionCallable *callable, Arena *arena, GraphDef ***graphs,
                                      const char ***devices, int *count, Status *status);
/* Must be called before the session is freed. Steps that the callable has begun continue. NULL is fine. */
void session_release_callable(SessionCallable *callable);

/* After this call, only callables and requests that have run before can run. Other requests fail with
 * FAILED_PRECONDITION. */
void session_finalize(Session *session);

/* The number of cached programs, and the bytes that the pool holds for reuse. For tests and memory
 * reports. */
int64_t session_num_programs(const Session *session);
int64_t session_cached_bytes(const Session *session);

#endif
