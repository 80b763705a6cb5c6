/* Decodes files of images, for the targets of the formats. */
#ifndef TFCORE_TESTS_FUZZ_IMAGE_DECODING_H_
#define TFCORE_TESTS_FUZZ_IMAGE_DECODING_H_

#include "fuzz/fuzz.h"

/* Runs one of `count` nodes, which are written as op and attrs in the text format of NodeDefs, on the file.
 */
void fuzz_decode(const char *const *nodes, int count, int choice, Str file);

#endif
