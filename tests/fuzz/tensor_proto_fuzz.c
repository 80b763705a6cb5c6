/* Converts a TensorProto, as bytes or text, to a Tensor and back. The first byte selects the format. */
#include "fuzz/fuzz.h"
#include "proto/proto.h"
#include "tensor/tensor.h"

static bool is_out_of_memory(const Status *status) { return status->code == CODE_RESOURCE_EXHAUSTED; }

/* The tensor's proto must be parsed to the same tensor. */
static void there_and_back(const TensorProto *proto, const Tensor *tensor, Arena *arena) {
  Status status;
  status_init(&status);
  TensorProto *written;
  Tensor again = {0};
  StrBuf text = {0};
  if (tensor_to_proto(tensor, arena, &written, &status)) {
    FUZZ_CHECK(tensor_proto_equal(proto, written), "the tensor is written as another one");
    FUZZ_CHECK(tensor_proto_equal(written, proto), "equality depends on the order");
    bool ok = tensor_from_proto(written, &again, &status);
    FUZZ_CHECK(ok || is_out_of_memory(&status), "what was written is not read: %s", status.message);
    FUZZ_CHECK(!ok || (again.dtype == tensor->dtype && shape_equal(&again.shape, &tensor->shape)),
               "another dtype or shape is read");
  }
  tensor_print(tensor, 20, &text);
  strbuf_free(&text);
  tensor_clear(&again);
}

static void use_proto(const TensorProto *proto, Arena *arena) {
  Status status, validity;
  status_init(&status);
  status_init(&validity);
  Tensor tensor = {0};
  StrBuf text = {0};
  bool valid = tensor_proto_validate(proto, &validity), ok = tensor_from_proto(proto, &tensor, &status);
  FUZZ_CHECK(ok ? valid : !valid || is_out_of_memory(&status), "validation: '%s', reading: '%s'",
             validity.message, status.message);
  fuzz_check_code(status.code, status.message);
  if (ok) there_and_back(proto, &tensor, arena);
  FUZZ_CHECK(!valid || tensor_proto_equal(proto, proto), "a tensor does not equal itself");
  tensor_proto_print(proto, 3, &text);
  strbuf_free(&text);
  tensor_clear(&tensor);
}

/* Both formats give back the message. */
static void print_and_read(const TensorProto *proto, Arena *arena) {
  Status status;
  status_init(&status);
  StrBuf out = {0};
  void *again;
  if (proto_serialize(proto, &out, &status)) {
    bool ok = proto_parse(kTensorProto, strbuf_text(&out), (size_t)out.length, arena, &again, &status);
    FUZZ_CHECK(ok ? proto_equal(proto, again) : is_out_of_memory(&status), "serialised and read: %s",
               status.message);
  }
  strbuf_free(&out);
  fuzz_check_text(proto, PROTO_TEXT_SHORT, arena);
}

static void run(const uint8_t *bytes, size_t size) {
  FuzzReader reader = {bytes, bytes + size};
  bool as_text = fuzz_byte(&reader) & 1;
  Str rest = fuzz_bytes(&reader, size);
  Status status;
  status_init(&status);
  void *message;
  Arena *arena = arena_new();
  if (arena && (as_text ? proto_parse_text(kTensorProto, rest, arena, &message, &status)
                        : proto_parse(kTensorProto, rest.data, rest.length, arena, &message, &status))) {
    use_proto(message, arena);
    print_and_read(message, arena);
  } else {
    fuzz_check_code(status.code, status.message);
  }
  arena_free(arena);
}

const FuzzTarget k_tensor_proto_fuzz = {"tensor_proto", run, NULL};
