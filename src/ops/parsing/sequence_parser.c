#include "ops/parsing/sequence_parser.h"

#include "ops/parsing/feature.h"
#include "ops/parsing/wire.h"
#include "ops/support/shape_pattern.h"

/* --- keys --- */

static bool is_ragged(const FeatureSpecs *group, int spec) {
  return spec >= group->num_sparse + group->num_dense;
}

static bool refuse_key(const char *what, Str key, const char *kinds, Status *status) {
  return status_invalid(status, "%s feature %.*s cannot be both %s", what, (int)key.length, key.data, kinds);
}

/* A key may have several specs of one kind. */
static bool check_keys(const FeatureTable *table, const char *what, Status *status) {
  const FeatureSpecs *group = &table->group;
  for (int spec = group->num_sparse; spec < feature_specs_count(group); spec++) {
    Str key = group->specs[spec].key;
    int first = feature_table_find(table, key);
    if (is_ragged(group, spec)) {
      if (first < group->num_sparse) return refuse_key(what, key, "ragged and sparse", status);
      continue;
    }
    for (int other = first; other >= 0; other = table->next_equal[other]) {
      if (other < group->num_sparse || is_ragged(group, other))
        return refuse_key(what, key, "dense and sparse", status);
    }
  }
  return true;
}

/* --- the parts of a SequenceExample --- */

static bool take_entry(Str *bytes, Str *key, Str *value) {
  Str section;
  return wire_take_tag(bytes, WIRE_BYTES(1)) && wire_take_section(bytes, &section) &&
         wire_take_tag(&section, WIRE_BYTES(1)) && wire_take_text(&section, key) &&
         wire_take_tag(&section, WIRE_BYTES(2)) && wire_take_text(&section, value) && section.length == 0;
}

static bool find_features(FeatureTable *table, Str section, int64_t example) {
  while (section.length > 0) {
    Str key, value;
    if (!take_entry(&section, &key, &value)) return false;
    for (int spec = feature_table_find(table, key); spec >= 0; spec = table->next_equal[spec])
      feature_table_row(table, spec)[example] = (FoundFeature){.bytes = value, .present = true};
  }
  return true;
}

static bool find_parts(FeatureTable *context, FeatureTable *lists, Str bytes, int64_t example) {
  while (bytes.length > 0) {
    Str section;
    FeatureTable *table = wire_take_tag(&bytes, WIRE_BYTES(1))   ? context
                          : wire_take_tag(&bytes, WIRE_BYTES(2)) ? lists
                                                                 : NULL;
    bool ok = table ? wire_take_section(&bytes, &section) && find_features(table, section, example)
                    : wire_skip_field(&bytes);
    if (!ok) return false;
  }
  return true;
}

/* --- values --- */

static bool take_dtype(Str *feature, DataType dtype) {
  return wire_take_tag(feature, WIRE_BYTES(dtype == DT_STRING ? 1 : dtype == DT_FLOAT ? 2 : 3));
}

static bool count_context(FeatureTable *table, int spec, const Tensor *names, Status *status) {
  const FeatureSpec *wanted = &table->group.specs[spec];
  FoundFeature *row = feature_table_row(table, spec);
  for (int64_t e = 0; e < table->num_examples; e++) {
    if (row[e].bytes.length == 0) continue;
    if (take_dtype(&row[e].bytes, wanted->dtype) && feature_count(wanted->dtype, row[e].bytes, &row[e].count))
      continue;
    Str name = example_name(names, e);
    return status_invalid(status,
                          "Name: %.*s, Context feature: %.*s.  Data types don't match. Expected type: %s",
                          (int)name.length, name.data, (int)wanted->key.length, wanted->key.data,
                          dtype_name((int)wanted->dtype));
  }
  return true;
}

/* An empty feature has no values, whatever its dtype. */
bool feature_list_take(Str *bytes, DataType dtype, Str *values, int64_t *count, bool *is_feature) {
  uint32_t length;
  Str rest = *bytes;
  *count = 0;
  *is_feature = wire_take_tag(&rest, WIRE_BYTES(1));
  if (!*is_feature) return false;
  *bytes = rest;
  *is_feature = wire_take_length(&rest, &length) && wire_take_section(bytes, values) && length != 1;
  if (!*is_feature || length == 0) return *is_feature;
  return take_dtype(values, dtype) && feature_count(dtype, *values, count) && (length > 2 || *count == 0);
}

static bool refuse_list(const FeatureSpec *wanted, const FoundFeature *found, bool is_feature, Str name,
                        Status *status) {
  Str key = wanted->key;
  if (!is_feature)
    return status_invalid(status, "Error in sequence feature %.*s in example %.*s", (int)key.length, key.data,
                          (int)name.length, name.data);
  return status_invalid(status,
                        "Name: %.*s, Feature list: %.*s, Index: %lld.  Data types don't match. Expected "
                        "type: "
                        "%s",
                        (int)name.length, name.data, (int)key.length, key.data, (long long)found->rows,
                        dtype_name((int)wanted->dtype));
}

static bool count_list(FeatureTable *table, int spec, const Tensor *names, Status *status) {
  const FeatureSpec *wanted = &table->group.specs[spec];
  FoundFeature *row = feature_table_row(table, spec);
  for (int64_t e = 0; e < table->num_examples; e++) {
    Str rest = row[e].bytes, values;
    bool is_feature;
    for (int64_t count; rest.length > 0; row[e].rows++) {
      if (!feature_list_take(&rest, wanted->dtype, &values, &count, &is_feature))
        return refuse_list(wanted, &row[e], is_feature, example_name(names, e), status);
      row[e].count += count;
    }
  }
  return true;
}

/* --- what dense features must have --- */

static bool check_context_dense(const FeatureTable *table, int spec, const Tensor *names, Status *status) {
  const FeatureSpec *wanted = &table->group.specs[spec];
  const FoundFeature *row = feature_table_row(table, spec);
  int64_t fallback = tensor_num_elements(wanted->fallback), most = fallback;
  Str key = wanted->key;
  for (int64_t e = 0; e < table->num_examples; e++) most = row[e].count > most ? row[e].count : most;
  if (most != wanted->stride)
    return status_invalid(status,
                          "Inconsistent max number of elements for feature %.*s: expected %lld, but found "
                          "%lld",
                          (int)key.length, key.data, (long long)wanted->stride, (long long)most);
  for (int64_t e = 0; e < table->num_examples; e++) {
    if (!row[e].present && fallback == 0)
      return status_invalid(status, "Feature: %.*s (data type: %s) is required but could not be found.",
                            (int)key.length, key.data, dtype_name((int)wanted->dtype));
    Str name = example_name(names, e);
    if (row[e].present && row[e].count != most)
      return status_invalid(status, "Unexpected number of elements in example %.*s", (int)name.length,
                            name.data);
  }
  return true;
}

static bool check_rows(const FeatureSpec *wanted, const FoundFeature *found, Str name, Status *status) {
  Str rest = found->bytes, values;
  char text[SHAPE_TEXT_CAPACITY];
  bool is_feature;
  int64_t count;
  for (int64_t i = 0; i < found->rows; i++) {
    if (!feature_list_take(&rest, wanted->dtype, &values, &count, &is_feature) || count == wanted->stride)
      continue;
    return status_invalid(status,
                          "Name: %.*s, Key: %.*s, Index: %lld.  Number of values != expected.  values size: "
                          "%lld but output shape: %s",
                          (int)name.length, name.data, (int)wanted->key.length, wanted->key.data,
                          (long long)i, (long long)count, partial_shape_text(wanted->shape, text));
  }
  return true;
}

static bool check_list_size(const FeatureTable *table, int spec, Status *status) {
  const FeatureSpec *wanted = &table->group.specs[spec];
  const FoundFeature *row = feature_table_row(table, spec);
  int64_t most = 0;
  char text[SHAPE_TEXT_CAPACITY];
  for (int64_t e = 0; e < table->num_examples; e++) most = row[e].count > most ? row[e].count : most;
  if (wanted->stride > 0 ? most % wanted->stride == 0 : most == 0) return true;
  partial_shape_text(wanted->shape, text);
  return status_invalid(status,
                        "Feature list '%.*s' has an unexpected number of values.  Total values size: %lld is "
                        "not consistent with output shape: [?%s%s",
                        (int)wanted->key.length, wanted->key.data, (long long)most,
                        wanted->shape->n_dim > 0 ? "," : "", text + 1);
}

static bool check_list_dense(const FeatureTable *table, int spec, const Tensor *names, Status *status) {
  const FeatureSpec *wanted = &table->group.specs[spec];
  const FoundFeature *row = feature_table_row(table, spec);
  TRY(check_list_size(table, spec, status));
  for (int64_t e = 0; e < table->num_examples; e++) {
    Str name = example_name(names, e);
    if (!row[e].present && !wanted->may_be_missing)
      return status_invalid(status,
                            "Name: %.*s, Feature list '%.*s' is required but could not be found.  Did you "
                            "mean "
                            "to include it in feature_list_dense_missing_assumed_empty or "
                            "feature_list_dense_defaults?",
                            (int)name.length, name.data, (int)wanted->key.length, wanted->key.data);
    TRY(check_rows(wanted, &row[e], name, status));
  }
  return true;
}

/* --- all of it --- */

static bool find_all(FeatureTable *context, FeatureTable *lists, const Tensor *serialized,
                     const Tensor *names, Status *status) {
  if (tensor_num_elements(names) > 0 && tensor_num_elements(names) != context->num_examples)
    return status_invalid(status, "example_names must be empty or have the correct number of elements");
  TRY(check_keys(context, "Context", status) && check_keys(lists, "Sequence", status));
  for (int64_t e = 0; e < context->num_examples; e++) {
    Str name = example_name(names, e);
    if (!find_parts(context, lists, example_text(serialized, e), e))
      return status_invalid(status, "Invalid protocol message input, example id: %.*s", (int)name.length,
                            name.data);
  }
  return true;
}

typedef bool SpecCheck(const FeatureTable *table, int spec, const Tensor *names, Status *status);

static bool check_each_dense(const FeatureTable *table, const Tensor *names, SpecCheck *check,
                             Status *status) {
  int first = table->group.num_sparse;
  for (int i = 0; i < table->group.num_dense; i++) TRY(check(table, first + i, names, status));
  return true;
}

bool sequences_parse(FeatureTable *context, FeatureTable *lists, const Tensor *serialized,
                     const Tensor *names, Status *status) {
  TRY(find_all(context, lists, serialized, names, status));
  for (int i = 0; i < feature_specs_count(&context->group); i++)
    TRY(count_context(context, i, names, status));
  for (int i = 0; i < feature_specs_count(&lists->group); i++) TRY(count_list(lists, i, names, status));
  return check_each_dense(context, names, check_context_dense, status) &&
         check_each_dense(lists, names, check_list_dense, status);
}
