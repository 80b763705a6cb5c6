/* Calls of a function for the elements of an input, shared by the datasets that do so. */
#ifndef TFCORE_OPS_DATA_MAP_FUNCTIONS_H_
#define TFCORE_OPS_DATA_MAP_FUNCTIONS_H_

#include "ops/data/data_iterator.h"

typedef struct MapDataset {
  Dataset dataset;
  DataFunction function;
} MapDataset;

typedef struct MapIterator {
  DataIterator iterator;
  Tensor *element, *args; /* of the input; `element` is set while `taken` */
  bool taken;
} MapIterator;

/* A dataset with the input 0, and a function that captures the `count` inputs from 1 on. NULL with status on
 * failure. */
MapDataset *map_dataset_new(KernelContext *context, const DatasetKind *kind, int count, Status *status);
/* The same for MapDataset, with its kind. */
MapDataset *map_dataset_make(KernelContext *context, int count, Status *status);
bool map_begin(DataIterator *iterator, KernelContext *context, Status *status);
void map_finish(DataIterator *iterator);
/* Sets `element` to the next one of the input, unless it is set already. */
RunState map_take(MapIterator *map, KernelContext *context, bool *end, Status *status);
/* Sets `out` to what the function returns for the next element. */
RunState map_element(MapIterator *map, KernelContext *context, const DataFunction *function, Tensor *out,
                     bool *end, Status *status);

#endif
