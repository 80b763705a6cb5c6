/* A golden case as a user runs a graph: imported through the C API, with gradients added where the case has
 * some, and its steps run in a session. One call of a replay may run short of memory, on purpose. */
#ifndef TFCORE_TESTS_GOLDEN_GOLDEN_REPLAY_H_
#define TFCORE_TESTS_GOLDEN_GOLDEN_REPLAY_H_

#include "golden_training.h"

enum { REPLAY_MOST_VALUES = 512 };

/* What of a replay may run short of memory. */
typedef enum ReplayCall {
  REPLAY_IMPORT,
  REPLAY_GRADIENTS,
  REPLAY_SESSION,
  REPLAY_STEP,
  REPLAY_NUM_CALLS
} ReplayCall;

/* In the call after `successes` requests (base/alloc.h) one fails, or all that follow. */
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
  bool constant; /* what is fed stands in the graph as constants */
  Shortage shortage;
  bool starved; /* the last call failed with RESOURCE_EXHAUSTED, as it may in a shortage */
  int64_t requests[REPLAY_NUM_CALLS]; /* of the last such call that had enough memory */
} Replay;

/* These check what they do with CHECK. False after a failure, and when a call was starved. Files in memory
 * go. */
bool replay_begin(Replay *replay, const Tfcore__GoldenCase *golden, bool constant);
bool replay_import(Replay *replay);
/* Of a case without gradients: does nothing. */
bool replay_add_gradients(Replay *replay);
/* Of a case without training: does nothing. */
bool replay_add_training(Replay *replay);
bool replay_open(Replay *replay);
/* Runs a step and checks what it fetches; or that it fails as TensorFlow's did. */
bool replay_step(Replay *replay, size_t index);
void replay_close(Replay *replay);
void replay_end(Replay *replay);

#endif
