#include "ops/data/dataset.h"

#include <string.h>

#include "base/alloc.h"
#include "op/node_def.h"
#include "ops/data/data_iterator.h"

/* --- what the attrs say --- */

const DatasetAttrs kDatasetAttrs = {.types = "output_types"};

static bool read_types(const KernelConstruction *construction, const char *attr, DatasetState *state,
                       Status *status) {
  const AttrListValue *types, *shapes;
  TRY(node_attr_list(construction->node, attr, ATTR_TYPE, &types, status));
  TRY(node_attr_list(construction->node, "output_shapes", ATTR_SHAPE, &shapes, status));
  if (types->n_type != shapes->n_shape) {
    return status_invalid(status, "output_types and output_shapes must have the same length, got %zu and %zu",
                          types->n_type, shapes->n_shape);
  }
  DataType *copy = arena_calloc(construction->arena, (int64_t)types->n_type + 1, sizeof *copy);
  if (!copy) return status_oom(status, "types of a dataset");
  for (size_t i = 0; i < types->n_type; i++) copy[i] = (DataType)types->type[i];
  state->types = copy;
  state->shapes = (const TensorShapeProto *const *)shapes->shape;
  state->num_components = (int)types->n_type;
  return true;
}

bool dataset_construct(const KernelConstruction *construction, void *memory, Status *status) {
  static const DataType kString[] = {DT_STRING};
  DatasetState *state = memory;
  const DatasetAttrs *attrs = construction->data;
  for (int i = 0; i < 3 && attrs->functions[i]; i++) {
    TRY(function_from_attr(construction->functions, construction->node, attrs->functions[i],
                           &state->functions[i], status));
  }
  if (attrs->types) return read_types(construction, attrs->types, state, status);
  *state = (DatasetState){.types = kString, .num_components = 1};
  return true;
}

/* --- variants --- */

static void destroy_dataset(TensorObject *object) {
  Dataset *dataset = (Dataset *)object;
  if (dataset->kind->destroy) dataset->kind->destroy(dataset);
  for (int i = 0; i < dataset->num_inputs; i++) tensor_object_unref(&dataset->inputs[i]->variant.object);
  for (int i = 0; i < dataset->num_tensors; i++) tensor_clear(&dataset->tensors[i]);
  arena_free(dataset->arena);
  mem_free(dataset);
}

static bool zeros_like_dataset(KernelContext *context, const VariantObject *x, int depth,
                               VariantObject **zeros, Status *status) {
  (void)context, (void)x, (void)depth, (void)zeros;
  return status_invalid(status,
                        "No unary variant unary_op function found for unary variant op enum: 1 Variant "
                        "type_name: tensorflow::DatasetVariantWrapper for device type: CPU");
}

static bool add_datasets(KernelContext *context, const VariantObject *a, const VariantObject *b, int depth,
                         VariantObject **sum, Status *status) {
  (void)context, (void)a, (void)b, (void)depth, (void)sum;
  return status_invalid(status,
                        "No unary variant binary_op function found for binary variant op enum: 1 Variant "
                        "type_name: 'tensorflow::DatasetVariantWrapper' for device type: CPU");
}

static int depth_of_dataset(const VariantObject *x) { return ((const Dataset *)x)->depth; }

static const VariantMethods kDatasetMethods = {"tensorflow::DatasetVariantWrapper", zeros_like_dataset,
                                               add_datasets, depth_of_dataset};

/* --- making datasets --- */

/* The kernel's state goes when the program does, so the dataset has copies. */
static bool copy_types(Dataset *made, const DataType *from_types, const TensorShapeProto *const *from_shapes,
                       int count, Status *status) {
  DataType *types = arena_calloc(made->arena, count, sizeof *types);
  const TensorShapeProto **shapes = arena_calloc(made->arena, count, sizeof *shapes);
  if (!types || !shapes) return status_oom(status, "a dataset");
  for (int i = 0; i < count; i++) {
    types[i] = from_types[i];
    if (!from_shapes || !from_shapes[i]) continue;
    shapes[i] = proto_copy(from_shapes[i], made->arena);
    if (!shapes[i]) return status_oom(status, "a dataset");
  }
  made->types = types;
  made->shapes = shapes;
  made->num_components = count;
  return true;
}

void *dataset_new(KernelContext *context, const DatasetKind *kind, size_t size, Status *status) {
  const DatasetState *state = context->state;
  return dataset_of_types(kind, size, state->types, state->shapes, state->num_components, status);
}

void *dataset_of_types(const DatasetKind *kind, size_t size, const DataType *types,
                       const TensorShapeProto *const *shapes, int num_components, Status *status) {
  Dataset *made = mem_calloc(1, (int64_t)size);
  if (made) made->arena = arena_new();
  if (!made || !made->arena) {
    mem_free(made);
    status_oom(status, "a dataset");
    return NULL;
  }
  made->variant.methods = &kDatasetMethods;
  made->variant.object.destroy = destroy_dataset;
  atomic_init(&made->variant.object.references, 1);
  made->kind = kind;
  if (copy_types(made, types, shapes, num_components, status)) return made;
  dataset_drop(made);
  return NULL;
}

bool dataset_drop(Dataset *made) {
  if (made) tensor_object_unref(&made->variant.object);
  return false;
}

bool dataset_of_tensor(const Tensor *tensor, Dataset **dataset, Status *status) {
  if (tensor->dtype != DT_VARIANT || !tensor_is_scalar(tensor))
    return status_invalid(status, "Dataset tensor must be a scalar of dtype DT_VARIANT.");
  VariantObject *object = *(VariantObject **)tensor->data;
  if (!object || object->methods != &kDatasetMethods)
    return status_invalid(status, "Tensor must be a Dataset object.");
  *dataset = (Dataset *)object;
  return true;
}

bool dataset_of_input(const KernelContext *context, int input, Dataset **dataset, Status *status) {
  return dataset_of_tensor(context->inputs[input], dataset, status);
}

bool dataset_adopt_input(Dataset *made, Dataset *input, Status *status) {
  int64_t size = (int64_t)sizeof *made->inputs;
  Dataset **inputs =
      arena_grow(made->arena, made->inputs, made->num_inputs * size, (made->num_inputs + 1) * size);
  if (!inputs) return status_oom(status, "a dataset");
  if (made->depth <= input->depth) made->depth = input->depth + 1;
  inputs[made->num_inputs++] = input;
  made->inputs = inputs;
  return true;
}

bool dataset_add_input(const KernelContext *context, int input, Dataset *made, Status *status) {
  Dataset *dataset = NULL;
  TRY(dataset_of_input(context, input, &dataset, status));
  TRY(variant_check_depth(context->inputs[input], &made->depth, status));
  TRY(dataset_adopt_input(made, dataset, status));
  tensor_object_ref(&dataset->variant.object);
  return true;
}

bool dataset_add_tensors(const KernelContext *context, int first, int count, Dataset *made, Status *status) {
  made->tensors = arena_calloc(made->arena, count > 0 ? count : 1, sizeof *made->tensors);
  if (!made->tensors) return status_oom(status, "a dataset");
  for (int i = 0; i < count; i++) {
    TRY(variant_check_depth(context->inputs[first + i], &made->depth, status));
    TRY(tensor_assign(&made->tensors[i], context->inputs[first + i], status));
    made->num_tensors++;
  }
  return true;
}

DataFunction dataset_function(const KernelContext *context, int i, const Dataset *made, int first) {
  const DatasetState *state = context->state;
  return (DataFunction){state->functions[i], context->functions, made->tensors + first,
                        made->num_tensors - first};
}

void dataset_take_types(Dataset *made) {
  const Dataset *input = made->inputs[0];
  if (made->num_components != input->num_components) made->shapes = NULL;
  made->num_components = input->num_components;
  made->types = input->types;
}

bool dataset_output(KernelContext *context, Dataset *made, Status *status) {
  Tensor *out;
  if (!kernel_allocate_output_dims(context, 0, 0, NULL, &out, status)) return dataset_drop(made);
  *(VariantObject **)out->data = &made->variant;
  return true;
}

/* --- inputs --- */

static bool check_scalar(const Tensor *tensor, const char *name, Status *status) {
  return tensor_is_scalar(tensor) || status_invalid(status, "%s must be a scalar", name);
}

bool dataset_int(const KernelContext *context, int input, const char *name, int64_t *value, Status *status) {
  TRY(check_scalar(context->inputs[input], name, status));
  *value = tensor_int_at(context->inputs[input], 0);
  return true;
}

bool dataset_bool(const KernelContext *context, int input, const char *name, bool *value, Status *status) {
  TRY(check_scalar(context->inputs[input], name, status));
  *value = tensor_bool(context->inputs[input])[0];
  return true;
}

/* --- cardinality --- */

int64_t dataset_cardinality(const Dataset *dataset) { return dataset->kind->cardinality(dataset); }
int64_t cardinality_of_input(const Dataset *dataset) { return dataset_cardinality(dataset->inputs[0]); }
int64_t cardinality_unknown(const Dataset *dataset) {
  (void)dataset;
  return CARDINALITY_UNKNOWN;
}

/* --- compatible elements --- */

static bool compatible(const TensorShapeProto *a, const TensorShapeProto *b) {
  if (!a || !b || a->unknown_rank || b->unknown_rank) return true;
  if (a->n_dim != b->n_dim) return false;
  for (size_t i = 0; i < a->n_dim; i++) {
    if (a->dim[i]->size >= 0 && b->dim[i]->size >= 0 && a->dim[i]->size != b->dim[i]->size) return false;
  }
  return true;
}

static void print_shape(const TensorShapeProto *shape, StrBuf *out) {
  if (!shape || shape->unknown_rank) {
    strbuf_append(out, "<unknown>");
    return;
  }
  strbuf_append(out, "[");
  for (size_t i = 0; i < shape->n_dim; i++) {
    if (i > 0) strbuf_append(out, ",");
    if (shape->dim[i]->size < 0) strbuf_append(out, "?");
    else strbuf_printf(out, "%lld", (long long)shape->dim[i]->size);
  }
  strbuf_append(out, "]");
}

static bool refuse_shape(int i, const TensorShapeProto *want, const TensorShapeProto *have, Status *status) {
  StrBuf a = {0}, b = {0};
  print_shape(want, &a);
  print_shape(have, &b);
  if (strbuf_ok(&a, status) && strbuf_ok(&b, status)) {
    status_invalid(status, "Incompatible shapes at component %d: expected %s but got %s.", i, strbuf_text(&a),
                   strbuf_text(&b));
  }
  strbuf_free(&a);
  strbuf_free(&b);
  return false;
}

bool dataset_check_types(const DataType *want, const TensorShapeProto *const *want_shapes, int num_want,
                         const DataType *have, const TensorShapeProto *const *have_shapes, int num_have,
                         Status *status) {
  if (num_want != num_have) {
    return status_invalid(status, "Number of components does not match: expected %d types but got %d.",
                          num_want, num_have);
  }
  for (int i = 0; i < num_want; i++) {
    if (want[i] != have[i]) {
      return status_invalid(status, "Data type mismatch at component %d: expected %s but got %s.", i,
                            dtype_name((int)want[i]), dtype_name((int)have[i]));
    }
  }
  for (int i = 0; i < num_want; i++) {
    const TensorShapeProto *a = want_shapes ? want_shapes[i] : NULL, *b = have_shapes ? have_shapes[i] : NULL;
    if (!compatible(a, b)) return refuse_shape(i, a, b, status);
  }
  return true;
}
