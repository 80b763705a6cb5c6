/* Parts of the engine that a program may leave out until it needs them: WebAssembly modules of their own
 * (src/wasm/wasm_engine_parts.c). Everywhere else, no part is missing. All functions are thread-safe. */
#ifndef TFCORE_OP_ENGINE_PARTS_H_
#define TFCORE_OP_ENGINE_PARTS_H_

#include <stdbool.h>

#include "base/status.h"

typedef enum EnginePart {
  PART_MAIN,     /* never missing */
  PART_TRAINING, /* TFCORE_TRAINING_SOURCES and TFCORE_TRAINING_OPS in cmake/TfcoreModules.cmake, and the
                  * gradients in registrations */
  PART_SIDE,     /* TFCORE_SIDE_OPS, and kernels for rarer types (op/side_kernels.h); uses PART_TRAINING */
  NUM_ENGINE_PARTS
} EnginePart;

/* Loads a missing part before it returns, and says so by engine_part_set_missing. NULL, or the reason why it
 * could not, which the caller frees with `free`. */
typedef char *(*EnginePartLoader)(EnginePart part);
void engine_parts_set_loader(EnginePartLoader loader);

bool engine_part_missing(EnginePart part);
void engine_part_set_missing(EnginePart part, bool missing);
/* Loads the part if it is missing: the code and the data of a missing part must not be touched before.
 * UNAVAILABLE with the reason if that fails. */
MUST_CHECK bool engine_part_need(EnginePart part, Status *status);

#endif
