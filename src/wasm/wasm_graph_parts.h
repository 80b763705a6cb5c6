/* The parts of the engine (op/engine_parts.h) that a graph needs, from its bytes: so that the bindings can
 * load them, and wait for them, before the graph is imported. */
#ifndef TFCORE_WASM_WASM_GRAPH_PARTS_H_
#define TFCORE_WASM_WASM_GRAPH_PARTS_H_

#include "tensorflow/c/c_api.h"

/* The parts with the ops of the nodes in a serialised GraphDef and in its functions: the bits 1 <<
 * EnginePart. The bit of PART_MAIN is only set if one of the ops is neither registered nor a function of the
 * GraphDef. Malformed bytes are read as far as they are well-formed. */
TF_CAPI_EXPORT extern int TF_WasmPartsOfGraphDef(const void *graph_def, size_t length);

#endif
