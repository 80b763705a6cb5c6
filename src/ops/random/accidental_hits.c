/* ComputeAccidentalHits: the true classes that a candidate sampler has drawn. */
#include <float.h>

#include "op/node_def.h"
#include "op/op_registry.h"

static bool construct(const KernelConstruction *construction, void *memory, Status *status) {
  return node_attr_int(construction->node, "num_true", memory, status);
}

/* The last position of a class among the candidates; -1: it is none. */
static int64_t position_of(const Tensor *candidates, int64_t value) {
  for (int64_t i = tensor_num_elements(candidates) - 1; i >= 0; i--) {
    if (tensor_i64(candidates)[i] == value) return i;
  }
  return -1;
}

static bool check_inputs(const KernelContext *context, Status *status) {
  const Tensor *classes = context->inputs[0];
  if (classes->shape.rank != 2 || shape_dim(&classes->shape, 1) != *(const int64_t *)context->state)
    return status_invalid(status, "true_candidates must be a batch_size * num_true matrix");
  return tensor_is_vector(context->inputs[1]) ||
         status_invalid(status,
                        "sampled_candidates must be a vector, which is typically an output from "
                        "CandidateSampler");
}

static bool hits(KernelContext *context, Status *status) {
  TRY(check_inputs(context, status));
  const Tensor *classes = context->inputs[0];
  int64_t total = tensor_num_elements(classes), columns = shape_dim(&classes->shape, 1), count = 0;
  Buffer *scratch = kernel_scratch(context, (total + 1) * (int64_t)sizeof(int64_t), status);
  if (!scratch) return false;
  int64_t *positions = scratch->data;
  for (int64_t i = 0; i < total; i++) {
    positions[i] = position_of(context->inputs[1], tensor_i64(classes)[i]);
    count += positions[i] >= 0;
  }
  Tensor *rows, *ids, *weights;
  bool ok = kernel_allocate_output_dims(context, 0, 1, &count, &rows, status) &&
            kernel_allocate_output_dims(context, 1, 1, &count, &ids, status) &&
            kernel_allocate_output_dims(context, 2, 1, &count, &weights, status);
  for (int64_t i = 0, hit = 0; ok && i < total; i++) {
    if (positions[i] < 0) continue;
    tensor_i32(rows)[hit] = (int32_t)(i / columns);
    tensor_i64(ids)[hit] = positions[i];
    tensor_f32(weights)[hit++] = -FLT_MAX;
  }
  buffer_unref(scratch);
  return ok;
}

static bool hits_shape(InferenceContext *c, Status *status) {
  int64_t num_true;
  ShapeHandle classes, ignored, output;
  DimHandle columns, found;
  TRY(node_attr_int(c->node, "num_true", &num_true, status));
  TRY(shape_with_rank(c, shape_input(c, 0), 2, &classes, status));
  TRY(dim_with_value(c, shape_dim_of(c, classes, 1), num_true, &columns, status));
  TRY(shape_with_rank(c, shape_input(c, 1), 1, &ignored, status));
  TRY(dim_ok(dim_unknown(c), &found, status));
  TRY(shape_ok(shape_vector(c, found), &output, status));
  for (int i = 0; i < 3; i++) shape_set_output(c, i, output);
  return true;
}

const OpRegistration kOpComputeAccidentalHits = {
    .name = "ComputeAccidentalHits",
    .inputs = {"true_classes: int64", "sampled_candidates: int64"},
    .outputs = {"indices: int32", "ids: int64", "weights: float"},
    .attrs = {"num_true: int", "seed: int = 0", "seed2: int = 0"},
    .shape = hits_shape,
    .gradient = NO_GRADIENT,
    .state_size = sizeof(int64_t),
    .construct = construct,
    .kernels = {{DT_INVALID, hits}},
};
