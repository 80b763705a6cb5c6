/* Every recorded fact about the shape function of an op that this build has must hold. */
#include "shape_facts.h"

#include <stdio.h>

#include "harness.h"
#include "op/op_registry.h"
#include "ops/op_table.h"

static const Op *find_registered(void *arg, const char *name) {
  (void)arg;
  return op_registry_find(op_registry_global(), name);
}

TEST(shape_facts_of_registered_ops_hold) {
  Status status;
  status_init(&status);
  int counts[SHAPE_FACT_RESULTS];
  CHECK_OK(op_registry_add_table(op_registry_global(), kOpTable, kOpTableSize, &status), status);
  shape_facts_run_all("tests/data/shape-facts.jsonl", find_registered, NULL, counts);
  printf("shape facts: %d hold, %d fail, %d are about other ops, %d ask for attrs of later op definitions\n",
         counts[SHAPE_FACT_HOLDS], counts[SHAPE_FACT_FAILS], counts[SHAPE_FACT_NO_OP],
         counts[SHAPE_FACT_NEW_ATTR]);
  CHECK(counts[SHAPE_FACT_HOLDS] > 0);
  op_registry_clear(op_registry_global());
}
