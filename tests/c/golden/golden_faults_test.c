/* The golden cases with too little memory: the n-th request of a call fails (base/alloc.h), alone or with all
 * later ones. The call then ends with RESOURCE_EXHAUSTED, or has TensorFlow's result; graph and memory are
 * unchanged, and the same call succeeds afterwards.
 *
 * For each file, this tests the cases with an op that no earlier case had, and a sample of n. All are tested
 * with
 *
 *   TFCORE_FAULTS=all test_golden --filter short_of_memory
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file_store.h"
#include "base/string_map.h"
#include "golden_file.h"
#include "golden_replay.h"
#include "op/op_registry.h"
#include "runtime/thread_pool.h"

/* For steps with few requests all n are tested. For other calls the first ones and this number of others are
 * tested. */
enum { FIRST_FAULTS = 6, SPREAD_FAULTS = 10, MOST_OF_A_STEP = 400, MOST_FILES = 256 };

static bool all_faults(void) {
  const char *wanted = getenv("TFCORE_FAULTS");
  return wanted && strcmp(wanted, "all") == 0;
}

/* The n after `n`; never more than `count`. */
static int64_t next_fault(int64_t n, int64_t count, unsigned *seed) {
  if (all_faults() || n < FIRST_FAULTS) return n + 1;
  int64_t stride = 2 * (count - FIRST_FAULTS) / SPREAD_FAULTS;
  return n + (stride > 1 ? random_to(seed, (int)stride) : 1);
}

static int count_nodes(const Replay *replay) {
  int count = 0;
  size_t position = 0;
  while (TF_GraphNextOperation(replay->graph, &position)) count++;
  return count;
}

static bool is_stateful(const Tfcore__GoldenCase *golden) {
  for (size_t i = 0; i < golden->graph->n_node; i++) {
    const Op *op = op_registry_find(op_registry_global(), golden->graph->node[i]->op);
    if (!op || op->def->is_stateful) return true;
  }
  return golden->graph->library && golden->graph->library->n_function > 0;
}

/* --- building --- */

/* The call fails, leaves the graph as it was, and succeeds when it is made again. */
static bool starve_building(Replay *replay, bool (*call)(Replay *)) {
  int before = count_nodes(replay);
  if (call(replay)) return true;
  if (!CHECK(replay->starved) || !CHECK_INT_EQ(count_nodes(replay), before)) return false;
  replay->shortage.on = false;
  TF_SetStatus(replay->status, TF_OK, "");
  return call(replay);
}

static bool build_with(const Tfcore__GoldenCase *golden, const Shortage *shortage, int64_t *requests) {
  Replay replay;
  bool ok = replay_begin(&replay, golden, false);
  replay.shortage = *shortage;
  /* The variables of a training are in the graph before the import. */
  if (golden->training) ok = ok && replay_import(&replay);
  else ok = ok && starve_building(&replay, replay_import);
  ok = ok && starve_building(&replay, replay_add_gradients) && replay_add_training(&replay);
  if (ok && shortage->call == REPLAY_SESSION && !replay_open(&replay)) {
    ok = CHECK(replay.starved && !replay.session);
    replay.shortage.on = false;
    TF_SetStatus(replay.status, TF_OK, "");
  }
  if (ok && !replay.session) ok = replay_open(&replay);
  for (size_t i = 0; ok && i < golden->n_steps; i++) ok = replay_step(&replay, i);
  if (requests) memcpy(requests, replay.requests, sizeof replay.requests);
  replay_end(&replay);
  return ok;
}

static void starve_calls_that_build(const Tfcore__GoldenCase *golden, unsigned *seed) {
  static const char *const names[] = {"import", "gradients", "session"};
  int64_t requests[REPLAY_NUM_CALLS];
  bool ok = build_with(golden, &(Shortage){0}, requests);
  file_memory_clear();
  int64_t live = mem_live_bytes();
  for (int call = 0; ok && call < REPLAY_STEP; call++) {
    if (call == REPLAY_IMPORT && golden->training) continue;
    for (int64_t n = 0; ok && n < requests[call]; n = next_fault(n, requests[call], seed)) {
      for (int once = 0; ok && once < 2; once++) {
        harness_context("%s, %s, %s after %d", golden->name, names[call], once ? "one fails" : "all fail",
                        (int)n);
        ok = build_with(golden, &(Shortage){true, once, (ReplayCall)call, n}, NULL);
        file_memory_clear();
        ok = CHECK_INT_EQ(mem_live_bytes(), live) && ok;
      }
    }
  }
}

/* --- steps --- */

/* One session runs the steps up to `last`, where memory is short. */
static bool run_with(Replay *replay, size_t last, const Shortage *shortage, bool again) {
  int64_t live = mem_live_bytes();
  bool ok = true;
  replay->shortage.on = false;
  ok = replay_open(replay);
  for (size_t i = 0; ok && i < last; i++) ok = replay_step(replay, i);
  replay->shortage = *shortage;
  if (ok && !replay_step(replay, last)) {
    ok = replay->starved;
    replay->shortage.on = false;
    ok = ok && (!again || replay_step(replay, last));
  }
  replay_close(replay);
  file_memory_clear();
  return CHECK_INT_EQ(mem_live_bytes(), live) && ok;
}

static void starve_steps(const Tfcore__GoldenCase *golden, unsigned *seed) {
  Replay replay;
  bool again = !is_stateful(golden) && !golden->training; /* assignments of a step stay */
  bool ok = replay_begin(&replay, golden, false) && replay_import(&replay) && replay_add_gradients(&replay) &&
            replay_add_training(&replay);
  size_t step = all_faults() ? 0 : golden->n_steps - 1;
  for (; ok && step < golden->n_steps; step++) {
    ok = replay_open(&replay); /* state that graphs keep from their first step on */
    for (size_t i = 0; ok && i <= step; i++) ok = replay_step(&replay, i);
    replay_close(&replay);
    file_memory_clear();
    int64_t count = replay.requests[REPLAY_STEP];
    for (int64_t n = 0; ok && n < count; n = count <= MOST_OF_A_STEP ? n + 1 : next_fault(n, count, seed)) {
      for (int once = 0; ok && once < 2; once++) {
        harness_context("%s, step %d, %s after %d", golden->name, (int)step, once ? "one fails" : "all fail",
                        (int)n);
        ok = run_with(&replay, step, &(Shortage){true, once, REPLAY_STEP, n}, again);
      }
    }
  }
  replay_end(&replay);
}

/* --- --- */

/* Whether the case has an op that is not in `seen`, which gets all of its ops. */
static bool has_new_op(const GraphDef *graph, StringMap *seen) {
  bool found = false;
  Status status;
  status_init(&status);
  for (size_t i = 0; i < graph->n_node; i++) {
    const Op *op = op_registry_find(op_registry_global(), graph->node[i]->op);
    if (!op || string_map_contains(seen, op->def->name)) continue;
    found = CHECK_OK(string_map_set(seen, op->def->name, seen, &status), status);
  }
  return found;
}

TEST(short_of_memory_golden_cases_fail_and_leave_no_trace) {
  static char names[MOST_FILES][GOLDEN_NAME_CAPACITY];
  int num_files = golden_file_names(MOST_FILES, names);
  StringMap seen = {0};
  unsigned seed = 1;
  int tried = 0;
  TF_DeleteGraph(TF_NewGraph()); /* the first graph registers the ops */
  thread_pool_default();         /* outlives steps */
  for (int i = 0; i < num_files; i++) {
    Tfcore__GoldenFile *file = golden_file_read(names[i], NULL);
    if (!file) continue;
    for (size_t j = 0; j < file->n_cases; j++) {
      const Tfcore__GoldenCase *golden = file->cases[j];
      if (!has_new_op(golden->graph, &seen) && !all_faults()) continue;
      tried++;
      starve_calls_that_build(golden, &seed);
      starve_steps(golden, &seed);
    }
    harness_context("%s", "");
    tfcore__golden_file__free_unpacked(file, NULL);
  }
  CHECK(tried > 200);
  string_map_free(&seen);
}
