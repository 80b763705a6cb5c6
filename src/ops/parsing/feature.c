#include "ops/parsing/feature.h"

#include <string.h>

#include "base/alloc.h"
#include "checkpoint/coding.h"
#include "ops/parsing/wire.h"

/* --- features by name --- */

/* Key and feature in any order. */
static bool take_entry(Str *bytes, FeatureEntry *entry) {
  Str section;
  if (!wire_take_section(bytes, &section)) return false;
  for (int i = 0; i < 2; i++) {
    uint32_t tag;
    if (!wire_take_length(&section, &tag)) return false;
    if (tag != WIRE_BYTES(1) && tag != WIRE_BYTES(2)) return false;
    if (!wire_take_text(&section, tag == WIRE_BYTES(1) ? &entry->key : &entry->feature)) return false;
  }
  return section.length == 0;
}

static bool take_features(Str *bytes, Features *features, bool *out_of_memory) {
  Str section;
  if (!wire_take_section(bytes, &section)) return false;
  while (section.length > 0) {
    FeatureEntry entry = {{"", 0}, {"", 0}};
    if (!wire_take_tag(&section, WIRE_BYTES(1)) || !take_entry(&section, &entry)) return false;
    *out_of_memory = !mem_grow((void **)&features->entries, &features->capacity, features->count + 1,
                               sizeof *features->entries);
    if (*out_of_memory) return false;
    features->entries[features->count++] = entry;
  }
  return true;
}

bool features_read(Str example, Features *features, Status *status) {
  Str rest = example;
  bool ok = true, out_of_memory = false;
  features->count = 0;
  while (ok && rest.length > 0)
    ok = wire_take_tag(&rest, WIRE_BYTES(1)) ? take_features(&rest, features, &out_of_memory)
                                             : wire_skip_field(&rest);
  if (out_of_memory) return status_oom(status, "the features of an Example");
  return ok || status_invalid(status, "Could not parse example input, value: '%.*s'", (int)example.length,
                              example.data);
}

void features_free(Features *features) { mem_free(features->entries); }

/* --- values --- */

bool feature_take_dtype(Str *feature, DataType *dtype, Status *status) {
  static const DataType kDtypes[] = {DT_STRING, DT_FLOAT, DT_INT64};
  *dtype = DT_INVALID;
  if (feature->length == 0) return true;
  for (int i = 0; i < 3; i++) {
    if (!wire_take_tag(feature, WIRE_BYTES(i + 1))) continue;
    *dtype = kDtypes[i];
    return true;
  }
  return status_invalid(status, "Unsupported datatype.");
}

/* The following count the values, and store them unless `to` is NULL. */

static bool read_floats(Str list, float *to, int64_t *count) {
  Str values;
  if (wire_next_is(&list, WIRE_BYTES(1))) {
    uint32_t length;
    if (!wire_take_tag(&list, WIRE_BYTES(1)) || !wire_take_length(&list, &length)) return false;
    *count = length / sizeof(float);
    if (!take_bytes(&list, (uint64_t)*count * sizeof(float), &values)) return false;
    if (to && *count > 0) memcpy(to, values.data, values.length);
    return true;
  }
  for (*count = 0; list.length > 0; ++*count) {
    if (!wire_take_tag(&list, WIRE_FIXED32(1)) || !take_bytes(&list, sizeof(float), &values)) return false;
    if (to) memcpy(to + *count, values.data, sizeof(float));
  }
  return true;
}

static bool read_ints(Str list, int64_t *to, int64_t *count) {
  bool packed = wire_take_tag(&list, WIRE_BYTES(1));
  uint64_t value;
  if (packed) {
    Str values;
    if (!wire_take_section(&list, &values)) return false;
    list = values;
  }
  for (*count = 0; list.length > 0; ++*count) {
    if (!packed && !wire_take_tag(&list, WIRE_VARINT(1))) return false;
    if (!take_varint(&list, &value)) return false;
    if (to) to[*count] = (int64_t)value;
  }
  return true;
}

static bool count_texts(Str list, int64_t *count) {
  Str text;
  for (*count = 0; list.length > 0; ++*count) {
    if (!wire_take_tag(&list, WIRE_BYTES(1)) || !wire_take_text(&list, &text)) return false;
  }
  return true;
}

static bool copy_texts(Str list, TString *to, Status *status) {
  Str text;
  for (; wire_take_tag(&list, WIRE_BYTES(1)) && wire_take_text(&list, &text); to++)
    TRY(tstring_set(to, text.data, text.length, status));
  return true;
}

bool feature_count(DataType dtype, Str list, int64_t *count) {
  Str values;
  if (!wire_take_section(&list, &values)) return false;
  return dtype == DT_FLOAT   ? read_floats(values, NULL, count)
         : dtype == DT_INT64 ? read_ints(values, NULL, count)
                             : count_texts(values, count);
}

bool feature_copy(DataType dtype, Str list, Tensor *to, int64_t first, Status *status) {
  Str values;
  int64_t count;
  if (!wire_take_section(&list, &values)) return true; /* cannot be, because it was counted */
  if (dtype == DT_STRING) return copy_texts(values, tensor_strings(to) + first, status);
  bool ok = dtype == DT_FLOAT ? read_floats(values, tensor_f32(to) + first, &count)
                              : read_ints(values, tensor_i64(to) + first, &count);
  return ok || status_set(status, CODE_INTERNAL, "The values of a feature have changed");
}
