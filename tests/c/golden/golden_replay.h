/* Runs a golden case as a user would: imports its graph through the C API, adds its gradients, and runs its
 * steps in a session. One call of a replay may run out of memory, on purpose. */
#ifndef TFCORE_TESTS_GOLDEN_GOLDEN_REPLAY_H_
#define TFCORE_TESTS_GOLDEN_GOLDEN_REPLAY_H_

#include "golden_training.h"

enum { REPLAY_MOST_VALUES = 512 };

/* The calls of a replay that may run out of memory. */
typedef enum ReplayCall {
  REPLAY_IMPORT,
  REPLAY_GRADIENTS,
  REPLAY_SESSION,
  REPLAY_STEP,
  REPLAY_NUM_CALLS
} ReplayCall;

/* In that call, after `successes` requests (base/alloc.h), one fails, or all later ones. */
typedef struct Shortage {
  bool on, once;
  ReplayCall call;
  int64_t successes;
} Shortage;

typedef struct Replay {
  const Tfcore__GoldenCase *golden;
  TF_Graph *graph;
  TF_Session *session;
  TF_Status *status;
  TF_Output dx[REPLAY_MOST_VALUES];
  Training training;
  bool constant;  /* feeds are constants of the graph */
  bool scattered; /* nodes ask for one of several devices; set it before replay_import */
  Shortage shortage;
  bool starved; /* the last call failed with RESOURCE_EXHAUSTED, as expected in a shortage */
  int64_t requests[REPLAY_NUM_CALLS]; /* of the last such call with enough memory */
} Replay;

/* These report failures by CHECK. False after a failure, and when a call ran out of memory. Files in memory
 * are removed. */
bool replay_begin(Replay *replay, const Tfcore__GoldenCase *golden, bool constant);
bool replay_import(Replay *replay);
/* Does nothing for a case without gradients. */
bool replay_add_gradients(Replay *replay);
/* Does nothing for a case without training. */
bool replay_add_training(Replay *replay);
bool replay_open(Replay *replay);
/* Runs a step and checks its fetches; or checks that it fails as TensorFlow's did. */
bool replay_step(Replay *replay, size_t index);
void replay_close(Replay *replay);
void replay_end(Replay *replay);

#endif
