/* Files and clocks, TensorFlow's C API. In the native library. Files are those of the disk. Errors are those
 * of the system: NOT_FOUND "path; No such file or directory".
 *
 * Not included: threads and libraries that are loaded at run time, which every program has from its system.
 */
#ifndef TENSORFLOW_C_ENV_H_
#define TENSORFLOW_C_ENV_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tensorflow/c/tf_export.h"
#include "tensorflow/c/tf_file_statistics.h"
#include "tensorflow/c/tf_status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct TF_WritableFileHandle TF_WritableFileHandle;
typedef struct TF_StringStream TF_StringStream;

/* ALREADY_EXISTS if there is a file or folder of that name. */
TF_NATIVE_EXPORT extern void TF_CreateDir(const char *dirname, TF_Status *status);
/* FAILED_PRECONDITION if the folder is not empty. */
TF_NATIVE_EXPORT extern void TF_DeleteDir(const char *dirname, TF_Status *status);
/* A folder with all that is in it. Counts what could not be deleted; a folder that does not exist counts as
 * one. */
TF_NATIVE_EXPORT extern void TF_DeleteRecursively(const char *dirname, int64_t *undeleted_file_count,
                                                  int64_t *undeleted_dir_count, TF_Status *status);
/* On error `stats` is unchanged. */
TF_NATIVE_EXPORT extern void TF_FileStat(const char *filename, TF_FileStatistics *stats, TF_Status *status);

/* Creates or truncates a file. */
TF_NATIVE_EXPORT extern void TF_NewWritableFile(const char *filename, TF_WritableFileHandle **handle,
                                                TF_Status *status);
/* Frees the handle in any case. */
TF_NATIVE_EXPORT extern void TF_CloseWritableFile(TF_WritableFileHandle *handle, TF_Status *status);
/* Waits until the disk has the bytes. */
TF_NATIVE_EXPORT extern void TF_SyncWritableFile(TF_WritableFileHandle *handle, TF_Status *status);
/* Gives the bytes to the system. */
TF_NATIVE_EXPORT extern void TF_FlushWritableFile(TF_WritableFileHandle *handle, TF_Status *status);
TF_NATIVE_EXPORT extern void TF_AppendWritableFile(TF_WritableFileHandle *handle, const char *data,
                                                   size_t length, TF_Status *status);
TF_NATIVE_EXPORT extern void TF_DeleteFile(const char *filename, TF_Status *status);

/* The next text of the list, owned by the list; false, and NULL, at the end. */
TF_NATIVE_EXPORT extern bool TF_StringStreamNext(TF_StringStream *list, const char **result);
TF_NATIVE_EXPORT extern void TF_StringStreamDone(TF_StringStream *list);
/* The names in a folder, in no particular order. NULL on error. */
TF_NATIVE_EXPORT extern TF_StringStream *TF_GetChildren(const char *filename, TF_Status *status);
/* Folders for temporary files: those of the environment, then /tmp. */
TF_NATIVE_EXPORT extern TF_StringStream *TF_GetLocalTempDirectories(void);
/* The name of a file that does not exist, in such a folder; the caller frees it with free(). */
TF_NATIVE_EXPORT extern char *TF_GetTempFileName(const char *extension);

/* The time since 1970. */
TF_NATIVE_EXPORT extern uint64_t TF_NowNanos(void);
TF_NATIVE_EXPORT extern uint64_t TF_NowMicros(void);
TF_NATIVE_EXPORT extern uint64_t TF_NowSeconds(void);

#ifdef __cplusplus
}
#endif

#endif
