#include "ops/nn/lstm_tensors.h"

#include "op/node_def.h"

bool lstm_construct(const KernelConstruction *construction, void *memory, Status *status) {
  const NodeDef *node = construction->node;
  LstmAttrs *attrs = memory;
  if (node_def_attr(node, "forget_bias"))
    TRY(node_attr_float(node, "forget_bias", &attrs->forget_bias, status));
  if (node_def_attr(node, "cell_clip")) TRY(node_attr_float(node, "cell_clip", &attrs->clip, status));
  return node_attr_bool(node, "use_peephole", &attrs->peephole, status);
}

bool lstm_read(KernelContext *context, int first, LstmTensors *tensors, Status *status) {
  for (int i = first; i < context->num_inputs; i++)
    TRY(image_read(context, context->inputs[i], NULL, false, &tensors->in[i], status));
  for (int i = 0; i < context->num_outputs; i++)
    TRY(image_begin(context, &context->outputs[i], false, &tensors->out[i], status));
  return true;
}

bool lstm_finish(KernelContext *context, LstmTensors *tensors, bool ok, Status *status) {
  for (int i = 0; i < context->num_outputs; i++) {
    ok = ok && image_finish(context, &tensors->out[i], NULL, false, &context->outputs[i], status);
    image_drop(&tensors->out[i]);
  }
  for (int i = 0; i < context->num_inputs; i++) image_drop(&tensors->in[i]);
  return ok;
}

LstmCell lstm_cell(const LstmAttrs *attrs, bool forget_first, const LstmTensors *tensors, int w) {
  return (LstmCell){
      .candidate = forget_first ? 2 : 1,
      .forget = forget_first ? 1 : 2,
      .peephole = attrs->peephole,
      .forget_bias = attrs->forget_bias,
      .clip = attrs->clip,
      .w = tensors->in[w].data,
      .wci = tensors->in[w + 1].data,
      .wcf = tensors->in[w + 2].data,
      .wco = tensors->in[w + 3].data,
      .b = tensors->in[w + 4].data,
  };
}
