/* DecodeJSONExample: serialized Examples from JSON. */
#include "op/op_registry.h"
#include "ops/parsing/feature_table.h"
#include "ops/parsing/json_example.h"

static bool decode_json_example(KernelContext *context, Status *status) {
  const Tensor *in = context->inputs[0];
  Tensor *out;
  StrBuf bytes = {0};
  bool ok = kernel_allocate_output(context, 0, &in->shape, &out, status);
  for (int64_t i = 0; ok && i < tensor_num_elements(in); i++) {
    strbuf_clear(&bytes);
    ok = json_example_read(example_text(in, i), &bytes, status) &&
         tstring_set(&tensor_strings(out)[i], strbuf_text(&bytes), (size_t)bytes.length, status);
  }
  strbuf_free(&bytes);
  return ok;
}

const OpRegistration kOpDecodeJSONExample = {
    .name = "DecodeJSONExample",
    .inputs = {"json_examples: string"},
    .outputs = {"binary_examples: string"},
    .shape = shape_unchanged,
    .gradient = NO_GRADIENT,
    .kernels = {{DT_INVALID, decode_json_example}},
};
