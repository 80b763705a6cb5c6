/* An Example as JSON: what is read must be an Example. (A feature that is null has no value, which
 * TensorFlow's reader of Examples refuses too.) */
#include <string.h>

#include "fuzz/fuzz.h"
#include "ops/parsing/feature.h"
#include "ops/parsing/json_example.h"

static bool has_null(Str json) {
  for (size_t i = 0; i + 4 <= json.length; i++)
    if (memcmp(json.data + i, "null", 4) == 0) return true;
  return false;
}

static void check_features(Str json, Str bytes) {
  Features features = {0};
  Status status;
  status_init(&status);
  bool ok = features_read(bytes, &features, &status);
  FUZZ_CHECK(ok || status.code == CODE_RESOURCE_EXHAUSTED || has_null(json),
             "an Example from JSON is not read: %s", status.message);
  for (int64_t i = 0; ok && i < features.count; i++) {
    Str list = features.entries[i].feature;
    DataType dtype;
    int64_t count;
    bool whole = feature_take_dtype(&list, &dtype, &status) &&
                 (dtype == DT_INVALID || feature_count(dtype, list, &count));
    FUZZ_CHECK(whole, "a feature from JSON is not read: %s", status.message);
  }
  features_free(&features);
}

static void run(const uint8_t *bytes, size_t size) {
  Status status;
  status_init(&status);
  StrBuf out = {0};
  Str json = {(const char *)bytes, size};
  if (json_example_read(json, &out, &status))
    check_features(json, (Str){strbuf_text(&out), (size_t)out.length});
  else fuzz_check_code(status.code, status.message);
  strbuf_free(&out);
}

const FuzzTarget k_json_example_fuzz = {"json_example", run, NULL};
