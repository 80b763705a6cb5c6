/* Loops that end early, and loops that must not. */
#include "base/work_stop.h"

#include <string.h>

#include "base/alloc.h"
#include "base/parallel.h"
#include "harness.h"

typedef struct Visits {
  unsigned char *times; /* how often each index was visited */
  int64_t visited, stop_after;
  atomic_bool *cancelled;
} Visits;

static void visit(void *arg, int64_t begin, int64_t end) {
  Visits *visits = arg;
  for (int64_t i = begin; i < end; i++) visits->times[i]++;
  visits->visited += end - begin;
  if (visits->visited >= visits->stop_after) atomic_store(visits->cancelled, true);
}

/* The number of indices that were visited; none may be visited twice. */
static int64_t visit_all(int64_t count, double work, int64_t stop_after, WorkStop *stop) {
  static atomic_bool cancelled;
  atomic_store(&cancelled, false);
  Visits visits = {mem_calloc(count + 1, 1), 0, stop_after, &cancelled};
  if (!CHECK(visits.times)) return -1;
  if (stop) stop->cancelled = &cancelled;
  WorkStop *before = work_stop_set(stop);
  parallel_work(NULL, count, work, visit, &visits);
  work_stop_set(before);
  int64_t twice = 0;
  for (int64_t i = 0; i < count; i++) twice += visits.times[i] > 1;
  CHECK_INT_EQ(twice, 0);
  mem_free(visits.times);
  return visits.visited;
}

TEST(a_loop_visits_every_index_once_unless_it_is_stopped) {
  static const int64_t kCounts[] = {0, 1, 17, 65536, 2621440, 2621441, 6000000};
  static const double kWork[] = {0.25, 1, 3, 1000, 1e6, 1e300};
  for (size_t i = 0; i < sizeof kCounts / sizeof *kCounts; i++) {
    for (size_t k = 0; k < sizeof kWork / sizeof *kWork; k++) {
      WorkStop stop = {.deadline = INT64_MAX};
      CHECK_INT_EQ(visit_all(kCounts[i], kWork[k], INT64_MAX, NULL), kCounts[i]);
      CHECK_INT_EQ(visit_all(kCounts[i], kWork[k], INT64_MAX, &stop), kCounts[i]);
      CHECK(!stop.stopped);
    }
  }
}

#ifndef TFCORE_SPLIT_ALL_LOOPS
/* A pool that only notes how a loop is split. */
typedef struct Splits {
  int loops;
  int64_t grain;
  ParallelLength length;
} Splits;

static void note_split(void *pool, int64_t count, int64_t grain, ParallelLength length, ParallelBody *body,
                       void *arg) {
  Splits *splits = pool;
  splits->loops++;
  splits->grain = grain;
  splits->length = length;
  body(arg, 0, count);
}

static void do_nothing(void *arg, int64_t begin, int64_t end) { (void)arg, (void)begin, (void)end; }

TEST(a_loop_is_split_if_it_is_worth_a_thread_and_then_into_smaller_pieces) {
  Splits splits = {0};
  const Parallel parallel = {note_split, &splits, 2};
  parallel_work(&parallel, 1900, PARALLEL_WORK / 1000.0, do_nothing, NULL);
  CHECK_INT_EQ(splits.loops, 0);
  parallel_work(&parallel, 2100, PARALLEL_WORK / 1000.0, do_nothing, NULL);
  CHECK_INT_EQ(splits.loops, 1);
  CHECK(splits.grain >= 200 && splits.grain <= 300);
  CHECK_INT_EQ(splits.length, PARALLEL_SHORT);
  parallel_work(&parallel, 1100 * PARALLEL_WAKE, PARALLEL_WORK / 1000.0, do_nothing, NULL);
  CHECK_INT_EQ(splits.loops, 2);
  CHECK_INT_EQ(splits.length, PARALLEL_LONG);
  parallel_work(&parallel, 2, 1e9, do_nothing, NULL);
  CHECK_INT_EQ(splits.loops, 3);
  CHECK_INT_EQ(splits.grain, 1);
  CHECK_INT_EQ(splits.length, PARALLEL_LONG);
  parallel_work(&parallel, 7 * PARALLEL_WORK, 1, do_nothing, NULL); /* single elements are cheap */
  CHECK_INT_EQ(splits.loops, 3);
  parallel_work(&parallel, 9 * PARALLEL_WORK, 1, do_nothing, NULL);
  CHECK_INT_EQ(splits.loops, 4);
  CHECK_INT_EQ(splits.grain, PARALLEL_WORK);
}

TEST(brief_loops_of_arithmetic_are_split_for_near_cores) {
  Splits splits = {0};
  const Parallel parallel = {note_split, &splits, 2};
  parallel_arithmetic(&parallel, 1800 / PARALLEL_NEAR, PARALLEL_WORK / 1000.0, 0, do_nothing, NULL);
  CHECK_INT_EQ(splits.loops, 0);
  const double moved = PARALLEL_MOVED * PARALLEL_WORK / 1000.0; /* in the time of the work */
  parallel_arithmetic(&parallel, 2200 / PARALLEL_NEAR, PARALLEL_WORK / 1000.0, 0.2 * moved, do_nothing, NULL);
  CHECK_INT_EQ(splits.loops, 0);
  parallel_arithmetic(&parallel, 2800 / PARALLEL_NEAR, PARALLEL_WORK / 1000.0, 0.2 * moved, do_nothing, NULL);
  CHECK_INT_EQ(splits.loops, 1);
  splits.loops = 0;
  parallel_arithmetic(&parallel, 2200 / PARALLEL_NEAR, PARALLEL_WORK / 1000.0, 0, do_nothing, NULL);
  CHECK_INT_EQ(splits.loops, 1);
  CHECK(splits.grain >= 200 / PARALLEL_NEAR && splits.grain <= 300 / PARALLEL_NEAR);
  CHECK_INT_EQ(splits.length, PARALLEL_BRIEF);
  parallel_arithmetic(&parallel, 2100, PARALLEL_WORK / 1000.0, 3 * moved, do_nothing, NULL);
  CHECK_INT_EQ(splits.loops, 2);
  CHECK_INT_EQ(splits.length, PARALLEL_SHORT);
}
#endif

TEST(a_loop_is_prepared_for_threads_if_it_is_split) {
  const double brief = 2.2 * PARALLEL_WORK / PARALLEL_NEAR;
  CHECK(parallel_shares(2, 2 * PARALLEL_WORK, 0));
  CHECK(!parallel_shares(1, 2 * PARALLEL_WORK, 0));
  CHECK(parallel_shares(2, 2 * PARALLEL_WORK, 8.0 * PARALLEL_WORK)); /* long loops are split anyway */
  CHECK(parallel_shares(2, brief, 0));
#ifndef TFCORE_SPLIT_ALL_LOOPS
  CHECK(!parallel_shares(2, brief, PARALLEL_MOVED * 0.2 * brief));
  CHECK(!parallel_shares(2, 1.8 * PARALLEL_WORK / PARALLEL_NEAR, 0));
#endif
}

TEST(a_long_loop_ends_early_and_no_loop_begins_afterwards) {
  WorkStop stop = {.deadline = INT64_MAX};
  int64_t visited = visit_all(30000000, 1, 1, &stop);
  CHECK(visited > 0 && visited < 30000000 / 4);
  CHECK(stop.stopped);
  CHECK_INT_EQ(visit_all(10, 1, INT64_MAX, &stop), 0);
  WorkStop late = {.deadline = 0};
  CHECK_INT_EQ(visit_all(30000000, 1, INT64_MAX, &late), 0);
  CHECK_INT_EQ(visit_all(30000000, 1, 1, NULL), 30000000);
}

TEST(a_loop_of_cheap_rounds_asks_now_and_then) {
  WorkStop stop = {.deadline = 0};
  int64_t rounds = 0;
  WorkStop *before = work_stop_set(&stop);
  while (rounds < 1000000 && !work_is_stopped_in_round(rounds)) rounds++;
  work_stop_set(before);
  CHECK(rounds > 0 && rounds < 10000);
}
