/* ReverseSequence: the first elements of each sequence of a batch in reverse order. */
#include "op/node_def.h"
#include "op/op_registry.h"
#include "ops/support/array_box.h"

typedef struct SequenceState {
  int64_t seq_dim, batch_dim;
} SequenceState;

static bool sequence_construct(const KernelConstruction *construction, void *memory, Status *status) {
  SequenceState *state = memory;
  return node_attr_int(construction->node, "seq_dim", &state->seq_dim, status) &&
         node_attr_int(construction->node, "batch_dim", &state->batch_dim, status);
}

static bool check_sequences(const Tensor *input, const Tensor *lengths, const SequenceState *state,
                            Status *status) {
  int64_t rank = input->shape.rank, seq = state->seq_dim, batch = state->batch_dim;
  if (!tensor_is_vector(lengths)) {
    return status_invalid(status, "seq_lengths must be 1-dim, not %d", lengths->shape.rank);
  }
  if (batch == seq) return status_invalid(status, "batch_dim == seq_dim == %lld", (long long)seq);
  if (seq >= rank) {
    return status_invalid(status, "seq_dim must be < input rank ( %lld vs. %lld)", (long long)seq,
                          (long long)rank);
  }
  if (batch >= rank) {
    return status_invalid(status, "batch_dim must be < input rank ( %lld vs. %lld)", (long long)batch,
                          (long long)rank);
  }
  if (seq < 0) return status_invalid(status, "Invalid seq_dim %lld", (long long)seq);
  if (batch < 0) return status_invalid(status, "Invalid batch_dim %lld", (long long)batch);
  int64_t count = shape_dim(&input->shape, (int)batch);
  if (tensor_num_elements(lengths) != count) {
    return status_invalid(status, "Length of seq_lengths != input.dims(%lld), (%lld vs. %lld)",
                          (long long)batch, (long long)tensor_num_elements(lengths), (long long)count);
  }
  for (int64_t i = 0; i < count; i++) {
    int64_t length = tensor_int_at(lengths, i);
    if (length < 0) return status_invalid(status, "seq_lens(%lld) < 0", (long long)i);
    if (length > shape_dim(&input->shape, (int)seq)) {
      return status_invalid(status, "seq_lens(%lld) > input.dims(%lld)", (long long)i, (long long)seq);
    }
  }
  return true;
}

/* Elements [begin, begin + count) of sequence `batch`, in reverse or in the original order. */
static bool copy_sequence(const KernelContext *context, int64_t batch, int64_t begin, int64_t count,
                          bool reversed, Tensor *out, Status *status) {
  const Tensor *input = context->inputs[0];
  const SequenceState *state = context->state;
  int64_t strides[SHAPE_MAX_RANK];
  array_strides(&input->shape, strides);
  int64_t seq = strides[state->seq_dim], offset = batch * strides[state->batch_dim] + begin * seq;
  ArrayBox box = {.from_offset = offset + (reversed ? (count - 1) * seq : 0), .to_offset = offset};
  for (int d = 0; d < input->shape.rank; d++) {
    if (d == state->batch_dim) continue;
    if (d == state->seq_dim) {
      array_box_add(&box, count, reversed ? -seq : seq, seq);
    } else {
      array_box_add(&box, shape_dim(&input->shape, d), strides[d], strides[d]);
    }
  }
  return array_box_copy(&box, input, out, context->parallel, status);
}

static bool reverse_sequence_kernel(KernelContext *context, Status *status) {
  const Tensor *input = context->inputs[0], *lengths = context->inputs[1];
  const SequenceState *state = context->state;
  TRY(check_sequences(input, lengths, state, status));
  if (tensor_num_elements(input) == 0) return kernel_set_output(context, 0, input, NULL, status);
  Tensor *out;
  TRY(kernel_allocate_output(context, 0, &input->shape, &out, status));
  int64_t size = shape_dim(&input->shape, (int)state->seq_dim);
  for (int64_t i = 0; i < tensor_num_elements(lengths); i++) {
    int64_t length = tensor_int_at(lengths, i);
    TRY(copy_sequence(context, i, 0, length, true, out, status));
    TRY(copy_sequence(context, i, length, size - length, false, out, status));
  }
  return true;
}

static bool reverse_sequence_shape(InferenceContext *c, Status *status) {
  ShapeHandle input = shape_input(c, 0), lengths, output;
  SequenceState attrs;
  DimHandle batch;
  TRY(shape_with_rank(c, shape_input(c, 1), 1, &lengths, status));
  TRY(node_attr_int(c->node, "seq_dim", &attrs.seq_dim, status));
  TRY(node_attr_int(c->node, "batch_dim", &attrs.batch_dim, status));
  if (!shape_rank_known(input)) return shape_unknown_outputs(c, status);
  int32_t rank = shape_rank(input);
  if (attrs.batch_dim >= rank) {
    return status_invalid(status, "batch_dim must be < input rank: %lld vs. %d", (long long)attrs.batch_dim,
                          rank);
  }
  if (attrs.seq_dim >= rank) {
    return status_invalid(status, "seq_dim must be < input rank: %lld vs. %d", (long long)attrs.seq_dim,
                          rank);
  }
  if (attrs.batch_dim < 0)
    return status_invalid(status, "Invalid batch_dim %lld", (long long)attrs.batch_dim);
  TRY(dim_merge(c, shape_dim_of(c, input, attrs.batch_dim), shape_dim_of(c, lengths, 0), &batch, status));
  TRY(shape_replace_dim(c, input, attrs.batch_dim, batch, &output, status));
  shape_set_output(c, 0, output);
  return true;
}

const OpRegistration kOpReverseSequence = {
    .name = "ReverseSequence",
    .inputs = {"input: T", "seq_lengths: Tlen"},
    .outputs = {"output: T"},
    .attrs = {"seq_dim: int", "batch_dim: int = 0", "T: type", "Tlen: {int32, int64} = DT_INT64"},
    .shape = reverse_sequence_shape,
    .gradient =
        "ReverseSequenceGradient[seq_dim:int, batch_dim:int, T:type, Tlen:{int32, int64}]"
        "(input:T, seq_lengths:Tlen, dy:T) -> (dinput:T, dlengths:Tlen) {\n"
        "  none = ZerosLike[T=$Tlen](seq_lengths)\n"
        "  d = ReverseSequence[seq_dim=$seq_dim, batch_dim=$batch_dim, T=$T, Tlen=$Tlen](dy, seq_lengths)\n"
        "  return dinput = d:output:0, dlengths = none:y:0\n"
        "}\n",
    .state_size = sizeof(SequenceState),
    .construct = sequence_construct,
    .kernels = {{DT_INVALID, reverse_sequence_kernel}},
};
