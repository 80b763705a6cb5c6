/* The files of golden cases in tests/data/golden. */
#ifndef TFCORE_TESTS_GOLDEN_GOLDEN_FILE_H_
#define TFCORE_TESTS_GOLDEN_GOLDEN_FILE_H_

#include <stdint.h>

#include "golden.pb-c.h"

enum { GOLDEN_NAME_CAPACITY = 64 };

/* Fills in the names of the files, without their extension, and returns their number. */
int golden_file_names(int capacity, char names[][GOLDEN_NAME_CAPACITY]);
/* NULL, with a failing CHECK, if the file cannot be read. Adds its size in bytes to *size unless that is
 * NULL. The caller frees it with tfcore__golden_file__free_unpacked. */
Tfcore__GoldenFile *golden_file_read(const char *name, int64_t *size);
/* The same for a file elsewhere. */
Tfcore__GoldenFile *golden_file_read_path(const char *path, int64_t *size);

#endif
