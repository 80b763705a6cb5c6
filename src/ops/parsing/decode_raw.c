/* DecodeRaw, DecodePaddedRaw: the bytes of strings as numbers. */
#include <string.h>

#include "op/node_def.h"
#include "op/op_registry.h"
#include "ops/parsing/feature_table.h"

typedef struct RawState {
  DataType dtype;
  bool swaps; /* the numbers have their first byte last */
} RawState;

static bool raw_construct(const KernelConstruction *construction, void *memory, Status *status) {
  RawState *state = memory;
  bool little_endian;
  TRY(node_attr_type(construction->node, "out_type", &state->dtype, status));
  TRY(node_attr_bool(construction->node, "little_endian", &little_endian, status));
  state->swaps = !little_endian;
  return true;
}

/* Reverses the bytes of each part of `size` bytes. */
static void reverse_parts(unsigned char *bytes, size_t length, size_t size) {
  for (unsigned char *part = bytes; part < bytes + length; part += size) {
    for (size_t i = 0; i < size / 2; i++) {
      unsigned char byte = part[i];
      part[i] = part[size - 1 - i];
      part[size - 1 - i] = byte;
    }
  }
}

/* Writes a row of `length` bytes: those of the text, and zeros. */
static void decode_row(const RawState *state, Str text, unsigned char *row, size_t length) {
  size_t taken = text.length < length ? text.length : length, size = dtype_size((int)state->dtype);
  if (dtype_is_complex((int)state->dtype)) size /= 2;
  if (taken > 0) memcpy(row, text.data, taken);
  memset(row + taken, 0, length - taken);
  if (state->swaps && size > 1) reverse_parts(row, length, size);
  for (size_t i = 0; state->dtype == DT_BOOL && i < length; i++) row[i] = row[i] != 0;
}

static bool decode_rows(KernelContext *context, int64_t bytes, Status *status) {
  const RawState *state = context->state;
  const Tensor *in = context->inputs[0];
  int64_t dims[SHAPE_MAX_RANK + 1];
  int rank = in->shape.rank;
  for (int d = 0; d < rank; d++) dims[d] = shape_dim(&in->shape, d);
  dims[rank] = bytes / (int64_t)dtype_size((int)state->dtype);
  Tensor *out;
  TRY(kernel_allocate_output_dims(context, 0, rank + 1, dims, &out, status));
  for (int64_t i = 0; bytes > 0 && i < tensor_num_elements(in); i++)
    decode_row(state, example_text(in, i), (unsigned char *)out->data + i * bytes, (size_t)bytes);
  return true;
}

static bool decode_raw(KernelContext *context, Status *status) {
  const RawState *state = context->state;
  const Tensor *in = context->inputs[0];
  int64_t size = (int64_t)dtype_size((int)state->dtype), count = tensor_num_elements(in);
  int64_t bytes = count > 0 ? (int64_t)example_text(in, 0).length : 0;
  for (int64_t i = 1; i < count; i++) {
    int64_t length = (int64_t)example_text(in, i).length;
    if (length != bytes)
      return status_invalid(status,
                            "DecodeRaw requires input strings to all be the same size, but element %lld has "
                            "size %lld != %lld",
                            (long long)i, (long long)bytes, (long long)length);
  }
  if (bytes % size != 0)
    return status_invalid(status,
                          "Input to DecodeRaw has length %lld that is not a multiple of %lld, the size of %s",
                          (long long)bytes, (long long)size, dtype_name((int)state->dtype));
  return decode_rows(context, bytes, status);
}

static bool decode_padded_raw(KernelContext *context, Status *status) {
  const RawState *state = context->state;
  const Tensor *length = context->inputs[1];
  char text[SHAPE_TEXT_CAPACITY];
  int size = (int)dtype_size((int)state->dtype);
  if (!tensor_is_scalar(length))
    return status_invalid(status, "k must be scalar, got shape %s", shape_text(&length->shape, text));
  int32_t bytes = *tensor_i32(length);
  if (bytes % size != 0)
    return status_invalid(status, "fixed_length (%d) must be a multiple of the size of out_type (%d)", bytes,
                          size);
  if (bytes <= 0) return status_invalid(status, "fixed_length (%d) must be greater than zero.", bytes);
  return decode_rows(context, bytes, status);
}

/* --- shapes --- */

static bool add_dim(InferenceContext *c, DimHandle size, Status *status) {
  ShapeHandle last, out;
  TRY(shape_ok(shape_vector(c, size), &last, status));
  TRY(shape_concatenate(c, shape_input(c, 0), last, &out, status));
  shape_set_output(c, 0, out);
  return true;
}

static bool raw_shape(InferenceContext *c, Status *status) { return add_dim(c, dim_unknown(c), status); }

static bool padded_shape(InferenceContext *c, Status *status) {
  DataType dtype;
  DimHandle bytes, size;
  TRY(dim_for_scalar_input(c, 1, &bytes, status));
  TRY(node_attr_type(c->node, "out_type", &dtype, status));
  TRY(dim_divide(c, bytes, (int64_t)dtype_size((int)dtype), true, &size, status));
  return add_dim(c, size, status);
}

/* --- ops --- */

const OpRegistration kOpDecodeRaw = {
    .name = "DecodeRaw",
    .inputs = {"bytes: string"},
    .outputs = {"output: out_type"},
    .attrs = {"out_type: {half,float,double,int32,uint16,uint8,int16,int8,int64,complex64,complex128,bool,"
              "bfloat16}",
              "little_endian: bool = true"},
    .shape = raw_shape,
    .gradient = NO_GRADIENT,
    .state_size = sizeof(RawState),
    .construct = raw_construct,
    .kernels = {{DT_INVALID, decode_raw}},
};

/* TensorFlow has no kernel for half. */
const OpRegistration kOpDecodePaddedRaw = {
    .name = "DecodePaddedRaw",
    .inputs = {"input_bytes: string", "fixed_length: int32"},
    .outputs = {"output: out_type"},
    .attrs = {"out_type: {half,float,double,int32,uint16,uint8,int16,int8,int64,bfloat16}",
              "little_endian: bool = true"},
    .shape = padded_shape,
    .gradient = NO_GRADIENT,
    .state_size = sizeof(RawState),
    .construct = raw_construct,
    .kernels = {{DT_FLOAT, decode_padded_raw},
                {DT_DOUBLE, decode_padded_raw},
                {DT_INT32, decode_padded_raw},
                {DT_UINT16, decode_padded_raw},
                {DT_UINT8, decode_padded_raw},
                {DT_INT16, decode_padded_raw},
                {DT_INT8, decode_padded_raw},
                {DT_INT64, decode_padded_raw},
                {DT_BFLOAT16, decode_padded_raw}},
};
