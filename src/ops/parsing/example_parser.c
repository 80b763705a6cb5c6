#include "ops/parsing/example_parser.h"

#include "ops/parsing/feature.h"
#include "ops/support/shape_pattern.h"

/* --- messages --- */

/* The feature that is looked at. */
typedef struct Place {
  const FeatureSpec *spec;
  bool is_batch;
  Str example;
  int64_t index;
} Place;

static const char *list_kind(DataType dtype) {
  return dtype == DT_STRING ? "bytes" : dtype == DT_INT64 ? "int64" : "float";
}

/* Begins the message with the place; the caller appends the rest. Returns false. */
static bool begin_refusal(const Place *at, Status *status) {
  Str key = at->spec->key, name = at->example;
  if (!at->is_batch) return status_invalid(status, "Key: %.*s.  ", (int)key.length, key.data);
  return status_invalid(status, "Name: %.*s, Key: %.*s, Index: %lld.  ", (int)name.length, name.data,
                        (int)key.length, key.data, (long long)at->index);
}

/* `why`: a format for the kind of list; only for single Examples. */
static bool refuse_damaged(const Place *at, const char *why, Status *status) {
  begin_refusal(at, status);
  status_append(status,
                at->is_batch ? "Can't parse serialized Example." : "Can't parse serialized Example: ");
  return at->is_batch ? false : status_append(status, why, list_kind(at->spec->dtype));
}

static bool refuse_dtype(const Place *at, bool is_dense, DataType got, Status *status) {
  const char *wanted = dtype_name((int)at->spec->dtype), *found = dtype_name((int)got);
  begin_refusal(at, status);
  status_append(status, "Data types don't match. ");
  return is_dense ? status_append(status, "Data type: %s but expected type: %s", found, wanted)
                  : status_append(status, "Expected type: %s, Actual type: %s", wanted, found);
}

static bool refuse_count(const Place *at, int64_t count, Status *status) {
  char text[SHAPE_TEXT_CAPACITY];
  const FeatureSpec *spec = at->spec;
  bool too_many_texts = spec->dtype == DT_STRING && count > spec->stride;
  if (!at->is_batch || too_many_texts)
    return refuse_damaged(at,
                          too_many_texts ? "Parsing %s_list failed." : "Some %s_list slice was not parsed.",
                          status);
  begin_refusal(at, status);
  return status_append(status, "Number of %s values != expected.  Values size: %lld but output shape: %s",
                       list_kind(spec->dtype), (long long)count, partial_shape_text(spec->shape, text));
}

static bool refuse_rows(const Place *at, int64_t count, Status *status) {
  char text[SHAPE_TEXT_CAPACITY];
  const FeatureSpec *spec = at->spec;
  if (!at->is_batch)
    return status_invalid(status,
                          "Error while parsing feature with key %.*s: number of elements should be divisible "
                          "by %lld, found %lld instead",
                          (int)spec->key.length, spec->key.data, (long long)spec->stride, (long long)count);
  begin_refusal(at, status);
  return status_append(status,
                       "Number of %s values is not a multiple of stride length. Saw %lld values but output "
                       "shape is: %s",
                       list_kind(spec->dtype), (long long)count, partial_shape_text(spec->shape, text));
}

static bool refuse_missing(const Place *at, Status *status) {
  Str key = at->spec->key, name = at->example;
  const char *dtype = dtype_name((int)at->spec->dtype);
  if (!at->is_batch)
    return status_invalid(status, "Feature: %.*s (data type: %s) is required but could not be found.",
                          (int)key.length, key.data, dtype);
  return status_invalid(status,
                        "Name: %.*s, Feature: %.*s (data type: %s) is required but could not be found.",
                        (int)name.length, name.data, (int)key.length, key.data, dtype);
}

/* --- features --- */

static bool check_dense(const Place *at, int64_t count, Status *status) {
  int64_t stride = at->spec->stride;
  if (!at->spec->variable_length) return count == stride || refuse_count(at, count, status);
  return (stride > 0 ? count % stride : count) == 0 || refuse_rows(at, count, status);
}

/* A feature without a value is missing, except that TensorFlow counts it as present where that makes no
 * difference. */
static bool take_feature(const Place *at, bool is_dense, Str feature, FoundFeature *found, Status *status) {
  const FeatureSpec *spec = at->spec;
  DataType dtype;
  TRY(feature_take_dtype(&feature, &dtype, status));
  if (found->present || (dtype == DT_INVALID && (is_dense || !at->is_batch))) return true;
  found->present = true;
  if (dtype == DT_INVALID) return true;
  if (dtype != spec->dtype) return refuse_dtype(at, is_dense, dtype, status);
  found->bytes = feature;
  if (!feature_count(dtype, feature, &found->count)) {
    bool fixed = is_dense && !spec->variable_length;
    return refuse_damaged(at,
                          fixed || dtype != DT_STRING ? "Parsing %s_list failed."
                                                      : "Could not get num elements in %s_list.",
                          status);
  }
  return !is_dense || check_dense(at, found->count, status);
}

static bool check_present(const FeatureTable *table, Place *at, Status *status) {
  const FeatureSpecs *group = &table->group;
  for (int i = 0; i < group->num_dense; i++) {
    const FeatureSpec *spec = feature_specs_dense(group) + i;
    bool present = feature_table_row(table, group->num_sparse + i)[at->index].present;
    at->spec = spec;
    if (!present && !spec->variable_length && tensor_num_elements(spec->fallback) == 0)
      return refuse_missing(at, status);
  }
  return true;
}

/* From the last feature to the first: of several with a key the last one counts. */
static bool parse_one(FeatureTable *table, const Features *features, Place *at, Status *status) {
  const FeatureSpecs *group = &table->group;
  for (int64_t i = features->count - 1; i >= 0; i--) {
    const FeatureEntry *entry = &features->entries[i];
    int spec = feature_table_find(table, entry->key);
    if (spec < 0) continue;
    bool is_dense = spec >= group->num_sparse && spec < group->num_sparse + group->num_dense;
    at->spec = &group->specs[spec];
    TRY(take_feature(at, is_dense, entry->feature, feature_table_row(table, spec) + at->index, status));
  }
  return check_present(table, at, status);
}

bool examples_parse(FeatureTable *table, const Tensor *serialized, const Tensor *names, Status *status) {
  Features features = {0};
  bool ok = true;
  for (int64_t e = 0; ok && e < table->num_examples; e++) {
    Place at = {.is_batch = table->is_batch, .index = e};
    if (table->is_batch) at.example = example_name(names, e);
    ok = features_read(example_text(serialized, e), &features, status) &&
         parse_one(table, &features, &at, status);
  }
  features_free(&features);
  return ok;
}
