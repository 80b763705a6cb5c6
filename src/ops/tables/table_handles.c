/* The ops that make lookup tables: HashTable, MutableHashTable, MutableHashTableOfTensors,
 * MutableDenseHashTable. The older ones have a reference to the table as output, the V2 ones a handle; both
 * have the same contents. Anonymous tables belong to their handles alone. */
#include "op/node_def.h"
#include "op/op_registry.h"
#include "ops/tables/lookup_table.h"

typedef struct TableState {
  TableKind kind;
  bool anonymous;
  Str container, name; /* the name is empty for a table that only this node has */
  DataType key_dtype, value_dtype;
  Shape value_shape;
  Tensor handle; /* empty until first run */
} TableState;

/* The data of kernels. */
typedef struct TableOp {
  TableKind kind;
  bool anonymous;
} TableOp;

static bool read_name(const NodeDef *node, TableState *state, Status *status) {
  bool by_node;
  TRY(node_attr_string(node, "container", &state->container, status));
  TRY(node_attr_string(node, "shared_name", &state->name, status));
  TRY(node_attr_bool(node, "use_node_name_sharing", &by_node, status));
  if (state->name.length == 0 && by_node) state->name = str_of(node->name);
  return true;
}

static bool read_value_shape(const NodeDef *node, TableState *state, Status *status) {
  const TensorShapeProto *proto;
  TRY(node_attr_shape(node, "value_shape", &proto, status));
  TRY(shape_from_proto(proto, &state->value_shape, status));
  char text[SHAPE_TEXT_CAPACITY];
  return state->kind != TABLE_TENSORS || state->value_shape.rank == 1 ||
         status_invalid(status, "Default value must be a vector, got shape %s",
                        shape_text(&state->value_shape, text));
}

/* How TensorFlow's table grows; this one grows by itself. */
static bool check_buckets(const NodeDef *node, Status *status) {
  int64_t buckets;
  float load;
  TRY(node_attr_int(node, "initial_num_buckets", &buckets, status));
  TRY(node_attr_float(node, "max_load_factor", &load, status));
  if (load <= 0 || load >= 1)
    return status_invalid(status, "max_load_factor must be between 0 and 1, got: %g", (double)load);
  return (buckets >= 4 && (buckets & (buckets - 1)) == 0) ||
         status_invalid(status, "Number of buckets must be at least 4 and a power of 2, got: %lld",
                        (long long)buckets);
}

static bool table_construct(const KernelConstruction *construction, void *memory, Status *status) {
  TableState *state = memory;
  const TableOp *op = construction->data;
  const NodeDef *node = construction->node;
  state->kind = op->kind;
  state->anonymous = op->anonymous;
  state->container = state->name = str_of("");
  if (!op->anonymous) TRY(read_name(node, state, status));
  TRY(node_attr_type(node, "key_dtype", &state->key_dtype, status));
  TRY(node_attr_type(node, "value_dtype", &state->value_dtype, status));
  if (!(dtype_is_pod(state->key_dtype) || state->key_dtype == DT_STRING) ||
      !(dtype_is_pod(state->value_dtype) || state->value_dtype == DT_STRING))
    return status_set(status, CODE_NOT_FOUND, "No kernel for tables from %s to %s",
                      dtype_name((int)state->key_dtype), dtype_name((int)state->value_dtype));
  if (op->kind == TABLE_DENSE) TRY(check_buckets(node, status));
  return op->kind < TABLE_TENSORS || read_value_shape(node, state, status);
}

static void table_destroy(void *memory) {
  TableState *state = memory;
  tensor_clear(&state->handle);
  shape_clear(&state->value_shape);
}

/* --- keys that a dense table does not take --- */

static bool check_dense_keys(const Tensor *empty, const Tensor *deleted, Status *status) {
  char a[SHAPE_TEXT_CAPACITY], b[SHAPE_TEXT_CAPACITY];
  if (empty->shape.rank > 1)
    return status_invalid(status, "Empty key must be a scalar or a vector, got shape %s",
                          shape_text(&empty->shape, a));
  if (!deleted) return true;
  return shape_equal(&empty->shape, &deleted->shape) ||
         status_invalid(status, "Empty and deleted keys must have same shape, got shapes: %s and %s",
                        shape_text(&empty->shape, a), shape_text(&deleted->shape, b));
}

static bool check_dense_differ(const LookupTable *table, Status *status) {
  return !lookup_table_key_is(table, &table->empty_key, 0, &table->deleted_key) ||
         status_invalid(status, "Empty and deleted keys cannot be equal");
}

/* --- kernels --- */

typedef struct NewTable {
  const TableState *state;
  const Tensor *empty_key, *deleted_key;
} NewTable;

static Resource *make_table(void *argument, Status *status) {
  const NewTable *wanted = argument;
  TableSpec spec = {.kind = wanted->state->kind,
                    .key_dtype = wanted->state->key_dtype,
                    .value_dtype = wanted->state->value_dtype,
                    .value_shape = &wanted->state->value_shape,
                    .empty_key = wanted->empty_key,
                    .deleted_key = wanted->deleted_key};
  LookupTable *table = lookup_table_new(&spec, status);
  if (table && !check_dense_differ(table, status)) {
    tensor_object_unref(&table->resource.object);
    return NULL;
  }
  return (Resource *)table;
}

static bool check_types(const LookupTable *table, const TableState *state, Status *status) {
  return (table->key_dtype == state->key_dtype && table->value_dtype == state->value_dtype) ||
         status_invalid(status, "Conflicting key/value dtypes %s->%s with %s-%s for table %.*s",
                        dtype_name((int)state->key_dtype), dtype_name((int)state->value_dtype),
                        dtype_name((int)table->key_dtype), dtype_name((int)table->value_dtype),
                        (int)state->name.length, state->name.data);
}

static bool make_private(const TableState *state, NewTable *wanted, Tensor *handle, Status *status) {
  Resource *table = make_table(wanted, status);
  if (!table) return false;
  bool ok = resource_handle_tensor(state->container, state->name, table, handle, status);
  tensor_object_unref(&table->object);
  return ok;
}

static bool make_shared(KernelContext *context, const TableState *state, NewTable *wanted, Tensor *handle,
                        Status *status) {
  Resource *table;
  if (!context->resources) return status_set(status, CODE_INTERNAL, "No resource manager.");
  return resource_manager_find_or_make(context->resources, state->container, state->name, kLookupTable,
                                       make_table, wanted, &table, status) &&
         check_types((LookupTable *)table, state, status) &&
         resource_handle_tensor(resource_manager_container(context->resources, state->container), state->name,
                                table, handle, status);
}

static bool table_handle(KernelContext *context, Status *status) {
  TableState *state = context->state;
  NewTable wanted = {state, NULL, NULL};
  if (context->num_inputs > 0) wanted.empty_key = context->inputs[0];
  if (context->num_inputs > 1) wanted.deleted_key = context->inputs[1];
  if (wanted.empty_key) TRY(check_dense_keys(wanted.empty_key, wanted.deleted_key, status));
  if (state->anonymous) return make_private(state, &wanted, &context->outputs[0], status);
  if (tensor_is_empty(&state->handle)) {
    TRY(state->name.length == 0 ? make_private(state, &wanted, &state->handle, status)
                                : make_shared(context, state, &wanted, &state->handle, status));
  }
  return kernel_set_output(context, 0, &state->handle, NULL, status);
}

/* --- shapes: the dtypes and shapes of the keys and values are behind the handle --- */

static bool set_handle(InferenceContext *c, ShapeHandle keys, ShapeHandle values, Status *status) {
  ShapeAndType entries[2] = {{.shape = keys}, {.shape = values}};
  TRY(node_attr_type(c->node, "key_dtype", &entries[0].dtype, status));
  TRY(node_attr_type(c->node, "value_dtype", &entries[1].dtype, status));
  return shape_set_output_handle(c, 0, entries, 2, status);
}

static bool plain_shape(InferenceContext *c, Status *status) {
  ShapeHandle scalar;
  TRY(shape_ok(shape_scalar(c), &scalar, status));
  shape_set_output(c, 0, scalar);
  return set_handle(c, scalar, scalar, status);
}

static bool tensors_shape(InferenceContext *c, Status *status) {
  const TensorShapeProto *proto;
  ShapeHandle scalar, values, keys;
  TRY(shape_ok(shape_scalar(c), &scalar, status));
  shape_set_output(c, 0, scalar);
  TRY(node_attr_shape(c->node, "value_shape", &proto, status));
  TRY(shape_from_shape_proto(c, proto, &values, status));
  keys = c->num_inputs > 0 ? shape_input(c, 0) : scalar;
  return set_handle(c, keys, values, status);
}

static bool reference_shape(InferenceContext *c, Status *status) {
  ShapeHandle pair;
  TRY(shape_ok(shape_vector(c, dim_make(c, 2)), &pair, status));
  shape_set_output(c, 0, pair);
  return true;
}

/* --- ops --- */

static const TableOp kFixed = {TABLE_FIXED, false}, kScalars = {TABLE_SCALARS, false};
static const TableOp kTensors = {TABLE_TENSORS, false}, kDense = {TABLE_DENSE, false};
static const TableOp kOwnFixed = {TABLE_FIXED, true}, kOwnScalars = {TABLE_SCALARS, true};
static const TableOp kOwnTensors = {TABLE_TENSORS, true}, kOwnDense = {TABLE_DENSE, true};

#define TABLE_NAME "container: string = ''", "shared_name: string = ''", "use_node_name_sharing: bool = false"
#define TABLE_TYPES "key_dtype: type", "value_dtype: type"
#define DENSE_ATTRS \
  "value_shape: shape = {}", "initial_num_buckets: int = 131072", "max_load_factor: float = 0.8"
#define TABLE_STATE                                                               \
  .is_stateful = true, .gradient = NO_GRADIENT, .state_size = sizeof(TableState), \
  .construct = table_construct, .destroy = table_destroy

const OpRegistration kOpHashTable = {
    .name = "HashTable",
    .outputs = {"table_handle: Ref(string)"},
    .attrs = {TABLE_NAME, TABLE_TYPES},
    .shape = reference_shape,
    TABLE_STATE,
    .kernels = {{DT_INVALID, table_handle, &kFixed}},
};

const OpRegistration kOpHashTableV2 = {
    .name = "HashTableV2",
    .outputs = {"table_handle: resource"},
    .attrs = {TABLE_NAME, TABLE_TYPES},
    .shape = plain_shape,
    TABLE_STATE,
    .kernels = {{DT_INVALID, table_handle, &kFixed}},
};

const OpRegistration kOpAnonymousHashTable = {
    .name = "AnonymousHashTable",
    .outputs = {"table_handle: resource"},
    .attrs = {TABLE_TYPES},
    .shape = plain_shape,
    TABLE_STATE,
    .kernels = {{DT_INVALID, table_handle, &kOwnFixed}},
};

const OpRegistration kOpMutableHashTable = {
    .name = "MutableHashTable",
    .outputs = {"table_handle: Ref(string)"},
    .attrs = {TABLE_NAME, TABLE_TYPES},
    .shape = reference_shape,
    TABLE_STATE,
    .kernels = {{DT_INVALID, table_handle, &kScalars}},
};

const OpRegistration kOpMutableHashTableV2 = {
    .name = "MutableHashTableV2",
    .outputs = {"table_handle: resource"},
    .attrs = {TABLE_NAME, TABLE_TYPES},
    .shape = plain_shape,
    TABLE_STATE,
    .kernels = {{DT_INVALID, table_handle, &kScalars}},
};

const OpRegistration kOpAnonymousMutableHashTable = {
    .name = "AnonymousMutableHashTable",
    .outputs = {"table_handle: resource"},
    .attrs = {TABLE_TYPES},
    .shape = plain_shape,
    TABLE_STATE,
    .kernels = {{DT_INVALID, table_handle, &kOwnScalars}},
};

const OpRegistration kOpMutableHashTableOfTensors = {
    .name = "MutableHashTableOfTensors",
    .outputs = {"table_handle: Ref(string)"},
    .attrs = {TABLE_NAME, TABLE_TYPES, "value_shape: shape = {}"},
    .shape = reference_shape,
    TABLE_STATE,
    .kernels = {{DT_INVALID, table_handle, &kTensors}},
};

const OpRegistration kOpMutableHashTableOfTensorsV2 = {
    .name = "MutableHashTableOfTensorsV2",
    .outputs = {"table_handle: resource"},
    .attrs = {TABLE_NAME, TABLE_TYPES, "value_shape: shape = {}"},
    .shape = tensors_shape,
    TABLE_STATE,
    .kernels = {{DT_INVALID, table_handle, &kTensors}},
};

const OpRegistration kOpAnonymousMutableHashTableOfTensors = {
    .name = "AnonymousMutableHashTableOfTensors",
    .outputs = {"table_handle: resource"},
    .attrs = {TABLE_TYPES, "value_shape: shape = {}"},
    .shape = tensors_shape,
    TABLE_STATE,
    .kernels = {{DT_INVALID, table_handle, &kOwnTensors}},
};

const OpRegistration kOpMutableDenseHashTable = {
    .name = "MutableDenseHashTable",
    .inputs = {"empty_key: key_dtype"},
    .outputs = {"table_handle: Ref(string)"},
    .attrs = {TABLE_NAME, TABLE_TYPES, DENSE_ATTRS},
    .shape = reference_shape,
    TABLE_STATE,
    .kernels = {{DT_INVALID, table_handle, &kDense}},
};

const OpRegistration kOpMutableDenseHashTableV2 = {
    .name = "MutableDenseHashTableV2",
    .inputs = {"empty_key: key_dtype", "deleted_key: key_dtype"},
    .outputs = {"table_handle: resource"},
    .attrs = {TABLE_NAME, TABLE_TYPES, DENSE_ATTRS},
    .shape = tensors_shape,
    TABLE_STATE,
    .kernels = {{DT_INVALID, table_handle, &kDense}},
};

const OpRegistration kOpAnonymousMutableDenseHashTable = {
    .name = "AnonymousMutableDenseHashTable",
    .inputs = {"empty_key: key_dtype", "deleted_key: key_dtype"},
    .outputs = {"table_handle: resource"},
    .attrs = {TABLE_TYPES, DENSE_ATTRS},
    .shape = tensors_shape,
    TABLE_STATE,
    .kernels = {{DT_INVALID, table_handle, &kOwnDense}},
};
