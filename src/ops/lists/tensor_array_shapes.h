/* Checks of shapes that ops of TensorArrays share. */
#ifndef TFCORE_OPS_LISTS_TENSOR_ARRAY_SHAPES_H_
#define TFCORE_OPS_LISTS_TENSOR_ARRAY_SHAPES_H_

#include "op/op_registry.h"

/* The shape of an attr of kind shape as rank (-1: any) and sizes, for kernels. */
MUST_CHECK bool array_shape_attr(const NodeDef *node, const char *attr, int *rank,
                                 int64_t dims[SHAPE_MAX_RANK], Status *status);
/* Whether the shape from dimension `first` on is one of `rank` (-1: any) and sizes (-1: any). */
bool array_shape_fits(int rank, const int64_t *dims, const Shape *shape, int first);
/* What kernels ask of their inputs; `expected` begins the message: "indices to be a vector, but". */
MUST_CHECK bool array_read_index(const Tensor *index, int64_t *value, Status *status);
MUST_CHECK bool array_check_vector(const char *expected, const Tensor *tensor, Status *status);

/* --- shape functions --- */

/* Input 0 is a handle and input `flow` a scalar. */
MUST_CHECK bool array_check_inputs(InferenceContext *c, int flow, Status *status);
/* What is known of the elements of the array in input 0; NULL when nothing is. */
ShapeHandle array_element_shape(const InferenceContext *c);
/* Output 0 is a flow. */
MUST_CHECK bool array_set_flow(InferenceContext *c, int output, Status *status);

#endif
