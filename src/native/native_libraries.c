/* Libraries of ops, which cannot be loaded: they need TensorFlow's C++ interface. */
#include <string.h>

#include "base/file_store.h"
#include "c_api/c_api_internal.h"
#include "tensorflow/c/c_api_experimental.h"

static TF_Library *refuse(const char *path, TF_Status *status) {
  Status missing;
  int64_t size;
  start_status(status);
  status_init(&missing);
  if (!kDiskFiles.size(path, &size, &missing))
    status_set(&status->status, CODE_NOT_FOUND,
               "%s: cannot open shared object file: No such file or directory", path);
  else
    status_set(&status->status, CODE_UNIMPLEMENTED,
               "%s cannot be loaded: libraries of ops need TensorFlow's C++ interface", path);
  return NULL;
}

TF_Library *TF_LoadLibrary(const char *library_filename, TF_Status *status) {
  return refuse(library_filename, status);
}

TF_Buffer TF_GetOpList(TF_Library *lib_handle) {
  (void)lib_handle;
  return (TF_Buffer){NULL, 0, NULL};
}

void TF_DeleteLibraryHandle(TF_Library *lib_handle) { (void)lib_handle; }

TF_Library *TF_LoadPluggableDeviceLibrary(const char *library_filename, TF_Status *status) {
  return refuse(library_filename, status);
}

void TF_DeletePluggableDeviceLibraryHandle(TF_Library *lib_handle) { (void)lib_handle; }
