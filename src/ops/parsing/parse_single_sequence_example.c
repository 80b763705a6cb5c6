/* ParseSingleSequenceExample: the context features and feature lists of one SequenceExample. Unlike its
 * successors in ops/parsing/parse_sequence_example.c it reads the whole message, and its messages show the
 * features. */
#include <string.h>

#include "base/alloc.h"
#include "op/node_def.h"
#include "op/op_registry.h"
#include "ops/parsing/feature_table.h"
#include "ops/parsing/parse_shapes.h"
#include "ops/support/elements.h"
#include "ops/support/shape_pattern.h"
#include "proto/example_protos.h"

typedef struct SingleSpecs {
  FeatureSpecs context, lists;
} SingleSpecs;

static const FeatureAttrs
    kContext = {"context_", "Ncontext_sparse", "Ncontext_dense", "Tcontext_dense", false, false, false},
    kLists = {"feature_list_",
              "Nfeature_list_sparse",
              "Nfeature_list_dense",
              "feature_list_dense_types",
              false,
              false,
              false};

static bool read_specs(const NodeDef *node, Arena *arena, SingleSpecs *specs, Status *status) {
  return feature_specs_read(node, &kContext, arena, &specs->context, status) &&
         feature_specs_read(node, &kLists, arena, &specs->lists, status);
}

static bool single_construct(const KernelConstruction *construction, void *memory, Status *status) {
  return read_specs(construction->node, construction->arena, memory, status);
}

/* One run. */
typedef struct SingleRun {
  KernelContext *kernel;
  FeatureSpecs context, lists;
  const SequenceExample *example;
  Str name; /* of the example, for messages */
} SingleRun;

/* --- inputs --- */

static bool set_keys(KernelContext *kernel, int input, const char *name, FeatureSpec *specs, int count,
                     Status *status) {
  char text[SHAPE_TEXT_CAPACITY];
  for (int i = 0; i < count; i++) {
    const Tensor *key = kernel->inputs[input + i];
    if (!tensor_is_scalar(key))
      return status_invalid(status, "Expected %s[%d] to be a scalar, got shape: %s", name, i,
                            shape_text(&key->shape, text));
    specs[i].key = example_text(key, 0);
  }
  return true;
}

static bool set_missing(const Tensor *keys, FeatureSpecs *lists, Status *status) {
  char text[SHAPE_TEXT_CAPACITY];
  if (!tensor_is_vector(keys))
    return status_invalid(status,
                          "Expected feature_list_dense_missing_assumed_empty to be a vector, got shape: %s",
                          shape_text(&keys->shape, text));
  for (int i = 0; i < lists->num_dense; i++) {
    FeatureSpec *spec = feature_specs_dense(lists) + i;
    for (int64_t k = 0; k < tensor_num_elements(keys); k++)
      if (str_equal(example_text(keys, k), spec->key)) spec->may_be_missing = true;
  }
  return true;
}

static bool set_fallbacks(KernelContext *kernel, int input, FeatureSpecs *context, Status *status) {
  char a[SHAPE_TEXT_CAPACITY], b[SHAPE_TEXT_CAPACITY];
  for (int i = 0; i < context->num_dense; i++) {
    FeatureSpec *spec = feature_specs_dense(context) + i;
    spec->fallback = kernel->inputs[input + i];
    const Shape *shape = &spec->fallback->shape;
    if (shape_num_elements(shape) > 0 && !partial_shape_allows(spec->shape, shape))
      return status_invalid(status, "def_value[%d].shape() == %s != context_dense_shapes_[%d] == %s", i,
                            shape_text(shape, a), i, partial_shape_text(spec->shape, b));
  }
  return true;
}

static bool set_name(const Tensor *name, SingleRun *run, Status *status) {
  char text[SHAPE_TEXT_CAPACITY];
  if (tensor_num_elements(name) > 0 && !tensor_is_scalar(name))
    return status_invalid(status, "Expected debug_name to be a scalar, got shape: %s",
                          shape_text(&name->shape, text));
  run->name = example_name(name, 0);
  return true;
}

/* All inputs but the message. */
static bool read_inputs(SingleRun *run, Status *status) {
  KernelContext *kernel = run->kernel;
  FeatureSpecs *context = &run->context, *lists = &run->lists;
  int context_dense = 2 + context->num_sparse, list_sparse = context_dense + context->num_dense;
  int list_dense = list_sparse + lists->num_sparse, fallbacks = list_dense + lists->num_dense;
  char text[SHAPE_TEXT_CAPACITY];
  TRY(set_keys(kernel, context_dense, "context_dense_keys", feature_specs_dense(context), context->num_dense,
               status));
  TRY(set_keys(kernel, 2, "context_sparse_keys", context->specs, context->num_sparse, status));
  TRY(set_keys(kernel, list_dense, "feature_list_dense_keys", feature_specs_dense(lists), lists->num_dense,
               status));
  TRY(set_keys(kernel, list_sparse, "feature_list_sparse_keys", lists->specs, lists->num_sparse, status));
  TRY(set_missing(kernel->inputs[1], lists, status));
  TRY(set_name(kernel->inputs[kernel->num_inputs - 1], run, status));
  if (!tensor_is_scalar(kernel->inputs[0]))
    return status_invalid(status, "Expected serialized to be a scalar, got shape: %s",
                          shape_text(&kernel->inputs[0]->shape, text));
  return set_fallbacks(kernel, fallbacks, context, status);
}

/* --- the features of the message --- */

static bool key_is(const char *key, Str wanted) { return str_equal(str_of(key), wanted); }

/* NULL: there is none. An entry without a value has an empty one. */
static const Feature *find_feature(const SequenceExample *example, Str key) {
  static const Feature kEmpty = TENSORFLOW__FEATURE__INIT;
  const FeatureMap *map = example->context;
  for (size_t i = 0; map && i < map->n_feature; i++) {
    const Feature *value = map->feature[i]->value;
    if (key_is(map->feature[i]->key, key)) return value ? value : &kEmpty;
  }
  return NULL;
}

static const FeatureList *find_list(const SequenceExample *example, Str key) {
  static const FeatureList kEmpty = TENSORFLOW__FEATURE_LIST__INIT;
  const FeatureListMap *map = example->feature_lists;
  for (size_t i = 0; map && i < map->n_feature_list; i++) {
    const FeatureList *value = map->feature_list[i]->value;
    if (key_is(map->feature_list[i]->key, key)) return value ? value : &kEmpty;
  }
  return NULL;
}

static DataType feature_dtype(const Feature *feature) {
  switch (feature->kind_case) {
    case TENSORFLOW__FEATURE__KIND_BYTES_LIST: return DT_STRING;
    case TENSORFLOW__FEATURE__KIND_FLOAT_LIST: return DT_FLOAT;
    case TENSORFLOW__FEATURE__KIND_INT64_LIST: return DT_INT64;
    default: return DT_INVALID;
  }
}

static int64_t count_values(const Feature *feature) {
  switch (feature->kind_case) {
    case TENSORFLOW__FEATURE__KIND_BYTES_LIST: return (int64_t)feature->bytes_list->n_value;
    case TENSORFLOW__FEATURE__KIND_FLOAT_LIST: return (int64_t)feature->float_list->n_value;
    case TENSORFLOW__FEATURE__KIND_INT64_LIST: return (int64_t)feature->int64_list->n_value;
    default: return 0;
  }
}

static bool copy_values(const Feature *feature, Tensor *to, int64_t first, Status *status) {
  size_t count = (size_t)count_values(feature);
  if (count == 0) return true;
  if (to->dtype == DT_FLOAT)
    memcpy(tensor_f32(to) + first, feature->float_list->value, count * sizeof(float));
  if (to->dtype == DT_INT64)
    memcpy(tensor_i64(to) + first, feature->int64_list->value, count * sizeof(int64_t));
  for (size_t i = 0; to->dtype == DT_STRING && i < count; i++) {
    const ProtobufCBinaryData *value = &feature->bytes_list->value[i];
    TRY(tstring_set(&tensor_strings(to)[first + (int64_t)i], value->data, value->len, status));
  }
  return true;
}

/* `place`: "Context feature" or "Feature list"; `step` is negative for a context feature. */
static bool check_dtype(const SingleRun *run, const FeatureSpec *wanted, const Feature *feature,
                        const char *place, int64_t step, Status *status) {
  if (feature_dtype(feature) == wanted->dtype) return true;
  StrBuf text = {0};
  Str name = run->name, key = wanted->key;
  strbuf_printf(&text, "Name: %.*s, %s: %.*s", (int)name.length, name.data, place, (int)key.length, key.data);
  if (step >= 0) strbuf_printf(&text, ", Index: %lld", (long long)step);
  strbuf_printf(&text,
                ".  Data types don't match. Expected type: %s  Feature is: ", dtype_name((int)wanted->dtype));
  proto_print_text(feature, PROTO_TEXT_MULTI_LINE, &text);
  if (strbuf_ok(&text, status)) status_invalid(status, "%s", strbuf_text(&text));
  strbuf_free(&text);
  return false;
}

/* Copies a feature with as many values as the shape has to row `step` of the output. */
static bool copy_dense(const SingleRun *run, const FeatureSpec *wanted, const Feature *feature, int64_t step,
                       Tensor *out, Status *status) {
  char text[SHAPE_TEXT_CAPACITY];
  int64_t count = count_values(feature);
  bool is_text = wanted->dtype == DT_STRING;
  if (count == wanted->stride) return copy_values(feature, out, step * wanted->stride, status);
  return status_invalid(status,
                        "Name: %.*s, Key%s %.*s, Index: %lld.  Number of %s values != expected.  %salues "
                        "size: "
                        "%lld but output shape: %s",
                        (int)run->name.length, run->name.data, is_text ? "" : ":", (int)wanted->key.length,
                        wanted->key.data, (long long)step,
                        is_text                     ? "bytes"
                        : wanted->dtype == DT_FLOAT ? "float"
                                                    : "int64",
                        is_text ? "V" : "v", (long long)count, partial_shape_text(wanted->shape, text));
}

/* The shape of a dense feature behind `rows`, which is left out if negative. */
static bool allocate_dense(KernelContext *kernel, int output, int64_t rows, const TensorShapeProto *shape,
                           Tensor **out, Status *status) {
  int64_t dims[SHAPE_MAX_RANK + 1];
  int rank = 0;
  if (rows >= 0) dims[rank++] = rows;
  for (size_t d = 0; d < shape->n_dim; d++) dims[rank++] = shape->dim[d]->size;
  return kernel_allocate_output_dims(kernel, output, rank, dims, out, status);
}

/* --- context --- */

static bool write_context_dense(SingleRun *run, int output, const FeatureSpec *wanted, Status *status) {
  const Feature *feature = find_feature(run->example, wanted->key);
  int64_t fallback = tensor_num_elements(wanted->fallback);
  Tensor *out;
  TRY(allocate_dense(run->kernel, output, -1, wanted->shape, &out, status));
  if (feature)
    return check_dtype(run, wanted, feature, "Context feature", -1, status) &&
           copy_dense(run, wanted, feature, 0, out, status);
  if (fallback > 0) return tensor_copy_elements(wanted->fallback, 0, out, 0, fallback, status);
  return status_invalid(status, "Name: %.*s, Context feature '%.*s' is required but could not be found.",
                        (int)run->name.length, run->name.data, (int)wanted->key.length, wanted->key.data);
}

/* Indices, values and shape of a sparse tensor; `apart`: how far these outputs are from each other. */
static bool allocate_sparse(KernelContext *kernel, int output, int apart, int64_t count, int64_t rank,
                            Tensor *out[3], Status *status) {
  return kernel_allocate_output_dims(kernel, output, 2, (int64_t[]){count, rank}, &out[0], status) &&
         kernel_allocate_output_dims(kernel, output + apart, 1, &count, &out[1], status) &&
         kernel_allocate_output_dims(kernel, output + 2 * apart, 1, &rank, &out[2], status);
}

static bool write_context_sparse(SingleRun *run, int output, const FeatureSpec *wanted, Status *status) {
  const Feature *feature = find_feature(run->example, wanted->key);
  if (feature && feature_dtype(feature) == DT_INVALID) feature = NULL;
  if (feature) TRY(check_dtype(run, wanted, feature, "Context feature", -1, status));
  int64_t count = feature ? count_values(feature) : 0;
  Tensor *out[3];
  TRY(allocate_sparse(run->kernel, output, run->context.num_sparse, count, 1, out, status));
  for (int64_t i = 0; i < count; i++) tensor_i64(out[0])[i] = i;
  *tensor_i64(out[2]) = count;
  return !feature || copy_values(feature, out[1], 0, status);
}

static bool write_context(SingleRun *run, Status *status) {
  const FeatureSpecs *group = &run->context;
  for (int i = 0; i < group->num_dense; i++)
    TRY(write_context_dense(run, 3 * group->num_sparse + i, feature_specs_dense(group) + i, status));
  for (int i = 0; i < group->num_sparse; i++) TRY(write_context_sparse(run, i, group->specs + i, status));
  return true;
}

/* --- feature lists --- */

static bool write_list_dense(SingleRun *run, int output, const FeatureSpec *wanted, Status *status) {
  const FeatureList *list = find_list(run->example, wanted->key);
  if (!list && !wanted->may_be_missing)
    return status_invalid(status,
                          "Name: %.*s, Feature list '%.*s' is required but could not be found.  Did you mean "
                          "to "
                          "include it in feature_list_dense_missing_assumed_empty or "
                          "feature_list_dense_defaults?",
                          (int)run->name.length, run->name.data, (int)wanted->key.length, wanted->key.data);
  int64_t steps = list ? (int64_t)list->n_feature : 0;
  Tensor *out;
  TRY(allocate_dense(run->kernel, output, steps, wanted->shape, &out, status));
  for (int64_t step = 0; step < steps; step++) {
    const Feature *feature = list->feature[step];
    TRY(check_dtype(run, wanted, feature, "Feature list", step, status));
    TRY(copy_dense(run, wanted, feature, step, out, status));
  }
  return true;
}

static bool check_list(const SingleRun *run, const FeatureSpec *wanted, const FeatureList *list,
                       Status *status) {
  for (int64_t step = 0; list && step < (int64_t)list->n_feature; step++) {
    const Feature *feature = list->feature[step];
    if (feature_dtype(feature) != DT_INVALID)
      TRY(check_dtype(run, wanted, feature, "Feature List", step, status));
  }
  return true;
}

static bool write_list_sparse(SingleRun *run, int output, const FeatureSpec *wanted, Status *status) {
  const FeatureList *list = find_list(run->example, wanted->key);
  TRY(check_list(run, wanted, list, status));
  int64_t steps = list ? (int64_t)list->n_feature : 0, total = 0, most = 0, at = 0;
  for (int64_t step = 0; step < steps; step++) {
    int64_t count = count_values(list->feature[step]);
    total += count;
    if (count > most) most = count;
  }
  Tensor *out[3];
  TRY(allocate_sparse(run->kernel, output, run->lists.num_sparse, total, 2, out, status));
  tensor_i64(out[2])[0] = steps;
  tensor_i64(out[2])[1] = most;
  for (int64_t step = 0; step < steps; step++) {
    TRY(copy_values(list->feature[step], out[1], at, status));
    for (int64_t i = 0; i < count_values(list->feature[step]); i++, at++) {
      tensor_i64(out[0])[2 * at] = step;
      tensor_i64(out[0])[2 * at + 1] = i;
    }
  }
  return true;
}

static bool write_lists(SingleRun *run, Status *status) {
  const FeatureSpecs *group = &run->lists;
  int first = 3 * run->context.num_sparse + run->context.num_dense;
  for (int i = 0; i < group->num_dense; i++)
    TRY(write_list_dense(run, first + 3 * group->num_sparse + i, feature_specs_dense(group) + i, status));
  for (int i = 0; i < group->num_sparse; i++)
    TRY(write_list_sparse(run, first + i, group->specs + i, status));
  return true;
}

/* --- kernel --- */

static bool parse_message(SingleRun *run, Arena *arena, Status *status) {
  Str bytes = example_text(run->kernel->inputs[0], 0);
  void *message;
  if (!proto_parse(kSequenceExample, bytes.data, bytes.length, arena, &message, status))
    return status_reword(status, CODE_INVALID_ARGUMENT, "Could not parse example input, value: '%.*s'",
                         (int)bytes.length, bytes.data);
  run->example = message;
  return true;
}

static bool parse_single_sequence_example(KernelContext *kernel, Status *status) {
  const SingleSpecs *specs = kernel->state;
  SingleRun run = {.kernel = kernel};
  Arena *arena = arena_new();
  bool ok = arena || status_oom(status, "a SequenceExample");
  ok = ok && feature_specs_copy(&specs->context, &run.context, status) &&
       feature_specs_copy(&specs->lists, &run.lists, status) && read_inputs(&run, status) &&
       parse_message(&run, arena, status) && write_context(&run, status) && write_lists(&run, status);
  mem_free(run.context.specs);
  mem_free(run.lists.specs);
  arena_free(arena);
  return ok;
}

static bool single_shape(InferenceContext *c, Status *status) {
  SingleSpecs specs;
  ShapeHandle input, missing, steps;
  int output = 0;
  TRY(read_specs(c->node, c->arena, &specs, status));
  TRY(shape_with_rank(c, shape_input(c, 0), 0, &input, status));
  TRY(shape_with_rank(c, shape_input(c, 1), 1, &missing, status));
  TRY(shape_ok(shape_unknown_of_rank(c, 1), &steps, status));
  return set_sparse_shapes(c, &specs.context, input, 1, &output, status) &&
         set_dense_shapes(c, &specs.context, input, &output, status) &&
         set_sparse_shapes(c, &specs.lists, input, 2, &output, status) &&
         set_dense_shapes(c, &specs.lists, steps, &output, status);
}

#define VALUE_TYPES "list({float,int64,string}) >= 0 = []"

const OpRegistration kOpParseSingleSequenceExample = {
    .name = "ParseSingleSequenceExample",
    .inputs = {"serialized: string", "feature_list_dense_missing_assumed_empty: string",
               "context_sparse_keys: Ncontext_sparse * string", "context_dense_keys: Ncontext_dense * string",
               "feature_list_sparse_keys: Nfeature_list_sparse * string",
               "feature_list_dense_keys: Nfeature_list_dense * string",
               "context_dense_defaults: Tcontext_dense", "debug_name: string"},
    .outputs = {"context_sparse_indices: Ncontext_sparse * int64",
                "context_sparse_values: context_sparse_types",
                "context_sparse_shapes: Ncontext_sparse * int64", "context_dense_values: Tcontext_dense",
                "feature_list_sparse_indices: Nfeature_list_sparse * int64",
                "feature_list_sparse_values: feature_list_sparse_types",
                "feature_list_sparse_shapes: Nfeature_list_sparse * int64",
                "feature_list_dense_values: feature_list_dense_types"},
    .attrs = {"Ncontext_sparse: int >= 0 = 0", "Ncontext_dense: int >= 0 = 0",
              "Nfeature_list_sparse: int >= 0 = 0", "Nfeature_list_dense: int >= 0 = 0",
              "context_sparse_types: " VALUE_TYPES, "Tcontext_dense: " VALUE_TYPES,
              "feature_list_dense_types: " VALUE_TYPES, "context_dense_shapes: list(shape) >= 0 = []",
              "feature_list_sparse_types: " VALUE_TYPES, "feature_list_dense_shapes: list(shape) >= 0 = []"},
    .shape = single_shape,
    .gradient = NO_GRADIENT,
    .state_size = sizeof(SingleSpecs),
    .construct = single_construct,
    .kernels = {{DT_INVALID, parse_single_sequence_example}},
};
