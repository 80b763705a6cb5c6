/* The symbols that the library exports. */
#ifndef TENSORFLOW_C_TF_EXPORT_H_
#define TENSORFLOW_C_TF_EXPORT_H_

/* The WebAssembly module exports only those of them that the bindings name (tools/generate-abi.mjs). */
#define TF_CAPI_EXPORT __attribute__((visibility("default")))
/* Of functions that only the native library has. */
#define TF_NATIVE_EXPORT __attribute__((visibility("default")))

#endif
