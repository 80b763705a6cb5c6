/* Ops that convert between a list and one tensor in which the items follow each other: concat and split.
 * Items may differ in their first dimension. */
#include "op/node_def.h"
#include "op/op_registry.h"
#include "ops/lists/tensor_list.h"
#include "ops/support/elements.h"

/* --- concat --- */

/* `list` is first: tensor_list_of_input reads it. */
typedef struct ConcatState {
  TensorListState list;
  int rank; /* of an item without its first dimension, by attr element_shape; -1: any */
  int64_t dims[SHAPE_MAX_RANK];
} ConcatState;

/* What is known about the items: the first dimension (-1: any), and the others. */
typedef struct ItemShape {
  int64_t first;
  int rank;
  int64_t dims[SHAPE_MAX_RANK];
} ItemShape;

static bool concat_construct(const KernelConstruction *construction, void *memory, Status *status) {
  ConcatState *state = memory;
  const TensorShapeProto *proto;
  TRY(tensor_list_construct(construction, &state->list, status));
  state->rank = -1;
  if (!node_def_attr(construction->node, "element_shape")) return true;
  TRY(node_attr_shape(construction->node, "element_shape", &proto, status));
  if (proto->unknown_rank) return true;
  if (proto->n_dim == 0) return status_invalid(status, "element_shape must not be empty");
  if (proto->n_dim > SHAPE_MAX_RANK) return status_invalid(status, "Too many dimensions in tensor");
  state->rank = (int)proto->n_dim - 1;
  for (int i = 0; i < state->rank; i++) state->dims[i] = proto->dim[i + 1]->size;
  return true;
}

/* The shape that the op states: its attr, or in the second version its input merged with the list's. */
static bool stated_shape(KernelContext *context, const TensorList *list, ItemShape *shape, Status *status) {
  const ConcatState *state = context->state;
  shape->first = -1;
  shape->rank = state->rank;
  for (int i = 0; i < state->rank; i++) shape->dims[i] = state->dims[i];
  if (context->num_inputs == 1) return true;
  int rank;
  int64_t dims[SHAPE_MAX_RANK];
  TRY(element_shape_read(context->inputs[1], &rank, dims, status));
  TRY(element_shape_merge(list, &rank, dims, status));
  if (rank == 0) {
    return status_invalid(status, "Concat requires elements to be at least vectors, found scalars instead.");
  }
  if (rank > 0) shape->first = dims[0];
  shape->rank = rank < 0 ? -1 : rank - 1;
  for (int i = 0; i < shape->rank; i++) shape->dims[i] = dims[i + 1];
  return true;
}

/* Merges the shape of an item. *common is the first dimension of all items before: -1 at first, -2 if they
 * differ. */
static bool merge_item(const Shape *item, int64_t i, ItemShape *shape, int64_t *common, Status *status) {
  int64_t rest[SHAPE_MAX_RANK];
  if (item->rank < 1) {
    return status_invalid(status, "Concat saw a scalar shape at index %lld but requires at least vectors.",
                          (long long)i);
  }
  int64_t first = shape_dim(item, 0);
  for (int d = 1; d < item->rank; d++) rest[d - 1] = shape_dim(item, d);
  TRY(element_shape_refine(&shape->rank, shape->dims, item->rank - 1, rest, status));
  if (shape->first != -1 && shape->first != first) {
    return status_invalid(status,
                          "First entry of element_shape input does not match the first dim of list element "
                          "at index: %lld Expected: %lld Actual: %lld",
                          (long long)i, (long long)shape->first, (long long)first);
  }
  *common = *common == -1 || *common == first ? first : -2;
  return true;
}

static bool merge_items(const TensorList *list, ItemShape *shape, Status *status) {
  int64_t common = -1;
  bool known = element_shape_known(list->rank, list->dims);
  /* Without the shapes of items, TensorFlow knows only what the op states. */
  if (known && !element_shape_known(shape->rank, shape->dims)) return true;
  for (int64_t i = 0; i < list->length && i < list->items->count; i++) {
    Tensor item = {0};
    TRY(tensor_list_item(list, i, &item, status));
    bool ok = tensor_is_empty(&item) || merge_item(&item.shape, i, shape, &common, status);
    tensor_clear(&item);
    TRY(ok);
  }
  if (!known && shape->first == -1 && common >= 0) shape->first = common;
  return true;
}

/* The first dimension of item `i`, which is not initialised. */
static bool absent_length(KernelContext *context, int64_t i, int64_t first, int64_t *length, Status *status) {
  const Tensor *given = context->num_inputs > 2 ? context->inputs[2] : NULL;
  int64_t count = given ? tensor_num_elements(given) : 0;
  if (i >= count && first != -1) {
    *length = first;
    return true;
  }
  if (!given) {
    return status_invalid(status,
                          "Concating lists with uninitialized tensors is not supported in this version of "
                          "TensorListConcat. Consider updating your GraphDef to run the newer version.");
  }
  if (i >= count) {
    return status_invalid(status,
                          "List contains uninitialized tensor at index %lld but leading_dims has only %lld "
                          "elements.",
                          (long long)i, (long long)count);
  }
  *length = tensor_i64(given)[i];
  return *length >= 0 ||
         status_invalid(status, "leading_dims must not be negative, got %lld", (long long)*length);
}

/* Writes the first dimension of every item, and their sum. */
static bool find_lengths(KernelContext *context, const TensorList *list, int64_t first, int64_t *lengths,
                         int64_t *total, Status *status) {
  *total = 0;
  for (int64_t i = 0; i < list->length; i++) {
    Tensor item = {0};
    TRY(tensor_list_item(list, i, &item, status));
    if (tensor_is_empty(&item)) {
      TRY(absent_length(context, i, first, &lengths[i], status));
    } else {
      lengths[i] = shape_dim(&item.shape, 0);
      tensor_clear(&item);
    }
    if (__builtin_add_overflow(*total, lengths[i], total))
      return status_invalid(status, "The items of a list have too many rows");
  }
  return true;
}

static bool concat_shape_of(KernelContext *context, const TensorList *list, ItemShape *shape,
                            Status *status) {
  TRY(stated_shape(context, list, shape, status));
  if (list->length == 0 && !element_shape_known(shape->rank, shape->dims))
    return element_shape_refuse(
        "All except the first dimension must be fully defined when concating an empty tensor list. "
        "element_shape",
        shape->rank, shape->dims, status);
  TRY(merge_items(list, shape, status));
  if (!element_shape_known(shape->rank, shape->dims))
    return element_shape_refuse(
        "Trying to concat list with only uninitialized tensors but element_shape_except_first_dim is not "
        "fully defined",
        shape->rank, shape->dims, status);
  return true;
}

static bool concat(KernelContext *context, Status *status) {
  TensorList *list = NULL;
  ItemShape shape;
  Tensor *lengths, *out;
  int64_t all[SHAPE_MAX_RANK], size = 1, at = 0;
  TRY(tensor_list_of_input(context, "op", &list, status));
  if (context->num_inputs > 2 && !tensor_is_vector(context->inputs[2]))
    return status_invalid(status, "leading_dims must be a vector");
  TRY(concat_shape_of(context, list, &shape, status));
  TRY(kernel_allocate_output_dims(context, 1, 1, &list->length, &lengths, status));
  TRY(find_lengths(context, list, shape.first, tensor_i64(lengths), &all[0], status));
  for (int i = 0; i < shape.rank; i++) all[i + 1] = shape.dims[i];
  TRY(kernel_allocate_output_dims(context, 0, shape.rank + 1, all, &out, status));
  if (tensor_num_elements(out) == 0) return true;
  for (int i = 0; i < shape.rank; i++) size *= shape.dims[i];
  for (int64_t i = 0; i < list->length; i++) {
    int64_t count = tensor_i64(lengths)[i] * size;
    TRY(tensor_list_copy_item(list, i, out, at, count, status));
    at += count;
  }
  return true;
}

/* --- split --- */

static bool check_split(const Tensor *tensor, int rank, const int64_t *dims, Status *status) {
  char text[SHAPE_TEXT_CAPACITY];
  if (rank == 0) {
    return status_invalid(status,
                          "TensorListSplit requires element_shape to be at least of rank 1, but saw: []");
  }
  if (tensor->shape.rank < 1)
    return status_invalid(status, "Tensor must be at least a vector, but saw shape: %s",
                          shape_text(&tensor->shape, text));
  bool fits = rank < 0 || rank == tensor->shape.rank;
  for (int i = 1; fits && i < rank; i++) fits = dims[i] < 0 || dims[i] == shape_dim(&tensor->shape, i);
  if (fits) return true;
  StrBuf want = {0};
  element_shape_print(rank, dims, &want);
  if (strbuf_ok(&want, status)) {
    status_invalid(status, "tensor shape %s is not compatible with element_shape %s",
                   shape_text(&tensor->shape, text), strbuf_text(&want));
  }
  strbuf_free(&want);
  return false;
}

static bool check_lengths(const Tensor *lengths, int64_t rows, Status *status) {
  char text[SHAPE_TEXT_CAPACITY];
  if (!tensor_is_vector(lengths)) {
    return status_invalid(status, "Expected lengths to be a vector, received shape: %s",
                          shape_text(&lengths->shape, text));
  }
  int64_t start = 0;
  for (int64_t i = 0, count = tensor_num_elements(lengths); i < count; i++) {
    int64_t length = tensor_i64(lengths)[i];
    if (length < 0) return status_invalid(status, "Invalid value in lengths: %lld", (long long)length);
    if (length > rows - start) {
      return status_invalid(status, "Attempting to slice [%lld, %llu] from tensor with length %lld",
                            (long long)start, (unsigned long long)start + (unsigned long long)length,
                            (long long)rows);
    }
    start += length;
  }
  if (tensor_num_elements(lengths) > INT32_MAX)
    return status_set(status, CODE_RESOURCE_EXHAUSTED, "A list has too many elements");
  return start == rows ||
         status_invalid(status, "Unused values in tensor. Length of tensor: %lld Values used: %lld",
                        (long long)rows, (long long)start);
}

/* Copies consecutive rows into the items of a list. */
static bool copy_parts(KernelContext *context, const Tensor *tensor, const Tensor *lengths, ListItems *items,
                       Status *status) {
  int64_t dims[SHAPE_MAX_RANK], first = 0, count = tensor_num_elements(lengths);
  TRY(variant_check_depth(tensor, &items->depth, status));
  TRY(list_items_extend(items, count, status));
  for (int d = 1; d < tensor->shape.rank; d++) dims[d] = shape_dim(&tensor->shape, d);
  for (int64_t i = 0; i < count; i++) {
    Tensor *item = &items->items[i];
    dims[0] = tensor_i64(lengths)[i];
    TRY(tensor_allocate_dims(item, tensor->dtype, tensor->shape.rank, dims, context->pool, status));
    TRY(tensor_copy_elements(tensor, first, item, 0, tensor_num_elements(item), status));
    first += tensor_num_elements(item);
  }
  return true;
}

static bool split(KernelContext *context, Status *status) {
  const Tensor *tensor = context->inputs[0], *lengths = context->inputs[2];
  int rank;
  int64_t dims[SHAPE_MAX_RANK];
  TRY(element_shape_read(context->inputs[1], &rank, dims, status));
  TRY(check_split(tensor, rank, dims, status));
  TRY(check_lengths(lengths, shape_dim(&tensor->shape, 0), status));
  int64_t count = tensor_num_elements(lengths);
  TensorList like = {.dtype = tensor->dtype, .rank = rank, .dims = dims, .max_length = -1};
  TensorList *list = tensor_list_new_like(&like, list_items_new(), count, status);
  if (list && copy_parts(context, tensor, lengths, list->items, status)) {
    list->items->claimed = count;
    return tensor_list_set_output(context, 0, list, status);
  }
  tensor_list_drop(list);
  return false;
}

/* --- shapes --- */

static bool infer_concat(InferenceContext *c, ShapeHandle stated, Status *status) {
  ShapeHandle shape, first, lengths;
  TRY(tensor_list_infer_element(c, &shape, status));
  TRY(shape_merge(c, stated, shape, &shape, status));
  TRY(shape_ok(shape_vector(c, dim_unknown(c)), &lengths, status));
  shape_set_output(c, 1, lengths);
  if (shape_rank_known(shape)) {
    TRY(shape_ok(shape_vector(c, dim_unknown(c)), &first, status));
    TRY(shape_subshape(c, shape, 1, INT64_MAX, 1, &shape, status));
    TRY(shape_concatenate(c, first, shape, &shape, status));
  } else {
    TRY(shape_ok(shape_unknown(c), &shape, status));
  }
  shape_set_output(c, 0, shape);
  return true;
}

static bool concat_shape(InferenceContext *c, Status *status) {
  const TensorShapeProto *proto;
  ShapeHandle shape;
  TRY(node_attr_shape(c->node, "element_shape", &proto, status));
  TRY(shape_from_shape_proto(c, proto, &shape, status));
  return infer_concat(c, shape, status);
}

static bool concat_v2_shape(InferenceContext *c, Status *status) {
  ShapeHandle shape;
  TRY(shape_from_input_tensor_or_scalar(c, 1, &shape, status));
  return infer_concat(c, shape, status);
}

static bool split_shape(InferenceContext *c, Status *status) {
  ShapeHandle shape, said, first;
  TRY(shape_with_rank_at_least(c, shape_input(c, 0), 1, &shape, status));
  TRY(shape_with_rank(c, shape_input(c, 2), 1, &shape, status));
  TRY(shape_subshape(c, shape_input(c, 0), 1, INT64_MAX, 1, &shape, status));
  TRY(shape_ok(shape_vector(c, dim_unknown(c)), &first, status));
  TRY(shape_concatenate(c, first, shape, &shape, status));
  TRY(shape_from_input_tensor_or_scalar(c, 1, &said, status));
  TRY(shape_merge(c, shape, said, &shape, status));
  return tensor_list_infer_handle(c, said, status);
}

/* --- ops --- */

#define CONCAT_STATE .state_size = sizeof(ConcatState), .construct = concat_construct

const OpRegistration kOpTensorListConcat = {
    .name = "TensorListConcat",
    .inputs = {"input_handle: variant"},
    .outputs = {"tensor: element_dtype", "lengths: int64"},
    .attrs = {"element_dtype: type", "element_shape: shape = { unknown_rank: true }"},
    .shape = concat_shape,
    .gradient =
        "TensorListConcatGradient[element_dtype:type, element_shape:shape](input_handle:variant, "
        "dtensor:element_dtype, dlengths:int64) -> (dinput:variant) {\n"
        "  c = TensorListConcat[element_dtype=$element_dtype, element_shape=$element_shape](input_handle)\n"
        "  e = TensorListElementShape[shape_type=int32](input_handle)\n"
        "  d = TensorListSplit[element_dtype=$element_dtype, shape_type=int32](dtensor, e:element_shape, "
        "c:lengths)\n"
        "  return dinput = d:output_handle\n"
        "}\n",
    CONCAT_STATE,
    .kernels = {{DT_INVALID, concat}},
};

const OpRegistration kOpTensorListConcatV2 = {
    .name = "TensorListConcatV2",
    .inputs = {"input_handle: variant", "element_shape: shape_type", "leading_dims: int64"},
    .outputs = {"tensor: element_dtype", "lengths: int64"},
    .attrs = {"element_dtype: type", "shape_type: {int32, int64}"},
    .shape = concat_v2_shape,
    .gradient =
        "TensorListConcatV2Gradient[element_dtype:type, shape_type:type](input_handle:variant, "
        "element_shape:shape_type, leading_dims:int64, dtensor:element_dtype, dlengths:int64) -> "
        "(dinput:variant, dshape:shape_type, dleading:int64) {\n"
        "  c = TensorListConcatV2[element_dtype=$element_dtype, shape_type=$shape_type](input_handle, "
        "element_shape, leading_dims)\n"
        "  e = TensorListElementShape[shape_type=int32](input_handle)\n"
        "  d = TensorListSplit[element_dtype=$element_dtype, shape_type=int32](dtensor, e:element_shape, "
        "c:lengths)\n"
        "  s = ZerosLike[T=$shape_type](element_shape)\n"
        "  l = ZerosLike[T=int64](leading_dims)\n"
        "  return dinput = d:output_handle, dshape = s:y, dleading = l:y\n"
        "}\n",
    CONCAT_STATE,
    .kernels = {{DT_INVALID, concat}},
};

const OpRegistration kOpTensorListSplit = {
    .name = "TensorListSplit",
    .inputs = {"tensor: element_dtype", "element_shape: shape_type", "lengths: int64"},
    .outputs = {"output_handle: variant"},
    .attrs = {"element_dtype: type", "shape_type: {int32, int64}"},
    .shape = split_shape,
    .gradient =
        "TensorListSplitGradient[element_dtype:type, shape_type:type](tensor:element_dtype, "
        "element_shape:shape_type, lengths:int64, dlist:variant) -> "
        "(dtensor:element_dtype, dshape:shape_type, dlengths:int64) {\n"
        "  x = Shape[T=$element_dtype](tensor)\n"
        "  one = Const[dtype=int32, value=[1]]()\n"
        "  rest = Const[dtype=int32, value=[-1]]()\n"
        "  zero = Const[dtype=int32, value=0]()\n"
        "  r = Slice[T=int32, Index=int32](x:output, one:output, rest:output)\n"
        "  e = ConcatV2[N=2, T=int32, Tidx=int32](rest:output, r:output, zero:output)\n"
        "  d = TensorListConcatV2[element_dtype=$element_dtype, shape_type=int32](dlist, e:output, lengths)\n"
        "  s = ZerosLike[T=$shape_type](element_shape)\n"
        "  l = ZerosLike[T=int64](lengths)\n"
        "  return dtensor = d:tensor, dshape = s:y, dlengths = l:y\n"
        "}\n",
    .kernels = {{DT_INVALID, split}},
};
