/* MirrorPad: pads a tensor with its mirror image, excluding its outermost elements (REFLECT) or including
 * them (SYMMETRIC). MirrorPadGrad adds the borders to the elements that they mirror. */
#include "base/odometer.h"
#include "op/node_def.h"
#include "op/op_registry.h"
#include "ops/support/array_box.h"
#include "ops/support/element_types.h"
#include "ops/support/half_precision.h"
#include "ops/array/paddings.h"

typedef struct MirrorState {
  int64_t skip; /* elements at the end that are not repeated: 1 for REFLECT, 0 for SYMMETRIC */
} MirrorState;

static bool mirror_construct(const KernelConstruction *construction, void *memory, Status *status) {
  Str mode;
  TRY(node_attr_string(construction->node, "mode", &mode, status));
  ((MirrorState *)memory)->skip = str_equal_text(mode, "REFLECT") ? 1 : 0;
  return true;
}

typedef struct FoldAxis {
  int64_t before, size, after, skip;
  int64_t stride; /* in the padded tensor */
} FoldAxis;

/* An axis' border, and an axis of `size` elements inside. */
static bool check_axis(const FoldAxis *axis, const char *of, Status *status) {
  long long before = axis->before, after = axis->after, size = axis->size;
  if (axis->skip == 1 ? before >= size || after >= size : before > size || after > size) {
    /* An axis without borders may be empty. */
    if (before == 0 && after == 0) return true;
    return axis->skip == 1 ? status_invalid(status,
                                            "paddings must be less than the %sdimension size: %lld, %lld not "
                                            "less than %lld",
                                            of, before, after, size)
                           : status_invalid(status,
                                            "paddings must be no greater than the %sdimension size: %lld, "
                                            "%lld greater than %lld",
                                            of, before, after, size);
  }
  return true;
}

/* --- MirrorPad --- */

static bool read_padding(const KernelContext *context, int d, FoldAxis *axis, int64_t *whole,
                         Status *status) {
  const Tensor *paddings = context->inputs[1];
  *axis = (FoldAxis){.before = tensor_int_at(paddings, 2 * d),
                     .size = shape_dim(&context->inputs[0]->shape, d),
                     .after = tensor_int_at(paddings, 2 * d + 1),
                     .skip = ((const MirrorState *)context->state)->skip};
  if (axis->before < 0 || axis->after < 0) {
    return status_invalid(status, "paddings must be non-negative: %lld %lld", (long long)axis->before,
                          (long long)axis->after);
  }
  TRY(check_axis(axis, "", status));
  if (__builtin_add_overflow(axis->before, axis->size, whole) ||
      __builtin_add_overflow(*whole, axis->after, whole)) {
    return status_invalid(status, "Dimension %d with its paddings is larger than 2**63 - 1", d);
  }
  return true;
}

/* The borders of axis `d`, from the interior: axes before it are copied without their borders, axes after it
 * in full. */
static bool fill_borders(const KernelContext *context, const FoldAxis *axes, int d, Tensor *out,
                         Status *status) {
  const FoldAxis *axis = &axes[d];
  for (int side = 0; side < 2; side++) {
    int64_t stride = axis->stride, last = axis->before + axis->size - 1;
    ArrayBox box = {0};
    if (side == 0) {
      box.from_offset = (axis->before + axis->skip) * stride;
      box.to_offset = (axis->before - 1) * stride;
    } else {
      box.from_offset = (last - axis->skip) * stride;
      box.to_offset = (last + 1) * stride;
    }
    for (int k = 0; k < d; k++) {
      box.from_offset += axes[k].before * axes[k].stride;
      box.to_offset += axes[k].before * axes[k].stride;
      array_box_add(&box, axes[k].size, axes[k].stride, axes[k].stride);
    }
    array_box_add(&box, side == 0 ? axis->before : axis->after, side == 0 ? stride : -stride,
                  side == 0 ? -stride : stride);
    array_box_add(&box, stride, 1, 1);
    TRY(array_box_copy(&box, out, out, context->parallel, status));
  }
  return true;
}

static bool mirror_pad_kernel(KernelContext *context, Status *status) {
  const Tensor *input = context->inputs[0];
  int rank = input->shape.rank;
  int64_t dims[SHAPE_MAX_RANK], from[SHAPE_MAX_RANK], to[SHAPE_MAX_RANK];
  FoldAxis axes[SHAPE_MAX_RANK];
  bool same = true;
  TRY(paddings_check(input, context->inputs[1], ",", status));
  for (int d = 0; d < rank; d++) {
    TRY(read_padding(context, d, &axes[d], &dims[d], status));
    same = same && axes[d].before == 0 && axes[d].after == 0;
  }
  if (same) return kernel_set_output(context, 0, input, NULL, status);
  Tensor *out;
  TRY(kernel_allocate_output_dims(context, 0, rank, dims, &out, status));
  if (tensor_num_elements(out) == 0) return true;
  array_strides(&input->shape, from);
  array_strides(&out->shape, to);
  ArrayBox box = {0};
  for (int d = 0; d < rank; d++) {
    axes[d].stride = to[d];
    box.to_offset += axes[d].before * to[d];
    array_box_add(&box, axes[d].size, from[d], to[d]);
  }
  TRY(array_box_copy(&box, input, out, context->parallel, status));
  for (int d = rank - 1; d >= 0; d--) TRY(fill_borders(context, axes, d, out, status));
  return true;
}

#define MIRROR_GRADIENT(op, back)                                                                 \
  op "Gradient[T:type, Tpaddings:{int32, int64}, mode:string](input:T, paddings:Tpaddings, dy:T)" \
     " -> (dinput:T, dpaddings:Tpaddings) {\n"                                                    \
     "  none = ZerosLike[T=$Tpaddings](paddings)\n"                                               \
     "  d = " back                                                                                \
     "[T=$T, Tpaddings=$Tpaddings, mode=$mode](dy, paddings)\n"                                   \
     "  return dinput = d:output:0, dpaddings = none:y:0\n"                                       \
     "}\n"

const OpRegistration kOpMirrorPad = {
    .name = "MirrorPad",
    .inputs = {"input: T", "paddings: Tpaddings"},
    .outputs = {"output: T"},
    .attrs = {"T: type", "Tpaddings: {int32, int64} = DT_INT32", "mode: {'REFLECT', 'SYMMETRIC'}"},
    .shape = paddings_shape,
    .gradient = MIRROR_GRADIENT("MirrorPad", "MirrorPadGrad"),
    .state_size = sizeof(MirrorState),
    .construct = mirror_construct,
    .kernels = {{DT_INVALID, mirror_pad_kernel}},
};

/* --- MirrorPadGrad --- */

typedef struct FoldJob {
  const FoldAxis *axis;
  int front; /* the axes before, without borders: sizes, strides, offset of their first element */
  const int64_t *dims, *strides;
  int64_t first;
  DataType dtype;
  void *data;
} FoldJob;

#define TEMPLATE "ops/array/mirror_fold.inc"
#define TYPES (TYPES_FLOAT | TYPES_HALF | TYPES_INT | TYPES_SMALL | TYPES_UNSIGNED | TYPES_COMPLEX)
#include "simd/each_type.inc"

static void fold(void *arg, int64_t begin, int64_t end) {
  const FoldJob *job = arg;
  switch (job->dtype) {
    case DT_FLOAT: mirror_fold_f32(job, begin, end); break;
    case DT_DOUBLE: mirror_fold_f64(job, begin, end); break;
    case DT_HALF: mirror_fold_f16(job, begin, end); break;
    case DT_BFLOAT16: mirror_fold_bf16(job, begin, end); break;
    case DT_INT32: mirror_fold_i32(job, begin, end); break;
    case DT_INT64: mirror_fold_i64(job, begin, end); break;
    case DT_UINT8: mirror_fold_u8(job, begin, end); break;
    case DT_INT8: mirror_fold_i8(job, begin, end); break;
    case DT_INT16: mirror_fold_i16(job, begin, end); break;
    case DT_UINT16: mirror_fold_u16(job, begin, end); break;
    case DT_UINT32: mirror_fold_u32(job, begin, end); break;
    case DT_UINT64: mirror_fold_u64(job, begin, end); break;
    case DT_COMPLEX64: mirror_fold_c64(job, begin, end); break;
    default: mirror_fold_c128(job, begin, end); break;
  }
}

static bool read_fold(const KernelContext *context, int d, FoldAxis *axis, Status *status) {
  const Tensor *paddings = context->inputs[1];
  int64_t whole = shape_dim(&context->inputs[0]->shape, d), total;
  *axis = (FoldAxis){.before = tensor_int_at(paddings, 2 * d),
                     .after = tensor_int_at(paddings, 2 * d + 1),
                     .skip = ((const MirrorState *)context->state)->skip};
  if (axis->before < 0 || axis->after < 0) {
    return status_invalid(status, "Paddings must be non-negative: %lld, %lld", (long long)axis->before,
                          (long long)axis->after);
  }
  if (__builtin_add_overflow(axis->before, axis->after, &total)) total = INT64_MAX;
  if (total > whole || (total == whole && total > 0)) {
    return status_invalid(status,
                          "Total paddings must be less than the input dimension size: %lld was not less than "
                          "%lld",
                          (long long)total, (long long)whole);
  }
  axis->size = whole - total;
  return check_axis(axis, "output ", status);
}

/* One axis after the other, so that corners are folded twice. */
static void fold_all(const KernelContext *context, const FoldAxis *axes, const int64_t *dims,
                     const int64_t *strides, Tensor *work) {
  int64_t rows = 1, first = 0;
  for (int d = 0; d < work->shape.rank; d++) {
    FoldJob job = {&axes[d], d, dims, strides, first, work->dtype, work->data};
    int64_t border = (axes[d].before + axes[d].after) * axes[d].stride;
    if (border > 0) parallel_work(context->parallel, rows, (double)border, fold, &job);
    rows *= axes[d].size;
    first += axes[d].before * axes[d].stride;
  }
}

static bool mirror_pad_grad_kernel(KernelContext *context, Status *status) {
  const Tensor *input = context->inputs[0];
  int rank = input->shape.rank;
  int64_t dims[SHAPE_MAX_RANK], from[SHAPE_MAX_RANK], to[SHAPE_MAX_RANK];
  FoldAxis axes[SHAPE_MAX_RANK];
  bool same = true;
  TRY(paddings_check(input, context->inputs[1], "", status));
  array_strides(&input->shape, from);
  for (int d = 0; d < rank; d++) {
    TRY(read_fold(context, d, &axes[d], status));
    axes[d].stride = from[d];
    dims[d] = axes[d].size;
    same = same && axes[d].before == 0 && axes[d].after == 0;
  }
  if (same) return kernel_set_output(context, 0, input, NULL, status);
  Tensor *out, work = {0};
  TRY(kernel_allocate_output_dims(context, 0, rank, dims, &out, status));
  if (tensor_num_elements(out) == 0) return true;
  TRY(tensor_copy(&work, input, context->pool, status));
  fold_all(context, axes, dims, from, &work);
  array_strides(&out->shape, to);
  ArrayBox box = {0};
  for (int d = 0; d < rank; d++) {
    box.from_offset += axes[d].before * from[d];
    array_box_add(&box, axes[d].size, from[d], to[d]);
  }
  bool ok = array_box_copy(&box, &work, out, context->parallel, status);
  tensor_clear(&work);
  return ok;
}

const OpRegistration kOpMirrorPadGrad = {
    .name = "MirrorPadGrad",
    .inputs = {"input: T", "paddings: Tpaddings"},
    .outputs = {"output: T"},
    .attrs = {"T: type", "Tpaddings: {int32, int64} = DT_INT32", "mode: {'REFLECT', 'SYMMETRIC'}"},
    .shape = paddings_grad_shape,
    .gradient = MIRROR_GRADIENT("MirrorPadGrad", "MirrorPad"),
    .state_size = sizeof(MirrorState),
    .construct = mirror_construct,
    .kernels = {NUMBER_KERNELS(mirror_pad_grad_kernel)},
};
