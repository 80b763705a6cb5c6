/* ParseExample, ParseExampleV2, ParseSingleExample: the features of Examples as dense, sparse and ragged
 * tensors. */
#include "op/node_def.h"
#include "op/op_registry.h"
#include "ops/parsing/example_parser.h"
#include "ops/parsing/feature_outputs.h"
#include "ops/parsing/parse_shapes.h"
#include "ops/support/shape_pattern.h"

static const FeatureAttrs kV1 = {"", "Nsparse", "Ndense", "Tdense", false, true, false},
                          kV2 = {"", "num_sparse", NULL, "Tdense", true, true, false},
                          kSingle = {"", NULL, NULL, "Tdense", false, true, false};

static bool example_construct(const KernelConstruction *construction, void *memory, Status *status) {
  return feature_specs_read(construction->node, construction->data, construction->arena, memory, status);
}

/* ParseSingleExample has its keys in attrs. */
static bool read_single(const NodeDef *node, Arena *arena, FeatureSpecs *group, Status *status) {
  int64_t num_sparse;
  const AttrListValue *keys;
  TRY(feature_specs_read(node, &kSingle, arena, group, status));
  TRY(node_attr_int(node, "num_sparse", &num_sparse, status));
  TRY(node_attr_list(node, "sparse_keys", ATTR_STRING, &keys, status));
  size_t count = keys ? keys->n_s : 0;
  if (num_sparse != group->num_sparse || num_sparse != (int64_t)count)
    return status_invalid(status,
                          "num_sparse (%lld) must match the size of sparse_keys (%zu) and sparse_types (%d)",
                          (long long)num_sparse, count, group->num_sparse);
  TRY(feature_specs_attr_keys(node, "sparse_keys", group->specs, group->num_sparse, status));
  return feature_specs_attr_keys(node, "dense_keys", feature_specs_dense(group), group->num_dense, status);
}

static bool single_construct(const KernelConstruction *construction, void *memory, Status *status) {
  return read_single(construction->node, construction->arena, memory, status);
}

/* --- checks of inputs --- */

static bool check_serialized(const Tensor *serialized, const Tensor *names, bool may_be_scalar,
                             Status *status) {
  char a[SHAPE_TEXT_CAPACITY], b[SHAPE_TEXT_CAPACITY];
  int rank = serialized->shape.rank;
  if (rank > 1 || (rank == 0 && !may_be_scalar))
    return status_invalid(status, "Expected serialized to be a %svector, got shape: %s",
                          may_be_scalar ? "scalar or " : "", shape_text(&serialized->shape, a));
  return tensor_num_elements(names) == 0 || shape_equal(&names->shape, &serialized->shape) ||
         status_invalid(status,
                        "Expected names have the same shape as serialized: name.shape=%s, "
                        "serialized.shape=%s",
                        shape_text(&names->shape, a), shape_text(&serialized->shape, b));
}

static bool check_fallback(int i, const FeatureSpec *spec, Status *status) {
  char a[SHAPE_TEXT_CAPACITY], b[SHAPE_TEXT_CAPACITY];
  const Shape *shape = &spec->fallback->shape;
  if (spec->variable_length && shape_num_elements(shape) != 1)
    return status_invalid(status,
                          "dense_shape[%d] is a variable length shape: %s, therefore def_value[%d] must "
                          "contain "
                          "a single element (the padding element).  But its shape is: %s",
                          i, partial_shape_text(spec->shape, a), i, shape_text(shape, b));
  return spec->variable_length || shape_num_elements(shape) == 0 ||
         partial_shape_allows(spec->shape, shape) ||
         status_invalid(status, "def_value[%d].shape() == %s is not compatible with dense_shapes_[%d] == %s",
                        i, shape_text(shape, a), i, partial_shape_text(spec->shape, b));
}

static bool set_fallbacks(KernelContext *context, FeatureTable *table, int input, Status *status) {
  for (int i = 0; i < table->group.num_dense; i++) {
    FeatureSpec *spec = feature_specs_dense(&table->group) + i;
    spec->fallback = context->inputs[input + i];
    TRY(check_fallback(i, spec, status));
  }
  return true;
}

/* --- keys --- */

static bool scalar_keys(KernelContext *context, int input, const char *name, FeatureSpec *specs, int count,
                        Status *status) {
  char text[SHAPE_TEXT_CAPACITY];
  for (int i = 0; i < count; i++) {
    const Tensor *key = context->inputs[input + i];
    if (!tensor_is_scalar(key))
      return status_invalid(status, "Expected %s[%d] to be a scalar, got shape: %s", name, i,
                            shape_text(&key->shape, text));
    specs[i].key = example_text(key, 0);
  }
  return true;
}

static bool vector_keys(const Tensor *keys, const char *name, const char *wanted, FeatureSpec *specs,
                        int count, Status *status) {
  if (tensor_num_elements(keys) != count)
    return status_invalid(status, "Expected len(%s) == %s but got: %lld vs. %d", name, wanted,
                          (long long)tensor_num_elements(keys), count);
  for (int i = 0; i < count; i++) specs[i].key = example_text(keys, i);
  return true;
}

/* --- kernels --- */

/* The outputs for a table whose specs are complete. */
static bool parse_into_outputs(KernelContext *context, FeatureTable *table, const Tensor *names,
                               Status *status) {
  const FeatureSpecs *group = &table->group;
  int dense = 3 * group->num_sparse;
  return feature_table_index(table, status) && examples_parse(table, context->inputs[0], names, status) &&
         write_sparse_features(context, table, 0, status) &&
         write_dense_features(context, table, dense, status) &&
         write_ragged_features(context, table, dense + group->num_dense, 1, status);
}

static bool parse_example(KernelContext *context, Status *status) {
  FeatureTable table;
  const Tensor *serialized = context->inputs[0], *names = context->inputs[1];
  TRY(check_serialized(serialized, names, false, status));
  bool ok = feature_table_init(&table, context->state, serialized, status);
  int sparse = table.group.num_sparse, dense = table.group.num_dense;
  ok = ok && scalar_keys(context, 2, "sparse_keys", table.group.specs, sparse, status) &&
       scalar_keys(context, 2 + sparse, "dense_keys", feature_specs_dense(&table.group), dense, status) &&
       set_fallbacks(context, &table, 2 + sparse + dense, status) &&
       parse_into_outputs(context, &table, names, status);
  feature_table_free(&table);
  return ok;
}

static bool parse_example_v2(KernelContext *context, Status *status) {
  FeatureTable table;
  const Tensor *const *in = context->inputs;
  TRY(check_serialized(in[0], in[1], true, status));
  bool ok = feature_table_init(&table, context->state, in[0], status);
  FeatureSpecs *group = &table.group;
  ok = ok &&
       vector_keys(in[3], "dense_keys", "len(dense_types)", feature_specs_dense(group), group->num_dense,
                   status) &&
       vector_keys(in[2], "sparse_keys", "num_sparse", group->specs, group->num_sparse, status) &&
       vector_keys(in[4], "ragged_keys", "len(ragged_value_types)", feature_specs_ragged(group),
                   group->num_ragged, status) &&
       set_fallbacks(context, &table, 5, status) && parse_into_outputs(context, &table, in[1], status);
  feature_table_free(&table);
  return ok;
}

static bool parse_single_example(KernelContext *context, Status *status) {
  FeatureTable table;
  char text[SHAPE_TEXT_CAPACITY];
  const Tensor *serialized = context->inputs[0];
  if (!tensor_is_scalar(serialized))
    return status_invalid(status, "Expected serialized to be a scalar, got shape: %s",
                          shape_text(&serialized->shape, text));
  bool ok = feature_table_init(&table, context->state, serialized, status) &&
            set_fallbacks(context, &table, 1, status) && parse_into_outputs(context, &table, NULL, status);
  feature_table_free(&table);
  return ok;
}

/* --- shapes --- */

static bool set_shapes(InferenceContext *c, const FeatureSpecs *group, ShapeHandle input, Status *status) {
  int output = 0;
  return set_sparse_shapes(c, group, input, 1, &output, status) &&
         set_dense_shapes(c, group, input, &output, status) &&
         set_ragged_shapes(c, group, input, false, &output, status);
}

static bool example_shape(InferenceContext *c, Status *status) {
  FeatureSpecs group;
  ShapeHandle input, names;
  TRY(feature_specs_read(c->node, &kV1, c->arena, &group, status));
  TRY(shape_with_rank(c, shape_input(c, 0), 1, &input, status));
  TRY(shape_with_rank(c, shape_input(c, 1), 1, &names, status));
  return set_shapes(c, &group, input, status);
}

static bool example_v2_shape(InferenceContext *c, Status *status) {
  FeatureSpecs group;
  ShapeHandle input, names;
  TRY(feature_specs_read(c->node, &kV2, c->arena, &group, status));
  TRY(shape_with_rank_at_most(c, shape_input(c, 0), 1, &input, status));
  TRY(shape_with_rank_at_most(c, shape_input(c, 1), 1, &names, status));
  return set_shapes(c, &group, input, status);
}

static bool single_shape(InferenceContext *c, Status *status) {
  FeatureSpecs group;
  ShapeHandle input;
  TRY(read_single(c->node, c->arena, &group, status));
  TRY(shape_with_rank(c, shape_input(c, 0), 0, &input, status));
  return set_shapes(c, &group, input, status);
}

/* --- ops --- */

#define VALUE_TYPES "list({float,int64,string}) >= 0"

const OpRegistration kOpParseExample = {
    .name = "ParseExample",
    .inputs = {"serialized: string", "names: string", "sparse_keys: Nsparse * string",
               "dense_keys: Ndense * string", "dense_defaults: Tdense"},
    .outputs = {"sparse_indices: Nsparse * int64", "sparse_values: sparse_types",
                "sparse_shapes: Nsparse * int64", "dense_values: Tdense"},
    .attrs = {"Nsparse: int >= 0", "Ndense: int >= 0", "sparse_types: " VALUE_TYPES, "Tdense: " VALUE_TYPES,
              "dense_shapes: list(shape) >= 0"},
    .shape = example_shape,
    .gradient = NO_GRADIENT,
    .state_size = sizeof(FeatureSpecs),
    .construct = example_construct,
    .kernels = {{DT_INVALID, parse_example, &kV1}},
};

const OpRegistration kOpParseExampleV2 = {
    .name = "ParseExampleV2",
    .inputs = {"serialized: string", "names: string", "sparse_keys: string", "dense_keys: string",
               "ragged_keys: string", "dense_defaults: Tdense"},
    .outputs = {"sparse_indices: num_sparse * int64", "sparse_values: sparse_types",
                "sparse_shapes: num_sparse * int64", "dense_values: Tdense",
                "ragged_values: ragged_value_types", "ragged_row_splits: ragged_split_types"},
    .attrs = {"Tdense: " VALUE_TYPES, "num_sparse: int >= 0", "sparse_types: " VALUE_TYPES,
              "ragged_value_types: " VALUE_TYPES, "ragged_split_types: list({int32,int64}) >= 0",
              "dense_shapes: list(shape) >= 0"},
    .shape = example_v2_shape,
    .gradient = NO_GRADIENT,
    .state_size = sizeof(FeatureSpecs),
    .construct = example_construct,
    .kernels = {{DT_INVALID, parse_example_v2, &kV2}},
};

const OpRegistration kOpParseSingleExample = {
    .name = "ParseSingleExample",
    .inputs = {"serialized: string", "dense_defaults: Tdense"},
    .outputs = {"sparse_indices: num_sparse * int64", "sparse_values: sparse_types",
                "sparse_shapes: num_sparse * int64", "dense_values: Tdense"},
    .attrs = {"num_sparse: int >= 0", "sparse_keys: list(string) >= 0", "dense_keys: list(string) >= 0",
              "sparse_types: " VALUE_TYPES, "Tdense: " VALUE_TYPES, "dense_shapes: list(shape) >= 0"},
    .shape = single_shape,
    .gradient = NO_GRADIENT,
    .state_size = sizeof(FeatureSpecs),
    .construct = single_construct,
    .kernels = {{DT_INVALID, parse_single_example}},
};
