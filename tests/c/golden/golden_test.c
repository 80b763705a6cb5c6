/* Replays TensorFlow's recorded results: every file of tests/data/golden is a test of the same name. Each
 * case runs as a user runs a graph: it is imported through the C API, gradients are added if the case has
 * some, and its steps run in a session. A case of one step runs again with constants instead of feeds, so
 * that shape inference and folding see the values.
 *
 *   test_golden --filter broadcast_binary
 */
#include "base/file_store.h"
#include "golden_file.h"
#include "golden_replay.h"
#include "op/op_registry.h"
#include "runtime/thread_pool.h"

BEFORE_EACH() {
  file_store_use(&kMemoryFiles);
  thread_pool_set_default_size(4); /* also where there are fewer processors */
}

AFTER_EACH() {
  file_memory_clear();
  op_registry_clear(op_registry_global());
  thread_pool_shut_down();
}

static void replay_case(const Tfcore__GoldenCase *golden, bool constant) {
  Replay replay;
  harness_context("%s%s", golden->name, constant ? ", constants" : "");
  if (replay_begin(&replay, golden, constant) && replay_import(&replay) && replay_add_gradients(&replay) &&
      replay_add_training(&replay) && replay_open(&replay)) {
    for (size_t i = 0; i < golden->n_steps; i++) replay_step(&replay, i);
  }
  replay_end(&replay);
}

static void replay_file(void) {
  Tfcore__GoldenFile *file = golden_file_read(harness_running()->name, NULL);
  if (!file) return;
  CHECK(file->n_cases > 0);
  for (size_t i = 0; i < file->n_cases; i++) {
    const Tfcore__GoldenCase *golden = file->cases[i];
    replay_case(golden, false);
    if (golden->n_steps == 1 && golden->steps[0]->code == TF_OK && golden->steps[0]->n_feeds > 0)
      replay_case(golden, true);
  }
  tfcore__golden_file__free_unpacked(file, NULL);
}

/* One test for each file. */
__attribute__((constructor)) static void add_tests(void) {
  static TestCase tests[256];
  static char names[256][GOLDEN_NAME_CAPACITY];
  int count = golden_file_names(256, names);
  for (int i = 0; i < count; i++) {
    tests[i] = (TestCase){names[i], __FILE__, replay_file, NULL};
    harness_add(&tests[i]);
  }
}
