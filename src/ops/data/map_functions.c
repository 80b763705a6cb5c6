#include "ops/data/map_functions.h"

MapDataset *map_dataset_new(KernelContext *context, const DatasetKind *kind, int count, Status *status) {
  MapDataset *made = dataset_new(context, kind, sizeof *made, status);
  if (!made) return NULL;
  if (!dataset_add_input(context, 0, &made->dataset, status) ||
      !dataset_add_tensors(context, 1, count, &made->dataset, status)) {
    dataset_drop(&made->dataset);
    return NULL;
  }
  made->function = dataset_function(context, 0, &made->dataset, 0);
  return made;
}

static int width_of(const DataIterator *iterator) { return iterator->dataset->inputs[0]->num_components; }

bool map_begin(DataIterator *iterator, KernelContext *context, Status *status) {
  MapIterator *map = (MapIterator *)iterator;
  map->element = data_tensors_new(width_of(iterator), status);
  map->args = data_tensors_new(width_of(iterator), status);
  return map->element && map->args && data_begin_input(iterator, context, status);
}

void map_finish(DataIterator *iterator) {
  MapIterator *map = (MapIterator *)iterator;
  data_tensors_free(map->element, width_of(iterator));
  data_tensors_free(map->args, width_of(iterator));
}

RunState map_take(MapIterator *map, KernelContext *context, bool *end, Status *status) {
  if (map->taken) return RUN_DONE;
  data_tensors_clear(map->element, width_of(&map->iterator));
  RunState state = data_next(map->iterator.input, context, map->element, end, status);
  map->taken = state == RUN_DONE && !*end;
  return state;
}

RunState map_element(MapIterator *map, KernelContext *context, const DataFunction *function, Tensor *out,
                     bool *end, Status *status) {
  DataIterator *iterator = &map->iterator;
  RunState state = map_take(map, context, end, status);
  if (state != RUN_DONE || *end) return state;
  state = data_call(iterator, context, function, map->element, width_of(iterator), out,
                    iterator->dataset->num_components, status);
  if (state != RUN_WAITING) map->taken = false;
  return state;
}
