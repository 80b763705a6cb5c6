#include "ops/lists/tensor_array_shapes.h"

#include "op/node_def.h"
#include "ops/lists/step_resource.h"

bool array_shape_attr(const NodeDef *node, const char *attr, int *rank, int64_t dims[SHAPE_MAX_RANK],
                      Status *status) {
  const TensorShapeProto *proto;
  TRY(node_attr_shape(node, attr, &proto, status));
  *rank = -1;
  if (proto->unknown_rank) return true;
  if (proto->n_dim > SHAPE_MAX_RANK) return status_invalid(status, "Too many dimensions in tensor");
  *rank = (int)proto->n_dim;
  for (int i = 0; i < *rank; i++) dims[i] = proto->dim[i]->size < 0 ? -1 : proto->dim[i]->size;
  return true;
}

bool array_shape_fits(int rank, const int64_t *dims, const Shape *shape, int first) {
  if (rank < 0) return true;
  if (rank != shape->rank - first) return false;
  for (int i = 0; i < rank; i++) {
    if (dims[i] >= 0 && dims[i] != shape_dim(shape, first + i)) return false;
  }
  return true;
}

bool array_read_index(const Tensor *index, int64_t *value, Status *status) {
  char text[SHAPE_TEXT_CAPACITY];
  if (index->shape.rank != 0)
    return status_invalid(status, "TensorArray index must be scalar, but had shape: %s",
                          shape_text(&index->shape, text));
  *value = *tensor_i32(index);
  return true;
}

bool array_check_vector(const char *expected, const Tensor *tensor, Status *status) {
  char text[SHAPE_TEXT_CAPACITY];
  return tensor->shape.rank == 1 ||
         status_invalid(status, "Expected %s received shape: %s", expected, shape_text(&tensor->shape, text));
}

bool array_check_inputs(InferenceContext *c, int flow, Status *status) {
  ShapeHandle scalar;
  TRY(step_resource_check_handle(c, 0, status));
  return shape_with_rank(c, shape_input(c, flow), 0, &scalar, status);
}

ShapeHandle array_element_shape(const InferenceContext *c) {
  const HandleData *data = c->input_handles ? c->input_handles[0] : NULL;
  return data && data->count > 0 ? data->entries[0].shape : NULL;
}

bool array_set_flow(InferenceContext *c, int output, Status *status) {
  ShapeHandle scalar;
  TRY(shape_ok(shape_scalar(c), &scalar, status));
  shape_set_output(c, output, scalar);
  return true;
}
