/* Teams of the threads of a pool (base/team.h). */
#include "base/team.h"

#include <string.h>

#include "base/clock.h"
#include "base/sync.h"
#include "base/work_stop.h"
#include "harness.h"
#include "runtime/thread_pool.h"

enum { SIZE = 97, PHASES = 500, MUCH = PARALLEL_WORK, NOTHING = 0 };

/* Each element of a phase is the sum of all of the phase before, and its own place. */
typedef struct Sums {
  uint64_t rows[2][SIZE];
  int64_t phases;
  int most;
} Sums;

static void add(void *arg, int64_t phase, int member, int members) {
  Sums *sums = arg;
  const uint64_t *from = sums->rows[phase % 2];
  uint64_t *to = sums->rows[(phase + 1) % 2];
  for (int64_t i = team_first(SIZE, member, members); i < team_first(SIZE, member + 1, members); i++) {
    to[i] = (uint64_t)i;
    for (int k = 0; k < SIZE; k++) to[i] += from[k];
  }
  if (member > 0) return;
  sums->phases++;
  if (members > sums->most) sums->most = members;
}

static uint64_t sum_of(const Parallel *parallel, double work, int *most) {
  Sums sums = {.rows = {{1}}};
  team_run(parallel, PHASES, work, add, &sums);
  CHECK_INT_EQ(sums.phases, PHASES);
  if (most && sums.most > *most) *most = sums.most;
  return sums.rows[PHASES % 2][SIZE - 1];
}

TEST(a_phase_begins_when_all_members_have_computed_the_one_before) {
  uint64_t want = sum_of(NULL, MUCH, NULL);
  for (int threads = 1; threads <= 5; threads++) {
    ThreadPool *pool = thread_pool_new(threads);
    REQUIRE(pool);
    int most = 0;
    for (int run = 0; run < 100; run++)
      CHECK(sum_of(thread_pool_parallel(pool), run % 2 ? MUCH : MUCH / 4, &most) == want);
    CHECK(most >= 1 && most <= threads);
    thread_pool_free(pool);
  }
}

TEST(phases_without_work_are_not_shared) {
  ThreadPool *pool = thread_pool_new(2);
  REQUIRE(pool);
  int most = 0;
  CHECK(sum_of(thread_pool_parallel(pool), NOTHING, &most) == sum_of(NULL, NOTHING, NULL));
#ifndef TFCORE_SPLIT_ALL_LOOPS
  CHECK_INT_EQ(most, 1);
#endif
  thread_pool_free(pool);
}

#if SYNC_HAS_THREADS
/* Whether another thread should have got a core since then, also of a machine with much other work. */
static bool is_over(int64_t begin) {
  const int64_t most = 30000000000; /* nanoseconds */
  return clock_nanoseconds() - begin > most;
}

static int64_t meetings_on_far_cores;

static bool are_far(void *pool, int64_t meetings) {
  (void)pool;
  meetings_on_far_cores += meetings;
  return false;
}

TEST(threads_on_far_cores_share_only_phases_with_much_work) {
  ThreadPool *pool = thread_pool_new(2);
  REQUIRE(pool);
  Parallel far = *thread_pool_parallel(pool);
  far.can_meet = are_far;
  meetings_on_far_cores = 0;
  int most = 0;
  CHECK(sum_of(&far, MUCH / 2, &most) == sum_of(NULL, MUCH / 2, NULL));
#ifndef TFCORE_SPLIT_ALL_LOOPS
  CHECK_INT_EQ(most, 1);
  CHECK_INT_EQ(meetings_on_far_cores, PHASES);
#endif
  meetings_on_far_cores = 0;
  for (int64_t begin = clock_nanoseconds(); most < 2 && !is_over(begin);)
    CHECK(sum_of(&far, MUCH, &most) == sum_of(NULL, MUCH, NULL));
  CHECK_INT_EQ(most, 2);
  CHECK_INT_EQ(meetings_on_far_cores, 0);
  thread_pool_free(pool);
}

static int64_t lost_meetings;

static void count_lost(void *pool, int64_t meetings) {
  (void)pool;
  lost_meetings = meetings;
}

static void stall_followers(void *arg, int64_t phase, int member, int members) {
  int64_t *phases = arg;
  (void)phase, (void)members;
  if (member == 0) ++*phases;
  else thread_nap();
}

TEST(a_leader_goes_on_alone_when_a_follower_is_late) {
  ThreadPool *pool = thread_pool_new(2);
  REQUIRE(pool);
  Parallel parallel = *thread_pool_parallel(pool);
  parallel.lost = count_lost;
  lost_meetings = 0;
  int64_t phases = 0, runs = 0;
  for (int64_t begin = clock_nanoseconds(); lost_meetings == 0 && !is_over(begin); runs++)
    team_run(&parallel, PHASES, MUCH, stall_followers, &phases);
  CHECK_INT_EQ(phases, runs * PHASES);
  CHECK_INT_EQ(lost_meetings, PHASES);
  thread_pool_free(pool);
}
#endif

TEST(no_phases_are_run_when_there_are_none) {
  Sums sums = {.phases = 0};
  team_run(NULL, 0, MUCH, add, &sums);
  CHECK_INT_EQ(sums.phases, 0);
}

typedef struct Cancelled {
  atomic_bool cancelled;
  int64_t phases;
} Cancelled;

static void cancel_in_tenth(void *arg, int64_t phase, int member, int members) {
  Cancelled *c = arg;
  (void)members;
  if (member == 0) c->phases++;
  if (phase == 10) atomic_store(&c->cancelled, true);
}

TEST(a_step_that_ends_ends_its_teams) {
  for (int threads = 1; threads <= 2; threads++) {
    ThreadPool *pool = thread_pool_new(threads);
    REQUIRE(pool);
    Cancelled c = {.phases = 0};
    WorkStop stop = {.cancelled = &c.cancelled, .deadline = INT64_MAX}, *before = work_stop_set(&stop);
    team_run(thread_pool_parallel(pool), 1000000, MUCH, cancel_in_tenth, &c);
    work_stop_set(before);
    CHECK(c.phases > 10 && c.phases < 1000);
    CHECK(stop.stopped);
    thread_pool_free(pool);
  }
}
