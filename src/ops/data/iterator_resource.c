#include "ops/data/iterator_resource.h"

#include "base/alloc.h"

const char kIteratorType[] = "tensorflow::data::IteratorResource";

static void drop_iterator(Resource *resource) {
  IteratorResource *iterator = (IteratorResource *)resource;
  data_iterator_free(iterator->iterator);
  iterator->iterator = NULL;
}

static void destroy_resource(TensorObject *object) {
  IteratorResource *resource = (IteratorResource *)object;
  drop_iterator(&resource->resource);
  mutex_destroy(&resource->mutex);
  arena_free(resource->arena);
  mem_free(resource);
}

static bool copy_types(IteratorResource *made, Str name, const DataType *types,
                       const TensorShapeProto *const *shapes, int count, Status *status) {
  DataType *own_types = arena_calloc(made->arena, count + 1, sizeof *own_types);
  const TensorShapeProto **own_shapes = arena_calloc(made->arena, count + 1, sizeof *own_shapes);
  made->name = arena_strndup(made->arena, name.data, name.length);
  if (!own_types || !own_shapes || !made->name) return status_oom(status, "an iterator");
  for (int i = 0; i < count; i++) {
    own_types[i] = types[i];
    own_shapes[i] = proto_copy(shapes[i], made->arena);
    if (!own_shapes[i]) return status_oom(status, "an iterator");
  }
  made->types = own_types;
  made->shapes = own_shapes;
  made->num_components = count;
  return true;
}

IteratorResource *iterator_resource_new(Str name, const DataType *types,
                                        const TensorShapeProto *const *shapes, int num_components,
                                        Status *status) {
  IteratorResource *made = mem_calloc(1, sizeof *made);
  if (made) made->arena = arena_new();
  if (!made || !made->arena || !mutex_init(&made->mutex)) {
    if (made) arena_free(made->arena);
    mem_free(made);
    status_oom(status, "an iterator");
    return NULL;
  }
  made->resource.type_name = kIteratorType;
  made->resource.object.destroy = destroy_resource;
  made->resource.close = drop_iterator;
  atomic_init(&made->resource.object.references, 1);
  if (copy_types(made, name, types, shapes, num_components, status)) return made;
  tensor_object_unref(&made->resource.object);
  return NULL;
}

bool iterator_resource_set(IteratorResource *resource, Dataset *dataset, KernelContext *context,
                           Status *status) {
  DataIterator *made;
  if (resource->num_components > 0) {
    TRY(dataset_check_types(resource->types, resource->shapes, resource->num_components, dataset->types,
                            dataset->shapes, dataset->num_components, status));
  }
  TRY(data_iterator_new(dataset, NULL, context, &made, status));
  data_iterator_free(resource->iterator);
  resource->iterator = made;
  resource->resource.caller = context->functions;
  return true;
}

bool iterator_of_input(const KernelContext *context, int input, IteratorResource **resource, Status *status) {
  Resource *found;
  const Tensor *handle = context->inputs[input];
  if (!tensor_is_scalar(handle)) return status_invalid(status, "resource_handle must be a scalar");
  TRY(tensor_resource(handle, kIteratorType, &found, status));
  *resource = (IteratorResource *)found;
  return true;
}

/* --- work --- */

typedef struct PausedWork {
  PausedKernel paused;
  IteratorResource *resource; /* one reference */
  bool busy;                  /* this kernel has made the resource busy; else it waits for that */
} PausedWork;

static void release(IteratorResource *resource) {
  mutex_lock(&resource->mutex);
  resource->busy = false;
  mutex_unlock(&resource->mutex);
}

static bool acquire(IteratorResource *resource) {
  mutex_lock(&resource->mutex);
  bool free = !resource->busy;
  resource->busy = true;
  mutex_unlock(&resource->mutex);
  return free;
}

static void end_work(PausedWork *work) {
  if (work->busy) release(work->resource);
  tensor_object_unref(&work->resource->resource.object);
  mem_free(work);
}

static void abandon_work(PausedKernel *paused) {
  PausedWork *work = (PausedWork *)paused;
  if (work->busy && work->resource->iterator) data_iterator_abandon(work->resource->iterator);
  end_work(work);
}

static PausedWork *begin_work(IteratorResource *resource, Status *status) {
  PausedWork *work = mem_calloc(1, sizeof *work);
  if (!work) {
    status_oom(status, "work with an iterator");
    return NULL;
  }
  work->paused.abandon = abandon_work;
  work->resource = resource;
  tensor_object_ref(&resource->resource.object);
  return work;
}

bool iterator_work(IteratorResource *resource, IteratorWork *work, KernelContext *context, Status *status) {
  PausedWork *paused = (PausedWork *)context->paused;
  context->paused = NULL;
  if (!context->step) return status_set(status, CODE_FAILED_PRECONDITION, "Only a step can use an iterator");
  if (!paused) paused = begin_work(resource, status);
  if (!paused) return false;
  if (!paused->busy) paused->busy = acquire(resource);
  RunState state = paused->busy ? work(resource, context, status) : step_block(context->step, status);
  if (state == RUN_WAITING) {
    context->paused = &paused->paused;
    return true;
  }
  if (state == RUN_FAILED && paused->busy && resource->iterator) data_iterator_abandon(resource->iterator);
  end_work(paused);
  return state == RUN_DONE;
}
