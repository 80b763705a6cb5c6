/* Bytes of a GraphDef. */
#include "fuzz/graph_mutation.h"
#include "fuzz/graph_runner.h"

static void run(const uint8_t *bytes, size_t size) {
  Random random = fuzz_random(bytes, size);
  fuzz_graph_bytes(bytes, size, &random);
}

static size_t mutate(uint8_t *bytes, size_t size, size_t capacity, Random *random) {
  return mutate_graph_input(kGraphAsBytes, bytes, size, capacity, random);
}

const FuzzTarget k_graph_def_fuzz = {"graph_def", run, mutate};
