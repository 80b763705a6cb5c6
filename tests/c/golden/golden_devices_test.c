/* Replays TensorFlow's recorded results with the nodes of each graph scattered over three devices: values,
 * dead values and conditions of loops change devices at random places, and the results must be the same.
 *
 *   TFCORE_DEVICES=all test_golden --file golden_devices      the cases of all files
 */
#include <stdlib.h>
#include <string.h>

#include "base/file_store.h"
#include "golden_file.h"
#include "golden_replay.h"
#include "op/op_registry.h"
#include "runtime/thread_pool.h"

BEFORE_EACH() {
  file_store_use(&kMemoryFiles);
  thread_pool_set_default_size(4);
}

AFTER_EACH() {
  file_memory_clear();
  op_registry_clear(op_registry_global());
  thread_pool_shut_down();
}

/* TensorFlow refuses the first ("must have a pivot predicate"), and waits without end in the others. */
static bool runs_on_one_device_only(const char *name) {
  static const char *const kNames[] = {
      "a frame in a frame, without rounds",
      "a value that enters the first round alone",
      "a Merge outside of loops that reads its own NextIteration",
      "a Merge of a value and its NextIteration outside of loops",
      "a Merge outside of loops whose NextIteration is dead",
  };
  for (size_t i = 0; i < sizeof kNames / sizeof *kNames; i++) {
    if (strcmp(name, kNames[i]) == 0) return true;
  }
  return false;
}

static void replay_scattered(const Tfcore__GoldenCase *golden) {
  Replay replay;
  if (runs_on_one_device_only(golden->name)) return;
  harness_context("%s", golden->name);
  if (replay_begin(&replay, golden, false)) {
    replay.scattered = true;
    bool ok = replay_import(&replay) && replay_add_gradients(&replay) && replay_add_training(&replay) &&
              replay_open(&replay);
    for (size_t i = 0; ok && i < golden->n_steps; i++) replay_step(&replay, i);
  }
  replay_end(&replay);
}

TEST(graphs_with_control_flow_run_on_several_devices) {
  const char *which = getenv("TFCORE_DEVICES");
  char names[256][GOLDEN_NAME_CAPACITY];
  int count = golden_file_names(256, names);
  for (int i = 0; i < count; i++) {
    if (strncmp(names[i], "v1_", 3) != 0 &&
        (!which || (strcmp(which, "all") != 0 && strcmp(which, names[i]) != 0)))
      continue;
    Tfcore__GoldenFile *file = golden_file_read(names[i], NULL);
    for (size_t k = 0; file && k < file->n_cases; k++) replay_scattered(file->cases[k]);
    tfcore__golden_file__free_unpacked(file, NULL);
  }
}
