/* Partial runs: a step that is fed and fetched in pieces, as TF_SessionPRunSetup and TF_SessionPRun.
 *
 *   const char *handle;
 *   session_setup_partial_run(session, &signature, &handle, &status);   all feeds, fetches and targets
 *   session_begin_piece(session, handle, NULL, &x, &x_value, 1, &h, 1, &h_value, &step, &status);
 *   if (step) session_advance(step, 0, &h_value, &status);
 *   session_begin_piece(session, handle, NULL, &y, &y_value, 1, &z, 1, &z_value, &step, &status);
 *   ...
 *
 * Each piece is a step of its own over a private graph. It runs the nodes that have not run yet and depend
 * only on what has been fed so far. Afterwards arguments of the private graph replace these nodes, and hold
 * the values that later pieces read. Every node runs once. A conditional runs within one piece, and so does
 * a loop: the first piece that has all their feeds.
 */
#ifndef TFCORE_RUNTIME_PARTIAL_RUN_H_
#define TFCORE_RUNTIME_PARTIAL_RUN_H_

#include "runtime/session.h"

typedef struct PartialRun PartialRun;

/* The session owns the handle, which is valid until the partial run ends. The run ends when everything has
 * been fed and fetched, when a piece fails or is abandoned, or when the session ends. Errors are those of
 * session_begin. */
MUST_CHECK bool session_setup_partial_run(Session *session, const StepSignature *signature,
                                          const char **handle, Status *status);
/* Begins the next piece. *step is NULL when no node had to run; `fetch_values` hold the results in that case.
 * INVALID_ARGUMENT for a handle that is not (or no longer) valid, for a feed or fetch that the setup did not
 * name or an earlier piece used, and for a fetch that depends on a feed of a later piece.
 * FAILED_PRECONDITION while another piece is running. These errors leave the partial run as it was. */
MUST_CHECK bool session_begin_piece(Session *session, const char *handle, const SessionRunOptions *options,
                                    const NodeOutput *feeds, const Tensor *const *feed_values, int num_feeds,
                                    const NodeOutput *fetches, int num_fetches, Tensor *fetch_values,
                                    SessionStep **step, Status *status);

#endif
