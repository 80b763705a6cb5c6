/* tf.files of JavaScript: the files that ops read and write. In memory by default; in Node a folder can be
 * used instead. */
#ifndef TFCORE_WASM_WASM_FILES_H_
#define TFCORE_WASM_WASM_FILES_H_

#include "wasm/wasm_exports.h"

TF_CAPI_EXPORT extern void TF_WasmFileRead(const char *path, TF_Buffer *bytes, TF_Status *status);
/* Creates or replaces the file. */
TF_CAPI_EXPORT extern void TF_WasmFileWrite(const char *path, const void *bytes, size_t length,
                                            TF_Status *status);
/* Creates or replaces a file in memory ("ram://...") of `size` zero bytes. */
TF_CAPI_EXPORT extern void TF_WasmFileCreate(const char *path, size_t size, TF_Status *status);
/* The address of `length` bytes of a file in memory, which the caller fills at once. INVALID_ARGUMENT when
 * the file does not have them. */
TF_CAPI_EXPORT extern char *TF_WasmFilePlace(const char *path, double offset, size_t length,
                                             TF_Status *status);
/* How many data files the checkpoint of that prefix has; -1 with a status if its index cannot be read. */
TF_CAPI_EXPORT extern int TF_WasmCheckpointNumShards(const char *prefix, TF_Status *status);
TF_CAPI_EXPORT extern void TF_WasmFileRemove(const char *path, TF_Status *status);
/* The paths of all files, each followed by a NUL. */
TF_CAPI_EXPORT extern void TF_WasmFileList(TF_Buffer *paths, TF_Status *status);
/* Uses the files of a folder of the host from now on. It is the root of all paths, and paths cannot leave it.
 * NULL: files in memory. UNIMPLEMENTED outside of Node. */
TF_CAPI_EXPORT extern void TF_WasmUseDirectory(const char *directory, TF_Status *status);

#endif
