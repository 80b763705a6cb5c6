/* AddSparseToTensorsMap, AddManySparseToTensorsMap and TakeManySparseFromTensorsMap: a map of a session keeps
 * sparse tensors under numbers, which pass through queues in their place. */
#include "base/alloc.h"
#include "base/sync.h"
#include "op/node_def.h"
#include "op/op_registry.h"
#include "op/resource.h"
#include "ops/sparse/sparse_pile.h"
#include "ops/sparse/sparse_tensor.h"

static const char kMapType[] = "SparseTensorsMap";

typedef struct MapEntry {
  int64_t key;
  SparsePart part;
} MapEntry;

/* The entries are in the order of their keys. */
typedef struct SparseMap {
  Resource resource;
  Mutex lock;
  int64_t next; /* the next key */
  MapEntry *entries;
  int64_t count, capacity;
} SparseMap;

static void destroy_map(TensorObject *object) {
  SparseMap *map = (SparseMap *)object;
  for (int64_t i = 0; i < map->count; i++) sparse_part_clear(&map->entries[i].part);
  mem_free(map->entries);
  mutex_destroy(&map->lock);
  mem_free(map);
}

static Resource *make_map(void *argument, Status *status) {
  (void)argument;
  SparseMap *map = mem_calloc(1, sizeof *map);
  if (!map || !mutex_init(&map->lock)) {
    mem_free(map);
    status_oom(status, "a map of sparse tensors");
    return NULL;
  }
  map->resource.type_name = kMapType;
  map->resource.object.destroy = destroy_map;
  atomic_init(&map->resource.object.references, 1);
  return &map->resource;
}

typedef struct MapState {
  Str container, name;
} MapState;

static bool map_construct(const KernelConstruction *construction, void *memory, Status *status) {
  MapState *state = memory;
  TRY(node_attr_string(construction->node, "container", &state->container, status));
  TRY(node_attr_string(construction->node, "shared_name", &state->name, status));
  if (state->name.length == 0) state->name = str_of(construction->node->name);
  return true;
}

static bool find_map(KernelContext *context, SparseMap **map, Status *status) {
  const MapState *state = context->state;
  Resource *resource;
  if (!context->resources) return status_invalid(status, "A map of sparse tensors needs a session");
  TRY(resource_manager_find_or_make(context->resources, state->container, state->name, kMapType, make_map,
                                    NULL, &resource, status));
  *map = (SparseMap *)resource;
  return true;
}

/* Takes over the tensors of the part, also after an error. */
static bool add_part(SparseMap *map, SparsePart *part, int64_t *key, Status *status) {
  mutex_lock(&map->lock);
  bool ok = mem_grow((void **)&map->entries, &map->capacity, map->count + 1, sizeof *map->entries) ||
            status_oom(status, "a map of sparse tensors");
  if (ok) {
    *key = map->next++;
    map->entries[map->count++] = (MapEntry){*key, *part};
  }
  mutex_unlock(&map->lock);
  if (!ok) sparse_part_clear(part);
  return ok;
}

/* Moves the entry of the key out of the map. */
static bool take_part(SparseMap *map, int64_t key, Str name, SparsePart *part, Status *status) {
  mutex_lock(&map->lock);
  int64_t low = 0, high = map->count;
  while (low < high) {
    int64_t middle = low + (high - low) / 2;
    if (map->entries[middle].key < key) low = middle + 1;
    else high = middle;
  }
  bool found = low < map->count && map->entries[low].key == key;
  if (found) {
    *part = map->entries[low].part;
    map->count--;
    for (int64_t i = low; i < map->count; i++) map->entries[i] = map->entries[i + 1];
  }
  mutex_unlock(&map->lock);
  return found || status_invalid(status, "Unable to find SparseTensor: %lld in map: %.*s", (long long)key,
                                 (int)name.length, name.data);
}

/* --- AddSparseToTensorsMap --- */

static bool share_inputs(const Tensor *const *inputs, SparsePart *part, Status *status) {
  return tensor_assign(&part->indices, inputs[0], status) &&
         tensor_assign(&part->values, inputs[1], status) && tensor_assign(&part->sizes, inputs[2], status);
}

static bool check_sizes(const Tensor *sizes, Status *status) {
  Shape shape = {0};
  if (tensor_num_elements(sizes) > SHAPE_MAX_RANK)
    return status_invalid(status, "A shape has more than %d dimensions", SHAPE_MAX_RANK);
  TRY(shape_set(&shape, (int)tensor_num_elements(sizes), tensor_i64(sizes), status));
  shape_clear(&shape);
  return true;
}

static bool add_sparse(KernelContext *context, Status *status) {
  const Tensor *const *inputs = context->inputs;
  SparseTensor x;
  SparseMap *map = NULL;
  SparsePart part = {0};
  Tensor *out;
  TRY(sparse_check_stored(inputs, status));
  TRY(check_sizes(inputs[2], status));
  TRY(sparse_create(inputs, &x, status));
  TRY(find_map(context, &map, status));
  TRY(kernel_allocate_output_dims(context, 0, 0, NULL, &out, status));
  if (share_inputs(inputs, &part, status)) return add_part(map, &part, tensor_i64(out), status);
  sparse_part_clear(&part);
  return false;
}

static bool add_shape(InferenceContext *c, Status *status) {
  return sparse_shapes(c, 0, status) && shape_scalar_output(c, status);
}

#define MAP_ATTRS(type) .attrs = {type ": type", "container: string = ''", "shared_name: string = ''"}
#define MAP_STATE \
  .is_stateful = true, .gradient = NO_GRADIENT, .state_size = sizeof(MapState), .construct = map_construct
#define STORED_INPUTS .inputs = {"sparse_indices: int64", "sparse_values: T", "sparse_shape: int64"}

const OpRegistration kOpAddSparseToTensorsMap = {
    .name = "AddSparseToTensorsMap",
    STORED_INPUTS,
    .outputs = {"sparse_handle: int64"},
    MAP_ATTRS("T"),
    MAP_STATE,
    .shape = add_shape,
    .kernels = {{DT_INVALID, add_sparse}},
};

/* --- AddManySparseToTensorsMap --- */

static bool check_many(const Tensor *const *inputs, SparseTensor *x, Status *status) {
  char text[SHAPE_TEXT_CAPACITY];
  TRY(sparse_check_stored(inputs, status));
  int64_t count = tensor_num_elements(inputs[1]), rank = tensor_num_elements(inputs[2]);
  if (count != shape_dim(&inputs[0]->shape, 0))
    return status_invalid(status,
                          "Number of values must match first dimension of indices. Got %lld values, indices "
                          "shape: %s",
                          (long long)count, shape_text(&inputs[0]->shape, text));
  if (rank != shape_dim(&inputs[0]->shape, 1))
    return status_invalid(status,
                          "Number of dimensions must match second dimension of indices. Got %lld dimensions, "
                          "indices shape: %s",
                          (long long)rank, shape_text(&inputs[0]->shape, text));
  if (rank < 2)
    return status_invalid(status, "Rank of input SparseTensor should be > 1, but saw rank: %lld",
                          (long long)rank);
  return sparse_create(inputs, x, status) && sparse_check_indices(x, status);
}

static bool add_many(KernelContext *context, Status *status) {
  SparseTensor x;
  SparseMap *map = NULL;
  Tensor *out;
  int64_t begin = 0;
  TRY(check_many(context->inputs, &x, status));
  TRY(find_map(context, &map, status));
  TRY(kernel_allocate_output_dims(context, 0, 1, tensor_i64(x.sizes), &out, status));
  for (int64_t row = 0; row < tensor_num_elements(out); row++) {
    int64_t end = begin;
    SparsePart part = {0};
    while (end < x.count && sparse_index(&x, end)[0] == row) end++;
    if (!sparse_part_of_row(context, context->inputs, begin, end, &part, status)) {
      sparse_part_clear(&part);
      return false;
    }
    TRY(add_part(map, &part, &tensor_i64(out)[row], status));
    begin = end;
  }
  return true;
}

static bool add_many_shape(InferenceContext *c, Status *status) {
  ShapeHandle out;
  TRY(sparse_shapes(c, 0, status));
  TRY(shape_ok(shape_unknown_of_rank(c, 1), &out, status));
  shape_set_output(c, 0, out);
  return true;
}

const OpRegistration kOpAddManySparseToTensorsMap = {
    .name = "AddManySparseToTensorsMap",
    STORED_INPUTS,
    .outputs = {"sparse_handles: int64"},
    MAP_ATTRS("T"),
    MAP_STATE,
    .shape = add_many_shape,
    .kernels = {{DT_INVALID, add_many}},
};

/* --- TakeManySparseFromTensorsMap --- */

static bool take_parts(KernelContext *context, SparsePart *parts, int64_t count, Status *status) {
  SparseMap *map = NULL;
  TRY(find_map(context, &map, status));
  for (int64_t i = 0; i < count; i++)
    TRY(take_part(map, tensor_i64(context->inputs[0])[i], ((const MapState *)context->state)->name, &parts[i],
                  status));
  SparsePile pile = {parts, count, &count, 1};
  return sparse_pile_give(context, &pile, "Inconsistent rank", 1, status);
}

static bool take_many(KernelContext *context, Status *status) {
  const Tensor *handles = context->inputs[0];
  char text[SHAPE_TEXT_CAPACITY];
  int64_t count = tensor_num_elements(handles);
  if (!tensor_is_vector(handles))
    return status_invalid(status, "sparse_handles should be a vector but received shape %s",
                          shape_text(&handles->shape, text));
  if (count == 0)
    return status_invalid(status,
                          "Must have at least 1 serialized SparseTensor, but input matrix has 0 rows");
  SparsePart *parts = mem_calloc(count, sizeof *parts);
  if (!parts) return status_oom(status, "sparse tensors");
  bool ok = take_parts(context, parts, count, status);
  for (int64_t i = 0; i < count; i++) sparse_part_clear(&parts[i]);
  mem_free(parts);
  return ok;
}

static bool take_shape(InferenceContext *c, Status *status) {
  ShapeHandle handles;
  TRY(shape_with_rank(c, shape_input(c, 0), 1, &handles, status));
  return sparse_set_shapes(c, 0, NULL, NULL, status);
}

const OpRegistration kOpTakeManySparseFromTensorsMap = {
    .name = "TakeManySparseFromTensorsMap",
    .inputs = {"sparse_handles: int64"},
    .outputs = {"sparse_indices: int64", "sparse_values: dtype", "sparse_shape: int64"},
    MAP_ATTRS("dtype"),
    MAP_STATE,
    .shape = take_shape,
    .kernels = {{DT_INVALID, take_many}},
};
