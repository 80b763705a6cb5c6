/* Session: runs parts of a graph, and owns what lives longer than a step: variables, the state of random
 * generators, the plans made so far, and the pool of buffers.
 *
 *   Session *session = session_new(graph, &status);
 *   session_run(session, &x, &x_value, 1, &y, &y_value, 1, NULL, 0, &status);
 *
 * The graph may grow between runs; plans are made again when it changed under them. One step at a time: a
 * second thread waits.
 */
#ifndef TFCORE_RUNTIME_SESSION_H_
#define TFCORE_RUNTIME_SESSION_H_

#include "graph/graph.h"

typedef struct Session Session;

/* The graph is borrowed and must outlive the session. NULL with RESOURCE_EXHAUSTED when out of memory. */
Session *session_new(Graph *graph, Status *status);
/* Without optimising, steps run every node that they need as it stands, and calls are calls. Sessions
 * optimise at first; to be set before the first run. */
void session_optimize(Session *session, bool optimize);
void session_free(Session *session); /* NULL is fine */
/* Frees plans, variables and cached memory; later runs fail with CANCELLED "Session has been closed.".
 * Called by a kernel that the session runs it does nothing. */
void session_close(Session *session);

/* Runs one step. `feed_values[i]` is the value of `feeds[i]` (borrowed). `fetch_values` (num_fetches, empty
 * at entry) get references to the results. Errors leave the session usable, the fetch values empty, and name
 * the node. */
MUST_CHECK bool session_run(Session *session, const NodeOutput *feeds, const Tensor *const *feed_values,
                            int num_feeds, const NodeOutput *fetches, Tensor *fetch_values, int num_fetches,
                            Node *const *targets, int num_targets, Status *status);

/* Number of plans in the cache; bytes that the pool holds ready. For tests and memory reports. */
int64_t session_num_plans(const Session *session);
int64_t session_cached_bytes(const Session *session);

#endif
