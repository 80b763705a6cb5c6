#include "wasm/wasm_engine_parts.h"

#include "c_api/c_api_internal.h"
#include "op/engine_parts.h"
#include "op/side_kernels.h"

#ifdef __EMSCRIPTEN__
extern char *load_part(EnginePart part); /* src/wasm/load_part.js */
#else
static char *load_part(EnginePart part) {
  (void)part;
  return NULL;
}
#endif

void TF_WasmPartIsMissing(int part) {
  engine_parts_set_loader(load_part);
  engine_part_set_missing((EnginePart)part, true);
}

void TF_WasmPartIsLoaded(int part) { engine_part_set_missing((EnginePart)part, false); }

int TF_WasmSideKernelsAreWanted(void) { return side_kernels_wanted(); }
