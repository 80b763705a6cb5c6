/* ParseSequenceExample, ParseSequenceExampleV2: the context features and feature lists of SequenceExamples as
 * dense, sparse and ragged tensors. The first op has its keys in attrs, the second one as inputs. */
#include "op/node_def.h"
#include "op/op_registry.h"
#include "ops/parsing/feature_outputs.h"
#include "ops/parsing/list_outputs.h"
#include "ops/parsing/parse_shapes.h"
#include "ops/parsing/sequence_parser.h"
#include "ops/support/shape_pattern.h"

typedef struct SequenceSpecs {
  FeatureSpecs context, lists;
} SequenceSpecs;

/* The attrs of an op. */
typedef struct SequenceAttrs {
  FeatureAttrs context, lists;
} SequenceAttrs;

#define CONTEXT_ATTRS(num_dense, has_ragged) \
  { "context_", "Ncontext_sparse", num_dense, "Tcontext_dense", has_ragged, false, true }
#define LIST_ATTRS(has_ragged)                                                                              \
  {                                                                                                         \
    "feature_list_", "Nfeature_list_sparse", "Nfeature_list_dense", "feature_list_dense_types", has_ragged, \
        false, true                                                                                         \
  }
static const SequenceAttrs kV1 = {CONTEXT_ATTRS("Ncontext_dense", false), LIST_ATTRS(false)},
                           kV2 = {CONTEXT_ATTRS(NULL, true), LIST_ATTRS(true)};

static bool read_specs(const NodeDef *node, const SequenceAttrs *attrs, Arena *arena, SequenceSpecs *specs,
                       Status *status) {
  return feature_specs_read(node, &attrs->context, arena, &specs->context, status) &&
         feature_specs_read(node, &attrs->lists, arena, &specs->lists, status);
}

static bool v2_construct(const KernelConstruction *construction, void *memory, Status *status) {
  return read_specs(construction->node, &kV2, construction->arena, memory, status);
}

static void allow_missing(FeatureSpecs *lists, const AttrListValue *keys) {
  for (int i = 0; i < lists->num_dense; i++) {
    FeatureSpec *spec = feature_specs_dense(lists) + i;
    for (size_t k = 0; keys && k < keys->n_s; k++) {
      Str key = {(const char *)keys->s[k].data, keys->s[k].len};
      if (str_equal(key, spec->key)) spec->may_be_missing = true;
    }
  }
}

static bool read_v1(const NodeDef *node, Arena *arena, SequenceSpecs *specs, Status *status) {
  const AttrListValue *missing;
  FeatureSpecs *context = &specs->context, *lists = &specs->lists;
  TRY(read_specs(node, &kV1, arena, specs, status));
  TRY(feature_specs_attr_keys(node, "context_sparse_keys", context->specs, context->num_sparse, status));
  TRY(feature_specs_attr_keys(node, "context_dense_keys", feature_specs_dense(context), context->num_dense,
                              status));
  TRY(feature_specs_attr_keys(node, "feature_list_sparse_keys", lists->specs, lists->num_sparse, status));
  TRY(feature_specs_attr_keys(node, "feature_list_dense_keys", feature_specs_dense(lists), lists->num_dense,
                              status));
  TRY(node_attr_list(node, "feature_list_dense_missing_assumed_empty", ATTR_STRING, &missing, status));
  allow_missing(lists, missing);
  return true;
}

static bool v1_construct(const KernelConstruction *construction, void *memory, Status *status) {
  return read_v1(construction->node, construction->arena, memory, status);
}

/* --- inputs --- */

static bool check_serialized(const Tensor *serialized, Status *status) {
  char text[SHAPE_TEXT_CAPACITY];
  return serialized->shape.rank <= 1 ||
         status_invalid(status, "Expected serialized to be a scalar or vector, got shape: %s",
                        shape_text(&serialized->shape, text));
}

static bool set_keys(const Tensor *keys, const char *name, const char *wanted, FeatureSpec *specs, int count,
                     Status *status) {
  if (tensor_num_elements(keys) != count)
    return status_invalid(status, "Expected len(%s) to match %s", name, wanted);
  for (int i = 0; i < count; i++) specs[i].key = example_text(keys, i);
  return true;
}

static bool set_missing(const Tensor *missing, FeatureSpecs *lists, Status *status) {
  if (tensor_num_elements(missing) != lists->num_dense)
    return status_invalid(
        status, "Expected len(feature_list_dense_missing_assumed_empty to match Nfeature_list_dense");
  for (int i = 0; i < lists->num_dense; i++)
    feature_specs_dense(lists)[i].may_be_missing = tensor_bool(missing)[i];
  return true;
}

static bool set_fallbacks(KernelContext *kernel, FeatureSpecs *context, int input, Status *status) {
  char a[SHAPE_TEXT_CAPACITY], b[SHAPE_TEXT_CAPACITY];
  for (int i = 0; i < context->num_dense; i++) {
    FeatureSpec *spec = feature_specs_dense(context) + i;
    spec->fallback = kernel->inputs[input + i];
    const Shape *shape = &spec->fallback->shape;
    if (shape_num_elements(shape) > 0 && !partial_shape_allows(spec->shape, shape))
      return status_invalid(status, "default_value[%d].shape() == %s != context_dense_shapes[%d] == %s", i,
                            shape_text(shape, a), i, partial_shape_text(spec->shape, b));
  }
  return true;
}

static bool set_v2_keys(KernelContext *kernel, FeatureSpecs *context, FeatureSpecs *lists, Status *status) {
  const Tensor *const *in = kernel->inputs;
  return set_keys(in[3], "context_dense_keys", "len(Tcontext_dense)", feature_specs_dense(context),
                  context->num_dense, status) &&
         set_keys(in[2], "context_sparse_keys", "Ncontext_sparse", context->specs, context->num_sparse,
                  status) &&
         set_keys(in[4], "context_ragged_keys", "len(context_ragged_value_types)",
                  feature_specs_ragged(context), context->num_ragged, status) &&
         set_keys(in[6], "feature_list_dense_keys", "Nfeature_list_dense", feature_specs_dense(lists),
                  lists->num_dense, status) &&
         set_missing(in[8], lists, status) &&
         set_keys(in[5], "feature_list_sparse_keys", "Nfeature_list_sparse", lists->specs, lists->num_sparse,
                  status) &&
         set_keys(in[7], "feature_list_ragged_keys", "len(feature_list_ragged_value_types)",
                  feature_specs_ragged(lists), lists->num_ragged, status);
}

/* --- kernels --- */

static bool write_context(KernelContext *kernel, const FeatureTable *table, int output, Status *status) {
  int dense = output + 3 * table->group.num_sparse;
  return write_sparse_features(kernel, table, output, status) &&
         write_dense_features(kernel, table, dense, status) &&
         write_ragged_features(kernel, table, dense + table->group.num_dense, 0, status);
}

static bool write_lists(KernelContext *kernel, const FeatureTable *table, int output, Status *status) {
  int dense = output + 3 * table->group.num_sparse, lengths = dense + table->group.num_dense;
  return write_sparse_lists(kernel, table, output, status) &&
         write_dense_lists(kernel, table, dense, lengths, status) &&
         write_ragged_lists(kernel, table, lengths + table->group.num_dense, status);
}

/* `fallbacks`: the position of the first one among the inputs. */
static bool parse(KernelContext *kernel, bool has_keys, int fallbacks, Status *status) {
  const SequenceSpecs *specs = kernel->state;
  const Tensor *serialized = kernel->inputs[0], *names = kernel->inputs[1];
  FeatureTable context = {0}, lists = {0};
  TRY(check_serialized(serialized, status));
  bool ok = feature_table_init(&context, &specs->context, serialized, status) &&
            feature_table_init(&lists, &specs->lists, serialized, status) &&
            (has_keys || set_v2_keys(kernel, &context.group, &lists.group, status)) &&
            set_fallbacks(kernel, &context.group, fallbacks, status) &&
            feature_table_index(&context, status) && feature_table_index(&lists, status) &&
            sequences_parse(&context, &lists, serialized, names, status);
  int num_context = 3 * context.group.num_sparse + context.group.num_dense + 2 * context.group.num_ragged;
  ok = ok && write_context(kernel, &context, 0, status) && write_lists(kernel, &lists, num_context, status);
  feature_table_free(&context);
  feature_table_free(&lists);
  return ok;
}

static bool parse_sequence_example(KernelContext *kernel, Status *status) {
  return parse(kernel, true, 2, status);
}

static bool parse_sequence_example_v2(KernelContext *kernel, Status *status) {
  return parse(kernel, false, 9, status);
}

/* --- shapes --- */

static bool set_shapes(InferenceContext *c, const SequenceSpecs *specs, ShapeHandle input, Status *status) {
  ShapeHandle steps, prefix;
  int output = 0;
  TRY(shape_ok(shape_unknown_of_rank(c, 1), &steps, status));
  TRY(shape_concatenate(c, input, steps, &prefix, status));
  TRY(set_sparse_shapes(c, &specs->context, input, 1, &output, status));
  TRY(set_dense_shapes(c, &specs->context, input, &output, status));
  TRY(set_ragged_shapes(c, &specs->context, input, false, &output, status));
  TRY(set_sparse_shapes(c, &specs->lists, input, 2, &output, status));
  TRY(set_dense_shapes(c, &specs->lists, prefix, &output, status));
  for (int i = 0; i < specs->lists.num_dense; i++) shape_set_output(c, output++, input);
  return set_ragged_shapes(c, &specs->lists, input, true, &output, status);
}

static bool v1_shape(InferenceContext *c, Status *status) {
  SequenceSpecs specs;
  ShapeHandle input, names;
  TRY(read_v1(c->node, c->arena, &specs, status));
  TRY(shape_with_rank(c, shape_input(c, 0), 1, &input, status));
  TRY(shape_with_rank(c, shape_input(c, 1), 1, &names, status));
  return set_shapes(c, &specs, input, status);
}

static bool v2_shape(InferenceContext *c, Status *status) {
  SequenceSpecs specs;
  ShapeHandle input, names;
  TRY(read_specs(c->node, &kV2, c->arena, &specs, status));
  TRY(shape_with_rank_at_most(c, shape_input(c, 0), 1, &input, status));
  TRY(shape_with_rank_at_most(c, shape_input(c, 1), 1, &names, status));
  return set_shapes(c, &specs, input, status);
}

/* --- ops --- */

#define VALUE_TYPES "list({float,int64,string}) >= 0 = []"
#define SPLIT_TYPES "list({int32,int64}) >= 0 = []"
#define CONTEXT_OUTPUTS                                                                             \
  "context_sparse_indices: Ncontext_sparse * int64", "context_sparse_values: context_sparse_types", \
      "context_sparse_shapes: Ncontext_sparse * int64", "context_dense_values: Tcontext_dense"
#define LIST_OUTPUTS                                              \
  "feature_list_sparse_indices: Nfeature_list_sparse * int64",    \
      "feature_list_sparse_values: feature_list_sparse_types",    \
      "feature_list_sparse_shapes: Nfeature_list_sparse * int64", \
      "feature_list_dense_values: feature_list_dense_types",      \
      "feature_list_dense_lengths: Nfeature_list_dense * int64"

const OpRegistration kOpParseSequenceExample = {
    .name = "ParseSequenceExample",
    .inputs = {"serialized: string", "debug_name: string", "context_dense_defaults: Tcontext_dense"},
    .outputs = {CONTEXT_OUTPUTS, LIST_OUTPUTS},
    .attrs = {"feature_list_dense_missing_assumed_empty: list(string) >= 0",
              "context_sparse_keys: list(string) >= 0", "context_dense_keys: list(string) >= 0",
              "feature_list_sparse_keys: list(string) >= 0", "feature_list_dense_keys: list(string) >= 0",
              "Ncontext_sparse: int >= 0 = 0", "Ncontext_dense: int >= 0 = 0",
              "Nfeature_list_sparse: int >= 0 = 0", "Nfeature_list_dense: int >= 0 = 0",
              "context_sparse_types: " VALUE_TYPES, "Tcontext_dense: " VALUE_TYPES,
              "feature_list_dense_types: " VALUE_TYPES, "context_dense_shapes: list(shape) >= 0 = []",
              "feature_list_sparse_types: " VALUE_TYPES, "feature_list_dense_shapes: list(shape) >= 0 = []"},
    .shape = v1_shape,
    .gradient = NO_GRADIENT,
    .state_size = sizeof(SequenceSpecs),
    .construct = v1_construct,
    .kernels = {{DT_INVALID, parse_sequence_example}},
};

const OpRegistration kOpParseSequenceExampleV2 = {
    .name = "ParseSequenceExampleV2",
    .inputs = {"serialized: string", "debug_name: string", "context_sparse_keys: string",
               "context_dense_keys: string", "context_ragged_keys: string",
               "feature_list_sparse_keys: string", "feature_list_dense_keys: string",
               "feature_list_ragged_keys: string", "feature_list_dense_missing_assumed_empty: bool",
               "context_dense_defaults: Tcontext_dense"},
    .outputs = {CONTEXT_OUTPUTS, "context_ragged_values: context_ragged_value_types",
                "context_ragged_row_splits: context_ragged_split_types", LIST_OUTPUTS,
                "feature_list_ragged_values: feature_list_ragged_value_types",
                "feature_list_ragged_outer_splits: feature_list_ragged_split_types",
                "feature_list_ragged_inner_splits: feature_list_ragged_split_types"},
    .attrs = {"Ncontext_sparse: int >= 0 = 0", "Tcontext_dense: " VALUE_TYPES,
              "context_sparse_types: " VALUE_TYPES, "context_ragged_value_types: " VALUE_TYPES,
              "context_ragged_split_types: " SPLIT_TYPES, "context_dense_shapes: list(shape) >= 0 = []",
              "Nfeature_list_sparse: int >= 0 = 0", "Nfeature_list_dense: int >= 0 = 0",
              "feature_list_dense_types: " VALUE_TYPES, "feature_list_sparse_types: " VALUE_TYPES,
              "feature_list_ragged_value_types: " VALUE_TYPES,
              "feature_list_ragged_split_types: " SPLIT_TYPES,
              "feature_list_dense_shapes: list(shape) >= 0 = []"},
    .shape = v2_shape,
    .gradient = NO_GRADIENT,
    .state_size = sizeof(SequenceSpecs),
    .construct = v2_construct,
    .kernels = {{DT_INVALID, parse_sequence_example_v2}},
};
