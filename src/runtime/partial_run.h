/* Partial runs: a step that is fed and fetched in pieces, as TF_SessionPRunSetup and TF_SessionPRun.
 *
 *   const char *handle;
 *   session_setup_partial_run(session, &signature, &handle, &status);   all feeds, fetches and targets
 *   session_begin_piece(session, handle, NULL, &x, &x_value, 1, &h, 1, &h_value, &step, &status);
 *   if (step) session_advance(step, 0, &h_value, &status);
 *   session_begin_piece(session, handle, NULL, &y, &y_value, 1, &z, 1, &z_value, &step, &status);
 *   ...
 *
 * Each piece is a step of its own over a private graph: it runs what depends on no feed that is still to
 * come, and has not run before. Then the private graph has arguments in the place of these nodes, with the
 * values that later pieces read. Every node runs once. A conditional and a loop run in one piece, when all
 * that they need has been fed.
 */
#ifndef TFCORE_RUNTIME_PARTIAL_RUN_H_
#define TFCORE_RUNTIME_PARTIAL_RUN_H_

#include "runtime/session.h"

typedef struct PartialRun PartialRun;

/* The handle (owned by the session) is valid until the partial run ends: when everything has been fed and
 * fetched, when a piece fails or is abandoned, or with the session. Errors are those of session_begin. */
MUST_CHECK bool session_setup_partial_run(Session *session, const StepSignature *signature,
                                          const char **handle, Status *status);
/* Begins the next piece. *step is NULL when nothing had to run: then `fetch_values` hold the results already.
 * INVALID_ARGUMENT for a handle that is not (or no longer) valid, for what was not named at the setup or was
 * given before, and for a fetch that depends on a feed that is still to come. FAILED_PRECONDITION while
 * another piece is under way. These leave the partial run as it was. */
MUST_CHECK bool session_begin_piece(Session *session, const char *handle, const SessionRunOptions *options,
                                    const NodeOutput *feeds, const Tensor *const *feed_values, int num_feeds,
                                    const NodeOutput *fetches, int num_fetches, Tensor *fetch_values,
                                    SessionStep **step, Status *status);

#endif
