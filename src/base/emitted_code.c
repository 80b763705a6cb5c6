#include "base/emitted_code.h"

#include <stddef.h>

#if EMITTED_CODE
/* In JavaScript: src/wasm/emitted_code.js */
extern int install_module(const uint8_t *module, int size, int place);

EmittedLoop *emitted_code_install(const uint8_t *module, int32_t size, EmittedLoop *before) {
  return (EmittedLoop *)(intptr_t)install_module(module, size, (int)(intptr_t)before);
}
#else
EmittedLoop *emitted_code_install(const uint8_t *module, int32_t size, EmittedLoop *before) {
  (void)module, (void)size, (void)before;
  return NULL;
}
#endif
