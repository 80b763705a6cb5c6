/* SerializeTensor, ParseTensor: tensors as bytes of a TensorProto. */
#include "op/node_def.h"
#include "op/op_registry.h"
#include "ops/parsing/feature_table.h"

static bool serialize_tensor(KernelContext *context, Status *status) {
  Arena *arena = arena_new();
  TensorProto *proto;
  StrBuf bytes = {0};
  Tensor *out;
  bool ok = arena || status_oom(status, "a serialized tensor");
  ok = ok && tensor_to_pod_content_proto(context->inputs[0], arena, &proto, status) &&
       proto_serialize(proto, &bytes, status) && strbuf_ok(&bytes, status) &&
       kernel_allocate_output_dims(context, 0, 0, NULL, &out, status) &&
       tstring_set(tensor_strings(out), strbuf_text(&bytes), (size_t)bytes.length, status);
  strbuf_free(&bytes);
  arena_free(arena);
  return ok;
}

static bool refuse_proto(const TensorProto *proto, Status *status) {
  StrBuf text = {0};
  proto_print_text(proto, PROTO_TEXT_MULTI_LINE, &text);
  status_reword(status, CODE_INVALID_ARGUMENT, "Cannot parse tensor from proto: %s", strbuf_text(&text));
  strbuf_free(&text);
  return false;
}

static bool parse_message(Str bytes, Arena *arena, Tensor *tensor, Status *status) {
  void *message;
  if (!proto_parse(kTensorProto, bytes.data, bytes.length, arena, &message, status))
    return status_reword(status, CODE_INVALID_ARGUMENT, "Could not parse `serialized` as TensorProto");
  return tensor_from_proto(message, tensor, status) || refuse_proto(message, status);
}

static bool parse_tensor(KernelContext *context, Status *status) {
  const Tensor *serialized = context->inputs[0];
  char text[SHAPE_TEXT_CAPACITY];
  if (!tensor_is_scalar(serialized))
    return status_invalid(status, "Expected `serialized` to be a scalar, got shape: %s",
                          shape_text(&serialized->shape, text));
  Arena *arena = arena_new();
  if (!arena) return status_oom(status, "a serialized tensor");
  Tensor tensor = {0};
  bool ok = parse_message(example_text(serialized, 0), arena, &tensor, status);
  if (ok && tensor.dtype != context->output_types[0])
    ok = status_invalid(status, "Type mismatch between parsed tensor (%s) and dtype (%s)",
                        dtype_name((int)tensor.dtype), dtype_name((int)context->output_types[0]));
  if (ok) tensor_move(&context->outputs[0], &tensor);
  tensor_clear(&tensor);
  arena_free(arena);
  return ok;
}

const OpRegistration kOpSerializeTensor = {
    .name = "SerializeTensor",
    .inputs = {"tensor: T"},
    .outputs = {"serialized: string"},
    .attrs = {"T: type"},
    .shape = shape_scalar_output,
    .gradient = NO_GRADIENT,
    .kernels = {{DT_INVALID, serialize_tensor}},
};

const OpRegistration kOpParseTensor = {
    .name = "ParseTensor",
    .inputs = {"serialized: string"},
    .outputs = {"output: out_type"},
    .attrs = {"out_type: type"},
    .shape = shape_unknown_outputs,
    .gradient = NO_GRADIENT,
    .kernels = {{DT_INVALID, parse_tensor}},
};
