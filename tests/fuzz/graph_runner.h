/* Processes a GraphDef: import, shapes, export, gradients, steps. */
#ifndef TFCORE_TESTS_FUZZ_GRAPH_RUNNER_H_
#define TFCORE_TESTS_FUZZ_GRAPH_RUNNER_H_

#include "fuzz/fuzz.h"
#include "proto/proto.h"

/* Bytes of a GraphDef, valid or not. Returns whether they were imported. */
bool fuzz_graph_bytes(const void *bytes, size_t length, Random *random);
/* The same for a message. */
bool fuzz_graph_message(const GraphDef *def, Random *random);

#endif
