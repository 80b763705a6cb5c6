/* A team: threads that go through the phases of a computation together.
 *
 *   static void multiply(void *arg, int64_t phase, int member, int members) {
 *     for (int64_t i = team_first(rows, member, members); i < team_first(rows, member + 1, members); i++) ...
 *   }
 *   team_run(context->parallel, phases, work, multiply, &args);
 *
 * For many short phases, each of which needs what all threads have computed in the one before. The threads
 * meet after each phase, which takes them a fraction of the time that a loop of its own (base/parallel.h)
 * takes, and what a phase needs stays in their caches.
 */
#ifndef TFCORE_BASE_TEAM_H_
#define TFCORE_BASE_TEAM_H_

#include "base/parallel.h"

/* Computes the share of a member, 0 to members - 1, of a phase. Called at the same time for all members.
 * Results must not depend on their number, which differs between phases. */
typedef void TeamPhase(void *arg, int64_t phase, int member, int members);

/* The first of `count` indices that a member has; the next member's first is the end. */
static inline int64_t team_first(int64_t count, int member, int members) { return count * member / members; }

/* Runs phases 0 to count - 1, each of `work` units of work on average (base/parallel.h). A phase begins when
 * all members have computed the one before. The calling thread is a member of all phases; others join when
 * they have time. Ends early, between two phases, when the step does (base/work_stop.h). */
void team_run(const Parallel *parallel, int64_t count, double work, TeamPhase *run, void *arg);

#endif
