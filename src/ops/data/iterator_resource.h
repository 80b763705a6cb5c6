/* IteratorResource: an iterator that steps share. Its handle outlives the datasets that it goes through. */
#ifndef TFCORE_OPS_DATA_ITERATOR_RESOURCE_H_
#define TFCORE_OPS_DATA_ITERATOR_RESOURCE_H_

#include "base/sync.h"
#include "ops/data/data_iterator.h"

extern const char kIteratorType[]; /* the type name of the resource */

typedef struct IteratorResource {
  Resource resource;
  Mutex mutex;
  bool busy; /* a step works with the iterator, and may have paused */
  Arena *arena;
  char *name;
  const DataType *types; /* those that a dataset must have; none: any */
  const TensorShapeProto *const *shapes;
  int num_components;
  DataIterator *iterator; /* NULL until it is given a dataset */
} IteratorResource;

/* A new resource with one reference; types and shapes are copied. NULL with status when out of memory. */
IteratorResource *iterator_resource_new(Str name, const DataType *types,
                                        const TensorShapeProto *const *shapes, int num_components,
                                        Status *status);
/* Begins an iterator of the dataset. INVALID_ARGUMENT unless the elements have the resource's types. The
 * caller works with the resource. */
MUST_CHECK bool iterator_resource_set(IteratorResource *resource, Dataset *dataset, KernelContext *context,
                                      Status *status);
/* The resource of a handle. */
MUST_CHECK bool iterator_of_input(const KernelContext *context, int input, IteratorResource **resource,
                                  Status *status);

/* A kernel's work with a resource, which it may have to wait for. `work` returns RUN_WAITING to pause; then
 * it is called again. */
typedef RunState IteratorWork(IteratorResource *resource, KernelContext *context, Status *status);
/* Runs the work while no other step works with the resource. */
MUST_CHECK bool iterator_work(IteratorResource *resource, IteratorWork *work, KernelContext *context,
                              Status *status);

#endif
