/* The training of a golden case: its weights as variables, and their update operations. */
#ifndef TFCORE_TESTS_GOLDEN_GOLDEN_TRAINING_H_
#define TFCORE_TESTS_GOLDEN_GOLDEN_TRAINING_H_

#include "c_api/c_api_fixture.h"
#include "golden.pb-c.h"

enum { TRAINING_MOST_VARIABLES = 128 };

typedef struct Training {
  Fixture f; /* the graph and status belong to the case */
  const Tfcore__GoldenCase *golden;
  TF_Output handles[TRAINING_MOST_VARIABLES], values[TRAINING_MOST_VARIABLES];
  TF_Operation *initializers[3 * TRAINING_MOST_VARIABLES];
  int num_initializers;
  TF_Operation *updates[TRAINING_MOST_VARIABLES]; /* one for each variable */
  TF_Output step;                                 /* a placeholder: the number of the step, from 1 */
} Training;

/* Before the import: makes the variables, and maps the graph's weights to them. False after a failed
 * check. */
bool training_make_variables(Training *training, TF_ImportGraphDefOptions *options);
/* After the import. */
bool training_make_updates(Training *training, TF_Output loss);
bool training_initialize(Training *training, TF_Session *session);

#endif
