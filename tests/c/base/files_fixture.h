/* Writes and checks small files in the current file store. */
#ifndef TFCORE_TESTS_BASE_FILES_FIXTURE_H_
#define TFCORE_TESTS_BASE_FILES_FIXTURE_H_

#include <string.h>

#include "base/alloc.h"
#include "base/file_store.h"
#include "harness.h"

static inline void write_text(const char *path, bool append, const char *text) {
  Status status;
  status_init(&status);
  CHECK_OK(file_store()->write(path, append, text, (int64_t)strlen(text), &status), status);
}

static inline void check_text(const char *path, const char *want) {
  Status status;
  char *bytes = NULL;
  int64_t size;
  status_init(&status);
  if (CHECK_OK(file_read_all(path, 100, &bytes, &size, &status), status)) {
    CHECK_INT_EQ(size, strlen(want));
    CHECK_STR_EQ(bytes, want);
  }
  mem_free(bytes);
}

#endif
