#include "op/engine_parts.h"

#include <stdatomic.h>
#include <stdlib.h>

static atomic_bool missing[NUM_ENGINE_PARTS];
static _Atomic(EnginePartLoader) part_loader;

void engine_parts_set_loader(EnginePartLoader loader) { atomic_store(&part_loader, loader); }

bool engine_part_missing(EnginePart part) { return atomic_load(&missing[part]); }

void engine_part_set_missing(EnginePart part, bool is_missing) { atomic_store(&missing[part], is_missing); }

bool engine_part_need(EnginePart part, Status *status) {
  if (!engine_part_missing(part)) return true;
  EnginePartLoader load = atomic_load(&part_loader);
  char *reason = load ? load(part) : NULL;
  if (!engine_part_missing(part)) return true;
  status_set(status, CODE_UNAVAILABLE, "%s", reason ? reason : "a part of the engine is not loaded");
  free(reason);
  return false;
}
