/* StridedSlice: the semantics of x[1:, ..., ::-2, None, 3]. The masks mark, for each entry of begin, end and
 * strides, a range, "...", a new axis or a single index, and which ends of a range are open. */
#include <string.h>

#include "op/node_def.h"
#include "op/op_registry.h"
#include "ops/support/array_box.h"

/* --- the meaning of a slice for an input of a given shape --- */

typedef struct SliceMasks {
  int64_t begin, end, ellipsis, new_axis, shrink_axis;
} SliceMasks;

static bool read_masks(const NodeDef *node, SliceMasks *masks, Status *status) {
  return node_attr_int(node, "begin_mask", &masks->begin, status) &&
         node_attr_int(node, "end_mask", &masks->end, status) &&
         node_attr_int(node, "ellipsis_mask", &masks->ellipsis, status) &&
         node_attr_int(node, "new_axis_mask", &masks->new_axis, status) &&
         node_attr_int(node, "shrink_axis_mask", &masks->shrink_axis, status);
}

/* The masks have 32 bits; later entries are unmarked. */
static bool has(int64_t mask, int64_t i) { return i < 32 && ((uint64_t)mask >> i & 1) != 0; }

/* One axis of the input. */
typedef struct SliceAxis {
  int64_t begin, end, stride;
  int64_t size; /* number of selected indices; -1: unknown */
  bool open_begin, open_end;
  bool shrink; /* a single index, so the axis is removed from the output */
} SliceAxis;

enum { NEW_AXIS = -1 };

typedef struct SliceSpec {
  int rank; /* of the input */
  SliceAxis axes[SHAPE_MAX_RANK];
  int out_rank;
  int16_t out_axes[SHAPE_MAX_RANK]; /* for each axis of the output: the axis of the input, or NEW_AXIS */
  bool known;                       /* begin and end are known */
  bool whole;                       /* every axis of the input is selected completely */
} SliceSpec;

static bool add_out_axis(SliceSpec *spec, int axis, Status *status) {
  if (spec->out_rank == SHAPE_MAX_RANK) return status_invalid(status, "Too many dimensions in tensor");
  spec->out_axes[spec->out_rank++] = (int16_t)axis;
  return true;
}

/* Assigns the entries to the axes of the input: one entry per axis; axes of "..." and after the last entry
 * are selected completely. */
static bool assign_axes(SliceSpec *spec, const SliceMasks *masks, int64_t count, const Tensor *begin,
                        const Tensor *end, const Tensor *strides, Status *status) {
  int64_t ellipsis = count, new_axes_behind = 0;
  for (int64_t i = 0; i < count; i++) {
    if (has(masks->ellipsis, i)) {
      if (ellipsis < count) return status_invalid(status, "Multiple ellipses in slice spec not allowed");
      ellipsis = i;
    } else if (ellipsis < count && has(masks->new_axis, i)) {
      new_axes_behind++;
    }
  }
  int axis = 0;
  for (int64_t i = 0; i <= count; i++) {
    if (i == ellipsis) {
      int64_t behind = i == count ? 0 : count - i - 1 - new_axes_behind, stop = spec->rank - behind;
      for (; axis < stop; axis++) {
        spec->axes[axis] = (SliceAxis){.stride = 1, .open_begin = true, .open_end = true};
        TRY(add_out_axis(spec, axis, status));
      }
    } else if (i == count) {
      break;
    } else if (has(masks->new_axis, i)) {
      TRY(add_out_axis(spec, NEW_AXIS, status));
    } else {
      if (axis == spec->rank) {
        return status_invalid(status, "Index out of range using input dim %d; input has only %d dims", axis,
                              spec->rank);
      }
      bool shrink = has(masks->shrink_axis, i);
      spec->axes[axis] = (SliceAxis){.begin = !begin ? 0 : tensor_int_at(begin, i),
                                     .end = !end ? 0 : tensor_int_at(end, i),
                                     .stride = tensor_int_at(strides, i),
                                     .open_begin = has(masks->begin, i),
                                     .open_end = has(masks->end, i),
                                     .shrink = shrink};
      if (!shrink) TRY(add_out_axis(spec, axis, status));
      axis++;
    }
  }
  return true;
}

static int64_t clamp(int64_t value, int64_t low, int64_t high) {
  return value < low ? low : value > high ? high : value;
}

/* Converts an index from the end to one from the start. Cannot overflow, because size >= 0. */
static int64_t forward(int64_t index, int64_t size) { return index < 0 ? index + size : index; }

/* The number of indices from begin to end. */
static int64_t count_steps(int64_t begin, int64_t end, int64_t stride) {
  int64_t length = end - begin;
  if (length == 0 || (length < 0) != (stride < 0)) return 0;
  /* Lengths are at most a tensor's size, so 0 - x is safe for them; a stride may be INT64_MIN. */
  uint64_t distance = length < 0 ? 0 - (uint64_t)length : (uint64_t)length;
  uint64_t step = stride < 0 ? 0 - (uint64_t)stride : (uint64_t)stride;
  return (int64_t)(distance / step + (distance % step != 0));
}

/* Begin, end and number of indices for an axis of known size. */
static bool resolve_axis(SliceSpec *spec, int i, int64_t size, Status *status) {
  SliceAxis *axis = &spec->axes[i];
  if (axis->shrink && axis->stride <= 0)
    return status_invalid(status, "only stride 1 allowed on non-range indexing.");
  bool up = axis->stride > 0, open = axis->open_begin && axis->open_end;
  if (spec->known && axis->shrink) {
    axis->begin = forward(axis->begin, size);
    if (axis->begin < 0 || axis->begin >= size) {
      return status_invalid(status, "slice index %lld of dimension %d out of bounds.", (long long)axis->begin,
                            i);
    }
    axis->end = axis->begin + 1;
    axis->size = 1;
  } else if (spec->known || open) {
    int64_t low = up ? 0 : -1, high = up ? size : size - 1;
    axis->begin = axis->open_begin ? (up ? low : high) : clamp(forward(axis->begin, size), low, high);
    axis->end = axis->open_end ? (up ? high : low) : clamp(forward(axis->end, size), low, high);
    axis->size = axis->shrink ? 1 : count_steps(axis->begin, axis->end, axis->stride);
  } else {
    axis->size = axis->shrink ? 1 : -1;
  }
  spec->whole = spec->whole && axis->stride == 1 && axis->begin == 0 && axis->size == size;
  return true;
}

/* `begin` and `end` may be NULL (unknown), `dims` may have -1 for unknown sizes. All given tensors are
 * vectors. */
static bool slice_spec(const SliceMasks *masks, const Tensor *begin, const Tensor *end, const Tensor *strides,
                       int rank, const int64_t *dims, SliceSpec *spec, Status *status) {
  int64_t count = tensor_num_elements(strides);
  spec->rank = rank;
  spec->out_rank = 0;
  spec->known = begin && end;
  spec->whole = spec->known;
  TRY(assign_axes(spec, masks, count, begin, end, strides, status));
  for (int i = 0; i < rank; i++) {
    SliceAxis *axis = &spec->axes[i];
    if (axis->stride == 0) return status_invalid(status, "strides[%d] must be non-zero", i);
    axis->size = axis->shrink ? 1 : -1;
    if (dims[i] >= 0) TRY(resolve_axis(spec, i, dims[i], status));
  }
  return true;
}

/* --- kernels --- */

typedef struct SliceState {
  SliceMasks masks;
} SliceState;

static bool strided_slice_construct(const KernelConstruction *construction, void *memory, Status *status) {
  return read_masks(construction->node, &((SliceState *)memory)->masks, status);
}

/* Reads begin, end and strides from inputs 1 to 3. */
static bool kernel_spec(KernelContext *context, int rank, const int64_t *dims, SliceSpec *spec,
                        Status *status) {
  const Tensor *const *in = context->inputs;
  char a[SHAPE_TEXT_CAPACITY], b[SHAPE_TEXT_CAPACITY], c[SHAPE_TEXT_CAPACITY];
  if (!tensor_is_vector(in[1]) || !shape_equal(&in[1]->shape, &in[2]->shape) ||
      !shape_equal(&in[1]->shape, &in[3]->shape)) {
    return status_invalid(status,
                          "Expected begin, end, and strides to be 1D equal size tensors, but got shapes %s, "
                          "%s, and %s instead.",
                          shape_text(&in[1]->shape, a), shape_text(&in[2]->shape, b),
                          shape_text(&in[3]->shape, c));
  }
  return slice_spec(&((const SliceState *)context->state)->masks, in[1], in[2], in[3], rank, dims, spec,
                    status);
}

static void out_dims(const SliceSpec *spec, int64_t *dims) {
  for (int i = 0; i < spec->out_rank; i++) {
    dims[i] = spec->out_axes[i] == NEW_AXIS ? 1 : spec->axes[spec->out_axes[i]].size;
  }
}

/* The box to copy between the whole tensor (with row-major `strides`) and the dense part; *offset is its
 * beginning in the whole. Not for empty parts. */
static void taken_box(const SliceSpec *spec, const int64_t *strides, bool to_whole, ArrayBox *box) {
  int64_t part[SHAPE_MAX_RANK], offset = 0, stride = 1;
  for (int i = spec->rank - 1; i >= 0; i--) {
    part[i] = stride;
    stride *= spec->axes[i].size;
    offset += spec->axes[i].begin * strides[i];
  }
  array_box_begin(box);
  for (int i = 0; i < spec->rank; i++) {
    const SliceAxis *axis = &spec->axes[i];
    /* With several indices the stride is shorter than the axis; otherwise it is not used. */
    int64_t whole = axis->size > 1 ? axis->stride * strides[i] : 0;
    array_box_add(box, axis->size, to_whole ? part[i] : whole, to_whole ? whole : part[i]);
  }
  if (to_whole) {
    box->to_offset = offset;
  } else {
    box->from_offset = offset;
  }
}

static bool strided_slice_kernel(KernelContext *context, Status *status) {
  const Tensor *input = context->inputs[0];
  SliceSpec spec;
  int64_t dims[SHAPE_MAX_RANK];
  TRY(kernel_spec(context, input->shape.rank, shape_dims(&input->shape), &spec, status));
  out_dims(&spec, dims);
  if (spec.whole) {
    Shape shape = {0};
    TRY(shape_set(&shape, spec.out_rank, dims, status));
    bool ok = kernel_set_output(context, 0, input, &shape, status);
    shape_clear(&shape);
    return ok;
  }
  ArrayBox box;
  int64_t strides[SHAPE_MAX_RANK];
  array_box_begin(&box);
  if (!array_is_empty(spec.out_rank, dims)) {
    array_strides(&input->shape, strides);
    taken_box(&spec, strides, false, &box);
  }
  return array_box_take(context, 0, &box, input, spec.out_rank, dims, status);
}

/* dy at the elements that the slice selects, zeros elsewhere. */
static bool strided_slice_grad_kernel(KernelContext *context, Status *status) {
  const Tensor *sizes = context->inputs[0], *dy = context->inputs[4];
  char a[SHAPE_TEXT_CAPACITY], b[SHAPE_TEXT_CAPACITY];
  int64_t dims[SHAPE_MAX_RANK];
  SliceSpec spec;
  Shape whole = {0}, part = {0};
  bool ok = false;
  if (!tensor_is_vector(sizes)) {
    return status_invalid(status, "shape must be 1-D, got shape.shape = %s instead.",
                          shape_text(&sizes->shape, a));
  }
  TRY(array_read_ints(sizes, dims, status));
  TRY(shape_set(&whole, (int)tensor_num_elements(sizes), dims, status));
  TRY_DONE(kernel_spec(context, whole.rank, shape_dims(&whole), &spec, status));
  out_dims(&spec, dims);
  TRY_DONE(shape_set(&part, spec.out_rank, dims, status));
  if (!shape_equal(&part, &dy->shape)) {
    status_invalid(status, "shape of dy was %s instead of %s", shape_text(&dy->shape, a),
                   shape_text(&part, b));
    goto done;
  }
  if (spec.whole) {
    ok = kernel_set_output(context, 0, dy, &whole, status);
    goto done;
  }
  Tensor *out;
  TRY_DONE(kernel_allocate_output(context, 0, &whole, &out, status));
  array_clear(out);
  if (tensor_num_elements(dy) > 0) {
    ArrayBox box;
    array_strides(&whole, dims);
    taken_box(&spec, dims, true, &box);
    TRY_DONE(array_box_copy(&box, dy, out, context->parallel, status));
  }
  ok = true;
done:
  shape_clear(&whole);
  shape_clear(&part);
  return ok;
}

/* --- shape functions --- */

static bool is_index_vector(const Tensor *tensor) {
  return !tensor || (tensor_is_vector(tensor) &&
                     (tensor->dtype == DT_INT32 || tensor->dtype == DT_INT64 || tensor->dtype == DT_INT16));
}

static bool strided_slice_shape(InferenceContext *c, Status *status) {
  ShapeHandle input = shape_input(c, 0), begins, ends, strides, output;
  TRY(shape_with_rank(c, shape_input(c, 1), 1, &begins, status));
  TRY(shape_with_rank(c, shape_input(c, 2), 1, &ends, status));
  TRY(shape_with_rank(c, shape_input(c, 3), 1, &strides, status));
  TRY(shape_merge(c, begins, ends, &begins, status));
  TRY(shape_merge(c, begins, strides, &begins, status));
  const Tensor *stride = shape_input_tensor(c, 3);
  if (!shape_rank_known(input) || !dim_known(shape_dim_of(c, begins, 0)) || !stride) {
    return shape_unknown_outputs(c, status);
  }
  if (shape_rank(input) > SHAPE_MAX_RANK) return status_invalid(status, "Too many dimensions in tensor");
  const Tensor *begin = shape_input_tensor(c, 1), *end = shape_input_tensor(c, 2);
  int64_t count = tensor_num_elements(stride);
  if (!is_index_vector(begin) || !is_index_vector(end) || !is_index_vector(stride) ||
      (begin && tensor_num_elements(begin) != count) || (end && tensor_num_elements(end) != count)) {
    return status_invalid(status, "Expected begin, end, and strides to be 1D equal size tensors");
  }
  SliceMasks masks;
  SliceSpec spec;
  int64_t dims[SHAPE_MAX_RANK];
  TRY(read_masks(c->node, &masks, status));
  for (int32_t i = 0; i < shape_rank(input); i++) dims[i] = dim_value(shape_dim_of(c, input, i));
  TRY(slice_spec(&masks, begin, end, stride, shape_rank(input), dims, &spec, status));
  out_dims(&spec, dims);
  DimHandle *made = arena_alloc(c->arena, (spec.out_rank + 1) * (int64_t)sizeof *made);
  if (!made) return status_oom(status, "shape inference");
  for (int i = 0; i < spec.out_rank; i++) {
    /* A completely selected axis keeps its dimension, even if its size is unknown. */
    const SliceAxis *axis = spec.out_axes[i] == NEW_AXIS ? NULL : &spec.axes[spec.out_axes[i]];
    bool whole = axis && axis->open_begin && axis->open_end && (axis->stride == 1 || axis->stride == -1);
    TRY(dim_ok(whole ? shape_dim_of(c, input, spec.out_axes[i]) : dim_make(c, dims[i]), &made[i], status));
  }
  TRY(shape_ok(shape_of_dims(c, made, spec.out_rank), &output, status));
  shape_set_output(c, 0, output);
  if (c->input_handles && c->input_handles[0] && c->output_handles) {
    c->output_handles[0] = c->input_handles[0];
  }
  return true;
}

static bool strided_slice_grad_shape(InferenceContext *c, Status *status) {
  ShapeHandle output;
  TRY(shape_from_input_tensor(c, 0, &output, status));
  shape_set_output(c, 0, output);
  return true;
}

#define MASK_SPECS                                                                                \
  "begin_mask: int = 0", "end_mask: int = 0", "ellipsis_mask: int = 0", "new_axis_mask: int = 0", \
      "shrink_axis_mask: int = 0"
#define GRADIENT_ATTRS                                                                                  \
  "[T:type, Index:{int32, int64}, begin_mask:int, end_mask:int, ellipsis_mask:int, new_axis_mask:int, " \
  "shrink_axis_mask:int]"
#define SAME_MASKS                                                             \
  "begin_mask=$begin_mask, end_mask=$end_mask, ellipsis_mask=$ellipsis_mask, " \
  "new_axis_mask=$new_axis_mask, shrink_axis_mask=$shrink_axis_mask"
#define NO_INDEX_GRADIENTS                  \
  "  dbegin = ZerosLike[T=$Index](begin)\n" \
  "  dend = ZerosLike[T=$Index](end)\n"     \
  "  dstrides = ZerosLike[T=$Index](strides)\n"

const OpRegistration kOpStridedSlice = {
    .name = "StridedSlice",
    .inputs = {"input: T", "begin: Index", "end: Index", "strides: Index"},
    .outputs = {"output: T"},
    .attrs = {"T: type", "Index: {int16, int32, int64}", MASK_SPECS},
    .shape = strided_slice_shape,
    .gradient =
        "StridedSliceGradient" GRADIENT_ATTRS
        "(input:T, begin:Index, end:Index, strides:Index, dy:T)"
        " -> (dinput:T, dbegin:Index, dend:Index, dstrides:Index) {\n" NO_INDEX_GRADIENTS
        "  shape = Shape[T=$T, out_type=$Index](input)\n"
        "  d = StridedSliceGrad[T=$T, Index=$Index, " SAME_MASKS
        "](shape:output:0, begin, end, strides, dy)\n"
        "  return dinput = d:output:0, dbegin = dbegin:y:0, dend = dend:y:0, dstrides = dstrides:y:0\n"
        "}\n",
    .state_size = sizeof(SliceState),
    .construct = strided_slice_construct,
    .kernels = {{DT_INVALID, strided_slice_kernel}},
};

const OpRegistration kOpStridedSliceGrad = {
    .name = "StridedSliceGrad",
    .inputs = {"shape: Index", "begin: Index", "end: Index", "strides: Index", "dy: T"},
    .outputs = {"output: T"},
    .attrs = {"T: type", "Index: {int32, int64}", MASK_SPECS},
    .shape = strided_slice_grad_shape,
    .gradient = "StridedSliceGradGradient" GRADIENT_ATTRS
                "(shape:Index, begin:Index, end:Index, strides:Index, dy:T, grad:T)"
                " -> (dshape:Index, dbegin:Index, dend:Index, dstrides:Index, ddy:T) {\n"
                "  dshape = ZerosLike[T=$Index](shape)\n" NO_INDEX_GRADIENTS
                "  d = StridedSlice[T=$T, Index=$Index, " SAME_MASKS
                "](grad, begin, end, strides)\n"
                "  return dshape = dshape:y:0, dbegin = dbegin:y:0, dend = dend:y:0, dstrides = "
                "dstrides:y:0, ddy = d:output:0\n"
                "}\n",
    .state_size = sizeof(SliceState),
    .construct = strided_slice_construct,
    .kernels = {{DT_INVALID, strided_slice_grad_kernel}},
};
