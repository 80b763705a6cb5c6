#include "wasm/wasm_side_module.h"

#include "c_api/c_api_internal.h"
#include "op/side_kernels.h"
#include "ops/op_table.h"

static bool set_aside(Status *status) {
  OpRegistry *registry = op_registry_global();
  TRY(register_ops(status));
  for (int i = 0; i < kNumSideOps; i++)
    TRY(op_registry_set_aside(registry, kSideOps[i]->name, ASIDE_ALL, status));
  for (int i = 0; i < kNumIntegersAsideOps; i++)
    TRY(op_registry_set_aside(registry, kIntegersAsideOps[i]->name, ASIDE_INTEGERS, status));
  side_kernels_set_missing(true);
  return true;
}

void TF_WasmSideModuleIsMissing(TF_Status *status) {
  start_status(status);
  reported(set_aside(&status->status));
}

void TF_WasmSideModuleIsLoaded(void) { side_kernels_set_missing(false); }

int TF_WasmSideModuleIsWanted(void) { return side_kernels_wanted(); }
