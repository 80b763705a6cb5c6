#include "base/emitted_code.h"

#include <stddef.h>

#if EMITTED_CODE
#include <emscripten.h>

/* JavaScript, which clang-format cannot format. */
/* clang-format off */
EM_JS_DEPS(emitted_code, "$wasmTable");

/* Returns the place in the table, or 0. The policy of a page may forbid to compile modules here. */
EM_JS(int, install_module, (const uint8_t *module, int size, int place), {
  try {
    const bytes = HEAPU8.slice(module >>> 0, (module >>> 0) + size);
    const instance = new WebAssembly.Instance(new WebAssembly.Module(bytes), { m: { m: wasmMemory } });
    const index = place || wasmTable.grow(1);
    wasmTable.set(index, instance.exports.run);
    return index;
  } catch (error) {
    return 0;
  }
})
/* clang-format on */

EmittedLoop *emitted_code_install(const uint8_t *module, int32_t size, EmittedLoop *before) {
  return (EmittedLoop *)(intptr_t)install_module(module, size, (int)(intptr_t)before);
}
#else
EmittedLoop *emitted_code_install(const uint8_t *module, int32_t size, EmittedLoop *before) {
  (void)module, (void)size, (void)before;
  return NULL;
}
#endif
