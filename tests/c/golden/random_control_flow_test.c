/* Random graphs with control flow, sound and broken ones, and what TensorFlow answered: the small corpus
 * tests/data/oracle/control_flow.pb, or the file named by TFCORE_FLOW_FUZZ. tests/oracle/flow_fuzz writes
 * both. A broken graph must give TensorFlow's code, and its last step shows that the session still works. */
#include <stdio.h>
#include <stdlib.h>

#include "golden_file.h"
#include "golden_replay.h"

static void replay_case(const Tfcore__GoldenCase *golden) {
  Replay replay;
  CHECK_CONTEXT("%s, import", golden->name);
  bool ready = replay_begin(&replay, golden, false) && replay_import(&replay);
  if (ready && !golden->import_code && replay_add_gradients(&replay) && replay_open(&replay)) {
    for (size_t i = 0; i < golden->n_steps; i++) {
      CHECK_CONTEXT("%s, step %zu", golden->name, i);
      replay_step(&replay, i);
    }
  }
  replay_end(&replay);
}

TEST(random_control_flow_runs_as_in_tensorflow) {
  const char *path = getenv("TFCORE_FLOW_FUZZ");
  Tfcore__GoldenFile *file = golden_file_read_path(path ? path : "tests/data/oracle/control_flow.pb", NULL);
  if (!file) return;
  CHECK(file->n_cases > 0);
  for (size_t i = 0; i < file->n_cases; i++) {
    if (getenv("TFCORE_FLOW_FUZZ_TRACE")) fprintf(stderr, "%s\n", file->cases[i]->name);
    replay_case(file->cases[i]);
  }
  tfcore__golden_file__free_unpacked(file, NULL);
}
