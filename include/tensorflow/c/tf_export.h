/* The symbols that the library exports. */
#ifndef TENSORFLOW_C_TF_EXPORT_H_
#define TENSORFLOW_C_TF_EXPORT_H_

#if defined(__EMSCRIPTEN__)
#define TF_CAPI_EXPORT __attribute__((used, visibility("default")))
#else
#define TF_CAPI_EXPORT __attribute__((visibility("default")))
#endif
/* Of functions that only the native library has. */
#define TF_NATIVE_EXPORT __attribute__((visibility("default")))

#endif
