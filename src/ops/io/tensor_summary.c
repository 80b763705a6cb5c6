/* TensorSummary, TensorSummaryV2: a whole tensor in a summary. */
#include "op/op_registry.h"
#include "ops/io/summary_value.h"

static bool set_tensor(const Tensor *tensor, Arena *arena, SummaryValue *value, Status *status) {
  value->value_case = TENSORFLOW__SUMMARY__VALUE__VALUE_TENSOR;
  return tensor_to_pod_content_proto(tensor, arena, &value->tensor, status);
}

static bool tensor_summary(KernelContext *context, Status *status) {
  Arena *arena;
  Summary *summary;
  SummaryValue *value;
  bool ok = false;
  TRY(summary_begin(&arena, &summary, status));
  TRY_DONE(summary_add(summary, arena, str_of(""), &value, status));
  value->node_name = arena_strdup(arena, context->node_name);
  if (!value->node_name) {
    status_oom(status, "a summary");
    goto done;
  }
  ok = set_tensor(context->inputs[0], arena, value, status) && summary_set_output(context, summary, status);
done:
  arena_free(arena);
  return ok;
}

/* Bytes that are not the message give metadata without contents. */
static bool set_metadata(Str bytes, Arena *arena, SummaryValue *value, Status *status) {
  void *message;
  if (!proto_parse(kSummaryMetadata, bytes.data, bytes.length, arena, &message, status)) {
    if (status->code == CODE_RESOURCE_EXHAUSTED) return false;
    status_init(status);
    message = proto_new(kSummaryMetadata, arena);
  }
  value->metadata = message;
  return message || status_oom(status, "a summary");
}

static bool tensor_summary_v2(KernelContext *context, Status *status) {
  const Tensor *tag = context->inputs[0], *metadata = context->inputs[2];
  Arena *arena;
  Summary *summary;
  SummaryValue *value;
  if (!tensor_is_scalar(tag)) return status_invalid(status, "tag must be scalar");
  if (!tensor_is_scalar(metadata))
    return status_invalid(status, "serialized_summary_metadata must be scalar");
  TRY(summary_begin(&arena, &summary, status));
  bool ok = summary_add(summary, arena, tstring_view(tensor_strings(tag)), &value, status) &&
            set_tensor(context->inputs[1], arena, value, status) &&
            set_metadata(tstring_view(tensor_strings(metadata)), arena, value, status) &&
            summary_set_output(context, summary, status);
  arena_free(arena);
  return ok;
}

const OpRegistration kOpTensorSummary = {
    .name = "TensorSummary",
    .inputs = {"tensor: T"},
    .outputs = {"summary: string"},
    .attrs = {"T: type", "description: string = ''", "labels: list(string) = []",
              "display_name: string = ''"},
    .shape = shape_scalar_output,
    .gradient = NO_GRADIENT,
    .kernels = {{DT_INVALID, tensor_summary}},
};

const OpRegistration kOpTensorSummaryV2 = {
    .name = "TensorSummaryV2",
    .inputs = {"tag: string", "tensor: T", "serialized_summary_metadata: string"},
    .outputs = {"summary: string"},
    .attrs = {"T: type"},
    .shape = shape_scalar_output,
    .gradient = NO_GRADIENT,
    .kernels = {{DT_INVALID, tensor_summary_v2}},
};
