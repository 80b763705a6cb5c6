#include "ops/ctc/ctc_decoded.h"

#include <inttypes.h>

#include "base/alloc.h"

static bool push(int64_t **numbers, int64_t *count, int64_t *capacity, int64_t value, Status *status) {
  if (!mem_grow((void **)numbers, capacity, *count + 1, sizeof **numbers))
    return status_oom(status, "decoded labels");
  (*numbers)[(*count)++] = value;
  return true;
}

bool ctc_decoded_add_label(CtcDecoded *decoded, int64_t label, Status *status) {
  return push(&decoded->labels, &decoded->num_labels, &decoded->labels_capacity, label, status);
}

/* Where the sequence before the `i`-th ends. */
static int64_t begin_of(const CtcDecoded *decoded, int64_t i) { return i == 0 ? 0 : decoded->ends[i - 1]; }

void ctc_decoded_reverse(CtcDecoded *decoded) {
  int64_t i = begin_of(decoded, decoded->num_ends), j = decoded->num_labels - 1;
  for (; i < j; i++, j--) {
    int64_t label = decoded->labels[i];
    decoded->labels[i] = decoded->labels[j];
    decoded->labels[j] = label;
  }
}

bool ctc_decoded_end_sequence(CtcDecoded *decoded, Status *status) {
  return push(&decoded->ends, &decoded->num_ends, &decoded->ends_capacity, decoded->num_labels, status);
}

void ctc_decoded_free(CtcDecoded *decoded) {
  mem_free(decoded->ends);
  mem_free(decoded->labels);
}

bool ctc_decoder_begin(KernelContext *context, int64_t paths, Tensor **log_probability, Status *status) {
  const Tensor *inputs = context->inputs[0], *lengths = context->inputs[1];
  if (inputs->shape.rank != 3) return status_invalid(status, "inputs is not a 3-Tensor");
  if (tensor_num_elements(inputs) == 0) return status_invalid(status, "inputs must not be empty");
  if (!tensor_is_vector(lengths)) return status_invalid(status, "sequence_length is not a vector");
  int64_t time = shape_dim(&inputs->shape, 0), batch = shape_dim(&inputs->shape, 1);
  if (tensor_num_elements(lengths) != batch) {
    return status_set(status, CODE_FAILED_PRECONDITION,
                      "len(sequence_length) != batch_size.  len(sequence_length):  %" PRId64
                      " batch_size: %" PRId64,
                      tensor_num_elements(lengths), batch);
  }
  for (int64_t b = 0; b < batch; b++) {
    if (tensor_i32(lengths)[b] > time)
      return status_set(status, CODE_FAILED_PRECONDITION, "sequence_length(%" PRId64 ") <= %" PRId64, b,
                        time);
  }
  if (shape_dim(&inputs->shape, 2) >= INT32_MAX)
    return status_invalid(status, "num_classes cannot exceed max int");
  return kernel_allocate_output_dims(context, context->num_outputs - 1, 2, (int64_t[]){batch, paths},
                                     log_probability, status);
}

/* The sparse tensor of the p-th best paths. */
static bool put_path(KernelContext *context, const CtcDecoded *decoded, int64_t paths, int64_t p,
                     Status *status) {
  int64_t batch = decoded->num_ends / paths, count = 0, longest = 0, two = 2;
  Tensor *indices, *values, *shape;
  for (int64_t b = 0; b < batch; b++) {
    int64_t length = decoded->ends[b * paths + p] - begin_of(decoded, b * paths + p);
    count += length;
    longest = length > longest ? length : longest;
  }
  TRY(kernel_allocate_output_dims(context, (int)p, 2, (int64_t[]){count, 2}, &indices, status));
  TRY(kernel_allocate_output_dims(context, (int)(paths + p), 1, &count, &values, status));
  TRY(kernel_allocate_output_dims(context, (int)(2 * paths + p), 1, &two, &shape, status));
  int64_t *at = tensor_i64(indices), *value = tensor_i64(values);
  for (int64_t b = 0; b < batch; b++) {
    int64_t begin = begin_of(decoded, b * paths + p);
    for (int64_t i = begin; i < decoded->ends[b * paths + p]; i++) {
      *at++ = b;
      *at++ = i - begin;
      *value++ = decoded->labels[i];
    }
  }
  tensor_i64(shape)[0] = batch;
  tensor_i64(shape)[1] = longest;
  return true;
}

bool ctc_decoder_finish(KernelContext *context, const CtcDecoded *decoded, int64_t paths, Status *status) {
  for (int64_t p = 0; p < paths; p++) TRY(put_path(context, decoded, paths, p, status));
  return true;
}

bool ctc_decoder_shape(InferenceContext *c, int64_t paths, Status *status) {
  ShapeHandle inputs, lengths, out;
  DimHandle batch, two, dim;
  TRY(shape_with_rank(c, shape_input(c, 0), 3, &inputs, status));
  TRY(shape_with_rank(c, shape_input(c, 1), 1, &lengths, status));
  TRY(dim_merge(c, shape_dim_of(c, inputs, 1), shape_dim_of(c, lengths, 0), &batch, status));
  TRY(dim_ok(dim_make(c, 2), &two, status));
  for (int64_t p = 0; p < paths; p++) {
    TRY(dim_ok(dim_unknown(c), &dim, status));
    TRY(shape_ok(shape_matrix(c, dim, two), &out, status));
    shape_set_output(c, (int)p, out);
    TRY(shape_ok(shape_vector(c, dim), &out, status));
    shape_set_output(c, (int)(paths + p), out);
    TRY(shape_ok(shape_vector(c, two), &out, status));
    shape_set_output(c, (int)(2 * paths + p), out);
  }
  TRY(dim_ok(dim_make(c, paths), &dim, status));
  TRY(shape_ok(shape_matrix(c, batch, dim), &out, status));
  shape_set_output(c, c->num_outputs - 1, out);
  return true;
}
