/* WebAssembly code that is made while the program runs: a module with one function becomes callable.
 *
 *   EmittedLoop *loop = emitted_code_install(bytes, size, NULL);
 *   if (loop) loop(pointers, 100);
 *
 * Each thread has a function table of its own, so a function can be called only on the thread that installed
 * it. The module is compiled in the call: it should be small. */
#ifndef TFCORE_BASE_EMITTED_CODE_H_
#define TFCORE_BASE_EMITTED_CODE_H_

#include <stdint.h>

typedef void EmittedLoop(char *const *pointers, int32_t count);

/* Whether emitted_code_install can succeed: not in native builds. */
#ifdef __EMSCRIPTEN__
#define EMITTED_CODE 1
#else
#define EMITTED_CODE 0
#endif

/* Installs the exported function "run" of the type EmittedLoop, in the place of `before`, which must not be
 * called any more, or (NULL) in a new one. The module may import the memory "m" of the module "m". Returns
 * NULL if the host does not compile it. */
EmittedLoop *emitted_code_install(const uint8_t *module, int32_t size, EmittedLoop *before);

#endif
