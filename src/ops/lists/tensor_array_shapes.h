/* Shape checks that the ops of TensorArrays share. */
#ifndef TFCORE_OPS_LISTS_TENSOR_ARRAY_SHAPES_H_
#define TFCORE_OPS_LISTS_TENSOR_ARRAY_SHAPES_H_

#include "op/op_registry.h"

/* Reads an attr of type shape as a rank (-1: any) and sizes, for kernels. */
MUST_CHECK bool array_shape_attr(const NodeDef *node, const char *attr, int *rank,
                                 int64_t dims[SHAPE_MAX_RANK], Status *status);
/* Whether the dimensions of the shape from `first` on match `rank` (-1: any) and the sizes `dims` (-1: any).
 */
bool array_shape_fits(int rank, const int64_t *dims, const Shape *shape, int first);
/* Checks of a kernel's inputs. `expected` begins the message: "indices to be a vector, but". */
MUST_CHECK bool array_read_index(const Tensor *index, int64_t *value, Status *status);
MUST_CHECK bool array_check_vector(const char *expected, const Tensor *tensor, Status *status);

/* --- shape functions --- */

/* Requires that input 0 is a handle and input `flow` is a scalar. */
MUST_CHECK bool array_check_inputs(InferenceContext *c, int flow, Status *status);
/* The known shape of the elements of the array in input 0; NULL if it is unknown. */
ShapeHandle array_element_shape(const InferenceContext *c);
/* Gives output `output` the shape of a flow. */
MUST_CHECK bool array_set_flow(InferenceContext *c, int output, Status *status);

#endif
