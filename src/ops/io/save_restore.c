/* Checkpoints of version 2, and the names of their shards. */
#include <stdio.h>

#include "checkpoint/bundle.h"
#include "checkpoint/slice_file.h"
#include "op/node_def.h"
#include "op/op_registry.h"
#include "ops/io/saved_slice.h"

/* --- the inputs that saving and restoring share: prefix, names, slices --- */

static bool check_inputs(const KernelContext *context, bool saves, Status *status) {
  const Tensor *prefix = context->inputs[0], *names = context->inputs[1], *slices = context->inputs[2];
  int64_t count = tensor_num_elements(names),
          tensors = saves ? context->num_inputs - 3 : context->num_outputs;
  if (tensor_num_elements(prefix) != 1) {
    return status_invalid(status, "Input prefix should have a single element, got %lld instead.",
                          (long long)tensor_num_elements(prefix));
  }
  if (!tensor_is_vector(names) || !tensor_is_vector(slices)) {
    char a[SHAPE_TEXT_CAPACITY], b[SHAPE_TEXT_CAPACITY];
    return status_invalid(status,
                          "Input tensor_names and shape_and_slices should be an 1-D tensors, got %s and %s "
                          "instead.",
                          shape_text(&names->shape, a), shape_text(&slices->shape, b));
  }
  if (count != tensor_num_elements(slices)) {
    return status_invalid(status,
                          "tensor_names and shape_and_slices have different number of elements: %lld vs. "
                          "%lld",
                          (long long)count, (long long)tensor_num_elements(slices));
  }
  if (count == tensors) return true;
  return saves ? status_invalid(status, "Got %lld tensor names but %lld tensors.", (long long)count,
                                (long long)tensors)
               : status_invalid(status, "Got %lld tensor names, but %lld expected dtypes.", (long long)count,
                                (long long)tensors);
}

static bool inputs_shape(InferenceContext *c, ShapeHandle *merged, Status *status) {
  ShapeHandle names, slices, prefix;
  TRY(shape_with_rank(c, shape_input(c, 0), 0, &prefix, status));
  TRY(shape_with_rank(c, shape_input(c, 1), 1, &names, status));
  TRY(shape_with_rank(c, shape_input(c, 2), 1, &slices, status));
  return shape_merge(c, names, slices, merged, status);
}

static bool save_shape(InferenceContext *c, Status *status) {
  ShapeHandle names;
  DimHandle count;
  TRY(inputs_shape(c, &names, status));
  return dim_with_value(c, shape_dim_of(c, names, 0), c->num_inputs - 3, &count, status);
}

/* --- saving --- */

static bool save_tensor(BundleWriter *writer, Str name, Str slice_text, const Tensor *tensor,
                        Status *status) {
  Shape whole = {0};
  TensorSlice slice;
  if (slice_text.length == 0) return bundle_writer_add(writer, name, tensor, status);
  bool ok = saved_slice_parse(slice_text, tensor, &whole, &slice, status) &&
            bundle_writer_add_slice(writer, name, &whole, &slice, tensor, status);
  shape_clear(&whole);
  return ok;
}

static bool save(KernelContext *context, Status *status) {
  BundleWriter *writer;
  bool ok = false;
  TRY(check_inputs(context, true, status));
  TRY(bundle_writer_new(saved_string(context->inputs[0], 0), &writer, status));
  for (int i = 3; i < context->num_inputs; i++) {
    TRY_DONE(save_tensor(writer, saved_string(context->inputs[1], i - 3),
                         saved_string(context->inputs[2], i - 3), context->inputs[i], status));
  }
  ok = bundle_writer_finish(writer, status);
done:
  bundle_writer_free(writer);
  return ok;
}

const OpRegistration kOpSaveV2 = {
    .name = "SaveV2",
    .inputs = {"prefix: string", "tensor_names: string", "shape_and_slices: string", "tensors: dtypes"},
    .attrs = {"dtypes: list(type) >= 1"},
    .is_stateful = true,
    .shape = save_shape,
    .gradient = NO_GRADIENT,
    .kernels = {{DT_INVALID, save}},
};

/* --- restoring --- */

static bool check_dtype(Str name, DataType expected, DataType stored, Status *status) {
  return expected == stored ||
         status_invalid(status, "tensor_name = %.*s; expected dtype %s does not equal original dtype %s",
                        (int)name.length, name.data, dtype_name(expected), dtype_name(stored));
}

static bool restore_slice(BundleReader *reader, Str name, Str slice_text, const Shape *stored,
                          BufferPool *pool, Tensor *tensor, Status *status) {
  Shape shape = {0}, part = {0};
  TensorSlice slice;
  bool ok = slice_parse(slice_text, &shape, &slice, &part, status);
  if (ok && !shape_equal(&shape, stored)) {
    char a[SHAPE_TEXT_CAPACITY], b[SHAPE_TEXT_CAPACITY];
    ok = status_invalid(status,
                        "tensor_name = %.*s; shape in shape_and_slice spec %s does not match the shape "
                        "stored in checkpoint: %s",
                        (int)name.length, name.data, shape_text(&shape, a), shape_text(stored, b));
  }
  ok = ok && bundle_reader_read_slice(reader, name, &slice, pool, tensor, status);
  shape_clear(&shape);
  shape_clear(&part);
  return ok;
}

static bool restore_tensor(KernelContext *context, BundleReader *reader, int i, Status *status) {
  Str name = saved_string(context->inputs[1], i), slice = saved_string(context->inputs[2], i);
  Shape stored = {0};
  DataType dtype;
  Tensor tensor = {0};
  bool ok = bundle_reader_look_up(reader, name, &dtype, &stored, status) &&
            check_dtype(name, context->output_types[i], dtype, status) &&
            (slice.length == 0 ? bundle_reader_read(reader, name, context->pool, &tensor, status)
                               : restore_slice(reader, name, slice, &stored, context->pool, &tensor, status));
  ok = ok && kernel_set_output(context, i, &tensor, NULL, status);
  tensor_clear(&tensor);
  shape_clear(&stored);
  return ok;
}

static bool restore(KernelContext *context, Status *status) {
  BundleReader *reader;
  bool ok = false;
  TRY(check_inputs(context, false, status));
  Str prefix = saved_string(context->inputs[0], 0);
  if (!bundle_exists(prefix)) {
    /* It may be a checkpoint of version 1, because old graphs are saved again with this op. */
    for (int i = 0; i < context->num_outputs; i++) {
      TRY(slice_file_restore(prefix, saved_string(context->inputs[1], i), saved_string(context->inputs[2], i),
                             context->output_types[i], &context->outputs[i], status));
    }
    return true;
  }
  TRY(bundle_reader_open(prefix, &reader, status));
  for (int i = 0; i < context->num_outputs; i++) TRY_DONE(restore_tensor(context, reader, i, status));
  ok = true;
done:
  bundle_reader_free(reader);
  return ok;
}

/* A constant slice determines the shape of its output. */
static bool restore_shape(InferenceContext *c, Status *status) {
  ShapeHandle names;
  TRY(inputs_shape(c, &names, status));
  const Tensor *slices = shape_input_tensor(c, 2);
  bool known = slices && tensor_is_vector(slices) && tensor_num_elements(slices) == c->num_outputs;
  for (int i = 0; i < c->num_outputs; i++) {
    ShapeHandle made = shape_unknown(c), out;
    Str text = known ? saved_string(slices, i) : (Str){"", 0};
    if (text.length > 0) {
      Shape shape = {0}, part = {0};
      TensorSlice slice;
      bool ok = slice_parse(text, &shape, &slice, &part, status);
      if (ok) made = shape_of_tensor_shape(c, &part);
      shape_clear(&shape);
      shape_clear(&part);
      if (!ok) return false;
    }
    TRY(shape_ok(made, &out, status));
    shape_set_output(c, i, out);
  }
  return true;
}

const OpRegistration kOpRestoreV2 = {
    .name = "RestoreV2",
    .inputs = {"prefix: string", "tensor_names: string", "shape_and_slices: string"},
    .outputs = {"tensors: dtypes"},
    .attrs = {"dtypes: list(type) >= 1"},
    .is_stateful = true,
    .shape = restore_shape,
    .gradient = NO_GRADIENT,
    .kernels = {{DT_INVALID, restore}},
};

/* --- merging --- */

typedef struct MergeState {
  bool delete_old_dirs, allow_missing_files;
} MergeState;

static bool merge_construct(const KernelConstruction *construction, void *state, Status *status) {
  MergeState *merge = state;
  return node_attr_bool(construction->node, "delete_old_dirs", &merge->delete_old_dirs, status) &&
         node_attr_bool(construction->node, "allow_missing_files", &merge->allow_missing_files, status);
}

/* The length of the folder's name in the prefix. */
static Str directory_of(Str prefix) {
  size_t length = prefix.length;
  while (length > 0 && prefix.data[length - 1] != '/') length--;
  return (Str){prefix.data, length > 1 ? length - 1 : length};
}

/* A folder that is not empty stays; a missing one is fine. */
static void delete_directories(const Str *prefixes, int64_t count, Str destination) {
  char path[FILE_PATH_MAX + 1];
  Status ignored;
  for (int64_t i = 0; i < count; i++) {
    Str directory = directory_of(prefixes[i]);
    if (directory.length == 0 || str_equal(directory, directory_of(destination)) ||
        !file_path(directory, path, &ignored))
      continue;
    (void)!file_store_of(path)->remove_directory(path, &ignored);
  }
}

static bool merge(KernelContext *context, Status *status) {
  const MergeState *state = context->state;
  const Tensor *inputs = context->inputs[0], *destination = context->inputs[1];
  char text[SHAPE_TEXT_CAPACITY];
  if (!tensor_is_vector(inputs)) {
    return status_invalid(status, "Input checkpoint_prefixes should be an 1-D tensor, got %s instead.",
                          shape_text(&inputs->shape, text));
  }
  if (!tensor_is_scalar(destination)) {
    return status_invalid(status, "Input destination_prefix should be a scalar tensor, got %s instead.",
                          shape_text(&destination->shape, text));
  }
  int64_t count = tensor_num_elements(inputs);
  Buffer *memory = kernel_scratch(context, (count + 1) * (int64_t)sizeof(Str), status);
  if (!memory) return false;
  Str *prefixes = memory->data;
  for (int64_t i = 0; i < count; i++) prefixes[i] = saved_string(inputs, i);
  bool ok = bundle_merge(prefixes, count, state->allow_missing_files, saved_string(destination, 0), status);
  if (ok && state->delete_old_dirs) delete_directories(prefixes, count, saved_string(destination, 0));
  buffer_unref(memory);
  return ok;
}

static bool merge_shape(InferenceContext *c, Status *status) {
  ShapeHandle unused;
  TRY(shape_with_rank(c, shape_input(c, 0), 1, &unused, status));
  return shape_with_rank(c, shape_input(c, 1), 0, &unused, status);
}

const OpRegistration kOpMergeV2Checkpoints = {
    .name = "MergeV2Checkpoints",
    .inputs = {"checkpoint_prefixes: string", "destination_prefix: string"},
    .attrs = {"delete_old_dirs: bool = true", "allow_missing_files: bool = false"},
    .is_stateful = true,
    .shape = merge_shape,
    .gradient = NO_GRADIENT,
    .state_size = sizeof(MergeState),
    .construct = merge_construct,
    .kernels = {{DT_INVALID, merge}},
};

/* --- names of shards --- */

static bool scalar_inputs(const KernelContext *context, const char *const *names, Status *status) {
  char text[SHAPE_TEXT_CAPACITY];
  for (int i = 0; i < context->num_inputs; i++) {
    if (tensor_is_scalar(context->inputs[i])) continue;
    return status_invalid(status, "%s must be a scalar, got shape %s", names[i],
                          shape_text(&context->inputs[i]->shape, text));
  }
  return true;
}

static bool set_name(KernelContext *context, const char *suffix, Status *status) {
  StrBuf name = {0};
  Tensor *out;
  Str base = saved_string(context->inputs[0], 0);
  strbuf_append_bytes(&name, base.data, base.length);
  strbuf_append(&name, suffix);
  bool ok = strbuf_ok(&name, status) && kernel_allocate_output_dims(context, 0, 0, NULL, &out, status) &&
            tstring_set(tensor_strings(out), name.data, (size_t)name.length, status);
  strbuf_free(&name);
  return ok;
}

static bool sharded_filename(KernelContext *context, Status *status) {
  static const char *const names[] = {"basename", "shard", "num_shards"};
  char suffix[64];
  TRY(scalar_inputs(context, names, status));
  snprintf(suffix, sizeof suffix, "-%05d-of-%05d", *tensor_i32(context->inputs[1]),
           *tensor_i32(context->inputs[2]));
  return set_name(context, suffix, status);
}

static bool sharded_filespec(KernelContext *context, Status *status) {
  static const char *const names[] = {"basename", "num_shards"};
  char suffix[64];
  TRY(scalar_inputs(context, names, status));
  snprintf(suffix, sizeof suffix, "-?\?\?\?\?-of-%05d", *tensor_i32(context->inputs[1]));
  return set_name(context, suffix, status);
}

static bool scalars_shape(InferenceContext *c, Status *status) {
  ShapeHandle unused;
  for (int i = 0; i < c->num_inputs; i++) TRY(shape_with_rank(c, shape_input(c, i), 0, &unused, status));
  return shape_scalar_output(c, status);
}

const OpRegistration kOpShardedFilename = {
    .name = "ShardedFilename",
    .inputs = {"basename: string", "shard: int32", "num_shards: int32"},
    .outputs = {"filename: string"},
    .shape = scalars_shape,
    .gradient = NO_GRADIENT,
    .kernels = {{DT_INVALID, sharded_filename}},
};

const OpRegistration kOpShardedFilespec = {
    .name = "ShardedFilespec",
    .inputs = {"basename: string", "num_shards: int32"},
    .outputs = {"filename: string"},
    .shape = scalars_shape,
    .gradient = NO_GRADIENT,
    .kernels = {{DT_INVALID, sharded_filespec}},
};
