/* Reading Examples: the features by name, and the values of a feature.
 *
 *   Features features = {0};
 *   TRY_DONE(features_read(example, &features, status));
 *   Str list = features.entries[0].feature;
 *   TRY_DONE(feature_take_dtype(&list, &dtype, status));
 *   if (!feature_count(dtype, list, &count)) ... // damaged
 *   TRY_DONE(feature_copy(dtype, list, out, 0, status)); // `count` elements
 *
 * Everything is borrowed from the bytes of the Example. Damaged bytes never lead outside of them.
 */
#ifndef TFCORE_OPS_PARSING_FEATURE_H_
#define TFCORE_OPS_PARSING_FEATURE_H_

#include "tensor/tensor.h"

typedef struct FeatureEntry {
  Str key, feature;
} FeatureEntry;

/* Entries in the order of the bytes; of several with a key the last one counts. Zero-initialise. */
typedef struct Features {
  FeatureEntry *entries;
  int64_t count, capacity;
} Features;

/* Replaces the entries by those of an Example. INVALID_ARGUMENT "Could not parse example input, value:
 * '...'". */
MUST_CHECK bool features_read(Str example, Features *features, Status *status);
void features_free(Features *features);

/* Takes the dtype of a feature from its front; what follows is the list of its values. DT_INVALID: it has no
 * value. INVALID_ARGUMENT "Unsupported datatype." */
MUST_CHECK bool feature_take_dtype(Str *feature, DataType *dtype, Status *status);
/* The number of values in a list of float, int64 or string; false when the bytes are damaged. */
MUST_CHECK bool feature_count(DataType dtype, Str list, int64_t *count);
/* Copies the values of a list, which were counted, into elements `first` ... of a tensor of that dtype. */
MUST_CHECK bool feature_copy(DataType dtype, Str list, Tensor *to, int64_t first, Status *status);

#endif
