/* Summaries: serialised messages for TensorBoard. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/string_map.h"
#include "base/sync.h"
#include "op/op_registry.h"
#include "ops/io/summary_value.h"

static Str string_at(const Tensor *tensor, int64_t i) { return tstring_view(&tensor_strings(tensor)[i]); }

bool summary_begin(Arena **arena, Summary **summary, Status *status) {
  *arena = arena_new();
  *summary = !*arena ? NULL : proto_new(kSummary, *arena);
  if (*summary) return true;
  arena_free(*arena);
  return status_oom(status, "a summary");
}

bool summary_add(Summary *summary, Arena *arena, Str tag, SummaryValue **value, Status *status) {
  *value = proto_new(kSummaryValue, arena);
  char *copy = arena_strndup(arena, tag.data, tag.length);
  if (!*value || !copy) return status_oom(status, "a summary");
  (*value)->tag = (ProtobufCBinaryData){tag.length, (uint8_t *)copy};
  return proto_append(arena, (void ***)&summary->value, &summary->n_value, *value, status);
}

bool summary_set_output(KernelContext *context, const Summary *summary, Status *status) {
  StrBuf bytes = {0};
  Tensor *out;
  bool ok = proto_serialize(summary, &bytes, status) && strbuf_ok(&bytes, status) &&
            kernel_allocate_output_dims(context, 0, 0, NULL, &out, status) &&
            tstring_set(tensor_strings(out), strbuf_text(&bytes), (size_t)bytes.length, status);
  strbuf_free(&bytes);
  return ok;
}

double summary_number(const Tensor *tensor, int64_t i) {
  if (tensor->dtype == DT_HALF) return half_to_float(((const uint16_t *)tensor->data)[i]);
  if (tensor->dtype == DT_BFLOAT16) return bfloat16_to_float(((const uint16_t *)tensor->data)[i]);
  return tensor_double_at(tensor, i);
}

/* --- ScalarSummary --- */

static bool scalar_summary(KernelContext *context, Status *status) {
  const Tensor *tags = context->inputs[0], *values = context->inputs[1];
  Arena *arena;
  Summary *summary;
  bool ok = false;
  if (!shape_equal(&tags->shape, &values->shape)) {
    char a[SHAPE_TEXT_CAPACITY], b[SHAPE_TEXT_CAPACITY];
    status_invalid(status, "tags and values are not the same shape: %s != %s", shape_text(&tags->shape, a),
                   shape_text(&values->shape, b));
    if (tensor_num_elements(tags) != 1) return false;
    return status_append(status, " (tag '%.*s')", (int)string_at(tags, 0).length, string_at(tags, 0).data);
  }
  TRY(summary_begin(&arena, &summary, status));
  int64_t count = tensor_num_elements(tags);
  for (int64_t i = 0; i < count; i++) {
    SummaryValue *value;
    TRY_DONE(summary_add(summary, arena, string_at(tags, i), &value, status));
    value->value_case = TENSORFLOW__SUMMARY__VALUE__VALUE_SIMPLE_VALUE;
    value->simple_value = (float)summary_number(values, i);
  }
  ok = summary_set_output(context, summary, status);
done:
  arena_free(arena);
  return ok;
}

const OpRegistration kOpScalarSummary = {
    .name = "ScalarSummary",
    .inputs = {"tags: string", "values: T"},
    .outputs = {"summary: string"},
    .attrs = {"T: realnumbertype"},
    .shape = shape_scalar_output,
    .gradient = NO_GRADIENT,
    .kernels = {{DT_INVALID, scalar_summary}},
};

/* --- HistogramSummary --- */

/* TensorFlow's buckets: limits that grow by a tenth from 1e-12 to 1e20 on both sides of zero, and one for
 * larger values. */
enum { MAX_LIMITS = 1600 };
static double limits[MAX_LIMITS];
static int num_limits;
static Once limits_made = ONCE_INIT;

static void make_limits(void) {
  double positive[MAX_LIMITS / 2];
  int count = 0;
  for (double limit = 1e-12; limit < 1e20; limit *= 1.1) positive[count++] = limit;
  positive[count++] = DBL_MAX;
  for (int i = count - 1; i >= 0; i--) limits[num_limits++] = -positive[i];
  limits[num_limits++] = 0;
  for (int i = 0; i < count; i++) limits[num_limits++] = positive[i];
}

/* The first limit above the value. */
static int bucket_of(double value) {
  int low = 0, high = num_limits - 1; /* the largest number belongs to the last bucket */
  while (low < high) {
    int middle = (low + high) / 2;
    if (limits[middle] > value) high = middle;
    else low = middle + 1;
  }
  return low;
}

/* Merges runs of empty buckets. */
static bool set_buckets(HistogramProto *histogram, const double *counts, Arena *arena, Status *status) {
  histogram->bucket_limit = arena_calloc(arena, num_limits, sizeof(double));
  histogram->bucket = arena_calloc(arena, num_limits, sizeof(double));
  if (!histogram->bucket_limit || !histogram->bucket) return status_oom(status, "a summary");
  size_t n = 0;
  for (int i = 0; i < num_limits; n++) {
    int last = i;
    while (counts[i] <= 0 && last + 1 < num_limits && counts[last + 1] <= 0) last++;
    histogram->bucket_limit[n] = limits[last];
    histogram->bucket[n] = counts[last];
    i = last + 1;
  }
  histogram->n_bucket_limit = histogram->n_bucket = n;
  return true;
}

static bool fill_histogram(KernelContext *context, HistogramProto *histogram, Arena *arena, Status *status) {
  const Tensor *values = context->inputs[1];
  int64_t count = tensor_num_elements(values);
  double *counts = arena_calloc(arena, num_limits, sizeof *counts);
  if (!counts) return status_oom(status, "a summary");
  histogram->min = DBL_MAX;
  histogram->max = -DBL_MAX;
  for (int64_t i = 0; i < count; i++) {
    double value = summary_number(values, i);
    if (isnan(value)) return status_invalid(status, "Nan in summary histogram for: %s", context->node_name);
    if (isinf(value)) return status_invalid(status, "Infinity in Histogram for: %s", context->node_name);
    counts[bucket_of(value)]++;
    if (value < histogram->min) histogram->min = value;
    if (value > histogram->max) histogram->max = value;
    histogram->sum += value;
    histogram->sum_squares += value * value;
  }
  histogram->num = (double)count;
  return set_buckets(histogram, counts, arena, status);
}

static bool histogram_summary(KernelContext *context, Status *status) {
  Arena *arena;
  Summary *summary;
  SummaryValue *value;
  bool ok = false;
  if (!tensor_is_scalar(context->inputs[0])) return status_invalid(status, "tags must be scalar");
  once_run(&limits_made, make_limits);
  TRY(summary_begin(&arena, &summary, status));
  TRY_DONE(summary_add(summary, arena, string_at(context->inputs[0], 0), &value, status));
  value->value_case = TENSORFLOW__SUMMARY__VALUE__VALUE_HISTO;
  value->histo = proto_new(kHistogramProto, arena);
  if (!value->histo) {
    status_oom(status, "a summary");
    goto done;
  }
  ok = fill_histogram(context, value->histo, arena, status) && summary_set_output(context, summary, status);
done:
  arena_free(arena);
  return ok;
}

const OpRegistration kOpHistogramSummary = {
    .name = "HistogramSummary",
    .inputs = {"tag: string", "values: T"},
    .outputs = {"summary: string"},
    .attrs = {"T: realnumbertype = DT_FLOAT"},
    .shape = shape_scalar_output,
    .gradient = NO_GRADIENT,
    .kernels = {{DT_INVALID, histogram_summary}},
};

/* --- MergeSummary --- */

static bool merge_one(Summary *merged, StringMap *tags, Arena *arena, Str bytes, Status *status) {
  void *message;
  if (!proto_parse(kSummary, bytes.data, bytes.length, arena, &message, status)) {
    return status_reword(status, CODE_INVALID_ARGUMENT, "Could not parse one of the summary inputs");
  }
  const Summary *summary = message;
  for (size_t i = 0; i < summary->n_value; i++) {
    SummaryValue *value = summary->value[i];
    if (value->tag.len > 0) {
      const char *tag = (const char *)value->tag.data;
      if (string_map_find_bytes(tags, tag, value->tag.len)) {
        return status_invalid(status, "Duplicate tag %.*s found in summary inputs ", (int)value->tag.len,
                              tag);
      }
      TRY(string_map_set_bytes(tags, tag, value->tag.len, value, status));
    }
    TRY(proto_append(arena, (void ***)&merged->value, &merged->n_value, value, status));
  }
  return true;
}

static bool merge_summary(KernelContext *context, Status *status) {
  Arena *arena;
  Summary *merged;
  StringMap tags = {0};
  bool ok = false;
  TRY(summary_begin(&arena, &merged, status));
  for (int i = 0; i < context->num_inputs; i++) {
    int64_t count = tensor_num_elements(context->inputs[i]);
    for (int64_t k = 0; k < count; k++)
      TRY_DONE(merge_one(merged, &tags, arena, string_at(context->inputs[i], k), status));
  }
  ok = summary_set_output(context, merged, status);
done:
  string_map_free(&tags);
  arena_free(arena);
  return ok;
}

const OpRegistration kOpMergeSummary = {
    .name = "MergeSummary",
    .inputs = {"inputs: N * string"},
    .outputs = {"summary: string"},
    .attrs = {"N: int >= 1"},
    .shape = shape_scalar_output,
    .gradient = NO_GRADIENT,
    .kernels = {{DT_INVALID, merge_summary}},
};
