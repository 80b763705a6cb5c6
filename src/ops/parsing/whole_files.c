/* ReadFile, WriteFile, MatchingFiles. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file_draft.h"
#include "op/op_registry.h"
#include "ops/parsing/feature_table.h"

enum { MOST_FILE_BYTES = INT32_MAX };

static bool check_scalar(const Tensor *tensor, const char *what, Status *status) {
  char text[SHAPE_TEXT_CAPACITY];
  return tensor_is_scalar(tensor) || status_invalid(status, "%s tensor must be scalar, but had shape: %s",
                                                    what, shape_text(&tensor->shape, text));
}

static bool read_file(KernelContext *context, Status *status) {
  char path[FILE_PATH_MAX + 1], *bytes;
  int64_t size;
  Tensor *out;
  TRY(check_scalar(context->inputs[0], "Input filename", status));
  TRY(file_path(example_text(context->inputs[0], 0), path, status));
  TRY(file_read_all(path, MOST_FILE_BYTES, &bytes, &size, status));
  bool ok = kernel_allocate_output_dims(context, 0, 0, NULL, &out, status) &&
            tstring_set(tensor_strings(out), bytes, (size_t)size, status);
  mem_free(bytes);
  return ok;
}

/* All folders above the file. */
static bool make_folders(char *path, Status *status) {
  const FileStore *store = file_store_of(path);
  size_t scheme = text_starts_with(path, FILE_MEMORY_SCHEME) ? strlen(FILE_MEMORY_SCHEME) : 1;
  bool ok = true;
  for (char *slash = strlen(path) > scheme ? strchr(path + scheme, '/') : NULL; ok && slash;
       slash = strchr(slash + 1, '/')) {
    *slash = '\0';
    ok = store->make_directory(path, status);
    *slash = '/';
  }
  return ok;
}

static bool write_file(KernelContext *context, Status *status) {
  char path[FILE_PATH_MAX + 1];
  TRY(check_scalar(context->inputs[0], "Input filename", status));
  TRY(check_scalar(context->inputs[1], "Contents", status));
  TRY(file_path(example_text(context->inputs[0], 0), path, status));
  Str contents = example_text(context->inputs[1], 0);
  return make_folders(path, status) && file_replace(path, contents.data, (int64_t)contents.length, status);
}

/* --- MatchingFiles --- */

typedef struct FoundPaths {
  char **paths;
  int64_t count, capacity;
} FoundPaths;

static bool add_path(void *arg, const char *path, Status *status) {
  FoundPaths *found = arg;
  char *copy = mem_strdup(path, strlen(path));
  if (!copy || !mem_grow((void **)&found->paths, &found->capacity, found->count + 1, sizeof *found->paths)) {
    mem_free(copy);
    return status_oom(status, "the names of files");
  }
  found->paths[found->count++] = copy;
  return true;
}

static int compare_paths(const void *a, const void *b) {
  return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool match_all(const Tensor *patterns, FoundPaths *found, Status *status) {
  for (int64_t i = 0; i < tensor_num_elements(patterns); i++) {
    char pattern[FILE_PATH_MAX + 1];
    TRY(file_path(example_text(patterns, i), pattern, status));
    TRY(file_match(pattern, add_path, found, status));
  }
  if (found->count > 0) qsort(found->paths, (size_t)found->count, sizeof *found->paths, compare_paths);
  return true;
}

static bool matching_files(KernelContext *context, Status *status) {
  const Tensor *patterns = context->inputs[0];
  char text[SHAPE_TEXT_CAPACITY];
  if (patterns->shape.rank > 1)
    return status_invalid(status, "Input patterns tensor must be scalar or vector, but had shape: %s",
                          shape_text(&patterns->shape, text));
  FoundPaths found = {0};
  Tensor *out;
  bool ok = match_all(patterns, &found, status) &&
            kernel_allocate_output_dims(context, 0, 1, &found.count, &out, status);
  for (int64_t i = 0; i < found.count; i++) {
    ok = ok && tstring_set(&tensor_strings(out)[i], found.paths[i], strlen(found.paths[i]), status);
    mem_free(found.paths[i]);
  }
  mem_free(found.paths);
  return ok;
}

/* --- ops --- */

static bool scalar_inputs_shape(InferenceContext *c, Status *status) {
  ShapeHandle scalar;
  for (int i = 0; i < c->num_inputs; i++) TRY(shape_with_rank(c, shape_input(c, i), 0, &scalar, status));
  return shape_scalar_output(c, status);
}

static bool matching_shape(InferenceContext *c, Status *status) {
  ShapeHandle patterns, out;
  TRY(shape_with_rank_at_most(c, shape_input(c, 0), 1, &patterns, status));
  TRY(shape_ok(shape_vector(c, dim_unknown(c)), &out, status));
  shape_set_output(c, 0, out);
  return true;
}

const OpRegistration kOpReadFile = {
    .name = "ReadFile",
    .inputs = {"filename: string"},
    .outputs = {"contents: string"},
    .shape = scalar_inputs_shape,
    .gradient = NO_GRADIENT,
    .kernels = {{DT_INVALID, read_file}},
};

const OpRegistration kOpWriteFile = {
    .name = "WriteFile",
    .inputs = {"filename: string", "contents: string"},
    .is_stateful = true,
    .shape = scalar_inputs_shape,
    .gradient = NO_GRADIENT,
    .kernels = {{DT_INVALID, write_file}},
};

const OpRegistration kOpMatchingFiles = {
    .name = "MatchingFiles",
    .inputs = {"pattern: string"},
    .outputs = {"filenames: string"},
    .shape = matching_shape,
    .gradient = NO_GRADIENT,
    .kernels = {{DT_INVALID, matching_files}},
};
