/* The features that were found in a batch of Examples: for each spec and each Example the bytes of its value.
 * They are counted first, so that outputs are allocated once, and copied then. */
#ifndef TFCORE_OPS_PARSING_FEATURE_TABLE_H_
#define TFCORE_OPS_PARSING_FEATURE_TABLE_H_

#include "base/string_map.h"
#include "ops/parsing/feature_specs.h"

/* A feature of an Example: the list of its values. A feature list: the section with its features. */
typedef struct FoundFeature {
  Str bytes;
  int64_t count; /* values */
  int64_t rows;  /* features of a feature list */
  bool present;
} FoundFeature;

typedef struct FeatureTable {
  FeatureSpecs group;   /* with keys and fallbacks; owned */
  FoundFeature *found;  /* a row for each spec */
  int *next_equal;      /* per spec: the next one with the same key, or -1 */
  StringMap keys;       /* to the first spec of that key */
  int64_t num_examples; /* 1 for a scalar */
  bool is_batch;        /* the outputs have a first dimension for the Examples */
} FeatureTable;

/* An empty table for the Examples in a scalar or vector of strings. It copies the specs; the caller sets keys
 * and fallbacks, and calls feature_table_index. */
MUST_CHECK bool feature_table_init(FeatureTable *table, const FeatureSpecs *group, const Tensor *serialized,
                                   Status *status);
MUST_CHECK bool feature_table_index(FeatureTable *table, Status *status);
/* Also after a failed init. */
void feature_table_free(FeatureTable *table);

/* The first spec of the key, or -1. */
int feature_table_find(const FeatureTable *table, Str key);
static inline FoundFeature *feature_table_row(const FeatureTable *table, int spec) {
  return table->found + spec * table->num_examples;
}
/* Element `i` of a tensor of strings, borrowed. */
static inline Str example_text(const Tensor *tensor, int64_t i) {
  return tstring_view(&tensor_strings(tensor)[i]);
}
/* The name of an Example in messages: an element of `names`, or "<unknown>" if that has none. */
Str example_name(const Tensor *names, int64_t i);

#endif
