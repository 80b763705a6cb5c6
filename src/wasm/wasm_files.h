/* tf.files of JavaScript: what ops read and write. In memory at first; in Node a folder can be used
 * instead. */
#ifndef TFCORE_WASM_WASM_FILES_H_
#define TFCORE_WASM_WASM_FILES_H_

#include "wasm/wasm_exports.h"

TF_CAPI_EXPORT extern void TF_WasmFileRead(const char *path, TF_Buffer *bytes, TF_Status *status);
/* Makes the file, or replaces it. */
TF_CAPI_EXPORT extern void TF_WasmFileWrite(const char *path, const void *bytes, size_t length,
                                            TF_Status *status);
TF_CAPI_EXPORT extern void TF_WasmFileRemove(const char *path, TF_Status *status);
/* The paths of all files, each with a NUL behind it. */
TF_CAPI_EXPORT extern void TF_WasmFileList(TF_Buffer *paths, TF_Status *status);
/* From now on files are those of a folder of the machine, which is the root of all paths and is never left.
 * NULL: those in memory. UNIMPLEMENTED where there is no Node. */
TF_CAPI_EXPORT extern void TF_WasmUseDirectory(const char *directory, TF_Status *status);

#endif
