/* Shape inference: the interface of shape functions.
 *
 * Shapes and dimensions are handles: pointers to immutable values in the arena of a graph's inference. Their
 * identity matters: an unknown dimension stays the same dimension when it is passed on, so later ops can tell
 * that two unknown sizes are equal. Functions take and return handles and never modify their targets.
 */
#ifndef TFCORE_OP_SHAPE_INFERENCE_H_
#define TFCORE_OP_SHAPE_INFERENCE_H_

#include "proto/proto.h"
#include "tensor/tensor.h"

enum { UNKNOWN_DIM = -1, UNKNOWN_RANK = -1 };

typedef struct DimValue {
  int64_t value; /* UNKNOWN_DIM or >= 0 */
} DimValue;
typedef const DimValue *DimHandle;

typedef struct ShapeValue {
  int32_t rank; /* UNKNOWN_RANK or >= 0 */
  const DimHandle *dims;
} ShapeValue;
typedef const ShapeValue *ShapeHandle;

/* The dtype and shape of the value behind a resource handle. */
typedef struct ShapeAndType {
  ShapeHandle shape;
  DataType dtype;
} ShapeAndType;
typedef struct HandleData {
  int count;
  const ShapeAndType *entries;
} HandleData;

typedef struct InferenceContext InferenceContext;
typedef bool (*ShapeFn)(InferenceContext *c, Status *status);

/* The context of one node while its shape function runs. The refiner fills it in; shape functions use the
 * calls below. */
struct InferenceContext {
  const NodeDef *node;
  const OpDef *op_def;
  const void *shape_data; /* the op registration's */
  int graph_def_version;
  Arena *arena; /* outlives the context: handles are shared along the graph */
  int num_inputs, num_outputs;
  const ShapeHandle *inputs;
  ShapeHandle *outputs;                       /* NULL until set */
  const Tensor *const *input_tensors;         /* per input: its constant value, or NULL if unknown */
  const ShapeHandle *input_tensors_as_shapes; /* per input: its value as a partial shape, or NULL */
  bool *requested_tensor; /* per input: set when the function requested a value that was missing */
  bool *requested_tensor_as_shape;
  const HandleData *const *input_handles; /* per input, may be NULL */
  const HandleData **output_handles;
  /* NULL where inferred shapes must hold at run time. Otherwise a function may return TensorFlow's assumption
   * about an op, although the op does not guarantee it; it then sets *assumed to true. */
  bool *assumed;
};

/* --- inputs and outputs --- */
static inline ShapeHandle shape_input(const InferenceContext *c, int i) { return c->inputs[i]; }
static inline void shape_set_output(InferenceContext *c, int i, ShapeHandle shape) { c->outputs[i] = shape; }
/* Sets the dtype and shape behind the resource handle in output `i`; the entries are copied into the
 * arena. */
MUST_CHECK bool shape_set_output_handle(InferenceContext *c, int i, const ShapeAndType *entries, int count,
                                        Status *status);
/* The constant value of input `i`, or NULL if it is unknown (the refiner will try to compute it and run the
 * function again). */
const Tensor *shape_input_tensor(InferenceContext *c, int i);
/* The flat range of a named input or output arg: [*begin, *end). */
MUST_CHECK bool shape_input_range(InferenceContext *c, const char *arg, int *begin, int *end, Status *status);
MUST_CHECK bool shape_output_range(InferenceContext *c, const char *arg, int *begin, int *end,
                                   Status *status);

/* --- queries --- */
static inline bool shape_rank_known(ShapeHandle s) { return s->rank != UNKNOWN_RANK; }
static inline int32_t shape_rank(ShapeHandle s) { return s->rank; }
static inline bool dim_known(DimHandle d) { return d->value != UNKNOWN_DIM; }
static inline int64_t dim_value(DimHandle d) { return d->value; }
/* Dimension `i`, negative from the end; a new unknown dimension if the rank is unknown or too small. */
DimHandle shape_dim_of(InferenceContext *c, ShapeHandle s, int64_t i);
bool shape_fully_defined(ShapeHandle s);
/* The product of the sizes, as a new dimension: 0 if any size is 0, else unknown if any size is unknown or
 * the product exceeds int64. */
DimHandle shape_num_elements_of(InferenceContext *c, ShapeHandle s);

/* --- new handles. NULL when out of memory: shape_ok and the calls that take handles turn that into a status.
 * ---
 */
ShapeHandle shape_unknown(InferenceContext *c);
ShapeHandle shape_unknown_of_rank(InferenceContext *c, int64_t rank);
ShapeHandle shape_scalar(InferenceContext *c);
ShapeHandle shape_vector(InferenceContext *c, DimHandle d);
ShapeHandle shape_matrix(InferenceContext *c, DimHandle rows, DimHandle columns);
ShapeHandle shape_of_dims(InferenceContext *c, const DimHandle *dims, int32_t rank);
DimHandle dim_make(InferenceContext *c, int64_t value);
DimHandle dim_unknown(InferenceContext *c);
ShapeHandle shape_of_tensor_shape(InferenceContext *c, const Shape *shape);
MUST_CHECK bool shape_from_shape_proto(InferenceContext *c, const TensorShapeProto *proto, ShapeHandle *out,
                                       Status *status);
/* Sets *out or reports that memory ran out. */
MUST_CHECK bool shape_ok(ShapeHandle made, ShapeHandle *out, Status *status);
MUST_CHECK bool dim_ok(DimHandle made, DimHandle *out, Status *status);

/* --- checks and combinations, with errors in TensorFlow's words. On error *out is NULL. --- */
MUST_CHECK bool shape_with_rank(InferenceContext *c, ShapeHandle s, int64_t rank, ShapeHandle *out,
                                Status *status);
MUST_CHECK bool shape_with_rank_at_least(InferenceContext *c, ShapeHandle s, int64_t rank, ShapeHandle *out,
                                         Status *status);
MUST_CHECK bool shape_with_rank_at_most(InferenceContext *c, ShapeHandle s, int64_t rank, ShapeHandle *out,
                                        Status *status);
MUST_CHECK bool dim_with_value(InferenceContext *c, DimHandle d, int64_t value, DimHandle *out,
                               Status *status);
MUST_CHECK bool shape_merge(InferenceContext *c, ShapeHandle a, ShapeHandle b, ShapeHandle *out,
                            Status *status);
MUST_CHECK bool dim_merge(InferenceContext *c, DimHandle a, DimHandle b, DimHandle *out, Status *status);
MUST_CHECK bool shape_merge_prefix(InferenceContext *c, ShapeHandle s, ShapeHandle prefix, ShapeHandle *s_out,
                                   ShapeHandle *prefix_out, Status *status);
MUST_CHECK bool shape_concatenate(InferenceContext *c, ShapeHandle a, ShapeHandle b, ShapeHandle *out,
                                  Status *status);
/* Dimensions [start, end) in steps of `stride` (not 0); negative from the end; end = INT64_MAX: to the
 * end. */
MUST_CHECK bool shape_subshape(InferenceContext *c, ShapeHandle s, int64_t start, int64_t end, int64_t stride,
                               ShapeHandle *out, Status *status);
MUST_CHECK bool shape_replace_dim(InferenceContext *c, ShapeHandle s, int64_t i, DimHandle d,
                                  ShapeHandle *out, Status *status);
MUST_CHECK bool dim_add(InferenceContext *c, DimHandle a, DimHandle b, DimHandle *out, Status *status);
MUST_CHECK bool dim_subtract(InferenceContext *c, DimHandle a, DimHandle b, DimHandle *out, Status *status);
MUST_CHECK bool dim_multiply(InferenceContext *c, DimHandle a, DimHandle b, DimHandle *out, Status *status);
MUST_CHECK bool dim_divide(InferenceContext *c, DimHandle a, int64_t divisor, bool evenly, DimHandle *out,
                           Status *status);
MUST_CHECK bool dim_min(InferenceContext *c, DimHandle a, DimHandle b, DimHandle *out, Status *status);
MUST_CHECK bool dim_max(InferenceContext *c, DimHandle a, DimHandle b, DimHandle *out, Status *status);

/* --- relaxing: repeated inference of a node whose inputs changed --- */
/* The shape that covers both: differing sizes become unknown, and so do differing ranks. *out is `before`
 * when `now` is equal, so that consumers need no new inference; unknown dimensions of `now` keep their
 * identity. */
MUST_CHECK bool dim_relax(InferenceContext *c, DimHandle before, DimHandle now, DimHandle *out,
                          Status *status);
MUST_CHECK bool shape_relax(InferenceContext *c, ShapeHandle before, ShapeHandle now, ShapeHandle *out,
                            Status *status);
/* The same, and merging, for the entries of resource handles. *out is `before` when `now` adds nothing, and
 * also when the numbers of entries differ, or dtypes other than DT_INVALID differ. Shapes that cannot be
 * merged are kept. NULL: nothing is known. */
MUST_CHECK bool handle_data_merge(InferenceContext *c, const HandleData *before, const HandleData *now,
                                  const HandleData **out, Status *status);
MUST_CHECK bool handle_data_relax(InferenceContext *c, const HandleData *before, const HandleData *now,
                                  const HandleData **out, Status *status);

/* --- shapes from values --- */
/* The shape given by input `i`, a vector of sizes, as far as its value is known. */
MUST_CHECK bool shape_from_input_tensor(InferenceContext *c, int i, ShapeHandle *out, Status *status);
/* The same, but a scalar -1 stands for an unknown shape. */
MUST_CHECK bool shape_from_input_tensor_or_scalar(InferenceContext *c, int i, ShapeHandle *out,
                                                  Status *status);
MUST_CHECK bool shape_from_tensor(InferenceContext *c, const Tensor *tensor, ShapeHandle tensor_shape,
                                  ShapeHandle *out, Status *status);
/* The size given by the scalar input `i`, unknown if its value is unknown. Negative values are errors, unless
 * negative indexing is on: then they count from `input_rank`, and give an unknown size if that is -1. */
MUST_CHECK bool dim_for_scalar_input(InferenceContext *c, int i, DimHandle *out, Status *status);
MUST_CHECK bool dim_for_scalar_input_with_negative_indexing(InferenceContext *c, int i, int64_t input_rank,
                                                            DimHandle *out, Status *status);

/* "[1,?,3]", "?" */
void shape_handle_print(ShapeHandle s, StrBuf *out);
/* Appends " for '{{node n}} = Fill[T=DT_FLOAT](d, v)' with input shapes: [1], [] and with computed input
 * tensors: input[0] = <1>." to a shape function's error, unless memory ran out. Returns false. */
bool shape_attach_context(const InferenceContext *c, Status *status);

/* --- common shape functions (common_shape_fns.c) --- */
bool shape_unchanged(InferenceContext *c, Status *status); /* output 0 is input 0, with its handle data */
/* Output 0 is `s`, whose rank is checked. */
bool shape_unchanged_with_rank(InferenceContext *c, ShapeHandle s, int32_t rank, Status *status);
bool shape_merged_inputs(InferenceContext *c, Status *status); /* output 0 is the merge of inputs 0 and 1 */
bool shape_scalar_output(InferenceContext *c, Status *status); /* every output is a scalar */
bool shape_no_outputs(InferenceContext *c, Status *status);
bool shape_unknown_outputs(InferenceContext *c, Status *status);
bool shape_matmul(InferenceContext *c, Status *status);
/* Matrix products over the last two dimensions, attrs adj_x and adj_y; the other dimensions must be equal, or
 * (v2) broadcast. */
bool shape_batch_matmul(InferenceContext *c, Status *status);
bool shape_batch_matmul_v2(InferenceContext *c, Status *status);
bool shape_bias_add(InferenceContext *c, Status *status);
bool shape_bias_add_grad(InferenceContext *c, Status *status);
bool shape_broadcast_binary(InferenceContext *c, Status *status); /* output 0 = broadcast of inputs 0 and 1 */
MUST_CHECK bool shape_broadcast(InferenceContext *c, ShapeHandle a, ShapeHandle b, ShapeHandle *out,
                                Status *status);
bool shape_reduction(InferenceContext *c,
                     Status *status); /* input 0 over the axes in input 1, attr keep_dims */
bool shape_concat_v2(InferenceContext *c, Status *status);
/* The same for ops whose input 0 is the axis, followed by the list "values". */
bool shape_concat(InferenceContext *c, Status *status);
bool shape_explicit(InferenceContext *c, Status *status); /* every output has the shape of attr "shape" */
/* The outputs have the shapes of attr "output_shapes", one each. */
bool shape_listed(InferenceContext *c, Status *status);
bool shape_random(InferenceContext *c, Status *status); /* output 0 has the shape given by input 0 */

#endif
