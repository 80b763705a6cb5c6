/* SerializeSparse and SerializeManySparse: the three tensors of a sparse tensor, or of each row of it, as
 * elements of a tensor of strings (serialized TensorProtos) or variants. And the ops that read them,
 * DeserializeSparse and DeserializeManySparse. */
#include "base/alloc.h"
#include "op/op_registry.h"
#include "ops/sparse/sparse_pile.h"
#include "ops/sparse/sparse_tensor.h"
#include "ops/sparse/tensor_variant.h"

/* --- elements --- */

static bool write_proto(const Tensor *tensor, TString *to, Status *status) {
  Arena *arena = arena_new();
  TensorProto *proto;
  StrBuf bytes = {0};
  bool ok = (arena || status_oom(status, "a TensorProto")) &&
            tensor_to_content_proto(tensor, arena, &proto, status) &&
            proto_serialize(proto, &bytes, status) &&
            tstring_set(to, strbuf_text(&bytes), (size_t)bytes.length, status);
  strbuf_free(&bytes);
  arena_free(arena);
  return ok;
}

static bool write_element(const Tensor *tensor, Tensor *out, int64_t i, Status *status) {
  return out->dtype == DT_STRING ? write_proto(tensor, &tensor_strings(out)[i], status)
                                 : tensor_variant_set(out, i, tensor, status);
}

static bool read_proto(Str bytes, Tensor *tensor, Status *status) {
  Arena *arena = arena_new();
  void *message = NULL;
  if (!arena) return status_oom(status, "a TensorProto");
  bool ok = proto_parse(kTensorProto, bytes.data, bytes.length, arena, &message, status) ||
            status_reword(status, CODE_INVALID_ARGUMENT, "Could not parse serialized proto");
  ok = ok && (tensor_from_proto(message, tensor, status) ||
              status_reword(status, CODE_INVALID_ARGUMENT, "Could not construct tensor from proto"));
  arena_free(arena);
  return ok;
}

static bool read_element(const Tensor *from, int64_t i, Tensor *tensor, Status *status) {
  if (from->dtype == DT_STRING) return read_proto(tstring_view(&tensor_strings(from)[i]), tensor, status);
  const Tensor *inner = tensor_variant_at(from, i);
  return inner ? tensor_assign(tensor, inner, status)
               : status_invalid(status, "Could not get a tensor from serialized_sparse[%lld, %lld]",
                                (long long)i / 3, (long long)i % 3);
}

/* --- SerializeSparse --- */

static bool serialize(KernelContext *context, Status *status) {
  Tensor *out;
  TRY(sparse_check_stored(context->inputs, status));
  TRY(kernel_allocate_output_dims(context, 0, 1, (int64_t[]){3}, &out, status));
  for (int i = 0; i < 3; i++) TRY(write_element(context->inputs[i], out, i, status));
  return true;
}

static bool serialize_shape(InferenceContext *c, Status *status) {
  ShapeHandle out;
  TRY(sparse_shapes(c, 0, status));
  TRY(shape_ok(shape_vector(c, dim_make(c, 3)), &out, status));
  shape_set_output(c, 0, out);
  return true;
}

#define STORED_INPUTS .inputs = {"sparse_indices: int64", "sparse_values: T", "sparse_shape: int64"}
#define SERIALIZED                            \
  .outputs = {"serialized_sparse: out_type"}, \
  .attrs = {"T: type", "out_type: {string, variant} = DT_STRING"}, .gradient = NO_GRADIENT

const OpRegistration kOpSerializeSparse = {
    .name = "SerializeSparse",
    STORED_INPUTS,
    SERIALIZED,
    .shape = serialize_shape,
    .kernels = {{DT_INVALID, serialize}},
};

/* --- SerializeManySparse --- */

static bool write_row(const SparsePart *part, Tensor *out, int64_t row, Status *status) {
  return write_element(&part->indices, out, 3 * row, status) &&
         write_element(&part->values, out, 3 * row + 1, status) &&
         write_element(&part->sizes, out, 3 * row + 2, status);
}

static bool write_rows(KernelContext *context, const SparseTensor *x, Tensor *out, Status *status) {
  int64_t begin = 0;
  for (int64_t row = 0; row < shape_dim(&out->shape, 0); row++) {
    int64_t end = begin;
    SparsePart part = {0};
    while (end < x->count && sparse_index(x, end)[0] == row) end++;
    bool ok = sparse_part_of_row(context, context->inputs, begin, end, &part, status) &&
              write_row(&part, out, row, status);
    sparse_part_clear(&part);
    if (!ok) return false;
    begin = end;
  }
  return true;
}

static bool serialize_many(KernelContext *context, Status *status) {
  const Tensor *sizes = context->inputs[2];
  SparseTensor x;
  Tensor *out;
  TRY(sparse_check_stored(context->inputs, status));
  if (tensor_num_elements(sizes) < 2)
    return status_invalid(status, "Rank of input SparseTensor should be > 1, but saw rank: %lld",
                          (long long)tensor_num_elements(sizes));
  TRY(sparse_create(context->inputs, &x, status));
  TRY(sparse_check_indices(&x, status));
  TRY(kernel_allocate_output_dims(context, 0, 2, (int64_t[]){tensor_i64(sizes)[0], 3}, &out, status));
  return write_rows(context, &x, out, status);
}

static bool serialize_many_shape(InferenceContext *c, Status *status) {
  ShapeHandle out;
  TRY(sparse_shapes(c, 0, status));
  TRY(shape_ok(shape_matrix(c, dim_unknown(c), dim_make(c, 3)), &out, status));
  shape_set_output(c, 0, out);
  return true;
}

const OpRegistration kOpSerializeManySparse = {
    .name = "SerializeManySparse",
    STORED_INPUTS,
    SERIALIZED,
    .shape = serialize_many_shape,
    .kernels = {{DT_INVALID, serialize_many}},
};

/* --- DeserializeSparse, DeserializeManySparse --- */

static bool check_part(const SparsePart *part, int64_t i, Status *status) {
  char text[SHAPE_TEXT_CAPACITY];
  const Tensor *indices = &part->indices, *values = &part->values, *sizes = &part->sizes;
  if (indices->dtype != DT_INT64 || sizes->dtype != DT_INT64)
    return status_invalid(status, "Type mismatch: actual %s vs. expect int64",
                          dtype_name((int)(indices->dtype != DT_INT64 ? indices->dtype : sizes->dtype)));
  if (indices->shape.rank != 2)
    return status_invalid(status,
                          "Expected serialized_sparse[%lld, 0] to represent an index matrix but received "
                          "shape %s",
                          (long long)i, shape_text(&indices->shape, text));
  if (values->shape.rank != 1)
    return status_invalid(status,
                          "Expected serialized_sparse[%lld, 1] to represent a values vector but received "
                          "shape %s",
                          (long long)i, shape_text(&values->shape, text));
  return sizes->shape.rank == 1 ||
         status_invalid(status,
                        "Expected serialized_sparse[%lld, 1] to be a shape vector but its shape is %s",
                        (long long)i, shape_text(&sizes->shape, text));
}

static bool check_serialized(const Tensor *serialized, Status *status) {
  const Shape *shape = &serialized->shape;
  char text[SHAPE_TEXT_CAPACITY];
  if (shape->rank < 1)
    return status_invalid(status, "Serialized sparse should have non-zero rank %s", shape_text(shape, text));
  if (shape_dim(shape, shape->rank - 1) != 3)
    return status_invalid(status, "Serialized sparse should have 3 as the last dimension %s",
                          shape_text(shape, text));
  return tensor_num_elements(serialized) > 0 ||
         status_invalid(status,
                        "Serialized sparse should have at least 1 serialized tensor, but has a zero "
                        "dimension %s",
                        shape_text(shape, text));
}

static bool read_parts(const Tensor *serialized, SparsePart *parts, int64_t count, Status *status) {
  for (int64_t i = 0; i < count; i++) {
    TRY(read_element(serialized, 3 * i, &parts[i].indices, status));
    TRY(read_element(serialized, 3 * i + 1, &parts[i].values, status));
    TRY(read_element(serialized, 3 * i + 2, &parts[i].sizes, status));
    TRY(check_part(&parts[i], i, status));
  }
  return true;
}

static bool deserialize(KernelContext *context, Status *status) {
  const Tensor *serialized = context->inputs[0];
  TRY(check_serialized(serialized, status));
  int64_t count = tensor_num_elements(serialized) / 3;
  SparsePart *parts = mem_calloc(count, sizeof *parts);
  if (!parts) return status_oom(status, "sparse tensors");
  SparsePile pile = {parts, count, shape_dims(&serialized->shape), serialized->shape.rank - 1};
  bool ok = read_parts(serialized, parts, count, status) &&
            sparse_pile_give(context, &pile, "Inconsistent shape", 0, status);
  for (int64_t i = 0; i < count; i++) sparse_part_clear(&parts[i]);
  mem_free(parts);
  return ok;
}

static bool deserialize_shape(InferenceContext *c, Status *status) {
  ShapeHandle serialized;
  DimHandle three;
  TRY(shape_with_rank_at_least(c, shape_input(c, 0), 1, &serialized, status));
  TRY(dim_with_value(c, shape_dim_of(c, serialized, -1), 3, &three, status));
  return sparse_set_shapes(c, 0, NULL, NULL, status);
}

static bool deserialize_many_shape(InferenceContext *c, Status *status) {
  ShapeHandle serialized;
  TRY(shape_with_rank(c, shape_input(c, 0), 2, &serialized, status));
  return deserialize_shape(c, status);
}

#define DESERIALIZED .outputs = {"sparse_indices: int64", "sparse_values: dtype", "sparse_shape: int64"}

const OpRegistration kOpDeserializeSparse = {
    .name = "DeserializeSparse",
    .inputs = {"serialized_sparse: Tserialized"},
    DESERIALIZED,
    .attrs = {"dtype: type", "Tserialized: {string, variant} = DT_STRING"},
    .shape = deserialize_shape,
    .gradient = NO_GRADIENT,
    .kernels = {{DT_INVALID, deserialize}},
};

const OpRegistration kOpDeserializeManySparse = {
    .name = "DeserializeManySparse",
    .inputs = {"serialized_sparse: string"},
    DESERIALIZED,
    .attrs = {"dtype: type"},
    .shape = deserialize_many_shape,
    .gradient = NO_GRADIENT,
    .kernels = {{DT_INVALID, deserialize}},
};
