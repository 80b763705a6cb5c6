/* Checkpoints of version 1. New graphs use SaveV2 and RestoreV2 (ops/io/save_restore.c). */
#include "checkpoint/slice_file.h"
#include "op/op_registry.h"
#include "ops/io/saved_slice.h"

/* --- saving --- */

static bool add_tensor(SliceFileWriter *writer, Str name, Str slice_text, const Tensor *tensor,
                       Status *status) {
  Shape whole = {0};
  TensorSlice slice;
  if (slice_text.length == 0) {
    slice_full(tensor->shape.rank, &slice);
    return slice_file_writer_add(writer, name, &tensor->shape, &slice, tensor, status);
  }
  bool ok = saved_slice_parse(slice_text, tensor, &whole, &slice, status) &&
            slice_file_writer_add(writer, name, &whole, &slice, tensor, status);
  shape_clear(&whole);
  return ok;
}

/* `fixed`: the number of inputs before the tensors; the third of them lists slices. */
static bool check_inputs(const KernelContext *context, int fixed, Status *status) {
  const Tensor *filename = context->inputs[0], *names = context->inputs[1];
  int64_t count = tensor_num_elements(names);
  if (tensor_num_elements(filename) != 1) {
    return status_invalid(status, "Input 0 (filename) must be a string scalar; got a tensor of %lldelements",
                          (long long)tensor_num_elements(filename));
  }
  if (count != context->num_inputs - fixed) {
    return status_invalid(status,
                          "Expected totally %lld inputs as input #1 (which is a string tensor of saved "
                          "names) contains %lld names, but "
                          "received %d inputs",
                          (long long)(count + fixed), (long long)count, context->num_inputs);
  }
  if (fixed == 3 && tensor_num_elements(context->inputs[2]) != count) {
    return status_invalid(status, "Expected %lld elements for the tensor shapes and slices but got %lld",
                          (long long)count, (long long)tensor_num_elements(context->inputs[2]));
  }
  return true;
}

static bool save_tensors(KernelContext *context, int fixed, Status *status) {
  bool ok = false;
  TRY(check_inputs(context, fixed, status));
  SliceFileWriter *writer = slice_file_writer_new();
  if (!writer) return status_oom(status, "a checkpoint");
  for (int i = fixed; i < context->num_inputs; i++) {
    Str slice = fixed == 3 ? saved_string(context->inputs[2], i - fixed) : (Str){"", 0};
    TRY_DONE(
        add_tensor(writer, saved_string(context->inputs[1], i - fixed), slice, context->inputs[i], status));
  }
  ok = slice_file_writer_finish(writer, saved_string(context->inputs[0], 0), status);
done:
  slice_file_writer_free(writer);
  return ok;
}

static bool save(KernelContext *context, Status *status) { return save_tensors(context, 2, status); }

static bool save_slices(KernelContext *context, Status *status) { return save_tensors(context, 3, status); }

static bool saving_shape(InferenceContext *c, int fixed, Status *status) {
  ShapeHandle shape;
  DimHandle unused;
  TRY(shape_with_rank(c, shape_input(c, 0), 0, &shape, status));
  for (int i = 1; i < fixed; i++) {
    TRY(shape_with_rank(c, shape_input(c, i), 1, &shape, status));
    TRY(dim_with_value(c, shape_dim_of(c, shape, 0), c->num_inputs - fixed, &unused, status));
  }
  return true;
}

static bool save_shape(InferenceContext *c, Status *status) { return saving_shape(c, 2, status); }

static bool save_slices_shape(InferenceContext *c, Status *status) { return saving_shape(c, 3, status); }

const OpRegistration kOpSave = {
    .name = "Save",
    .inputs = {"filename: string", "tensor_names: string", "data: T"},
    .attrs = {"T: list(type) >= 1"},
    .is_stateful = true,
    .shape = save_shape,
    .gradient = NO_GRADIENT,
    .kernels = {{DT_INVALID, save}},
};

const OpRegistration kOpSaveSlices = {
    .name = "SaveSlices",
    .inputs = {"filename: string", "tensor_names: string", "shapes_and_slices: string", "data: T"},
    .attrs = {"T: list(type) >= 1"},
    .is_stateful = true,
    .shape = save_slices_shape,
    .gradient = NO_GRADIENT,
    .kernels = {{DT_INVALID, save_slices}},
};

/* --- restoring --- */

static bool restore(KernelContext *context, Status *status) {
  static const char *const names[] = {"file_pattern", "tensor_name", "shape_and_slice"};
  for (int i = 0; i < context->num_inputs; i++) {
    int64_t count = tensor_num_elements(context->inputs[i]);
    if (count != 1) {
      return status_invalid(status, "Input %d (%s) must be a string scalar; got a tensor of %lld elements", i,
                            names[i], (long long)count);
    }
  }
  Str slice = context->num_inputs > 2 ? saved_string(context->inputs[2], 0) : (Str){"", 0};
  return slice_file_restore(saved_string(context->inputs[0], 0), saved_string(context->inputs[1], 0), slice,
                            context->output_types[0], &context->outputs[0], status);
}

static bool restore_shape(InferenceContext *c, Status *status) {
  ShapeHandle unused, out;
  for (int i = 0; i < c->num_inputs; i++) TRY(shape_with_rank(c, shape_input(c, i), 0, &unused, status));
  const Tensor *text = c->num_inputs > 2 ? shape_input_tensor(c, 2) : NULL;
  ShapeHandle made = shape_unknown(c);
  if (text && tensor_num_elements(text) == 1 && saved_string(text, 0).length > 0) {
    Shape shape = {0}, part = {0};
    TensorSlice slice;
    bool ok = slice_parse(saved_string(text, 0), &shape, &slice, &part, status);
    if (ok) made = shape_of_tensor_shape(c, &part);
    shape_clear(&shape);
    shape_clear(&part);
    if (!ok) return false;
  }
  TRY(shape_ok(made, &out, status));
  shape_set_output(c, 0, out);
  return true;
}

/* preferred_shard is only a hint for the order of files: all of them are searched. */
const OpRegistration kOpRestore = {
    .name = "Restore",
    .inputs = {"file_pattern: string", "tensor_name: string"},
    .outputs = {"tensor: dt"},
    .attrs = {"dt: type", "preferred_shard: int = -1"},
    .is_stateful = true,
    .shape = restore_shape,
    .gradient = NO_GRADIENT,
    .kernels = {{DT_INVALID, restore}},
};

const OpRegistration kOpRestoreSlice = {
    .name = "RestoreSlice",
    .inputs = {"file_pattern: string", "tensor_name: string", "shape_and_slice: string"},
    .outputs = {"tensor: dt"},
    .attrs = {"dt: type", "preferred_shard: int = -1"},
    .is_stateful = true,
    .shape = restore_shape,
    .gradient = NO_GRADIENT,
    .kernels = {{DT_INVALID, restore}},
};
